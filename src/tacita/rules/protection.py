"""Levels of the cells that a rule hit: by its formula, or in percent of the value.

Levels are rounded up to the table's last place. ``p`` percent of a cell ``a`` of which everyone knows ``l <=
a <= u`` is

    LPL = min(ceil(p/100 |a|), a - l),    UPL = min(ceil(p/100 |a|), u - a),

rounded up to the table's last place, as far as everyone's bounds leave room: no release can give more. A
:class:`~tacita.core.levels.Reason` holds the percentage, so that levels are computed anew for other values
and other bounds. Amounts are left as they are, and refused by the problem where they do not fit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.arithmetic import Number, add_scaled, ceil_to_unit, format_given, is_number, to_fraction
from tacita.core.errors import RuleError
from tacita.core.exact import UNBOUNDED, Mask, Units
from tacita.core.levels import Levels, Reason
from tacita.core.tables.table import Table

if TYPE_CHECKING:
    from tacita.core.attacker import Outsider

USUAL_PERCENT = 20
"""Percentage of the value that levels are where none are specified, as MAN of tau-ARGUS."""
Percentages = Number | tuple[Number, Number]
"""One percentage for both sides, or the lower and the upper."""
Protection = Percentages | None


def build_levels(
    table: Table,
    rule: str,
    hit: Mask,
    upper: Units,
    protection: Protection,
    explain: Callable[[int], str],
    lower: Units | None = None,
) -> Levels:
    """Return the protection levels of the cells that a rule hit, one entry per cell of the table.

    Without ``protection`` they are ``upper`` and (by symmetry) ``lower = upper``; with it, percentages of the
    value. LPL is capped at the value where no cell is negative: everyone is taken to know that a cell is at
    least zero. Structural zeros are never sensitive.
    """
    hit = hit.copy() if table.structural is None else hit & ~table.structural
    percent = None if protection is None else to_pair(protection)
    if percent is not None:
        lower, upper = compute_percentages(table, percent)
    low = upper if lower is None else lower
    reason = Reason(rule, np.flatnonzero(hit), explain, percent)
    return Levels.of(hit, upper=upper, lower=cap_at_value(table, low), reasons=(reason,), least=table.unit)


def cap_at_value(table: Table, lower: Units) -> Units:
    """Return the lower protection levels LPL, at most the value in a table without negative cells."""
    if table.units.size and table.units.min() < 0:
        return lower
    return np.minimum(lower, table.units)


def compute_least_levels(table: Table) -> Units:
    """Return the least protection level per cell: one step between values that a reader thinks possible."""
    return np.full(len(table), table.unit, dtype=np.int64)


def check_protection(rule: str, protection: object) -> None:
    """Refuse a rule's protection that is not None, a percentage, or a pair ``(lower, upper)`` of them."""
    if protection is None:
        return
    pair = protection if isinstance(protection, tuple) else (protection, protection)
    if len(pair) != 2 or not all(is_number(p) and 0 <= p < float("inf") for p in pair):
        raise RuleError(
            f"protection must be a percentage of the value, not {format_given(protection)}",
            place=rule,
            remedy="give one number, zero or more, or two: the lower and the upper",
        )


def to_pair(protection: Percentages) -> tuple[Number, Number]:
    """Return a rule's ``(lower, upper)`` protection percentages, where one may stand for both."""
    return protection if isinstance(protection, tuple) else (protection, protection)


def compute_percentages(table: Table, protection: Percentages) -> tuple[Units, Units]:
    """Return ``(LPL, UPL)`` of every cell as percentages of its absolute value, rounded up, not capped."""
    below, above = to_pair(protection)
    size = np.abs(table.units)
    lower, upper = (
        ceil_to_unit(add_scaled([size], [share.numerator]), share.denominator, table.unit)
        for share in (to_fraction(below) / 100, to_fraction(above) / 100)
    )
    return lower, upper


def find_room(table: Table, everyone: Outsider) -> tuple[Units, Units]:
    """Return how far everyone's bounds lie below and above each value, in units: the most levels can be."""
    below = np.where(everyone.lower <= -UNBOUNDED, UNBOUNDED, table.units - everyone.lower)
    above = np.where(everyone.upper >= UNBOUNDED, UNBOUNDED, everyone.upper - table.units)
    return below, above


