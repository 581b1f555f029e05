"""Compiled primal network simplex for ``min c f : out - in = supply at every node, 0 <= f <= u``.

A basis is a spanning tree; every other arc is empty or full. With potentials ``p`` that make the reduced cost
``c_a + p_tail - p_head`` zero on the tree, an arc that is empty and has a negative one, or is full and has a
positive one, enters: it pushes flow round the cycle that it closes with the tree until some arc there is
empty or full, which leaves. When no arc enters, the flow is a cheapest one and the potentials prove it.

All numbers are integers. Costs are multiples of some quantum, so reduced costs are exact and need no
tolerance. The tree is *strongly feasible*: every node can send a little more to the root along it. Of the
arcs that limit a push the last one on the cycle leaves, counted from the node nearest to the root, which
keeps it so. A push of 0 then raises potentials and lowers none, so no tree comes twice. And an artificial arc
that leads away from the root leaves the tree when it is empty, so the potentials of every feasible flow prove
a bound without artificial costs.

Start. Every arc of negative cost is full, every other one empty. The imbalance of a node flows on an
artificial arc between the node and the root, an extra node; these ``n`` arcs are the first tree. The start is
optimal except for the artificial arcs, so pivots only remove imbalances: 15 to 40 times fewer than from an
empty flow on a rounded table.

Cost ``B`` of artificial arcs. A cycle that relieves two of them saves ``2 B`` and pays for a path of other
arcs, at most the sum ``P`` of the ``n`` largest ``|c|``. ``2 B > P`` is therefore enough: no flow is left on
artificial arcs if there is any flow without. All of them end at the root, so a potential contains one at
most and ``|reduced cost| <= 2 (B + P) + P``. With ``P < 2**60`` and ``B = 2**59`` this stays below ``2**62``:
nothing overflows, and in integers no small cost is lost beside a large one. So there is no first phase.

This file is imported only for large networks, or many flows on one: loading the compiler takes longer than
solving a small one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita.core.compiled import kernel
from tacita.core.exact import Cells, Mask, Units

Numbers = NDArray[np.int32]
Sides = NDArray[np.int8]

NONE = -1
EMPTY, WITHIN, FULL = 1, 0, -1
"""Sides of an arc: empty, in the tree, full."""
UNLIMITED = 1 << 62
LARGEST_IMBALANCE = 1 << 61
ARTIFICIAL_COST = 1 << 59
CURSOR = 0
NOBODY, PUSHED_SIDE, RECEIVING_SIDE = 0, 1, 2


class Arcs(NamedTuple):
    """Arcs, then one artificial arc per node; flows and sides change, the rest does not."""

    tail: Numbers
    head: Numbers
    capacity: Units
    cost: Units
    flow: Units
    side: Sides


class Tree(NamedTuple):
    """The spanning tree; the root is the last node.

    ``arc`` joins a node with its parent and points to it where ``upward``. The children of a node are a
    doubly linked list.
    """

    parent: Numbers
    arc: Numbers
    upward: Mask
    depth: Numbers
    potential: Units
    child: Numbers
    following: Numbers
    previous: Numbers
    stack: Numbers
    counters: Cells


class Limit(NamedTuple):
    """How much a cycle can carry, the side of the arc that leaves, and the node below that arc."""

    amount: int
    side: int
    node: int


@kernel
def start_tree(arcs: Arcs, tree: Tree, balance: Units) -> None:
    """Write the network simplex's first flow and tree; ``balance`` has the supplies and is overwritten."""
    root = balance.size
    first_artificial = arcs.tail.size - root
    for arc in range(first_artificial):
        tail, head, capacity = arcs.tail[arc], arcs.head[arc], arcs.capacity[arc]
        arcs.side[arc] = EMPTY
        # An arc that would make an imbalance too large starts empty and enters like any other.
        if (
            arcs.cost[arc] < 0
            and balance[tail] - capacity >= -LARGEST_IMBALANCE
            and balance[head] + capacity <= LARGEST_IMBALANCE
        ):
            arcs.side[arc], arcs.flow[arc] = FULL, capacity
            balance[tail] -= capacity
            balance[head] += capacity
    tree.parent[root] = tree.arc[root] = tree.child[root] = NONE
    for node in range(root):
        arc, sends = first_artificial + node, balance[node] >= 0
        arcs.tail[arc], arcs.head[arc] = (node, root) if sends else (root, node)
        arcs.capacity[arc], arcs.cost[arc] = UNLIMITED, ARTIFICIAL_COST
        arcs.flow[arc], arcs.side[arc] = abs(balance[node]), WITHIN
        tree.potential[node] = -ARTIFICIAL_COST if sends else ARTIFICIAL_COST
        tree.depth[node], tree.child[node] = 1, NONE
        attach(tree, node, root, arc, sends)


