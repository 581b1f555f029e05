"""HiGHS: the only file that uses its interface.

A :class:`Session` keeps one program warm-started for many solves. Between solves the objective, a few bounds,
rows or columns change, and the basis stays, so that most solves take a handful of pivots. :func:`solve_mip`
finds one optimum, of a linear or an integer program.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacita.core.errors import TOO_FAR_APART, SolverError
from tacita.core.exact import Cells, Floats
from tacita.core.run import Run
from tacita.solvers.diving import dive
from tacita.solvers.linear_program import IntegerProgram, LinearProgram

if TYPE_CHECKING:
    from highspy import Highs, HighsModelStatus
    from highspy.highs import HighsCallbackEvent
    from scipy.sparse import csc_array

DUAL_SIMPLEX = 1
PRIMAL_SIMPLEX = 4
SLICE = 1.0
"""Seconds after which a long linear program checks the time."""
MOST_NODES = 10_000
"""An integer program that needs more branching than this is given up, on every machine alike."""
TOLERANCE = 1e-9
"""How far a row may be violated and an integer may deviate: far below a level of one unit."""
TELL_EVERY = 0.5
"""Seconds between two reports of progress."""
SEARCHES_WITHIN = ("mip_heuristic_run_rens", "mip_heuristic_run_rins", "mip_heuristic_run_root_reduced_cost")
"""Heuristics that HiGHS runs as programs of their own, during which it calls nothing back."""

Columns = tuple[NDArray[np.int32], NDArray[np.int32], Floats]
Tell = Callable[[float | None, float], None]
"""Takes the loss of the best point so far (None before the first) and the bound."""


class Ended(Enum):
    """How a solve ended. Only OPTIMAL, UNBOUNDED and INFEASIBLE prove anything."""

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
    """A program in HiGHS, warm-started from solve to solve.

    Parameters
    ----------
    program
        An integer program is searched from the beginning each time.
    primal
        Use the primal simplex: a change of objective leaves the basis primal feasible. The dual simplex suits
        new bounds and rows.
    from_slack_basis
        Start each minimum from the slack basis. With costs that are not negative and few bounds that 0
        violates, the dual simplex then needs a few pivots, where the basis of an earlier solve costs
        hundreds.
    bounded
        The objective is bounded: "unbounded or infeasible" means infeasible. Otherwise it means unbounded,
        since attackers' programs contain the truth.
    """

    def __init__(
        self,
        program: LinearProgram,
        primal: bool = True,
        from_slack_basis: bool = False,
        bounded: bool = False,
    ) -> None:
        self._searches, self._from_slack_basis, self._bounded = (
            isinstance(program, IntegerProgram),
            from_slack_basis,
            bounded,
        )
        highs = self._highs = _load(program, presolve="on" if self._searches else "off")
        if self._searches:
            highs.setOptionValue("mip_max_nodes", MOST_NODES)
        else:
            strategy = PRIMAL_SIMPLEX if primal and not from_slack_basis else DUAL_SIMPLEX
            highs.setOptionValue("simplex_strategy", strategy)
            highs.setOptionValue("solver", "simplex")

    def set_bounds(self, columns: Cells, lower: Floats, upper: Floats) -> None:
        """Set the bounds of some variables of the linear program in HiGHS."""
        self._highs.changeColsBounds(len(columns), columns.astype(np.int32), lower, upper)

    def set_costs(self, columns: Cells, costs: Floats) -> None:
        """Set the costs of some variables of the linear program in HiGHS."""
        self._highs.changeColsCost(len(columns), columns.astype(np.int32), costs)

    def add_columns(
        self, matrix: csc_array, columns: Cells, signs: Cells, cost: float, upper: Floats
    ) -> None:
        """Add variables from 0 to ``upper`` to the linear program, as signed columns of a matrix."""
        n, part = columns.size, matrix[:, columns]
        if n:
            starts, index = part.indptr[:-1].astype(np.int32), part.indices.astype(np.int32)
            value = part.data * np.repeat(signs, np.diff(part.indptr))
            costs = np.full(n, cost)
            self._highs.addCols(n, costs, np.zeros(n), upper, value.size, starts, index, value)

    def add_rows(self, least: Floats, columns: list[Cells], entries: list[Floats]) -> None:
        """Add rows ``entries x[columns] >= least`` to the linear program in HiGHS."""
        index, value = np.concatenate(columns).astype(np.int32), np.concatenate(entries)
        no_end = np.full(least.size, np.inf)
        self._highs.addRows(least.size, least, no_end, value.size, _find_starts(columns), index, value)

    def delete_rows(self, rows: Cells) -> None:
        """Delete rows of the linear program in HiGHS; later ones move up."""
        self._highs.deleteRows(rows.size, rows.astype(np.int32))

    def delete_columns(self, columns: Cells) -> None:
        """Delete variables of the linear program, in ascending order; later ones move up."""
        self._highs.deleteCols(columns.size, columns.astype(np.int32))

    def limit_pivots(self, most: int) -> None:
        """Let every later solve of the linear program give up after so many pivots."""
        self._highs.setOptionValue("simplex_iteration_limit", most)

    def solve(self, run: Run) -> Ended:
        """Solve the program in HiGHS and return how that ended; time is checked after each second.

        Raises
        ------
        SolverError
            HiGHS ended in a way that proves nothing.
        """
        if self._searches:
            # A search for integers begins anew when it is called again; the simplex goes on from its basis.
            return self.solve_at_once(run)
        highs = self._highs
        while not run.over:
            # HiGHS adds up run time over all calls of one instance, so the limit must move along.
            highs.setOptionValue("time_limit", highs.getRunTime() + min(run.remaining, SLICE))
            highs.run()
            status = self._read_status()
            if status is not Ended.STOPPED or highs.getModelStatus().name != "kTimeLimit":
                return status
        return Ended.STOPPED

    def solve_at_once(self, run: Run) -> Ended:
        """Solve the program in one call of HiGHS that checks if the run is over; return how it ended."""
        if run.over:
            return Ended.STOPPED

        def interrupt_if_over(event: HighsCallbackEvent) -> None:
            if run.over:
                event.interrupt()

        _run_with_callback(self._highs, run, interrupt_if_over)
        return self._read_status()

    def solve_by_interior_point(self, run: Run) -> Ended:
        """Solve the linear program anew by interior point and crossover; return how HiGHS ended."""
        highs = self._highs
        highs.clearSolver()
        self.limit_pivots(2**31 - 1)
        highs.setOptionValue("solver", "ipm")
        highs.setOptionValue("presolve", "on")
        status = self.solve_at_once(run)
        highs.setOptionValue("solver", "simplex")
        highs.setOptionValue("presolve", "off")
        return status

    def find_extreme(self, column: int, sign: int, run: Run) -> Answer:
        """Return the solver's point of largest ``sign * x[column]``, with ``x[column]`` itself as value."""
        self._highs.changeColCost(column, float(-sign))
        answer = self._answer(run)
        self._highs.changeColCost(column, 0.0)
        return answer if answer.point.size == 0 else replace(answer, value=float(answer.point[column]))

    def minimise(self, costs: Floats, run: Run, most_pivots: int | None = None) -> Answer:
        """Return HiGHS's point of least ``costs @ x``, within so many pivots; the costs stay set."""
        if most_pivots is not None:
            self.limit_pivots(most_pivots)
        self.set_costs(np.arange(costs.size), costs)
        if self._from_slack_basis:
            self._highs.clearSolver()
        return self._answer(run)

    def _answer(self, run: Run) -> Answer:
        """Return HiGHS's optimum and point, solved once more from the beginning if arithmetic failed."""
        status = self._attempt(run)
        if self._highs.getModelStatus().name in ("kUnknown", "kSolveError") and not run.over:
            # The basis of an earlier solve may be the reason.
            self._highs.clearSolver()
            status = self._attempt(run)
        if status is not Ended.OPTIMAL:
            return Answer(status, float("nan"), np.empty(0))
        return Answer(status, self.value, self.read_point())

    def _attempt(self, run: Run) -> Ended:
        """Solve the program in HiGHS and return how that ended; a failure counts as stopped."""
        try:
            return self.solve(run)
        except SolverError:
            return Ended.STOPPED

    def _read_status(self) -> Ended:
        """Return how the last solve in HiGHS ended; raise if that proves nothing."""
        import highspy

        ended = self._highs.getModelStatus()
        known = highspy.HighsModelStatus
        if ended == known.kOptimal:
            return Ended.OPTIMAL
        if ended == known.kInfeasible or (self._bounded and ended == known.kUnboundedOrInfeasible):
            return Ended.INFEASIBLE
        if not self._bounded and ended in (known.kUnbounded, known.kUnboundedOrInfeasible):
            return Ended.UNBOUNDED
        if ended in (
            known.kTimeLimit,
            known.kInterrupt,
            known.kIterationLimit,
            known.kSolutionLimit,
            known.kUnknown,
        ):
            return Ended.STOPPED
        raise _no_proof_error(self._highs, ended)

    @property
    def value(self) -> float:
        """The objective that the last solve in HiGHS reached."""
        return self._highs.getObjectiveValue()

    def read_point(self) -> Floats:
        """Return the values of the variables after the last solve in HiGHS."""
        return np.array(self._highs.getSolution().col_value)

    def read_reduced_costs(self) -> Floats:
        """Return each variable's reduced cost: how much one more unit would change the solver's optimum."""
        return np.array(self._highs.getSolution().col_dual)

    def read_duals(self) -> Floats:
        """Return each row's dual value: how much one more unit on its right changes HiGHS's optimum."""
        return np.array(self._highs.getSolution().row_dual)

    def read_row_values(self) -> Floats:
        """Return the value of each row ``rows x`` after the last solve in HiGHS."""
        return np.array(self._highs.getSolution().row_value)

    def count_iterations(self) -> int:
        """Return the number of pivots and other iterations of the last call of HiGHS."""
        done = self._highs.getInfo()
        counts = (done.simplex_iteration_count, done.ipm_iteration_count, done.crossover_iteration_count)
        return sum(max(count, 0) for count in counts)


