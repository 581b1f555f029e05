"""Rounds that bring statistics of the published values into their tolerances.

A statistic ``s`` may change by ``tol`` percent. To first order around changes ``z_k`` that is a row on ``z``,

    -tol <= s(z_k) + s'(z_k) (z - z_k) + rest <= tol,

with ``rest`` what the row of the round before was wrong by. For the variance around 0 this says that ``L(y) =
Cov(a, y) / Var a`` be near ``-Var(y) / (2 Var a)``, where ``Var(y)`` is that of the round before.

A round solves the task with these rows. On the segment from the last changes to the new ones, which is
feasible from end to end, it takes the point that misses its tolerances least; among those that miss none,
the cheapest. Where nothing keeps the rows all tolerances are widened by the smallest factor that lets
something: so tolerances that contradict each other are missed in proportion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacita.adjusting.statistics import Kept, Measure
from tacita.adjusting.task import Adjusted, Side, Task
from tacita.errors import InfeasibleError, InputError, SolverError, StoppedError
from tacita.exact import UNBOUNDED, Cells, Floats
from tacita.run import Run
from tacita.solvers.highs import Ended
from tacita.solvers.highs_mip import solve_mip
from tacita.solvers.program import Program

MARGIN = 0.1
"""Share of a tolerance that rows leave to second-order terms and to the step to whole numbers."""
LEAST = 1e-6
"""Percent that arithmetic may be off by: no change is measured against a smaller tolerance."""
NOISE = 1e-7
"""Share of a loss that is not worth another round."""
PROGRESS = 1e-3
"""Share of the worst miss by which a round that counts lessens it."""
STEPS = tuple(2.0**-k for k in range(8))
"""Points of the segment that a round looks at."""
PATIENCE = 2
"""Rounds without a gain after which another may still bring one: with a new rest, and then without any."""
HAIR = 1e-4
"""Added to a factor of widening, so that the solver's own tolerance does not decide."""
WIDE = 1e6
"""Largest bound of a variable in the program that widens."""

Solve = Callable[[Task], Adjusted]


@dataclass(frozen=True, eq=False)
class Aim:
    """A statistic that is to be kept: its change in percent, and how many more per unit in some cells."""

    label: str
    change: float
    tolerance: float
    cells: Cells
    gradient: Floats

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
    contradicted
        No changes keep the rows of that round: it had to widen tolerances.
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


def aim(measure: Measure, kept: Kept, cells: Sequence[Cells], one: int) -> Aim:
    """A measure as an aim of a task in units; ``cells`` are those of each of its tables in that task."""
    if not np.isfinite(measure.change):
        raise InputError(
            f"the {measure.label} has no change in percent, as it, or a variance it rests on, is zero: "
            "choose other cells, or do not ask to keep it"
        )
    gradient = np.concatenate(measure.gradients) / one
    return Aim(measure.label, measure.change, kept.asked[measure.name], np.concatenate(cells), gradient)


def begin(task: Task, plain: Adjusted, aims: list[Aim]) -> Standing:
    """The standing of changes that were found without looking at statistics."""
    loss = task.loss(plain.z)
    return Standing(plain.z, loss, aims, np.zeros(len(aims)), False, 0, plain.iterations, plain.formulation)


def another_round(task: Task, standing: Standing, measuring: Measuring, run: Run, solve: Solve) -> Standing:
    """One round; the standing does not get worse."""
    if task.choice is not None:
        raise InputError("statistics are kept with given directions: choose them first")
    tolerances = np.array([aim.tolerance for aim in standing.aims])
    room, contradicted = tolerances * (1 - MARGIN), False
    try:
        found = solve(beside(task, rows_around(standing, len(task), room)))
    except InfeasibleError:
        room = _smallest_room(task, standing, room, run)
        contradicted = bool((room > np.maximum(tolerances, LEAST)).any())
        found = solve(beside(task, rows_around(standing, len(task), room)))
    far = measuring(found.z)
    moved = found.z - standing.z
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


