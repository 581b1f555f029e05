"""The optimisation problem of controlled tabular adjustment.

    min  sum_i w_i phi(z_i)      s.t.  M z = 0,   lower <= z <= upper,   least <= G z <= most

``z`` are changes of cells, ``a + z`` is published. For a sensitive cell ``p`` either ``up_least <= z_p <=
up_most`` or ``down_least <= -z_p <= down_most``: a choice of directions. Once it is made the task is convex.

| norm | loss |
|---|---|
| ``l1`` | ``sum w |z|`` |
| ``l2`` | ``sum w z^2`` |
| ``huber`` | ``sum w (sqrt(delta^2 + z^2) - delta)`` |
| ``linf`` | ``max w |z|`` |

Changes are integers, in units of the table; losses are computed in values, ``z / one``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask, Units

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Norm = Literal["l1", "l2", "huber", "linf"]
NORMS: tuple[Norm, ...] = ("l1", "l2", "huber", "linf")


@dataclass(frozen=True, eq=False)
class DirectionChoice:
    """Sensitive cells and their ranges in both directions, in units; ``most < least`` closes a direction."""

    cells: Cells
    up_least: Units
    up_most: Units
    down_least: Units
    down_most: Units

    @property
    def can_rise(self) -> Mask:
        return np.asarray(self.up_least <= self.up_most)

    @property
    def can_fall(self) -> Mask:
        return np.asarray(self.down_least <= self.down_most)

    def is_met(self, z: Units) -> Mask:
        """Return which sensitive cells the adjustment ``z`` of all cells moves within one of its ranges."""
        change = z[self.cells]
        up = (self.up_least <= change) & (change <= self.up_most)
        down = (self.down_least <= -change) & (-change <= self.down_most)
        return np.asarray(up | down)


@dataclass(frozen=True, eq=False)
class SideConstraints:
    """Linear constraints ``least <= rows z <= most``, in units, that preserve statistics."""

    rows: csr_array
    least: Floats
    most: Floats


@dataclass(frozen=True, eq=False)
class AdjustmentTask:
    """An adjustment in integer units.

    Attributes
    ----------
    matrix
        ``M``, integer coefficients.
    lower, upper
        Bounds of ``z``; those of the cells of a ``choice`` do not count.
    one
        Units in a value of 1, ``10**decimals``.
    step
        Published changes are multiples of so many units: 1 in values for counts, else 1 unit.
    """

    matrix: csr_array
    lower: Units
    upper: Units
    weight: Floats
    one: int
    step: int
    norm: Norm = "l1"
    delta: float = 1e-3
    choice: DirectionChoice | None = None
    side: SideConstraints | None = None

    def __len__(self) -> int:
        return self.lower.size

    def directed(self, up: Mask) -> AdjustmentTask:
        """Return the convex adjustment task in which sensitive cells go up where ``up``, and else down."""
        if self.choice is None:
            return self
        choice, lower, upper = self.choice, self.lower.copy(), self.upper.copy()
        lower[choice.cells] = np.where(up, choice.up_least, -choice.down_most)
        upper[choice.cells] = np.where(up, choice.up_most, -choice.down_least)
        return replace(self, lower=lower, upper=upper, choice=None)

    def in_steps(self) -> AdjustmentTask:
        """Return the adjustment task with bounds in multiples of its step, as published changes are."""
        step, choice = self.step, self.choice
        if step == 1:
            return self
        if choice is not None:
            choice = DirectionChoice(
                choice.cells,
                -(-choice.up_least // step) * step,
                _floor(choice.up_most, step),
                -(-choice.down_least // step) * step,
                _floor(choice.down_most, step),
            )
        lower, upper = -_floor(-self.lower, step), _floor(self.upper, step)
        return replace(self, lower=lower, upper=upper, choice=choice)

    def loss(self, z: Floats | Units, norm: Norm | None = None) -> float:
        """Return the loss of an adjustment's changes in a norm, by default the task's own."""
        change = np.abs(np.asarray(z, dtype=np.float64)) / self.one
        kind = norm or self.norm
        if kind == "l1":
            return float((self.weight * change).sum())
        if kind == "l2":
            return float((self.weight * change**2).sum())
        if kind == "linf":
            return float((self.weight * change).max(initial=0.0))
        # A quotient instead of the difference, in which a small change would cancel.
        root = np.sqrt(self.delta**2 + change**2)
        return float((self.weight * change**2 / (root + self.delta)).sum())


def _floor(units: Units, step: int) -> Units:
    return np.where(np.abs(units) < UNBOUNDED, units // step * step, units)


@dataclass(frozen=True, eq=False)
class AdjustmentSolution:
    """Changes in units as a solver found them, their loss, and a lower bound on that of all changes.

    Attributes
    ----------
    formulation
        A flow, a linear or quadratic program, cones, or a Newton method.
    iterations
        Of that formulation's solver.
    """

    z: Floats
    value: float
    bound: float
    formulation: str
    iterations: int
