"""The model that a method states to the engine: variables, affine windows, own constraints, loss.

    min  constant + cost x    s.t.  row_lower <= rows x <= row_upper,  lower <= x <= upper,  x_j an
    integer for some j,
         every requirement holds for every attacker who sees the windows that x opens

The release lets cell ``i`` lie between ``a_i - D_i(x)`` and ``a_i + U_i(x)``. ``U`` and ``D`` are affine in
``x``; a cell may also have a *switch*, a binary variable that opens its window altogether. So attacker ``k``
sees a move of cell ``i`` confined to

    z_i <= min(up_ik, U_i(x)) + up_ik x_switch(i),       -z_i <= min(down_ik, D_i(x)) + down_ik x_switch(i),

in units of the table. Suppression has switches only; intervals, rounding and perturbation have affine
windows; a mixture has both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import Cells, Floats
from tacita.engine.attack.requirements import Requirements
from tacita.problem.problem import Problem
from tacita.solvers.linear_program import IntegerProgram

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NO_SWITCH = -1
ROUGH = 1e-6
"""Relative error, in parts of its terms, by which arithmetic may violate a row."""


@dataclass(frozen=True, eq=False)
class Affine:
    """``base + matrix x``, one entry per cell."""

    base: Floats
    matrix: csr_array

    def at(self, x: Floats) -> Floats:
        """Return the width, in units, of each cell's window on one side at a point of the engine's model."""
        return np.asarray(self.base + self.matrix @ x)

    @classmethod
    def zero(cls, cells: int, variables: int) -> Affine:
        """Return windows for the engine's model that are closed in every cell, whatever the point is."""
        from scipy.sparse import csr_array

        return cls(np.zeros(cells), csr_array((cells, variables)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Model(IntegerProgram):
    """Variables, windows, own constraints and loss of a method for one problem.

    ``requirements`` are those that separation works on from the start. The requirements of insiders may be
    left out: the engine adds them when a candidate release fails one.
    """

    problem: Problem
    above: Affine
    below: Affine
    switch: Cells
    requirements: Requirements
    constant: float = 0.0

    @property
    def size(self) -> int:
        """The number of variables of the engine's model."""
        return self.cost.size

    def with_fixed_costs_in_constant(self) -> Model:
        """Return the engine's model with the cost of fixed variables moved into the constant.

        Large fixed costs would otherwise dominate the tolerances of the solvers.
        """
        fixed = self.lower == self.upper
        return replace(
            self,
            cost=np.where(fixed, 0.0, self.cost),
            constant=self.constant + float(self.cost[fixed] @ self.lower[fixed]),
        )

    def loss(self, x: Floats) -> float:
        """Return the loss of the engine's model at ``x``, constant included."""
        return float(self.constant + self.cost @ x)

    def admits(self, x: Floats) -> bool:
        """Return whether ``x`` satisfies the model's own bounds and rows; requirements are not checked."""
        values = self.rows @ x
        scale = ROUGH * np.maximum(1.0, np.asarray(abs(self.rows) @ np.abs(x)))
        return bool(
            (x >= self.lower - ROUGH).all()
            and (x <= self.upper + ROUGH).all()
            and (values >= self.row_lower - scale).all()
            and (values <= self.row_upper + scale).all()
        )

    def find_attacker_windows(self, x: Floats, up: Floats, down: Floats) -> tuple[Floats, Floats]:
        """Return how far up and down, in units, each cell's window at ``x`` lets it move for an attacker with
        room ``up`` and ``down``.
        """
        above = np.maximum(np.minimum(up, self.above.at(x)), 0.0)
        below = np.maximum(np.minimum(down, self.below.at(x)), 0.0)
        switched = np.flatnonzero(self.switch != NO_SWITCH)
        opened = switched[x[self.switch[switched]] > 0.0]
        share = x[self.switch[opened]]
        above[opened] += up[opened] * share
        below[opened] += down[opened] * share
        return above, below
