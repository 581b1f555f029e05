"""The moves found so far in one block, and how far they carry each cell in the eyes of the attacker at hand.

For the outsider the best move per cell and direction is remembered. For insiders the moves are listed under
the columns that they know better or attack: a few lists tell which of those moves serve them that they
cannot see through.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tacita.core.exact import Cells, Floats, Mask, Units


class Pool:
    """Moves as ``(columns, numerators, denominator)``.

    Parameters
    ----------
    columns
        Number of columns of the block.
    watched
        Columns under which moves are listed, for insiders.
    whole
        Only whole-number moves count.
    """

    def __init__(self, columns: int, watched: Mask, whole: bool) -> None:
        self.moves: list[tuple[Cells, Units, int]] = []
        self._whole = whole
        self._watched = watched
        self._under: dict[int, list[tuple[int, int]]] = {}
        self._best: dict[int, tuple[Floats, Cells]] = {
            sign: (np.zeros(columns), np.full(columns, -1, dtype=np.int64)) for sign in (1, -1)
        }
        self._seen_through: set[int] = set()
        self._entries, self._listed = np.zeros((4, 0), dtype=np.int64), 0

    def add(self, numerators: Units, denominator: int) -> None:
        """Keep a move that the attacker at hand cannot rule out."""
        moved = np.flatnonzero(numerators)
        number = len(self.moves)
        self.moves.append((moved, numerators[moved], denominator))
        if self._whole and denominator > 1:
            return
        for sign, (reach, by) in self._best.items():
            distance = sign * numerators[moved] / denominator
            further = moved[distance > reach[moved]]
            reach[further] = sign * numerators[further] / denominator
            by[further] = number
        for column in moved[self._watched[moved]].tolist():
            self._under.setdefault(column, []).append((number, int(numerators[column])))

    def enter(self, low: Units, high: Units) -> None:
        """From now on only moves count that are inside an insider's bounds, given for every column."""
        number, columns, below, above = self.entries()
        outside = (below < low[columns]) | (above > high[columns])
        self._seen_through = set(number[outside].tolist())

    def entries(self) -> tuple[Cells, Cells, Units, Units]:
        """All that moves change: the number of the move, the column, and the integers below and above the
        change.
        """
        new = []
        for number in range(self._listed, len(self.moves)):
            columns, numerators, denominator = self.moves[number]
            below, above = numerators // denominator, -(-numerators // denominator)
            new.append(np.array([np.full(columns.size, number), columns, below, above]))
        if new:
            self._entries, self._listed = np.concatenate([self._entries, *new], axis=1), len(self.moves)
        number_of, columns, below, above = self._entries
        return number_of, columns, below, above

    def leave(self) -> None:
        """Back to the outsider."""
        self._seen_through = set()

    def best(self, column: int, sign: int) -> tuple[Fraction, int]:
        """How far the column can be moved, proven, and by which move (-1: by none)."""
        number = int(self._best[sign][1][column])
        if number < 0:
            return Fraction(0), -1
        if number not in self._seen_through:
            moved, numerators, denominator = self.moves[number]
            return Fraction(sign * int(numerators[np.searchsorted(moved, column)]), denominator), number
        best = Fraction(0), -1
        for other, numerator in self._under.get(column, ()):
            if other not in self._seen_through and sign * numerator > 0:
                best = max(best, (Fraction(sign * numerator, self.moves[other][2]), other))
        return best
