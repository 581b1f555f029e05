"""The moves found so far in one piece, and how far they carry each cell in the eyes of the attacker at hand.

For the outsider it is enough to remember the best move per cell and direction. Moves that a later insider
could reuse are remembered at the few columns that insiders know or attack.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tacita.exact import UNBOUNDED, Cells, Floats, Units


class Pool:
    """Moves as ``(columns, numerators, denominator)``, with the best of them per column and direction.

    Parameters
    ----------
    columns
        Number of columns of the piece.
    watched
        Columns at which every move is kept, for insiders.
    whole
        Only whole-number moves count.
    """

    def __init__(self, columns: int, watched: Cells, whole: bool) -> None:
        self.moves: list[tuple[Cells, Units, int]] = []
        self._whole = whole
        self._watched = watched
        self._kept: list[Units] = []
        self._best: dict[int, tuple[Floats, Cells]] = {
            sign: (np.zeros(columns), np.full(columns, -1, dtype=np.int64)) for sign in (1, -1)
        }

    def add(self, numerators: Units, denominator: int) -> None:
        """Keep a move that the attacker at hand cannot rule out."""
        moved = np.flatnonzero(numerators)
        number = len(self.moves)
        self.moves.append((moved, numerators[moved], denominator))
        if self._watched.size:
            self._kept.append(numerators[self._watched])
        if self._whole and denominator > 1:
            return
        for sign, (reach, by) in self._best.items():
            distance = sign * numerators[moved] / denominator
            further = moved[distance > reach[moved]]
            reach[further] = sign * numerators[further] / denominator
            by[further] = number

    def enter(self, tight: Cells, low: Units, high: Units, targets: Cells) -> None:
        """Start anew for an insider: of the moves so far only those inside his bounds count, at his
        targets.
        """
        for reach, by in self._best.values():
            reach[:], by[:] = 0.0, -1
        if not self._kept:
            return
        kept = np.array(self._kept)
        denominators = np.array([denominator for _, _, denominator in self.moves])
        at_tight = np.searchsorted(self._watched, tight)
        values = kept[:, at_tight]
        allowed = ((values >= _times(low, denominators)) & (values <= _times(high, denominators))).all(axis=1)
        if self._whole:
            allowed &= denominators == 1
        usable = np.flatnonzero(allowed)
        if usable.size == 0:
            return
        distance = kept[np.ix_(usable, np.searchsorted(self._watched, targets))] / denominators[usable, None]
        for sign, (reach, by) in self._best.items():
            furthest = np.argmax(sign * distance, axis=0)
            far = sign * distance[furthest, np.arange(targets.size)]
            reach[targets] = np.maximum(far, 0.0)
            by[targets] = np.where(far > 0, usable[furthest], -1)

    def best(self, column: int, sign: int) -> tuple[Fraction, int]:
        """How far the column can be moved, proven, and by which move (-1: by none)."""
        number = int(self._best[sign][1][column])
        if number < 0:
            return Fraction(0), -1
        moved, numerators, denominator = self.moves[number]
        at = int(np.searchsorted(moved, column))
        return Fraction(sign * int(numerators[at]), denominator), number


def _times(bound: Units, denominators: Units) -> Units:
    finite = np.abs(bound) < UNBOUNDED
    return np.where(finite, np.where(finite, bound, 0) * denominators[:, None], bound)
