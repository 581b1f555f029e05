"""Records in the app: what a file offers, what is chosen of it, and the case that comes of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter

from tacita.app.screens.export.file_list import list_internal_files
from tacita.app.work.exports import export_run
from tacita.app.work.job import Job, State
from tacita.app.work.opening import open_case_at, open_case_of_text
from tacita.app.work.records import (
    Choice,
    RecordsFile,
    find_records_among,
    find_records_at,
    find_records_in_text,
    tabulate_records,
)
from tacita.app.work.workspace import Workspace
from tacita.core.errors import InputError, RepeatedCellError
from tacita.core.tables.read_options import ReadOptions
from tacita.generate import microdata
from tacita.specification.project import load_project
from tacita.tabulation.tabulate import tabulate

FIRMS = """region,size,turnover,firm,group,weight
01,s,10.5,x,g,1
01,l,2.25,x,g,1
02,s,7,y,g,2
03,s,,z,h,1
03,s,4,x,g,1
"""
TREE = "parent,child\nTotal,West\nTotal,03\nWest,01\nWest,02\n"
CHOICE = Choice(("region", "size"), "turnover", "firm", where="turnover IS NOT NULL")


def handed_over(folder: Path, **files: str) -> RecordsFile:
    """Files by name, ``a_csv`` being ``a.csv``, as if they had been uploaded."""
    opened = folder / "session" / "opened"
    opened.mkdir(parents=True)
    paths = [opened / name.replace("_", ".") for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_text(text, encoding="utf-8")
    return find_records_among(paths)


def test_a_file_tells_what_its_columns_hold(tmp_path: Path) -> None:
    seen = handed_over(tmp_path, firms_csv=FIRMS).seen
    assert seen.records == 5
    assert seen.names == ("region", "size", "turnover", "firm", "group", "weight")
    region, size, turnover, firm, *_ = seen.columns
    assert (region.distinct, region.samples) == (3, ("01", "02", "03"))
    assert (size.distinct, size.numbers) == (2, False)
    assert (turnover.numbers, turnover.distinct, turnover.missing) == (True, 4, 1)
    assert (firm.numbers, firm.distinct, firm.missing) == (False, 3, 0)


def test_names_that_differ_in_all_records_are_proposed_as_respondents(tmp_path: Path) -> None:
    path = tmp_path / "firms.csv"
    path.write_text("turnover,size,firm\n10,s,x\n20,s,y\n30,l,z\n")
    assert find_records_at(path).choice.respondent == "firm"
    path.write_text("turnover,size,firm\n10,s,x\n20,s,y\n30,l,x\n")
    assert find_records_at(path).choice.respondent is None


def test_a_decimal_comma_makes_numbers_where_it_is_said(tmp_path: Path) -> None:
    path = tmp_path / "firms.csv"
    path.write_text("region;turnover\nN;1,5\nS;2\n")
    assert not find_records_at(path).seen.columns[1].numbers
    found = find_records_at(path, ReadOptions(decimal=","))
    assert found.seen.columns[1].numbers
    assert find_records_at(path).with_decimal(",") == found
    case = tabulate_records(found, Choice(("region",), "turnover"))
    assert case.table.values[case.table.find("Total")] == 3.5


def test_the_table_of_a_choice_is_what_the_core_tabulates(tmp_path: Path) -> None:
    records = handed_over(tmp_path, firms_csv=FIRMS)
    choice = replace(CHOICE, holding="group", weight="weight")
    case = tabulate_records(records, choice)
    wanted = tabulate(
        records.path, ["region", "size"], "turnover", "firm", "group", "weight", 5, where=choice.where
    )
    assert case.name == "firms"
    assert np.array_equal(case.table.units, wanted.units)
    assert case.table.contributions is not None
    assert wanted.contributions is not None
    assert np.array_equal(case.table.contributions.values, wanted.contributions.values)
    assert case.table.holdings is not None
    assert case.table.population is not None


def test_without_values_respondents_or_records_are_counted(tmp_path: Path) -> None:
    records = handed_over(tmp_path, firms_csv=FIRMS)
    for choice, total in ((Choice(("group",)), 5), (Choice(("group",), respondent="firm"), 3)):
        table = tabulate_records(records, choice).table
        assert (table.integer, table.values[table.find("Total")]) == (True, total)


def test_dimensions_stand_in_the_chosen_order(tmp_path: Path) -> None:
    table = tabulate_records(
        handed_over(tmp_path, firms_csv=FIRMS), replace(CHOICE, by=("size", "region"))
    ).table
    assert [dimension.name for dimension in table.structure.dimensions] == ["size", "region"]


@pytest.mark.parametrize("called", ["region_csv", "firms-region_csv"])
def test_classifications_handed_over_are_used_unless_they_are_not_wanted(tmp_path: Path, called: str) -> None:
    records = handed_over(tmp_path, **{called: TREE, "firms_csv": FIRMS})
    table = tabulate_records(records, CHOICE).table
    assert table.values[table.find("West", "Total")] == 19.75
    flat = tabulate_records(records, replace(CHOICE, classified=False)).table
    assert "West" not in flat.structure.dimensions[0].codes


def test_classifications_beside_a_path_are_found_by_the_names_of_columns(tmp_path: Path) -> None:
    (tmp_path / "firms.csv").write_text(FIRMS)
    (tmp_path / "region.csv").write_text(TREE)
    (tmp_path / "size.csv").write_text("no,tree\n1,2\n")
    assert find_records_at(tmp_path / "firms.csv").classifications == {"region": [tmp_path / "region.csv"]}


@pytest.mark.parametrize("ending", ["parquet", "xlsx"])
def test_parquet_and_workbooks_give_the_same_table(tmp_path: Path, ending: str) -> None:
    columns = {"region": [1, 1, 2], "firm": ["x", "y", "x"], "turnover": [1.5, 2.0, None]}
    path = tmp_path / f"firms.{ending}"
    if ending == "parquet":
        pq.write_table(pa.table(columns), path)
    else:
        with xlsxwriter.Workbook(str(path)) as book:
            sheet = book.add_worksheet()
            for c, (name, values) in enumerate(columns.items()):
                sheet.write_column(0, c, [name, *values])
    records = find_records_at(path)
    assert [column.missing for column in records.seen.columns] == [0, 0, 1]
    table = tabulate_records(
        records, Choice(("region",), "turnover", "firm", where="firm <> 'z' AND region < 2")
    ).table
    assert table.structure.dimensions[0].codes == ("Total", "1")
    assert table.values.max() == 3.5


def test_what_cannot_be_tabulated_is_told_by_the_name_of_its_file(tmp_path: Path) -> None:
    records = handed_over(tmp_path, firms_csv=FIRMS)
    with pytest.raises(InputError, match="choose at least one"):
        tabulate_records(records, Choice())
    with pytest.raises(InputError) as caught:
        tabulate_records(records, replace(CHOICE, value="firm", where=None))
    assert str(caught.value).startswith("firms.csv, ")
    assert "'x' in column 'firm' is not a number" in str(caught.value)
    # Nothing is left of it.
    assert list(tmp_path.iterdir()) == [tmp_path / "session"]


def test_files_that_are_no_records_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"notes.docx: records are read from .csv"):
        find_records_at(tmp_path / "notes.docx")
    with pytest.raises(InputError, match=r"absent.csv: there is no such file"):
        find_records_at(tmp_path / "absent.csv")
    with pytest.raises(InputError, match=r"land.hrc is called like none of the columns region, size"):
        handed_over(tmp_path, firms_csv=FIRMS, land_hrc="N\nS\n")
    with pytest.raises(InputError, match="no records among the files"):
        handed_over(tmp_path / "more", region_hrc="N\nS\n")


def test_rows_that_repeat_a_cell_are_told_as_records(tmp_path: Path) -> None:
    text = "region,size,value\nN,s,1\nN,s,2\n"
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(RepeatedCellError, match="tabulate the records"):
        open_case_at(tmp_path / "t.csv")
    with pytest.raises(RepeatedCellError):
        open_case_of_text(text.replace(",", "\t"))
    pasted = find_records_in_text(text.replace(",", "\t"), tmp_path)
    assert pasted.seen.names == ("region", "size", "value")
    assert tabulate_records(pasted, Choice(("region",), "value")).table.values.max() == 3


@pytest.mark.parametrize("stays", [True, False])
def test_an_export_repeats_what_was_tabulated(tmp_path: Path, stays: bool) -> None:
    made = microdata(400, {"region": (5, 2), "size": (3, 1)}, respondents=120, seed=4)
    workspace = Workspace()
    folder = tmp_path if stays else workspace.folder
    path = folder / "firms.parquet"
    pq.write_table(made.records, path)
    records = find_records_at(path) if stays else find_records_among([path])
    case = tabulate_records(records, Choice(("region", "size"), "value", "respondent"))
    done = Job(1, case.with_rules(["p-percent(10)", "frequency(3)"]), "suppression", {})
    done.carry_out()
    assert done.state is State.SAFE, done.error
    export_run(done, tmp_path / "out", ["csv", "html"], passing=workspace.folder)
    assert "value: region by size" in (tmp_path / "out" / "publication" / "release.html").read_text()
    workspace.close()
    project = load_project(tmp_path / "out" / "internal" / "project.toml")
    assert project.table is not None
    assert project.table.microdata == (str(path) if stays else "firms.parquet")
    again = project.problem()
    assert np.array_equal(again.levels.sensitive, done.problem.levels.sensitive)
    assert len(again.sensitive) > 0


OWNED = "region,size,firm,holding,value\n" + "".join(
    f"{region},{size},F{n},G{n // 2},{value}\n"
    for n, (region, size, value) in enumerate(
        [(r, s, 90 if k == 0 else 7 * k + 3) for r in "NS" for s in "abc" for k in range(4)]
    )
)


def run_owned(workspace: Workspace) -> Job:
    """Return a finished run of records that were handed over, with a rule on holdings."""
    records = handed_over(workspace.folder, audit_csv=OWNED)
    choice = Choice(("region", "size"), "value", "firm", "holding")
    case = tabulate_records(records, choice).with_rules(["p-percent(10, by=holding)"])
    done = Job(1, case, "suppression", {})
    done.carry_out()
    assert done.state is State.SAFE, done.error
    return done


def test_an_exported_run_keeps_rules_on_holdings_and_is_repeated(tmp_path: Path) -> None:
    workspace = Workspace()
    done = run_owned(workspace)
    listed = {file.name: file.about for file in list_internal_files(done, workspace.folder)}
    assert listed["project.toml"] == "repeats the run: tacita protect project.toml"
    assert "the records of the table" in listed
    assert "table.parquet" not in listed
    parcel = export_run(done, tmp_path / "out", ["csv"], passing=workspace.folder)
    workspace.close()
    assert parcel.notes == ()
    internal = tmp_path / "out" / "internal"
    assert (internal / "audit-2.csv").read_text() == OWNED
    project = load_project(internal / "project.toml")
    assert project.rules.rule == "p-percent(10, by=holding)"
    assert project.table is not None
    assert (project.table.microdata, project.table.holding) == ("audit-2.csv", "holding")
    subprocess.run(
        [sys.executable, "-m", "tacita", "protect", "project.toml"],
        cwd=internal,
        check=True,
        capture_output=True,
    )
    again, before = (
        folder / "publication" / "release.csv" for folder in (internal / "out", tmp_path / "out")
    )
    assert again.read_text() == before.read_text()


def test_rules_that_a_project_cannot_hold_are_told_before_the_export(tmp_path: Path) -> None:
    """Recent work does not hold records: an export writes the table."""
    workspace = Workspace()
    done = run_owned(workspace)
    shutil.rmtree(workspace.folder)
    listed = {file.name: file.about for file in list_internal_files(done, workspace.folder)}
    assert "without p-percent(10, by=holding)" in listed["project.toml"]
    export_run(done, tmp_path / "out", ["csv"], passing=workspace.folder)
    project = load_project(tmp_path / "out" / "internal" / "project.toml")
    assert project.rules.rule is None
    # Its list of attackers is complete: nothing says that contributors are not checked.
    again = project.problem()
    assert again.considered.text == f"an outsider and {len(again.insiders)} insiders"
    assert again.attackers == done.problem.attackers
    assert again.warnings == ()


def test_records_stay_while_a_run_of_their_table_may_be_exported(tmp_path: Path) -> None:
    workspace = Workspace()
    done = run_owned(workspace)
    folder = workspace.folder / "session" / "opened"
    workspace.jobs.append(done)
    workspace.drop(folder)
    assert folder.is_dir()
    workspace.forget(done)
    workspace.drop(folder)
    assert not folder.exists()
    workspace.close()


def test_records_at_hand_go_when_all_is_cleared(tmp_path: Path) -> None:
    workspace = Workspace()
    workspace.records = handed_over(tmp_path, firms_csv=FIRMS)
    workspace.clear()
    assert workspace.records is None
    workspace.close()
