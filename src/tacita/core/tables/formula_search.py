"""Rows of a matrix that follow from other rows by a formula other than a sum: means, shares, changes, units.

Searched for are, in every column up to rounding at the decimals that the row is shown with,

    c = k a             k any number, one for all columns or one per group of columns (units, an index)
    c = (a + .. + z) / n
    c = a - b
    c = K a / b         K one of 1, 100, 1000, 10 000, 100 000, 1 000 000
    c = K (a / b - 1)   K 1 or 100
    c = least, greatest or median of the others

where ``a`` and ``b`` are rows, the total, the sum of all other rows, of those before ``c``, or of those with
the fewest decimals; for means also of any run of neighbours. Sums are searched for by
:mod:`tacita.core.tables.sum_search`.

The *evidence* of a formula is, in bits, how unlikely it is that it holds by chance:

    sum over columns of log2(1 + spread / (window of the formula))  -  length of the formula in bits.

``spread`` is how far a number could have been from the formula: its square root in integer units, since rows
of a table are often proportional to each other up to the noise of counts; or the range of the row, if its
name says that it is derived (mean, %, per ..); never more than the number itself. The window holds the values
that the formula would allow, rounded: half a step of the last decimal to both sides; or a whole one, and half
a step of each number that it is computed from, if these are rounded themselves. Equal values of a row count
once. Where ``k`` is fitted the column that tells most does not count. Lengths are those of a prefix code:
``2 ** -length`` summed over all formulas is at most one, so that one with evidence ``e`` holds by chance in
one table out of ``2 ** e`` at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np
from numpy.typing import NDArray

from tacita.core.exact import Cells, Floats, Mask
from tacita.core.tables.formula_sources import MOST_ROWS, SCREENED, Formula, FormulaSources, Kind, Tried

MOST_PAIRED = 30
"""In more rows, formulas of two rows and means of runs are searched for only where names say so."""
MOST_ENTRIES = 2_000_000
"""Numbers of formulas that are looked at at once: of more formulas the longest are left out."""
FACTORS = (100.0, 1.0, 1000.0, 100_000.0, 10_000.0, 1_000_000.0)
LEAST = 1e-9
"""What floating-point numbers may be off, relative to the number."""


def search_formulas(
    values: NDArray[np.int64],
    derivable: Sequence[int],
    hinted: Sequence[int],
    groups: Sequence[Cells],
    unit: int,
) -> list[Formula]:
    """Return the likeliest formula of each row of a table's numbers that may follow from others.

    The likeliest comes first, those of rows whose names say so before others, those with decimals that others
    lack before those without. What may be chance is left out.

    Parameters
    ----------
    values
        Integers, rows by columns.
    derivable
        The rows that may follow from others. The rest, such as a total, is what they may follow from.
    hinted
        Those whose names say that they follow from others.
    groups
        Ways to divide the columns into groups, each a number per column from 0 on.
    unit
        What stands for 1 in the integers: 10 to the power of the number of decimals.
    """
    if values.shape[0] < 2 or values.shape[1] < 2:
        return []
    search = _FormulaSearch(values, derivable, hinted, groups, unit)
    best: dict[int, Formula] = {}
    for formula in search.run():
        other = best.get(formula.row)
        # Of equally likely formulas the one of fewest terms.
        if other is None or (formula.evidence, -len(formula.first)) > (other.evidence, -len(other.first)):
            best[formula.row] = formula
    return sorted(
        best.values(),
        key=lambda f: (bool(search.hinted[f.row]), bool(search.finer[f.row]), f.evidence, f.row),
        reverse=True,
    )


class _FormulaSearch(FormulaSources):
    """The search for formulas among the rows of a table's numbers, kind by kind."""

    def run(self) -> Iterator[Formula]:
        """Yield the likeliest formula of each kind for rows of a table's numbers."""
        if not self.rows.size:
            return
        yield from self._check_multiples()
        paired = np.flatnonzero(self.hinted[self.rows] | (self.n <= MOST_PAIRED + 1))
        if paired.size:
            for tried in (*self._screen_pairs(paired), *self._screen_sums(paired)):
                yield from self._check(tried)
            yield from self._check_order(paired)

    def _screen_pairs(self, paired: Cells) -> Iterator[Tried]:
        """Yield differences, ratios and changes of two sources that hold in one column of a table."""
        sources, valid, lengths = self.list_sources(paired, MOST_PAIRED)
        rows, column = self.rows[paired], self.screened[0]
        a, da = self.sources[sources, column][:, :, None], self.errors[sources][:, :, None]
        b, db = a.transpose(0, 2, 1), da.transpose(0, 2, 1)
        both = valid[:, :, None] & valid[:, None, :] & (sources[:, :, None] != sources[:, None, :])
        own, step = self.numbers[rows, column][:, None, None], self.step[rows][:, None, None]
        step = step + LEAST * np.abs(own)
        choice = lengths[:, :, None] + lengths[:, None, :]

        def list_tried(kind: Kind, holds: Mask, factor: float, length: float) -> Tried:
            at, first, second = np.nonzero(holds & both)
            return Tried(
                kind,
                rows[at],
                sources[at, first],
                sources[at, second],
                np.full(at.size, factor),
                choice[at, first, second] + length,
            )

        yield list_tried(Kind.DIFFERENCE, ~(np.abs(own - a + b) > step + da + db), 1.0, 0.0)
        ratio, error = _divide(a, da, b, db)
        for kind, factors in ((Kind.RATIO, FACTORS), (Kind.CHANGE, FACTORS[:2])):
            for factor in np.array(factors) * self.unit:
                target = own + factor if kind is Kind.CHANGE else own
                holds = ~(np.abs(target - factor * ratio) > step + factor * error)
                yield list_tried(kind, holds, float(factor), log2(len(factors)))

    def _screen_sums(self, paired: Cells) -> Iterator[Tried]:
        """Yield means of several rows, or of runs of neighbours, that hold in one column of a table."""
        column = self.screened[0]
        several = self.n + 4 * paired[:, None] + np.arange(4)
        at, way = np.nonzero(self.usable[several])
        first = several[at, way]
        yield Tried(
            Kind.MEAN, self.rows[paired][at], first, first, 1 / self.terms[first], np.full(at.size, 3.0)
        )
        # Runs are a row, its neighbours to both sides without it, from ``first`` until before ``second``.
        if self.derivable.sum() > MOST_PAIRED:
            return
        parts = np.flatnonzero(self.derivable)
        start, end = np.triu_indices(parts.size + 1, 2)
        ends = np.concatenate([[0.0], np.cumsum(self.numbers[parts, column])])
        rows = self.rows[paired]
        place = np.searchsorted(parts, rows)[:, None]
        within = (start <= place) & (place < end)
        own = self.numbers[rows, column][:, None]
        terms = end - start - within
        mean = (ends[end] - ends[start] - within * own) / np.maximum(terms, 1)
        error = self.step[parts].max() / 2
        reach = self.step[rows][:, None] + error + LEAST * np.abs(own)
        at, run = np.nonzero((np.abs(own - mean) <= reach) & (terms > 1))
        yield self.add_runs(rows[at], parts, start[run], end[run], log2(start.size) + 1)

    def _predict(self, tried: Tried, columns: Cells | slice) -> tuple[Floats, Floats]:
        """Return what formulas give in columns, NaN if undefined, and how far rounded sources may move it."""
        factor = tried.factor[:, None]
        a, da = self.sources[:, columns][tried.first], self.errors[tried.first][:, None]
        if tried.kind is Kind.MEAN:
            return a * factor, da * factor
        b, db = self.sources[:, columns][tried.second], self.errors[tried.second][:, None]
        if tried.kind is Kind.DIFFERENCE:
            return a - b, da + db
        ratio, error = _divide(a, da, b, db)
        return factor * (ratio - 1 if tried.kind is Kind.CHANGE else ratio), factor * error

    def _check(self, tried: Tried) -> Iterator[Formula]:
        """Yield the likeliest of some formulas for each row of a table, of those that hold in all columns."""
        for column in self.screened:
            at = np.array([column])
            own = self.numbers[:, at][tried.row]
            given, error = self._predict(tried, at)
            reach = self.step[tried.row][:, None] + error + LEAST * np.abs(own)
            tried = tried.at(~(np.abs(own - given) > reach)[:, 0])
            if not tried.row.size:
                return
        most = max(MOST_ENTRIES // self.numbers.shape[1], 1)
        if tried.row.size > most:
            tried = tried.at(np.argsort(tried.lengths, kind="stable")[:most])
        own, step = self.numbers[tried.row], self.step[tried.row][:, None]
        given, error = self._predict(tried, slice(None))
        off, slack = np.abs(own - given), LEAST * np.abs(own)
        rounded = (off > step / 2 + slack).any(axis=1, keepdims=True)
        windows = np.where(rounded, 2 * (step + error), step)
        holds = ~(off > windows / 2 + slack).any(axis=1)
        windows = np.where(np.isnan(given), np.inf, windows)[holds]
        tried = tried.at(holds)
        likely = self.weigh(tried.row, own[holds], windows).sum(axis=1) - tried.lengths
        for row in np.unique(tried.row).tolist():
            own_formulas = np.flatnonzero(tried.row == row)
            best = own_formulas[np.argmax(likely[own_formulas])]
            bits = float(self.weigh_distinct(row, windows[best]).sum())
            evidence = bits - float(tried.lengths[best] + self.lengths[row])
            if evidence > 0:
                yield self._build(tried, int(best), evidence)

    def _build(self, tried: Tried, k: int, evidence: float) -> Formula:
        row, factor = int(tried.row[k]), float(tried.factor[k])
        first = self.name_parts(int(tried.first[k]))
        if tried.kind is Kind.MEAN:
            return Formula(row, tried.kind, first, (), factor, evidence)
        second = self.name_parts(int(tried.second[k]))
        if tried.kind is not Kind.DIFFERENCE:
            factor /= self.unit
        return Formula(row, tried.kind, first, second, factor, evidence)

    def _check_multiples(self) -> Iterator[Formula]:
        """Yield the likeliest sources that rows of a table are multiples of, per way to group columns."""
        sources, valid, lengths = self.list_sources(np.arange(self.rows.size), MOST_ROWS)
        at, place = np.nonzero(valid)
        tried = Tried(
            Kind.MULTIPLE,
            self.rows[at],
            sources[at, place],
            sources[at, place],
            np.ones(at.size),
            lengths[at, place] + log2(len(self.groups)),
        )
        for way, groups in enumerate(self.groups):
            left = tried
            # The columns of one group first, a few and then all.
            within = np.flatnonzero(groups == groups[self.screened[0]])
            within = within[np.argsort(-self.size[within], kind="stable")]
            for columns in (within[:3], within[:SCREENED]):
                left = left.at(self._fit(left, columns, groups[columns]).holds)
            left = left.at(slice(max(MOST_ENTRIES // groups.size, 1)))
            if left.row.size:
                fit = self._fit(left, np.arange(groups.size), groups)
                for k in np.flatnonzero(fit.holds).tolist():
                    yield from self._judge_multiple(left, k, fit, way)

    def _fit(self, tried: Tried, columns: Cells, groups: Cells) -> _Fit:
        """Return the factors, per group of columns, that make rows of a table multiples of their sources.

        They are fitted to rounding of the row alone if that goes, else to that of the sources too.
        """
        own, a = self.numbers[:, columns][tried.row], self.sources[:, columns][tried.first]
        step = self.step[tried.row][:, None]
        _, place = np.unique(groups, return_inverse=True)
        order = np.argsort(place, kind="stable")
        starts = np.flatnonzero(np.diff(place[order], prepend=-1))
        slack = LEAST * np.abs(own)
        none = a == 0
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.where(none, 0.0, self.errors[tried.first][:, None] * np.abs(own / a))

            def intersect(reach: Floats) -> tuple[Floats, Floats]:
                ends = (own - reach - slack) / a, (own + reach + slack) / a
                # No multiple of zero is anything else.
                any_factor = np.where(np.abs(own) <= reach, np.inf, -np.inf)
                low = np.where(none, -any_factor, np.minimum(*ends))
                high = np.where(none, any_factor, np.maximum(*ends))
                return (
                    np.maximum.reduceat(low[:, order], starts, axis=1),
                    np.minimum.reduceat(high[:, order], starts, axis=1),
                )

            exact, rounded = intersect(step / 2), intersect(step + error)
        exactly = (exact[0] <= exact[1]).all(axis=1, keepdims=True)
        low, high = (np.where(exactly, *ends) for ends in zip(exact, rounded, strict=True))
        # Twice as wide as that of a number that is known before, since the factor is fitted.
        windows = 4 * np.where(exactly, step / 2, step + error)
        return _Fit(low, high, windows)

    def _judge_multiple(self, tried: Tried, k: int, fit: _Fit, way: int) -> Iterator[Formula]:
        """Yield that a row of a table is a multiple of a source, if it is not by chance."""
        row, source = int(tried.row[k]), int(tried.first[k])
        parts = self.name_parts(source)
        same = np.array_equal(self.sources[source], self.numbers[row])
        if same and self.derivable[list(parts)].all():
            return  # A sum or a copy, which is searched for elsewhere.
        bits = self.weigh_distinct(row, fit.windows[k])
        _, place = np.unique(self.groups[way], return_inverse=True)
        fitted = np.zeros(fit.low.shape[1])
        np.maximum.at(fitted, place, bits)
        evidence = float(bits.sum() - fitted.sum() - tried.lengths[k] - self.lengths[row])
        if evidence > 0:
            one = fitted.size == 1
            factor = _choose_factor(float(fit.low[k, 0]), float(fit.high[k, 0])) if one else None
            yield Formula(row, Kind.MULTIPLE, parts, (), factor, evidence, way)

    def _check_order(self, paired: Cells) -> Iterator[Formula]:
        """Yield rows of a table that are the least, greatest or median of the other rows."""
        for place in paired.tolist():
            row = int(self.rows[place])
            own, reach = self.numbers[row], self.step[row] / 2
            for k in (4 * place, 4 * place + 2):
                if not self.usable[self.n + k]:
                    continue
                rest = self.numbers[self.members[k]]
                for kind, take in ((Kind.LEAST, np.min), (Kind.GREATEST, np.max), (Kind.MEDIAN, np.median)):
                    columns = self.screened[:1]
                    if (np.abs(take(rest[:, columns], axis=0) - own[columns]) > reach).any():
                        continue
                    if (np.abs(take(rest, axis=0) - own) > reach).any():
                        continue
                    bits = self.weigh_distinct(row, np.full(own.size, self.step[row]))
                    evidence = float(bits.sum()) - log2(6) - float(self.lengths[row])
                    if evidence > 0:
                        yield Formula(row, kind, self.name_parts(self.n + k), (), 1.0, evidence)


@dataclass(frozen=True)
class _Fit:
    """Ends of the factors that make rows multiples of sources, per group, and windows per column."""

    low: Floats
    high: Floats
    windows: Floats

    @property
    def holds(self) -> Mask:
        return np.asarray((self.low <= self.high).all(axis=1))


def _divide(a: Floats, da: Floats, b: Floats, db: Floats) -> tuple[Floats, Floats]:
    """Return ratios, NaN where the divisor is zero, and how far errors of both numbers may move them."""
    size = np.abs(b)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(size > 0, a / b, np.nan)
        error = np.where(size > db, (da + np.abs(ratio) * db) / (size - db), np.inf)
    return ratio, error


def _choose_factor(low: float, high: float) -> float:
    """Return the number with the fewest digits between two, for a formula in a message."""
    for digits in range(1, 16):
        if low <= (factor := float(f"{(low + high) / 2:.{digits}g}")) <= high:
            return factor
    return (low + high) / 2
