"""From a solver's floats to whole changes that add up and keep their bounds, exactly.

    z' = step x,   M x = 0,   low <= x <= high,   x whole,   near z and cheap.

1. What is whole already is checked and kept.
2. Where the cells between whole numbers form a network: a cheapest flow over the two numbers around each.
3. Where all cells that can move form one: a cheapest flow inside the bounds, which exists if anything does.
4. Small tables beyond networks: an integer program.
5. Large ones: plane by plane where totals are fixed, leaf by leaf where they have room, and an integer
   program for what these leave to be mended. Among a hundred thousand cells and more these come first.

Where no whole numbers exist the equations that they miss are named.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tacita.core.errors import InfeasibleError, SolverError, and_others
from tacita.core.exact import Cells, Floats, Units
from tacita.core.run import Run
from tacita.core.tables.structure import Structure
from tacita.methods.adjustment.integer.integer_flow import MANY, flow_in_bounds, flow_in_box
from tacita.methods.adjustment.integer.integer_program import in_all_cells
from tacita.methods.adjustment.integer.leaves import leaf_by_leaf
from tacita.methods.adjustment.integer.planes import plane_by_plane
from tacita.methods.adjustment.integer.steps import Steps
from tacita.methods.adjustment.task import AdjustmentTask
from tacita.solvers.highs import solve_mip
from tacita.solvers.linear_program import LinearProgram

FEW = 300
"""Cells that can move in tables for which an integer program as it is takes a second or two at most."""
ROOM = 0.5
"""Share of totals that can move beyond which leaves are settled one by one: in tables of a million cells that
does as well as a flow, fifty times as fast."""

NODES = 100
"""Of the search for the equations that integers miss."""

Way = Callable[[Steps, Run], Units | None]


def exactly(task: AdjustmentTask, z: Floats, structure: Structure, run: Run) -> Units:
    """Whole units near a solver's changes of a directed task, with ``M z' = 0`` and all bounds kept exactly.

    Parameters
    ----------
    z
        Changes in units that keep equations and bounds as well as floats do.

    Raises
    ------
    InfeasibleError
        No multiples of the step within the bounds add up.
    StoppedError
        The time was over first.
    """
    steps = Steps.of(task, structure, z)
    _refuse_empty_bounds(steps)
    x = _whole(steps, run)
    if x is None:
        raise _shortage(steps, run)
    if not steps.holds(x):
        raise SolverError("whole changes were found that do not hold: report the table")
    return np.asarray(x * task.step)


def _whole(steps: Steps, run: Run) -> Units | None:
    if not steps.between.any() and steps.holds(steps.nearest):
        return steps.nearest
    small = int(steps.movable.sum()) <= FEW
    if small and steps.task.side is not None:
        return in_all_cells(steps, run)
    vast = int(steps.between.sum()) > MANY
    total = steps.structure.is_total
    ways: tuple[Way, ...] = (leaf_by_leaf,)
    if np.count_nonzero(steps.movable & total) <= ROOM * np.count_nonzero(total):
        ways = (plane_by_plane, leaf_by_leaf)
    if vast:
        x = ways[0](steps, run)
        if x is not None:
            return x
    network, x = flow_in_box(steps, run)
    if x is not None:
        return x
    if network or not vast:
        # Else more cells than are no network would hardly be one, and to find out takes long.
        decided, x = flow_in_bounds(steps, run)
        if decided:
            return x
    if not small:
        for way in ways[1:] if vast else ways:
            x = way(steps, run)
            if x is not None:
                return x
    return in_all_cells(steps, run)


def _refuse_empty_bounds(steps: Steps) -> None:
    """
    Raises
    ------
    InfeasibleError
        A cell has no multiple of the step within its bounds.
    """
    empty = np.flatnonzero(steps.low > steps.high)
    if empty.size:
        raise InfeasibleError(
            f"no change of ({steps.structure.name(int(empty[0]))}) within its capacity is a multiple "
            f"of {_step(steps)}{and_others(empty.size, 'cell')}: widen the capacity to the next multiple"
        )


def _shortage(steps: Steps, run: Run) -> InfeasibleError:
    """The error that names equations which whole numbers miss."""
    missed = _missed(steps, run)
    if not missed.size or steps.matrix.shape[0] != len(steps.structure.equations):
        where = "all equations"
        remedy = "widen capacities"
    else:
        row = steps.matrix[[int(missed[0])]]
        where = steps.structure.describe_equation(int(missed[0])) + and_others(missed.size, "equation")
        remedy = f"widen those of {steps.structure.names(row.indices, 3)}"
    return InfeasibleError(
        f"capacities are too tight for whole numbers: no multiples of {_step(steps)} within them satisfy "
        f"{where}; {remedy}"
    )


def _step(steps: Steps) -> str:
    return f"{steps.task.step / steps.task.one:g}"


def _missed(steps: Steps, run: Run) -> Cells:
    """Return the equations with ``s_j != 0`` in ``min sum_j |s_j| : M x = s, low <= x <= high``, integer."""
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
