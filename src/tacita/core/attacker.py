"""Attackers, and what they know before they see the release.

Attacker ``k`` knows ``lower_k <= y <= upper_k`` for each cell. The *outsider* knows the same of every table:
cells are not negative, structural zeros are zero, perhaps that values lie within some percentage. An
*insider* knows that too, and more about the few cells they are in: at least their own contribution, or the
full value if they are the only contributor. So an insider is a short list on top of the outsider. Insiders
may also have levels of their own for the cells they attack.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from tacita.core import exact
from tacita.core.errors import BoundsError, InputError
from tacita.core.exact import Cells, Mask, Units, freeze, freeze_fields
from tacita.core.tables.cell_selection import OneCell, read_cells
from tacita.core.tables.table import Table


@dataclass(frozen=True, eq=False)
class Outsider:
    """What everyone knows: a lower and an upper bound per cell, in the table's units."""

    lower: Units
    upper: Units
    name: str = "outsider"

    def __post_init__(self) -> None:
        freeze_fields(self, "lower", "upper")

    @classmethod
    def of(cls, table: Table, lower: ArrayLike | None = None, upper: ArrayLike | None = None) -> Outsider:
        """Return the outsider with a lower and an upper bound on every cell of a table, in its units.

        Parameters
        ----------
        lower
            A number or one per cell. Default 0, where no cell is negative; with negative cells it must be
            given.
        upper
            A number or one per cell. Default: none.
        """
        n = len(table)
        if lower is None:
            if (table.units < 0).any():
                refuse_negative(table, int(np.argmin(table.units)))
            lower = 0.0
        low, high = to_unit_bounds(lower, np.inf if upper is None else upper, table.decimals)
        low, high = np.broadcast_to(low, n).copy(), np.broadcast_to(high, n).copy()
        if table.structural is not None:
            low[table.structural] = 0
            high[table.structural] = 0
        return cls(low, high)

    @classmethod
    def from_options(
        cls,
        table: Table,
        stated: Outsider | None = None,
        lower: float | None = None,
        upper: float | None = None,
        within: tuple[float, float] | None = None,
    ) -> Outsider:
        """Return the outsider with the bounds that a file states, replaced by those that options give.

        Shares of the value, ``within``, replace everything else. ``lower`` and ``upper`` each replace that
        side of ``stated`` only; the other side stays as the file states it. Without a file a side that is not
        given is as in :meth:`of`.
        """
        if within is not None:
            return cls.within(table, *within)
        if stated is None:
            return cls.of(table, lower, upper)
        given = cls.of(table, -np.inf if lower is None else lower, upper)
        return cls(
            stated.lower if lower is None else given.lower, stated.upper if upper is None else given.upper
        )

    @classmethod
    def within(cls, table: Table, below: float, above: float) -> Outsider:
        """Return the outsider with bounds ``a - below * |a| <= y <= a + above * |a|``, a share of each value.

        ``within(table, 0.5, 1.0)`` is ``[a/2, 2a]``. Bounds are rounded inwards to the table's last decimal
        place, which favours the attacker.
        """
        size = np.abs(table.units)
        low = table.units - np.floor(size * below + 1e-9).astype(np.int64)
        high = table.units + np.floor(size * above + 1e-9).astype(np.int64)
        return cls(low, high)


