"""The objective functions of rounding.

    distance    sum_i w_i |v_i - a_i|^p          w_i = 0 for totals where margins do not count
    linear      sum_i g_i (v_i - a_i)            given coefficients
    mean        |v_T - a_T| / n, T the grand total of n inner cells; among those the least distance

Each is a sum over cells of convex functions of the cell's own number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacita.core.errors import InputError, did_you_mean
from tacita.core.exact import Cells, Floats, Units
from tacita.methods.options.per_cell import read_weights
from tacita.problem.problem import Problem

KINDS = ("distance", "mean")


@dataclass(frozen=True, eq=False)
class RoundingGoal:
    """The loss of changes.

    Attributes
    ----------
    slope
        Coefficients of a linear goal, instead of distance.
    top
        The grand total whose change counts before all distance.
    inner
        Number of inner cells of the grand total.
    """

    weight: Floats
    power: float
    one: float
    slope: Floats | None = None
    top: int | None = None
    inner: int = 1

    def of(self, cells: Cells, moved: Units | Floats, ahead: float = 0.0) -> Floats:
        """Return the rounding losses of some cells; a unit of the grand total costs ``ahead`` more."""
        far = moved / self.one
        if self.slope is not None:
            return np.asarray(self.slope[cells] * far)
        with np.errstate(over="ignore"):
            loss = self.weight[cells] * np.abs(far) ** self.power
        if not np.isfinite(loss).all():
            raise InputError(
                f"option 'power' is {self.power:g}: too much for distances like these", remedy="use less"
            )
        if self.top is not None:
            loss = loss + np.where(cells == self.top, ahead * np.abs(far), 0.0)
        return np.asarray(loss)

    def total(self, moved: Units | Floats) -> float:
        """Return the loss of a rounding by the changes of all cells, as it is reported."""
        if self.top is not None:
            return float(abs(moved[self.top]) / self.one / self.inner)
        return float(self.of(np.arange(moved.size), moved).sum())


def parse_goal(problem: Problem, objective: str, power: float, weight: str, margins: bool) -> RoundingGoal:
    """Return the objective of a rounding from the method's options, checked."""
    table = problem.table
    one, total = 10.0**table.decimals, table.structure.is_total
    each = read_weights(problem, weight, "weight")
    if not margins:
        each = np.where(total, 0.0, each)
    if objective == "distance":
        return RoundingGoal(each, power, one)
    if objective == "mean":
        part = np.zeros(len(table), dtype=bool)
        part[table.equations.cells[table.equations.coefficients > 0]] = True
        tops = np.flatnonzero(total & ~part)
        if tops.size != 1:
            raise InputError(
                f"objective 'mean' needs one grand total, and the table has {tops.size}",
                remedy="use 'distance', or a table with totals in every dimension",
                options=("objective=distance",),
            )
        return RoundingGoal(each, power, one, top=int(tops[0]), inner=int((~total).sum()))
    if objective not in table.columns:
        known = [*KINDS, *table.columns]
        raise InputError(
            f"option 'objective': there is no column '{objective}'{did_you_mean(objective, known)}",
            remedy="use 'distance', 'mean', or name a column of the table",
        )
    slope = np.asarray(table.columns[objective], dtype=np.float64)
    if (wrong := np.flatnonzero(~np.isfinite(slope))).size:
        raise InputError(f"column '{objective}' has no number for ({table.name(int(wrong[0]))})")
    return RoundingGoal(each, power, one, slope=slope)
