"""Compiled flows on a table's network: maximum flows, their cuts, and cells that none of them needs.

Every cell ``i`` is two *entries*: ``2 i`` runs from its tail to its head (the cell goes up), ``2 i + 1`` back
(it goes down); ``entry ^ 1`` is the opposite one. For a requirement of level ``L`` an entry carries at most

    min(fixed, L) + share * min(room, L)

less what flows in it already, where opposite flows cancel. The entries that leave a node are a linked list:
those of cells that are hidden, at least in part. Work per requirement follows what it touches, not the size
of the table: marks on nodes are numbered, and flows are undone along the list of cells that carry some.

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
    """Entries with their ends and capacities; ``first`` and ``following`` list those that leave a node."""

    end: Cells
    room: Floats
    fixed: Floats
    share: Floats
    first: Cells
    following: Cells


class Scratch(NamedTuple):
    """Working space: the flow of the requirement at hand; marks on nodes, which hold if ``seen`` is the
    clock.
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


class AskedFlows(NamedTuple):
    """Requirements: the cell's number in the graph or NONE, the ends of an upward move, how many nodes the
    whole network joins to them, what the cell itself allows.
    """

    arc: Cells
    source: Cells
    sink: Cells
    joined: Cells
    sign: NDArray[np.int8]
    level: Floats
    own_up: Floats
    own_down: Floats


class Trip(NamedTuple):
    """One way of one requirement: a flow from source to sink that avoids the cell itself.

    ``own`` is what the cell itself allows; residuals up to ``dust`` count as none.
    """

    source: int
    sink: int
    joined: int
    avoided: int
    level: float
    own: float
    dust: float


@kernel
def trip_of(asked: AskedFlows, requirement: int, way: int, dust: float) -> Trip:
    source, sink, own = asked.source[requirement], asked.sink[requirement], asked.own_up[requirement]
    if way < 0:
        source, sink, own = sink, source, asked.own_down[requirement]
    level = asked.level[requirement]
    return Trip(source, sink, asked.joined[requirement], asked.arc[requirement], level, own, dust * level)


@kernel
def link(graph: Graph, arc: int) -> None:
    """Put both entries of a cell at the front of the lists of the nodes they leave."""
    for entry in (2 * arc, 2 * arc + 1):
        node = graph.end[entry ^ 1]
        graph.following[entry] = graph.first[node]
        graph.first[node] = entry


@kernel
def link_all(graph: Graph, arcs: Cells) -> None:
    """Put many cells into the lists, the first ones in front."""
    for k in range(arcs.size - 1, -1, -1):
        link(graph, arcs[k])


@kernel
def residual(graph: Graph, scratch: Scratch, entry: int, level: float) -> float:
    """What an entry can still carry for a requirement of this level."""
    capacity: float = min(graph.fixed[entry], level) + graph.share[entry >> 1] * min(graph.room[entry], level)
    return capacity - float(scratch.flow[entry])


@kernel
def carry(scratch: Scratch, entry: int, amount: float) -> None:
    """Send more through an entry."""
    arc = entry >> 1
    if not scratch.is_touched[arc]:
        scratch.is_touched[arc] = True
        scratch.touched[scratch.counters[TOUCHED]] = arc
        scratch.counters[TOUCHED] += 1
    scratch.flow[entry] += amount
    scratch.flow[entry ^ 1] -= amount


@kernel
def forget_flow(scratch: Scratch) -> None:
    """Back to no flow at all."""
    for k in range(scratch.counters[TOUCHED]):
        arc = scratch.touched[k]
        scratch.is_touched[arc] = False
        scratch.flow[2 * arc] = 0.0
        scratch.flow[2 * arc + 1] = 0.0
    scratch.counters[TOUCHED] = 0


