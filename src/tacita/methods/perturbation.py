"""Cell perturbation: numbers near the true ones that add up, with an announced radius.

    min  sum_i w+_i z+_i + w-_i z-_i (+ w_i x_i)
    s.t. v = a + z+ - z-,   M v = b,   lowest <= v <= highest,   v_p set apart for sensitive cells p,
         every sensitive cell keeps its levels against every attacker who knows v_i - r_i <= y_i <= v_i + r_i

``r`` is the announced radius and never smaller than ``|v - a|``. Without more the best ``v`` is ``a`` itself,
so sensitive cells are sent away from their values: past one of their levels on a side that the model chooses,
to an end of their bounds, or to given values. By default ``lowest`` and ``highest`` lie half a radius from
the value, as in ``r = highest - lowest``, and never outside of what everyone knows. Binary ``x_i`` count
cells with ``v_i != a_i``.

Changes are whole steps of the table, or, where radii exceed 10,000 of them, of a power of ten of it: numbers
add up exactly, and large values do not upset solvers.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import ClassVar

import numpy as np

from tacita.engine.model import Model
from tacita.errors import InfeasibleError, InputError
from tacita.exact import UNBOUNDED, Cells, Floats, Mask, Units
from tacita.methods.drafting.draft import Draft, alone
from tacita.methods.drafting.settle import settle
from tacita.methods.measuring import shown_changes
from tacita.methods.options.per_cell import (
    amounts,
    column_units,
    largest_level,
    round_number,
    scale_for,
    weights,
)
from tacita.problem import Problem, start_run
from tacita.release import Mark, Release
from tacita.run import Run

FINE = 10_000
PLACES = ("away", "up", "down", "free")


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
        metadata={"help": "announced radius, or a column; none: a round number from twice the largest level"},
    )
    lowest: str | None = field(
        default=None, metadata={"help": "column of least values to publish; none: half a radius below"}
    )
    highest: str | None = field(
        default=None, metadata={"help": "column of largest values to publish; none: half a radius above"}
    )
    sensitive: str = field(
        default="away",
        metadata={
            "help": "where sensitive cells go: away (past a level, up or down), up (highest), down (lowest), "
            "free, or a column of values"
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

    def model(self, problem: Problem) -> Model:
        """Variables, windows, constraints and loss."""
        return alone(self, problem).model

    def protect(self, problem: Problem, run: Run | None = None) -> Release:
        """A nearby table that adds up and protects every sensitive cell against every attacker."""
        run = start_run(problem, run)
        remedy = (
            "Announce a larger radius, widen the bounds, allow more changed cells, or free sensitive ones."
        )
        return settle(alone(self, problem), {"method": self.name, "options": asdict(self)}, run, remedy)

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
        bounds = self._bounds(problem, cells)
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
        changes = _Changes(at, up, down, room_up, room_down)
        self._set_apart(draft, changes.of(np.flatnonzero(sensitive[at])), given, step)
        self._count(draft, changes)

    def _count(self, draft: Draft, changes: _Changes) -> None:
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

    def _set_apart(self, draft: Draft, changes: _Changes, given: Units | None, step: int) -> None:
        """Send sensitive cells where they are asked to go."""
        up, down, room_up, room_down = changes.up, changes.down, changes.room_up, changes.room_down
        places = {"up": room_up, "down": -room_down}
        change = places.get(self.sensitive, None if given is None else given // step)
        if change is not None:
            draft.require([(up, 1.0), (down, -1.0)], lower=change, upper=change)
        if change is not None or self.sensitive == "free":
            return
        levels = draft.problem.levels
        far_up, far_down = (
            np.maximum(1, -(-level[changes.cells] // step)) for level in (levels.upper, levels.lower)
        )
        if (stuck := np.flatnonzero((room_up < far_up) & (room_down < far_down))).size:
            raise InfeasibleError(
                f"({draft.problem.table.name(int(changes.cells[stuck[0]]))}) cannot be moved past either of "
                "its levels: widen its bounds, announce a larger radius, or let it be 'free'"
            )
        goes_up = draft.variables(up.size, 0.0, upper=room_up >= far_up, lower=room_down < far_down)
        draft.require([(up, 1.0), (goes_up, -far_up)], lower=0.0)
        draft.require([(up, 1.0), (goes_up, -room_up)], upper=0.0)
        draft.require([(down, 1.0), (goes_up, far_down)], lower=far_down)
        draft.require([(down, 1.0), (goes_up, room_down)], upper=room_down)

    def _bounds(self, problem: Problem, cells: Mask) -> _Bounds:
        table = problem.table
        known_low, known_high = problem.outsider.lower, problem.outsider.upper
        lowest = None if self.lowest is None else column_units(problem, self.lowest, "lowest")
        highest = None if self.highest is None else column_units(problem, self.highest, "highest")
        if self.radius is not None:
            radius = amounts(problem, self.radius, "radius")
        elif lowest is not None and highest is not None:
            radius = highest - lowest
        else:
            radius = np.full(len(table), round_number(2 * largest_level(problem) // table.unit) * table.unit)
        radius = np.where(cells & ~problem.must_publish & (known_low < known_high), radius, 0)
        half = radius // (2 * table.unit) * table.unit
        lowest = table.units - half if lowest is None else lowest
        highest = table.units + half if highest is None else highest
        wrong = np.flatnonzero((radius > 0) & ((lowest > table.units) | (highest < table.units)))
        if wrong.size:
            raise InputError(
                f"({table.name(int(wrong[0]))}): the value lies outside of 'lowest' to 'highest'; widen them"
            )
        below = table.units - np.maximum(lowest, np.maximum(known_low, -UNBOUNDED // 2))
        above = np.minimum(highest, known_high) - table.units
        return _Bounds(radius, np.minimum(above, radius), np.minimum(below, radius))

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
class _Changes:
    """Cells with the variables that move them up and down, and the room of each, in steps."""

    cells: Cells
    up: Cells
    down: Cells
    room_up: Units
    room_down: Units

    def of(self, which: Cells) -> _Changes:
        return _Changes(
            self.cells[which], self.up[which], self.down[which], self.room_up[which], self.room_down[which]
        )
