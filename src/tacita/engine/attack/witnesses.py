"""Moves that met requirements before: while a point still lets them through, nobody needs to be asked again.

Most requirements stay met from one point to the next. Their witnesses are short moves, kept together, and one
look at the windows of a new point tells which of them still fit.
"""

from __future__ import annotations

import numpy as np

from tacita.core.exact import Cells, Floats, Mask
from tacita.engine.attack.presolved import PresolvedTable, WindowsAtPoint
from tacita.engine.attack.requirements import ALWAYS, Requirements
from tacita.engine.attack.routing import RoutedMove
from tacita.engine.attack.support import NOWHERE

TOLERANCE = 1e-9


class Witnesses:
    """The last short witness of each requirement, for requirements of one attacker's room each."""

    def __init__(self, presolved: PresolvedTable) -> None:
        self.presolved = presolved
        self._moves: dict[int, RoutedMove] = {}

    def __contains__(self, k: int) -> bool:
        return k in self._moves

    def drop(self, k: int) -> None:
        self._moves.pop(k, None)

    def keep(self, k: int, move: RoutedMove) -> None:
        self._moves[k] = move

    def move(self, k: int) -> RoutedMove:
        return self._moves[k]

    def fitting(self, requirements: Requirements, reach: WindowsAtPoint, most: float) -> Mask:
        """Requirements whose witness fits the windows of a point."""
        fits = np.zeros(len(requirements), dtype=bool)
        if not self._moves:
            return fits
        known = np.fromiter(self._moves, dtype=np.int64)
        moves = [self._moves[int(k)] for k in known]
        sizes = np.array([move.cells.size for move in moves])
        cells = np.concatenate([move.cells for move in moves])
        change = np.concatenate([move.change for move in moves])
        level = np.repeat(requirements.level[known].astype(np.float64), sizes)
        # What a requirement with a switch asks shrinks with the window of its own cell; all others need
        # theirs.
        target = np.where(
            requirements.switch[known] == ALWAYS, NOWHERE, self.presolved.position[requirements.cell[known]]
        )
        own = cells == np.repeat(target, sizes)
        room = self._room(requirements, known, sizes, cells, change > 0)
        window = np.where(change > 0, reach.above[cells], reach.below[cells])
        limit = most * level
        can = np.minimum(np.minimum(window, room), limit) + reach.share[cells] * np.minimum(room, limit)
        late = (np.abs(change) * level > can * (1 + TOLERANCE)) & ~own
        failed = np.bincount(np.repeat(np.arange(known.size), sizes), weights=late, minlength=known.size)
        fits[known[failed == 0]] = True
        return fits

    def _room(self, requirements: Requirements, known: Cells, sizes: Cells, cells: Cells, up: Mask) -> Floats:
        """How far the attacker of each move believes its cells can go the way they go."""
        attackers = requirements.attacker[known]
        room = np.empty(cells.size)
        who = np.repeat(attackers, sizes)
        for attacker in np.unique(attackers):
            his = who == attacker
            above, below = self.presolved.room(int(attacker))
            room[his] = np.where(up[his], above[cells[his]], below[cells[his]])
        return room
