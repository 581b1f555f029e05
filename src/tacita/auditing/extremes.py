"""The smallest and largest value of some variables over ``{ x : A x = b, l <= x <= u }``.

Two linear programs per variable, in one warm session, or, for a few of many variables, by column generation.
Every point found is compared with the bounds of all variables: a bound that some point attains needs no
program. Where variables are integers and a vertex is not, an integer program follows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array

from tacita.auditing.region import Block, to_columns
from tacita.core import exact
from tacita.core.errors import ReleaseError, SolverError
from tacita.core.exact import Cells, Floats, Mask, Units
from tacita.core.run import Run
from tacita.core.words import pluralize
from tacita.solvers.highs import Answer, Ended, Rows, Session
from tacita.solvers.linear_program import LinearProgram

TOLERANCE = 1e-7
COLUMNS_PER_QUESTION = 1000
"""With more variables than this per requested one, columns are generated."""
COLUMNS_PER_ROUND = 300
GAIN = 1e-7
"""A column whose reduced cost is no better than this is not added."""
NEARLY = 1e-9
FAR = 1e6
"""Room above this does not make a column more attractive."""


@dataclass(frozen=True, eq=False)
class ExtremeQuestion:
    """A block with its integer bounds, the requested variables, and the effort allowed."""

    block: Block
    low: Units
    high: Units
    whole: bool
    columns: Cells
    run: Run


def find_extremes(question: ExtremeQuestion) -> tuple[Floats, Floats]:
    """Return the smallest and largest value of each requested variable; NaN where the time ran out, infinite
    where there is no bound.
    """
    search, columns = _ExtremeSearch(question), question.columns.tolist()
    # All maxima first: their vertices attain most minima (often zero), which then need no program.
    high = np.array([search.find(column, 1) for column in columns])
    low = np.array([search.find(column, -1) for column in columns])
    return low, high


class _ExtremeSearch:
    """The extremes of one block; ``least`` and ``most`` are those of the points found so far."""

    def __init__(self, question: ExtremeQuestion) -> None:
        self.question = question
        self.low, self.high = exact.to_floats(question.low, 0), exact.to_floats(question.high, 0)
        largest = max(float(np.abs(b[np.isfinite(b)]).max(initial=0.0)) for b in (self.low, self.high))
        self.scale = 1.0 if question.whole else 10.0 ** max(0.0, np.ceil(np.log10(max(1.0, largest))) - 7.0)
        self.matrix = to_columns(question.block)
        self.rhs = question.block.rhs.astype(np.float64)
        low, high = self.low / self.scale, self.high / self.scale
        # Columns are generated only for moves: there the truth, z = 0, is a point to start from.
        moves = not self.rhs.any() and bool((low <= 0).all() and (high >= 0).all())
        few = question.columns.size * COLUMNS_PER_QUESTION < low.size
        self.session: Session | FurthestMoves = (
            FurthestMoves(self.matrix, low, high)
            if few and moves
            else Session(LinearProgram.of_equations(self.matrix, low, high, self.rhs / self.scale))
        )
        self.least = np.full(self.low.size, np.inf)
        self.most = np.full(self.low.size, -np.inf)

    def find(self, column: int, sign: int) -> float:
        """Return the largest (sign 1) or smallest (-1) value of a variable."""
        bound = self.high[column] if sign > 0 else self.low[column]
        attained = self.most[column] if sign > 0 else self.least[column]
        if np.isfinite(bound) and abs(attained - bound) <= TOLERANCE * max(1.0, abs(bound)):
            return float(bound)
        answer = self._solve(column, sign)
        if answer.status is Ended.UNBOUNDED:
            return sign * float("inf")
        if answer.status is Ended.STOPPED:
            return float("nan")
        if self.question.whole and not _is_integer(answer.point):
            # The optimum may be an integer that only fractional tables attain.
            return self._solve_integer(column, sign)
        value = answer.value * self.scale
        nearest = float(np.rint(value))
        return nearest if abs(value - nearest) <= TOLERANCE * max(1.0, abs(value)) else value

    def _solve(self, column: int, sign: int) -> Answer:
        """Return the solver's answer, unless the time is over, and record its point."""
        if self.question.run.over:
            return Answer(Ended.STOPPED, float("nan"), np.empty(0))
        answer = self.session.find_extreme(column, sign, self.question.run)
        if answer.status is Ended.INFEASIBLE:
            raise ReleaseError(
                "no table satisfies the equations and all that is published: the release contradicts itself "
                f"(among {pluralize(self.low.size, 'connected cell')})"
            )
        if answer.status is Ended.OPTIMAL and (not self.question.whole or _is_integer(answer.point)):
            self._record(answer.point * self.scale)
        return answer

    def _record(self, point: Floats) -> None:
        np.minimum(self.least, point, out=self.least)
        np.maximum(self.most, point, out=self.most)

    def _solve_integer(self, column: int, sign: int) -> float:
        """Return the largest or smallest value of a variable over integer points."""
        program = LinearProgram.of_equations(self.matrix, self.low, self.high, self.rhs).in_integers()
        answer = Session(program).find_extreme(column, sign, self.question.run)
        if answer.status is Ended.OPTIMAL:
            self._record(np.rint(answer.point))
            return float(np.rint(answer.value))
        if answer.status is Ended.STOPPED:
            return float("nan")
        raise SolverError(f"no integer table was found where a fractional one exists ({answer.status.value})")