def rows_around(standing: Standing, size: int, room: Floats) -> Side:
    """Rows that keep each aim within ``room`` percent, to first order around the standing's changes.

    Each is scaled to a largest coefficient of 1, so that no solver takes it for zero.
    """
    from scipy.sparse import csr_array

    scale = np.array([np.abs(aim.gradient).max(initial=0.0) for aim in standing.aims])
    told = np.flatnonzero(np.isfinite(scale) & (scale > 0))
    aims = [standing.aims[i] for i in told]
    entries = [np.empty(0), *(aim.gradient / scale[i] for i, aim in zip(told, aims, strict=True))]
    columns = [np.empty(0, dtype=np.int64), *(aim.cells for aim in aims)]
    starts = np.cumsum([column.size for column in columns])
    reached = np.array([aim.gradient @ standing.z[aim.cells] - aim.change for aim in aims])
    middle = reached - standing.rest[told]
    return Side(
        rows=csr_array((np.concatenate(entries), np.concatenate(columns), starts), shape=(told.size, size)),
        least=(middle - room[told]) / scale[told],
        most=(middle + room[told]) / scale[told],
    )


def beside(task: Task, side: Side) -> Task:
    """The task with more rows at its side."""
    from scipy.sparse import csr_array, vstack

    if task.side is None:
        return replace(task, side=side)
    rows = csr_array(vstack([task.side.rows, side.rows]))
    least, most = np.append(task.side.least, side.least), np.append(task.side.most, side.most)
    return replace(task, side=Side(rows, least, most))


def _smallest_room(task: Task, standing: Standing, room: Floats, run: Run) -> Floats:
    """Room for the aims, wider by the smallest multiple of their tolerances with which some changes keep the
    rows.

        min e    s.t.  M z = 0,  lower <= z <= upper,  least - e tol <= G z <= most + e tol

    What is to be kept exactly is not widened, unless nothing else helps.
    """
    tolerances = np.array([aim.tolerance for aim in standing.aims])
    for share in (tolerances, np.maximum(tolerances, LEAST)):
        found = solve_mip(_widening(task, standing, room, share), run)
        if found.status is Ended.OPTIMAL:
            return np.asarray(room + share * float(found.point[-1]) * (1 + HAIR))
        if found.status is not Ended.INFEASIBLE:
            raise StoppedError("stopped while tolerances were widened: allow more time")
    raise SolverError("the task has changes, yet none at any tolerance of its statistics: report the table")


def _widening(task: Task, standing: Standing, room: Floats, share: Floats) -> Program:
    """The linear program over ``z``, in a unit that keeps its bounds small, and ``e``."""
    from scipy.sparse import csr_array, hstack, vstack

    side = rows_around(standing, len(task), room)
    below = beside(task, replace(side, least=np.full_like(side.least, -np.inf))).side or side
    wider = rows_around(standing, len(task), room + share).most - side.most
    lower, upper = task.lower.astype(np.float64), task.upper.astype(np.float64)
    lower[task.lower <= -UNBOUNDED], upper[task.upper >= UNBOUNDED] = -np.inf, np.inf
    bounds = np.abs(np.append(lower, upper))
    unit = max(1.0, float(bounds[np.isfinite(bounds)].max(initial=0.0)) / WIDE)
    equations = np.zeros(task.matrix.shape[0])
    given = np.zeros(below.most.size - side.most.size)
    rows = vstack([task.matrix, below.rows, side.rows])
    column = np.concatenate([equations, given, -wider, wider]) / unit
    return Program(
        cost=np.append(np.zeros(len(task)), 1.0),
        lower=np.append(lower / unit, 0.0),
        upper=np.append(upper / unit, np.inf),
        whole=np.zeros(len(task) + 1, dtype=bool),
        rows=csr_array(hstack([rows, csr_array(column[:, None])])),
        row_lower=np.concatenate([equations, below.least, side.least]) / unit,
        row_upper=np.concatenate([equations, below.most, np.full_like(side.most, np.inf)]) / unit,
    )
