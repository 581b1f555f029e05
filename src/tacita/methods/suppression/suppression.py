"""Cell suppression: some cells are not published, the others are published as they are.

    min  sum_i w_i x_i
    s.t. x_i = 1 where cell i is sensitive or must be hidden,  x_i = 0 where it must be published,
         sum_i x_i <= q,
         every sensitive cell meets its levels against every attacker who sees the cells with x_i = 0,
         max y_i >= a_i + U_i,  min y_i <= a_i - L_i,  max y_i - min y_i >= max(S_i, c |a_i|)
         for the outsider, wherever x_i = 1 and cell i is not sensitive.

``w`` is the problem's cost, and sensitive cells count too. ``q`` is the option ``at_most``. The last two
lines are conditional levels (Salazar, section 7): ``c`` is the option ``conditional``, in percent, and ``U``,
``L`` and ``S`` are the options ``conditional_upper``, ``conditional_lower`` and ``conditional_sliding``.

Where cells are counts and the table is no network, a level may be met by fractional moves only. Then the
model gets an integer move for that level and is solved again: the added rows hold for every protected
pattern, so that lower bounds stay valid.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import ClassVar, Literal, cast

import numpy as np

from tacita.core.errors import InfeasibleError, InputError, StoppedError
from tacita.core.exact import Floats, Mask, Units, ceil_units
from tacita.core.heartbeat import with_heartbeat
from tacita.core.outcome import Outcome, Status
from tacita.core.release import Release
from tacita.core.run import GRACE, Run
from tacita.core.tables.cell_selection import CellList, read_cells
from tacita.core.words import pluralize
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.requirements import (
    DOWN,
    OUTSIDER,
    SLIDING,
    UP,
    Requirements,
    find_room,
    list_all_requirements,
    list_outsider_requirements,
)
from tacita.engine.model import Affine, Model
from tacita.engine.search.conflict import explain_infeasibility
from tacita.engine.search.proposals import make_patterns
from tacita.engine.search.solve_model import Rung, is_constructed
from tacita.methods.measuring import find_inexact_cells
from tacita.methods.method import check_words, option
from tacita.methods.modelling.scaled_losses import solve_scaled
from tacita.methods.options.per_cell import read_amounts
from tacita.methods.protection.attacker_moves import find_unmet
from tacita.methods.protection.integer_moves import add_integer_moves
from tacita.methods.resumption import resumable
from tacita.methods.suppression.network_heuristic import suppress_one_by_one
from tacita.methods.suppression.secret_costs import (
    COST_NOISE_HELP,
    check_cost_noise,
    draw_secret_factors,
    report_in_true_costs,
)
from tacita.problem.problem import Problem, start_run
from tacita.solvers.linear_program import Solution
from tacita.solvers.network import Network

Search = Literal["auto", "explicit", "exact", "construction", "network", "network-apart"]
HEURISTICS = ("network", "network-apart")
FEW = 8
"""Insiders up to which all are in the model; of more the engine adds those whose requirements fail."""
COARSE = 2_500_000
"""Levels in units from which on the engine's arithmetic may be wrong by a unit."""
MOST_ROUNDS = 20
"""Most rounds of adding integer moves."""


