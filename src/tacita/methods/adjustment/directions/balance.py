"""How far least moves of sensitive cells put equations out of balance, and what that costs at least.

Let ``least_p(up)`` be the least move of sensitive cell ``p`` in its direction. Equation ``q`` is then out of
balance by ``e_q = sum_p m_qp least_p``, and its cells must move further, by ``x >= 0`` each with
``sum_i |m_qi| x_i >= |e_q|``. That costs at least ``c_q |e_q|``, where the unit cost is ``c_q = min_i w_i /
|m_qi|`` over the cells of ``q`` that can move further. Equations of one *class* share no such cell, hence

    loss  >=  sum_p w_p |least_p|  +  sum_{q in class} c_q |e_q|      for every class.

The right-hand side needs neither a flow nor a linear program: it guides searches over millions of directions,
and its minimum, taken equation by equation, is a lower bound. With equal weights and wide capacities the
largest of these sums over the rows and over the columns of a two-dimensional table is the loss itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import Cells, Floats, Mask
from tacita.methods.adjustment.task import AdjustmentTask, DirectionChoice

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_PATTERNS = 1 << 12
"""Most combinations of directions in one equation that are enumerated."""
STUCK = 1e3
"""Unit cost of an equation no cell of which can move further, as a multiple of the largest weight."""


@dataclass(frozen=True, eq=False)
class Balance:
    """The equations that contain a sensitive cell.

    Attributes
    ----------
    equations
        Their rows in the task's matrix.
    forced
        Their coefficients of the sensitive cells.
    offset
        Their imbalance by forced moves of cells that are not sensitive.
    unit_cost, class_of
        The cost of a unit out of balance, and the class of every equation.
    up, down
        Least moves of the sensitive cells in both directions, ``down <= 0 <= up``.
    up_cost, down_cost
        Costs of these moves.
    constant
        Cost of forced moves of cells that are not sensitive.
    """

    equations: Cells
    forced: csr_array
    offset: Floats
    unit_cost: Floats
    class_of: Cells
    up: Floats
    down: Floats
    up_cost: Floats
    down_cost: Floats
    constant: float

    @classmethod
    def of(cls, task: AdjustmentTask, choice: DirectionChoice) -> Balance:
        from scipy.sparse import csr_array

        matrix = csr_array(task.matrix.astype(np.float64))
        forced = csr_array(matrix[:, choice.cells])
        equations = np.flatnonzero(np.diff(forced.indptr))
        matrix = csr_array(matrix[equations])
        start = np.clip(0, task.lower, task.upper).astype(np.float64)
        start[choice.cells] = 0.0
        weight = task.weight / task.one
        movable = can_move_beyond(task, choice)
        able = csr_array(abs(matrix) * movable)
        able.eliminate_zeros()
        up, down = choice.up_least.astype(np.float64), -choice.down_least.astype(np.float64)
        own = weight[choice.cells]
        return cls(
            equations,
            csr_array(forced[equations]),
            np.asarray(matrix @ start),
            _find_unit_costs(able, weight),
            _classify_equations(able),
            up,
            down,
            own * up,
            -own * down,
            float((weight * np.abs(start)).sum()),
        )

    def imbalance(self, up: Mask) -> Floats:
        """Return how far each equation is out of balance by least adjustments in these directions."""
        return np.asarray(self.forced @ np.where(up, self.up, self.down)) + self.offset

    def bound(self, choice: DirectionChoice) -> float:
        """Return a lower bound on the l1 loss of an adjustment, whatever the directions of sensitive cells.

        In equations with many sensitive cells only those with the largest moves are enumerated; the others
        may take any value between their least moves.
        """
        least = np.array([self._least_imbalance(q, choice) for q in range(self.equations.size)])
        by_class = np.bincount(self.class_of, self.unit_cost * least)
        cheaper = np.where(choice.can_rise, self.up_cost, np.inf)
        cheaper = np.minimum(cheaper, np.where(choice.can_fall, self.down_cost, np.inf))
        return self.constant + float(cheaper.sum()) + float(by_class.max(initial=0.0))

    def _least_imbalance(self, q: int, choice: DirectionChoice) -> float:
        patterns = EquationPatterns.of(self, q, choice, MOST_PATTERNS.bit_length() - 1)
        return float(patterns.imbalance.min())


@dataclass(frozen=True, eq=False)
class EquationPatterns:
    """All combinations of directions of some sensitive cells of an equation, and its least imbalance in each.

    Attributes
    ----------
    cells
        Positions among the sensitive cells.
    up
        Patterns by cells.
    imbalance
        The least over the directions of the equation's other sensitive cells.
    """

    cells: Cells
    up: Mask
    imbalance: Floats

    @classmethod
    def of(cls, balance: Balance, q: int, choice: DirectionChoice, most: int) -> EquationPatterns:
        """Return all adjustment directions of up to ``most`` cells of equation ``q``, by largest moves."""
        span = slice(balance.forced.indptr[q], balance.forced.indptr[q + 1])
        cells, entry = balance.forced.indices[span].astype(np.int64), balance.forced.data[span]
        rise, fall = entry * balance.up[cells], entry * balance.down[cells]
        rise = np.where(choice.can_rise[cells], rise, fall)
        fall = np.where(choice.can_fall[cells], fall, rise)
        order = np.argsort(-np.abs(rise - fall), kind="stable")
        order = order[rise[order] != fall[order]]
        free = order[:most]
        other = np.setdiff1d(np.arange(cells.size), free)
        low, high = np.minimum(rise, fall)[other].sum(), np.maximum(rise, fall)[other].sum()
        up = (np.arange(1 << free.size)[:, None] >> np.arange(free.size)) & 1 > 0
        out = np.where(up, rise[free], fall[free]).sum(axis=1) + balance.offset[q]
        return cls(cells[free], up, np.maximum(0.0, np.maximum(out + low, -(out + high))))


def can_move_beyond(task: AdjustmentTask, choice: DirectionChoice) -> Mask:
    """Return which cells an adjustment can move beyond their least move in some direction."""
    movable = task.lower < task.upper
    movable[choice.cells] = (choice.up_least < choice.up_most) | (choice.down_least < choice.down_most)
    return movable


def _find_unit_costs(able: csr_array, weight: Floats) -> Floats:
    """Return the least cost of an adjustment by one unit, ``min_i w_i / |m_qi|``, per equation."""
    per_entry = weight[able.indices] / able.data
    unit_cost = np.full(able.shape[0], STUCK * float(weight.max(initial=0.0)))
    filled = np.flatnonzero(np.diff(able.indptr))
    if filled.size:
        unit_cost[filled] = np.minimum.reduceat(per_entry, able.indptr[filled])
    return unit_cost


def _classify_equations(able: csr_array) -> Cells:
    """Return the class of every equation of an adjustment; those of one share no cell that can move."""
    from scipy.sparse import csr_array

    pattern = csr_array((np.ones(able.nnz, dtype=np.int64), able.indices, able.indptr), able.shape)
    shared = csr_array(pattern @ pattern.T)
    class_of = np.full(able.shape[0], -1)
    for q in range(class_of.size):
        taken = set(class_of[shared.indices[shared.indptr[q] : shared.indptr[q + 1]]].tolist())
        class_of[q] = next(k for k in range(len(taken) + 1) if k not in taken)
    return class_of
