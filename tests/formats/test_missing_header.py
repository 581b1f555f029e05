"""Files without names of columns and without metadata are refused with this as the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

import tacita as tc
from tacita.core.errors import InputError
from tacita.formats.records import tabulate_file

WITHOUT = {
    "totals.tab": "Total;Total;100;10\nN;Total;60;6\nS;Total;40;4\nTotal;a;100;10\nN;a;60;6\nS;a;40;4\n",
    "leaves.csv": "N;a;30;3\nN;b;30;3\nS;a;20;2\nS;b;20;2\n",
    "one.csv": "N,30,3\nS,20,2\nTotal,50,5\n",
    "comma.tab": "Total;30,5\nS;20,5\nN;10,0\n",
    # Read with 'Total' and '30' as names of columns, this was a table without its first cell.
    "status.tab": "Total;30;U\nS;20;S\nN;10;S\n",
    "values.csv": "N;30\nS;20\nW;10\n",
}


@pytest.mark.parametrize("name", WITHOUT)
def test_a_table_without_names_of_columns_asks_for_metadata(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(WITHOUT[name])
    with pytest.raises(InputError, match="the line holds data and no names of columns") as caught:
        tc.read_case(tmp_path / name)
    assert caught.value.place == f"{tmp_path / name}, line 1"
    assert caught.value.options == ("metadata",)


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("region,2023\nN,30\nS,20\n", 3),
        ("region,1,2,3,Total\nN,30,1,2,33\nS,20,1,2,23\nTotal,50,2,4,56\n", 12),
        ("region,10,20,5\nN,30,1,2\nS,20,1,2\n", 12),
        ("Total,2019,2020\nN,30,1\nS,20,1\n", 9),
    ],
)
def test_numbers_may_be_codes_of_a_crosstab(tmp_path: Path, text: str, cells: int) -> None:
    (tmp_path / "cross.csv").write_text(text)
    case = tc.read_case(tmp_path / "cross.csv")
    assert len(case if isinstance(case, tc.Table) else case.table) == cells


def test_a_column_that_is_named_may_be_called_like_a_number(tmp_path: Path) -> None:
    (tmp_path / "values.csv").write_text("region,30\nS,20\nW,10\n")
    case = tc.read_case(tmp_path / "values.csv", by=["region"], value="30")
    assert len(case if isinstance(case, tc.Table) else case.table) == 3


@pytest.mark.parametrize("name", ["records.asc", "records.txt"])
def test_records_without_names_of_columns_ask_for_metadata(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("N1a  12\nN2b  30\n")
    with pytest.raises(InputError) as caught:
        tabulate_file(tmp_path / name, ["Region"], value="Turnover")
    assert "metadata" in caught.value.options
    if name == "records.asc":
        with pytest.raises(InputError, match="no case has the ending") as caught:
            tc.read_case(tmp_path / name)
        assert "metadata" in caught.value.options
