"""Compiled kernels: maximum flows on a table's network, their minimum cuts, and cells that no flow needs.

Every cell ``i`` is two *entries*: ``2 i`` runs from its tail to its head (the cell goes up), ``2 i + 1`` back
(it goes down); ``entry ^ 1`` is the opposite one. For a requirement of level ``L`` an entry carries at most

    min(fixed, L) + share * min(room, L)

less what flows in it already, where opposite flows cancel. The entries of hidden or partly hidden cells that
leave a node are a linked list. Work per requirement grows with what it touches, not with the size of the
table: marks on nodes are numbered, and flows are undone along the list of cells that carry some.

Only :mod:`tacita.engine.attack.flows` imports compiled files, and only when they are needed: loading the
compiler takes longer than solving a small table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita.core.compiled import kernel
from tacita.core.exact import Cells, Floats, Mask

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]

NONE = -1
FAR = 1 << 28
CLOCK, TOUCHED = 0, 1
OWN_LIMIT, ONE_CUT, TWO_CUTS = 0, 1, 2
SOURCE_SIDE, SINK_SIDE = 1, 2


class Graph(NamedTuple):
    """Entries with their ends and capacities; ``first`` and ``following`` link those that leave a node."""

    end: Cells
    room: Floats
    fixed: Floats
    share: Floats
    first: Cells
    following: Cells


class Scratch(NamedTuple):
    """Working space: the flow of the current requirement, and marks on nodes, valid where ``seen`` equals
    the clock.
    """

    flow: Floats
    touched: Cells
    is_touched: Mask
    seen: Cells
    rank: Cells
    current: Cells
    queue: Cells
    path: Cells
    counters: Cells


class FlowRequirements(NamedTuple):
    """Requirements as columns: the cell's number in the graph or NONE, the ends of an upward move, the number
    of nodes connected to them in the whole network, and how far the cell's own window lets it move.
    """

    arc: Cells
    source: Cells
    sink: Cells
    joined: Cells
    sign: NDArray[np.int8]
    level: Floats
    own_up: Floats
    own_down: Floats


class FlowQuery(NamedTuple):
    """One direction of one requirement: a flow from source to sink that avoids the cell itself.

    ``own`` is how far the cell's own window lets it move; residuals up to ``dust`` count as 0.
    """

    source: int
    sink: int
    joined: int
    avoided: int
    level: float
    own: float
    dust: float


@kernel
def make_query(required: FlowRequirements, requirement: int, direction: int, dust: float) -> FlowQuery:
    """Return one direction of a requirement as a maximum flow problem from source to sink."""
    source, sink, own = required.source[requirement], required.sink[requirement], required.own_up[requirement]
    if direction < 0:
        source, sink, own = sink, source, required.own_down[requirement]
    level, joined = required.level[requirement], required.joined[requirement]
    return FlowQuery(source, sink, joined, required.arc[requirement], level, own, dust * level)


@kernel
def link(graph: Graph, arc: int) -> None:
    """Put both entries of a cell at the front of the graph's lists of the nodes they leave."""
    for entry in (2 * arc, 2 * arc + 1):
        node = graph.end[entry ^ 1]
        graph.following[entry] = graph.first[node]
        graph.first[node] = entry


@kernel
def link_all(graph: Graph, arcs: Cells) -> None:
    """Put both entries of many cells into the graph's lists, the first cells in front."""
    for k in range(arcs.size - 1, -1, -1):
        link(graph, arcs[k])


@kernel
def find_residual(graph: Graph, scratch: Scratch, entry: int, level: float) -> float:
    """Return how many units an entry of the flow graph can still carry for a requirement of this level."""
    capacity: float = min(graph.fixed[entry], level) + graph.share[entry >> 1] * min(graph.room[entry], level)
    return capacity - float(scratch.flow[entry])


@kernel
def carry(scratch: Scratch, entry: int, amount: float) -> None:
    """Add an amount to a requirement's flow through an entry of the graph."""
    arc = entry >> 1
    if not scratch.is_touched[arc]:
        scratch.is_touched[arc] = True
        scratch.touched[scratch.counters[TOUCHED]] = arc
        scratch.counters[TOUCHED] += 1
    scratch.flow[entry] += amount
    scratch.flow[entry ^ 1] -= amount


@kernel
def forget_flow(scratch: Scratch) -> None:
    """Reset the flow of the last requirement to zero, in the cells that carry some."""
    for k in range(scratch.counters[TOUCHED]):
        arc = scratch.touched[k]
        scratch.is_touched[arc] = False
        scratch.flow[2 * arc] = 0.0
        scratch.flow[2 * arc + 1] = 0.0
    scratch.counters[TOUCHED] = 0


