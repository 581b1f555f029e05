"""Cell perturbation: numbers near the true ones that add up, with an announced radius.

    min  sum_i w+_i z+_i + w-_i z-_i (+ w_i x_i)
    s.t. v = a + z+ - z-,   M v = b,   lowest <= v <= highest,   v_p set apart for sensitive cells p,
         every sensitive cell meets its levels against every attacker who knows v_i - r_i <= y_i <= v_i + r_i

``r`` is the announced radius and never smaller than ``|v - a|``. Without further constraints ``v = a`` is
optimal, so sensitive cells are moved away from their values: past one of their levels by a secret random
amount, on a side that the model chooses, or to given values. Cells may move by the whole radius, so that
readers who know the method deduce no more than it. Where ``lowest`` and ``highest`` are given everyone is
assumed to know them. In the literature's model (``readers="radius"``) they lie half a radius from the value,
as in ``r = highest - lowest``, and nobody knows them. ``v`` stays within the outsider's bounds. Binary
``x_i`` count cells with ``v_i != a_i``.

Changes are multiples of a step of the table, or, where radii exceed 10,000 steps, of a power of ten of it:
numbers add up exactly, and large values cause no rounding errors in solvers.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from tacita.core.errors import InfeasibleError, InputError, LevelsError
from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask, Units
from tacita.core.heartbeat import with_heartbeat
from tacita.core.release import Mark, Release
from tacita.core.run import Run
from tacita.engine.model import Model
from tacita.methods.measuring import measure_shown_changes
from tacita.methods.method import check_words, option
from tacita.methods.modelling.first_numbers import find_first_numbers
from tacita.methods.modelling.model_builder import ModelBuilder, build_alone
from tacita.methods.modelling.solve_release import solve_with_draws
from tacita.methods.options.distances import (
    ASSUMED,
    DISTANCE_HELP,
    EXACT,
    FEWEST_STEPS,
    NONE_DRAWN,
    Distance,
    Draws,
    find_largest_levels,
)
from tacita.methods.options.per_cell import (
    choose_scale,
    find_largest_level,
    find_round_number,
    read_amounts,
    read_column,
    read_weights,
)
from tacita.methods.resumption import resumable
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

    radius: float | str | None = option(
        None,
        "how far numbers may be changed, which readers learn: a number, or a column; empty: a round "
        "number from three times the largest protection level",
        main=True,
    )
    lowest: str | None = option(
        None, "column of the least number that each cell may show; empty: the value minus the radius"
    )
    highest: str | None = option(
        None, "column of the largest number that each cell may show; empty: the value plus the radius"
    )
    sensitive: str = option(
        "away",
        "where sensitive cells go: away (past a protection level, up or down), up, down, free, or a "
        "column of values",
    )
    weight_up: str = option(
        "cost",
        "loss for each unit by which a cell is raised: cost (the cost of the cell), unit (1), inverse "
        "(1/value), or a column",
    )
    weight_down: str = option("cost", "loss for each unit by which a cell is lowered: as for weight up")
    weight_changed: str | None = option(
        None, "loss for each cell that is changed: as for weight up; empty: none"
    )
    at_most: int | None = option(None, "the most cells that may be changed; empty: no limit", main=True)
    distance: Distance = option("drawn", DISTANCE_HELP)
    readers: Literal["method", "radius"] = option(
        "method",
        "what readers are assumed to know. method: how far cells are moved, lowest and highest; radius: "
        "how far a number can be from the truth, and no more, as in the literature, where cells move by "
        "half of it",
    )

    def __post_init__(self) -> None:
        check_words(self)

    def model(self, problem: Problem, run: Run | None = None) -> Model:
        """Return the engine's model of a perturbation, with the distances that the run draws."""
        return build_alone(self, self._with_known_columns(problem), Draws((run or Run()).seed)).model

    @with_heartbeat("preparing")
    @resumable
    def protect(self, problem: Problem, run: Run | None = None) -> Release:
        """Return a perturbed table that adds up and protects all sensitive cells against all attackers."""
        run = start_run(problem, run)
        remedy = (
            "Announce a larger radius, widen the bounds, allow more changed cells, or free sensitive ones."
        )
        known, made_by = self._with_known_columns(problem), {"method": self.name, "options": asdict(self)}
        release = solve_with_draws(
            lambda draws: build_alone(self, known, draws),
            made_by,
            run,
            remedy,
            None if self.at_most is not None else lambda draws: find_first_numbers,
        )
        columns = "the columns 'lowest' and 'highest' of a perturbation"
        return release if known is problem else replace(release, alone=columns)

    def _with_known_columns(self, problem: Problem) -> Problem:
        """Return the problem in which everyone knows a perturbation's columns of least and largest values,
        if they are assumed to.
        """
        if self.readers == "radius" or (self.lowest is None and self.highest is None):
            return problem
        lowest, highest = self._read_limits(problem)
        # Cells that do not change need no limits.
        moves = ~problem.must_publish
        try:
            return problem.with_everyone_knowing(
                np.where(moves & (lowest <= problem.table.units), lowest, -UNBOUNDED),
                np.where(moves & (highest >= problem.table.units), highest, UNBOUNDED),
            )
        except LevelsError as error:
            fault = f"{COLUMNS_KNOWN}, and with them levels cannot be met. {error}"
            raise InfeasibleError(fault, options=error.options) from None

    def _read_limits(self, problem: Problem) -> tuple[Units, Units]:
        """Return the least and largest values that a perturbation may publish, by columns or unbounded."""
        n = len(problem.table)
        lowest, highest = np.full(n, -UNBOUNDED), np.full(n, UNBOUNDED)
        if self.lowest is not None:
            lowest = read_column(problem, self.lowest, "lowest")
        if self.highest is not None:
            highest = read_column(problem, self.highest, "highest")
        return lowest, highest

    def loss(self, problem: Problem, release: Release) -> float:
        """Return the loss of a perturbation: weighted changes, and the cost of changed cells, if any."""
        return float(self.cell_losses(problem, release).sum())

    def cell_losses(self, problem: Problem, release: Release, cells: Mask | None = None) -> Floats:
        """Return the part of every cell (or of each of some ``cells``) in the loss of a perturbation."""
        change = measure_shown_changes(problem, release, cells) / 10.0**problem.table.decimals
        up, down = (read_weights(problem, getattr(self, name), name) for name in ("weight_up", "weight_down"))
        each = up * np.maximum(change, 0.0) + down * np.maximum(-change, 0.0)
        if self.weight_changed is not None:
            each += np.where(change != 0, read_weights(problem, self.weight_changed, "weight_changed"), 0.0)
        return np.asarray(each)

    def add_to_model(self, builder: ModelBuilder, cells: Mask) -> None:
        """Add the perturbation of some cells to a model."""
        problem = builder.problem
        known, everyone = self._with_known_columns(problem).outsider, problem.outsider
        if (known.lower > everyone.lower).any() or (known.upper < everyone.upper).any():
            raise InputError(
                COLUMNS_KNOWN, remedy="in a mixture take 'radius' for the option 'readers' if nobody does"
            )
        bounds = self._bounds(problem, cells)
        self._add_remarks(builder, cells)
        sensitive = problem.levels.sensitive
        given = self._read_given(problem, np.flatnonzero(cells & sensitive), bounds)
        step = choose_scale(problem, int(bounds.radius.max(initial=0)), FINE)
        while step > problem.table.unit and given is not None and (given % step).any():
            step //= 10
        shown = np.flatnonzero(cells)
        builder.show_numbers(shown, Mark.ADJUSTED, bounds.radius[shown])
        at = np.flatnonzero(cells & ((bounds.above + bounds.below >= step) | sensitive))
        worth = step / 10.0**problem.table.decimals
        room_up, room_down = bounds.above[at] // step, bounds.below[at] // step
        up = builder.add_variables(
            at.size, read_weights(problem, self.weight_up, "weight_up")[at] * worth, room_up
        )
        down = builder.add_variables(
            at.size, read_weights(problem, self.weight_down, "weight_down")[at] * worth, room_down
        )
        builder.move_numbers(at, up, step)
        builder.move_numbers(at, down, -step)
        changes = _PerturbedCells(at, up, down, room_up, room_down)
        apart = changes.of(np.flatnonzero(sensitive[at]))
        self._move_sensitive(builder, apart, given, bounds.radius[apart.cells], step)
        self._count_changes(builder, changes)

    def _count_changes(self, builder: ModelBuilder, changes: _PerturbedCells) -> None:
        """Add binary variables for perturbed cells to a model, where these are limited or have a cost."""
        weight = self.weight_changed
        if self.at_most is None and weight is None:
            return
        cost = (
            0.0 if weight is None else read_weights(builder.problem, weight, "weight_changed")[changes.cells]
        )
        changed = builder.add_variables(changes.cells.size, cost)
        builder.add_rows([(changes.up, 1.0), (changed, -changes.room_up)], upper=0.0)
        builder.add_rows([(changes.down, 1.0), (changed, -changes.room_down)], upper=0.0)
        if self.at_most is not None:
            builder.limit_sum(changed, -np.inf, self.at_most)

    def _move_sensitive(
        self, builder: ModelBuilder, changes: _PerturbedCells, given: Units | None, radius: Units, step: int
    ) -> None:
        """Add the rows to a model that perturb sensitive cells away from their values."""
        up, down, room_up, room_down = changes.up, changes.down, changes.room_up, changes.room_down
        place, change = self.sensitive, None if given is None else given // step
        if self.distance == "exact" and place in ("up", "down"):
            change = room_up if place == "up" else -room_down
        if change is not None:
            builder.add_rows([(up, 1.0), (down, -1.0)], lower=change, upper=change)
        if change is not None or place == "free" or not changes.cells.size:
            return
        least = _LeastChanges.of(builder.problem, changes, radius, step, self._draws(builder))
        rises, falls = least.rises & (place != "down"), least.falls & (place != "up")
        if (stuck := np.flatnonzero(~rises & ~falls)).size:
            cell = int(changes.cells[stuck[0]])
            raise InfeasibleError(
                f"({builder.problem.table.name(cell)}) cannot be moved past "
                f"{'either' if place == 'away' else 'the one'} of its levels",
                remedy="widen its bounds, announce a larger radius, or let it be 'free'",
                options=["sensitive=free", "radius"],
                cell=cell,
            )
        goes_up = builder.add_variables(up.size, 0.0, upper=rises, lower=~falls)
        builder.add_rows([(up, 1.0), (goes_up, -least.up)], lower=0.0)
        builder.add_rows([(up, 1.0), (goes_up, -room_up)], upper=0.0)
        builder.add_rows([(down, 1.0), (goes_up, least.down)], lower=least.down)
        builder.add_rows([(down, 1.0), (goes_up, room_down)], upper=room_down)
        builder.drawn |= self._draws(builder).share > 0

    def _draws(self, builder: ModelBuilder) -> Draws:
        return NONE_DRAWN if self.distance == "exact" else builder.draws

    def _add_remarks(self, builder: ModelBuilder, cells: Mask) -> None:
        """Add remarks on what readers of a perturbation must not know, and on random distances."""
        if self.readers == "radius":
            builder.add_remark(HALF, ASSUMED)
        if not (cells & builder.problem.levels.sensitive).any():
            return
        if self.sensitive == "free":
            builder.add_remark(FREE, ASSUMED)
        elif self.sensitive in PLACES:
            for text in self._draws(builder).remarks if self.distance == "drawn" else (EXACT,):
                builder.add_remark(text, ASSUMED if text == EXACT else "")

    def _bounds(self, problem: Problem, cells: Mask) -> _Bounds:
        table = problem.table
        known_low, known_high = problem.outsider.lower, problem.outsider.upper
        lowest, highest = self._read_limits(problem)
        radius = self._choose_radius(problem, lowest, highest)
        radius = np.where(cells & ~problem.must_publish & (known_low < known_high), radius, 0)
        # In the literature cells move by half of the radius, which readers must not know.
        far = radius if self.readers == "method" else radius // (2 * table.unit) * table.unit
        lowest = table.units - far if self.lowest is None else lowest
        highest = table.units + far if self.highest is None else highest
        wrong = np.flatnonzero((radius > 0) & ((lowest > table.units) | (highest < table.units)))
        if wrong.size:
            raise InputError(
                "the value lies outside of 'lowest' to 'highest'",
                place=f"({table.name(int(wrong[0]))})",
                remedy="widen them",
                options=["lowest", "highest"],
                cell=int(wrong[0]),
            )
        below = table.units - np.maximum(lowest, np.maximum(known_low, -UNBOUNDED // 2))
        above = np.minimum(highest, known_high) - table.units
        return _Bounds(radius, np.minimum(above, radius), np.minimum(below, radius))

    def _choose_radius(self, problem: Problem, lowest: Units, highest: Units) -> Units:
        """Return the radius that a perturbation announces per cell, in units, even where none changes."""
        table = problem.table
        if self.radius is not None:
            return read_amounts(problem, self.radius, "radius")
        if self.lowest is not None and self.highest is not None:
            wide = highest - lowest
            # A radius of its own for each cell would disclose the columns.
            return (
                wide if self.readers == "radius" else np.full(len(table), _choose_round_radius(problem, wide))
            )
        level = find_largest_level(problem)
        most = 0 if self.distance == "exact" else max(level, FEWEST_STEPS * table.unit)
        least = 2 * (level + most) if self.readers == "radius" else 2 * level + most
        return np.full(len(table), _choose_round_radius(problem, np.array([least])))

    def _read_given(self, problem: Problem, sensitive: Cells, bounds: _Bounds) -> Units | None:
        """Return given changes of sensitive cells in a perturbation; None where the model chooses them."""
        if self.sensitive in PLACES:
            return None
        change = (read_column(problem, self.sensitive, "sensitive") - problem.table.units)[sensitive]
        far = (change > bounds.above[sensitive]) | (-change > bounds.below[sensitive])
        if (wrong := np.flatnonzero(far)).size:
            raise InputError(
                f"column '{self.sensitive}' asks for a value out of its bounds or farther than its radius",
                place=f"({problem.table.name(int(sensitive[wrong[0]]))})",
                remedy="widen them or ask for less",
                cell=int(sensitive[wrong[0]]),
            )
        return np.asarray(change)


@dataclass(frozen=True, eq=False)
class _Bounds:
    """The announced radius, and how far above and below its value each cell may be published, in units."""

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
class _LeastChanges:
    """The least moves of sensitive cells up and down, in steps, and whether each is possible."""

    up: Units
    down: Units
    rises: Mask
    falls: Mask

    @classmethod
    def of(
        cls, problem: Problem, changes: _PerturbedCells, radius: Units, step: int, draws: Draws
    ) -> _LeastChanges:
        """Return least perturbations past the largest levels of all attackers, and by random amounts as far
        as there is room: the window must still contain the opposite level.
        """
        lower, upper = (level[changes.cells] for level in find_largest_levels(problem))
        more = draws.draw_amounts(problem, step)[changes.cells] // step
        up, down = (np.maximum(1, -(-level // step)) for level in (upper, lower))
        spare_up = np.minimum(changes.room_up, (radius - lower) // step) - up
        spare_down = np.minimum(changes.room_down, (radius - upper) // step) - down
        more_up, more_down = (np.clip(spare, 0, more) for spare in (spare_up, spare_down))
        return cls(up + more_up, down + more_down, spare_up >= 0, spare_down >= 0)


def _choose_round_radius(problem: Problem, least: Units) -> int:
    """Return a perturbation's radius: the first round number of steps not below any of these units."""
    step = problem.table.unit
    return find_round_number(-(-int(least.max(initial=0)) // step)) * step
