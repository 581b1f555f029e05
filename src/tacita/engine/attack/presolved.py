"""Where attackers and the master meet: the cells that can move at all, and the equations between them.

A cell is in the presolved table if some value of the variables opens its window and the outsider leaves it
room. A cell that is alone in an equation cannot move, whatever is published, so it leaves, and with it
perhaps others. Positions *in the presolved table* are used by everything below the methods.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import Cells, Floats, Mask
from tacita.engine.attack.requirements import OUTSIDER, Requirements, room
from tacita.engine.model import NO_SWITCH, Affine, Model

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

MOST_ROOMS = 200
"""Attackers whose room is kept."""


@dataclass(frozen=True, eq=False)
class PresolvedTable:
    """``matrix z = 0`` over ``cells``, its rows some ``equations`` of the table; ``position`` leads from
    cells of the table to the presolved table, or is -1.
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
        """No window but those that switches open."""
        windows = (self.above, self.below)
        return not any(window.matrix.nnz or window.base.any() for window in windows)

    @cached_property
    def rows(self) -> csr_array:
        """``matrix`` by rows."""
        return self.matrix.tocsr()

    @cached_property
    def incidence(self) -> csr_array:
        """1 where a cell is in an equation, by equations."""
        return abs(self.rows).sign()

    @classmethod
    def of(cls, model: Model) -> PresolvedTable:
        up, down = room(model.problem, OUTSIDER)
        matrix = model.problem.table.equations.matrix.astype(np.float64)
        cells = np.flatnonzero(_movable(matrix, _can_open(model) & ((up > 0) | (down > 0))))
        position = np.full(up.size, -1)
        position[cells] = np.arange(cells.size)
        reduced = matrix[:, cells]
        equations = _without_repeats(reduced)
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

    def room(self, attacker: int) -> tuple[Floats, Floats]:
        """How far an attacker believes each cell of the presolved table can lie above and below its value."""
        if attacker not in self._rooms:
            if len(self._rooms) >= MOST_ROOMS:
                self._rooms.clear()
            self._rooms[attacker] = room(self.model.problem, attacker, self.cells)
        return self._rooms[attacker]

    def reach(self, x: Floats) -> WindowsAtPoint:
        """The windows that ``x`` opens."""
        share = np.zeros(len(self))
        switched = self.switch != NO_SWITCH
        share[switched] = np.clip(x[self.switch[switched]], 0.0, 1.0)
        return WindowsAtPoint(np.maximum(self.above.at(x), 0.0), np.maximum(self.below.at(x), 0.0), share)

    def requirements_outside(self, requirements: Requirements) -> Cells:
        """Requirements on cells that can never move."""
        return np.flatnonzero(self.position[requirements.cell] < 0)


@dataclass(frozen=True, eq=False)
class WindowsAtPoint:
    """Windows at a point: ``above`` and ``below`` in units, ``share`` of a switch, per cell of the presolved
    table.
    """

    above: Floats
    below: Floats
    share: Floats

    def of(self, cells: Cells) -> WindowsAtPoint:
        """The windows of some cells."""
        return WindowsAtPoint(self.above[cells], self.below[cells], self.share[cells])

    def capacities(self, up: Floats, down: Floats, level: float, most: float = 1.0) -> tuple[Floats, Floats]:
        """How far each cell moves for an attacker, counted in levels; at most ``most`` levels count."""
        limit = most * level
        above = np.minimum(np.minimum(self.above, up), limit) + self.share * np.minimum(up, limit)
        below = np.minimum(np.minimum(self.below, down), limit) + self.share * np.minimum(down, limit)
        return above / level, below / level


def _can_open(model: Model) -> Mask:
    switched = model.switch != NO_SWITCH
    opens = np.zeros(switched.size, dtype=bool)
    opens[switched] = model.upper[model.switch[switched]] > 0
    for window in (model.above, model.below):
        opens |= (window.base > 0) | (np.diff(window.matrix.indptr) > 0)
    return opens


def _movable(matrix: csr_array, movable: Mask) -> Mask:
    """Cells that are nowhere alone: others are taken out until every equation has none or two of them."""
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


def _without_repeats(matrix: csr_array) -> Cells:
    """Rows that are not empty, each once."""
    matrix.eliminate_zeros()
    matrix.sort_indices()
    starts, index, data = matrix.indptr, matrix.indices, matrix.data
    first: dict[tuple[bytes, bytes], int] = {}
    for row in range(matrix.shape[0]):
        span = slice(starts[row], starts[row + 1])
        if index[span].size:
            first.setdefault((index[span].tobytes(), data[span].tobytes()), row)
    return np.array(list(first.values()), dtype=np.int64)
