"""Integer steps leaf by leaf: totals are computed from leaves, so that only bounds can be violated.

Leaves are rounded one after another, down or up, whichever makes the leaf and all totals above it cheaper,
with a penalty on every step beyond a bound. Single steps of leaves then improve the result. This suits tables
of any shape whose totals have room; where some total has none, an integer program varies some of the leaves
below it, some others, and all totals above these.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import Cells, Floats, Mask, Units
from tacita.core.run import Run
from tacita.methods.adjustment.integer.integer_program import repair_steps
from tacita.methods.adjustment.integer.step_task import CODES, StepTask

if TYPE_CHECKING:
    from tacita.methods.adjustment.integer.leaf_kernels import Forest, Numbers, StepCosts

LONGEST = 4096
"""Most totals above one leaf: with more, rounding one leaf at a time is not worthwhile."""
PENALTY = 1e3
"""Penalty for a step beyond a bound, as a multiple of the most expensive step."""
SWEEPS = 6
"""Over leaves below totals that are beyond their bounds."""
LEAVES = (4, 16, 64)
"""Leaves that a repair varies per total beyond its bounds."""
OTHERS = 1000
"""Leaves elsewhere that a repair varies."""


def round_by_leaves(steps: StepTask, run: Run) -> Units | None:
    """Return feasible integer steps of an adjustment, leaf by leaf; None if totals are no sums or tight."""
    forest = _build_forest(steps)
    if forest is None:
        return None
    from tacita.methods.adjustment.integer import leaf_kernels as kernels

    costs, path = _step_costs(steps), np.empty(LONGEST, np.int32)
    leaf = forest.part_first[1:] == forest.part_first[:-1]
    value = np.where(steps.fractional, steps.target, steps.nearest)
    kernels.sum_up(forest, value)
    if not kernels.round_leaves(forest, costs, value, leaf & steps.fractional, path):
        return None
    kernels.sum_up(forest, value)
    if not steps.adds_up(np.rint(value).astype(np.int64)):
        return None
    _improve_leaves(steps, forest, costs, leaf, value, path, run)
    x = np.rint(value).astype(np.int64)
    if steps.is_feasible(x):
        return x
    return repair_steps(steps, x, _neighbourhoods(steps, forest, leaf, x, path, run), run)


def _improve_leaves(
    steps: StepTask, forest: Forest, costs: StepCosts, leaf: Mask, value: Floats, path: Numbers, run: Run
) -> None:
    """Improve an adjustment's leaves in place by single steps, and by longer ones far beyond bounds."""
    from tacita.methods.adjustment.integer import leaf_kernels as kernels

    for _ in range(SWEEPS):
        beyond = np.maximum(steps.low - value, value - steps.high)
        worst = float(beyond.max(initial=0.0))
        if worst <= 0.0 or run.over:
            break
        leaves = np.flatnonzero(kernels.mark_parts(forest, beyond > 0.0) & leaf & steps.movable)
        width, moved = 2.0 ** np.floor(np.log2(worst)), 0
        while width >= 1.0:
            moved += kernels.improve_leaves(forest, costs, value, leaves, width, path)
            width /= 2.0
        if not moved:
            break
    if not run.over:
        # Once over all leaves; a second time gains next to nothing.
        kernels.improve_leaves(forest, costs, value, np.flatnonzero(leaf & steps.movable), 1.0, path)


def _neighbourhoods(
    steps: StepTask, forest: Forest, leaf: Mask, x: Units, path: Numbers, run: Run
) -> Iterator[Mask]:
    from tacita.methods.adjustment.integer import leaf_kernels as kernels

    draw = np.random.default_rng(run.search)
    movable = leaf & steps.movable
    beyond = np.flatnonzero((x < steps.low) | (x > steps.high))
    everywhere = np.flatnonzero(movable)
    for count in LEAVES:
        chosen = [draw.choice(everywhere, min(everywhere.size, OTHERS + count * beyond.size), replace=False)]
        for total in beyond:
            marked = np.zeros(len(steps), dtype=bool)
            marked[total] = True
            under = np.flatnonzero(kernels.mark_parts(forest, marked) & movable)
            chosen.append(draw.choice(under, min(under.size, count), replace=False))
        leaves: Cells = np.unique(np.concatenate(chosen))
        free = np.zeros(len(steps), dtype=bool)
        for one in leaves:
            free[path[: kernels.climb(forest, one, path)]] = True
        yield free


def _step_costs(steps: StepTask) -> StepCosts:
    from tacita.methods.adjustment.integer.leaf_kernels import StepCosts

    task = steps.task
    everything = slice(None)
    rise = np.abs(steps.costs(everything, steps.target + 1.0) - steps.costs(everything, steps.target))
    return StepCosts(
        CODES[task.norm],
        task.step / task.one,
        steps.target,
        task.weight,
        task.delta,
        steps.largest,
        steps.low,
        steps.high,
        PENALTY * (float(rise.max(initial=0.0)) or 1.0),
    )


def _build_forest(steps: StepTask) -> Forest | None:
    """Return an adjusted table's totals and parts; None unless every equation sums others to one cell."""
    from tacita.methods.adjustment.integer.leaf_kernels import Forest, order_totals

    matrix, n_cells = steps.matrix, len(steps)
    row_of_entry = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    negative = matrix.data < 0
    if (np.abs(matrix.data) != 1).any() or (
        np.bincount(row_of_entry[negative], minlength=matrix.shape[0]) != 1
    ).any():
        return None
    defining = np.full(n_cells, -1)
    total_of = matrix.indices[negative]
    defining[total_of] = row_of_entry[negative]
    # Of several equations of a total the last one counts, so that each cell is computed once.
    used = (defining[total_of] == np.arange(matrix.shape[0]))[row_of_entry] & ~negative
    part = matrix.indices[used].astype(np.int32)
    total = total_of[row_of_entry[used]].astype(np.int32)
    first, above = _group(part, total, n_cells)
    part_first, parts = _group(total, part, n_cells)
    n_totals = int((defining >= 0).sum())
    order = np.empty(n_totals, np.int32)
    if order_totals(first, above, part_first, order) < n_totals:
        return None
    return Forest(first, above, part_first, parts, order)


def _group(key: Numbers, what: Numbers, n_keys: int) -> tuple[Cells, Numbers]:
    """Return an adjusted table's totals grouped by part, or parts by total: starts of groups, entries."""
    order = np.argsort(key, kind="stable")
    return np.concatenate([[0], np.cumsum(np.bincount(key, minlength=n_keys))]).astype(np.int64), what[order]
