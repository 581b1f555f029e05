"""Rows ``t_q >= alpha y + beta`` that tie what cells move beyond their least to the directions.

In the words of ``balance``, the cells of equation ``q`` move ``t_q >= |e_q(y)|`` beyond their least for all
whole ``y``, and the best linear function below ``|e_q|`` follows from its values on all
patterns of the equation's sensitive cells. The *pattern program* knows of the table only that,

    min  sum_p cost_p(y_p) + T     s.t.  T >= sum_{q in class} price_q t_q      for every class,
    t_q >= sum_k s_qk |e_q(k)|,    sum_k s_qk [p up in k] = y_p,    sum_k s_qk = 1,    s >= 0,

with a share ``s`` of each pattern per equation. Its optimum is a bound on the loss in the l1 norm. The prices
of its rows make one row per equation in which no pattern is left. Whatever prices are, these rows hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import Cells, Floats
from tacita.core.run import Run
from tacita.methods.adjustment.directions.balance import Balance, EquationPatterns
from tacita.methods.adjustment.task import DirectionChoice
from tacita.solvers.highs import Ended, Session
from tacita.solvers.linear_program import LinearProgram

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_SHARES = 12_000
"""Patterns of all equations together."""
LARGEST = 12
"""Cells of one equation whose patterns are looked at: with more, an equation can be balanced anyway."""
SPREAD = 0.1
"""Part of its price that every equation counts for when rows are made, so that each gets one."""
WORTH = 1e-7
"""Price from which on a row is kept."""


@dataclass(frozen=True, eq=False)
class PatternRow:
    """``t_q >= alpha y + beta``; ``cells`` are positions among the sensitive ones, ``beta`` is in units."""

    equation: int
    cells: Cells
    alpha: Floats
    beta: float


def pattern_rows(balance: Balance, choice: DirectionChoice, run: Run) -> tuple[list[PatternRow], float]:
    """Rows for the equations of ``balance``, and the bound of the pattern program.

    There are none, and the bound is minus infinity, where time is over.
    """
    patterns = _patterns(balance, choice)
    if not patterns:
        return [], -np.inf
    program = _PatternProgram(balance, choice, patterns)
    bound = program.solved(run, 0.0)
    if bound is None or program.solved(run, SPREAD) is None:
        return [], -np.inf
    return program.rows(), bound


def _patterns(balance: Balance, choice: DirectionChoice) -> list[EquationPatterns]:
    """Of every equation, of as many of its cells as all patterns together allow."""
    most = LARGEST
    sizes = np.diff(balance.forced.indptr)
    while most > 1 and float((2.0 ** np.minimum(sizes, most)).sum()) > MOST_SHARES:
        most -= 1
    return [EquationPatterns.of(balance, q, choice, most) for q in range(sizes.size)]


class _PatternProgram:
    """Variables: ``y``, ``price t`` and ``T`` as losses, shares. Rows: classes, then per equation ``t_q``,
    the sum of its shares and its cells.
    """

    def __init__(self, balance: Balance, choice: DirectionChoice, patterns: list[EquationPatterns]) -> None:
        self.balance, self.patterns = balance, patterns
        self.price = balance.price
        self.worth = max(
            float(price * k.imbalance.max()) for price, k in zip(self.price, patterns, strict=True)
        )
        self.worth = self.worth or 1.0
        self.count, self.classes = choice.cells.size, int(balance.kind.max()) + 1
        self.heads = np.cumsum([self.classes] + [2 + k.cells.size for k in patterns])
        fall, rise = (
            np.where(possible, cost, 0.0) / self.worth
            for possible, cost in ((choice.can_fall, balance.down_cost), (choice.can_rise, balance.up_cost))
        )
        self.own, self.constant = rise - fall, float(fall.sum()) + balance.constant / self.worth
        self.session = Session(self._program(choice), primal=False)

    def solved(self, run: Run, spread: float) -> float | None:
        """The optimum as a loss; None if it is not known."""
        first, last = self.count, self.count + len(self.patterns)
        self.session.set_costs(np.arange(first, last), np.full(last - first, spread))
        if self.session.solve(run) is not Ended.OPTIMAL:
            return None
        return (self.session.value + self.constant) * self.worth

    def rows(self) -> list[PatternRow]:
        dual, made = self.session.duals(), []
        for q, (k, head) in enumerate(zip(self.patterns, self.heads, strict=False)):
            if dual[head] <= WORTH or not k.cells.size or not self.price[q]:
                continue
            alpha = dual[head + 2 : head + 2 + k.cells.size] / dual[head] * self.worth / self.price[q]
            made.append(PatternRow(q, k.cells, alpha, float((k.imbalance - k.up @ alpha).min())))
        return made

    def _program(self, choice: DirectionChoice) -> LinearProgram:
        matrix = self._matrix()
        n_rows, size = matrix.shape
        moved = self.count + len(self.patterns)
        low = np.zeros(n_rows)
        low[self.heads[:-1] + 1] = 1.0
        high = low.copy()
        high[: self.classes] = high[self.heads[:-1]] = np.inf
        cost, lower, upper = np.zeros(size), np.zeros(size), np.full(size, np.inf)
        cost[: self.count], cost[moved] = self.own, 1.0
        lower[: self.count], upper[: self.count] = ~choice.can_fall, choice.can_rise
        return LinearProgram(cost, lower, upper, matrix, low, high)

    def _matrix(self) -> csr_array:
        from scipy.sparse import block_array, block_diag, csr_array

        patterns, heads = self.patterns, self.heads - self.classes
        moved = self.count + len(patterns)
        equations = np.arange(len(patterns))
        of_class = csr_array(
            (
                np.append(-np.ones(equations.size), np.ones(self.classes)),
                (
                    np.append(self.balance.kind, np.arange(self.classes)),
                    np.append(self.count + equations, np.full(self.classes, moved)),
                ),
            ),
            (self.classes, moved + 1),
        )
        cells = [head + 2 + np.arange(k.cells.size) for head, k in zip(heads, patterns, strict=False)]
        rows = np.concatenate([heads[:-1], *cells])
        columns = np.concatenate([self.count + equations, *(k.cells for k in patterns)])
        entries = np.append(np.ones(len(patterns)), np.full(rows.size - len(patterns), -1.0))
        link = csr_array((entries, (rows, columns)), (int(heads[-1]), moved + 1))
        blocks = [
            np.vstack(
                [-price / self.worth * k.imbalance, np.ones(k.imbalance.size), k.up.T.astype(np.float64)]
            )
            for k, price in zip(patterns, self.price, strict=True)
        ]
        shares: csr_array = csr_array(block_diag(blocks, format="csr"))
        return csr_array(block_array([[of_class, None], [link, shares]], format="csr"))
