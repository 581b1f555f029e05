"""What a rule is: ``Table -> Levels`` and nothing else; rules combine with ``|``.

Rules decide in integers. A percentage such as 12.5 becomes the fraction 1/8, a comparison such as
``x > 12.5 % of X`` becomes ``8 x > X``, so no cell is called safe or sensitive by a rounding error. Levels
are rounded up to the table's last place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite, lcm
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from tacita.errors import RuleError
from tacita.exact import Cells, Mask, Units
from tacita.levels import Levels, Reason
from tacita.tables.contributions import Contributions
from tacita.tables.table import Table

Number = int | float | Fraction
Protection = Number | tuple[Number, Number] | None
CellList = str | Iterable[int | tuple[str, ...]]
OwnLevels = tuple[Units, Units, Units]

RESPONDENT, HOLDING = "respondent", "holding"


@dataclass(frozen=True, eq=False)
class Inside:
    """Insiders in cells: row ``r`` says that some attacker put ``known[r]`` units into ``cells[r]``.

    ``mine[r, j]`` is true where the ``j``-th largest contribution that is stored of that cell is his. ``by``
    says whether attackers are respondents or holdings.
    """

    cells: Cells
    known: Units
    mine: Mask
    by: str = RESPONDENT


class Rule(ABC):
    """Says which cells of a table are sensitive and how uncertain they must stay."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The rule in a few words, as reports show it."""

    @abstractmethod
    def levels(self, table: Table) -> Levels:
        """Sensitive cells of a table with LPL, UPL and SPL."""

    def against(self, table: Table, inside: Inside) -> OwnLevels:
        """``(LPL, UPL, SPL)`` against insiders, one entry per row of ``inside``.

        Rules that look at nobody in particular ask the same of everyone. The caller caps LPL at ``a - s``,
        since who put in ``s`` knows that the cell is no smaller.
        """
        own = self.levels(table)
        return own.lower[inside.cells], own.upper[inside.cells], own.sliding[inside.cells]

    def waived_by(self, respondents: Iterable[object]) -> Rule:
        """The same rule where these contributors have consented to be recognised.

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
            raise RuleError("no rule is given: name at least one, such as threshold(3)")

    @property
    def text(self) -> str:
        return " | ".join(rule.text for rule in self.rules)

    def levels(self, table: Table) -> Levels:
        joined = self.rules[0].levels(table)
        for rule in self.rules[1:]:
            joined = joined | rule.levels(table)
        return joined

    def against(self, table: Table, inside: Inside) -> OwnLevels:
        lower, upper, sliding = self.rules[0].against(table, inside)
        for rule in self.rules[1:]:
            low, high, slide = rule.against(table, inside)
            lower, upper, sliding = (
                np.maximum(lower, low),
                np.maximum(upper, high),
                np.maximum(sliding, slide),
            )
        return lower, upper, sliding

    def waived_by(self, respondents: Iterable[object]) -> Rule:
        names = name_set(respondents)
        return AnyOf(tuple(rule.waived_by(names) for rule in self.rules))


@dataclass(frozen=True)
class Exempt(Rule):
    """A rule, except in cells that the office declares safe by hand.

    ``cells`` are positions, tuples of codes, or the name of a boolean column of the table.
    """

    rule: Rule
    cells: CellList

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", settled_list(self.cells))

    @property
    def text(self) -> str:
        return f"{self.rule.text}, exempt cells left out"

    def levels(self, table: Table) -> Levels:
        own, keep = self.rule.levels(table), ~cell_mask(table, self.cells, self.text)
        return Levels(
            own.sensitive & keep,
            np.where(keep, own.lower, 0),
            np.where(keep, own.upper, 0),
            np.where(keep, own.sliding, 0),
            tuple(replace(reason, cells=reason.cells[keep[reason.cells]]) for reason in own.reasons),
        )

    def against(self, table: Table, inside: Inside) -> OwnLevels:
        keep = ~cell_mask(table, self.cells, self.text)[inside.cells]
        lower, upper, sliding = self.rule.against(table, inside)
        return np.where(keep, lower, 0), np.where(keep, upper, 0), np.where(keep, sliding, 0)

    def waived_by(self, respondents: Iterable[object]) -> Rule:
        return replace(self, rule=self.rule.waived_by(respondents))


def _parts(rule: Rule) -> tuple[Rule, ...]:
    return rule.rules if isinstance(rule, AnyOf) else (rule,)


# ---------------------------------------------------------------------- levels


def settle(
    table: Table,
    rule: str,
    hit: Mask,
    upper: Units,
    protection: Protection,
    explain: Callable[[int], str],
    lower: Units | None = None,
) -> Levels:
    """Levels of the cells that a rule hit, all arrays with one entry per cell of the table.

    Without ``protection`` they are ``upper`` and (by symmetry) ``lower = upper``; with it, percentages of the
    value. LPL is capped at the value where no cell is negative: everyone knows that a cell is at least zero.
    Structural zeros are never sensitive.
    """
    hit = hit.copy() if table.structural is None else hit & ~table.structural
    if protection is not None:
        lower, upper = percent_of_value(table, protection)
    low = upper if lower is None else lower
    reason = Reason(rule, np.flatnonzero(hit), explain)
    return Levels.of(hit, upper, capped_at_value(table, low), reasons=(reason,), least=table.unit)


def capped_at_value(table: Table, lower: Units) -> Units:
    """LPL that a table without negative cells allows."""
    if table.units.size and table.units.min() < 0:
        return lower
    return np.minimum(lower, table.units)


def percent_of_value(table: Table, protection: Number | tuple[Number, Number]) -> tuple[Units, Units]:
    """``(LPL, UPL)`` of every cell as percentages of its absolute value, rounded up."""
    below, above = protection if isinstance(protection, tuple) else (protection, protection)
    size = np.abs(table.units)
    lower, upper = (
        round_up([size], [share.numerator], share.denominator, table.unit)
        for share in (as_fraction(below) / 100, as_fraction(above) / 100)
    )
    return lower, upper


def minimal(table: Table) -> Units:
    """One step between two values that a reader thinks possible, for every cell."""
    return np.full(len(table), table.unit, dtype=np.int64)


def check_protection(rule: str, protection: object) -> None:
    """Refuse a protection that is neither None, a percentage, nor a pair ``(lower, upper)`` of them."""
    if protection is None:
        return
    pair = protection if isinstance(protection, tuple) else (protection, protection)
    if len(pair) != 2 or not all(is_number(p) and 0 <= p < float("inf") for p in pair):
        raise RuleError(
            f"{rule}: protection={protection!r} is not a percentage of the value: "
            "give one number (zero or more), or two as (lower, upper)"
        )


def check_by(rule: str, by: str) -> None:
    """Refuse anything but the two kinds of contributors."""
    if by not in (RESPONDENT, HOLDING):
        raise RuleError(f"{rule}: by={by!r} is unknown; use by='{RESPONDENT}' or by='{HOLDING}'")


# ---------------------------------------------------------------------- exact arithmetic


def as_fraction(number: Number) -> Fraction:
    """A parameter as people wrote it: 0.1 is one tenth."""
    return number if isinstance(number, Fraction) else Fraction(str(number))


def whole_ratio(numbers: Sequence[Fraction]) -> list[int]:
    """The smallest integers in the same proportion, up to a common factor."""
    common = lcm(*(number.denominator for number in numbers))
    return [int(number * common) for number in numbers]


def combine(columns: Sequence[Units], weights: Sequence[int]) -> NDArray[Any]:
    """``sum_r weights[r] * columns[r]``, exactly: int64 where that is wide enough, else Python integers."""
    largest = sum(abs(w) * int(np.abs(c).max(initial=0)) for c, w in zip(columns, weights, strict=True))
    kind: type = np.int64 if largest < 2**62 else object
    total: NDArray[Any] = np.zeros(columns[0].shape, dtype=kind)
    for column, weight in zip(columns, weights, strict=True):
        total += column.astype(kind) * weight
    return total


def round_up(columns: Sequence[Units], weights: Sequence[int], divisor: int, unit: int) -> Units:
    """``(sum_r weights[r] * columns[r]) / divisor`` rounded up to a multiple of ``unit``."""
    return ceil_to_unit(combine(columns, weights), divisor, unit)


def ceil_to_unit(amount: NDArray[Any], divisor: int, unit: int) -> Units:
    """``amount / divisor`` rounded up to a multiple of ``unit``."""
    return np.asarray(-(-amount // (divisor * unit)) * unit).astype(np.int64)


def is_number(value: object) -> TypeGuard[Number]:
    """True for numbers, not for truth values."""
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool)


def short(number: object) -> str:
    """A parameter as it is shown in a rule's text."""
    return f"{float(number):g}" if is_number(number) else repr(number)


