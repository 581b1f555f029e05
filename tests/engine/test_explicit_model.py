"""The oracle itself: printed optima, brute force over all patterns, switches, windows, infeasibility."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from random import Random

import numpy as np
import pytest
from budget import examples
from hypothesis import given
from scipy.optimize import linprog
from scipy.sparse import csr_array

import tacita as tc
from tacita.core.errors import InfeasibleError, StoppedError
from tacita.core.exact import UNBOUNDED
from tacita.core.outcome import Status
from tacita.core.run import Run
from tacita.engine.attack.requirements import OUTSIDER, SLIDING, Requirements, list_all_requirements
from tacita.engine.model import NO_SWITCH, Affine, Model
from tacita.engine.search.explicit_model import solve_explicit_model
from tacita.problem.problem import Problem
from tacita.testing import TABLE_KINDS, hard_problem, hard_problems, problems, tables

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
        integer=np.ones(n, dtype=bool),
        rows=csr_array(np.ones((0 if at_most is None else 1, n))),
        row_lower=np.full(0 if at_most is None else 1, -np.inf),
        row_upper=np.full(0 if at_most is None else 1, 0.0 if at_most is None else float(at_most)),
        above=Affine.zero(n, n),
        below=Affine.zero(n, n),
        switch=np.arange(n),
        requirements=list_all_requirements(problem),
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
        integer=np.zeros(2 * n, dtype=bool),
        rows=csr_array((0, 2 * n)),
        row_lower=np.zeros(0),
        row_upper=np.zeros(0),
        above=Affine(np.zeros(n), csr_array(above)),
        below=Affine(np.zeros(n), csr_array(below)),
        switch=np.full(n, NO_SWITCH),
        requirements=list_all_requirements(problem),
    )


def protects(problem: Problem, hidden: np.ndarray) -> bool:
    """By the definition: two linear programs per attacker and target."""
    value = problem.table.units
    for need in problem.requirements():
        for p, cell in enumerate(need.cells):
            least, most = deduced(problem, need.insider, hidden, cell)
            if (
                most < value[cell] + need.upper[p] - 1e-6
                or least > value[cell] - need.lower[p] + 1e-6
                or most - least < need.sliding[p] - 1e-6
            ):
                return False
    return True


def deduced(
    problem: Problem, insider: tc.Insider | None, hidden: np.ndarray, cell: int
) -> tuple[float, float]:
    """Smallest and largest value of a cell in the eyes of an attacker who sees all that is not hidden."""
    table = problem.table
    low, high = problem.bounds_at(insider, np.arange(len(table)))
    low, high = np.where(low <= -UNBOUNDED, -np.inf, low), np.where(high >= UNBOUNDED, np.inf, high)
    bounds = np.column_stack([np.where(hidden, low, table.units), np.where(hidden, high, table.units)])
    cost = np.zeros(len(table))
    cost[cell] = 1.0
    matrix, rhs = table.equations.matrix.toarray(), [b for _, _, b in table.equations]
    ends = [linprog(sign * cost, A_eq=matrix, b_eq=rhs, bounds=bounds) for sign in (1, -1)]
    least, most = (
        sign * e.fun if e.status == 0 else -sign * np.inf for sign, e in zip((1, -1), ends, strict=True)
    )
    return least, most


def patterns(problem: Problem, free: np.ndarray) -> Iterator[np.ndarray]:
    """What must be hidden together with every subset of the free cells, the cheapest pattern first."""
    forced = problem.levels.sensitive | problem.must_hide
    subsets = [extra for size in range(free.size + 1) for extra in combinations(free, size)]
    for extra in sorted(subsets, key=lambda extra: problem.cost[list(extra)].sum()):
        hidden = forced.copy()
        hidden[list(extra)] = True
        yield hidden


def least_loss(model: Model) -> float:
    try:
        return solve_explicit_model(model).loss
    except InfeasibleError:
        return np.inf


def test_figure_1_by_value_is_85_and_unique() -> None:
    problem = figure_1(10, 12)
    found = solve_explicit_model(suppression(problem))
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


@pytest.mark.slow
@examples(15)
@given(problems(tables(shapes=((3,), (2, 2)), largest=6)))
def test_no_pattern_is_cheaper(problem: Problem) -> None:
    free = np.flatnonzero(~problem.levels.sensitive)
    protected = (hidden for hidden in patterns(problem, free) if protects(problem, hidden))
    cheapest = min((problem.cost[hidden].sum() for hidden in protected), default=np.inf)
    assert least_loss(suppression(problem)) == pytest.approx(cheapest)


@pytest.mark.slow
@examples(20)
@given(hard_problems())
def test_larger_tables_by_the_definition(problem: Problem) -> None:
    """The pattern protects, and no cheaper part of it does with two more cells at hand. Where there is said
    to be none, hiding everything does not help: hiding more never makes an attacker wiser.
    """
    try:
        found = solve_explicit_model(suppression(problem))
    except InfeasibleError:
        assert not protects(problem, ~problem.must_publish)
        return
    hidden = found.x > 0.5
    assert protects(problem, hidden)
    forced = problem.levels.sensitive | problem.must_hide
    others = np.flatnonzero(~hidden & ~problem.must_publish)[:2]
    free = np.concatenate([np.flatnonzero(hidden & ~forced)[:5], others])
    for pattern in patterns(problem, free):
        if problem.cost[pattern].sum() >= found.loss - 1e-6:
            break
        assert not protects(problem, pattern)


def test_a_conditional_level_counts_only_when_its_switch_is_on() -> None:
    """The optimum of Figure 1 hides III, B. A level there that the pattern just gives costs nothing, one more
    unit does.
    """
    problem = figure_1(10, 12)
    cell = problem.table.find("III", "B")
    before = solve_explicit_model(suppression(problem))
    assert before.x[cell] == 1

    def with_level(level: int) -> Model:
        one = Requirements(
            np.array([OUTSIDER]),
            np.array([cell]),
            np.array([SLIDING], np.int8),
            np.array([level]),
            np.array([cell]),
        )
        return replace(
            suppression(problem), requirements=Requirements.join([list_all_requirements(problem), one])
        )

    least, most = deduced(problem, None, before.x > 0.5, cell)
    width = round(most - least)
    assert least_loss(with_level(width)) == pytest.approx(85)
    after = solve_explicit_model(with_level(width + 1))
    assert after.loss > 86
    least, most = deduced(problem, None, after.x > 0.5, cell)
    assert after.x[cell] == 0 or most - least >= width + 1


def test_no_time_is_no_solution() -> None:
    with pytest.raises(StoppedError, match="allow more time"):
        solve_explicit_model(suppression(figure_1(10, 12)), Run(time_limit=0.0))


@pytest.mark.slow
@pytest.mark.parametrize("kind", TABLE_KINDS)
def test_insiders_bind_in_hard_problems(kind: str) -> None:
    """Dropping the insiders makes many problems cheaper: some solvable at a higher loss, some not at all."""
    dearer, unsolvable, count = 0, 0, 40
    for seed in range(count):
        problem = hard_problem(Random(seed), kind)
        frozen, forced = np.flatnonzero(problem.must_publish), np.flatnonzero(problem.must_hide)
        alone = Problem(problem.table, problem.levels, problem.outsider, problem.cost, frozen, forced)
        loss = least_loss(suppression(problem))
        if problem.insiders and least_loss(suppression(alone)) < loss - 1e-6:
            dearer += loss < np.inf
            unsolvable += loss == np.inf
    assert dearer >= count / 5
    assert dearer + unsolvable >= count / 3
