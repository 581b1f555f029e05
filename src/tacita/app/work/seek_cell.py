"""From one cell of a kind to the next, through all slices and linked tables; nothing here knows of pages."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacita.app.work.view import Arrangement
from tacita.core.exact import Cells
from tacita.core.tables.dimension import Codes
from tacita.core.tables.layout import Layout, list_lines
from tacita.core.tables.structure import Structure


@dataclass(frozen=True)
class SoughtCell:
    """A cell, and which one it is of how many, counted from 1."""

    cell: int
    number: int
    count: int


def seek(
    cells: Cells, step: int, arrangement: Arrangement, where: Layout, row: int, column: int
) -> SoughtCell:
    """Return the next of some cells (``step`` 1) or the one before (-1), seen from a place in the sheet.

    The order is that of reading: table by table, slice by slice, row by row. It does not depend on the slice
    in view, so going on leads through all of them and, after the last, to the first again.

    Parameters
    ----------
    cells
        Where to go: positions in the structure, at least one.
    arrangement, where
        How the table stands now.
    row, column
        The place to go on from, which may be empty.
    """
    structure, count = where.structure, cells.size
    order = cells[
        _sort_as_read(arrangement, structure, _find_homes(structure, cells), _find_codes(structure, cells))
    ]
    here = int(where.cells[row, column])
    if here in order:
        at = int(np.flatnonzero(order == here)[0]) + step
    else:
        at = _count_before(order, arrangement, where, row, column) + min(step, 0)
    return SoughtCell(int(order[at % count]), at % count + 1, count)


def _count_before(order: Cells, arrangement: Arrangement, where: Layout, row: int, column: int) -> int:
    """Return how many of the cells that the user seeks come before a place in the sheet of the page."""
    structure = where.structure
    if structure.labels:
        own = np.array([[row]], dtype=np.int32)
    else:
        codes = zip(structure.dimensions, where.codes_at(row, column), strict=True)
        own = np.array([[d.representative[d.index(code)] for d, code in codes]], dtype=np.int32)
    names = [part.name for part in structure.parts]
    shown = names.index(arrangement.part) if arrangement.part in names else 0
    home = np.append(_find_homes(structure, order), shown)
    together = _sort_as_read(arrangement, structure, home, np.vstack([_find_codes(structure, order), own]))
    return int(np.flatnonzero(together == order.size)[0])


def _sort_as_read(arrangement: Arrangement, structure: Structure, home: Cells, codes: Codes) -> Cells:
    """Return the order in which the sheet shows rows of ``codes``, each in its ``home``, a linked table."""
    if structure.labels:
        return np.argsort(codes[:, 0], kind="stable")
    rank = [np.argsort(list_lines(dimension)[0]) for dimension in structure.dimensions]
    met = []
    for k in np.unique(home).tolist():
        part = structure.parts[k].name if structure.parts else None
        stands = replace(arrangement, part=part).lay_out(structure)
        axes = [*stands.fixed, stands.row_dimension, stands.column_dimension]
        own = np.flatnonzero(home == k)
        keys = [rank[d][codes[own, d]] for d in axes if d is not None]
        met.append(own[np.lexsort(keys[::-1])])
    return np.concatenate(met)


def _find_homes(structure: Structure, cells: Cells) -> Cells:
    """Return the position of the linked table in which the sheet shows each cell: the first that has it."""
    home = np.zeros(len(structure), dtype=np.int64)
    for k in range(len(structure.parts) - 1, -1, -1):
        home[structure.parts[k].cells] = k
    return home[cells]


def _find_codes(structure: Structure, cells: Cells) -> Codes:
    """Return the codes of cells by which the sheet orders them; of cells with labels, their positions."""
    if structure.labels:
        return cells.astype(np.int32).reshape(-1, 1)
    return structure.codes[cells]