def _is_integer(point: Floats) -> bool:
    return bool((np.abs(point - np.rint(point)) <= TOLERANCE * np.maximum(1.0, np.abs(point))).all())


class FurthestMoves:
    """Extremes of a few variables over many moves, by column generation. With ``l <= 0 <= u``

        max  t    s.t.  A (up - down) + s t A_p = 0,   0 <= up <= u,   0 <= down <= -l,

    is feasible without any other column: nothing moves. Columns enter by their reduced costs, and when none
    has a good one the maximum is proven. Of a hundred thousand columns a few thousand ever enter, where a
    program over all of them spends seconds on its first basis.
    """

    def __init__(self, matrix: csc_array, low: Floats, high: Floats) -> None:
        self._matrix = matrix
        self._transposed = csr_array(matrix.T)
        self._room = {1: high, -1: -low}

    def find_extreme(self, column: int, sign: int, run: Run) -> Answer:
        """Maximise ``sign * z[column]``; the value of the answer is ``z[column]`` itself."""
        session = Session(LinearProgram.without_variables(self._matrix.shape[0]))
        most = float(self._room[sign][column])
        self._add(session, [column], [sign], -1.0, [most])
        columns, signs = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        closed = {direction: room <= 0 for direction, room in self._room.items()}
        for known in closed.values():
            known[column] = True
        while True:
            status = session.solve(run)
            if status is not Ended.OPTIMAL:
                return Answer(status, float("nan"), np.empty(0))
            point = session.point()
            new, directions = self._choose_columns(session.duals(), closed)
            if new.size == 0 or point[0] >= most * (1 - NEARLY):
                move = np.zeros(self._matrix.shape[1])
                np.add.at(move, columns, signs * point[1:])
                move[column] = sign * point[0]
                return Answer(status, float(move[column]), move)
            pairs = zip(new.tolist(), directions.tolist(), strict=True)
            rooms = [float(self._room[direction][c]) for c, direction in pairs]
            self._add(session, new.tolist(), directions.tolist(), 0.0, rooms)
            columns, signs = np.concatenate([columns, new]), np.concatenate([signs, directions])

    def _choose_columns(self, duals: Floats, closed: dict[int, Mask]) -> tuple[Cells, Cells]:
        """Return the columns of best reduced cost and their directions, and close them."""
        worth = self._transposed @ duals
        found, signs, gains = [], [], []
        for sign, known in closed.items():
            at = np.flatnonzero((sign * worth > GAIN) & ~known)
            found.append(at)
            signs.append(np.full(at.size, sign))
            gains.append(np.minimum(self._room[sign][at], FAR) * sign * worth[at])
        best = np.argsort(-np.concatenate(gains), kind="stable")[:COLUMNS_PER_ROUND]
        columns, chosen = np.concatenate(found)[best], np.concatenate(signs)[best]
        for sign, known in closed.items():
            known[columns[chosen == sign]] = True
        return columns, chosen

    def _add(
        self, session: Session, columns: list[int], signs: list[int], cost: float, most: list[float]
    ) -> None:
        """Add columns to a session, each in its direction."""
        starts = self._matrix.indptr
        spans = [slice(int(starts[c]), int(starts[c + 1])) for c in columns]
        rows: list[Rows] = [self._matrix.indices[span] for span in spans]
        entries = [sign * self._matrix.data[span] for sign, span in zip(signs, spans, strict=True)]
        session.add_columns([cost] * len(columns), most, rows, entries)