@kernel
def attach(tree: Tree, node: int, parent: int, arc: int, upward: bool) -> None:
    """Make a node of the simplex's spanning tree the first child of a parent."""
    tree.parent[node], tree.arc[node], tree.upward[node] = parent, arc, upward
    sibling = tree.child[parent]
    tree.previous[node], tree.following[node] = NONE, sibling
    if sibling != NONE:
        tree.previous[sibling] = node
    tree.child[parent] = node


@kernel
def detach(tree: Tree, node: int) -> None:
    """Remove a node of the simplex's spanning tree from the children of its parent."""
    before, after = tree.previous[node], tree.following[node]
    if before != NONE:
        tree.following[before] = after
    else:
        tree.child[tree.parent[node]] = after
    if after != NONE:
        tree.previous[after] = before


@kernel
def find_entering(arcs: Arcs, tree: Tree, n_arcs: int, block: int) -> int:
    """Return the arc of most gain per unit of flow in the next block that has any; NONE at the optimum."""
    best, found, arc = 0, NONE, tree.counters[CURSOR]
    checked, left = 0, block
    while checked < n_arcs:
        stop = min(arc + left, n_arcs)
        checked, left = checked + stop - arc, left - (stop - arc)
        for candidate in range(arc, stop):
            reduced = arcs.side[candidate] * (
                arcs.cost[candidate]
                + tree.potential[arcs.tail[candidate]]
                - tree.potential[arcs.head[candidate]]
            )
            if reduced < best:
                best, found = reduced, candidate
        # A block goes on at the first arc. Otherwise the same arcs would be first in their blocks every time
        # and be chosen among many equal ones, at twice the number of pivots.
        arc = stop if stop < n_arcs else 0
        if left == 0:
            if found != NONE:
                break
            left = block
    tree.counters[CURSOR] = arc
    return found


@kernel
def find_meeting(tree: Tree, one: int, other: int) -> int:
    """Return the lowest node above both in the spanning tree of the network simplex."""
    while one != other:
        if tree.depth[one] >= tree.depth[other]:
            one = tree.parent[one]
        else:
            other = tree.parent[other]
    return one


@kernel
def find_limit(arcs: Arcs, tree: Tree, entered: int, giver: int, taker: int, top: int) -> Limit:
    """Return how much flow a pivot can push from giver over the entering arc to taker and back over the tree.

    Ties go to the last arc on the cycle from the top: down to the giver, across, up from the taker.
    """
    amount, side, at = arcs.capacity[entered], NOBODY, NONE
    node = giver
    while node != top:
        arc = tree.arc[node]
        room = arcs.flow[arc] if tree.upward[node] else arcs.capacity[arc] - arcs.flow[arc]
        if room < amount:
            amount, side, at = room, PUSHED_SIDE, node
        node = tree.parent[node]
    node = taker
    while node != top:
        arc = tree.arc[node]
        room = arcs.capacity[arc] - arcs.flow[arc] if tree.upward[node] else arcs.flow[arc]
        if room <= amount:
            amount, side, at = room, RECEIVING_SIDE, node
        node = tree.parent[node]
    return Limit(amount, side, at)


@kernel
def push_up(arcs: Arcs, tree: Tree, node: int, top: int, amount: int) -> None:
    """Add an amount, which may be negative, to the flow along the spanning tree from a node to the top."""
    while node != top:
        arcs.flow[tree.arc[node]] += amount if tree.upward[node] else -amount
        node = tree.parent[node]