def require_number(rule: str, name: str, number: object, above: float, most: float = float("inf")) -> None:
    """Refuse a parameter outside ``above < number <= most``."""
    if not (is_number(number) and isfinite(number) and above < number <= most):
        upto = f" and at most {most:g}" if isfinite(most) else ""
        raise RuleError(f"{rule}: {name}={number!r} must be a number above {above:g}{upto}")


# ---------------------------------------------------------------------- contributors and cells


def contributions_of(table: Table, by: str, rule: str) -> Contributions:
    """The largest contributions by respondent or by holding; refused where they are not known."""
    found = table.contributions if by == RESPONDENT else table.holdings
    if found is None:
        raise RuleError(
            f"{rule} needs the largest contributions per cell by {by}, and the table has none: "
            f"tabulate microdata with {by}='column', or name the columns that hold them with largest=(...)"
        )
    return found


def name_set(names: Iterable[object]) -> frozenset[str]:
    """Contributors by name; a single text is one name."""
    return frozenset([names]) if isinstance(names, str) else frozenset(map(str, names))


def slots_of(contributions: Contributions, names: frozenset[str]) -> Mask:
    """True where a stored contribution was made by one of ``names``."""
    if not names or not len(contributions.names):
        return np.zeros(contributions.who.shape, dtype=bool)
    chosen = np.fromiter((str(name) in names for name in contributions.names), bool, len(contributions.names))
    return np.asarray((contributions.who >= 0) & chosen[contributions.who])


def settled_list(cells: CellList) -> str | tuple[int | tuple[str, ...], ...]:
    """A list of cells that can be read more than once."""
    return cells if isinstance(cells, str) else tuple(cells)


def cell_mask(table: Table, cells: CellList, rule: str) -> Mask:
    """Cells given by a boolean column's name, by positions, or by tuples of codes."""
    if isinstance(cells, str):
        if cells not in table.columns:
            known = ", ".join(table.columns) or "none"
            raise RuleError(f"{rule}: the table has no column '{cells}' (columns: {known})")
        column = np.asarray(table.columns[cells])
        if column.dtype.kind not in "biu" or not np.isin(column, (0, 1)).all():
            raise RuleError(f"{rule}: column '{cells}' must hold true or false for each cell")
        return column.astype(bool)
    mask = np.zeros(len(table), dtype=bool)
    for cell in cells:
        at = table.find(*cell) if isinstance(cell, tuple) else int(cell)
        if not 0 <= at < len(table):
            raise RuleError(f"{rule}: there is no cell number {at}; cells are numbered 0 to {len(table) - 1}")
        mask[at] = True
    return mask
