"""The choice of directions of sensitive cells.

    min over up of   min { loss(z) : M z = 0,  z within the ranges of the directions up }

| how | directions |
|---|---|
| ``optimal`` | the best there are, or the best found and a bound when time ends |
| ``fixed`` | as given |
| ``alternating`` | by descending size, or least move where none is given: up, down, up, ... |
| ``greedy`` | the largest first, in the direction that balances its equations; then annealing and flips |
| ``block`` | optimal for one block of cells at a time, all others fixed, until no block improves the loss |
| ``random`` | drawn, by the seed of the run |

In the l1 norm ``optimal`` is a mixed-integer program with inequalities from patterns of directions, started
from the result of ``greedy``. In the other norms it is a sequence of such programs with tangents, each of
which gives a lower bound (``tangents``). All others search in the l1 norm, whatever the norm of the task;
their lower bound needs no solver, and is 0 in other norms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from tacita.core.errors import InfeasibleError, InputError, StoppedError, did_you_mean
from tacita.core.exact import Mask, Units
from tacita.core.run import Run
from tacita.methods.adjustment.directions.annealing import anneal, balance_greedily
from tacita.methods.adjustment.directions.balance import Balance
from tacita.methods.adjustment.directions.branching import branch_and_bound, descend_by_blocks
from tacita.methods.adjustment.directions.flip_search import FlipSearch
from tacita.methods.adjustment.directions.losses import NOISE, make_losses
from tacita.methods.adjustment.directions.tangents import solve_by_tangents
from tacita.methods.adjustment.task import AdjustmentTask, DirectionChoice

How = Literal["optimal", "fixed", "alternating", "greedy", "block", "random"]
HOWS: tuple[How, ...] = get_args(How)

STARTS, OPTIMAL_STARTS = 4, 16
"""Annealings of which the best counts: many short ones are better than a few long ones."""
ANNEALED = 40
"""Cells with a choice from which on annealing pays off; for fewer there are flips and kicks."""


@dataclass(frozen=True, eq=False)
class Directions:
    """Directions of the cells of a choice.

    Attributes
    ----------
    up
        True where a cell goes up.
    bound
        Lower bound on the loss of all directions, in the norm of the task.
    optimal
        Whether these directions are proven to be optimal.
    """

    up: Mask
    bound: float
    optimal: bool


def choose_directions(
    task: AdjustmentTask, how: How, run: Run, given: Mask | None = None, sizes: Units | None = None
) -> Directions:
    """Return directions of sensitive cells for which the adjustment is feasible, and a bound on its loss.

    Parameters
    ----------
    given
        Directions, for ``fixed``: True where a cell of the choice goes up.
    sizes
        What ``alternating`` sorts the cells of the choice by; their least moves by default.

    Raises
    ------
    InputError
        ``how`` is unknown, or ``fixed`` directions are missing or closed.
    InfeasibleError
        No directions are feasible, or this search found none.
    StoppedError
        Time was over before any were found.
    """
    if how not in HOWS:
        raise InputError(
            f"there are no directions '{how}'{did_you_mean(how, HOWS)}",
            remedy=f"choose from {', '.join(HOWS)}",
        )
    task = task.in_steps()
    choice = task.choice
    if choice is None or not choice.cells.size:
        return Directions(np.zeros(0, dtype=bool), 0.0, True)
    _check_possible(choice)
    if how == "fixed":
        return Directions(_check_given(choice, given), 0.0, False)
    search = _DirectionSearch(task, choice, run)
    if how == "optimal":
        return search.search_optimum()
    if how == "block":
        return search.search_blocks()
    return search.repair_or_improve(search.make_start(how, sizes), how)


def _check_possible(choice: DirectionChoice) -> None:
    stuck = np.flatnonzero(~(choice.can_rise | choice.can_fall))
    if stuck.size:
        raise InfeasibleError(
            f"sensitive cell number {int(choice.cells[stuck[0]]) + 1} can go neither up nor down far enough",
            remedy="widen its capacity",
        )


def _check_given(choice: DirectionChoice, given: Mask | None) -> Mask:
    if given is None or given.shape != choice.cells.shape:
        raise InputError(
            f"fixed directions need one direction for each sensitive cell, {choice.cells.size:,} in all"
        )
    wrong = np.flatnonzero(np.where(given, ~choice.can_rise, ~choice.can_fall))
    if wrong.size:
        p = int(wrong[0])
        raise InputError(
            f"cell number {int(choice.cells[p]) + 1} cannot go {'up' if given[p] else 'down'} as given",
            remedy="give it the other direction or widen its capacity",
        )
    return given.astype(bool)


class _DirectionSearch:
    """All searches but ``fixed``: they work on the task in the l1 norm."""

    def __init__(self, task: AdjustmentTask, choice: DirectionChoice, run: Run) -> None:
        self.task, self.choice, self.run = task, choice, run
        self.linear = task if task.norm == "l1" else replace(task, norm="l1")
        self.balance = Balance.of(task, choice)
        self.losses = make_losses(self.linear, choice)
        self.bound = self.balance.bound(choice)

    # ------------------------------------------------------------ searches

    def make_start(self, how: How, sizes: Units | None = None) -> Mask:
        """Return the first directions, up or down, of the sensitive cells in a search for an adjustment."""
        choice = self.choice
        if how == "alternating":
            least = np.maximum(self.balance.up, -self.balance.down)
            order = np.argsort(-(least if sizes is None else sizes), kind="stable")
            up = np.empty(order.size, dtype=bool)
            up[order] = np.arange(order.size) % 2 == 0
        elif how == "random":
            up = np.random.default_rng(self.run.seed).random(choice.cells.size) < 0.5
        else:
            return balance_greedily(self.balance, choice)
        return (up & choice.can_rise) | ~choice.can_fall

    def repair_or_improve(self, up: Mask, how: How) -> Directions:
        """Return directions of an adjustment, repaired where infeasible; ``greedy`` ones are improved."""
        search = self.search_greedily(up, STARTS) if how == "greedy" else self._repair(up)
        if search.loss.missed:
            raise _none_found_error(how)
        return self._to_directions(search)

    def _to_directions(self, search: FlipSearch) -> Directions:
        if self.task.norm != "l1":
            return Directions(search.up, 0.0, False)
        is_met = _is_met(search.loss.value, self.bound)
        return Directions(search.up, search.loss.value if is_met else self.bound, is_met)

    def search_greedily(self, up: Mask, starts: int, kicks: bool = True) -> FlipSearch:
        """Return the search with the best adjustment directions of several annealings, flips and kicks."""
        choice, run = self.choice, self.run
        best = self._repair(up)
        if np.count_nonzero(choice.can_rise & choice.can_fall) < ANNEALED:
            best.descend()
        else:
            for seed in range(starts):
                run.report("directions", seed, starts, incumbent=best.loss.value, bound=self.bound)
                if run.over or (self._is_enough(best.loss.value) and not best.loss.missed):
                    break
                annealed = anneal(self.balance, choice, best.up, run, seed)
                try:
                    other = FlipSearch(self.linear, choice, self.losses, annealed, run)
                except StoppedError:
                    break
                other.descend()
                best = other if other.loss.is_below(best.loss) else best
        if best.loss.missed or (kicks and not self._is_enough(best.loss.value)):
            best.kick()
        return best

    def _repair(self, up: Mask) -> FlipSearch:
        search = FlipSearch(self.linear, self.choice, self.losses, up, self.run)
        if search.loss.missed:
            search.descend()
        if search.loss.missed:
            search.kick()
        return search

    def _is_enough(self, loss: float) -> bool:
        """Return whether a loss in the l1 norm is at the lower bound, or within the gap asked for."""
        in_gap = self.task.norm == "l1" and self.run.accepts(loss, self.bound)
        return _is_met(loss, self.bound) or in_gap

    def search_blocks(self) -> Directions:
        search = self._repair(self.make_start("greedy"))
        if search.loss.missed:
            raise _none_found_error("block")
        descend_by_blocks(self.balance, search, self.bound)
        return self._to_directions(search)

    def search_optimum(self) -> Directions:
        # Where losses are expensive, branching finds better directions in the time that flips would take.
        search = self.search_greedily(
            self.make_start("greedy"), OPTIMAL_STARTS if self.losses.quick else 1, self.losses.quick
        )
        if self.task.norm != "l1":
            return Directions(*solve_by_tangents(self.task, self.choice, self.balance, search, self.run))
        if self._is_enough(search.loss.value) and not search.loss.missed:
            return self._to_directions(search)
        return Directions(*branch_and_bound(self.balance, search, self.bound))


def _is_met(value: float, bound: float) -> bool:
    return value <= bound + NOISE * max(1.0, abs(value))


def _none_found_error(how: How) -> InfeasibleError:
    return InfeasibleError(
        f"{how} directions hold no adjustment within the capacities, nor do those near them",
        remedy="choose 'optimal', which finds some if there are any, or widen the capacities",
        options=("directions=optimal",),
    )
