"""Valid inequalities ``t_q >= alpha y + beta`` between moves beyond the least and directions.

With ``balance``'s notation, the cells of equation ``q`` move ``t_q >= |e_q(y)|`` beyond their least moves for
all integer ``y``. A linear function below ``|e_q|`` follows from its values at all *patterns*, combinations
of directions of the equation's sensitive cells. The *pattern program* relaxes the table to these conditions:

    min  sum_p cost_p(y_p) + T     s.t.  T >= sum_{q in class} c_q t_q      for every class,
    t_q >= sum_k s_qk |e_q(k)|,    sum_k s_qk [p up in k] = y_p,    sum_k s_qk = 1,    s >= 0,

with a share ``s_qk`` of each pattern ``k`` per equation. Its optimum is a lower bound on the loss in the l1
norm. Its dual values give one inequality per equation without shares, valid for all dual values.
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
"""Most patterns of all equations together."""
LARGEST = 12
"""Most cells of one equation in a pattern: with more, an equation can be balanced anyway."""
SPREAD = 0.1
"""Cost of every ``t_q`` when inequalities are derived, so that each equation gets one."""
WORTH = 1e-7
"""Least dual value of an equation that gets an inequality."""


@dataclass(frozen=True, eq=False)
class PatternRow:
    """``t_q >= alpha y + beta``; ``cells`` are positions among the sensitive ones, ``beta`` is in units."""

    equation: int
    cells: Cells
    alpha: Floats
    beta: float


def derive_pattern_rows(
    balance: Balance, choice: DirectionChoice, run: Run
) -> tuple[list[PatternRow], float]:
    """Return valid inequalities on adjustment directions, and the bound of the pattern program.

    When the time is over there are none, and the bound is minus infinity.
    """
    patterns = _list_patterns(balance, choice)
    if not patterns:
        return [], -np.inf
    program = _PatternProgram(balance, choice, patterns)
    bound = program.solve(run, 0.0)
    if bound is None or program.solve(run, SPREAD) is None:
        return [], -np.inf
    return program.derive_rows(), bound


def _list_patterns(balance: Balance, choice: DirectionChoice) -> list[EquationPatterns]:
    """Return each equation's patterns of adjustment directions, as many as ``MOST_SHARES`` allows."""
    most = LARGEST
    sizes = np.diff(balance.forced.indptr)
    while most > 1 and float((2.0 ** np.minimum(sizes, most)).sum()) > MOST_SHARES:
        most -= 1
    return [EquationPatterns.of(balance, q, choice, most) for q in range(sizes.size)]


class _PatternProgram:
    """The pattern program. Variables: ``y``, ``c t`` and ``T`` as losses, shares. Rows: classes, then per
    equation ``t_q``, the sum of its shares, and its cells.
    """

    def __init__(self, balance: Balance, choice: DirectionChoice, patterns: list[EquationPatterns]) -> None:
        self.balance, self.patterns = balance, patterns
        self.unit_cost = balance.unit_cost
        self.worth = max(
            float(unit_cost * k.imbalance.max())
            for unit_cost, k in zip(self.unit_cost, patterns, strict=True)
        )
        self.worth = self.worth or 1.0
        self.count, self.classes = choice.cells.size, int(balance.class_of.max()) + 1
        self.heads = np.cumsum([self.classes] + [2 + k.cells.size for k in patterns])
        fall, rise = (
            np.where(possible, cost, 0.0) / self.worth
            for possible, cost in ((choice.can_fall, balance.down_cost), (choice.can_rise, balance.up_cost))
        )
        self.own, self.constant = rise - fall, float(fall.sum()) + balance.constant / self.worth
        self.session = Session(self._program(choice), primal=False)

    def solve(self, run: Run, spread: float) -> float | None:
        """Return the optimum of the pattern program as an adjustment's loss; None if it was not found."""
        first, last = self.count, self.count + len(self.patterns)
        self.session.set_costs(np.arange(first, last), np.full(last - first, spread))
        if self.session.solve(run) is not Ended.OPTIMAL:
            return None
        return (self.session.value + self.constant) * self.worth

    def derive_rows(self) -> list[PatternRow]:
        """Return the inequalities on adjustment directions that dual values of the last solution give."""
        dual, made = self.session.read_duals(), []
        for q, (k, head) in enumerate(zip(self.patterns, self.heads, strict=False)):
            if dual[head] <= WORTH or not k.cells.size or not self.unit_cost[q]:
                continue
            alpha = dual[head + 2 : head + 2 + k.cells.size] / dual[head] * self.worth / self.unit_cost[q]
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
                    np.append(self.balance.class_of, np.arange(self.classes)),
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
                [-unit_cost / self.worth * k.imbalance, np.ones(k.imbalance.size), k.up.T.astype(np.float64)]
            )
            for k, unit_cost in zip(patterns, self.unit_cost, strict=True)
        ]
        shares: csr_array = csr_array(block_diag(blocks, format="csr"))
        return csr_array(block_array([[of_class, None], [link, shares]], format="csr"))
