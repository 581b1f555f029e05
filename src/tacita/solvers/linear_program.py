"""Linear and integer programs as plain arrays, for any solver, and their solutions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import Floats, Mask
from tacita.core.outcome import Status

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """``min cost x : row_lower <= rows x <= row_upper, lower <= x <= upper``."""

    cost: Floats
    lower: Floats
    upper: Floats
    rows: csr_array | csc_array
    row_lower: Floats
    row_upper: Floats

    @classmethod
    def of_equations(cls, matrix: csc_array, lower: Floats, upper: Floats, rhs: Floats) -> LinearProgram:
        """Return the linear program ``matrix x = rhs, lower <= x <= upper``, with no costs yet."""
        return cls(np.zeros(lower.size), lower, upper, matrix, rhs, rhs)

    @classmethod
    def without_variables(cls, rows: int) -> LinearProgram:
        """Return a linear program of rows ``0 = 0``, to which variables are added later."""
        from scipy.sparse import csc_array

        return cls.of_equations(csc_array((rows, 0)), np.zeros(0), np.zeros(0), np.zeros(rows))

    def in_integers(self) -> IntegerProgram:
        """Return the same linear program with every variable an integer."""
        return IntegerProgram(**vars(self), integer=np.ones(self.cost.size, dtype=bool))


@dataclass(frozen=True, eq=False)
class IntegerProgram(LinearProgram):
    """A linear program some of whose variables are integers."""

    integer: Mask

    def relaxed(self) -> LinearProgram:
        """Return the linear relaxation of the integer program."""
        return LinearProgram(self.cost, self.lower, self.upper, self.rows, self.row_lower, self.row_upper)


@dataclass(frozen=True, eq=False)
class Solution:
    """A feasible point, its loss, a lower bound on the loss of all feasible points, and what found it."""

    x: Floats
    loss: float
    bound: float
    status: Status
    search: str = ""
