"""Moves in exact arithmetic: from a solver's floats to integers, and the pool of those found in a block.

A *move* is a change of the table ``z`` with ``M z = 0`` inside the attacker's bounds: they cannot tell the
table ``a + z`` from the truth. A linear program finds moves in floats; here they become integers over a
common denominator, checked in integers, or they are not used at all. For counts only the denominator 1 is
valid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

import numpy as np
from scipy.sparse import csr_array

from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask, Units

DENOMINATORS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 18, 20, 24, 30, 36, 40, 48, 60)
LARGEST_ELIMINATION = 3000


@dataclass(frozen=True, eq=False)
class Move:
    """Change ``changes[j] / denominator`` (in the table's steps) of cell ``cells[j]``, zero elsewhere."""

    cells: Cells
    changes: Units
    denominator: int = 1

    def at(self, cell: int) -> Fraction:
        """Return by how many steps a proving move changes one cell, as an exact fraction."""
        found = np.flatnonzero(self.cells == cell)
        return Fraction(int(self.changes[found[0]]), self.denominator) if found.size else Fraction(0)


def snap(matrix: csr_array, low: Units, high: Units, point: Floats) -> tuple[Units, int] | None:
    """Return a solver's point as an exact move for the audit, numerators and denominator, or None.

    Common denominators are tried from 1 up; only what satisfies ``M z = 0`` and ``low <= z <= high`` in
    integers is accepted.
    """
    size = max(1.0, float(np.abs(point).max(initial=0.0)))
    tolerance = 1e-6 + 1e-9 * size
    for denominator in DENOMINATORS:
        if size * denominator >= 2**52:
            break
        scaled = point * denominator
        numerators = np.rint(scaled)
        if float(np.abs(scaled - numerators).max(initial=0.0)) > denominator * tolerance:
            continue
        integers = numerators.astype(np.int64)
        if is_move(matrix, low, high, integers, denominator):
            return integers, denominator
    return None


def is_move(matrix: csr_array, low: Units, high: Units, numerators: Units, denominator: int) -> bool:
    """Return whether these fractions are an exact move for the audit: ``M z = 0``, ``low <= z <= high``."""
    largest, longest = int(np.abs(matrix.data).max(initial=0)), int(np.diff(matrix.indptr).max(initial=0))
    largest_sum = int(np.abs(numerators).max(initial=0)) * largest * longest
    if largest_sum >= 2**63:
        # Beyond 64 bits a sum could wrap around to zero.
        rows = (zip(matrix.indices[a:b], matrix.data[a:b], strict=True) for a, b in pairwise(matrix.indptr))
        if any(sum(int(m) * int(numerators[i]) for i, m in row) for row in rows):
            return False
    elif (matrix @ numerators).any():
        return False
    inside = (low <= -UNBOUNDED) | (numerators >= np.maximum(low, -UNBOUNDED // denominator) * denominator)
    inside &= (high >= UNBOUNDED) | (numerators <= np.minimum(high, UNBOUNDED // denominator) * denominator)
    return bool(inside.all())


def recover_vertex(
    matrix: csr_array, low: Units, high: Units, point: Floats, given: Mapping[int, int] | None = None
) -> tuple[Units, int] | None:
    """Return a solver's vertex as an exact move for the audit, by elimination with fractions, or None.

    Cells in ``given`` take their amount, those at zero or at a bound stay there, and the equations determine
    the others. This finds denominators that are too large to guess; its size is limited, as fractions are
    slow.
    """
    fixed = np.where(np.abs(point) < 0.5, 0, np.where(point < 0, low, high))
    near = np.abs(point - fixed) <= 1e-6 + 1e-9 * np.abs(point)
    for cell, amount in (given or {}).items():
        near[cell], fixed[cell] = True, amount
    unknown = np.flatnonzero(~near)
    if unknown.size > LARGEST_ELIMINATION:
        return None
    value = [Fraction(int(f)) if ok else Fraction(0) for f, ok in zip(fixed, near, strict=True)]
    solved = _eliminate(matrix, value, set(unknown.tolist()))
    if solved is None:
        return None
    for column, fraction in solved.items():
        value[column] = fraction
    denominator = lcm(*(v.denominator for v in value)) if value else 1
    if max((abs(v.numerator) * (denominator // v.denominator) for v in value), default=0) >= UNBOUNDED:
        return None
    numerators = np.array([int(v * denominator) for v in value], dtype=np.int64)
    return (numerators, denominator) if is_move(matrix, low, high, numerators, denominator) else None


def _eliminate(matrix: csr_array, value: list[Fraction], unknown: set[int]) -> dict[int, Fraction] | None:
    """Return the exact changes of unknown cells that complete a move of the audit, or None without any."""
    rows: list[tuple[dict[int, Fraction], Fraction]] = []
    for r in range(matrix.shape[0]):
        span = slice(matrix.indptr[r], matrix.indptr[r + 1])
        terms, rest = {}, Fraction(0)
        for column, coefficient in zip(
            matrix.indices[span].tolist(), matrix.data[span].tolist(), strict=True
        ):
            if column in unknown:
                terms[column] = Fraction(coefficient)
            else:
                rest -= coefficient * value[column]
        rows.append((terms, rest))
    pivots: list[tuple[int, dict[int, Fraction], Fraction]] = []
    rows.sort(key=lambda row: len(row[0]))
    while rows:
        terms, rest = rows.pop(0)
        if not terms:
            if rest != 0:
                return None
            continue
        pivot, leading = next(iter(terms.items()))
        pivots.append((pivot, terms, rest))
        for k, (other, right) in enumerate(rows):
            if pivot in other:
                factor = other[pivot] / leading
                merged = {
                    c: other.get(c, Fraction(0)) - factor * terms.get(c, Fraction(0))
                    for c in {*other, *terms}
                }
                rows[k] = ({c: v for c, v in merged.items() if v}, right - factor * rest)
    solved: dict[int, Fraction] = {}
    for pivot, terms, rest in reversed(pivots):
        known = sum((v * solved.get(c, Fraction(0)) for c, v in terms.items() if c != pivot), Fraction(0))
        solved[pivot] = (rest - known) / terms[pivot]
    return solved


class MovePool:
    """The moves ``(columns, numerators, denominator)`` found so far in a block.

    For the outsider the best move per column and direction is known. For insiders, moves are listed under
    the columns that insiders know better or attack.

    Parameters
    ----------
    columns
        Number of columns of the block.
    watched
        Columns under which moves are listed.
    integer
        Cells are counts: only integer moves prove anything.
    """

    def __init__(self, columns: int, watched: Mask, integer: bool) -> None:
        self.moves: list[tuple[Cells, Units, int]] = []
        self._integer = integer
        self._watched = watched
        self._under: dict[int, list[tuple[int, int]]] = {}
        self._best: dict[int, tuple[Floats, Cells]] = {
            sign: (np.zeros(columns), np.full(columns, -1, dtype=np.int64)) for sign in (1, -1)
        }
        self._ruled_out: set[int] = set()
        self._entries, self._listed = np.zeros((4, 0), dtype=np.int64), 0

    def add(self, numerators: Units, denominator: int) -> None:
        """Add an exact move that the current attacker cannot rule out to the audit's pool."""
        moved = np.flatnonzero(numerators)
        number = len(self.moves)
        self.moves.append((moved, numerators[moved], denominator))
        if self._integer and denominator > 1:
            return
        for sign, (reach, by) in self._best.items():
            distance = sign * numerators[moved] / denominator
            further = moved[distance > reach[moved]]
            reach[further] = sign * numerators[further] / denominator
            by[further] = number
        for column in moved[self._watched[moved]].tolist():
            self._under.setdefault(column, []).append((number, int(numerators[column])))

    def enter(self, low: Units, high: Units) -> None:
        """Ignore moves of the audit outside an insider's bounds, given per column, until :meth:`leave`."""
        number, columns, below, above = self.list_changes()
        outside = (below < low[columns]) | (above > high[columns])
        self._ruled_out = set(number[outside].tolist())

    def list_changes(self) -> tuple[Cells, Cells, Units, Units]:
        """Return every change of every move of the audit as columns: the number of the move, the block's
        column, and the integers below and above the change.
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
        """Let all moves of the audit count again, as they do for the outsider."""
        self._ruled_out = set()

    def find_best(self, column: int, sign: int) -> tuple[Fraction, int]:
        """Return how many steps the audit's best move takes a column, and its number (-1: none)."""
        number = int(self._best[sign][1][column])
        if number < 0:
            return Fraction(0), -1
        if number not in self._ruled_out:
            moved, numerators, denominator = self.moves[number]
            return Fraction(sign * int(numerators[np.searchsorted(moved, column)]), denominator), number
        best = Fraction(0), -1
        for other, numerator in self._under.get(column, ()):
            if other not in self._ruled_out and sign * numerator > 0:
                best = max(best, (Fraction(sign * numerator, self.moves[other][2]), other))
        return best
