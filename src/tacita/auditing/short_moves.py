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

from tacita.core.exact import Cells, Floats, Units
from tacita.solvers.highs import Ended, Session
from tacita.solvers.linear_program import LinearProgram

if TYPE_CHECKING:
    from tacita.core.run import Run

REWARD = 1e5
NEIGHBOURHOOD = 1000
FIRST_COLUMNS = 150
COLUMNS_PER_ROUND = 300
FAR = 1e4


class ShortMoves:
    """Finds short moves in one block; bounds may change between questions."""

    def __init__(self, rows: csr_array, columns: csc_array) -> None:
        self.columns = columns
        # Plain lists: neighbourhoods are walked cell by cell, where numpy would be slow.
        self._in_row = [part.tolist() for part in np.split(rows.indices, rows.indptr[1:-1])]
        self._in_column = [part.tolist() for part in np.split(columns.indices, columns.indptr[1:-1])]

    def find(
        self, p: int, sign: int, level: int, low: Units, high: Units, run: Run, nearby: bool = False
    ) -> Floats | None:
        """A move with ``s z_p = level`` (in steps), or None if there is none or the time ran out.

        With ``nearby`` only the cells around ``p`` are tried.
        """
        n = self.columns.shape[1]
        around = self._around(p, NEIGHBOURHOOD)
        near = np.array(sorted(around), dtype=np.int64)
        places = (near,) if nearby or near.size == n else (near, np.arange(n))
        for cells in places:
            place = _Place.of(self.columns, cells, p, low, high, level)
            first = np.searchsorted(cells, around[:FIRST_COLUMNS])
            point = place.find(sign, first, run)
            if point is not None:
                move = np.zeros(n)
                move[cells] = point * level
                return move
        return None

    def _around(self, p: int, most: int) -> list[int]:
        """Columns near ``p``, ``p`` first, equation by equation outwards until there are ``most``."""
        seen, found, at = {p}, [p], 0
        while at < len(found) and len(found) < most:
            for row in self._in_column[found[at]]:
                new = [column for column in self._in_row[row] if column not in seen]
                seen.update(new)
                found.extend(new)
            at += 1
        return found


@dataclass(frozen=True, eq=False)
class _Place:
    """Some columns of the block with their equations; all others stay where they are.

    Everything is counted in levels: the target shall move by one.
    """

    cells: Cells
    matrix: csc_array
    prices_to_worth: csr_array
    target: int
    up: Floats
    down: Floats

    @classmethod
    def of(cls, columns: csc_array, cells: Cells, p: int, low: Units, high: Units, level: int) -> _Place:
        matrix = columns[:, cells] if cells.size < columns.shape[1] else columns
        used, index = np.unique(matrix.indices, return_inverse=True)
        matrix = csc_array((matrix.data, index, matrix.indptr), shape=(used.size, cells.size))
        target = int(np.searchsorted(cells, p))
        up, down = _room(high[cells], level), _room(-low[cells], level)
        up[target] = down[target] = 0.0
        return cls(cells, matrix, csr_array(matrix.T), target, up, down)

    def find(self, sign: int, first: Cells, run: Run) -> Floats | None:
        """The move, or None if prices show that the target cannot go all the way."""
        session = Session(LinearProgram.without_variables(self.matrix.shape[0]))
        span = self._span(self.target)
        session.add_columns([-REWARD], [1.0], [self.matrix.indices[span]], [sign * self.matrix.data[span]])
        asked: dict[tuple[int, int], int] = {}
        new = [(int(column), way) for column in first for way in (1, -1)]
        while True:
            self._grow(session, new, asked)
            if session.solve(run) is not Ended.OPTIMAL:
                return None
            point = session.point()
            if point[0] >= 1 - 1e-9:
                return self._move(point, asked, sign)
            new = self._wanted(session.duals(), asked)
            if not new:
                return None

    def _span(self, column: int) -> slice:
        return slice(int(self.matrix.indptr[column]), int(self.matrix.indptr[column + 1]))

    def _grow(self, session: Session, new: list[tuple[int, int]], asked: dict[tuple[int, int], int]) -> None:
        chosen = [(c, way) for c, way in new if (self.up if way > 0 else self.down)[c] > 0]
        for key in chosen:
            asked[key] = len(asked) + 1
        spans = [self._span(c) for c, _ in chosen]
        session.add_columns(
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


def _room(steps: Units, level: int) -> Floats:
    """Room in levels; what is far beyond need counts as a round number, which keeps the program well
    scaled.
    """
    return np.minimum(steps / level, FAR)
