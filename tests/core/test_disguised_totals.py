"""Totals that are not called Total: recognised by name, or refused by their values."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tacita.cli import main
from tacita.core.errors import InputError
from tacita.core.tables.table import Table

SIZES = ("small", "large")


def frame(values: dict[str, tuple[int, int]]) -> pd.DataFrame:
    rows = [(region, size, v) for region, pair in values.items() for size, v in zip(SIZES, pair, strict=True)]
    return pd.DataFrame(rows, columns=["region", "size", "value"])


DISGUISED = frame({"N": (1, 5), "S": (2, 0), "Sweden": (3, 5)})


@pytest.mark.parametrize("total", ["All", "all", "Insgesamt", "GESAMT", "Summe", "Totaal", "totale", "I alt"])
def test_words_for_totals_are_recognised_in_any_case(total: str) -> None:
    table = Table.from_frame(pd.DataFrame({"r": ["a", "b", total], "n": [1, 2, 3]}), ["r"], value="n")
    assert (len(table), len(table.equations)) == (3, 1)


def test_two_words_for_totals_are_ambiguous_and_letters_are_codes() -> None:
    several = pd.DataFrame({"r": ["All", "Overall", "b"], "n": [1, 2, 4]})
    assert Table.from_frame(several, ["r"], value="n").values.sum() == 14
    letters = pd.DataFrame({"r": ["r", "s", "t"], "n": [1, 2, 4]})
    assert len(Table.from_frame(letters, ["r"], value="n")) == 4


def test_a_code_that_is_the_sum_of_all_others_is_refused_with_the_remedy() -> None:
    with pytest.raises(InputError, match=r"'Sweden' of 'region' is the sum.*code of the total of 'region'"):
        Table.from_frame(DISGUISED, ["region", "size"], value="value")
    table = Table.from_frame(DISGUISED, {"region": "Sweden", "size": None}, value="value")
    assert len(table) == 6
    as_part = Table.from_frame(DISGUISED, ["region", "size"], value="value", totals="compute")
    assert as_part.values[as_part.find("Total", "Total")] == 16


def test_it_is_also_refused_where_another_dimension_has_its_total() -> None:
    rows = DISGUISED.groupby("region", as_index=False)["value"].sum().assign(size="Total")
    with pytest.raises(InputError, match="'Sweden' of 'region'"):
        Table.from_frame(pd.concat([DISGUISED, rows]), ["region", "size"], value="value")


@pytest.mark.parametrize(
    "values",
    [
        {"N": (1, 5), "S": (2, 0), "W": (3, 4)},  # a sum in one column only
        {"N": (0, 0), "S": (0, 0), "W": (0, 0)},  # zeros say nothing
        {"N": (3, 5), "W": (3, 5)},  # two codes: equal, not a total
    ],
)
def test_parts_that_merely_resemble_a_total_are_parts(values: dict[str, tuple[int, int]]) -> None:
    table = Table.from_frame(frame(values), ["region", "size"], value="value")
    assert len(table) == 3 * (len(values) + 1)


def test_a_combination_that_the_sum_lacks_makes_it_no_total() -> None:
    table = Table.from_frame(DISGUISED.iloc[:-1], ["region", "size"], value="value")
    assert table.find("Total", "Total") >= 0


def test_a_named_total_must_occur(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match=r"'Swede' of 'region'.*did you mean 'Sweden'.*N, S, Sweden"):
        Table.from_frame(DISGUISED, {"region": "Swede", "size": None}, value="value")
    DISGUISED.to_csv(tmp_path / "t.csv", index=False)
    command = ["assess", str(tmp_path / "t.csv"), "--rules", "threshold(3)"]
    assert main([*command, "--total", "region=Everything"]) == 1
    assert "N, S, Sweden" in capsys.readouterr().err
    assert main([*command, "--total", "region=Sweden"]) == 0
