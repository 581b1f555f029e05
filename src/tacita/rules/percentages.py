"""Levels in percent of the value: what a percentage means, for every rule, file and mark.

``p`` percent of a cell ``a`` of which everyone knows ``l <= a <= u`` is

    LPL = min(ceil(p/100 |a|), a - l),    UPL = min(ceil(p/100 |a|), u - a),

rounded up to the table's last place: as much as is asked for, as far as everyone's bounds leave room. More no
release can give, and where there is room nothing less is asked for. A :class:`~tacita.core.levels.Reason`
says the percentage, so that levels are worked out anew for other values and for other bounds. Amounts are
left as they are, and refused by the problem where they do not fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacita.core.arithmetic import Number, as_fraction, ceil_to_unit, combine
from tacita.core.exact import UNBOUNDED, Mask, Units
from tacita.core.levels import Levels
from tacita.core.tables.table import Table

if TYPE_CHECKING:
    from tacita.core.attacker import Outsider

USUAL_PERCENT = 20
"""Percentage of the value that stands for levels where none are said, as MAN of tau-ARGUS."""
Percentages = Number | tuple[Number, Number]
"""One percentage for both sides, or the lower and the upper."""


def pair_of(protection: Percentages) -> tuple[Number, Number]:
    """``(lower, upper)`` percentages, where one may stand for both."""
    return protection if isinstance(protection, tuple) else (protection, protection)


def percent_of_value(table: Table, protection: Percentages) -> tuple[Units, Units]:
    """``(LPL, UPL)`` of every cell as percentages of its absolute value, rounded up, whatever the room."""
    below, above = pair_of(protection)
    size = np.abs(table.units)
    lower, upper = (
        ceil_to_unit(combine([size], [share.numerator]), share.denominator, table.unit)
        for share in (as_fraction(below) / 100, as_fraction(above) / 100)
    )
    return lower, upper


def room(table: Table, everyone: Outsider) -> tuple[Units, Units]:
    """How far everyone's bounds lie below and above each value."""
    below = np.where(everyone.lower <= -UNBOUNDED, UNBOUNDED, table.units - everyone.lower)
    above = np.where(everyone.upper >= UNBOUNDED, UNBOUNDED, everyone.upper - table.units)
    return below, above


def in_room(levels: Levels, table: Table, everyone: Outsider | None) -> Levels:
    """Levels where percentages are what they mean to someone with these bounds; None: whatever the room."""
    if all(reason.percent is None for reason in levels.reasons):
        return levels
    return with_shares(amounts_in(levels, table), table, everyone)


def percentage_warnings(levels: Levels, table: Table, everyone: Outsider) -> tuple[str, ...]:
    """Say of which cells a percentage asks for more than everyone's bounds allow, and which percentages look
    like shares.
    """
    found: dict[str, Mask] = {}
    shares: list[str] = []
    for reason in levels.reasons:
        if reason.percent is None or not reason.cells.size:
            continue
        text = " and ".join(dict.fromkeys(f"{float(p):g}" for p in reason.percent))
        shares += [f"{float(p):g}" for p in reason.percent if 0 < p < 1]
        asked = np.array(percent_of_value(table, reason.percent))[:, reason.cells]
        capped = (asked > np.array(room(table, everyone))[:, reason.cells]).any(axis=0)
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


def amounts_in(levels: Levels, table: Table) -> Levels:
    """Levels without LPL and UPL that only a percentage of the value asks for.

    They are zero, and so is the least sliding level of a cell which had no others: :func:`with_shares` works
    both out with the values and bounds of the day.
    """
    lower, upper = _shares(levels, table, None)
    follows = _hit(levels, in_percent=True) & ~_hit(levels, in_percent=False)
    # What is asked for beyond the percentage is an amount, whoever asks for it.
    follows &= (levels.lower <= lower) & (levels.upper <= upper)
    least = follows & (levels.lower == 0) & (levels.upper == 0) & (levels.sliding <= table.unit)
    return Levels(
        levels.sensitive,
        np.where(follows, 0, levels.lower),
        np.where(follows, 0, levels.upper),
        np.where(least, 0, levels.sliding),
        levels.reasons,
    )


def with_shares(amounts: Levels, table: Table, everyone: Outsider | None) -> Levels:
    """Amounts as they are, joined with what their reasons ask for in percent of the values."""
    lower, upper = _shares(amounts, table, everyone)
    return Levels.of(
        amounts.sensitive,
        upper=np.maximum(amounts.upper, upper),
        lower=np.maximum(amounts.lower, lower),
        sliding=amounts.sliding,
        reasons=amounts.reasons,
        least=table.unit,
    )


def _shares(levels: Levels, table: Table, everyone: Outsider | None) -> Units:
    """LPL and UPL that are asked for in percent of the value, one row each; zero elsewhere."""
    found = np.zeros((2, len(table)), dtype=np.int64)
    for reason in levels.reasons:
        if reason.percent is not None:
            shares = np.array(percent_of_value(table, reason.percent))[:, reason.cells]
            found[:, reason.cells] = np.maximum(found[:, reason.cells], shares)
    return found if everyone is None else np.minimum(found, np.array(room(table, everyone)))


def _hit(levels: Levels, *, in_percent: bool) -> Mask:
    """Cells with a reason that asks for percentages, or for amounts."""
    hit = np.zeros(levels.sensitive.size, dtype=bool)
    for reason in levels.reasons:
        if (reason.percent is not None) is in_percent:
            hit[reason.cells] = True
    return hit
