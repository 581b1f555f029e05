"""The adjustment of least loss when directions are given, in every norm and every formulation.

| norm | formulations, and what is meant by ``auto`` |
|---|---|
| ``l1`` | ``flow`` on networks without side constraints, else ``linear``; ``cones`` |
| ``l2`` | ``newton`` without side constraints, else ``quadratic``; ``cones`` |
| ``huber`` | ``cones`` |
| ``linf`` | ``linear``; ``cones`` |

Published changes are multiples of a step, so bounds are first rounded to multiples of it: then all
formulations solve the same problem. Whatever the formulation, the value is the loss of changes that satisfy
bounds and equations, and the lower bound is what dual values of the equations prove, computed here and not by
a solver.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacita.core.errors import InfeasibleError, InputError, SolverError, and_others, did_you_mean
from tacita.core.run import Run
from tacita.methods.adjustment.convex.cone_formulation import solve_by_cones
from tacita.methods.adjustment.convex.convex_program import (
    ConvexProgram,
    PrimalDualPoint,
    make_infeasible_error,
)
from tacita.methods.adjustment.convex.flow_formulation import solve_by_flow
from tacita.methods.adjustment.convex.linear_formulation import MoveProgram, minimise_l1, minimise_linf
from tacita.methods.adjustment.convex.newton_method import GOOD, project_onto_equations, solve_by_newton
from tacita.methods.adjustment.task import AdjustmentSolution, AdjustmentTask, Norm
from tacita.solvers.highs import Ended

AUTO = "auto"
FORMULATIONS: dict[Norm, tuple[str, ...]] = {
    "l1": ("flow", "linear", "cones"),
    "l2": ("newton", "quadratic", "cones"),
    "huber": ("cones",),
    "linf": ("linear", "cones"),
}


def solve_convex(task: AdjustmentTask, run: Run, formulation: str = AUTO) -> AdjustmentSolution:
    """Return the adjustment of least loss for a task whose directions are given, and a bound on its loss.

    Raises
    ------
    InfeasibleError
        There is none, which is proven.
    StoppedError
        The time was over before there was one.
    InputError
        The norm, or the table, does not have that formulation.
    """
    _check(task, formulation)
    task = task.in_steps()
    if (empty := np.flatnonzero(task.lower > task.upper)).size:
        raise InfeasibleError(
            f"no change of cell number {int(empty[0]) + 1} lies within its bounds"
            f"{and_others(empty.size, 'cell')}",
            remedy="widen its capacity",
        )
    if formulation == "flow" or (formulation == AUTO and task.norm == "l1" and _has_no_side(task)):
        flow = solve_by_flow(task, run)
        if flow is not None:
            return flow
        if formulation == "flow":
            raise InputError(
                "the equations are no network, so there is no flow",
                remedy="choose the linear formulation",
                options=("formulation=linear",),
            )
    program = ConvexProgram.of(task)
    chosen = _default_formulation(task) if formulation == AUTO else formulation
    if not program.residual(program.least_change).any():
        found: PrimalDualPoint | None = PrimalDualPoint(program.least_change, np.zeros(program.equations), 0)
    elif chosen == "newton":
        found = solve_by_newton(program, run)
        if found is None and formulation != AUTO:
            _refuse_infeasible(program, run)
            raise SolverError(
                "Newton's method does not converge on this table",
                remedy="choose the quadratic formulation",
                options=("formulation=quadratic",),
            )
    else:
        found = None
    if found is None:
        chosen = "quadratic" if chosen == "newton" else chosen
        found = _solve_program(program, chosen, run)
    # A bound in values, such as 0.07, times units in a value is not always that many units again.
    z = np.clip(found.x[: program.n_own] * task.one, task.lower, task.upper)
    value = task.loss(z)
    bound = min(value, program.bound(found.x, found.duals))
    return AdjustmentSolution(z, value, bound, chosen, found.iterations)


def _check(task: AdjustmentTask, formulation: str) -> None:
    if task.choice is not None:
        raise InputError("directions of sensitive cells are open", remedy="give them first")
    known = FORMULATIONS[task.norm]
    if formulation not in (AUTO, *known):
        raise InputError(
            f"the norm {task.norm} has no formulation '{formulation}'{did_you_mean(formulation, known)}",
            remedy=f"choose from {', '.join((AUTO, *known))}",
            options=(f"formulation={AUTO}",),
        )
    if formulation == "flow" and not _has_no_side(task):
        raise InputError(
            "preserved statistics are no part of a flow",
            remedy="choose the linear formulation",
            options=("formulation=linear",),
        )
    if formulation == "newton" and not (_has_no_side(task) and _has_weights(task)):
        raise InputError(
            "Newton's method takes neither preserved statistics nor weights of 0",
            remedy="choose the quadratic formulation",
            options=("formulation=quadratic",),
        )


def _has_no_side(task: AdjustmentTask) -> bool:
    return task.side is None or not task.side.least.size


def _has_weights(task: AdjustmentTask) -> bool:
    """Return whether every cell that the adjustment can change has a weight above 0."""
    return bool((task.weight[task.lower < task.upper] > 0.0).all())


def _default_formulation(task: AdjustmentTask) -> str:
    if task.norm == "l2":
        return "newton" if _has_no_side(task) and _has_weights(task) else "quadratic"
    return "cones" if task.norm == "huber" else "linear"


def _solve_program(program: ConvexProgram, formulation: str, run: Run) -> PrimalDualPoint:
    if formulation == "linear":
        found = minimise_l1(program, run) if program.norm == "l1" else minimise_linf(program, run)
        if program.relative_residual(found.x) <= GOOD:
            return found
        x = project_onto_equations(program, found.x, run)
        return found if x is None else replace(found, x=x)
    try:
        return solve_by_cones(program, formulation == "quadratic", run)
    except SolverError:
        _refuse_infeasible(program, run)
        raise


def _refuse_infeasible(program: ConvexProgram, run: Run) -> None:
    """Raise where HiGHS finds the adjustment infeasible: mostly why another method does not converge."""
    if MoveProgram(program).solve(run) is Ended.INFEASIBLE:
        raise make_infeasible_error()
