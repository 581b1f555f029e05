"""Attackers' linear programs, hot: how far does a demand get, and what blocks it?

For demand ``(p, s, L)`` and the windows of a point, counted in levels,

    max  s z_p    s.t.  M z = 0,   -down <= z <= up,   0 <= s z_p <= 1.

Any prices ``g`` of the equations give ``c = s e_p - M' g``, and for every move ``s z_p = c z``, hence

    s z_p <= sum_i  c+_i up_i + c-_i down_i                                                 (blocking)

whatever the windows are. Where the maximum stays below 1 the optimal prices make (blocking) tight: that is
the capacity cut. Prices only choose the cut; an error in them weakens it and never makes it wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tacita.engine.arena import Arena, Reach
from tacita.engine.demands import DOWN, SLIDING, UP, Demands
from tacita.errors import StoppedError
from tacita.exact import Cells, Floats
from tacita.run import Run
from tacita.solvers.highs import Ended, Session

TOLERANCE = 1e-7
"""A demand counts as met at this share below its level: what the arithmetic of solvers can tell."""
WIDE = 1e4
"""Capacities in levels that count when a release is judged; no move needs a cell to go further."""


@dataclass(frozen=True, eq=False)
class Blocked:
    """A demand that gets only ``reached`` (in levels) of the way, and for each way the coefficients ``c``."""

    demand: int
    reached: float
    ways: tuple[tuple[int, Floats], ...]


@dataclass(frozen=True, eq=False)
class Witness:
    """A move in levels that met a demand, kept as its non-zero cells."""

    cells: Cells
    up: Floats
    down: Floats

    def fits(self, up: Floats, down: Floats) -> bool:
        at = self.cells
        return bool((self.up <= up[at] + TOLERANCE).all() and (self.down <= down[at] + TOLERANCE).all())


class Attacks:
    """One hot session over an arena; it remembers the last witness of every demand."""

    def __init__(self, arena: Arena) -> None:
        n, m = len(arena), arena.matrix.shape[0]
        self.arena, self._every = arena, np.arange(n)
        self._session = Session(arena.matrix, np.zeros(n), np.zeros(n), np.zeros(m))
        self._witnesses: dict[tuple[int, int, int], Witness] = {}

    def blocked(
        self,
        demands: Demands,
        which: Iterable[int],
        reach: Reach,
        run: Run,
        least: float = 0.0,
        most: float = 1.0,
        enough: int | None = None,
    ) -> tuple[list[Blocked], int]:
        """Demands of ``which`` that fail, until there are ``enough``; and how many were looked at.

        Parameters
        ----------
        least
            Share that closed cells are lent. A little makes prices choose, among all that block, those that
            involve few and cheap other cells; the move found is then slightly too long.
        most
            Capacities above so many levels do not count.
        """
        found: list[Blocked] = []
        looked = 0
        for k in which:
            looked += 1
            blocked = self._attack(demands, k, reach, run, least, most)
            if blocked is not None:
                found.append(blocked)
                if enough is not None and len(found) >= enough:
                    break
        return found, looked

    def _attack(
        self, demands: Demands, k: int, reach: Reach, run: Run, least: float, most: float
    ) -> Blocked | None:
        arena, level = self.arena, float(demands.level[k])
        p, sign = int(arena.position[demands.cell[k]]), int(demands.sign[k])
        room_up, room_down = arena.room(int(demands.attacker[k]))
        up, down = reach.capacities(room_up, room_down, level, most)
        wanted = 1.0 if demands.switch[k] < 0 else float(reach.share[p])
        if wanted <= TOLERANCE:
            return None
        lent_up, lent_down = up, down
        if least:
            lent = Reach(reach.above, reach.below, np.maximum(reach.share, least * (arena.switch >= 0)))
            lent_up, lent_down = lent.capacities(room_up, room_down, level, most)
        reached, ways = 0.0, []
        for way in (UP, DOWN) if sign == SLIDING else (sign,):
            key = (int(demands.attacker[k]), int(demands.cell[k]), way if sign else 2 * way)
            witness = self._witnesses.get(key)
            if sign and witness is not None and wanted == 1.0 and witness.fits(up, down):
                return None
            value, move, coefficients = self._push(p, way, lent_up, lent_down, wanted, run)
            reached += value
            ways.append((way, coefficients))
            if sign and value >= wanted - TOLERANCE and wanted == 1.0:
                self._remember(key, move, p)
        if reached >= wanted - TOLERANCE:
            return None
        return Blocked(k, reached, tuple(ways))

    def _push(
        self, p: int, way: int, up: Floats, down: Floats, wanted: float, run: Run
    ) -> tuple[float, Floats, Floats]:
        """How far ``p`` gets, the move, and the coefficients of what blocks it."""
        up, down = up.copy(), down.copy()
        up[p], down[p] = (wanted, 0.0) if way > 0 else (0.0, wanted)
        self._session.set_bounds(self._every, -down, up)
        answer = self._session.extreme(p, way, run)
        if answer.status is not Ended.OPTIMAL:
            raise StoppedError("stopped while an attacker's program was solved: allow more time")
        coefficients = np.asarray(self.arena.transposed @ self._session.prices())
        coefficients[p] += way
        coefficients[np.abs(coefficients) < 1e-9] = 0.0
        return way * answer.value, answer.point, coefficients

    def _remember(self, key: tuple[int, int, int], move: Floats, p: int) -> None:
        cells = np.flatnonzero(np.abs(move) > TOLERANCE)
        cells = cells[cells != p]
        self._witnesses[key] = Witness(cells, np.maximum(move[cells], 0.0), np.maximum(-move[cells], 0.0))
