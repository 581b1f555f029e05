"""Least absolute changes on a network as a cheapest flow.

    min  sum_i w_i |z_i|      s.t.  M z = 0,   lower <= z <= upper

On a network ``z`` is a circulation: a cell is an arc from one equation to another. It becomes two arcs of
cost ``w`` a unit, one for an increase and one for a decrease. A cell that must change, ``lower > 0`` or
``upper < 0``, first changes by that bound, which becomes supplies of its two nodes. All data are integers,
hence so is a cheapest flow.

Costs are not negative, so that some cheapest flow has no cycles and no arc carries more than all supplies
together: that is the capacity of arcs without a bound.
"""

from __future__ import annotations

import numpy as np

from tacita.core.exact import Cells, Units
from tacita.core.run import Run
from tacita.methods.adjustment.convex.convex_program import make_infeasible_error
from tacita.methods.adjustment.task import AdjustmentSolution, AdjustmentTask
from tacita.solvers.cheapest_flow import find_cheapest_flow
from tacita.solvers.network import Network


def solve_by_flow(task: AdjustmentTask, run: Run) -> AdjustmentSolution | None:
    """Return the adjustment of least absolute changes, in integer steps by a flow; None if no network."""
    network = Network.of(task.matrix)
    if network is None:
        return None
    lower, upper = task.lower // task.step, task.upper // task.step
    least = np.clip(0, lower, upper)
    supply = _find_supply(network, least)
    most = max(int(np.maximum(supply, 0).sum()), 1)
    rises = np.flatnonzero((upper > least) & (least >= 0))
    falls = np.flatnonzero((lower < least) & (least <= 0))
    flow = find_cheapest_flow(
        network.n_nodes,
        np.concatenate([network.tail[rises], network.head[falls]]),
        np.concatenate([network.head[rises], network.tail[falls]]),
        np.concatenate([_room(upper, least, rises, most), _room(least, lower, falls, most)]),
        np.concatenate([task.weight[rises], task.weight[falls]]),
        supply,
        run,
    )
    if flow is None:
        raise make_infeasible_error()
    z = least.copy()
    z[rises] += flow.amount[: rises.size]
    z[falls] -= flow.amount[rises.size :]
    z *= task.step
    if (task.matrix @ z).any():
        # The network leaves out equations that it takes to be redundant, and they were not.
        return None
    changes = z.astype(np.float64)
    value, saved = task.loss(changes), (flow.value - flow.bound) * task.step / task.one
    return AdjustmentSolution(changes, value, min(value, value - saved), "flow", 0)


def _find_supply(network: Network, moved: Units) -> Units:
    """Return the supply of each node of the network that balances the forced changes of an adjustment."""
    supply = np.zeros(network.n_nodes, dtype=np.int64)
    at = np.flatnonzero(moved)
    np.subtract.at(supply, network.tail[at], moved[at])
    np.add.at(supply, network.head[at], moved[at])
    return supply


def _room(above: Units, below: Units, cells: Cells, most: int) -> Units:
    return np.asarray(np.minimum(above[cells] - below[cells], most))
