"""Least squares by a semismooth Newton method on the dual values of the equations.

    min  sum_i (x_i - c_i)^2 / (2 h_i)      s.t.  M x = 0,   lower <= x <= upper

For dual values ``y`` the Lagrangian is smallest at ``x(y) = clip(c + h M' y, lower, upper)``. The dual
function is concave with gradient ``-M x(y)``; at its maximum ``M x(y) = 0``. With ``D`` = ``h`` where
``x(y)`` is strictly within its bounds and 0 elsewhere,

    (M D M' + E) d = -M x(y)

is solved by conjugate gradients with a diagonal preconditioner, and a line search follows ``d``. ``E`` is a
small part of the diagonal that vanishes with the residual: equations may be redundant, or have all their
cells at bounds. Once the set of cells at bounds is right, the dual function is quadratic, and the last step
is the projection onto ``M x = 0``: only rounding errors remain.

With ``h = 1 / (2 w)`` and ``c = 0`` the loss is ``sum w x^2``. Steps are measured by ``h``, so that weights
may differ by many orders of magnitude.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacita.core.exact import Floats
from tacita.core.run import Run
from tacita.methods.adjustment.convex.convex_program import (
    ConvexProgram,
    PrimalDualPoint,
    make_infeasible_error,
    make_timeout_error,
)

BALANCED = 1e-12
"""Relative residual at which the method ends."""
GOOD = 1e-9
"""Relative residual that is accepted when it does not decrease any more."""
GAP = 1e-6
"""Largest relative optimality gap of a solution."""
TINY = 1e-14
"""Share of the diagonal that is always added to it."""
ACCURACY = 1e-13
"""Smallest relative residual of the conjugate gradients."""
STEPS, GRADIENTS, HALVINGS = 100, 2000, 30
"""Most Newton steps, conjugate gradient steps in each, and halvings in a line search."""
PATIENCE = 3
"""Steps without progress that end the method once the residual is good."""


@dataclass(frozen=True, eq=False)
class _DualState:
    """Dual values with the minimiser ``x`` of their Lagrangian, ``D``, the dual function and ``M x``."""

    duals: Floats
    x: Floats
    give: Floats
    value: float
    residual: Floats


class DualSquares:
    """The dual function of a least-squares program; ``give`` is ``h``, 0 for cells that cannot change."""

    def __init__(self, program: ConvexProgram, centre: Floats, give: Floats) -> None:
        self.program, self.centre = program, centre
        self.give = np.where(program.fixed, 0.0, give)
        self.squared = program.by_cell.copy()
        self.squared.data = self.squared.data**2
        self.full = self.diagonal(self.give)
        self.least = np.full(program.equations, np.inf)
        entry = np.repeat(self.give, np.diff(program.by_cell.indptr)) * self.squared.data
        np.minimum.at(self.least, program.by_cell.indices, np.where(entry > 0.0, entry, np.inf))
        self.least[np.isinf(self.least)] = 0.0

    def diagonal(self, give: Floats) -> Floats:
        """Return the diagonal of ``M D M'``, per equation of a least-squares adjustment."""
        return np.asarray(self.squared.T @ give)

    def ridge(self, give: Floats, part: float) -> Floats:
        """Return ``E`` of an adjustment's Newton step: part of the diagonal, or least entry if it is 0."""
        diagonal = self.diagonal(give)
        return np.where(diagonal > 0.0, (part + TINY) * diagonal, self.least)

    def evaluate(self, duals: Floats) -> _DualState:
        """Return the dual function of a least-squares adjustment at dual values, and its minimiser."""
        program = self.program
        slope = program.dual_slopes(duals)
        wanted = self.centre + self.give * slope
        x = np.clip(wanted, program.lower, program.upper)
        give = np.where(wanted == x, self.give, 0.0)
        away = x - self.centre
        # Cells that cannot change cost the same for all dual values.
        cost = np.divide(away**2, 2.0 * self.give, out=np.zeros_like(away), where=self.give > 0.0)
        return _DualState(duals, x, give, float((cost - slope * x).sum()), program.residual(x))

    def find_direction(self, state: _DualState, ridge: Floats, accuracy: float, run: Run) -> Floats:
        """Return the Newton direction of an adjustment's dual values, to a residual of ``accuracy``."""
        by_cell = self.program.by_cell
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


