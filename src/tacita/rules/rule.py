"""Rules: ``Table -> Levels`` and nothing else, joined with ``|``; the base of rules on contributors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, ClassVar, Final, Literal

import numpy as np

from tacita.core.errors import RuleError, did_you_mean
from tacita.core.exact import Cells, Mask, Units
from tacita.core.levels import Levels
from tacita.core.tables.cell_selection import CellList, freeze_cells, read_cells
from tacita.core.tables.contributions import Contributions
from tacita.core.tables.table import Table
from tacita.core.words import list_names
from tacita.rules.protection import Protection, cap_levels, check_protection

if TYPE_CHECKING:
    from tacita.core.attacker import Outsider

By = Literal["respondent", "holding"]
RESPONDENT: Final = "respondent"
HOLDING: Final = "holding"
OwnLevels = tuple[Units, Units, Units]
"""LPL, UPL and SPL."""


@dataclass(frozen=True, eq=False)
class Inside:
    """Insiders in cells: row ``r`` says that some attacker put ``known[r]`` units into ``cells[r]``.

    ``mine[r, j]`` is true where the ``j``-th largest contribution that is stored of that cell is theirs.
    ``by`` says whether attackers are respondents or holdings.
    """

    cells: Cells
    known: Units
    mine: Mask
    by: str = RESPONDENT


class Rule(ABC):
    """A rule decides which cells of a table are sensitive and how uncertain they must stay.

    A rule that can be written has a sentence on what it ``does`` and an ``example`` of its written form;
    ``metadata['help']`` of its fields explains each argument.
    """

    does: ClassVar[str]
    usual: ClassVar[str] = ""
    example: ClassVar[str]

    @property
    @abstractmethod
    def text(self) -> str:
        """The sensitivity rule in a few words, as reports show it."""

    @abstractmethod
    def levels(self, table: Table) -> Levels:
        """Return the sensitive cells of a table with LPL, UPL and SPL, for the usual bounds of everyone."""

    def required_levels(self, table: Table, everyone: Outsider) -> Levels:
        """Return the levels where everyone knows these bounds, to which percentages are capped."""
        return cap_levels(self.levels(table), table, everyone)

    def levels_against(self, table: Table, inside: Inside) -> OwnLevels:
        """Return ``(LPL, UPL, SPL)`` against insiders, one entry per row of ``inside``.

        Rules that do not look at contributors require the same against everyone. The caller caps LPL at
        ``a - s``, since who put in ``s`` knows that the cell is no smaller.
        """
        own = cap_levels(self.levels(table), table, None)
        return own.lower[inside.cells], own.upper[inside.cells], own.sliding[inside.cells]

    def exempt_cells(self, table: Table) -> Mask:
        """Return a mask of the cells that the rule would hit, had they not been declared safe by hand."""
        return np.zeros(len(table), dtype=bool)

    def require_table(self, table: Table) -> None:
        """Refuse a table that lacks what the rule looks at, such as contributions; asks nothing of values."""
        return None

    def warnings(self, table: Table) -> tuple[str, ...]:
        """Return warnings of arguments of the rule that may be a mistake for this table."""
        return ()

    def with_consent(self, respondents: Iterable[object]) -> Rule:
        """Return the same rule where these contributors have consented to be recognised.

        Rules that protect no contributor (marks, zeros, given levels) stay as they are.
        """
        return self

    def __or__(self, other: Rule) -> AnyOf:
        return AnyOf((*_parts(self), *_parts(other)))

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class AnyOf(Rule):
    """Sensitive by any of several rules; of their LPL, UPL and SPL the largest each."""

    rules: tuple[Rule, ...]

    def __post_init__(self) -> None:
        if not self.rules:
            raise RuleError("no rule is given", remedy="name at least one, such as threshold(3)")

    @property
    def text(self) -> str:
        return " | ".join(rule.text for rule in self.rules)

    def levels(self, table: Table) -> Levels:
        return reduce(or_, (rule.levels(table) for rule in self.rules))

    def required_levels(self, table: Table, everyone: Outsider) -> Levels:
        return reduce(or_, (rule.required_levels(table, everyone) for rule in self.rules))

    def levels_against(self, table: Table, inside: Inside) -> OwnLevels:
        lower, upper, sliding = np.max([rule.levels_against(table, inside) for rule in self.rules], axis=0)
        return lower, upper, sliding

    def exempt_cells(self, table: Table) -> Mask:
        # An exemption has no effect on a cell that another rule hits.
        spared = np.logical_or.reduce([rule.exempt_cells(table) for rule in self.rules])
        return np.asarray(spared & ~self.levels(table).sensitive) if spared.any() else spared

    def require_table(self, table: Table) -> None:
        for rule in self.rules:
            rule.require_table(table)

    def warnings(self, table: Table) -> tuple[str, ...]:
        return tuple(dict.fromkeys(text for rule in self.rules for text in rule.warnings(table)))

    def with_consent(self, respondents: Iterable[object]) -> Rule:
        names = to_name_set(respondents)
        return AnyOf(tuple(rule.with_consent(names) for rule in self.rules))


@dataclass(frozen=True)
class RestrictedRule(Rule):
    """A rule that holds in some cells only.

    ``cells`` are positions, tuples of codes, or the name of a boolean column of the table.
    """

    rule: Rule
    cells: CellList

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", freeze_cells(self.cells))

    @abstractmethod
    def _find_kept(self, table: Table) -> Mask:
        """Return a mask of the cells in which the rule holds."""

    def levels(self, table: Table) -> Levels:
        return self._restrict(table, self.rule.levels(table))

    def required_levels(self, table: Table, everyone: Outsider) -> Levels:
        return self._restrict(table, self.rule.required_levels(table, everyone))

    def _restrict(self, table: Table, own: Levels) -> Levels:
        keep = self._find_kept(table)
        return Levels(
            own.sensitive & keep,
            np.where(keep, own.lower, 0),
            np.where(keep, own.upper, 0),
            np.where(keep, own.sliding, 0),
            tuple(replace(reason, cells=reason.cells[keep[reason.cells]]) for reason in own.reasons),
        )

    def levels_against(self, table: Table, inside: Inside) -> OwnLevels:
        keep = self._find_kept(table)[inside.cells]
        lower, upper, sliding = self.rule.levels_against(table, inside)
        return np.where(keep, lower, 0), np.where(keep, upper, 0), np.where(keep, sliding, 0)

    def warnings(self, table: Table) -> tuple[str, ...]:
        return self.rule.warnings(table)

    def with_consent(self, respondents: Iterable[object]) -> Rule:
        return replace(self, rule=self.rule.with_consent(respondents))


class Exempt(RestrictedRule):
    """A rule, except in ``cells`` that the office declares safe by hand."""

    @property
    def text(self) -> str:
        return f"{self.rule.text}, exempt cells left out"

    def _find_kept(self, table: Table) -> Mask:
        return ~read_cells(table, self.cells, self.text)

    def exempt_cells(self, table: Table) -> Mask:
        return self.rule.exempt_cells(table) | (self.rule.levels(table).sensitive & ~self._find_kept(table))


class Within(RestrictedRule):
    """A rule of nothing but ``cells``, such as those of one of several linked tables."""

    @property
    def text(self) -> str:
        return self.rule.text

    def _find_kept(self, table: Table) -> Mask:
        return read_cells(table, self.cells, self.text)

    def exempt_cells(self, table: Table) -> Mask:
        return self.rule.exempt_cells(table) & self._find_kept(table)


def split_rule(rule: Rule) -> tuple[tuple[Rule, ...], CellList]:
    """Return the rules that are joined with ``|`` in one, and the cells that are exempt from all of them."""
    inner, exempt = (rule.rule, rule.cells) if isinstance(rule, Exempt) else (rule, ())
    return _parts(inner), exempt


def _parts(rule: Rule) -> tuple[Rule, ...]:
    return rule.rules if isinstance(rule, AnyOf) else (rule,)


def list_parts(rule: Rule) -> list[Rule]:
    """Return the rules that a rule consists of, also those that hold in some cells only, but no rule of
    rules.
    """
    if isinstance(rule, RestrictedRule):
        return list_parts(rule.rule)
    return [part for each in rule.rules for part in list_parts(each)] if isinstance(rule, AnyOf) else [rule]


@dataclass(frozen=True, kw_only=True)
class ContributorRule(Rule):
    """A rule on the contributors of a cell.

    Parameters
    ----------
    by
        ``"respondent"`` or ``"holding"``: who counts as a contributor.
    protection
        Percentage of the value, or ``(lower, upper)`` percentages, in place of the rule's own levels.
    waivers
        Contributors (by name) who have consented to be recognised.
    """

    by: By = field(
        default=RESPONDENT, metadata={"help": "whom to look at: respondents, or the holdings they belong to"}
    )
    protection: Protection = field(
        default=None,
        metadata={"help": "levels in percent of the value, or lower, upper; empty: the rule's own formula"},
    )
    waivers: frozenset[str] = field(
        default=frozenset(), metadata={"help": "contributors who have consented to be recognised"}
    )

    def __post_init__(self) -> None:
        check_by(self.text, self.by)
        check_protection(self.text, self.protection)
        object.__setattr__(self, "waivers", to_name_set(self.waivers))

    def warnings(self, table: Table) -> tuple[str, ...]:
        """Return warnings of records that count as contributors of their own, and of unknown waivers."""
        found = find_contributions(table, self.by)
        unnamed = _warn_of_unnamed(found) if self._looks_at_contributors(table) else ()
        return (*unnamed, *self._warn_of_waivers(found))

    def _looks_at_contributors(self, table: Table) -> bool:
        """Return whether the rule judges this table by who contributes to its cells, not by its values."""
        return True

    def _warn_of_waivers(self, found: Contributions | None) -> tuple[str, ...]:
        """Return a warning of waivers in the rule by contributors whom the table does not know."""
        if not self.waivers:
            return ()
        if found is None or not len(found.names):
            return (
                f"{self.text}: waivers change nothing, since the table does not know its {self.by}s by name: "
                f"tabulate records with a column of {self.by}s",
            )
        return warn_of_unknown(self.text, self.by, self.waivers, found, "waiver")

    def find_waived(self, contributions: Contributions) -> Mask:
        """Return a mask, cells by ranks, of the largest contributions whose contributors have consented, by
        the rule's waivers or by a flag in their records.
        """
        return find_slots(contributions, self.waivers, contributions.consented)

    def with_consent(self, respondents: Iterable[object]) -> Rule:
        return replace(self, waivers=self.waivers | to_name_set(respondents))

    def _suffix(self) -> str:
        return " by holding" if self.by == HOLDING else ""


def check_by(rule: str, by: str) -> None:
    """Refuse a rule on contributors that are neither respondents nor holdings."""
    if by not in (RESPONDENT, HOLDING):
        raise RuleError(
            f"contributors are distinguished by {RESPONDENT} or by {HOLDING}, not by '{by}'", place=rule
        )


def find_contributions(table: Table, by: str) -> Contributions | None:
    """Return the largest contributions that a rule looks at, by respondent or holding, if there are any: to
    the shadow variable of the table, or else to its value.
    """
    if table.shadow is not None:
        return table.shadow.contributions if by == RESPONDENT else table.shadow.holdings
    return table.contributions if by == RESPONDENT else table.holdings


def _warn_of_unnamed(found: Contributions | None) -> tuple[str, ...]:
    """Return a warning where records stand for the contributors that a rule on amounts looks at."""
    if found is None or not found.unnamed_records:
        return ()
    return (
        "no respondent is given, so each record counts as a contributor of its own, "
        f"{found.unnamed_records:,} in all: if one unit has several records, name the column that says whose "
        "they are as respondent",
    )


def warn_of_unknown(
    rule: str, by: str, names: Iterable[str], contributions: Contributions, what: str
) -> tuple[str, ...]:
    """Return a warning of names, given for a waiver or request of a rule, that no contributor has."""
    known = set(map(str, contributions.names))
    unknown = sorted({*names} - known)
    if not unknown:
        return ()
    nothing = f"this {what} changes nothing" if len(unknown) == 1 else f"these {what}s change nothing"
    return (
        f"{rule}: no {by} of the table is called {list_names(unknown)}"
        f"{did_you_mean(unknown[0], known)}, so {nothing}: correct the name, or take it off the list",
    )


def require_contributions(table: Table, by: str, rule: str) -> Contributions:
    """Return the largest contributions a rule looks at, by respondent or holding; refuse a table without."""
    found = find_contributions(table, by)
    if found is None:
        raise RuleError(
            f"{rule} needs the largest contributions per cell by {by}, and the table has none",
            remedy=f"tabulate records with a column of {by}s, or name the columns of the largest "
            "contributions",
        )
    return found


def to_name_set(names: Iterable[object]) -> frozenset[str]:
    """Return the names of contributors in a rule's argument as a set; a single text is one name."""
    return frozenset([names]) if isinstance(names, str) else frozenset(map(str, names))


def find_slots(contributions: Contributions, names: frozenset[str], flagged: Mask | None = None) -> Mask:
    """Return a mask, cells by ranks, of the largest contributions that were made by one of ``names``, or by
    one whom ``flagged`` marks, the contributors of the rule in order.
    """
    if not len(contributions.names) or (not names and flagged is None):
        return np.zeros(contributions.who.shape, dtype=bool)
    chosen = find_named(contributions, names)
    if flagged is not None:
        chosen |= flagged
    return np.asarray((contributions.who >= 0) & chosen[contributions.who])


def find_named(contributions: Contributions, names: frozenset[str]) -> Mask:
    """Return a mask of the contributors whom a rule names, in their order."""
    many = len(contributions.names)
    if not names:
        return np.zeros(many, dtype=bool)
    return np.fromiter((str(name) in names for name in contributions.names), bool, many)
