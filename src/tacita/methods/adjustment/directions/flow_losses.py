"""Losses of directions on networks, by a network simplex that is warm-started from the last tree.

A sensitive cell has four arcs, two in each direction: one for its least move and one for moves beyond it. In
its own direction the first costs ``w - B`` and the second ``w``; in the other direction both cost ``B``.
``B`` exceeds the cost of every path, so that the first is full and the other direction empty wherever that is
feasible. A flip changes costs only: the last tree stays feasible, and a few pivots are enough.
"""

from __future__ import annotations

import numpy as np

from tacita.core.compiled import kernel
from tacita.core.errors import StoppedError
from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask, Units
from tacita.core.run import Run
from tacita.methods.adjustment.directions.losses import DirectedAdjustment, Loss, make_no_change_error
from tacita.methods.adjustment.task import AdjustmentTask, DirectionChoice
from tacita.solvers import network_simplex as simplex
from tacita.solvers.cheapest_flow import BLOCK, PATH_BITS, PIVOTS
from tacita.solvers.network import Network

UP_LEAST, UP_BEYOND, DOWN_LEAST, DOWN_BEYOND = range(4)


@kernel
def reset_potentials(arcs: simplex.Arcs, tree: simplex.Tree) -> None:
    """Set the potentials of an adjustment's flow so that its tree has zero reduced costs, for new costs."""
    root = tree.parent.size - 1
    tree.stack[0], waiting = root, 1
    while waiting > 0:
        waiting -= 1
        node = tree.stack[waiting]
        child = tree.child[node]
        while child != simplex.NONE:
            cost = arcs.cost[tree.arc[child]]
            tree.potential[child] = (
                tree.potential[node] - cost if tree.upward[child] else tree.potential[node] + cost
            )
            tree.stack[waiting] = child
            waiting += 1
            child = tree.following[child]


@kernel
def compute_flow_cost(flow: Units, weight: Floats) -> float:
    """Return the cost of a flow that stands for an adjustment, summed over the arcs."""
    total = 0.0
    for arc in range(weight.size):
        if flow[arc] > 0:
            total += weight[arc] * flow[arc]
    return total


class FlowLosses:
    """Losses on a network. Arcs: one up and one down per cell that is not sensitive, then the four arcs of
    the sensitive cells.
    """

    quick = True

    def __init__(self, task: AdjustmentTask, choice: DirectionChoice, network: Network) -> None:
        self.task, self.choice, self.network = task, choice, network
        n, count = len(task), choice.cells.size
        ordinary = np.ones(n, dtype=bool)
        ordinary[choice.cells] = False
        self.cells: Cells = np.flatnonzero(ordinary)
        self.start = np.clip(0, task.lower, task.upper)[self.cells]
        weight = task.weight / task.one
        own = weight[choice.cells]
        capacity = np.concatenate(
            [
                task.upper[self.cells] - self.start,
                self.start - task.lower[self.cells],
                *(
                    np.where(choice.can_rise, side, 0)
                    for side in (choice.up_least, choice.up_most - choice.up_least)
                ),
                *(
                    np.where(choice.can_fall, side, 0)
                    for side in (choice.down_least, choice.down_most - choice.down_least)
                ),
            ]
        )
        capacity = np.minimum(capacity, UNBOUNDED)
        there, back = network.tail, network.head
        s = choice.cells
        tail = np.concatenate([there[self.cells], back[self.cells], there[s], there[s], back[s], back[s]])
        head = np.concatenate([back[self.cells], there[self.cells], back[s], back[s], there[s], there[s]])
        self.weight = np.concatenate([weight[self.cells], weight[self.cells], own, own, own, own])
        largest = np.sort(self.weight)[-network.n_nodes :]
        self.big = 2.0 * float(largest.sum()) or 1.0
        # Every node of a path may be an end of sensitive cells.
        self.steps = PATH_BITS - int(np.frexp(network.n_nodes * (self.big + float(largest[-1])))[1])
        supply = np.zeros(network.n_nodes, np.int64)
        np.subtract.at(supply, there[self.cells], self.start)
        np.add.at(supply, back[self.cells], self.start)
        order = _spread_arcs(tail.size)
        self.place = np.empty(tail.size, np.int64)
        self.place[order] = np.arange(tail.size)
        self.special = self.place[2 * self.cells.size :].reshape(4, count)
        self.up = choice.can_rise.copy()
        cost = self._to_integers(self.weight)
        self.spread_weight = self.weight[order]
        self.fixed = float((weight[self.cells] * np.abs(self.start)).sum())
        cost[2 * self.cells.size :] = self._compute_costs(np.arange(count)).ravel()
        self.arcs, self.tree = simplex.make_start(
            network.n_nodes, tail[order], head[order], capacity[order], cost[order], supply
        )

    def compute(self, up: Mask, run: Run) -> Loss:
        changed = np.flatnonzero(up != self.up)
        if changed.size:
            self.up = up.copy()
            self.arcs.cost[self.special[:, changed]] = self._compute_costs(changed)
            reset_potentials(self.arcs, self.tree)
        n_arcs = self.place.size
        block, done = int(BLOCK * n_arcs**0.5) + 1, PIVOTS
        while done == PIVOTS:
            if run.over:
                raise StoppedError(
                    "time was over before the loss of directions was known", remedy="allow more"
                )
            done = simplex.improve_flow(self.arcs, self.tree, block, PIVOTS)
        if self.arcs.flow[n_arcs:].any():
            raise make_no_change_error()
        return self._loss()

    def _loss(self) -> Loss:
        flow = self.arcs.flow[self.special]
        least = np.where(self.up, self.choice.up_least, self.choice.down_least)
        right = np.where(self.up, flow[UP_LEAST], flow[DOWN_LEAST])
        wrong = np.where(self.up, flow[DOWN_LEAST] + flow[DOWN_BEYOND], flow[UP_LEAST] + flow[UP_BEYOND])
        missed = float((least - right + wrong).sum())
        return Loss(missed, self.fixed + compute_flow_cost(self.arcs.flow, self.spread_weight))

    def adjustment(self) -> DirectedAdjustment:
        flow = self.arcs.flow[self.place]
        size, count = self.cells.size, self.choice.cells.size
        z = np.zeros(len(self.task))
        z[self.cells] = self.start + flow[:size] - flow[size : 2 * size]
        rises, further, falls, deeper = flow[2 * size :].reshape(4, count)
        z[self.choice.cells] = rises + further - falls - deeper
        tail, head = (ends[self.choice.cells] for ends in (self.network.tail, self.network.head))
        potential = self.tree.potential
        slope = np.ldexp((potential[tail] - potential[head]).astype(np.float64), -self.steps)
        return DirectedAdjustment(self._loss(), z, slope)

    def _compute_costs(self, which: Cells) -> Units:
        """Return the integer costs of the four arcs of some sensitive cells in an adjustment's flow."""
        up, own = self.up[which], self.task.weight[self.choice.cells[which]] / self.task.one
        big = np.full(which.size, self.big)
        costs = np.stack(
            [
                np.where(up, own - big, big),
                np.where(up, own, big),
                np.where(up, big, own - big),
                np.where(up, big, own),
            ]
        )
        return self._to_integers(costs)

    def _to_integers(self, cost: Floats) -> Units:
        return np.rint(np.ldexp(cost, self.steps)).astype(np.int64)


def _spread_arcs(count: int) -> Cells:
    """Return an order of an adjustment's arcs, neighbours far apart: blocks offer pivots everywhere."""
    step = int(count**0.5) + 1
    order = np.arange(step * step).reshape(step, step).T.ravel()
    return order[order < count]
