"""Furthest moves of one target by column generation: other columns enter the program by their reduced costs.

    max  t    s.t.  M (up - down) + s t M_p = 0,   0 <= t <= most,   0 <= up <= high,   0 <= down <= -low,

is feasible without any other column: nothing moves. When no column has a negative reduced cost the optimum is
proven. Of a hundred thousand columns a few thousand ever enter, where a program over all of them spends
seconds on its first basis.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array, csr_array

from tacita.core.exact import Cells, Floats
from tacita.solvers.highs import Session
from tacita.solvers.linear_program import LinearProgram

COLUMNS_PER_ROUND = 300
GAIN = 1e-7
"""A column whose reduced cost is no better than this does not enter."""


class GeneratedMoves:
    """The program of one target ``p`` in one direction; ``up`` and ``down`` are the room of each column, and
    ``transposed`` is the matrix by columns.
    """

    def __init__(
        self,
        matrix: csc_array,
        transposed: csr_array,
        room: tuple[Floats, Floats],
        target: tuple[int, int],
        most: float,
    ) -> None:
        self._p, self._sign = target
        self._matrix, self._transposed = matrix, transposed
        self._room = {1: room[0], -1: room[1]}
        self._closed = {sign: side <= 0 for sign, side in self._room.items()}
        for closed in self._closed.values():
            closed[self._p] = True
        self.columns, self.signs = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        self.session = Session(LinearProgram.without_variables(matrix.shape[0]))
        self.session.add_columns(matrix, np.array([self._p]), np.array([self._sign]), -1.0, np.array([most]))

    def add(self, columns: Cells, signs: Cells) -> None:
        """Let cells move in their directions in the audit's program, if they have room and did not yet."""
        up = signs > 0
        entering = ~np.where(up, self._closed[1][columns], self._closed[-1][columns])
        columns, signs, up = columns[entering], signs[entering], up[entering]
        for sign, closed in self._closed.items():
            closed[columns[signs == sign]] = True
        most = np.where(up, self._room[1][columns], self._room[-1][columns])
        self.session.add_columns(self._matrix, columns, signs, 0.0, most)
        self.columns = np.concatenate([self.columns, columns])
        self.signs = np.concatenate([self.signs, signs])

    def find_entering(self) -> tuple[Cells, Cells, Floats]:
        """Return cells of negative reduced cost in the audit's program, their directions and gains."""
        worth = self._transposed @ self.session.read_duals()
        parts = []
        for sign, closed in self._closed.items():
            gain = sign * worth
            at = np.flatnonzero((gain > GAIN) & ~closed)
            parts.append((at, np.full(at.size, sign), gain[at]))
        columns, signs, gains = (np.concatenate(part) for part in zip(*parts, strict=True))
        return columns, signs, gains

    def make_move(self, point: Floats) -> Floats:
        """Return the move of all cells of the audited block that a solution of the program stands for."""
        move = np.zeros(self._matrix.shape[1])
        np.add.at(move, self.columns, self.signs * point[1:])
        move[self._p] = self._sign * point[0]
        return move
