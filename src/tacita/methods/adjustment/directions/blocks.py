"""Block coordinate descent: the best directions of one block of sensitive cells, all others as they are.

Cells of a block share equations as far as there are enough such cells. What a block gains, the next one
keeps; when no block of a round gains, blocks are drawn anew once, and then the search ends.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacita.core.exact import Mask
from tacita.methods.adjustment.directions.balance import Balance
from tacita.methods.adjustment.directions.direction_program import DirectionProgram
from tacita.methods.adjustment.directions.flips import Flips
from tacita.methods.adjustment.directions.losses import NOISE
from tacita.solvers.highs import solve_mip

BLOCK = 24
"""Cells of a block: their program takes a node or two."""
NODES = 50
"""Most nodes of a block's program: unlike a time limit they give the same directions on every machine."""
IDLE_ROUNDS = 2


def block_by_block(balance: Balance, flips: Flips, bound: float) -> None:
    """Improve ``flips`` until no block of a round gains, or the bound is met."""
    program = DirectionProgram(flips.task, flips.choice, balance)
    draw, idle = np.random.default_rng(flips.run.search), 0
    while idle < IDLE_ROUNDS:
        before = flips.loss
        for block in _blocks(balance, flips.choice.can_rise & flips.choice.can_fall, draw):
            if flips.run.over or flips.loss.value <= bound + NOISE * abs(bound):
                return
            start = program.point(flips.at.z, flips.up)
            found = solve_mip(program.frozen(flips.up, block), flips.run, start=start, nodes=NODES)
            if found.point.size:
                flips.consider(program.directions(found.point))
        idle = 0 if flips.loss.below(before) else idle + 1


def _blocks(balance: Balance, free: Mask, draw: np.random.Generator) -> Iterator[Mask]:
    """A partition of the free cells: each block grows from a cell along shared equations."""
    by_equation, by_cell = balance.forced, balance.forced.tocsr().T.tocsr()
    left = free.copy()
    for first in draw.permutation(np.flatnonzero(free)):
        if not left[first]:
            continue
        block, waiting = np.zeros(free.size, dtype=bool), [int(first)]
        while waiting and block.sum() < BLOCK:
            cell = waiting.pop(0)
            if not left[cell]:
                continue
            block[cell], left[cell] = True, False
            for q in by_cell.indices[by_cell.indptr[cell] : by_cell.indptr[cell + 1]]:
                beside = by_equation.indices[by_equation.indptr[q] : by_equation.indptr[q + 1]]
                waiting += [int(other) for other in beside if left[other]]
        yield block
