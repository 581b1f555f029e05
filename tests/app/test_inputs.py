"""What is handed over to the app: which sheet of a workbook is asked for, and rows that could be records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from workbooks import workbook

from tacita.app.work.inputs import (
    SheetQuestion,
    UserInput,
    find_alternative,
    take_files,
    take_path,
    take_text,
)
from tacita.app.work.open_case import Case
from tacita.app.work.opening import NO_OPTIONS
from tacita.app.work.other_readings import list_other_readings
from tacita.app.work.records import Choice, find_records_among, find_records_at, tabulate_records
from tacita.app.work.workspace import Workspace
from tacita.core.errors import InputError, RecordsError, SeveralValuesError
from tacita.core.tables.read_options import ReadOptions
from tacita.formats.workbook import Sheets

COVER = [["Turnover of firms"], ["in the year 2024"]]
CELLS = [["region", "size", "value"], ["N", "s", 12], ["N", "l", 20], ["S", "s", 30], ["S", "l", 40]]
DOUBLE = [CELLS[0], ["N", "s", 24], ["N", "l", 40], ["S", "s", 60], ["S", "l", 80]]
FIRMS = [["region", "firm", "turnover"], ["N", "x", 1.5], ["N", "y", 2], ["S", "x", 4]]
FEW = "region,branch,turnover\nN,steel,12\nS,food,3.5\nE,steel,8\nW,tools,1\n"

TOTALS = (
    "Total,steel,20\nTotal,food,3.5\nTotal,tools,1\nTotal,Total,24.5\n"
    "N,Total,12\nS,Total,3.5\nE,Total,8\nW,Total,1\n"
)


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    opened = Workspace()
    yield opened
    opened.close()


def at(path: Path, reading: ReadOptions = NO_OPTIONS) -> UserInput:
    return take_path(path, reading)


def of(text: str, path: Path) -> UserInput:
    path.write_text(text, encoding="utf-8")
    return at(path)


def test_a_sheet_is_asked_for_where_several_could_be_meant(tmp_path: Path) -> None:
    book = workbook(tmp_path / "t.xlsx", {"one": CELLS, "two": DOUBLE, "lists": FIRMS}, hidden=["lists"])
    asked = Sheets(("one", "two"), ("lists",))
    assert at(book).find_sheets() == take_files([book], NO_OPTIONS).find_sheets() == asked
    assert asked.labels == ("one", "two", "lists (hidden)")
    assert at(book, ReadOptions(sheet="two")).find_sheets() is None
    table = at(book, ReadOptions(sheet="two")).open_table().table
    assert table.values[table.find("Total", "Total")] == 204


def test_nothing_is_asked_where_there_is_nothing_to_choose(tmp_path: Path) -> None:
    one = workbook(tmp_path / "one.xlsx", {"empty": [], "data": CELLS, "lists": FIRMS}, hidden=["lists"])
    assert at(one).find_sheets() is None
    released = [[*row[:-1], "mark", "low", "high", row[-1]] for row in CELLS]
    ours = workbook(tmp_path / "ours.xlsx", {"release": released, "crosstab": CELLS, "notes": COVER})
    assert at(ours).find_sheets() is None
    (tmp_path / "noise.xlsx").write_bytes(bytes(range(256)))
    assert at(tmp_path / "noise.xlsx").find_sheets() is None
    assert of(FEW, tmp_path / "few.csv").find_sheets() is None
    assert take_text(FEW, tmp_path, NO_OPTIONS).find_sheets() is None
    # A project says which sheet it means.
    several = workbook(tmp_path / "several.xlsx", {"one": CELLS, "two": DOUBLE})
    project = tmp_path / "project.toml"
    project.write_text('[table]\nfile = "several.xlsx"\nsheet = "two"\n')
    handed = take_files([project, several], NO_OPTIONS)
    assert handed.find_sheets() is None
    table = handed.open_table().table
    assert table.values[table.find("Total", "Total")] == 204


def test_the_app_asks_for_the_sheet_of_the_file_that_it_begins_with(
    tmp_path: Path, workspace: Workspace
) -> None:
    workspace.open_path(workbook(tmp_path / "t.xlsx", {"one": CELLS, "two": DOUBLE}))
    assert workspace.case is None
    assert workspace.sheet_question is not None
    assert workspace.sheet_question.sheets.proposed == "one"
    (tmp_path / "few.csv").write_text(FEW)
    workspace.open_path(tmp_path / "few.csv")
    assert workspace.alternative is not None
    assert workspace.alternative.case is workspace.case


def test_files_stay_as_long_as_something_is_to_be_read_from_them(workspace: Workspace) -> None:
    folder = workspace.folder / "opened"
    folder.mkdir()
    book = workbook(folder / "t.xlsx", {"one": FIRMS, "two": CELLS})
    handed = take_files([book], NO_OPTIONS)
    sheets = handed.find_sheets()
    assert sheets is not None
    workspace.sheet_question = SheetQuestion(handed, sheets, as_records=True)
    workspace.drop(folder)
    assert book.exists()
    workspace.records = find_records_among([book], ReadOptions(sheet="one"))
    workspace.sheet_question = None
    assert book.exists()
    workspace.records = workspace.records.with_sheet("two")
    assert workspace.records.seen.names == ("region", "size", "value")
    workspace.records = None
    assert not folder.exists()


def test_records_of_a_workbook_name_their_sheet_in_the_project(tmp_path: Path) -> None:
    book = workbook(tmp_path / "t.xlsx", {"one": FIRMS, "two": CELLS})
    records = find_records_at(book)
    assert (records.sheet, records.sheets) == ("one", Sheets(("one", "two")))
    case = tabulate_records(records, Choice(("region",), "turnover"))
    table = case.specification.table
    assert table is not None
    assert table.sheet == "one"
    other = records.with_sheet("two")
    assert (other.sheet, other.choice, other.seen.names) == ("two", Choice(), ("region", "size", "value"))
    with pytest.raises(InputError, match="no sheet 'three'"):
        records.with_sheet("three")


def test_rows_that_could_be_cells_as_well_as_records(tmp_path: Path, workspace: Workspace) -> None:
    for handed in (
        of(FEW, tmp_path / "few.csv"),
        take_text(FEW.replace(",", "\t"), workspace.folder, NO_OPTIONS),
    ):
        case = handed.open_table()
        found = find_alternative(handed, case)
        assert found is not None
        assert found.case is case
        assert found.records.seen.records == 4
        table = tabulate_records(found.records, Choice(("branch",), "turnover")).table
        assert table.values[table.find("steel")] == 20


def test_rows_that_each_have_a_name_could_be_records(tmp_path: Path) -> None:
    text = "firm,region,nace,value\n" + "".join(f"F{k},{'NS'[k % 2]},1,{k + 1}\n" for k in range(60))
    chosen = ReadOptions(by=("firm", "region"), value="value")
    handed = replace(of(text, tmp_path / "firms.csv"), reading=chosen)
    assert find_alternative(handed, handed.open_table()) is not None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("all combinations", "region,size,value\nN,s,1\nN,l,2\nS,s,3\nS,l,4\n"),
        ("a total", FEW + TOTALS),
        ("counts of respondents", "region,size,value,freq\nN,s,1,3\nS,l,4,2\n"),
        ("levels", "region,size,value,lpl\nN,s,1,1\nS,l,4,2\n"),
        ("one dimension", "firm,turnover\nx,1\ny,2\nz,4\n"),
        ("a crosstab", "region,food,tools\nN,1,2\nS,3,4\nE,5,6\n"),
        # 60 records in 64 cells, none twice: hardly.
        (
            "too many",
            "a,b,value\n" + "".join(f"a{k // 8},b{k % 8},1\n" for k in range(60)),
        ),
    ],
)
def test_rows_that_are_cells(tmp_path: Path, name: str, text: str) -> None:
    handed = of(text, tmp_path / f"{name}.csv")
    assert find_alternative(handed, handed.open_table()) is None


def test_what_says_how_it_is_read_is_not_asked_again(tmp_path: Path) -> None:
    of(FEW, tmp_path / "few.csv")
    handed = of('[table]\nfile = "few.csv"\n', tmp_path / "project.toml")
    assert find_alternative(handed, handed.open_table()) is None


def test_nothing_is_left_of_pasted_text_that_is_cells(workspace: Workspace) -> None:
    handed = take_text(
        "region\tbranch\tvalue\tlpl\nN\tsteel\t3\t1\nS\tfood\t4\t1\n", workspace.folder, NO_OPTIONS
    )
    case: Case = handed.open_table()
    assert find_alternative(handed, case) is None
    assert list(workspace.folder.iterdir()) == []


def test_rows_about_single_respondents_are_told_as_records(tmp_path: Path) -> None:
    rows = "".join(f"f{k},{'NS'[k % 2]},{k}\n" for k in range(30))
    handed = of(f"firm,region,turnover\n{rows}", tmp_path / "firms.csv")
    with pytest.raises(RecordsError, match="every row has a 'firm' of its own") as refused:
        handed.open_table()
    assert refused.value.identity == "firm"
    assert handed.open_records().choice.respondent == "firm"
    ((words, reading),) = list_other_readings(refused.value, handed.reading).items()
    assert words == "The codes are in firm and region"
    assert len(replace(handed, reading=reading).open_table().table.structure.dimensions) == 2
    assert handed.open_records().seen.records == 30


def test_files_stay_while_they_can_be_read_as_records(workspace: Workspace) -> None:
    (folder := workspace.folder / "opened-1").mkdir()
    (path := folder / "firms.csv").write_text("firm,region,turnover,staff\nx,N,1,3\nx,S,2,1\n")
    handed = take_files([path], NO_OPTIONS)
    with pytest.raises(SeveralValuesError):
        handed.open_table()
    workspace.refused = handed
    workspace.drop(folder)
    workspace.records = handed.open_records()
    workspace.refused = None
    assert path.exists()
    workspace.records = None
    assert not folder.exists()
