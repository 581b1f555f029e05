"""Rules on the number of contributors to a cell."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from tacita.core import exact
from tacita.core.arithmetic import Number, format_parameter, require_number, to_fraction
from tacita.core.errors import RuleError
from tacita.core.exact import UNBOUNDED, Floats, Mask, Units
from tacita.core.levels import Levels
from tacita.core.tables.table import Table
from tacita.rules.protection import build_levels, compute_least_levels
from tacita.rules.rule import HOLDING, RESPONDENT, ContributorRule, Rule, find_contributions


@dataclass(frozen=True, kw_only=True)
class _Counting(ContributorRule):
    """Base of the rules that compare a number of contributors with a limit."""

    weighted: bool = field(default=False, metadata={"help": "count the population that a sample stands for"})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weighted and self.by == HOLDING:
            remedy = "Count respondents, or without weights."
            raise RuleError("holdings have no weights", place=self.text, remedy=remedy)

    def _suffix(self) -> str:
        return super()._suffix() + (" (weighted)" if self.weighted else "")

    value_counts: ClassVar[bool]
    """Whether the values of a table of counts are what is counted, also where it counts contributors."""

    def require_table(self, table: Table) -> None:
        self._count(table)

    def _count(self, table: Table) -> Units | Floats:
        """Return the contributors per cell that the rule counts."""
        if self.by == HOLDING:
            found: Units | Floats | None = table.holding_count
        elif self.weighted:
            found = table.population
        elif table.integer and (self.value_counts or table.count is None):
            found = table.units // 10**table.decimals
        else:
            found = table.count
        if found is None:
            wanted = "weights" if self.weighted else f"{self.by}s"
            raise RuleError(
                f"{self.text} needs the number of contributors per cell, and the table has none",
                remedy=f"tabulate records with a column of {wanted}, or name the column of that number",
            )
        return found

    def _all_waived(self, table: Table) -> Mask:
        """Return a mask of the cells that the rule spares: all contributors are known and have consented."""
        contributions = find_contributions(table, self.by)
        count = table.count if self.by == RESPONDENT else table.holding_count
        if contributions is None:
            return np.zeros(len(table), dtype=bool)
        waived = self.find_waived(contributions)
        if not waived.any():
            return np.zeros(len(table), dtype=bool)
        taken = contributions.who >= 0
        if count is None:
            complete = ~taken[:, -1] & (contributions.values[:, -1] == 0)
        else:
            complete = np.asarray(count <= taken.sum(axis=1))
        unwilling = (taken & ~waived).any(axis=1)
        return np.asarray(complete & taken[:, 0] & ~unwilling)


@dataclass(frozen=True)
class Threshold(_Counting):
    """``0 < count < n``: fewer than ``n`` contributors (strict; ``count <= n`` with ``at_or_below``).

    In a table of counts the value itself is the count, and the level makes the threshold possible:

        UPL = n - a,    LPL = min(UPL, a)

    (at least one in each direction that is possible). In a table of magnitudes the distance to a number of
    people is no amount of money: the level is the least one, as for :class:`MinimumFrequency`, or
    ``protection``.

    Parameters
    ----------
    n
        The threshold.
    zeros
        Cells with count zero are sensitive as well, with ``UPL = n`` and ``LPL = 0``.
    at_or_below
        The threshold itself is sensitive too.
    by
        ``"respondent"`` or ``"holding"``: whom to count.
    weighted
        Count the population that a sample stands for.
    protection
        Percentage of the value, or ``(lower, upper)`` percentages, in place of the formula.
    waivers
        Contributors who have consented: a cell is safe if all its contributors are known and have.
    """

    does: ClassVar[str] = (
        "Sensitive: cells behind which fewer than n stand; for counts, values from 1 up to n − 1."
    )
    usual: ClassVar[str] = "Usual for counts, and beside p-percent for amounts, with n between 3 and 10."
    example: ClassVar[str] = "threshold(3)"
    value_counts: ClassVar[bool] = True

    n: Number = field(metadata={"help": "the threshold"})
    zeros: bool = field(default=False, metadata={"help": "cells of value 0 are sensitive as well"})
    at_or_below: bool = field(default=False, metadata={"help": "the threshold itself is sensitive too"})

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self.text, "n", self.n, 0)

    @property
    def text(self) -> str:
        most = " or below" if self.at_or_below else ""
        return (
            f"threshold {format_parameter(self.n)}{most}{' with zeros' if self.zeros else ''}{self._suffix()}"
        )

    def _looks_at_contributors(self, table: Table) -> bool:
        return not table.integer or self.by == HOLDING or self.weighted

    def levels(self, table: Table) -> Levels:
        count = self._count(table)
        few = count <= float(self.n) if self.at_or_below else count < float(self.n)
        hit = few & (count >= 0 if self.zeros else count > 0) & ~self._all_waived(table)
        upper = compute_least_levels(table)
        if not self._looks_at_contributors(table):
            wanted = math.ceil(to_fraction(self.n)) * 10**table.decimals
            upper = np.maximum(wanted - table.units, upper)

        def explain(cell: int) -> str:
            return f"{count[cell]:g} {'stands' if count[cell] == 1 else 'stand'} behind the cell"

        return build_levels(table, self.text, hit, upper, self.protection, explain)


@dataclass(frozen=True)
class MinimumFrequency(_Counting):
    """``0 < count < n``: fewer than ``n`` contributors (strict).

    Guards against exact disclosure only: UPL and LPL are one step of the table's last place (LPL zero in a
    cell of value zero). ``protection`` requires a percentage of the value instead, as FREQ(n, range) of
    tau-ARGUS does.

    In a table of counts without a separate number of contributors the value is that number.

    Parameters are those of :class:`Threshold`.
    """

    does: ClassVar[str] = (
        "Sensitive: cells with fewer than n contributors, guarded only against being known exactly."
    )
    usual: ClassVar[str] = "Where few contributors may be estimated, but not be known exactly."
    example: ClassVar[str] = "frequency(3)"
    value_counts: ClassVar[bool] = False

    n: Number = field(default=3, metadata={"help": "the least number of contributors that is safe"})

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self.text, "n", self.n, 0)

    @property
    def text(self) -> str:
        return f"minimum frequency {format_parameter(self.n)}{self._suffix()}"

    def levels(self, table: Table) -> Levels:
        count = self._count(table)
        hit = (count > 0) & (count < float(self.n)) & ~self._all_waived(table)

        def explain(cell: int) -> str:
            return f"{count[cell]:g} contributor{'' if count[cell] == 1 else 's'}"

        return build_levels(table, self.text, hit, compute_least_levels(table), self.protection, explain)


@dataclass(frozen=True)
class Zeros(Rule):
    """``a = 0``: a listed zero tells of each contributor that they have nothing.

    ``UPL = upper`` (an amount; one step of the last place by default) and ``LPL = 0``. Structural zeros and
    cells that are not listed are known to everyone and never sensitive.
    """

    does: ClassVar[str] = (
        "Sensitive: listed zeros, since they tell of each contributor that they have nothing."
    )
    usual: ClassVar[str] = "Rare: where it is a secret that nobody is there, or that somebody has nothing."
    example: ClassVar[str] = "zeros"

    upper: Number | None = field(
        default=None, metadata={"help": "upper level, an amount; empty: one step of the last place"}
    )

    def __post_init__(self) -> None:
        if self.upper is not None:
            require_number(self.text, "upper", self.upper, 0)

    @property
    def text(self) -> str:
        return "zeros"

    def levels(self, table: Table) -> Levels:
        upper = compute_least_levels(table)
        if self.upper is not None:
            amount = to_fraction(self.upper) * 10**table.decimals
            upper[:] = min(math.ceil(amount / table.unit) * table.unit, UNBOUNDED)

        def explain(cell: int) -> str:
            return f"the value is {exact.to_text(int(table.units[cell]), table.decimals)}"

        return build_levels(
            table, self.text, table.units == 0, upper, None, explain, lower=np.zeros_like(upper)
        )
