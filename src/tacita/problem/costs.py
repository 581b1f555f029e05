"""What hiding a cell costs: named costs, a column of the table, or a number per cell."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tacita.core.errors import InputError
from tacita.core.exact import Floats, Mask
from tacita.core.tables.table import Table
from tacita.core.words import pluralize

COSTS = ("value", "unit", "log", "percent", "count", "distance")
"""Named costs of hiding a cell; others are a column of the table or one number per cell."""


def find_costs(table: Table, cost: str | ArrayLike, sensitive: Mask) -> Floats:
    """Return what it costs the problem to hide each cell, by a named cost, a column or given numbers."""
    if not isinstance(cost, str):
        array = np.asarray(cost, dtype=np.float64)
        if array.shape != (len(table),):
            fault = f"{pluralize(array.size, 'cost')} for {pluralize(len(table), 'cell')}"
            raise InputError(fault, remedy="give one per cell", options=["cost"])
    elif cost == "value":
        array = np.abs(table.values).copy()
    elif cost == "unit":
        array = np.ones(len(table))
    elif cost == "log":
        array = np.log1p(np.abs(table.values))
    elif cost == "percent":
        size = np.abs(table.values)
        array = 100 * size / max(float(size[~table.structure.is_total].sum()), np.finfo(float).tiny)
    elif cost == "distance":
        array = 1.0 + _count_steps_to(table, sensitive)
    elif cost == "count":
        if table.count is None:
            raise InputError(
                "cost 'count' needs the number of respondents per cell",
                remedy="tabulate microdata or name its column",
                options=["count"],
            )
        array = table.count.astype(np.float64)
    elif cost in table.columns:
        array = np.asarray(table.columns[cost], dtype=np.float64).copy()
    else:
        remedy = f"use one of {', '.join([*COSTS, *table.columns])}, or one number per cell"
        raise InputError(f"unknown cost '{cost}'", remedy=remedy, options=["cost"])
    if (wrong := np.flatnonzero(~np.isfinite(array) | (array < 0))).size:
        fault = f"the cost of ({table.name(int(wrong[0]))}) is negative or not a number"
        raise InputError(fault, remedy="costs must be zero or more", options=["cost"])
    return array


def _count_steps_to(table: Table, targets: Mask) -> Floats:
    """Return how many sums lead from the nearest target to each cell, for the cost ``distance``; cells that
    none lead to are one step beyond the farthest.
    """
    together = abs(table.equations.matrix)
    reached, steps = targets.copy(), np.zeros(len(table))
    farther = 0
    while True:
        farther += 1
        steps[~reached] = farther
        beside = (together.T @ (together @ reached.astype(np.int64))) > 0
        if not (beside & ~reached).any():
            return steps
        reached |= beside
