"""Neighbourhoods of targets in one block: the columns nearest to a target that can move together with it.

Columns are gathered from equation to equation. One that is alone in an equation among them cannot move unless
columns further away do, and is left out, repeatedly. What remains is often a tenth of what was gathered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array

from tacita.attackers.insider_list import list_ranges
from tacita.core.exact import Cells, Floats, Mask

SIZES = (100, 200, 400, 800, 1600, 3200, 6400)
"""Columns that are gathered for the neighbourhoods of one target."""


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Columns of a block, ascending, with their entries in the equations between them, by columns: where the
    entries of each begin, their rows and their coefficients.
    """

    columns: Cells
    starts: Cells
    rows: Cells
    coefficients: Floats
    n_rows: int


class BlockNeighbourhoods:
    """Gathers the columns around the targets of one block. Those around the last target are kept."""

    def __init__(self, rows: csr_array, columns: csc_array) -> None:
        self._rows, self._columns = rows, columns
        self._last = -1
        self._known: list[Neighbourhood] = []
        self._further: Iterator[Neighbourhood] = iter(())

    def list_around(self, p: int) -> Iterator[Neighbourhood]:
        """Yield ever larger neighbourhoods of an audited target, without columns that cannot move in them.

        Those in which the target itself cannot move are left out.
        """
        if p != self._last:
            self._last, self._known, self._further = p, [], self._grow(p)
        yield from self._known
        for neighbourhood in self._further:
            self._known.append(neighbourhood)
            yield neighbourhood

    def _grow(self, p: int) -> Iterator[Neighbourhood]:
        """Yield the neighbourhoods of an audited target, gathered anew."""
        around, levels = np.array([p]), self._gather(p)
        for size in SIZES:
            while around.size < size and (level := next(levels, None)) is not None:
                around = np.concatenate([around, level])
            neighbourhood = self._peel(np.sort(around[:size]))
            if neighbourhood is not None and p in neighbourhood.columns:
                yield neighbourhood
            if around.size <= size:
                return

    def _gather(self, p: int) -> Iterator[Cells]:
        """Yield columns of an audited block by their distance from a target, in equations between them."""
        seen, seen_rows = (np.zeros(size, dtype=bool) for size in reversed(self._rows.shape))
        level = np.array([p])
        seen[p] = True
        while level.size:
            rows = _list_crossing(self._columns, level, seen_rows)
            level = _list_crossing(self._rows, rows, seen)
            yield level

    def _peel(self, columns: Cells) -> Neighbourhood | None:
        """Return columns of an audited block without those that are alone in an equation, repeatedly."""
        while columns.size:
            entries, sizes = _find_entries(self._columns, columns)
            used, rows = np.unique(self._columns.indices[entries], return_inverse=True)
            alone = np.bincount(rows)[rows] == 1
            starts = np.concatenate([[0], np.cumsum(sizes)])
            if not alone.any():
                return Neighbourhood(columns, starts, rows, self._columns.data[entries], used.size)
            columns = columns[~np.logical_or.reduceat(alone, starts[:-1])]
        return None


def _find_entries(matrix: csr_array | csc_array, lines: Cells) -> tuple[Cells, Cells]:
    """Return where the entries of some rows or columns of an audited block are, and how many each has."""
    first = matrix.indptr[lines].astype(np.int64)
    sizes = matrix.indptr[lines + 1] - first
    return list_ranges(first, sizes), sizes


def _list_crossing(matrix: csr_array | csc_array, lines: Cells, seen: Mask) -> Cells:
    """Return the columns that cross some rows of an audited block, or rows that cross columns, each once and
    in their order; those ``seen`` before are left out, and are seen from then on.
    """
    crossing = matrix.indices[_find_entries(matrix, lines)[0]].astype(np.int64)
    crossing = crossing[~seen[crossing]]
    crossing = crossing[np.sort(np.unique(crossing, return_index=True)[1])]
    seen[crossing] = True
    return crossing
