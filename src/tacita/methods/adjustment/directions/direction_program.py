"""The choice of all directions as one mixed-integer program.

With ``y_p = 1`` where sensitive cell ``p`` goes up, and ``v+, v- >= 0`` the moves beyond the least,

    z_p = up_least y_p - down_least (1 - y_p) + v+_p - v-_p,
    v+_p <= (up_most - up_least) y_p,      v-_p <= (down_most - down_least) (1 - y_p),

and ``z_i = v+_i - v-_i`` for the other cells. For each cell this is the convex hull, yet the relaxation sets
all ``y_p = 1/2`` and moves nothing: :mod:`tacita.methods.adjustment.directions.direction_patterns` tightens
it with inequalities on ``t_q = sum_i |m_qi| (v+_i + v-_i)``, the moves beyond the least in equation ``q``.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from tacita.core.exact import UNBOUNDED, Floats, Mask, Units
from tacita.methods.adjustment.directions.balance import Balance
from tacita.methods.adjustment.directions.direction_patterns import PatternRow
from tacita.methods.adjustment.directions.solver_scales import SolverScales, find_reaches
from tacita.methods.adjustment.task import AdjustmentTask, DirectionChoice
from tacita.solvers.linear_program import IntegerProgram


@dataclass(frozen=True, eq=False)
class VariableLayout:
    """Positions of the variables ``v+``, ``v-``, ``y``, ``t``."""

    n: int
    choices: int
    equations: int

    @property
    def y(self) -> slice:
        return slice(2 * self.n, 2 * self.n + self.choices)

    @property
    def t(self) -> slice:
        return slice(2 * self.n + self.choices, self.size)

    @property
    def size(self) -> int:
        return 2 * self.n + self.choices + self.equations


class DirectionProgram:
    """The program of a task in the l1 norm.

    Attributes
    ----------
    program
        In scaled units and losses.
    reach
        Scaled ``|m_qi|`` of the equations that contain sensitive cells.
    worth
        The loss that is 1 in the program.
    """

    def __init__(self, task: AdjustmentTask, choice: DirectionChoice, balance: Balance) -> None:
        self.task, self.choice, self.balance = task, choice, balance
        self.layout = VariableLayout(len(task), choice.cells.size, balance.equations.size)
        self.scales = SolverScales.of(task, choice)
        weight = task.weight / task.one * self.scales.cell
        self.worth = float(weight.max(initial=0.0)) or 1.0
        self.reach = abs(self.scales.rows[balance.equations])
        self.constant = 0.0
        self.program = self._program(weight / self.worth)

    # ------------------------------------------------------------ between the program and the task

    def to_loss(self, value: float) -> float:
        """Return the loss of an adjustment for a value of the integer program's objective."""
        return (value + self.constant) * self.worth

    def to_point(self, z: Floats, up: Mask) -> Floats:
        """Return changes and directions of an adjustment as a point of the integer program."""
        lay, c = self.layout, self.choice
        x = np.zeros(lay.size)
        beyond = z.copy()
        beyond[c.cells] -= np.where(up, c.up_least, -c.down_least)
        beyond /= self.scales.cell
        x[: lay.n], x[lay.n : 2 * lay.n] = np.maximum(beyond, 0.0), np.maximum(-beyond, 0.0)
        x[lay.y] = up
        x[lay.t] = self.reach @ np.abs(beyond)
        return x

    def directions(self, x: Floats) -> Mask:
        return np.asarray(x[self.layout.y] > 0.5)

    def with_fixed_directions(self, up: Mask, free: Mask) -> IntegerProgram:
        """Return the integer program in which only ``free`` cells choose their adjustment direction."""
        lower, upper = self.program.lower.copy(), self.program.upper.copy()
        lower[self.layout.y] = np.where(free, lower[self.layout.y], up)
        upper[self.layout.y] = np.where(free, upper[self.layout.y], up)
        return replace(self.program, lower=lower, upper=upper)

    def with_rows(self, made: Sequence[PatternRow]) -> DirectionProgram:
        """Return a copy of the integer program of adjustment directions with these inequalities."""
        from scipy.sparse import csr_array, vstack

        if not made:
            return self
        lay = self.layout
        unit = [float(self.scales.row[self.balance.equations[row.equation]]) for row in made]
        index = [np.append(lay.y.start + row.cells, lay.t.start + row.equation) for row in made]
        value = [np.append(-row.alpha / one, 1.0) for row, one in zip(made, unit, strict=True)]
        ends = np.cumsum([0] + [at.size for at in index])
        rows = csr_array((np.concatenate(value), np.concatenate(index), ends), (len(made), lay.size))
        right = [row.beta / one for row, one in zip(made, unit, strict=True)]
        tighter = copy(self)
        tighter.program = replace(
            self.program,
            rows=csr_array(vstack([self.program.rows, rows])),
            row_lower=np.append(self.program.row_lower, right),
            row_upper=np.append(self.program.row_upper, np.full(len(made), np.inf)),
        )
        return tighter

    # ------------------------------------------------------------ the program

    def _program(self, weight: Floats) -> IntegerProgram:
        from scipy.sparse import block_array, csr_array, diags_array, eye_array

        c, lay, scales = self.choice, self.layout, self.scales
        least_up, least_down = (
            self._limit_moves(c.up_least, c.can_rise),
            self._limit_moves(c.down_least, c.can_fall),
        )
        own = scales.cell[c.cells]
        beyond_up = (self._limit_moves(c.up_most, c.can_rise) - least_up) / own
        beyond_down = (self._limit_moves(c.down_most, c.can_fall) - least_down) / own
        fixed = np.asarray(scales.forced @ -least_down)
        at = csr_array((np.ones(lay.choices), (np.arange(lay.choices), c.cells)), (lay.choices, lay.n))
        nothing = csr_array((lay.choices, lay.equations))
        body = block_array(
            [
                [scales.rows, -scales.rows, scales.forced @ diags_array(least_up + least_down), None],
                [at, None, -diags_array(beyond_up), nothing],
                [None, at, diags_array(beyond_down), nothing],
                [-self.reach, -self.reach, None, eye_array(lay.equations)],
            ],
            format="csr",
        )
        empty, ending = np.zeros(lay.choices), np.full(lay.choices, -np.inf)
        zero = np.zeros(lay.equations)
        row_lower = np.concatenate([scales.least - fixed, ending, ending, zero])
        row_upper = np.concatenate([scales.most - fixed, empty, beyond_down, zero])
        lower, upper = self._bounds(beyond_up, beyond_down)
        unit_cost = weight[c.cells] / own
        cost = np.concatenate([weight, weight, unit_cost * (least_up - least_down), np.zeros(lay.equations)])
        self.constant = float((unit_cost * least_down).sum())
        integer = np.zeros(lay.size, dtype=bool)
        integer[lay.y] = True
        return IntegerProgram(cost, lower, upper, csr_array(body), row_lower, row_upper, integer)

    def _bounds(self, beyond_up: Floats, beyond_down: Floats) -> tuple[Floats, Floats]:
        c, lay = self.choice, self.layout
        low, high = self.scales.scaled(self.task.lower), self.scales.scaled(self.task.upper)
        lower, upper = np.zeros(lay.size), np.full(lay.size, np.inf)
        lower[: lay.n], upper[: lay.n] = np.maximum(low, 0.0), np.maximum(high, 0.0)
        lower[lay.n : 2 * lay.n], upper[lay.n : 2 * lay.n] = np.maximum(-high, 0.0), np.maximum(-low, 0.0)
        lower[c.cells] = lower[lay.n + c.cells] = 0.0
        upper[c.cells], upper[lay.n + c.cells] = beyond_up, beyond_down
        lower[lay.y], upper[lay.y] = ~c.can_fall, c.can_rise
        return lower, upper

    def _limit_moves(self, units: Units, possible: Mask) -> Floats:
        """Return finite limits of sensitive cells' moves in an adjustment direction, 0 where it is closed.

        A cell without a limit gets one that exceeds the moves of all others together.
        """
        finite = units.astype(np.float64)
        if (np.abs(units[possible]) >= UNBOUNDED).any():
            finite = np.minimum(finite, 2.0 * float(find_reaches(self.task, self.choice).sum()))
        return np.where(possible, finite, 0.0)
