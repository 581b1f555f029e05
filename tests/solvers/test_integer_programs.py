"""Integer programs beyond networks, asked as roundings of small and large cubes."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import block_diag, csr_array

import tacita as tc
from tacita.core.errors import InfeasibleError, StoppedError
from tacita.core.exact import Cells
from tacita.core.outcome import Status
from tacita.core.run import Event, Run
from tacita.solvers import integer_programs as whole
from tacita.solvers.integer_programs import solve_integer_program
from tacita.solvers.linear_program import IntegerProgram
from tacita.solvers.neighbourhoods import descend, is_feasible

PROMPT = 2.0
"""Seconds of work that a search may take to stop."""
MARGIN = 0.5
"""Seconds more for a busy machine."""
NO_ROUNDING = [[[0, 0], [0, 1]], [[0, 1], [1, 0]]]
"""Has no zero-restricted rounding to base 2."""


@pytest.fixture(params=["branching", "neighbourhoods"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Small programs too may be explored by neighbourhoods first."""
    if request.param == "neighbourhoods":
        monkeypatch.setattr(whole, "FEW", 0)
    return str(request.param)


def rounding(inner: object, base: int, most: int = 1) -> tuple[IntegerProgram, list[Cells], float]:
    """Steps ``x`` up from the multiple of the base below, at least cost ``sum |v - a|``: the program, its
    planes, and the cost of ``x = 0``. Multiples stay; with ``most > 1`` every cell may take that many steps,
    each at the cost of the first.
    """
    table = tc.Table.from_array(inner)
    values = np.rint(table.values).astype(np.int64)
    matrix = csr_array(table.equations.matrix)
    below = values // base
    above = values - base * below
    even = -(matrix @ below).astype(np.float64)
    upper = np.where(above > 0, 1.0, 0.0) if most == 1 else np.full(values.size, float(most))
    program = IntegerProgram(
        (base - 2.0 * above),
        np.zeros(values.size),
        upper,
        csr_array(matrix.astype(np.float64)),
        even,
        even,
        np.ones(values.size, dtype=bool),
    )
    codes = table.structure.codes
    planes = [np.flatnonzero(codes[:, d] == c) for d in range(codes.shape[1]) for c in np.unique(codes[:, d])]
    return program, planes, float(above.sum())


def cube(size: int, seed: int = 0) -> tuple[IntegerProgram, list[Cells], float]:
    return rounding(np.random.default_rng(seed).integers(0, 1000, (size,) * 3), base=5)


def with_margins(inner: np.ndarray) -> np.ndarray:
    """Axes 1.. of a stack of tables get their totals."""
    for axis in range(1, inner.ndim):
        inner = np.concatenate([inner, inner.sum(axis=axis, keepdims=True)], axis=axis)
    return inner


