"""The least adjustment when every sensitive cell knows its direction, in every norm and every formulation.

| norm | formulations, and what is meant by ``auto`` |
|---|---|
| ``l1`` | ``flow`` on networks without side rows, else ``linear``; ``cones`` |
| ``l2`` | ``newton`` without side rows, else ``quadratic``; ``cones`` |
| ``huber`` | ``cones`` |
| ``linf`` | ``linear``; ``cones`` |

Published changes are multiples of a step, so bounds are first brought to multiples of it: all formulations
then answer the same question. Whatever the formulation, the value is the loss of changes within their bounds
that balance, and the bound is what prices of the equations prove, worked out here and not by a solver.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacita.core.errors import InfeasibleError, InputError, SolverError, and_others, did_you_mean
from tacita.core.exact import UNBOUNDED, Units
from tacita.core.run import Run
from tacita.methods.adjustment.convex.boxed import NONE_WITHIN, Boxed, PricedPoint
from tacita.methods.adjustment.convex.cones import by_cones
from tacita.methods.adjustment.convex.flow import by_flow
from tacita.methods.adjustment.convex.linear import Moving, by_largest, by_linear
from tacita.methods.adjustment.convex.newton import GOOD, by_newton, onto_equations
from tacita.methods.adjustment.task import Adjusted, AdjustmentTask, Norm
from tacita.solvers.highs import Ended
from tacita.solvers.network import Network

AUTO = "auto"
FORMULATIONS: dict[Norm, tuple[str, ...]] = {
    "l1": ("flow", "linear", "cones"),
    "l2": ("newton", "quadratic", "cones"),
    "huber": ("cones",),
    "linf": ("linear", "cones"),
}


def adjusted(task: AdjustmentTask, run: Run, formulation: str = AUTO) -> Adjusted:
    """The least adjustment of a task whose directions are given.

    Raises
    ------
    InfeasibleError
        There is none, which is then proven.
    StoppedError
        The time was over before there was one.
    InputError
        The norm, or the table, does not have that formulation.
    """
    _check(task, formulation)
    task = _in_steps(task)
    if formulation == "flow" or (formulation == AUTO and task.norm == "l1" and _sideless(task)):
        flow = _by_flow(task, run)
        if flow is not None:
            return flow
        if formulation == "flow":
            raise InputError(
                "the equations are no network, so there is no flow: choose the linear formulation"
            )
    boxed = Boxed.of(task)
    chosen = _chosen(task) if formulation == AUTO else formulation
    if not boxed.residual(boxed.resting).any():
        return _told(task, boxed, PricedPoint(boxed.resting, np.zeros(boxed.equations), 0), chosen)
    if chosen == "newton":
        found = by_newton(boxed, run)
        if found is not None:
            return _told(task, boxed, found, chosen)
        if formulation != AUTO:
            _refuse_infeasible(boxed, run)
            raise SolverError(
                "Newton's method does not converge on this table: choose the quadratic formulation"
            )
        chosen = "quadratic"
    return _told(task, boxed, _by_program(boxed, chosen, run), chosen)


def _by_flow(task: AdjustmentTask, run: Run) -> Adjusted | None:
    """The cheapest flow; None if the equations are no network.

    A network may leave out equations that follow from others. That they do is not taken on trust.
    """
    network = Network.of(task.matrix)
    if network is None:
        return None
    flow = by_flow(task, network, run)
    return None if (task.matrix @ flow.z.astype(np.int64)).any() else flow


def _check(task: AdjustmentTask, formulation: str) -> None:
    if task.choice is not None:
        raise InputError("directions of sensitive cells are open: give them first")
    known = FORMULATIONS[task.norm]
    if formulation not in (AUTO, *known):
        raise InputError(
            f"the norm {task.norm} has no formulation '{formulation}'{did_you_mean(formulation, known)}: "
            f"choose from {', '.join((AUTO, *known))}"
        )
    if formulation == "flow" and not _sideless(task):
        raise InputError("statistics that are kept are no part of a flow: choose the linear formulation")
    if formulation == "newton" and not (_sideless(task) and _weighs(task)):
        raise InputError(
            "Newton's method takes neither statistics that are kept nor weights of 0: "
            "choose the quadratic formulation"
        )


def _sideless(task: AdjustmentTask) -> bool:
    return task.side is None or not task.side.least.size


def _weighs(task: AdjustmentTask) -> bool:
    """Whether every cell that can change costs something."""
    return bool((task.weight[task.lower < task.upper] > 0.0).all())


def _chosen(task: AdjustmentTask) -> str:
    if task.norm == "l2":
        return "newton" if _sideless(task) and _weighs(task) else "quadratic"
    return "cones" if task.norm == "huber" else "linear"


def _in_steps(task: AdjustmentTask) -> AdjustmentTask:
    """The task with bounds that are multiples of the step."""
    step = task.step
    lower = np.where(task.lower <= -UNBOUNDED, -UNBOUNDED, -(-task.lower // step) * step)
    upper = np.where(task.upper >= UNBOUNDED, UNBOUNDED, task.upper // step * step)
    _refuse_empty(lower, upper)
    return replace(task, lower=lower, upper=upper)


def _refuse_empty(lower: Units, upper: Units) -> None:
    empty = np.flatnonzero(lower > upper)
    if empty.size:
        raise InfeasibleError(
            f"no change of cell number {int(empty[0]) + 1} lies within its bounds"
            f"{and_others(empty.size, 'cell')}: widen its capacity"
        )


def _by_program(boxed: Boxed, formulation: str, run: Run) -> PricedPoint:
    if formulation == "linear":
        found = by_linear(boxed, run) if boxed.norm == "l1" else by_largest(boxed, run)
        return _balanced_better(boxed, found, run)
    try:
        return by_cones(boxed, formulation == "quadratic", run)
    except SolverError:
        _refuse_infeasible(boxed, run)
        raise


def _refuse_infeasible(boxed: Boxed, run: Run) -> None:
    """A method that came to no end often means that there is nothing within the bounds: HiGHS knows."""
    if Moving(boxed).solve(run) is Ended.INFEASIBLE:
        raise InfeasibleError(NONE_WITHIN)


def _balanced_better(boxed: Boxed, found: PricedPoint, run: Run) -> PricedPoint:
    """The same where it balances well enough, else the nearest point that does."""
    if boxed.off_balance(found.x) <= GOOD:
        return found
    x = onto_equations(boxed, found.x, run)
    return found if x is None else replace(found, x=x)


def _told(task: AdjustmentTask, boxed: Boxed, found: PricedPoint, formulation: str) -> Adjusted:
    # A bound in values, such as 0.07, times units in a value is not always that many units again.
    z = np.clip(found.x[: boxed.own] * task.one, task.lower, task.upper)
    value = task.loss(z)
    return Adjusted(z, value, min(value, boxed.bound(found.x, found.prices)), formulation, found.iterations)
