"""One question of rounding: these cells, these bases, this goal, so many bases beyond the neighbours.

Both ways to answer it start here: the search for the nearest table where nothing is sensitive, and the model
for the engine where something is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from tacita.errors import InputError
from tacita.exact import Cells, Mask, Units
from tacita.methods.draft import Draft
from tacita.methods.goal import Goal
from tacita.methods.lattice import Lattice, lattice
from tacita.methods.nearest import nearest
from tacita.methods.subtotals import Subtotal, neighbours, smallest_conflict, watched
from tacita.outcome import Outcome, Status
from tacita.problem import Problem
from tacita.release import Mark
from tacita.run import Run

Multiples = Literal["stay", "exact", "move"]


@dataclass(frozen=True, eq=False)
class Question:
    """What to round, to what, and what to keep small.

    Attributes
    ----------
    strict
        Readers are told that the truth is less than the radius away.
    beyond
        Bases that a cell may go beyond its neighbours.
    fewest
        As few such steps as can be, before all distance.
    """

    problem: Problem
    cells: Mask
    base: Units
    goal: Goal
    groups: Sequence[Subtotal]
    multiples: Multiples
    strict: bool
    beyond: int
    fewest: bool

    @cached_property
    def _own(self) -> Lattice:
        """The lattice without subtotals."""
        return lattice(
            self.problem, self.base, self.goal, self.cells, self.multiples == "move", self.beyond, self.fewest
        )

    @cached_property
    def points(self) -> Lattice:
        """All that may be published."""
        return watched(self._own, self.problem.table, self.groups)

    @cached_property
    def radius(self) -> Units:
        """What is announced: the same for all cells of a base, whether they needed it or not."""
        table, reach = self.problem.table, (1 + self.beyond) * self.base
        known = self.problem.must_publish | ~self.cells
        if self.multiples != "move" and not self.beyond:
            # Rounding to a single step changes nothing, as everyone can tell.
            known |= self.base == table.unit
        if self.multiples == "exact" and not self.beyond:
            known |= table.units % self.base == 0
        return np.where(known, 0, reach - table.unit * self.strict)

    @property
    def in_order_of_rank(self) -> bool:
        """Whether something counts more than all distance, so that a search's cost is not the loss."""
        return self.fewest or self.goal.top is not None

    def state(self, draft: Draft) -> None:
        """The question as a part of the engine's model."""
        points, at = self._own, np.flatnonzero(self.cells)
        draft.show(at, Mark.ROUNDED, self.radius[at], (points.low - self.problem.table.units)[at])
        draft.constant += points.constant
        taken = draft.variables(points.cell.size, points.cost)
        draft.move(points.cell, taken, self.base[points.cell])
        for group in self.groups:
            self._keep(draft, taken, group)

    def _keep(self, draft: Draft, taken: Cells, group: Subtotal) -> None:
        """Two values for a subtotal."""
        if not self.cells[group.cells].all():
            raise InputError(f"subtotal ({group.name}) adds up cells that are not rounded: leave them out")
        floor, base = neighbours(self.problem.table, self.base, group)
        steps = np.flatnonzero(np.isin(self._own.cell, group.cells))
        one = float(self.base[group.cells[0]])
        least = (floor - float(self._own.low[group.cells].sum())) / one
        draft.bracket(taken[steps], least, least + base / one)

    def outcome(self, value: Units, proven: bool, bound: float, seconds: float) -> Outcome:
        """Loss and bound as the user understands them, and which cells went beyond their neighbours."""
        loss = self.goal.reported(value - self.problem.table.units)
        if proven:
            bound = loss
        elif self.in_order_of_rank:
            bound = self._least
        status = Status.OPTIMAL if proven else Status.FEASIBLE
        return Outcome(status, loss, min(bound, loss), seconds, self._remarks(value))

    @property
    def _least(self) -> float:
        """What the goal loses when every cell goes where it likes best."""
        units = self.problem.table.units
        each = np.arange(units.size)
        down = np.where(self.radius > 0, units // self.base * self.base, units)
        up = np.where(down < units, down + self.base, down)
        falls = self.goal.of(each, down - units) <= self.goal.of(each, up - units)
        return self.goal.reported(np.where(falls, down, up) - units)

    def _remarks(self, value: Units) -> tuple[str, ...]:
        table = self.problem.table
        above = value - table.units // self.base * self.base
        top = np.where(table.units % self.base > 0, self.base, self.base * (self.multiples == "move"))
        beyond = np.flatnonzero((self.radius > 0) & ((above < 0) | (above > top)))
        if not beyond.size:
            return ()
        plural = "cells lie" if beyond.size > 1 else "cell lies"
        return (
            f"no table of neighbouring multiples adds up: {beyond.size:,} {plural} farther from the truth, "
            f"{table.structure.names(beyond)}; the announced radius allows for it",
        )

    def why_none(self, run: Run) -> str:
        """What to tell when there is no such table: it is proven, and the remedy."""
        table = self.problem.table
        how = "no table of multiples next to the values"
        if self.beyond:
            how = f"no table of multiples within {self.beyond} bases of the neighbours"
        if self.groups and nearest(self._own, table.structure, run) is not None:
            blamed = smallest_conflict(self.groups, lambda some: self._can_keep(some, run))
            if len(blamed) == 1:
                return f"{how} keeps the subtotal ({blamed[0].name}) within a base: leave it out"
            names = "; ".join(f"({group.name})" for group in blamed[:10])
            more = f" and {len(blamed) - 10} more" if len(blamed) > 10 else ""
            return (
                f"{how} keeps all of these subtotals within a base, though without any one of them the "
                f"others can be kept: {names}{more}. Leave one out."
            )
        frozen = np.flatnonzero(self.problem.must_publish & (table.units % self.base != 0))
        if frozen.size:
            return (
                f"{how} adds up while {table.structure.names(frozen)} must be published: take it off "
                "must_publish, or use a base that divides it"
            )
        farther = f"steps={self.beyond + 1}"
        return f"{how} adds up: this is proven. Let cells go farther with {farther}, or change the base"

    def _can_keep(self, groups: Sequence[Subtotal], run: Run) -> bool:
        points = watched(self._own, self.problem.table, groups)
        return nearest(points, self.problem.table.structure, run) is not None
