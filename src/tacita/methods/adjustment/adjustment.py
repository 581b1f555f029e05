"""Controlled tabular adjustment: a nearby table that adds up, in which sensitive cells have safe values.

    min  sum_i w_i phi(z_i)
    s.t. M z = 0,   -capacity_i <= z_i <= capacity_i,
         z_p >= UPL_p  or  z_p <= -LPL_p     for every sensitive cell p,

and ``v = a + z`` is published. ``phi`` is ``|z|``, ``z^2``, ``sqrt(delta^2 + z^2) - delta``, or the loss is
the largest ``w |z|``. Which way the sensitive cells go is chosen first (``directions``), the rest is convex,
and what solvers find in floats becomes whole units of the table: every sum, capacity and safe value is exact.

Sensitive cells go beyond their levels by secret random amounts, or the table would leave two values of each
to whoever knows the rule. Readers are told a radius around every number that may have moved. What they can
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
from tacita.core.outcome import Outcome, Status
from tacita.core.release import Mark, Release
from tacita.core.run import Run
from tacita.core.words import pluralize
from tacita.methods.adjustment.announced import announced_radius, known_limits, refuse_missed
from tacita.methods.adjustment.convex.solve import adjusted
from tacita.methods.adjustment.directions.choose import Directions, How, chosen
from tacita.methods.adjustment.feasibility import lowered, smallest_capacity, smallest_shortfall
from tacita.methods.adjustment.integer.exactly import exactly
from tacita.methods.adjustment.stated_task import fixed_directions, only, percentage, shares, task_of
from tacita.methods.adjustment.statistics.keeping import AdjustedKeeping, keeping, rows_to_choose_by
from tacita.methods.adjustment.statistics.measures import Keep, changes, read_kept, told
from tacita.methods.adjustment.task import NORMS, Adjusted, AdjustmentTask, Norm
from tacita.methods.drafting.draft import refuse_open_secrets
from tacita.methods.measuring import shown_changes
from tacita.methods.options.distances import (
    ASSUMED,
    DISTANCE_HELP,
    EXACT,
    NONE_DRAWN,
    Distance,
    Draws,
    first_feasible,
)
from tacita.methods.options.per_cell import amounts
from tacita.problem.problem import Problem, start_run

BY_VALUE = "alternating by value"
CHOSEN = ("optimal", "greedy", "block", "alternating", BY_VALUE, "random")
WIDER = (1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)
"""Capacities tried, in parts of the smallest in fractions, until whole steps fit too."""
FEW, VERY_FEW = 100, 10
"""Sensitive cells up to which the best directions are looked for by default: in l1, in other norms."""
CHECKED = 1.0
"""Seconds after the end of the time for which levels are still looked at: the audit will look at them all."""
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
"""What the loss is in each norm."""


@dataclass(frozen=True)
class Adjustment:
    """Move sensitive cells to safe values and all others as little as the sums allow."""

    name: ClassVar[str] = "adjustment"
    does: ClassVar[str] = (
        "Moves each sensitive cell up or down to a safe value and all other cells by as little as the "
        "sums allow, measured by a norm of your choice."
    )
    choose: ClassVar[str] = (
        "Choose it when every cell must show a number that is as near as can be, when totals must "
        "stay, or when means, variances and correlations must be kept. Not when published numbers must "
        "be true."
    )

    norm: Norm = field(default="l1", metadata={"help": "what is kept small: l1, l2, huber or linf"})
    delta: float = field(default=0.001, metadata={"help": "delta of the pseudo-Huber norm"})
    weight: str = field(
        default="unit",
        metadata={
            "help": "weight of a cell: unit, inverse (1/value), root (1/sqrt(value)), cost, or a column"
        },
    )
    directions: str = field(
        default="auto",
        metadata={
            "help": "which way sensitive cells go: optimal, greedy, block, alternating (sorted by least "
            "change), alternating by value, random, up, down, "
            "or a column of signs; auto: optimal for up to 100 of them (10 unless l1), else greedy"
        },
    )
    capacity: float | str | None = field(
        default=None, metadata={"help": "how far other cells may move: 20%, an amount, or a column"}
    )
    relaxed: float | str | None = field(
        default=None,
        metadata={
            "help": "how far beyond its level a sensitive cell may go: 50% of it, an amount, or a column"
        },
    )
    totals: Literal["free", "fixed"] = field(
        default="free", metadata={"help": "may totals change: free, or fixed"}
    )
    safe: Literal["auto", "levels", "zero"] = field(
        default="auto",
        metadata={
            "help": "where falling cells go: past their lower level, or to zero (auto: zero for counts)"
        },
    )
    keep: str | Keep | None = field(
        default=None,
        metadata={"help": "statistics to keep, in percent: such as 'mean, variance=0.1, slope=0.1'"},
    )
    kept_cells: str | None = field(
        default=None,
        metadata={"help": "column that marks the cells of the statistics; none: all inner cells"},
    )
    formulation: str = field(
        default="auto",
        metadata={"help": "how it is solved: auto, flow, linear, newton, quadratic, or cones"},
    )
    shortfall: bool = field(
        default=False,
        metadata={
            "help": "where capacities are too tight give up protection, as little as can be; marked so"
        },
    )
    radius: float | str | None = field(
        default=None,
        metadata={
            "help": "announced radius: a number, 20% of the value shown, or a column; none: a round number"
        },
    )
    protected: bool = field(
        default=True, metadata={"help": "refuse a result that misses a level at this radius; no: only adjust"}
    )
    distance: Distance = field(default="drawn", metadata={"help": DISTANCE_HELP})
    readers: Literal["method", "radius"] = field(
        default="method",
        metadata={
            "help": "what readers are taken to know: method (capacities too), or radius (that alone, as in "
            "the literature)"
        },
    )

    def __post_init__(self) -> None:
        if isinstance(self.keep, Keep):
            object.__setattr__(self, "keep", str(self.keep) or None)
        if self.norm not in NORMS:
            raise InputError(f"option 'norm' must be one of {', '.join(NORMS)}, not '{self.norm}'")
        if self.totals not in ("free", "fixed"):
            raise InputError(f"option 'totals' must be free or fixed, not '{self.totals}'")
        if self.safe not in ("auto", "levels", "zero"):
            raise InputError(f"option 'safe' must be one of auto, levels, zero, not '{self.safe}'")
        if self.distance not in ("drawn", "exact"):
            raise InputError(f"option 'distance' must be drawn or exact, not '{self.distance}'")
        if self.readers not in ("method", "radius"):
            raise InputError(f"option 'readers' must be method or radius, not '{self.readers}'")
        if not 0 < self.delta < np.inf:
            raise InputError(f"option 'delta' is {self.delta:g}; it must be more than 0, and finite")

    def protect(self, problem: Problem, run: Run | None = None) -> Release:
        """The adjusted table with the radius that is announced."""
        run = start_run(problem, run)
        if self.distance == "exact" or not len(problem.sensitive):
            return self._protected(problem, run)

        def make(draws: Draws) -> Release:
            return self._farther(problem, draws, run) if draws.share else self._protected(problem, run)

        return first_feasible(make, Draws(run.seed))

    def _farther(self, problem: Problem, draws: Draws, run: Run) -> Release:
        """The adjusted table in which sensitive cells go beyond their levels."""
        task = self.task(problem, draws)
        found = self._solved(problem, task, run)
        return self.released(problem, task, found, run, draws)

    def _protected(self, problem: Problem, run: Run) -> Release:
        """The adjusted table in which sensitive cells go to their levels at least."""
        task = self.task(problem)
        try:
            found = self._solved(problem, task, run)
        except InfeasibleError as error:
            if self.keep is not None and replace(self, keep=None)._feasible(problem, task, run):
                # The statistics are to blame, and the message says how closely they can be kept.
                raise
            if not self.shortfall:
                remedy = self._remedy(problem, run)
                options = ["shortfall=yes"] if "shortfall" in remedy else []
                fault = str(error).rstrip(".")
                raise InfeasibleError(fault, remedy=remedy, options=options) from None
            found = self._short(problem, task, run)
        return self.released(problem, task, found, run)

    def task(self, problem: Problem, draws: Draws = NONE_DRAWN) -> AdjustmentTask:
        """What is asked for, directions open."""
        radius = None
        if self.radius is not None and percentage(self.radius) is None:
            radius = amounts(problem, self.radius, "radius")
        return task_of(
            problem,
            self.norm,
            self.delta,
            self.weight,
            self.capacity,
            self.relaxed,
            self.totals == "fixed",
            self.safe == "zero" or (self.safe == "auto" and problem.table.whole),
            draws.beyond(problem, problem.table.unit) if draws.share else None,
            radius,
        )

    # ------------------------------------------------------------------ the changes

    def _solved(self, problem: Problem, task: AdjustmentTask, run: Run) -> FoundChanges:
        directions = self.directed(problem, task, run)
        directed = task.directed(directions.up)
        found = self._convex(problem, directed, run)
        whole = exact_changes(problem, directed, found, directions, run)
        return replace(whole, remarks=self._kept(problem, whole.z))

    def _feasible(self, problem: Problem, task: AdjustmentTask, run: Run) -> bool:
        try:
            self._solved(problem, task, run)
        except InfeasibleError:
            return False
        return True

    def directed(self, problem: Problem, task: AdjustmentTask, run: Run) -> Directions:
        """Which way the sensitive cells go; where statistics are kept, ways that keep them are preferred."""
        if task.choice is None:
            return Directions(np.zeros(0, dtype=bool), -np.inf, True)
        given = fixed_directions(problem, task.choice, self.directions)
        if given is not None:
            # Nobody else's directions are asked for: what is best for these is best.
            return replace(chosen(task, "fixed", run, given), bound=-np.inf, optimal=True)
        how = self.chooser(task.choice.cells.size)

        def choose(task: AdjustmentTask) -> Directions:
            if how == BY_VALUE and task.choice is not None:
                sizes = np.abs(problem.table.units[task.choice.cells])
                return chosen(task, "alternating", run, sizes=sizes)
            return chosen(task, cast(How, how), run)

        first = choose(task)
        return first if self.keep is None else self._keeping_too(problem, task, choose, first, run)

    def chooser(self, sensitive: int) -> str:
        """How directions of so many sensitive cells are chosen, one of ``CHOSEN``."""
        how = self.directions
        if how == "auto":
            few = FEW if self.norm == "l1" else VERY_FEW
            how = "optimal" if sensitive <= few else "greedy"
        if how not in CHOSEN:
            raise InputError(
                f"option 'directions': '{how}' is neither one of auto, {', '.join(CHOSEN)}, up, down nor a "
                "column of the table"
            )
        return how

    def _keeping_too(
        self,
        problem: Problem,
        task: AdjustmentTask,
        choose: Callable[[AdjustmentTask], Directions],
        first: Directions,
        run: Run,
    ) -> Directions:
        cells, values = self._kept_cells(problem), problem.table.values
        try:
            z = adjusted(task.directed(first.up), run, self.formulation).z
            side = rows_to_choose_by(task, read_kept(self.keep or ""), values, cells, z)
            up = choose(replace(task, side=side)).up
        except (InfeasibleError, StoppedError):
            return first
        # The bound stays that of all directions; what is best for other ones proves nothing about these.
        return replace(first, up=up, optimal=first.optimal and bool((up == first.up).all()))

    def _convex(self, problem: Problem, directed: AdjustmentTask, run: Run) -> Adjusted:
        if self.keep is None:
            return adjusted(directed, run.finishing(), self.formulation)

        def solve(task: AdjustmentTask) -> Adjusted:
            # Only the first changes are worth waiting for; rounds make them better.
            return adjusted(task, run.finishing() if task is directed else run, self.formulation)

        kept, values = read_kept(self.keep), problem.table.values
        return keeping(directed, kept, values, self._kept_cells(problem), run, solve)

    def _kept(self, problem: Problem, z: Units) -> tuple[str, ...]:
        """How closely the statistics are kept, measured on what is published."""
        if self.keep is None:
            return ()
        before = problem.table.values
        after = before + z / 10.0**problem.table.decimals
        return (told(changes(before, after, self._kept_cells(problem)), read_kept(self.keep)),)

    def _kept_cells(self, problem: Problem) -> Mask:
        if self.kept_cells is None:
            return ~problem.table.structure.is_total
        if self.kept_cells not in problem.table.columns:
            raise InputError(f"option 'kept_cells': the table has no column '{self.kept_cells}'")
        return np.array([_marks(entry) for entry in problem.table.columns[self.kept_cells]])

    def _short(self, problem: Problem, task: AdjustmentTask, run: Run) -> FoundChanges:
        """The least protection given up; the table must at least add up within its capacities."""
        task = self._as_given(problem, task)
        short = smallest_shortfall(task, run)
        if short is None or task.choice is None:
            raise InfeasibleError("no table within these capacities adds up: widen them")
        eased = lowered(task, short)
        found = self._convex(problem, eased, run)
        whole = exact_changes(problem, eased, found, Directions(short.up, -np.inf, False), run)
        given_up = task.choice.cells[~task.choice.met(whole.z)]
        return replace(whole, remarks=self._kept(problem, whole.z), given_up=given_up)

    def _as_given(self, problem: Problem, task: AdjustmentTask) -> AdjustmentTask:
        """The task without the ways that given directions rule out."""
        given = None if task.choice is None else fixed_directions(problem, task.choice, self.directions)
        return task if given is None else only(task, given)

    def _remedy(self, problem: Problem, run: Run) -> str:
        """What helps; where that is a larger capacity, the smallest if there is time to find it."""
        if self.capacity is None:
            return "Let totals be free, ease the statistics to keep, or lower the levels."
        try:
            return self._wider(problem, self.capacity, run)
        except StoppedError:
            return "Allow a larger capacity, let totals be free, or lower the levels."

    def _wider(self, problem: Problem, capacity: float | str, run: Run) -> str:
        """The smallest capacity that works, and the cells that need all of it."""
        loose = self._as_given(problem, replace(self, capacity=None).task(problem))
        still = (loose.lower == 0) & (loose.upper == 0)
        enough = smallest_capacity(loose, np.where(still, 0.0, shares(problem, capacity)), run)
        if enough is None:
            return "No capacity would do: let totals be free, or lower the levels."
        least, whole = _written(problem, capacity, enough.amount), ""
        for more in WIDER:
            if run.over:
                break
            written = _written(problem, capacity, enough.amount * more, whole_steps=True)
            wider = replace(self, capacity=written, shortfall=False)
            if wider._feasible(problem, wider.task(problem), run):
                whole = "" if written == least else f", in whole steps {written}"
                break
        says = "The smallest that works for all cells is" if enough.smallest else "Enough would be"
        if self.directions not in ("auto", "optimal", "up", "down", *problem.table.columns):
            says = f"With optimal directions {says[0].lower()}{says[1:]}"
        return (
            f"{says} about {least}{whole} (binding: "
            f"{problem.table.structure.names(enough.binding)}); or switch shortfall on to give up protection."
        )

    # ------------------------------------------------------------------ the release

    def loss(self, problem: Problem, release: Release) -> float:
        """Return what the changes of a release cost in the norm and with the weights of the options."""
        return self.task(problem).loss(shown_changes(problem, release))

    def released(
        self, problem: Problem, task: AdjustmentTask, found: FoundChanges, run: Run, draws: Draws = NONE_DRAWN
    ) -> Release:
        """Changes as a release, with the radius that is announced; refused if that misses a level."""
        table, z = problem.table, found.z
        moving = ~(problem.must_publish | (table.structure.is_total & (self.totals == "fixed")))
        radius = announced_radius(problem, self.radius, z, moving)
        # A radius around a number that hardly moved would pass an audit, which takes it at its word.
        radius[found.given_up] = np.abs(z[found.given_up])
        refuse_open_secrets(problem, radius == 0)
        short, checked = bool(found.given_up.size), True
        if self.protected and not short and len(problem.sensitive):
            limits = known_limits(problem, self.capacity, z) if self.readers == "method" else None
            refuse_missed(problem, z, radius, run.finishing(CHECKED), limits)
            checked = not run.over
        loss = task.loss(z)
        proven = checked and loss <= found.bound + NOISE * abs(loss)
        bound = min(found.bound, loss) if np.isfinite(found.bound) else 0.0
        status = Status.OPTIMAL if proven else Status.FEASIBLE
        said = [f"{UNPROTECTED}: {table.structure.names(found.given_up)}"] if short else []
        said += [] if checked else [UNCHECKED]
        more, assumption = self._beyond(problem, draws, self.protected and checked and not short)
        remarks = (*said, *found.remarks, *more, _every_norm(task, found))
        return Release.rounded(
            table,
            table.units + z,
            radius,
            primary=problem.levels.sensitive,
            mark=Mark.ADJUSTED,
            made_by={"method": self.name, "options": asdict(self), **self._seed(draws, run)},
            outcome=Outcome(status, loss, bound, run.seconds, remarks),
            notice=UNPROTECTED if short else "",
            assumption=assumption,
            alone="the capacities of an adjustment" if self.capacity is not None and not assumption else "",
        )

    def _seed(self, draws: Draws, run: Run) -> dict[str, int]:
        """The seed, where something was drawn with it."""
        return {"seed": run.seed} if draws.share or self.directions == "random" else {}

    def _beyond(self, problem: Problem, draws: Draws, checked: bool) -> tuple[tuple[str, ...], str]:
        """What is to be said of distances and capacities, and what readers must not know; ``checked`` says
        whether levels were held against readers who know the capacities.
        """
        if not len(problem.sensitive):
            return (), ""
        said = (EXACT,) if self.distance == "exact" else draws.remarks
        unknown = self.capacity is not None and (self.readers == "radius" or not checked)
        said += (UNKNOWN,) if unknown else ()
        return said, ASSUMED if unknown or EXACT in said else ""


@dataclass(frozen=True, eq=False)
class FoundChanges:
    """Whole changes, what the solver said, a bound on all changes of the kind, remarks, and the sensitive
    cells whose protection was given up.
    """

    z: Units
    adjusted: Adjusted
    bound: float
    remarks: tuple[str, ...] = ()
    given_up: Cells = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def exact_changes(
    problem: Problem, directed: AdjustmentTask, found: Adjusted, directions: Directions, run: Run
) -> FoundChanges:
    """A solver's changes in whole steps; statistics that were kept stay so as far as steps allow.

    The end of the time does not lose what was found: steps get some more.
    """
    if isinstance(found, AdjustedKeeping):
        directed = replace(directed, side=found.side)
    z = exactly(directed, found.z, problem.table.structure, run.finishing())
    bound = max(directions.bound, found.bound) if directions.optimal else directions.bound
    return FoundChanges(z, found, bound)


def _marks(entry: object) -> bool:
    """Whether an entry of a column marks its cell; files know no other way to say no than words."""
    if isinstance(entry, float) and np.isnan(entry):
        return False
    return str(entry).strip().lower() not in ("", "0", "0.0", "no", "false", "none")


def _written(problem: Problem, like: float | str, amount: float, whole_steps: bool = False) -> str:
    """A capacity written as one that was given: as a percentage, or as an amount."""
    if percentage(like) is not None:
        return f"{100 * amount:.4g}%"
    if not whole_steps:
        return f"{amount:.4g}"
    table = problem.table
    steps = int(np.ceil(amount * 10.0**table.decimals / table.unit))
    return exact.text(steps * table.unit, table.decimals)


def _every_norm(task: AdjustmentTask, found: FoundChanges) -> str:
    """The loss in every norm, and how it was found."""
    losses = ", ".join(
        f"{norm} {round(task.loss(found.z, norm), 4):.10g} ({meaning})" for norm, meaning in SUMS.items()
    )
    count, how = found.adjusted.iterations, found.adjusted.formulation
    # A flow does not count what it does.
    iterations = f", {pluralize(count, 'iteration')}" if count else ""
    return f"the loss in every norm: {losses}; formulation: {how}{iterations}"
