"""The cheapest flow on a network: ``min c f : out - in = supply at every node, 0 <= f <= u``, f integer.

Small networks are one linear program in HiGHS, whose basic solutions are integer; large ones go to our own
network simplex. Whichever found it, a flow is checked here in integers before it is returned, and its bound
is computed anew: for any potentials ``p`` and any flow ``f``, with ``d_a = c_a + p_tail - p_head``,

    cost of every other flow  >=  c f - sum_a ( max(d_a, 0) f_a + max(-d_a, 0) (u_a - f_a) ).

The terms subtracted are never negative, and all zero at an optimum, so the bound neither exceeds the value
nor loses digits to cancellation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacita.core.compiled import LARGE
from tacita.core.errors import SolverError, StoppedError
from tacita.core.exact import Cells, Floats, Units
from tacita.core.run import Run

if TYPE_CHECKING:
    from scipy.sparse import csc_array

Nodes = NDArray[np.int32]

PIVOTS = 1 << 14
"""Pivots between two checks of the time: a tenth of a second on a network of a million arcs."""
BLOCK = 1.5
"""Arcs compared per pivot, in square roots of their number. On rounded tables of 50 thousand to 1.5 million
cells 1 and 2 do as well, 0.5 and 4 take up to half as long again."""
PATH_BITS = 59
"""Costs are scaled to integers so large that no path costs more than ``2**59`` before they are rounded."""
NOISE = 1e-12
"""Gap that a linear program in floating point may leave, in parts of the absolute costs paid."""


@dataclass(frozen=True, eq=False)
class Flow:
    """A flow and what it costs.

    Attributes
    ----------
    amount
        What each arc carries.
    value
        ``cost @ amount``.
    bound
        No flow costs less. At an optimum this is the value, up to the rounding of floats.
    """

    amount: Units
    value: float
    bound: float


@dataclass(frozen=True, eq=False)
class _Network:
    """The arguments of :func:`find_cheapest_flow`."""

    n_nodes: int
    tail: Nodes
    head: Nodes
    capacity: Units
    cost: Floats
    supply: Units

    def carries(self, amount: Units) -> bool:
        """Return whether these amounts per arc are a flow on the network; exact."""
        if (amount < 0).any() or (amount > self.capacity).any():
            return False
        left = self.supply.copy()
        np.subtract.at(left, self.tail, amount)
        np.add.at(left, self.head, amount)
        return not left.any()

    def with_bound(self, amount: Units, reduced: Floats) -> Flow:
        """Return a flow with its cost and the lower bound on all flows that reduced costs give."""
        # Sums instead of products of vectors: numpy's threads for those would cost more than the simplex.
        value = float((self.cost * amount).sum())
        short = np.where(reduced > 0.0, reduced * amount, -reduced * (self.capacity - amount))
        return Flow(amount, value, value - float(short.sum()))


def find_cheapest_flow(
    n_nodes: int, tail: Nodes, head: Nodes, capacity: Units, cost: Floats, supply: Units, run: Run
) -> Flow | None:
    """Return a cheapest flow on a network, or None if there is proven to be no flow at all.

    Parameters
    ----------
    n_nodes
        Nodes are numbered from 0.
    tail, head
        The nodes that an arc leaves and enters. Arcs may be parallel or loops.
    capacity
        From 0 to ``UNBOUNDED``.
    cost
        Per unit, of any sign and finite. The simplex counts costs in steps of ``2**-59`` of the most
        expensive path: what differs by less counts as equal, as it does in a sum of floats.
    supply
        What leaves each node less what enters it, below ``2**61``.
    run
        When its time is over, or it is cancelled, the flow may not be a cheapest one: then its bound is less
        than its value.

    Raises
    ------
    StoppedError
        The time was over before any flow was known.
    """
    if not tail.size:
        return None if supply.any() else Flow(np.zeros(0, np.int64), 0.0, 0.0)
    network = _Network(n_nodes, tail, head, capacity, cost, supply)
    if tail.size < LARGE and (flow := _solve_by_program(network, run)) is not None:
        return flow
    return _solve_by_simplex(network, run)


def _solve_by_program(network: _Network, run: Run) -> Flow | None:
    """Return HiGHS's cheapest flow, or None where it is not integer, not exact, or there seems to be none:
    the simplex in integers has to decide then.
    """
    from tacita.solvers.highs import Ended, Session
    from tacita.solvers.linear_program import LinearProgram

    exponent = int(np.frexp(np.abs(network.cost).max(initial=0.0))[1])
    # HiGHS judges reduced costs by an absolute tolerance, so the largest cost is made about a thousand.
    shrink = 10 - exponent
    nothing, capacity = np.zeros(network.tail.size), network.capacity.astype(np.float64)
    supply = network.supply.astype(np.float64)
    session = Session(LinearProgram.of_equations(_make_incidence(network), nothing, capacity, supply))
    answer = session.minimise(np.ldexp(network.cost, shrink), run)
    if answer.status is not Ended.OPTIMAL:
        return None
    amount = np.rint(answer.point).astype(np.int64)
    if not network.carries(amount):
        return None
    dual = np.ldexp(session.read_duals(), -shrink)
    flow = network.with_bound(amount, network.cost - (dual[network.tail] - dual[network.head]))
    paid = float((np.abs(network.cost) * amount).sum())
    return flow if flow.value - flow.bound <= NOISE * paid else None


def _make_incidence(network: _Network) -> csc_array:
    """Return the network as a matrix, nodes by arcs: 1 where an arc leaves, -1 where it enters."""
    from scipy.sparse import coo_array

    arcs = np.arange(network.tail.size)
    signs = np.repeat([1.0, -1.0], arcs.size)
    ends = np.concatenate([network.tail, network.head]), np.tile(arcs, 2)
    return coo_array((signs, ends), shape=(network.n_nodes, arcs.size)).tocsc()


def _solve_by_simplex(network: _Network, run: Run) -> Flow | None:
    """Return the network simplex's cheapest flow, or its best when time is over; None without a flow."""
    from tacita.solvers import network_simplex as simplex

    n_arcs, order = network.tail.size, _spread_arcs(network.tail.size)
    exponent = _find_exponent(network)
    costs = np.rint(np.ldexp(network.cost, exponent)).astype(np.int64)
    arcs, tree = simplex.make_start(
        network.n_nodes,
        network.tail[order],
        network.head[order],
        network.capacity[order],
        costs[order],
        network.supply,
    )
    block, pivots, finished = int(BLOCK * n_arcs**0.5) + 1, 0, False
    while not finished and not run.over:
        done = simplex.improve_flow(arcs, tree, block, PIVOTS)
        pivots, finished = pivots + done, done < PIVOTS
        run.report("routing", pivots)
    if arcs.flow[n_arcs:].any():
        if finished:
            return None
        fault = "the time was over before any flow was found"
        raise StoppedError(fault, remedy="allow more of it", options=["time_limit"])
    amount = np.empty(n_arcs, np.int64)
    amount[order] = arcs.flow[:n_arcs]
    if not network.carries(amount):
        fault = "the network simplex lost its balance, which proves nothing"
        raise SolverError(fault, remedy="report the table")
    # Exact where costs are integer multiples of a step, which leaves no gap at the optimum.
    rounded_off = network.cost - np.ldexp(costs.astype(np.float64), -exponent)
    reduced = costs + tree.potential[network.tail] - tree.potential[network.head]
    flow = network.with_bound(amount, np.ldexp(reduced.astype(np.float64), -exponent) + rounded_off)
    if finished:
        return flow
    # Potentials before the optimum may prove a worse bound than zero potentials.
    return max(flow, network.with_bound(amount, network.cost), key=lambda known: known.bound)


def _spread_arcs(n_arcs: int) -> Cells:
    """Return an order for the network simplex that sets arcs listed together, most of them at one node, far
    apart: a block of arcs then offers pivots all over the network.
    """
    step = int(n_arcs**0.5) + 1
    order = np.arange(step * step).reshape(step, step).T.ravel()
    return order[order < n_arcs]


def _find_exponent(network: _Network) -> int:
    """Return the power of two by which the network simplex scales costs before rounding them to integers.

    A path has fewer arcs than the network has nodes, so no path costs more than the largest costs together.
    """
    size = np.abs(network.cost)
    if network.n_nodes < size.size:
        size = np.partition(size, size.size - network.n_nodes)[size.size - network.n_nodes :]
    return PATH_BITS - int(np.frexp(size.sum())[1])
