"""The examples: each is a problem with a name, a title and a sentence, also on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tacita as tc
from tacita.cli import main
from tacita.core.errors import InputError
from tacita.examples import EXAMPLES, example, example_names
from tacita.specification.differences import find_differences
from tacita.specification.read_case import read_case


@pytest.mark.parametrize("name", example_names())
def test_every_example_is_the_same_problem_each_time(name: str) -> None:
    problem = example(name)
    assert len(problem.levels) > 0
    assert find_differences(problem, example(name)) == []
    assert EXAMPLES[name].title
    assert EXAMPLES[name].about.endswith(".")


def test_the_sizes_of_the_thesis() -> None:
    for rows, columns in ((3, 4), (10, 15), (20, 30), (50, 75), (100, 120)):
        table = example(f"thesis-{rows}x{columns}").table
        assert len(table) == (rows + 1) * (columns + 1)
        assert not table.integer


def test_what_is_said_about_them() -> None:
    assert tc.Suppression().protect(example("salazar")).outcome.loss == 85
    assert tc.Suppression().protect(example("nchs")).outcome.loss == 1262 + 8
    thesis = example("thesis-3x4")
    for norm, loss in (("l1", 20), ("l2", 2088 / 35), ("huber", 19.98800845)):
        method = tc.Adjustment(norm=norm, totals="fixed", directions="up", distance="exact")
        adjusted = method.protect(thesis)
        assert adjusted.outcome.loss == pytest.approx(loss, abs=1e-6)


def test_unknown_names_are_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"no example 'nhcs' \(did you mean 'nchs'\?\): choose one of nchs"):
        example("nhcs")


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx", "jj"])
@pytest.mark.parametrize("name", ["nchs", "tiwari-3", "thesis-10x15"])
def test_the_command_line_writes_them(tmp_path: Path, name: str, ending: str) -> None:
    path = tmp_path / f"case.{ending}"
    assert main(["generate", "example", name, "--out", str(path)]) == 0
    problem, again = example(name), read_case(path)
    assert isinstance(again, tc.Problem)
    assert np.array_equal(again.table.units, problem.table.units)
    assert np.array_equal(again.levels.upper, problem.levels.upper)
    assert np.array_equal(again.outsider.lower, problem.outsider.lower)


def test_the_command_line_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "example", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert list(listed) == list(example_names())
    assert listed["nchs"] == {"title": EXAMPLES["nchs"].title, "about": EXAMPLES["nchs"].about}
    assert main(["generate", "example", "nchs"]) == 1
    assert "--out nchs.csv" in capsys.readouterr().err
