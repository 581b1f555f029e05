"""A move of few cells: what makes a proof exact where tables are no networks, and hard to see through.

For target ``p``, direction ``s`` and level ``l``

    max  R t - sum_i (up_i + down_i)
    s.t. M (up - down) + s t M_p = 0,   0 <= t <= l,   0 <= up <= high,   0 <= down <= -low,

with a reward ``R`` so large that ``t = l`` whenever that is possible. The vertex of a plain maximum touches
bounds all over the table, and its determinants grow with it; a shortest move is an alternating circuit or
two, with small denominators and few cells for an insider to know. It is looked for among the cells around
``p`` first. Columns enter as their prices ask for them: of thousands, a few hundred are ever looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_array, csr_array

from tacita.exact import UNBOUNDED, Cells, Floats, Units
from tacita.solvers.highs import GrowingProgram, Status

if TYPE_CHECKING:
    from tacita.run import Run

REWARD = 1e5
NEIGHBOURHOOD = 600
FIRST_COLUMNS = 100
COLUMNS_PER_ROUND = 300


class ShortMoves:
    """Finds short moves in one piece; bounds may change between questions."""

    def __init__(self, rows: csr_array, columns: csc_array, scale: float) -> None:
        self.rows, self.columns, self.scale = rows, columns, scale

    def find(
        self, p: int, sign: int, level: int, low: Units, high: Units, run: Run
    ) -> tuple[Floats | None, float]:
        """A move with ``s z_p = level`` (in steps) and how far it goes; None where prices show that the
        level is out of reach.

        NaN instead of a distance: the time ran out.
        """
        n = self.columns.shape[1]
        near, reached = self._around(p, NEIGHBOURHOOD), 0.0
        for cells in (near, np.arange(n)) if near.size < n else (near,):
            place = _Place.of(self.columns, cells, p, low, high, self.scale)
            point, reached = place.find(sign, level / self.scale, self._first(place, p), run)
            if point is not None:
                move = np.zeros(n)
                move[cells] = point * self.scale
                return move, float(level)
            if np.isnan(reached):
                break
        return None, reached * self.scale

    def _first(self, place: _Place, p: int) -> Cells:
        return np.searchsorted(place.cells, self._around(p, FIRST_COLUMNS))

    def _around(self, p: int, most: int) -> Cells:
        """Columns near ``p``, ``p`` included, equation by equation outwards until there are ``most``."""
        rows, columns = self.rows, self.columns
        seen, frontier = {p}, [p]
        while frontier and len(seen) < most:
            reached: list[int] = []
            for column in frontier:
                for row in columns.indices[columns.indptr[column] : columns.indptr[column + 1]].tolist():
                    for other in rows.indices[rows.indptr[row] : rows.indptr[row + 1]].tolist():
                        if other not in seen:
                            seen.add(other)
                            reached.append(other)
            frontier = reached
        return np.array(sorted(seen), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Place:
    """Some columns of the piece with their equations; all others stay where they are."""

    cells: Cells
    matrix: csc_array
    prices_to_worth: csr_array
    target: int
    up: Floats
    down: Floats

    @classmethod
    def of(cls, columns: csc_array, cells: Cells, p: int, low: Units, high: Units, scale: float) -> _Place:
        matrix = columns[:, cells] if cells.size < columns.shape[1] else columns
        used, index = np.unique(matrix.indices, return_inverse=True)
        matrix = csc_array((matrix.data, index, matrix.indptr), shape=(used.size, cells.size))
        target = int(np.searchsorted(cells, p))
        up, down = _room(high[cells], scale), _room(-low[cells], scale)
        up[target] = down[target] = 0.0
        return cls(cells, matrix, csr_array(matrix.T), target, up, down)

    def find(self, sign: int, level: float, first: Cells, run: Run) -> tuple[Floats | None, float]:
        """The move, and how far the target goes; None if prices show that it cannot go all the way."""
        program = GrowingProgram(self.matrix.shape[0])
        span = self._span(self.target)
        program.add([-REWARD], [level], [self.matrix.indices[span]], [sign * self.matrix.data[span]])
        asked: dict[tuple[int, int], int] = {}
        new = [(int(column), way) for column in first for way in (1, -1)]
        while True:
            self._grow(program, new, asked)
            status, point, prices = program.solve(run.remaining)
            if status is not Status.OPTIMAL:
                return None, float("nan")
            if point[0] >= level * (1 - 1e-9):
                return self._move(point, asked, sign), level
            new = self._wanted(prices, asked)
            if not new:
                return None, float(point[0])

    def _span(self, column: int) -> slice:
        return slice(int(self.matrix.indptr[column]), int(self.matrix.indptr[column + 1]))

    def _grow(
        self, program: GrowingProgram, new: list[tuple[int, int]], asked: dict[tuple[int, int], int]
    ) -> None:
        chosen = [(c, way) for c, way in new if (self.up if way > 0 else self.down)[c] > 0]
        for key in chosen:
            asked[key] = len(asked) + 1
        spans = [self._span(c) for c, _ in chosen]
        program.add(
            [1.0] * len(chosen),
            [float((self.up if way > 0 else self.down)[c]) for c, way in chosen],
            [self.matrix.indices[span] for span in spans],
            [way * self.matrix.data[span] for span, (_, way) in zip(spans, chosen, strict=True)],
        )

    def _wanted(self, prices: Floats, asked: dict[tuple[int, int], int]) -> list[tuple[int, int]]:
        """The columns that prices value most, the best first."""
        worth = self.prices_to_worth @ prices
        found: list[tuple[float, int, int]] = []
        for way, room in ((1, self.up), (-1, self.down)):
            gain = way * worth - 1.0
            at = np.flatnonzero((gain > 1e-7) & (room > 0))
            at = at[np.argsort(-gain[at], kind="stable")]
            found.extend((float(gain[c]), c, way) for c in at.tolist() if (c, way) not in asked)
        found.sort(key=lambda item: (-item[0], item[1]))
        return [(c, way) for _, c, way in found[:COLUMNS_PER_ROUND]]

    def _move(self, point: Floats, asked: dict[tuple[int, int], int], sign: int) -> Floats:
        move = np.zeros(self.cells.size)
        for (column, way), at in asked.items():
            move[column] += way * point[at]
        move[self.target] = sign * point[0]
        return move


def _room(steps: Units, scale: float) -> Floats:
    return np.where(np.abs(steps) >= UNBOUNDED, np.inf, steps / scale)
