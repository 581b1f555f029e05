"""Controlled tabular adjustment: a nearby table that adds up, in which sensitive cells have safe values.

    min  sum_i w_i phi(z_i)
    s.t. M z = 0,   -capacity_i <= z_i <= capacity_i,
         z_p >= UPL_p  or  z_p <= -LPL_p     for every sensitive cell p,

and ``v = a + z`` is published. ``phi`` is ``|z|``, ``z^2``, ``sqrt(delta^2 + z^2) - delta``, or the loss is
the largest ``w |z|``. The directions of sensitive cells are chosen first (``directions``), then the task is
convex (``convex``), and its solution in floats is rounded to integer units of the table (``integer``): every
sum, capacity and safe value is exact.

Sensitive cells go beyond their levels by secret random amounts; otherwise readers who know the rule could
narrow each to two values. A radius is announced around every number that may have changed. What readers can
deduce from it, and from the capacities, is checked against all levels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import ClassVar, Literal, cast

import numpy as np

from tacita.core import exact
from tacita.core.errors import InfeasibleError, InputError, StoppedError
from tacita.core.exact import Cells, Mask, Units
from tacita.core.heartbeat import with_heartbeat
from tacita.core.outcome import Outcome
from tacita.core.release import Mark, Release
from tacita.core.run import Run
from tacita.core.words import pluralize
from tacita.methods.adjustment.convex.solve_convex import solve_convex
from tacita.methods.adjustment.directions.choose_directions import Directions, How, choose_directions
from tacita.methods.adjustment.feasibility import (
    apply_shortfall,
    find_smallest_capacity,
    find_smallest_shortfall,
)
from tacita.methods.adjustment.integer.round_to_steps import round_to_steps
from tacita.methods.adjustment.radius import check_levels, choose_radius, find_capacity_limits
from tacita.methods.adjustment.statistics.measures import Keep, describe_changes, measure_changes, parse_keep
from tacita.methods.adjustment.statistics.preserve import (
    PreservingSolution,
    linearise_for_directions,
    preserve_statistics,
)
from tacita.methods.adjustment.task import AdjustmentSolution, AdjustmentTask, Norm
from tacita.methods.adjustment.task_options import (
    build_task,
    find_capacity_shares,
    parse_percentage,
    read_directions,
    restrict_directions,
)
from tacita.methods.measuring import measure_shown_changes
from tacita.methods.method import check_words, option
from tacita.methods.modelling.model_builder import refuse_published_secrets
from tacita.methods.options.distances import (
    ASSUMED,
    DISTANCE_HELP,
    EXACT,
    NONE_DRAWN,
    Distance,
    Draws,
    find_first_feasible,
)
from tacita.methods.options.per_cell import read_amounts
from tacita.problem.problem import Problem, start_run

BY_VALUE = "alternating by value"
SEARCHES = ("optimal", "greedy", "block", "alternating", BY_VALUE, "random")
WIDER = (1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)
"""Multiples of the smallest fractional capacity that are tried until integer steps are feasible."""
FEW, VERY_FEW = 100, 10
"""Sensitive cells up to which optimal directions are the default: in l1, in other norms."""
CHECKED = 1.0
"""Seconds beyond the time limit for which levels are still checked: the audit will check them all."""
NOISE = 1e-9
UNCHECKED = "the time was over before levels could be checked in full: the audit decides"
UNKNOWN = "what readers can deduce from the capacities was not checked (options 'readers' and 'protected')"
UNPROTECTED = "not protected: some sensitive cells stay nearer to their values than their levels ask for"
SUMS: Mapping[Norm, str] = {
    "l1": "sum of changes",
    "l2": "sum of their squares",
    "huber": "squares up to delta, then changes",
    "linf": "largest change",
}
"""The loss in each norm, in words."""


@dataclass(frozen=True)
class Adjustment:
    """Move sensitive cells to safe values and all others as little as the sums allow."""

    name: ClassVar[str] = "adjustment"
    does: ClassVar[str] = (
        "Moves each sensitive cell up or down to a safe value and all other cells by as little as the "
        "sums allow, measured by a norm of your choice."
    )
    choose: ClassVar[str] = (
        "Choose it when every cell must show a number that is as near as possible, when totals must "
        "stay, or when means, variances and correlations must be preserved. Not when published numbers must "
        "be true."
    )

    norm: Norm = option(
        "l1",
        "what is as small as possible: l1 (the sum of all changes), l2 (the sum of their squares), huber "
        "(squares of small changes, sums of large ones), or linf (the largest change)",
        main=True,
    )
    delta: float = option(0.001, "only for huber: about the size up to which changes count by their squares")
    weight: str = option(
        "unit",
        "how much the change of a cell counts: unit (all alike), inverse (1/value), root "
        "(1/sqrt(value)), cost (the cost of the cell), or a column",
    )
    directions: str = option(
        "auto",
        "which sensitive cells go up and which down: optimal, greedy, block, alternating (in the order of "
        "their least change), alternating by value, random, up, down, or a column of signs; auto: optimal "
        "for up to 100 sensitive cells (10 unless the norm is l1), else greedy",
    )
    capacity: float | str | None = option(
        None, "how far other cells may move: 20%, an amount, or a column; empty: no limit"
    )
    relaxed: float | str | None = option(
        None,
        "how far past its protection level a sensitive cell may go: 50% of the level, an amount, or a "
        "column; empty: as far as it helps",
    )
    totals: Literal["free", "fixed"] = option(
        "free", "whether totals may change (free) or stay as they are (fixed)", main=True
    )
    safe: Literal["auto", "levels", "zero"] = option(
        "auto",
        "where sensitive cells that go down end. levels: past their lower protection level; zero: at "
        "zero; auto: zero in tables of counts, else levels",
    )
    keep: str | Keep | None = option(
        None,
        "statistics to preserve, with the percent by which they may change: such as 'mean, "
        "variance=0.1, slope=0.1'; empty: none",
        main=True,
    )
    kept_cells: str | None = option(
        None, "column that marks the cells of these statistics; empty: all inner cells"
    )
    formulation: str = option(
        "auto",
        "which kind of program solves it, for experts: flow, linear, newton, quadratic or cones; auto: "
        "what suits the norm and the table",
    )
    shortfall: bool = option(
        False, "where cells cannot move far enough, give up as little protection as possible, and say so"
    )
    radius: float | str | None = option(
        None,
        "how far a number can be from the truth, which readers learn: a number, 20% of the number shown,"
        " or a column; empty: a round number",
    )
    protected: bool = option(True, "refuse a result that misses a protection level; no: only adjust")
    distance: Distance = option("drawn", DISTANCE_HELP)
    readers: Literal["method", "radius"] = option(
        "method",
        "what readers are assumed to know. method: how far other cells may move, too; radius: how far a "
        "number can be from the truth, and no more, as in the literature",
    )

    def __post_init__(self) -> None:
        if isinstance(self.keep, Keep):
            object.__setattr__(self, "keep", str(self.keep) or None)
        check_words(self)
        if not 0 < self.delta < np.inf:
            raise InputError(f"option 'delta' is {self.delta:g}; it must be more than 0, and finite")

    @with_heartbeat("preparing")
    def protect(self, problem: Problem, run: Run | None = None) -> Release:
        """Return the release of the adjusted table, with the radius announced around its numbers."""
        run = start_run(problem, run)

        def adjust(draws: Draws) -> Release:
            task = self.task(problem, draws)
            if draws.share:
                return self.make_release(problem, task, self._solve(problem, task, run), run, draws)
            return self.make_release(problem, task, self._solve_or_explain(problem, task, run), run)

        if self.distance == "exact" or not len(problem.sensitive):
            return adjust(NONE_DRAWN)
        return find_first_feasible(adjust, Draws(run.seed))

    def task(self, problem: Problem, draws: Draws = NONE_DRAWN) -> AdjustmentTask:
        """Return the optimisation problem of the adjustment, directions of sensitive cells still open."""
        radius = None
        if self.radius is not None and parse_percentage(self.radius) is None:
            radius = read_amounts(problem, self.radius, "radius")
        return build_task(
            problem,
            self.norm,
            self.delta,
            self.weight,
            self.capacity,
            self.relaxed,
            self.totals == "fixed",
            self.safe == "zero" or (self.safe == "auto" and problem.table.integer),
            draws.draw_amounts(problem, problem.table.unit) if draws.share else None,
            radius,
        )

    # ------------------------------------------------------------------ the changes

    def _solve(self, problem: Problem, task: AdjustmentTask, run: Run) -> IntegerChanges:
        """Return integer changes of the cells that meet the adjustment task."""
        directions = self.find_directions(problem, task, run)
        directed = task.directed(directions.up)
        solution = self._solve_directed(problem, directed, run)
        changes = round_changes(problem, directed, solution, directions, run)
        return replace(changes, remarks=self._describe_statistics(problem, changes.z))

    def _solve_or_explain(self, problem: Problem, task: AdjustmentTask, run: Run) -> IntegerChanges:
        """Return changes that meet the adjustment task, or on request fall short; else raise an error."""
        try:
            return self._solve(problem, task, run)
        except InfeasibleError as error:
            if self.keep is not None and replace(self, keep=None)._is_feasible(problem, task, run):
                # Only the statistics are infeasible: the message has tolerances that are not.
                raise
            if not self.shortfall:
                remedy, options = self._find_remedy(problem, run)
                raise error.with_remedy(remedy, *options) from None
        return self._solve_with_shortfall(problem, task, run)

    def _is_feasible(self, problem: Problem, task: AdjustmentTask, run: Run) -> bool:
        try:
            self._solve(problem, task, run)
        except InfeasibleError:
            return False
        return True

    def find_directions(self, problem: Problem, task: AdjustmentTask, run: Run) -> Directions:
        """Return the directions, up or down, of sensitive cells to adjust, and a lower bound on loss."""
        if task.choice is None:
            return Directions(np.zeros(0, dtype=bool), -np.inf, True)
        given = read_directions(problem, task.choice, self.directions)
        if given is not None:
            # Only these directions count: what is optimal with them is optimal.
            return replace(choose_directions(task, "fixed", run, given), bound=-np.inf, optimal=True)
        how = self.direction_search(task.choice.cells.size)

        def choose(task: AdjustmentTask) -> Directions:
            if how == BY_VALUE and task.choice is not None:
                sizes = np.abs(problem.table.units[task.choice.cells])
                return choose_directions(task, "alternating", run, sizes=sizes)
            return choose_directions(task, cast(How, how), run)

        first = choose(task)
        return (
            first
            if self.keep is None
            else self._choose_preserving_directions(problem, task, choose, first, run)
        )

    def direction_search(self, sensitive: int) -> str:
        """Return the name of the search that chooses adjustment directions for so many sensitive cells."""
        how = self.directions
        if how == "auto":
            few = FEW if self.norm == "l1" else VERY_FEW
            how = "optimal" if sensitive <= few else "greedy"
        if how not in SEARCHES:
            raise InputError(
                f"option 'directions': '{how}' is neither one of auto, {', '.join(SEARCHES)}, up, down nor a "
                "column of the table"
            )
        return how

    def _choose_preserving_directions(
        self,
        problem: Problem,
        task: AdjustmentTask,
        choose: Callable[[AdjustmentTask], Directions],
        first: Directions,
        run: Run,
    ) -> Directions:
        """Return adjustment directions chosen to preserve statistics, or ``first`` if none are found."""
        cells, values = self._statistics_cells(problem), problem.table.values
        try:
            z = solve_convex(task.directed(first.up), run, self.formulation).z
            side = linearise_for_directions(task, parse_keep(self.keep or ""), values, cells, z)
            up = choose(replace(task, side=side)).up
        except (InfeasibleError, StoppedError):
            return first
        # The bound holds for all directions; that of the first ones proves nothing about others.
        return replace(first, up=up, optimal=first.optimal and bool((up == first.up).all()))

    def _solve_directed(self, problem: Problem, directed: AdjustmentTask, run: Run) -> AdjustmentSolution:
        if self.keep is None:
            return solve_convex(directed, run.extended(), self.formulation)

        def solve(task: AdjustmentTask) -> AdjustmentSolution:
            # Only the first changes may take longer than the time limit; rounds improve them.
            return solve_convex(task, run.extended() if task is directed else run, self.formulation)

        keep, values = parse_keep(self.keep), problem.table.values
        return preserve_statistics(directed, keep, values, self._statistics_cells(problem), run, solve)

    def _describe_statistics(self, problem: Problem, z: Units) -> tuple[str, ...]:
        """Return at most one remark: how the adjusted numbers change the statistics to be preserved."""
        if self.keep is None:
            return ()
        before = problem.table.values
        after = before + z / 10.0**problem.table.decimals
        changed = measure_changes(before, after, self._statistics_cells(problem))
        return (describe_changes(changed, parse_keep(self.keep)),)

    def _statistics_cells(self, problem: Problem) -> Mask:
        if self.kept_cells is None:
            return ~problem.table.structure.is_total
        if self.kept_cells not in problem.table.columns:
            raise InputError(f"option 'kept_cells': the table has no column '{self.kept_cells}'")
        return np.array([_is_marked(entry) for entry in problem.table.columns[self.kept_cells]])

    def _solve_with_shortfall(self, problem: Problem, task: AdjustmentTask, run: Run) -> IntegerChanges:
        """Return integer changes of an adjustment within its capacities that give up least protection."""
        task = self._restrict(problem, task)
        short = find_smallest_shortfall(task, run)
        if short is None or task.choice is None:
            raise InfeasibleError("no table within these capacities adds up", remedy="widen them")
        eased = apply_shortfall(task, short)
        solution = self._solve_directed(problem, eased, run)
        changes = round_changes(problem, eased, solution, Directions(short.up, -np.inf, False), run)
        given_up = task.choice.cells[~task.choice.is_met(changes.z)]
        return replace(changes, remarks=self._describe_statistics(problem, changes.z), given_up=given_up)

    def _restrict(self, problem: Problem, task: AdjustmentTask) -> AdjustmentTask:
        """Return the adjustment task with only those directions open that the user's option gives."""
        given = None if task.choice is None else read_directions(problem, task.choice, self.directions)
        return task if given is None else restrict_directions(task, given)

    def _find_remedy(self, problem: Problem, run: Run) -> tuple[str, tuple[str, ...]]:
        """Return words on what makes the adjustment feasible, and the options to set for it."""
        if self.capacity is None:
            return "Let totals be free, ease the tolerances of statistics, or lower the levels.", ()
        try:
            enough = self._describe_sufficient_capacity(problem, self.capacity, run)
        except StoppedError:
            return "Allow a larger capacity, let totals be free, or lower the levels.", ()
        if enough is None:
            return "No capacity would do: let totals be free, or lower the levels.", ()
        return f"{enough}; or switch shortfall on to give up protection.", ("shortfall=yes",)

    def _describe_sufficient_capacity(self, problem: Problem, capacity: float | str, run: Run) -> str | None:
        """Return in words the least capacity that permits an adjustment, and the cells at it, or None."""
        loose = self._restrict(problem, replace(self, capacity=None).task(problem))
        fixed = (loose.lower == 0) & (loose.upper == 0)
        share = np.where(fixed, 0.0, find_capacity_shares(problem, capacity))
        enough = find_smallest_capacity(loose, share, run)
        if enough is None:
            return None
        least, in_steps = _format_capacity(problem, capacity, enough.amount), ""
        for more in WIDER:
            if run.over:
                break
            written = _format_capacity(problem, capacity, enough.amount * more, integer=True)
            wider = replace(self, capacity=written, shortfall=False)
            if wider._is_feasible(problem, wider.task(problem), run):
                in_steps = "" if written == least else f", in whole steps {written}"
                break
        start = "The smallest that works for all cells is" if enough.smallest else "Enough would be"
        if self.directions not in ("auto", "optimal", "up", "down", *problem.table.columns):
            start = f"With optimal directions {start[0].lower()}{start[1:]}"
        return f"{start} about {least}{in_steps} (binding: {problem.table.structure.names(enough.binding)})"

    # ------------------------------------------------------------------ the release

    def loss(self, problem: Problem, release: Release) -> float:
        """Return the loss of an adjusted release, in the norm and with the weights of the options."""
        return self.task(problem).loss(measure_shown_changes(problem, release))

    def make_release(
        self,
        problem: Problem,
        task: AdjustmentTask,
        found: IntegerChanges,
        run: Run,
        draws: Draws = NONE_DRAWN,
    ) -> Release:
        """Return the adjusted release of given changes, with its radius; raise if it misses a level."""
        table, z = problem.table, found.z
        moving = ~(problem.must_publish | (table.structure.is_total & (self.totals == "fixed")))
        radius = choose_radius(problem, self.radius, z, moving)
        # A cell without protection has only its change as radius: the audit would believe a larger one.
        radius[found.given_up] = np.abs(z[found.given_up])
        refuse_published_secrets(problem, radius == 0)
        short, checked = bool(found.given_up.size), True
        if self.protected and not short and len(problem.sensitive):
            limits = find_capacity_limits(problem, self.capacity, z) if self.readers == "method" else None
            check_levels(problem, z, radius, run.extended(CHECKED), limits)
            checked = not run.over
        loss = task.loss(z)
        proven = checked and loss <= found.bound + NOISE * abs(loss)
        bound = min(found.bound, loss) if np.isfinite(found.bound) else 0.0
        remarks = [f"{UNPROTECTED}: {table.structure.names(found.given_up)}"] if short else []
        remarks += [] if checked else [UNCHECKED]
        more, assumption = self._describe_readers(problem, draws, self.protected and checked and not short)
        return Release.rounded(
            table,
            table.units + z,
            radius,
            primary=problem.levels.sensitive,
            mark=Mark.ADJUSTED,
            made_by={"method": self.name, "options": asdict(self), **self._record_seed(draws, run)},
            outcome=Outcome(
                run.judge(proven, loss, bound),
                loss,
                bound,
                run.seconds,
                (*remarks, *found.remarks, *more, _describe_loss(task, found)),
            ),
            notice=UNPROTECTED if short else "",
            assumption=assumption,
            alone="the capacities of an adjustment" if self.capacity is not None and not assumption else "",
        )

    def _record_seed(self, draws: Draws, run: Run) -> dict[str, int]:
        """Return the seed to record with the adjusted release; empty if no random numbers were drawn."""
        return {"seed": run.seed} if draws.share or self.directions == "random" else {}

    def _describe_readers(self, problem: Problem, draws: Draws, checked: bool) -> tuple[tuple[str, ...], str]:
        """Return the adjusted release's remarks on distances and capacities, and its assumption on readers;
        ``checked``: levels were checked against readers who know the capacities.
        """
        if not len(problem.sensitive):
            return (), ""
        remarks = (EXACT,) if self.distance == "exact" else draws.remarks
        unknown = self.capacity is not None and (self.readers == "radius" or not checked)
        remarks += (UNKNOWN,) if unknown else ()
        return remarks, ASSUMED if unknown or EXACT in remarks else ""