def smallest_distance(inner: np.ndarray, base: int) -> float:
    """Over all choices of a neighbouring multiple for each inner cell whose margins are neighbours too."""
    open_cells = np.argwhere(inner % base != 0)
    choices = np.array(list(product([0, 1], repeat=len(open_cells))), dtype=np.int64)
    rounded = np.repeat((inner // base)[None], len(choices), axis=0)
    for k, at in enumerate(open_cells):
        rounded[(slice(None), *at)] += choices[:, k]
    away = np.abs(base * with_margins(rounded) - with_margins(inner[None]))
    away = away.reshape(len(choices), -1)
    adjacent = (away < base).all(axis=1)
    return float(away[adjacent].sum(axis=1).astype(np.float64).min(initial=np.inf))


SMALL_CUBES = st.tuples(
    st.sampled_from([(2, 2, 2), (2, 2, 3), (3, 2, 2)]), st.integers(2, 5), st.integers(0, 2**32 - 1)
)


@pytest.mark.parametrize("few", [0, whole.FEW])
@given(SMALL_CUBES)
@examples(25)
def test_the_loss_is_that_of_brute_force(few: int, drawn: tuple[tuple[int, ...], int, int]) -> None:
    shape, base, seed = drawn
    inner = np.random.default_rng(seed).integers(0, 3 * base, shape)
    program, planes, constant = rounding(inner, base)
    least = smallest_distance(inner, base)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole, "FEW", few)
        if np.isinf(least):
            with pytest.raises(InfeasibleError):
                solve_integer_program(program, planes, Run())
            return
        solution = solve_integer_program(program, planes, Run())
    assert solution.status is Status.OPTIMAL
    assert is_feasible(program, solution.x)
    assert solution.loss + constant == least
    assert solution.loss == solution.bound == program.cost @ solution.x


def test_without_a_point_it_says_so(way: str) -> None:
    program, planes, _ = rounding(NO_ROUNDING, base=2)
    assert np.isinf(smallest_distance(np.array(NO_ROUNDING), 2))
    with pytest.raises(InfeasibleError, match="no integers within their bounds satisfy 27 equations"):
        solve_integer_program(program, planes, Run())


def test_a_contradiction_of_the_relaxation_is_infeasible(way: str) -> None:
    program, planes, _ = rounding(np.ones((2, 2, 2), dtype=np.int64), base=100)
    impossible = replace(program, row_lower=program.row_lower + 50, row_upper=program.row_upper + 50)
    with pytest.raises(InfeasibleError):
        solve_integer_program(impossible, planes, Run())


def test_variables_with_more_than_two_values(way: str) -> None:
    program, planes, _ = rounding(NO_ROUNDING, base=2, most=3)
    solution = solve_integer_program(program, planes, Run())
    assert solution.status is Status.OPTIMAL
    assert is_feasible(program, solution.x)
    alone = solve_integer_program(program, [], Run())
    assert solution.loss == alone.loss


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_both_ways_prove_the_same_loss(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    program, planes, _ = cube(8, seed)
    direct = solve_integer_program(program, planes, Run())
    monkeypatch.setattr(whole, "FEW", 0)
    explored = solve_integer_program(program, planes, Run())
    assert direct.status is explored.status is Status.OPTIMAL
    assert direct.loss == explored.loss == explored.bound


def side_by_side(
    parts: list[tuple[IntegerProgram, list[Cells], float]],
) -> tuple[IntegerProgram, list[Cells]]:
    """Programs without a common row as one."""
    programs = [program for program, _, _ in parts]
    first = np.cumsum([0, *(program.cost.size for program in programs)])
    joined = {
        name: np.concatenate([getattr(program, name) for program in programs])
        for name in ("cost", "lower", "upper", "integer", "row_lower", "row_upper")
    }
    rows = csr_array(block_diag([program.rows for program in programs]))
    planes = [plane + at for at, (_, own, _) in zip(first, parts, strict=False) for plane in own]
    return IntegerProgram(rows=rows, **joined), planes


def test_a_relaxation_that_is_whole_but_for_a_part_is_mended_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "FEW", 0)
    parts = [cube(6, seed) for seed in range(4)]
    losses = [solve_integer_program(program, planes, Run()).loss for program, planes, _ in parts]
    phases: list[str] = []
    program, planes = side_by_side(parts)
    solution = solve_integer_program(program, planes, Run(listener=lambda event: phases.append(event.phase)))
    assert solution.status is Status.OPTIMAL
    assert solution.loss == sum(losses)
    assert "neighbourhoods" not in phases


def test_a_part_that_cannot_be_mended_is_infeasible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "FEW", 0)
    program, planes = side_by_side([cube(4), rounding(NO_ROUNDING, base=2)])
    with pytest.raises(InfeasibleError):
        solve_integer_program(program, planes, Run())