@dataclass(frozen=True, eq=False)
class Insider:
    """An attacker who knows more than the outsider about ``cells``.

    ``targets`` are the cells they attack with levels of their own (``target_lower``, ``target_upper``,
    ``target_sliding``). With ``also_others``, and whenever ``targets`` is None, they attack every other
    sensitive cell with the problem's levels, except those they know exactly. Targets whose levels are all
    zero are not attacked.
    """

    name: str
    cells: Cells
    lower: Units
    upper: Units
    targets: Cells | None = None
    target_lower: Units | None = None
    target_upper: Units | None = None
    target_sliding: Units | None = None
    also_others: bool = False

    def __post_init__(self) -> None:
        self._sort_by("cells", "lower", "upper")
        if self.targets is not None:
            self._sort_by("targets", "target_lower", "target_upper", "target_sliding")

    def _sort_by(self, key: str, *others: str) -> None:
        given = np.asarray(getattr(self, key))
        if given.size and given.dtype.kind not in "iu":
            raise InputError(
                f"'{key}' are positions of cells, which are integers; a mask becomes positions with "
                "numpy.flatnonzero, codes with table.find",
                place=f"attacker '{self.name}'",
            )
        cells = given.astype(np.int64)
        order = np.argsort(cells, kind="stable")
        if (np.diff(cells[order]) == 0).any():
            raise InputError(f"attacker '{self.name}' lists a cell twice")
        for name in (key, *others):
            column = getattr(self, name)
            if column is None or np.size(column) != cells.size:
                raise InputError(f"attacker '{self.name}' needs one entry of '{name}' for each of '{key}'")
            object.__setattr__(self, name, freeze(np.asarray(column, dtype=np.int64)[order]))

    def own_targets(self) -> tuple[Cells, Units]:
        """Return the cells with protection levels against this insider alone, and these: LPL, UPL and SPL."""
        if self.targets is None:
            return np.zeros(0, dtype=np.int64), np.zeros((3, 0), dtype=np.int64)
        return self.targets, np.array([self.target_lower, self.target_upper, self.target_sliding])

    @classmethod
    def knowing(
        cls,
        name: str,
        table: Table,
        bounds: Mapping[OneCell, tuple[float, float]],
        targets: Iterable[OneCell] | None = None,
        target_lower: ArrayLike = 0,
        target_upper: ArrayLike = 0,
        target_sliding: ArrayLike = 0,
        also_others: bool = False,
    ) -> Insider:
        """Return an insider with bounds ``{cell: (lower, upper)}``, and with protection levels of their own
        for ``targets``.

        Levels are one number or one per target. All numbers are plain; cells are given by position or codes.

        What is finer than the table's last decimal place favours the attacker: bounds are rounded inwards,
        levels up.
        """

        def places(cells: Iterable[OneCell]) -> Cells:
            found = (int(np.flatnonzero(read_cells(table, [cell], name))[0]) for cell in cells)
            return np.fromiter(found, dtype=np.int64)

        cells = places(bounds)
        low, high = to_unit_bounds(
            [b[0] for b in bounds.values()], [b[1] for b in bounds.values()], table.decimals
        )
        if targets is None:
            return cls(name, cells, low, high)
        aims = places(targets)
        levels = [
            np.broadcast_to(np.asarray(level, dtype=np.float64), aims.shape)
            for level in (target_lower, target_upper, target_sliding)
        ]
        if not all(((level >= 0) & np.isfinite(level)).all() for level in levels):
            raise InputError("levels must be numbers, zero or more", place=f"attacker '{name}'")
        lower, upper, sliding = (exact.ceil_units(level, table.decimals, table.unit) for level in levels)
        return cls(name, cells, low, high, aims, lower, upper, sliding, also_others)

    def knows_exactly(self) -> Mask:
        """Return a mask of the insider's ``cells``: True where they know the value exactly."""
        return np.asarray(self.lower == self.upper)


def refuse_negative(table: Table, cell: int) -> NoReturn:
    """Raise a BoundsError that names a negative cell, where everyone is assumed to know that none is."""
    raise BoundsError(
        f"({table.name(cell)}) is negative, so nobody can be assumed to know that cells are not",
        remedy="give the lower bound that everyone knows, or say that there is none",
        options=["lower", "lower=-inf"],
        cell=cell,
    )


def to_unit_bounds(lower: ArrayLike, upper: ArrayLike, decimals: int) -> tuple[Units, Units]:
    """Return an attacker's bounds in units, rounded inwards, so that their knowledge never gets weaker."""
    low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    return exact.ceil_units(low, decimals), -exact.ceil_units(-high, decimals)
