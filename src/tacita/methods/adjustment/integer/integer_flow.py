"""Integer steps on a network: controlled rounding as a cheapest flow.

Every cell takes one of the two integers around its target. If targets violate all equations together by less
than one step, such integers that add up exist: the flow through every cut lies between the sums of its lower
and of its upper integers, up to an error below 1, and these sums are integer. With larger errors, such as
those of floats at large values, cells may go farther.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacita.core.exact import Cells, Units
from tacita.core.run import Run
from tacita.methods.adjustment.integer.step_task import FARTHEST, StepTask
from tacita.solvers.integer_pieces import Pieces
from tacita.solvers.network import Network

MANY = 100_000
"""Fractional cells from which on most are rounded to the nearest integer first."""
HALF_WAY = 0.1
"""Distance from half-way between two integers within which cells stay fractional then. On a million cells the
loss is that with all of them up to a millionth, in a third of the time; with 0.05 there may be no flow."""


def round_by_flow_in_box(steps: StepTask, run: Run) -> tuple[bool, Units | None]:
    """Return whether fractional cells of an adjustment are a network, and steps at one of the two integers
    around each target; None where no such integers add up.

    In large tables, first all cells but those nearly half-way go to the nearest integer: with so many cells
    the loss is hardly larger.
    """
    if steps.fractional.sum() > MANY:
        near = np.abs(steps.target - np.floor(steps.target) - 0.5) < HALF_WAY
        fewer = replace(steps, target=np.where(near, steps.target, np.rint(steps.target)))
        _, x = _solve_in_box(fewer, run, level=True)
        if x is not None:
            return True, x
    return _solve_in_box(steps, run)


def _solve_in_box(steps: StepTask, run: Run, level: bool = False) -> tuple[bool, Units | None]:
    """Return whether fractional cells of an adjustment are a network, and steps around targets, or None.

    Parameters
    ----------
    level
        Whether squares are taken without their slopes at the target. At an optimal target slopes are
        combinations of equations, which cost the same in all flows; without them the simplex starts at the
        nearest integers and needs few pivots.
    """
    cells, pieces = np.flatnonzero(steps.fractional), steps.make_pieces_in_box()
    network = _find_network(steps, cells)
    if network is None:
        return False, None
    if level and steps.task.norm == "l2":
        target = steps.target[cells]
        slope = steps.costs(cells, target + 0.5) - steps.costs(cells, target - 0.5)
        pieces = replace(pieces, cost=pieces.cost - slope)
    x = solve_flow(steps, network, cells, pieces, run)
    return True, x if x is not None and steps.adds_up(x) else None


def round_by_flow_in_bounds(steps: StepTask, run: Run) -> tuple[bool, Units | None]:
    """Return whether a flow decides if an adjustment has integer steps, and such steps within the bounds
    that add up; None if there are none.
    """
    cells = np.flatnonzero(steps.movable)
    network = _find_network(steps, cells)
    if network is None:
        return False, None
    for reach in (1 + steps.imbalance, FARTHEST):
        x = solve_flow(steps, network, cells, steps.make_pieces_around_box(reach), run)
        if x is not None:
            # Equations that are redundant among these cells may be violated with the others.
            return steps.adds_up(x), x
    return True, None


def _find_network(steps: StepTask, cells: Cells) -> Network | None:
    """Return the network that some cells form in the equations of an adjustment; None if they form none."""
    return Network.of(steps.columns[:, cells]) if cells.size else None


def solve_flow(steps: StepTask, network: Network, cells: Cells, pieces: Pieces, run: Run) -> Units | None:
    """Return an adjustment's integer steps: those below the targets plus the cheapest pieces that balance
    every node of the network of these cells; None if no pieces do.
    """
    place = np.zeros(len(steps), dtype=np.int64)
    place[cells] = np.arange(cells.size)
    arcs = replace(pieces, cell=place[pieces.cell])
    flow = arcs.find_cheapest_flow(network, -(steps.matrix @ steps.below), run)
    return None if flow is None else steps.below + pieces.sum_changes(flow.amount, len(steps))
