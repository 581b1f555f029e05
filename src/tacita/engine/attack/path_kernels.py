"""Compiled kernels: hide cells, requirement after requirement, along paths of least cost per unit of flow.

Hiding a cell costs the same whether it carries one unit or all that is missing. So the length of a path is
its cost per unit, ``sum cost_i / min(residual_i, missing)`` over its published cells; hidden ones are nearly
free. A single path for the full level could not use hidden cells that carry only a part of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.core.compiled import kernel
from tacita.core.exact import Cells, Floats, Mask
from tacita.engine.attack.flow_kernels import (
    CLOCK,
    NONE,
    FlowQuery,
    FlowRequirements,
    Graph,
    Scratch,
    carry,
    find_residual,
    link,
    make_query,
    maximise_move,
)

FREE_PATHS = 64
"""After so many paths for one requirement only those that carry much are used, so that few are needed."""


class PathSearch(NamedTuple):
    """Published entries of each node from cheap to expensive; labels and heaps of both ends of the search
    (rows 0, the source, and 1, the sink).
    """

    ptr: Cells
    entry: Cells
    cost: Floats
    step: float
    distance: Floats
    via: Cells
    labelled: Cells
    settled: Cells
    heap_key: Floats
    heap_node: Cells
    heap_size: Cells
    opened: Cells


@kernel
def sort_entries_by_cost(graph: Graph, arcs: Cells) -> tuple[Cells, Cells]:
    """Return ``ptr, entry``: the entries of the flow graph per node, in the given order of their cells."""
    ptr = np.zeros(graph.first.size + 1, dtype=np.int64)
    for arc in arcs:
        for entry in (2 * arc, 2 * arc + 1):
            ptr[graph.end[entry ^ 1] + 1] += 1
    for node in range(graph.first.size):
        ptr[node + 1] += ptr[node]
    place, entries = ptr[:-1].copy(), np.empty(2 * arcs.size, dtype=np.int64)
    for arc in arcs:
        for entry in (2 * arc, 2 * arc + 1):
            node = graph.end[entry ^ 1]
            entries[place[node]] = entry
            place[node] += 1
    return ptr, entries


@kernel
def unlink_last(graph: Graph, arc: int) -> None:
    """Remove the cell that was linked last from the lists of the flow graph."""
    for entry in (2 * arc + 1, 2 * arc):
        graph.first[graph.end[entry ^ 1]] = graph.following[entry]


@kernel
def heap_push(search: PathSearch, side: int, key: float, node: int) -> None:
    """Add a node to the heap of one side of the search for a cheapest path."""
    keys, nodes = search.heap_key[side], search.heap_node[side]
    place = search.heap_size[side]
    search.heap_size[side] += 1
    while place > 0:
        above = (place - 1) >> 1
        if keys[above] <= key:
            break
        keys[place], nodes[place] = keys[above], nodes[above]
        place = above
    keys[place], nodes[place] = key, node


@kernel
def heap_pop(search: PathSearch, side: int) -> int:
    """Remove the node of least key from one side's heap of the path search and return it."""
    keys, nodes = search.heap_key[side], search.heap_node[side]
    least: int = nodes[0]
    search.heap_size[side] -= 1
    size = search.heap_size[side]
    key, node = keys[size], nodes[size]
    place = 0
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size and keys[below + 1] < keys[below]:
            below += 1
        if keys[below] >= key:
            break
        keys[place], nodes[place] = keys[below], nodes[below]
        place = below
    keys[place], nodes[place] = key, node
    return least


@kernel
def add_label(search: PathSearch, clock: int, side: int, node: int, distance: float, entry: int) -> float:
    """Label a node from one end of the path search if the distance improves it; return the length of the path
    that this closes, or infinity.
    """
    if search.settled[side, node] == clock:
        return np.inf
    if search.labelled[side, node] == clock and search.distance[side, node] <= distance:
        return np.inf
    search.labelled[side, node], search.distance[side, node] = clock, distance
    search.via[side, node] = entry
    heap_push(search, side, distance, node)
    if search.labelled[1 - side, node] != clock:
        return np.inf
    return distance + float(search.distance[1 - side, node])


