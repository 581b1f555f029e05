"""A protected suppression pattern, built target by target.

For target ``p`` with upper level ``u`` the cheapest way to let an attacker think ``a_p + u`` possible is a
flow of changes

    min  sum_i c_i (f+_i + f-_i)    s.t.  M (f+ - f-) = 0,   f+_p - f-_p = u,   0 <= f+ <= UB_k,   0 <= f- <=
    LB_k,

where ``UB_k = upper_k - a`` and ``LB_k = a - lower_k``. Cells that carry flow must be hidden; those that are
hidden already cost nothing. Targets are taken from the most demanding to the least. A second round may only
use hidden cells and pays for each again, so that cells which turned out unnecessary are published after all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, hstack

from tacita.errors import InfeasibleError, StoppedError
from tacita.exact import UNBOUNDED, Floats, Mask, Units
from tacita.problem import Problem, Requirement
from tacita.run import Run
from tacita.solvers.highs import Ended, Session

NEARLY_FREE = 1e-6
"""Cost of a hidden cell, in parts of the cheapest published one: enough to keep flows short."""


@dataclass(frozen=True)
class Demand:
    """Cell ``cell`` must be able to move by ``amount`` (signed, in units) in the eyes of one attacker."""

    need: Requirement
    cell: int
    amount: int


def build_pattern(problem: Problem, run: Run) -> Mask:
    """Cells to hide so that every target can move as far as its levels ask; sensitive and must-hide cells
    included.
    """
    demands = sorted(_demands(problem), key=lambda d: (-abs(d.amount), d.cell))
    hidden = problem.levels.sensitive | problem.must_hide
    router = _Router(problem, run)
    for done, demand in enumerate(demands, start=1):
        try:
            hidden = hidden | router.route(demand, hidden, ~problem.must_publish)
        except StoppedError:
            raise StoppedError(
                f"stopped after {run.seconds:.0f} s at target {done:,} of {len(demands):,}, before a first "
                "protected pattern was complete: allow more time"
            ) from None
        run.tell("constructing", done, len(demands), incumbent=float(problem.cost[hidden].sum()))
    return hidden


def drop_unneeded(problem: Problem, hidden: Mask, run: Run) -> Mask:
    """The same protection with no more cells, often fewer: every target is routed anew through hidden cells
    only.
    """
    demands = sorted(_demands(problem), key=lambda d: (abs(d.amount), d.cell))
    router = _Router(problem, run)
    while True:
        used = problem.levels.sensitive | problem.must_hide
        try:
            for demand in demands:
                used = used | router.route(demand, used, hidden)
        except StoppedError:
            return hidden
        if problem.cost[used].sum() >= problem.cost[hidden].sum():
            return hidden
        hidden = used
        run.tell("cleaning up", incumbent=float(problem.cost[hidden].sum()))


def _demands(problem: Problem) -> Iterator[Demand]:
    for need in problem.requirements():
        low, high = problem.bounds_at(need.insider, need.cells)
        value = problem.table.units[need.cells]
        for p, cell in enumerate(need.cells.tolist()):
            room = int(high[p] - value[p]) if high[p] < UNBOUNDED else UNBOUNDED
            upper, lower, sliding = int(need.upper[p]), int(need.lower[p]), int(need.sliding[p])
            if sliding > upper + lower:
                below = int(value[p] - low[p]) if low[p] > -UNBOUNDED else UNBOUNDED
                upper = max(upper, min(room, sliding - min(lower, below)))
                lower = max(lower, sliding - upper)
            if upper:
                yield Demand(need, cell, upper)
            if lower:
                yield Demand(need, cell, -lower)


class _Router:
    """The flow program, kept hot: columns are the upward and the downward change of each cell."""

    def __init__(self, problem: Problem, run: Run) -> None:
        self.problem, self.run, n = problem, run, len(problem.table)
        self.n = n
        matrix = problem.table.equations.matrix.astype(np.float64)
        both = csc_array(hstack([csc_array(matrix), csc_array(-matrix)]))
        self.scale = float(max(1, np.abs(problem.levels.upper).max(initial=1)))
        rhs = np.zeros(matrix.shape[0])
        self.session = Session(both, np.zeros(2 * n), np.zeros(2 * n), rhs)
        self.weight = np.maximum(problem.cost, NEARLY_FREE * max(1.0, float(problem.cost.max(initial=1.0))))

    def route(self, demand: Demand, free: Mask, allowed: Mask) -> Mask:
        """Cells that must be hidden for one demand, given that ``free`` ones are hidden anyway."""
        up, down = self._capacities(demand, allowed | free)
        amount = abs(demand.amount) / self.scale
        upper = np.concatenate([up, down])
        lower = np.zeros(2 * self.n)
        towards, away = (demand.cell, demand.cell + self.n)[:: 1 if demand.amount > 0 else -1]
        lower[towards] = upper[towards] = amount
        upper[away] = 0.0
        self.session.set_bounds(np.arange(2 * self.n), lower, upper)
        cost = np.where(free, NEARLY_FREE * self.weight.min(), self.weight)
        answer = self.session.minimise(np.tile(cost, 2), self.run)
        if answer.status is Ended.STOPPED:
            raise StoppedError("stopped while a flow was routed: allow more time")
        if answer.status is not Ended.OPTIMAL:
            self._refuse(demand)
        flow = answer.point[: self.n] + answer.point[self.n :]
        return np.asarray(flow > 1e-9 * max(1.0, amount))

    def _capacities(self, demand: Demand, allowed: Mask) -> tuple[Floats, Floats]:
        units = self.problem.table.units
        low, high = self.problem.bounds_at(demand.need.insider, np.arange(self.n))
        return self._room(high, high - units, allowed), self._room(low, units - low, allowed)

    def _room(self, bound: Units, distance: Units, allowed: Mask) -> Floats:
        room = np.where(np.abs(bound) >= UNBOUNDED, np.inf, distance / self.scale)
        return np.where(allowed, room, 0.0)

    def _refuse(self, demand: Demand) -> None:
        table, way = self.problem.table, "up" if demand.amount > 0 else "down"
        frozen = np.flatnonzero(self.problem.must_publish)
        remedy = (
            f"{frozen.size:,} cells must be published; allow some of them to be hidden"
            if frozen.size
            else "lower the level, or widen what the attacker is assumed to know"
        )
        raise InfeasibleError(
            f"({table.name(demand.cell)}) cannot be made uncertain enough ({way}) against "
            f"{demand.need.attacker} by hiding cells: {remedy}."
        )