@dataclass(frozen=True)
class Suppression:
    """Hide sensitive cells and, at the least cost, as many others as their protection needs."""

    name: ClassVar[str] = "suppression"
    does: ClassVar[str] = (
        "Hides the sensitive cells and as few others as their protection needs, at the least cost; all "
        "other cells are published exactly as they are."
    )
    choose: ClassVar[str] = (
        "Choose it when every published number must be true and readers can live with gaps. Not when "
        "most cells are sensitive, or when readers need a number in every cell."
    )

    margins: bool = option(True, "whether totals that are not sensitive may be hidden", main=True)
    at_most: int | None = option(
        None, "the most cells that may be hidden, sensitive ones included; empty: no limit"
    )
    conditional: float | None = option(
        None,
        "secondary cells are protected too: readers must not know them to within so many percent of "
        "their value; empty: only primary cells are protected",
    )
    conditional_lower: float | str | None = option(
        None, "lower protection level of secondary cells: an amount, or a column of amounts; empty: none"
    )
    conditional_upper: float | str | None = option(
        None, "upper protection level of secondary cells: an amount, or a column of amounts; empty: none"
    )
    conditional_sliding: float | str | None = option(
        None, "sliding protection level of secondary cells: an amount, or a column of amounts; empty: none"
    )

    search: Search = option(
        "auto",
        "how the cells are searched for. auto: chosen by the size of the table; explicit: one integer "
        "program, for tiny tables; exact: branch and cut, up to proven optimality; construction: a good "
        "pattern first, then improved; network and network-apart: Cox's heuristic, for comparison "
        "(cheapest flows, primary by primary; network-apart: none through another primary)",
    )
    cost_noise: float = option(0.0, COST_NOISE_HELP)

    def __post_init__(self) -> None:
        if str(self.search) == "optimal":
            # Its word in version 0.1.0.
            object.__setattr__(self, "search", "auto")
        check_words(self)
        check_cost_noise(self.cost_noise)

    def model(self, problem: Problem) -> Model:
        """Return the engine's model of the suppression: variables, windows, constraints and loss."""
        from scipy.sparse import csr_array

        n = len(problem.table)
        forced = problem.levels.sensitive | problem.must_hide
        few = len(problem.insiders) <= FEW
        rows = csr_array((0, n)) if self.at_most is None else csr_array(np.ones((1, n)))
        model = Model(
            problem=problem,
            cost=problem.cost,
            lower=forced.astype(np.float64),
            upper=(forced | self._may_be_hidden(problem)).astype(np.float64),
            integer=np.ones(n, dtype=bool),
            rows=rows,
            row_lower=np.full(rows.shape[0], -np.inf),
            row_upper=np.full(rows.shape[0], np.inf if self.at_most is None else float(self.at_most)),
            above=Affine.zero(n, n),
            below=Affine.zero(n, n),
            switch=np.arange(n),
            requirements=list_all_requirements(problem) if few else list_outsider_requirements(problem),
        )
        return self._with_conditional_levels(model) if self.has_conditional_levels else model

    @property
    def has_conditional_levels(self) -> bool:
        """Whether suppressed cells that are not sensitive have levels too."""
        others = (self.conditional_upper, self.conditional_lower, self.conditional_sliding)
        return self.conditional is not None or any(level is not None for level in others)

    @with_heartbeat("preparing")
    @resumable
    def protect(
        self, problem: Problem, run: Run | None = None, start: Release | CellList | None = None
    ) -> Release:
        """Return the release of least suppression cost that protects sensitive cells against all attackers.

        Parameters
        ----------
        start
            A pattern to begin with, of the last period or of another program: a release, or the cells that it
            hides. It is completed where it does not protect.
        """
        run = start_run(problem, run)
        model = self.model(problem)
        model = replace(model, cost=model.cost * draw_secret_factors(model.size, self.cost_noise, run.seed))
        if self.search in HEURISTICS:
            return self._solve_by_heuristic(model, start, run)
        rung = cast(Rung, self.search)
        first = None if start is None else _make_start(model, _read_pattern(problem, start), rung, run)
        # Cells that conditional levels keep published may be why there is no protected pattern.
        hideable = np.maximum(model.upper, self._may_be_hidden(problem))
        try:
            solution = _solve(model, rung, run, first, replace(model, upper=hideable))
        except StoppedError as error:
            if is_constructed(PresolvedTable.of(model), rung):
                raise
            remedy = "Construction finds one sooner: search=construction."
            raise error.with_remedy(remedy, "search=construction") from None
        return self._make_release(problem, solution, run)

    def loss(self, problem: Problem, release: Release) -> float:
        """Return the suppression cost of all cells whose value a release does not give exactly."""
        return float(self.cell_losses(problem, release).sum())

    def cell_losses(self, problem: Problem, release: Release, cells: Mask | None = None) -> Floats:
        """Return the suppression cost of every cell that a release does not give exactly, else 0."""
        return np.where(find_inexact_cells(problem, release), problem.cost, 0.0)

    def _make_release(self, problem: Problem, found: Solution, run: Run) -> Release:
        hidden = found.x[: len(problem.table)] > 0.5
        loss = float(problem.cost[hidden].sum())
        proven = bool(found.status)
        bound = loss if proven and not self.cost_noise else min(loss, float(found.bound))
        release = Release.suppress(
            problem.table,
            hidden,
            primary=problem.levels.sensitive,
            outcome=Outcome(run.judge(proven, loss, bound), loss, bound, run.seconds, search=found.search),
            made_by={"method": self.name, "options": asdict(self), "search": found.search},
        )
        return report_in_true_costs(release, loss, self.cost_noise, run)

    def _solve_by_heuristic(self, model: Model, start: Release | CellList | None, run: Run) -> Release:
        """Return the release of Cox's suppression heuristic, completed where it does not protect."""
        problem, forced = model.problem, model.lower > 0
        first = forced if start is None else forced | (_read_pattern(problem, start) & (model.upper > 0))
        hidden = suppress_one_by_one(model, first, self.search == "network-apart", run)
        for _ in range(MOST_ROUNDS):
            missing = find_unmet(model, hidden.astype(np.float64), problem.table.unit, run)
            if not len(missing):
                break
            grown = replace(model, requirements=Requirements.join([model.requirements, missing]))
            x = complete_pattern(grown, hidden, run, clean=False)
            if x is None:
                raise explain_infeasibility(model, run)
            hidden = x > 0.5
        if self.at_most is not None and int(hidden.sum()) > self.at_most:
            raise InfeasibleError(
                f"the heuristic hides {pluralize(int(hidden.sum()), 'cell')}, more than {self.at_most:,}",
                remedy="allow more, or use search = auto",
                options=("search=auto",),
            )
        bound, words = float(model.cost[forced].sum()), f"{self.search} heuristic"
        x = hidden.astype(np.float64)
        return self._make_release(problem, Solution(x, model.loss(x), bound, Status.FEASIBLE, words), run)

    def _may_be_hidden(self, problem: Problem) -> Mask:
        """Return which cells may be suppressed. Cells with a known value never are: suppression would not
        add uncertainty.
        """
        up, down = find_room(problem, OUTSIDER)
        allowed = ~problem.must_publish & (up + down > 0)
        return allowed if self.margins else allowed & ~problem.table.structure.is_total

    def _with_conditional_levels(self, model: Model) -> Model:
        """Return the suppression model with levels for cells that are hidden though not sensitive.

        A cell that could not meet its level even if everything else were hidden stays published.
        """
        problem, table = model.problem, model.problem.table
        may_be_hidden = (model.upper > 0) & ~problem.levels.sensitive
        stuck = PresolvedTable.of(model).position < 0
        up, down = find_room(problem, OUTSIDER)
        published, requirements = np.zeros(len(table), dtype=bool), [model.requirements]
        for (sign, level), farthest in zip(
            self._read_conditional_levels(problem), (up, down, up + down), strict=True
        ):
            conditional = may_be_hidden & (level > 0)
            published |= conditional & (stuck | (level > farthest))
            cells = np.flatnonzero(conditional & ~stuck)
            attacker, signs = np.full(cells.size, OUTSIDER), np.full(cells.size, sign, dtype=np.int8)
            requirements.append(Requirements(attacker, cells, signs, level[cells], cells))
        if (wrong := np.flatnonzero(published & problem.must_hide)).size:
            raise InfeasibleError(
                "must be hidden and, by 'conditional', stay uncertain, but follows from cells that cannot be "
                "hidden or from what everyone knows",
                place=table.structure.names(wrong),
                remedy="take it off must_hide, lower the conditional level, or free cells around it",
            )
        return replace(
            model, upper=np.where(published, 0.0, model.upper), requirements=Requirements.join(requirements)
        )

    def _read_conditional_levels(self, problem: Problem) -> tuple[tuple[int, Units], ...]:
        """Return the conditional levels of suppressed cells in units: upper, lower and sliding."""
        table, percent = problem.table, self.conditional
        if percent is not None and not 0 < percent < np.inf:
            raise InputError(f"option 'conditional' must be a percentage above zero, not {percent}")

        def level(option: str) -> Units:
            given = getattr(self, option)
            return (
                np.zeros(len(table), dtype=np.int64)
                if given is None
                else read_amounts(problem, given, option)
            )

        share = ceil_units(np.abs(table.values) * (percent or 0) / 100, table.decimals, table.unit)
        return (
            (UP, level("conditional_upper")),
            (DOWN, level("conditional_lower")),
            (SLIDING, np.maximum(level("conditional_sliding"), share)),
        )


