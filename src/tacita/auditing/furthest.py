"""How far one variable of a large program can be moved, when few are asked about.

With the truth at ``z = 0`` and ``l <= 0 <= u``

    max  t    s.t.  A (up - down) + s t A_p = 0,   0 <= up <= u,   0 <= down <= -l,

is feasible as it stands: nothing moves. Columns enter as their prices ask for them, and when none does the
maximum is proven. Of a hundred thousand columns a few thousand are ever looked at, where a program over all
of them spends seconds on its first basis.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array, csr_array

from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.solvers.highs import Answer, Ended, Rows, Session
from tacita.solvers.linear_program import LinearProgram

COLUMNS_PER_ROUND = 300
GAIN = 1e-7
"""A column whose price is no better than this has nothing to add."""
NEARLY = 1e-9
FAR = 1e6
"""More room than this makes a column no more attractive."""


class FurthestMoves:
    """The moves ``{ z : A z = 0, l <= z <= u }`` with ``l <= 0 <= u``, asked for the extremes of a few
    variables.
    """

    def __init__(self, matrix: csc_array, low: Floats, high: Floats) -> None:
        self._matrix = matrix
        self._worth = csr_array(matrix.T)
        self._room = {1: high, -1: -low}

    def extreme(self, column: int, sign: int, run: Run) -> Answer:
        """Maximise ``sign * z[column]``; the value comes back as ``z[column]`` itself."""
        session = Session(LinearProgram.without_variables(self._matrix.shape[0]))
        most = float(self._room[sign][column])
        self._add(session, [column], [sign], [-1.0], [most])
        columns, ways = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        asked = {way: room <= 0 for way, room in self._room.items()}
        for closed in asked.values():
            closed[column] = True
        while True:
            status = session.solve(run)
            if status is not Ended.OPTIMAL:
                return Answer(status, float("nan"), np.empty(0))
            point = session.point()
            new, way = self._wanted(session.duals(), asked)
            if new.size == 0 or point[0] >= most * (1 - NEARLY):
                move = np.zeros(self._matrix.shape[1])
                np.add.at(move, columns, ways * point[1:])
                move[column] = sign * point[0]
                return Answer(status, float(move[column]), move)
            rooms = [float(self._room[w][c]) for c, w in zip(new.tolist(), way.tolist(), strict=True)]
            self._add(session, new.tolist(), way.tolist(), [0.0] * new.size, rooms)
            columns, ways = np.concatenate([columns, new]), np.concatenate([ways, way])

    def _wanted(self, prices: Floats, asked: dict[int, Mask]) -> tuple[Cells, Cells]:
        """The columns that prices value most, and which way they go; they count as asked from now on."""
        worth = self._worth @ prices
        found, ways, gains = [], [], []
        for way, closed in asked.items():
            at = np.flatnonzero((way * worth > GAIN) & ~closed)
            found.append(at)
            ways.append(np.full(at.size, way))
            gains.append(np.minimum(self._room[way][at], FAR) * way * worth[at])
        best = np.argsort(-np.concatenate(gains), kind="stable")[:COLUMNS_PER_ROUND]
        columns, chosen = np.concatenate(found)[best], np.concatenate(ways)[best]
        for way, closed in asked.items():
            closed[columns[chosen == way]] = True
        return columns, chosen

    def _add(
        self,
        session: Session,
        columns: list[int],
        ways: list[int],
        costs: list[float],
        most: list[float],
    ) -> None:
        starts = self._matrix.indptr
        spans = [slice(int(starts[c]), int(starts[c + 1])) for c in columns]
        rows: list[Rows] = [self._matrix.indices[span] for span in spans]
        entries = [way * self._matrix.data[span] for way, span in zip(ways, spans, strict=True)]
        session.add_columns(costs, most, rows, entries)
