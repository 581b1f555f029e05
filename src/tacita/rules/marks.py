"""Rules that apply a decision: requests of respondents, marks by hand, the status in a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacita.core import exact
from tacita.core.arithmetic import (
    Number,
    add_scaled,
    format_given,
    format_parameter,
    is_number,
    require_integer,
    to_fraction,
)
from tacita.core.errors import RuleError, did_you_mean
from tacita.core.exact import Mask, Units
from tacita.core.levels import Levels, Reason
from tacita.core.tables.cell_selection import CellList, freeze_cells, read_cells
from tacita.core.tables.contributions import Beyond, Contributions
from tacita.core.tables.table import Table
from tacita.core.words import pluralize
from tacita.rules.protection import (
    USUAL_PERCENT,
    Percentages,
    Protection,
    build_levels,
    cap_at_value,
    check_protection,
    compute_least_levels,
    compute_percentages,
    to_pair,
)
from tacita.rules.rule import (
    RESPONDENT,
    By,
    Rule,
    check_by,
    find_named,
    list_parts,
    require_contributions,
    to_name_set,
    warn_of_unknown,
)


@dataclass(frozen=True)
class Request(Rule):
    """``|x_r| > share/100 X`` for a respondent ``r`` who asked for protection (strict; 0: any share).

    Who asked is said by name, or by a flag in their records (``request=`` of :func:`tacita.tabulate`);
    somebody who is not in the microdata gets a warning. Levels are the least ones (one step of the last
    place), or ``protection`` percent of the value. Where the microdata can be queried again all cells of
    ``r`` are found, else those where ``r`` is among the largest contributions that are stored.

    Parameters
    ----------
    respondents
        Who asked, by name; None: those whom the flag in the records names.
    share
        Percentage of the cell above which a contribution counts.
    by
        ``"respondent"`` or ``"holding"``.
    protection
        Percentage of the value, or ``(lower, upper)`` percentages.
    code
        Of several values of the flag that mean yes, only who has the first (1), the second (2), and so on.
    waivers
        Who has asked in the records, and consented since, by name.
    """

    does: ClassVar[str] = "Sensitive: cells to which someone who asked for protection has put in a share."
    usual: ClassVar[str] = "For statistics that protect those who ask for it, such as foreign trade."
    example: ClassVar[str] = "request([name])"

    respondents: Iterable[object] | None = field(
        default=None, metadata={"help": "who asked, by name, separated by commas; empty: the flag in records"}
    )
    share: Number = field(
        default=0, metadata={"help": "percentage of the cell above which a share counts; 0: any share"}
    )
    by: By = field(
        default=RESPONDENT, metadata={"help": "whom to look at: respondents, or the holdings they belong to"}
    )
    protection: Protection = field(
        default=None,
        metadata={"help": "levels in percent of the value, or lower, upper; empty: the least ones"},
    )
    code: int | None = field(
        default=None,
        kw_only=True,
        metadata={"help": "of several values of the flag that mean yes, the first (1), second (2)"},
    )
    waivers: frozenset[str] = field(
        default=frozenset(),
        kw_only=True,
        metadata={"help": "who has asked by a flag, and consented since"},
    )

    def __post_init__(self) -> None:
        if self.respondents is not None:
            object.__setattr__(self, "respondents", to_name_set(self.respondents))
        object.__setattr__(self, "waivers", to_name_set(self.waivers))
        if self.code is not None:
            require_integer(self.text, "code", self.code)
            if self.respondents is not None:
                fault = "codes are values of a flag in the records, and respondents are named"
                raise RuleError(fault, place=self.text, remedy="leave out one of the two")
        check_by(self.text, self.by)
        check_protection(self.text, self.protection)
        if not (is_number(self.share) and 0 <= self.share < 100):
            given = format_given(self.share)
            fault = f"share must be a percentage of the cell, 0 or more and below 100, not {given}"
            raise RuleError(fault, place=self.text)

    @property
    def text(self) -> str:
        above = f" (share above {format_parameter(self.share)} %)" if self.share else ""
        code = "" if self.code is None else f", code {self.code}"
        return f"request{above}{code}{'' if self.by == RESPONDENT else ' by holding'}"

    def with_consent(self, respondents: Iterable[object]) -> Rule:
        names = to_name_set(respondents)
        if self.respondents is None:
            return replace(self, waivers=self.waivers | names)
        return replace(self, respondents=to_name_set(self.respondents) - names)

    def require_table(self, table: Table) -> None:
        require_contributions(table, self.by, self.text)

    def warnings(self, table: Table) -> tuple[str, ...]:
        """Return a warning of names in the rule whom the table does not know."""
        found = require_contributions(table, self.by, self.text)
        named, what = (
            (self.waivers, "waiver")
            if self.respondents is None
            else (to_name_set(self.respondents), "request")
        )
        return warn_of_unknown(self.text, self.by, named, found, what) if named else ()

    def levels(self, table: Table) -> Levels:
        contributions = require_contributions(table, self.by, self.text)
        asked = np.flatnonzero(self._find_asked(contributions))
        shares = contributions.shares_of(asked)
        share = to_fraction(self.share) / 100
        sums = contributions.sums[shares.cells]
        enough = add_scaled([np.abs(shares.units), sums], [share.denominator, -share.numerator]) > 0
        hit = np.zeros(len(table), dtype=bool)
        hit[shares.cells[np.asarray(enough, dtype=bool)]] = True

        def explain(cell: int) -> str:
            there = sorted({contributions.name(int(w)) for w in shares.who[enough & (shares.cells == cell)]})
            return f"{', '.join(there)} asked for protection"

        return build_levels(table, self.text, hit, compute_least_levels(table), self.protection, explain)

    def _find_asked(self, contributions: Contributions) -> Mask:
        """Return a mask of the contributors who asked, in the order of their names.

        A name that nobody has is an error where the table may lack contributors: a request would go unheeded.
        """
        if self.respondents is None:
            if contributions.asked is None:
                raise RuleError(
                    f"the table does not know which {self.by}s asked for protection",
                    place=self.text,
                    remedy="name them, or tabulate records with a column that says who asked",
                    options=["request"],
                )
            wanted = contributions.asked if self.code is None else contributions.asked >> (self.code - 1) & 1
            return np.asarray((wanted > 0) & ~find_named(contributions, self.waivers))
        names = to_name_set(self.respondents)
        if contributions.beyond is not Beyond.NOBODY:
            known = set(map(str, contributions.names))
            if unknown := sorted(names - known):
                raise RuleError(
                    f"{format_given(unknown[:5])} not among the largest contributors of any "
                    f"cell{did_you_mean(unknown[0], known)}",
                    place=self.text,
                    remedy="correct the name, take it off the list, tabulate with more of the largest "
                    "contributions, or with a column of the records that says who asked",
                )
        return find_named(contributions, names)


def find_unheeded_requests(rule: Rule, table: Table) -> tuple[str, ...]:
    """Return a warning if respondents asked for protection in their records, and the rule does not look."""
    asked = None if table.contributions is None else table.contributions.asked
    if asked is None or not asked.any() or any(isinstance(part, Request) for part in list_parts(rule)):
        return ()
    return (
        f"{pluralize(int((asked > 0).sum()), 'respondent')} asked for protection, and no rule heeds it: add "
        "one such as request(share=50), or leave out the column of requests",
    )


@dataclass(frozen=True)
class Marked(Rule):
    """Cells marked by hand: by position, by their codes, or by the name of a boolean column of the table.

    Levels are the amounts ``lower``, ``upper``, ``sliding`` where given. If neither ``lower`` nor ``upper``
    is, both are ``protection`` percent of the value, as far as everyone's bounds leave room (see
    :mod:`tacita.rules.protection`). Amounts that are given are not capped: what cannot be met is refused by
    the problem.
    """

    does: ClassVar[str] = "Sensitive: cells that a column of the table marks, or that are listed by codes."
    usual: ClassVar[str] = "For cells that the office decides on by itself."
    example: ClassVar[str] = "marked(column)"

    cells: CellList = field(
        metadata={"help": "a column of true and false, or codes of cells such as [North, A], [South, B]"}
    )
    lower: Number | None = field(default=None, metadata={"help": "lower level, an amount"})
    upper: Number | None = field(default=None, metadata={"help": "upper level, an amount"})
    sliding: Number | None = field(default=None, metadata={"help": "sliding level, an amount"})
    protection: Percentages = field(
        default=USUAL_PERCENT,
        metadata={"help": "levels in percent of the value, or lower, upper, where no amounts are given"},
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", freeze_cells(self.cells))
        check_protection(self.text, self.protection)
        for name in ("lower", "upper", "sliding"):
            amount = getattr(self, name)
            if amount is not None and not (is_number(amount) and 0 <= amount < float("inf")):
                fault = f"{name} must be an amount, zero or more, not {format_given(amount)}"
                raise RuleError(fault, place=self.text)

    @property
    def text(self) -> str:
        return f"marked in '{self.cells}'" if isinstance(self.cells, str) else "marked by hand"

    @property
    def by_position(self) -> bool:
        """Whether the rule lists cells by position or by named codes, which have no written form."""
        listed = self.cells if isinstance(self.cells, tuple) else None
        return listed is not None and (
            not any(isinstance(cell, str | tuple) for cell in listed)
            or any(isinstance(cell, Mapping) for cell in listed)
        )

    def require_table(self, table: Table) -> None:
        if isinstance(self.cells, str):
            read_cells(table, self.cells, self.text)

    def levels(self, table: Table) -> Levels:
        hit = read_cells(table, self.cells, self.text)

        def amount(number: Number | None) -> Units | None:
            if number is None:
                return None
            try:
                level = float(number)
            except OverflowError:
                remedy = "give a number of the table's size"
                raise RuleError("a level has more than 300 digits", remedy=remedy) from None
            return np.full(len(table), exact.ceil_units(level, table.decimals, table.unit))

        lower, upper = amount(self.lower), amount(self.upper)
        percent = None
        if lower is None and upper is None:
            percent = to_pair(self.protection)
            below, upper = compute_percentages(table, percent)
            lower = cap_at_value(table, below)
        nothing = np.zeros(len(table), dtype=np.int64)
        reason = Reason(self.text, np.flatnonzero(hit), lambda cell: "the office marked it", percent)
        return Levels.of(
            hit,
            upper=nothing if upper is None else upper,
            lower=nothing if lower is None else lower,
            sliding=amount(self.sliding),
            reasons=(reason,),
            least=table.unit,
        )


@dataclass(frozen=True)
class FromColumns(Rule):
    """The status and the levels that a file gives: sensitive iff the status reads ``u`` (or ``U``).

    ``lower``, ``upper`` and ``sliding`` name the columns of LPL, UPL and SPL, which are amounts and are not
    capped. A column that the table lacks counts as empty. Where a sensitive cell has neither LPL nor UPL,
    both are ``protection`` percent of the value, as in :class:`Marked`; where it has only one of them, the
    other is zero.
    """

    does: ClassVar[str] = (
        "Sensitive: cells whose status in a column of the table is u, with the levels there."
    )
    usual: ClassVar[str] = "For tables whose file states status and levels of each cell."
    example: ClassVar[str] = "columns(status)"

    status: str = field(default="status", metadata={"help": "column of the status letters"})
    lower: str = field(default="lpl", metadata={"help": "column of lower levels"})
    upper: str = field(default="upl", metadata={"help": "column of upper levels"})
    sliding: str = field(default="spl", metadata={"help": "column of sliding levels"})
    protection: Percentages = field(
        default=USUAL_PERCENT,
        metadata={"help": "levels in percent of the value, or lower, upper, where no amounts are given"},
    )

    def __post_init__(self) -> None:
        check_protection(self.text, self.protection)

    @property
    def text(self) -> str:
        return f"status in column '{self.status}'"

    def require_table(self, table: Table) -> None:
        if self.status not in table.columns:
            known = ", ".join(table.columns) or "none"
            raise RuleError(
                f"the table has no column '{self.status}' (columns: {known})",
                remedy="name the one with the status",
            )

    def levels(self, table: Table) -> Levels:
        self.require_table(table)
        status = np.asarray(table.columns[self.status])
        hit = np.char.lower(np.char.strip(status.astype(str))) == "u"
        lower, no_lower = self._column(table, self.lower, hit)
        upper, no_upper = self._column(table, self.upper, hit)
        sliding, _ = self._column(table, self.sliding, hit)
        silent = no_lower & no_upper
        percent = to_pair(self.protection)
        below, above = compute_percentages(table, percent)
        lower = np.where(silent, cap_at_value(table, below), lower)
        upper = np.where(silent, above, upper)
        reasons = [
            Reason(self.text, cells, lambda cell: "the status is unsafe", share)
            for where, share in ((~silent, None), (silent, percent))
            if (cells := np.flatnonzero(hit & where)).size
        ]
        return Levels.of(
            np.asarray(hit), lower=lower, upper=upper, sliding=sliding, reasons=reasons, least=table.unit
        )

    def _column(self, table: Table, name: str, hit: Mask) -> tuple[Units, Mask]:
        """Return a column of protection levels in units, per cell, and a mask of where it is empty."""
        if name not in table.columns:
            return np.zeros(len(table), dtype=np.int64), np.ones(len(table), dtype=bool)
        numbers = _to_floats(np.asarray(table.columns[name]), name)
        missing = np.isnan(numbers)
        if (wrong := np.flatnonzero(hit & ~missing & ~((numbers >= 0) & np.isfinite(numbers)))).size:
            raise RuleError(
                "a level must be zero or more",
                place=f"column '{name}' of {table.structure.names(wrong)}",
                remedy="correct it",
            )
        amounts = np.where(missing | ~hit, 0.0, numbers)
        return exact.ceil_units(amounts, table.decimals, table.unit), missing


@dataclass(frozen=True)
class Given(Rule):
    """Levels that are given as they are, such as those of a file, to be joined with rules by ``|``."""

    given: Levels

    @property
    def text(self) -> str:
        return "marked in the file"

    def levels(self, table: Table) -> Levels:
        if self.given.sensitive.size != len(table):
            raise RuleError(
                f"levels of {pluralize(self.given.sensitive.size, 'cell')} for a table of {len(table):,}"
            )
        return self.given


def _to_floats(column: NDArray[Any], name: str) -> NDArray[np.float64]:
    if column.dtype.kind in "iufb":
        return column.astype(np.float64)
    numbers = [exact.parse_number(value) for value in column]
    return np.array([np.nan if number is None else float(number) for number in numbers])