def _make_start(model: Model, hidden: Mask, rung: Rung, run: Run) -> Floats:
    """Return a suppression pattern to begin with, as a point of the model: completed, unless the engine does
    that by itself, as in large tables, or there is no time for it.
    """
    point = np.maximum(model.lower, np.where(hidden, model.upper, 0.0))
    if is_constructed(PresolvedTable.of(model), rung):
        return point
    completed = complete_pattern(model, hidden, run)
    return point if completed is None else completed


def complete_pattern(model: Model, hidden: Mask, run: Run, clean: bool = True) -> Floats | None:
    """Return a protected suppression pattern that contains ``hidden``, as a point of the model; None if
    there is none or the time is over. ``clean`` removes cells that it does not need.
    """
    presolved, requirements = PresolvedTable.of(model), model.requirements
    requirements = requirements[presolved.position[requirements.cell] >= 0]
    cells, forced = presolved.switch, model.lower[presolved.switch] > 0
    cost = np.where(model.upper[cells] > 0, model.cost[cells], np.inf)
    patterns = make_patterns(presolved, requirements, run)
    try:
        built = patterns.build(
            forced | (hidden[cells] & np.isfinite(cost)), cost, np.argsort(-requirements.level, kind="stable")
        )
        if built is None:
            return None
        built = patterns.clean(built, forced, cost) if clean else built
    except StoppedError:
        return None
    x = model.lower.copy()
    x[cells[built]] = 1.0
    return x


