"""How a method ended: what it lost, and what nobody can lose less than."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Status(Enum):
    """Only OPTIMAL is true: the loss is proven to be the smallest possible."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    FAILED = "failed"

    def __bool__(self) -> bool:
        return self is Status.OPTIMAL


@dataclass(frozen=True)
class Outcome:
    """Loss of the release (sensitive cells included), a lower bound on any protected release's loss, the
    effort, and remarks for the house: they may name cells that readers must not know of.
    """

    status: Status
    loss: float
    bound: float
    seconds: float = 0.0
    remarks: tuple[str, ...] = ()

    @property
    def gap(self) -> float:
        """``(loss - bound) / |loss|``, or of the bound where that is larger: zero when proven optimal."""
        size = max(abs(self.loss), abs(self.bound))
        return 0.0 if self.loss <= self.bound else (self.loss - self.bound) / size
