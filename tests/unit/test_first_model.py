"""The oracle itself: printed optima, brute force over all patterns, switches, windows, infeasibility."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import linprog
from scipy.sparse import csr_array

import tacita as tc
from tacita.engine.demands import ALWAYS, DOWN, OUTSIDER, SLIDING, UP, Demands, all_demands
from tacita.engine.first_model import solve_first_model
from tacita.engine.model import NO_SWITCH, Affine, Model
from tacita.errors import InfeasibleError, StoppedError
from tacita.outcome import Status
from tacita.problem import Problem
from tacita.testing import problems, tables

FIGURE_1 = [[20, 50, 10, 80], [8, 19, 22, 49], [17, 32, 12, 61], [45, 101, 44, 190]]


def figure_1(lower: int, upper: int, sliding: int = 0, cost: str = "value", insiders=()) -> Problem:
    table = tc.Table.from_array(
        FIGURE_1, totals=True, names=["activity", "region"], codes=[["I", "II", "III"], ["A", "B", "C"]]
    )
    rule = tc.Marked([("II", "C")], lower=lower, upper=upper, sliding=sliding)
    known = [tc.Insider.knowing(who, table, {table.find(*at): b}, **own) for who, at, b, own in insiders]
    return Problem(table, rule, attackers=["outsider", *known], cost=cost)


def suppression(problem: Problem, at_most: int | None = None) -> Model:
    """Binary ``x_i``: one switch per cell, no other window."""
    n = len(problem.table)
    forced = problem.levels.sensitive | problem.must_hide
    return Model(
        problem=problem,
        cost=problem.cost,
        lower=forced.astype(float),
        upper=(~problem.must_publish).astype(float),
        whole=np.ones(n, dtype=bool),
        rows=csr_array(np.ones((0 if at_most is None else 1, n))),
        row_lower=np.full(0 if at_most is None else 1, -np.inf),
        row_upper=np.full(0 if at_most is None else 1, 0.0 if at_most is None else float(at_most)),
        above=Affine.zero(n, n),
        below=Affine.zero(n, n),
        switch=np.arange(n),
        demands=all_demands(problem),
    )


def intervals(problem: Problem, cost: np.ndarray) -> Model:
    """Continuous ``z-, z+``, the widths below and above; every cell may have them."""
    n = len(problem.table)
    width = np.full(2 * n, np.inf)
    width[np.concatenate([problem.must_publish] * 2)] = 0.0
    below, above = np.split(np.eye(2 * n), 2)
    return Model(
        problem=problem,
        cost=np.tile(cost, 2),
        lower=np.zeros(2 * n),
        upper=width,
        whole=np.zeros(2 * n, dtype=bool),
        rows=csr_array((0, 2 * n)),
        row_lower=np.zeros(0),
        row_upper=np.zeros(0),
        above=Affine(np.zeros(n), csr_array(above)),
        below=Affine(np.zeros(n), csr_array(below)),
        switch=np.full(n, NO_SWITCH),
        demands=all_demands(problem),
    )


def protects(problem: Problem, hidden: np.ndarray) -> bool:
    """By the definition: two linear programs per attacker and target."""
    table = problem.table
    matrix, rhs = table.equations.matrix.toarray(), np.array([b for _, _, b in table.equations])
    for need in problem.requirements():
        low, high = problem.bounds_at(need.insider, np.arange(len(table)))
        low, high = np.where(hidden, low, table.units), np.where(hidden, high, table.units)
        bounds = [(lo if lo > -(2**62) else None, hi if hi < 2**62 else None) for lo, hi in zip(low, high)]
        for p, cell in enumerate(need.cells):
            ends = []
            for sign in (1.0, -1.0):
                cost = np.zeros(len(table))
                cost[cell] = sign
                answer = linprog(cost, A_eq=matrix, b_eq=rhs, bounds=bounds)
                ends.append(sign * answer.fun if answer.status == 0 else -sign * np.inf)
            value = table.units[cell]
            if (
                ends[1] < value + need.upper[p] - 1e-6
                or ends[0] > value - need.lower[p] + 1e-6
                or ends[1] - ends[0] < need.sliding[p] - 1e-6
            ):
                return False
    return True


def cheapest_pattern(problem: Problem) -> float:
    """The least cost of all patterns that protect, infinite where none does: every subset is tried."""
    forced = problem.levels.sensitive | problem.must_hide
    free = np.flatnonzero(~forced & ~problem.must_publish)
    patterns = [extra for size in range(free.size + 1) for extra in combinations(free, size)]
    patterns.sort(key=lambda extra: problem.cost[list(extra)].sum())
    for extra in patterns:
        hidden = forced.copy()
        hidden[list(extra)] = True
        if protects(problem, hidden):
            return float(problem.cost[hidden].sum())
    return np.inf


def least_loss(model: Model) -> float:
    try:
        return solve_first_model(model).loss
    except InfeasibleError:
        return np.inf


def test_figure_1_by_value_is_85_and_unique() -> None:
    problem = figure_1(10, 12)
    found = solve_first_model(suppression(problem))
    assert (found.loss, found.bound, found.status) == (pytest.approx(85), pytest.approx(85), Status.OPTIMAL)
    hidden = {problem.table.find(*at) for at in (("II", "B"), ("II", "C"), ("III", "B"), ("III", "C"))}
    assert set(np.flatnonzero(found.x)) == hidden


@pytest.mark.parametrize(
    ("levels", "cost", "loss"),
    [
        ((10, 12, 0), "unit", 4),
        ((10, 12, 0), "log", 12.192683),
        ((10, 8, 0), "value", 59),
        ((17, 8, 25), "value", 59),
    ],
)
def test_figure_1_variants(levels: tuple[int, int, int], cost: str, loss: float) -> None:
    assert least_loss(suppression(figure_1(*levels, cost=cost))) == pytest.approx(loss, rel=1e-6)


@pytest.mark.parametrize(("at_most", "loss"), [(3, np.inf), (4, 85), (16, 85)])
def test_figure_1_with_a_limit_on_hidden_cells(at_most: int, loss: float) -> None:
    assert least_loss(suppression(figure_1(10, 12), at_most)) == pytest.approx(loss)


def test_an_insider_raises_59_to_85() -> None:
    sole = ("sole respondent", ("II", "A"), (8, 8), {})
    assert least_loss(suppression(figure_1(10, 8, insiders=[sole]))) == pytest.approx(85)


def test_an_insider_with_levels_of_his_own_raises_85_to_123() -> None:
    own = {f"target_{side}": [level] for side, level in (("lower", 2), ("upper", 4), ("sliding", 0))}
    target = figure_1(10, 12).table.find("II", "C")
    respondent = ("respondent", ("III", "C"), (10, np.inf), {"targets": np.array([target]), **own})
    assert least_loss(suppression(figure_1(10, 12, insiders=[respondent]))) == pytest.approx(123)


@pytest.mark.parametrize(("cost", "loss"), [("unit", 88), ("value", 1402), ("inverse", 2.064769)])
def test_figure_1_by_intervals(cost: str, loss: float) -> None:
    problem = figure_1(10, 12)
    weight = 1 / problem.table.values if cost == "inverse" else figure_1(10, 12, cost=cost).cost
    assert least_loss(intervals(problem, weight)) == pytest.approx(loss, rel=1e-6)


def test_figure_5_levels_by_intervals() -> None:
    assert least_loss(intervals(figure_1(2, 4), np.ones(16))) == pytest.approx(24)
    assert least_loss(intervals(figure_1(2, 4), figure_1(2, 4).cost)) == pytest.approx(354)


@settings(max_examples=15)
@given(problems(tables(shapes=((3,), (2, 2)), largest=6)))
def test_no_pattern_is_cheaper(problem: Problem) -> None:
    assert least_loss(suppression(problem)) == pytest.approx(cheapest_pattern(problem))
