"""Unbiased rounding on a network by alternating cycles (Cox 1987).

``rho_i = a_i mod B`` is the residue of a cell above the next multiple of the base. Cells with ``0 < rho_i <
B`` are *open*. The residues that leave and enter a node differ by a multiple of ``B``, so no node has a
single open arc, and a walk along open arcs returns to one of its nodes: a cycle. If arcs passed forward rise
and arcs passed backward fall by the same amount, every equation still holds. Let ``rise`` and ``fall`` be the
largest amounts in both directions before some residue becomes 0 or ``B``, and go

    up by rise    with probability  fall / (rise + fall),
    down by fall  with probability  rise / (rise + fall).

The expected change is zero, and at least one arc is closed for good. When none is open every cell is at one
of its two neighbours, and by the law of iterated expectations ``E v = a``, totals included. All amounts are
integers, and so are the random numbers (*coins*), so that probabilities are exact.

The part of the walk before a closed arc is reused, so that the work is nearly linear in the arcs. The
functions are plain Python and are compiled for large networks only: loading the compiler takes longer than
rounding a small table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tacita.core.compiled import LARGE, compile_once
from tacita.core.errors import InputError, StoppedError
from tacita.core.exact import Cells, Mask, Units
from tacita.core.run import Run
from tacita.solvers.network import Network, Nodes

Coins = Callable[[int], Units]
"""Returns so many independent integers from ``0 .. 2**63 - 1``, all equally likely."""
CHUNK = 1 << 16
"""Coins, one per cycle, between two checks of the time."""
MOST = 2**63 - 1
NONE = -1
LENGTH, START = 0, 1


class CycleWalk(NamedTuple):
    """The state of a draw. Arc ``i`` is two entries, ``2 i`` from tail to head and ``2 i + 1`` back.

    Attributes
    ----------
    residue
        Per arc, from 0 to the base.
    end
        Per entry the node it leads to.
    entry, first, stop
        Entries of open arcs that leave node ``n``, and some of arcs closed since:
        ``entry[first[n]:stop[n]]``.
    node, taken, place
        The nodes of the walk, the entry that leads on from each, and per node its position in the walk.
    counters
        The number of nodes in the walk; the first node that may have open arcs.
    """

    residue: Units
    end: Nodes
    entry: Nodes
    first: Cells
    stop: Cells
    node: Nodes
    taken: Nodes
    place: Nodes
    counters: Cells


def list_entries(walk: CycleWalk, tail: Nodes, head: Nodes, base: int) -> int:
    """Write the arcs of an unbiased rounding's walk; return a node with unbalanced residues, or NONE."""
    balance = np.zeros_like(walk.stop)
    for arc in range(tail.size):
        walk.end[2 * arc], walk.end[2 * arc + 1] = head[arc], tail[arc]
        if walk.residue[arc] > 0:
            walk.stop[tail[arc]] += 1
            walk.stop[head[arc]] += 1
            balance[tail[arc]] = (balance[tail[arc]] + walk.residue[arc]) % base
            balance[head[arc]] = (balance[head[arc]] - walk.residue[arc]) % base
    place = 0
    for node in range(walk.first.size):
        if balance[node] != 0:
            return node
        walk.first[node], place = place, place + walk.stop[node]
        walk.stop[node] = walk.first[node]
    for arc in range(tail.size):
        if walk.residue[arc] > 0:
            for entry, node in ((2 * arc, tail[arc]), (2 * arc + 1, head[arc])):
                walk.entry[walk.stop[node]] = entry
                walk.stop[node] += 1
    return NONE


