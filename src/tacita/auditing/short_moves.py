"""Short moves, of few cells: they can be made exact where tables are no networks, and few insiders can rule
them out.

For target ``p``, direction ``s`` and level ``l``

    max  R t - sum_i (up_i + down_i)
    s.t. M (up - down) + s t M_p = 0,   0 <= t <= l,   0 <= up <= high,   0 <= down <= -low,

with a reward ``R`` so large that ``t = l`` whenever that is possible. The vertex of a plain maximum touches
bounds all over the table, and its determinants grow with it; a shortest move is an alternating circuit or
two, with small denominators and few cells for an insider to know. It is searched for among the cells around
``p`` first. Columns enter by their reduced costs: of thousands, a few hundred ever do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_array, csr_array

from tacita.auditing.generated_moves import COLUMNS_PER_ROUND, GeneratedMoves
from tacita.core.exact import Cells, Floats, Units
from tacita.solvers.highs import Ended

if TYPE_CHECKING:
    from tacita.core.run import Run

REWARD = 1e5
NEIGHBOURHOOD = 1000
FIRST_COLUMNS = 150
FAR = 1e4
"""Room above this many levels does not count, which keeps the program well scaled."""


class ShortMoves:
    """Finds short moves in one block; bounds may change between calls."""

    def __init__(self, rows: csr_array, columns: csc_array) -> None:
        self.columns = columns
        # Plain lists: neighbourhoods are walked cell by cell, where numpy would be slow.
        self._in_row = [part.tolist() for part in np.split(rows.indices, rows.indptr[1:-1])]
        self._in_column = [part.tolist() for part in np.split(columns.indices, columns.indptr[1:-1])]

    def find(
        self, p: int, sign: int, level: int, low: Units, high: Units, run: Run, nearby: bool = False
    ) -> Floats | None:
        """Return a move of few cells for the audit with ``s z_p = level``, in steps, or None without one.

        With ``nearby`` only the cells around ``p`` are tried.
        """
        n = self.columns.shape[1]
        around = self._list_near(p, NEIGHBOURHOOD)
        near = np.array(sorted(around), dtype=np.int64)
        for cells in (near,) if nearby or near.size == n else (near, np.arange(n)):
            first, target = np.searchsorted(cells, around[:FIRST_COLUMNS]), int(np.searchsorted(cells, p))
            room = np.minimum(high[cells] / level, FAR), np.minimum(-low[cells] / level, FAR)
            point = self._find_within(cells, room, (target, sign), first, run)
            if point is not None:
                move = np.zeros(n)
                move[cells] = point * level
                return move
        return None

    def _find_within(
        self, cells: Cells, room: tuple[Floats, Floats], target: tuple[int, int], first: Cells, run: Run
    ) -> Floats | None:
        """Return a short move of some columns for the audit, in levels, or None if dual values prove that the
        target cannot move by one level; all other columns stay fixed, and ``first`` enter first.
        """
        matrix = self.columns[:, cells] if cells.size < self.columns.shape[1] else self.columns
        used, index = np.unique(matrix.indices, return_inverse=True)
        matrix = csc_array((matrix.data, index, matrix.indptr), shape=(used.size, cells.size))
        program = GeneratedMoves(matrix, csr_array(matrix.T), room, target, 1.0, REWARD, 1.0)
        columns, signs = np.repeat(first, 2), np.tile([1, -1], first.size)
        while True:
            program.add(columns, signs)
            if program.session.solve(run) is not Ended.OPTIMAL:
                return None
            point = program.session.read_point()
            if point[0] >= 1 - 1e-9:
                return program.make_move(point)
            columns, signs, gains = program.find_entering()
            if not gains.size:
                return None
            best = np.lexsort((columns, -gains))[:COLUMNS_PER_ROUND]
            columns, signs = columns[best], signs[best]

    def _list_near(self, p: int, most: int) -> list[int]:
        """Return columns near an audited target ``p``, ``p`` first, equation by equation, up to ``most``."""
        seen, found, at = {p}, [p], 0
        while at < len(found) and len(found) < most:
            for row in self._in_column[found[at]]:
                new = [column for column in self._in_row[row] if column not in seen]
                seen.update(new)
                found.extend(new)
            at += 1
        return found
