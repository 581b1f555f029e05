"""Compiled loops that round leaves one at a time, with all totals above them.

Every total has one *defining* equation; from a leaf the totals above it are found by climbing those. A change
of a leaf by ``d`` changes each of them by ``d``, so its cost is a short sum, penalties for leaving bounds
included.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita.core.compiled import kernel
from tacita.core.exact import Cells, Floats, Mask, Units
from tacita.methods.adjustment.integer.step_task import compute_step_cost

Numbers = NDArray[np.int32]

step_cost_compiled = kernel(compute_step_cost)
LEAST_GAIN = 1e-12
"""Relative gain of a move that counts as rounding error."""


class Forest(NamedTuple):
    """Totals and the cells they are summed from.

    Attributes
    ----------
    first, above
        Totals that cell ``i`` is a direct part of: ``above[first[i]:first[i + 1]]``.
    part_first, part
        Parts of cell ``i``, none for a leaf: ``part[part_first[i]:part_first[i + 1]]``.
    order
        Totals, each after all its parts.
    """

    first: Cells
    above: Numbers
    part_first: Cells
    part: Numbers
    order: Numbers


class StepCosts(NamedTuple):
    """Data of costs and bounds, in steps; ``penalty`` is the cost of a step beyond a bound."""

    norm: int
    scale: float
    target: Floats
    weight: Floats
    delta: float
    largest: float
    low: Units
    high: Units
    penalty: float


@kernel
def order_totals(first: Cells, above: Numbers, part_first: Cells, order: Numbers) -> int:
    """Write an adjusted table's totals to ``order``, parts first; return how many, fewer if circular."""
    n_cells = first.size - 1
    waiting = np.empty(n_cells, np.int32)
    queue = np.empty(n_cells, np.int32)
    size, placed, head = 0, 0, 0
    for cell in range(n_cells):
        waiting[cell] = part_first[cell + 1] - part_first[cell]
        if waiting[cell] == 0:
            queue[size] = cell
            size += 1
    while head < size:
        cell = queue[head]
        head += 1
        for k in range(first[cell], first[cell + 1]):
            total = above[k]
            waiting[total] -= 1
            if waiting[total] == 0:
                queue[size] = total
                size += 1
                order[placed] = total
                placed += 1
    return placed


@kernel
def sum_up(forest: Forest, value: Floats) -> None:
    """Compute totals of an adjustment's steps from leaves, in place; exact for integers below ``2**53``."""
    for total in forest.order:
        summed = 0.0
        for k in range(forest.part_first[total], forest.part_first[total + 1]):
            summed += value[forest.part[k]]
        value[total] = summed


@kernel
def climb(forest: Forest, leaf: int, path: Numbers) -> int:
    """Write an adjusted leaf and all totals above it to ``path``; return how many, -1 if too many."""
    path[0], size, head = leaf, 1, 0
    while head < size:
        cell = path[head]
        head += 1
        for k in range(forest.first[cell], forest.first[cell + 1]):
            if size == path.size:
                return -1
            path[size] = forest.above[k]
            size += 1
    return size


@kernel
def compute_cell_cost(costs: StepCosts, cell: int, value: float) -> float:
    """Return the cost of a cell's integer steps in an adjustment, with the penalty beyond its bounds."""
    beyond = max(costs.low[cell] - value, value - costs.high[cell], 0.0)
    own = step_cost_compiled(
        costs.norm,
        value * costs.scale,
        costs.target[cell] * costs.scale,
        costs.weight[cell],
        costs.delta,
        costs.largest,
    )
    return float(own + costs.penalty * beyond)


@kernel
def round_leaves(forest: Forest, costs: StepCosts, value: Floats, open_leaf: Mask, path: Numbers) -> bool:
    """Round the change of every open leaf of an adjustment down or up, whichever is cheaper now, in place.

    Leaves that are not yet rounded count with their fractions, so that a total which lost a fraction by one
    leaf regains it by another. Return whether ``path`` was long enough.
    """
    for leaf in range(open_leaf.size):
        if not open_leaf[leaf]:
            continue
        size = climb(forest, leaf, path)
        if size < 0:
            return False
        down = np.floor(value[leaf]) - value[leaf]
        up = down + 1.0
        difference = 0.0
        for k in range(size):
            cell = path[k]
            difference += compute_cell_cost(costs, cell, value[cell] + up) - compute_cell_cost(
                costs, cell, value[cell] + down
            )
        move = up if difference < 0.0 else down
        for k in range(size):
            value[path[k]] += move
        value[leaf] = np.rint(value[leaf])
    return True


@kernel
def improve_leaves(
    forest: Forest, costs: StepCosts, value: Floats, leaves: Cells, width: float, path: Numbers
) -> int:
    """Move leaves of an adjustment by ``width`` steps where that costs less; return the number of moves."""
    moved = 0
    for leaf in leaves:
        size = climb(forest, leaf, path)
        best, chosen = 0.0, 0.0
        for move in (width, -width):
            if not costs.low[leaf] <= value[leaf] + move <= costs.high[leaf]:
                continue
            change, involved = 0.0, 0.0
            for k in range(size):
                cell = path[k]
                before = compute_cell_cost(costs, cell, value[cell])
                after = compute_cell_cost(costs, cell, value[cell] + move)
                change += after - before
                involved += before + after
            if change < best - LEAST_GAIN * involved:
                best, chosen = change, move
        if chosen != 0.0:
            moved += 1
            for k in range(size):
                value[path[k]] += chosen
    return moved


@kernel
def mark_parts(forest: Forest, marked: Mask) -> Mask:
    """Return which cells of an adjustment are marked or parts of marked ones, at all levels of totals."""
    inside = marked.copy()
    for t in range(forest.order.size - 1, -1, -1):
        total = forest.order[t]
        if inside[total]:
            for k in range(forest.part_first[total], forest.part_first[total + 1]):
                inside[forest.part[k]] = True
    return inside
