"""Rounds that bring statistics of the published values into their tolerances.

A statistic ``s`` may change by ``tol`` percent. To first order around changes ``z_k`` that is a row on ``z``,

    -tol <= s(z_k) + s'(z_k) (z - z_k) + rest <= tol,

with ``rest`` what the row of the round before was wrong by. For the variance around 0 this says that ``L(y) =
Cov(a, y) / Var a`` be near ``-Var(y) / (2 Var a)``, where ``Var(y)`` is that of the round before.

A round solves the task with these rows. On the segment from the last changes to the new ones, which is
feasible from end to end, it takes the point that misses its tolerances least; among those that miss none,
the cheapest. Where nothing keeps the rows all tolerances are widened by the smallest factor that lets
something: so tolerances that contradict each other are missed in proportion.

Linear programs end in corners, where changes are few and large. A correlation asks for many small ones: where
the first round does not suffice, one step goes towards the changes of least squares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacita.core.errors import InfeasibleError, InputError
from tacita.core.exact import Cells, Floats
from tacita.core.run import Run
from tacita.methods.adjustment.statistics.measures import LINEAR, Keep, MeasuredStatistic
from tacita.methods.adjustment.statistics.statistic_rows import LEAST, StatisticRow, beside, side_of, widened
from tacita.methods.adjustment.task import Adjusted, AdjustmentTask

MARGIN = 0.1
"""Share of a tolerance that rows leave to second-order terms and to the step to whole numbers."""
FLOATS = 1e-8
"""Percent of room in every row."""
NOISE = 1e-7
"""Share of a loss that is not worth another round."""
PROGRESS = 1e-3
"""Share of the worst miss by which a round that counts lessens it."""
STEPS = tuple(2.0**-k for k in range(8))
"""Points of the segment that a round looks at."""
PATIENCE = 2
"""Rounds without a gain after which another may still bring one: with a new rest, and then without any."""

Solve = Callable[[AdjustmentTask], Adjusted]


@dataclass(frozen=True, eq=False)
class Aim:
    """A statistic that is to be kept: its change in percent, how many more per unit in some cells, and
    whether it is linear in the changes.
    """

    label: str
    change: float
    tolerance: float
    cells: Cells
    gradient: Floats
    linear: bool

    @property
    def ratio(self) -> float:
        """How much of what is allowed is used: at most 1 where the statistic is kept."""
        return abs(self.change) / max(self.tolerance, LEAST)


Measuring = Callable[[Floats], list[Aim]]
"""Changes of a task, in units -> what becomes of the statistics that it is to keep."""


@dataclass(frozen=True, eq=False)
class RoundState:
    """Where the rounds have come to.

    Attributes
    ----------
    rest
        By how many percent the rows of the last round misjudged each statistic.
    contradicted
        No changes keep the rows of the last round: it had to widen tolerances.
    stalled
        Rounds in a row that brought nothing.
    iterations
        Of all solvers so far.
    """

    z: Floats
    loss: float
    aims: list[Aim]
    rest: Floats
    contradicted: bool
    stalled: int
    iterations: int
    formulation: str

    @property
    def worst(self) -> float:
        return max((aim.ratio for aim in self.aims), default=0.0)

    @property
    def kept(self) -> bool:
        return self.worst <= 1.0

    def settled(self, loss: float) -> bool:
        """All is kept and nothing is left to gain on ``loss``, or rounds have ceased to bring anything."""
        return (self.kept and self.loss <= loss * (1 + NOISE)) or self.stalled > PATIENCE


def aim(measure: MeasuredStatistic, kept: Keep, cells: Sequence[Cells], one: int) -> Aim:
    """A measure as an aim of a task in units; ``cells`` are those of each of its tables in that task."""
    if not np.isfinite(measure.change):
        raise InputError(
            f"the {measure.label} has no change in percent, as it, or a variance it rests on, is zero: "
            "choose other cells, or do not ask to keep it"
        )
    gradient = np.concatenate(measure.gradients) / one
    return Aim(
        label=measure.label,
        change=measure.change,
        tolerance=kept.asked[measure.name],
        cells=np.concatenate(cells),
        gradient=gradient,
        linear=measure.name in LINEAR,
    )


def begin(task: AdjustmentTask, plain: Adjusted, aims: list[Aim]) -> RoundState:
    """The standing of changes that were found without looking at statistics."""
    if task.choice is not None:
        # A segment between different directions would lead through values that are not safe.
        raise InputError("statistics are kept with given directions: choose them first")
    return RoundState(
        z=plain.z,
        loss=task.loss(plain.z),
        aims=aims,
        rest=np.zeros(len(aims)),
        contradicted=False,
        stalled=0,
        iterations=plain.iterations,
        formulation=plain.formulation,
    )


def another_round(
    task: AdjustmentTask, standing: RoundState, measuring: Measuring, run: Run, solve: Solve
) -> RoundState:
    """One round; the standing does not get worse."""
    found, contradicted = _solved(task, standing, run, solve)
    far, moved = measuring(found.z), found.z - standing.z
    foreseen = np.array([a.change + a.gradient @ moved[a.cells] for a in standing.aims])
    known = replace(
        standing,
        # Where a rest misleads, rows without any still point to less.
        rest=(np.array([a.change for a in far]) - foreseen) * (standing.stalled < PATIENCE - 1),
        contradicted=contradicted,
        stalled=standing.stalled + 1,
        iterations=standing.iterations + found.iterations,
        formulation=found.formulation,
    )
    return towards(found.z, task, known, measuring)


def towards(z: Floats, task: AdjustmentTask, standing: RoundState, measuring: Measuring) -> RoundState:
    """The best point on the segment from the standing to other changes, or the standing if it is the best."""
    points = (standing.z + step * (z - standing.z) for step in STEPS)
    there = (replace(standing, z=p, loss=task.loss(p), aims=measuring(p), stalled=0) for p in points)
    best = min(there, key=lambda s: (max(s.worst, 1.0), s.loss))
    return best if _gains(best, standing) else standing


def _gains(new: RoundState, old: RoundState) -> bool:
    if old.kept:
        return new.kept and new.loss < old.loss * (1 - NOISE)
    return new.kept or new.worst < old.worst * (1 - PROGRESS)


def _solved(task: AdjustmentTask, standing: RoundState, run: Run, solve: Solve) -> tuple[Adjusted, bool]:
    """The cheapest changes that keep the rows around the standing; whether these had to be widened."""
    around = [
        row_at(standing.z, replace(a, change=a.change + rest), (1 - MARGIN) * a.tolerance)
        for a, rest in zip(standing.aims, standing.rest, strict=True)
    ]
    rows = [row for row in around if 0 < row.scale < np.inf]
    try:
        return solve(beside(task, side_of(rows, len(task)))), False
    except InfeasibleError:
        wide = widened(task, rows, run)
        contradicted = any(row.room > max(row.tolerance, LEAST) for row in wide)
        return solve(beside(task, side_of(wide, len(task)))), contradicted


def row_at(z: Floats, at: Aim, room: float) -> StatisticRow:
    """The row that keeps a statistic within some room, to first order around where it was measured."""
    # Equations may say the same as a row, and a rounding error would contradict them: what is zero is not
    # computed, and nothing is asked for more exactly than floats are.
    middle = 0.0 if at.linear else float(at.gradient @ z[at.cells]) - at.change
    return StatisticRow(at.cells, at.gradient, middle, max(room, FLOATS), at.tolerance)
