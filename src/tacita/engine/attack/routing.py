"""The cheapest moves that meet requirements, and a store of those that were found.

The cheapest move is a flow of changes through cells that cost what hiding them costs:

    min  sum_i  v_i (f_i + g_i)    s.t.  M (f - g) = 0,   s (f_p - g_p) = 1,   0 <= f <= up,   0 <= g <= down,

counted in levels of the requirement, with ``v_i`` the cost of hiding cell ``i`` spread over what it can
carry; hidden cells are nearly free, cells that must be published are closed. The optimum is a short move, one
alternating circuit or a few.

A move that meets a requirement is its *witness*. Most requirements stay met from one point to the next, so
witnesses are stored: while one fits the windows of a new point, no program has to be solved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csc_array, hstack

from tacita.core.errors import StoppedError
from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.engine.attack.presolved import PresolvedTable, WindowsAtPoint
from tacita.engine.attack.requirements import ALWAYS, DOWN, SLIDING, UP, Requirements
from tacita.engine.attack.support import NOWHERE, Support, SupportComponent
from tacita.solvers.highs import Ended, Session
from tacita.solvers.linear_program import LinearProgram

CARRIED = 1e-7
"""Flow below this share of the level is noise."""
MOST = 2.0
"""Levels that a single cell may carry: circuits beyond two dimensions can need a cell twice."""
FAINT = 1e-5
"""Cost of a hidden cell, in parts of the most expensive one: enough to keep moves short."""
NARROW = 1e-3
"""A cell that can carry less than this share of a level costs as if it could carry this."""
FITTING = 1e-9
"""Relative error with which a stored move may exceed a window."""


@dataclass(frozen=True, eq=False)
class RoutedMove:
    """Cells of the presolved table and how far each moves, in levels."""

    cells: Cells
    change: Floats


@dataclass(frozen=True, eq=False)
class Witness:
    """Moves that meet a requirement: one, or one per direction if it is a sliding one."""

    moves: tuple[RoutedMove, ...]

    @cached_property
    def cells(self) -> Cells:
        """The cells of the presolved table that its moves use."""
        return np.unique(np.concatenate([move.cells for move in self.moves]))


def list_shares(sign: int) -> list[list[tuple[int, float]]]:
    """Return the ways to meet a requirement of this sign: directions, and the levels to move in each.

    A sliding requirement is tried fully upwards first, then fully downwards, then with a part each.
    """
    shares = (1.0, 0.0, 0.5, 0.75, 0.25) if sign == SLIDING else (float(sign == UP),)
    return [[(side, length) for side, length in ((UP, up), (DOWN, 1.0 - up)) if length] for up in shares]


def meet_by_moves(sign: int, route: Callable[[int, float], RoutedMove | None]) -> Witness | None:
    """Return the first moves that meet a requirement of this sign, or None; ``route(direction, length)``
    finds one of so many levels.
    """
    for parts in list_shares(sign):
        moves = [move for part in parts if (move := route(*part)) is not None]
        if len(moves) == len(parts):
            return Witness(tuple(moves))
    return None


class Routing:
    """Flow programs on the components of a support."""

    def __init__(
        self, support: Support, windows: WindowsAtPoint, requirements: Requirements, most: float = MOST
    ) -> None:
        self.support, self.windows, self.requirements, self.most = support, windows, requirements, most
        self._sessions: dict[int, Session] = {}

    def route(
        self,
        k: int,
        direction: int,
        length: float,
        cost: Floats,
        run: Run,
        room: tuple[Floats, Floats] | None = None,
    ) -> RoutedMove | None:
        """Return the cheapest move that takes the target of requirement ``k`` by ``length`` levels, or None.

        ``cost`` is per cell of the presolved table: infinite where a cell must stay as it is, zero where it
        is hidden. ``room`` is how far cells of the presolved table can go above and below; by default as far
        as the attacker of the requirement believes.
        """
        presolved, requirements = self.support.presolved, self.requirements
        p, level = int(presolved.position[requirements.cell[k]]), float(requirements.level[k])
        component = self.support.find_component_of(p)
        if component is None:
            return None
        at, n = component.cells, component.cells.size
        room_up, room_down = presolved.find_room(int(requirements.attacker[k])) if room is None else room
        most = np.concatenate(
            self.windows.of(at).find_capacities(room_up[at], room_down[at], level, self.most)
        )
        allowed = np.isfinite(cost[at])
        most[np.tile(~allowed, 2)] = 0.0
        low, high = np.zeros(2 * n), most.copy()
        target = int(np.searchsorted(at, p))
        towards, away = (target, target + n) if direction > 0 else (target + n, target)
        if most[towards] < length:
            return None
        low[towards] = high[towards] = length
        high[away] = 0.0
        finite = np.where(allowed, cost[at], 0.0)
        faint = FAINT * max(float(finite.max(initial=0.0)), FAINT)
        spread = np.tile(finite + faint, 2) / np.clip(most, NARROW, 1.0)
        session = self._open_session(int(self.support.component[p]), component)
        session.set_bounds(np.arange(2 * n), low, high)
        answer = session.minimise(spread, run)
        if answer.status is Ended.STOPPED and run.over:
            fault = "stopped while a flow was routed"
            raise StoppedError(fault, remedy="allow more time", options=["time_limit"])
        if answer.status is not Ended.OPTIMAL:
            return None
        change = answer.point[:n] - answer.point[n:]
        used = np.abs(change) > CARRIED
        return RoutedMove(at[used], change[used])

    def _open_session(self, number: int, component: SupportComponent) -> Session:
        """Return the solver session for cheapest moves on a component, made on first use."""
        if number not in self._sessions:
            both = csc_array(hstack([component.matrix, -component.matrix]))
            nothing = np.zeros(both.shape[1])
            self._sessions[number] = Session(
                LinearProgram.of_equations(both, nothing, nothing, np.zeros(both.shape[0])),
                from_slack_basis=True,
            )
        return self._sessions[number]


class WitnessStore:
    """The last short witness of each requirement, by its number."""

    def __init__(self, presolved: PresolvedTable) -> None:
        self.presolved = presolved
        self._moves: dict[int, RoutedMove] = {}

    def __contains__(self, k: int) -> bool:
        return k in self._moves

    def drop(self, k: int) -> None:
        """Forget the stored move that meets a requirement, if there is one."""
        self._moves.pop(k, None)

    def keep(self, k: int, move: RoutedMove) -> None:
        """Store a move that meets a requirement as its witness, in place of an earlier one."""
        self._moves[k] = move

    def get_move(self, k: int) -> RoutedMove:
        """Return the stored move that meets a requirement, its witness."""
        return self._moves[k]

    def find_fitting(self, requirements: Requirements, windows: WindowsAtPoint, most: float) -> Mask:
        """Return a mask of the requirements whose stored witness fits the windows of a point."""
        fits = np.zeros(len(requirements), dtype=bool)
        if not self._moves:
            return fits
        known = np.fromiter(self._moves, dtype=np.int64)
        moves = [self._moves[int(k)] for k in known]
        sizes = np.array([move.cells.size for move in moves])
        cells = np.concatenate([move.cells for move in moves])
        change = np.concatenate([move.change for move in moves])
        level = np.repeat(requirements.level[known].astype(np.float64), sizes)
        # The level of a conditional requirement shrinks with the window of its own cell, not with the others.
        target = np.where(
            requirements.switch[known] == ALWAYS, NOWHERE, self.presolved.position[requirements.cell[known]]
        )
        own = cells == np.repeat(target, sizes)
        room = self._find_room(requirements.attacker[known], sizes, cells, change > 0)
        window = np.where(change > 0, windows.above[cells], windows.below[cells])
        limit = most * level
        capacity = np.minimum(np.minimum(window, room), limit)
        capacity += windows.share[cells] * np.minimum(room, limit)
        exceeds = (np.abs(change) * level > capacity * (1 + FITTING)) & ~own
        failed = np.bincount(np.repeat(np.arange(known.size), sizes), weights=exceeds, minlength=known.size)
        fits[known[failed == 0]] = True
        return fits

    def _find_room(self, attackers: Cells, sizes: Cells, cells: Cells, up: Mask) -> Floats:
        """Return how many units the attacker of each witness believes its cells can go in its direction."""
        room, who = np.empty(cells.size), np.repeat(attackers, sizes)
        for attacker in np.unique(attackers):
            theirs = who == attacker
            above, below = self.presolved.find_room(int(attacker))
            room[theirs] = np.where(up[theirs], above[cells[theirs]], below[cells[theirs]])
        return room
