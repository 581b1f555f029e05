"""A convex adjustment in values, and what prices of its equations prove.

    min  sum_i w_i phi(x_i)      s.t.  M x = 0,   lower <= x <= upper

``x = z / one``. A side row ``least <= g z <= most`` is one equation more, ``g x - s = 0``, with a cell ``s``
of its own between ``least`` and ``most`` that weighs nothing.

Prices ``y`` of the equations give ``g = M' y``, and whatever ``y`` is (*Lagrange*), no adjustment costs less
than

    sum_i min { w_i phi(t) - g_i t : lower_i <= t <= upper_i }.

It is worked out as the loss of a known point less what each cell could save at these prices. The savings are
never negative and all zero at an optimum, so nothing is lost to cancellation. A cell without a bound is held
to what it could cost alone within the loss of the known point.

If ``sum_i max { g_i t : lower_i <= t <= upper_i } < 0``, then ``y' M x < 0`` for all ``x`` within their
bounds: no adjustment exists (*Farkas*).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacita.core.exact import UNBOUNDED, Floats, Mask, Units
from tacita.methods.adjustment.task import AdjustmentTask, Norm, Side

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NONE_WITHIN = "no adjustment stays within the capacities: widen them, or free more totals"
ROUNDING = 1e-13
"""Error of a sum of prices, in parts of the sum of their absolute values."""
ROUNDS = 10
"""Levels of totals of totals through which bounds are implied."""
MARGIN = 1e-9
"""By how much, relatively, a contradiction must be one."""


@dataclass(frozen=True, eq=False)
class PricedPoint:
    """An adjustment in values, prices of the equations, and the iterations that it took."""

    x: Floats
    prices: Floats
    iterations: int


@dataclass(frozen=True, eq=False)
class Boxed:
    """The task with its side rows as equations.

    Attributes
    ----------
    by_cell
        ``M'``, a row per cell.
    own
        Cells of the table; those of side rows follow them.
    """

    by_cell: csr_array
    lower: Floats
    upper: Floats
    weight: Floats
    norm: Norm
    delta: float
    own: int

    @classmethod
    def of(cls, task: AdjustmentTask) -> Boxed:
        lower, upper, weight = _values(task.lower, task.one), _values(task.upper, task.one), task.weight
        by_cell = task.matrix.astype(np.float64).T.tocsr()
        if task.side is not None and task.side.least.size:
            by_cell, least, most = _with_side(by_cell, task.side, task.one)
            lower, upper = np.append(lower, least), np.append(upper, most)
            weight = np.append(weight, np.zeros(least.size))
        by_cell.indices, by_cell.indptr = by_cell.indices.astype(np.int32), by_cell.indptr.astype(np.int32)
        return cls(by_cell, lower, upper, weight, task.norm, task.delta, len(task))

    @property
    def equations(self) -> int:
        return int(self.by_cell.shape[1])

    @cached_property
    def fixed(self) -> Mask:
        return np.asarray(self.lower == self.upper)

    @cached_property
    def resting(self) -> Floats:
        """The change nearest to none within the bounds."""
        return np.asarray(np.clip(0.0, self.lower, self.upper))

    def pulls(self, prices: Floats) -> Floats:
        """``M' y``."""
        return np.asarray(self.by_cell @ prices)

    def residual(self, x: Floats) -> Floats:
        """``M x``."""
        return np.asarray(self.by_cell.T @ x)

    def off_balance(self, x: Floats) -> float:
        """The largest ``|M x|``, in parts of the changes ``|M| |x|`` in its equation.

        An equation in which next to nothing changes is measured by a millionth of the largest change.
        """
        size = np.abs(x)
        changes = np.maximum(self.sizes.T @ size, 1e-6 * size.max(initial=0.0))
        left = np.abs(self.residual(x))
        return float(np.divide(left, changes, out=np.zeros_like(left), where=left > 0.0).max(initial=0.0))

    @cached_property
    def sizes(self) -> csr_array:
        """``|M'|``."""
        return abs(self.by_cell)

    def losses(self, x: Floats) -> Floats:
        """``w phi(x)`` per cell; their sum is the loss, except for ``linf``, where it is their largest."""
        size = np.abs(x)
        if self.norm == "l2":
            return np.asarray(self.weight * size**2)
        if self.norm == "huber":
            return np.asarray(self.weight * size**2 / (np.hypot(self.delta, size) + self.delta))
        return np.asarray(self.weight * size)

    def loss(self, x: Floats) -> float:
        losses = self.losses(x)
        return float(losses.max(initial=0.0) if self.norm == "linf" else losses.sum())

    def proves(self, x: Floats, prices: Floats, gap: float) -> bool:
        """Whether prices prove the loss of ``x`` up to a gap.

        Next to what its largest change would cost at the largest weight, a loss may be nothing but rounding.
        """
        alone = np.array([float(np.abs(x).max(initial=0.0))])
        dearest = replace(self, weight=np.array([float(self.weight.max(initial=0.0))])).loss(alone)
        value = self.loss(x)
        return value - self.bound(x, prices) <= max(gap * value, MARGIN * dearest)

    def bound(self, x: Floats, prices: Floats) -> float:
        """What no adjustment costs less than, by the prices or without any; ``x`` is an adjustment."""
        return max(self.loss(self.resting), self.lagrange(x, prices))

    def lagrange(self, x: Floats, prices: Floats) -> float:
        """The bound by prices alone; ``-inf`` if they pull a cell where nothing bounds it."""
        prices = self._signed(prices)
        pull, value = self.pulls(prices), self.loss(x)
        reach = self._reach(value)
        lower = np.where(np.isinf(self.lower), -reach, self.lower)
        upper = np.where(np.isinf(self.upper), reach, self.upper)
        if _pulled_away(pull, lower, upper):
            lower, upper = _implied_bounds(self.by_cell, lower, upper)
            if _pulled_away(pull, lower, upper):
                return -np.inf
        if self.norm == "linf":
            return min(value, self._largest(pull, lower, upper, value))
        best = self._best_response(pull, lower, upper)
        saved = self.losses(x) - self.losses(best) - pull * (x - best)
        left = float((prices * self.residual(x)).sum())
        return min(value, value - float(np.maximum(saved, 0.0).sum()) - left)

    def contradicted(self, prices: Floats) -> bool:
        """Whether prices prove that there is no adjustment."""
        prices = self._signed(prices)
        pull = self.pulls(prices)
        noise = ROUNDING * np.asarray(self.sizes @ np.abs(prices))
        pull[np.abs(pull) <= noise] = 0.0
        most = np.where(pull > 0.0, self.upper, np.where(pull < 0.0, self.lower, 0.0)) * pull
        if np.isinf(most).any():
            return False
        return float(most.sum()) < -MARGIN * float(np.abs(most).sum())

    def _signed(self, prices: Floats) -> Floats:
        """Prices of side rows are zero where their sign would ask a cell without a bound to go there."""
        rows = self.lower.size - self.own
        if not rows:
            return prices
        side = prices[-rows:]
        lower, upper = self.lower[self.own :], self.upper[self.own :]
        # The cell of a side row has -1 in it, so it is pulled against the price.
        absurd = (np.isinf(upper) & (side < 0.0)) | (np.isinf(lower) & (side > 0.0))
        return np.concatenate([prices[:-rows], np.where(absurd, 0.0, side)])

    def _reach(self, value: float) -> Floats:
        """How far a cell could go if it cost all of the value by itself."""
        with np.errstate(divide="ignore", invalid="ignore"):
            alone = value * (1.0 + MARGIN) / self.weight
            if self.norm == "l2":
                alone = np.sqrt(alone)
            elif self.norm == "huber":
                alone = np.sqrt(alone * (alone + 2.0 * self.delta))
        return np.where(self.weight > 0.0, alone, np.inf)

    def _best_response(self, pull: Floats, lower: Floats, upper: Floats) -> Floats:
        """``argmin w phi(t) - g t`` within the bounds."""
        weight = self.weight
        with np.errstate(divide="ignore", invalid="ignore"):
            away = np.sign(pull) * np.inf
            if self.norm == "l1":
                free = np.where(np.abs(pull) > weight, away, 0.0)
            elif self.norm == "l2":
                free = np.where(weight > 0.0, pull / (2.0 * weight), away)
            else:
                root = np.sqrt((weight - np.abs(pull)) * (weight + np.abs(pull)))
                free = np.where(np.abs(pull) < weight, self.delta * pull / root, away)
        free = np.where(pull == 0.0, 0.0, free)
        return np.clip(free, lower, upper)

    def _largest(self, pull: Floats, lower: Floats, upper: Floats, value: float) -> float:
        """``min over t of t - sum_i |g_i| min(cap_i, t / w_i)``, where ``g_i`` pulls to the bound ``cap_i``.

        Convex in ``t``, and smallest where the slope turns positive.
        """
        least = float((self.weight * np.abs(np.clip(0.0, lower, upper))).max(initial=0.0))
        strength = np.abs(pull)
        cap = np.where(pull > 0.0, upper, np.where(pull < 0.0, -lower, 0.0))
        heavy = (strength > 0.0) & (self.weight > 0.0)
        turn = np.where(heavy, self.weight * np.where(heavy, cap, 0.0), -np.inf)
        order = np.flatnonzero(turn > least)
        order = order[np.argsort(-turn[order])]
        slope = 1.0 - np.cumsum(strength[order] / self.weight[order])
        turned = np.flatnonzero(slope < 0.0)
        t = min(max(least, float(turn[order[turned[0]]])), max(value, least)) if turned.size else least
        room = np.divide(t, self.weight, out=np.full(cap.size, np.inf), where=heavy)
        return t - float((strength * np.where(strength > 0.0, np.minimum(cap, room), 0.0)).sum())