def solve_by_newton(program: ConvexProgram, run: Run) -> PrimalDualPoint | None:
    """Return the adjustment of least squares; None if Newton's method finds none that dual values prove."""
    weight = np.where(program.weight > 0.0, program.weight, 1.0)
    found = solve_least_squares(program, np.zeros_like(weight), 0.5 / weight, run)
    if program.relative_residual(found.x) > GOOD:
        # The change of a cell of tiny weight is a sum of dual values whose digits cancel.
        x = project_onto_equations(program, found.x, run)
        if x is None:
            return None
        found = replace(found, x=x)
    return found if program.proves_gap(found.x, found.duals, GAP) else None


def project_onto_equations(program: ConvexProgram, x: Floats, run: Run) -> Floats | None:
    """Return the changes nearest to ``x`` that satisfy an adjustment's equations; None if none is near.

    Distances are relative to the changes of the point, so that small changes stay small, and to a smaller
    part to the weights.
    """
    largest = float((program.weight * np.abs(x)).max(initial=0.0)) or 1.0
    lightest = float(program.weight[program.weight > 0.0].min(initial=1.0))
    give = np.abs(x) + 1e-6 * largest / np.maximum(program.weight, lightest)
    near = solve_least_squares(program, np.clip(x, program.lower, program.upper), give, run).x
    return near if program.relative_residual(near) <= GOOD else None


def solve_least_squares(program: ConvexProgram, centre: Floats, give: Floats, run: Run) -> PrimalDualPoint:
    """Return the adjustment nearest to ``centre``, of the smallest residual Newton's method reaches."""
    squares = DualSquares(program, centre, give)
    # Equations all of whose cells are fixed do not depend on dual values.
    stuck = np.where(squares.full > 0.0, 0.0, -program.residual(program.least_change))
    if program.proves_infeasible(stuck):
        raise make_infeasible_error()
    state = squares.evaluate(np.zeros(program.equations))
    best, best_off, stale, scale = state, np.inf, 0, 0.0
    for k in range(STEPS):
        off = program.relative_residual(state.x)
        stale = 0 if off < 0.5 * best_off else stale + 1
        if off < best_off:
            best, best_off = state, off
        if best_off <= BALANCED or (stale >= PATIENCE and best_off <= GOOD):
            break
        if run.over:
            raise make_timeout_error()
        if k % 5 == 4 and program.proves_infeasible(state.duals):
            raise make_infeasible_error()
        size = _measure_residual(squares, state)
        scale = max(scale, size)
        new = _take_step(squares, state, size / scale if scale else 0.0, run)
        if new is None:
            break
        state = new
    return PrimalDualPoint(best.x, best.duals, k)


def _take_step(squares: DualSquares, state: _DualState, part: float, run: Run) -> _DualState | None:
    """Return the state after an adjustment's Newton step, with ``part`` of the residual left; or None."""
    small = min(1e-2, 0.1 * part)
    for ridge in (squares.ridge(state.give, small * part), (small * part + TINY) * squares.full):
        d = squares.find_direction(state, ridge, max(ACCURACY, small), run)
        new = _search_line(squares, state, d)
        if new is not None:
            return new
    return None


def _search_line(squares: DualSquares, state: _DualState, d: Floats) -> _DualState | None:
    """Return an adjustment's dual state at the longest step 1, 1/2, ... with enough ascent, or None."""
    slope = -float((state.residual * d).sum())
    if slope <= 0.0:
        return None
    length = 1.0
    for _ in range(HALVINGS):
        new = squares.evaluate(state.duals + length * d)
        # Near the maximum the function is flat to the last digit: then the slope decides.
        if new.value >= state.value + 1e-4 * length * slope or (
            abs(new.value - state.value) <= 1e-11 * abs(state.value)
            and -float((new.residual * d).sum()) >= -0.9 * slope
        ):
            return new
        length /= 2.0
    return None


def _measure_residual(squares: DualSquares, state: _DualState) -> float:
    """Return the norm of the adjustment's residual: what removing it would cost if all cells were free."""
    full = squares.full
    return float(np.sqrt(np.divide(state.residual**2, full, out=np.zeros_like(full), where=full > 0.0).sum()))
