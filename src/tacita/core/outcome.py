"""The outcome of a method: its loss, and a lower bound on the loss of any release."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import Enum
from math import isinf

from tacita.core.errors import SpecificationError


class Status(Enum):
    """Only OPTIMAL is true: the loss is proven to be the smallest possible."""

    OPTIMAL = "optimal"
    WITHIN_GAP = "within the gap asked for"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    FAILED = "failed"

    def __bool__(self) -> bool:
        return self is Status.OPTIMAL


@dataclass(frozen=True)
class Outcome:
    """The loss of a release, and a lower bound on the loss of any protected release.

    The loss includes that of sensitive cells. ``remarks`` are internal: they may name sensitive cells.
    ``search`` says in which ways it was searched for, such as "construction, then exact engine", if there are
    several.
    """

    status: Status
    loss: float
    bound: float
    seconds: float = 0.0
    remarks: tuple[str, ...] = ()
    search: str = ""

    def __post_init__(self) -> None:
        gap = f"{self.gap:.2%}"
        logging.getLogger("tacita").info("%s after %.1f s, gap %s", self.status.value, self.seconds, gap)

    def __repr__(self) -> str:
        """Return the outcome as it is written in Python; numbers lack the last digits, which are noise."""
        numbers = f"loss={self.loss:.12g}, bound={self.bound:.12g}, seconds={self.seconds:.3g}"
        return f"Outcome({self.status}, {numbers}, remarks={self.remarks!r}, search={self.search!r})"

    @property
    def gap(self) -> float:
        """The optimality gap: how far the loss may be from the smallest one; zero when proven optimal."""
        return compute_gap(self.loss, self.bound)


def read_gap(given: float | str) -> float:
    """Return the optimality gap that a user asks for, ``0.05`` or ``5%``, as a share below 1.

    Raises
    ------
    SpecificationError
        It is no number, or no share from 0 to below 1.
    """
    text = str(given).strip()
    try:
        gap = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        gap = -1.0
    if not 0 <= gap < 1:
        raise SpecificationError(
            f"'{given}' is no share from 0 to below 1", place="gap", remedy="write 0.05 or 5%"
        )
    return gap


def compute_gap(loss: float, bound: float) -> float:
    """Return the optimality gap ``(loss - bound) / max(|loss|, |bound|)``, 1 where one is infinite."""
    if loss <= bound:
        return 0.0
    return 1.0 if isinf(loss) or isinf(bound) else (loss - bound) / max(abs(loss), abs(bound))