def test_variables_in_no_group_move_along() -> None:
    """Grand totals and one-dimensional margins in no group: they must follow the cells that are."""
    program, planes, _ = cube(7)
    start = solve_integer_program(program, planes, Run()).x
    costs = replace(program, cost=-program.cost)
    inner = [plane[np.isin(plane, np.concatenate(planes[1:8]))] for plane in planes[1:8]]
    assert np.unique(np.concatenate(inner)).size < program.cost.size
    points = list(descend(costs, inner, Run(), start))
    assert points
    outside = np.setdiff1d(np.arange(program.cost.size), np.concatenate(inner))
    assert (points[-1][outside] != start[outside]).any()


def test_every_point_of_a_descent_is_better_and_keeps_the_rows() -> None:
    program, planes, _ = cube(7, seed=1)
    start = solve_integer_program(program, planes, Run()).x
    upside_down = replace(program, cost=-program.cost)
    losses = [upside_down.cost @ start]
    for x in descend(upside_down, planes, Run(), start):
        assert is_feasible(upside_down, x)
        losses.append(upside_down.cost @ x)
    assert len(losses) > 5
    assert (np.diff(losses) < 0).all()


def test_the_same_seed_gives_the_same_points() -> None:
    program, planes, _ = cube(6, seed=1)
    start = solve_integer_program(program, planes, Run()).x
    away = replace(program, cost=-program.cost)
    paths = [np.array(list(descend(away, planes, Run(search=number), start))) for number in (7, 7, 8)]
    assert np.array_equal(paths[0], paths[1])
    assert not np.array_equal(paths[0], paths[2])


def test_four_dimensions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbourhoods are what two kinds of groups have in common."""
    inner = np.random.default_rng(0).integers(0, 1000, (3, 3, 3, 3))
    program, planes, _ = rounding(inner, base=5, most=2)
    direct = solve_integer_program(program, planes, Run())
    monkeypatch.setattr(whole, "FEW", 0)
    explored = solve_integer_program(program, planes, Run())
    assert direct.loss == explored.loss == explored.bound
    away = replace(program, cost=-program.cost)
    points = list(descend(away, planes, Run(), direct.x))
    assert points
    assert all(is_feasible(away, x) for x in points)


@pytest.mark.parametrize("groups", [[], [np.zeros(0, dtype=np.int64)], [np.array([0]), np.array([1])]])
def test_groups_that_hold_nothing_leave_the_start(groups: list[Cells]) -> None:
    program, planes, _ = cube(4)
    assert list(descend(program, groups, Run(), solve_integer_program(program, planes, Run()).x)) == []


def test_a_cancel_keeps_the_best_point_and_the_bound() -> None:
    program, planes, constant = cube(14)
    heard: list[Event] = []
    asked: list[float] = []

    def hear(event: Event) -> None:
        heard.append(event)
        if event.incumbent is not None and not asked:
            threading.Thread(target=cancel).start()

    def cancel() -> None:
        asked.append(time.process_time())
        run.cancel()

    run = Run(listener=hear)
    solution = solve_integer_program(program, planes, run)
    assert time.process_time() - asked[0] <= PROMPT
    assert solution.status is Status.FEASIBLE
    assert is_feasible(program, solution.x)
    assert solution.bound < solution.loss == program.cost @ solution.x
    assert heard[0].phase == "neighbourhoods"
    assert solution.loss + constant <= 1.1 * (solution.bound + constant)


def test_the_end_of_the_time_is_heard_in_branching(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "FEW", 10_000)
    program, planes, _ = cube(14)
    phases: list[str] = []
    run = Run(time_limit=4.0, listener=lambda event: phases.append(event.phase))
    solution = solve_integer_program(program, planes, run)
    assert run.seconds <= 4.0 + PROMPT + MARGIN
    assert set(phases) == {"branching"}
    assert solution.status is Status.FEASIBLE
    assert is_feasible(program, solution.x)
    assert solution.bound < solution.loss == program.cost @ solution.x


def test_a_run_that_is_over_has_no_point(way: str) -> None:
    program, planes, _ = cube(5)
    run = Run()
    run.cancel()
    with pytest.raises(StoppedError, match="before a first point was found: allow more time"):
        solve_integer_program(program, planes, run)