def cap_levels(levels: Levels, table: Table, everyone: Outsider | None) -> Levels:
    """Return protection levels whose percentages are capped to everyone's bounds; None: not capped."""
    if all(reason.percent is None for reason in levels.reasons):
        return levels
    return add_percentages(drop_percentages(levels, table), table, everyone)


def find_doubtful_percentages(levels: Levels, table: Table, everyone: Outsider) -> tuple[str, ...]:
    """Return warnings of levels in percent that exceed everyone's bounds, or that look like shares."""
    found: dict[str, Mask] = {}
    shares: list[str] = []
    for reason in levels.reasons:
        if reason.percent is None or not reason.cells.size:
            continue
        text = " and ".join(dict.fromkeys(f"{float(p):g}" for p in reason.percent))
        shares += [f"{float(p):g}" for p in reason.percent if 0 < p < 1]
        required = np.array(compute_percentages(table, reason.percent))[:, reason.cells]
        capped = (required > np.array(find_room(table, everyone))[:, reason.cells]).any(axis=0)
        hit = found.setdefault(text, np.zeros(len(table), dtype=bool))
        hit[reason.cells[capped]] = True
    return (
        *(
            f"{share} is a percentage here: levels are {share} % of the value, hardly anything; write "
            f"{float(share) * 100:g} for {float(share) * 100:g} %"
            for share in dict.fromkeys(shares)
        ),
        *(
            f"{table.structure.names(np.flatnonzero(hit), 3)}: everyone's bounds leave no room for levels of "
            f"{text} % of the value, so levels are only as large as these bounds allow: ask for a smaller "
            "percentage, or widen the bounds"
            for text, hit in found.items()
            if hit.any()
        ),
    )


def drop_percentages(levels: Levels, table: Table) -> Levels:
    """Return protection levels without LPL and UPL that only a percentage of the value requires.

    They are zero, and so is the least sliding level of a cell that had no others: :func:`add_percentages`
    computes both from values and bounds.
    """
    lower, upper = _compute_percentage_levels(levels, table, None)
    follows = _find_hit(levels, in_percent=True) & ~_find_hit(levels, in_percent=False)
    # A level beyond the percentage is an amount, whatever its reason says.
    follows &= (levels.lower <= lower) & (levels.upper <= upper)
    least = follows & (levels.lower == 0) & (levels.upper == 0) & (levels.sliding <= table.unit)
    return Levels(
        levels.sensitive,
        np.where(follows, 0, levels.lower),
        np.where(follows, 0, levels.upper),
        np.where(least, 0, levels.sliding),
        levels.reasons,
    )


def add_percentages(amounts: Levels, table: Table, everyone: Outsider | None) -> Levels:
    """Return protection levels joined with what their reasons require in percent of the values."""
    lower, upper = _compute_percentage_levels(amounts, table, everyone)
    return Levels.of(
        amounts.sensitive,
        upper=np.maximum(amounts.upper, upper),
        lower=np.maximum(amounts.lower, lower),
        sliding=amounts.sliding,
        reasons=amounts.reasons,
        least=table.unit,
    )


def _compute_percentage_levels(levels: Levels, table: Table, everyone: Outsider | None) -> Units:
    """Return rows LPL and UPL that rules require in percent of the value, per cell; zero elsewhere."""
    found = np.zeros((2, len(table)), dtype=np.int64)
    for reason in levels.reasons:
        if reason.percent is not None:
            shares = np.array(compute_percentages(table, reason.percent))[:, reason.cells]
            found[:, reason.cells] = np.maximum(found[:, reason.cells], shares)
    return found if everyone is None else np.minimum(found, np.array(find_room(table, everyone)))


def _find_hit(levels: Levels, *, in_percent: bool) -> Mask:
    """Return a mask of the cells that a rule hit with levels in percent, or with amounts."""
    hit = np.zeros(levels.sensitive.size, dtype=bool)
    for reason in levels.reasons:
        if (reason.percent is not None) is in_percent:
            hit[reason.cells] = True
    return hit
