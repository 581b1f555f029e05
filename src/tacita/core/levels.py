"""Protection levels: how uncertain each sensitive cell must stay.

For a sensitive cell ``p`` with value ``a_p`` an attacker who deduces ``[min y_p, max y_p]`` must find

    max y_p >= a_p + UPL,    min y_p <= a_p - LPL,    max y_p - min y_p >= SPL.

``lower``, ``upper`` and ``sliding``, in this order everywhere, hold LPL, UPL and SPL. Fields of objects have
them in the table's units, whatever users write has them as plain numbers. A sensitive cell requires at
least one unit of uncertainty in some form: to know it exactly is always a disclosure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacita.core import exact
from tacita.core.exact import Cells, Mask, Units, freeze_fields

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tacita.core.arithmetic import Number
    from tacita.core.tables.cell_selection import CellList
    from tacita.core.tables.table import Table


@dataclass(frozen=True)
class Sentences:
    """Sentences on cells that were made before; a value, which can be written to files."""

    by_cell: Mapping[int, str]

    def __call__(self, cell: int) -> str:
        return self.by_cell[int(cell)]


@dataclass(frozen=True, eq=False)
class Reason:
    """Cells that one rule hit, and why: ``explain(cell)`` is a sentence that may name values.

    ``percent`` holds LPL and UPL in percent of the value, if the rule requires them so: they are computed
    anew for other values. Without it they are amounts, which stay.
    """

    rule: str
    cells: Cells
    explain: Callable[[int], str]
    percent: tuple[Number, Number] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what to pickle: the sentences are made first, since what makes them cannot be pickled."""
        return Reason, (self.rule, self.cells, self.make_sentences(), self.percent)

    def make_sentences(self) -> Sentences:
        """Return the sentences on all cells that the rule hit, made now."""
        return Sentences({cell: self.explain(cell) for cell in self.cells.tolist()})


@dataclass(frozen=True, eq=False)
class Levels:
    """Protection levels per cell; all zero where ``sensitive`` is false."""

    sensitive: Mask
    lower: Units
    upper: Units
    sliding: Units
    reasons: tuple[Reason, ...] = ()

    def __post_init__(self) -> None:
        freeze_fields(self, "sensitive", "lower", "upper", "sliding")

    @cached_property
    def cells(self) -> Cells:
        """The positions of the sensitive cells in the table."""
        return np.flatnonzero(self.sensitive)

    def __len__(self) -> int:
        return int(self.cells.size)

    def __or__(self, other: Levels) -> Levels:
        """Return the protection levels of cells that are sensitive by either; of two the larger one."""
        return Levels(
            self.sensitive | other.sensitive,
            np.maximum(self.lower, other.lower),
            np.maximum(self.upper, other.upper),
            np.maximum(self.sliding, other.sliding),
            self.reasons + other.reasons,
        )

    def why(self, cell: int) -> list[str]:
        """Return the names of the rules that make a cell sensitive."""
        return [reason.rule for reason in self.reasons if cell in reason.cells]

    def explain(self, cell: int) -> list[str]:
        """Return the rules that make a cell sensitive, with the numbers behind them, which are internal."""
        return [f"{reason.rule}: {reason.explain(cell)}" for reason in self.reasons if cell in reason.cells]

    @classmethod
    def on_cells(
        cls,
        table: Table,
        cells: CellList,
        *,
        lower: ArrayLike = 0,
        upper: ArrayLike = 0,
        sliding: ArrayLike = 0,
    ) -> Levels:
        """Return protection levels by hand for some cells, in plain numbers: one for all, or one per cell.

        Cells are given by mask, codes or position (see :mod:`tacita.core.tables.cell_selection`). Levels that
        are finer than the table's last decimal place are rounded up.
        """
        from tacita.core.tables.cell_selection import read_cells

        low, up, slide = (
            exact.ceil_units(
                np.broadcast_to(np.asarray(level, np.float64), len(table)), table.decimals, table.unit
            )
            for level in (lower, upper, sliding)
        )
        sensitive = read_cells(table, cells, "sensitive cells")
        return cls.of(sensitive, lower=low, upper=up, sliding=slide, least=table.unit)

    @classmethod
    def none(cls, n: int) -> Levels:
        zeros = np.zeros(n, dtype=np.int64)
        return cls(np.zeros(n, dtype=bool), zeros, zeros.copy(), zeros.copy())

    @classmethod
    def of(
        cls,
        sensitive: Mask,
        *,
        lower: Units | None = None,
        upper: Units | None = None,
        sliding: Units | None = None,
        reasons: Iterable[Reason] = (),
        least: int = 1,
    ) -> Levels:
        """Return protection levels in units, one per cell, which are zero where it is not sensitive.

        Of ``lower`` and ``upper`` the one that is not given is like the other. A sensitive cell whose levels
        would all be zero gets the sliding level ``least``: it must not be known exactly.
        """
        zero = np.zeros(sensitive.size, dtype=np.int64)
        both = [level for level in (lower, upper) if level is not None] or [zero]
        given = (both[0], both[-1], zero if sliding is None else sliding)
        low, up, slide = (np.where(sensitive, np.maximum(level, 0), zero) for level in given)
        slide = np.where(sensitive & (up == 0) & (low == 0) & (slide == 0), least, slide)
        return cls(sensitive, low, up, slide, tuple(reasons))
