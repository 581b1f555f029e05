"""What files state: a table, and levels, bounds, costs, cells to be published, insiders and earlier releases.

A specification says what the user wants; a statement is what was read for it. Together they are a problem,
and no file is read again: see :meth:`tacita.specification.specification.Specification.problem`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacita.core import exact
from tacita.core.attacker import Insider, Outsider
from tacita.core.errors import InputError
from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask, Units
from tacita.core.levels import Levels, Reason
from tacita.core.release import Release
from tacita.core.tables.table import Table
from tacita.formats.argus.apriori import Apriori
from tacita.problem.problem import Problem
from tacita.rules.protection import add_percentages, drop_percentages


@dataclass(frozen=True, eq=False)
class Statement:
    """A table with everything that files state of its cells besides their values.

    Attributes
    ----------
    levels
        Amounts. Levels in percent of the value are zero here, and a reason names the percentage; see
        :func:`tacita.rules.protection.drop_percentages`.
    outsider
        What everyone knows of each cell; None: what is usual.
    cost
        What hiding each cell costs, NaN where that is its value; None: the value of each.
    must_publish
        Cells that must be published unless a rule makes them sensitive.
    must_hide
        Cells that are never published.
    insiders
        Attackers who know single cells.
    published
        Releases that readers may have.
    apriori
        Decisions on single cells, which are applied after the rules, by the name of a linked table.
    """

    table: Table
    levels: Levels
    must_publish: Mask
    must_hide: Mask
    outsider: Outsider | None = None
    cost: Floats | None = None
    insiders: tuple[Insider, ...] = field(default=())
    published: tuple[Release, ...] = ()
    apriori: Mapping[str, Apriori] = field(default_factory=dict)

    @classmethod
    def of(cls, found: Table | Problem) -> Statement:
        """Return the statement of a specification's files: a table alone, or a problem with its levels."""
        if isinstance(found, Table):
            none = np.zeros(len(found), dtype=bool)
            return cls(found, Levels.none(len(found)), none, none)
        table, everyone = found.table, found.outsider_beforehand
        levels = drop_percentages(found.levels, table)
        return cls(
            table,
            replace(levels, reasons=tuple(reason for reason in levels.reasons if reason.cells.size)),
            found.must_publish,
            found.must_hide,
            None if _is_usual(table, everyone) else everyone,
            # Costs that are the values follow them when they are changed.
            None if np.array_equal(found.cost, np.abs(table.values)) else found.cost,
            tuple(each for each in found.given_attackers if isinstance(each, Insider)),
            found.already_published,
        )

    def levels_against(self, everyone: Outsider) -> Levels:
        """Return the levels that files state as amounts; percentages of the value keep to these bounds."""
        return add_percentages(self.levels, self.table, everyone)

    @property
    def costs(self) -> Floats | str:
        """The cost of hiding each cell that files state, or the word ``value`` if they state none."""
        if self.cost is None:
            return "value"
        return np.where(np.isnan(self.cost), np.abs(self.table.values), self.cost)

    def with_table(self, table: Table, places: Cells) -> Statement:
        """Return what files stated, on a changed table whose cells are in other ``places`` (-1: removed).

        Of new cells nothing is stated. Of cells that became one, what is stated of each holds.

        Raises
        ------
        InputError
            An insider knows single cells, and cells or decimals are others.
        """
        before = self.table
        unmoved = len(table) == len(before) and np.array_equal(places, np.arange(len(before)))
        if unmoved and table.decimals == before.decimals:
            return replace(self, table=table)
        if self.insiders:
            raise InputError(
                f"{self.insiders[0].name} attacks this table with knowledge of single cells, which would be "
                "lost with new cells or decimals",
                remedy="change the values only, or begin with another table",
            )
        stay = np.flatnonzero(places >= 0)
        here = places[stay]

        def most(column: NDArray[Any], least: int) -> NDArray[Any]:
            result = np.full(len(table), least, dtype=column.dtype)
            np.maximum.at(result, here, column[stay])
            return result

        def units(column: Units) -> Units:
            return exact.rescale(column, before.decimals, table.decimals)

        own, everyone, cost = self.levels, self.outsider, self.cost
        levels = Levels(
            most(own.sensitive, False),
            most(units(own.lower), 0),
            most(units(own.upper), 0),
            most(units(own.sliding), 0),
            tuple(_move_reason(reason, places) for reason in own.reasons),
        )
        if everyone is not None:
            lower, upper = most(units(everyone.lower), -UNBOUNDED), -most(-units(everyone.upper), -UNBOUNDED)
            new = ~np.isin(np.arange(len(table)), here)
            everyone = Outsider(np.where(new, 0, lower), upper)
        if cost is not None:
            known = most(np.where(np.isnan(cost), -1.0, cost), -1)
            cost = np.where(known < 0, np.nan, known)
        return replace(
            self,
            table=table,
            levels=levels,
            must_publish=most(self.must_publish, False),
            must_hide=most(self.must_hide, False),
            outsider=everyone,
            cost=cost,
        )


def _move_reason(reason: Reason, places: Cells) -> Reason:
    before = {int(places[cell]): int(cell) for cell in reason.cells if places[cell] >= 0}
    return replace(
        reason,
        cells=np.array(sorted(before), dtype=np.int64),
        explain=lambda cell: reason.explain(before[int(cell)]),
    )


def _is_usual(table: Table, everyone: Outsider) -> bool:
    """Return whether the bounds that files state are the usual ones: no cell negative, any may be large."""
    if (table.units < 0).any():
        return False
    usual = Outsider.of(table)
    return np.array_equal(everyone.lower, usual.lower) and np.array_equal(everyone.upper, usual.upper)