@kernel
def find_cheapest_path(
    graph: Graph,
    scratch: Scratch,
    search: PathSearch,
    query: FlowQuery,
    hidden: Mask,
    missing: float,
    need: float,
) -> int:
    """Write the path that is cheapest to hide per unit, of entries that can all carry ``need`` more, to
    ``scratch.path``; return its number of entries, 0 if there is none.

    Dijkstra from both ends, which meet after a few nodes each on a network as dense as a table's. Entries
    come from cheap to expensive, so those that cannot improve the best path are not visited.
    """
    scratch.counters[CLOCK] += 1
    clock = scratch.counters[CLOCK]
    search.heap_size[0] = search.heap_size[1] = 0
    best, meeting = np.inf, NONE
    for side, node in ((0, query.source), (1, query.sink)):
        add_label(search, clock, side, node, 0.0, NONE)
    while search.heap_size[0] > 0 and search.heap_size[1] > 0:
        if search.heap_key[0, 0] + search.heap_key[1, 0] >= best:
            break
        side = 0 if search.heap_key[0, 0] <= search.heap_key[1, 0] else 1
        node = heap_pop(search, side)
        if search.settled[side, node] == clock:
            continue
        search.settled[side, node] = clock
        start = search.distance[side, node] + search.step / missing
        entry = graph.first[node]
        while entry != NONE:
            if (
                entry >> 1 != query.avoided
                and find_residual(graph, scratch, entry ^ side, query.level) >= need
            ):
                length = add_label(search, clock, side, graph.end[entry], start, entry)
                if length < best:
                    best, meeting = length, graph.end[entry]
            entry = graph.following[entry]
        for place in range(search.ptr[node], search.ptr[node + 1]):
            entry = search.entry[place]
            cost = search.cost[entry >> 1]
            if start + cost / missing >= best:
                break
            if hidden[entry >> 1]:
                continue
            room = find_residual(graph, scratch, entry ^ side, query.level)
            if room >= need:
                far = start + cost / min(room, missing)
                length = add_label(search, clock, side, graph.end[entry], far, entry)
                if length < best:
                    best, meeting = length, graph.end[entry]
    return 0 if meeting == NONE else trace_path(graph, scratch, search, meeting)


@kernel
def trace_path(graph: Graph, scratch: Scratch, search: PathSearch, meeting: int) -> int:
    """Write the cheapest path through the node where the two searches met to ``scratch.path``; return its
    number of entries.
    """
    length = 0
    for side in range(2):
        entry = search.via[side, meeting]
        while entry != NONE:
            scratch.path[length] = entry ^ side
            length += 1
            entry = search.via[side, graph.end[entry ^ 1]]
    return length


@kernel
def route_query(
    graph: Graph, scratch: Scratch, search: PathSearch, query: FlowQuery, hidden: Mask, wanted: float
) -> float:
    """Hide cells along cheapest paths until the cell can move as far as wanted; return how far, in units.

    Hidden cells are filled first. Then any path is used, and after ``FREE_PATHS`` only those for all that is
    missing, half of it, and so on down to a single unit: a flow of integer units is found whenever there is
    one, in few steps.
    """
    wanted = min(wanted, query.own)
    reached = maximise_move(graph, scratch, query, wanted)
    need, paths, opened = 1.0, 0, 0
    while reached < wanted and need >= 1.0:
        missing = wanted - reached
        length = find_cheapest_path(graph, scratch, search, query, hidden, missing, need)
        if length == 0:
            need = np.floor(need / 2.0)
            continue
        amount = missing
        for k in range(length):
            amount = min(amount, find_residual(graph, scratch, scratch.path[k], query.level))
        for k in range(length):
            arc = scratch.path[k] >> 1
            carry(scratch, scratch.path[k], amount)
            if not hidden[arc]:
                hidden[arc] = True
                link(graph, arc)
                search.opened[opened] = arc
                opened += 1
        reached += amount
        paths += 1
        if paths >= FREE_PATHS:
            need = wanted - reached if paths == FREE_PATHS else min(need, wanted - reached)
    # A later path may have taken back the flow for which a cell was hidden.
    for k in range(opened - 1, -1, -1):
        unlink_last(graph, search.opened[k])
    for k in range(opened):
        arc = search.opened[k]
        hidden[arc] = scratch.flow[2 * arc] != 0.0
        if hidden[arc]:
            link(graph, arc)
    return reached


@kernel
def route_requirements(
    graph: Graph,
    scratch: Scratch,
    search: PathSearch,
    required: FlowRequirements,
    requirements: Cells,
    hidden: Mask,
) -> int:
    """Hide cells until each requirement is met, in turn; return how many were met before one that cannot be.

    One pass is enough: hiding more cells never harms a requirement that is met.
    """
    for k in range(requirements.size):
        requirement = requirements[k]
        level, sign = required.level[requirement], required.sign[requirement]
        up, down = make_query(required, requirement, 1, 0.0), make_query(required, requirement, -1, 0.0)
        if sign != 0:
            reached = route_query(graph, scratch, search, up if sign > 0 else down, hidden, level)
        else:
            above = maximise_move(graph, scratch, up, level)
            below = maximise_move(graph, scratch, down, level - above)
            if above + below < level:
                above = route_query(graph, scratch, search, up, hidden, level - below)
            if above + below < level:
                below = route_query(graph, scratch, search, down, hidden, level - above)
            reached = above + below
        if reached < level:
            return k
    return requirements.size
