"""Short moves, of few cells: they can be made exact where tables are no networks, and few insiders can rule
them out.

For target ``p``, direction ``s`` and level ``l``

    min  sum_i (up_i + down_i)
    s.t. M (up - down) + s l M_p = 0,   0 <= up <= high,   0 <= down <= -low.

The vertex of a plain maximum touches bounds all over the table, and its determinants grow with it; a shortest
move is an alternating circuit or two, with small denominators and few cells for an insider to know. Columns
that always move together count as one. The move is searched for among the columns around ``p``, a few at
first, and in the whole block only if no neighbourhood has one. The dual simplex starts where nothing else
moves, and needs about as many pivots as there are cells in the move.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack

from tacita.auditing.neighbourhoods import BlockNeighbourhoods, Neighbourhood
from tacita.auditing.tied_columns import TiedColumns
from tacita.core.exact import Floats, Units
from tacita.solvers.highs import Ended, Session, SmallPrograms
from tacita.solvers.linear_program import LinearProgram

if TYPE_CHECKING:
    from tacita.core.run import Run

FAR = 1e4
"""Room above this many levels does not count, which keeps the programs well scaled."""


class ShortMoves:
    """Finds short moves in one block; bounds may change between calls."""

    def __init__(self, rows: csr_array) -> None:
        self._tied = TiedColumns(rows)
        self._near = BlockNeighbourhoods(self._tied.rows, self._tied.columns)
        self._programs = SmallPrograms()

    def find(
        self, p: int, sign: int, level: int, low: Units, high: Units, run: Run, nearby: bool = False
    ) -> Floats | None:
        """Return a move of few cells for the audit with ``s z_p = level``, in steps, or None without one.

        With ``nearby`` only the cells around ``p`` are tried.
        """
        tied = self._tied
        target, sign = int(tied.tie[p]), int(sign * tied.sign[p])
        room = up, down = tied.find_room(low, high)
        if level > (up if sign > 0 else down)[target]:
            return None
        for side in room:
            np.minimum(side / level, FAR, out=side)
        move = np.zeros(up.size)
        for near in self._near.list_around(target):
            if run.over:
                return None
            change = self._find_within(near, target, sign, room)
            if change is not None:
                move[near.columns] = level * change
                return tied.expand(move)
        change = None if nearby else self._find_anywhere(target, sign, room, run)
        return None if change is None else tied.expand(level * change)

    def _find_within(
        self, near: Neighbourhood, target: int, sign: int, room: tuple[Floats, Floats]
    ) -> Floats | None:
        """Return the shortest move within a neighbourhood for the audit, in levels, or None without one."""
        up, down = (side[near.columns] for side in room)
        columns = (
            np.concatenate([near.starts, near.starts[1:] + near.rows.size]).astype(np.int32),
            np.tile(near.rows, 2).astype(np.int32),
            np.concatenate([near.coefficients, -near.coefficients]),
        )
        at = int(np.searchsorted(near.columns, target))
        cost = np.tile(self._tied.size[near.columns], 2)
        point = self._programs.solve(cost, _bound(up, down, at, sign), columns, near.n_rows)
        return None if point is None else point[: up.size] - point[up.size :]

    def _find_anywhere(self, target: int, sign: int, room: tuple[Floats, Floats], run: Run) -> Floats | None:
        """Return the shortest move of the whole block for the audit, in levels, or None without one."""
        n = room[0].size
        self._session.set_bounds(np.arange(2 * n), *_bound(*room, target, sign))
        answer = self._session.minimise(np.tile(self._tied.size, 2), run)
        return answer.point[:n] - answer.point[n:] if answer.status is Ended.OPTIMAL else None

    @cached_property
    def _session(self) -> Session:
        both = csc_array(hstack([self._tied.columns, -self._tied.columns]))
        nothing = np.zeros(both.shape[1])
        program = LinearProgram.of_equations(both, nothing, nothing, np.zeros(both.shape[0]))
        return Session(program, from_slack_basis=True, bounded=True)


def _bound(up: Floats, down: Floats, at: int, sign: int) -> tuple[Floats, Floats]:
    """Return the bounds of columns' moves up and down in levels, the target's by one level exactly."""
    lower, upper = np.zeros(2 * up.size), np.concatenate([up, down])
    upper[[at, up.size + at]] = 0.0
    towards = at if sign > 0 else up.size + at
    lower[towards] = upper[towards] = 1.0
    return lower, upper
