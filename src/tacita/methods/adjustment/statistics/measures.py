"""Statistics of chosen cells, their changes by an adjustment, and the tolerances of these changes.

With ``a`` the values of ``t`` cells before and ``x = a + y`` after:

| statistic of one table | is |
|---|---|
| mean | ``sum x / t`` |
| variance | ``Var x = sum (x - mean x)^2 / t`` |
| slope | of ``x`` on ``a``: ``Cov(a, x) / Var a``, which is 1 before |
| correlation | of ``a`` and ``x``: ``Cov(a, x) / sqrt(Var a Var x)``, which is 1 before |

| statistic of two tables, ``x`` and ``u`` after | is |
|---|---|
| covariance | ``Cov(x, u) = sum (x - mean x)(u - mean u) / t`` |
| correlation | ``Cov(x, u) / sqrt(Var x Var u)`` |
| regression | of ``u`` on ``x``: ``Cov(x, u) / Var x`` |

Changes are in percent of the statistic before; NaN where that is zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from math import nan, sqrt

import numpy as np

from tacita.core.errors import InputError, did_you_mean
from tacita.core.exact import Cells, Floats, Mask, parse_number

ALONE = ("mean", "variance", "correlation", "slope")
"""Statistics of one table."""
TOGETHER = ("mean", "variance", "slope", "covariance", "correlation", "regression")
"""Statistics of several tables: the first three of each, the others of each pair."""
OF_PAIRS = ("covariance", "correlation", "regression")
LINEAR = ("mean", "slope")
"""Statistics that are linear in the changes of cells."""
EXACTLY, CLOSELY = 0.0, 0.1
"""Default tolerances in percent: of the mean, of all others."""
COMPUTED = 1e-6
"""Percent by which a statistic may differ by rounding errors."""


@dataclass(frozen=True)
class Keep:
    """Percent by which each statistic may change; ``None``: no limit. Its text is that of the option."""

    mean: float | None = None
    variance: float | None = None
    correlation: float | None = None
    slope: float | None = None
    covariance: float | None = None
    regression: float | None = None

    def __post_init__(self) -> None:
        for name, tolerance in self.asked.items():
            _percent(name, str(tolerance))

    def __str__(self) -> str:
        return ", ".join(f"{name}={tolerance}" for name, tolerance in self.asked.items())

    @property
    def asked(self) -> dict[str, float]:
        """The statistics that an adjustment is to preserve, each with its tolerance in percent."""
        tolerances = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: tolerance for name, tolerance in tolerances.items() if tolerance is not None}


def parse_keep(given: str | Keep, known: Sequence[str] = ALONE) -> Keep:
    """Return an adjustment's tolerances of statistics from text like ``mean, variance=0.1, slope=0.5 %``.

    A mean without a tolerance does not change at all, anything else by at most 0.1 %.

    Raises
    ------
    InputError
        A name is not known or comes twice, or a tolerance is no number of percent.
    """
    asked: dict[str, float] = {}
    for part in filter(None, (piece.strip() for piece in str(given).split(","))):
        name, equals, tolerance = (piece.strip() for piece in part.partition("="))
        if name not in known:
            raise InputError(
                f"'{name}' is not a statistic that can be preserved here{did_you_mean(name, known)}",
                remedy=f"write some of {', '.join(known)}, as in '{known[0]}, {known[1]}=0.1'",
            )
        if name in asked:
            raise InputError(f"'{name}' is to be preserved twice in '{given}'", remedy="name it once")
        asked[name] = _percent(name, tolerance) if equals else EXACTLY if name == "mean" else CLOSELY
    return Keep(**asked)


def _percent(name: str, written: str) -> float:
    number = parse_number(written.removesuffix("%"))
    if number is None or not number.is_finite() or number < 0:
        raise InputError(
            f"the tolerance '{written}' of {name} is not a number of percent from 0 up",
            remedy=f"write {name}=0.1",
        )
    return float(number)


@dataclass(frozen=True, eq=False)
class MeasuredStatistic:
    """The change of one statistic, and its gradients.

    Attributes
    ----------
    label
        ``variance``; among several tables ``variance of table 2``, ``covariance of tables 1 and 2``.
    tables
        One table, or two.
    change
        In percent.
    gradients
        For each of these tables the derivatives of ``change`` by the values of its cells.
    """

    name: str
    label: str
    tables: tuple[int, ...]
    change: float
    gradients: tuple[Floats, ...]


def measure_statistics(
    names: Sequence[str], before: Sequence[Floats], after: Sequence[Floats]
) -> list[MeasuredStatistic]:
    """Return how an adjustment changes the named statistics of one table, or of several and all pairs."""
    if not before[0].size:
        raise InputError("statistics of no cells were requested", remedy="choose at least two cells")
    columns = [_Column(a, x) for a, x in zip(before, after, strict=True)]
    if len(columns) == 1:
        return [_make_statistic(name, name, (0,), *_measure_single(name, columns[0])) for name in names]
    found = [
        _make_statistic(name, f"{name} of table {i + 1}", (i,), *_measure_single(name, column))
        for name in names
        if name not in OF_PAIRS
        for i, column in enumerate(columns)
    ]
    return found + [
        _make_statistic(
            name,
            f"{name} of tables {i + 1} and {j + 1}",
            (i, j),
            *_measure_pair(name, columns[i], columns[j]),
        )
        for name in names
        if name in OF_PAIRS
        for i, j in combinations(range(len(columns)), 2)
    ]


def measure_changes(before: Floats, after: Floats, cells: Mask | Cells) -> dict[str, float]:
    """Return by how many percent an adjustment changes a table's mean, variance, correlation and slope."""
    return {m.name: m.change for m in measure_statistics(ALONE, [before[cells]], [after[cells]])}


