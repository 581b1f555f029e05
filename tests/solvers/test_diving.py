"""Dives give points in integers that satisfy the program, and give up where there are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array

from tacita.core.exact import Floats
from tacita.core.run import Run
from tacita.solvers.diving import dive
from tacita.solvers.highs import Ended, SmallPrograms, solve_mip
from tacita.solvers.linear_program import LinearProgram


def solve(matrix: csc_array, cost: Floats, lower: Floats, upper: Floats) -> Floats | None:
    columns = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data
    return SmallPrograms().solve(cost, (lower, upper), columns, matrix.shape[0], integer=True)


@given(st.integers(0, 10_000))
def test_a_dive_finds_integers_where_there_are_any(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows, size = int(random.integers(1, 5)), int(random.integers(2, 9))
    matrix = csc_array(random.integers(-2, 3, (rows, size)).astype(np.float64))
    cost, upper = random.random(size) + 0.01, random.integers(0, 6, size).astype(np.float64)
    lower = np.zeros(size)
    lower[0] = upper[0] = float(random.integers(1, 6))
    program = LinearProgram.of_equations(matrix, lower, upper, np.zeros(rows)).in_integers()
    best = solve_mip(replace(program, cost=cost), Run())
    point = solve(matrix, cost, lower, upper)
    assert (point is None) == (best.status is Ended.INFEASIBLE)
    if point is not None:
        assert np.abs(point - np.rint(point)).max() < 1e-6
        assert np.abs(matrix @ point).max() < 1e-6
        assert (point >= lower - 1e-6).all()
        assert (point <= upper + 1e-6).all()
        assert cost @ point >= best.bound - 1e-6


def test_a_dive_rounds_up_where_it_cannot_round_down() -> None:
    # 2 x = 3 y with y = 1 or more: x = 1.5 at first, and y = 2 once x is at least 2.
    matrix = csc_array(np.array([[2.0, -3.0]]))
    point = solve(matrix, np.array([1.0, 1.0]), np.array([0.0, 1.0]), np.array([9.0, 9.0]))
    assert point is not None
    assert point.tolist() == [3.0, 2.0]


def test_a_dive_that_fails_is_given_up() -> None:
    asked: list[float] = []

    def refuse(column: int, lower: float, upper: float) -> None:
        asked.append(lower)

    bounds = np.zeros(1), np.full(1, 9.0)
    assert dive(np.array([1.5]), np.ones(1), bounds, refuse) is None
    assert asked == [0.0, 2.0]
