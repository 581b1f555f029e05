"""What controlled tabular adjustment asks for.

    min  sum_i w_i phi(z_i)      s.t.  M z = 0,   lower <= z <= upper,   least <= G z <= most

``z`` are changes of cells, ``a + z`` is published. For a sensitive cell ``p`` either ``up_least <= z_p <=
up_most`` or ``down_least <= -z_p <= down_most``: a *choice*, and with directions given the task is convex.

| norm | loss |
|---|---|
| ``l1`` | ``sum w |z|`` |
| ``l2`` | ``sum w z^2`` |
| ``huber`` | ``sum w (sqrt(delta^2 + z^2) - delta)`` |
| ``linf`` | ``max w |z|`` |

Changes are counted in whole units of the table; losses are worked out in values, ``z / one``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from tacita.core.exact import Cells, Floats, Mask, Units

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Norm = Literal["l1", "l2", "huber", "linf"]
NORMS: tuple[Norm, ...] = ("l1", "l2", "huber", "linf")


@dataclass(frozen=True, eq=False)
class DirectionChoice:
    """Sensitive cells and how far each may go either way, in units; ``most < least``: not that way."""

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

    def met(self, z: Units) -> Mask:
        """Which of the cells go far enough, and not too far, with changes ``z`` of all cells."""
        change = z[self.cells]
        up = (self.up_least <= change) & (change <= self.up_most)
        down = (self.down_least <= -change) & (-change <= self.down_most)
        return np.asarray(up | down)


@dataclass(frozen=True, eq=False)
class Side:
    """Further rows ``least <= rows z <= most``, in units: statistics that are kept."""

    rows: csr_array
    least: Floats
    most: Floats


@dataclass(frozen=True, eq=False)
class AdjustmentTask:
    """An adjustment in whole units.

    Attributes
    ----------
    matrix
        ``M``, integer coefficients.
    lower, upper
        Bounds of ``z``; those of the cells of a ``choice`` do not count.
    one
        Units in a value of 1, ``10**decimals``.
    step
        Changes that are published are multiples of so many units: a whole number for counts, else 1.
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
    side: Side | None = None

    def __len__(self) -> int:
        return self.lower.size

    def directed(self, up: Mask) -> AdjustmentTask:
        """The convex task in which each sensitive cell goes up or down as said."""
        if self.choice is None:
            return self
        choice, lower, upper = self.choice, self.lower.copy(), self.upper.copy()
        lower[choice.cells] = np.where(up, choice.up_least, -choice.down_most)
        upper[choice.cells] = np.where(up, choice.up_most, -choice.down_least)
        return replace(self, lower=lower, upper=upper, choice=None)

    def loss(self, z: Floats | Units, norm: Norm | None = None) -> float:
        """What changes cost in a norm; the task's own unless another is asked for."""
        change = np.abs(np.asarray(z, dtype=np.float64)) / self.one
        kind = norm or self.norm
        if kind == "l1":
            return float((self.weight * change).sum())
        if kind == "l2":
            return float((self.weight * change**2).sum())
        if kind == "linf":
            return float((self.weight * change).max(initial=0.0))
        # delta + x would drown a small x, so the difference is written as a quotient.
        root = np.sqrt(self.delta**2 + change**2)
        return float((self.weight * change**2 / (root + self.delta)).sum())


@dataclass(frozen=True, eq=False)
class Adjusted:
    """Changes in units as a solver found them, what they cost and what no others can cost less than.

    Attributes
    ----------
    formulation
        How the task was put: a flow, a linear or quadratic program, cones, a Newton method.
    iterations
        Of that method.
    """

    z: Floats
    value: float
    bound: float
    formulation: str
    iterations: int