def measure_changes_together(
    before: Sequence[Floats],
    after: Sequence[Floats],
    cells: Mask | Cells,
    names: Iterable[str] = (*OF_PAIRS, "variance"),
) -> dict[str, float]:
    """Return by how many percent an adjustment changes statistics of every table and pair, by default the
    variances and every pair's covariance, correlation and regression.

    The keys are labels such as ``covariance of tables 1 and 2``.
    """
    found = measure_statistics(tuple(names), [a[cells] for a in before], [x[cells] for x in after])
    return {m.label: m.change for m in found}


def describe_changes(changed: dict[str, float], keep: Keep) -> str:
    """Return a remark on how an adjustment changes the statistics asked to be kept, and on those missed."""
    percent = {
        name: keep.asked[name.split(" of ")[0]] for name in changed if name.split(" of ")[0] in keep.asked
    }
    listed = ", ".join(f"{name} {changed[name]:+.4f} %" for name in percent)
    missed = [name for name, most in percent.items() if abs(changed[name]) > most + COMPUTED]
    return f"statistics changed: {listed}" + (f"; missed: {', '.join(missed)}" if missed else "")


class _Column:
    """Values of cells before and after, their deviations from the mean, and the moments of these."""

    def __init__(self, before: Floats, after: Floats) -> None:
        self.size = before.size
        self.mean_before, self.mean = float(before.mean()), float(after.mean())
        self.before, self.after = before - self.mean_before, after - self.mean
        self.variance_before = _mean_product(self.before, self.before)
        self.variance = _mean_product(self.after, self.after)


Single = tuple[float, float, Floats]
Pair = tuple[float, float, Floats, Floats]


def _measure_single(name: str, column: _Column) -> Single:
    """Return a statistic of one adjusted table: before, after, and its derivative by the cells after."""
    size, a, x = column.size, column.before, column.after
    if name == "mean":
        return column.mean_before, column.mean, np.full(size, 1 / size)
    if name == "variance":
        return column.variance_before, column.variance, 2 * x / size
    common = _mean_product(a, x)
    if name == "slope":
        scale = _divide(1.0, column.variance_before)
        return column.variance_before * scale, common * scale, a * (scale / size)
    spread = sqrt(column.variance_before * column.variance)
    correlation = _divide(common, spread)
    derivative = a * _divide(1.0, spread) - x * _divide(correlation, column.variance)
    return 1.0, correlation, derivative / size


def _measure_pair(name: str, one: _Column, other: _Column) -> Pair:
    """Return a statistic of two adjusted tables: before, after, and its derivatives by cells of both."""
    size, x, u = one.size, one.after, other.after
    before, common = _mean_product(one.before, other.before), _mean_product(x, u)
    if name == "covariance":
        return before, common, u / size, x / size
    if name == "regression":
        steep = _divide(common, one.variance)
        by_one = (u - 2 * steep * x) * _divide(1.0, size * one.variance)
        return _divide(before, one.variance_before), steep, by_one, x * _divide(1.0, size * one.variance)
    spread = sqrt(one.variance * other.variance)
    correlation = _divide(common, spread)
    by_one = u * _divide(1.0, spread) - x * _divide(correlation, one.variance)
    by_other = x * _divide(1.0, spread) - u * _divide(correlation, other.variance)
    spread_before = sqrt(one.variance_before * other.variance_before)
    return _divide(before, spread_before), correlation, by_one / size, by_other / size


def _make_statistic(
    name: str, label: str, tables: tuple[int, ...], before: float, after: float, *slopes: Floats
) -> MeasuredStatistic:
    scale = _divide(100.0, before)
    return MeasuredStatistic(
        name, label, tables, scale * (after - before), tuple(scale * slope for slope in slopes)
    )


def _mean_product(one: Floats, other: Floats) -> float:
    return float(one @ other) / one.size


def _divide(over: float, under: float) -> float:
    return over / under if under else nan
