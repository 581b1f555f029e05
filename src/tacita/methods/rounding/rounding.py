"""Controlled rounding: every cell is published as a multiple of its base next to its value, and all add up.

    min  sum_i w_i |v_i - a_i|^p      or another goal
    s.t. v_i in { floor_i, floor_i + r_i },   M v = b,
         every sensitive cell meets its levels against every attacker who knows v_i - r_i < y_i < v_i + r_i

``r_i`` is the base. A multiple of it stays; which cells those are is not published, unless multiples are
``exact``. So the truth is less than a base away, and that is the window; ``strict=no`` takes the closed one
of the literature, which is a step wider on both sides than what readers know.

The loss is linear in the choice between the two neighbours. One- and two-dimensional tables, also with a
hierarchy in one dimension, always have such a rounding, and a cheapest flow finds the best one; other tables
need an integer program. With levels, the engine searches.

From three dimensions on there may be no such rounding. Then, if ``steps`` allows it, some cells go farther
from their value by whole bases, and the announced radius grows accordingly.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from tacita.core.errors import InfeasibleError, InputError
from tacita.core.exact import Floats, Mask
from tacita.core.heartbeat import with_heartbeat
from tacita.core.levels import Levels
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.core.words import pluralize
from tacita.engine.model import Model
from tacita.methods.measuring import measure_shown_changes
from tacita.methods.method import check_words, option
from tacita.methods.modelling.first_numbers import find_first_numbers
from tacita.methods.modelling.model_builder import ModelBuilder, ReleaseModel, refuse_published_secrets
from tacita.methods.modelling.solve_release import solve_release
from tacita.methods.protection.known_sums import find_missed_with_sums
from tacita.methods.resumption import resumable
from tacita.methods.rounding.bases import (
    ReaderKnowledge,
    choose_bases,
    is_made_of_levels,
    read_given,
    refuse_small_bases,
)
from tacita.methods.rounding.goal import RoundingGoal, parse_goal
from tacita.methods.rounding.nearest_table import find_nearest
from tacita.methods.rounding.rounding_task import ASSUMED, RoundingTask
from tacita.methods.rounding.subtotals import Sums, format_subtotals, parse_subtotals
from tacita.problem.problem import Problem, start_run

Multiples = Literal["stay", "exact", "move"]
Relax = Literal["fewest", "cheapest"]
MOST_STEPS = 100
CHOSEN = (
    "the base was chosen by the program, as the first round number that has room for all levels: this tells "
    "readers that the one before has not. For publication give a base that was not chosen by the values"
)
MADE_OF_LEVELS = (
    "the base is no round number, and a base one step smaller does not protect: readers who notice learn "
    "how much room the levels need. For publication give a round base that was not chosen by the values"
)


@dataclass(frozen=True)
class Rounding:
    """Round every cell up or down to a multiple of a base, so that the table still adds up."""

    name: ClassVar[str] = "rounding"
    does: ClassVar[str] = (
        "Rounds every cell up or down to a multiple of a base, as near to its value as can be, so that "
        "the table still adds up and stays protected."
    )
    choose: ClassVar[str] = (
        "Choose it for counts, where small changes everywhere are better than gaps. Not when levels "
        "are large beside the values: no base below half their sum protects, and often it takes a larger one."
    )

    base: float | str | None = option(
        None,
        "numbers are rounded to multiples of the base: a number such as 5, or a column with a base for "
        "each cell; empty: the smallest of 1, 2, 5, 10, ... units of the last place that can protect the "
        "table (5 if nothing is sensitive)",
        main=True,
    )
    objective: str = option(
        "distance",
        "what is as small as possible: distance (all changes together), mean (the change of the mean), "
        "or a column with a weight for each change",
    )
    power: float = option(
        1.0,
        "changes count with this power: 1 for their sum, 2 for the sum of their squares, which avoids "
        "large ones",
    )
    weight: str = option(
        "unit",
        "how much the change of a cell counts: unit (all alike), cost (the cost of the cell), inverse "
        "(1/value), or a column",
    )
    margins: bool = option(True, "whether changes of totals count too")
    multiples: Multiples = option(
        "stay",
        "cells that are a multiple of the base already. stay: unchanged, though readers are not told; "
        "exact: unchanged, and the release says so; move: may go up or down by one base",
    )
    strict: bool = option(
        True,
        "readers know that the true number is less than one base away; no: they may think it exactly one"
        " base away too, as in the literature",
    )
    steps: int = option(
        0,
        "by how many further bases a cell may be moved where rounding to the next multiples gives no "
        "table that adds up",
    )
    relax: Relax = option(
        "fewest",
        "which cells are moved further then: as few as possible (fewest), or those of least distance "
        "(cheapest)",
    )
    subtotals: str | Sums | None = option(
        None,
        "subtotals that must stay within one base too, as in 'region=A+B; region=C+D, sex=f|m'; empty: none",
    )
    given: str | None = option(None, "column of rounded values that some cells get; empty: all are chosen")
    at_most: int | None = option(
        None, "the most cells that may be rounded, the others being published as they are; empty: no limit"
    )
    protected: bool = option(
        True, "protect the sensitive cells up to their levels; no: only round", main=True
    )

    def __post_init__(self) -> None:
        if self.subtotals is not None and not isinstance(self.subtotals, str):
            object.__setattr__(self, "subtotals", format_subtotals(self.subtotals))
        check_words(self)
        if not 1 <= self.power < np.inf:
            raise InputError(f"option 'power' is {self.power:g}; a distance needs a power of 1 or more")
        if not 0 <= self.steps <= MOST_STEPS:
            raise InputError(f"option 'steps' is {self.steps}; cells can go 0 to {MOST_STEPS} bases farther")
        if self.at_most is None:
            return
        others = {
            "steps": self.steps > 0,
            "subtotals": self.subtotals is not None,
            "multiples": self.multiples != "stay",
            "objective": self.objective == "mean",
        }
        if clash := [name for name, used in others.items() if used]:
            raise InputError(
                f"option 'at_most': where only some cells are rounded, '{clash[0]}' has no meaning",
                remedy="use one of both",
            )

    def model(self, problem: Problem) -> Model:
        """Return the engine's model of the rounding: variables, windows, constraints and loss."""
        everything = np.ones(len(problem.table), dtype=bool)
        return self._build_model(self._make_task(problem, everything, 0)).model

    @with_heartbeat("preparing")
    @resumable
    def protect(self, problem: Problem, run: Run | None = None) -> Release:
        """Return the release of a rounded table that adds up and, if ``protected``, meets all levels."""
        run = start_run(problem, run)
        stripped = problem if self.protected else _drop_levels(problem)
        try:
            release = self._round(stripped, 0, run)
        except InfeasibleError:
            if not self.steps:
                raise
            release = self._round(stripped, self.steps, run)
        return self._add_remarks(problem, release, run)

    def _add_remarks(self, problem: Problem, release: Release, run: Run) -> Release:
        """Return the rounded release with remarks on what readers know besides its windows."""
        remarks = []
        if self.protected and len(problem.sensitive):
            if self.base is None:
                remarks.append(CHOSEN)
            elif is_made_of_levels(problem, self.base, self._describe_readers(problem)):
                remarks.append(MADE_OF_LEVELS)
        if self.subtotals is not None and not self.protected and len(problem.sensitive):
            sums = self._make_task(
                _drop_levels(problem), np.ones(len(problem.table), dtype=bool), 0
            ).list_known_sums()
            missing = np.unique(find_missed_with_sums(problem, release, sums, run).cell)
            if missing.size:
                remarks.append(
                    "a reader who knows which subtotals are kept can deduce more than the audit says of "
                    f"{problem.table.structure.names(missing)}: leave subtotals out, or use a larger base"
                )
        outcome = release.outcome
        if outcome is None or not remarks:
            return release
        return replace(release, outcome=replace(outcome, remarks=(*outcome.remarks, *remarks)))

    def loss(self, problem: Problem, release: Release) -> float:
        """Return the loss of a rounding: its distance from the true numbers, or the goal instead of it."""
        return self._goal(problem).total(measure_shown_changes(problem, release))

    def cell_losses(self, problem: Problem, release: Release, cells: Mask | None = None) -> Floats:
        """Return the part of every cell (or of each of some ``cells``) in a rounding's loss, if a sum."""
        return self._goal(problem).of(
            np.arange(len(problem.table)), measure_shown_changes(problem, release, cells)
        )

    def _goal(self, problem: Problem) -> RoundingGoal:
        return parse_goal(problem, self.objective, self.power, self.weight, self.margins)

    def add_to_model(self, builder: ModelBuilder, cells: Mask) -> None:
        """Add the rounding of some cells of a mixture to a model, which sums losses and meets levels."""
        if self.objective == "mean":
            raise InputError(
                "option 'objective': 'mean' comes before all distance, which a part of a mixture cannot",
                remedy="use 'distance' or a column there",
            )
        if self.steps:
            raise InputError(
                "option 'steps': in a mixture all rounded cells stay next to their values",
                remedy="leave it out",
            )
        if not self.protected:
            raise InputError(
                "option 'protected': a mixture keeps the levels of all cells", remedy="leave it out"
            )
        self._make_task(builder.problem, cells, 0).add_to_model(builder)

    def _round(self, problem: Problem, beyond: int, run: Run) -> Release:
        task = self._make_task(problem, np.ones(len(problem.table), dtype=bool), beyond)
        if task.is_lexicographic:
            # A gap between search costs says little about losses: the search goes on to the proof.
            run = replace(run, gap=0.0)
        if self.at_most is None and not any(need.cells.size for need in problem.requirements()):
            return self._round_to_nearest(task, run)
        made_by = {"method": self.name, "options": asdict(self)}
        remedy = (
            f"Try another base, more steps ({beyond + 1}), a mixture that rounds only some of the cells, or "
            "another method."
            if self.at_most is None
            else f"Allow more than {pluralize(self.at_most, 'rounded cell')}, or try another base."
        )
        try:
            start = find_first_numbers if self.at_most is None else None
            release = solve_release(self._build_model(task), made_by, run, remedy, start)
        except InfeasibleError as error:
            why = None if self.at_most is not None else task.explain_without_levels(run)
            raise why or error from None
        found = release.outcome
        if found is None:
            return release
        outcome = task.make_outcome(release.value, bool(found.status), found.bound, run)
        return replace(release, outcome=outcome)

    def _round_to_nearest(self, task: RoundingTask, run: Run) -> Release:
        """Return the release of the cheapest rounded table, where nothing is sensitive."""
        problem = task.problem
        refuse_published_secrets(problem, task.radius == 0)
        found = find_nearest(task.points, problem.table.structure, run)
        if found is None:
            raise task.explain_infeasible(run)
        outcome = task.make_outcome(found.value, found.proven, found.bound, run)
        return Release.rounded(
            problem.table,
            found.value,
            task.radius,
            made_by={"method": self.name, "options": asdict(self)},
            outcome=outcome,
            assumption=ASSUMED if task.describe_readers() else "",
        )

    def _find_nearest_alone(self, problem: Problem) -> Mask | None:
        """Return the cells in no sum, which are rounded to their nearest multiple, as every reader knows;
        None where there are none, or where options rule that out.
        """
        goal, alone = self._goal(problem), np.ones(len(problem.table), dtype=bool)
        alone[problem.table.equations.cells] = False
        if not self.strict or goal.slope is not None or self.given is not None or not alone.any():
            return None
        return alone & (goal.weight > 0)

    def _build_model(self, task: RoundingTask) -> ReleaseModel:
        builder = ModelBuilder(task.problem)
        task.add_to_model(builder)
        return builder.build()

    def _describe_readers(self, problem: Problem) -> ReaderKnowledge:
        """Return what readers of a rounding know besides its base."""
        moves, nearest = self.multiples == "move", self._find_nearest_alone(problem)
        return ReaderKnowledge(self.multiples == "exact", moves, self.strict, nearest)

    def _make_task(self, problem: Problem, cells: Mask, beyond: int) -> RoundingTask:
        readers = self._describe_readers(problem)
        base = choose_bases(problem, self.base, cells, readers)
        if self.protected and not beyond:
            refuse_small_bases(problem, base, cells, readers)
        groups = () if self.subtotals is None else parse_subtotals(problem.table, str(self.subtotals))
        return RoundingTask(
            problem,
            cells,
            base,
            self._goal(problem),
            groups,
            readers,
            beyond,
            self.relax == "fewest" and beyond > 0,
            None if self.given is None else read_given(problem, self.given, base, cells),
            self.at_most,
        )


def _drop_levels(problem: Problem) -> Problem:
    """Return the problem of a rounding that need not protect: the same with nothing sensitive."""
    return Problem(
        problem.table,
        Levels.none(len(problem.table)),
        ["outsider", problem.outsider],
        cost=problem.cost,
        must_publish=np.flatnonzero(problem.must_publish).tolist(),
        must_hide=np.flatnonzero(problem.must_hide).tolist(),
    )
