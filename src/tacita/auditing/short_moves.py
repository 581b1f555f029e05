"""A move of few cells: what turns a float optimum into an exact proof where tables are no networks.

For target ``p``, direction ``s`` and level ``l``

    max  R t - sum_i (up_i + down_i)    s.t.  M (up - down) + s t M_p = 0,   0 <= t <= l,   0 <= up <= high,
     0 <= down <= -low,

with a reward ``R`` so large that ``t = l`` whenever that is possible. The vertex of a plain maximum touches
bounds all over the table, and its determinants grow with it; a shortest move is an alternating circuit or
two, with small denominators. Columns enter as their prices ask for them, starting around ``p``: of
thousands, a few hundred are ever looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_array, csr_array

from tacita.exact import UNBOUNDED, Cells, Floats, Units
from tacita.solvers.highs import GrowingProgram, Status

if TYPE_CHECKING:
    from tacita.run import Run

REWARD = 1e5
FIRST_COLUMNS = 100
COLUMNS_PER_ROUND = 300


class ShortMoves:
    """Finds short moves in one piece; bounds may change between questions."""

    def __init__(self, rows: csr_array, columns: csc_array, scale: float) -> None:
        self.rows, self.columns, self.scale = rows, columns, scale
        self.transposed = csr_array(columns.T)

    def find(
        self, p: int, sign: int, level: int, low: Units, high: Units, run: Run
    ) -> tuple[Floats | None, float]:
        """A move with ``s z_p = level`` (in steps) and how far it goes; None where prices show that the
        level is out of reach.

        NaN instead of a distance: the time ran out.
        """
        up, down = self._room(high), self._room(-low)
        target = slice(self.columns.indptr[p], self.columns.indptr[p + 1])
        program = GrowingProgram(self.columns.shape[0])
        program.add(
            [-REWARD],
            [level / self.scale],
            [self.columns.indices[target]],
            [sign * self.columns.data[target]],
        )
        asked: dict[int, int] = {}
        new = [(column, way) for column in self._around(p) for way in (1, -1)]
        while True:
            self._grow(program, new, asked, up, down, p, sign)
            status, point, prices = program.solve(run.remaining)
            if status is not Status.OPTIMAL:
                return None, float("nan")
            if point[0] * self.scale >= level * (1 - 1e-9):
                return self._move(point, asked, p, sign), float(level)
            new = self._wanted(prices, asked, up, down, p)
            if not new:
                return None, float(point[0] * self.scale)

    def _room(self, steps: Units) -> Floats:
        return np.where(np.abs(steps) >= UNBOUNDED, np.inf, steps / self.scale)

    def _around(self, p: int) -> Cells:
        """Columns near ``p``, equation by equation outwards."""
        seen, frontier = {p}, [p]
        while frontier and len(seen) < FIRST_COLUMNS:
            reached: list[int] = []
            for column in frontier:
                for row in self.columns.indices[
                    self.columns.indptr[column] : self.columns.indptr[column + 1]
                ]:
                    for other in self.rows.indices[
                        self.rows.indptr[row] : self.rows.indptr[row + 1]
                    ].tolist():
                        if other not in seen:
                            seen.add(other)
                            reached.append(other)
            frontier = reached
        seen.discard(p)
        return np.array(sorted(seen), dtype=np.int64)

    def _grow(
        self,
        program: GrowingProgram,
        new: list[tuple[int, int]],
        asked: dict[int, int],
        up: Floats,
        down: Floats,
        p: int,
        sign: int,
    ) -> None:
        chosen = [
            (c, way)
            for c, way in new
            if (up if way > 0 else down)[c] > 0 and c != p and 2 * c + (way > 0) not in asked
        ]
        for c, way in chosen:
            asked[2 * c + (way > 0)] = len(asked) + 1
        spans = [slice(self.columns.indptr[c], self.columns.indptr[c + 1]) for c, _ in chosen]
        program.add(
            [1.0] * len(chosen),
            [float((up if way > 0 else down)[c]) for c, way in chosen],
            [self.columns.indices[span] for span in spans],
            [way * self.columns.data[span] for span, (_, way) in zip(spans, chosen, strict=True)],
        )

    def _wanted(
        self, prices: Floats, asked: dict[int, int], up: Floats, down: Floats, p: int
    ) -> list[tuple[int, int]]:
        """The columns that prices value most, the best first."""
        worth = self.transposed @ prices
        gains = [(worth - 1.0, up, 1), (-worth - 1.0, down, -1)]
        found: list[tuple[float, int, int]] = []
        for gain, room, way in gains:
            at = np.flatnonzero((gain > 1e-7) & (room > 0))
            at = at[[2 * c + (way > 0) not in asked and c != p for c in at.tolist()]] if at.size else at
            best = at[np.argsort(-gain[at], kind="stable")[:COLUMNS_PER_ROUND]]
            found.extend((float(gain[c]), c, way) for c in best.tolist())
        found.sort(key=lambda item: (-item[0], item[1]))
        return [(c, way) for _, c, way in found[:COLUMNS_PER_ROUND]]

    def _move(self, point: Floats, asked: dict[int, int], p: int, sign: int) -> Floats:
        move = np.zeros(self.columns.shape[1])
        for key, at in asked.items():
            move[key // 2] += (1 if key % 2 else -1) * point[at]
        move[p] += sign * point[0]
        return move * self.scale
