"""An attacker's region, split into independent blocks of connected components.

With ``y = a + z`` the attacker's region is

    { z : M z = 0,  max(window low, lower) - a <= z <= min(window high, upper) - a },

and ``z = 0`` (the truth) lies in it. Before any linear program is solved the region is reduced: published
cells are substituted (``z = 0``), a cell that is alone in an equation is forced (``z = 0``, repeatedly), and
what remains falls into connected components, whose programs are independent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array
from scipy.sparse.csgraph import connected_components

from tacita.core.exact import Cells, Mask, Units
from tacita.core.tables.equations import Equations

COLUMNS_PER_BLOCK = 200
"""Small components are joined up to this many columns: a solver session costs about as much as ten pivots."""


@dataclass(frozen=True, eq=False)
class Block:
    """One or more connected components: ``matrix z = rhs``, with a column for each of some ``cells``."""

    cells: Cells
    matrix: csr_array
    rhs: Units


def peel(equations: Equations, free: Mask) -> Mask:
    """Return a mask of the free cells in an audit that no equation determines.

    An equation with a single free cell determines it, which may leave another equation with a single one.
    """
    free = free.copy()
    for _, forced in peel_in_rounds(equations, free):
        free[forced] = False
    return free


def peel_in_rounds(equations: Equations, free: Mask) -> Iterator[tuple[Cells, Cells]]:
    """Yield equations of an audit with a single free cell, and these cells, as long as there are any.

    Those of one round follow from cells that are not free, and from those of the rounds before.
    """
    free = free.copy()
    rows, cells = equations.row_of_entry, equations.cells
    live = free[cells]
    while True:
        rows, cells = rows[live], cells[live]
        open_cells = np.bincount(rows, minlength=len(equations))
        single = open_cells[rows] == 1
        if not single.any():
            return
        yield rows[single], cells[single]
        free[cells[single]] = False
        live = free[cells]


def make_blocks(
    equations: Equations, free: Mask, rhs: Units, columns: int = COLUMNS_PER_BLOCK
) -> Iterator[Block]:
    """Yield the independent blocks of free cells of an audit; duplicate equations are used once."""
    rows, entries = equations.row_of_entry, equations.cells
    live = free[entries] & ~equations.duplicates[rows]
    rows, entries, coefficients = rows[live], entries[live], equations.coefficients[live]
    cells = np.flatnonzero(free)
    position = np.full(equations.n_cells, -1, dtype=np.int64)
    position[cells] = np.arange(cells.size)
    used, row = np.unique(rows, return_inverse=True)
    column = position[entries]
    links = coo_array(
        (np.ones(row.size, dtype=np.int8), (column, cells.size + row)), shape=(cells.size + used.size,) * 2
    )
    label = connected_components(links, directed=False)[1].astype(np.int64)
    group = _group_components(label[: cells.size], columns)
    group_of_label = np.zeros(label.max(initial=0) + 1, dtype=np.int64)
    group_of_label[label[: cells.size]] = group
    by_group = np.argsort(group, kind="stable")
    entry_group = group_of_label[label[column]]
    by_entry_group = np.argsort(entry_group, kind="stable")
    n_groups = int(group.max(initial=-1)) + 1
    cell_starts = np.searchsorted(group[by_group], np.arange(n_groups + 1))
    entry_starts = np.searchsorted(entry_group[by_entry_group], np.arange(n_groups + 1))
    for g in range(n_groups):
        own = by_group[cell_starts[g] : cell_starts[g + 1]]
        at = by_entry_group[entry_starts[g] : entry_starts[g + 1]]
        own_rows, local_row = np.unique(row[at], return_inverse=True)
        local_column = np.searchsorted(own, column[at])
        matrix = csr_array((coefficients[at], (local_row, local_column)), shape=(own_rows.size, own.size))
        yield Block(cells[own], matrix, rhs[used[own_rows]])


def _group_components(label: Cells, columns: int) -> Cells:
    """Return the number of each cell's block in the audit, small components joined in their order."""
    size = np.bincount(label)
    group = np.zeros(size.size, dtype=np.int64)
    current, filled = 0, 0
    for component in np.flatnonzero(size):
        if filled and filled + size[component] > columns:
            current, filled = current + 1, 0
        group[component] = current
        filled += int(size[component])
    return group[label]


def to_columns(block: Block) -> csc_array:
    """Return the equations of an audited block as a matrix by columns, in floats, for the solver."""
    return csc_array(block.matrix.astype(np.float64))
