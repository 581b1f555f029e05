"""Releases laid out as tables are printed: marks, titles, labels beside codes, linked tables by name."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet
import pytest
from python_calamine import CalamineWorkbook

import tacita as tc
from tacita.core.errors import InputError, ReleaseError
from tacita.core.tables.linked import link
from tacita.formats.excel import name_sheets
from tacita.formats.presentation import check_mark

REASON = "for this test alone"
NACE = tc.Hierarchy.flat(["A", "B"], labels={"A": "Agriculture", "B": "Mining"})


def labelled() -> tc.Table:
    frame = {"nace": ["A", "A", "B", "B"], "size": ["s", "l", "s", "l"], "value": [5, 9, 7, 4]}
    import pyarrow as pa

    return tc.Table.from_frame(pa.table(frame), by={"nace": NACE, "size": None}, value="value")


def test_labels_stand_beside_codes_in_every_format(tmp_path: Path) -> None:
    table = labelled()
    release = tc.Release.suppress(table, [0])
    page = release.write(tmp_path / "r.html", unaudited=REASON).read_text()
    assert "A <small>Agriculture</small>" in page
    crosstab = release.write(
        tmp_path / "c.csv", unaudited=REASON, format="crosstab", mark="c", title="Turnover"
    )
    hidden = next(line for line in crosstab.read_text().splitlines() if "c" in line.split(","))
    assert crosstab.read_text().splitlines()[:2] == ["Turnover", "nace,nace label,s,l,Total"]
    assert hidden.startswith(("A,Agriculture,", "Total,,"))
    parquet = pyarrow.parquet.read_table(release.write(tmp_path / "r.parquet", unaudited=REASON))
    assert parquet.column_names[:3] == ["nace", "nace label", "size"]
    assert set(parquet["nace label"].to_pylist()) == {"", "Agriculture", "Mining"}
    book = release.write(tmp_path / "r.xlsx", unaudited=REASON, mark="*", title="Turnover")
    rows = CalamineWorkbook.from_path(str(book)).get_sheet_by_name("crosstab").to_python()
    assert rows[0][0] == "Turnover"
    assert rows[2] == ["nace", "nace label", "s", "l", "Total"]
    assert ["A", "Agriculture"] in [row[:2] for row in rows]
    assert ["*: hidden", "", "", "", ""] in rows
    assert sum(row.count("*") for row in rows) == 1
    for file in ("r.parquet", "r.xlsx"):
        read = tc.read_release(tmp_path / file, table)
        assert (read.marks == release.marks).all()
    assert "label" not in release.write(tmp_path / "r.csv", unaudited=REASON).read_text()


def test_a_column_of_labels_says_nothing_else(tmp_path: Path) -> None:
    table = labelled()
    path = tc.Release.suppress(table, [0]).write(tmp_path / "r.parquet", unaudited=REASON)
    content = pyarrow.parquet.read_table(path)
    told = content["nace label"].to_pylist()
    told[0] += " 1234"
    import pyarrow as pa

    pyarrow.parquet.write_table(content.set_column(1, "nace label", pa.array(told)), path)
    with pytest.raises(ReleaseError, match=r"'nace label' does not hold the label of '.*'"):
        tc.read_release(path, table)


def test_linked_tables_stand_below_each_other_and_sheets_carry_their_names(tmp_path: Path) -> None:
    codes = (("N", "S"), ("s", "l"))
    first = tc.Table.from_array([[5, 9], [7, 4]], names=("region", "size"), codes=codes)
    second = tc.Table.from_array([[6, 8], [3, 8]], names=("region", "sex"), codes=(("N", "S"), ("f", "m")))
    table = link({"by size/region": first, "by sex": second})
    release = tc.Release.suppress(table, [0])
    lines = release.write(tmp_path / "c.csv", unaudited=REASON, format="crosstab").read_text().splitlines()
    assert lines[0] == "by size/region"
    assert lines[lines.index("by sex") - 1] == ""
    assert lines[lines.index("by sex") + 1] == "region,f,m,Total"
    assert lines[-1] == f"unaudited: {REASON}"
    book = CalamineWorkbook.from_path(str(release.write(tmp_path / "r.xlsx", unaudited=REASON)))
    names = ["by size region", "by sex"]
    assert book.sheet_names == [*names, *(f"release {name}" for name in names), "notes"]
    assert book.get_sheet_by_name("by sex").to_python()[0][0] == "by sex: region by sex"


def test_names_of_sheets_differ_and_fit() -> None:
    names = name_sheets(["a" * 40, "a" * 41, "notes", "[?]", "History"])
    flat = [name.casefold() for pair in names for name in pair]
    assert len(set(flat)) == len(flat)
    assert all(0 < len(name) <= 31 for name in flat)
    assert not {"notes", "history"} & set(flat)


def test_a_dimension_alone_is_a_column_of_values(tmp_path: Path) -> None:
    table = tc.Table.from_array([5, 9], names=("region",), codes=(("N", "S"),))
    path = tc.Release.suppress(table, []).write(tmp_path / "c.csv", unaudited=REASON, format="crosstab")
    assert path.read_text().splitlines()[:3] == ["region,value", "N,5", "S,9"]


@pytest.mark.parametrize("mark", ["*", "c", ":", "x", "..", "(D)", "[c]", "confidential"])
def test_marks_of_offices(mark: str) -> None:
    assert check_mark(mark) == mark


@pytest.mark.parametrize(
    "mark", ["", " ", "x ", "5", "<5", "[1...2]", "-", "–", "x1", "PS 2", "a\nb", "x" * 21]
)
def test_a_mark_says_nothing_of_the_value(mark: str) -> None:
    with pytest.raises(InputError, match="choose another mark"):
        check_mark(mark)
