"""HiGHS for one mixed-integer program, asked once: ``min c x : l <= A x <= u``, some ``x_j`` whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacita.errors import SolverError
from tacita.exact import Floats
from tacita.run import Run
from tacita.solvers.highs import Ended, quiet
from tacita.solvers.program import Program

if TYPE_CHECKING:
    from highspy import Highs, HighsModelStatus

TOLERANCE = 1e-9
"""How far a row may be missed and a whole variable stray: far below what a level of one unit could hide."""


@dataclass(frozen=True, eq=False)
class Found:
    """How the search ended, the best point (empty where there is none), and a lower bound on every point."""

    status: Ended
    point: Floats
    bound: float


def solve_mip(program: Program, run: Run) -> Found:
    """An optimum of the program; the best point so far where the time ends first.

    A cancel is heard only before the search: whoever needs more asks for a time limit.
    """
    import highspy

    highs = _load(program)
    known = highspy.HighsModelStatus
    ended = _search(highs, run)
    if ended == known.kUnboundedOrInfeasible:
        # Presolve cannot tell the two apart, the search can.
        highs.setOptionValue("presolve", "off")
        ended = _search(highs, run)
    if ended == known.kInfeasible:
        return Found(Ended.INFEASIBLE, np.empty(0), np.inf)
    if ended not in (known.kOptimal, known.kTimeLimit, known.kInterrupt):
        raise SolverError(
            f"HiGHS ended with '{highs.modelStatusToString(ended)}', which proves nothing: report the table"
        )
    info = highs.getInfo()
    has_point = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    point = np.array(highs.getSolution().col_value) if has_point else np.empty(0)
    if ended == known.kOptimal:
        bound = info.mip_dual_bound if program.whole.any() else info.objective_function_value
        return Found(Ended.OPTIMAL, point, bound)
    return Found(Ended.STOPPED, point, info.mip_dual_bound if program.whole.any() else -np.inf)


def _search(highs: Highs, run: Run) -> HighsModelStatus:
    highs.setOptionValue("time_limit", highs.getRunTime() + run.remaining)
    highs.run()
    return highs.getModelStatus()


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
        raise SolverError("HiGHS did not accept the mixed-integer program")
    return highs
