"""The linear system of a table, which every reader knows.

``M a = b``: one row per equation, ``sum_i m_ji a_i = b_j``, with integer coefficients. In a table each row is
``-total + sum of parts = 0``: one coefficient -1, the others +1. Rows are stored compressed, in three arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import UNBOUNDED, Cells, Mask, Units, freeze

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Equations:
    """Rows ``sum coefficients * value[cells] = rhs``; row ``j`` occupies ``starts[j]:starts[j + 1]``.

    ``rhs`` is counted in the units of the table that owns the equations; it is zero for every table equation.
    """

    starts: Cells
    cells: Cells
    coefficients: Cells
    rhs: Units
    n_cells: int

    def __post_init__(self) -> None:
        for array in (self.starts, self.cells, self.coefficients, self.rhs):
            freeze(array)

    def __len__(self) -> int:
        return self.rhs.size

    def __iter__(self) -> Iterator[tuple[Cells, Cells, int]]:
        for j in range(len(self)):
            yield self.row(j)

    def row(self, j: int) -> tuple[Cells, Cells, int]:
        """Return the cells, coefficients and right-hand side of equation ``j``."""
        span = slice(self.starts[j], self.starts[j + 1])
        return self.cells[span], self.coefficients[span], int(self.rhs[j])

    def total_of(self, j: int) -> int:
        """Return the total of equation ``j``: the cell with the only negative coefficient, else the first."""
        cells, coefficients, _ = self.row(j)
        negative = np.flatnonzero(coefficients < 0)
        return int(cells[negative[0]]) if negative.size == 1 else int(cells[0])

    @cached_property
    def matrix(self) -> csr_array:
        """The coefficients ``M`` of the table's equations as a sparse matrix of int64."""
        from scipy.sparse import csr_array

        return csr_array((self.coefficients, self.cells, self.starts), shape=(len(self), self.n_cells))

    @cached_property
    def row_of_entry(self) -> Cells:
        """The position of the equation that each entry of ``cells`` belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def residuals(self, units: Units) -> Units:
        """Return ``M a - b`` of each equation exactly, in units, clipped to ``UNBOUNDED``."""
        if self._widest * int(np.abs(units).max(initial=0)) < UNBOUNDED:
            return np.asarray(self.matrix @ units) - self.rhs
        # 64 bits could wrap around here, and a wrong total would pass for a right one.
        wide = -self.rhs.astype(object)
        np.add.at(wide, self.row_of_entry, self.coefficients.astype(object) * units[self.cells])
        return np.asarray(np.clip(wide, -UNBOUNDED, UNBOUNDED), dtype=np.int64)

    @cached_property
    def _widest(self) -> int:
        """The largest sum of absolute coefficients over the equations."""
        sums = np.bincount(self.row_of_entry, np.abs(self.coefficients), len(self))
        return int(sums.max(initial=0.0))

    @cached_property
    def duplicates(self) -> Mask:
        """A mask of the equations that repeat an earlier one, possibly with all signs turned."""
        random = np.random.default_rng(0).integers(0, 2**63, self.n_cells, dtype=np.uint64)
        terms = self.coefficients.astype(np.uint64) * random[self.cells]
        fingerprint = np.zeros(len(self), dtype=np.uint64)
        np.add.at(fingerprint, self.row_of_entry, terms)
        fingerprint = np.minimum(fingerprint, np.uint64(0) - fingerprint)
        _, group, size = np.unique(fingerprint, return_inverse=True, return_counts=True)
        seen: set[tuple[bytes, bytes, int]] = set()
        repeated = np.zeros(len(self), dtype=bool)
        for j in np.flatnonzero(size[group] > 1).tolist():
            cells, coefficients, rhs = self.row(j)
            order = np.argsort(cells, kind="stable")
            cells, coefficients = cells[order], coefficients[order]
            sign = 1 if coefficients.size == 0 or coefficients[0] > 0 else -1
            key = (cells.tobytes(), (sign * coefficients).tobytes(), sign * rhs)
            repeated[j] = key in seen
            seen.add(key)
        return repeated

    def where(self, keep: Mask) -> Equations:
        """Return the equations that ``keep`` marks, in order."""
        entries = keep[self.row_of_entry]
        return Equations(
            starts=_find_starts(np.diff(self.starts)[keep]),
            cells=self.cells[entries],
            coefficients=self.coefficients[entries],
            rhs=self.rhs[keep],
            n_cells=self.n_cells,
        )

    def scaled(self, factor: int) -> Equations:
        """Return the same equations where each value is counted in units ``factor`` times finer."""
        return Equations(self.starts, self.cells, self.coefficients, self.rhs * factor, self.n_cells)

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[Sequence[int], Sequence[int], int]], n_cells: int) -> Equations:
        """Return the equations of an iterable of ``(cells, coefficients, rhs)``."""
        listed = list(rows)
        lengths = np.array([len(cells) for cells, _, _ in listed], dtype=np.int64)
        return cls(
            starts=_find_starts(lengths),
            cells=np.array([c for cells, _, _ in listed for c in cells], dtype=np.int64),
            coefficients=np.array([m for _, row, _ in listed for m in row], dtype=np.int64),
            rhs=np.array([rhs for _, _, rhs in listed], dtype=np.int64),
            n_cells=n_cells,
        )

    @classmethod
    def from_families(cls, totals: Sequence[Cells], parts: Sequence[Cells], n_cells: int) -> Equations:
        """Return the equations ``total = sum of parts`` from pairs of cells ``(total, part)``.

        Each array pair is one family set: all parts with the same total form one equation of it.
        """
        blocks: list[Equations] = []
        for total, part in zip(totals, parts, strict=True):
            order = np.lexsort((part, total))
            total, part = total[order], part[order]
            heads, first, lengths = np.unique(total, return_index=True, return_counts=True)
            starts = _find_starts(lengths + 1)
            cells = np.empty(starts[-1], dtype=np.int64)
            coefficients = np.ones(starts[-1], dtype=np.int64)
            cells[starts[:-1]] = heads
            coefficients[starts[:-1]] = -1
            at = np.arange(part.size) - np.repeat(first, lengths) + np.repeat(starts[:-1] + 1, lengths)
            cells[at] = part
            blocks.append(cls(starts, cells, coefficients, np.zeros(heads.size, np.int64), n_cells))
        return cls.stack(blocks, n_cells)

    @classmethod
    def stack(cls, blocks: Sequence[Equations], n_cells: int) -> Equations:
        """Return all equations of several systems over the same cells as one, in order."""
        if not blocks:
            nothing = np.zeros(0, dtype=np.int64)
            return cls(np.zeros(1, np.int64), nothing, nothing.copy(), nothing.copy(), n_cells)
        offsets = np.cumsum([0] + [block.cells.size for block in blocks])
        return cls(
            starts=np.concatenate(
                [[0], *(block.starts[1:] + at for block, at in zip(blocks, offsets, strict=False))]
            ).astype(np.int64),
            cells=np.concatenate([block.cells for block in blocks]),
            coefficients=np.concatenate([block.coefficients for block in blocks]),
            rhs=np.concatenate([block.rhs for block in blocks]),
            n_cells=n_cells,
        )


def _find_starts(lengths: Cells) -> Cells:
    """Return where equations of these lengths begin, one after another, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
