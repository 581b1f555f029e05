"""Least adjustments with given directions: every formulation against the others and against scipy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize
from scipy.sparse import csr_array

from tacita import generate
from tacita.core.errors import InfeasibleError, InputError, SolverError, StoppedError
from tacita.core.exact import UNBOUNDED
from tacita.core.run import Run
from tacita.methods.adjustment.convex.convex_program import ConvexProgram
from tacita.methods.adjustment.convex.solve_convex import FORMULATIONS, solve_convex
from tacita.methods.adjustment.task import (
    NORMS,
    AdjustmentSolution,
    AdjustmentTask,
    DirectionChoice,
    Norm,
    SideConstraints,
)

SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...] | None], ...] = (
    ((4,), None),
    ((3, 4), None),
    ((2, 3, 3), None),
    ((6,), (2,)),
    ((4, 4), (2, 1)),
    ((4, 4), (2, 2)),
)


@st.composite
def tasks(draw: Callable[..., Any], weights: str | None = None) -> AdjustmentTask:
    """A table with up to three cells that must rise or fall; capacities in percent, totals fixed or not."""
    shape, hierarchy = draw(st.sampled_from(SHAPES))
    table = generate.table(shape, "uniform", hierarchy=hierarchy, seed=draw(st.integers(0, 99)))
    value, n = table.units, len(table)
    capacity = np.maximum(value * draw(st.sampled_from([10, 40, 100])) // 100, 1)
    lower, upper = -np.minimum(capacity, value), capacity
    if draw(st.booleans()):
        upper = np.full(n, UNBOUNDED)
    if draw(st.booleans()):
        total = np.asarray((table.equations.matrix < 0).sum(axis=0)).ravel() > 0
        lower, upper = np.where(total, 0, lower), np.where(total, 0, upper)
    for p in draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3, unique=True)):
        least = max(1, int(value[p]) * draw(st.sampled_from([5, 20])) // 100)
        if draw(st.booleans()):
            lower[p], upper[p] = least, max(least, upper[p])
        else:
            lower[p], upper[p] = min(lower[p], -least), -least
    kind = weights or draw(st.sampled_from(["one", "value"]))
    weight = np.ones(n) if kind == "one" else 1 / np.maximum(value, 1)
    if kind == "spread":
        weight = 10.0 ** draw(
            st.lists(st.floats(-11, 0), min_size=n, max_size=n).map(lambda powers: np.array(powers))
        )
    if kind == "some":
        weight = 1.0 * np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    return AdjustmentTask(table.equations.matrix, lower, upper, weight, 1, 1)


def answers(task: AdjustmentTask) -> dict[str, AdjustmentSolution | None]:
    """What each formulation that the task has comes to; None for infeasible."""
    found: dict[str, AdjustmentSolution | None] = {}
    for formulation in ("auto", *FORMULATIONS[task.norm]):
        try:
            found[formulation] = solve_convex(task, Run(), formulation)
        except InfeasibleError:
            found[formulation] = None
        except InputError:
            # The equations are no network; some cells weigh nothing.
            assert formulation in ("flow", "newton")
        except SolverError:
            # Newton's method does not always converge, and says so; by default another one takes over.
            assert formulation == "newton"
    return found


def check(task: AdjustmentTask, answer: AdjustmentSolution) -> None:
    """What an answer claims, from the definition."""
    scale = max(1.0, float(np.abs(answer.z).max()))
    assert (answer.z >= task.lower).all()
    assert (answer.z <= task.upper).all()
    assert np.abs(task.matrix @ answer.z).max() <= 1e-8 * scale
    assert answer.value == task.loss(answer.z)
    assert answer.bound <= answer.value


def by_scipy(task: AdjustmentTask) -> float | None:
    """The least loss by an independent program; None for infeasible."""
    n = len(task)
    matrix = task.matrix.toarray()
    bounds = [
        (low, high if high < UNBOUNDED else None) for low, high in zip(task.lower, task.upper, strict=True)
    ]
    if task.norm == "l1":
        cost, tops = np.append(np.zeros(n), task.weight), n
        cap = np.block([[np.eye(n), -np.eye(n)], [-np.eye(n), -np.eye(n)]])
    else:
        cost, tops = np.append(np.zeros(n), 1.0), 1
        cap = np.block([[np.diag(task.weight), -np.ones((n, 1))], [-np.diag(task.weight), -np.ones((n, 1))]])
    answer = linprog(
        cost,
        cap,
        np.zeros(2 * n),
        np.hstack([matrix, np.zeros((matrix.shape[0], tops))]),
        np.zeros(matrix.shape[0]),
        bounds + [(0, None)] * tops,
    )
    return None if answer.status == 2 else float(answer.fun)


@pytest.mark.parametrize("norm", NORMS)
@given(task=tasks())
def test_formulations_agree(norm: Norm, task: AdjustmentTask) -> None:
    task = replace(task, norm=norm)
    found = answers(task)
    if None in found.values():
        assert set(found.values()) == {None}
        return
    for answer in found.values():
        assert answer is not None
        check(task, answer)
        assert answer.value == pytest.approx(found["auto"].value, rel=1e-6, abs=1e-9)
        assert answer.bound == pytest.approx(answer.value, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("norm", ["l1", "linf"])
@given(task=tasks())
def test_linear_norms_against_scipy(norm: Norm, task: AdjustmentTask) -> None:
    task = replace(task, norm=norm)
    expected = by_scipy(task)
    if expected is None:
        with pytest.raises(InfeasibleError):
            solve_convex(task, Run())
    else:
        assert solve_convex(task, Run()).value == pytest.approx(expected, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("norm", ["l2", "huber"])
def test_smooth_norms_against_scipy(norm: Norm) -> None:
    table = generate.table((3, 3), "uniform", seed=5)
    lower, upper = -table.units.copy(), table.units.copy()
    lower[0], upper[5] = table.units[0] // 5 + 1, -table.units[5] // 4
    task = AdjustmentTask(
        table.equations.matrix, lower, upper, 1 / np.maximum(table.units, 1.0), 1, 1, norm, delta=0.5
    )
    answer = solve_convex(task, Run())
    # Of the equations of rows and columns one follows from the others, which this method does not bear.
    independent = task.matrix.toarray()[1:]
    found = minimize(
        task.loss,
        np.clip(0.0, lower, upper),
        method="SLSQP",
        bounds=list(zip(lower, upper, strict=True)),
        constraints={"type": "eq", "fun": lambda z: independent @ z, "jac": lambda _: independent},
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert found.success
    assert answer.value == pytest.approx(found.fun, rel=1e-6)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@given(task=tasks(weights="spread"))
def test_weights_may_span_eleven_orders_of_magnitude(norm: Norm, task: AdjustmentTask) -> None:
    # Squares double the span: weights of 1 / value are fine, any weights side by side are not always.
    task = replace(task, norm=norm, weight=np.sqrt(task.weight) if norm == "l2" else task.weight)
    try:
        answer = solve_convex(task, Run())
    except InfeasibleError:
        return
    check(task, answer)
    assert answer.bound == pytest.approx(answer.value, rel=1e-6)


@pytest.mark.parametrize("norm", NORMS)
@given(task=tasks(weights="some"))
def test_cells_may_weigh_nothing(norm: Norm, task: AdjustmentTask) -> None:
    task = replace(task, norm=norm)
    found = answers(task)
    if None in found.values():
        assert set(found.values()) == {None}
        return
    for answer in found.values():
        check(task, answer)
        assert answer.value == pytest.approx(found["auto"].value, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("norm", NORMS)
def test_values_from_1_to_200_billion(norm: Norm) -> None:
    """A grand total of 2e11 over cells as small as 1, weighed by 1 / value."""
    inner = np.array([[1, 20, 300], [4000, 50_000, 6_000_000], [70_000_000, 8_000_000_000, 190_000_000_000]])
    full = np.block([[inner, inner.sum(1, keepdims=True)], [inner.sum(0), np.array([[inner.sum()]])[0]]])
    cells, value = np.arange(16).reshape(4, 4), full.ravel()
    matrix = np.zeros((8, 16), dtype=np.int64)
    for j, line in enumerate((*cells, *cells.T)):
        matrix[j, line] = [1, 1, 1, -1]
    lower, upper = -value // 2, value // 2
    lower[0], lower[10] = 1, value[10] // 10
    upper[0] = 1
    task = AdjustmentTask(csr_array(matrix), lower, upper, 1 / value, 1, 1, norm)
    found = [solve_convex(task, Run(), formulation) for formulation in ("auto", *FORMULATIONS[norm])]
    for answer in found:
        check(task, answer)
        assert answer.value == pytest.approx(found[0].value, rel=1e-6)
        assert answer.bound == pytest.approx(answer.value, rel=1e-6)


def rectangle(norm: Norm, least: int = 3, step: int = 1, one: int = 1) -> AdjustmentTask:
    """Two rows and two columns whose sums stay: one cell rises and all follow."""
    matrix = csr_array(np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]]))
    lower, upper = np.full(4, -9), np.full(4, 9)
    lower[0] = least
    return AdjustmentTask(matrix, lower, upper, np.ones(4), one, step, norm)


@pytest.mark.parametrize(("norm", "loss"), [("l1", 12), ("l2", 36), ("linf", 3)])
def test_a_rectangle_moves_by_what_one_cell_must(norm: Norm, loss: float) -> None:
    for formulation in FORMULATIONS[norm]:
        answer = solve_convex(rectangle(norm), Run(), formulation)
        assert answer.z == pytest.approx([3, -3, -3, 3], rel=1e-5)
        assert answer.value == pytest.approx(loss, rel=1e-6)
        assert answer.formulation == formulation


def test_losses_are_counted_in_values_and_changes_in_steps() -> None:
    for formulation in FORMULATIONS["l1"]:
        answer = solve_convex(rectangle("l1", step=2, one=10), Run(), formulation)
        assert answer.z == pytest.approx([4, -4, -4, 4], rel=1e-6)
        assert answer.value == pytest.approx(1.6, rel=1e-6)


@pytest.mark.parametrize("norm", NORMS)
def test_bounds_hold_in_units_to_the_last_digit(norm: Norm) -> None:
    """0.07 times 100 is more than 7 in floats."""
    task = rectangle(norm, least=7, one=100)
    upper = task.upper.copy()
    upper[0] = 7
    for formulation in FORMULATIONS[norm]:
        assert solve_convex(replace(task, upper=upper), Run(), formulation).z[0] == 7


@pytest.mark.parametrize("norm", NORMS)
def test_what_cannot_be_is_said_to_be_infeasible(norm: Norm) -> None:
    task = rectangle(norm, least=8)
    upper = task.upper.copy()
    upper[3] = 7
    for formulation in ("auto", *FORMULATIONS[norm]):
        with pytest.raises(InfeasibleError, match="capacities"):
            solve_convex(replace(task, upper=upper), Run(), formulation)
        with pytest.raises(InfeasibleError, match="cell number 1 "):
            solve_convex(rectangle(norm, least=9, step=2), Run(), formulation)


@pytest.mark.parametrize("norm", NORMS)
def test_nothing_sensitive_changes_nothing(norm: Norm) -> None:
    for formulation in ("auto", *FORMULATIONS[norm]):
        answer = solve_convex(rectangle(norm, least=-1), Run(), formulation)
        assert not answer.z.any()
        assert answer.value == answer.bound == 0.0


@pytest.mark.parametrize("norm", NORMS)
def test_a_side_row_is_kept(norm: Norm) -> None:
    """Two rectangles side by side; the second follows the first because a sum over both must stay."""
    single = rectangle(norm)
    matrix = csr_array(np.kron(np.eye(2, dtype=np.int64), single.matrix.toarray()))
    lower, upper = np.tile([-9] * 4, 2), np.tile([9] * 4, 2)
    lower[0] = 3
    rows = csr_array(np.array([[1.0, 0, 0, 0, 1.0, 0, 0, 0]]))
    side = SideConstraints(rows, np.array([-1.0]), np.array([1.0]))
    task = AdjustmentTask(matrix, lower, upper, np.ones(8), 1, 1, norm, side=side)
    for formulation in ("auto", *(f for f in FORMULATIONS[norm] if f not in ("flow", "newton"))):
        answer = solve_convex(task, Run(), formulation)
        assert -1 - 1e-7 <= answer.z[0] + answer.z[4] <= 1 + 1e-7
        assert answer.value == pytest.approx(task.loss(np.array([3, -3, -3, 3, -2, 2, 2, -2])), rel=1e-6)
        assert answer.bound == pytest.approx(answer.value, rel=1e-6)
    one_sided = replace(task, side=replace(side, least=np.array([-np.inf])))
    assert solve_convex(one_sided, Run()).bound == pytest.approx(answer.value, rel=1e-6)


@pytest.mark.parametrize(
    ("task", "formulation", "message"),
    [
        (rectangle("l1"), "newton", "norm l1 has no formulation 'newton'"),
        (rectangle("linf"), "linaer", "did you mean 'linear'"),
        (replace(rectangle("l2"), weight=np.zeros(4)), "newton", "quadratic"),
    ],
)
def test_formulations_that_do_not_exist(task: AdjustmentTask, formulation: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        solve_convex(task, Run(), formulation)


def test_open_directions_and_side_rows_are_no_flow() -> None:
    task, one = rectangle("l1"), np.ones(1, dtype=np.int64)
    with pytest.raises(InputError, match="directions"):
        solve_convex(
            replace(task, choice=DirectionChoice(np.zeros(1, dtype=np.int64), one, one, one, one)), Run()
        )
    side = SideConstraints(csr_array(np.ones((1, 4))), np.zeros(1), np.zeros(1))
    with pytest.raises(InputError, match="statistics"):
        solve_convex(replace(task, side=side), Run(), "flow")


def test_a_cube_without_its_margins_is_no_flow() -> None:
    cells = np.arange(27).reshape(3, 3, 3)
    lines = [cells[:, i, j] for i in range(3) for j in range(3)]
    lines += [cells[i, :, j] for i in range(3) for j in range(3)]
    lines += [cells[i, j, :] for i in range(3) for j in range(3)]
    matrix = np.zeros((27, 27), dtype=np.int64)
    for j, line in enumerate(lines):
        matrix[j, line] = 1
    lower = np.full(27, -9)
    lower[0] = 2
    task = AdjustmentTask(csr_array(matrix), lower, np.full(27, 9), np.ones(27), 1, 1)
    with pytest.raises(InputError, match="no network"):
        solve_convex(task, Run(), "flow")
    answer = solve_convex(task, Run())
    check(task, answer)
    assert answer.formulation == "linear"
    # Eight corners of a smaller cube move by 2 each.
    assert answer.value == pytest.approx(16)


@pytest.mark.parametrize("formulation", [f for f in FORMULATIONS["l2"] if f != "cones"])
def test_no_time_is_no_answer(formulation: str) -> None:
    run = Run()
    run.cancel()
    with pytest.raises(StoppedError):
        solve_convex(rectangle("l2"), run, formulation)


@given(task=tasks(), seed=st.integers(0, 99))
def test_any_prices_bound_any_adjustment(task: AdjustmentTask, seed: int) -> None:
    for norm in NORMS:
        convex = replace(task, norm=norm)
        try:
            answer = solve_convex(convex, Run())
        except InfeasibleError:
            return
        program = ConvexProgram.of(convex)
        prices = np.random.default_rng(seed).normal(size=program.equations) * float(task.weight.max())
        assert program.bound(answer.z, prices) <= answer.value * (1 + 1e-9)
        assert not program.proves_infeasible(prices)


def test_large_networks_give_whole_changes() -> None:
    table = generate.table((60, 60), "uniform", seed=3)
    lower, upper = -table.units.copy(), table.units.copy()
    sensitive = np.arange(0, 3600, 97)
    lower[sensitive] = table.units[sensitive] // 7 + 1
    upper[sensitive] = np.maximum(upper[sensitive], lower[sensitive])
    task = AdjustmentTask(table.equations.matrix, lower, upper, 1 / np.maximum(table.units, 1.0), 1, 1)
    flow, linear = solve_convex(task, Run(), "flow"), solve_convex(task, Run(), "linear")
    assert (flow.z == np.rint(flow.z)).all()
    assert flow.value == pytest.approx(linear.value, rel=1e-9)
    assert flow.bound == pytest.approx(flow.value, rel=1e-9)
