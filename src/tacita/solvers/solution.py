"""What solving a model gives: the variables, their loss, and what no protected release can lose less than."""

from __future__ import annotations

from dataclasses import dataclass

from tacita.core.exact import Floats
from tacita.core.outcome import Status


@dataclass(frozen=True, eq=False)
class Solution:
    """A point that meets every demand, with a lower bound on the loss of all such points."""

    x: Floats
    loss: float
    bound: float
    status: Status
