"""Rounded values that are given for some cells, such as a rounding of the sensitive cells."""

from __future__ import annotations

import numpy as np

from tacita.core.errors import InputError
from tacita.core.exact import UNBOUNDED, Mask, Units
from tacita.methods.options.per_cell import get_column, to_table_units
from tacita.problem.problem import Problem

FREE = -UNBOUNDED
"""Marks cells without a given value."""


def read_given(problem: Problem, name: str, base: Units, cells: Mask) -> Units:
    """Return the values of a column in units, ``FREE`` where it is empty.

    Raises
    ------
    InputError
        A value is no multiple of the base next to the true value, or its cell is not rounded.
    """
    table, column = problem.table, get_column(problem, name, "given")
    empty = np.array(
        [entry is None or entry != entry or str(entry).strip() == "" for entry in column.tolist()]
    )
    filled = np.where(empty, 0, column)
    given = np.where(empty, FREE, to_table_units(problem, filled, "given"))
    floor = table.units // base * base
    may_change = cells & ~problem.must_publish
    allowed = (given == floor) | ((given == floor + base) & (table.units > floor))
    if (wrong := np.flatnonzero(~empty & may_change & ~allowed)).size:
        raise InputError(
            f"option 'given': the value for ({table.name(int(wrong[0]))}) is no multiple of its base next to "
            "the true value",
            remedy="correct it, or leave it empty",
        )
    if (wrong := np.flatnonzero(~empty & ~may_change & (given != table.units))).size:
        raise InputError(
            f"option 'given': ({table.name(int(wrong[0]))}) is not rounded", remedy="leave its value empty"
        )
    return given
