"""Moves that met demands before: while a point still lets them through, nobody needs to be asked again.

Most demands stay met from one point to the next. Their witnesses are short moves, kept together, and one look
at the windows of a new point tells which of them still fit.
"""

from __future__ import annotations

import numpy as np

from tacita.core.exact import Cells, Floats, Mask
from tacita.engine.attack.arena import Arena, WindowsAtPoint
from tacita.engine.attack.demands import ALWAYS, Demands
from tacita.engine.attack.routing import RoutedMove
from tacita.engine.attack.support import NOWHERE

TOLERANCE = 1e-9


class Witnesses:
    """The last short witness of each demand, for demands of one attacker's room each."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self._moves: dict[int, RoutedMove] = {}

    def __contains__(self, k: int) -> bool:
        return k in self._moves

    def drop(self, k: int) -> None:
        self._moves.pop(k, None)

    def keep(self, k: int, move: RoutedMove) -> None:
        self._moves[k] = move

    def move(self, k: int) -> RoutedMove:
        return self._moves[k]

    def fitting(self, demands: Demands, reach: WindowsAtPoint, most: float) -> Mask:
        """Demands whose witness fits the windows of a point."""
        fits = np.zeros(len(demands), dtype=bool)
        if not self._moves:
            return fits
        known = np.fromiter(self._moves, dtype=np.int64)
        moves = [self._moves[int(k)] for k in known]
        sizes = np.array([move.cells.size for move in moves])
        cells = np.concatenate([move.cells for move in moves])
        change = np.concatenate([move.change for move in moves])
        level = np.repeat(demands.level[known].astype(np.float64), sizes)
        # What a demand with a switch asks shrinks with the window of its own cell; all others need theirs.
        target = np.where(demands.switch[known] == ALWAYS, NOWHERE, self.arena.position[demands.cell[known]])
        own = cells == np.repeat(target, sizes)
        room = self._room(demands, known, sizes, cells, change > 0)
        window = np.where(change > 0, reach.above[cells], reach.below[cells])
        limit = most * level
        can = np.minimum(np.minimum(window, room), limit) + reach.share[cells] * np.minimum(room, limit)
        late = (np.abs(change) * level > can * (1 + TOLERANCE)) & ~own
        failed = np.bincount(np.repeat(np.arange(known.size), sizes), weights=late, minlength=known.size)
        fits[known[failed == 0]] = True
        return fits

    def _room(self, demands: Demands, known: Cells, sizes: Cells, cells: Cells, up: Mask) -> Floats:
        """How far the attacker of each move believes its cells can go the way they go."""
        attackers = demands.attacker[known]
        room = np.empty(cells.size)
        who = np.repeat(attackers, sizes)
        for attacker in np.unique(attackers):
            his = who == attacker
            above, below = self.arena.room(int(attacker))
            room[his] = np.where(up[his], above[cells[his]], below[cells[his]])
        return room