def follow_cycles(walk: CycleWalk, base: int, coins: Units, rises: Units, falls: Units) -> tuple[int, bool]:
    """Round arcs without bias, a cycle per coin; return how many coins were used, and whether all are done.

    ``rises`` and ``falls``, unless they are empty, receive both steps of each cycle. A coin beyond the last
    multiple of the number of outcomes is discarded, so that these are equally likely.
    """
    residue, last = walk.residue, walk.first.size
    length, start, used = walk.counters[LENGTH], walk.counters[START], 0
    while used < coins.size:
        if length == 0:
            while start < last:
                while walk.stop[start] > walk.first[start]:
                    left = residue[walk.entry[walk.stop[start] - 1] >> 1]
                    if 0 < left < base:
                        break
                    walk.stop[start] -= 1
                if walk.stop[start] > walk.first[start]:
                    break
                start += 1
            if start == last:
                break
            walk.node[0], walk.place[start], length = start, 0, 1
        node = walk.node[length - 1]
        back = walk.taken[length - 2] ^ 1 if length > 1 else NONE
        at = walk.stop[node] - 1
        while True:
            entry = walk.entry[at]
            left = residue[entry >> 1]
            if left == 0 or left == base:
                walk.stop[node] -= 1
                walk.entry[at] = walk.entry[walk.stop[node]]
            elif entry != back:
                break
            at -= 1
        walk.taken[length - 1] = entry
        other = walk.end[entry]
        begin = walk.place[other]
        if begin == NONE:
            walk.node[length], walk.place[other] = other, length
            length += 1
            continue
        rise, fall = base, base
        for k in range(begin, length):
            left = residue[walk.taken[k] >> 1]
            if walk.taken[k] & 1:
                left = base - left
            fall = min(fall, left)
            rise = min(rise, base - left)
        coin, outcomes = coins[used], rise + fall
        used += 1
        if coin >= MOST // outcomes * outcomes:
            continue
        if rises.size:
            rises[used - 1], falls[used - 1] = rise, fall
        step = rise if coin % outcomes < fall else -fall
        closed = length
        for k in range(length - 1, begin - 1, -1):
            arc = walk.taken[k] >> 1
            residue[arc] += -step if walk.taken[k] & 1 else step
            if residue[arc] == 0 or residue[arc] == base:
                closed = k
        # The first node may have no open arc left; later ones have the one before them, hence another.
        kept = closed + 1 if closed else 0
        for k in range(kept, length):
            walk.place[walk.node[k]] = NONE
        length = kept
    walk.counters[LENGTH], walk.counters[START] = length, start
    return used, start == last


def make_coins(seed: int) -> Coins:
    """Return a function that draws random integers for roundings by a seed, the same on every machine."""
    bits = np.random.PCG64(seed)
    return lambda count: (bits.random_raw(count) >> np.uint64(1)).astype(np.int64)


def start_walk(network: Network, residue: Units, base: int, compile_it: bool) -> CycleWalk:
    """Return the state of an unbiased rounding before its first cycle."""
    nodes, open_entries = network.n_nodes, 2 * int(np.count_nonzero(residue))
    walk = CycleWalk(
        residue=residue.copy(),
        end=np.empty(2 * residue.size, np.int32),
        entry=np.empty(open_entries, np.int32),
        first=np.zeros(nodes, np.int64),
        stop=np.zeros(nodes, np.int64),
        node=np.empty(nodes + 1, np.int32),
        taken=np.empty(nodes + 1, np.int32),
        place=np.full(nodes, NONE, np.int32),
        counters=np.zeros(2, np.int64),
    )
    fill = compile_once(list_entries) if compile_it else list_entries
    if (node := fill(walk, network.tail, network.head, base)) != NONE:
        raise InputError(
            f"equation number {node} does not balance: its constant is no multiple of the base",
            remedy="use another",
        )
    return walk


def draw_rounded_up(network: Network, residue: Units, base: int, coins: Coins, run: Run) -> Mask:
    """Return which arcs an unbiased rounding rounds up, each with probability ``rho / B``, so that flows
    still balance; arcs of residue 0 do not change.

    Raises
    ------
    StoppedError
        The time was over: half a draw is not unbiased.
    """
    compile_it = residue.size >= LARGE
    follow = compile_once(follow_cycles) if compile_it else follow_cycles
    walk, nothing = start_walk(network, residue, base, compile_it), np.empty(0, np.int64)
    finished = False
    while not finished:
        if run.over:
            raise StoppedError(
                f"stopped after {run.seconds:.0f} s in the middle of a draw, which would be biased",
                remedy="allow more time",
            )
        _, finished = follow(walk, base, coins(min(CHUNK, residue.size + 1)), nothing, nothing)
    return np.asarray(walk.residue == base)
