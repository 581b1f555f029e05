"""Files of a run: publication and internal apart, none unsafe without a reason; saved cases come back."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_workbook import REGIONS, SHEET, TITLE, make_workbook
from openpyxl import load_workbook

import tacita as tc
from tacita.app.work import exports
from tacita.app.work.exports import (
    export_run,
    export_sheet,
    make_file_name,
    name_files,
    save_case,
    zip_files,
)
from tacita.app.work.job import Job, State
from tacita.app.work.open_case import Case, Decision, DecisionKind, open_case
from tacita.app.work.opening import list_reading_notes, open_case_at
from tacita.core.errors import InputError, UnsafeError
from tacita.core.tables.editing import with_cells
from tacita.core.tables.read_options import ReadOptions
from tacita.examples import example
from tacita.publication import release_html
from tacita.publication.release_write import FORMATS
from tacita.specification.differences import find_differences
from tacita.specification.project import load_project

REASON = "for the internal auditors only"


def job(name: str = "nchs", method: str = "suppression", **options: str) -> Job:
    done = Job(1, open_case(example(name), name), method, options)
    done.carry_out()
    assert done.state.over, done.error
    return done


def unsafe() -> Job:
    done = job("nchs", "rounding", base="3", protected="false")
    assert done.state is State.UNSAFE
    return done


def names(paths: tuple[Path, ...]) -> set[str]:
    return {path.name for path in paths}


def test_publication_and_internal_files_are_apart(tmp_path: Path) -> None:
    parcel = export_run(job(), tmp_path / "out", ["csv", "xlsx"], passing=tmp_path / "session")
    assert names(parcel.publication) == {"release.csv", "release.xlsx"}
    assert {path.parent for path in parcel.publication} == {tmp_path / "out" / "publication"}
    assert {path.parent for path in parcel.internal} == {tmp_path / "out" / "internal"}
    assert {"audit.json", "certificate.json", "project.toml", "repeat.py"} <= names(parcel.internal)


def test_the_project_of_a_run_repeats_it(tmp_path: Path) -> None:
    done = job("nchs", "rounding", base="10")
    export_run(done, tmp_path, ["csv"], passing=tmp_path / "session")
    project = load_project(tmp_path / "internal" / "project.toml")
    assert project.protect.method == "rounding"
    assert (project.problem().table.units == done.problem.table.units).all()


def test_without_a_reason_an_unsafe_run_publishes_nothing(tmp_path: Path) -> None:
    parcel = export_run(unsafe(), tmp_path, ["csv"], passing=tmp_path / "session")
    assert parcel.publication == ()
    assert "audit.json" in names(parcel.internal)
    assert not (tmp_path / "publication").exists()


def test_a_reason_stands_in_the_file(tmp_path: Path) -> None:
    parcel = export_run(unsafe(), tmp_path, ["csv"], REASON, passing=tmp_path / "session")
    assert REASON in parcel.publication[0].read_text(encoding="utf-8")


def test_publication_and_internal_files_share_no_name(tmp_path: Path) -> None:
    """Out of its folder, an internal file must not be taken for the one that is published."""
    parcel = export_run(job(), tmp_path, list(FORMATS), passing=tmp_path / "session")
    assert not names(parcel.publication) & names(parcel.internal)
    assert "release-internal.xlsx" in names(parcel.internal)


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_export_that_fails_leaves_the_earlier_one_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_run(job(), tmp_path, ["csv", "html"], passing=tmp_path / "session")
    before = everything(tmp_path)
    with monkeypatch.context() as broken:
        broken.setattr(release_html, "MOST_CELLS", 3)
        with pytest.raises(InputError, match="a page shows at most 3 cells"):
            export_run(unsafe(), tmp_path, ["csv", "html"], REASON, passing=tmp_path / "session")
    assert everything(tmp_path) == before
    with monkeypatch.context() as broken:
        broken.setattr(exports, "write_script", refuse)
        with pytest.raises(InputError, match="cannot be written as text"):
            export_run(unsafe(), tmp_path, ["csv"], REASON, passing=tmp_path / "session")
    assert everything(tmp_path) == before


def refuse(*_: object, **__: object) -> Path:
    raise InputError("option 'parts': cannot be written as text")


def test_nothing_of_an_earlier_export_stays_beside_another_release(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    export_run(job(), tmp_path, ["csv", "xlsx", "html"], passing=tmp_path / "session")
    assert (tmp_path / "internal" / "certificate.json").exists()
    parcel = export_run(unsafe(), tmp_path, ["csv"], REASON, passing=tmp_path / "session")
    assert {path.name for path in tmp_path.iterdir()} == {"notes.txt", "publication", "internal"}
    assert {path.name for path in (tmp_path / "publication").iterdir()} == {"release.csv"}
    assert not (tmp_path / "internal" / "certificate.json").exists()
    assert not (tmp_path / "internal" / "release-internal.xlsx").exists()
    assert any("certificate.json" in note for note in parcel.notes)


def test_a_reason_has_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(UnsafeError, match="in a few words why"):
        export_run(unsafe(), tmp_path, ["csv"], "a b c", passing=tmp_path / "session")
    assert everything(tmp_path) == {}


def test_a_run_without_audit_is_not_written(tmp_path: Path) -> None:
    failed = job("thesis-3x4", "rounding", base="5")
    assert failed.state is State.FAILED
    with pytest.raises(UnsafeError, match="no audit"):
        export_run(failed, tmp_path, ["csv"], REASON, passing=tmp_path / "session")


def test_an_archive_holds_the_files_by_name(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("1")
    with zipfile.ZipFile(zip_files([tmp_path / "one.txt"], tmp_path / "all.zip")) as archive:
        assert archive.namelist() == ["one.txt"]


def test_archives_that_are_unpacked_in_one_place_stay_apart(tmp_path: Path) -> None:
    parcel = export_run(job(), tmp_path / "out", ["csv", "xlsx"], passing=tmp_path / "session")
    for files, folder in ((parcel.publication, "publication"), (parcel.internal, "internal")):
        with zipfile.ZipFile(zip_files(files, tmp_path / "one.zip", folder)) as archive:
            archive.extractall(tmp_path / "unpacked")
    assert everything(tmp_path / "unpacked") == everything(tmp_path / "out")


def test_internal_files_get_nothing_inside_what_is_published(tmp_path: Path) -> None:
    export_run(job(), tmp_path, ["csv"], passing=tmp_path / "session")
    before = everything(tmp_path)
    for place in (tmp_path / "publication", tmp_path / "publication" / "deeper"):
        with pytest.raises(InputError, match="would lie inside a folder called 'publication'"):
            export_run(job(), place, ["csv"], passing=tmp_path / "session")
    assert everything(tmp_path) == before


@pytest.mark.parametrize("way", ["project", "thesis", "csv", "xlsx", "parquet", "jj", "nchs"])
def test_no_case_is_saved_inside_what_is_published(tmp_path: Path, way: str) -> None:
    case = open_case(example("nchs"), "nchs")
    target = tmp_path / "publication" / ("case" if way in exports.FOLDERS else f"case.{way}")
    with pytest.raises(InputError, match="would lie inside a folder called 'publication'"):
        save_case(case, target, way, passing=tmp_path / "session")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("blocked", ["project.toml", "repeat.py", "audit.json"])
def test_a_run_is_exported_as_a_whole_or_not_at_all(tmp_path: Path, blocked: str) -> None:
    (tmp_path / "internal" / blocked).mkdir(parents=True)
    with pytest.raises(InputError, match=blocked) as told:
        export_run(job(), tmp_path, ["csv"], passing=tmp_path / "session")
    assert ".tacita" not in str(told.value)
    assert [path.name for path in tmp_path.rglob("*")] == ["internal", blocked]


@pytest.mark.parametrize("way", ["csv", "xlsx", "parquet", "jj"])
def test_a_saved_case_comes_back(tmp_path: Path, way: str) -> None:
    case = open_case(example("salazar"), "salazar")
    save_case(case, tmp_path / f"case.{way}", way, passing=tmp_path / "session")
    again = tc.read_case(tmp_path / f"case.{way}")
    assert isinstance(again, tc.Problem)
    assert sorted(again.table.units.tolist()) == sorted(case.table.units.tolist())
    assert sorted(again.levels.upper.tolist()) == sorted(case.problem.levels.upper.tolist())


def test_a_saved_project_keeps_what_was_decided(tmp_path: Path) -> None:
    case = open_case(example("salazar"), "salazar")
    kept = next(c for c in range(len(case.table)) if not case.problem.levels.sensitive[c])
    case = case.decide([kept], Decision(DecisionKind.PUBLISH))
    save_case(case, tmp_path, "project", passing=tmp_path / "session")
    again = load_project(tmp_path / "project.toml").problem()
    assert again.must_publish.tolist() == case.problem.must_publish.tolist()


def marked_case() -> Case:
    """A case with a cell of each mark, a rule, and a method."""
    case = open_case(example("nchs"), "nchs")
    inner = ~case.problem.levels.sensitive & ~case.table.structure.is_total
    free = np.flatnonzero(inner & (case.table.units > 5))
    for cell, kind in zip(
        free.tolist(), (DecisionKind.SENSITIVE, DecisionKind.PUBLISH, DecisionKind.HIDE), strict=False
    ):
        case = case.decide([cell], Decision(kind))
    return case.specify(protect={"method": "rounding", "options": {"base": 5}})


def test_a_saved_project_keeps_rules_marks_and_method(tmp_path: Path) -> None:
    case = marked_case()
    assert case.rules
    written = save_case(case, tmp_path, "project", passing=tmp_path / "session")
    assert written.notes == ()
    again = open_case_at(tmp_path / "project.toml")
    assert find_differences(case.problem, again.problem) == []
    assert again.rules == case.rules
    assert again.specification.protect.options == case.specification.protect.options == {"base": 5}
    # The rule says what a new value is, not what the table said when it was saved.
    sensitive, inner = case.problem.levels.sensitive, ~case.table.structure.is_total
    for before, value in ((True, 10_000), (False, 1)):
        candidates = np.flatnonzero(inner & (sensitive == before)).tolist()
        cell = next(c for c in candidates if c not in case.decisions)
        changed = {case.table.structure.key(cell): value}
        edited = (c.with_table(with_cells(c.table, changed)) for c in (case, again))
        one, other = (e.problem.levels.sensitive.tolist() for e in edited)
        assert one == other
        assert one[cell] is not before


LOST = {
    "csv": {"must be hidden", "rules"},
    "xlsx": {"must be hidden", "rules"},
    "parquet": {"must be hidden", "rules"},
    "jj": {"must be hidden", "rules"},
    "thesis": {"must be hidden", "must be published", "rules"},
    "nchs": {"must be hidden", "must be published", "rules", "sensitive cells"},
}


@pytest.mark.parametrize("way", LOST)
def test_what_a_file_does_not_hold_is_told(tmp_path: Path, way: str) -> None:
    (note,) = save_case(marked_case(), tmp_path / f"case.{way}", way, passing=tmp_path / "session").notes
    told = {what for what in set.union(*LOST.values()) if what in note}
    assert told == LOST[way]
    assert "project folder" in note


def test_a_file_that_holds_everything_is_not_remarked_on(tmp_path: Path) -> None:
    case = open_case(example("salazar"), "salazar")
    assert not case.rules
    for way in ("csv", "jj"):
        assert save_case(case, tmp_path / f"case.{way}", way, passing=tmp_path / "session").notes == ()


def test_a_table_whose_rules_do_not_fit_is_saved_without_them(tmp_path: Path) -> None:
    case = open_case(example("salazar").table, "plain").with_rules(["p-percent(10)"])
    written = save_case(case, tmp_path / "plain.csv", "csv", passing=tmp_path / "session")
    assert "rule p-percent(10)" in written.notes[0]
    assert written.paths[0].exists()


def test_a_rule_that_does_not_fit_takes_nothing_with_it(tmp_path: Path) -> None:
    """Marks, exemptions, bounds and other rules stay; the note names the rule."""
    case = marked_case().specify(attackers={"upper": 100_000})
    hit = next(c for c in case.problem.sensitive.tolist() if c not in case.decisions)
    case = case.decide([hit], Decision(DecisionKind.SAFE))
    unfit = case.with_rules(["p-percent(10)", *case.rules])
    (note,) = save_case(unfit, tmp_path / "two", "project", passing=tmp_path / "session").notes
    assert "without what does not fit the table: rule p-percent(10) (" in note
    again = open_case_at(tmp_path / "two")
    assert find_differences(case.problem, again.problem) == []
    assert again.problem.exempt[hit]
    assert (again.rules, again.decisions, again.attackers) == (case.rules, case.decisions, case.attackers)


def test_of_what_is_at_odds_the_rule_stays(tmp_path: Path) -> None:
    """A cell that a rule hits and that must be published: the rule protects more."""
    case = marked_case()
    hit = next(c for c in case.problem.sensitive.tolist() if c not in case.decisions)
    odd = case.decide([hit], Decision(DecisionKind.PUBLISH))
    (note,) = save_case(odd, tmp_path / "two", "project", passing=tmp_path / "session").notes
    assert "'must publish' of" in note
    assert case.table.name(hit) in note
    again = open_case_at(tmp_path / "two")
    assert again.rules == case.rules
    assert again.problem.levels.sensitive[hit]
    assert again.list_decided(DecisionKind.HIDE) == case.list_decided(DecisionKind.HIDE)


@pytest.mark.parametrize("way", ["csv", "xlsx", "parquet", "jj", "thesis", "nchs"])
def test_exempt_cells_are_told_where_files_do_not_hold_them(tmp_path: Path, way: str) -> None:
    case = open_case(example("thesis-3x4"), "thesis")
    case = case.decide([case.problem.sensitive.tolist()[0]], Decision(DecisionKind.SAFE))
    (note,) = save_case(case, tmp_path / f"case.{way}", way, passing=tmp_path / "session").notes
    assert "exempt cells (1)" in note


def test_the_sheet_of_a_table_is_given_back_with_its_footnotes(tmp_path: Path) -> None:
    path = make_workbook(tmp_path / "report.xlsx")
    case = open_case_at(path, ReadOptions(counts=True)).with_rules(["frequency(400000)"])
    done = Job(1, case, "suppression", {})
    done.carry_out()
    (file,) = export_sheet(done, tmp_path / "out").publication
    sheet = load_workbook(file)[SHEET]
    assert sheet["A1"].value == TITLE
    assert sheet["A12"].value == "Source: survey of enterprises."
    assert sheet["B7"].value == "x"
    assert "Download Excel" in " ".join(list_reading_notes(case, ReadOptions()))
    # Of an edited table the sheet has other numbers, and one that tells a value is not copied.
    edited = case.with_table(with_cells(case.table, {("East", "Men", "small"): 3}))
    assert edited.sheet is None
    telling = make_workbook(path, A12=f"About {REGIONS['East'][0]} in the East.")
    assert telling == path
    parcel = export_sheet(done, tmp_path / "again")
    assert load_workbook(parcel.publication[0]).sheetnames[0] != SHEET
    assert "a workbook of its own, not the sheet" in parcel.notes[0]
    assert str(tmp_path) not in parcel.notes[0]


def test_tables_of_the_same_records_have_files_of_other_names() -> None:
    case = replace(open_case(example("salazar"), "firms"), tabulated="turnover")
    assert name_files(case) == "firms-activity-by-region"
    assert name_files(replace(case, tabulated=None)) == "firms"
    other = replace(case, work="another")
    assert name_files(case, [case]) == "firms-activity-by-region"
    assert name_files(case, [case, other]) == "firms-activity-by-region-16-cells"


def test_the_title_of_a_table_of_records_needs_no_records(tmp_path: Path) -> None:
    case = replace(open_case(example("salazar"), "firms"), tabulated="turnover")
    done = Job(1, case, "suppression", {})
    done.carry_out()
    export_run(done, tmp_path, ["html"], passing=tmp_path / "session")
    (path,) = (tmp_path / "publication").iterdir()
    assert "turnover: activity by region" in path.read_text(encoding="utf-8")


def test_names_of_files_are_plain() -> None:
    assert make_file_name("../a b/ü?.csv") == "a-b-ü-.csv"
    assert make_file_name("///") == "table"
    assert len(f"{make_file_name('é' * 300)}-run-1-publication.zip".encode()) <= 255
