"""The joint audit of a run's projects ends with the run, and never breaks it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tacita.cli import main
from tacita.cli.jobs.job import JobOptions, JobResult, Verdict
from tacita.cli.jobs.joint_audit import judge_together
from tacita.cli.jobs.plan import Plan, make_plan
from tacita.core.run import Run
from tacita.specification import pose_together as posing
from tacita.specification.specification import Specification

PROJECT = """
[table]
file = "cells.csv"

[rules]
rule = "threshold(9)"

[output]
folder = "NAME"
"""


@pytest.fixture(autouse=True)
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Two projects on the same cells."""
    monkeypatch.chdir(tmp_path)
    Path("cells.csv").write_text("region,value\nN,20\nS,8\nW,30\nE,40\nTotal,98\n")
    for name in "ab":
        Path(f"{name}.toml").write_text(PROJECT.replace("NAME", name))
    return make_plan(["a.toml", "b.toml"], JobOptions())


def test_a_fault_of_the_program_leaves_log_and_summary(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def break_down(specifications: Mapping[str, Specification]) -> None:
        raise ZeroDivisionError("odd")

    monkeypatch.setattr(posing, "pose_together", break_down)
    assert main(["run", "a.toml", "b.toml"]) == 1
    assert "ZeroDivisionError: odd. A fault of the program" in capsys.readouterr().err
    assert "1 group not judged together" in Path("run.html").read_text()


def test_what_is_stopped_has_no_verdict(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["run", "a.toml", "b.toml"]) == 0
    done = dict.fromkeys(range(2), JobResult(Verdict.SAFE))
    assert [each.verdict for each in judge_together(plan, done, Run())] == [Verdict.SAFE]
    run, pose = Run(), posing.pose_together

    def stop(specifications: Mapping[str, Specification]) -> dict[str, posing.JointCase]:
        run.cancel()
        return pose(specifications)

    monkeypatch.setattr(posing, "pose_together", stop)
    (found,) = judge_together(plan, done, run)
    assert (found.verdict, found.fault) == (Verdict.FAILED, "the run was stopped")
