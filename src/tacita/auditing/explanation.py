"""What there is to say of one cell of a release: an :class:`Explanation` and its parts, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacita.auditing.block_tasks import describe_bits
from tacita.auditing.exact_moves import Move
from tacita.core.exact import Cells
from tacita.core.release import Mark

if TYPE_CHECKING:
    from tacita.core.outcome import Outcome
    from tacita.problem.problem import Problem

NOBODY = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class AttackerInterval:
    """What an attacker deduces of a cell: ``[low, high]`` in plain numbers; NaN if the time ran out."""

    attacker: str
    low: float
    high: float

    @property
    def known(self) -> bool:
        """Whether the attacker can deduce the exact value of the cell."""
        return self.low == self.high


@dataclass(frozen=True)
class ProtectedCell:
    """A sensitive cell that would not be safe if the explained cell were published.

    ``low`` and ``high`` are what ``attacker``, against whom it would be worst, would deduce then; ``lower``,
    ``upper`` and ``sliding`` the levels that hold against them. All are plain numbers, and internal.
    """

    cell: int
    name: str
    attacker: str
    bits: int
    lower: float
    upper: float
    sliding: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """What would be wrong with the cell, in the words of the audit."""
        return describe_bits(self.bits)


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a cell is published as it is; it names levels, and what attackers would know: it is internal.

    Attributes
    ----------
    role
        ``primary`` (sensitive), ``secondary`` (hidden or changed, not sensitive), ``published``, or
        ``exposed`` (sensitive, yet published exactly).
    mark
        How the release shows the cell.
    window
        What the release itself says of the cell, in plain numbers.
    deduced
        What the outsider deduces of it.
    derivation
        How, where it is known exactly since an equation has no other unknown cell: the sums with their
        numbers, one after another, the cell's own last.
    insider
        The narrowest interval that an insider deduces; None where none attacks this cell and knows more than
        the outsider of it or of cells connected to it. ``asked`` of ``insiders`` such insiders were asked.
    reasons
        The rules that make the cell sensitive, with the numbers behind them.
    levels
        Lower, upper and sliding protection level, in plain numbers.
    must_hide
        Whether the problem says that the cell must be hidden.
    protects
        Sensitive cells that are proven safe, and would not be if this cell were published.
    replaceable
        Sensitive cells whose proof uses this cell, and which have another proof without it.
    undecided
        Sensitive cells of which the time did not suffice to tell.
    unsafe
        Sensitive cells connected to this one that are not safe in the release as it is.
    below, above
        Moves that take the cell, where it is sensitive, down and up past its levels as far as possible.
    problem, outcome
        The problem, and the outcome of the method that made the release; None if it is not known.
    """

    cell: int
    name: str
    role: str
    mark: Mark
    window: tuple[float, float]
    deduced: AttackerInterval
    derivation: tuple[str, ...]
    insider: AttackerInterval | None
    asked: int
    insiders: int
    reasons: tuple[str, ...]
    levels: tuple[float, float, float]
    must_hide: bool
    protects: tuple[ProtectedCell, ...]
    replaceable: tuple[int, ...]
    undecided: tuple[int, ...]
    unsafe: tuple[int, ...]
    below: Move | None
    above: Move | None
    problem: Problem
    outcome: Outcome | None

    @property
    def text(self) -> str:
        """The explanation in sentences, with true values and levels: for internal use."""
        from tacita.auditing.explained_cell import write_explanation

        return "\n".join(write_explanation(self, show_values=True))

    def __str__(self) -> str:
        return self.text

    @property
    def protected_by(self) -> Cells:
        """The other cells of the moves that take a sensitive cell past its levels, ascending."""
        cells = [move.cells for move in (self.below, self.above) if move is not None]
        return np.setdiff1d(np.concatenate([NOBODY, *cells]), [self.cell])

    @property
    def redundant(self) -> bool:
        """Whether every sensitive cell stays as safe as it is if this hidden cell, not sensitive itself, is
        published.
        """
        return self.role == "secondary" and not self.protects and not self.undecided

    def __repr__(self) -> str:
        parts = f"protects {len(self.protects):,}, protected by {self.protected_by.size:,}"
        return f"Explanation({self.name}: {self.role}, {parts})"
