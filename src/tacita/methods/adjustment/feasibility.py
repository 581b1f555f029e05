"""When capacities are too tight: the least that would do, and the least protection that must be given up.

With ``z = z+ - z-`` and a binary ``I_p`` (up or down) for every sensitive cell,

    M (z+ - z-) = 0,    z+_p <= up_most I_p,     z-_p <= down_most (1 - I_p),
                        z+_p >= up_least (I_p - s_p),    z-_p >= down_least (1 - I_p - s_p),

and for all other cells ``z+_i, z-_i <= t share_i``. The smallest *uniform capacity* is ``min t`` with ``s =
0``; the smallest *shortfall* is ``min sum s_p`` with the capacities as they are. Side rows stand as they are.
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
from tacita.solvers.highs import Ended, solve_mip
from tacita.solvers.linear_program import IntegerProgram

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PATIENCE = 20.0
"""Seconds to look for the least before one that is merely enough is named."""
NOISE, EXACT = 1e-7, 1e-12


@dataclass(frozen=True, eq=False)
class Capacity:
    """A capacity that is enough, in parts of the shares; whether it is proven to be the smallest; the cells
    that need all of it.
    """

    amount: float
    smallest: bool
    binding: Cells


@dataclass(frozen=True, eq=False)
class Shortfall:
    """Directions, and how far below its least change each sensitive cell stays, as a share of it."""

    up: Mask
    missing: Floats


def smallest_capacity(task: AdjustmentTask, share: Floats, run: Run) -> Capacity | None:
    """The smallest ``t`` such that ``|z_i| <= t share_i`` works for all cells that are not sensitive; None
    if no capacity does. The task has no capacities of its own.
    """
    n, choice = len(task), _choice(task)
    limited = np.setdiff1d(np.arange(n), choice.cells)
    for scale in _scales(task):
        program = _Builder(task, choice, scale).program(share / scale, limited)
        found = solve_mip(program, _patient(run))
        if found.status is not Ended.INFEASIBLE:
            break
    else:
        return None
    if not found.point.size:
        raise StoppedError("stopped while the smallest capacity was looked for: allow more time")
    amount = float(found.point[-1])
    change = np.abs(found.point[:n] - found.point[n : 2 * n]) * scale
    full = limited[change[limited] >= amount * share[limited] * (1 - 1e-6) - NOISE * scale]
    return Capacity(amount, found.status is Ended.OPTIMAL, full[change[full] > 0])


def smallest_shortfall(task: AdjustmentTask, run: Run) -> Shortfall | None:
    """Directions and shortfalls with the least sum; None if capacities do not even let cells stay."""
    choice = _choice(task)
    for scale in _scales(task):
        program = _Builder(task, choice, scale).program(None, np.zeros(0, dtype=np.int64))
        found = solve_mip(program, _patient(run))
        if found.status is not Ended.INFEASIBLE:
            break
    else:
        return None
    if not found.point.size:
        raise StoppedError("stopped while the smallest shortfall was looked for: allow more time")
    count = choice.cells.size
    up = found.point[2 * len(task) : 2 * len(task) + count] > 0.5
    return Shortfall(up, np.clip(found.point[-count:], 0.0, 1.0))


def lowered(task: AdjustmentTask, shortfall: Shortfall) -> AdjustmentTask:
    """The directed task in which sensitive cells may stay that far below their least change."""
    choice = _choice(task)
    up, down = (
        np.floor(least / task.step * (1.0 - shortfall.missing) * (1.0 + EXACT) + NOISE).astype(np.int64)
        * task.step
        for least in (choice.up_least, choice.down_least)
    )
    eased = replace(choice, up_least=up, down_least=down)
    return replace(task, choice=eased).directed(shortfall.up)


def _choice(task: AdjustmentTask) -> DirectionChoice:
    if task.choice is not None:
        return task.choice
    nothing: Cells = np.zeros(0, dtype=np.int64)
    return DirectionChoice(nothing, nothing, nothing, nothing, nothing)


def _scales(task: AdjustmentTask) -> tuple[float, float]:
    """Units that count as one: changes of 1e11 are as easy as small ones. Where other cells can move by a few
    units only, these then drown in a solver's tolerances, so that none is infeasible before both are.
    """
    choice = _choice(task)
    largest = float(max(task.step, int(np.maximum(choice.up_least, choice.down_least).max(initial=1))))
    return largest, float(np.sqrt(largest * task.step))


def _patient(run: Run) -> Run:
    return replace(run, time_limit=run.seconds + min(PATIENCE, run.remaining))


class _Builder:
    """The program of a task: ``z+``, ``z-``, ``I``, and last ``t`` or the ``s_p``."""

    def __init__(self, task: AdjustmentTask, choice: DirectionChoice, scale: float) -> None:
        self.task, self.choice, self.scale = task, choice, scale

    def program(self, share: Floats | None, limited: Cells) -> IntegerProgram:
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
            # z <= most [goes this way]  and  z >= least ([goes this way] - s), with I or 1 - I for the way.
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
