"""The smallest and largest value of some variables over ``{ x : A x = b, l <= x <= u }``.

Two linear programs per variable: in one hot session, or, where few are asked for of many, each over the
variables that matter for it. Every point found on the way is looked at for all variables, and a bound that
some point attains needs no program of its own. Where variables are whole numbers and a vertex is not, an
integer program settles it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacita.auditing.furthest import FurthestMoves
from tacita.auditing.region import Block, by_columns
from tacita.core import exact
from tacita.core.errors import ReleaseError, SolverError
from tacita.core.exact import Cells, Floats, Units
from tacita.core.run import Run
from tacita.core.words import pluralize
from tacita.solvers.highs import Answer, Ended, Session
from tacita.solvers.linear_program import LinearProgram

TOLERANCE = 1e-7
COLUMNS_PER_QUESTION = 1000
"""With more variables than this per variable asked for, a session over all of them does not pay."""


@dataclass(frozen=True, eq=False)
class Question:
    """A block with its integer bounds, the variables that are asked for, and the effort allowed."""

    block: Block
    low: Units
    high: Units
    whole: bool
    columns: Cells
    run: Run


def extremes(question: Question) -> tuple[Floats, Floats]:
    """Smallest and largest value of each variable asked for; NaN where the time ran out, infinite where
    there is no bound.
    """
    return _ExtremeSearch(question).all()


class _ExtremeSearch:
    def __init__(self, question: Question) -> None:
        self.question = question
        self.low, self.high = exact.to_floats(question.low, 0), exact.to_floats(question.high, 0)
        largest = max(float(np.abs(b[np.isfinite(b)]).max(initial=0.0)) for b in (self.low, self.high))
        self.scale = 1.0 if question.whole else 10.0 ** max(0.0, np.ceil(np.log10(max(1.0, largest))) - 7.0)
        self.matrix = by_columns(question.block)
        self.rhs = question.block.rhs.astype(np.float64)
        low, high = self.low / self.scale, self.high / self.scale
        # The truth is a point to start from only where nothing but moves away from it is asked for.
        moves = not self.rhs.any() and bool((low <= 0).all() and (high >= 0).all())
        few = question.columns.size * COLUMNS_PER_QUESTION < low.size
        self.session: Session | FurthestMoves = (
            FurthestMoves(self.matrix, low, high)
            if few and moves
            else Session(LinearProgram.of_equations(self.matrix, low, high, self.rhs / self.scale))
        )
        self.least = np.full(self.low.size, np.inf)
        self.most = np.full(self.low.size, -np.inf)

    def all(self) -> tuple[Floats, Floats]:
        columns = self.question.columns.tolist()
        # All maxima first: their vertices attain most minima (often zero), which then need no program.
        high = np.array([self._one(column, 1) for column in columns])
        low = np.array([self._one(column, -1) for column in columns])
        return low, high

    def _one(self, column: int, sign: int) -> float:
        bound = self.high[column] if sign > 0 else self.low[column]
        seen = self.most[column] if sign > 0 else self.least[column]
        if np.isfinite(bound) and abs(seen - bound) <= TOLERANCE * max(1.0, abs(bound)):
            return float(bound)
        answer = self._ask(column, sign)
        if answer.status is Ended.UNBOUNDED:
            return sign * float("inf")
        if answer.status is Ended.STOPPED:
            return float("nan")
        if self.question.whole and not _is_whole(answer.point):
            # The optimum may be a whole number that only fractional tables attain.
            return self._whole(column, sign)
        value = answer.value * self.scale
        nearest = float(np.rint(value))
        return nearest if abs(value - nearest) <= TOLERANCE * max(1.0, abs(value)) else value

    def _ask(self, column: int, sign: int) -> Answer:
        if self.question.run.over:
            return Answer(Ended.STOPPED, float("nan"), np.empty(0))
        answer = self.session.extreme(column, sign, self.question.run)
        if answer.status is Ended.INFEASIBLE:
            raise ReleaseError(
                "no table satisfies the equations and all that is published: the release contradicts itself "
                f"(among {pluralize(self.low.size, 'connected cell')})"
            )
        if answer.status is Ended.OPTIMAL and (not self.question.whole or _is_whole(answer.point)):
            self._look_at(answer.point * self.scale)
        return answer

    def _look_at(self, point: Floats) -> None:
        np.minimum(self.least, point, out=self.least)
        np.maximum(self.most, point, out=self.most)

    def _whole(self, column: int, sign: int) -> float:
        program = LinearProgram.of_equations(self.matrix, self.low, self.high, self.rhs).in_integers()
        answer = Session(program).extreme(column, sign, self.question.run)
        if answer.status is Ended.OPTIMAL:
            self._look_at(np.rint(answer.point))
            return float(np.rint(answer.value))
        if answer.status is Ended.STOPPED:
            return float("nan")
        raise SolverError(
            f"no whole-number table was found where a fractional one exists ({answer.status.value})"
        )


def _is_whole(point: Floats) -> bool:
    return bool((np.abs(point - np.rint(point)) <= TOLERANCE * np.maximum(1.0, np.abs(point))).all())