class SmallPrograms:
    """One HiGHS instance for many small programs ``min cost x : rows x = 0, lower <= x <= upper``.

    Each is solved by the dual simplex from the slack basis, which suits costs that are not negative.
    """

    def __init__(self) -> None:
        import highspy

        kinds, self._optimal = highspy.HighsVarType, highspy.HighsModelStatus.kOptimal
        self._continuous, self._integer = int(kinds.kContinuous), int(kinds.kInteger)
        self._form = int(highspy.MatrixFormat.kColwise), int(highspy.ObjSense.kMinimize)
        self._highs = highspy.Highs()
        for option, value in (("output_flag", False), ("threads", 1), ("solver", "simplex")):
            self._highs.setOptionValue(option, value)
        for option, number in (("simplex_strategy", DUAL_SIMPLEX), ("mip_max_nodes", MOST_NODES)):
            self._highs.setOptionValue(option, number)

    def solve(
        self, cost: Floats, bounds: tuple[Floats, Floats], columns: Columns, rows: int, integer: bool = False
    ) -> Floats | None:
        """Return HiGHS's optimal point of a program given by columns (starts, rows, entries), or None; if
        ``integer`` a point in integers by a dive, the optimal one only where that fails.
        """
        self._load(cost, bounds, columns, rows, self._continuous)
        point = self._run()
        if integer and point is not None:
            point = dive(point, cost, bounds, self._solve_within)
            if point is None:
                self._load(cost, bounds, columns, rows, self._integer)
                point = self._run(presolve="on")
        return point

    def solve_again(self, cost: Floats) -> Floats | None:
        """Return HiGHS's optimal point of the last program with other costs, or None."""
        self._highs.changeColsCost(cost.size, np.arange(cost.size, dtype=np.int32), cost)
        return self._run()

    def read_duals(self) -> Floats:
        """Return the dual values of the rows of HiGHS's last program."""
        return np.array(self._highs.getSolution().row_dual)

    def _load(
        self, cost: Floats, bounds: tuple[Floats, Floats], columns: Columns, rows: int, kind: int
    ) -> None:
        # Arrays, not a program that holds them: their copies would take longer than many a solve.
        (lower, upper), (starts, row, entry), (form, sense) = bounds, columns, self._form
        size, zero, kinds = cost.size, np.zeros(rows), np.full(cost.size, kind, dtype=np.int32)
        self._highs.passModel(
            size, rows, row.size, form, sense, 0.0, cost, lower, upper, zero, zero, starts, row, entry, kinds
        )

    def _solve_within(self, column: int, lower: float, upper: float) -> Floats | None:
        self._highs.changeColBounds(column, lower, upper)
        return self._run()

    def _run(self, presolve: str = "off") -> Floats | None:
        self._highs.setOptionValue("presolve", presolve)
        self._highs.run()
        solved = self._highs.getModelStatus() == self._optimal
        return np.array(self._highs.getSolution().col_value) if solved else None


