"""Windows that variables can only widen: intervals, and cells that are suppressed or intervals.

In such a model each side of a window is opened by at most one variable, ``U_i(x) = base_i + units_i x_j``
with ``units_i > 0``, and possibly by a switch. So a point protects as soon as its windows contain one witness
of every requirement, and of two points the wider one protects more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.model import NO_SWITCH, Affine
from tacita.solvers.highs import solve_mip

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NO_VARIABLE = -1
ROUGH = 1e-9
"""Relative error by which an integer end may fall short of what it must contain."""


@dataclass(frozen=True, eq=False)
class GrowingWindows:
    """The variables that widen windows of a presolved table, above (row 0) and below (row 1) each cell.

    Attributes
    ----------
    variable, units
        The variable of each side, or ``NO_VARIABLE``, and by how many units it widens the window.
    cost
        The cost of a unit, infinite without a variable.
    least, most
        Units by which the window is open in any case, and by which the variable can open it.
    switch_cost
        The cost of suppressing a cell; infinite where that is not possible.
    always_suppressed
        Mask of the cells that are suppressed in any case.
    """

    presolved: PresolvedTable
    variable: Cells
    units: Floats
    cost: Floats
    least: Floats
    most: Floats
    switch_cost: Floats
    always_suppressed: Mask

    @classmethod
    def of(cls, presolved: PresolvedTable) -> GrowingWindows | None:
        """Return the growing windows of a model; None where some variable narrows a window, or opens two."""
        model, n = presolved.model, len(presolved)
        variable, units = np.full((2, n), NO_VARIABLE), np.zeros((2, n))
        for side, window in enumerate((presolved.above, presolved.below)):
            found = _find_variables(window)
            if found is None:
                return None
            variable[side], units[side] = found
        used = variable[variable != NO_VARIABLE]
        if not used.size or np.unique(used).size < used.size or (model.cost[used] < 0).any():
            return None
        opens, at = variable != NO_VARIABLE, np.maximum(variable, 0)
        base = np.stack([presolved.above.base, presolved.below.base])
        cost = np.full((2, n), np.inf)
        cost[opens] = model.cost[used] / units[opens]
        switched = presolved.switch != NO_SWITCH
        switch_cost = np.full(n, np.inf)
        allowed = switched.copy()
        allowed[switched] = model.upper[presolved.switch[switched]] > 0
        switch_cost[allowed] = model.cost[presolved.switch[allowed]]
        always = switched.copy()
        always[switched] = model.lower[presolved.switch[switched]] > 0
        return cls(
            presolved,
            variable,
            units,
            cost,
            base + np.where(opens, units * model.lower[at], 0.0),
            base + np.where(opens, units * model.upper[at], 0.0),
            switch_cost,
            always,
        )

    def find_point(self, needed: Floats, run: Run) -> Floats | None:
        """Return the cheapest point of the model whose windows contain ``needed`` units above and below each
        cell, or None if its own rows allow none.
        """
        model = self.presolved.model
        ends = self.variable != NO_VARIABLE
        if not model.rows.shape[0] and not np.isfinite(self.switch_cost).any():
            x = model.lower.copy()
            x[self.variable[ends]] = self._find_ends(needed)[ends]
            return x
        rows, least = self._require(needed)
        from scipy.sparse import csr_array, vstack

        program = replace(
            model,
            rows=csr_array(vstack([model.rows, rows])),
            row_lower=np.concatenate([model.row_lower, least]),
            row_upper=np.concatenate([model.row_upper, np.full(least.size, np.inf)]),
        )
        found = solve_mip(program, run, tell=lambda best, bound: run.report("first release"))
        if not found.point.size:
            return None
        x = np.where(model.integer, np.rint(found.point), found.point)
        return np.clip(x, model.lower, model.upper)

    def round_outward(self, x: Floats) -> Floats:
        """Return a point with integer ends rounded up, which widens windows; other variables stay."""
        ends = self.variable[self.variable != NO_VARIABLE]
        ends = ends[self.presolved.model.integer[ends]]
        out = x.copy()
        out[ends] = np.ceil(x[ends] - ROUGH * np.maximum(1.0, np.abs(x[ends])))
        return out

    def has_fraction(self, x: Floats) -> bool:
        """Return whether an integer variable of the model has a fraction at a point."""
        at = x[self.presolved.model.integer]
        return bool((np.abs(at - np.rint(at)) > ROUGH).any())

    @cached_property
    def other_integers(self) -> Mask:
        """Mask of the integer variables that are no ends of windows."""
        others = self.presolved.model.integer.copy()
        others[self.variable[self.variable != NO_VARIABLE]] = False
        return others

    def _find_ends(self, needed: Floats) -> Floats:
        """Return the values of the variables of all sides that make windows contain what is needed."""
        model, at = self.presolved.model, np.maximum(self.variable, 0)
        base = np.stack([self.presolved.above.base, self.presolved.below.base])
        with np.errstate(invalid="ignore", divide="ignore"):
            ends = np.maximum((needed - base) / self.units, model.lower[at])
        up = np.ceil(ends - ROUGH * np.maximum(1.0, np.abs(ends)))
        return np.asarray(np.minimum(np.where(model.integer[at], up, ends), model.upper[at]))

    def _require(self, needed: Floats) -> tuple[csr_array, Floats]:
        """Return rows ``units x_end + needed x_switch >= needed``, and their right-hand sides."""
        from scipy.sparse import csr_array

        model, switch = self.presolved.model, self.presolved.switch
        base = np.stack([self.presolved.above.base, self.presolved.below.base])
        lacks = needed - base
        side, cell = np.nonzero(lacks > 0)
        least = lacks[side, cell]
        row = np.arange(side.size)
        by_end = np.flatnonzero(self.variable[side, cell] != NO_VARIABLE)
        by_switch = np.flatnonzero(switch[cell] != NO_SWITCH)
        # Each row is divided by what it needs, for solvers.
        rows = csr_array(
            (
                np.concatenate([(self.units[side, cell] / least)[by_end], np.ones(by_switch.size)]),
                (
                    np.concatenate([row[by_end], row[by_switch]]),
                    np.concatenate([self.variable[side, cell][by_end], switch[cell][by_switch]]),
                ),
            ),
            shape=(row.size, model.size),
        )
        return rows, np.ones(row.size)


def _find_variables(window: Affine) -> tuple[Cells, Floats] | None:
    """Return the one variable that opens each cell's window, and its units; None where there are others."""
    matrix, n = window.matrix, window.base.size
    count = np.diff(matrix.indptr)
    if count.max(initial=0) > 1 or (matrix.data <= 0).any() or (window.base < 0).any():
        return None
    variable, units = np.full(n, NO_VARIABLE), np.zeros(n)
    variable[count == 1], units[count == 1] = matrix.indices, matrix.data
    return variable, units
