"""How far sensitive cells that move by their least put equations out of balance, and what that must cost.

Let ``least_p(up)`` be the least move of sensitive cell ``p`` in its direction. Equation ``q`` is then out of
balance by ``e_q = sum_p m_qp least_p``, and the cells of ``q`` must move on by ``x >= 0`` each with
``sum_i |m_qi| x_i >= |e_q|``. That costs at least ``price_q |e_q|``, ``price_q = min_i w_i / |m_qi|`` over
the cells of ``q`` that can. Equations of one *class* share no such cell, so

    loss  >=  sum_p w_p |least_p|  +  sum_{q in class} price_q |e_q|      for every class.

The right-hand side is a loss that takes no flow and no linear program: it guides searches over millions of
directions, and its minimum, taken equation by equation, is a bound that needs no solver. With equal weights
and wide capacities the largest of these sums over the rows and over the columns of a two-dimensional table
*is* the loss.
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
"""Directions of the cells of one equation that are looked at together."""
STUCK = 1e3
"""Price of an equation in which nothing can move on, in parts of the dearest weight; any price is right."""


@dataclass(frozen=True, eq=False)
class Balance:
    """The equations that hold a sensitive cell.

    Attributes
    ----------
    equations
        Which rows of the task's matrix these are.
    forced
        Their coefficients of the sensitive cells.
    offset
        How far they are out of balance by cells that are not sensitive and must move.
    price, kind
        What a unit out of balance costs, and the class of an equation.
    up, down
        Least moves of the sensitive cells either way, ``down <= 0 <= up``.
    up_cost, down_cost
        What these cost.
    constant
        What cells that must move and are not sensitive cost.
    """

    equations: Cells
    forced: csr_array
    offset: Floats
    price: Floats
    kind: Cells
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
        movable = moves_on(task, choice)
        able = csr_array(abs(matrix) * movable)
        able.eliminate_zeros()
        up, down = choice.up_least.astype(np.float64), -choice.down_least.astype(np.float64)
        own = weight[choice.cells]
        return cls(
            equations,
            csr_array(forced[equations]),
            np.asarray(matrix @ start),
            _cheapest(able, weight),
            _classes(able),
            up,
            down,
            own * up,
            -own * down,
            float((weight * np.abs(start)).sum()),
        )

    def imbalance(self, up: Mask) -> Floats:
        """``e_q`` per equation."""
        return np.asarray(self.forced @ np.where(up, self.up, self.down)) + self.offset

    def bound(self, choice: DirectionChoice) -> float:
        """No directions lose less in the l1 norm.

        Of an equation with many sensitive cells only the largest are looked at one by one; the others may
        be anywhere between their least moves.
        """
        least = np.array([self._least_imbalance(q, choice) for q in range(self.equations.size)])
        by_class = np.bincount(self.kind, self.price * least)
        cheaper = np.where(choice.can_rise, self.up_cost, np.inf)
        cheaper = np.minimum(cheaper, np.where(choice.can_fall, self.down_cost, np.inf))
        return self.constant + float(cheaper.sum()) + float(by_class.max(initial=0.0))

    def _least_imbalance(self, q: int, choice: DirectionChoice) -> float:
        patterns = EquationPatterns.of(self, q, choice, MOST_PATTERNS.bit_length() - 1)
        return float(patterns.imbalance.min())


@dataclass(frozen=True, eq=False)
class EquationPatterns:
    """All directions of some sensitive cells of an equation, and how far it is out of balance at least.

    Attributes
    ----------
    cells
        Positions among the sensitive cells.
    up
        Patterns by cells.
    imbalance
        Whatever the equation's other sensitive cells do.
    """

    cells: Cells
    up: Mask
    imbalance: Floats

    @classmethod
    def of(cls, balance: Balance, q: int, choice: DirectionChoice, most: int) -> EquationPatterns:
        """The ``2**most`` patterns, or fewer, of the cells of the ``q``-th equation that move most."""
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


def moves_on(task: AdjustmentTask, choice: DirectionChoice) -> Mask:
    """Cells that can move beyond their least move in some direction."""
    movable = task.lower < task.upper
    movable[choice.cells] = (choice.up_least < choice.up_most) | (choice.down_least < choice.down_most)
    return movable


def _cheapest(able: csr_array, weight: Floats) -> Floats:
    """``min_i w_i / |m_qi|`` per row."""
    per_entry = weight[able.indices] / able.data
    price = np.full(able.shape[0], STUCK * float(weight.max(initial=0.0)))
    filled = np.flatnonzero(np.diff(able.indptr))
    if filled.size:
        price[filled] = np.minimum.reduceat(per_entry, able.indptr[filled])
    return price


def _classes(able: csr_array) -> Cells:
    """Each row takes the first class in which no row shares a column with it."""
    from scipy.sparse import csr_array

    pattern = csr_array((np.ones(able.nnz, dtype=np.int64), able.indices, able.indptr), able.shape)
    shared = csr_array(pattern @ pattern.T)
    kind = np.full(able.shape[0], -1)
    for q in range(kind.size):
        taken = set(kind[shared.indices[shared.indptr[q] : shared.indptr[q + 1]]].tolist())
        kind[q] = next(k for k in range(len(taken) + 1) if k not in taken)
    return kind
