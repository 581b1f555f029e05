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
from tacita.exact import UNBOUNDED, Cells, Mask, Units
from tacita.methods.draft import Draft, Stated
from tacita.methods.per_cell import amounts, column_units, largest_level, round_number, scale_for, weights
from tacita.methods.settle import settle
from tacita.problem import Problem
from tacita.release import Mark, Release
from tacita.run import Run

PLACES = ("away", "up", "down", "free")


@dataclass(frozen=True)
class Perturbation:
    """Publish a nearby table that adds up, and say how near."""

    name: ClassVar[str] = "perturbation"

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
        return self._stated(problem).model

    def protect(self, problem: Problem, run: Run | None = None) -> Release:
        """A nearby table that adds up and protects every sensitive cell against every attacker."""
        remedy = (
            "Announce a larger radius, widen the bounds, allow more changed cells, or free sensitive ones."
        )
        return settle(self._stated(problem), {"method": self.name, "options": asdict(self)}, run, remedy)

    def _stated(self, problem: Problem) -> Stated:
        draft = Draft(problem)
        self.state(draft, np.ones(len(problem.table), dtype=bool))
        return draft.finish()

    def state(self, draft: Draft, cells: Mask) -> None:
        """The method for some cells."""
        problem = draft.problem
        radius, below, above = self._bounds(problem, cells)
        sensitive = np.flatnonzero(cells & problem.levels.sensitive)
        given = self._given(problem, sensitive, below, above)
        step = scale_for(problem, int(radius.max(initial=0)))
        while (given % step).any() and step > problem.table.unit:
            step //= 10
        at = np.flatnonzero(cells)
        draft.show(at, Mark.ADJUSTED, radius[at])
        at = np.flatnonzero(cells & ((above + below >= step) | problem.levels.sensitive))
        most = [side[at] // step for side in (above, below)]
        worth = step / 10.0**problem.table.decimals
        up, down = (
            draft.variables(at.size, weights(problem, said, name)[at] * worth, high)
            for said, name, high in (
                (self.weight_up, "weight_up", most[0]),
                (self.weight_down, "weight_down", most[1]),
            )
        )
        draft.move(at, up, step)
        draft.move(at, down, -step)
        self._set_apart(draft, at, up, down, most, given, step)
        if self.at_most is not None or self.weight_changed is not None:
            said = self.weight_changed
            cost = 0.0 if said is None else weights(problem, said, "weight_changed")[at]
            changed = draft.variables(at.size, cost)
            draft.require([(up, 1.0), (changed, -most[0])], upper=0.0)
            draft.require([(down, 1.0), (changed, -most[1])], upper=0.0)
            if self.at_most is not None:
                draft.limit(changed, self.at_most)

    def _bounds(self, problem: Problem, cells: Mask) -> tuple[Units, Units, Units]:
        """Radius, and how far below and above its value each cell may be published, in units."""
        table = problem.table
        columns = [
            None if name is None else column_units(problem, name, option)
            for name, option in ((self.lowest, "lowest"), (self.highest, "highest"))
        ]
        known = (problem.outsider.lower, problem.outsider.upper)
        if self.radius is not None:
            radius = amounts(problem, self.radius, "radius")
        elif columns[0] is not None and columns[1] is not None:
            radius = columns[1] - columns[0]
        else:
            radius = np.full(len(table), round_number(2 * largest_level(problem) // table.unit) * table.unit)
        radius = np.where(cells & ~problem.must_publish & (known[0] < known[1]), radius, 0)
        half = radius // (2 * table.unit) * table.unit
        lowest = table.units - half if columns[0] is None else columns[0]
        highest = table.units + half if columns[1] is None else columns[1]
        wrong = np.flatnonzero((radius > 0) & ((lowest > table.units) | (highest < table.units)))
        if wrong.size:
            raise InputError(
                f"({table.name(int(wrong[0]))}): the value lies outside of 'lowest' to 'highest'; widen them"
            )
        below = np.minimum(table.units - np.maximum(lowest, np.maximum(known[0], -UNBOUNDED // 2)), radius)
        above = np.minimum(np.minimum(highest, known[1]) - table.units, radius)
        return radius, below, above

    def _given(self, problem: Problem, sensitive: Cells, below: Units, above: Units) -> Units:
        """Given changes of the sensitive cells; none where the model chooses."""
        if self.sensitive == "up":
            return above[sensitive]
        if self.sensitive == "down":
            return -below[sensitive]
        if self.sensitive in PLACES:
            return np.zeros(0, dtype=np.int64)
        change = (column_units(problem, self.sensitive, "sensitive") - problem.table.units)[sensitive]
        wrong = np.flatnonzero((change > above[sensitive]) | (-change > below[sensitive]))
        if wrong.size:
            raise InputError(
                f"({problem.table.name(int(sensitive[wrong[0]]))}): column '{self.sensitive}' asks for a "
                "value outside of its bounds or farther than its radius; widen them or ask for less"
            )
        return change

    def _set_apart(
        self, draft: Draft, at: Cells, up: Cells, down: Cells, most: list[Units], given: Units, step: int
    ) -> None:
        problem = draft.problem
        inside = np.flatnonzero(problem.levels.sensitive[at])
        if self.sensitive == "free" or not inside.size:
            return
        if given.size:
            change = given // step
            draft.require([(up[inside], 1.0), (down[inside], -1.0)], lower=change, upper=change)
            return
        levels = problem.levels
        far = [np.maximum(1, -(-level[at[inside]] // step)) for level in (levels.upper, levels.lower)]
        room = [side[inside] for side in most]
        stuck = np.flatnonzero((room[0] < far[0]) & (room[1] < far[1]))
        if stuck.size:
            raise InfeasibleError(
                f"({problem.table.name(int(at[inside[stuck[0]]]))}) cannot be moved past either of its "
                "levels: widen its bounds, announce a larger radius, or let it be 'free'"
            )
        goes_up = draft.variables(inside.size, 0.0, upper=room[0] >= far[0], lower=room[1] < far[1])
        draft.require([(up[inside], 1.0), (goes_up, -far[0])], lower=0.0)
        draft.require([(up[inside], 1.0), (goes_up, -room[0])], upper=0.0)
        draft.require([(down[inside], 1.0), (goes_up, far[1])], lower=far[1])
        draft.require([(down[inside], 1.0), (goes_up, room[1])], upper=room[1])
