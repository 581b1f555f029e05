"""The smallest and largest value of some variables over ``{ x : A x = b, l <= x <= u }``.

Two linear programs per variable, in one warm session, or, for a few of many variables, by column generation.
Every point found is compared with the bounds of all variables: a bound that some point attains needs no
program. Where variables are integers and a vertex is not, an integer program follows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array

from tacita.auditing.generated_moves import COLUMNS_PER_ROUND, GeneratedMoves
from tacita.auditing.region import Block, to_columns
from tacita.core import exact
from tacita.core.errors import ReleaseError, SolverError
from tacita.core.exact import Cells, Floats, Units
from tacita.core.run import Run
from tacita.core.words import pluralize
from tacita.solvers.highs import Answer, Ended, Session
from tacita.solvers.linear_program import LinearProgram

TOLERANCE = 1e-7
COLUMNS_PER_QUESTION = 1000
"""With more variables than this per requested one, columns are generated."""
NEARLY = 1e-9
FAR = 1e6
"""Room above this does not make a column more attractive."""


@dataclass(frozen=True, eq=False)
class ExtremeQuestion:
    """A block with its integer bounds and the requested variables."""

    block: Block
    low: Units
    high: Units
    integer: bool
    columns: Cells


def find_extremes(question: ExtremeQuestion, run: Run) -> tuple[Floats, Floats]:
    """Return the ends of the interval that an attacker can deduce for each requested cell of a block; NaN
    where the time ran out, infinite where there is no bound.
    """
    search, columns = _ExtremeSearch(question, run), question.columns.tolist()
    # All maxima first: their vertices attain most minima (often zero), which then need no program.
    high = np.array([search.find(column, 1) for column in columns])
    low = np.array([search.find(column, -1) for column in columns])
    return low, high


class _ExtremeSearch:
    """The extremes of one block; ``least`` and ``most`` are those of the points found so far."""

    def __init__(self, question: ExtremeQuestion, run: Run) -> None:
        self.question, self.run = question, run
        self.low, self.high = exact.to_floats(question.low, 0), exact.to_floats(question.high, 0)
        largest = max(float(np.abs(b[np.isfinite(b)]).max(initial=0.0)) for b in (self.low, self.high))
        self.scale = 1.0 if question.integer else 10.0 ** max(0.0, np.ceil(np.log10(max(1.0, largest))) - 7.0)
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
        """Return the upper (sign 1) or lower (-1) end of the interval that can be deduced for a cell."""
        bound = self.high[column] if sign > 0 else self.low[column]
        attained = self.most[column] if sign > 0 else self.least[column]
        if np.isfinite(bound) and abs(attained - bound) <= TOLERANCE * max(1.0, abs(bound)):
            return float(bound)
        answer = self._solve(column, sign)
        if answer.status is Ended.UNBOUNDED:
            return sign * float("inf")
        if answer.status is Ended.STOPPED:
            return float("nan")
        if self.question.integer and not _is_integer(answer.point):
            # The optimum may be an integer that only fractional tables attain.
            return self._solve_integer(column, sign)
        value = answer.value * self.scale
        nearest = float(np.rint(value))
        return nearest if abs(value - nearest) <= TOLERANCE * max(1.0, abs(value)) else value

    def _solve(self, column: int, sign: int) -> Answer:
        """Return the solver's answer for an end of an interval, if time is left, and record its point."""
        if self.run.over:
            return Answer(Ended.STOPPED, float("nan"), np.empty(0))
        answer = self.session.find_extreme(column, sign, self.run)
        if answer.status is Ended.INFEASIBLE:
            raise ReleaseError(
                "no table satisfies the equations and all that is published: the release contradicts itself "
                f"(among {pluralize(self.low.size, 'connected cell')})"
            )
        if answer.status is Ended.OPTIMAL and (not self.question.integer or _is_integer(answer.point)):
            self._record(answer.point * self.scale)
        return answer

    def _record(self, point: Floats) -> None:
        np.minimum(self.least, point, out=self.least)
        np.maximum(self.most, point, out=self.most)

    def _solve_integer(self, column: int, sign: int) -> float:
        """Return an end of a deduced interval where cells are counts, by an integer program."""
        program = LinearProgram.of_equations(self.matrix, self.low, self.high, self.rhs).in_integers()
        answer = Session(program).find_extreme(column, sign, self.run)
        if answer.status is Ended.OPTIMAL:
            self._record(np.rint(answer.point))
            return float(np.rint(answer.value))
        if answer.status is Ended.STOPPED:
            return float("nan")
        raise SolverError(f"no integer table was found where a fractional one exists ({answer.status.value})")


def _is_integer(point: Floats) -> bool:
    return bool((np.abs(point - np.rint(point)) <= TOLERANCE * np.maximum(1.0, np.abs(point))).all())


class FurthestMoves:
    """Extremes of a few variables over the moves ``{ z : A z = 0, low <= z <= high }`` of many."""

    def __init__(self, matrix: csc_array, low: Floats, high: Floats) -> None:
        self._matrix, self._transposed, self._room = matrix, csr_array(matrix.T), (high, -low)

    def find_extreme(self, column: int, sign: int, run: Run) -> Answer:
        """Return the move with the largest ``sign * z[column]``, and ``z[column]`` itself as its value."""
        up, down = self._room
        most = float((up if sign > 0 else down)[column])
        program = GeneratedMoves(self._matrix, self._transposed, self._room, (column, sign), most)
        while True:
            status = program.session.solve(run)
            if status is not Ended.OPTIMAL:
                return Answer(status, float("nan"), np.empty(0))
            point = program.session.read_point()
            columns, signs, gains = program.find_entering()
            if gains.size == 0 or point[0] >= most * (1 - NEARLY):
                move = program.make_move(point)
                return Answer(status, float(move[column]), move)
            room = np.where(signs > 0, up[columns], down[columns])
            best = np.argsort(-(np.minimum(room, FAR) * gains), kind="stable")[:COLUMNS_PER_ROUND]
            program.add(columns[best], signs[best])
