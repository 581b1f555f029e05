"""The presolved table: the cells that some release lets move, and the equations between them.

A cell is in it if some value of the variables opens its window and the outsider leaves it room. A cell that
is alone in an equation cannot move, whatever is published, so it is removed, which may leave others alone.
The engine numbers cells by their position in the presolved table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import Cells, Floats, Mask
from tacita.engine.attack.requirements import OUTSIDER, Requirements, find_room
from tacita.engine.model import NO_SWITCH, Affine, Model

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

MOST_ROOMS = 200
"""Attackers whose room is cached."""


@dataclass(frozen=True, eq=False)
class PresolvedTable:
    """``matrix z = 0`` over ``cells``, its rows some ``equations`` of the table; ``position`` of a cell of
    the table is its number here, or -1.
    """

    model: Model
    cells: Cells
    position: Cells
    equations: Cells
    matrix: csc_array
    transposed: csr_array
    switch: Cells
    above: Affine
    below: Affine
    _rooms: dict[int, tuple[Floats, Floats]] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.cells.size

    @property
    def only_switches(self) -> bool:
        """Whether every window of the engine's presolved table is opened by a switch alone."""
        windows = (self.above, self.below)
        return not any(window.matrix.nnz or window.base.any() for window in windows)

    @cached_property
    def rows(self) -> csr_array:
        """The equations of the engine's presolved table, as a matrix by rows."""
        return self.matrix.tocsr()

    @cached_property
    def incidence(self) -> csr_array:
        """A matrix with 1 where an equation of the engine's presolved table has a cell."""
        return abs(self.rows).sign()

    @classmethod
    def of(cls, model: Model) -> PresolvedTable:
        """Return the presolved table of a model: the cells that can move, and their equations."""
        up, down = find_room(model.problem, OUTSIDER)
        matrix = model.problem.table.equations.matrix.astype(np.float64)
        cells = np.flatnonzero(_remove_alone(matrix, _find_openable_cells(model) & ((up > 0) | (down > 0))))
        position = np.full(up.size, -1)
        position[cells] = np.arange(cells.size)
        reduced = matrix[:, cells]
        equations = _find_distinct_rows(reduced)
        reduced = reduced[equations]
        return cls(
            model,
            cells,
            position,
            equations,
            reduced.tocsc(),
            reduced.T.tocsr(),
            model.switch[cells],
            Affine(model.above.base[cells], model.above.matrix[cells]),
            Affine(model.below.base[cells], model.below.matrix[cells]),
        )

    def find_room(self, attacker: int) -> tuple[Floats, Floats]:
        """Return how many units above and below its value an attacker thinks each presolved cell can be."""
        room = self._rooms.get(attacker)
        if room is None:
            if len(self._rooms) >= MOST_ROOMS:
                self._rooms.clear()
            room = self._rooms[attacker] = find_room(self.model.problem, attacker, self.cells)
        return room

    def find_windows_at(self, x: Floats) -> WindowsAtPoint:
        """Return the windows that a point of the engine's search opens, per presolved cell."""
        share = np.zeros(len(self))
        switched = self.switch != NO_SWITCH
        share[switched] = np.clip(x[self.switch[switched]], 0.0, 1.0)
        return WindowsAtPoint(np.maximum(self.above.at(x), 0.0), np.maximum(self.below.at(x), 0.0), share)

    def find_requirements_outside(self, requirements: Requirements) -> Cells:
        """Return the numbers of the requirements on cells outside the presolved table, which never move."""
        return np.flatnonzero(self.position[requirements.cell] < 0)


@dataclass(frozen=True, eq=False)
class WindowsAtPoint:
    """Windows of cells of the presolved table at a point: ``above`` and ``below`` in units, ``share`` the
    value of the switch, 0 where there is none.
    """

    above: Floats
    below: Floats
    share: Floats

    def of(self, cells: Cells) -> WindowsAtPoint:
        """Return the windows of some cells of the engine's presolved table."""
        return WindowsAtPoint(self.above[cells], self.below[cells], self.share[cells])

    def find_capacities(self, up: Floats, down: Floats, level: float, most: float) -> tuple[Floats, Floats]:
        """Return how many levels each window lets its cell move up and down, at most ``most`` each."""
        limit = most * level
        above = np.minimum(np.minimum(self.above, up), limit) + self.share * np.minimum(up, limit)
        below = np.minimum(np.minimum(self.below, down), limit) + self.share * np.minimum(down, limit)
        return above / level, below / level


def _find_openable_cells(model: Model) -> Mask:
    """Return a mask of the cells whose window some value of the model's variables opens."""
    switched = model.switch != NO_SWITCH
    opens = np.zeros(switched.size, dtype=bool)
    opens[switched] = model.upper[model.switch[switched]] > 0
    for window in (model.above, model.below):
        opens |= (window.base > 0) | (np.diff(window.matrix.indptr) > 0)
    return opens


def _remove_alone(matrix: csr_array, movable: Mask) -> Mask:
    """Return a mask of the cells that presolve keeps: those alone in an equation go, repeatedly."""
    pattern = matrix.copy()
    pattern.data = np.ones_like(pattern.data)
    by_cell = pattern.T.tocsr()
    movable = movable.copy()
    while True:
        alone = (pattern @ movable.astype(np.float64)) == 1.0
        stuck = movable & ((by_cell @ alone.astype(np.float64)) > 0)
        if not stuck.any():
            return movable
        movable &= ~stuck


def _find_distinct_rows(matrix: csr_array) -> Cells:
    """Return the equations that presolve keeps: the first of equal rows, without empty ones."""
    matrix.eliminate_zeros()
    matrix.sort_indices()
    starts, index, data = matrix.indptr, matrix.indices, matrix.data
    first: dict[tuple[bytes, bytes], int] = {}
    for row in range(matrix.shape[0]):
        span = slice(starts[row], starts[row + 1])
        if index[span].size:
            first.setdefault((index[span].tobytes(), data[span].tobytes()), row)
    return np.array(list(first.values()), dtype=np.int64)
