"""Rounds that bring statistics of the published values into their tolerances.

A statistic ``s`` may change by ``tol`` percent. To first order around changes ``z_k`` that is a row on ``z``,

    -tol <= s(z_k) + s'(z_k) (z - z_k) + rest <= tol,

with ``rest`` what the row of the round before was wrong by. For the variance around 0 this says that ``L(y) =
Cov(a, y) / Var a`` be near ``-Var(y) / (2 Var a)``, where ``Var(y)`` is that of the round before.

A round solves the task with these rows. On the segment from the last changes to the new ones, which is
feasible from end to end, it takes the point that misses its tolerances least; among those that miss none,
the cheapest. Where nothing keeps the rows all tolerances are widened by the smallest factor that lets
something: so tolerances that contradict each other are missed in proportion.

The variance is convex in ``z``, and the correlation with the original concave where it is near 1. What their
rows forbid on the outer side is forbidden for good: these halves are cuts, and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacita.adjusting.statistic_rows import LEAST, Row, beside, side_of, widened
from tacita.adjusting.statistics import Kept, Measure
from tacita.adjusting.task import Adjusted, Task
from tacita.errors import InfeasibleError, InputError
from tacita.exact import Cells, Floats
from tacita.run import Run

MARGIN = 0.1
"""Share of a tolerance that rows leave to second-order terms and to the step to whole numbers."""
NOISE = 1e-7
"""Share of a loss that is not worth another round."""
PROGRESS = 1e-3
"""Share of the worst miss by which a round that counts lessens it."""
BENDS = {"variance": 1, "correlation": -1}
"""Statistics of one table that are convex (1) or concave (-1) in its changes."""
STEPS = tuple(2.0**-k for k in range(8))
"""Points of the segment that a round looks at."""
PATIENCE = 2
"""Rounds without a gain after which another may still bring one: with a new rest, and then without any."""

Solve = Callable[[Task], Adjusted]


@dataclass(frozen=True, eq=False)
class Aim:
    """A statistic that is to be kept: its change in percent, and how many more per unit in some cells.

    Attributes
    ----------
    bend
        1 where the statistic is convex in the changes, -1 where it is concave, else 0.
    """

    label: str
    change: float
    tolerance: float
    cells: Cells
    gradient: Floats
    bend: int

    @property
    def ratio(self) -> float:
        """How much of what is allowed is used: at most 1 where the statistic is kept."""
        return abs(self.change) / max(self.tolerance, LEAST)


Measuring = Callable[[Floats], list[Aim]]
"""Changes of a task, in units -> what becomes of the statistics that it is to keep."""


@dataclass(frozen=True, eq=False)
class Standing:
    """Where the rounds have come to.

    Attributes
    ----------
    rest
        By how many percent the rows of the last round misjudged each statistic.
    cuts
        Rows that stay.
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
    cuts: tuple[Row, ...]
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


def aim(measure: Measure, kept: Kept, cells: Sequence[Cells], one: int) -> Aim:
    """A measure as an aim of a task in units; ``cells`` are those of each of its tables in that task."""
    if not np.isfinite(measure.change):
        raise InputError(
            f"the {measure.label} has no change in percent, as it, or a variance it rests on, is zero: "
            "choose other cells, or do not ask to keep it"
        )
    gradient = np.concatenate(measure.gradients) / one
    bend = BENDS.get(measure.name, 0) if len(measure.tables) == 1 else 0
    return Aim(measure.label, measure.change, kept.asked[measure.name], np.concatenate(cells), gradient, bend)


def begin(task: Task, plain: Adjusted, aims: list[Aim]) -> Standing:
    """The standing of changes that were found without looking at statistics."""
    return Standing(
        z=plain.z,
        loss=task.loss(plain.z),
        aims=aims,
        rest=np.zeros(len(aims)),
        cuts=cuts_at(plain.z, aims),
        contradicted=False,
        stalled=0,
        iterations=plain.iterations,
        formulation=plain.formulation,
    )


def another_round(task: Task, standing: Standing, measuring: Measuring, run: Run, solve: Solve) -> Standing:
    """One round; the standing does not get worse."""
    if task.choice is not None:
        raise InputError("statistics are kept with given directions: choose them first")
    found, contradicted = _solved(task, standing, run, solve)
    far, moved = measuring(found.z), found.z - standing.z
    foreseen = np.array([a.change + a.gradient @ moved[a.cells] for a in standing.aims])
    known = replace(
        standing,
        # Where a rest misleads, rows without any still point to less.
        rest=(np.array([a.change for a in far]) - foreseen) * (standing.stalled < PATIENCE - 1),
        cuts=standing.cuts + cuts_at(found.z, far),
        contradicted=contradicted,
        stalled=standing.stalled + 1,
        iterations=standing.iterations + found.iterations,
        formulation=found.formulation,
    )
    points = [(standing.z + step * moved, None if step < 1 else far) for step in STEPS]
    there = [
        replace(known, z=z, loss=task.loss(z), aims=aims or measuring(z), stalled=0) for z, aims in points
    ]
    best = min(there, key=lambda s: (max(s.worst, 1.0), s.loss))
    return best if _gains(best, standing) else known


def _gains(new: Standing, old: Standing) -> bool:
    if old.kept:
        return new.kept and new.loss < old.loss * (1 - NOISE)
    return new.kept or new.worst < old.worst * (1 - PROGRESS)


def _solved(task: Task, standing: Standing, run: Run, solve: Solve) -> tuple[Adjusted, bool]:
    """The cheapest changes that keep the rows around the standing and its cuts; whether these had to be
    widened.
    """
    around = [
        row_at(standing.z, replace(a, change=a.change + rest), (1 - MARGIN) * a.tolerance)
        for a, rest in zip(standing.aims, standing.rest, strict=True)
    ]
    rows = [row for row in (*around, *standing.cuts) if 0 < row.scale < np.inf]
    try:
        return solve(beside(task, side_of(rows, len(task)))), False
    except InfeasibleError:
        wide = widened(task, rows, run)
        contradicted = any(row.room > max(row.tolerance, LEAST) for row in wide)
        return solve(beside(task, side_of(wide, len(task)))), contradicted


def row_at(z: Floats, at: Aim, room: float, half: int = 0) -> Row:
    """The row that keeps a statistic within some room, to first order around where it was measured."""
    middle = float(at.gradient @ z[at.cells]) - at.change
    return Row(at.cells, at.gradient, middle, room, at.tolerance, half)


def cuts_at(z: Floats, aims: list[Aim]) -> tuple[Row, ...]:
    """The halves of rows that no changes which keep the statistics can violate, where they say something."""
    return tuple(row_at(z, at, at.tolerance, at.bend) for at in aims if at.bend * at.change > at.tolerance)
