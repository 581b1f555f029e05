"""The support of a point: its open cells, peeled and split into connected components.

Closed cells do not move. An open cell that is alone in an equation does not either; peeling such cells, wave
by wave, often leaves few, and these fall into connected components. A program on the component of a cell has
the same optimum as one on the whole table.

Dual values of the component's equations are *lifted* to all equations: an equation that was never needed
gets 0, and one in which cell ``i`` was peeled gets the value that makes ``c_i = 0`` in
``c = s e_p + M' g``, last wave first. So peeled cells do not appear in a cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacita.attackers.insider_list import list_ranges
from tacita.core.exact import Cells, Floats, Mask
from tacita.engine.attack.presolved import PresolvedTable

if TYPE_CHECKING:
    from scipy.sparse import csc_array

NOWHERE = -1


@dataclass(frozen=True, eq=False)
class SupportComponent:
    """One connected component: ``matrix z = 0`` over ``cells``, its rows some ``rows`` of the presolved
    table.
    """

    cells: Cells
    rows: Cells
    matrix: csc_array


class Support:
    """Open cells of a presolved table; ``component`` numbers those that can move; the others have NOWHERE."""

    def __init__(self, presolved: PresolvedTable, open_cells: Mask) -> None:
        self.presolved = presolved
        self._waves: list[tuple[Cells, Cells]] = []
        self.component = np.full(len(presolved), NOWHERE)
        cells = np.flatnonzero(self._peel(open_cells))
        count, self.component[cells] = self._find_components(cells)
        order = cells[np.argsort(self.component[cells], kind="stable")]
        self._cells_of = np.split(order, np.cumsum(np.bincount(self.component[cells], minlength=count))[:-1])
        self._components: dict[int, SupportComponent] = {}

    def find_component_of(self, p: int) -> SupportComponent | None:
        """Return the open cells connected with cell ``p`` by equations, or None if ``p`` cannot move."""
        number = int(self.component[p])
        if number == NOWHERE:
            return None
        if number not in self._components:
            cells = np.sort(self._cells_of[number])
            matrix = self.presolved.matrix[:, cells]
            rows, index = np.unique(matrix.indices, return_inverse=True)
            small = type(matrix)((matrix.data, index, matrix.indptr), shape=(rows.size, cells.size))
            self._components[number] = SupportComponent(cells, rows.astype(np.int64), small)
        return self._components[number]

    def lift_duals(
        self, p: int, direction: int, component: SupportComponent | None, duals: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Return a cut's coefficients ``c = direction e_p + M' g``, and ``g``: the dual values of a component
        lifted to all equations.
        """
        presolved = self.presolved
        g = np.zeros(presolved.matrix.shape[0])
        if component is not None and duals is not None:
            g[component.rows] = duals
        c = np.asarray(presolved.transposed @ g)
        c[p] += direction
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
        """Return a mask of the open cells that no equation determines, and record the peeled waves."""
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

    def _find_components(self, cells: Cells) -> tuple[int, Cells]:
        """Return the number of connected components of the open cells, and each cell's component."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        if not cells.size:
            return 0, cells
        rows, lengths = _list_equations(self.presolved.matrix, cells)
        m, n = self.presolved.matrix.shape[0], cells.size
        starts = np.concatenate([[0], np.cumsum(lengths)])
        edges = csr_array(
            (np.ones(rows.size, dtype=np.int8), n + rows, np.concatenate([starts, np.full(m, starts[-1])])),
            shape=(n + m, n + m),
        )
        _, label = connected_components(edges, directed=False)
        numbers, component = np.unique(label[:n], return_inverse=True)
        return numbers.size, component


def _list_equations(matrix: csc_array, cells: Cells) -> tuple[Cells, Cells]:
    """Return the presolved equations of some cells, cell after cell, and how many each cell has."""
    lengths = np.diff(matrix.indptr)[cells]
    entries = list_ranges(matrix.indptr[cells].astype(np.int64), lengths)
    return matrix.indices[entries].astype(np.int64), lengths
