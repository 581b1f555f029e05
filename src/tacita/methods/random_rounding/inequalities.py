"""Necessary conditions for a rounding of the sensitive cells to protect them.

For every attacker ``k`` and every move ``z`` that they consider possible, any dual values ``g`` of the
equations give ``c = s e_p + M' g`` and

    s z_p = c z <= sum_i  c+_i up_i + c-_i down_i,
    up_i = min(UB_ik, x_i + b - a_i),    down_i = min(LB_ik, a_i - x_i + b),

where ``x`` is published and ``b`` announced. So a level ``L`` can be met only if the right side is ``L`` or
more. Cells that are not sensitive count with the widest windows that their adjustment can have; sensitive
cells go up or down, and the right side is linear in these choices: a *protection inequality*. That of a
sliding level is the sum of one for each direction.

One dual point is taken per level: the optimal one where every sensitive cell has the narrower window on
either side. Inequalities are necessary, not sufficient.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tacita.core.compiled import LARGE
from tacita.core.exact import Cells, Floats, Mask, Units
from tacita.core.run import Run
from tacita.engine.attack.requirements import (
    DOWN,
    SLIDING,
    UP,
    Requirements,
    find_room,
    list_all_requirements,
    list_outsider_requirements,
)
from tacita.methods.random_rounding.roundings import Roundings
from tacita.problem.problem import Problem
from tacita.solvers.highs import Ended, Session
from tacita.solvers.linear_program import LinearProgram

NEGLIGIBLE = 1e-9
"""Coefficients below this are rounding errors."""
FEW = 8
"""Most insiders with inequalities of their own: these only guide the choice, and the release is checked."""
TOLERANCE = 1e-6
"""Relative rounding error of a level."""


@dataclass(frozen=True, eq=False)
class Inequalities:
    """``constant + rise up >= level``, a row per requirement; ``up`` is 1 where a rounded cell goes up."""

    requirements: Requirements
    constant: Floats
    rise: Floats

    def are_met(self, roundings: Roundings) -> Mask:
        """Return whether inequalities hold: a row per random rounding, a column per inequality."""
        reached = roundings.astype(np.float64) @ self.rise.T + self.constant
        return np.asarray(reached >= self.requirements.level * (1 - TOLERANCE))

    def find_open_directions(self) -> tuple[Mask, Mask]:
        """Return per cell whether a random rounding can take it down and whether up, for the best choice of
        all others.
        """
        most = self.constant + np.maximum(self.rise, 0.0).sum(axis=1)
        spare = most - self.requirements.level * (1 - TOLERANCE)
        down, up = (np.maximum(side, 0.0) <= spare[:, None] for side in (self.rise, -self.rise))
        return down.all(axis=0), up.all(axis=0)


@dataclass(frozen=True, eq=False)
class RoundingWindows:
    """How far above and below their values readers can place cells, in units.

    Attributes
    ----------
    above, below
        Per cell the widest windows of all adjustments; those of ``rounded`` cells do not count.
    rounded
        The rounded cells, and per cell its window if it goes down (row 0) or up (row 1).
    """

    above: Units
    below: Units
    rounded: Cells
    rounded_above: Units
    rounded_below: Units


def derive_inequalities(problem: Problem, windows: RoundingWindows, run: Run) -> Inequalities:
    """Return a protection inequality on random roundings for every level, as far as the time allows: of
    every attacker, or of the outsider alone where there are many.
    """
    requirements = (
        list_all_requirements(problem)
        if len(problem.insiders) <= FEW
        else list_outsider_requirements(problem)
    )
    constant, rise, reached = [], [], []
    for attacker in np.unique(requirements.attacker):
        theirs = np.flatnonzero(requirements.attacker == attacker)
        for d, terms in _terms_of_attacker(problem, windows, requirements[theirs], int(attacker), run):
            # The contribution of a cell that goes down, and the difference if it goes up.
            constant.append(terms[0] + terms[1].sum())
            rise.append(terms[2] - terms[1])
            reached.append(int(theirs[d]))
    shape = (len(reached), windows.rounded.size)
    return Inequalities(
        requirements[np.array(reached, dtype=np.int64)],
        np.array(constant, dtype=np.float64),
        np.array(rise, dtype=np.float64).reshape(shape),
    )


Terms = tuple[float, Floats, Floats]
"""The contribution of cells that are not rounded, and of each rounded cell if it goes down, and if up."""


def _terms_of_attacker(
    problem: Problem, windows: RoundingWindows, requirements: Requirements, attacker: int, run: Run
) -> Iterator[tuple[int, Terms]]:
    up, down = find_room(problem, attacker)
    above, below = np.minimum(up, windows.above), np.minimum(down, windows.below)
    cells = windows.rounded
    rounded = (
        np.minimum(up[cells], windows.rounded_above),
        np.minimum(down[cells], windows.rounded_below),
    )
    above[cells], below[cells] = rounded[0].min(axis=0), rounded[1].min(axis=0)
    duals = _DualCoefficients(problem, above, below)
    above[cells], below[cells] = 0.0, 0.0
    for d in range(len(requirements)):
        if run.over:
            return
        total = (0.0, np.zeros(cells.size), np.zeros(cells.size))
        for sign in (UP, DOWN) if requirements.sign[d] == SLIDING else (int(requirements.sign[d]),):
            c = duals.find_coefficients(int(requirements.cell[d]), sign, run)
            rising, falling = np.maximum(c, 0.0), np.maximum(-c, 0.0)
            others = float((rising * above + falling * below).sum())
            if_down, if_up = (
                rising[cells] * rounded[0][side] + falling[cells] * rounded[1][side] for side in (0, 1)
            )
            total = (total[0] + others, total[1] + if_down, total[2] + if_up)
        yield d, total


class _DualCoefficients:
    """Coefficients by optimal dual values of one attacker's programs; large tables do without, as there the
    window of the cell itself decides.
    """

    def __init__(self, problem: Problem, above: Floats, below: Floats) -> None:
        self._matrix = problem.table.equations.matrix.tocsc().astype(np.float64)
        self._session = None
        if len(problem.table) < LARGE:
            nothing = np.zeros(self._matrix.shape[0])
            self._session = Session(LinearProgram.of_equations(self._matrix, -below, above, nothing))

    def find_coefficients(self, cell: int, sign: int, run: Run) -> Floats:
        """Return the coefficients ``c = s e_p + M' g`` of an inequality on random roundings, per cell."""
        c = np.zeros(self._matrix.shape[1])
        if self._session is not None and self._session.find_extreme(cell, sign, run).status is Ended.OPTIMAL:
            c = np.asarray(self._matrix.T @ self._session.read_duals())
        c[cell] += sign
        return np.where(np.abs(c) > NEGLIGIBLE, c, 0.0)
