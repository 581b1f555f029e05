"""Whole steps on a network: controlled rounding as a cheapest flow.

Take for every cell the two whole numbers around its target. If targets are wrong by less than one step in all
equations together, such numbers that add up exist: every cut of the network carries between the sum of its
lower and of its upper numbers, up to an error below 1, and those sums are whole. With larger errors, such as
those of floats at large values, cells may go farther.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacita.core.exact import Cells, Units
from tacita.core.run import Run
from tacita.methods.adjustment.integer.steps import FARTHEST, Steps
from tacita.solvers.integer_pieces import Pieces
from tacita.solvers.network import Network

MANY = 100_000
"""Cells between whole numbers from which on not all of them are put in question."""
HALF_WAY = 0.1
"""How far from half-way between two whole numbers a cell is in question. On a million cells the loss is that
with all of them up to a millionth, in a third of the time; with 0.05 there may be no flow."""


def flow_in_box(steps: Steps, run: Run) -> tuple[bool, Units | None]:
    """Whether cells between whole numbers are a network, and each of them at one of the two whole numbers
    around its target; None where no such numbers add up.

    In a large table only cells that are nearly half-way are in question at first, and the others go to the
    number next to them: with as many cells as that, the few that should not are hardly missed.
    """
    if steps.between.sum() > MANY:
        near = np.abs(steps.target - np.floor(steps.target) - 0.5) < HALF_WAY
        fewer = replace(steps, target=np.where(near, steps.target, np.rint(steps.target)))
        _, x = _in_box(fewer, run, level=True)
        if x is not None:
            return True, x
    return _in_box(steps, run)


def _in_box(steps: Steps, run: Run, level: bool = False) -> tuple[bool, Units | None]:
    """The same for all cells that are between whole numbers.

    Parameters
    ----------
    level
        Squares without their slope at the target. Where that is cheapest its slopes are prices of equations,
        which all flows pay alike; without them the simplex starts at the number next to each target, and
        little is left to do.
    """
    cells, pieces = np.flatnonzero(steps.between), steps.box()
    network = _network(steps, cells)
    if network is None:
        return False, None
    if level and steps.task.norm == "l2":
        target = steps.target[cells]
        slope = steps.prices(cells, target + 0.5) - steps.prices(cells, target - 0.5)
        pieces = replace(pieces, cost=pieces.cost - slope)
    x = routed(steps, network, cells, pieces, run)
    return True, x if x is not None and steps.adds_up(x) else None


def flow_in_bounds(steps: Steps, run: Run) -> tuple[bool, Units | None]:
    """Whether a flow decides the question, and whole steps inside the bounds that add up.

    If it does and there are no steps, then none exist.
    """
    cells = np.flatnonzero(steps.movable)
    network = _network(steps, cells)
    if network is None:
        return False, None
    for reach in (1 + steps.imbalance, FARTHEST):
        x = routed(steps, network, cells, steps.around_box(reach), run)
        if x is not None:
            # Equations that follow from others in these cells alone may contradict what the other cells are.
            return steps.adds_up(x), x
    return True, None


def _network(steps: Steps, cells: Cells) -> Network | None:
    """Some cells as a network; None if they are none."""
    return Network.of(steps.columns[:, cells]) if cells.size else None


def routed(steps: Steps, network: Network, cells: Cells, pieces: Pieces, run: Run) -> Units | None:
    """The cheapest pieces, taken from the whole numbers below the targets, that balance at every node; None
    if no pieces do.

    Parameters
    ----------
    network
        Of these cells; all pieces are theirs.
    """
    place = np.zeros(len(steps), dtype=np.int64)
    place[cells] = np.arange(cells.size)
    arcs = replace(pieces, cell=place[pieces.cell])
    flow = arcs.cheapest_flow(network, -(steps.matrix @ steps.below), run)
    return None if flow is None else steps.below + pieces.moved(flow.amount, len(steps))
