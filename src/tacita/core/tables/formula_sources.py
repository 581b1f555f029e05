"""What formulas among rows of a matrix are made of, and how much the numbers of a row tell, in bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import log2, log10

import numpy as np
from numpy.typing import NDArray

from tacita.core.exact import Cells, Floats, Mask

MOST_ROWS = 100
"""More rows are not searched, except those whose names say that they are derived."""
SCREENED = 6
"""Columns in which all formulas are tried; only those that hold there are tried in the others."""
KINDS = log2(6)
"""Length of the choice between kinds of formulas, in bits."""


class Kind(Enum):
    """How a row follows from others."""

    MULTIPLE = "multiple"
    MEAN = "mean"
    DIFFERENCE = "difference"
    RATIO = "ratio"
    CHANGE = "change"
    LEAST = "least"
    GREATEST = "greatest"
    MEDIAN = "median"


@dataclass(frozen=True)
class Formula:
    """Row ``row`` follows from the sums of rows ``first`` and ``second``; ``evidence`` in bits.

    ``factor`` is what the formula multiplies by; None if it is another one in each group of columns, divided
    in way ``group``.
    """

    row: int
    kind: Kind
    first: tuple[int, ...]
    second: tuple[int, ...] = ()
    factor: float | None = 1.0
    evidence: float = 0.0
    group: int = 0


@dataclass(frozen=True)
class Tried:
    """Formulas of one kind: per formula its row, its sources, what it multiplies by, its length in bits."""

    kind: Kind
    row: Cells
    first: Cells
    second: Cells
    factor: Floats
    lengths: Floats

    def at(self, chosen: Cells | Mask | slice) -> Tried:
        row, first, second = self.row[chosen], self.first[chosen], self.second[chosen]
        return Tried(self.kind, row, first, second, self.factor[chosen], self.lengths[chosen])


class FormulaSources:
    """The numbers of a table by rows and columns, and the sums of rows that formulas may have as sources.

    Source ``k`` is row ``k``, and from ``n`` on, four per row that is searched, the sums of several rows.
    """

    def __init__(
        self,
        values: NDArray[np.int64],
        derivable: Sequence[int],
        hinted: Sequence[int],
        groups: Sequence[Cells],
        unit: int,
    ) -> None:
        self.groups, self.unit = groups, unit
        self.numbers = values.astype(np.float64)
        self.n = values.shape[0]
        self.derivable, self.hinted = np.zeros((2, self.n), dtype=bool)
        self.derivable[list(derivable)] = True
        self.hinted[list(hinted)] = True
        common = np.gcd.reduce(values, axis=1)
        self.grid = np.maximum(common, 1).astype(np.float64)
        # The last decimal of a row: the power of ten, up to integers, that its numbers are multiples of.
        powers = 10 ** np.arange(round(log10(unit)) + 1)
        self.step = powers[(common[:, None] % powers == 0).sum(axis=1) - 1].astype(np.float64)
        self.finer: Mask = self.step < self.step.max()
        self.noise = max(float(unit), float(np.gcd.reduce(common)))
        self.range = np.ptp(self.numbers, axis=1)
        self.size = np.abs(self.numbers).sum(axis=0)
        self.screened = np.argsort(-self.size, kind="stable")[:SCREENED]
        choice = np.where(self.hinted, self.hinted.sum(), self.derivable.sum())
        self.lengths = 1 + KINDS + np.log2(np.maximum(choice, 1))
        searched = self.derivable & (self.hinted | (self.n <= MOST_ROWS))
        self.rows = np.array(
            [row for row in np.flatnonzero(searched).tolist() if self._may_tell(row)], dtype=np.int64
        )
        self._add_sums()

    def _may_tell(self, row: int) -> bool:
        """Return whether the numbers of a row of a table are enough for any formula to have evidence."""
        single = np.unique(self.numbers[row])
        return bool(self.weigh(np.array([row]), single[None], self.grid[row]).sum() > self.lengths[row])

    def _add_sums(self) -> None:
        """Add sums of a table's rows, for each row that is searched, to the sources of formulas."""
        others = np.broadcast_to(self.derivable, (self.rows.size, self.n)).copy()
        others[np.arange(self.rows.size), self.rows] = False
        before = others & (np.arange(self.n) < self.rows[:, None])
        ways = [others, before, others & ~self.finer, others & ~self.hinted]
        self.members = np.stack(ways, axis=1).reshape(-1, self.n)
        table = np.column_stack([self.numbers, self.step / 2, np.ones(self.n)])
        sums = []
        for among in (self.derivable, None, self.derivable & ~self.finer, self.derivable & ~self.hinted):
            if among is None:
                own = np.where(self.derivable[:, None], table, 0.0)
                sums.append((np.cumsum(own, axis=0) - own)[self.rows])
            else:
                sums.append(table[among].sum(axis=0) - np.where(among[:, None], table, 0.0)[self.rows])
        every = np.concatenate([table, np.stack(sums, axis=1).reshape(-1, table.shape[1])])
        self.sources, self.errors, self.terms = every[:, :-2], every[:, -2], every[:, -1]
        # Each sum once.
        self.usable = self.terms > 1
        for k in range(1, len(ways)):
            for earlier in ways[:k]:
                self.usable[self.n + k :: len(ways)] &= (ways[k] != earlier).any(axis=1)

    def weigh(self, rows: Cells, own: Floats, windows: Floats | float) -> Floats:
        """Return how much numbers of rows tell if they lie in windows of this width, in bits."""
        size = np.abs(own)
        apart = np.where(self.hinted[rows], self.range[rows], 0.0)[:, None]
        spread = np.minimum(size, np.maximum(np.sqrt(size * self.noise), apart))
        return np.asarray(np.log2(1 + spread / np.maximum(windows, self.grid[rows][:, None])))

    def weigh_distinct(self, row: int, windows: Floats) -> Floats:
        """Return how much each number of a row tells in its window, in bits; values that are alike once."""
        own = self.numbers[row]
        bits = self.weigh(np.array([row]), own[None], windows)[0]
        order = np.argsort(-bits, kind="stable")
        alike = np.floor(own / np.where(np.isfinite(windows), np.maximum(windows, self.grid[row]), np.inf))
        _, first = np.unique(alike[order], return_index=True)
        once = np.zeros(own.size, dtype=bool)
        once[order[first]] = True
        return np.where(once, bits, 0.0)

    def list_sources(self, places: Cells, most: int) -> tuple[Cells, Mask, Floats]:
        """Return sources for rows of a table, which of them are any, and their lengths, by row.

        Parameters
        ----------
        places
            Where the rows are among those that are searched.
        most
            How many single rows there may be: those nearest to the row.
        """
        rows = self.rows[places]
        near = np.argsort(np.abs(np.arange(self.n) - rows[:, None]), axis=1, kind="stable")[:, 1 : most + 1]
        several = self.n + 4 * places[:, None] + np.arange(4)
        sources = np.concatenate([near, several], axis=1)
        valid = np.concatenate([np.ones(near.shape, dtype=bool), self.usable[several]], axis=1)
        lengths = np.repeat([1 + log2(near.shape[1]), 3.0], [near.shape[1], 4])
        return sources, valid, np.broadcast_to(lengths, sources.shape)

    def add_runs(self, rows: Cells, parts: Cells, start: Cells, end: Cells, length: float) -> Tried:
        """Add runs of a table's rows to the sources of formulas, and return the means of them."""
        members = np.zeros((rows.size, self.n), dtype=bool)
        place = np.arange(parts.size)
        members[:, parts] = (start[:, None] <= place) & (place < end[:, None])
        members[np.arange(rows.size), rows] = False
        first = self.sources.shape[0] + np.arange(rows.size)
        weights = members.astype(np.float64)
        self.members = np.concatenate([self.members, members])
        self.sources = np.concatenate([self.sources, weights @ self.numbers])
        self.errors = np.concatenate([self.errors, weights @ self.step / 2])
        terms = weights.sum(axis=1)
        return Tried(Kind.MEAN, rows, first, first, 1 / terms, np.full(rows.size, length))

    def name_parts(self, source: int) -> tuple[int, ...]:
        """Return the rows of a table that a source of formulas is the sum of."""
        return (source,) if source < self.n else tuple(np.flatnonzero(self.members[source - self.n]).tolist())
