"""Statistics of chosen cells, by how much an adjustment changes them, and how closely they are to be kept.

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
"""What can be kept of one table."""
TOGETHER = ("mean", "variance", "slope", "covariance", "correlation", "regression")
"""What can be kept of several tables: the first three of each, the others of each pair."""
OF_PAIRS = ("covariance", "correlation", "regression")
LINEAR = ("mean", "slope")
"""Statistics that change in proportion to the changes."""
EXACTLY, CLOSELY = 0.0, 0.1
"""Percent allowed where no tolerance is given: of the mean, of anything else."""
COMPUTED = 1e-6
"""Percent by which a statistic may differ for being computed in floats."""


@dataclass(frozen=True)
class Keep:
    """By how many percent each statistic may change; ``None``: by any. As text, the option that says so."""

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
        """Statistic -> tolerance, of those that are to be kept."""
        tolerances = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: tolerance for name, tolerance in tolerances.items() if tolerance is not None}


def read_kept(said: str | Keep, known: Sequence[str] = ALONE) -> Keep:
    """What is to be kept, from text such as ``mean, variance=0.1, slope=0.5 %``, checked.

    A mean without a tolerance does not change at all, anything else by at most 0.1 %.

    Raises
    ------
    InputError
        A name is not known or comes twice, or a tolerance is no number of percent.
    """
    asked: dict[str, float] = {}
    for part in filter(None, (piece.strip() for piece in str(said).split(","))):
        name, given, tolerance = (piece.strip() for piece in part.partition("="))
        if name not in known:
            raise InputError(
                f"'{name}' is not a statistic that can be kept here{did_you_mean(name, known)}: "
                f"write some of {', '.join(known)}, as in '{known[0]}, {known[1]}=0.1'"
            )
        if name in asked:
            raise InputError(f"'{name}' is to be kept twice in '{said}': name it once")
        asked[name] = _percent(name, tolerance) if given else EXACTLY if name == "mean" else CLOSELY
    return Keep(**asked)


def _percent(name: str, written: str) -> float:
    number = parse_number(written.removesuffix("%"))
    if number is None or not number.is_finite() or number < 0:
        raise InputError(
            f"the tolerance '{written}' of {name} is not a number of percent from 0 up: write {name}=0.1"
        )
    return float(number)


@dataclass(frozen=True, eq=False)
class MeasuredStatistic:
    """How one statistic has changed, and where it is heading.

    Attributes
    ----------
    label
        ``variance``; among several tables ``variance of table 2``, ``covariance of tables 1 and 2``.
    tables
        One table, or two.
    change
        Percent.
    gradients
        For each of these tables: percent by which one more in each cell would change the statistic further.
    """

    name: str
    label: str
    tables: tuple[int, ...]
    change: float
    gradients: tuple[Floats, ...]


def measures(
    names: Sequence[str], before: Sequence[Floats], after: Sequence[Floats]
) -> list[MeasuredStatistic]:
    """Changes of the named statistics of one table, or of several tables and all their pairs."""
    if not before[0].size:
        raise InputError("statistics of no cells at all were asked for: choose at least two cells")
    columns = [_Column(a, x) for a, x in zip(before, after, strict=True)]
    if len(columns) == 1:
        return [_measure(name, name, (0,), *_single(name, columns[0])) for name in names]
    found = [
        _measure(name, f"{name} of table {i + 1}", (i,), *_single(name, column))
        for name in names
        if name not in OF_PAIRS
        for i, column in enumerate(columns)
    ]
    return found + [
        _measure(name, f"{name} of tables {i + 1} and {j + 1}", (i, j), *_pair(name, columns[i], columns[j]))
        for name in names
        if name in OF_PAIRS
        for i, j in combinations(range(len(columns)), 2)
    ]


def changes(before: Floats, after: Floats, cells: Mask | Cells) -> dict[str, float]:
    """Percent changes of a table's mean, variance and slope, and of its correlation with the original."""
    return {m.name: m.change for m in measures(ALONE, [before[cells]], [after[cells]])}


def changes_together(
    before: Sequence[Floats],
    after: Sequence[Floats],
    cells: Mask | Cells,
    names: Iterable[str] = (*OF_PAIRS, "variance"),
) -> dict[str, float]:
    """Percent changes of some statistics of every table and pair, by default of the variances and of every
    pair's covariance, correlation and regression.

    The keys are labels such as ``covariance of tables 1 and 2``.
    """
    found = measures(tuple(names), [a[cells] for a in before], [x[cells] for x in after])
    return {m.label: m.change for m in found}


def told(changed: dict[str, float], kept: Keep) -> str:
    """How closely the statistics that were to be kept are, in words; measured changes are given by name."""
    percent = {
        name: kept.asked[name.split(" of ")[0]] for name in changed if name.split(" of ")[0] in kept.asked
    }
    said = ", ".join(f"{name} {changed[name]:+.4f} %" for name in percent)
    wide = [name for name, most in percent.items() if abs(changed[name]) > most + COMPUTED]
    return f"statistics changed: {said}" + (f"; missed: {', '.join(wide)}" if wide else "")


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


def _single(name: str, column: _Column) -> Single:
    """A statistic before, after, and its derivative by the cells after."""
    size, a, x = column.size, column.before, column.after
    if name == "mean":
        return column.mean_before, column.mean, np.full(size, 1 / size)
    if name == "variance":
        return column.variance_before, column.variance, 2 * x / size
    common = _mean_product(a, x)
    if name == "slope":
        scale = _quotient(1.0, column.variance_before)
        return column.variance_before * scale, common * scale, a * (scale / size)
    spread = sqrt(column.variance_before * column.variance)
    correlation = _quotient(common, spread)
    towards = a * _quotient(1.0, spread) - x * _quotient(correlation, column.variance)
    return 1.0, correlation, towards / size


def _pair(name: str, one: _Column, other: _Column) -> Pair:
    """A statistic before, after, and its derivatives by the cells of both tables after."""
    size, x, u = one.size, one.after, other.after
    before, common = _mean_product(one.before, other.before), _mean_product(x, u)
    if name == "covariance":
        return before, common, u / size, x / size
    if name == "regression":
        steep = _quotient(common, one.variance)
        by_one = (u - 2 * steep * x) * _quotient(1.0, size * one.variance)
        return _quotient(before, one.variance_before), steep, by_one, x * _quotient(1.0, size * one.variance)
    spread = sqrt(one.variance * other.variance)
    correlation = _quotient(common, spread)
    by_one = u * _quotient(1.0, spread) - x * _quotient(correlation, one.variance)
    by_other = x * _quotient(1.0, spread) - u * _quotient(correlation, other.variance)
    spread_before = sqrt(one.variance_before * other.variance_before)
    return _quotient(before, spread_before), correlation, by_one / size, by_other / size


def _measure(
    name: str, label: str, tables: tuple[int, ...], before: float, after: float, *slopes: Floats
) -> MeasuredStatistic:
    scale = _quotient(100.0, before)
    return MeasuredStatistic(
        name, label, tables, scale * (after - before), tuple(scale * slope for slope in slopes)
    )


def _mean_product(one: Floats, other: Floats) -> float:
    return float(one @ other) / one.size


def _quotient(over: float, under: float) -> float:
    return over / under if under else nan
