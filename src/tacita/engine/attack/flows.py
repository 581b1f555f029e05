"""Attackers' problems on a network, as flows: the same questions as ``attacks.py`` and ``patterns.py``, on
tables of one or two dimensions (one of them with a hierarchy), much faster and exact.

A requirement of level ``L`` on cell ``p`` asks whether ``p`` can move by ``L``. On a network the other cells
must carry what ``p`` moves from one of its ends back to the other, each no more than its room, so the
furthest move is a maximum flow. What limits it is a minimum cut: a set of nodes whose indicator, as a dual
value per equation, proves the limit,

    sign z_p  =  c z  <=  sum_i c+_i above_i + c-_i below_i,      c = sign e_p - M^T dual,   c_p = 0.

No cell needs to carry more than ``L``, so capacities are reduced to ``L`` first, which makes cuts stronger.

Small networks are left to linear programs: these are solved before the kernels are loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from tacita.core.compiled import LARGE
from tacita.core.errors import StoppedError
from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.engine.attack.attacks import BlockedRequirement
from tacita.engine.attack.presolved import PresolvedTable, WindowsAtPoint
from tacita.engine.attack.requirements import OUTSIDER, Requirements
from tacita.engine.attack.support import Blocking
from tacita.solvers.network import Network

if TYPE_CHECKING:
    from tacita.engine.attack.flow_kernels import Bytes, FlowRequirements, Graph, Scratch
    from tacita.engine.attack.path_kernels import PathSearch

BATCH = 256
"""Requirements, or cells, between two checks of the time limit."""
TOLERANCE = 1e-6
"""Share of the level that may be missing when capacities are fractions; integers are compared exactly."""
DUST = 1e-10
"""Residual capacity, in parts of the level, that counts as 0 when capacities are fractions."""
STEP = 1e-6
"""Cost of a hidden cell on a path, in parts of the mean cost: enough to keep paths short."""


@dataclass(frozen=True, eq=False)
class BlockedFlow:
    """A requirement that is not met, and the dual values that prove it.

    ``duals`` holds (sign, dual value per equation) for each direction that counts: one for a requirement up
    or down, two for a sliding one. The limits that they prove add up to ``reached``. Where all dual values
    are 0 the room of the cell itself is the limit.
    """

    requirement: int
    reached: float
    duals: tuple[tuple[int, Floats], ...]


class Flows:
    """Flow problems of the requirements of one attacker on a network, and patterns that meet them.

    Parameters
    ----------
    network
        The table.
    up, down
        How far above and below its value the attacker believes each cell possible, in units; may be
        infinite.
    requirements
        All of this attacker, with cells numbered as in the network; switches are ignored.
    run
        Checked between batches of requirements; each method says what it does when the time is over.
    """

    def __init__(
        self, network: Network, up: Floats, down: Floats, requirements: Requirements, run: Run | None = None
    ) -> None:
        self.network, self.up, self.down, self.requirements = network, up, down, requirements
        self.run = Run() if run is None else run
        self._level = requirements.level.astype(np.float64)

    def find_unprotected(self, hidden: Mask) -> Cells:
        """Return the requirements that fail in a suppression pattern, by maximum flows; exact.

        Raises
        ------
        StoppedError
            The time was over before all requirements were checked.
        """
        from tacita.engine.attack import flow_kernels as kernels

        graph, required = self._make_graph(np.flatnonzero(hidden & ~self._loops), hidden.astype(np.float64))
        scratch, missed = _make_scratch(graph), []
        no_cuts = np.empty((0, 2), np.uint8), np.empty((0, 2, 0), np.uint8)
        for batch in _batches(np.arange(len(self.requirements))):
            self._check_time("while requirements were checked")
            found, reached = np.empty(batch.size, np.int64), np.empty((batch.size, 2))
            failures, _ = kernels.find_missed(
                graph, scratch, required, batch, 0.0, 0.0, found, reached, *no_cuts
            )
            missed.append(found[:failures])
        return np.concatenate([np.empty(0, dtype=np.int64), *missed])

    def find_blocked(
        self,
        share: Floats,
        fixed_up: Floats | None = None,
        fixed_down: Floats | None = None,
        most: int = 400,
    ) -> tuple[list[BlockedFlow], int]:
        """Return requirements whose maximum flow stays below their level ``L`` when cell ``i`` may move
        ``min(fixed_i, L) + share_i min(room_i, L)``.

        Parameters
        ----------
        share
            From 0, published, to 1, hidden.
        fixed_up, fixed_down
            What a cell may move in any case; nothing by default.
        most
            End after so many failures.

        Returns
        -------
        list of BlockedFlow
            One per requirement that fails, two where the minimum cuts nearest to both ends differ.
        int
            How many requirements were checked; fewer than there are after ``most`` or when the time is over.
        """
        from tacita.engine.attack import flow_kernels as kernels

        nothing = np.zeros_like(share)
        above = nothing if fixed_up is None else fixed_up
        below = nothing if fixed_down is None else fixed_down
        arcs = np.flatnonzero(((share > DUST) | (above > 0.0) | (below > 0.0)) & ~self._loops)
        graph, required = self._make_graph(arcs, share, above, below)
        integers = all((part == np.rint(part)).all() for part in (graph.share, graph.fixed))
        slack, dust = (0.0, 0.0) if integers else (TOLERANCE, DUST)
        scratch, missed, checked = _make_scratch(graph), [], 0
        for batch in _batches(np.arange(len(self.requirements))):
            if self.run.over or most <= 0:
                break
            size = min(batch.size, most)
            found, reached = np.empty(size, np.int64), np.zeros((size, 2))
            limit = np.zeros((size, 2), np.uint8)
            sides = np.empty((size, 2, self.network.n_nodes), np.uint8)
            failures, seen = kernels.find_missed(
                graph, scratch, required, batch, slack, dust, found, reached, limit, sides
            )
            missed += self._make_blocked(
                found[:failures], reached[:failures], limit[:failures], sides[:failures]
            )
            checked, most = checked + seen, most - failures
        return missed, checked

    def build(self, hidden: Mask, cost: Floats, order: Cells) -> Mask | None:
        """Return a suppression pattern that hides these cells and more, until flows meet all requirements;
        None if there is none.

        Requirements are met one after the other, each along cheapest paths.

        Parameters
        ----------
        hidden
            Hidden anyway; the cells of the requirements are added.
        cost
            Of hiding each other cell; infinite where that is not allowed.
        order
            The requirements in the order in which they are met.

        Raises
        ------
        StoppedError
            The time was over before all requirements were met.
        """
        from tacita.engine.attack import path_kernels as kernels

        everything = np.arange(hidden.size)
        hidden = hidden.copy()
        hidden[self.requirements.cell[order]] = True
        graph, required = self._make_graph(everything, np.ones(hidden.size), linked=hidden & ~self._loops)
        scratch, search = _make_scratch(graph), self._make_search(graph, cost, ~hidden)
        # A copy: numba would compile anew for a view or a read-only array.
        for batch in _batches(np.array(order, dtype=np.int64)):
            self._check_time("while a first pattern was built")
            if kernels.route_requirements(graph, scratch, search, required, batch, hidden) < batch.size:
                return None
        return hidden

    def clean(self, hidden: Mask, kept: Mask, cost: Floats) -> Mask:
        """Return the suppression pattern without cells that no requirement's flow needs; ``kept`` stay.

        The most expensive cells are tried first. A pattern that fails a requirement is returned as it is.
        When the time is over, the cells not yet tried stay hidden.
        """
        from tacita.engine.attack import flow_kernels as kernels

        removable = np.flatnonzero(hidden & ~kept)
        removable = removable[np.argsort(-cost[removable], kind="stable")]
        arcs = np.flatnonzero(hidden & ~self._loops)
        graph, required = self._make_graph(arcs, hidden.astype(np.float64))
        scratch = _make_scratch(graph)
        tried = removable[~np.isin(removable, self.requirements.cell)]
        local = np.searchsorted(arcs, tried[~self._loops[tried]])
        number = np.full(arcs.size, kernels.NONE)
        number[local] = np.arange(local.size)
        uses = np.zeros((len(self.requirements), local.size // 64 + 1), np.uint64)
        if not kernels.find_witnesses(graph, scratch, required, number, uses):
            return hidden.copy()
        for batch in _batches(np.arange(local.size)):
            if self.run.over:
                break
            kernels.publish_unneeded(graph, scratch, required, local, batch, number, uses)
        left = hidden.copy()
        left[arcs] = graph.share > 0.0
        left[tried[self._loops[tried]]] = False
        return left

    @cached_property
    def _loops(self) -> Mask:
        return np.asarray(self.network.tail == self.network.head)

    def _check_time(self, when: str) -> None:
        if self.run.over:
            fault = f"stopped after {self.run.seconds:.0f} s {when}"
            raise StoppedError(fault, remedy="allow more time", options=["time_limit"])

    def _make_graph(
        self,
        arcs: Cells,
        share: Floats,
        fixed_up: Floats | None = None,
        fixed_down: Floats | None = None,
        linked: Mask | None = None,
    ) -> tuple[Graph, FlowRequirements]:
        """Return the graph of some cells for the flow kernels, in their order, and the requirements on it."""
        from tacita.engine.attack import flow_kernels as kernels

        network, requirements, level = self.network, self.requirements, self._level
        nothing = np.zeros(share.size)
        above = nothing if fixed_up is None else fixed_up
        below = nothing if fixed_down is None else fixed_down
        graph = kernels.Graph(
            end=_interleave(network.head[arcs], network.tail[arcs]).astype(np.int64),
            room=_interleave(self.up[arcs], self.down[arcs]),
            fixed=_interleave(above[arcs], below[arcs]),
            share=share[arcs],
            first=np.full(network.n_nodes, kernels.NONE, np.int64),
            following=np.full(2 * arcs.size, kernels.NONE, np.int64),
        )
        kernels.link_all(graph, np.arange(arcs.size) if linked is None else np.flatnonzero(linked[arcs]))
        cell = requirements.cell
        place = np.minimum(np.searchsorted(arcs, cell), max(0, arcs.size - 1))
        present = arcs[place] == cell if arcs.size else np.zeros(cell.size, dtype=bool)
        required = kernels.FlowRequirements(
            arc=np.where(present, place, kernels.NONE),
            source=network.head[cell].astype(np.int64),
            sink=network.tail[cell].astype(np.int64),
            joined=network.joined[network.tail[cell]],
            sign=requirements.sign.copy(),
            level=level,
            own_up=np.minimum(above[cell], level) + share[cell] * np.minimum(self.up[cell], level),
            own_down=np.minimum(below[cell], level) + share[cell] * np.minimum(self.down[cell], level),
        )
        return graph, required

    def _make_search(self, graph: Graph, cost: Floats, published: Mask) -> PathSearch:
        """Return working space for cheapest paths, with the published cells that may be hidden by cost."""
        from tacita.engine.attack import path_kernels as kernels

        nodes, entries = self.network.n_nodes, 2 * self.network.tail.size + 1
        movable = (self.up > 0.0) | (self.down > 0.0)
        allowed = np.flatnonzero(published & movable & np.isfinite(cost) & ~self._loops)
        ptr, entry = kernels.sort_entries_by_cost(graph, allowed[np.argsort(cost[allowed], kind="stable")])
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

    def _make_blocked(self, found: Cells, reached: Floats, limit: Bytes, sides: Bytes) -> list[BlockedFlow]:
        """Return the requirements whose flows fail, with the dual values of their minimum cuts."""
        from tacita.engine.attack import flow_kernels as kernels

        sign, directions = self.requirements.sign[found], np.array([1, -1], dtype=np.int8)
        failure, place = np.nonzero(sign[:, None] != -directions)
        far = np.bincount(failure, reached[failure, place], found.size)
        own, sides = limit[failure, place] == kernels.OWN_LIMIT, sides[failure, place]
        forked = np.isin(failure, failure[limit[failure, place] == kernels.TWO_CUTS])
        nearest: list[list[tuple[int, Floats]]] = [[] for _ in range(2 * found.size)]
        at_source = self._find_duals((sides & kernels.SOURCE_SIDE) == 0, own)
        at_sink = self._find_duals((sides[forked] & kernels.SINK_SIDE) != 0, own[forked])
        for end, which, duals in ((0, slice(None), at_source), (1, forked, at_sink)):
            signs = directions[place[which]].tolist()
            for k, direction, dual in zip(failure[which].tolist(), signs, duals, strict=True):
                nearest[2 * k + end].append((direction, dual))
        return [
            BlockedFlow(int(found[k >> 1]), float(far[k >> 1]), tuple(duals))
            for k, duals in enumerate(nearest)
            if duals
        ]

    def _find_duals(self, sink_side: Mask, own: Mask) -> Floats:
        """Return the dual values of minimum cuts, per direction and equation: 1 on the sink's side, shifted
        so that the ground has 0; all 0 where the cell itself is the limit.
        """
        dual = sink_side.astype(np.int8)
        if self.network.grounded:
            dual -= dual[:, -1:]
        else:
            # Without a ground any shift is valid: the one with fewer non-zeros is used.
            dual[2 * dual.sum(axis=1) > dual.shape[1]] -= 1
        dual[own] = 0
        return (dual[:, :-1] * self.network.row_sign).astype(np.float64)


class FlowAttacks:
    """Attackers' problems at points of one presolved table that is a network."""

    def __init__(self, presolved: PresolvedTable, network: Network) -> None:
        self.presolved, self.network = presolved, network

    def find_blocked(
        self,
        requirements: Requirements,
        which: Cells,
        windows: WindowsAtPoint,
        run: Run,
        enough: int | None = None,
    ) -> list[BlockedRequirement]:
        """Return requirements of ``which`` whose flow fails, until there are ``enough``, some with two cuts.

        Raises
        ------
        StoppedError
            The time was over before all of them were checked.
        """
        found: list[BlockedRequirement] = []
        for attacker in np.unique(requirements.attacker[which]).tolist():
            theirs = which[requirements.attacker[which] == attacker]
            flow = make_flows(self.presolved, self.network, requirements[theirs], run)
            missed, checked = flow.find_blocked(
                windows.share, windows.above, windows.below, most=theirs.size if enough is None else enough
            )
            if run.over and checked < theirs.size:
                fault = "stopped before all requirements were checked"
                raise StoppedError(fault, remedy="allow more time", options=["time_limit"])
            limits = self._list_limits(requirements.cell[theirs], missed)
            for blocked in missed:
                own = tuple(next(limits) for _ in blocked.duals)
                found.append(BlockedRequirement(int(theirs[blocked.requirement]), own))
        return found

    def _list_limits(self, cells: Cells, missed: list[BlockedFlow]) -> Iterator[Blocking]:
        """Yield the cut ``c = direction e_p - M' dual`` of each direction of each failed requirement."""
        places = self.presolved.position[cells]
        every = [(places[b.requirement], sign, dual) for b in missed for sign, dual in b.duals]
        if not every:
            return
        targets, signs = np.array([p for p, _, _ in every]), np.array([float(sign) for _, sign, _ in every])
        duals = csc_array(-np.array([dual for _, _, dual in every]).T)
        shape = len(self.presolved), len(every)
        own = csc_array((signs, (targets, np.arange(len(every)))), shape=shape)
        limits = csc_array(own + self.presolved.transposed @ duals)
        limits.eliminate_zeros()
        for j, sign in enumerate(signs.tolist()):
            at = slice(limits.indptr[j], limits.indptr[j + 1])
            rows = slice(duals.indptr[j], duals.indptr[j + 1])
            cells, equations = limits.indices[at].astype(np.int64), duals.indices[rows].astype(np.int64)
            yield Blocking(int(sign), cells, limits.data[at], equations, duals.data[rows])


def find_network(presolved: PresolvedTable) -> Network | None:
    """Return the presolved table as a network for flows, or None if it is small or no network."""
    return Network.of(presolved.matrix) if len(presolved) >= LARGE else None


def make_flows(presolved: PresolvedTable, network: Network, requirements: Requirements, run: Run) -> Flows:
    """Return the maximum flow problems of one attacker's requirements on a presolved table."""
    attacker = int(requirements.attacker[0]) if len(requirements) else OUTSIDER
    local = replace(requirements, cell=presolved.position[requirements.cell])
    return Flows(network, *presolved.find_room(attacker), local, run)


def _make_scratch(graph: Graph) -> Scratch:
    """Return working space for the flow kernels of a graph: flows and marks on nodes."""
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


def _interleave(even: NDArray[Any], odd: NDArray[Any]) -> NDArray[Any]:
    both = np.empty(2 * even.size, dtype=even.dtype)
    both[::2], both[1::2] = even, odd
    return both


def _batches(items: Cells) -> Iterator[Cells]:
    return (items[k : k + BATCH] for k in range(0, items.size, BATCH))
