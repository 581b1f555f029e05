"""Changes of one table that keep its statistics.

    min  loss(z)    s.t.  z solves the task,   |100 (s(a + y) / s(a) - 1)| <= tol_s  for each statistic s

with ``y = z / one`` over the chosen cells. The task is solved without statistics first: nobody can do with
less, so that is the bound. Then rounds follow (see :mod:`tacita.methods.adjustment.statistics.rounds`) until
every tolerance holds, as measured on the result, and nothing is left to gain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacita.core.errors import InfeasibleError, InputError, SolverError, StoppedError
from tacita.core.exact import Floats, Mask
from tacita.core.run import Run
from tacita.methods.adjustment.statistics.measures import ALONE, Keep, measures
from tacita.methods.adjustment.statistics.rounds import (
    MARGIN,
    PATIENCE,
    Aim,
    Measuring,
    RoundState,
    Solve,
    aim,
    another_round,
    begin,
    row_at,
    towards,
)
from tacita.methods.adjustment.statistics.statistic_rows import side_of
from tacita.methods.adjustment.task import Adjusted, AdjustmentTask, Side

ROUNDS = 20
LITTLE = 1e-3
"""What squares of changes in other cells count, beside 1 in those that the statistics are of."""
EASE = 1.05
"""On tolerances that are named as possible, so that rounds towards them need not go to the very limit."""


@dataclass(frozen=True, eq=False)
class AdjustedKeeping(Adjusted):
    """Changes that keep statistics, and what becomes of these.

    Attributes
    ----------
    side
        Rows around the changes: whoever moves them a little further keeps the statistics by keeping these.
    changes
        Percent by which each statistic that was to be kept has changed.
    remarks
        One for each tolerance that is missed.
    """

    side: Side
    changes: dict[str, float]
    remarks: tuple[str, ...]


def keeping(
    task: AdjustmentTask, kept: Keep, values: Floats, cells: Mask, run: Run, solve: Solve
) -> AdjustedKeeping:
    """The cheapest changes found that keep statistics of some cells.

    Parameters
    ----------
    task
        With directions given.
    values
        Of all cells before; ``z / task.one`` is added to them.
    cells
        Those that the statistics are of.
    solve
        Solves a task with rows at its side.

    Raises
    ------
    InfeasibleError
        The task has no solution, or its statistics cannot be kept so closely: the message says how closely.
    InputError
        A statistic is one of two tables, or has no change in percent.
    """
    measuring = _measuring(task, kept, values, cells)
    plain = solve(task)
    standing = rounds(task, plain, measuring, run, solve, np.where(cells, 1.0, LITTLE))
    refuse_contradiction(standing)
    return concluded(standing, plain.bound, len(task))


def rows_to_choose_by(task: AdjustmentTask, kept: Keep, values: Floats, cells: Mask, z: Floats) -> Side:
    """Rows that changes in any directions must keep, to first order, for their statistics to be kept.

    Among directions of equal loss there are mostly some that keep statistics at no cost: those that are best
    beside these rows. ``z`` are changes in some directions.
    """
    return rows_around(_measuring(task, kept, values, cells), z)


def rows_around(measuring: Measuring, z: Floats) -> Side:
    """The first-order rows of all statistics, right for no changes but for what ``z`` say of the rest.

    Terms of second order, such as ``Var(y)`` in the variance, hardly depend on directions: they are those of
    ``z``.
    """
    nothing = np.zeros(z.size)
    rows = [
        row_at(
            nothing, replace(a, change=b.change - float(a.gradient @ z[a.cells])), (1 - MARGIN) * a.tolerance
        )
        for a, b in zip(measuring(nothing), measuring(z), strict=True)
    ]
    return side_of([row for row in rows if row.scale > 0], z.size)


def _measuring(task: AdjustmentTask, kept: Keep, values: Floats, cells: Mask) -> Measuring:
    between = [name for name in kept.asked if name not in ALONE]
    if between:
        raise InputError(
            f"{between[0]} is a statistic of two tables: of one, keep some of {', '.join(ALONE)}"
        )
    where = np.flatnonzero(cells)
    before = values[where]

    def measuring(z: Floats) -> list[Aim]:
        found = measures(tuple(kept.asked), [before], [before + z[where] / task.one])
        return [aim(measure, kept, [where], task.one) for measure in found]

    return measuring


def rounds(
    task: AdjustmentTask, plain: Adjusted, measuring: Measuring, run: Run, solve: Solve, weight: Floats
) -> RoundState:
    """Round after round, until all is kept at no further cost, nothing more is gained or time is over.

    ``weight`` is that of the squares of changes which the statistics bear least of all.
    """
    from tacita.methods.adjustment.convex.solve import adjusted

    standing = begin(task, plain, measuring(plain.z))
    for done in range(ROUNDS):
        if standing.settled(plain.value) or run.over:
            break
        run.tell("statistics", done, ROUNDS, incumbent=standing.loss, bound=plain.bound)
        try:
            standing = another_round(task, standing, measuring, run, solve)
            if done == 0 and not standing.kept:
                small = adjusted(replace(task, norm="l2", weight=weight), run)
                standing = towards(small.z, task, standing, measuring)
        except (StoppedError, SolverError, InfeasibleError):
            # What has been reached so far stands; remarks say what it misses.
            break
    return standing


def refuse_contradiction(standing: RoundState) -> None:
    """Raise where tolerances had to be widened to the end, and say which are possible."""
    if standing.kept or not standing.contradicted or standing.stalled <= PATIENCE:
        return
    asked = ", ".join(f"{a.label} to {a.tolerance:g} %" for a in standing.aims)
    enough = ", ".join(f"{a.label} {rounded_up(EASE * a.change):g} %" for a in standing.aims if a.ratio > 1)
    raise InfeasibleError(
        f"no changes within the capacities keep {asked}: "
        f"about the smallest tolerances that work are {enough}; allow these, or widen the capacities"
    )


def concluded(standing: RoundState, bound: float, size: int) -> AdjustedKeeping:
    """What the rounds came to, with a remark for each tolerance that is missed."""
    rows = [row_at(standing.z, a, max(a.tolerance, abs(a.change))) for a in standing.aims]
    return AdjustedKeeping(
        z=standing.z,
        value=standing.loss,
        bound=min(bound, standing.loss),
        formulation=standing.formulation,
        iterations=standing.iterations,
        side=side_of([row for row in rows if 0 < row.scale < np.inf], size),
        changes={a.label: a.change for a in standing.aims},
        remarks=tuple(
            f"the {a.label} changes by {rounded_up(a.change):g} %, more than the {a.tolerance:g} % allowed"
            for a in standing.aims
            if a.ratio > 1
        ),
    )


def rounded_up(change: float) -> float:
    """The size of a change to three digits, never below it."""
    size = abs(change)
    if size == 0.0:
        return 0.0
    place = 10.0 ** (np.floor(np.log10(size)) - 2)
    return float(f"{np.ceil(size / place) * place:.3g}")
