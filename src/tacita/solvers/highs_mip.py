"""HiGHS for one mixed-integer program, asked once: ``min c x : l <= A x <= u``, some ``x_j`` whole."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.errors import TOO_FAR_APART, SolverError
from tacita.core.exact import Floats
from tacita.core.run import Run
from tacita.solvers.highs import Ended, quiet, run_heard
from tacita.solvers.linear_program import Program

if TYPE_CHECKING:
    from highspy import Highs, HighsModelStatus
    from highspy.highs import HighsCallbackEvent

TOLERANCE = 1e-9
"""How far a row may be missed and a whole variable stray: far below what a level of one unit could hide."""
TELL_EVERY = 0.5
"""Seconds between two reports of progress."""
SEARCHES_WITHIN = (
    "mip_heuristic_run_rens",
    "mip_heuristic_run_rins",
    "mip_heuristic_run_root_reduced_cost",
)
"""Searches for points that HiGHS runs as programs of their own. They are deaf while they last."""

Tell = Callable[[float | None, float], None]
"""Hears the loss of the best point so far (None before the first) and the bound."""


@dataclass(frozen=True, eq=False)
class Found:
    """How the search ended, the best point (empty where there is none), and a lower bound on every point."""

    status: Ended
    point: Floats
    bound: float


def solve_mip(
    program: Program,
    run: Run,
    start: Floats | None = None,
    tell: Tell | None = None,
    nodes: int | None = None,
) -> Found:
    """An optimum of the program; the best point so far where time, a cancel or the nodes end the search.

    Parameters
    ----------
    start
        A point that keeps all rows and bounds. Whoever brings one looks for points himself: HiGHS then
        leaves its own long searches for points away, and a cancel is heard within a second or two. Without a
        start it is heard between those searches.
    tell
        Called now and then while a program with whole variables is searched.
    nodes
        The most nodes to look at; unlike a time limit it gives the same point on every machine.
    """
    import highspy

    highs = _load(program)
    if nodes is not None:
        highs.setOptionValue("mip_max_nodes", nodes)
    if start is not None:
        for option in SEARCHES_WITHIN:
            highs.setOptionValue(option, False)
    watch = _Watch(run, tell)
    known = highspy.HighsModelStatus
    ended = watch.search(highs, start)
    if ended == known.kUnboundedOrInfeasible:
        # Presolve cannot tell the two apart, the search can.
        highs.setOptionValue("presolve", "off")
        ended = watch.search(highs, start)
    if ended == known.kInfeasible:
        return Found(Ended.INFEASIBLE, np.empty(0), np.inf)
    # HiGHS calls the end of its nodes a solution limit.
    if ended not in (known.kOptimal, known.kTimeLimit, known.kInterrupt, known.kSolutionLimit):
        raise SolverError(
            f"HiGHS ended with '{highs.modelStatusToString(ended)}', which proves nothing: {TOO_FAR_APART}"
        )
    info = highs.getInfo()
    searched = bool(program.whole.any())
    has_point = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    point = np.array(highs.getSolution().col_value) if has_point else np.empty(0)
    if ended == known.kOptimal:
        if not has_point:
            # An optimum whose point breaks rows or bounds: arithmetic has failed, so nothing is proven.
            return Found(Ended.STOPPED, point, -np.inf)
        return Found(Ended.OPTIMAL, point, info.mip_dual_bound if searched else info.objective_function_value)
    return Found(Ended.STOPPED, point, info.mip_dual_bound if searched else -np.inf)


class _Watch:
    """Listens in on a search: passes on what is known, and ends it when the run is over."""

    def __init__(self, run: Run, tell: Tell | None) -> None:
        self.run, self.tell, self.told = run, tell, time.monotonic()
        self.error: BaseException | None = None

    def search(self, highs: Highs, start: Floats | None) -> HighsModelStatus:
        import highspy

        if start is not None:
            known = highspy.HighsSolution()
            known.col_value = start.tolist()
            highs.setSolution(known)
        run_heard(highs, self.run, self.hear)
        if self.error is not None:
            raise self.error
        return highs.getModelStatus()

    def hear(self, event: HighsCallbackEvent) -> None:
        # An exception must not pass through HiGHS: it waits until the search has ended.
        try:
            if self.tell is not None and time.monotonic() - self.told >= TELL_EVERY:
                self.told = time.monotonic()
                self._pass_on(self.tell, event)
        except BaseException as error:
            self.error = error
        if self.run.over or self.error is not None:
            event.interrupt()

    def _pass_on(self, tell: Tell, event: HighsCallbackEvent) -> None:
        import highspy

        if event.callback_type == highspy.cb.HighsCallbackType.kCallbackMipInterrupt:
            best, bound = event.data_out.mip_primal_bound, event.data_out.mip_dual_bound
            tell(best if np.isfinite(best) else None, bound)


def _load(program: Program) -> Highs:
    import highspy

    highs = quiet(presolve="on")
    for option, value in (
        ("mip_rel_gap", 0.0),
        ("mip_abs_gap", TOLERANCE),
        ("mip_feasibility_tolerance", TOLERANCE),
        ("primal_feasibility_tolerance", TOLERANCE),
        ("dual_feasibility_tolerance", TOLERANCE),
    ):
        highs.setOptionValue(option, value)
    handed = highspy.HighsLp()
    handed.num_row_, handed.num_col_ = program.rows.shape
    handed.col_cost_, handed.col_lower_, handed.col_upper_ = program.cost, program.lower, program.upper
    handed.row_lower_, handed.row_upper_ = program.row_lower, program.row_upper
    handed.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    handed.a_matrix_.start_ = program.rows.indptr.astype(np.int32)
    handed.a_matrix_.index_ = program.rows.indices.astype(np.int32)
    handed.a_matrix_.value_ = program.rows.data.astype(np.float64)
    if program.whole.any():
        kinds = highspy.HighsVarType
        handed.integrality_ = [kinds.kInteger if whole else kinds.kContinuous for whole in program.whole]
    if highs.passModel(handed) == highspy.HighsStatus.kError:
        raise SolverError(f"HiGHS did not accept the mixed-integer program: {TOO_FAR_APART}")
    return highs
