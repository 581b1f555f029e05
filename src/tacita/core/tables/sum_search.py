"""Rows of a matrix that are sums of other rows, exactly and in every column.

Each row is summed up with random weights modulo ``2**64``. That is linear: the weighted sum of a row that is
the sum of others is the sum of theirs. So runs of neighbours are looked up instead of tried (``P`` are
cumulated weighted sums; row ``i`` is the sum of rows ``j .. i - 1`` only if ``P[j] = P[i] - h[i]``), and what
is found is checked in integers. Parts of a sum leave the list, and the search begins anew: sums of sums are
found from below. Then sums of rows that are no neighbours are searched for by branching, within a limit.

A sum may hold by chance. Its *evidence* is, in bits, how unlikely that is:

    sum over columns of log2(1 + |total| / g)  -  log2(number of sums that were tried),

with ``g`` the greatest common divisor of all numbers, and equal columns counted once. Of two rows that are
equal the largest number does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import comb, log2
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tacita.core.exact import Cells, Floats, Mask, Units

MOST_ROWS = 600
"""More rows that are left over are not searched for sums of rows that are no neighbours."""
MOST_ENTRIES = 4_000_000
MOST_STEPS = 10_000
STEPS_PER_ROW = 500
"""Steps of the search by branching in all, and for one row."""


@dataclass(frozen=True)
class Sum:
    """Row ``total`` is the sum of rows ``parts``; ``evidence`` in bits."""

    total: int
    parts: tuple[int, ...]
    evidence: float


def search_sums(values: sp.csr_matrix, independent: Mask, related: Callable[[int, int], bool]) -> list[Sum]:
    """Return the rows of a table's numbers that are sums of other rows, those of parts before those above.

    Each row is a part of one sum at most, and sums that are likely to be chance are left out.

    Parameters
    ----------
    values
        Integers, rows by columns.
    independent
        Columns that count as evidence; the others must match as well.
    related
        Whether the second of two rows is a part of the first by their names. The sum of all rows that are
        parts by name is not one of many that were tried.
    """
    return _SumSearch(values, independent, related).run()


def search_other_sums(
    values: sp.csr_matrix,
    independent: Mask,
    related: Callable[[int, int], bool],
    totals: Sequence[int],
    parts: Sequence[int],
) -> list[Sum]:
    """Return the rows among ``totals`` that are sums of rows among ``parts``, in a table's numbers."""
    return list(_SumSearch(values, independent, related).search_by_branching(list(totals), list(parts)))