@kernel
def mark_reachable(graph: Graph, scratch: Scratch, query: FlowQuery, start: int, against: int) -> int:
    """Mark the nodes of the flow graph that residual entries lead to from ``start`` (or, with ``against`` 1,
    from which they lead to it) and return their number.
    """
    scratch.counters[CLOCK] += 1
    clock = scratch.counters[CLOCK]
    scratch.seen[start] = clock
    scratch.queue[0] = start
    done, waiting = 0, 1
    while done < waiting:
        entry = graph.first[scratch.queue[done]]
        done += 1
        while entry != NONE:
            other = graph.end[entry]
            if (
                scratch.seen[other] != clock
                and entry >> 1 != query.avoided
                and find_residual(graph, scratch, entry ^ against, query.level) > query.dust
            ):
                scratch.seen[other] = clock
                scratch.queue[waiting] = other
                waiting += 1
            entry = graph.following[entry]
    return waiting


@kernel
def mark_node(graph: Graph, scratch: Scratch, node: int, rank: int, place: int) -> None:
    """Mark a node of the flow graph with its rank and put it into the queue."""
    scratch.seen[node], scratch.rank[node] = scratch.counters[CLOCK], rank
    scratch.current[node] = graph.first[node]
    scratch.queue[place] = node


@kernel
def mark_next_layer(
    graph: Graph, scratch: Scratch, query: FlowQuery, begin: int, stop: int, side: int
) -> int:
    """Mark the neighbours of the flow graph's queued nodes on one side, 1 the source's and -1 the sink's, and
    return where they end in the queue, or NONE when a node of the other side is met.
    """
    place, against = stop, (1 - side) >> 1
    while begin != stop:
        node = scratch.queue[begin]
        begin += side
        entry = graph.first[node]
        while entry != NONE:
            other = graph.end[entry]
            known = scratch.seen[other] == scratch.counters[CLOCK]
            if (
                (not known or side * (scratch.rank[other] - scratch.rank[node]) > FAR)
                and entry >> 1 != query.avoided
                and find_residual(graph, scratch, entry ^ against, query.level) > query.dust
            ):
                if known:
                    return NONE
                mark_node(graph, scratch, other, scratch.rank[node] + side, place)
                place += side
            entry = graph.following[entry]
    return place


@kernel
def rank_nodes(graph: Graph, scratch: Scratch, query: FlowQuery) -> bool:
    """Rank nodes so that ranks rise by 1 along every shortest path for flow from source to sink, except for
    one leap; return whether there is a path.

    The search starts from both ends, a layer at a time from the side with the smaller layer: on a table's
    network the two meet long before one alone would arrive. The source has rank ``-2 FAR``, the sink 0, and
    the leap is where they met. The queue is filled from both ends too.
    """
    scratch.counters[CLOCK] += 1
    last = scratch.queue.size - 1
    for node, rank, place in ((query.source, -2 * FAR, 0), (query.sink, 0, last)):
        mark_node(graph, scratch, node, rank, place)
    begin, stop, sink_begin, sink_stop = 0, 1, last, last - 1
    while begin != stop and sink_begin != sink_stop:
        side = 1 if stop - begin <= sink_begin - sink_stop else -1
        at, to = (begin, stop) if side > 0 else (sink_begin, sink_stop)
        place = mark_next_layer(graph, scratch, query, at, to, side)
        if place == NONE:
            return True
        if side > 0:
            begin, stop = stop, place
        else:
            sink_begin, sink_stop = sink_stop, place
    return False


@kernel
def find_next_entry(graph: Graph, scratch: Scratch, query: FlowQuery, node: int) -> int:
    """Return the next entry of the flow graph from a node on a shortest path to the sink, or NONE."""
    entry: int = scratch.current[node]
    while entry != NONE:
        other = graph.end[entry]
        rise = scratch.rank[other] - scratch.rank[node]
        if (
            scratch.seen[other] == scratch.counters[CLOCK]
            and (rise == 1 or rise > FAR)
            and entry >> 1 != query.avoided
            and find_residual(graph, scratch, entry, query.level) > query.dust
        ):
            break
        entry = graph.following[entry]
    scratch.current[node] = entry
    return entry


@kernel
def push_flow(graph: Graph, scratch: Scratch, query: FlowQuery, wanted: float) -> float:
    """Add a maximum flow, at most ``wanted``, to a requirement's flow and return its value (Dinic)."""
    reached = 0.0
    while wanted - reached > query.dust and rank_nodes(graph, scratch, query):
        depth = 0
        while wanted - reached > query.dust:
            node = query.source if depth == 0 else graph.end[scratch.path[depth - 1]]
            if node == query.sink:
                amount = wanted - reached
                for k in range(depth):
                    amount = min(amount, find_residual(graph, scratch, scratch.path[k], query.level))
                for k in range(depth - 1, -1, -1):
                    carry(scratch, scratch.path[k], amount)
                    if find_residual(graph, scratch, scratch.path[k], query.level) <= query.dust:
                        depth = k
                reached += amount
                continue
            entry = find_next_entry(graph, scratch, query, node)
            if entry != NONE:
                scratch.path[depth] = entry
                depth += 1
            elif depth == 0:
                break
            else:
                depth -= 1
                scratch.current[graph.end[scratch.path[depth] ^ 1]] = graph.following[scratch.path[depth]]
    return reached


