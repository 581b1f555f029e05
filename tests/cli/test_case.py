"""What the command line says of a case, joined with what its files say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tacita.app.work.opening import open_case_at
from tacita.cli.case_options import CaseFlags, pose_problem
from tacita.cli.protected_case import _round_noise
from tacita.core.errors import InputError
from tacita.core.tables.read_options import ReadOptions
from tacita.formats.table_file import read_table_file
from tacita.specification.project import load_project

CELLS = "region,size,value,status\nN,s,10,u\nN,l,20,s\nS,s,30,s\nS,l,1,s\n"


def test_rules_of_the_command_line_leave_what_a_project_s_file_marks(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(CELLS)
    project = tmp_path / "project.toml"
    project.write_text('[table]\nfile = "t.csv"\n[rules]\nrule = "threshold(2)"\n')

    def sensitive(rules: str | None) -> list[str]:
        problem = pose_problem(project, CaseFlags(rules=rules))
        return [problem.table.name(cell) for cell in problem.sensitive.tolist()]

    marked, small = "region=N, size=s", "region=S, size=l"
    assert sensitive(None) == [marked, small]
    assert sensitive("threshold(1)") == [marked]
    assert sensitive("threshold(1) | threshold(2)") == [marked, small]


def test_a_total_is_said_for_one_dimension_or_for_all_that_have_it(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("region,size,value\nN,s,10\nN,all,10\nall,s,10\nall,all,10\nN,x,0\nall,x,0\n")
    (tmp_path / "tree.csv").write_text("parent,child\nall,s\nall,x\n")

    def totals(**read: Any) -> list[str]:
        table = read_table_file(path, ReadOptions(**read))
        return [dimension.total for dimension in table.structure.dimensions]

    assert totals(total="all") == totals(total={"size": "all"}) == ["all", "all"]
    assert totals(total="N", repair=True) == ["N", "all"]
    assert totals(total={"size": "s"}, repair=True) == ["all", "s"]
    assert totals(hierarchies={"size": [tmp_path / "tree.csv"]}, total="all") == ["all", "all"]
    with pytest.raises(InputError, match=r"'sise'.* is none of the dimensions region, size"):
        totals(total={"sise": "all"})


@pytest.mark.parametrize(("side", "said", "other"), [("lower", -5.0, "upper"), ("upper", 99.0, "lower")])
def test_a_bound_said_of_one_side_leaves_the_file_s_bounds_on_the_other(
    tmp_path: Path, side: str, said: float, other: str
) -> None:
    (tmp_path / "t.csv").write_text("region,value,status,lb,ub\nN,10,u,5,12\nS,20,s,15,22\n")
    for name, words in (("bare", ""), ("whole", f"[attackers]\n{side} = {said}\n")):
        (tmp_path / f"{name}.toml").write_text(f'[table]\nfile = "t.csv"\ncounts = false\n{words}')
    option = CaseFlags(**{side: said})
    known = [
        load_project(tmp_path / "whole.toml").problem(),
        pose_problem(tmp_path / "bare.toml", option),
        pose_problem(tmp_path / "t.csv", replace(option, counts=False)),
        open_case_at(tmp_path / "whole.toml").problem,
        open_case_at(tmp_path / "bare.toml").specify(attackers={side: said}).problem,
    ]
    for problem in known:
        cells = [problem.table.find("N"), problem.table.find("S")]
        assert getattr(problem.outsider, side)[cells].tolist() == [said, said]
        assert getattr(problem.outsider, other)[cells].tolist() == ([12, 22] if other == "upper" else [5, 15])


def test_flags_are_a_changed_specification(tmp_path: Path) -> None:
    """They change what a project says as its own keys would, and leave the rest."""
    (tmp_path / "t.csv").write_text("region,amount,other\nN,10,1\nS,20,2\nW,25,4\n")
    (tmp_path / "old.csv").write_text("region,value\nN,10\n")
    project = tmp_path / "project.toml"
    project.write_text(
        '[table]\nfile = "t.csv"\nvalue = "other"\nby = ["region"]\n'
        '[rules]\nrule = "threshold(2)"\nsensitive = [{ region = "W" }]\n[protect]\nseed = 3\n'
    )
    flags = CaseFlags(
        value="amount",
        counts=True,
        rules="threshold(11)",
        attackers="outsider",
        upper=90,
        cost="unit",
        published=[f"{tmp_path / 'old.csv'}:radius=1"],
    )
    said = flags.specify(project)
    (tmp_path / "changed.toml").write_text(
        '[table]\nfile = "t.csv"\nvalue = "amount"\ncounts = true\nby = ["region"]\n'
        '[rules]\nrule = "threshold(11)"\nsensitive = [{ region = "W" }]\n[protect]\nseed = 3\n'
        '[attackers]\nkinds = ["outsider"]\nupper = 90\n[cost]\nby = "unit"\n'
        f"[published]\nfiles = [{{ file = '{tmp_path / 'old.csv'}', radius = 1 }}]\n"
    )
    assert said == load_project(tmp_path / "changed.toml") != load_project(project)
    assert CaseFlags().specify(project) == load_project(project)
    problem = pose_problem(project, flags)
    assert [problem.table.name(cell) for cell in problem.sensitive] == ["region=N", "region=W"]
    assert problem.outsider.upper[problem.table.find("N")] == 11


def test_a_flag_does_not_take_what_everyone_knows_away(tmp_path: Path) -> None:
    (tmp_path / "project.toml").write_text('[table]\nfile = "t.csv"\n[attackers]\nwithin = [0.5, 1.0]\n')
    with pytest.raises(InputError, match="either within or lower and upper"):
        CaseFlags(lower=0).specify(tmp_path)


def test_losses_are_answered_without_the_noise_of_floats() -> None:
    given = (459673.99999999994, 913549.4999999999, 2.0**53, 0.1, float("inf"))
    assert [*map(_round_noise, given)] == [459674.0, 913549.5, 2.0**53, 0.1, float("inf")]
