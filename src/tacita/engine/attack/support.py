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
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from tacita.attackers.insider_list import list_ranges
from tacita.core.exact import Cells, Floats, Mask
from tacita.engine.attack.presolved import PresolvedTable

if TYPE_CHECKING:
    from scipy.sparse import csc_array

NOWHERE = -1
SHARP = 1e-9
"""Coefficients below this are zero in exact arithmetic."""


@dataclass(frozen=True, eq=False)
class SupportComponent:
    """One connected component: ``matrix z = 0`` over ``cells``, its rows some ``rows`` of the presolved
    table.
    """

    cells: Cells
    rows: Cells
    matrix: csc_array


@dataclass(frozen=True, eq=False)
class Blocking:
    """The inequality that limits a requirement in one direction: the non-zero coefficients ``c`` by cells of
    the presolved table, and the dual values that they come from, by equations of the presolved table.
    """

    direction: int
    cells: Cells
    c: Floats
    equations: Cells
    duals: Floats


class Lifting:
    """Makes inequalities from dual values, without cells that were peeled, each by one equation."""

    def __init__(self, presolved: PresolvedTable) -> None:
        self._rows = presolved.rows
        self._wave, self._peeled_by = np.full((2, len(presolved)), NOWHERE)
        self._waves = 0

    def add_wave(self, cells: Cells, equations: Cells) -> None:
        """Note that the next wave peels cells, each by an equation without open cells of later waves."""
        self._wave[cells], self._peeled_by[cells] = self._waves, equations
        self._waves += 1

    def lift(self, p: int, direction: int, rows: Cells, duals: Floats) -> Blocking:
        """Return the inequality that limits cell ``p``, from dual values of some equations.

        Peeled cells in it are eliminated by their equations, last wave first, which brings in cells of
        earlier waves only.
        """
        used = np.abs(duals) > SHARP
        equations, values = rows[used].tolist(), duals[used].tolist()
        c = np.zeros(self._wave.size)
        c[p] = direction
        touched = [np.array([p]), *(self._add(c, *each) for each in zip(equations, values, strict=True))]
        waiting = self._list_peeled(np.unique(np.concatenate(touched)))
        heapify(waiting)
        while waiting:
            _, cell = heappop(waiting)
            if abs(wrong := float(c[cell])) > SHARP:
                equation = int(self._peeled_by[cell])
                value = -wrong / self._read_entry(equation, cell)
                touched.append(self._add(c, equation, value))
                for place in self._list_peeled(touched[-1]):
                    heappush(waiting, place)
                equations.append(equation)
                values.append(value)
            c[cell] = 0.0
        cells = np.unique(np.concatenate(touched))
        cells = cells[np.abs(c[cells]) > SHARP]
        return Blocking(direction, cells, c[cells], np.array(equations, np.int64), np.array(values))

    def _add(self, c: Floats, equation: int, value: float) -> Cells:
        """Add a multiple of an equation to the coefficients ``c`` of an inequality; return its cells."""
        span = slice(self._rows.indptr[equation], self._rows.indptr[equation + 1])
        cells = self._rows.indices[span].astype(np.int64)
        c[cells] += value * self._rows.data[span]
        return cells

    def _read_entry(self, equation: int, cell: int) -> float:
        span = slice(self._rows.indptr[equation], self._rows.indptr[equation + 1])
        return float(self._rows.data[span][self._rows.indices[span] == cell][0])

    def _list_peeled(self, cells: Cells) -> list[tuple[int, int]]:
        """Return the peeled ones of some cells of an inequality, each with its wave, negative."""
        wave = self._wave[cells]
        peeled = wave > NOWHERE
        return list(zip((-wave[peeled]).tolist(), cells[peeled].tolist(), strict=True))


class Support:
    """Open cells of a presolved table; ``component`` numbers those that can move; the others have NOWHERE."""

    def __init__(self, presolved: PresolvedTable, open_cells: Mask) -> None:
        self.presolved = presolved
        self._lifting = Lifting(presolved)
        self.component = np.full(len(presolved), NOWHERE)
        cells = np.flatnonzero(self._peel(open_cells))
        count, self.component[cells] = self._find_components(cells)
        order = cells[np.argsort(self.component[cells], kind="stable")]
        self._cells_of = np.split(order, np.cumsum(np.bincount(self.component[cells], minlength=count))[:-1])
        self._components: dict[int, SupportComponent] = {}

    @property
    def movable(self) -> Mask:
        """Mask of the support's cells that can move."""
        return np.asarray(self.component != NOWHERE)

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

    def lift_duals(self, p: int, direction: int, rows: Cells, duals: Floats) -> Blocking:
        """Return the inequality that limits cell ``p``, from dual values of equations of the support."""
        return self._lifting.lift(p, direction, rows, duals)

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
            self._lifting.add_wave(cells, rows[first])
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
