"""How much each sensitive cell must stay uncertain.

For a sensitive cell ``p`` with value ``a_p`` an attacker who deduces ``[min y_p, max y_p]`` must find

    max y_p >= a_p + UPL,    min y_p <= a_p - LPL,    max y_p - min y_p >= SPL.

``upper``, ``lower`` and ``sliding`` hold UPL, LPL and SPL in the table's units. A sensitive cell asks for at
least one unit of uncertainty in some form: to know it exactly is always a disclosure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import Cells, Mask, Units, keep

if TYPE_CHECKING:
    from tacita.core.arithmetic import Number


@dataclass(frozen=True, eq=False)
class Reason:
    """Cells that one rule hit, and why: ``explain(cell)`` is a sentence that may name values.

    ``percent`` says that the rule asks for LPL and UPL in percent of the value. Whoever changes a value works
    them out anew; without it they are amounts, which stay.
    """

    rule: str
    cells: Cells
    explain: Callable[[int], str]
    percent: tuple[Number, Number] | None = None


@dataclass(frozen=True, eq=False)
class Levels:
    """Protection levels per cell; all zero where ``sensitive`` is false."""

    sensitive: Mask
    lower: Units
    upper: Units
    sliding: Units
    reasons: tuple[Reason, ...] = ()

    def __post_init__(self) -> None:
        keep(self, "sensitive", "lower", "upper", "sliding")

    @cached_property
    def cells(self) -> Cells:
        """Positions of the sensitive cells."""
        return np.flatnonzero(self.sensitive)

    def __len__(self) -> int:
        return int(self.cells.size)

    def __or__(self, other: Levels) -> Levels:
        """Sensitive by either; of two levels the larger one."""
        return Levels(
            self.sensitive | other.sensitive,
            np.maximum(self.lower, other.lower),
            np.maximum(self.upper, other.upper),
            np.maximum(self.sliding, other.sliding),
            self.reasons + other.reasons,
        )

    def why(self, cell: int) -> list[str]:
        """The rules that hit a cell."""
        return [reason.rule for reason in self.reasons if cell in reason.cells]

    def explain(self, cell: int) -> list[str]:
        """The rules that hit a cell, with the numbers behind them: for the house only."""
        return [f"{reason.rule}: {reason.explain(cell)}" for reason in self.reasons if cell in reason.cells]

    @classmethod
    def none(cls, n: int) -> Levels:
        zeros = np.zeros(n, dtype=np.int64)
        return cls(np.zeros(n, dtype=bool), zeros, zeros.copy(), zeros.copy())

    @classmethod
    def of(
        cls,
        sensitive: Mask,
        upper: Units,
        lower: Units | None = None,
        sliding: Units | None = None,
        reasons: Iterable[Reason] = (),
        least: int = 1,
    ) -> Levels:
        """Levels that vanish where nothing is sensitive; symmetric unless ``lower`` is given.

        A sensitive cell whose levels would all be zero gets the sliding level ``least``: it must not be
        known exactly.
        """
        zero = np.zeros(sensitive.size, dtype=np.int64)
        up = np.where(sensitive, np.maximum(upper, 0), zero)
        low = up.copy() if lower is None else np.where(sensitive, np.maximum(lower, 0), zero)
        slide = zero if sliding is None else np.where(sensitive, np.maximum(sliding, 0), zero)
        slide = np.where(sensitive & (up == 0) & (low == 0) & (slide == 0), least, slide)
        return cls(sensitive, low, up, slide, tuple(reasons))