def _solve(model: Model, rung: Rung, run: Run, start: Floats | None, explained: Model) -> Solution:
    """Return the least suppression pattern that also protects against attackers who know that cells are
    integers; where there is none, the error names a conflict in the model ``explained``.
    """
    table, grown, missing = model.problem.table, model, model.requirements[:0]
    only_integer = table.integer and Network.of(table.equations.matrix.tocsc()) is None
    least = 0 if only_integer else COARSE
    for _ in range(MOST_ROUNDS):
        try:
            solution = solve_scaled(grown, run, start, rung)
        except InfeasibleError:
            if grown is not model:
                break
            raise explain_infeasibility(explained, run) from None
        if only_integer or model.requirements.level.max(initial=0) >= COARSE:
            # A pattern that was given is checked even when the time is over.
            check = Run(GRACE).begin() if start is not None and run.late else run
            missing = find_unmet(model, np.rint(solution.x[: model.size]), table.unit, check, least)
            if run.over and solution.status:
                # The check may have ended early: the audit decides.
                solution = replace(solution, status=Status.FEASIBLE)
        if not len(missing):
            return solution
        grown = add_integer_moves(grown, missing) if only_integer else _exclude_pattern(grown, solution.x)
        start = None
    cells = table.structure.names(np.unique(missing.cell))
    why = "protected by fractions alone, which a reader who knows that cells are counts rules out"
    raise InfeasibleError(
        why if only_integer else "protected only up to rounding errors",
        place=cells,
        remedy="Lower the levels, or allow more cells to be hidden.",
    )


def _exclude_pattern(model: Model, x: Floats) -> Model:
    """Return the suppression model without a pattern and its subsets: one more cell must be hidden."""
    from scipy.sparse import csr_array, vstack

    others = ((x < 0.5) & (model.upper > 0)).astype(np.float64)
    return replace(
        model,
        rows=csr_array(vstack([model.rows, csr_array(others[None, :])])),
        row_lower=np.append(model.row_lower, 1.0),
        row_upper=np.append(model.row_upper, np.inf),
    )


def _read_pattern(problem: Problem, start: Release | CellList) -> Mask:
    """Return which cells the release or list that a suppression starts from does not publish."""
    if isinstance(start, Release):
        if not start.structure.same_cells(problem.table.structure):
            raise InputError(
                "the release to start from lists other cells than the table", remedy="read it for this table"
            )
        return start.changed
    return read_cells(problem.table, start, "the pattern to start from")
