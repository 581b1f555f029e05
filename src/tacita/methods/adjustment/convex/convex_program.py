"""A convex adjustment in values, and the bounds that dual values of its equations prove.

    min  sum_i w_i phi(x_i)      s.t.  M x = 0,   lower <= x <= upper

``x = z / one``. A side constraint ``least <= c z <= most`` is one equation more, ``c x - s = 0``, with a cell
``s`` of its own between ``least`` and ``most`` that has weight 0.

Dual values ``y`` of the equations give the slopes ``g = M' y``, and for every ``y`` (*Lagrange*) no
adjustment costs less than

    sum_i min { w_i phi(t) - g_i t : lower_i <= t <= upper_i }.

It is computed as the loss of a known point minus what each cell could save at these slopes. Savings are never
negative and all zero at an optimum, so that nothing is lost to cancellation. A cell without a bound is
limited to the change that alone would cost the loss of the known point.

If ``sum_i max { g_i t : lower_i <= t <= upper_i } < 0``, then ``y' M x < 0`` for all ``x`` within their
bounds: no adjustment exists (*Farkas*).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacita.core.errors import InfeasibleError, StoppedError
from tacita.core.exact import UNBOUNDED, Floats, Mask, Units
from tacita.methods.adjustment.task import AdjustmentTask, Norm, SideConstraints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ROUNDING = 1e-13
"""Error of a sum of dual values, relative to the sum of their absolute values."""
ROUNDS = 10
"""Levels of totals of totals through which bounds are implied."""
MARGIN = 1e-9
"""Relative amount by which a sum must be negative to prove infeasibility."""


def make_infeasible_error() -> InfeasibleError:
    """Return the error for a task for which no adjustment stays within the capacities."""
    return InfeasibleError(
        "no adjustment stays within the capacities", remedy="widen them, or free more totals"
    )


def make_timeout_error() -> StoppedError:
    """Return the error for a solver that found no adjustment in time."""
    return StoppedError("the time was over before the adjustment was found", remedy="allow more of it")


@dataclass(frozen=True, eq=False)
class PrimalDualPoint:
    """An adjustment in values, dual values of the equations, and the number of iterations."""

    x: Floats
    duals: Floats
    iterations: int


@dataclass(frozen=True, eq=False)
class ConvexProgram:
    """A directed task in values, with its side constraints as equations.

    Attributes
    ----------
    by_cell
        ``M'``, a row per cell.
    n_own
        Number of cells of the table; those of side constraints follow them.
    """

    by_cell: csr_array
    lower: Floats
    upper: Floats
    weight: Floats
    norm: Norm
    delta: float
    n_own: int

    @classmethod
    def of(cls, task: AdjustmentTask) -> ConvexProgram:
        """Return the convex program of an adjustment task whose directions are given."""
        lower, upper, weight = _to_values(task.lower, task.one), _to_values(task.upper, task.one), task.weight
        by_cell = task.matrix.astype(np.float64).T.tocsr()
        if task.side is not None and task.side.least.size:
            by_cell, least, most = _append_side(by_cell, task.side, task.one)
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
    def least_change(self) -> Floats:
        """The change of each cell that is nearest to 0 within the bounds of the adjustment."""
        return np.asarray(np.clip(0.0, self.lower, self.upper))

    def dual_slopes(self, duals: Floats) -> Floats:
        """Return per cell the slope ``M' y`` that dual values of the equations give to its adjustment."""
        return np.asarray(self.by_cell @ duals)

    def residual(self, x: Floats) -> Floats:
        """Return ``M x`` per equation: by how much the changes of an adjustment violate it."""
        return np.asarray(self.by_cell.T @ x)

    def relative_residual(self, x: Floats) -> float:
        """Return an adjustment's largest ``|M x|``, relative to the changes ``|M| |x|`` in its equation.

        Equations in which almost nothing changes are measured by a millionth of the largest change.
        """
        size = np.abs(x)
        changes = np.maximum(self.sizes.T @ size, 1e-6 * size.max(initial=0.0))
        left = np.abs(self.residual(x))
        return float(np.divide(left, changes, out=np.zeros_like(left), where=left > 0.0).max(initial=0.0))

    @cached_property
    def sizes(self) -> csr_array:
        """The absolute coefficients ``|M'|`` of the adjustment's equations, a row per cell."""
        return abs(self.by_cell)

    def losses(self, x: Floats) -> Floats:
        """Return ``w phi(x)`` per adjusted cell: their sum is the loss, for ``linf`` their maximum."""
        return compute_cell_losses(self.norm, self.delta, self.weight, np.abs(x))

    def loss(self, x: Floats) -> float:
        losses = self.losses(x)
        return float(losses.max(initial=0.0) if self.norm == "linf" else losses.sum())

    def proves_gap(self, x: Floats, duals: Floats, gap: float) -> bool:
        """Return whether dual values prove the loss of an adjustment ``x`` optimal up to a relative gap.

        Gaps that are rounding errors beside the cost of the largest change at the largest weight count as 0.
        """
        largest = np.array([float(np.abs(x).max(initial=0.0))])
        most = replace(self, weight=np.array([float(self.weight.max(initial=0.0))])).loss(largest)
        value = self.loss(x)
        return value - self.bound(x, duals) <= max(gap * value, MARGIN * most)

    def bound(self, x: Floats, duals: Floats) -> float:
        """Return a lower bound on the loss of every adjustment, by dual values and one of them, ``x``."""
        return max(self.loss(self.least_change), self.lagrangian_bound(x, duals))

    def lagrangian_bound(self, x: Floats, duals: Floats) -> float:
        """Return the bound on adjustment losses by dual values; ``-inf`` if unbounded along a slope."""
        duals = self._drop_invalid_duals(duals)
        slope, value = self.dual_slopes(duals), self.loss(x)
        reach = self._limit_by_loss(value)
        lower = np.where(np.isinf(self.lower), -reach, self.lower)
        upper = np.where(np.isinf(self.upper), reach, self.upper)
        if _is_unbounded(slope, lower, upper):
            lower, upper = _imply_bounds(self.by_cell, lower, upper)
            if _is_unbounded(slope, lower, upper):
                return -np.inf
        if self.norm == "linf":
            return min(value, self._bound_linf(slope, lower, upper, value))
        best = self._minimise_lagrangian(slope, lower, upper)
        saved = self.losses(x) - self.losses(best) - slope * (x - best)
        left = float((duals * self.residual(x)).sum())
        return min(value, value - float(np.maximum(saved, 0.0).sum()) - left)

    def proves_infeasible(self, duals: Floats) -> bool:
        """Return whether dual values prove that no adjustment lies within the bounds."""
        duals = self._drop_invalid_duals(duals)
        slope = self.dual_slopes(duals)
        noise = ROUNDING * np.asarray(self.sizes @ np.abs(duals))
        slope[np.abs(slope) <= noise] = 0.0
        most = np.where(slope > 0.0, self.upper, np.where(slope < 0.0, self.lower, 0.0)) * slope
        if np.isinf(most).any():
            return False
        return float(most.sum()) < -MARGIN * float(np.abs(most).sum())

    def _drop_invalid_duals(self, duals: Floats) -> Floats:
        """Return the adjustment's dual values, 0 for side constraints unbounded on their sign's side."""
        rows = self.lower.size - self.n_own
        if not rows:
            return duals
        side = duals[-rows:]
        lower, upper = self.lower[self.n_own :], self.upper[self.n_own :]
        # The cell of a side constraint has coefficient -1 in it.
        absurd = (np.isinf(upper) & (side < 0.0)) | (np.isinf(lower) & (side > 0.0))
        return np.concatenate([duals[:-rows], np.where(absurd, 0.0, side)])

    def _limit_by_loss(self, value: float) -> Floats:
        """Return per cell the change whose loss alone is ``value``; no better adjustment goes further."""
        with np.errstate(divide="ignore", invalid="ignore"):
            alone = value * (1.0 + MARGIN) / self.weight
            if self.norm == "l2":
                alone = np.sqrt(alone)
            elif self.norm == "huber":
                alone = np.sqrt(alone * (alone + 2.0 * self.delta))
        return np.where(self.weight > 0.0, alone, np.inf)

    def _minimise_lagrangian(self, slope: Floats, lower: Floats, upper: Floats) -> Floats:
        """Return the change ``argmin w phi(t) - g t`` of each cell within the bounds of the adjustment."""
        weight = self.weight
        with np.errstate(divide="ignore", invalid="ignore"):
            away = np.sign(slope) * np.inf
            if self.norm == "l1":
                free = np.where(np.abs(slope) > weight, away, 0.0)
            elif self.norm == "l2":
                free = np.where(weight > 0.0, slope / (2.0 * weight), away)
            else:
                root = np.sqrt((weight - np.abs(slope)) * (weight + np.abs(slope)))
                free = np.where(np.abs(slope) < weight, self.delta * slope / root, away)
        free = np.where(slope == 0.0, 0.0, free)
        return np.clip(free, lower, upper)

    def _bound_linf(self, slope: Floats, lower: Floats, upper: Floats, value: float) -> float:
        """Return the bound on ``linf`` adjustments, ``min over t of t - sum_i |g_i| min(cap_i, t / w_i)``,
        ``cap_i`` the bound in direction ``g_i``.

        The function is convex in ``t``, and smallest where its slope turns positive.
        """
        least = float((self.weight * np.abs(np.clip(0.0, lower, upper))).max(initial=0.0))
        strength = np.abs(slope)
        cap = np.where(slope > 0.0, upper, np.where(slope < 0.0, -lower, 0.0))
        heavy = (strength > 0.0) & (self.weight > 0.0)
        turn = np.where(heavy, self.weight * np.where(heavy, cap, 0.0), -np.inf)
        order = np.flatnonzero(turn > least)
        order = order[np.argsort(-turn[order])]
        slope = 1.0 - np.cumsum(strength[order] / self.weight[order])
        turned = np.flatnonzero(slope < 0.0)
        t = min(max(least, float(turn[order[turned[0]]])), max(value, least)) if turned.size else least
        room = np.divide(t, self.weight, out=np.full(cap.size, np.inf), where=heavy)
        return t - float((strength * np.where(strength > 0.0, np.minimum(cap, room), 0.0)).sum())


