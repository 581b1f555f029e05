"""Decisions on single cells in a project file, and who is told that cells are exempt."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tacita as tc
from tacita.cli import main
from tacita.core.errors import FormatError, InputError
from tacita.report.html import build_report_page
from tacita.specification.project import load_project

CELLS = "region,size,value\nN,a,2\nN,b,20\nN,c,9\nS,a,30\nS,b,3\nS,c,8\nW,a,12\nW,b,7\nW,c,40\n"
PROJECT = '[table]\nfile = "cells.csv"\n[rules]\nrule = "threshold(5)"\n'
EXEMPT = 'exempt = [{ region = "N", size = "a" }]\n'
MARKED = (
    'sensitive = [{ region = "S", size = "c" }, { region = "W", size = "b", lpl = 1, upl = 2.5, spl = 4 }]\n'
)


def project(folder: Path, text: str, cells: str = CELLS) -> Path:
    (folder / "cells.csv").write_text(cells)
    (folder / "project.toml").write_text(text)
    return folder / "project.toml"


def with_column(name: str, said: dict[str, str]) -> str:
    """The cells with one more column, empty but for some rows."""
    head, *rows = CELLS.split()
    return "\n".join([f"{head},{name}", *(f"{row},{said.get(row, '')}" for row in rows)]) + "\n"


def at(problem: tc.Problem, *codes: str) -> int:
    return problem.table.find(*codes)


def test_cells_are_sensitive_and_exempt_by_hand(tmp_path: Path) -> None:
    problem = load_project(project(tmp_path, PROJECT + EXEMPT + MARKED)).problem()
    marked, amounts = at(problem, "S", "c"), at(problem, "W", "b")
    assert {*problem.sensitive.tolist()} == {at(problem, "S", "b"), marked, amounts}
    assert np.flatnonzero(problem.exempt).tolist() == [at(problem, "N", "a")]
    levels = problem.levels
    assert (levels.lower[marked], levels.upper[marked], levels.sliding[marked]) == (2, 2, 0)
    # Counts: two and a half is as much as three.
    assert (levels.lower[amounts], levels.upper[amounts], levels.sliding[amounts]) == (1, 3, 4)


def test_a_dimension_may_have_any_name_and_a_wrong_one_is_told(tmp_path: Path) -> None:
    wrong = 'exempt = [{ self = "N" }]\n'
    with pytest.raises(InputError, match=r"\[rules\] exempt: cells of this table are named by region, size"):
        load_project(project(tmp_path, PROJECT + wrong)).problem()
    problem = load_project(project(tmp_path, PROJECT + wrong, CELLS.replace("region", "self"))).problem()
    assert at(problem, "N") == problem.table.find(self="N")


def test_marks_alone_say_what_is_sensitive(tmp_path: Path) -> None:
    text = '[table]\nfile = "cells.csv"\n[rules]\nsensitive = [{ region = "N", protection = [10, 50.0] }]\n'
    cells = with_column("cost", {"N,a,2": "7"})
    problem = load_project(project(tmp_path, text, cells)).problem()
    total = at(problem, "N", "Total")
    assert problem.sensitive.tolist() == [total]
    assert (problem.levels.lower[total], problem.levels.upper[total]) == (4, 16)
    assert problem.cost[at(problem, "N", "a")] == 7


@pytest.mark.parametrize("rule", ["", 'rule = "threshold(5)"\n'])
def test_exempt_from_what_the_file_marks(tmp_path: Path, rule: str) -> None:
    cells = with_column("status", {"N,a,2": "u", "W,c,40": "u"})
    problem = load_project(
        project(tmp_path, f'[table]\nfile = "cells.csv"\n[rules]\n{rule}{EXEMPT}', cells)
    ).problem()
    assert at(problem, "W", "c") in problem.sensitive
    assert np.flatnonzero(problem.exempt).tolist() == [at(problem, "N", "a")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (EXEMPT + EXEMPT.replace("exempt", "sensitive"), r"region=N, size=a.*sensitive and exempt"),
        (EXEMPT.replace('"a"', '"z"'), r"\[rules\] exempt: .*'z'"),
        (
            EXEMPT.replace("region", "place"),
            r"\[rules\] exempt: cells of this table are named by region, size",
        ),
        ('sensitive = [{ region = "N", lpl = "3" }]\n', "line 5: rules.sensitive.0.lpl: .*number"),
        (
            'sensitive = [{ region = "N", upl = -3 }]\n',
            "line 5: rules.sensitive.0.upl: .*greater than or equal",
        ),
        ("sensitive = [{ region = 3 }]\n", "line 5: rules.sensitive.0.region: .*string"),
        ("sensitive = [{ protection = [1, 2, 3] }]\n", "line 5: rules.sensitive.0.protection"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises((FormatError, InputError), match=message):
        load_project(project(tmp_path, PROJECT + text)).problem()


def test_an_exempt_cell_may_have_to_be_published(tmp_path: Path) -> None:
    stays = '[protect]\nmust_publish = [{ region = "N", size = "a" }]\n'
    with pytest.raises(InputError, match="sensitive, yet must be published"):
        load_project(project(tmp_path, PROJECT + stays)).problem()
    problem = load_project(project(tmp_path, PROJECT + EXEMPT + stays)).problem()
    assert problem.must_publish[at(problem, "N", "a")]


def test_commands_tell_how_many_cells_are_exempt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = project(tmp_path, PROJECT + EXEMPT)
    told = "1 cell that a rule or a mark hits is exempt by hand"
    assert main(["protect", str(path), "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr()
    assert told in " ".join(shown.err.split())
    assert f"1 safe, all proven, against an outsider; {told}" in " ".join(shown.out.split())
    record = json.loads((tmp_path / "out" / "internal" / "audit.json").read_text())
    assert record["exempt_cells"] == [{"region": "N", "size": "a"}]
    assert told in record["verdict"]
    for verb in (["assess", str(path)], ["audit", str(path), str(tmp_path / "out")]):
        assert main(verb) == 0
        assert told in " ".join(capsys.readouterr().err.split())
    assert main(["protect", str(path), "--json", "--out", str(tmp_path / "out")]) == 0
    assert json.loads(capsys.readouterr().out)["audit"]["exempt"] == 1
    assert main(["assess", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["exempt_cells"] == [{"region": "N", "size": "a"}]


def test_where_all_that_rules_hit_is_exempt_the_verdict_says_so(tmp_path: Path) -> None:
    both = 'exempt = [{ region = "N", size = "a" }, { region = "S", size = "b" }, { region = "W" }]\n'
    problem = load_project(project(tmp_path, PROJECT + both)).problem()
    release = tc.Suppression().protect(problem)
    audit = tc.audit(problem, release)
    assert audit.verdict.endswith("nothing to check; 2 cells that rules or marks hit are exempt by hand")
    assert "exempt by hand, and not checked" in build_report_page(problem, release, audit, "x")


def test_rules_of_the_command_line_leave_decisions_on_cells_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project(tmp_path, PROJECT + EXEMPT + MARKED)
    assert main(["assess", str(path), "--rules", "threshold(8)", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["exempt_cells"] == [{"region": "N", "size": "a"}]
    sensitive = {(cell["cell"]["region"], cell["cell"]["size"]) for cell in said["sensitive_cells"]}
    assert sensitive == {("S", "b"), ("S", "c"), ("W", "b")}


@pytest.mark.parametrize("target", ["cells.jj", "again.csv"])
def test_convert_tells_what_the_format_cannot_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    path = project(tmp_path, PROJECT + EXEMPT)
    assert main(["convert", str(path), str(tmp_path / target)]) == 0
    assert "exempt cells (1), rules (1)" in " ".join(capsys.readouterr().err.split())


def test_an_exemption_that_another_rule_overrides_spares_nothing() -> None:
    table = tc.Table.from_array([[2, 20], [30, 3]])
    hit = table.find("1", "1")
    rule = tc.Exempt(tc.Threshold(5), [hit])
    assert np.flatnonzero(tc.Problem(table, rule).exempt).tolist() == [hit]
    assert not tc.Problem(table, rule | tc.Marked([hit])).exempt.any()
    assert not tc.Problem(table, tc.Exempt(tc.Threshold(2), [hit])).exempt.any()
