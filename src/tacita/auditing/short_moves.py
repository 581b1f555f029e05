"""Short moves, of few cells: they can be made exact where tables are no networks, and few insiders can rule
them out.

For target ``p``, direction ``s`` and level ``l``

    min  sum_i (up_i + down_i)
    s.t. M (up - down) + s l M_p = 0,   0 <= up <= high,   0 <= down <= -low.

The vertex of a plain maximum touches bounds all over the table, and its determinants grow with it; a shortest
move is an alternating circuit or two, with small denominators and few cells for an insider to know. It is
searched for among the columns around ``p``, a few at first, and in the whole block only if no neighbourhood
has one. The dual simplex starts where nothing else moves, and needs about as many pivots as there are cells
in the move.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack

from tacita.auditing.neighbourhoods import BlockNeighbourhoods
from tacita.core.exact import Floats, Units
from tacita.solvers.highs import Ended, Session, SmallPrograms
from tacita.solvers.linear_program import LinearProgram

if TYPE_CHECKING:
    from tacita.core.run import Run

FAR = 1e4
"""Room above this many levels does not count, which keeps the programs well scaled."""


class ShortMoves:
    """Finds short moves in one block; bounds may change between calls."""

    def __init__(self, rows: csr_array, columns: csc_array) -> None:
        self._columns = columns
        self._near, self._programs = BlockNeighbourhoods(rows, columns), SmallPrograms()

    def find(
        self, p: int, sign: int, level: int, low: Units, high: Units, run: Run, nearby: bool = False
    ) -> Floats | None:
        """Return a move of few cells for the audit with ``s z_p = level``, in steps, or None without one.

        With ``nearby`` only the cells around ``p`` are tried.
        """
        if level > (high[p] if sign > 0 else -low[p]):
            return None
        room = np.minimum(high / level, FAR), np.minimum(-low / level, FAR)
        move = np.zeros(low.size)
        for near in self._near.list_around(p):
            if run.over:
                return None
            up, down = (side[near.columns] for side in room)
            at = int(np.searchsorted(near.columns, p))
            point = self._programs.solve(
                np.ones(2 * up.size),
                _bound(up, down, at, sign),
                (
                    np.concatenate([near.starts, near.starts[1:] + near.rows.size]).astype(np.int32),
                    np.tile(near.rows, 2).astype(np.int32),
                    np.concatenate([near.coefficients, -near.coefficients]),
                ),
                near.n_rows,
            )
            if point is not None:
                move[near.columns] = level * (point[: up.size] - point[up.size :])
                return move
        return None if nearby else self._find_anywhere(p, sign, level, room, run)

    def _find_anywhere(
        self, p: int, sign: int, level: int, room: tuple[Floats, Floats], run: Run
    ) -> Floats | None:
        """Return the shortest move of the whole block for the audit, in steps, or None without one."""
        n = room[0].size
        session = self._session
        session.set_bounds(np.arange(2 * n), *_bound(*room, p, sign))
        answer = session.minimise(np.ones(2 * n), run)
        if answer.status is not Ended.OPTIMAL:
            return None
        return level * (answer.point[:n] - answer.point[n:])

    @cached_property
    def _session(self) -> Session:
        both = csc_array(hstack([self._columns, -self._columns]))
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