def compute_cell_losses(norm: Norm, delta: float, weight: Floats, size: Floats) -> Floats:
    """Return the loss ``w phi`` of each cell in an adjustment, from its absolute change in values."""
    if norm == "l2":
        return np.asarray(weight * size**2)
    if norm == "huber":
        return np.asarray(weight * size**2 / (np.hypot(delta, size) + delta))
    return np.asarray(weight * size)


def _is_unbounded(slope: Floats, lower: Floats, upper: Floats) -> bool:
    """Return whether some cell of an adjustment has no bound in the direction of its slope."""
    return bool(np.isinf(np.where(slope > 0.0, upper, np.where(slope < 0.0, lower, 0.0))).any())


def _to_values(units: Units, one: int) -> Floats:
    infinite = np.where(units > 0, np.inf, -np.inf)
    return np.where(np.abs(units) < UNBOUNDED, units / one, infinite)


def _append_side(by_cell: csr_array, side: SideConstraints, one: int) -> tuple[csr_array, Floats, Floats]:
    """Return equations and side constraints of an adjustment by cell, scaled to a largest entry of 1, and
    the bounds of the new cells.
    """
    from scipy.sparse import block_array, diags_array

    rows = side.rows.astype(np.float64)
    largest = np.asarray(abs(rows).max(axis=1).todense()).ravel()
    largest[largest == 0.0] = 1.0
    rows = diags_array(1.0 / largest) @ rows
    new = diags_array(-np.ones(largest.size))
    together = block_array([[by_cell, rows.T], [None, new]], format="csr")
    return together, side.least / largest / one, side.most / largest / one


def _imply_bounds(by_cell: csr_array, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Return bounds on an adjustment's changes, infinite ones replaced by those that equations imply: where
    all other cells of ``m_i x_i = - sum_{j != i} m_j x_j`` are bounded, ``x_i`` is.

    Without bounds, the smallest error in dual values makes the Lagrangian of a cell of weight 0 unbounded.
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
        least, most = -_sum_others(high, row, rows, np.inf), -_sum_others(low, row, rows, -np.inf)
        first, second = least / entry, most / entry
        np.maximum.at(lower, cell, np.where(unbounded[cell], np.minimum(first, second), -np.inf))
        np.minimum.at(upper, cell, np.where(unbounded[cell], np.maximum(first, second), np.inf))
    return lower, upper


def _sum_others(ends: Floats, row: NDArray[np.int32], rows: int, without: float) -> Floats:
    """Return per entry of an adjustment's matrix the sum of other ends in its row; else ``without``."""
    infinite = np.isinf(ends)
    finite = np.where(infinite, 0.0, ends)
    others = np.bincount(row, infinite, rows)[row] - infinite
    return np.where(others > 0, without, np.bincount(row, finite, rows)[row] - finite)
