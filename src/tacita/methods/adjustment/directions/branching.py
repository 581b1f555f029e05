"""Directions in the l1 norm by branch and bound, from the best that a search has found.

*Optimal* directions are one integer program for all cells. *Block coordinate descent* optimises the
directions of one block of sensitive cells, all others fixed. Cells of a block share equations, where there
are enough such cells. When no block of a round improves the loss, blocks are drawn anew once; then the search
ends.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacita.core.errors import SolverError, TacitaError
from tacita.core.exact import Mask
from tacita.core.run import Run
from tacita.methods.adjustment.directions.balance import Balance
from tacita.methods.adjustment.directions.direction_patterns import derive_pattern_rows
from tacita.methods.adjustment.directions.direction_program import DirectionProgram
from tacita.methods.adjustment.directions.flip_search import (
    FlipSearch,
    make_directions_timeout_error,
    make_infeasible_directions_error,
)
from tacita.methods.adjustment.directions.losses import NOISE
from tacita.solvers.highs import Ended, solve_mip

GAP = 1e-7
"""Relative rounding error of a proof."""
BLOCK = 24
"""Cells of a block: their program takes a node or two."""
NODES = 50
"""Most nodes of a block's program: unlike a time limit, the same on every machine."""
IDLE_ROUNDS = 2


def branch_and_bound(balance: Balance, search: FlipSearch, bound: float) -> tuple[Mask, float, bool]:
    """Return the best adjustment directions, a lower bound on the loss of all, and whether it is met.

    ``search`` has the best known directions, which may be infeasible; ``bound`` is a known lower bound.
    """
    run = search.run
    program = DirectionProgram(search.task, search.choice, balance)
    made, known = derive_pattern_rows(balance, search.choice, run)
    program, bound = program.with_rows(made), max(bound, _check_bound(known, search))
    feasible = not search.loss.missed
    if feasible and _is_met(search, bound):
        return search.up, search.loss.value, True
    if feasible and run.accepts(search.loss.value, bound):
        return search.up, bound, False
    found = solve_mip(
        program.program,
        run,
        start=program.to_point(search.adjustment.z, search.up) if feasible else None,
        tell=lambda best, low: run.report(
            "branching",
            bound=max(bound, program.to_loss(low)),
            incumbent=search.loss.value if best is None else min(program.to_loss(best), search.loss.value),
        ),
        enough=lambda best, low: run.accepts(program.to_loss(best), max(bound, program.to_loss(low))),
    )
    if found.point.size:
        search.evaluate(program.directions(found.point))
    if search.loss.missed:
        raise _explain_no_directions(found.status, run)
    bound = max(bound, _check_bound(program.to_loss(found.bound), search))
    return search.up, min(bound, search.loss.value), _is_met(search, bound)


def _explain_no_directions(ended: Ended, run: Run) -> TacitaError:
    """Return the error for a search that ended without feasible directions of an adjustment."""
    if ended is Ended.INFEASIBLE:
        return make_infeasible_directions_error()
    if ended is Ended.OPTIMAL:
        return SolverError(
            "two programs disagree whether directions hold an adjustment, which proves nothing",
            remedy="count in a larger unit, or widen the capacities",
        )
    return make_directions_timeout_error(run)


def _check_bound(bound: float, search: FlipSearch) -> float:
    """Return the bound on the adjustment's loss that a solver claims; 0 if a known loss refutes it."""
    refuted = not search.loss.missed and bound > search.loss.value * (1 + GAP) + NOISE
    return 0.0 if refuted or np.isnan(bound) else bound


def _is_met(search: FlipSearch, bound: float) -> bool:
    return search.loss.value - bound <= max(NOISE, GAP * search.loss.value)


def descend_by_blocks(balance: Balance, search: FlipSearch, bound: float) -> None:
    """Improve an adjustment's directions block by block, until no block does, or the bound is met."""
    program = DirectionProgram(search.task, search.choice, balance)
    draw, idle = np.random.default_rng(search.run.search), 0
    while idle < IDLE_ROUNDS:
        before = search.loss
        for block in _draw_blocks(balance, search.choice.can_rise & search.choice.can_fall, draw):
            loss, run = search.loss.value, search.run
            if run.over or loss <= bound + NOISE * abs(bound) or run.accepts(loss, bound):
                return
            start = program.to_point(search.adjustment.z, search.up)
            found = solve_mip(
                program.with_fixed_directions(search.up, block), search.run, start=start, nodes=NODES
            )
            if found.point.size:
                search.evaluate(program.directions(found.point))
        idle = 0 if search.loss.is_below(before) else idle + 1


def _draw_blocks(balance: Balance, free: Mask, draw: np.random.Generator) -> Iterator[Mask]:
    """Yield blocks of sensitive cells with open adjustment directions, grown along shared equations."""
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
