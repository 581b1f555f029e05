"""Statistics of adjusted values against fractions and numpy; what adjustments that keep them promise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from budget import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array

from tacita.core.errors import InfeasibleError
from tacita.core.run import Run
from tacita.methods.adjustment.convex.solve_convex import solve_convex
from tacita.methods.adjustment.statistics.measures import (
    ALONE,
    TOGETHER,
    Keep,
    measure_changes,
    measure_changes_together,
    measure_statistics,
    parse_keep,
)
from tacita.methods.adjustment.statistics.preserve import PreservingSolution, preserve_statistics
from tacita.methods.adjustment.task import AdjustmentSolution, AdjustmentTask

whole = st.integers(-1000, 1000)
numbers = st.lists(st.tuples(whole, whole, whole, whole), min_size=3, max_size=12)


def covariance(one: list[Fraction], other: list[Fraction]) -> Fraction:
    size = len(one)
    mean_one, mean_other = sum(one) / size, sum(other) / size
    return (
        sum(((x - mean_one) * (u - mean_other) for x, u in zip(one, other, strict=True)), Fraction()) / size
    )


def columns(drawn: list[tuple[int, int, int, int]]) -> list[list[Fraction]]:
    """a, y, b, z."""
    return [[Fraction(entry) for entry in column] for column in zip(*drawn, strict=True)]


def floats(column: list[Fraction]) -> np.ndarray:
    return np.array([float(entry) for entry in column])


def add(one: list[Fraction], other: list[Fraction]) -> list[Fraction]:
    return [x + y for x, y in zip(one, other, strict=True)]


@given(numbers)
def test_the_variance_changes_by_twice_the_slope_and_the_variance_of_the_changes(drawn) -> None:
    a, y, _, _ = columns(drawn)
    variance = covariance(a, a)
    assume(variance > 0)
    slope = covariance(a, y) / variance
    measured = measure_changes(floats(a), floats(add(a, y)), np.arange(len(a)))
    assert measured["slope"] == pytest.approx(float(100 * slope), rel=1e-9, abs=1e-9)
    expanded = 100 * (2 * slope + covariance(y, y) / variance)
    assert measured["variance"] == pytest.approx(float(expanded), rel=1e-9, abs=1e-9)
    # The corrected half: where L = -Var(y) / (2 Var(a)) the variance is kept.
    wanted = -covariance(y, y) / (2 * variance)
    along = [entry + (wanted - slope) * (x - sum(a) / len(a)) for entry, x in zip(y, a, strict=True)]
    left = covariance(along, along) - covariance(y, y)
    after = covariance(add(a, along), add(a, along))
    assert after - variance == left


@given(numbers)
def test_the_covariance_of_two_tables_expands_into_four(drawn) -> None:
    a, y, b, z = columns(drawn)
    before = covariance(a, b)
    assume(before != 0)
    four = before + covariance(a, z) + covariance(b, y) + covariance(y, z)
    after = [floats(add(a, y)), floats(add(b, z))]
    measured = measure_changes_together([floats(a), floats(b)], after, np.arange(len(a)))
    expected = float(100 * (four / before - 1))
    assert measured["covariance of tables 1 and 2"] == pytest.approx(expected, rel=1e-8, abs=1e-6)


@given(numbers)
def test_statistics_are_those_of_numpy(drawn) -> None:
    a, y, b, z = (floats(column) for column in columns(drawn))
    x, u = a + y, b + z
    assume(min(np.var(v) for v in (a, b, x, u)) > 1e-9 and abs(np.corrcoef(a, b)[0, 1]) > 1e-6)
    cells = np.arange(a.size)
    alone, both = measure_changes(a, x, cells), measure_changes_together([a, b], [x, u], cells)

    def percent(after: float, before: float) -> float:
        return 100 * (after / before - 1)

    assert alone["correlation"] == pytest.approx(percent(np.corrcoef(a, x)[0, 1], 1), abs=1e-6)
    assert alone["correlation"] <= 1e-9
    assert alone["slope"] == pytest.approx(percent(np.polyfit(a, x, 1)[0], 1), rel=1e-6, abs=1e-6)
    assert both["correlation of tables 1 and 2"] == pytest.approx(
        percent(np.corrcoef(x, u)[0, 1], np.corrcoef(a, b)[0, 1]), rel=1e-6, abs=1e-4
    )
    assert both["regression of tables 1 and 2"] == pytest.approx(
        percent(np.polyfit(x, u, 1)[0], np.polyfit(a, b, 1)[0]), rel=1e-6, abs=1e-3
    )
    assert both["variance of table 2"] == pytest.approx(percent(np.var(u), np.var(b)), rel=1e-9, abs=1e-6)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([ALONE, TOGETHER]))
def test_gradients_are_derivatives(seed: int, names: tuple[str, ...]) -> None:
    rng = np.random.default_rng(seed)
    tables = 1 if names == ALONE else 3
    before = list(rng.lognormal(2, 1, (tables, 6)))
    after = [a + rng.normal(0, 1, 6) for a in before]
    here = measure_statistics(names, before, after)
    step = 1e-5
    for table in range(tables):
        for cell in range(6):
            nudge = np.zeros((tables, 6))
            nudge[table, cell] = step
            ahead = measure_statistics(names, before, [x + n for x, n in zip(after, nudge, strict=True)])
            behind = measure_statistics(names, before, [x - n for x, n in zip(after, nudge, strict=True)])
            for one, two, now in zip(ahead, behind, here, strict=True):
                told = now.gradients[now.tables.index(table)][cell] if table in now.tables else 0.0
                size = max(1.0, abs(now.change), np.abs(np.concatenate(now.gradients)).max())
                assert (one.change - two.change) / (2 * step) == pytest.approx(told, abs=1e-5 * size)


@given(st.dictionaries(st.sampled_from(ALONE), st.floats(0, 100, allow_subnormal=False)))
def test_what_is_written_is_read(asked: dict[str, float]) -> None:
    text = ", ".join(f"{name}={tolerance!r}" for name, tolerance in asked.items())
    assert parse_keep(text) == Keep(**asked)


@st.composite
def tables(draw) -> tuple[AdjustmentTask, np.ndarray, np.ndarray]:
    """A table of inner cells, row and column totals; one or two inner cells must rise or fall."""
    rows, over = draw(st.integers(2, 4)), draw(st.integers(2, 4))
    inner = np.array(draw(st.lists(st.integers(10, 500), min_size=rows * over, max_size=rows * over)))
    square, n = inner.reshape(rows, over), rows * over
    units = np.concatenate([inner, square.sum(1), square.sum(0)])
    matrix = np.zeros((rows + over, units.size), dtype=np.int64)
    where = np.arange(n).reshape(rows, over)
    for i, parts in enumerate([*where, *where.T]):
        matrix[i, parts] = 1
        matrix[i, n + i] = -1
    capacity = units * draw(st.sampled_from([20, 50])) // 100
    capacity[n:] *= draw(st.booleans())
    lower, upper = -capacity, capacity.copy()
    for cell in draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=2, unique=True)):
        lower[cell] = upper[cell] = draw(st.sampled_from([-1, 1])) * (units[cell] // 10)
    task = AdjustmentTask(csr_array(matrix), lower, upper, np.ones(units.size), one=1, step=1)
    return task, units.astype(np.float64), np.arange(units.size) < n


def solve(task: AdjustmentTask) -> AdjustmentSolution:
    return solve_convex(task, Run())


def has_solution(task: AdjustmentTask) -> bool:
    try:
        solve(task)
    except InfeasibleError:
        return False
    return True


def kept_or_refused(task: AdjustmentTask, asked: dict[str, float], values, cells) -> PreservingSolution | str:
    try:
        return preserve_statistics(task, Keep(**asked), values, cells, Run(), solve)
    except InfeasibleError as error:
        return str(error)


@examples(60)
@given(tables(), st.dictionaries(st.sampled_from(ALONE), st.sampled_from([0.01, 0.1, 1.0]), min_size=1))
def test_what_is_kept_is_kept_and_what_is_missed_is_said(drawn, asked: dict[str, float]) -> None:
    task, values, cells = drawn
    assume(np.var(values[cells]) > 0 and has_solution(task))
    found, plain = kept_or_refused(task, asked, values, cells), solve(task)
    if isinstance(found, str):
        assert "smallest tolerances that work" in found
        return
    assert np.abs(task.matrix @ found.z).max() <= 1e-6
    assert (task.lower - 1e-6 <= found.z).all()
    assert (found.z <= task.upper + 1e-6).all()
    measured = measure_changes(values, values + found.z, cells)
    missed = {name for name, tolerance in asked.items() if abs(measured[name]) > tolerance}
    assert {remark.split()[1] for remark in found.remarks} == missed
    assert found.value >= plain.value * (1 - 1e-6)
    assert found.bound <= plain.value * (1 + 1e-6)


@examples(60)
@given(tables(), st.sampled_from([0.1, 1.0, 5.0]))
def test_mean_and_slope_are_kept_exactly_where_a_linear_program_says_so(drawn, tolerance: float) -> None:
    task, values, cells = drawn
    assume(np.var(values[cells]) > 0 and has_solution(task))
    a = np.where(cells, values, 0.0)
    mean = np.where(cells, 100 / a.sum(), 0.0)
    spread = np.where(cells, values - values[cells].mean(), 0.0)
    slope = 100 * spread / (spread @ spread)

    def cheapest(allowed: float) -> float | None:
        """By scipy, with changes split into rise and fall."""
        rows = np.array([mean, -mean, slope, -slope])
        equations, size = task.matrix.toarray(), len(task)
        bounds = [
            *((max(low, 0), max(high, 0)) for low, high in zip(task.lower, task.upper, strict=True)),
            *((max(-high, 0), max(-low, 0)) for low, high in zip(task.lower, task.upper, strict=True)),
        ]
        answer = linprog(
            np.ones(2 * size),
            A_ub=np.hstack([rows, -rows]),
            b_ub=np.full(4, allowed),
            A_eq=np.hstack([equations, -equations]),
            b_eq=np.zeros(len(equations)),
            bounds=bounds,
        )
        return float(answer.fun) if answer.status == 0 else None

    found = kept_or_refused(task, {"mean": tolerance, "slope": tolerance}, values, cells)
    if isinstance(found, str) or found.remarks:
        assert cheapest(0.999 * tolerance) is None
    else:
        widest, narrow = cheapest(1.001 * tolerance), cheapest(0.89 * tolerance)
        assert widest is not None
        assert found.value >= widest - 1e-6 * widest
        assert narrow is None or found.value <= narrow + 1e-6 * narrow
