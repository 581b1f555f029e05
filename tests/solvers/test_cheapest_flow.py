"""Cheapest flows, by HiGHS and by the network simplex, against enumeration and against scipy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from tacita.core.errors import StoppedError
from tacita.core.exact import UNBOUNDED
from tacita.core.run import Event, Run
from tacita.solvers import cheapest_flow as module
from tacita.solvers.cheapest_flow import Flow, find_cheapest_flow

SIMPLEX, LINEAR_PROGRAM = 0, 10**9
"""Values of LARGE that send every network one way."""


@dataclass(frozen=True, eq=False)
class Network:
    n_nodes: int
    tail: np.ndarray
    head: np.ndarray
    capacity: np.ndarray
    cost: np.ndarray
    supply: np.ndarray

    @classmethod
    def of(cls, n_nodes, arcs, supply) -> Network:
        """From ``(tail, head, capacity, cost)`` per arc."""
        tail, head, capacity, cost = zip(*arcs, strict=True) if arcs else ((), (), (), ())
        return cls(
            n_nodes,
            np.array(tail, np.int32),
            np.array(head, np.int32),
            np.array(capacity, np.int64),
            np.array(cost, np.float64),
            np.array(supply, np.int64),
        )

    def flow(self, small: int, run: Run | None = None) -> Flow | None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "LARGE", small)
            return find_cheapest_flow(
                self.n_nodes,
                self.tail,
                self.head,
                self.capacity,
                self.cost,
                self.supply,
                Run() if run is None else run,
            )

    def sent(self, amount) -> list[int]:
        """Out less in, per node."""
        net = [0] * self.n_nodes
        for tail, head, units in zip(self.tail.tolist(), self.head.tolist(), amount, strict=True):
            net[tail] += int(units)
            net[head] -= int(units)
        return net

    def exact(self, amount) -> Fraction:
        """What a flow costs, without rounding."""
        return sum(
            (Fraction(c) * int(f) for c, f in zip(self.cost.tolist(), amount, strict=True)), Fraction()
        )

    def least(self) -> Fraction | None:
        """The cost of the cheapest of all flows, each looked at."""
        choices = product(*(range(most + 1) for most in self.capacity.tolist()))
        return min((self.exact(f) for f in choices if self.sent(f) == self.supply.tolist()), default=None)

    def check(self, flow: Flow) -> None:
        """What holds for every answer."""
        assert flow.amount.dtype == np.int64
        assert (flow.amount >= 0).all()
        assert (flow.amount <= self.capacity).all()
        assert self.sent(flow.amount) == self.supply.tolist()
        paid = float((np.abs(self.cost) * flow.amount).sum())
        assert abs(flow.value - float(self.exact(flow.amount))) <= 1e-12 * paid
        assert flow.bound <= flow.value


COSTS = {
    "whole": st.integers(-3, 3),
    "fractions": st.floats(-10, 10, allow_subnormal=False),
    "far apart": st.sampled_from([1e12, -1e12, 3e11, 1.0, -1.0, 0.25, 1e-3]),
    "tiny": st.sampled_from([3e-12, 1e-12, -2e-12, 0.0]),
}


@st.composite
def small_networks(draw) -> Network:
    """Few arcs, some of them loops, parallel or without capacity; half of them with a flow for sure."""
    n_nodes = draw(st.integers(1, 4))
    node = st.integers(0, n_nodes - 1)
    costs = COSTS[draw(st.sampled_from(sorted(COSTS)))]
    arcs = draw(st.lists(st.tuples(node, node, st.integers(0, 2), costs), max_size=7))
    network = Network.of(n_nodes, arcs, [0] * n_nodes)
    if draw(st.booleans()):
        supply = network.sent([draw(st.integers(0, int(most))) for most in network.capacity])
    else:
        supply = draw(st.lists(st.integers(-2, 2), min_size=n_nodes, max_size=n_nodes))
    return Network.of(n_nodes, arcs, supply)


@pytest.mark.parametrize("small", [SIMPLEX, LINEAR_PROGRAM])
@given(network=small_networks())
@examples(150)
def test_no_flow_is_cheaper(small, network) -> None:
    flow, least = network.flow(small), network.least()
    if least is None:
        assert flow is None
        return
    assert flow is not None
    network.check(flow)
    size = np.abs(network.cost)
    noise = 1e-12 * float((size * flow.amount).sum()) + 1e-15 * float(size.sum())
    assert float(network.exact(flow.amount) - least) <= noise
    assert float(least) - flow.bound <= noise


def random_network(seed: int, n_nodes: int = 30, n_arcs: int = 600, most: int = 5) -> Network:
    """A network that has a flow, with many ties."""
    random = np.random.default_rng(seed)
    tail, head = random.integers(0, n_nodes, (2, n_arcs))
    capacity, cost = random.integers(0, most + 1, n_arcs), random.integers(-4, 9, n_arcs)
    network = Network.of(n_nodes, list(zip(tail, head, capacity, cost, strict=True)), [0] * n_nodes)
    supply = network.sent(random.integers(0, capacity + 1))
    return Network.of(n_nodes, list(zip(tail, head, capacity, cost, strict=True)), supply)


def least_by_scipy(network: Network) -> float:
    matrix = np.zeros((network.n_nodes, network.tail.size))
    np.add.at(matrix, (network.tail, np.arange(network.tail.size)), 1)
    np.add.at(matrix, (network.head, np.arange(network.tail.size)), -1)
    bounds = np.column_stack([np.zeros(network.tail.size), network.capacity])
    found = linprog(network.cost, A_eq=matrix, b_eq=network.supply, bounds=bounds)
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize("small", [SIMPLEX, LINEAR_PROGRAM])
@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_scipy_and_proves_it(small, seed) -> None:
    network = random_network(seed)
    flow = network.flow(small)
    assert flow is not None
    network.check(flow)
    assert flow.value == pytest.approx(least_by_scipy(network))
    assert flow.bound == flow.value  # costs are whole: nothing is rounded


@pytest.mark.parametrize("scale", [1.0, 2.0**-40, 2.0**40])
def test_a_small_network_needs_no_compiler(monkeypatch, scale) -> None:
    monkeypatch.setattr(module, "_solve_by_simplex", None)
    network = random_network(5)
    flow = replace(network, cost=network.cost * scale).flow(LINEAR_PROGRAM)
    assert flow is not None
    assert flow.bound == flow.value


@pytest.mark.parametrize("small", [SIMPLEX, LINEAR_PROGRAM])
def test_the_same_network_has_the_same_flow_and_is_left_as_it_was(small) -> None:
    network, untouched = random_network(9), random_network(9)
    for name in ("tail", "head", "capacity", "cost", "supply"):
        getattr(network, name).flags.writeable = False
    one, other = network.flow(small), network.flow(small)
    assert one is not None
    assert other is not None
    assert (one.amount == other.amount).all()
    assert (network.capacity == untouched.capacity).all()


@pytest.mark.parametrize("small", [SIMPLEX, LINEAR_PROGRAM])
@pytest.mark.parametrize(
    ("arcs", "supply"),
    [
        ([], [1, -1]),
        ([(0, 1, 5, 1.0)], [6, -6]),
        ([(0, 1, 5, 1.0)], [3, -2]),
        ([(1, 0, 5, -9.0)], [1, -1]),
        ([(0, 0, 5, -1.0), (0, 1, 0, -1.0)], [1, -1]),
        ([(0, 1, 2**60, 1.0)], [2**60 + 1, -(2**60) - 1]),
    ],
)
def test_where_there_is_no_flow_none_comes_back(small, arcs, supply) -> None:
    assert Network.of(2, arcs, supply).flow(small) is None


@pytest.mark.parametrize("small", [SIMPLEX, LINEAR_PROGRAM])
def test_a_network_without_arcs(small) -> None:
    flow = Network.of(3, [], [0, 0, 0]).flow(small)
    assert flow is not None
    assert (flow.amount.size, flow.value, flow.bound) == (0, 0.0, 0.0)


@pytest.mark.parametrize("small", [SIMPLEX, LINEAR_PROGRAM])
def test_a_loop_is_full_where_it_pays_and_empty_where_it_costs(small) -> None:
    flow = Network.of(1, [(0, 0, 7, -2.0), (0, 0, 7, 2.0)], [0]).flow(small)
    assert flow is not None
    assert flow.amount.tolist() == [7, 0]
    assert flow.value == flow.bound == -14.0


@pytest.mark.parametrize("small", [SIMPLEX, LINEAR_PROGRAM])
def test_amounts_that_floats_cannot_hold(small) -> None:
    much = 2**60 + 1
    network = Network.of(
        3, [(0, 1, much - 2, 1.0), (0, 2, UNBOUNDED, 1.0), (2, 1, UNBOUNDED, 1.0)], [much, -much, 0]
    )
    flow = network.flow(small)
    assert flow is not None
    network.check(flow)
    assert flow.amount.tolist() == [much - 2, 2, 2]


def test_circles_that_pay_are_filled_however_large() -> None:
    arcs = [(0, 1, UNBOUNDED, -1.0), (1, 0, UNBOUNDED, 0.5)] * 3
    flow = Network.of(2, arcs, [0, 0]).flow(SIMPLEX)
    assert flow is not None
    assert (flow.amount == UNBOUNDED).all()
    assert flow.bound == flow.value


def test_a_forbidding_cost_drowns_no_small_one() -> None:
    """A thousand dear arcs beside a choice between costs that differ in the eleventh digit."""
    arcs = [(0, 1, 1, 1e12)] * 1000 + [(0, 1, 1, 1.0 + 1e-3), (0, 1, 1, 1.0), (0, 1, 1, 1.0 - 1e-3)]
    flow = Network.of(2, arcs, [2, -2]).flow(SIMPLEX)
    assert flow is not None
    assert flow.amount[-3:].tolist() == [0, 1, 1]
    assert flow.bound == pytest.approx(flow.value, abs=1e-3)


@pytest.mark.parametrize("dearer_first", [True, False])
def test_the_bound_holds_for_costs_too_far_apart_to_be_told_from_one_another(dearer_first) -> None:
    costs = [2.0, 1.0] if dearer_first else [1.0, 2.0]
    arcs = [(0, 1, 1, 1e30), *((0, 1, 1, cost) for cost in costs)]
    flow = Network.of(2, arcs, [1, -1]).flow(SIMPLEX)
    assert flow is not None
    assert flow.amount[0] == 0
    assert flow.bound <= 1.0


def test_every_node_can_always_send_more_to_the_root() -> None:
    """What keeps the simplex from going round in circles."""
    from tacita.solvers import network_simplex as simplex

    side = 12
    arcs = [(i, side + j, (i + j) % 3, float(j % 2)) for i in range(side) for j in range(side)] * 2
    bare = Network.of(2 * side, arcs, [0] * (2 * side))
    supply = np.array(bare.sent(bare.capacity // 2))
    grown, tree = simplex.make_start(
        2 * side, bare.tail, bare.head, bare.capacity, bare.cost.astype(np.int64), supply
    )
    nodes, pivots = np.arange(2 * side), 0
    while simplex.improve_flow(grown, tree, 20, 1):
        pivots += 1
        arc = tree.arc[nodes]
        room = np.where(tree.upward[nodes], grown.capacity[arc] - grown.flow[arc], grown.flow[arc])
        assert (room > 0).all()
    assert pivots > 2 * side


def test_many_equal_costs_and_empty_pushes_come_to_an_end() -> None:
    side = 40
    arcs = [(i, side + j, 1, 1.0) for i in range(side) for j in range(side)]
    network = Network.of(2 * side, arcs, [1] * side + [-1] * side)
    flow = network.flow(SIMPLEX)
    assert flow is not None
    network.check(flow)
    assert flow.value == flow.bound == side


def test_progress_is_told() -> None:
    heard: list[Event] = []
    random_network(1).flow(SIMPLEX, Run(listener=heard.append))
    assert heard[-1].phase == "routing"
    assert heard[-1].done > 0


@pytest.mark.parametrize("small", [SIMPLEX, LINEAR_PROGRAM])
def test_no_time_and_no_flow_yet(small) -> None:
    run = Run()
    run.cancel()
    with pytest.raises(StoppedError, match="before any flow"):
        random_network(2).flow(small, run)


def test_a_start_without_imbalance_is_the_optimum_even_if_no_time_is_left() -> None:
    run = Run()
    run.cancel()
    flow = Network.of(2, [(0, 1, 3, -1.0), (0, 1, 3, 2.0)], [3, -3]).flow(SIMPLEX, run)
    assert flow is not None
    assert flow.amount.tolist() == [3, 0]
    assert flow.value == flow.bound == -3.0


def test_cut_short_anywhere_a_flow_and_its_bound_hold(monkeypatch) -> None:
    monkeypatch.setattr(module, "PIVOTS", 1)
    network = random_network(3)
    optimum = least_by_scipy(network)
    obvious = float((np.minimum(network.cost, 0.0) * network.capacity).sum())
    last, early = 0, 0
    while True:
        last += 1
        run = Run(listener=lambda event: run.cancel() if event.done >= last else None)  # noqa: B023
        try:
            flow = network.flow(SIMPLEX, run)
        except StoppedError:
            continue
        assert flow is not None
        network.check(flow)
        assert flow.bound <= optimum + 1e-6
        assert flow.bound >= obvious
        if flow.bound == flow.value:
            break
        early += flow.value > optimum + 0.5
    assert early > 0
    assert flow.value == pytest.approx(optimum)
