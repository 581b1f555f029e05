"""Rounding of a solver's changes to integer steps that satisfy equations and bounds exactly.

    z' = step x,   M x = 0,   low <= x <= high,   x integer,   near z and cheap.

1. Changes that are integer already are checked and returned.
2. Where the fractional cells form a network: a cheapest flow over the two integers around each.
3. Where all cells that can move form one: a cheapest flow within the bounds, which is feasible if any is.
4. Small tables beyond networks: an integer program.
5. Large ones: plane by plane where totals are fixed, leaf by leaf where they have room, and an integer
   program to repair what these miss. With more than a hundred thousand fractional cells these come first.

Where no integers are feasible the error names equations that they miss.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tacita.core.errors import InfeasibleError, SolverError, and_others
from tacita.core.exact import Cells, Floats, Units
from tacita.core.run import Run
from tacita.core.tables.structure import Structure
from tacita.methods.adjustment.integer.integer_flow import MANY, round_by_flow_in_bounds, round_by_flow_in_box
from tacita.methods.adjustment.integer.integer_program import round_by_program
from tacita.methods.adjustment.integer.leaf_rounding import round_by_leaves
from tacita.methods.adjustment.integer.plane_rounding import round_by_planes
from tacita.methods.adjustment.integer.step_task import StepTask
from tacita.methods.adjustment.task import AdjustmentTask
from tacita.solvers.highs import solve_mip
from tacita.solvers.linear_program import LinearProgram

FEW = 300
"""Cells that can move up to which one integer program takes a second or two at most."""
ROOM = 0.5
"""Share of totals that can move beyond which leaves are rounded one by one: in tables of a million cells that
is as good as a flow, and fifty times as fast."""
NODES = 100
"""Of the search for the equations that integers miss."""

Heuristic = Callable[[StepTask, Run], Units | None]


def round_to_steps(task: AdjustmentTask, z: Floats, structure: Structure, run: Run) -> Units:
    """Return an adjustment in multiples of the step, in units, near a solver's changes ``z`` of a directed
    task, that satisfies equations and bounds exactly.

    Raises
    ------
    InfeasibleError
        No multiples of the step within the bounds add up.
    StoppedError
        The time was over first.
    """
    steps = StepTask.of(task, structure, z)
    if (empty := np.flatnonzero(steps.low > steps.high)).size:
        raise InfeasibleError(
            f"no change of ({structure.name(int(empty[0]))}) within its capacity is a multiple of "
            f"{_step_text(steps)}{and_others(empty.size, 'cell')}",
            remedy="widen the capacity to the next multiple",
        )
    x = _solve_integer(steps, run)
    if x is None:
        raise _explain_shortage(steps, run)
    if not steps.is_feasible(x):
        raise SolverError("integer changes were found that are infeasible", remedy="report the table")
    return np.asarray(x * task.step)


def _solve_integer(steps: StepTask, run: Run) -> Units | None:
    """Return integer steps of an adjustment, by the first approach that finds some; None if none does."""
    if not steps.fractional.any() and steps.is_feasible(steps.nearest):
        return steps.nearest
    small = int(steps.movable.sum()) <= FEW
    if small and steps.task.side is not None:
        return round_by_program(steps, run)
    large = int(steps.fractional.sum()) > MANY
    total = steps.structure.is_total
    heuristics: tuple[Heuristic, ...] = (round_by_leaves,)
    if np.count_nonzero(steps.movable & total) <= ROOM * np.count_nonzero(total):
        heuristics = (round_by_planes, round_by_leaves)
    if large:
        x = heuristics[0](steps, run)
        if x is not None:
            return x
    network, x = round_by_flow_in_box(steps, run)
    if x is not None:
        return x
    if network or not large:
        # Where the fractional cells are no network, all movable ones hardly are: that takes long to check.
        decided, x = round_by_flow_in_bounds(steps, run)
        if decided:
            return x
    if not small:
        for heuristic in heuristics[1:] if large else heuristics:
            x = heuristic(steps, run)
            if x is not None:
                return x
    return round_by_program(steps, run)


def _explain_shortage(steps: StepTask, run: Run) -> InfeasibleError:
    """Return the error that names equations which no integer adjustment within capacities satisfies."""
    missed = _find_missed_equations(steps, run)
    where, remedy = "all equations", "widen capacities"
    if missed.size and steps.matrix.shape[0] == len(steps.structure.equations):
        row = steps.matrix[[int(missed[0])]]
        where = steps.structure.describe_equation(int(missed[0])) + and_others(missed.size, "equation")
        remedy = f"widen those of {steps.structure.names(row.indices, 3)}"
    return InfeasibleError(
        f"capacities are too tight for integers: no multiples of {_step_text(steps)} within them satisfy "
        f"{where}",
        remedy=remedy,
    )


def _step_text(steps: StepTask) -> str:
    return f"{steps.task.step / steps.task.one:g}"


def _find_missed_equations(steps: StepTask, run: Run) -> Cells:
    """Return equations that integer adjustments miss: ``s_j != 0`` in ``min sum |s_j| : M x = s``."""
    from scipy.sparse import csr_array, eye_array, hstack

    count, size = steps.matrix.shape
    slack = eye_array(count, format="csr")
    start = steps.below
    missing = -(steps.matrix @ start).astype(np.float64)
    program = LinearProgram(
        np.append(np.zeros(size), np.ones(2 * count)),
        np.append((steps.low - start).astype(np.float64), np.zeros(2 * count)),
        np.append((steps.high - start).astype(np.float64), np.full(2 * count, np.inf)),
        csr_array(hstack([steps.matrix.astype(np.float64), slack, -slack])),
        missing,
        missing,
    ).in_integers()
    found = solve_mip(program, run, nodes=NODES)
    short = (
        found.point[size : size + count] + found.point[size + count :]
        if found.point.size
        else np.zeros(count)
    )
    return np.flatnonzero(short > 0.5)
