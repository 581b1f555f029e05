"""Titles above a table and footnotes below it are left out and told; nothing that holds a number is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import xlsxwriter

from tacita.core.errors import FormatError, InputError
from tacita.core.tables.table import Table
from tacita.formats.pasted import read_pasted
from tacita.formats.records import find_records
from tacita.publication.release_read import read_release
from tacita.specification.read_case import read_case

HEAD = ["Region", "A", "B", "Total"]
CELLS = [["N", 20, 5, 25], ["S", 8, 19, 27], ["Total", 28, 24, 52]]
TITLE = "Table 1. Patients by region, 2025"


def workbook(path: Path, rows: Sequence[Sequence[object]], aside: int = 0) -> Path:
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("data")
        for r, row in enumerate(rows):
            sheet.write_row(r, aside, row)
    return path


def text_file(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def table_of(path: Path) -> Table:
    table = read_case(path)
    assert isinstance(table, Table)
    return table


@pytest.mark.parametrize("aside", [0, 2])
def test_a_workbook_as_offices_print_it(tmp_path: Path, aside: int) -> None:
    rows = [[TITLE], [], HEAD, *CELLS, [], ["* small numbers"], ["Source: survey"]]
    table = table_of(workbook(tmp_path / "t.xlsx", rows, aside))
    assert (len(table), table.values[table.find("S", "B")]) == (9, 19)
    assert table.notes[:2] == (
        f"row 1 was taken for a title: '{TITLE}'",
        "rows 8, 9 were taken for footnotes: '* small numbers', 'Source: survey'",
    )


def test_places_are_those_of_the_sheet(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", [[TITLE], [], HEAD, ["N", 20, "5*", 25], *CELLS[1:]])
    with pytest.raises(FormatError, match=r"sheet 'data', row 4: cell \(Region=N, column=B\) is '5\*'"):
        read_case(path)
    path = workbook(tmp_path / "two.xlsx", [["Region", "", "B"], *CELLS])
    with pytest.raises(FormatError, match="row 2: more fields than column names in row 1: name every"):
        read_case(path)


@pytest.mark.parametrize(
    "text",
    [
        f'"{TITLE}"\n\nRegion,A,B\nN,1,2\nS,3,4\n\nSource: survey\n',
        f"{TITLE};;\n;;\nRegion;A;B\nN;1;2\nS;3;4\n;;\nSource: survey;;\n",
        f"{TITLE}\n\nRegion;A;B\nN;1;2\nS;3;4\n\nSource: survey",
        f"{TITLE}\n\nRegion\tA\tB\nN\t1\t2\nS\t3\t4\n\nSource: survey\n",
    ],
)
def test_text_files_as_spreadsheets_save_them(tmp_path: Path, text: str) -> None:
    table = table_of(text_file(tmp_path / "t.csv", text))
    assert table.values[table.find("Total", "B")] == 6
    assert table.notes[:2] == (
        f"line 1 was taken for a title: '{TITLE}'",
        "line 7 was taken for a footnote: 'Source: survey'",
    )


def test_pasted_footnotes_are_left_out_too() -> None:
    table = read_pasted("Table 1\nRegion\tA\tB\nN\t1\t2\nS\t3\t4\n\n* small\t\t\n")
    assert isinstance(table, Table)
    assert table.values[table.find("Total", "B")] == 6
    assert "line 6 was taken for a footnote: '* small'" in table.notes


def test_names_of_columns_may_be_years(tmp_path: Path) -> None:
    table = table_of(text_file(tmp_path / "t.csv", "Visits\nRegion,2019,2020\nN,1,2\nS,3,4\n"))
    assert table.values[table.find("S", "2020")] == 4


@pytest.mark.parametrize(
    ("text", "what"),
    [
        # The name of the values is missing, or all names are: no row becomes a row of names.
        ("region,\nN,2019\nS,6\n", None),
        ("region,,\nN,5,6\nS,6,7\n", "column '' occurs twice"),
        ("Visits, 2025\nRegion,A,B\nN,1,2\nS,3,4\n", r"line 2: 3 fields.*if line 1 is a title, delete it"),
        # A row whose numbers are missing is no footnote.
        ("region,value\nN,5\nS,\n", r"no value for \(region=S\)"),
        ("region,A,B\nN,5,6\nTotal,,\nS,1,2\nW,,\n7,,\n", r"no value for .*region=7"),
        ("region,A,B\nN,5,6\nS,1,2\nSource,,1\n", r"no value for \(region=Source, column=A\)"),
    ],
)
def test_what_may_be_a_row_is_never_left_out(tmp_path: Path, text: str, what: str | None) -> None:
    path = text_file(tmp_path / "t.csv", text)
    if what is None:
        assert len(table_of(path)) == 3
    else:
        with pytest.raises(InputError, match=what):
            read_case(path)


def test_totals_without_numbers_are_worked_out(tmp_path: Path) -> None:
    table = table_of(text_file(tmp_path / "t.csv", "region,A,B,Total\nN,1,2,3\nS,1,4,5\nTotal,,,\n"))
    assert table.values[table.find("Total", "Total")] == 8


def test_a_last_row_that_is_suppressed_stays_in_a_release(tmp_path: Path) -> None:
    table = table_of(workbook(tmp_path / "t.xlsx", [HEAD[:3], ["N", 20, 5], ["S", 8, 19], ["W", 1, 2]]))
    text = "Region,column,value\n" + "".join(
        f"{r},{c},{'' if 'W' in (r, c) else int(table.values[table.find(r, c)])}\n"
        for r in ("N", "S", "Total", "W")
        for c in ("A", "B", "Total")
    )
    release = read_release(text_file(tmp_path / "r.csv", text), table)
    assert not release.shown[table.find("W", "Total")]
    crosstab = "Region,A,B,Total\nN,20,5,25\nS,8,19,27\nTotal,29,26,55\nW,,,\n"
    release = read_release(text_file(tmp_path / "c.csv", crosstab), table)
    assert not release.shown[table.find("W", "A")]


def test_records_below_a_title(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", [["Firms 2025"], ["firm", "region", "turnover"], ["x", "N", 3]])
    assert find_records(path).column_names == ["firm", "region", "turnover"]
