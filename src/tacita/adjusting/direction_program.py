"""All directions at once, as a mixed-integer program.

With ``y_p = 1`` where sensitive cell ``p`` goes up, and ``v+, v- >= 0`` what cells move beyond their least,

    z_p = up_least y_p - down_least (1 - y_p) + v+_p - v-_p,
    v+_p <= (up_most - up_least) y_p,      v-_p <= (down_most - down_least) (1 - y_p),

and ``z_i = v+_i - v-_i`` for the other cells. Cell by cell this is the convex hull, yet the relaxation sets
all ``y_p = 1/2`` and moves nothing: :mod:`tacita.adjusting.pattern_program` tightens it. For that,
``t_q = sum_i |m_qi| (v+_i + v-_i)`` is what the cells of equation ``q`` move beyond their least.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from tacita.adjusting.balance import Balance
from tacita.adjusting.pattern_program import PatternRow
from tacita.adjusting.task import Choice, Task
from tacita.exact import UNBOUNDED, Floats, Mask, Units
from tacita.solvers.program import Program


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the variables are: ``v+``, ``v-``, ``y``, ``t``; and units and losses that count as one."""

    n: int
    choices: int
    equations: int
    scale: float
    worth: float

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
        ``|m_qi|`` of the equations that hold sensitive cells.
    """

    def __init__(self, task: Task, choice: Choice, balance: Balance) -> None:
        self.task, self.choice, self.balance = task, choice, balance
        largest = float(np.maximum(choice.up_least, choice.down_least).max(initial=1))
        scale = float(2.0 ** max(0, int(np.frexp(largest)[1]) - 10))
        weight = task.weight / task.one * scale
        worth = float(weight.max(initial=0.0)) or 1.0
        self.layout = Layout(len(task), choice.cells.size, balance.equations.size, scale, worth)
        self.constant = 0.0
        self.program = self._program(weight / worth)

    # ------------------------------------------------------------ between the program and the task

    def loss(self, value: float) -> float:
        """A value of the program as a loss."""
        return (value + self.constant) * self.layout.worth

    def point(self, z: Floats, up: Mask) -> Floats:
        """Changes as a point of the program."""
        lay, c = self.layout, self.choice
        x = np.zeros(self.program.cost.size)
        beyond = z / lay.scale
        beyond[c.cells] -= np.where(up, c.up_least, -c.down_least) / lay.scale
        x[: lay.n], x[lay.n : 2 * lay.n] = np.maximum(beyond, 0.0), np.maximum(-beyond, 0.0)
        x[lay.y] = up
        x[lay.t] = self.reach @ np.abs(beyond)
        return x

    def directions(self, x: Floats) -> Mask:
        return np.asarray(x[self.layout.y] > 0.5)

    def frozen(self, up: Mask, free: Mask) -> Program:
        """The program in which only some cells have a choice."""
        lower, upper = self.program.lower.copy(), self.program.upper.copy()
        lower[self.layout.y] = np.where(free, lower[self.layout.y], up)
        upper[self.layout.y] = np.where(free, upper[self.layout.y], up)
        return replace(self.program, lower=lower, upper=upper)

    def tightened(self, made: Sequence[PatternRow]) -> DirectionProgram:
        """The same with more rows."""
        from scipy.sparse import csr_array, vstack

        if not made:
            return self
        lay = self.layout
        index = [np.append(lay.y.start + row.cells, lay.t.start + row.equation) for row in made]
        value = [np.append(-row.alpha / lay.scale, 1.0) for row in made]
        ends = np.cumsum([0] + [at.size for at in index])
        rows = csr_array((np.concatenate(value), np.concatenate(index), ends), (len(made), lay.size))
        tighter = copy(self)
        tighter.program = replace(
            self.program,
            rows=csr_array(vstack([self.program.rows, rows])),
            row_lower=np.append(self.program.row_lower, [row.beta / lay.scale for row in made]),
            row_upper=np.append(self.program.row_upper, np.full(len(made), np.inf)),
        )
        return tighter

    # ------------------------------------------------------------ the program

    def _program(self, weight: Floats) -> Program:
        from scipy.sparse import block_array, csr_array, diags_array, eye_array, vstack

        task, c, lay = self.task, self.choice, self.layout
        least_up, least_down = self._ended(c.up_least, c.can_rise), self._ended(c.down_least, c.can_fall)
        beyond_up = self._ended(c.up_most, c.can_rise) - least_up
        beyond_down = self._ended(c.down_most, c.can_fall) - least_down
        matrix = csr_array(task.matrix.astype(np.float64))
        low = high = np.zeros(matrix.shape[0])
        self.reach = csr_array(abs(matrix[self.balance.equations]))
        if task.side is not None:
            matrix = csr_array(vstack([matrix, task.side.rows.astype(np.float64)]))
            low, high = np.append(low, task.side.least), np.append(high, task.side.most)
        forced = csr_array(matrix[:, c.cells])
        settled = np.asarray(forced @ -least_down)
        at = csr_array((np.ones(lay.choices), (np.arange(lay.choices), c.cells)), (lay.choices, lay.n))
        nothing = csr_array((lay.choices, lay.equations))
        body = block_array(
            [
                [matrix, -matrix, forced @ diags_array(least_up + least_down), None],
                [at, None, -diags_array(beyond_up), nothing],
                [None, at, diags_array(beyond_down), nothing],
                [-self.reach, -self.reach, None, eye_array(lay.equations)],
            ],
            format="csr",
        )
        empty, ending = np.zeros(lay.choices), np.full(lay.choices, -np.inf)
        balanced = np.zeros(lay.equations)
        row_lower = np.concatenate([low / lay.scale - settled, ending, ending, balanced])
        row_upper = np.concatenate([high / lay.scale - settled, empty, beyond_down, balanced])
        lower, upper = self._bounds(beyond_up, beyond_down)
        own = weight[c.cells]
        cost = np.concatenate([weight, weight, own * (least_up - least_down), np.zeros(lay.equations)])
        self.constant = float((own * least_down).sum())
        whole = np.zeros(lay.size, dtype=bool)
        whole[lay.y] = True
        return Program(cost, lower, upper, whole, csr_array(body), row_lower, row_upper)

    def _bounds(self, beyond_up: Floats, beyond_down: Floats) -> tuple[Floats, Floats]:
        task, c, lay = self.task, self.choice, self.layout
        low, high = self._scaled(task.lower), self._scaled(task.upper)
        lower, upper = np.zeros(lay.size), np.full(lay.size, np.inf)
        lower[: lay.n], upper[: lay.n] = np.maximum(low, 0.0), np.maximum(high, 0.0)
        lower[lay.n : 2 * lay.n], upper[lay.n : 2 * lay.n] = np.maximum(-high, 0.0), np.maximum(-low, 0.0)
        lower[c.cells] = lower[lay.n + c.cells] = 0.0
        upper[c.cells], upper[lay.n + c.cells] = beyond_up, beyond_down
        lower[lay.y], upper[lay.y] = ~c.can_fall, c.can_rise
        return lower, upper

    def _scaled(self, units: Units) -> Floats:
        infinite = np.where(units > 0, np.inf, -np.inf)
        return np.where(np.abs(units) < UNBOUNDED, units / self.layout.scale, infinite)

    def _ended(self, units: Units, possible: Mask) -> Floats:
        """Limits of moves that a row switches on and off: finite, and 0 where the way is closed.

        A cell without a limit gets one beyond everything that all others could ask it to make up for.
        """
        task, c = self.task, self.choice
        finite = [np.abs(side[np.abs(side) < UNBOUNDED]).max(initial=0) for side in (task.lower, task.upper)]
        least = np.where(c.can_rise, c.up_least, 0) + np.where(c.can_fall, c.down_least, 0)
        wide = float(least.sum()) + float(max(finite)) * len(task)
        return np.where(possible, np.minimum(units.astype(np.float64), wide), 0.0) / self.layout.scale