def _pulled_away(pull: Floats, lower: Floats, upper: Floats) -> bool:
    """Whether some cell is pulled where it has no bound."""
    return bool(np.isinf(np.where(pull > 0.0, upper, np.where(pull < 0.0, lower, 0.0))).any())


def _values(units: Units, one: int) -> Floats:
    infinite = np.where(units > 0, np.inf, -np.inf)
    return np.where(np.abs(units) < UNBOUNDED, units / one, infinite)


def _with_side(by_cell: csr_array, side: Side, one: int) -> tuple[csr_array, Floats, Floats]:
    """Equations and side rows by cell, and the bounds of the new cells; a side row's largest entry is 1."""
    from scipy.sparse import block_array, diags_array

    rows = side.rows.astype(np.float64)
    largest = np.asarray(abs(rows).max(axis=1).todense()).ravel()
    largest[largest == 0.0] = 1.0
    rows = diags_array(1.0 / largest) @ rows
    new = diags_array(-np.ones(largest.size))
    together = block_array([[by_cell, rows.T], [None, new]], format="csr")
    return together, side.least / largest / one, side.most / largest / one


def _implied_bounds(by_cell: csr_array, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Bounds in which infinite ones are replaced by what the equations ``M x = 0`` imply, where they do:
    ``m_i x_i = - sum_{j != i} m_j x_j``, so that where all other cells are bounded, the last one is.

    A cell that weighs nothing and has no bound of its own gains without end from the least error in prices;
    with bounds that the others imply it does not.
    """
    lower, upper = lower.copy(), upper.copy()
    row, entry = by_cell.indices, by_cell.data
    cell = np.repeat(np.arange(lower.size), np.diff(by_cell.indptr))
    rows = by_cell.shape[1]
    for _ in range(ROUNDS):
        unbounded = np.isinf(lower) | np.isinf(upper)
        if not unbounded.any():
            break
        low, high = entry * lower[cell], entry * upper[cell]
        low, high = np.minimum(low, high), np.maximum(low, high)
        # m_i x_i lies between these, if all other cells of its equation are bounded.
        least, most = -_of_others(high, row, rows, np.inf), -_of_others(low, row, rows, -np.inf)
        first, second = least / entry, most / entry
        np.maximum.at(lower, cell, np.where(unbounded[cell], np.minimum(first, second), -np.inf))
        np.minimum.at(upper, cell, np.where(unbounded[cell], np.maximum(first, second), np.inf))
    return lower, upper


def _of_others(ends: Floats, row: NDArray[np.int32], rows: int, without: float) -> Floats:
    """Per entry, the sum of the other ends in its equation; infinite, as they all would be, if one is."""
    infinite = np.isinf(ends)
    finite = np.where(infinite, 0.0, ends)
    others = np.bincount(row, infinite, rows)[row] - infinite
    return np.where(others > 0, without, np.bincount(row, finite, rows)[row] - finite)