@kernel
def spread(graph: Graph, scratch: Scratch, trip: Trip, start: int, against: int) -> int:
    """Mark the nodes that residual entries lead to from ``start``, or from which they lead there (1);
    returns how many.
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
                and entry >> 1 != trip.avoided
                and residual(graph, scratch, entry ^ against, trip.level) > trip.dust
            ):
                scratch.seen[other] = clock
                scratch.queue[waiting] = other
                waiting += 1
            entry = graph.following[entry]
    return waiting


@kernel
def mark(graph: Graph, scratch: Scratch, node: int, rank: int, place: int) -> None:
    scratch.seen[node], scratch.rank[node] = scratch.counters[CLOCK], rank
    scratch.current[node] = graph.first[node]
    scratch.queue[place] = node


@kernel
def widen(graph: Graph, scratch: Scratch, trip: Trip, begin: int, stop: int, side: int) -> int:
    """Mark the neighbours of the queued nodes on one side, 1 the source's and -1 the sink's; returns where
    they end in the queue, or NONE when a node of the other side is met.
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
                and entry >> 1 != trip.avoided
                and residual(graph, scratch, entry ^ against, trip.level) > trip.dust
            ):
                if known:
                    return NONE
                mark(graph, scratch, other, scratch.rank[node] + side, place)
                place += side
            entry = graph.following[entry]
    return place


@kernel
def ranked(graph: Graph, scratch: Scratch, trip: Trip) -> bool:
    """Rank nodes so that ranks rise by 1 along every shortest way from source to sink, but for one leap;
    False if there is no way.

    The search goes out from both ends, a whole layer at a time from the side where it is thinner: on a
    table's network the two meet long before one alone would arrive. The source has rank ``-2 FAR``, the sink
    0, and the leap is where they met. The queue is filled from both ends too.
    """
    scratch.counters[CLOCK] += 1
    last = scratch.queue.size - 1
    for node, rank, place in ((trip.source, -2 * FAR, 0), (trip.sink, 0, last)):
        mark(graph, scratch, node, rank, place)
    begin, stop, sink_begin, sink_stop = 0, 1, last, last - 1
    while begin != stop and sink_begin != sink_stop:
        side = 1 if stop - begin <= sink_begin - sink_stop else -1
        at, to = (begin, stop) if side > 0 else (sink_begin, sink_stop)
        place = widen(graph, scratch, trip, at, to, side)
        if place == NONE:
            return True
        if side > 0:
            begin, stop = stop, place
        else:
            sink_begin, sink_stop = sink_stop, place
    return False


@kernel
def onward(graph: Graph, scratch: Scratch, trip: Trip, node: int) -> int:
    """The next entry that leaves a node on a shortest way to the sink, or NONE."""
    entry: int = scratch.current[node]
    while entry != NONE:
        other = graph.end[entry]
        rise = scratch.rank[other] - scratch.rank[node]
        if (
            scratch.seen[other] == scratch.counters[CLOCK]
            and (rise == 1 or rise > FAR)
            and entry >> 1 != trip.avoided
            and residual(graph, scratch, entry, trip.level) > trip.dust
        ):
            break
        entry = graph.following[entry]
    scratch.current[node] = entry
    return entry


@kernel
def push(graph: Graph, scratch: Scratch, trip: Trip, wanted: float) -> float:
    """Maximum flow of a trip on top of the present flow, no more than wanted (Dinic's algorithm)."""
    reached = 0.0
    while wanted - reached > trip.dust and ranked(graph, scratch, trip):
        depth = 0
        while wanted - reached > trip.dust:
            node = trip.source if depth == 0 else graph.end[scratch.path[depth - 1]]
            if node == trip.sink:
                amount = wanted - reached
                for k in range(depth):
                    amount = min(amount, residual(graph, scratch, scratch.path[k], trip.level))
                for k in range(depth - 1, -1, -1):
                    carry(scratch, scratch.path[k], amount)
                    if residual(graph, scratch, scratch.path[k], trip.level) <= trip.dust:
                        depth = k
                reached += amount
                continue
            entry = onward(graph, scratch, trip, node)
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
def move(graph: Graph, scratch: Scratch, trip: Trip, wanted: float) -> float:
    """How far the cell can go this way, no further than wanted and than itself allows; from no flow."""
    forget_flow(scratch)
    wanted = min(wanted, trip.own)
    return wanted if trip.source == trip.sink else push(graph, scratch, trip, wanted)


