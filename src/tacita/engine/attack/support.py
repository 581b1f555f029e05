"""The open cells of one point, in pieces: what an attacker's program really has to look at.

Closed cells do not move. An open cell that is alone in an equation does not either; peeling such cells, wave
by wave, often leaves little, and what is left falls into components that have nothing to do with each other.
A program on one component is as good as one on the whole table.

Prices of the component's equations are *lifted* to all equations: an equation that was never needed gets
price 0, and one that stopped cell ``i`` gets the price that makes ``c_i = 0`` in ``c = s e_p + M' g``, last
wave first. So peeled cells do not appear in a cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import Cells, Floats, Mask
from tacita.engine.attack.presolved import PresolvedTable

if TYPE_CHECKING:
    from scipy.sparse import csc_array

NOWHERE = -1


@dataclass(frozen=True, eq=False)
class SupportComponent:
    """One component: ``matrix z = 0`` over ``cells``, with the equations it comes from."""

    cells: Cells
    rows: Cells
    matrix: csc_array


class Support:
    """Open cells of a presolved table, peeled and cut into components."""

    def __init__(self, presolved: PresolvedTable, open_cells: Mask) -> None:
        self.presolved = presolved
        self._waves: list[tuple[Cells, Cells]] = []
        self.movable = self._peel(open_cells)
        self.component = np.full(len(presolved), NOWHERE)
        cells = np.flatnonzero(self.movable)
        self._count, self.component[cells] = self._components(cells)
        order = cells[np.argsort(self.component[cells], kind="stable")]
        self._cells_of = np.split(
            order, np.cumsum(np.bincount(self.component[cells], minlength=self._count))[:-1]
        )
        self._pieces: dict[int, SupportComponent] = {}

    def piece(self, p: int) -> SupportComponent | None:
        """The component of a cell; None if the cell cannot move."""
        number = int(self.component[p])
        if number == NOWHERE:
            return None
        if number not in self._pieces:
            cells = np.sort(self._cells_of[number])
            matrix = self.presolved.matrix[:, cells]
            rows, index = np.unique(matrix.indices, return_inverse=True)
            small = type(matrix)((matrix.data, index, matrix.indptr), shape=(rows.size, cells.size))
            self._pieces[number] = SupportComponent(cells, rows.astype(np.int64), small)
        return self._pieces[number]

    def lifted(
        self, p: int, way: int, piece: SupportComponent | None, prices: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """``c = way e_p + M' g`` and ``g``, the prices of a piece lifted to all equations."""
        presolved = self.presolved
        g = np.zeros(presolved.matrix.shape[0])
        if piece is not None and prices is not None:
            g[piece.rows] = prices
        c = np.asarray(presolved.transposed @ g)
        c[p] += way
        for rows, cells in reversed(self._waves):
            wrong = c[cells]
            if wrong.any():
                correction = np.zeros(g.size)
                correction[rows] = -wrong / self._entries(rows, cells)
                c += presolved.transposed @ correction
                g += correction
                c[cells] = 0.0
        c[np.abs(c) < 1e-9] = 0.0
        return c, g

    def _entries(self, rows: Cells, cells: Cells) -> Floats:
        return np.asarray(self.presolved.rows[rows, cells]).ravel()

    def _peel(self, open_cells: Mask) -> Mask:
        presolved, movable = self.presolved, open_cells.copy()
        pattern = presolved.incidence
        while True:
            count = pattern @ movable.astype(np.float64)
            rows = np.flatnonzero(count == 1.0)
            if not rows.size:
                return movable
            # The position of the only open cell is the sum of all open positions.
            cells = np.rint(pattern[rows] @ np.where(movable, np.arange(movable.size), 0.0)).astype(np.int64)
            cells, first = np.unique(cells, return_index=True)
            self._waves.append((rows[first], cells))
            movable[cells] = False

    def _components(self, cells: Cells) -> tuple[int, Cells]:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        if not cells.size:
            return 0, cells
        rows, lengths = _columns(self.presolved.matrix, cells)
        m, n = self.presolved.matrix.shape[0], cells.size
        starts = np.concatenate([[0], np.cumsum(lengths)])
        edges = csr_array(
            (np.ones(rows.size, dtype=np.int8), n + rows, np.concatenate([starts, np.full(m, starts[-1])])),
            shape=(n + m, n + m),
        )
        _, label = connected_components(edges, directed=False)
        numbers, component = np.unique(label[:n], return_inverse=True)
        return numbers.size, component


def _columns(matrix: csc_array, cells: Cells) -> tuple[Cells, Cells]:
    """Equations of some cells, one cell after the other, and how many each has."""
    starts, lengths = matrix.indptr[cells], np.diff(matrix.indptr)[cells]
    first = np.cumsum(lengths) - lengths
    entries = np.repeat(starts - first, lengths) + np.arange(int(lengths.sum()))
    return matrix.indices[entries].astype(np.int64), lengths
