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
        """Return a move with ``s z_p = level`` (in steps), or None if there is none or the time ran out.

        With ``nearby`` only the cells around ``p`` are tried.
        """
        n = self.columns.shape[1]
        around = self._list_near(p, NEIGHBOURHOOD)
        near = np.array(sorted(around), dtype=np.int64)
        regions = (near,) if nearby or near.size == n else (near, np.arange(n))
        for cells in regions:
            region = _Region.of(self.columns, cells, p, low, high, level)
            first = np.searchsorted(cells, around[:FIRST_COLUMNS])
            point = region.find(sign, first, run)
            if point is not None:
                move = np.zeros(n)
                move[cells] = point * level
                return move
        return None

    def _list_near(self, p: int, most: int) -> list[int]:
        """Return columns near ``p``, ``p`` first, equation by equation outwards until there are ``most``."""
        seen, found, at = {p}, [p], 0
        while at < len(found) and len(found) < most:
            for row in self._in_column[found[at]]:
                new = [column for column in self._in_row[row] if column not in seen]
                seen.update(new)
                found.extend(new)
            at += 1
        return found


@dataclass(frozen=True, eq=False)
class _Region:
    """Some columns of the block with their equations; all others stay fixed.

    Changes are in levels: the target is to move by one.
    """

    cells: Cells
    matrix: csc_array
    transposed: csr_array
    target: int
    up: Floats
    down: Floats

    @classmethod
    def of(cls, columns: csc_array, cells: Cells, p: int, low: Units, high: Units, level: int) -> _Region:
        """Return some columns of a block as a region."""
        matrix = columns[:, cells] if cells.size < columns.shape[1] else columns
        used, index = np.unique(matrix.indices, return_inverse=True)
        matrix = csc_array((matrix.data, index, matrix.indptr), shape=(used.size, cells.size))
        target = int(np.searchsorted(cells, p))
        up, down = _to_levels(high[cells], level), _to_levels(-low[cells], level)
        up[target] = down[target] = 0.0
        return cls(cells, matrix, csr_array(matrix.T), target, up, down)

    def find(self, sign: int, first: Cells, run: Run) -> Floats | None:
        """Return a short move over ``cells``, or None if dual values prove that the target cannot move by one
        level.
        """
        session = Session(LinearProgram.without_variables(self.matrix.shape[0]))
        span = self._span(self.target)
        session.add_columns([-REWARD], [1.0], [self.matrix.indices[span]], [sign * self.matrix.data[span]])
        known: dict[tuple[int, int], int] = {}
        new = [(int(column), direction) for column in first for direction in (1, -1)]
        while True:
            self._add_columns(session, new, known)
            if session.solve(run) is not Ended.OPTIMAL:
                return None
            point = session.point()
            if point[0] >= 1 - 1e-9:
                return self._make_move(point, known, sign)
            new = self._choose_columns(session.duals(), known)
            if not new:
                return None

    def _span(self, column: int) -> slice:
        return slice(int(self.matrix.indptr[column]), int(self.matrix.indptr[column + 1]))

    def _add_columns(
        self, session: Session, new: list[tuple[int, int]], known: dict[tuple[int, int], int]
    ) -> None:
        """Add columns that have room to a session, and number them."""
        chosen = [(c, direction) for c, direction in new if (self.up if direction > 0 else self.down)[c] > 0]
        for key in chosen:
            known[key] = len(known) + 1
        spans = [self._span(c) for c, _ in chosen]
        session.add_columns(
            [1.0] * len(chosen),
            [float((self.up if direction > 0 else self.down)[c]) for c, direction in chosen],
            [self.matrix.indices[span] for span in spans],
            [direction * self.matrix.data[span] for span, (_, direction) in zip(spans, chosen, strict=True)],
        )

    def _choose_columns(self, duals: Floats, known: dict[tuple[int, int], int]) -> list[tuple[int, int]]:
        """Return the columns of best reduced cost with their directions, the best first."""
        worth = self.transposed @ duals
        found: list[tuple[float, int, int]] = []
        for direction, room in ((1, self.up), (-1, self.down)):
            gain = direction * worth - 1.0
            at = np.flatnonzero((gain > 1e-7) & (room > 0))
            at = at[np.argsort(-gain[at], kind="stable")]
            found.extend((float(gain[c]), c, direction) for c in at.tolist() if (c, direction) not in known)
        found.sort(key=lambda item: (-item[0], item[1]))
        return [(c, direction) for _, c, direction in found[:COLUMNS_PER_ROUND]]

    def _make_move(self, point: Floats, known: dict[tuple[int, int], int], sign: int) -> Floats:
        """Return the move of a solution, over ``cells``."""
        move = np.zeros(self.cells.size)
        for (column, direction), at in known.items():
            move[column] += direction * point[at]
        move[self.target] = sign * point[0]
        return move


def _to_levels(steps: Units, level: int) -> Floats:
    """Return room in levels, at most ``FAR``, which keeps the program well scaled."""
    return np.minimum(steps / level, FAR)
