"""Workbooks of several sheets: which one is read, how another one is named, and what is told of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from workbooks import workbook

from tacita import Problem, Suppression, Table, Threshold, audit
from tacita.app.work.inputs import take_path
from tacita.app.work.opening import NO_OPTIONS
from tacita.cli import main
from tacita.core.errors import FormatError, InputError
from tacita.formats.records import find_records, tabulate_file
from tacita.formats.table_write import write_table
from tacita.formats.workbook import Sheets, list_sheets
from tacita.publication.release_read import read_release
from tacita.publication.release_write import write_release
from tacita.specification.project import load_project
from tacita.specification.read_case import read_case

COVER = [["Turnover of firms"], [], ["see the other sheets"]]
CELLS = [["region", "size", "value"], ["N", "s", 12], ["N", "l", 20], ["S", "s", 30], ["S", "l", 40]]
DOUBLE = [CELLS[0], *([r, s, 2 * v] for r, s, v in CELLS[1:])]
FIRMS = [["region", "firm", "turnover"], ["N", "x", 1.5], ["N", "y", 2], ["S", "x", 4]]


def total(path: Path, **options: str) -> float:
    case = read_case(path, **options)
    assert isinstance(case, Table)
    return float(case.values[case.find("Total", "Total")])


def test_the_first_sheet_that_holds_anything_is_read_and_the_others_are_told(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", {"empty": [], "one": CELLS, "blank": [[" "]], "two": DOUBLE})
    assert list_sheets(path) == Sheets(("one", "two"))
    assert total(path) == 102
    assert total(path, sheet="two") == 204
    told = read_case(path)
    assert isinstance(told, Table)
    assert told.notes[0] == "sheet 'one' was read, the first that holds anything; others: 'two'"
    named = read_case(path, sheet="one")
    assert isinstance(named, Table)
    assert not any("sheet" in note for note in named.notes)


def test_hidden_sheets_are_read_if_they_are_named_or_alone(tmp_path: Path) -> None:
    book = {"lists": DOUBLE, "data": CELLS}
    path = workbook(tmp_path / "t.xlsx", {"cover": [], **book}, hidden=["lists"])
    assert list_sheets(path) == Sheets(("data",), ("lists",))
    assert list_sheets(path).others == ()
    assert total(path) == 102
    assert total(path, sheet="lists") == 204
    path = workbook(tmp_path / "all.xlsx", {"cover": [], **book}, hidden=["lists", "data"])
    assert (list_sheets(path).proposed, list_sheets(path).others) == ("lists", ("data",))


def test_sheets_that_are_not_there_or_hold_no_cells_are_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", {"Data 2024": CELLS, "Data 2023": DOUBLE}, chart="Chart")
    assert list_sheets(path).names == ("Data 2024", "Data 2023")
    with pytest.raises(FormatError) as caught:
        read_case(path, sheet="data 2024")
    assert str(caught.value) == (
        f"{path}: there is no sheet 'data 2024' (did you mean 'Data 2024'?): "
        "name the sheet: 'Data 2024', 'Data 2023'"
    )
    with pytest.raises(FormatError, match=r"'Chart' holds no cells, .*: name the sheet: 'Data 2024'"):
        read_case(path, sheet="Chart")
    with pytest.raises(FormatError, match="no sheet holds anything"):
        read_case(workbook(tmp_path / "none.xlsx", {"a": [], "b": []}))
    (tmp_path / "t.csv").write_text("r,value\na,1\nb,2\n")
    with pytest.raises(FormatError, match="is no workbook and has no sheet 'a': leave the sheet out"):
        read_case(tmp_path / "t.csv", sheet="a")
    with pytest.raises(FormatError, match="is no workbook and has no sheet 'a': leave the sheet out"):
        find_records(tmp_path / "t.csv", "a")


def test_what_is_wrong_with_a_sheet_that_nobody_named_tells_of_the_others(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", {"cover": COVER, "data": CELLS})
    told = "That is sheet 'cover'; if another one is meant, name the sheet: 'data'"
    with pytest.raises(InputError, match=told):
        read_case(path)
    with pytest.raises(InputError, match=told):
        find_records(workbook(tmp_path / "title.xlsx", {"cover": COVER[:1], "data": CELLS}))
    with pytest.raises(InputError, match=told):
        tabulate_file(path, ["region"])
    # Somebody who names it means it.
    with pytest.raises(InputError) as caught:
        read_case(path, sheet="cover")
    assert "if another one is meant" not in str(caught.value)


def test_the_sheet_that_people_are_asked_about_first_holds_a_table(tmp_path: Path) -> None:
    contents = [["Sheet", "Contents"], ["data", "Turnover"]]
    book = {"cover": COVER, "year": [[2025]], "contents": contents, "data": CELLS, "more": DOUBLE}
    sheets = list_sheets(workbook(tmp_path / "t.xlsx", book))
    assert (sheets.proposed, sheets.likely) == ("cover", "data")
    hidden = list_sheets(workbook(tmp_path / "h.xlsx", book, hidden=["data", "more"]))
    assert hidden.likely == "cover"
    assert list_sheets(workbook(tmp_path / "w.xlsx", {"a": COVER, "b": contents})).likely == "a"


def test_a_release_of_ours_is_read_as_ever(tmp_path: Path) -> None:
    table = Table.from_array([[5, 9], [7, 4]], names=("sex", "age"), codes=(("f", "m"), ("old", "young")))
    problem = Problem(table, Threshold(5))
    release = Suppression().protect(problem)
    path = write_release(release, tmp_path / "release.xlsx", audit=audit(problem, release))
    assert list_sheets(path).names == ("crosstab", "release", "notes")
    assert (list_sheets(path).proposed, list_sheets(path).others) == ("release", ())
    assert read_release(path, table).marks.tolist() == release.marks.tolist()
    written = read_case(write_table(table, tmp_path / "table.xlsx"))
    assert isinstance(written, Table)
    assert not any("sheet" in note for note in written.notes)


def test_a_release_is_told_by_its_columns_and_not_by_its_name(tmp_path: Path) -> None:
    foreign = workbook(tmp_path / "foreign.xlsx", {"release": CELLS, "release 2": DOUBLE, "notes": COVER})
    assert list_sheets(foreign).others == ("release 2", "notes")
    told = read_case(foreign)
    assert isinstance(told, Table)
    assert "sheet 'release' was read" in told.notes[0]
    own = [["region", "mark", "low", "high", "value"], ["N", "published", 1, 1, 1]]
    sheets = {"release 1": own, "crosstab 1": CELLS, "release 2": own, "crosstab 2": CELLS, "notes": COVER}
    ours = workbook(tmp_path / "ours.xlsx", {**sheets, "mine": CELLS, "crosstab": CELLS})
    assert list_sheets(ours).others == ("release 2", "mine", "crosstab")


def test_the_command_line_names_a_sheet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = workbook(tmp_path / "t.xlsx", {"one": CELLS, "two": DOUBLE})
    target, sheet = tmp_path / "out.csv", ["--sheet", "two"]
    (tmp_path / "tree.csv").write_text("parent,child\nTotal,N\nTotal,S\n")
    tree = ["--hierarchy", f"region={tmp_path / 'tree.csv'}"]
    for given, wanted in (([], 102), (sheet, 204), ([*sheet, *tree], 204)):
        assert main(["convert", str(path), str(target), *given, "--magnitudes"]) == 0
        assert total(target) == wanted
        assert ("sheet 'one' was read" in capsys.readouterr().err) == (not given)
    assert main(["assess", str(path), "--sheet", "three", "--rules", "threshold(3)"]) == 1
    told = capsys.readouterr().err
    assert "there is no sheet 'three': name the sheet: 'one', 'two'" in " ".join(told.split())
    assert "--sheet" in told


def test_the_sheet_of_a_release_is_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = workbook(tmp_path / "t.xlsx", {"one": DOUBLE, "two": CELLS})
    published = [[*CELLS[0][:2], "value"], *CELLS[1:]]
    totals = [["N", "Total", 32], ["S", "Total", 70], ["Total", "s", 42], ["Total", "l", 60]]
    rows = [*published, *totals, ["Total", "Total", 102]]
    release = workbook(tmp_path / "r.xlsx", {"words": COVER, "figures": rows})
    words = ["audit", str(case), str(release), "--sheet", "two", "--rules", "threshold(3)"]
    assert main(words) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "name the sheet of the release: 'figures'" in told
    assert told.endswith("--release-sheet")
    assert main([*words, "--release-sheet", "figures"]) == 0


def test_tabulate_reads_workbooks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = workbook(tmp_path / "firms.xlsx", {"codes": CELLS, "firms": FIRMS})
    words = ["tabulate", str(path), "--by", "region", "--value", "turnover", "--respondent", "firm", "--json"]
    assert main(words) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert f"{path}: there is no column 'firm'" in told
    assert "That is sheet 'codes'; if another one is meant, name the sheet: 'firms' Options: --sheet" in told
    target = tmp_path / "out.csv"
    assert main([*words, "--sheet", "firms", "--out", str(target)]) == 0
    assert json.loads(capsys.readouterr().out)["cells"] == 3
    table = read_case(target)
    assert isinstance(table, Table)
    assert table.values[table.find("Total")] == 7.5
    assert table.count is not None
    assert table.count[table.find("Total")] == 2


@pytest.mark.parametrize("large", [2.0**63, -(2.0**64), 1e30])
def test_whole_numbers_of_records_may_be_large(tmp_path: Path, large: float) -> None:
    path = workbook(
        tmp_path / "t.xlsx", {"firms": [["region", "firm", "turnover"], ["N", large, 1], ["S", 2, large]]}
    )
    with pytest.raises(InputError, match=r"t\.xlsx.*too large to be counted exactly"):
        tabulate_file(path, ["region"], value="turnover")
    assert len(tabulate_file(path, ["region"], respondent="firm")) == 3
    assert take_path(path, NO_OPTIONS).open_records().seen.records == 2


def test_tabulate_notes_the_sheet_that_it_chose(tmp_path: Path) -> None:
    path = workbook(tmp_path / "firms.xlsx", {"firms": FIRMS, "codes": CELLS})
    assert tabulate_file(path, ["region"]).notes[0].startswith("sheet 'firms' was read")
    assert tabulate_file(path, ["region"], sheet="firms").notes == tabulate_file(path, ["region"]).notes[1:]


@pytest.mark.parametrize(
    "of", ['file = "t.xlsx"\n', 'microdata = "t.xlsx"\nby = ["region", "size"]\nvalue = "value"\n']
)
def test_a_project_names_a_sheet(tmp_path: Path, of: str) -> None:
    workbook(tmp_path / "t.xlsx", {"one": CELLS, "two": DOUBLE})
    for sheet, wanted in (("", 102), ('sheet = "two"\n', 204)):
        (tmp_path / "project.toml").write_text(f'[table]\n{of}{sheet}[rules]\nrule = "threshold(3)"\n')
        table = load_project(tmp_path / "project.toml").data()
        assert table.values[table.find("Total", "Total")] == wanted
    (tmp_path / "project.toml").write_text(f'[table]\n{of}sheet = "three"\n')
    with pytest.raises(InputError, match="no sheet 'three': name the sheet: 'one', 'two'"):
        load_project(tmp_path / "project.toml").data()


def test_a_workbook_with_macros_is_read_like_any_other(tmp_path: Path) -> None:
    assert total(workbook(tmp_path / "t.xlsx", {"one": CELLS}).rename(tmp_path / "t.xlsm")) == 102
