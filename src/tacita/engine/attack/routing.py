"""The cheapest way to let a target move: a flow of changes through cells that cost what hiding them costs.

    min  sum_i  v_i (f_i + g_i)    s.t.  M (f - g) = 0,   s (f_p - g_p) = 1,   0 <= f <= up,   0 <= g <= down,

counted in levels of the requirement, with ``v_i`` the price of hiding cell ``i`` spread over what it can
carry; cells that are hidden anyway are nearly free, cells that must stay open are closed. The optimum is a
short move: an alternating circuit or a few, which is what a good pattern is made of.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, hstack

from tacita.core.errors import StoppedError
from tacita.core.exact import Cells, Floats
from tacita.core.run import Run
from tacita.engine.attack.presolved import WindowsAtPoint
from tacita.engine.attack.requirements import Requirements
from tacita.engine.attack.support import Support, SupportComponent
from tacita.solvers.highs import Ended, Session
from tacita.solvers.linear_program import LinearProgram

CARRIED = 1e-7
"""Flow below this share of the level is noise."""
MOST = 2.0
"""Levels that a single cell may carry: circuits beyond two dimensions can need a cell twice."""
FAINT = 1e-5
"""Price of a hidden cell, in parts of the dearest one: enough to keep moves short."""
NARROW = 1e-3
"""A cell that can carry less than this share of a level is priced as if it could carry this."""


@dataclass(frozen=True, eq=False)
class RoutedMove:
    """Cells of the presolved table and how far each goes, in levels."""

    cells: Cells
    change: Floats


class Routing:
    """Flow programs on the components of a support."""

    def __init__(
        self, support: Support, reach: WindowsAtPoint, requirements: Requirements, most: float = MOST
    ) -> None:
        self.support, self.reach, self.requirements, self.most = support, reach, requirements, most
        self._sessions: dict[int, Session] = {}

    def route(
        self,
        k: int,
        way: int,
        length: float,
        price: Floats,
        run: Run,
        room: tuple[Floats, Floats] | None = None,
    ) -> RoutedMove | None:
        """The cheapest move that takes the target of requirement ``k`` by ``length`` levels, or None.

        ``price`` is per cell of the presolved table: infinite where a cell must stay as it is, zero where it
        is hidden. ``room`` is how far cells of the presolved table can go above and below; that of the
        requirement's attacker if it is not given.
        """
        presolved, requirements = self.support.presolved, self.requirements
        p, level = int(presolved.position[requirements.cell[k]]), float(requirements.level[k])
        piece = self.support.piece(p)
        if piece is None:
            return None
        at, n = piece.cells, piece.cells.size
        room_up, room_down = presolved.room(int(requirements.attacker[k])) if room is None else room
        most = np.concatenate(self.reach.of(at).capacities(room_up[at], room_down[at], level, self.most))
        allowed = np.isfinite(price[at])
        most[np.tile(~allowed, 2)] = 0.0
        low, high = np.zeros(2 * n), most.copy()
        target = int(np.searchsorted(at, p))
        towards, away = (target, target + n) if way > 0 else (target + n, target)
        if most[towards] < length:
            return None
        low[towards] = high[towards] = length
        high[away] = 0.0
        finite = np.where(allowed, price[at], 0.0)
        faint = FAINT * max(float(finite.max(initial=0.0)), FAINT)
        spread = np.tile(finite + faint, 2) / np.clip(most, NARROW, 1.0)
        session = self._session(int(self.support.component[p]), piece)
        session.set_bounds(np.arange(2 * n), low, high)
        answer = session.minimise(spread, run)
        if answer.status is Ended.STOPPED and run.over:
            raise StoppedError("stopped while a flow was routed: allow more time")
        if answer.status is not Ended.OPTIMAL:
            return None
        change = answer.point[:n] - answer.point[n:]
        used = np.abs(change) > CARRIED
        return RoutedMove(at[used], change[used])

    def _session(self, component: int, piece: SupportComponent) -> Session:
        if component not in self._sessions:
            both = csc_array(hstack([piece.matrix, -piece.matrix]))
            nothing = np.zeros(both.shape[1])
            self._sessions[component] = Session(
                LinearProgram.of_equations(both, nothing, nothing, np.zeros(both.shape[0])), afresh=True
            )
        return self._sessions[component]
