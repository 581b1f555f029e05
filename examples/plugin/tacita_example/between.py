"""The rule ``between``: values from one number to another are sensitive."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

import tacita as tc


@dataclass(frozen=True)
class Between(tc.Rule):
    """Cells with ``low <= value <= high`` are sensitive: readers must think of a value outside possible."""

    does: ClassVar[str] = "Sensitive: cells with a value from low to high."
    example: ClassVar[str] = "between(1, 4)"

    low: int = field(metadata={"help": "the smallest sensitive value"})
    high: int = field(metadata={"help": "the largest sensitive value"})

    @property
    def text(self) -> str:
        return f"value from {self.low} to {self.high}"

    def levels(self, table: tc.Table) -> tc.Levels:
        """Return upper levels that reach beyond ``high``, and lower ones of as much, down to zero."""
        # Values are integers in units of the last decimal place.
        one = 10**table.decimals
        sensitive = (table.units >= self.low * one) & (table.units <= self.high * one)
        upper = (self.high + 1) * one - table.units
        why = tc.Reason(
            self.text, np.flatnonzero(sensitive), lambda cell: f"the value is {table.values[cell]:g}"
        )
        return tc.Levels.of(sensitive, lower=np.minimum(upper, table.units), upper=upper, reasons=[why])
