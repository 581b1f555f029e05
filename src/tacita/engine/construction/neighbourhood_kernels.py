"""Compiled kernels: the cells near a target, and the small linear program of its cheapest move among them."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita.core.compiled import kernel
from tacita.core.exact import Cells, Floats, Mask


class Incidence(NamedTuple):
    """Cells by equations and equations by cells of a presolved table, as compressed lists."""

    cell_start: Cells
    cell_row: Cells
    entry: Floats
    row_start: Cells
    row_cell: Cells


class Gathered(NamedTuple):
    """The gathered cells, and memory of the kernels: which cells and rows were seen with which ``stamp``."""

    cell_seen: Cells
    cell_count: Cells
    row_seen: Cells
    row_number: Cells
    row_count: Cells
    position: Cells
    cells: Cells
    stamp: Cells


class SmallProgram(NamedTuple):
    """``min cost x : rows x = 0, lower <= x <= upper`` by columns: a move up of each cell, then one down.

    ``row`` numbers the equations ``rows`` of the presolved table.
    """

    cells: Cells
    starts: NDArray[np.int32]
    row: NDArray[np.int32]
    entry: Floats
    rows: Cells
    cost: Floats
    lower: Floats
    upper: Floats


@kernel
def gather(table: Incidence, scratch: Gathered, target: int, allowed: Mask, most: int, found: int) -> int:
    """Add the allowed cells nearest to a target, by equations between them, to ``scratch.cells``.

    ``found`` cells are in the list already; up to ``most`` are looked at. Returns how many the list has now.
    """
    scratch.stamp[0] += 1
    stamp = scratch.stamp[0]
    queue = np.empty(most + 1, dtype=np.int64)
    queue[0] = target
    scratch.cell_seen[target] = stamp
    head, tail = 0, 1
    while head < tail and tail <= most:
        cell = queue[head]
        head += 1
        for e in range(table.cell_start[cell], table.cell_start[cell + 1]):
            row = table.cell_row[e]
            if scratch.row_seen[row] == stamp:
                continue
            scratch.row_seen[row] = stamp
            for f in range(table.row_start[row], table.row_start[row + 1]):
                other = table.row_cell[f]
                if scratch.cell_seen[other] != stamp and allowed[other] and tail <= most:
                    scratch.cell_seen[other] = stamp
                    queue[tail] = other
                    tail += 1
    for k in range(tail):
        cell = queue[k]
        if scratch.position[cell] < 0:
            scratch.position[cell] = found
            scratch.cells[found] = cell
            found += 1
    return found


@kernel
def gather_cheap(
    table: Incidence, scratch: Gathered, target: int, marginal_cost: Floats, hop: float, most: int, found: int
) -> int:
    """Add the cells to ``scratch.cells`` that paths of least cost lead to, from a target, up to ``most``.

    A path goes from cell to cell by equations; each cell on it costs its ``marginal_cost`` and ``hop``. Cells
    of infinite cost are left out. Returns how many cells the list has now.
    """
    scratch.stamp[0] += 1
    stamp = scratch.stamp[0]
    heap = [(0.0, target)]
    taken = 0
    while heap and taken < most:
        distance, cell = heappop(heap)
        if scratch.cell_seen[cell] == stamp:
            continue
        scratch.cell_seen[cell] = stamp
        taken += 1
        if scratch.position[cell] < 0:
            scratch.position[cell] = found
            scratch.cells[found] = cell
            found += 1
        for e in range(table.cell_start[cell], table.cell_start[cell + 1]):
            row = table.cell_row[e]
            if scratch.row_seen[row] == stamp:
                continue
            scratch.row_seen[row] = stamp
            for f in range(table.row_start[row], table.row_start[row + 1]):
                other = table.row_cell[f]
                if scratch.cell_seen[other] != stamp and marginal_cost[other] < np.inf:
                    heappush(heap, (distance + hop + marginal_cost[other], other))
    return found


@kernel
def complete(table: Incidence, scratch: Gathered, marginal_cost: Floats, found: int) -> int:
    """Add the cells to ``scratch.cells`` all of whose equations but at most one have gathered cells.

    Cells in a single one of these, and cells of infinite cost, are left out. Returns how many cells the list
    has now.
    """
    scratch.stamp[0] += 2
    last, gathered = scratch.stamp[0], found
    for stamp in (last - 1, last):
        for k in range(gathered):
            cell = scratch.cells[k]
            for e in range(table.cell_start[cell], table.cell_start[cell + 1]):
                row = table.cell_row[e]
                if scratch.row_seen[row] == stamp:
                    continue
                scratch.row_seen[row] = stamp
                for f in range(table.row_start[row], table.row_start[row + 1]):
                    other = table.row_cell[f]
                    if stamp < last:
                        if scratch.cell_seen[other] != stamp:
                            scratch.cell_seen[other] = stamp
                            scratch.cell_count[other] = 0
                        scratch.cell_count[other] += 1
                    elif scratch.position[other] < 0 and marginal_cost[other] < np.inf:
                        equations = table.cell_start[other + 1] - table.cell_start[other]
                        if scratch.cell_count[other] >= max(2, equations - 1):
                            scratch.position[other] = found
                            scratch.cells[found] = other
                            found += 1
    return found


@kernel
def peel(table: Incidence, scratch: Gathered, found: int) -> None:
    """Remove gathered cells that are alone in an equation, repeatedly: their position becomes -1.

    Numbers the equations that are left in ``scratch.row_number`` where ``row_seen`` has the last stamp.
    """
    scratch.stamp[0] += 1
    stamp = scratch.stamp[0]
    entries = 0
    for k in range(found):
        cell = scratch.cells[k]
        entries += table.cell_start[cell + 1] - table.cell_start[cell]
    alone = np.empty(entries, dtype=np.int64)
    for k in range(found):
        cell = scratch.cells[k]
        for e in range(table.cell_start[cell], table.cell_start[cell + 1]):
            row = table.cell_row[e]
            if scratch.row_seen[row] != stamp:
                scratch.row_seen[row] = stamp
                scratch.row_count[row] = 0
            scratch.row_count[row] += 1
    waiting = 0
    for k in range(found):
        cell = scratch.cells[k]
        for e in range(table.cell_start[cell], table.cell_start[cell + 1]):
            row = table.cell_row[e]
            if scratch.row_count[row] == 1:
                alone[waiting] = row
                waiting += 1
    while waiting:
        waiting -= 1
        row = alone[waiting]
        if scratch.row_count[row] != 1:
            continue
        for f in range(table.row_start[row], table.row_start[row + 1]):
            cell = table.row_cell[f]
            if scratch.position[cell] >= 0:
                scratch.position[cell] = -1
                for e in range(table.cell_start[cell], table.cell_start[cell + 1]):
                    other = table.cell_row[e]
                    scratch.row_count[other] -= 1
                    if scratch.row_count[other] == 1:
                        alone[waiting] = other
                        waiting += 1
                break


@kernel
def state_program(
    table: Incidence,
    scratch: Gathered,
    found: int,
    target: int,
    direction: int,
    length: float,
    up: Floats,
    down: Floats,
    level: float,
    most: float,
    marginal_cost: Floats,
    faint: float,
    narrow: float,
) -> SmallProgram:
    """Return the program of the cheapest move of a target over the gathered cells that are left.

    Moves are counted in levels; no cell moves by more than ``most`` of them. Empties the list of cells.
    """
    n = entries = 0
    for k in range(found):
        cell = scratch.cells[k]
        if scratch.position[cell] >= 0:
            n += 1
            entries += table.cell_start[cell + 1] - table.cell_start[cell]
    cells = np.empty(n, dtype=np.int64)
    n = 0
    for k in range(found):
        cell = scratch.cells[k]
        if scratch.position[cell] >= 0:
            cells[n] = cell
            n += 1
            scratch.position[cell] = -1
    cells.sort()
    starts = np.empty(2 * n + 1, dtype=np.int32)
    local = np.empty(2 * entries, dtype=np.int32)
    entry = np.empty(2 * entries)
    cost, lower, upper = np.empty(2 * n), np.zeros(2 * n), np.empty(2 * n)
    numbers = np.empty(entries, dtype=np.int64)
    scratch.stamp[0] += 1
    stamp, rows, at = scratch.stamp[0], 0, 0
    for k in range(n):
        cell = cells[k]
        starts[k], starts[n + k] = at, entries + at
        for e in range(table.cell_start[cell], table.cell_start[cell + 1]):
            row = table.cell_row[e]
            if scratch.row_seen[row] != stamp:
                scratch.row_seen[row] = stamp
                scratch.row_number[row] = rows
                numbers[rows] = row
                rows += 1
            local[at] = local[entries + at] = scratch.row_number[row]
            entry[at], entry[entries + at] = table.entry[e], -table.entry[e]
            at += 1
        upper[k] = min(up[cell] / level, most)
        upper[n + k] = min(down[cell] / level, most)
        if cell == target:
            towards, away = (k, n + k) if direction > 0 else (n + k, k)
            if upper[towards] >= length:
                lower[towards] = upper[towards] = length
            else:
                # More than the target can move: the program has no point.
                lower[towards], upper[towards] = 1.0, 0.0
            upper[away] = 0.0
        for side in (k, n + k):
            cost[side] = (marginal_cost[cell] + faint) / min(max(upper[side], narrow), 1.0)
    starts[2 * n] = 2 * entries
    return SmallProgram(cells, starts, local, entry, numbers[:rows], cost, lower, upper)


@kernel
def find_whole(table: Incidence, open_cells: Mask, rows: Cells, row: NDArray[np.int32]) -> Mask:
    """Return a mask of the equations ``rows`` whose open cells are all stated, ``row`` for each of these."""
    left = np.zeros(rows.size, dtype=np.int64)
    for number in row:
        left[number] += 1
    for number in range(rows.size):
        for f in range(table.row_start[rows[number]], table.row_start[rows[number] + 1]):
            if open_cells[table.row_cell[f]]:
                left[number] -= 1
                if left[number] < 0:
                    break
    whole: Mask = left == 0
    return whole
