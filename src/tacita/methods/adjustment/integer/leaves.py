"""Whole steps leaf by leaf: totals are summed up, so equations hold by themselves and bounds are the task.

Leaves are taken one after another to the whole number below or above them, whichever makes the leaf and all
totals above it cheaper, with a price on every step that one of them is beyond its bounds. Single steps of
leaves then improve on that. It fits tables of any shape whose totals have room; where some total has none
left, an integer program varies some of the leaves below it, some others, and all that is summed from these.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import Cells, Floats, Mask, Units
from tacita.core.run import Run
from tacita.methods.adjustment.integer.integer_program import mend
from tacita.methods.adjustment.integer.steps import CODES, Steps

if TYPE_CHECKING:
    from tacita.methods.adjustment.integer.leaf_kernels import Forest, Numbers, Stakes

LONGEST = 4096
"""Totals above one leaf; with more there is nothing gained by looking at one leaf at a time."""
PENALTY = 1e3
"""Price of a step beyond a bound, in prices of the dearest step."""
SWEEPS = 6
"""Over leaves below totals that are beyond their bounds."""
LEAVES = (4, 16, 64)
"""Leaves that are varied per total that is beyond its bounds."""
OTHERS = 1000
"""Leaves elsewhere that are varied to make up for them."""


def leaf_by_leaf(steps: Steps, run: Run) -> Units | None:
    """Whole steps that hold; None where cells are not summed from leaves, or too little room is left."""
    forest = _forest(steps)
    if forest is None:
        return None
    from tacita.methods.adjustment.integer import leaf_kernels as kernels

    stakes, path = _stakes(steps), np.empty(LONGEST, np.int32)
    leaf = forest.part_first[1:] == forest.part_first[:-1]
    value = np.where(steps.between, steps.target, steps.nearest)
    kernels.sum_up(forest, value)
    if not kernels.settle(forest, stakes, value, leaf & steps.between, path):
        return None
    kernels.sum_up(forest, value)
    if not steps.adds_up(np.rint(value).astype(np.int64)):
        return None
    _improve(steps, forest, stakes, leaf, value, path, run)
    x = np.rint(value).astype(np.int64)
    if steps.holds(x):
        return x
    return _mended(steps, forest, leaf, x, path, run)


def _improve(
    steps: Steps, forest: Forest, stakes: Stakes, leaf: Mask, value: Floats, path: Numbers, run: Run
) -> None:
    """Single steps of leaves, longer ones where bounds are missed by far."""
    from tacita.methods.adjustment.integer import leaf_kernels as kernels

    for _ in range(SWEEPS):
        beyond = np.maximum(steps.low - value, value - steps.high)
        worst = float(beyond.max(initial=0.0))
        if worst <= 0.0 or run.over:
            break
        leaves = np.flatnonzero(kernels.below_any(forest, beyond > 0.0) & leaf & steps.movable)
        width, moved = 2.0 ** np.floor(np.log2(worst)), 0
        while width >= 1.0:
            moved += kernels.improve(forest, stakes, value, leaves, width, path)
            width /= 2.0
        if not moved:
            break
    if not run.over:
        # Once over all leaves; a second time gains next to nothing.
        kernels.improve(forest, stakes, value, np.flatnonzero(leaf & steps.movable), 1.0, path)


def _mended(steps: Steps, forest: Forest, leaf: Mask, x: Units, path: Numbers, run: Run) -> Units | None:
    return mend(steps, x, _neighbourhoods(steps, forest, leaf, x, path, run), run)


def _neighbourhoods(
    steps: Steps, forest: Forest, leaf: Mask, x: Units, path: Numbers, run: Run
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
            under = np.flatnonzero(kernels.below_any(forest, marked) & movable)
            chosen.append(draw.choice(under, min(under.size, count), replace=False))
        leaves: Cells = np.unique(np.concatenate(chosen))
        free = np.zeros(len(steps), dtype=bool)
        for one in leaves:
            free[path[: kernels.climb(forest, one, path)]] = True
        yield free


def _stakes(steps: Steps) -> Stakes:
    from tacita.methods.adjustment.integer.leaf_kernels import Stakes

    task = steps.task
    everything = slice(None)
    rise = np.abs(steps.prices(everything, steps.target + 1.0) - steps.prices(everything, steps.target))
    return Stakes(
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


def _forest(steps: Steps) -> Forest | None:
    """Totals and parts, if every equation says that one cell is the sum of others; None if not."""
    from tacita.methods.adjustment.integer.leaf_kernels import Forest, children_first

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
    # Of several equations of a total the last one counts, so that each cell is summed up once.
    used = (defining[total_of] == np.arange(matrix.shape[0]))[row_of_entry] & ~negative
    part = matrix.indices[used].astype(np.int32)
    total = total_of[row_of_entry[used]].astype(np.int32)
    first, above = _listed(part, total, n_cells)
    part_first, parts = _listed(total, part, n_cells)
    n_totals = int((defining >= 0).sum())
    order = np.empty(n_totals, np.int32)
    if children_first(first, above, part_first, order) < n_totals:
        return None
    return Forest(first, above, part_first, parts, order)


def _listed(key: Numbers, what: Numbers, n_keys: int) -> tuple[Cells, Numbers]:
    """What belongs to each key, as starts and entries."""
    order = np.argsort(key, kind="stable")
    return np.concatenate([[0], np.cumsum(np.bincount(key, minlength=n_keys))]).astype(np.int64), what[order]
