"""Whole changes near a solver's floats: they add up, keep bounds and are multiples of the step, exactly."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, hstack, identity, vstack

from tacita.core.errors import InfeasibleError
from tacita.core.exact import UNBOUNDED, Floats, Units
from tacita.core.run import Run
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table
from tacita.generate import table as random_table
from tacita.methods.adjustment.integer.round_to_steps import round_to_steps
from tacita.methods.adjustment.task import NORMS, AdjustmentTask, Norm, SideConstraints
from tacita.solvers.highs import Ended, solve_mip
from tacita.solvers.linear_program import IntegerProgram
from tacita.testing import TABLE_KINDS, hard_table

HARDLY = 1.05
"""Changes of one or two steps: what little a step costs is much of them."""


def holds(task: AdjustmentTask, z: Units) -> bool:
    """Exact, from the definition."""
    return (
        z.dtype == np.int64
        and not (task.matrix @ z).any()
        and bool((z >= task.lower).all() and (z <= task.upper).all())
        and not (z % task.step).any()
    )


def program_of(task: AdjustmentTask, cost: Floats, integer: bool) -> IntegerProgram:
    """``min cost |z|`` over the task as ``up - down``, in steps; without weights of its own."""
    n, nothing = len(task), np.zeros(task.matrix.shape[0])
    matrix = task.matrix.astype(np.float64)
    low, high = -(-task.lower // task.step), task.upper // task.step
    rows = csr_array(hstack([matrix, csr_array((matrix.shape[0], n))]))
    size = csr_array(identity(n))
    above = csr_array(hstack([size, size]))
    below = csr_array(hstack([-size, size]))
    return IntegerProgram(
        np.concatenate([np.zeros(n), cost]),
        np.concatenate([low, np.zeros(n)]).astype(np.float64),
        np.concatenate([high, np.full(n, np.inf)]),
        csr_array(vstack([rows, above, below])),
        np.concatenate([nothing, np.zeros(2 * n)]),
        np.concatenate([nothing, np.full(2 * n, np.inf)]),
        np.concatenate([np.full(n, integer), np.zeros(n, dtype=bool)]),
    )


def point_of(task: AdjustmentTask, cost: Floats, integer: bool = False) -> Floats | None:
    found = solve_mip(program_of(task, cost, integer), Run())
    if found.status is Ended.INFEASIBLE:
        return None
    return found.point[: len(task)] * task.step


def corner(task: AdjustmentTask, draw: np.random.Generator) -> Floats | None:
    """A vertex of the relaxation in a random direction."""
    program = program_of(task, np.zeros(len(task)), integer=False)
    cost = np.concatenate([draw.normal(size=len(task)), np.full(len(task), 1e-3)])
    found = solve_mip(replace(program, cost=cost), Run())
    return None if found.status is Ended.INFEASIBLE else found.point[: len(task)] * task.step


def some_task(table: Table, draw: np.random.Generator, step: int, norm: Norm, fixed: float) -> AdjustmentTask:
    """Bounds of a few steps, some cells that must move and some totals that must not."""
    n, total = len(table), table.structure.is_total
    low, high = -draw.integers(1, 4, n), draw.integers(1, 4, n)
    for cell in draw.choice(np.flatnonzero(~total), 2):
        low[cell], high[cell] = (1, 3) if draw.random() < 0.5 else (-3, -1)
    still = np.where(total, draw.random(n) < fixed, draw.random(n) < 0.1)
    low, high = np.where(still, 0, low), np.where(still, 0, high)
    matrix = table.equations.matrix
    return AdjustmentTask(matrix, low * step, high * step, draw.uniform(0.1, 2.0, n), 1, step, norm)


def without_dimensions(structure: Structure) -> Structure:
    labels = tuple(str(i) for i in range(len(structure)))
    return Structure((), np.zeros((len(structure), 0), dtype=np.int32), structure.equations, labels)


@examples(120)
@given(
    st.sampled_from((*TABLE_KINDS, "line", "nameless")),
    st.integers(0, 2**32),
    st.sampled_from((1, 10)),
    st.sampled_from(NORMS),
    st.sampled_from((0.0, 0.5, 1.0)),
)
def test_holds_wherever_whole_numbers_exist(
    kind: str, seed: int, step: int, norm: Norm, fixed: float
) -> None:
    draw = np.random.default_rng(seed)
    if kind == "line":
        table = random_table((6,), seed=seed % 1000)
    else:
        table = hard_table(Random(seed), "cube" if kind == "nameless" else kind)
    structure = without_dimensions(table.structure) if kind == "nameless" else table.structure
    task = some_task(table, draw, step, norm, fixed)
    corners = [corner(task, draw) for _ in range(3)]
    if corners[0] is None:
        return
    part = draw.dirichlet(np.ones(3))
    z = sum(p * c for p, c in zip(part, corners, strict=True)) + draw.normal(0.0, 1e-9, len(task))
    best = point_of(task, np.zeros(len(task)), integer=True)
    if best is None:
        with pytest.raises(InfeasibleError, match="too tight for integers"):
            round_to_steps(task, z, structure, Run())
        return
    assert holds(task, round_to_steps(task, z, structure, Run()))


def least_squares(task: AdjustmentTask, parts: int) -> Floats | None:
    """The cheapest changes in parts of a unit, whole ones for one part: each part is a variable of its own,
    later ones dearer.
    """
    width = (task.upper - task.lower) * parts
    cell = np.repeat(np.arange(len(task)), width)
    after = np.arange(cell.size) - np.repeat(np.cumsum(width) - width, width) + 1
    value = task.lower[cell] + after / parts
    cost = task.weight[cell] * (value**2 - (value - 1 / parts) ** 2)
    even = -(task.matrix @ task.lower).astype(np.float64) * parts
    columns = csr_array(task.matrix.tocsc()[:, cell].astype(np.float64))
    size, whole = cell.size, np.full(cell.size, parts == 1)
    found = solve_mip(IntegerProgram(cost, np.zeros(size), np.ones(size), columns, even, even, whole), Run())
    if found.status is Ended.INFEASIBLE:
        return None
    return task.lower + np.bincount(cell, found.point, len(task)) / parts


@examples(60)
@given(st.sampled_from(TABLE_KINDS), st.integers(0, 2**32), st.sampled_from((0.0, 0.5)))
def test_hardly_dearer_than_the_best_whole_changes(kind: str, seed: int, fixed: float) -> None:
    draw = np.random.default_rng(seed)
    table = hard_table(Random(seed), kind)
    task = some_task(table, draw, 1, "l2", fixed)
    z, best = least_squares(task, 8), least_squares(task, 1)
    if z is None or best is None:
        return
    x = round_to_steps(task, z, table.structure, Run())
    assert holds(task, x)
    assert task.loss(x) <= HARDLY * task.loss(best) + 1e-9


def test_on_a_network_rounding_costs_nothing_in_absolute_changes() -> None:
    """Chords of ``w |z|`` between whole numbers are ``w |z|`` itself, and a vertex is never dearer."""
    table = random_table((12, 9), seed=3)
    draw = np.random.default_rng(3)
    task = some_task(table, draw, 1, "l1", 0.5)
    corners = [found for _ in range(4) if (found := corner(task, draw)) is not None]
    z = np.mean(corners, axis=0)
    x = round_to_steps(task, z, table.structure, Run())
    assert holds(task, x)
    assert task.loss(x) <= task.loss(z) + 1e-9
    assert np.abs(x - z).max() < 1.0


def test_whole_changes_stay_as_they_are() -> None:
    table = Table.from_array(np.arange(1, 10).reshape(3, 3))
    z = np.zeros(len(table))
    for codes, change in ((("1", "1"), 2), (("1", "2"), -2), (("2", "1"), -2), (("2", "2"), 2)):
        z[table.structure.find(*codes)] = change
    wide = np.full(len(table), 5)
    task = AdjustmentTask(table.equations.matrix, -wide, wide, np.ones(len(table)), 1, 1, "l2")
    assert round_to_steps(task, z + 1e-10, table.structure, Run()).tolist() == z.tolist()


def test_large_values_are_mended_in_whole_numbers() -> None:
    """Floats of 2e13 units that are wrong by thousands of units in every equation, and bounds without end."""
    table = random_table((20, 15), seed=5)
    draw = np.random.default_rng(5)
    total = table.structure.is_total
    leaf = np.rint(draw.uniform(-1.0, 1.0, len(table)) * 10.0 ** draw.integers(1, 14, len(table)))
    exact = point_with_totals(table, np.where(total, 0, leaf).astype(np.int64))
    z = exact * (1.0 + draw.uniform(-1e-9, 1e-9, len(table)))
    bound = np.where(draw.random(len(table)) < 0.2, UNBOUNDED, 2 * np.abs(exact) + 1)
    task = AdjustmentTask(table.equations.matrix, -bound, bound, 1.0 / (np.abs(exact) + 1.0), 100, 1, "l2")
    assert (table.equations.matrix @ np.rint(z).astype(np.int64)).any()
    x = round_to_steps(task, z, table.structure, Run())
    assert holds(task, x)
    assert np.abs(x - z).max() <= 1e-6 * np.abs(exact).max()


def point_with_totals(table: Table, leaf: Units) -> Units:
    """Whole numbers with totals summed up: by one equation of each, and the others then hold as well."""
    x, equations = leaf.copy(), table.equations
    defining = {equations.total_of(j): j for j in range(len(equations))}
    totals, rows = (np.array(part) for part in zip(*defining.items(), strict=True))
    while (equations.matrix @ x).any():
        x[totals] += (equations.matrix @ x)[rows]
    return x


def around(table: Table, leaf: Floats, room: int, norm: Norm = "l2") -> tuple[AdjustmentTask, Floats]:
    """Changes with fractions in every leaf; totals may go to the numbers around them and ``room`` beyond,
    leaves two steps at least.
    """
    total = table.structure.is_total
    fine = np.zeros(len(table), dtype=np.int64)
    fine[~total] = np.rint(leaf.ravel() * 2**20)
    z = point_with_totals(table, fine) / 2**20
    low = np.where(total, np.floor(z + 1e-3) - room, np.minimum(np.floor(z), -2)).astype(np.int64)
    high = np.where(total, np.ceil(z - 1e-3) + room, np.maximum(np.ceil(z), 2)).astype(np.int64)
    weight = 1.0 / np.maximum(table.units, 1.0)
    return AdjustmentTask(table.equations.matrix, low, high, weight, 1, 1, norm), z


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("room", [0, 3])
@pytest.mark.parametrize(
    ("shape", "hierarchy"), [((40, 30), (3, 3)), ((60, 60), (1, 2)), ((8, 7, 6), (2, 1, 2))]
)
def test_totals_with_little_room_or_none(
    shape: tuple[int, ...], hierarchy: tuple[int, ...], room: int, norm: Norm
) -> None:
    table = random_table(shape, hierarchy=hierarchy, zeros=0.0, seed=1)
    task, z = around(table, np.random.default_rng(1).normal(0.0, 0.4, shape), room, norm)
    x = round_to_steps(task, z, table.structure, Run(time_limit=60))
    assert holds(task, x)
    assert np.abs(x - z).max() <= room + 3


@pytest.mark.parametrize("shape", [(60, 70), (16, 15, 14), (6, 6, 5, 5)])
@pytest.mark.parametrize("norm", NORMS)
def test_margins_that_must_not_move(shape: tuple[int, ...], norm: Norm) -> None:
    table = random_table(shape, zeros=0.0, seed=1)
    leaf = np.random.default_rng(1).normal(0.0, 0.4, shape)
    for axis in range(len(shape)):
        leaf -= leaf.mean(axis=axis, keepdims=True)
    task, z = around(table, leaf, 0, norm)
    assert not task.upper[table.structure.is_total].any()
    x = round_to_steps(task, z, table.structure, Run(time_limit=60))
    assert holds(task, x)
    assert np.abs(x - z).max() < len(shape)


def test_large_values_in_two_trees() -> None:
    """Leaves decide, wrong by thousands of units, and totals have bounds that their sums miss."""
    table = random_table((30, 40), hierarchy=(3, 3), zeros=0.0, seed=4)
    draw = np.random.default_rng(4)
    leaf = np.where(table.structure.is_total, 0, draw.integers(-(10**13), 10**13, len(table)))
    exact = point_with_totals(table, leaf)
    slack = np.where(table.structure.is_total, 2, 10**5)
    task = AdjustmentTask(
        table.equations.matrix, exact - slack, exact + slack, np.ones(len(table)), 100, 1, "l2"
    )
    z = exact + draw.uniform(-1e4, 1e4, len(table))
    assert holds(task, round_to_steps(task, z, table.structure, Run(time_limit=60)))


def test_statistics_are_kept_as_well_as_steps_allow() -> None:
    table = random_table((6, 5), seed=2)
    draw = np.random.default_rng(2)
    task = some_task(table, draw, 1, "l1", 0.0)
    row = csr_array(draw.uniform(-1.0, 1.0, (1, len(table))))
    side = SideConstraints(row, np.array([-0.05]), np.array([0.05]))
    program = program_of(task, task.weight, integer=False)
    kept = csr_array(hstack([row, csr_array((1, len(table)))]))
    z = solve_mip(
        replace(
            program,
            rows=csr_array(vstack([program.rows, kept])),
            row_lower=np.append(program.row_lower, side.least),
            row_upper=np.append(program.row_upper, side.most),
        ),
        Run(),
    ).point[: len(table)]
    unkept = round_to_steps(task, z, table.structure, Run())
    x = round_to_steps(replace(task, side=side), z, table.structure, Run())
    assert holds(task, x)
    assert abs((row @ x)[0]) <= 0.1 < abs((row @ unkept)[0])


def test_bounds_without_a_multiple_name_the_cell() -> None:
    table = Table.from_array(np.arange(1, 5).reshape(2, 2))
    low, high = np.full(len(table), -20), np.full(len(table), 20)
    cell = table.structure.find("1", "2")
    low[cell], high[cell] = 3, 7
    task = AdjustmentTask(table.equations.matrix, low, high, np.ones(len(table)), 1, 10)
    with pytest.raises(InfeasibleError, match=r"multiple of 10.*widen") as error:
        round_to_steps(task, np.zeros(len(table)), table.structure, Run())
    assert table.structure.name(cell) in str(error.value)


def test_equations_that_whole_numbers_miss_are_named() -> None:
    table = Table.from_array(np.full((2, 2), 4))
    find = table.structure.find
    low, high = np.zeros(len(table), dtype=np.int64), np.zeros(len(table), dtype=np.int64)
    low[find("1", "1")], high[find("1", "1")] = 1, 2
    task = AdjustmentTask(table.equations.matrix, low, high, np.ones(len(table)), 1, 1)
    with pytest.raises(InfeasibleError, match=r"too tight for integers.*sum of 2 cells") as error:
        round_to_steps(task, np.zeros(len(table)), table.structure, Run())
    assert table.structure.name(find("1", "1")) in str(error.value)
