"""Controlled rounding with protection: every cell is published as a multiple of its base next to its value.

    min  sum_i w_i |v_i - a_i|^p
    s.t. v_i = floor_i + r_i x_i,  x_i in {0, 1},   M v = b,
         every sensitive cell keeps its levels against every attacker who knows v_i - r_i <= y_i <= v_i + r_i

``r_i`` is the base, and 0 where the value is a multiple of it: such a cell is published as it is. The loss is
linear in ``x``: a constant ``sum w (a - floor)^p`` and, per cell, what rounding up costs more. A window of
width ``2 r`` holds a value with both its levels only if ``2 r >= LPL + UPL``; this is checked first.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import ClassVar

import numpy as np

from tacita import exact
from tacita.engine.model import Model
from tacita.errors import InfeasibleError, InputError
from tacita.exact import Mask, Units
from tacita.levels import Levels
from tacita.methods.draft import Draft, Stated, alone
from tacita.methods.per_cell import amounts, round_number, weights
from tacita.methods.settle import settle
from tacita.problem import Problem, Requirement
from tacita.release import Mark, Release
from tacita.run import Run

MOST_BASES = 10_000
"""Bases tried when the smallest one that can work is looked for."""


@dataclass(frozen=True)
class Rounding:
    """Round every cell up or down to a multiple of a base, so that the table still adds up."""

    name: ClassVar[str] = "rounding"

    base: float | str | None = field(
        default=None,
        metadata={"help": "base, or a column of bases; none: the first of 1, 2, 5, 10, ... that can protect"},
    )
    power: float = field(default=1.0, metadata={"help": "p of the loss sum |v - a|^p, 1 or more"})
    weight: str = field(
        default="unit", metadata={"help": "weight of a cell in the loss: cost, unit, inverse, or a column"}
    )
    protected: bool = field(default=True, metadata={"help": "keep the protection levels; no: only round"})

    def __post_init__(self) -> None:
        if not self.power >= 1:
            raise InputError(f"option 'power' is {self.power:g}; a distance needs a power of 1 or more")

    def model(self, problem: Problem) -> Model:
        """Variables, windows, constraints and loss."""
        return self._stated(problem).model

    def protect(self, problem: Problem, run: Run | None = None) -> Release:
        """A rounded table that adds up and protects every sensitive cell against every attacker."""
        remedy = "Try another base, a mixture that rounds only some of the cells, or another method."
        return settle(self._stated(problem), {"method": self.name, "options": asdict(self)}, run, remedy)

    def _stated(self, problem: Problem) -> Stated:
        if not self.protected:
            problem = Problem(
                problem.table,
                Levels.none(len(problem.table)),
                problem.outsider,
                cost=problem.cost,
                must_publish=np.flatnonzero(problem.must_publish).tolist(),
                must_hide=np.flatnonzero(problem.must_hide).tolist(),
            )
        return alone(self, problem)

    def state(self, draft: Draft, cells: Mask) -> None:
        """The method for some cells."""
        problem, units = draft.problem, draft.problem.table.units
        base = self._bases(problem, cells)
        if self.protected:
            refuse_small_bases(problem, base, cells)
        floor = units // base * base
        radius = np.where((units == floor) | problem.must_publish, 0, base)
        at = np.flatnonzero(cells)
        moved = np.where(radius > 0, floor - units, 0)
        draft.show(at, Mark.ROUNDED, radius[at], moved[at])
        at = np.flatnonzero(cells & (radius > 0))
        one = 10.0**problem.table.decimals
        down, up = ((distance / one) ** self.power for distance in (units - floor, floor + base - units))
        weight = weights(problem, self.weight, "weight")
        draft.constant += float((weight * down)[at].sum())
        rounds_up = draft.variables(at.size, (weight * (up - down))[at])
        draft.move(at, rounds_up, radius[at])

    def _bases(self, problem: Problem, cells: Mask) -> Units:
        if self.base is None:
            return np.full(len(problem.table), _round_base(problem, cells))
        base = amounts(problem, self.base, "base")
        if (wrong := np.flatnonzero(cells & (base == 0))).size:
            raise InputError(f"option 'base' is zero for ({problem.table.name(int(wrong[0]))}): use more")
        return np.where(cells, base, 1)


def refuse_small_bases(problem: Problem, base: Units, cells: Mask) -> None:
    """Raise where the window of a sensitive cell cannot hold its levels, whichever way it is rounded."""
    table = problem.table
    for need in problem.requirements():
        wrong = np.flatnonzero(cells[need.cells] & ~_can_work(problem, need, base[need.cells]))
        if not wrong.size:
            continue
        p = int(wrong[0])
        cell = int(need.cells[p])
        width = max(int(need.lower[p] + need.upper[p]), int(need.sliding[p]))
        if table.units[cell] % base[cell] == 0:
            why = "its value is a multiple of the base, so it would be published as it is"
        elif 2 * base[cell] < width:
            why = f"the window is twice the base, its levels need {exact.text(width, table.decimals)}"
        else:
            why = "neither neighbour of its value leaves room for both its levels"
        raise InfeasibleError(
            f"({table.name(cell)}) cannot be protected against {need.attacker} by rounding to "
            f"{exact.text(int(base[cell]), table.decimals)}: {why}. {_remedy(problem, cells)}"
        )


def _can_work(problem: Problem, need: Requirement, base: Units) -> Mask:
    """Whether the window around one of the two neighbours holds every level of a cell."""
    above = problem.table.units[need.cells] % base
    down = (base - above >= need.upper) & (above + base >= need.lower)
    up = (2 * base - above >= need.upper) & (above >= need.lower)
    return np.asarray((above > 0) & (2 * base >= need.sliding) & (down | up))


def _works(problem: Problem, base: int, cells: Mask, needs: list[Requirement]) -> bool:
    return all(
        bool((_can_work(problem, need, np.full(need.cells.size, base)) | ~cells[need.cells]).all())
        for need in needs
    )


def _least_base(problem: Problem, cells: Mask, needs: list[Requirement]) -> int:
    """Half of what the levels of some cell need, in whole steps."""
    step = problem.table.unit
    width = max(
        (
            int(np.maximum(need.lower + need.upper, need.sliding)[cells[need.cells]].max(initial=0))
            for need in needs
        ),
        default=0,
    )
    return max(step, -(-width // (2 * step)) * step)


def _largest_base(problem: Problem, least: int) -> int:
    """Beyond the largest value with its levels no larger base helps: every value lies next to 0."""
    return int(np.abs(problem.table.units).max(initial=0)) + 2 * least


def _remedy(problem: Problem, cells: Mask) -> str:
    needs, step = list(problem.requirements()), problem.table.unit
    least = _least_base(problem, cells, needs)
    most = min(_largest_base(problem, least), least + MOST_BASES * step)
    for base in range(least, most + step, step):
        if _works(problem, base, cells, needs):
            return f"The smallest base that can work is {exact.text(base, problem.table.decimals)}."
    return f"No base below {exact.text(most, problem.table.decimals)} can work; use another method for it."


def _round_base(problem: Problem, cells: Mask) -> int:
    """The smallest of 1, 2, 5, 10, .. steps that can work for every sensitive cell; else the largest tried,
    which is refused by name.
    """
    needs, step = list(problem.requirements()), problem.table.unit
    least = _least_base(problem, cells, needs)
    steps = round_number(least // step)
    while not _works(problem, steps * step, cells, needs) and steps * step <= _largest_base(problem, least):
        steps = round_number(steps + 1)
    return steps * step
