"""What other cells must do when some change: totals follow their parts.

With ``M a = b`` and a change ``d`` of some cells that are no total, the totals above them change so that
``M (a + d) = b`` again. In an equation the *head* is the total: the cell whose coefficient is the only one of
its sign, ``-total + sum of parts = 0``. A change climbs from the parts to the head of each of their
equations, and on to the equations in which the head is a part. Only the equations on the way are looked at.
"""

from __future__ import annotations

import numpy as np

from tacita.core.errors import InputError
from tacita.core.exact import Cells, Mask, Units
from tacita.core.tables.equations import Equations
from tacita.core.tables.structure import Structure


def following(structure: Structure, cells: Cells, change: Units) -> Units:
    """The change of every cell, zero where nothing moves, given that of some cells which are no total.

    Raises
    ------
    InputError
        One of the cells is a total, or no change of totals alone makes up for the change.
    """
    equations = structure.equations
    moving, rows, heads = _on_the_way(equations, cells)
    if (sums := np.intersect1d(cells, heads)).size:
        raise InputError(f"{structure.names(sums)} is a sum: change its parts")
    headless, rows, heads = rows[heads < 0], rows[heads >= 0], heads[heads >= 0]
    entries, line = _entries(equations, rows)
    cell, coefficient = equations.cells[entries], equations.coefficients[entries]
    own = cell == heads[line]
    head_coefficient = coefficient[own]
    part = moving[cell] & ~own
    line, cell, coefficient = line[part], cell[part], coefficient[part]
    changes = np.zeros(len(structure), dtype=np.int64)
    changes[cells] = change
    settled = ~moving
    settled[cells] = True
    while not settled[heads].all():
        # A total is settled when the moving parts of all its equations are: two trees may meet in it.
        waiting = np.zeros(len(structure), dtype=bool)
        waiting[heads[line[~settled[cell]]]] = True
        ready = np.flatnonzero(~settled[heads] & ~waiting[heads])
        if ready.size == 0:
            raise InputError("the equations go in a circle: some total is a part of itself")
        sums = np.zeros(rows.size, dtype=np.int64)
        np.add.at(sums, line, coefficient * changes[cell])
        changes[heads[ready]] = -sums[ready] // head_coefficient[ready]
        wrong = ready[sums[ready] + head_coefficient[ready] * changes[heads[ready]] != 0]
        if wrong.size:
            raise _no_way(structure, int(rows[wrong[0]]))
        settled[heads[ready]] = True
    entries, line = _entries(equations, headless)
    sums = np.zeros(headless.size, dtype=np.int64)
    np.add.at(sums, line, equations.coefficients[entries] * changes[equations.cells[entries]])
    if (broken := headless[sums != 0]).size:
        raise _no_way(structure, int(broken[0]))
    return changes


def heads_of(equations: Equations, rows: Cells) -> Cells:
    """The total of each of these equations: the cell with the only negative coefficient, else the one with
    the only positive coefficient, else none (-1).
    """
    entries, line = _entries(equations, rows)
    heads = np.full(rows.size, -1, dtype=np.int64)
    for sign in (1, -1):
        signed = equations.coefficients[entries] * sign > 0
        alone = np.bincount(line[signed], minlength=rows.size) == 1
        chosen = signed & alone[line]
        heads[line[chosen]] = equations.cells[entries[chosen]]
    return heads


def _on_the_way(equations: Equations, cells: Cells) -> tuple[Mask, Cells, Cells]:
    """The cells that may move when some do, and the equations that hold one of them, with their heads."""
    moving = np.zeros(equations.n_cells, dtype=bool)
    moving[cells] = True
    fresh = moving.copy()
    seen = np.zeros(len(equations), dtype=bool)
    rows, heads = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    while fresh.any():
        found = np.unique(equations.row_of_entry[np.flatnonzero(fresh[equations.cells])])
        found = found[~seen[found]]
        seen[found] = True
        above = heads_of(equations, found)
        rows.append(found)
        heads.append(above)
        fresh = np.zeros(equations.n_cells, dtype=bool)
        fresh[above[above >= 0]] = True
        fresh &= ~moving
        moving |= fresh
    return moving, np.concatenate(rows), np.concatenate(heads)


def _entries(equations: Equations, rows: Cells) -> tuple[Cells, Cells]:
    """Positions of the entries of some equations, and which of these equations each belongs to."""
    first = equations.starts[rows]
    lengths = equations.starts[rows + 1] - first
    line = np.repeat(np.arange(rows.size), lengths)
    return np.arange(line.size) + np.repeat(first - np.cumsum(lengths) + lengths, lengths), line


def _no_way(structure: Structure, row: int) -> InputError:
    cells, _, _ = structure.equations.row(row)
    return InputError(
        f"no change of totals makes up for this one in the equation between {structure.names(cells)}: "
        "change another of these cells by as much at the same time"
    )
