"""Attackers' linear programs: how far does a requirement get, and what blocks it?

For requirement ``(p, s, L)`` and the windows of a point, counted in levels,

    max  s z_p    s.t.  M z = 0,   -down <= z <= up,   s z_p <= 1.

Any prices ``g`` of the equations give ``c = s e_p + M' g``, and for every move ``s z_p = c z``, hence

    s z_p <= sum_i  c+_i up_i + c-_i down_i                                                 (blocking)

whatever the windows are. Where the maximum stays below 1 the optimal prices make (blocking) tight: that is
the capacity cut. Prices only choose the cut: coefficients are worked out from them, so that an error in them
weakens it. (Coefficients below 1e-9 are taken for the zeros they are in exact arithmetic.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tacita.core.errors import SolverError, StoppedError
from tacita.core.exact import Cells, Floats
from tacita.core.run import Run
from tacita.engine.attack.presolved import PresolvedTable, WindowsAtPoint
from tacita.engine.attack.requirements import DOWN, SLIDING, UP, Requirements
from tacita.engine.attack.routing import Routing
from tacita.engine.attack.support import Support, SupportComponent
from tacita.engine.attack.witnesses import Witnesses
from tacita.solvers.highs import Ended, Session
from tacita.solvers.linear_program import LinearProgram

TOLERANCE = 1e-7
"""A requirement counts as met at this share below its level: what the arithmetic of solvers can tell."""
WIDE = 1e4
"""Capacities in levels that count when a release is judged: far more than a move of a table needs."""
OPEN = 1e-9
FRAGILE = 20.0
"""How much a witness avoids cells that are open only in part."""


@dataclass(frozen=True, eq=False)
class Blocking:
    """What limits a requirement in one way: the non-zero coefficients ``c`` by cells of the presolved table,
    and the prices that they come from, by equations of the presolved table.
    """

    way: int
    cells: Cells
    c: Floats
    equations: Cells
    prices: Floats

    @classmethod
    def of(cls, way: int, c: Floats, prices: Floats) -> Blocking:
        cells, equations = np.flatnonzero(c), np.flatnonzero(prices)
        return cls(way, cells, c[cells], equations, prices[equations])


@dataclass(frozen=True, eq=False)
class BlockedRequirement:
    """A requirement that is missed, and what limits it: in both ways if it is a sliding one."""

    requirement: int
    ways: tuple[Blocking, ...]


def support_of(presolved: PresolvedTable, reach: WindowsAtPoint) -> Support:
    """The cells that a point lets move."""
    return Support(presolved, (reach.share > OPEN) | (reach.above > OPEN) | (reach.below > OPEN))


def unanswered(run: Run, what: str) -> StoppedError | SolverError:
    """Why a program has no answer: the time is over, or the solver is at a loss."""
    if run.over:
        return StoppedError(f"stopped while {what} was solved: allow more time")
    return SolverError(f"the solver gave no answer to {what}: report the table")


class Attacks:
    """Hot sessions, one per component of a point's support.

    ``wanted`` is the share of its level that each requirement asks for.
    """

    def __init__(
        self,
        support: Support,
        reach: WindowsAtPoint,
        requirements: Requirements,
        wanted: Floats,
        witnesses: Witnesses | None = None,
    ) -> None:
        self.support, self.reach, self.requirements, self.wanted = support, reach, requirements, wanted
        self._witnesses = witnesses
        self._price = 1.0 + FRAGILE * (1.0 - reach.share)
        self._sessions: dict[int, Session] = {}
        self._router: Routing | None = None

    def blocked(
        self, which: Iterable[int], run: Run, most: float, enough: int | None = None
    ) -> list[BlockedRequirement]:
        """Requirements of ``which`` that fail, until there are ``enough``.

        Capacities above ``most`` levels do not count.
        """
        found: list[BlockedRequirement] = []
        for k in which:
            blocked = self._attack(k, run, most)
            if blocked is not None:
                found.append(blocked)
                if enough is not None and len(found) >= enough:
                    break
        return found

    def _attack(self, k: int, run: Run, most: float) -> BlockedRequirement | None:
        presolved, requirements = self.support.presolved, self.requirements
        p, sign, level = (
            int(presolved.position[requirements.cell[k]]),
            int(requirements.sign[k]),
            float(requirements.level[k]),
        )
        wanted = float(self.wanted[k])
        if wanted <= TOLERANCE or p < 0:
            return None
        ways = (UP, DOWN) if sign == SLIDING else (sign,)
        piece = self.support.piece(p)
        if piece is None:
            return BlockedRequirement(
                k, tuple(Blocking.of(w, *self.support.lifted(p, w, None)) for w in ways)
            )
        # What was met before is probably met again, and a short move shows it fastest.
        likely = sign != SLIDING and (self._witnesses is None or k in self._witnesses)
        if likely and self._shown(k, sign, wanted, run, most):
            return None
        room_up, room_down = presolved.room(int(requirements.attacker[k]))
        at = piece.cells
        up, down = self.reach.of(at).capacities(room_up[at], room_down[at], level, most)
        session = self._session(int(self.support.component[p]), piece)
        reached, prices = 0.0, []
        target, every = int(np.searchsorted(at, p)), np.arange(at.size)
        for way in ways:
            high, low = up.copy(), -down
            high[target] = min(up[target], wanted) if way > 0 else 0.0
            low[target] = 0.0 if way > 0 else -min(down[target], wanted)
            session.set_bounds(every, low, high)
            answer = session.extreme(target, way, run)
            if answer.status is not Ended.OPTIMAL:
                raise unanswered(run, "an attacker's program")
            reached += way * answer.value
            prices.append((way, session.prices()))
        if reached >= wanted - TOLERANCE:
            if sign != SLIDING and not likely:
                self._shown(k, sign, wanted, run, most)
            return None
        if self._witnesses is not None:
            self._witnesses.drop(k)
        return BlockedRequirement(
            k, tuple(Blocking.of(w, *self.support.lifted(p, w, piece, g)) for w, g in prices)
        )

    def _shown(self, k: int, sign: int, wanted: float, run: Run, most: float) -> bool:
        """Whether a short move meets the requirement. It avoids cells that are open only in part, so that it
        fits the next points too, and it is found faster than the furthest move.
        """
        if self._router is None or self._router.most != most:
            self._router = Routing(self.support, self.reach, self.requirements, most)
        move = self._router.route(k, sign, wanted, self._price, run)
        if move is not None and self._witnesses is not None and wanted == 1.0:
            self._witnesses.keep(k, move)
        return move is not None

    def _session(self, component: int, piece: SupportComponent) -> Session:
        if component not in self._sessions:
            n, m = piece.cells.size, piece.rows.size
            self._sessions[component] = Session(
                LinearProgram.of_equations(piece.matrix, np.zeros(n), np.zeros(n), np.zeros(m))
            )
        return self._sessions[component]