@kernel
def cuts(graph: Graph, scratch: Scratch, trip: Trip, reached: float, sides: Bytes) -> int:
    """Write the two extreme minimum cuts after a trip that fell short; says what the limit was."""
    if trip.own - reached <= trip.dust:
        return OWN_LIMIT
    inside = 0
    for node in range(sides.size):
        sides[node] = 0
    for start, against, side in ((trip.source, 0, SOURCE_SIDE), (trip.sink, 1, SINK_SIDE)):
        inside += spread(graph, scratch, trip, start, against)
        for node in range(sides.size):
            if scratch.seen[node] == scratch.counters[CLOCK]:
                sides[node] |= side
    return ONE_CUT if inside == trip.joined else TWO_CUTS


@kernel
def separate(
    graph: Graph,
    scratch: Scratch,
    asked: AskedFlows,
    requirements: Cells,
    tolerance: float,
    dust: float,
    found: Cells,
    reached: Floats,
    limit: Bytes,
    sides: Bytes,
) -> tuple[int, int]:
    """Look at requirements in turn until ``found`` is full; returns how many failed and how many were looked
    at.

    A requirement fails when it misses more than ``tolerance * level``; residuals up to ``dust * level`` count
    as none. Both are 0 for whole numbers. What is written per failure has a place for each way, up then down;
    cuts are left out when ``sides`` is empty.
    """
    failures = 0
    for k in range(requirements.size):
        if failures == found.size:
            return failures, k
        requirement = requirements[k]
        level = missing = asked.level[requirement]
        for place in range(2):
            way = 1 - 2 * place
            if asked.sign[requirement] == -way or missing <= tolerance * level:
                continue
            trip = trip_of(asked, requirement, way, dust)
            reached[failures, place] = move(graph, scratch, trip, missing)
            missing -= reached[failures, place]
            if sides.size and missing > tolerance * level:
                limit[failures, place] = cuts(
                    graph, scratch, trip, reached[failures, place], sides[failures, place]
                )
        if missing > tolerance * level:
            found[failures] = requirement
            failures += 1
    return failures, requirements.size


@kernel
def witness(
    graph: Graph,
    scratch: Scratch,
    asked: AskedFlows,
    requirement: int,
    number: Cells,
    uses: Words,
    row: Words,
) -> bool:
    """Whether a requirement is met, and if so by the help of which numbered cells: bits of its row of
    ``uses``.
    """
    missing = asked.level[requirement]
    for word in range(row.size):
        row[word] = 0
    for way in (1, -1):
        if asked.sign[requirement] == -way or missing <= 0.0:
            continue
        missing -= move(graph, scratch, trip_of(asked, requirement, way, 0.0), missing)
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
def witnesses(graph: Graph, scratch: Scratch, asked: AskedFlows, number: Cells, uses: Words) -> bool:
    """A witness for every requirement; False if one is not met."""
    row = np.zeros(uses.shape[1], dtype=np.uint64)
    for requirement in range(asked.level.size):
        if not witness(graph, scratch, asked, requirement, number, uses, row):
            return False
    return True


@kernel
def publish(
    graph: Graph, scratch: Scratch, asked: AskedFlows, arcs: Cells, numbers: Cells, number: Cells, uses: Words
) -> None:
    """Close cells in turn, unless a requirement that uses the cell cannot do without it."""
    row = np.zeros(uses.shape[1], dtype=np.uint64)
    for k in numbers:
        graph.share[arcs[k]] = 0.0
        word, bit = k >> 6, np.uint64(1) << np.uint64(k & 63)
        for requirement in range(asked.level.size):
            if uses[requirement, word] & bit and not witness(
                graph, scratch, asked, requirement, number, uses, row
            ):
                graph.share[arcs[k]] = 1.0
                break
