"""Cell perturbation: numbers near the true ones that add up, with an announced radius.

    min  sum_i w+_i z+_i + w-_i z-_i (+ w_i x_i)
    s.t. v = a + z+ - z-,   M v = b,   lowest <= v <= highest,   v_p set apart for sensitive cells p,
         every sensitive cell keeps its levels against every attacker who knows v_i - r_i <= y_i <= v_i + r_i

``r`` is the announced radius and never smaller than ``|v - a|``. Without more the best ``v`` is ``a`` itself,
so sensitive cells are sent away from their values: past one of their levels by a secret random amount, on a
side that the model chooses, or to given values. Cells may move by all of the radius, so that it is what
readers of this page know of them. Where ``lowest`` and ``highest`` are given everyone is taken to know them.
In the literature's model (``readers="radius"``) they lie half a radius from the value, as in ``r = highest -
lowest``, and nobody knows. ``v`` never leaves what everyone knows. Binary ``x_i`` count cells with ``v_i !=
a_i``.

Changes are whole steps of the table, or, where radii exceed 10,000 of them, of a power of ten of it: numbers
add up exactly, and large values do not upset solvers.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np

from tacita.core.errors import InfeasibleError, InputError, LevelsError
from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask, Units
from tacita.core.release import Mark, Release
from tacita.core.run import Run
from tacita.engine.model import Model
from tacita.methods.drafting.draft import Draft, alone
from tacita.methods.drafting.settle import settle_drawn
from tacita.methods.measuring import shown_changes
from tacita.methods.options.distances import (
    ASSUMED,
    DISTANCE_HELP,
    EXACT,
    FEWEST_STEPS,
    NONE_DRAWN,
    Distance,
    Draws,
    levels_of_all,
)
from tacita.methods.options.per_cell import (
    amounts,
    column_units,
    largest_level,
    round_number,
    scale_for,
    weights,
)
from tacita.problem.problem import Problem, start_run

FINE = 10_000
PLACES = ("away", "up", "down", "free")
HALF = (
    "cells stay within 'lowest' and 'highest', or half the announced radius: who knows that deduces more "
    "than the radius tells (option 'readers')"
)
COLUMNS_KNOWN = "readers may know the columns 'lowest' and 'highest'"
FREE = (
    "sensitive cells are free: the nearest table is the true one, and whoever knows that knows its values "
    "(option 'sensitive')"
)


@dataclass(frozen=True)
class Perturbation:
    """Publish a nearby table that adds up, and say how near."""

    name: ClassVar[str] = "perturbation"
    does: ClassVar[str] = (
        "Publishes a nearby table that adds up, sets sensitive cells apart from their values, and "
        "announces a radius within which the truth lies."
    )
    choose: ClassVar[str] = (
        "Choose it when every cell must show a number, with limits of your own on how far each may "
        "move. Not when readers expect true numbers wherever nothing is sensitive."
    )

    radius: float | str | None = field(
        default=None,
        metadata={
            "help": "announced radius, and how far cells may move: a number, or a column; none: a round "
            "number from three times the largest level"
        },
    )
    lowest: str | None = field(
        default=None, metadata={"help": "column of least values to publish; none: a radius below"}
    )
    highest: str | None = field(
        default=None, metadata={"help": "column of largest values to publish; none: a radius above"}
    )
    sensitive: str = field(
        default="away",
        metadata={
            "help": "where sensitive cells go: away (past a level, up or down), up, down, free, or a column "
            "of values"
        },
    )
    weight_up: str = field(
        default="cost",
        metadata={"help": "loss per unit above the value: cost (of the problem), unit, inverse, or a column"},
    )
    weight_down: str = field(default="cost", metadata={"help": "loss per unit below the value: likewise"})
    weight_changed: str | None = field(
        default=None, metadata={"help": "loss per changed cell: likewise, or none"}
    )
    at_most: int | None = field(default=None, metadata={"help": "limit on the number of changed cells"})
    distance: Distance = field(default="drawn", metadata={"help": DISTANCE_HELP})
    readers: Literal["method", "radius"] = field(
        default="method",
        metadata={
            "help": "what readers are taken to know: method (how far it moves cells, lowest and highest), or "
            "radius (that alone, as in the literature; cells then move by half of it)"
        },
    )

    def __post_init__(self) -> None:
        if self.distance not in ("drawn", "exact"):
            raise InputError(f"option 'distance' must be drawn or exact, not '{self.distance}'")
        if self.readers not in ("method", "radius"):
            raise InputError(f"option 'readers' must be method or radius, not '{self.readers}'")

    def model(self, problem: Problem, run: Run | None = None) -> Model:
        """Variables, windows, constraints and loss, with the distances that the seed of the run draws."""
        return alone(self, self._known(problem), Draws((run or Run()).seed)).model

    def protect(self, problem: Problem, run: Run | None = None) -> Release:
        """A nearby table that adds up and protects every sensitive cell against every attacker."""
        run = start_run(problem, run)
        remedy = (
            "Announce a larger radius, widen the bounds, allow more changed cells, or free sensitive ones."
        )
        known, made_by = self._known(problem), {"method": self.name, "options": asdict(self)}
        release = settle_drawn(lambda draws: alone(self, known, draws), made_by, run, remedy)
        columns = "the columns 'lowest' and 'highest' of a perturbation"
        return release if known is problem else replace(release, alone=columns)

    def _known(self, problem: Problem) -> Problem:
        """The problem in which everyone knows the columns of least and largest values, if they may."""
        if self.readers == "radius" or (self.lowest is None and self.highest is None):
            return problem
        lowest, highest = self._limits(problem)
        # Cells that stay as they are need no limits.
        moves = ~problem.must_publish
        try:
            return problem.with_everyone_knowing(
                np.where(moves & (lowest <= problem.table.units), lowest, -UNBOUNDED),
                np.where(moves & (highest >= problem.table.units), highest, UNBOUNDED),
            )
        except LevelsError as error:
            fault = f"{COLUMNS_KNOWN}, and with them levels cannot be kept. {error}"
            raise InfeasibleError(fault, options=error.options) from None

    def _limits(self, problem: Problem) -> tuple[Units, Units]:
        """Least and largest values to publish, as columns give them; no limits where there is none."""
        n = len(problem.table)
        lowest, highest = np.full(n, -UNBOUNDED), np.full(n, UNBOUNDED)
        if self.lowest is not None:
            lowest = column_units(problem, self.lowest, "lowest")
        if self.highest is not None:
            highest = column_units(problem, self.highest, "highest")
        return lowest, highest

    def loss(self, problem: Problem, release: Release) -> float:
        """Return the weighted sum of all changes, and of the changed cells where these cost something."""
        return float(self.cell_losses(problem, release).sum())

    def cell_losses(self, problem: Problem, release: Release, cells: Mask | None = None) -> Floats:
        """Return the part of every cell (or of each of some ``cells``) in the loss."""
        change = shown_changes(problem, release, cells) / 10.0**problem.table.decimals
        up, down = (weights(problem, getattr(self, name), name) for name in ("weight_up", "weight_down"))
        each = up * np.maximum(change, 0.0) + down * np.maximum(-change, 0.0)
        if self.weight_changed is not None:
            each += np.where(change != 0, weights(problem, self.weight_changed, "weight_changed"), 0.0)
        return np.asarray(each)

    def state(self, draft: Draft, cells: Mask) -> None:
        """The method for some cells."""
        problem = draft.problem
        known, everyone = self._known(problem).outsider, problem.outsider
        if (known.lower > everyone.lower).any() or (known.upper < everyone.upper).any():
            raise InputError(
                f"{COLUMNS_KNOWN}: in a mixture take 'radius' for the option 'readers' if nobody does"
            )
        bounds = self._bounds(problem, cells)
        self._remark(draft, cells)
        sensitive = problem.levels.sensitive
        given = self._given(problem, np.flatnonzero(cells & sensitive), bounds)
        step = scale_for(problem, int(bounds.radius.max(initial=0)), FINE)
        while step > problem.table.unit and given is not None and (given % step).any():
            step //= 10
        shown = np.flatnonzero(cells)
        draft.show(shown, Mark.ADJUSTED, bounds.radius[shown])
        at = np.flatnonzero(cells & ((bounds.above + bounds.below >= step) | sensitive))
        worth = step / 10.0**problem.table.decimals
        room_up, room_down = bounds.above[at] // step, bounds.below[at] // step
        up = draft.variables(at.size, weights(problem, self.weight_up, "weight_up")[at] * worth, room_up)
        down = draft.variables(
            at.size, weights(problem, self.weight_down, "weight_down")[at] * worth, room_down
        )
        draft.move(at, up, step)
        draft.move(at, down, -step)
        changes = _PerturbedCells(at, up, down, room_up, room_down)
        apart = changes.of(np.flatnonzero(sensitive[at]))
        self._set_apart(draft, apart, given, bounds.radius[apart.cells], step)
        self._count(draft, changes)

    def _count(self, draft: Draft, changes: _PerturbedCells) -> None:
        """Binary variables for changed cells, where these are limited or cost something."""
        said = self.weight_changed
        if self.at_most is None and said is None:
            return
        cost = 0.0 if said is None else weights(draft.problem, said, "weight_changed")[changes.cells]
        changed = draft.variables(changes.cells.size, cost)
        draft.require([(changes.up, 1.0), (changed, -changes.room_up)], upper=0.0)
        draft.require([(changes.down, 1.0), (changed, -changes.room_down)], upper=0.0)
        if self.at_most is not None:
            draft.bracket(changed, -np.inf, self.at_most)

    def _set_apart(
        self, draft: Draft, changes: _PerturbedCells, given: Units | None, radius: Units, step: int
    ) -> None:
        """Send sensitive cells where they are asked to go."""
        up, down, room_up, room_down = changes.up, changes.down, changes.room_up, changes.room_down
        place, change = self.sensitive, None if given is None else given // step
        if self.distance == "exact" and place in ("up", "down"):
            change = room_up if place == "up" else -room_down
        if change is not None:
            draft.require([(up, 1.0), (down, -1.0)], lower=change, upper=change)
        if change is not None or place == "free" or not changes.cells.size:
            return
        least = _Least.of(draft.problem, changes, radius, step, self._draws(draft))
        rises, falls = least.rises & (place != "down"), least.falls & (place != "up")
        if (stuck := np.flatnonzero(~rises & ~falls)).size:
            raise InfeasibleError(
                f"({draft.problem.table.name(int(changes.cells[stuck[0]]))}) cannot be moved past "
                f"{'either' if place == 'away' else 'the one'} of its levels: widen its bounds, announce a "
                "larger radius, or let it be 'free'"
            )
        goes_up = draft.variables(up.size, 0.0, upper=rises, lower=~falls)
        draft.require([(up, 1.0), (goes_up, -least.up)], lower=0.0)
        draft.require([(up, 1.0), (goes_up, -room_up)], upper=0.0)
        draft.require([(down, 1.0), (goes_up, least.down)], lower=least.down)
        draft.require([(down, 1.0), (goes_up, room_down)], upper=room_down)
        draft.drawn |= self._draws(draft).share > 0

    def _draws(self, draft: Draft) -> Draws:
        return NONE_DRAWN if self.distance == "exact" else draft.draws

    def _remark(self, draft: Draft, cells: Mask) -> None:
        """What readers must not know, and what the loss is the least of."""
        if self.readers == "radius":
            draft.remark(HALF, ASSUMED)
        if not (cells & draft.problem.levels.sensitive).any():
            return
        if self.sensitive == "free":
            draft.remark(FREE, ASSUMED)
        elif self.sensitive in PLACES:
            for text in self._draws(draft).remarks if self.distance == "drawn" else (EXACT,):
                draft.remark(text, ASSUMED if text == EXACT else "")

    def _bounds(self, problem: Problem, cells: Mask) -> _Bounds:
        table = problem.table
        known_low, known_high = problem.outsider.lower, problem.outsider.upper
        lowest, highest = self._limits(problem)
        radius = self._radius(problem, lowest, highest)
        radius = np.where(cells & ~problem.must_publish & (known_low < known_high), radius, 0)
        # Half of it in the literature, where readers must not know.
        far = radius if self.readers == "method" else radius // (2 * table.unit) * table.unit
        lowest = table.units - far if self.lowest is None else lowest
        highest = table.units + far if self.highest is None else highest
        wrong = np.flatnonzero((radius > 0) & ((lowest > table.units) | (highest < table.units)))
        if wrong.size:
            raise InputError(
                f"({table.name(int(wrong[0]))}): the value lies outside of 'lowest' to 'highest'; widen them"
            )
        below = table.units - np.maximum(lowest, np.maximum(known_low, -UNBOUNDED // 2))
        above = np.minimum(highest, known_high) - table.units
        return _Bounds(radius, np.minimum(above, radius), np.minimum(below, radius))

    def _radius(self, problem: Problem, lowest: Units, highest: Units) -> Units:
        """The announced radius, before cells that do not move are taken out."""
        table = problem.table
        if self.radius is not None:
            return amounts(problem, self.radius, "radius")
        if self.lowest is not None and self.highest is not None:
            wide = highest - lowest
            # One number of each cell would tell what columns are made of.
            return wide if self.readers == "radius" else np.full(len(table), _rounded(problem, wide))
        level = largest_level(problem)
        most = 0 if self.distance == "exact" else max(level, FEWEST_STEPS * table.unit)
        least = 2 * (level + most) if self.readers == "radius" else 2 * level + most
        return np.full(len(table), _rounded(problem, np.array([least])))

    def _given(self, problem: Problem, sensitive: Cells, bounds: _Bounds) -> Units | None:
        """Given changes of the sensitive cells; none where they have to do with bounds and levels only."""
        if self.sensitive in PLACES:
            return None
        change = (column_units(problem, self.sensitive, "sensitive") - problem.table.units)[sensitive]
        far = (change > bounds.above[sensitive]) | (-change > bounds.below[sensitive])
        if (wrong := np.flatnonzero(far)).size:
            raise InputError(
                f"({problem.table.name(int(sensitive[wrong[0]]))}): column '{self.sensitive}' asks for a "
                "value outside of its bounds or farther than its radius; widen them or ask for less"
            )
        return np.asarray(change)


@dataclass(frozen=True, eq=False)
class _Bounds:
    """Announced radius, and how far above and below its value each cell may be published, in units."""

    radius: Units
    above: Units
    below: Units


@dataclass(frozen=True, eq=False)
class _PerturbedCells:
    """Cells with the variables that move them up and down, and the room of each, in steps."""

    cells: Cells
    up: Cells
    down: Cells
    room_up: Units
    room_down: Units

    def of(self, which: Cells) -> _PerturbedCells:
        return _PerturbedCells(
            self.cells[which], self.up[which], self.down[which], self.room_up[which], self.room_down[which]
        )


@dataclass(frozen=True, eq=False)
class _Least:
    """How far sensitive cells move at least, up and down, in steps; and whether each can."""

    up: Units
    down: Units
    rises: Mask
    falls: Mask

    @classmethod
    def of(cls, problem: Problem, changes: _PerturbedCells, radius: Units, step: int, draws: Draws) -> _Least:
        """Past the largest levels of all attackers, and by random amounts as far as there is room: the
        window must still hold the level on the other side.
        """
        lower, upper = (level[changes.cells] for level in levels_of_all(problem))
        more = draws.beyond(problem, step)[changes.cells] // step
        up, down = (np.maximum(1, -(-level // step)) for level in (upper, lower))
        spare_up = np.minimum(changes.room_up, (radius - lower) // step) - up
        spare_down = np.minimum(changes.room_down, (radius - upper) // step) - down
        more_up, more_down = (np.clip(spare, 0, more) for spare in (spare_up, spare_down))
        return cls(up + more_up, down + more_down, spare_up >= 0, spare_down >= 0)


def _rounded(problem: Problem, least: Units) -> int:
    """The first round number of steps that is no less than any of these units."""
    step = problem.table.unit
    return round_number(-(-int(least.max(initial=0)) // step)) * step
