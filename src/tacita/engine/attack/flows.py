"""Attackers' problems on a network, as flows.

A requirement of level ``L`` on cell ``p`` asks whether ``p`` can move by ``L``. On a network the other cells
must carry what ``p`` moves from one of its ends back to the other, each no more than its room, so the
furthest move is a maximum flow. What stops it is a minimum cut: a set of nodes whose indicator, as a price
per equation, proves the limit,

    sign z_p  =  c z  <=  sum_i c+_i above_i + c-_i below_i,      c = sign e_p - M^T price,   c_p = 0.

No cell needs to carry more than ``L``, so capacities are cut down to ``L`` first, which makes cuts sharper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacita.core.errors import StoppedError
from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.engine.attack.requirements import Requirements
from tacita.solvers.network import Network

if TYPE_CHECKING:
    from tacita.engine.attack.flow_kernels import AskedFlows, Bytes, Graph, Scratch
    from tacita.engine.attack.path_kernels import PathSearch

BATCH = 256
"""Requirements, or cells, between two looks at the clock."""
DUST = 1e-10
"""Residual capacity, in parts of the level, that counts as none when capacities are fractions."""
STEP = 1e-6
"""What a hidden cell costs on a path, in parts of the mean cost: enough to keep paths short."""


@dataclass(frozen=True, eq=False)
class BlockedFlow:
    """A requirement that is missed, and why.

    ``prices`` holds (sign, price per equation) for each way that counts: one for a requirement up or down,
    two for a sliding one. The limits that they prove add up to ``reached``. A price of zero says that the
    room of the cell itself is the limit.
    """

    requirement: int
    reached: float
    prices: tuple[tuple[int, Floats], ...]


class Flows:
    """The requirements of one attacker on a network.

    Parameters
    ----------
    network
        The table.
    up, down
        How far above and below its value the attacker believes each cell possible, in units; may be
        infinite.
    requirements
        What is asked, all of this one attacker; switches are not looked at.
    run
        Watched between batches of requirements; each method says what it does when the time is over.
    """

    def __init__(
        self, network: Network, up: Floats, down: Floats, requirements: Requirements, run: Run | None = None
    ) -> None:
        self.network, self.up, self.down, self.requirements = network, up, down, requirements
        self.run = Run() if run is None else run
        self._level = requirements.level.astype(np.float64)

    def unprotected(self, hidden: Mask) -> Cells:
        """The requirements that are missed when these cells are hidden and all others published; exact.

        Raises
        ------
        StoppedError
            The time was over before all requirements were looked at.
        """
        from tacita.engine.attack import flow_kernels as kernels

        graph, asked = self._graph(np.flatnonzero(hidden & ~self._loops), hidden.astype(np.float64))
        scratch, missed = _scratch(graph), []
        no_cuts = np.empty((0, 2), np.uint8), np.empty((0, 2, 0), np.uint8)
        for batch in _batches(np.arange(len(self.requirements))):
            self._refuse_late("while requirements were checked")
            found, reached = np.empty(batch.size, np.int64), np.empty((batch.size, 2))
            failures, _ = kernels.separate(graph, scratch, asked, batch, 0.0, 0.0, found, reached, *no_cuts)
            missed.append(found[:failures])
        return np.concatenate([np.empty(0, dtype=np.int64), *missed])

    def blocked(
        self,
        share: Floats,
        fixed_up: Floats | None = None,
        fixed_down: Floats | None = None,
        tolerance: float = 1e-6,
        most: int = 400,
        start: int = 0,
    ) -> tuple[list[BlockedFlow], int]:
        """Requirements that are missed when cell ``i`` may move ``min(fixed_i, L) + share_i min(room_i, L)``.

        Parameters
        ----------
        share
            From 0, published, to 1, hidden.
        fixed_up, fixed_down
            What a cell may move in any case; nothing by default.
        tolerance
            What may be missing, in parts of the level. Whole capacities are compared exactly all the same.
        most
            End after so many missed requirements.
        start
            The requirement to begin with; after the last one comes the first.

        Returns
        -------
        list of BlockedFlow
            One per missed requirement, two where the minimum cuts nearest to both ends differ.
        int
            How many requirements were looked at; fewer than there are after ``most`` or when the time is
            over.
        """
        from tacita.engine.attack import flow_kernels as kernels

        nothing = np.zeros_like(share)
        above = nothing if fixed_up is None else fixed_up
        below = nothing if fixed_down is None else fixed_down
        arcs = np.flatnonzero(((share > DUST) | (above > 0.0) | (below > 0.0)) & ~self._loops)
        graph, asked = self._graph(arcs, share, above, below)
        whole = all((part == np.rint(part)).all() for part in (graph.share, graph.fixed))
        slack, dust = (0.0, 0.0) if whole else (tolerance, DUST)
        scratch, missed, looked = _scratch(graph), [], 0
        for batch in _batches((np.arange(len(self.requirements)) + start) % max(1, len(self.requirements))):
            if self.run.over or most <= 0:
                break
            size = min(batch.size, most)
            found, reached = np.empty(size, np.int64), np.zeros((size, 2))
            limit = np.zeros((size, 2), np.uint8)
            sides = np.empty((size, 2, self.network.n_nodes), np.uint8)
            failures, seen = kernels.separate(
                graph, scratch, asked, batch, slack, dust, found, reached, limit, sides
            )
            missed += self._reasons(found[:failures], reached[:failures], limit[:failures], sides[:failures])
            looked, most = looked + seen, most - failures
        return missed, looked

    def build(self, hidden: Mask, cost: Floats, order: Cells) -> Mask | None:
        """Hide more cells until the requirements are met, one after the other, each as cheaply as can be.

        Parameters
        ----------
        hidden
            Hidden anyway; the cells of the requirements are added.
        cost
            Of hiding each other cell; infinite where that is not allowed.
        order
            The requirements in the order in which they are met.

        Returns
        -------
        Mask or None
            The hidden cells; None if some requirement cannot be met.

        Raises
        ------
        StoppedError
            The time was over before all requirements were met.
        """
        from tacita.engine.attack import path_kernels as kernels

        everything = np.arange(hidden.size)
        hidden = hidden.copy()
        hidden[self.requirements.cell[order]] = True
        graph, asked = self._graph(everything, np.ones(hidden.size), linked=hidden & ~self._loops)
        scratch, search = _scratch(graph), self._search(graph, cost, ~hidden)
        # A copy, since a view or a closed array would be compiled for anew.
        for batch in _batches(np.array(order, dtype=np.int64)):
            self._refuse_late("while a first pattern was built")
            if kernels.route(graph, scratch, search, asked, batch, hidden) < batch.size:
                return None
        return hidden

    def clean(self, hidden: Mask, removable: Cells) -> Mask:
        """Publish cells that no requirement needs, trying them in the given order.

        A pattern that misses a requirement has no protection to keep and comes back as it is. When the time
        is over, the cells not yet tried stay hidden.
        """
        from tacita.engine.attack import flow_kernels as kernels

        arcs = np.flatnonzero(hidden & ~self._loops)
        graph, asked = self._graph(arcs, hidden.astype(np.float64))
        scratch = _scratch(graph)
        tried = removable[hidden[removable] & ~np.isin(removable, self.requirements.cell)]
        local = np.searchsorted(arcs, tried[~self._loops[tried]])
        number = np.full(arcs.size, kernels.NONE)
        number[local] = np.arange(local.size)
        uses = np.zeros((len(self.requirements), local.size // 64 + 1), np.uint64)
        if not kernels.witnesses(graph, scratch, asked, number, uses):
            return hidden.copy()
        for batch in _batches(np.arange(local.size)):
            if self.run.over:
                break
            kernels.publish(graph, scratch, asked, local, batch, number, uses)
        left = hidden.copy()
        left[arcs] = graph.share > 0.0
        left[tried[self._loops[tried]]] = False
        return left

    @cached_property
    def _loops(self) -> Mask:
        return np.asarray(self.network.tail == self.network.head)

    def _refuse_late(self, when: str) -> None:
        if self.run.over:
            raise StoppedError(f"stopped after {self.run.seconds:.0f} s {when}: allow more time")

    def _graph(
        self,
        arcs: Cells,
        share: Floats,
        fixed_up: Floats | None = None,
        fixed_down: Floats | None = None,
        linked: Mask | None = None,
    ) -> tuple[Graph, AskedFlows]:
        """The graph of some cells, numbered in their order, and the requirements put to it."""
        from tacita.engine.attack import flow_kernels as kernels

        network, requirements, level = self.network, self.requirements, self._level
        nothing = np.zeros(share.size)
        above = nothing if fixed_up is None else fixed_up
        below = nothing if fixed_down is None else fixed_down
        graph = kernels.Graph(
            end=_interleaved(network.head[arcs], network.tail[arcs]).astype(np.int64),
            room=_interleaved(self.up[arcs], self.down[arcs]),
            fixed=_interleaved(above[arcs], below[arcs]),
            share=share[arcs],
            first=np.full(network.n_nodes, kernels.NONE, np.int64),
            following=np.full(2 * arcs.size, kernels.NONE, np.int64),
        )
        kernels.link_all(graph, np.arange(arcs.size) if linked is None else np.flatnonzero(linked[arcs]))
        cell = requirements.cell
        place = np.minimum(np.searchsorted(arcs, cell), max(0, arcs.size - 1))
        present = arcs[place] == cell if arcs.size else np.zeros(cell.size, dtype=bool)
        asked = kernels.AskedFlows(
            arc=np.where(present, place, kernels.NONE),
            source=network.head[cell].astype(np.int64),
            sink=network.tail[cell].astype(np.int64),
            joined=network.joined[network.tail[cell]],
            sign=requirements.sign.copy(),
            level=level,
            own_up=np.minimum(above[cell], level) + share[cell] * np.minimum(self.up[cell], level),
            own_down=np.minimum(below[cell], level) + share[cell] * np.minimum(self.down[cell], level),
        )
        return graph, asked

    def _search(self, graph: Graph, cost: Floats, published: Mask) -> PathSearch:
        from tacita.engine.attack import path_kernels as kernels

        nodes, entries = self.network.n_nodes, 2 * self.network.tail.size + 1
        movable = (self.up > 0.0) | (self.down > 0.0)
        allowed = np.flatnonzero(published & movable & np.isfinite(cost) & ~self._loops)
        ptr, entry = kernels.by_cost(graph, allowed[np.argsort(cost[allowed], kind="stable")])
        mean = float(cost[allowed].mean()) if allowed.size else 0.0
        return kernels.PathSearch(
            ptr=ptr,
            entry=entry,
            cost=cost.copy(),
            step=STEP * mean if mean > 0.0 else STEP,
            distance=np.empty((2, nodes)),
            via=np.empty((2, nodes), np.int64),
            labelled=np.zeros((2, nodes), np.int64),
            settled=np.zeros((2, nodes), np.int64),
            heap_key=np.empty((2, entries)),
            heap_node=np.empty((2, entries), np.int64),
            heap_size=np.zeros(2, np.int64),
            opened=np.empty(self.network.tail.size, np.int64),
        )

    def _reasons(self, found: Cells, reached: Floats, limit: Bytes, sides: Bytes) -> list[BlockedFlow]:
        from tacita.engine.attack import flow_kernels as kernels

        sign, ways = self.requirements.sign[found], np.array([1, -1], dtype=np.int8)
        failure, place = np.nonzero(sign[:, None] != -ways)
        far = np.bincount(failure, reached[failure, place], found.size)
        own, sides = limit[failure, place] == kernels.OWN_LIMIT, sides[failure, place]
        forked = np.isin(failure, failure[limit[failure, place] == kernels.TWO_CUTS])
        nearest: list[list[tuple[int, Floats]]] = [[] for _ in range(2 * found.size)]
        at_source = self._prices((sides & kernels.SOURCE_SIDE) == 0, own)
        at_sink = self._prices((sides[forked] & kernels.SINK_SIDE) != 0, own[forked])
        for k, way, price in zip(failure.tolist(), ways[place].tolist(), at_source, strict=True):
            nearest[2 * k].append((way, price))
        for k, way, price in zip(
            failure[forked].tolist(), ways[place[forked]].tolist(), at_sink, strict=True
        ):
            nearest[2 * k + 1].append((way, price))
        return [
            BlockedFlow(int(found[k >> 1]), float(far[k >> 1]), tuple(prices))
            for k, prices in enumerate(nearest)
            if prices
        ]

    def _prices(self, sink_side: Mask, own: Mask) -> Floats:
        """Per way and equation: 1 on the sink's side of the cut, so shifted that the ground is free; 0 where
        the cell itself is the limit.
        """
        price = sink_side.astype(np.int8)
        if self.network.grounded:
            price -= price[:, -1:]
        else:
            # Without a ground any shift does: the one that leaves fewer equations with a price.
            price[2 * price.sum(axis=1) > price.shape[1]] -= 1
        price[own] = 0
        return (price[:, :-1] * self.network.row_sign).astype(np.float64)


def _scratch(graph: Graph) -> Scratch:
    from tacita.engine.attack import flow_kernels as kernels

    arcs, nodes = graph.share.size, graph.first.size
    return kernels.Scratch(
        flow=np.zeros(2 * arcs),
        touched=np.empty(arcs, np.int64),
        is_touched=np.zeros(arcs, np.bool_),
        seen=np.zeros(nodes, np.int64),
        rank=np.empty(nodes, np.int64),
        current=np.empty(nodes, np.int64),
        queue=np.empty(nodes, np.int64),
        path=np.empty(2 * nodes, np.int64),
        counters=np.zeros(2, np.int64),
    )


def _interleaved(even: NDArray[Any], odd: NDArray[Any]) -> NDArray[Any]:
    both = np.empty(2 * even.size, dtype=even.dtype)
    both[::2], both[1::2] = even, odd
    return both


def _batches(items: Cells) -> Iterator[Cells]:
    return (items[k : k + BATCH] for k in range(0, items.size, BATCH))