@dataclass(frozen=True, eq=False)
class IntegerChanges:
    """Integer changes, the solution that they were rounded from, a lower bound on the loss of all changes,
    remarks, and the sensitive cells whose protection was given up.
    """

    z: Units
    solution: AdjustmentSolution
    bound: float
    remarks: tuple[str, ...] = ()
    given_up: Cells = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def round_changes(
    problem: Problem,
    directed: AdjustmentTask,
    solution: AdjustmentSolution,
    directions: Directions,
    run: Run,
) -> IntegerChanges:
    """Return an adjustment rounded to integer steps, which preserves statistics as far as steps allow.

    Rounding may take longer than the time limit, so that the solution is not lost.
    """
    if isinstance(solution, PreservingSolution):
        directed = replace(directed, side=solution.side)
    z = round_to_steps(directed, solution.z, problem.table.structure, run.extended())
    bound = max(directions.bound, solution.bound) if directions.optimal else directions.bound
    return IntegerChanges(z, solution, bound)


def _is_marked(entry: object) -> bool:
    """Return whether a column's entry marks its cell for preserved statistics; "no", 0, empty do not."""
    if isinstance(entry, float) and np.isnan(entry):
        return False
    return str(entry).strip().lower() not in ("", "0", "0.0", "no", "false", "none")


def _format_capacity(problem: Problem, like: float | str, amount: float, integer: bool = False) -> str:
    """Return a capacity of the adjustment as text in the form of ``like``: a percentage, or an amount."""
    if parse_percentage(like) is not None:
        return f"{100 * amount:.4g}%"
    if not integer:
        return f"{amount:.4g}"
    table = problem.table
    steps = int(np.ceil(amount * 10.0**table.decimals / table.unit))
    return exact.to_text(steps * table.unit, table.decimals)


def _describe_loss(task: AdjustmentTask, found: IntegerChanges) -> str:
    """Return a remark with the loss of the adjustment in every norm, and the formulation that solved it."""
    losses = ", ".join(
        f"{norm} {round(task.loss(found.z, norm), 4):.10g} ({meaning})" for norm, meaning in SUMS.items()
    )
    count, how = found.solution.iterations, found.solution.formulation
    # Flows do not count their iterations.
    iterations = f", {pluralize(count, 'iteration')}" if count else ""
    return f"the loss in every norm: {losses}; formulation: {how}{iterations}"
