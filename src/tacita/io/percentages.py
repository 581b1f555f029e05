"""Levels that are asked for in percent of the value, told apart from amounts.

A :class:`~tacita.levels.Reason` says the percentage. Where nothing more is asked for than the share of the
value which it stands for, the level follows the value, in an open case as in a file that leaves it empty.
"""

from __future__ import annotations

import numpy as np

from tacita.attackers import Outsider
from tacita.exact import Mask, Units
from tacita.io.marks import shares_of_value
from tacita.levels import Levels
from tacita.tables.table import Table


def amounts_in(levels: Levels, table: Table, outsider: Outsider) -> Levels:
    """Levels without LPL and UPL that only a percentage of the value asks for.

    They are zero, and so is the least sliding level of a cell which had no others: both are worked out with
    the values of the day.
    """
    lower, upper = shares_asked(levels, table, outsider)
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


def shares_asked(levels: Levels, table: Table, outsider: Outsider) -> Units:
    """LPL and UPL of cells that are asked for in percent of the value, one row each; zero elsewhere."""
    found = np.zeros((2, len(table)), dtype=np.int64)
    for reason in levels.reasons:
        if reason.percent is not None:
            shares = np.array(shares_of_value(table, reason.percent, outsider))[:, reason.cells]
            found[:, reason.cells] = np.maximum(found[:, reason.cells], shares)
    return found


def _hit(levels: Levels, *, in_percent: bool) -> Mask:
    """Cells with a reason that asks for percentages, or for amounts."""
    hit = np.zeros(levels.sensitive.size, dtype=bool)
    for reason in levels.reasons:
        if (reason.percent is not None) is in_percent:
            hit[reason.cells] = True
    return hit
