"""Sensitive cells at multiples of a base, all other inner cells adjusted to them, totals unchanged.

    min  sum_i (x_i - a_i)^2 / |a_i|
    s.t. M x = b,    x_p given for sensitive p,    x_t = a_t for totals t,
         a_i - below |a_i| <= x_i <= a_i + above |a_i|,    |x_i - a_i| <= base,    x integer

over inner cells. A cell of zero cannot change, so that no quotient is undefined. As totals do not change,
this is the chi-square distance ``sum x^2 / a - sum a``.

Readers who know the method deduce more than the announced radius: a number that is no multiple of the base
was adjusted, so that the value lies in ``x / (1 + above) .. x / (1 - below)``; a multiple that was rounded
lies less than a base from the value; totals are exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask, Units
from tacita.core.run import Run
from tacita.engine.attack.requirements import Requirements
from tacita.methods.protection.missed_levels import find_missed
from tacita.methods.random_rounding.inequalities import RoundingWindows
from tacita.methods.random_rounding.integer_squares import IntegerSquares, SquaresSolution, build_network
from tacita.methods.random_rounding.roundings import Roundings
from tacita.problem.problem import Problem
from tacita.solvers.network import Network


@dataclass(frozen=True, eq=False)
class RandomRoundingTask:
    """The adjustment of a table whose sensitive cells are rounded to one base; bounds are in steps, all else
    in units.

    Attributes
    ----------
    cells, residue
        The rounded cells, and how far each lies above the multiple below it.
    radius
        Announced radius per cell; 0 where it is published as it is.
    lower, upper
        Bounds of the changes of cells that are not rounded.
    weight
        Loss of a single step, for squared distances in steps.
    """

    problem: Problem
    base: int
    cells: Cells
    residue: Units
    radius: Units
    lower: Units
    upper: Units
    weight: Floats
    network: Network | None
    below: float
    above: float
    method_known: bool

    @classmethod
    def of(
        cls,
        problem: Problem,
        base: int,
        below: float,
        above: float,
        margins_announced: bool,
        method_known: bool = True,
    ) -> RandomRoundingTask:
        """Return the random rounding task for one base; ``below`` and ``above`` are shares of a value. With
        ``method_known`` readers are assumed to know the method, not only the radius.
        """
        table = problem.table
        inner, step, one = ~table.structure.is_total & ~problem.must_publish, table.unit, 10**table.decimals
        size = np.abs(table.units)
        announced = (inner | (margins_announced & table.structure.is_total)) & ~problem.must_publish
        # A base of one step changes nothing, which everyone knows.
        radius = np.where(announced & (base > step), base, 0)
        lower, upper = (
            np.where(inner, np.floor(np.minimum(size * share + 1e-9, base) / step).astype(np.int64), 0)
            for share in (below, above)
        )
        cells = np.flatnonzero(problem.levels.sensitive & inner)
        return cls(
            problem,
            base,
            cells,
            table.units[cells] % base,
            radius,
            -lower,
            upper,
            step**2 / (one * np.where(size == 0, 1, size).astype(np.float64)),
            build_network(table.structure, inner),
            below,
            above,
            method_known,
        )

    def steps(self, up: Mask) -> Units:
        """Return the moves of the randomly rounded cells, in steps."""
        return np.asarray((np.where(up, self.base, 0) - self.residue) // self.problem.table.unit)

    def losses(self, roundings: Roundings) -> Floats:
        """Return per random rounding the loss in the rounded cells, a lower bound for its adjustments."""
        moves = self.steps(roundings).astype(np.float64)
        return np.asarray((self.weight[self.cells] * moves**2).sum(axis=1))

    def distances(self, roundings: Roundings) -> Floats:
        """Return per random rounding ``sqrt(sum (x - a)^2)`` over the rounded cells, in steps."""
        return np.asarray(np.sqrt((self.steps(roundings).astype(np.float64) ** 2).sum(axis=1)))

    def build_squares(self, up: Mask) -> IntegerSquares:
        """Return the least-squares problem of adjusting the other cells to one random rounding."""
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[self.cells] = upper[self.cells] = self.steps(up)
        return IntegerSquares(self.problem.table.structure, self.network, self.weight, lower, upper)

    def find_windows(self) -> RoundingWindows:
        """Return how far readers of a random rounding can place cells, as known before the adjustment."""
        step = self.problem.table.unit
        announced = self.radius > 0
        shifts = np.stack([-self.residue, self.base - self.residue])
        # A multiple does not change.
        shifts[:, self.residue == 0] = 0
        radius = self.radius[self.cells]
        return RoundingWindows(
            np.where(announced, self.radius + self.upper * step, 0),
            np.where(announced, self.radius - self.lower * step, 0),
            self.cells,
            np.where(radius > 0, radius + shifts, 0),
            np.where(radius > 0, radius - shifts, 0),
        )

    def value(self, moved: SquaresSolution) -> Units:
        """Return the numbers that the random rounding publishes, in units."""
        return np.asarray(self.problem.table.units + moved.z * self.problem.table.unit)

    def find_missed(self, moved: SquaresSolution, run: Run) -> Requirements:
        """Return the protection requirements that the release of a random rounding misses."""
        shift = np.where(self.radius > 0, moved.z * self.problem.table.unit, 0)
        above, below = self.radius + shift, self.radius - shift
        if self.method_known:
            most_above, most_below = self._deduce_limits(moved)
            above, below = np.minimum(above, most_above), np.minimum(below, most_below)
        return find_missed(self.problem, above, below, run)

    def _deduce_limits(self, moved: SquaresSolution) -> tuple[Units, Units]:
        """Return how far above and below its value readers who know random rounding can place each cell."""
        table, step = self.problem.table, self.problem.table.unit
        value, shown = table.units, self.value(moved)
        ends = np.array([self._find_range_before(int(x)) for x in shown], dtype=np.int64).reshape(-1, 2)
        multiple = shown % self.base == 0
        low = np.where(multiple, shown - self.base + step, ends[:, 0])
        high = np.where(multiple, shown + self.base - step, ends[:, 1])
        # A zero does not change, so that no other number was zero.
        low, high = (
            np.where(shown > 0, np.maximum(low, step), low),
            np.where(shown < 0, np.minimum(high, -step), high),
        )
        # Readers know the cells that do not change.
        still = table.structure.is_total | (self.radius == 0)
        low, high = (
            np.where(still, value, np.minimum(low, value)),
            np.where(still, value, np.maximum(high, value)),
        )
        return high - value, value - low

    def _find_range_before(self, shown: int) -> tuple[int, int]:
        """Return the smallest and the largest value that a random rounding can adjust to a number."""
        size, step = abs(shown), self.problem.table.unit
        near = int(np.ceil(size / (1.0 + self.above) / step - 1e-9)) * step
        far = UNBOUNDED // 4
        if self.below < 1 and size < far:
            far = int(min(far, np.floor(size / (1.0 - self.below) / step + 1e-9) * step))
        near, far = max(near, size - self.base), min(far, size + self.base)
        return (near, far) if shown >= 0 else (-far, -near)
