"""What a file said about the cells of its table, kept while the table is changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacita import exact
from tacita.attackers import Insider, Outsider
from tacita.errors import InputError
from tacita.exact import UNBOUNDED, Cells, Floats, Units
from tacita.levels import Levels, Reason
from tacita.tables.table import Table


@dataclass(frozen=True, eq=False)
class Stated:
    """What a file said about the cells of its table, besides their values; ``cost`` only if it is not the
    value.
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

    def at(self, table: Table, places: Cells, decimals: int) -> Stated:
        """The same for a changed table, whose cells stand in other ``places`` (-1: gone) and which may count
        in a finer last place than ``decimals``; of new cells nothing was said.
        """
        if self.insiders:
            raise InputError(
                f"{self.insiders[0].name} attacks this table with knowledge of single cells, which would be "
                "lost with new cells or decimals: change the values only, or begin with another table"
            )
        gone, here = places < 0, places[places >= 0]
        before = np.full(len(table), -1)
        before[here] = np.flatnonzero(~gone)

        def moved_to(column: NDArray[Any], usual: ArrayLike) -> NDArray[Any]:
            result = np.broadcast_to(np.asarray(usual, dtype=column.dtype), len(table)).copy()
            result[here] = column[~gone]
            return result

        def units(column: Units, usual: int) -> Units:
            return moved_to(exact.rescale(column, decimals, table.decimals), usual)

        def reason_at(reason: Reason) -> Reason:
            cells = places[reason.cells]
            return Reason(
                reason.rule, np.sort(cells[cells >= 0]), lambda cell: reason.explain(int(before[cell]))
            )

        own = self.levels
        levels = Levels(
            moved_to(own.sensitive, False),
            units(own.lower, 0),
            units(own.upper, 0),
            units(own.sliding, 0),
            tuple(reason_at(reason) for reason in own.reasons),
        )
        everyone = Outsider(units(self.outsider.lower, 0), units(self.outsider.upper, UNBOUNDED))
        cost = None if self.cost is None else moved_to(self.cost, np.abs(table.values))
        return Stated(levels, everyone, (), cost)