@dataclass(frozen=True, eq=False)
class MipResult:
    """How the search ended, the best point (empty where there is none), and a lower bound on every point."""

    status: Ended
    point: Floats
    bound: float


def solve_mip(
    program: LinearProgram,
    run: Run,
    start: Floats | None = None,
    tell: Tell | None = None,
    nodes: int | None = None,
    enough: Callable[[float, float], bool] | None = None,
    presolve: str = "on",
) -> MipResult:
    """Return HiGHS's optimum of a program, or its best point and bound where time or nodes end the search.

    Parameters
    ----------
    start
        A feasible point. HiGHS then leaves out its long heuristics, between which alone it hears a cancel.
    tell, nodes
        Called now and then; most nodes to visit, which unlike a time limit give the same point everywhere.
    enough
        Whether the search of an integer program may end with the loss of its best point and a lower bound.
    presolve
        ``on`` or ``off``: it makes HiGHS faster, and has lost an optimum once.
    """
    import highspy

    highs = _load(program, presolve)
    for option in ("mip_abs_gap", *(f"{kind}_feasibility_tolerance" for kind in ("mip", "primal", "dual"))):
        highs.setOptionValue(option, TOLERANCE)
    highs.setOptionValue("mip_rel_gap", 0.0)
    if nodes is not None:
        highs.setOptionValue("mip_max_nodes", nodes)
    if start is not None:
        for option in SEARCHES_WITHIN:
            highs.setOptionValue(option, False)
    watch = _Watch(run, tell, enough)
    known = highspy.HighsModelStatus
    ended = watch.search(highs, start)
    if ended == known.kUnboundedOrInfeasible:
        # Presolve cannot tell the two apart, the search can.
        highs.setOptionValue("presolve", "off")
        ended = watch.search(highs, start)
    if ended == known.kInfeasible:
        return MipResult(Ended.INFEASIBLE, np.empty(0), np.inf)
    # HiGHS calls the end of its nodes a solution limit.
    if ended not in (known.kOptimal, known.kTimeLimit, known.kInterrupt, known.kSolutionLimit):
        raise _no_proof_error(highs, ended)
    info = highs.getInfo()
    searched = isinstance(program, IntegerProgram) and bool(program.integer.any())
    has_point = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    point = np.array(highs.getSolution().col_value) if has_point else np.empty(0)
    if ended == known.kOptimal:
        if not has_point:
            # An optimum whose point breaks rows or bounds: arithmetic has failed, so nothing is proven.
            return MipResult(Ended.STOPPED, point, -np.inf)
        bound = info.mip_dual_bound if searched else info.objective_function_value
        return MipResult(Ended.OPTIMAL, point, bound)
    return MipResult(Ended.STOPPED, point, info.mip_dual_bound if searched else -np.inf)


