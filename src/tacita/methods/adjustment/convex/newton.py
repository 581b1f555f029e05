"""Least squares by a semismooth Newton method on the prices of the equations.

    min  sum_i (x_i - c_i)^2 / (2 h_i)      s.t.  M x = 0,   lower <= x <= upper

Prices ``y`` of the equations answer with ``x(y) = clip(c + h M' y, lower, upper)``; the prices that balance
``M x(y) = 0`` are the maximum of a concave function whose gradient is ``-M x(y)``. With ``D`` = ``h`` where
``x(y)`` is strictly within its bounds and 0 elsewhere,

    (M D M' + E) d = -M x(y)

is solved by conjugate gradients, preconditioned by the diagonal, and the prices go along ``d`` as long as the
function rises. ``E`` is a small part of the diagonal that vanishes with the residual:
equations may follow from others, or have all their cells at bounds. Once it is known which cells are at
bounds the function is quadratic, so the last step is the projection onto ``M x = 0`` and leaves nothing but
rounding.

With ``h = 1 / (2 w)`` and ``c = 0`` this is the loss ``sum w x^2``. Steps are measured by ``h``, so weights
may differ by many orders of magnitude.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacita.core.errors import InfeasibleError, StoppedError
from tacita.core.exact import Floats
from tacita.core.run import Run
from tacita.methods.adjustment.convex.boxed import NONE_WITHIN, Boxed, PricedPoint

BALANCED = 1e-12
"""Residual at which there is nothing left to do, in parts of the changes in an equation."""
GOOD = 1e-9
"""Residual that is accepted when it does not become less."""
GAP = 1e-6
"""Gap above which a sum of squares is not taken for the least."""
TINY = 1e-14
"""Part of the diagonal that is always added to it."""
ACCURACY = 1e-13
"""The finest that a direction is worked out."""
STEPS, GRADIENTS, HALVINGS = 100, 2000, 30
"""Most steps of the method, of conjugate gradients in each, and of the search along it."""
PATIENCE = 3
"""Steps without progress that end the search once the residual is good."""


@dataclass(frozen=True, eq=False)
class _State:
    """What prices answer with."""

    prices: Floats
    x: Floats
    give: Floats
    value: float
    residual: Floats


class DualSquares:
    """A least-squares task: how the cells answer to prices."""

    def __init__(self, boxed: Boxed, centre: Floats, give: Floats) -> None:
        self.boxed, self.centre = boxed, centre
        self.give = np.where(boxed.fixed, 0.0, give)
        self.squared = boxed.by_cell.copy()
        self.squared.data = self.squared.data**2
        self.full = self.diagonal(self.give)
        self.least = np.full(boxed.equations, np.inf)
        entry = np.repeat(self.give, np.diff(boxed.by_cell.indptr)) * self.squared.data
        np.minimum.at(self.least, boxed.by_cell.indices, np.where(entry > 0.0, entry, np.inf))
        self.least[np.isinf(self.least)] = 0.0

    def diagonal(self, give: Floats) -> Floats:
        """The diagonal of ``M D M'``."""
        return np.asarray(self.squared.T @ give)

    def ridge(self, give: Floats, part: float) -> Floats:
        """A part of the diagonal; the least that one cell could give where all cells are at bounds."""
        diagonal = self.diagonal(give)
        return np.where(diagonal > 0.0, (part + TINY) * diagonal, self.least)

    def answer(self, prices: Floats) -> _State:
        boxed = self.boxed
        pull = boxed.pulls(prices)
        wanted = self.centre + self.give * pull
        x = np.clip(wanted, boxed.lower, boxed.upper)
        give = np.where(wanted == x, self.give, 0.0)
        away = x - self.centre
        # Cells that cannot move cost the same at all prices.
        cost = np.divide(away**2, 2.0 * self.give, out=np.zeros_like(away), where=self.give > 0.0)
        return _State(prices, x, give, float((cost - pull * x).sum()), boxed.residual(x))

    def direction(self, state: _State, ridge: Floats, accuracy: float, run: Run) -> Floats:
        """``d`` by conjugate gradients, until the preconditioned residual is ``accuracy`` times the first."""
        by_cell = self.boxed.by_cell
        active = state.give > 0.0
        if np.count_nonzero(active) < 0.7 * active.size:
            at = np.flatnonzero(active)
            by_cell, give = by_cell[at], state.give[at]
        else:
            give = state.give
        across = by_cell.T
        diagonal = self.diagonal(state.give) + ridge
        inverse = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0.0)
        left = np.where(diagonal > 0.0, -state.residual, 0.0)
        d, z = np.zeros_like(left), inverse * left
        step, size = z.copy(), float((left * z).sum())
        enough = accuracy**2 * size
        for k in range(GRADIENTS):
            if size <= enough or size == 0.0 or (k % 50 == 49 and run.over):
                break
            image = np.asarray(across @ (give * (by_cell @ step))) + ridge * step
            bend = float((step * image).sum())
            if bend <= 0.0:
                break
            length = size / bend
            d += length * step
            left -= length * image
            z = inverse * left
            new = float((left * z).sum())
            step *= new / size
            step += z
            size = new
        return d