@kernel
def maximise_move(graph: Graph, scratch: Scratch, query: FlowQuery, wanted: float) -> float:
    """Return how far flows let a requirement's cell move, in units, within its window and ``wanted``."""
    forget_flow(scratch)
    wanted = min(wanted, query.own)
    return wanted if query.source == query.sink else push_flow(graph, scratch, query, wanted)


@kernel
def write_cuts(graph: Graph, scratch: Scratch, query: FlowQuery, reached: float, sides: Bytes) -> int:
    """Write a flow's minimum cuts nearest to source and sink into ``sides``; return the kind of limit."""
    if query.own - reached <= query.dust:
        return OWN_LIMIT
    inside = 0
    for node in range(sides.size):
        sides[node] = 0
    for start, against, side in ((query.source, 0, SOURCE_SIDE), (query.sink, 1, SINK_SIDE)):
        inside += mark_reachable(graph, scratch, query, start, against)
        for node in range(sides.size):
            if scratch.seen[node] == scratch.counters[CLOCK]:
                sides[node] |= side
    return ONE_CUT if inside == query.joined else TWO_CUTS


@kernel
def find_missed(
    graph: Graph,
    scratch: Scratch,
    required: FlowRequirements,
    requirements: Cells,
    tolerance: float,
    dust: float,
    found: Cells,
    reached: Floats,
    limit: Bytes,
    sides: Bytes,
) -> tuple[int, int]:
    """Check requirements by flows until ``found`` is full; return how many failed, how many were checked.

    A requirement fails when it misses more than ``tolerance * level``; residuals up to ``dust * level`` count
    as 0. Both are 0 for integers. What is written per failure has a place for each direction, up then down;
    cuts are left out when ``sides`` is empty.
    """
    failures = 0
    for k in range(requirements.size):
        if failures == found.size:
            return failures, k
        requirement = requirements[k]
        level = missing = required.level[requirement]
        for place in range(2):
            direction = 1 - 2 * place
            if required.sign[requirement] == -direction or missing <= tolerance * level:
                continue
            query = make_query(required, requirement, direction, dust)
            reached[failures, place] = maximise_move(graph, scratch, query, missing)
            missing -= reached[failures, place]
            if sides.size and missing > tolerance * level:
                limit[failures, place] = write_cuts(
                    graph, scratch, query, reached[failures, place], sides[failures, place]
                )
        if missing > tolerance * level:
            found[failures] = requirement
            failures += 1
    return failures, requirements.size


@kernel
def find_witness(
    graph: Graph,
    scratch: Scratch,
    required: FlowRequirements,
    requirement: int,
    number: Cells,
    uses: Words,
    row: Words,
) -> bool:
    """Return whether a flow meets a requirement, and set the bits of the numbered cells that the flow uses in
    its row of ``uses``.
    """
    missing = required.level[requirement]
    for word in range(row.size):
        row[word] = 0
    for direction in (1, -1):
        if required.sign[requirement] == -direction or missing <= 0.0:
            continue
        missing -= maximise_move(graph, scratch, make_query(required, requirement, direction, 0.0), missing)
        for k in range(scratch.counters[TOUCHED]):
            arc = scratch.touched[k]
            if number[arc] != NONE and scratch.flow[2 * arc] != 0.0:
                row[number[arc] >> 6] |= np.uint64(1) << np.uint64(number[arc] & 63)
    if missing > 0.0:
        return False
    for word in range(row.size):
        uses[requirement, word] = row[word]
    return True


@kernel
def find_witnesses(
    graph: Graph, scratch: Scratch, required: FlowRequirements, number: Cells, uses: Words
) -> bool:
    """Find a flow that meets each requirement; return False at the first that is not met."""
    row = np.zeros(uses.shape[1], dtype=np.uint64)
    for requirement in range(required.level.size):
        if not find_witness(graph, scratch, required, requirement, number, uses, row):
            return False
    return True


@kernel
def publish_unneeded(
    graph: Graph,
    scratch: Scratch,
    required: FlowRequirements,
    arcs: Cells,
    numbers: Cells,
    number: Cells,
    uses: Words,
) -> None:
    """Take cells out of a pattern in turn, unless a requirement that used the cell has no other flow."""
    row = np.zeros(uses.shape[1], dtype=np.uint64)
    for k in numbers:
        graph.share[arcs[k]] = 0.0
        word, bit = k >> 6, np.uint64(1) << np.uint64(k & 63)
        for requirement in range(required.level.size):
            if uses[requirement, word] & bit and not find_witness(
                graph, scratch, required, requirement, number, uses, row
            ):
                graph.share[arcs[k]] = 1.0
                break
