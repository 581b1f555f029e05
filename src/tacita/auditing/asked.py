"""What is asked of one block of the region, and what comes back: plain data that other processes can be sent.

Insiders are columns of numbers: there may be a hundred thousand of them, and few of them have to be asked.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tacita.auditing.region import Block
from tacita.core.exact import Cells, Floats, Units
from tacita.core.run import Run

BELOW_UPPER, BELOW_LOWER, BELOW_SLIDING, EXACT, FRACTIONAL, UNPROVEN = 1, 2, 4, 8, 16, 32
"""What is wrong with a target, as bits; 0 is safe and proven."""
OUTSIDER = -1
"""The number of the attacker who knows no more than everyone; insiders count from 0."""


@dataclass(frozen=True, eq=False)
class Targets:
    """Columns that someone attacks, with their levels in steps."""

    columns: Cells
    upper: Units
    lower: Units
    sliding: Units

    def take(self, at: Cells | slice) -> Targets:
        """Some of them."""
        return Targets(self.columns[at], self.upper[at], self.lower[at], self.sliding[at])

    def __add__(self, other: Targets) -> Targets:
        mine, theirs = ((t.columns, t.upper, t.lower, t.sliding) for t in (self, other))
        return Targets(*(np.concatenate(pair) for pair in zip(mine, theirs, strict=True)))


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What insiders know better than the outsider in one block: ``who[r]`` lets ``columns[r]`` move from
    ``low[r]`` to ``high[r]``; ``who`` ascends.

    Attributes
    ----------
    aiming, aims
        Targets with levels of their own, and whose each is; ascending too.
    others
        Those who attack the outsider's targets as well.
    spared, spared_columns
        Pairs of insider and column where the outsider's levels do not hold against them.
    """

    who: Cells
    columns: Cells
    low: Units
    high: Units
    aiming: Cells
    aims: Targets
    others: Cells
    spared: Cells
    spared_columns: Cells

    def rows_of(self, who: int) -> slice:
        """Where the bounds of one insider stand."""
        return slice(*np.searchsorted(self.who, [who, who + 1]))

    def aims_of(self, who: int) -> slice:
        """Where the targets of one insider stand."""
        return slice(*np.searchsorted(self.aiming, [who, who + 1]))


@dataclass(frozen=True, eq=False)
class Task:
    """A block with its bounds, the outsider's targets, the insiders, and the effort allowed."""

    block: Block
    low: Units
    high: Units
    everyone: Targets
    inside: Knowledge
    whole: bool
    run: Run


@dataclass(frozen=True, eq=False)
class Found:
    """Per attacker (by number) and target: bits, the distances shown possible in steps, and the moves that
    show them (-1: none).
    """

    who: Cells
    columns: Cells
    bits: Units
    above: Floats
    below: Floats
    up_move: Cells
    down_move: Cells


@dataclass(eq=False)
class Result:
    """What was found in a block, the outsider's part first, and the moves as ``(columns, numerators,
    denominator)``.
    """

    cells: Cells
    found: list[Found] = field(default_factory=list)
    moves: list[tuple[Cells, Units, int]] = field(default_factory=list)
    programs: int = 0
