"""The optimisation problem of rounding: cells, bases, goal, and the number of bases beyond the neighbours.

It is solved as a search for the nearest table where nothing is sensitive, and else as a model of the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacita.core.errors import InfeasibleError, InputError, StoppedError
from tacita.core.exact import Cells, Mask, Units
from tacita.core.outcome import Outcome
from tacita.core.release import Mark
from tacita.core.run import Run
from tacita.core.words import pluralize
from tacita.methods.modelling.model_builder import ModelBuilder
from tacita.methods.protection.known_sums import KnownSum
from tacita.methods.rounding.bases import FREE, ReaderKnowledge
from tacita.methods.rounding.goal import RoundingGoal
from tacita.methods.rounding.lattice import Lattice, build_lattice
from tacita.methods.rounding.nearest_table import find_nearest
from tacita.methods.rounding.subtotals import Subtotal, add_subtotals, find_neighbours, find_smallest_conflict
from tacita.problem.problem import Problem

CLOSED = (
    "closed windows, as in the literature: readers who know that the truth is less than a base away can rule "
    "out their ends; switch strict on for what they know"
)
ASSUMED = "assuming that readers know the windows and nothing of how numbers were rounded"
EXACT = (
    "readers learn which numbers are exact: they can rule out that any other cell is the number published "
    "for it, which no window says and no audit sees"
)


@dataclass(frozen=True, eq=False)
class RoundingTask:
    """Cells to round, their bases, and the goal.

    Attributes
    ----------
    readers
        What readers know besides the bases.
    beyond
        Bases that a cell may go beyond its neighbours.
    fewest
        Whether the number of such steps is minimised before all distance.
    given
        Values of some cells; None where there are none.
    at_most
        Limit on the number of rounded cells, the others being published as they are; None: all are rounded.
    """

    problem: Problem
    cells: Mask
    base: Units
    goal: RoundingGoal
    groups: Sequence[Subtotal]
    readers: ReaderKnowledge
    beyond: int
    fewest: bool
    given: Units | None = None
    at_most: int | None = None

    @cached_property
    def _own(self) -> Lattice:
        """The lattice of multiples that the rounding may publish, without subtotals."""
        return build_lattice(
            self.problem,
            self.base,
            self.goal,
            self.cells,
            self.readers.movable_multiples,
            self.beyond,
            self.fewest,
            self._fixed_values,
        )

    @cached_property
    def _fixed_values(self) -> Units | None:
        """Values that the rounding has fixed: given ones, and nearest multiples that readers expect;
        ``FREE`` for the others and where two multiples are equally near. None: no value is fixed.
        """
        if self.readers.nearest is None:
            return self.given
        units, given = self.problem.table.units, self.given
        above = units % self.base
        near = units - above + np.where(2 * above > self.base, self.base, 0)
        sure = self.readers.nearest & self.cells & ~self.problem.must_publish & (2 * above != self.base)
        return np.where(sure, near, FREE if given is None else given)

    @cached_property
    def points(self) -> Lattice:
        """The lattice of multiples that the rounding may publish, with subtotals."""
        return add_subtotals(self._own, self.problem.table, self.groups)

    @cached_property
    def radius(self) -> Units:
        """The radius that the rounding announces, in units: one for all cells of a base, needed or not."""
        table = self.problem.table
        reach = self.readers.reach(self.base, table.unit) + self.beyond * self.base
        if self.readers.nearest is not None:
            reach = np.where(self.readers.nearest, self.readers.reach(self.base, table.unit), reach)
        known = self.problem.must_publish | ~self.cells
        if not self.readers.movable_multiples and not self.beyond:
            # Rounding to a single step changes nothing, which everyone knows.
            known |= self.base == table.unit
        if self.readers.exact_multiples and not self.beyond:
            known |= table.units % self.base == 0
        return np.where(known, 0, reach)

    @property
    def is_lexicographic(self) -> bool:
        """Whether something counts before a rounding's distance, so that search costs are not losses."""
        return self.fewest or self.goal.top is not None

    def add_to_model(self, builder: ModelBuilder) -> None:
        """Add the variables, windows and rows of the rounding task to a model."""
        for remark in self.describe_readers():
            builder.add_remark(remark, ASSUMED)
        if self.at_most is not None:
            self._add_counted(builder, self.at_most)
            return
        points, at = self._own, np.flatnonzero(self.cells)
        builder.show_numbers(at, Mark.ROUNDED, self.radius[at], (points.low - self.problem.table.units)[at])
        builder.constant += points.constant
        taken = builder.add_variables(points.cell.size, points.cost)
        builder.move_numbers(points.cell, taken, self.base[points.cell])
        for group in self.groups:
            self._add_subtotal(builder, taken, group)

    def _add_counted(self, builder: ModelBuilder, at_most: int) -> None:
        """Add the rounding task to a model where only some cells are rounded.

        Readers see from a number that is no multiple of its base that it was not rounded. So its window has
        no width unless one of two binary variables, up or down, opens it; multiples have theirs in any case.
        """
        problem, units, radius = self.problem, self.problem.table.units, self.radius
        floor = units // self.base * self.base
        builder.show_numbers(np.flatnonzero(self.cells), Mark.ROUNDED, radius[self.cells])
        at = np.flatnonzero(self.cells & ~problem.must_publish & (units > floor) & (radius > 0))
        builder.close_windows(at)
        choices = []
        for end in (floor + self.base, floor):
            move = (end - units)[at]
            taken = builder.add_variables(
                at.size, self.goal.of(at, move), upper=self._may_become(at, end[at])
            )
            builder.move_numbers(at, taken, move)
            builder.open_windows(at, taken, radius[at])
            choices.append((taken, 1.0))
        sure = 0.0 if self.given is None else (self.given[at] != FREE).astype(np.float64)
        builder.add_rows(choices, lower=sure, upper=1.0)
        builder.limit_sum(np.concatenate([taken for taken, _ in choices]), -np.inf, at_most)

    def _may_become(self, at: Cells, value: Units) -> Mask:
        """Return whether the rounding may publish each of these cells as ``value``."""
        if self._fixed_values is None:
            return np.ones(at.size, dtype=bool)
        return np.asarray((self._fixed_values[at] == FREE) | (self._fixed_values[at] == value))

    def _add_subtotal(self, builder: ModelBuilder, taken: Cells, group: Subtotal) -> None:
        """Add the rows to a model that leave the rounding two values for a subtotal."""
        if not self.cells[group.cells].all():
            raise InputError(
                f"subtotal ({group.name}) adds up cells that are not rounded", remedy="leave them out"
            )
        floor, base = find_neighbours(self.problem.table, self.base, group)
        steps = np.flatnonzero(np.isin(self._own.cell, group.cells))
        one = float(self.base[group.cells[0]])
        least = (floor - float(self._own.low[group.cells].sum())) / one
        builder.limit_sum(taken[steps], least, least + base / one)
        builder.add_known_sum(self._known_sum(group))

    def make_outcome(self, value: Units, proven: bool, bound: float, run: Run) -> Outcome:
        """Return a rounding's loss, bound and remarks, such as on cells beyond their neighbours."""
        loss = self.goal.total(value - self.problem.table.units)
        if proven:
            bound = loss
        elif self.is_lexicographic:
            bound = self._loss_bound
        return Outcome(
            run.judge(proven, loss, bound),
            loss,
            min(bound, loss),
            run.seconds,
            (*self.describe_readers(), *self._distance_remarks(value)),
        )

    @property
    def _loss_bound(self) -> float:
        """A lower bound on the loss of the rounding: every cell at its cheapest multiple."""
        if (top := self.goal.top) is not None:
            above = int(self.problem.table.units[top] % self.base[top]) if self.radius[top] else 0
            return min(above, int(self.base[top]) - above) / self.goal.one / self.goal.inner
        move = self.readers.movable_multiples
        free = build_lattice(self.problem, self.base, self.goal, self.cells, move, self.beyond)
        return free.constant + float(np.minimum(free.cost, 0.0).sum())

    def describe_readers(self) -> tuple[str, ...]:
        """Return remarks on what readers of the rounding know beyond the windows."""
        readers = self.readers
        closed = not (readers.strict or readers.movable_multiples) and bool(self.radius.any())
        exact = readers.exact_multiples and not self.beyond and bool(self.radius.any())
        return (CLOSED,) * closed + (EXACT,) * exact

    def list_known_sums(self) -> list[KnownSum]:
        """Return the sums that readers of a rounding know to within a base if they know its subtotals."""
        return [self._known_sum(group) for group in self.groups]

    def _known_sum(self, group: Subtotal) -> KnownSum:
        # A subtotal that is a multiple does not change, whether or not its cells may move.
        reach = int(self.base[group.cells[0]]) - self.problem.table.unit * self.readers.strict
        return KnownSum(group.name, group.cells, reach)

    def _distance_remarks(self, value: Units) -> tuple[str, ...]:
        table = self.problem.table
        above = value - table.units // self.base * self.base
        movable = (table.units % self.base == 0) & self.readers.movable_multiples
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

    def explain_infeasible(self, run: Run) -> InfeasibleError:
        """Return the error for a rounded table that is proven not to exist."""
        table = self.problem.table
        how = "no table of multiples next to the values"
        if self.beyond:
            bases = "a base" if self.beyond == 1 else f"{self.beyond} bases"
            how = f"no table of multiples within {bases} of the neighbours"
        try:
            if self.groups and find_nearest(self._own, table.structure, run) is not None:
                return self._explain_conflict(how, run)
        except StoppedError:
            return InfeasibleError(
                f"{how} adds up and keeps all subtotals",
                remedy="leave some out, or allow more time to find out which",
            )
        if self.given is not None:
            return InfeasibleError(
                f"{how} adds up with the values that are given",
                remedy="leave some of them empty, or change the base",
            )
        frozen = np.flatnonzero(self.problem.must_publish & (table.units % self.base != 0))
        if frozen.size:
            return InfeasibleError(
                f"{how} adds up while {table.structure.names(frozen)} must be published",
                remedy="take it off those that must be published, or use a base that divides it",
            )
        more = self.beyond + 1
        return InfeasibleError(
            f"{how} adds up: this is proven",
            remedy=f"Let cells go farther with more steps ({more}), or change the base",
            options=(f"steps={more}",),
        )

    def explain_without_levels(self, run: Run) -> InfeasibleError | None:
        """Return the error for a rounded table that does not exist even without levels, or None."""
        try:
            none = find_nearest(self.points, self.problem.table.structure, run) is None
        except StoppedError:
            return None
        return self.explain_infeasible(run) if none else None

    def _explain_conflict(self, how: str, run: Run) -> InfeasibleError:
        conflict = find_smallest_conflict(self.groups, lambda some: self._is_feasible_with(some, run))
        if len(conflict) == 1:
            return InfeasibleError(
                f"{how} keeps the subtotal ({conflict[0].name}) within a base", remedy="leave it out"
            )
        names = "; ".join(f"({group.name})" for group in conflict[:10])
        more = f" and {len(conflict) - 10} more" if len(conflict) > 10 else ""
        return InfeasibleError(
            f"{how} keeps all of these subtotals within a base, though without any one of them the "
            f"others can be kept: {names}{more}",
            remedy="Leave one out.",
        )

    def _is_feasible_with(self, groups: Sequence[Subtotal], run: Run) -> bool:
        points = add_subtotals(self._own, self.problem.table, groups)
        return find_nearest(points, self.problem.table.structure, run) is not None
