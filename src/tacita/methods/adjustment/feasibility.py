"""The smallest sufficient capacity, and the smallest shortfall of protection within given capacities.

With ``z = z+ - z-`` and a binary ``I_p`` (up or down) for every sensitive cell,

    M (z+ - z-) = 0,    z+_p <= up_most I_p,     z-_p <= down_most (1 - I_p),
                        z+_p >= up_least (I_p - s_p),    z-_p >= down_least (1 - I_p - s_p),

and for all other cells ``z+_i, z-_i <= t share_i``. The smallest *uniform capacity* is ``min t`` with ``s =
0``; the smallest *shortfall* is ``min sum s_p`` with the given capacities. Side constraints hold in both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tacita.core.errors import StoppedError
from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.methods.adjustment.task import AdjustmentTask, DirectionChoice
from tacita.solvers.highs import Ended, MipResult, solve_mip
from tacita.solvers.linear_program import IntegerProgram

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PATIENCE = 20.0
"""Seconds for the search; then the best that was found is returned."""
NOISE, EXACT = 1e-7, 1e-12


@dataclass(frozen=True, eq=False)
class SufficientCapacity:
    """A multiple ``t`` of the shares, whether it is proven to be the smallest, and the cells at the limit."""

    amount: float
    smallest: bool
    binding: Cells


@dataclass(frozen=True, eq=False)
class Shortfall:
    """Directions, and the missing share of its least change of each sensitive cell."""

    up: Mask
    missing: Floats


def find_smallest_capacity(task: AdjustmentTask, share: Floats, run: Run) -> SufficientCapacity | None:
    """Return the smallest ``t`` with an adjustment that has ``|z_i| <= t share_i`` in all cells that are
    not sensitive; None if there is none for any. The task has no capacities of its own.
    """
    n = len(task)
    limited = np.setdiff1d(np.arange(n), _get_choice(task).cells)
    found, scale = _solve(task, share, limited, run, "capacity")
    if found is None:
        return None
    amount = float(found.point[-1])
    change = np.abs(found.point[:n] - found.point[n : 2 * n]) * scale
    full = limited[change[limited] >= amount * share[limited] * (1 - 1e-6) - NOISE * scale]
    return SufficientCapacity(amount, found.status is Ended.OPTIMAL, full[change[full] > 0])


def find_smallest_shortfall(task: AdjustmentTask, run: Run) -> Shortfall | None:
    """Return adjustment directions with the least shortfall of protection; None if it is infeasible."""
    n, count = len(task), _get_choice(task).cells.size
    found, _ = _solve(task, None, np.zeros(0, dtype=np.int64), run, "shortfall")
    if found is None:
        return None
    return Shortfall(found.point[2 * n : 2 * n + count] > 0.5, np.clip(found.point[-count:], 0.0, 1.0))


def apply_shortfall(task: AdjustmentTask, shortfall: Shortfall) -> AdjustmentTask:
    """Return the directed adjustment task, least changes of sensitive cells reduced by the shortfall."""
    choice = _get_choice(task)
    up, down = (
        np.floor(least / task.step * (1.0 - shortfall.missing) * (1.0 + EXACT) + NOISE).astype(np.int64)
        * task.step
        for least in (choice.up_least, choice.down_least)
    )
    return replace(task, choice=replace(choice, up_least=up, down_least=down)).directed(shortfall.up)


def _get_choice(task: AdjustmentTask) -> DirectionChoice:
    """Return the adjustment task's choice of directions, or one of no cells."""
    if task.choice is not None:
        return task.choice
    nothing: Cells = np.zeros(0, dtype=np.int64)
    return DirectionChoice(nothing, nothing, nothing, nothing, nothing)


def _solve(
    task: AdjustmentTask, share: Floats | None, limited: Cells, run: Run, what: str
) -> tuple[MipResult | None, float]:
    """Return the best point of an adjustment's capacity or shortfall program (or None), and its scale.

    Changes are divided by the largest least change, since they may reach 1e11. Where other cells can change
    by a few units only, these are then lost in a solver's tolerances: infeasibility must be confirmed at a
    smaller scale.
    """
    choice = _get_choice(task)
    largest = float(max(task.step, int(np.maximum(choice.up_least, choice.down_least).max(initial=1))))
    scale = largest
    for scale in (largest, float(np.sqrt(largest * task.step))):
        program = _Builder(task, choice, scale).build(None if share is None else share / scale, limited)
        found = solve_mip(program, replace(run, time_limit=run.seconds + min(PATIENCE, run.remaining)))
        if found.status is Ended.INFEASIBLE:
            continue
        if not found.point.size:
            raise StoppedError(f"stopped while the smallest {what} was looked for", remedy="allow more time")
        return found, scale
    return None, scale


