"""Moves that prove what an attacker cannot rule out, in exact arithmetic.

A *move* is a change of the table ``z`` with ``M z = 0`` inside the attacker's bounds: the table ``a + z``
looks exactly like the truth to him. A linear program finds moves in floats; here they become integers over a
common denominator, checked with integers, or they are not used at all. For counts only the denominator 1
will do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

import numpy as np
from scipy.sparse import csr_array

from tacita.core.exact import UNBOUNDED, Cells, Floats, Units

DENOMINATORS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 18, 20, 24, 30, 36, 40, 48, 60)
LARGEST_ELIMINATION = 3000


@dataclass(frozen=True, eq=False)
class Move:
    """Change ``changes[j] / denominator`` (in the table's steps) of cell ``cells[j]``, zero elsewhere."""

    cells: Cells
    changes: Units
    denominator: int = 1

    def at(self, cell: int) -> Fraction:
        """The change of one cell."""
        found = np.flatnonzero(self.cells == cell)
        return Fraction(int(self.changes[found[0]]), self.denominator) if found.size else Fraction(0)


def snap(matrix: csr_array, low: Units, high: Units, point: Floats) -> tuple[Units, int] | None:
    """The exact move that a float point stands for: numerators and denominator, or None if there is none
    close by.

    Tries common denominators from 1 up; accepts only what satisfies ``M z = 0`` and ``low <= z <= high`` in
    integers.
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
        whole = numerators.astype(np.int64)
        if is_move(matrix, low, high, whole, denominator):
            return whole, denominator
    return None


def is_move(matrix: csr_array, low: Units, high: Units, numerators: Units, denominator: int) -> bool:
    """``M z = 0`` and ``low <= z <= high`` for ``z = numerators / denominator``, in integers."""
    largest_sum = int(np.abs(numerators).max(initial=0)) * int(abs(matrix).sum(axis=1).max(initial=0))
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


def recover(
    matrix: csr_array, low: Units, high: Units, point: Floats, given: Mapping[int, int] | None = None
) -> tuple[Units, int] | None:
    """The exact move near a float vertex, by elimination with fractions.

    Cells in ``given`` take their amount, those at zero or at a bound stay there, and the equations determine
    the others. The way out when denominators are too large to guess; bounded in size because fractions are
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
