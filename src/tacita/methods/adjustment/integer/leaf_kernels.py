"""Compiled loops that settle leaves one at a time, with everything that is summed from them.

Every total has one *defining* equation; from a leaf the totals above it are found by climbing those. A change
of a leaf by ``d`` changes each of them by ``d``, so what it costs is a short sum of prices, those of leaving
bounds included.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita.core.compiled import kernel
from tacita.core.exact import Cells, Floats, Mask, Units
from tacita.methods.adjustment.integer.steps import price

Numbers = NDArray[np.int32]

price_of = kernel(price)
LEAST_GAIN = 1e-12
"""Share of what a move is made of below which its gain is arithmetic."""


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


class Stakes(NamedTuple):
    """What prices and bounds depend on, in steps; ``penalty`` is the price of a step beyond a bound."""

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
def children_first(first: Cells, above: Numbers, part_first: Cells, order: Numbers) -> int:
    """Fill in ``order``; returns how many totals have a place, fewer than all where sums go in circles."""
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
    """Totals from leaves; exact for whole numbers below ``2**53``."""
    for total in forest.order:
        summed = 0.0
        for k in range(forest.part_first[total], forest.part_first[total + 1]):
            summed += value[forest.part[k]]
        value[total] = summed


@kernel
def climb(forest: Forest, leaf: int, path: Numbers) -> int:
    """The leaf and all that is summed from it; returns how many cells those are, or -1 where too many."""
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
def cost_at(stakes: Stakes, cell: int, value: float) -> float:
    beyond = max(stakes.low[cell] - value, value - stakes.high[cell], 0.0)
    own = price_of(
        stakes.norm,
        value * stakes.scale,
        stakes.target[cell] * stakes.scale,
        stakes.weight[cell],
        stakes.delta,
        stakes.largest,
    )
    return float(own + stakes.penalty * beyond)


@kernel
def settle(forest: Forest, stakes: Stakes, value: Floats, open_leaf: Mask, path: Numbers) -> bool:
    """Take every open leaf to the whole number below or above it, whichever costs less as things stand.

    Leaves whose turn has not come count as they are, so that a total which lost a fraction by one leaf gets
    it back by another. Returns whether paths were long enough.
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
            difference += cost_at(stakes, cell, value[cell] + up) - cost_at(stakes, cell, value[cell] + down)
        move = up if difference < 0.0 else down
        for k in range(size):
            value[path[k]] += move
        value[leaf] = np.rint(value[leaf])
    return True


@kernel
def improve(forest: Forest, stakes: Stakes, value: Floats, leaves: Cells, width: float, path: Numbers) -> int:
    """Move leaves by so many steps up or down where that costs less; returns how many were moved."""
    moved = 0
    for leaf in leaves:
        size = climb(forest, leaf, path)
        best, chosen = 0.0, 0.0
        for move in (width, -width):
            if not stakes.low[leaf] <= value[leaf] + move <= stakes.high[leaf]:
                continue
            change, involved = 0.0, 0.0
            for k in range(size):
                cell = path[k]
                before = cost_at(stakes, cell, value[cell])
                after = cost_at(stakes, cell, value[cell] + move)
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
def below_any(forest: Forest, marked: Mask) -> Mask:
    """Marked cells and all that any of them is summed from."""
    inside = marked.copy()
    for t in range(forest.order.size - 1, -1, -1):
        total = forest.order[t]
        if inside[total]:
            for k in range(forest.part_first[total], forest.part_first[total + 1]):
                inside[forest.part[k]] = True
    return inside
