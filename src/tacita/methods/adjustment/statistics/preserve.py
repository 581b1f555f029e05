"""Changes of one table that preserve its statistics.

    min  loss(z)    s.t.  z solves the task,   |100 (s(a + y) / s(a) - 1)| <= tol_s  for each statistic s

with ``y = z / one`` over the chosen cells. The task is first solved without statistics, which gives the lower
bound. Then rounds follow (see :mod:`tacita.methods.adjustment.statistics.rounds`) until every tolerance
holds, as measured on the result, and the loss does not decrease any more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacita.core.errors import InfeasibleError, InputError, SolverError, StoppedError
from tacita.core.exact import Floats, Mask
from tacita.core.run import Run
from tacita.methods.adjustment.statistics.measures import ALONE, Keep, measure_statistics
from tacita.methods.adjustment.statistics.rounds import (
    MARGIN,
    PATIENCE,
    MeasureTargets,
    RoundState,
    Solve,
    StatisticTarget,
    linearise_statistic,
    make_target,
    run_round,
    search_segment,
    start_rounds,
)
from tacita.methods.adjustment.statistics.statistic_rows import to_side
from tacita.methods.adjustment.task import AdjustmentSolution, AdjustmentTask, SideConstraints

ROUNDS = 20
LITTLE = 1e-3
"""Weight of squared changes in cells that do not belong to the statistics, beside 1 in those that do."""
EASE = 1.05
"""Factor on the tolerances that a message suggests, so that they are easy to reach."""


@dataclass(frozen=True, eq=False)
class PreservingSolution(AdjustmentSolution):
    """Changes that preserve statistics.

    Attributes
    ----------
    side
        Linearised constraints around the changes, which preserve the statistics in the rounding to integers.
    changes
        Changes of the statistics, in percent.
    remarks
        One for each tolerance that is missed.
    """

    side: SideConstraints
    changes: dict[str, float]
    remarks: tuple[str, ...]


def preserve_statistics(
    task: AdjustmentTask, keep: Keep, values: Floats, cells: Mask, run: Run, solve: Solve
) -> PreservingSolution:
    """Return the cheapest adjustment found that preserves statistics of some cells.

    Parameters
    ----------
    task
        With directions given.
    values
        Of all cells before; ``z / task.one`` is added to them.
    cells
        Those of the statistics.
    solve
        Solves a task with side constraints.

    Raises
    ------
    InfeasibleError
        The task has no solution, or tolerances are too narrow: the message has some that are not.
    InputError
        A statistic is one of two tables, or has no change in percent.
    """
    measure = _make_measure(task, keep, values, cells)
    plain = solve(task)
    state = run_rounds(task, plain, measure, run, solve, np.where(cells, 1.0, LITTLE))
    refuse_contradiction(state)
    return conclude_rounds(state, plain.bound, len(task))


def linearise_for_directions(
    task: AdjustmentTask, keep: Keep, values: Floats, cells: Mask, z: Floats
) -> SideConstraints:
    """Return linearised constraints on the statistics to preserve, for the choice of adjustment directions.

    Among directions of equal loss there are mostly some that preserve statistics at no cost: those that are
    optimal with these constraints. ``z`` are changes in some directions.
    """
    return linearise_all(_make_measure(task, keep, values, cells), z)


def linearise_all(measure: MeasureTargets, z: Floats) -> SideConstraints:
    """Return constraints on an adjustment's statistics around no change, with second-order terms of ``z``.

    Terms of second order, such as ``Var(y)`` in the variance, hardly depend on directions.
    """
    nothing = np.zeros(z.size)
    rows = [
        linearise_statistic(
            nothing, replace(a, change=b.change - float(a.gradient @ z[a.cells])), (1 - MARGIN) * a.tolerance
        )
        for a, b in zip(measure(nothing), measure(z), strict=True)
    ]
    return to_side([row for row in rows if row.scale > 0], z.size)


def _make_measure(task: AdjustmentTask, keep: Keep, values: Floats, cells: Mask) -> MeasureTargets:
    between = [name for name in keep.asked if name not in ALONE]
    if between:
        raise InputError(
            f"{between[0]} is a statistic of two tables",
            remedy=f"of one, preserve some of {', '.join(ALONE)}",
        )
    where = np.flatnonzero(cells)
    before = values[where]

    def measure(z: Floats) -> list[StatisticTarget]:
        found = measure_statistics(tuple(keep.asked), [before], [before + z[where] / task.one])
        return [make_target(measure, keep, [where], task.one) for measure in found]

    return measure


def run_rounds(
    task: AdjustmentTask,
    plain: AdjustmentSolution,
    measure: MeasureTargets,
    run: Run,
    solve: Solve,
    weight: Floats,
) -> RoundState:
    """Run rounds until the adjustment preserves all statistics at no cost, gains no more, or time is over.

    ``weight`` is that of squared changes, in the step towards least squares.
    """
    from tacita.methods.adjustment.convex.solve_convex import solve_convex

    state = start_rounds(task, plain, measure(plain.z))
    for done in range(ROUNDS):
        if state.is_finished(plain.value) or run.over:
            break
        run.report("statistics", done, ROUNDS, incumbent=state.loss, bound=plain.bound)
        try:
            state = run_round(task, state, measure, run, solve)
            if done == 0 and not state.preserved:
                small = solve_convex(replace(task, norm="l2", weight=weight), run)
                state = search_segment(small.z, task, state, measure)
        except (StoppedError, SolverError, InfeasibleError):
            # The best changes so far are returned; remarks name the tolerances that they miss.
            break
    return state


def refuse_contradiction(state: RoundState) -> None:
    """Raise an error with feasible tolerances where an adjustment's rounds had to widen the given ones."""
    if state.preserved or not state.contradicted or state.stalled <= PATIENCE:
        return
    asked = ", ".join(f"{a.label} to {a.tolerance:g} %" for a in state.targets)
    enough = ", ".join(f"{a.label} {round_up(EASE * a.change):g} %" for a in state.targets if a.ratio > 1)
    raise InfeasibleError(
        f"no changes within the capacities preserve {asked}",
        remedy=f"about the smallest tolerances that work are {enough}; allow these, or widen the capacities",
    )


def conclude_rounds(state: RoundState, bound: float, size: int) -> PreservingSolution:
    """Return the adjustment that rounds found, with a remark for each statistic beyond its tolerance."""
    rows = [linearise_statistic(state.z, a, max(a.tolerance, abs(a.change))) for a in state.targets]
    return PreservingSolution(
        z=state.z,
        value=state.loss,
        bound=min(bound, state.loss),
        formulation=state.formulation,
        iterations=state.iterations,
        side=to_side([row for row in rows if 0 < row.scale < np.inf], size),
        changes={a.label: a.change for a in state.targets},
        remarks=tuple(
            f"the {a.label} changes by {round_up(a.change):g} %, more than the {a.tolerance:g} % allowed"
            for a in state.targets
            if a.ratio > 1
        ),
    )


def round_up(change: float) -> float:
    """Return the size of a statistic's change by an adjustment, rounded up to three digits."""
    size = abs(change)
    if size == 0.0:
        return 0.0
    place = 10.0 ** (np.floor(np.log10(size)) - 2)
    return float(f"{np.ceil(size / place) * place:.3g}")