@kernel
def reverse_path(tree: Tree, node: int, last: int, parent: int, arc: int, upward: bool) -> None:
    """Reverse the spanning tree's path from a node up to ``last`` and attach it under a new parent."""
    while True:
        old_parent, old_arc, old_upward = tree.parent[node], tree.arc[node], tree.upward[node]
        detach(tree, node)
        attach(tree, node, parent, arc, upward)
        if node == last:
            return
        parent, arc, upward, node = node, old_arc, not old_upward, old_parent


@kernel
def shift_potentials(tree: Tree, top: int, change: int) -> None:
    """Change the potentials of a subtree of the network simplex, and set its depths again."""
    tree.stack[0], waiting = top, 1
    while waiting > 0:
        waiting -= 1
        node = tree.stack[waiting]
        tree.potential[node] += change
        tree.depth[node] = tree.depth[tree.parent[node]] + 1
        child = tree.child[node]
        while child != NONE:
            tree.stack[waiting] = child
            waiting += 1
            child = tree.following[child]


@kernel
def pivot(arcs: Arcs, tree: Tree, entered: int) -> None:
    """Push as much flow as possible over an arc; it enters the tree unless that only fills or empties it."""
    tail, head, side = arcs.tail[entered], arcs.head[entered], arcs.side[entered]
    giver, taker = (tail, head) if side == EMPTY else (head, tail)
    top = find_meeting(tree, giver, taker)
    limit = find_limit(arcs, tree, entered, giver, taker, top)
    if limit.amount > 0:
        arcs.flow[entered] += side * limit.amount
        push_up(arcs, tree, giver, top, -limit.amount)
        push_up(arcs, tree, taker, top, limit.amount)
    if limit.side == NOBODY:
        arcs.side[entered] = -side
        return
    moved, stays = (giver, taker) if limit.side == PUSHED_SIDE else (taker, giver)
    left = tree.arc[limit.node]
    arcs.side[left] = EMPTY if arcs.flow[left] == 0 else FULL
    arcs.side[entered] = WITHIN
    upward = tail == moved
    target = tree.potential[stays] + (-arcs.cost[entered] if upward else arcs.cost[entered])
    reverse_path(tree, moved, limit.node, stays, entered, upward)
    shift_potentials(tree, moved, target - tree.potential[moved])


@kernel
def improve_flow(arcs: Arcs, tree: Tree, block: int, most: int) -> int:
    """Make up to so many pivots of the network simplex; return how many, fewer if the flow is cheapest."""
    n_arcs = arcs.tail.size - tree.parent.size + 1
    for done in range(most):
        entered = find_entering(arcs, tree, n_arcs, block)
        if entered == NONE:
            return done
        pivot(arcs, tree, entered)
    return most


def make_start(
    n_nodes: int, tail: Numbers, head: Numbers, capacity: Units, cost: Units, supply: Units
) -> tuple[Arcs, Tree]:
    """Return the network simplex's first flow and first spanning tree.

    Parameters
    ----------
    capacity
        At most ``UNLIMITED``.
    cost
        The ``n_nodes`` largest add up to less than ``2**60``.
    supply
        At most ``LARGEST_IMBALANCE`` either way.
    """
    unknown = np.zeros(n_nodes, np.int64)
    arcs = Arcs(
        np.concatenate([tail, unknown]).astype(np.int32),
        np.concatenate([head, unknown]).astype(np.int32),
        np.concatenate([capacity, unknown]),
        np.concatenate([cost, unknown]),
        np.zeros(tail.size + n_nodes, np.int64),
        np.zeros(tail.size + n_nodes, np.int8),
    )
    parent, arc, depth, child, following, previous, stack = np.zeros((7, n_nodes + 1), np.int32)
    upward, potential = np.zeros(n_nodes + 1, np.bool_), np.zeros(n_nodes + 1, np.int64)
    counters = np.zeros(1, np.int64)
    tree = Tree(parent, arc, upward, depth, potential, child, following, previous, stack, counters)
    start_tree(arcs, tree, supply.copy())
    return arcs, tree