def by_newton(boxed: Boxed, run: Run) -> PricedPoint | None:
    """The least sum of squares; None if the method does not come to one that its prices prove.

    Raises
    ------
    InfeasibleError
        There is none: prices prove it.
    StoppedError
        The time is over.
    """
    weight = np.where(boxed.weight > 0.0, boxed.weight, 1.0)
    found = balanced(boxed, np.zeros_like(weight), 0.5 / weight, run)
    if boxed.off_balance(found.x) > GOOD:
        # A cell that weighs next to nothing follows prices whose digits cancel.
        x = onto_equations(boxed, found.x, run)
        if x is None:
            return None
        found = replace(found, x=x)
    return found if boxed.proves(found.x, found.prices, GAP) else None


def onto_equations(boxed: Boxed, x: Floats, run: Run) -> Floats | None:
    """The nearest adjustment to a point that is one up to a tolerance; None if none is near.

    Changes are measured by the size that they already have, so that what hardly moved stays, and beyond that
    by what they weigh.
    """
    weighed = boxed.weight * np.abs(x)
    dearest = float(weighed.max(initial=0.0)) or 1.0
    lightest = float(boxed.weight[boxed.weight > 0.0].min(initial=1.0))
    give = np.abs(x) + 1e-6 * dearest / np.maximum(boxed.weight, lightest)
    near = balanced(boxed, np.clip(x, boxed.lower, boxed.upper), give, run).x
    return near if boxed.off_balance(near) <= GOOD else None


def balanced(boxed: Boxed, centre: Floats, give: Floats, run: Run) -> PricedPoint:
    """The nearest point that balances, or what comes nearest to balancing when there is no more progress.

    Raises
    ------
    InfeasibleError
        There is none: prices prove it.
    StoppedError
        The time is over.
    """
    squares = DualSquares(boxed, centre, give)
    # Equations whose cells cannot change at all answer to no prices.
    stuck = np.where(squares.full > 0.0, 0.0, -boxed.residual(boxed.resting))
    if boxed.contradicted(stuck):
        raise InfeasibleError(NONE_WITHIN)
    state = squares.answer(np.zeros(boxed.equations))
    best, best_off, stale, scale = state, np.inf, 0, 0.0
    for k in range(STEPS):
        off = boxed.off_balance(state.x)
        stale = 0 if off < 0.5 * best_off else stale + 1
        if off < best_off:
            best, best_off = state, off
        if best_off <= BALANCED or (stale >= PATIENCE and best_off <= GOOD):
            break
        if run.over:
            raise StoppedError("the time was over before the adjustment was found: allow more of it")
        if k % 5 == 4 and boxed.contradicted(state.prices):
            raise InfeasibleError(NONE_WITHIN)
        size = _size(squares, state)
        scale = max(scale, size)
        part = size / scale if scale else 0.0
        new = _step(squares, state, part, run)
        if new is None:
            break
        state = new
    return PricedPoint(best.x, best.prices, k)


def _step(squares: DualSquares, state: _State, part: float, run: Run) -> _State | None:
    """The next state when a ``part`` of the residual is left; None if no direction leads upwards."""
    small = min(1e-2, 0.1 * part)
    for ridge in (squares.ridge(state.give, small * part), (small * part + TINY) * squares.full):
        d = squares.direction(state, ridge, max(ACCURACY, small), run)
        new = _along(squares, state, d)
        if new is not None:
            return new
    return None


def _along(squares: DualSquares, state: _State, d: Floats) -> _State | None:
    """The state at the longest step of 1, 1/2, 1/4, ... along which the concave function rises."""
    slope = -float((state.residual * d).sum())
    if slope <= 0.0:
        return None
    length = 1.0
    for _ in range(HALVINGS):
        new = squares.answer(state.prices + length * d)
        # Near the maximum the function is flat to the last digit, and the slope there says more.
        if new.value >= state.value + 1e-4 * length * slope or (
            abs(new.value - state.value) <= 1e-11 * abs(state.value)
            and -float((new.residual * d).sum()) >= -0.9 * slope
        ):
            return new
        length /= 2.0
    return None


def _size(squares: DualSquares, state: _State) -> float:
    """The residual, measured by what balancing it would cost if all cells were free."""
    full = squares.full
    return float(np.sqrt(np.divide(state.residual**2, full, out=np.zeros_like(full), where=full > 0.0).sum()))