class _SumSearch:
    def __init__(self, values: sp.csr_matrix, independent: Mask, related: Callable[[int, int], bool]) -> None:
        self.related = related
        # Small matrices are faster in full; a large one is mostly empty.
        small = values.shape[0] * values.shape[1] <= MOST_ENTRIES
        self.dense: NDArray[np.int64] | None = np.asarray(values.toarray()) if small else None
        self.values: Any = values if self.dense is None else self.dense
        self.evident = self.values[:, np.flatnonzero(independent)]
        self.step = max(int(np.gcd.reduce(np.abs(values.data), initial=0)), 1)
        self.empty = np.diff(values.indptr) == 0
        self.bits = self._bound_evidence(values[:, np.flatnonzero(independent)])
        weights = np.random.default_rng(12_345).integers(0, 2**62, values.shape[1], dtype=np.int64) * 2 + 1
        with np.errstate(over="ignore"):
            self.hashes = np.asarray(values @ weights, dtype=np.int64)
        self.steps = MOST_STEPS
        self.totals: set[int] = set()
        self.above: dict[int, int] = {}

    def _bound_evidence(self, values: sp.csr_matrix) -> Floats:
        """Return the most evidence, in bits, that each row could give of being a sum, if columns differ."""
        own = np.log2(1 + np.abs(values.data) / self.step)
        rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
        return np.bincount(rows, weights=own, minlength=values.shape[0]).astype(np.float64)

    def run(self) -> list[Sum]:
        rows = list(range(self.values.shape[0]))
        found: list[Sum] = []
        while True:
            active = [row for row in rows if row not in self.above]
            totals = [row for row in rows if row not in self.totals]
            new = list(self._search_runs(totals, active)) or list(self.search_by_branching(totals, active))
            if not new:
                return found
            found += new

    def _search_runs(self, totals: list[int], active: list[int]) -> Iterator[Sum]:
        """Yield sums of neighbouring rows of a table, which are also neighbours of their total, if active."""
        hashes = self.hashes[active]
        with np.errstate(over="ignore"):
            ends = np.concatenate([[0], np.cumsum(hashes)])
            # Where each total stands: active rows before it end there, and those after it begin.
            until = np.searchsorted(active, totals)
            since = until + np.isin(totals, active)
            before, after = ends[until] - self.hashes[totals], ends[since] + self.hashes[totals]
        first: dict[int, int] = {}
        last: dict[int, int] = {}
        for place, end in enumerate(ends.tolist()):
            first.setdefault(end, place)
            last[end] = place
        candidates = []
        tried = 2 * log2(self.values.shape[0])
        for at, row in enumerate(totals):
            if self.empty[row]:
                continue
            for run in (
                range(first.get(int(before[at]), len(active)), int(until[at])),
                range(int(since[at]), last.get(int(after[at]), 0)),
            ):
                parts = [active[k] for k in run]
                if parts and (sum_ := self._check_sum(row, parts, active, tried)) is not None:
                    candidates.append(sum_)
        for sum_ in sorted(candidates, key=lambda each: len(each.parts)):
            if self._accept(sum_):
                yield sum_

    def _accept(self, found: Sum) -> bool:
        """Record a sum and return True, unless its total or parts have another, or it goes in a circle."""
        if found.total in self.totals or any(part in self.above for part in found.parts):
            return False
        higher: int | None = found.total
        while higher is not None:
            if higher in found.parts:
                return False
            higher = self.above.get(higher)
        self.totals.add(found.total)
        self.above |= dict.fromkeys(found.parts, found.total)
        return True

    def search_by_branching(self, totals: list[int], rows: list[int]) -> Iterator[Sum]:
        """Yield sums of any of the rows of a table's numbers, smallest totals first."""
        if self.dense is None or len(rows) > MOST_ROWS or len(rows) < 2:
            return
        dense = self.dense[rows]
        if dense.min(initial=0) < 0:
            return
        place = {row: k for k, row in enumerate(rows)}
        free = ~self.empty[rows]
        size = dense.sum(axis=1, dtype=np.float64)
        for row in sorted(totals, key=self.bits.__getitem__):
            own = self.dense[row]
            hopeless = self.bits[row] <= _count_bits(len(rows), 2) and not self._find_related(row, rows)
            if hopeless or self.empty[row] or own.min() < 0:
                continue
            may = free & (size <= own.sum(dtype=np.float64))
            if row in place:
                may[place[row]] = False
            may[may] = (dense[may] <= own).all(axis=1)
            chosen = self._branch(own, dense, np.flatnonzero(may), [STEPS_PER_ROW])
            if chosen is None:
                continue
            parts = sorted(rows[c] for c in chosen)
            sum_ = self._check_sum(row, parts, rows, _count_bits(len(rows), len(parts)))
            if sum_ is not None and self._accept(sum_):
                free[[place[part] for part in parts]] = False
                yield sum_

    def _branch(
        self, rest: Units, dense: NDArray[np.int64], may: Cells, steps: list[int]
    ) -> list[int] | None:
        """Return rows of a table out of ``may`` that add up to ``rest``, or None, also if steps ran out."""
        if not rest.any():
            return []
        steps[0] -= 1
        self.steps -= 1
        if steps[0] < 0 or self.steps < 0:
            return None
        may = may[(dense[may] <= rest).all(axis=1)]
        total = dense[may].sum(axis=0)
        if (total < rest).any():
            return None
        if np.array_equal(total, rest):
            return [int(k) for k in may]
        holders = (dense[may] > 0).sum(axis=0)
        column = int(np.argmin(np.where(rest > 0, holders, np.iinfo(np.int64).max)))
        pick = int(may[np.argmax(dense[may, column])])
        others = may[may != pick]
        found = self._branch(rest - dense[pick], dense, others, steps)
        if found is not None:
            return [pick, *found]
        return self._branch(rest, dense, others, steps) if holders[column] > 1 else None

    def _find_related(self, total: int, rows: list[int]) -> list[int]:
        """Return the rows whose codes are parts of one row's code by their names."""
        return [row for row in rows if row != total and self.related(total, row)]

    def _check_sum(self, total: int, parts: list[int], rows: list[int], tried: float) -> Sum | None:
        """Return a sum of rows with its evidence; None if it does not hold in every column, or by chance."""
        if self._find_related(total, rows) == sorted(parts):
            tried = 0.0
        if self.bits[total] <= tried:
            return None
        together = np.asarray(self.values[parts].sum(axis=0)).ravel()
        if not np.array_equal(together, _to_dense(self.values[[total]])[0]):
            return None
        columns = np.unique(_to_dense(self.evident[[total, *parts]]), axis=1)
        each = np.log2(1 + np.abs(columns[0]) / self.step)
        # Two rows with one number in common are nothing unusual.
        bits = float(each.sum() - (each.max(initial=0.0) if len(parts) == 1 else 0.0))
        return Sum(total, tuple(parts), bits - tried) if bits > tried else None


def _count_bits(rows: int, parts: int) -> float:
    """Return the logarithm, in bits, of the number of sums of so many parts among a table's rows."""
    return log2(rows * comb(max(rows - 1, parts), parts))


def _to_dense(values: Any) -> NDArray[np.int64]:
    return np.asarray(values if isinstance(values, np.ndarray) else values.toarray())
