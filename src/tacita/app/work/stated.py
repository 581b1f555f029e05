"""What a file said about the cells of its table, kept while the table is changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacita.core import exact
from tacita.core.attacker import Insider, Outsider
from tacita.core.errors import InputError
from tacita.core.exact import UNBOUNDED, Cells, Floats, Units
from tacita.core.levels import Levels, Reason
from tacita.core.tables.table import Table
from tacita.rules.percentages import with_shares


@dataclass(frozen=True, eq=False)
class Stated:
    """What a file said about the cells of its table, besides their values.

    Attributes
    ----------
    levels
        Levels that are amounts; those in percent of the value are zero here, and a reason says the percentage
        (see :func:`tacita.rules.percentages.amounts_in`).
    cost
        Only if it is not the value; NaN for cells that the file did not have.
    """

    levels: Levels
    outsider: Outsider
    insiders: tuple[Insider, ...] = ()
    cost: Floats | None = None

    @classmethod
    def unless_usual(
        cls,
        table: Table,
        levels: Levels,
        outsider: Outsider,
        insiders: tuple[Insider, ...],
        cost: Floats | None,
    ) -> Stated | None:
        """None where all this is what is assumed of any table anyway."""
        known = not (table.units < 0).any()
        usual = Outsider.of(table) if known else outsider
        as_usual = known and all(
            np.array_equal(own, other)
            for own, other in ((outsider.lower, usual.lower), (outsider.upper, usual.upper))
        )
        said = len(levels) or insiders or cost is not None or not as_usual
        return cls(levels, outsider, insiders, cost) if said else None

    def levels_of(self, table: Table, outsider: Outsider) -> Levels:
        """What is asked for of a table: amounts as they were said, percentages of the values it has now."""
        return with_shares(self.levels, table, outsider)

    def costs(self, table: Table) -> Floats | None:
        """What hiding each cell costs: as the file said, or else the value it has now."""
        if self.cost is None:
            return None
        return np.where(np.isnan(self.cost), np.abs(table.values), self.cost)

    def at(self, table: Table, places: Cells, decimals: int) -> Stated:
        """The same for a changed table, whose cells stand in other ``places`` (-1: gone) and which may count
        in a finer last place than ``decimals``; of new cells nothing was said. Of cells that became one, what
        is asked for and what is known of each holds.
        """
        if self.insiders:
            raise InputError(
                f"{self.insiders[0].name} attacks this table with knowledge of single cells, which would be "
                "lost with new cells or decimals: change the values only, or begin with another table"
            )
        stay = np.flatnonzero(places >= 0)
        here = places[stay]
        new = np.ones(len(table), dtype=bool)
        new[here] = False

        def most(column: NDArray[Any], least: int) -> NDArray[Any]:
            result = np.full(len(table), least, dtype=column.dtype)
            np.maximum.at(result, here, column[stay])
            return result

        def units(column: Units) -> Units:
            return exact.rescale(column, decimals, table.decimals)

        def reason_at(reason: Reason) -> Reason:
            before = {int(places[cell]): int(cell) for cell in reason.cells if places[cell] >= 0}
            return replace(
                reason,
                cells=np.array(sorted(before), dtype=np.int64),
                explain=lambda cell: reason.explain(before[int(cell)]),
            )

        own = self.levels
        levels = Levels(
            most(own.sensitive, False),
            most(units(own.lower), 0),
            most(units(own.upper), 0),
            most(units(own.sliding), 0),
            tuple(reason_at(reason) for reason in own.reasons),
        )
        lower = most(units(self.outsider.lower), -UNBOUNDED)
        upper = -most(-units(self.outsider.upper), -UNBOUNDED)
        everyone = Outsider(np.where(new, 0, lower), upper)
        cost = None
        if self.cost is not None:
            known = most(np.where(np.isnan(self.cost), -1.0, self.cost), -1)
            cost = np.where(known < 0, np.nan, known)
        return Stated(levels, everyone, (), cost)
