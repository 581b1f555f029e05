"""Sensitive cells at multiples of a base, all other inner cells adjusted to them, totals as they are.

    min  sum_i (x_i - a_i)^2 / |a_i|
    s.t. M x = b,    x_p given for sensitive p,    x_t = a_t for totals t,
         a_i - below |a_i| <= x_i <= a_i + above |a_i|,    |x_i - a_i| <= base,    x whole

over inner cells. A cell of zero has no room and stays, so that no quotient is undefined. As totals stay, this
is the chi-square distance ``sum x^2 / a - sum a``.

Readers who know that deduce more than the announced base: a number that is no multiple of it was adjusted, so
that the value lies in ``x / (1 + above) .. x / (1 - below)``; a multiple that was rounded lies less than a
base from the value; totals are what they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask, Units
from tacita.core.run import Run
from tacita.engine.attack.requirements import Requirements
from tacita.methods.moving.missed import missed
from tacita.methods.random_rounding.inequalities import Windows
from tacita.methods.random_rounding.sensitive import Roundings
from tacita.methods.random_rounding.whole_squares import IntegerSquares, Moved, network_of
from tacita.problem.problem import Problem
from tacita.solvers.network import Network


@dataclass(frozen=True, eq=False)
class Adjustable:
    """A table whose sensitive cells are rounded; bounds are in steps, all else in units.

    Attributes
    ----------
    cells, residue
        The cells that are rounded, and how far each lies above the multiple below it.
    radius
        What readers are told per cell; 0 where it is published as it is.
    lower, upper
        How far cells that are not rounded may move.
    weight
        Loss of a single step, squared distances counted in steps.
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
        margins_told: bool,
        method_known: bool = True,
    ) -> Adjustable:
        """The question for one base; ``below`` and ``above`` are shares of a value. With ``method_known``
        readers deduce from shown numbers what the method tells, and not only the radius.
        """
        table = problem.table
        inner, step, one = ~table.structure.is_total & ~problem.must_publish, table.unit, 10**table.decimals
        size = np.abs(table.units)
        told = (inner | (margins_told & table.structure.is_total)) & ~problem.must_publish
        # A base of one step changes nothing, as everyone can tell.
        radius = np.where(told & (base > step), base, 0)
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
            network_of(table.structure, inner),
            below,
            above,
            method_known,
        )

    def steps(self, up: Mask) -> Units:
        """The moves of the rounded cells, in steps."""
        return np.asarray((np.where(up, self.base, 0) - self.residue) // self.problem.table.unit)

    def losses(self, roundings: Roundings) -> Floats:
        """Per rounding the loss in the rounded cells alone: no adjustment loses less."""
        moves = self.steps(roundings).astype(np.float64)
        return np.asarray((self.weight[self.cells] * moves**2).sum(axis=1))

    def distances(self, roundings: Roundings) -> Floats:
        """Per rounding ``sqrt(sum (x - a)^2)`` over the rounded cells, in steps."""
        return np.asarray(np.sqrt((self.steps(roundings).astype(np.float64) ** 2).sum(axis=1)))

    def squares(self, up: Mask) -> IntegerSquares:
        """What is to be solved for one rounding."""
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[self.cells] = upper[self.cells] = self.steps(up)
        return IntegerSquares(self.problem.table.structure, self.network, self.weight, lower, upper)

    def windows(self) -> Windows:
        """What readers may think of cells, as far as it is known before the adjustment."""
        step = self.problem.table.unit
        told = self.radius > 0
        shifts = np.stack([-self.residue, self.base - self.residue])
        # A multiple stays.
        shifts[:, self.residue == 0] = 0
        radius = self.radius[self.cells]
        return Windows(
            np.where(told, self.radius + self.upper * step, 0),
            np.where(told, self.radius - self.lower * step, 0),
            self.cells,
            np.where(radius > 0, radius + shifts, 0),
            np.where(radius > 0, radius - shifts, 0),
        )

    def value(self, moved: Moved) -> Units:
        """What is shown, in units."""
        return np.asarray(self.problem.table.units + moved.z * self.problem.table.unit)

    def missed(self, moved: Moved, run: Run) -> Requirements:
        """Levels that the release misses."""
        shift = np.where(self.radius > 0, moved.z * self.problem.table.unit, 0)
        above, below = self.radius + shift, self.radius - shift
        if self.method_known:
            most_above, most_below = self._deduced(moved)
            above, below = np.minimum(above, most_above), np.minimum(below, most_below)
        return missed(self.problem, above, below, run)

    def _deduced(self, moved: Moved) -> tuple[Units, Units]:
        """How far above and below its value each cell can lie for readers who know the method."""
        table, step = self.problem.table, self.problem.table.unit
        value, shown = table.units, self.value(moved)
        ends = np.array([self._ends(int(x)) for x in shown], dtype=np.int64).reshape(-1, 2)
        multiple = shown % self.base == 0
        low = np.where(multiple, shown - self.base + step, ends[:, 0])
        high = np.where(multiple, shown + self.base - step, ends[:, 1])
        # A zero stays zero, so that nothing else was one.
        low, high = (
            np.where(shown > 0, np.maximum(low, step), low),
            np.where(shown < 0, np.minimum(high, -step), high),
        )
        # Everyone can tell cells that do not move.
        still = table.structure.is_total | (self.radius == 0)
        low, high = (
            np.where(still, value, np.minimum(low, value)),
            np.where(still, value, np.maximum(high, value)),
        )
        return high - value, value - low

    def _ends(self, shown: int) -> tuple[int, int]:
        """The least and the largest value that can be adjusted to a number."""
        size, step = abs(shown), self.problem.table.unit
        near = int(np.ceil(size / (1.0 + self.above) / step - 1e-9)) * step
        far = UNBOUNDED // 4
        if self.below < 1 and size < far:
            far = int(min(far, np.floor(size / (1.0 - self.below) / step + 1e-9) * step))
        near, far = max(near, size - self.base), min(far, size + self.base)
        return (near, far) if shown >= 0 else (-far, -near)
