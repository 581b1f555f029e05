"""The multiples that cells may be published as, and their costs.

    v_i = low_i + r_i (steps taken in i),    M v = b,    loss = constant + sum of the costs of all steps taken

A cell between two multiples has one step, from the one below to the one above; a multiple of its base has
none, or one on either side if multiples may move. Where no such table adds up, cells may have further steps
on both sides. The loss of a cell is convex in ``v_i``: its later steps are never cheaper, so that the
cheapest choice takes them in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import Cells, Floats, Mask, Units
from tacita.methods.rounding.bases import FREE
from tacita.methods.rounding.goal import RoundingGoal
from tacita.problem.problem import Problem

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Lattice:
    """Cells, their lowest multiples and their steps; the equations ``matrix v = rhs`` among them.

    Cells from ``own`` on are subtotals that the table does not list.

    Attributes
    ----------
    cell, cost
        Of each step: the cell that it raises by its base, and its cost.
    """

    matrix: csr_array
    rhs: Units
    own: int
    base: Units
    low: Units
    cell: Cells
    cost: Floats
    constant: float

    def values(self, taken: Units) -> Units:
        """Return the rounded numbers of the table when these steps are taken."""
        steps = np.bincount(self.cell, taken, self.low.size).astype(np.int64)
        return np.asarray((self.low + self.base * steps)[: self.own])

    @property
    def rest(self) -> Units:
        """What the steps of a rounding must sum to in every equation, ``b - M low``."""
        return np.asarray(self.rhs - self.matrix @ self.low)


def build_lattice(
    problem: Problem,
    base: Units,
    goal: RoundingGoal,
    cells: Mask,
    movable_multiples: bool = False,
    beyond: int = 0,
    fewest: bool = False,
    given: Units | None = None,
) -> Lattice:
    """Return the multiples that a rounding may publish: next to each value, and up to ``beyond`` more.

    Parameters
    ----------
    cells
        Those that are rounded; all others, and those that must be published, do not change.
    movable_multiples
        Whether a multiple of its base may go up or down by one base, within the outsider's bounds. It may do
        both, so that the windows of published numbers are symmetric.
    fewest
        Whether every step beyond the neighbours counts more than all distance.
    given
        Values of some cells, ``FREE`` for the others.
    """
    table, known = problem.table, problem.outsider
    free = cells & ~problem.must_publish
    floor = np.where(free, table.units // base * base, table.units)
    if given is not None:
        floor, free = np.where(given == FREE, floor, given), free & (given == FREE)
    movable = free & (table.units == floor) & movable_multiples
    between = free & ((table.units > floor) | (movable & (floor + base <= known.upper)))
    ahead, surcharge = _choose_priority_costs(goal, base, np.flatnonzero(free), 1 + beyond, fewest)
    low, constant = floor.copy(), 0.0
    step_cells, step_costs = [], []
    for k in range(-beyond - 1 if movable.any() else -beyond, beyond + 1):
        before, after = floor + k * base, floor + (k + 1) * base
        neighbour = movable if k == -1 else between if k == 0 else np.zeros_like(free)
        if k < 0:
            allowed = (free if k >= -beyond else movable) & (before >= known.lower)
            low = np.where(allowed, np.minimum(low, before), low)
            constant += surcharge * float((allowed & ~neighbour).sum())
        else:
            # For a multiple of its base the step from 0 is already one beyond.
            farther = free & (after <= known.upper) & (k < beyond)
            allowed = between | farther if k == 0 else farther | (between & (after <= known.upper))
        at = np.flatnonzero(allowed)
        rise = goal.of(at, (after - table.units)[at], ahead) - goal.of(at, (before - table.units)[at], ahead)
        extra = surcharge * np.where(neighbour[at], 0.0, 1.0 if k >= 0 else -1.0)
        step_cells.append(at)
        step_costs.append(rise + extra)
    constant += float(goal.of(np.arange(len(table)), low - table.units, ahead).sum())
    return Lattice(
        table.equations.matrix,
        table.equations.rhs,
        len(table),
        base,
        low,
        np.concatenate(step_cells),
        np.concatenate(step_costs),
        constant,
    )


def _choose_priority_costs(
    goal: RoundingGoal, base: Units, cells: Cells, reach: int, fewest: bool
) -> tuple[float, float]:
    """Return the costs, in a rounding, of a unit of the grand total and of a step beyond the neighbours
    that exceed all distance.
    """
    if goal.top is None and not fewest:
        return 0.0, 0.0
    most = float(np.abs(goal.of(cells, reach * base[cells])).sum()) + 1.0
    ahead = most * goal.one if goal.top is not None else 0.0
    return ahead, 2.0 * (
        most + ahead * reach * float(base[cells].max(initial=0)) / goal.one
    ) if fewest else 0.0
