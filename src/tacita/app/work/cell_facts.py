"""All that is known of one cell: why it is sensitive, who contributes to it, what an attacker deduces.

It names true values and respondents, so it is shown to the user of the app and goes into no file.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from tacita.app.work.open_case import Case
from tacita.app.work.view import Sensitivity
from tacita.auditing.deduce import deduce
from tacita.core import exact
from tacita.core.exact import Units
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.core.tables.contributions import Contributions
from tacita.core.tables.table import Table
from tacita.problem.problem import Problem

MOST_EQUATIONS = 6
MOST_CONTRIBUTORS = 5
LONGEST = 20.0
"""Seconds after which an interval is given up; the audit of a run has no such limit."""


@dataclass(frozen=True)
class Contributor:
    """Someone who put ``amount`` into a cell: ``share`` percent of it."""

    name: str
    amount: Decimal
    share: float


@dataclass(frozen=True)
class CellFacts:
    """A cell in words and exact numbers.

    ``why`` says what makes the cell sensitive; where it is ``exempt`` by hand, what would. ``of_records``:
    whether records stand for contributors, as no respondent is named.
    """

    cell: int
    name: str
    value: Decimal
    is_sum: bool
    sensitive: bool
    exempt: bool
    why: tuple[str, ...]
    lower: Decimal
    upper: Decimal
    sliding: Decimal
    decision: str
    count: int | None
    contributors: tuple[Contributor, ...]
    of_records: bool
    holdings: tuple[Contributor, ...]
    cost: float | None
    equations: tuple[str, ...]
    more_equations: int


def describe_cell(case: Case, judged: Sensitivity, cell: int) -> CellFacts:
    """Return what the page Table shows of a cell: value, levels, contributors, equations, cost."""
    table, levels = case.table, judged.levels

    def amount(units: Units) -> Decimal:
        return exact.to_decimal(int(units[cell]), table.decimals)

    own = table.equations
    entries = np.flatnonzero(own.cells == cell)
    equations = np.unique(own.row_of_entry[entries])
    decision = case.decisions.get(cell)
    return CellFacts(
        cell,
        table.name(cell),
        amount(table.units),
        bool(table.structure.is_total[cell]),
        bool(levels.sensitive[cell]),
        bool(judged.exempt[cell]),
        tuple(judged.hits.explain(cell)),
        amount(levels.lower),
        amount(levels.upper),
        amount(levels.sliding),
        decision.text if decision is not None else "",
        int(table.count[cell]) if table.count is not None else None,
        _list_largest(table, table.contributions, cell),
        table.contributions is not None and table.contributions.unnamed_records > 0,
        _list_largest(table, table.holdings, cell),
        None if judged.problem is None else float(judged.problem.cost[cell]),
        tuple(table.structure.describe_equation(j) for j in equations[:MOST_EQUATIONS].tolist()),
        max(0, equations.size - MOST_EQUATIONS),
    )


def _list_largest(table: Table, contributions: Contributions | None, cell: int) -> tuple[Contributor, ...]:
    """Return the largest contributors to a cell of the user's table; its own records without its codes."""
    if contributions is None:
        return ()
    whole = max(int(contributions.sums[cell]), 1)
    ranks = np.flatnonzero(contributions.who[cell] >= 0)[:MOST_CONTRIBUTORS].tolist()
    return tuple(
        Contributor(
            contributions.name(int(contributions.who[cell, rank])).removesuffix(f" of ({table.name(cell)})"),
            exact.to_decimal(int(contributions.values[cell, rank]), table.decimals),
            100 * int(contributions.values[cell, rank]) / whole,
        )
        for rank in ranks
    )


@dataclass(frozen=True)
class DeducedInterval:
    """What the outsider deduces of a hidden cell, and what they knew of it before; NaN: not worked out."""

    low: float
    high: float
    bounds: tuple[float, float]


class OutsiderAttack:
    """The outsider at work on a release, asked for one cell at a time; each answer is kept.

    Without a release they see the table with its sensitive cells hidden and nothing else: what would be open
    if one stopped there.
    """

    def __init__(self, problem: Problem, release: Release | None) -> None:
        self.problem = problem
        self.given_release = release
        self.release = Release.suppress(problem.table, problem.sensitive) if release is None else release
        self._hidden = self.release.hidden
        self._found: dict[int, DeducedInterval] = {}

    def concerns(self, problem: Problem, release: Release | None) -> bool:
        """Return whether this attack, which the page keeps, is the one on that problem and release."""
        return self.problem is problem and self.given_release is release

    def hides(self, cell: int) -> bool:
        """Return whether a cell is hidden, so that the page has an interval of it to show."""
        return bool(self._hidden[cell])

    def get_known(self, cell: int) -> DeducedInterval | None:
        """Return the interval of a cell that the page asked for before; None if not worked out."""
        return self._found.get(cell)

    def deduce(self, cell: int, run: Run) -> DeducedInterval:
        """Return the outsider's interval of a hidden cell for the page; to be called in a thread."""
        found = deduce(self.problem, self.release, run=run, cells=np.array([cell]))
        low, high = found.of(cell)
        ends = exact.to_floats(
            np.array([self.problem.outsider.lower[cell], self.problem.outsider.upper[cell]]),
            self.problem.table.decimals,
        )
        interval = DeducedInterval(low, high, (float(ends[0]), float(ends[1])))
        if not run.over:
            self._found[cell] = interval
        return interval
