"""One question of rounding: these cells, these bases, this goal, so many bases beyond the neighbours.

Both ways to answer it start here: the search for the nearest table where nothing is sensitive, and the model
for the engine where something is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacita.core.errors import InputError, StoppedError
from tacita.core.exact import Cells, Mask, Units
from tacita.core.outcome import Outcome, Status
from tacita.core.release import Mark
from tacita.core.run import Run
from tacita.core.words import pluralize
from tacita.methods.drafting.draft import Draft
from tacita.methods.moving.sums import KnownSum
from tacita.methods.rounding.bases import Told
from tacita.methods.rounding.given import FREE
from tacita.methods.rounding.goal import Goal
from tacita.methods.rounding.lattice import Lattice, lattice
from tacita.methods.rounding.nearest import nearest
from tacita.methods.rounding.subtotals import Subtotal, neighbours, smallest_conflict, watched
from tacita.problem.problem import Problem

CLOSED = (
    "closed windows, as in the literature: readers who know that the truth is less than a base away can rule "
    "out their ends; switch strict on for what they know"
)
ASSUMED = "assuming that readers know the windows and nothing of how numbers were rounded"
EXACT = (
    "readers are told which numbers are exact: they can rule out that any other cell is the number published "
    "for it, which no window says and no audit sees"
)


@dataclass(frozen=True, eq=False)
class RoundingQuestion:
    """What to round, to what, and what to keep small.

    Attributes
    ----------
    told
        What readers know besides the bases.
    beyond
        Bases that a cell may go beyond its neighbours.
    fewest
        As few such steps as can be, before all distance.
    given
        Values that some cells have; None where there are none.
    at_most
        How many cells may be rounded, the others being published as they are; None: all are rounded.
    """

    problem: Problem
    cells: Mask
    base: Units
    goal: Goal
    groups: Sequence[Subtotal]
    told: Told
    beyond: int
    fewest: bool
    given: Units | None = None
    at_most: int | None = None

    @cached_property
    def _own(self) -> Lattice:
        """The lattice without subtotals."""
        return lattice(
            self.problem,
            self.base,
            self.goal,
            self.cells,
            self.told.movable_multiples,
            self.beyond,
            self.fewest,
            self._settled,
        )

    @cached_property
    def _settled(self) -> Units | None:
        """Values that are given, and the multiples of cells that show the nearest; ``FREE`` for the others
        and where two multiples are equally near. None: nothing is settled.
        """
        if self.told.nearest is None:
            return self.given
        units, given = self.problem.table.units, self.given
        above = units % self.base
        near = units - above + np.where(2 * above > self.base, self.base, 0)
        sure = self.told.nearest & self.cells & ~self.problem.must_publish & (2 * above != self.base)
        return np.where(sure, near, FREE if given is None else given)

    @cached_property
    def points(self) -> Lattice:
        """All that may be published."""
        return watched(self._own, self.problem.table, self.groups)

    @cached_property
    def radius(self) -> Units:
        """What is announced: the same for all cells of a base, whether they needed it or not."""
        table = self.problem.table
        reach = self.told.reach(self.base, table.unit) + self.beyond * self.base
        if self.told.nearest is not None:
            reach = np.where(self.told.nearest, self.told.reach(self.base, table.unit), reach)
        known = self.problem.must_publish | ~self.cells
        if not self.told.movable_multiples and not self.beyond:
            # Rounding to a single step changes nothing, as everyone can tell.
            known |= self.base == table.unit
        if self.told.exact_multiples and not self.beyond:
            known |= table.units % self.base == 0
        return np.where(known, 0, reach)

    @property
    def in_order_of_rank(self) -> bool:
        """Whether something counts more than all distance, so that a search's cost is not the loss."""
        return self.fewest or self.goal.top is not None

    def state(self, draft: Draft) -> None:
        """The question as a part of the engine's model."""
        for remark in self.about_readers():
            draft.remark(remark, ASSUMED)
        if self.at_most is not None:
            self._state_counted(draft, self.at_most)
            return
        points, at = self._own, np.flatnonzero(self.cells)
        draft.show(at, Mark.ROUNDED, self.radius[at], (points.low - self.problem.table.units)[at])
        draft.constant += points.constant
        taken = draft.variables(points.cell.size, points.cost)
        draft.move(points.cell, taken, self.base[points.cell])
        for group in self.groups:
            self._keep(draft, taken, group)

    def _state_counted(self, draft: Draft, at_most: int) -> None:
        """State the question where only some cells are rounded.

        A number that is no multiple of its base shows that it was not rounded. So its window has no width,
        unless one of the binary variables ``up`` and ``down`` opens it; multiples have theirs in any case.
        """
        problem, units, radius = self.problem, self.problem.table.units, self.radius
        floor = units // self.base * self.base
        draft.show(np.flatnonzero(self.cells), Mark.ROUNDED, radius[self.cells])
        at = np.flatnonzero(self.cells & ~problem.must_publish & (units > floor) & (radius > 0))
        draft.close(at)
        ways = []
        for end in (floor + self.base, floor):
            move = (end - units)[at]
            taken = draft.variables(at.size, self.goal.of(at, move), upper=self._may_become(at, end[at]))
            draft.move(at, taken, move)
            draft.open(at, taken, radius[at])
            ways.append((taken, 1.0))
        sure = 0.0 if self.given is None else (self.given[at] != FREE).astype(np.float64)
        draft.require(ways, lower=sure, upper=1.0)
        draft.bracket(np.concatenate([taken for taken, _ in ways]), -np.inf, at_most)

    def _may_become(self, at: Cells, value: Units) -> Mask:
        """Return whether cells may be published as ``value``."""
        if self._settled is None:
            return np.ones(at.size, dtype=bool)
        return np.asarray((self._settled[at] == FREE) | (self._settled[at] == value))

    def _keep(self, draft: Draft, taken: Cells, group: Subtotal) -> None:
        """Two values for a subtotal."""
        if not self.cells[group.cells].all():
            raise InputError(f"subtotal ({group.name}) adds up cells that are not rounded: leave them out")
        floor, base = neighbours(self.problem.table, self.base, group)
        steps = np.flatnonzero(np.isin(self._own.cell, group.cells))
        one = float(self.base[group.cells[0]])
        least = (floor - float(self._own.low[group.cells].sum())) / one
        draft.bracket(taken[steps], least, least + base / one)
        draft.keep_sum(self._known_sum(group))

    def outcome(self, value: Units, proven: bool, bound: float, seconds: float) -> Outcome:
        """Loss and bound as the user understands them, and which cells went beyond their neighbours."""
        loss = self.goal.reported(value - self.problem.table.units)
        if proven:
            bound = loss
        elif self.in_order_of_rank:
            bound = self._least
        status = Status.OPTIMAL if proven else Status.FEASIBLE
        return Outcome(
            status, loss, min(bound, loss), seconds, (*self.about_readers(), *self._farther(value))
        )

    @property
    def _least(self) -> float:
        """What the goal loses when every cell goes where it likes best."""
        if (top := self.goal.top) is not None:
            above = int(self.problem.table.units[top] % self.base[top]) if self.radius[top] else 0
            return min(above, int(self.base[top]) - above) / self.goal.one / self.goal.inner
        move = self.told.movable_multiples
        free = lattice(self.problem, self.base, self.goal, self.cells, move, self.beyond)
        return free.constant + float(np.minimum(free.cost, 0.0).sum())

    def about_readers(self) -> tuple[str, ...]:
        """What readers know beyond the windows of these options."""
        told = self.told
        closed = not (told.strict or told.movable_multiples) and bool(self.radius.any())
        exact = told.exact_multiples and not self.beyond and bool(self.radius.any())
        return (CLOSED,) * closed + (EXACT,) * exact

    def known_sums(self) -> list[KnownSum]:
        """The sums that readers who know the subtotals know to within a base."""
        return [self._known_sum(group) for group in self.groups]

    def _known_sum(self, group: Subtotal) -> KnownSum:
        # A subtotal that is a multiple stays, whether or not its cells may move.
        reach = int(self.base[group.cells[0]]) - self.problem.table.unit * self.told.strict
        return KnownSum(group.name, group.cells, reach)

    def _farther(self, value: Units) -> tuple[str, ...]:
        table = self.problem.table
        above = value - table.units // self.base * self.base
        movable = (table.units % self.base == 0) & self.told.movable_multiples
        top = self.base * ((table.units % self.base > 0) | movable)
        beyond = np.flatnonzero((self.radius > 0) & ((above < -self.base * movable) | (above > top)))
        if not beyond.size:
            return ()
        lie = pluralize(beyond.size, "cell lies", "cells lie")
        safe = " and protects" if len(self.problem.sensitive) else ""
        return (
            f"no table of neighbouring multiples adds up{safe}: {lie} farther from the "
            f"truth, {table.structure.names(beyond)}; the announced radius allows for it",
        )

    def why_none(self, run: Run) -> str:
        """What to tell when there is no such table: it is proven, and the remedy."""
        table = self.problem.table
        how = "no table of multiples next to the values"
        if self.beyond:
            bases = "a base" if self.beyond == 1 else f"{self.beyond} bases"
            how = f"no table of multiples within {bases} of the neighbours"
        try:
            if self.groups and nearest(self._own, table.structure, run) is not None:
                return self._conflict(how, run)
        except StoppedError:
            return (
                f"{how} adds up and keeps all subtotals: leave some out, or allow more time to find out which"
            )
        if self.given is not None:
            return (
                f"{how} adds up with the values that are given: leave some of them empty, or change the base"
            )
        frozen = np.flatnonzero(self.problem.must_publish & (table.units % self.base != 0))
        if frozen.size:
            return (
                f"{how} adds up while {table.structure.names(frozen)} must be published: take it off those "
                "that must be published, or use a base that divides it"
            )
        more = f"more steps ({self.beyond + 1})"
        return f"{how} adds up: this is proven. Let cells go farther with {more}, or change the base"

    def why_none_at_all(self, run: Run) -> str:
        """The same where levels are to be kept; nothing where it is for them that there is no such table."""
        try:
            none = nearest(self.points, self.problem.table.structure, run) is None
        except StoppedError:
            return ""
        return self.why_none(run) if none else ""

    def _conflict(self, how: str, run: Run) -> str:
        blamed = smallest_conflict(self.groups, lambda some: self._can_keep(some, run))
        if len(blamed) == 1:
            return f"{how} keeps the subtotal ({blamed[0].name}) within a base: leave it out"
        names = "; ".join(f"({group.name})" for group in blamed[:10])
        more = f" and {len(blamed) - 10} more" if len(blamed) > 10 else ""
        return (
            f"{how} keeps all of these subtotals within a base, though without any one of them the "
            f"others can be kept: {names}{more}. Leave one out."
        )

    def _can_keep(self, groups: Sequence[Subtotal], run: Run) -> bool:
        points = watched(self._own, self.problem.table, groups)
        return nearest(points, self.problem.table.structure, run) is not None
