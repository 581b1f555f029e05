"""Projects that the app opened and saved again: the same case, the same release, the same wishes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from firms import MICRODATA, RECORDS

import tacita as tc
from tacita.app.work.exports import export_run, save_case
from tacita.app.work.job import Job
from tacita.app.work.open_case import Case, Decision, DecisionKind, open_case
from tacita.app.work.opening import open_case_at
from tacita.cli import main
from tacita.core.tables.editing import without_code
from tacita.specification.differences import find_differences
from tacita.specification.project import load_project
from tacita.specification.sections import Protection

CELLS = "region,size,value\nN,a,2\nN,b,20\nN,c,9\nS,a,30\nS,b,3\nS,c,8\nW,a,12\nW,b,7\nW,c,40\n"
PROJECT = """[table]
file = "cells.csv"
[rules]
rule = "threshold(5)"
sensitive = [{ region = "W", size = "b" }, { region = "S", size = "c", lpl = 1, upl = 2 }]
exempt = [{ region = "N", size = "a" }, { region = "S", size = "b" }]
[attackers]
within = [1.0, 4.0]
[cost]
by = "unit"
[protect]
method = "unbiased-rounding"
options = { base = 3, protected = false }
seed = 11
time_limit = 30.0
gap = "5%"
must_publish = [{ region = "S", size = "b" }]
[output]
folder = "results"
formats = ["html", "csv"]
"""


def opened(folder: Path, text: str = PROJECT) -> Case:
    folder.mkdir()
    (folder / "cells.csv").write_text(CELLS)
    (folder / "project.toml").write_text(text)
    return open_case_at(folder)


def test_decisions_and_wishes_are_opened(tmp_path: Path) -> None:
    case = opened(tmp_path / "one")
    find = case.table.find
    assert case.decisions == {
        find("W", "b"): Decision(DecisionKind.SENSITIVE),
        find("S", "c"): Decision(DecisionKind.SENSITIVE, 1, 2),
        find("N", "a"): Decision(DecisionKind.SAFE),
        find("S", "b"): Decision(DecisionKind.PUBLISH, exempt=True),
    }
    assert case.specification == load_project(tmp_path / "one" / "project.toml")
    assert find_differences(case.problem, load_project(tmp_path / "one" / "project.toml").problem()) == []


def test_what_was_opened_is_saved_without_a_word_lost(tmp_path: Path) -> None:
    case = opened(tmp_path / "one")
    assert save_case(case, tmp_path / "two", "project", passing=tmp_path / "session").notes == ()
    before, after = (load_project(tmp_path / name / "project.toml") for name in ("one", "two"))
    for section in ("attackers", "cost", "output"):
        assert getattr(after, section) == getattr(before, section)
    assert after.rules.rule == before.rules.rule
    assert {str(cell) for cell in after.rules.exempt} == {str(cell) for cell in before.rules.exempt}
    assert {str(mark) for mark in after.rules.sensitive} == {str(mark) for mark in before.rules.sensitive}
    assert after.protect.gap == 0.05
    for name in ("method", "options", "seed", "time_limit", "gap"):
        assert getattr(after.protect, name) == getattr(before.protect, name)
    assert open_case_at(tmp_path / "two").decisions == case.decisions


def test_cells_that_files_decide_and_reasons_are_kept(tmp_path: Path) -> None:
    (tmp_path / "frozen.csv").write_text("region,size\nN,b\n")
    (tmp_path / "last.csv").write_text("region,size,mark\n")
    decisions = (
        f'[decisions]\nmust_publish = {{ file = "{tmp_path}/frozen.csv", reason = "in print" }}\n'
        'exempt = { reason = "consent" }\n'
    )
    start = f'start = "{tmp_path}/last.csv"\n'
    case = opened(tmp_path / "one", PROJECT.replace("[output]", f"{start}{decisions}[output]"))
    assert case.problem.must_publish[case.table.find("N", "b")]
    save_case(case, tmp_path / "two", "project", passing=tmp_path / "session")
    after = load_project(tmp_path / "two" / "project.toml")
    assert find_differences(case.problem, after.problem()) == []
    assert after.decisions.find("must_publish").reason == "in print"
    assert after.decisions.find("exempt").reason == "consent"
    assert after.protect.start == f"{tmp_path}/last.csv"


def test_a_project_that_says_nothing_of_its_protection_goes_on_so(tmp_path: Path) -> None:
    case = opened(tmp_path / "one", PROJECT[: PROJECT.index("[protect]")])
    assert case.specification.protect == Protection()
    only_seed = opened(tmp_path / "two", PROJECT[: PROJECT.index("[protect]")] + "[protect]\nseed = 5\n")
    assert only_seed.specification.protect == Protection(seed=5)


@pytest.mark.parametrize("method", ["suppression", "unbiased-rounding"])
def test_the_command_line_gives_the_release_of_the_app(tmp_path: Path, method: str) -> None:
    text = PROJECT.replace("unbiased-rounding", method)
    case = opened(tmp_path / "one", text if method != "suppression" else text.replace("options", "#"))
    save_case(case, tmp_path / "two", "project", passing=tmp_path / "session")
    said = case.specification.protect
    job = Job(1, case, method, said.options, seed=said.seed, time_limit=said.time_limit)
    job.carry_out()
    assert job.audit is not None
    export_run(
        job, tmp_path / "app", ["csv"], "to be compared with another one", passing=tmp_path / "session"
    )
    release = tc.read_release(tmp_path / "app" / "publication" / "release.csv", case.table)
    codes = [main(["protect", str(tmp_path / name)]) for name in ("one", "two")]
    assert codes == [0 if job.audit.safe else 2] * 2
    if job.audit.safe:
        written = [tmp_path / name / "results" / "publication" / "release.csv" for name in ("one", "two")]
        assert {path.read_text() for path in written} == {
            (tmp_path / "app" / "publication" / "release.csv").read_text()
        }
        assert all(path.with_suffix(".html").exists() for path in written)
    # And so does the project of the exported run, also where it is not safe.
    project = load_project(tmp_path / "app" / "internal" / "project.toml")
    again = tc.methods.make_method(method, project.protect.options)
    same = again.protect(project.problem(), tc.Run(seed=project.protect.seed))
    assert (same.low == release.low).all()
    assert (same.high == release.high).all()


def test_decisions_on_a_table_of_microdata_refer_to_them_on(tmp_path: Path) -> None:
    made = tc.generate.microdata(300, {"industry": (4, 1), "region": (3, 1)}, respondents=90, seed=4)
    pq.write_table(made.records, tmp_path / "records.parquet")
    (tmp_path / "project.toml").write_text(
        '[table]\nmicrodata = "records.parquet"\nby = ["industry", "region"]\nvalue = "value"\n'
        'respondent = "respondent"\n[rules]\nrule = "p-percent(20)"\n[attackers]\nkinds = ["respondents"]\n'
    )
    case = open_case_at(tmp_path / "project.toml")
    hit = case.problem.sensitive.tolist()[0]
    free = [c for c in range(len(case.table)) if not case.problem.levels.sensitive[c]][-1]
    case = case.decide([hit], Decision(DecisionKind.SAFE)).decide([free], Decision(DecisionKind.SENSITIVE))
    written = save_case(case, tmp_path / "two", "project", passing=tmp_path / "session")
    assert written.notes == ()
    assert [path.name for path in written.paths] == ["project.toml"]
    again = open_case_at(tmp_path / "two")
    assert (again.decisions, again.rules, again.attackers) == (case.decisions, case.rules, case.attackers)
    assert find_differences(case.problem, again.problem) == []


DECIDED = 'exempt = [{ region = "S", size = "a" }]\n'


def tabulated(folder: Path, rules: str) -> Path:
    folder.mkdir()
    (folder / "records.csv").write_text(RECORDS)
    (folder / "project.toml").write_text(MICRODATA + rules)
    return folder / "project.toml"


@pytest.mark.parametrize(
    "marks",
    [
        'sensitive = [{ region = "N", size = "b", protection = 30 }]\n',
        'sensitive = [{ region = "N", size = "b" }]\n[protect]\nmust_hide = [{ region = "N", size = "b" }]\n',
        'sensitive = [{ region = "N", size = "b", lpl = 5, upl = 7, spl = 20 }]\n'
        '[protect]\nmust_hide = [{ region = "N", size = "b" }]\n',
        'sensitive = [{ region = "N", size = "b" }, { region = "N", size = "b", upl = 200 }]\n',
    ],
    ids=["other percentage", "also hidden", "amounts, also hidden", "twice"],
)
@pytest.mark.parametrize("rule", ["p-percent(60)", "p-percent(60, by=holding) | request([F8])"])
def test_marks_of_all_kinds_leave_a_project_with_its_microdata(tmp_path: Path, rule: str, marks: str) -> None:
    path = tabulated(tmp_path / "one", f'rule = "{rule}"\n{DECIDED}{marks}')
    before = load_project(path).problem()
    case = open_case_at(path)
    assert find_differences(before, case.problem) == []
    written = save_case(case, tmp_path / "two", "project", passing=tmp_path / "session")
    assert written.notes == ()
    assert [file.name for file in written.paths] == ["project.toml"]
    assert find_differences(before, load_project(tmp_path / "two" / "project.toml").problem()) == []
    again = open_case_at(tmp_path / "two")
    assert (again.decisions, again.rules) == (case.decisions, case.rules)


def test_percentages_beside_larger_levels_of_a_rule_are_kept(tmp_path: Path) -> None:
    """Nothing asks for them today: the values of tomorrow may."""
    mark = 'sensitive = [{ region = "N", size = "a", protection = 1 }]\n'
    case = open_case_at(tabulated(tmp_path / "one", f'rule = "p-percent(60)"\n{mark}'))
    save_case(case, tmp_path / "two", "project", passing=tmp_path / "session")
    (entry,) = load_project(tmp_path / "two" / "project.toml").rules.sensitive
    assert entry.protection == 1


@pytest.mark.parametrize(
    ("rules", "gone", "kept"),
    [
        (
            "p-percent(60) | p-percent(50, by=holding)",
            "p-percent(50, by=holding, waivers=[F2])",
            ("p-percent(60)",),
        ),
        ("request([F8]) | p-percent(60)", "request([F8])", ("p-percent(60)",)),
        ("request([F7])", "request([F7])", ()),
    ],
)
def test_a_rule_that_needs_the_microdata_takes_no_decision_with_it(
    tmp_path: Path, rules: str, gone: str, kept: tuple[str, ...]
) -> None:
    """The table is written alone: what such a rule hits is marked in it, also below an exemption."""
    marks = 'waived = ["F2"]\nsensitive = [{ region = "N", size = "b" }]\n'
    path = tabulated(tmp_path / "one", f'rule = "{rules}"\n{DECIDED}{marks}')
    case = open_case_at(path).specify(table=None)
    assert case.problem.exempt.sum() == 1
    notes = save_case(case, tmp_path / "two", "project", passing=tmp_path / "session").notes
    assert f"marked in the table instead: {gone} (" in notes[0]
    again = open_case_at(tmp_path / "two")
    assert find_differences(case.problem, again.problem) == []
    assert again.decisions == case.decisions
    assert again.specification.rules.waived == case.specification.rules.waived
    assert again.rules == kept


def test_an_exempt_cell_stays_so_where_its_levels_are_beyond_its_bounds(tmp_path: Path) -> None:
    table = tc.Table.from_array([[2, 20], [30, 3]], names=("row", "column"))
    cell = table.find("1", "1")
    bounds = tc.Outsider(np.zeros(9, dtype=np.int64), table.units + 4)
    far = tc.Exempt(Elsewhere(cell), [cell])
    problem = tc.Problem(table, far, attackers=bounds)
    (note,) = tc.write_project(problem, tmp_path / "two", method="suppression").notes
    assert "as far as bounds leave room" in note
    again = load_project(tmp_path / "two" / "project.toml").problem()
    assert find_differences(problem, again) == []
    assert np.flatnonzero(again.exempt).tolist() == [cell]
    known = tc.Problem(table, far, attackers=tc.Outsider(table.units, table.units))
    *_, note = tc.write_project(known, tmp_path / "two", method="suppression").notes
    assert note == "exempt, though nothing hits them in these files: (row=1, column=1)"


@dataclass(frozen=True)
class Elsewhere(tc.rules.Rule):
    """A rule without a written form, which asks for much of one cell."""

    cell: int

    @property
    def text(self) -> str:
        return "found elsewhere"

    def levels(self, table: tc.Table) -> tc.Levels:
        return tc.Marked([self.cell], lower=0, upper=50).levels(table)


def test_a_total_that_becomes_one_with_its_part_is_no_longer_exempt() -> None:
    table = tc.Table.from_array([[2, 20], [30, 3]], names=("row", "column"))
    exempt = Decision(DecisionKind.HIDE, exempt=True)
    case = open_case(table, "x").decide([table.find("1", "Total"), table.find("2", "1")], exempt)
    left = case.with_table(without_code(table, "column", "2"))
    # Of the part nobody said that it is safe: that it is hidden stays, as that takes nothing from it.
    assert left.decisions[left.table.find("1", "Total")] == Decision(DecisionKind.HIDE)
    assert left.exempt_cells == []


def test_coalitions_of_holdings_are_kept(tmp_path: Path) -> None:
    """As a project states them, as the app opens them, and as it saves them."""
    attackers = 'coalitions = [["F1", "F4"]]\nholding_coalitions = [["G1", "G2"]]\n'
    folder = tabulated(tmp_path / "one", f'rule = "p-percent(10)"\n[attackers]\n{attackers}').parent
    asked = load_project(folder / "project.toml").problem()
    assert "2 coalitions" in asked.considered.text
    case = open_case_at(folder)
    assert case.attackers.holding_coalitions == (("G1", "G2"),)
    assert open_case(asked, "owned").attackers.holding_coalitions == (("G1", "G2"),)
    save_case(case, tmp_path / "two", "project", passing=tmp_path / "passing")
    again = load_project(tmp_path / "two" / "project.toml")
    assert again.attackers.holding_coalitions == (("G1", "G2"),)
    assert again.problem().considered == asked.considered == case.problem.considered
