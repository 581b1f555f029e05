"""Least absolute changes on a network are a cheapest flow.

    min  sum_i w_i |z_i|      s.t.  M z = 0,   lower <= z <= upper

On a network ``z`` circulates: a cell is an arc from one equation to another. It is split in two, forth for
what it rises and back for what it falls, each at ``w`` a unit. A cell that has to move, ``lower > 0`` or
``upper < 0``, moves that far first, which becomes supplies of its two ends. All numbers are whole, so a
cheapest flow is whole too.

Costs are not negative, hence some cheapest flow has no cycles and no arc carries more than all supplies
together: that much stands in for a capacity without a bound.
"""

from __future__ import annotations

import numpy as np

from tacita.core.errors import InfeasibleError
from tacita.core.exact import Cells, Units
from tacita.core.run import Run
from tacita.methods.adjustment.convex.boxed import NONE_WITHIN
from tacita.methods.adjustment.task import Adjusted, AdjustmentTask
from tacita.solvers.cheapest_flow import cheapest_flow
from tacita.solvers.network import Network


def by_flow(task: AdjustmentTask, network: Network, run: Run) -> Adjusted:
    """The least adjustment, in whole steps.

    Raises
    ------
    InfeasibleError
        There is none, which is then proven.
    StoppedError
        The time was over before there was one.
    """
    lower, upper = task.lower // task.step, task.upper // task.step
    moved = np.clip(0, lower, upper)
    supply = _supply(network, moved)
    most = max(int(np.maximum(supply, 0).sum()), 1)
    rises = np.flatnonzero((upper > moved) & (moved >= 0))
    falls = np.flatnonzero((lower < moved) & (moved <= 0))
    flow = cheapest_flow(
        network.n_nodes,
        np.concatenate([network.tail[rises], network.head[falls]]),
        np.concatenate([network.head[rises], network.tail[falls]]),
        np.concatenate([_room(upper, moved, rises, most), _room(moved, lower, falls, most)]),
        np.concatenate([task.weight[rises], task.weight[falls]]),
        supply,
        run,
    )
    if flow is None:
        raise InfeasibleError(NONE_WITHIN)
    z = moved.copy()
    z[rises] += flow.amount[: rises.size]
    z[falls] -= flow.amount[rises.size :]
    changes = (z * task.step).astype(np.float64)
    value, saved = task.loss(changes), (flow.value - flow.bound) * task.step / task.one
    return Adjusted(changes, value, min(value, value - saved), "flow", 0)


def _supply(network: Network, moved: Units) -> Units:
    """What has to flow out of each node to make up for the cells that moved."""
    supply = np.zeros(network.n_nodes, dtype=np.int64)
    at = np.flatnonzero(moved)
    np.subtract.at(supply, network.tail[at], moved[at])
    np.add.at(supply, network.head[at], moved[at])
    return supply


def _room(above: Units, below: Units, cells: Cells, most: int) -> Units:
    return np.asarray(np.minimum(above[cells] - below[cells], most))
