"""How much stays hidden at each level of detail, so that a breakdown is chosen before anything is hidden.

A row stands for one combination of levels: the table is made that coarse, the rules judge its cells, and a
suppression is searched for within a short time. So the hidden cells are those of a release that protects, not
of the best one; ``gap`` says how far their value may be from the least.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import nan, prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tacita.attackers.insiders import AttackerLike
from tacita.core.errors import InputError, TacitaError, TacitaWarning
from tacita.core.run import Run
from tacita.core.tables.coarsening import coarsen
from tacita.core.tables.frames import Framed
from tacita.core.tables.table import Table
from tacita.methods.suppression.suppression import Suppression
from tacita.problem.problem import Problem
from tacita.rules import Rule

if TYPE_CHECKING:
    import pyarrow as pa

USUAL_SECONDS = 2.0
"""How long a suppression is searched for at each level of detail."""
MOST_ROWS = 100


@dataclass(frozen=True)
class DetailRow:
    """One level of detail.

    Attributes
    ----------
    levels
        Per dimension how many levels of its hierarchy are shown below the total.
    cells, sensitive
        How many cells the table has, and how many of them are sensitive.
    hidden
        How many cells the suppression that was found hides, sensitive ones included; None: none was found.
    percent
        The value of hidden cells that are no totals, in percent of all such cells.
    gap
        How far the loss of this suppression may be above the least, as a share; 0: it is the least.
    note
        Why there is no suppression.
    """

    levels: Mapping[str, int]
    cells: int
    sensitive: int
    hidden: int | None = None
    percent: float = nan
    gap: float = nan
    note: str = ""


class DetailComparison(Framed, tuple[DetailRow, ...]):
    """One row per combination of levels, the coarsest first; as text, a table. For internal use."""

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with one row per level of detail and the columns of :class:`DetailRow`."""
        import pyarrow as pa

        names = self[0].levels if self else {}
        rest = ("cells", "sensitive", "hidden", "percent", "gap", "note")
        columns = {name: [row.levels[name] for row in self] for name in names}
        return pa.table({**columns, **{name: [getattr(row, name) for row in self] for name in rest}})

    def __str__(self) -> str:
        lines = [self.heads, *map(describe_row, self)]
        widths = [max(len(line[k]) for line in lines) for k in range(len(self.heads))]
        return "\n".join(
            "  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )

    @property
    def heads(self) -> list[str]:
        """The heads of the columns of the comparison as text, one per level and five more."""
        return [*(self[0].levels if self else ()), "cells", "sensitive", "hidden", "% of value", "least"]


def describe_row(row: DetailRow) -> list[str]:
    """Return the cells of a row of a comparison of detail, as text."""
    plain = [*map(str, row.levels.values()), f"{row.cells:,}", f"{row.sensitive:,}"]
    if row.hidden is None:
        return [*plain, "none", "", row.note]
    return [*plain, f"{row.hidden:,}", f"{row.percent:.1f}", "yes" if row.gap == 0 else f"to {row.gap:.0%}"]


def compare_detail(
    table: Table,
    rule: Rule | str,
    attackers: AttackerLike | Sequence[AttackerLike] | None = None,
    cost: str | ArrayLike = "value",
    *,
    time_limit: float = USUAL_SECONDS,
) -> DetailComparison:
    """Return how many cells stay hidden at each level of detail of a table.

    Parameters
    ----------
    table
        The table in full detail, with all totals.
    rule, attackers, cost
        As for :class:`Problem`; a cost that is a number per cell is refused, since cells differ.
    time_limit
        Seconds to search for a suppression, per row.

    Raises
    ------
    InputError
        The table has no hierarchy, or too many combinations of levels.
    """
    if not isinstance(cost, str):
        raise InputError("costs are given per cell, and cells differ", remedy="name a cost or a column")

    def pose(levels: Mapping[str, int]) -> Problem:
        return Problem(coarsen(table, levels), rule, attackers, cost)

    return compare_levels(list_levels(table), pose, time_limit)


def list_levels(table: Table, fixed: Mapping[str, int] | None = None) -> dict[str, range]:
    """Return the levels that each dimension of a table can be shown at; ``fixed`` ones are not varied.

    A dimension with several hierarchies is shown as it is.
    """
    if len(table.structure.parts) > 1 or not table.structure.dimensions:
        raise InputError(
            "levels of detail are those of one table with dimensions",
            remedy="compare each of the linked tables alone",
        )
    found = {}
    for dimension in table.structure.dimensions:
        deepest = int(dimension.trees[0].depth.max())
        varied = len(dimension.trees) == 1 and dimension.name not in (fixed or {})
        if len(dimension.trees) == 1:
            found[dimension.name] = range(1 if varied else deepest, deepest + 1)
    rows = prod(len(levels) for levels in found.values())
    if rows == 1:
        raise InputError(
            "no dimension has a hierarchy of several levels, so there is no detail to choose",
            remedy="Give a hierarchy, or recode codes by a file.",
            options=["hierarchy", "recode"],
        )
    if rows > MOST_ROWS:
        raise InputError(
            f"there are {rows:,} combinations of levels",
            remedy="Fix the levels of some dimensions.",
            options=["levels"],
        )
    return found


def compare_levels(
    levels: Mapping[str, range], pose: Callable[[Mapping[str, int]], Problem], time_limit: float
) -> DetailComparison:
    """Return how many cells stay hidden at each combination of levels, whose problem ``pose`` returns."""
    rows = []
    for chosen in product(*levels.values()):
        named = dict(zip(levels, chosen, strict=True))
        with warnings.catch_warnings():
            # Those of the full detail are reported where it is read.
            warnings.simplefilter("ignore", TacitaWarning)
            rows.append(_measure(named, pose(named), time_limit))
    return DetailComparison(rows)


def _measure(levels: Mapping[str, int], problem: Problem, time_limit: float) -> DetailRow:
    """Return what a suppression of one level of detail hides, if one is found in time."""
    plain = DetailRow(levels, len(problem.table), len(problem.levels))
    try:
        release = Suppression().protect(problem, Run(time_limit=time_limit))
    except TacitaError as error:
        return DetailRow(levels, plain.cells, plain.sensitive, note=f"{type(error).__name__}: {error.fault}")
    values, inner = np.abs(problem.table.values), ~problem.table.structure.is_total
    all_values = float(values[inner].sum())
    lost = float(values[inner & release.hidden].sum())
    return DetailRow(
        levels,
        plain.cells,
        plain.sensitive,
        int(release.hidden.sum()),
        100 * lost / all_values if all_values else 0.0,
        nan if release.outcome is None else release.outcome.gap,
    )
