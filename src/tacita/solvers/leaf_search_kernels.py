"""The compiled local search for integer numbers that add up: one leaf at a time, and all totals above it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.core.compiled import kernel
from tacita.core.exact import Cells, Units


class Sums(NamedTuple):
    """Cells as sums of leaves: those that leaf ``l`` is part of, itself among them, are
    ``cell[cell_start[l]:cell_start[l + 1]]``, the leaves of cell ``c`` are
    ``leaf[leaf_start[c]:leaf_start[c + 1]]``.
    """

    cell_start: Cells
    cell: Cells
    leaf_start: Cells
    leaf: Cells


@kernel
def measure_beyond(value: int, low: int, high: int) -> int:
    """Return how far a number is beyond its bounds, 0 within them."""
    if value < low:
        return low - value
    return value - high if value > high else 0


@kernel
def search_leaves(
    sums: Sums,
    own: Cells,
    low: Units,
    high: Units,
    value: Units,
    best: Units,
    moves: int,
    tries: int,
    temperature: float,
    bump: float,
    fade: float,
    seed: int,
) -> int:
    """Move leaves by one, in place, until all cells are within bounds or so many moves were tried.

    Each time a random cell beyond its bounds is chosen, and of some leaves below it the one whose move leaves
    the least weighted excess. Worse moves are taken now and then; a cell for which none was taken weighs
    more. ``own`` is the cell of each leaf, ``best`` becomes the numbers with the least excess. Returns that.
    """
    np.random.seed(seed)
    n = value.size
    weight = np.ones(n)
    waiting, place, count, excess = np.empty(n, np.int64), np.full(n, -1), 0, 0
    for c in range(n):
        beyond = measure_beyond(value[c], low[c], high[c])
        excess += beyond
        if beyond > 0:
            place[c], waiting[count] = count, c
            count += 1
    least = excess
    best[:] = value
    for move in range(moves):
        if count == 0:
            break
        if fade > 0.0 and move % 1000 == 999:
            weight = 1.0 + (weight - 1.0) * fade
        c = waiting[np.random.randint(count)]
        step = 1 if value[c] < low[c] else -1
        first, size = sums.leaf_start[c], sums.leaf_start[c + 1] - sums.leaf_start[c]
        chosen, change = -1, np.inf
        for _ in range(min(tries, 2 * size)):
            leaf = sums.leaf[first + np.random.randint(size)]
            cell = own[leaf]
            if value[cell] + step < low[cell] or value[cell] + step > high[cell]:
                continue
            total = 0.0
            for e in range(sums.cell_start[leaf], sums.cell_start[leaf + 1]):
                q = sums.cell[e]
                total += weight[q] * (
                    measure_beyond(value[q] + step, low[q], high[q])
                    - measure_beyond(value[q], low[q], high[q])
                )
            if total < change:
                chosen, change = leaf, total
        if chosen < 0:
            continue
        if change > 0.0 and np.random.random() > np.exp(-change / temperature):
            weight[c] += bump
            continue
        for e in range(sums.cell_start[chosen], sums.cell_start[chosen + 1]):
            q = sums.cell[e]
            before = measure_beyond(value[q], low[q], high[q])
            value[q] += step
            after = measure_beyond(value[q], low[q], high[q])
            excess += after - before
            if before == 0 and after > 0:
                place[q], waiting[count] = count, q
                count += 1
            elif before > 0 and after == 0:
                count -= 1
                last = waiting[count]
                waiting[place[q]], place[last] = last, place[q]
                place[q] = -1
        if excess < least:
            least = excess
            best[:] = value
    return least
