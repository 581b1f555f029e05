"""HiGHS asked once for whole numbers: the optimum, a start that is kept, an ear for cancels, and progress."""

from __future__ import annotations

import threading
import time
from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from tacita.core.run import Run
from tacita.solvers.highs import Ended, solve_mip
from tacita.solvers.linear_program import IntegerProgram

PROMPT = 2.0
"""Seconds of work that a search may take to stop."""


def knapsack(seed: int, size: int, rows: int) -> IntegerProgram:
    """Binary ``x`` with random profits, each row of random weights filled to at most a half."""
    draw = np.random.default_rng(seed)
    weights = draw.integers(1, 100, (rows, size)).astype(float)
    return IntegerProgram(
        cost=-draw.integers(1, 100, size).astype(float),
        lower=np.zeros(size),
        upper=np.ones(size),
        integer=np.ones(size, dtype=bool),
        rows=csr_array(weights),
        row_lower=np.full(rows, -np.inf),
        row_upper=np.floor(weights.sum(axis=1) / 2),
    )


HARD = knapsack(seed=0, size=150, rows=30)
"""Far from solved after a minute."""


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("started", [False, True])
def test_the_optimum_is_that_of_brute_force(seed: int, started: bool) -> None:
    program = knapsack(seed, size=10, rows=3)
    points = np.array(list(product([0.0, 1.0], repeat=10)))
    fits = (points @ program.rows.T.toarray() <= program.row_upper).all(axis=1)
    found = solve_mip(program, Run(), start=np.zeros(10) if started else None)
    assert found.status is Ended.OPTIMAL
    assert program.cost @ found.point == pytest.approx((points[fits] @ program.cost).min())
    assert found.bound == pytest.approx(program.cost @ found.point)


def test_a_relaxation_has_its_value_as_bound() -> None:
    program = HARD.relaxed()
    found = solve_mip(program, Run())
    assert found.status is Ended.OPTIMAL
    assert found.bound == pytest.approx(program.cost @ found.point)


@pytest.mark.parametrize("whole", [False, True])
def test_contradicting_rows_are_infeasible(whole: bool) -> None:
    program = IntegerProgram(
        np.ones(2),
        np.zeros(2),
        np.ones(2),
        csr_array(np.ones((2, 2))),
        np.array([2.0, -np.inf]),
        np.array([np.inf, 1.0]),
        np.full(2, whole),
    )
    assert solve_mip(program, Run()).status is Ended.INFEASIBLE


def test_a_start_is_kept_where_nothing_better_is_found_in_time() -> None:
    start = np.zeros(HARD.cost.size)
    start[:5] = 1.0
    found = solve_mip(HARD, Run(time_limit=0.5), start=start)
    assert found.status is Ended.STOPPED
    assert found.bound <= HARD.cost @ found.point <= HARD.cost @ start


def test_a_limit_of_nodes_gives_the_same_point_twice() -> None:
    once, again = (solve_mip(HARD, Run(), start=np.zeros(HARD.cost.size), nodes=5) for _ in range(2))
    assert once.status is Ended.STOPPED
    assert np.array_equal(once.point, again.point)
    assert once.bound == again.bound < HARD.cost @ once.point


@pytest.mark.parametrize("started", [False, True])
def test_a_cancel_from_another_thread_is_heard_and_the_best_point_kept(started: bool) -> None:
    run, asked = Run(time_limit=60.0), [np.inf]

    def cancel() -> None:
        asked[0] = time.process_time()
        run.cancel()

    threading.Timer(1.0, cancel).start()
    found = solve_mip(HARD, run, start=np.zeros(HARD.cost.size) if started else None)
    assert 0.0 <= time.process_time() - asked[0] <= PROMPT
    assert found.status is Ended.STOPPED
    assert (HARD.rows @ found.point <= HARD.row_upper + 1e-6).all()
    assert found.bound < HARD.cost @ found.point


def test_a_run_that_is_over_proves_nothing() -> None:
    run = Run()
    run.cancel()
    found = solve_mip(HARD.relaxed(), run)
    assert (found.status, found.bound) == (Ended.STOPPED, -np.inf)


def test_progress_is_told_while_it_searches() -> None:
    told: list[tuple[float | None, float]] = []
    found = solve_mip(HARD, Run(time_limit=2.5), tell=lambda best, bound: told.append((best, bound)))
    assert told
    bounds = [bound for _, bound in told]
    losses = [best for best, _ in told if best is not None]
    assert bounds == sorted(bounds)
    assert losses == sorted(losses, reverse=True)
    assert bounds[-1] <= found.bound <= HARD.cost @ found.point <= losses[-1]


def test_a_listener_that_fails_ends_the_search_with_its_own_error() -> None:
    def fail(best: float | None, bound: float) -> None:
        raise KeyError("listener")

    run = Run(time_limit=30.0)
    with pytest.raises(KeyError, match="listener"):
        solve_mip(HARD, run, tell=fail)
    assert run.seconds < 5.0
