"""From the cells that a rule hit to their levels.

A rule has a formula for LPL and UPL; ``protection`` asks for :mod:`percentages <tacita.rules.percentages>` of
the value instead. Levels are rounded up to the table's last place.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tacita.core.arithmetic import is_number, said
from tacita.core.errors import RuleError
from tacita.core.exact import Mask, Units
from tacita.core.levels import Levels, Reason
from tacita.core.tables.table import Table
from tacita.rules.percentages import Percentages, pair_of, percent_of_value

Protection = Percentages | None


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
    value. LPL is capped at the value where no cell is negative: everyone is taken to know that a cell is at
    least zero. Structural zeros are never sensitive.
    """
    hit = hit.copy() if table.structural is None else hit & ~table.structural
    percent = None if protection is None else pair_of(protection)
    if percent is not None:
        lower, upper = percent_of_value(table, percent)
    low = upper if lower is None else lower
    reason = Reason(rule, np.flatnonzero(hit), explain, percent)
    return Levels.of(hit, upper=upper, lower=capped_at_value(table, low), reasons=(reason,), least=table.unit)


def capped_at_value(table: Table, lower: Units) -> Units:
    """LPL that a table without negative cells allows."""
    if table.units.size and table.units.min() < 0:
        return lower
    return np.minimum(lower, table.units)


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
