"""HiGHS as a hot session: one linear program ``min c x : A x = b, l <= x <= u`` asked many questions.

The matrix is passed once. Between questions only the objective and a few bounds change, and the basis stays,
so that most answers take a handful of pivots. The primal simplex is used because a change of objective
leaves the basis primal feasible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacita.core.errors import TOO_FAR_APART, SolverError
from tacita.core.exact import Cells, Floats
from tacita.core.run import Run

if TYPE_CHECKING:
    from highspy import Highs
    from highspy.highs import HighsCallbackEvent
    from scipy.sparse import csc_array

DUAL_SIMPLEX = 1
PRIMAL_SIMPLEX = 4
SLICE = 1.0
"""Seconds after which a long linear program looks up."""
MOST_NODES = 10_000
"""An integer program that needs more branching than this is given up, on every machine alike."""

Rows = NDArray[np.int32] | NDArray[np.int64]


class Ended(Enum):
    """How a question ended. Only OPTIMAL, UNBOUNDED and INFEASIBLE prove anything."""

    OPTIMAL = "optimal"
    UNBOUNDED = "unbounded"
    INFEASIBLE = "infeasible"
    STOPPED = "stopped"


@dataclass(frozen=True, eq=False)
class Answer:
    """An optimum and a point that attains it (none when unbounded, infeasible or stopped)."""

    status: Ended
    value: float
    point: Floats


class Session:
    """A linear program kept hot in HiGHS.

    Parameters
    ----------
    matrix
        ``A``, by columns.
    lower, upper
        Bounds of the variables; infinite where there is none.
    rhs
        ``b``.
    whole
        Every variable is an integer. Such a session is a mixed-integer solver and starts cold each time.
    afresh
        Start each minimum from the basis in which nothing moves. With costs that are not negative and few
        bounds that nothing violates, the dual simplex is then done in a few pivots, where a basis left over
        from another question costs hundreds.
    """

    def __init__(
        self,
        matrix: csc_array,
        lower: Floats,
        upper: Floats,
        rhs: Floats,
        whole: bool = False,
        afresh: bool = False,
    ) -> None:
        self._highs, self._whole, self._afresh = _load(matrix, lower, upper, rhs, whole), whole, afresh
        if afresh:
            self._highs.setOptionValue("simplex_strategy", DUAL_SIMPLEX)

    def set_bounds(self, columns: Cells, lower: Floats, upper: Floats) -> None:
        """New bounds for some variables."""
        self._highs.changeColsBounds(len(columns), columns.astype(np.int32), lower, upper)

    def extreme(self, column: int, sign: int, run: Run) -> Answer:
        """Maximise ``sign * x[column]``; the value comes back as ``x[column]`` itself."""
        self._highs.changeColCost(column, float(-sign))
        answer = self._answer(run)
        self._highs.changeColCost(column, 0.0)
        return answer if answer.point.size == 0 else replace(answer, value=float(answer.point[column]))

    def minimise(self, costs: Floats, run: Run, most_pivots: int | None = None) -> Answer:
        """Minimise ``costs @ x``, giving up after so many pivots; the costs stay until the next call."""
        if most_pivots is not None:
            self._highs.setOptionValue("simplex_iteration_limit", most_pivots)
        self._highs.changeColsCost(costs.size, np.arange(costs.size, dtype=np.int32), costs)
        if self._afresh:
            self._highs.clearSolver()
        return self._answer(run)

    def prices(self) -> Floats:
        """What one more unit of each right-hand side would change the last optimum by."""
        return np.array(self._highs.getSolution().row_dual)

    def _answer(self, run: Run) -> Answer:
        highs = self._highs
        status = self._solve(run)
        if highs.getModelStatus().name in ("kUnknown", "kSolveError") and not run.over:
            # The basis of an earlier question may be the reason. A second failure leaves this one open.
            highs.clearSolver()
            status = self._solve(run)
        if status is not Ended.OPTIMAL:
            return Answer(status, float("nan"), np.empty(0))
        return Answer(status, highs.getObjectiveValue(), np.array(highs.getSolution().col_value))

    def _solve(self, run: Run) -> Ended:
        # A search for integers begins anew when it is called again; the simplex goes on from its basis.
        try:
            return solve_at_once(self._highs, run) if self._whole else solve_in_slices(self._highs, run)
        except SolverError:
            return Ended.STOPPED


class GrowingProgram:
    """``min c x : A x = 0, 0 <= x <= u``, to which columns are added while the basis stays."""

    def __init__(self, rows: int) -> None:
        import highspy

        self._highs = quiet(presolve="off")
        self._highs.setOptionValue("simplex_strategy", PRIMAL_SIMPLEX)
        program = highspy.HighsLp()
        program.num_row_, program.num_col_ = rows, 0
        program.row_lower_ = program.row_upper_ = np.zeros(rows)
        self._highs.passModel(program)

    def add(self, costs: list[float], upper: list[float], rows: list[Rows], entries: list[Floats]) -> None:
        """More columns, each with its cost, its upper bound and its entries."""
        if not costs:
            return
        starts = np.cumsum([0] + [r.size for r in rows[:-1]]).astype(np.int32)
        index, value = np.concatenate(rows).astype(np.int32), np.concatenate(entries).astype(np.float64)
        self._highs.addCols(
            len(costs),
            np.array(costs),
            np.zeros(len(costs)),
            np.array(upper),
            value.size,
            starts,
            index,
            value,
        )

    def solve(self, run: Run) -> tuple[Ended, Floats, Floats]:
        """Ended, point and the prices of the rows."""
        highs = self._highs
        status = solve_in_slices(highs, run)
        solution = highs.getSolution()
        return status, np.array(solution.col_value), np.array(solution.row_dual)


def _load(matrix: csc_array, lower: Floats, upper: Floats, rhs: Floats, whole: bool) -> Highs:
    import highspy

    highs = quiet(presolve="on" if whole else "off")
    if whole:
        highs.setOptionValue("mip_max_nodes", MOST_NODES)
    else:
        highs.setOptionValue("simplex_strategy", PRIMAL_SIMPLEX)
        highs.setOptionValue("solver", "simplex")
    program = highspy.HighsLp()
    rows, columns = matrix.shape
    program.num_row_, program.num_col_ = rows, columns
    program.col_cost_ = np.zeros(columns)
    program.col_lower_, program.col_upper_ = lower, upper
    program.row_lower_, program.row_upper_ = rhs, rhs
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    program.a_matrix_.index_ = matrix.indices.astype(np.int32)
    program.a_matrix_.value_ = matrix.data.astype(np.float64)
    if whole:
        program.integrality_ = [highspy.HighsVarType.kInteger] * columns
    if highs.passModel(program) == highspy.HighsStatus.kError:
        raise SolverError(f"HiGHS did not accept the attacker's linear program: {TOO_FAR_APART}")
    return highs


def quiet(presolve: str) -> Highs:
    """A HiGHS instance that prints nothing and uses one thread."""
    import highspy

    highs = highspy.Highs()
    for option, value in (("output_flag", False), ("threads", 1), ("presolve", presolve)):
        highs.setOptionValue(option, value)
    return highs


def solve_at_once(highs: Highs, run: Run) -> Ended:
    """Solve, in one call that asks now and then whether it should end."""
    if run.over:
        return Ended.STOPPED

    def hear(event: HighsCallbackEvent) -> None:
        if run.over:
            event.interrupt()

    run_heard(highs, run, hear)
    return _status(highs)


def run_heard(highs: Highs, run: Run, hear: Callable[[HighsCallbackEvent], None]) -> None:
    """One call of HiGHS, within the time that is left, in which ``hear`` is called now and then: it may
    interrupt, and must not raise. Other threads go on meanwhile.
    """
    events = (highs.cbMipInterrupt, highs.cbSimplexInterrupt, highs.cbIpmInterrupt)
    for event in events:
        event.subscribe(hear)
    # HiGHS adds up run time over all calls of one instance, so the limit must move along.
    highs.setOptionValue("time_limit", highs.getRunTime() + run.remaining)
    highs.run()
    for event in events:
        event.unsubscribe(hear)


def solve_in_slices(highs: Highs, run: Run) -> Ended:
    """Solve, in slices of a second, so that the end of the time and a cancel are heard in between."""
    while not run.over:
        # HiGHS adds up run time over all calls of one instance, so the limit must move along.
        highs.setOptionValue("time_limit", highs.getRunTime() + min(run.remaining, SLICE))
        highs.run()
        status = _status(highs)
        if status is not Ended.STOPPED or highs.getModelStatus().name != "kTimeLimit":
            return status
    return Ended.STOPPED


def _status(highs: Highs) -> Ended:
    import highspy

    ended = highs.getModelStatus()
    known = highspy.HighsModelStatus
    if ended == known.kOptimal:
        return Ended.OPTIMAL
    if ended in (known.kUnbounded, known.kUnboundedOrInfeasible):
        # Attackers' programs contain the truth, so "unbounded or infeasible" can only be the first.
        return Ended.UNBOUNDED
    if ended == known.kInfeasible:
        return Ended.INFEASIBLE
    if ended in (
        known.kTimeLimit,
        known.kInterrupt,
        known.kIterationLimit,
        known.kSolutionLimit,
        known.kUnknown,
    ):
        return Ended.STOPPED
    raise SolverError(
        f"HiGHS ended with '{highs.modelStatusToString(ended)}', which proves nothing: {TOO_FAR_APART}"
    )
