"""Directions in the l1 norm by branch-and-bound, from the best that a search has found.

*Optimal* directions are one program for all cells. *Block coordinate descent* asks for the best directions of
one block of sensitive cells, all others as they are. Cells of a block share equations as far as there are
enough such cells. What a block gains, the next one keeps; when no block of a round gains, blocks are drawn
anew once, and then the search ends.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacita.core.errors import InfeasibleError, SolverError, StoppedError, TacitaError
from tacita.core.exact import Mask
from tacita.core.run import Run
from tacita.methods.adjustment.directions.balance import Balance
from tacita.methods.adjustment.directions.direction_patterns import pattern_rows
from tacita.methods.adjustment.directions.direction_program import DirectionProgram
from tacita.methods.adjustment.directions.flips import Flips
from tacita.methods.adjustment.directions.losses import NOISE
from tacita.solvers.highs import Ended, solve_mip

GAP = 1e-7
"""Share of the loss by which the arithmetic of a proof may be off."""
BLOCK = 24
"""Cells of a block: their program takes a node or two."""
NODES = 50
"""Most nodes of a block's program: unlike a time limit they give the same directions on every machine."""
IDLE_ROUNDS = 2


def branched(balance: Balance, flips: Flips, bound: float) -> tuple[Mask, float, bool]:
    """Directions, a bound on the loss of all, and whether the two are proven to meet.

    ``flips`` is the best that is known, which may still miss something; ``bound`` is known to hold.
    """
    run = flips.run
    program = DirectionProgram(flips.task, flips.choice, balance)
    made, known = pattern_rows(balance, flips.choice, run)
    program, bound = program.tightened(made), max(bound, _believed(known, flips))
    whole = not flips.loss.missed
    if whole and _met(flips, bound):
        return flips.up, flips.loss.value, True
    found = solve_mip(
        program.program,
        run,
        start=program.point(flips.at.z, flips.up) if whole else None,
        tell=lambda best, low: run.tell(
            "branching",
            bound=max(bound, program.loss(low)),
            incumbent=flips.loss.value if best is None else min(program.loss(best), flips.loss.value),
        ),
    )
    if found.point.size:
        flips.consider(program.directions(found.point))
    if flips.loss.missed:
        raise _without_directions(found.status, run)
    bound = max(bound, _believed(program.loss(found.bound), flips))
    return flips.up, min(bound, flips.loss.value), _met(flips, bound)


def _without_directions(ended: Ended, run: Run) -> TacitaError:
    """Why there are no directions that hold an adjustment."""
    if ended is Ended.INFEASIBLE:
        return InfeasibleError(
            "no directions of the sensitive cells hold an adjustment: widen the capacities"
        )
    if ended is Ended.OPTIMAL:
        return SolverError(
            "two programs disagree whether directions hold an adjustment, which proves nothing: "
            "count in a larger unit, or widen the capacities"
        )
    return StoppedError(
        f"stopped after {run.seconds:.0f} s before directions with an adjustment were found: allow more time"
    )


def _believed(bound: float, flips: Flips) -> float:
    """A bound that a solver claims, unless a known loss refutes it: then its arithmetic has failed."""
    refuted = not flips.loss.missed and bound > flips.loss.value * (1 + GAP) + NOISE
    return 0.0 if refuted or np.isnan(bound) else bound


def _met(flips: Flips, bound: float) -> bool:
    return flips.loss.value - bound <= max(NOISE, GAP * flips.loss.value)


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
