"""Regions of large tables are solved by any workers, with the same pattern in the end."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

import pytest

import tacita as tc
from tacita import generate
from tacita.core.run import InThisThread
from tacita.engine.construction import construct
from tacita.engine.construction.regions import RegionSolver
from tacita.engine.search import solve_model


@contextmanager
def _in_processes() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        yield executor


EXECUTORS = {"threads": lambda: ThreadPoolExecutor(2), "processes": _in_processes}


@pytest.fixture
def only_constructed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take small tables for ones that are too large for anything but construction and improvement."""
    monkeypatch.setattr(solve_model, "LARGE", 0)
    monkeypatch.setattr(solve_model, "TOO_LARGE", 0)


@pytest.mark.parametrize("workers", EXECUTORS)
@pytest.mark.usefixtures("only_constructed")
def test_the_pattern_does_not_depend_on_the_workers(workers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = generate.problem((6, 5, 5), "logn", sensitive=9, kind="magnitudes", seed=3)
    solved = list[Any]()
    take_over = construct.Construction._take_over

    def count(self: construct.Construction, region: Any, found: Any) -> None:
        solved.append(region.cell)
        take_over(self, region, found)

    monkeypatch.setattr(construct.Construction, "_take_over", count)
    alone = tc.Suppression().protect(problem, tc.Run(executor=InThisThread()))
    in_turn = solved.copy()
    assert in_turn, "no region was improved: the table shows nothing"
    solved.clear()
    with EXECUTORS[workers]() as executor:
        shared = tc.Suppression().protect(problem, tc.Run(executor=executor))
    assert solved == in_turn
    assert (shared.hidden == alone.hidden).all()
    assert shared.outcome.loss == alone.outcome.loss
    assert tc.audit(problem, shared).safe


@pytest.mark.usefixtures("only_constructed")
def test_a_solution_that_another_one_has_spoilt_is_not_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """All regions of a pass are solved on the first pattern, so that many of them no longer save anything."""
    monkeypatch.setattr(construct, "LEAST_AT_ONCE", 10**6)
    for seed in range(4):
        problem = generate.problem((5, 4, 4), "logn", sensitive=6, kind="magnitudes", seed=seed)
        release = tc.Suppression().protect(problem)
        assert tc.audit(problem, release).safe


@pytest.mark.usefixtures("only_constructed")
def test_no_time_means_no_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    solvers = list[RegionSolver]()
    solve = RegionSolver.solve

    def stop(self: RegionSolver, region: Any, run: tc.Run) -> Any:
        solvers.append(self)
        over = tc.Run(time_limit=0.0).begin()
        return solve(self, region, over)

    monkeypatch.setattr(RegionSolver, "solve", stop)
    problem = generate.problem((5, 4, 4), "logn", sensitive=6)
    release = tc.Suppression().protect(problem)
    assert solvers
    assert tc.audit(problem, release).safe