class _Watch:
    """Reports the progress of a search, and interrupts it when the run is over or enough was found."""

    def __init__(
        self, run: Run, tell: Tell | None, enough: Callable[[float, float], bool] | None = None
    ) -> None:
        self.run, self.tell, self.last_report = run, tell, time.monotonic()
        self.enough = enough if run.gap else None
        self.error: BaseException | None = None

    def search(self, highs: Highs, start: Floats | None) -> HighsModelStatus:
        """Run HiGHS on a program from a start; return how it ended, or raise what a report raised."""
        import highspy

        if start is not None:
            known = highspy.HighsSolution()
            known.col_value = start.tolist()
            highs.setSolution(known)
        _run_with_callback(highs, self.run, self._handle)
        if self.error is not None:
            raise self.error
        return highs.getModelStatus()

    def _handle(self, event: HighsCallbackEvent) -> None:
        """Report progress of HiGHS and interrupt it where that is due."""
        # An exception must not pass through HiGHS: it waits until the search has ended.
        is_enough = False
        try:
            is_enough = self.enough is not None and self._has(self.enough, event)
            if self.tell is not None and time.monotonic() - self.last_report >= TELL_EVERY:
                self.last_report = time.monotonic()
                self._report(self.tell, event)
        except BaseException as error:
            self.error = error
        if self.run.over or is_enough or self.error is not None:
            event.interrupt()

    def _has(self, enough: Callable[[float, float], bool], event: HighsCallbackEvent) -> bool:
        """Return whether the best point of HiGHS and its bound are enough."""
        import highspy

        if event.callback_type != highspy.cb.HighsCallbackType.kCallbackMipInterrupt:
            return False
        return enough(event.data_out.mip_primal_bound, event.data_out.mip_dual_bound)

    def _report(self, tell: Tell, event: HighsCallbackEvent) -> None:
        """Report the loss of HiGHS's best point and its bound."""
        import highspy

        if event.callback_type == highspy.cb.HighsCallbackType.kCallbackMipInterrupt:
            best, bound = event.data_out.mip_primal_bound, event.data_out.mip_dual_bound
            tell(best if np.isfinite(best) else None, bound)


