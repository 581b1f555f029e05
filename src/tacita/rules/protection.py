"""From the cells that a rule hit to their levels.

A rule has a formula for LPL and UPL; ``protection`` asks for percentages of the value instead. Levels are
rounded up to the table's last place.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tacita.errors import RuleError
from tacita.exact import Mask, Units
from tacita.levels import Levels, Reason
from tacita.rules.arithmetic import Number, as_fraction, ceil_to_unit, combine, is_number, said
from tacita.tables.table import Table

Protection = Number | tuple[Number, Number] | None


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
    below, above = pair_of(protection)
    size = np.abs(table.units)
    lower, upper = (
        ceil_to_unit(combine([size], [share.numerator]), share.denominator, table.unit)
        for share in (as_fraction(below) / 100, as_fraction(above) / 100)
    )
    return lower, upper


def pair_of(protection: Number | tuple[Number, Number]) -> tuple[Number, Number]:
    """``(lower, upper)`` percentages, where one may stand for both."""
    return protection if isinstance(protection, tuple) else (protection, protection)


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
            f"{rule}: protection must be a percentage of the value, not {said(protection)}: "
            "give one number, zero or more, or two: the lower and the upper"
        )
