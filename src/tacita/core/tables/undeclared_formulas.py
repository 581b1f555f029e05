"""Codes of a table that follow from others by a formula: means, shares, rates, changes, other units.

A crosstab with columns ``men``, ``women`` and ``Mean`` and no total is taken for one of three separate parts.
Readers multiply back: of two published numbers the third follows. So such codes are searched for, one
dimension at a time, in every combination of the codes of the others (see
:mod:`tacita.core.tables.formula_search`).

Names that say so (:data:`HINTS`) help the evidence, but are none: a column is not refused for its name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacita.core.exact import Cells
from tacita.core.tables.code_matrix import CodeMatrix
from tacita.core.tables.formula_search import search_formulas
from tacita.core.tables.formula_sources import Formula, Kind
from tacita.core.words import list_names, pluralize

HINTS = re.compile(
    r"%|‰|\b(mean|average|avg|median|min|minimum|max|maximum|per|percent|percentage|pct|share|shares|rate|rates"
    r"|ratio|index|change|changes|difference|diff|growth|proportion|quota|increase|decrease|balance)\b",
    re.IGNORECASE,
)
"""Words in codes and their labels that say that numbers are derived from others."""
MOST_COLUMNS = 500
"""Columns in which formulas are looked for: those with the largest numbers."""
MOST_NUMBERS = 1_000_000
MOST_SHOWN = 6
REMEDY = "take such codes out of the input, and compute them from what is published"
NAMES = {Kind.LEAST: "the least", Kind.GREATEST: "the greatest", Kind.MEDIAN: "the median"}


@dataclass(frozen=True)
class FoundFormulas:
    """Codes of one dimension that follow from others.

    Attributes
    ----------
    formulas
        Each code that follows, with its formula as text.
    evidence
        How unlikely it is that the likeliest holds by chance, in bits.
    """

    dimension: str
    formulas: Mapping[str, str]
    evidence: float

    def __str__(self) -> str:
        """Return the formulas as text: ``Mean = (a + b + c) / 3``."""
        every = [f"{code} = {text}" for code, text in self.formulas.items()]
        more = [f"and {pluralize(len(every) - MOST_SHOWN, 'more')}"] if len(every) > MOST_SHOWN else []
        return ", ".join([*every[:MOST_SHOWN], *more])


def find_formulas(
    matrix: CodeMatrix, unit: int, known: Mapping[str, Sequence[str]], least: float
) -> FoundFormulas | None:
    """Return the codes of a dimension that follow from others by formulas; None if none are likely.

    Parameters
    ----------
    unit
        What stands for 1 in the integers.
    known
        Sums that were found: the parts of each code that is one.
    least
        Evidence of a formula, in bits, below which it is left out.
    """
    return _FormulasOfDimension(matrix, unit, known, least).run()


class _FormulasOfDimension:
    def __init__(
        self, matrix: CodeMatrix, unit: int, known: Mapping[str, Sequence[str]], least: float
    ) -> None:
        self.matrix, self.unit, self.known, self.least = matrix, unit, known, least
        given = [matrix.total] if matrix.total_is_given else []
        self.rows: Cells = np.concatenate([matrix.rows, given]).astype(np.int64)
        self.codes = [matrix.dimension.codes[row] for row in self.rows.tolist()]
        self.derivable = range(matrix.rows.size)

    def run(self) -> FoundFormulas | None:
        values = self._select()
        hinted = [row for row in self.derivable if self._is_hinted(self.codes[row])]
        found = search_formulas(values, self.derivable, hinted, self.groups, self.unit)
        likely = [formula for formula in found if formula.evidence >= self.least]
        accepted: dict[int, Formula] = {}
        used: set[int] = set()
        for formula in likely:
            if accepted and self._adds_up(values, accepted):
                break
            parts = {*formula.first, *formula.second}
            if formula.row in used or parts & accepted.keys() or self._is_known(formula):
                continue
            accepted[formula.row] = formula
            used |= parts
        if not accepted:
            return None
        texts = {self.codes[row]: self._write(accepted[row]) for row in sorted(accepted)}
        evidence = max(formula.evidence for formula in accepted.values())
        return FoundFormulas(self.matrix.dimension.name, texts, evidence)

    def _select(self) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        return np.asarray(self.matrix.values[self.rows][:, self.columns].toarray())

    @cached_property
    def columns(self) -> Cells:
        """The columns of a table's numbers that are looked at, in their order."""
        every = np.flatnonzero(self.matrix.independent)
        most = max(min(MOST_COLUMNS, MOST_NUMBERS // self.rows.size), 2)
        if every.size <= most:
            return every
        size = np.asarray(abs(self.matrix.values).sum(axis=0)).ravel()[every]
        return np.sort(every[np.argsort(-size, kind="stable")[:most]])

    @cached_property
    def groups(self) -> list[Cells]:
        """All columns of a table as one group, and those that differ by one dimension alone as one."""
        others = self.matrix.others[self.columns]
        ways = [np.zeros(self.columns.size, dtype=np.int64)]
        for d in range(others.shape[1] if others.shape[1] > 1 else 0):
            _, place = np.unique(np.delete(others, d, axis=1), axis=0, return_inverse=True)
            ways.append(place.ravel().astype(np.int64))
        return ways

    def _is_hinted(self, code: str) -> bool:
        trees = self.matrix.dimension.trees
        labels = [tree.labels[code] for tree in trees if tree.labels and code in tree.labels]
        return any(HINTS.search(text) for text in (code, *labels))

    def _is_known(self, formula: Formula) -> bool:
        """Return whether a formula of a table's code follows from the sums that were found."""
        if formula.kind is not Kind.DIFFERENCE:
            return False
        if not self.matrix.dimension.is_flat:
            return True
        left = Counter(self._list_parts([formula.row, *formula.second]))
        return left == Counter(self._list_parts(formula.first))

    def _list_parts(self, rows: Sequence[int]) -> Iterator[str]:
        """Yield the codes in rows of the table, and in place of each that is a sum its smallest parts."""
        waiting = [self.codes[row] for row in rows]
        while waiting:
            code = waiting.pop()
            if code in self.known:
                waiting += self.known[code]
            else:
                yield code

    def _adds_up(self, values: np.ndarray, accepted: Mapping[int, Formula]) -> bool:
        """Return whether a table's codes add up to the total that is given, without those that follow."""
        parts = [row for row in self.derivable if row not in accepted]
        return self.matrix.total_is_given and np.array_equal(values[parts].sum(axis=0), values[-1])

    def _write(self, formula: Formula) -> str:
        """Return a formula among codes of a table as text, without the code that follows."""
        first, second = self._add(formula.first), self._add(formula.second)
        factor = formula.factor
        if formula.kind in NAMES:
            parts = [self.codes[row] for row in formula.first]
            return f"{NAMES[formula.kind]} of {list_names(parts)}"
        if formula.kind is Kind.MEAN:
            return f"{first} / {len(formula.first)}"
        if formula.kind is Kind.DIFFERENCE:
            return f"{first} - {second}"
        if formula.kind is Kind.CHANGE:
            ratio = f"{first} / {second} - 1"
            return ratio if factor == 1 else f"({ratio}) * {factor:g}"
        if formula.kind is Kind.RATIO:
            return f"{first} / {second}" + ("" if factor == 1 else f" * {factor:g}")
        if factor is None:
            return f"{first} times a number that is the same within each group of columns"
        return first if factor == 1 else f"{first} * {factor:.12g}"

    def _add(self, rows: Sequence[int]) -> str:
        codes = [self.codes[row] for row in rows]
        if len(codes) > MOST_SHOWN:
            return f"({' + '.join(codes[:MOST_SHOWN])} + .. ({pluralize(len(codes), 'code')}))"
        return f"({' + '.join(codes)})" if len(codes) > 1 else "".join(codes)


def describe_formulas(found: FoundFormulas, certain: bool) -> str:
    """Return a sentence or two for an error or warning of codes of a table that follow from others."""
    sure = "follow" if certain else "may follow"
    return (
        f"codes of '{found.dimension}' {sure} from others, up to rounding: {found}. Readers who see that "
        "compute hidden numbers from them, and the table takes them for separate parts"
    )
