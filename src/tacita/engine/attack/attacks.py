"""Attackers' linear programs: how far a target can move at a point, and the inequality that limits it.

For requirement ``(p, s, L)`` and the windows of a point, counted in levels,

    max  s z_p    s.t.  M z = 0,   -down <= z <= up,   s z_p <= 1.

Any dual values ``g`` of the equations give ``c = s e_p + M' g``, and for every move ``s z_p = c z``, hence

    s z_p <= sum_i  c+_i up_i + c-_i down_i                                                 (blocking)

whatever the windows are. Where the maximum stays below 1 the optimal dual values make (blocking) tight: that
is the capacity cut. Dual values only choose the cut: its coefficients are computed from them, so an error in
them weakens the cut and never makes it invalid. (Coefficients below 1e-9 are zero in exact arithmetic.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tacita.core.errors import SolverError, StoppedError
from tacita.core.exact import Floats
from tacita.core.run import Run
from tacita.engine.attack.presolved import PresolvedTable, WindowsAtPoint
from tacita.engine.attack.requirements import SLIDING, Requirements, list_directions
from tacita.engine.attack.routing import RoutedMove, Routing, WitnessStore
from tacita.engine.attack.support import Blocking, Support, SupportComponent
from tacita.solvers.highs import Ended, Session
from tacita.solvers.linear_program import LinearProgram

TOLERANCE = 1e-7
"""A requirement counts as met this share below its level: the accuracy of the solvers."""
WIDE = 1e4
"""Capacity of a cell, in levels, when a release is judged: far more than a move of a table needs."""
OPEN = 1e-9
NO_DUALS = np.zeros(0, dtype=np.int64), np.zeros(0)
FRAGILE = 20.0
"""Extra cost of a closed cell in a witness, so that witnesses avoid cells that are open only in part."""


@dataclass(frozen=True, eq=False)
class BlockedRequirement:
    """A requirement that is not met, and what limits it: in both directions if it is a sliding one."""

    requirement: int
    limits: tuple[Blocking, ...]


@dataclass(frozen=True, eq=False)
class NearAttack:
    """How many levels equations near a target let it move, with the inequality that limits it if these are
    too few, else with a move as far as required, if one is known that balances the equations it must.
    """

    reached: float
    move: RoutedMove | None
    limit: Blocking | None


def find_support(presolved: PresolvedTable, windows: WindowsAtPoint) -> Support:
    """Return the support of a point of the engine's search: the cells that its windows let move."""
    return Support(presolved, (windows.share > OPEN) | (windows.above > OPEN) | (windows.below > OPEN))


class Attacks:
    """Attackers' programs at one point, with a warm solver session per component of its support.

    ``shares`` holds the share of its level that each requirement asks for.
    """

    def __init__(
        self,
        support: Support,
        windows: WindowsAtPoint,
        requirements: Requirements,
        shares: Floats,
        witnesses: WitnessStore | None = None,
    ) -> None:
        self.support, self.windows, self.requirements, self.shares = support, windows, requirements, shares
        self._witnesses = witnesses
        self._cost = 1.0 + FRAGILE * (1.0 - windows.share)
        self._sessions: dict[int, Session] = {}
        self._routing: Routing | None = None

    def find_blocked(
        self, which: Iterable[int], run: Run, most: float, enough: int | None = None
    ) -> list[BlockedRequirement]:
        """Return requirements of ``which`` that a point of the search fails, until there are ``enough``.

        No cell carries more than ``most`` levels.
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
        """Return what limits requirement ``k`` by the attacker's linear program, or None if it is met."""
        presolved, requirements = self.support.presolved, self.requirements
        p, share = int(presolved.position[requirements.cell[k]]), float(self.shares[k])
        sign, level = int(requirements.sign[k]), float(requirements.level[k])
        if share <= TOLERANCE or p < 0:
            return None
        directions = list_directions(sign)
        component = self.support.find_component_of(p)
        if component is None:
            limits = (self.support.lift_duals(p, s, *NO_DUALS) for s in directions)
            return BlockedRequirement(k, tuple(limits))
        # What was met before is probably met again, and a short move shows it fastest.
        likely = sign != SLIDING and (self._witnesses is None or k in self._witnesses)
        if likely and self._find_witness(k, sign, share, run, most):
            return None
        room_up, room_down = presolved.find_room(int(requirements.attacker[k]))
        at = component.cells
        up, down = self.windows.of(at).find_capacities(room_up[at], room_down[at], level, most)
        session = self._open_session(int(self.support.component[p]), component)
        reached, duals = 0.0, []
        target, every = int(np.searchsorted(at, p)), np.arange(at.size)
        for direction in directions:
            high, low = up.copy(), -down
            high[target] = min(up[target], share) if direction > 0 else 0.0
            low[target] = 0.0 if direction > 0 else -min(down[target], share)
            session.set_bounds(every, low, high)
            answer = session.find_extreme(target, direction, run)
            if answer.status is not Ended.OPTIMAL:
                if run.over:
                    fault = "stopped while an attacker's program was solved"
                    raise StoppedError(fault, remedy="allow more time", options=["time_limit"])
                fault = "the solver gave no answer to an attacker's program"
                raise SolverError(fault, remedy="report the table")
            reached += direction * answer.value
            duals.append((direction, session.read_duals()))
        if reached >= share - TOLERANCE:
            if sign != SLIDING and not likely:
                self._find_witness(k, sign, share, run, most)
            return None
        if self._witnesses is not None:
            self._witnesses.drop(k)
        limits = (self.support.lift_duals(p, s, component.rows, g) for s, g in duals)
        return BlockedRequirement(k, tuple(limits))

    def _find_witness(self, k: int, sign: int, share: float, run: Run, most: float) -> bool:
        """Return whether a short move meets requirement ``k`` at the point, and store it as witness.

        It avoids cells that are open only in part, so that it fits the next points too, and it is found
        faster than the furthest move.
        """
        if self._routing is None or self._routing.most != most:
            self._routing = Routing(self.support, self.windows, self.requirements, most)
        move = self._routing.route(k, sign, share, self._cost, run)
        if move is not None and self._witnesses is not None and share == 1.0:
            self._witnesses.keep(k, move)
        return move is not None

    def _open_session(self, number: int, component: SupportComponent) -> Session:
        """Return the solver session for attackers' programs on a component, made on first use."""
        if number not in self._sessions:
            n, m = component.cells.size, component.rows.size
            self._sessions[number] = Session(
                LinearProgram.of_equations(component.matrix, np.zeros(n), np.zeros(n), np.zeros(m))
            )
        return self._sessions[number]