class _Builder:
    """Builds the program of a task. Variables: ``z+``, ``z-``, ``I``, and last ``t`` or the ``s_p``."""

    def __init__(self, task: AdjustmentTask, choice: DirectionChoice, scale: float) -> None:
        self.task, self.choice, self.scale = task, choice, scale

    def build(self, share: Floats | None, limited: Cells) -> IntegerProgram:
        """Return the integer program of an adjustment's least capacity, or shortfall if no ``share``."""
        from scipy.sparse import csr_array, vstack

        n, count = len(self.task), self.choice.cells.size
        extra = count if share is None else 1
        self.size = 2 * n + count + extra
        up_most, down_most, up_least, down_least = (
            side.astype(np.float64) / self.scale
            for side in (
                np.where(self.choice.can_rise, self.choice.up_most, 0),
                np.where(self.choice.can_fall, self.choice.down_most, 0),
                self.choice.up_least,
                self.choice.down_least,
            )
        )
        rises, falls = self.choice.cells, n + self.choice.cells
        ones, chosen = np.ones(count), 2 * n + np.arange(count)
        missing = None if share is not None else self.size - extra + np.arange(count)
        blocks: list[tuple[csr_array, ArrayLike, ArrayLike]] = [(self._moves(self.task.matrix), 0.0, 0.0)]
        if self.task.side is not None:
            side = self.task.side
            blocks.append((self._moves(side.rows), side.least / self.scale, side.most / self.scale))
        for cells, most, least, sign in (
            (rises, up_most, up_least, 1.0),
            (falls, down_most, down_least, -1.0),
        ):
            # z <= most d  and  z >= least (d - s), where d is I or 1 - I.
            offset = np.zeros(count) if sign > 0 else ones
            blocks.append((self._rows((cells, ones), (chosen, -sign * most)), -np.inf, most * offset))
            terms = [(cells, ones), (chosen, -sign * least)]
            if missing is not None:
                terms.append((missing, least))
            blocks.append((self._rows(*terms), least * offset, np.inf))
        if share is not None:
            last = np.full(limited.size, self.size - 1)
            for first in (0, n):
                terms = [(first + limited, np.ones(limited.size)), (last, -share[limited])]
                blocks.append((self._rows(*terms), -np.inf, 0.0))
        rows = csr_array(vstack([block for block, _, _ in blocks]))
        row_lower, row_upper = (
            np.concatenate([np.broadcast_to(bound, block.shape[0]) for block, bound in ends])
            for ends in ([(b, low) for b, low, _ in blocks], [(b, high) for b, _, high in blocks])
        )
        cost = np.zeros(self.size)
        cost[self.size - extra :] = 1.0
        lower, upper = np.zeros(self.size), np.ones(self.size)
        upper[: 2 * n] = np.concatenate([self.task.upper, -self.task.lower]) / self.scale
        if share is not None:
            upper[-1] = np.inf
        upper[rises], upper[falls] = up_most, down_most
        lower[chosen], upper[chosen] = ~self.choice.can_fall, self.choice.can_rise
        integer = np.zeros(self.size, dtype=bool)
        integer[chosen] = True
        return IntegerProgram(cost, lower, np.maximum(upper, 0.0), rows, row_lower, row_upper, integer)

    def _moves(self, matrix: csr_array) -> csr_array:
        from scipy.sparse import csr_array, hstack

        body = csr_array(matrix).astype(np.float64)
        return csr_array(hstack([body, -body, csr_array((body.shape[0], self.size - 2 * body.shape[1]))]))

    def _rows(self, *terms: tuple[Cells, Floats]) -> csr_array:
        from scipy.sparse import csr_array

        count = terms[0][0].size
        rows = np.tile(np.arange(count), len(terms))
        columns, values = (np.concatenate([term[k] for term in terms]) for k in (0, 1))
        return csr_array((values, (rows, columns)), shape=(count, self.size))
