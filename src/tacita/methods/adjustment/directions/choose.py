"""Which way sensitive cells go.

    min over up of   min { loss(z) : M z = 0,  z within the ranges that up says }

| how | directions |
|---|---|
| ``optimal`` | the best there are, or the best found and a bound when time ends |
| ``fixed`` | as given |
| ``alternating`` | by descending size, or least move where none is given: up, down, up, ... |
| ``greedy`` | the largest first, the way that balances its equations; then annealing and flips |
| ``block`` | optimal for one block of cells at a time, all others as they are, until no block gains |
| ``random`` | drawn, by the seed of the run |

In the l1 norm ``optimal`` is a mixed-integer program that begins with what ``greedy`` found and with rows
that patterns of directions tell. In the other norms tangents make it a sequence of such programs, each of
which gives a bound (``tangents``). All other ways search in the l1 norm, whatever the norm of the task; their
bound needs no solver, and is zero where the norm is another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from tacita.core.errors import InfeasibleError, InputError, StoppedError, did_you_mean
from tacita.core.exact import UNBOUNDED, Mask, Units
from tacita.core.run import Run
from tacita.methods.adjustment.directions.annealing import annealed, balanced
from tacita.methods.adjustment.directions.balance import Balance
from tacita.methods.adjustment.directions.branching import block_by_block, branched
from tacita.methods.adjustment.directions.flips import Flips
from tacita.methods.adjustment.directions.losses import NOISE, losses_of
from tacita.methods.adjustment.directions.tangents import by_tangents
from tacita.methods.adjustment.task import AdjustmentTask, DirectionChoice

How = Literal["optimal", "fixed", "alternating", "greedy", "block", "random"]
HOWS: tuple[How, ...] = get_args(How)

STARTS, OPTIMAL_STARTS = 4, 16
"""Annealings of which the best counts: many short ones do better than a few long ones."""
ANNEALED = 40
"""Cells with a choice from which on annealing pays; fewer are left to flips and kicks."""


@dataclass(frozen=True, eq=False)
class Directions:
    """Directions of the cells of a choice.

    Attributes
    ----------
    up
        True where a cell goes up.
    bound
        No directions lose less, in the norm of the task.
    optimal
        Whether it is proven that none do.
    """

    up: Mask
    bound: float
    optimal: bool


def chosen(
    task: AdjustmentTask, how: How, run: Run, given: Mask | None = None, sizes: Units | None = None
) -> Directions:
    """Directions that hold an adjustment of the task.

    Parameters
    ----------
    given
        Directions, for ``fixed``: True where a cell of the choice goes up.
    sizes
        What ``alternating`` sorts the cells of the choice by; their least moves by default.

    Raises
    ------
    InputError
        There is no such way, or ``fixed`` directions are missing or go where a cell cannot.
    InfeasibleError
        No directions hold an adjustment, or this way found none.
    StoppedError
        Time was over before any were found.
    """
    if how not in HOWS:
        raise InputError(
            f"there are no directions '{how}'{did_you_mean(how, HOWS)}: choose from {', '.join(HOWS)}"
        )
    if task.choice is None or not task.choice.cells.size:
        return Directions(np.zeros(0, dtype=bool), 0.0, True)
    task, choice = _in_steps(task, task.choice)
    _check_possible(choice)
    if how == "fixed":
        return Directions(_fixed(choice, given), 0.0, False)
    search = _DirectionSearch(task, choice, run)
    if how == "optimal":
        return search.optimal()
    if how == "block":
        return search.block()
    return search.settled(search.start(how, sizes), how)


def _in_steps(task: AdjustmentTask, choice: DirectionChoice) -> tuple[AdjustmentTask, DirectionChoice]:
    """The same task with bounds that are multiples of its step, as published changes are."""
    step = task.step
    if step == 1:
        return task, choice
    inner = DirectionChoice(
        choice.cells,
        -(-choice.up_least // step) * step,
        _floor(choice.up_most, step),
        -(-choice.down_least // step) * step,
        _floor(choice.down_most, step),
    )
    lower, upper = -_floor(-task.lower, step), _floor(task.upper, step)
    return replace(task, lower=lower, upper=upper, choice=inner), inner


def _floor(units: Units, step: int) -> Units:
    return np.where(np.abs(units) < UNBOUNDED, units // step * step, units)


def _check_possible(choice: DirectionChoice) -> None:
    stuck = np.flatnonzero(~(choice.can_rise | choice.can_fall))
    if stuck.size:
        raise InfeasibleError(
            f"sensitive cell number {int(choice.cells[stuck[0]]) + 1} can go neither up nor down far enough: "
            "widen its capacity"
        )


def _fixed(choice: DirectionChoice, given: Mask | None) -> Mask:
    if given is None or given.shape != choice.cells.shape:
        raise InputError(
            f"fixed directions need one direction for each sensitive cell, {choice.cells.size:,} in all"
        )
    wrong = np.flatnonzero(np.where(given, ~choice.can_rise, ~choice.can_fall))
    if wrong.size:
        p = int(wrong[0])
        raise InputError(
            f"cell number {int(choice.cells[p]) + 1} cannot go {'up' if given[p] else 'down'} as given: "
            "give it the other direction or widen its capacity"
        )
    return given.astype(bool)


class _DirectionSearch:
    """What all ways but ``fixed`` share: the task in the l1 norm, for which searches are made."""

    def __init__(self, task: AdjustmentTask, choice: DirectionChoice, run: Run) -> None:
        self.task, self.choice, self.run = task, choice, run
        self.linear = task if task.norm == "l1" else replace(task, norm="l1")
        self.balance = Balance.of(task, choice)
        self.losses = losses_of(self.linear, choice)
        self.bound = self.balance.bound(choice)

    # ------------------------------------------------------------ ways

    def start(self, how: How, sizes: Units | None = None) -> Mask:
        """Directions to begin with, that cells can go."""
        choice = self.choice
        if how == "alternating":
            least = np.maximum(self.balance.up, -self.balance.down)
            order = np.argsort(-(least if sizes is None else sizes), kind="stable")
            up = np.empty(order.size, dtype=bool)
            up[order] = np.arange(order.size) % 2 == 0
        elif how == "random":
            up = np.random.default_rng(self.run.seed).random(choice.cells.size) < 0.5
        else:
            return balanced(self.balance, choice)
        return (up & choice.can_rise) | ~choice.can_fall

    def settled(self, up: Mask, how: How) -> Directions:
        """Directions as they are, mended where they hold no adjustment; ``greedy`` ones improved."""
        flips = self.greedy(up, STARTS) if how == "greedy" else self._mended(up)
        if flips.loss.missed:
            raise _none_found(how)
        return self._judged(flips)

    def _judged(self, flips: Flips) -> Directions:
        if self.task.norm != "l1":
            return Directions(flips.up, 0.0, False)
        met = _met(flips.loss.value, self.bound)
        return Directions(flips.up, flips.loss.value if met else self.bound, met)

    def greedy(self, up: Mask, starts: int, kicks: bool = True) -> Flips:
        """The best of several annealings, settled by flips and kicks."""
        choice, run = self.choice, self.run
        best = self._mended(up)
        if np.count_nonzero(choice.can_rise & choice.can_fall) < ANNEALED:
            best.settle()
        else:
            for seed in range(starts):
                run.tell("directions", seed, starts, incumbent=best.loss.value, bound=self.bound)
                if run.over or (_met(best.loss.value, self.bound) and not best.loss.missed):
                    break
                cooled = annealed(self.balance, choice, best.up, run, seed)
                try:
                    other = Flips(self.linear, choice, self.losses, cooled, run)
                except StoppedError:
                    break
                other.settle()
                best = other if other.loss.below(best.loss) else best
        if best.loss.missed or (kicks and not _met(best.loss.value, self.bound)):
            best.kicked()
        return best

    def _mended(self, up: Mask) -> Flips:
        flips = Flips(self.linear, self.choice, self.losses, up, self.run)
        if flips.loss.missed:
            flips.settle()
        if flips.loss.missed:
            flips.kicked()
        return flips

    def block(self) -> Directions:
        flips = self._mended(self.start("greedy"))
        if flips.loss.missed:
            raise _none_found("block")
        block_by_block(self.balance, flips, self.bound)
        return self._judged(flips)

    def optimal(self) -> Directions:
        # Where losses take long, branching finds better directions in the time that flips would take.
        flips = self.greedy(
            self.start("greedy"), OPTIMAL_STARTS if self.losses.quick else 1, self.losses.quick
        )
        if self.task.norm != "l1":
            return Directions(*by_tangents(self.task, self.choice, self.balance, flips, self.run))
        if _met(flips.loss.value, self.bound) and not flips.loss.missed:
            return Directions(flips.up, flips.loss.value, True)
        return Directions(*branched(self.balance, flips, self.bound))


def _met(value: float, bound: float) -> bool:
    return value <= bound + NOISE * max(1.0, abs(value))


def _none_found(how: How) -> InfeasibleError:
    return InfeasibleError(
        f"{how} directions hold no adjustment within the capacities, nor do those near them: "
        "choose 'optimal', which finds some if there are any, or widen the capacities"
    )