def _load(program: LinearProgram, presolve: str) -> Highs:
    """Return a HiGHS instance that holds the program, prints nothing and uses one thread."""
    import highspy

    highs = highspy.Highs()
    for option, value in (("output_flag", False), ("threads", 1), ("presolve", presolve)):
        highs.setOptionValue(option, value)
    handed, matrix = highspy.HighsLp(), program.rows
    handed.num_row_, handed.num_col_ = matrix.shape
    handed.col_cost_, handed.col_lower_, handed.col_upper_ = program.cost, program.lower, program.upper
    handed.row_lower_, handed.row_upper_ = program.row_lower, program.row_upper
    formats = highspy.MatrixFormat
    handed.a_matrix_.format_ = formats.kColwise if matrix.format == "csc" else formats.kRowwise
    handed.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    handed.a_matrix_.index_ = matrix.indices.astype(np.int32)
    handed.a_matrix_.value_ = matrix.data.astype(np.float64)
    if isinstance(program, IntegerProgram) and program.integer.any():
        kinds = highspy.HighsVarType
        handed.integrality_ = [kinds.kInteger if j else kinds.kContinuous for j in program.integer]
    if highs.passModel(handed) == highspy.HighsStatus.kError:
        raise SolverError("HiGHS did not accept a program", remedy=TOO_FAR_APART)
    return highs


def _find_starts(parts: list[Cells]) -> NDArray[np.int32]:
    """Return where the entries of each row or column begin when HiGHS gets them in one array."""
    return np.cumsum([0, *(part.size for part in parts[:-1])]).astype(np.int32)


def _run_with_callback(highs: Highs, run: Run, callback: Callable[[HighsCallbackEvent], None]) -> None:
    """Run HiGHS within the time that is left; it calls ``callback`` now and then, which may interrupt and
    must not raise. Other threads go on meanwhile.
    """
    events = (highs.cbMipInterrupt, highs.cbSimplexInterrupt, highs.cbIpmInterrupt)
    for event in events:
        event.subscribe(callback)
    # HiGHS adds up run time over all calls of one instance, so the limit must move along.
    highs.setOptionValue("time_limit", highs.getRunTime() + run.remaining)
    highs.run()
    for event in events:
        event.unsubscribe(callback)


def _no_proof_error(highs: Highs, ended: HighsModelStatus) -> SolverError:
    fault = f"HiGHS ended with '{highs.modelStatusToString(ended)}', which proves nothing"
    return SolverError(fault, remedy=TOO_FAR_APART)
