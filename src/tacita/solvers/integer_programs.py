"""Integer programs beyond networks: ``min c x : l <= A x <= u``, ``x`` whole, thousands of variables.

1. The linear relaxation gives a bound. Where its optimum is whole, that is all.
2. A program of a few variables goes to branch-and-bound as it is.
3. Else the relaxation is rounded. If only a part of it was not whole, that part and what surrounds it may
   vary, all else stays. If that part is large, or holds no point, rows are missed by some ``s``, and the
   *elastic* program

       min  c x + p (s+ + s-)    s.t.  l <= A x + s+ - s- <= u,    s+, s- >= 0,

   of which that is a point, is improved neighbourhood by neighbourhood until nothing is missed any more: a
   first point near the relaxation. The price ``p`` is raised as long as that does not suffice.
4. A point of the elastic program is improved in the same way, and branch-and-bound from the best point has
   the final word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tacita.core.errors import InfeasibleError, StoppedError
from tacita.core.exact import Cells, Floats, Mask
from tacita.core.outcome import Status
from tacita.core.run import Run
from tacita.core.words import pluralize
from tacita.solvers.highs import Ended, solve_mip
from tacita.solvers.linear_program import IntegerProgram, Solution
from tacita.solvers.neighbourhoods import NODES, around, descend, keeps_rows, made_whole

FEW = 1200
"""Open variables with which HiGHS as it is mostly needs a second or two."""
LOCAL = 0.5
"""Largest share of the open variables that is still a part of the program."""
PRICES = (2.0, 20.0, 200.0)
"""Of a missed row, in parts of the largest cost."""
NOISE = 1e-9
"""Share of a loss below which differences are arithmetic."""
CAUTION = 1e-5
"""By how much a bound may be wrong where it is rounded up to the next whole loss."""


def solve_whole(program: IntegerProgram, groups: Sequence[Cells], run: Run) -> Solution:
    """The cheapest point of an integer program: proven, or the best found and a bound when time is over.

    Parameters
    ----------
    groups
        Variables that may be varied together while all others stay, such as the cells of a table that share
        a code. Groups without a common variable are combined.

    Raises
    ------
    InfeasibleError
        No point exists, which is proven.
    StoppedError
        Time was over, or a cancel came, before a point was found.
    """
    relaxed = solve_mip(program.relaxed(), run)
    if relaxed.status is Ended.INFEASIBLE:
        raise _infeasible(program)
    if relaxed.status is not Ended.OPTIMAL:
        raise stopped(run)
    search = _IntegerSearch(program, run, relaxed.bound)
    rounded = made_whole(program, relaxed.point)
    if np.abs(rounded - relaxed.point).max(initial=0.0) <= CAUTION and search.offer(rounded):
        search.close()
    elif np.count_nonzero(program.upper > program.lower) > FEW:
        search.explore(groups, rounded, np.abs(rounded - relaxed.point) > CAUTION)
    if not search.closed:
        search.branch()
    return search.solution()


class _IntegerSearch:
    """The best point so far and the bound."""

    def __init__(self, program: IntegerProgram, run: Run, bound: float) -> None:
        self.program, self.run = program, run
        self.best: Floats | None = None
        self.loss, self.bound = np.inf, -np.inf
        counts = program.cost != 0
        costs = program.cost[counts]
        self.whole_losses = bool(program.integer[counts].all() and (costs == np.rint(costs)).all())
        self.raise_bound(bound)

    def offer(self, x: Floats) -> bool:
        """Take a point as the best if it is one, and better."""
        loss = float(self.program.cost @ x)
        if loss >= self.loss or not keeps_rows(self.program, x):
            return False
        self.best, self.loss = x, loss
        return True

    def raise_bound(self, bound: float) -> None:
        if self.whole_losses and np.isfinite(bound):
            bound = np.ceil(bound - CAUTION - NOISE * abs(bound))
        self.bound = max(self.bound, float(bound))

    def close(self) -> None:
        """The best is proven to be the best there is."""
        self.bound = self.loss

    @property
    def closed(self) -> bool:
        return self.best is not None and self.loss - self.bound <= NOISE * max(1.0, abs(self.loss))

    def explore(self, groups: Sequence[Cells], rounded: Floats, broken: Mask) -> None:
        """Points by neighbourhoods, from a point that need not keep the rows around its broken variables."""
        mended = _mended(self.program, self.run, rounded, broken)
        if mended is not None and self.offer(mended):
            # The rest is as in the relaxation: so near the bound, only branching can still gain something.
            return
        start = _first_point(self.program, groups, self.run, rounded)
        if start is None or not self.offer(start):
            return
        self._tell("neighbourhoods", self.loss, self.bound)
        for x in descend(self.program, groups, self.run, start):
            self.offer(x)
            self._tell("neighbourhoods", self.loss, self.bound)
            if self.closed:
                return

    def branch(self) -> None:
        """Branch-and-bound on the whole program, from the best point on."""
        found = solve_mip(
            self.program,
            self.run,
            start=self.best,
            tell=lambda best, bound: self._tell("branching", best, bound),
        )
        if found.status is Ended.INFEASIBLE:
            raise _infeasible(self.program)
        if found.point.size:
            self.offer(made_whole(self.program, found.point))
        if found.status is Ended.OPTIMAL and self.best is not None:
            self.close()
        self.raise_bound(found.bound)

    def solution(self) -> Solution:
        if self.best is None:
            raise stopped(self.run)
        status = Status.OPTIMAL if self.closed else Status.FEASIBLE
        return Solution(self.best, self.loss, min(self.bound, self.loss), status)

    def _tell(self, phase: str, best: float | None, bound: float) -> None:
        known = {"bound": max(bound, self.bound)}
        if best is not None:
            known["incumbent"] = best
        self.run.report(phase, 0, 0, **known)


def solve_roughly(program: IntegerProgram, run: Run) -> Floats | None:
    """Return a cheap point of an integer program, without a proof that none is cheaper; None if there is no
    point at all, which is proven.

    Raises
    ------
    StoppedError
        Time was over, or a cancel came, before a point was found.
    """
    relaxed = solve_mip(program.relaxed(), run)
    if relaxed.status is Ended.INFEASIBLE:
        return None
    if not relaxed.point.size:
        raise stopped(run)
    rounded = made_whole(program, relaxed.point)
    near, size = np.abs(rounded - relaxed.point) > CAUTION, 0
    if not near.any() and keeps_rows(program, rounded):
        return rounded
    while size < near.sum() <= LOCAL * rounded.size:
        size, near = int(near.sum()), _widened(program, near)
        x = _varied(program, rounded, near, run)
        if x is not None:
            return x
    found = solve_mip(program, run, nodes=NODES)
    if not found.point.size and found.status is not Ended.INFEASIBLE:
        # Many nodes without a point: now the whole tree is asked.
        found = solve_mip(program, run)
    if not found.point.size and found.status is not Ended.INFEASIBLE:
        raise stopped(run)
    return found.point if found.point.size else None


def _mended(program: IntegerProgram, run: Run, rounded: Floats, broken: Mask) -> Floats | None:
    """A point that differs from a rounded one only near its broken variables: first in their rows, then in
    the rows of those; None where there is none, or where that would be most of the program.
    """
    near, unfixed = broken, program.upper > program.lower
    while not run.over:
        size, near = near.sum(), _widened(program, near) & unfixed
        if near.sum() == size or near.sum() > LOCAL * unfixed.sum():
            return None
        x = _varied(program, rounded, near, run)
        if x is not None:
            return x
    return None


def _widened(program: IntegerProgram, near: Mask) -> Mask:
    """Return the variables that share a row with some."""
    touches = abs(program.rows)
    rows = touches @ near.astype(np.float64) > 0
    return np.asarray(touches.T @ rows.astype(np.float64) > 0)


def _varied(program: IntegerProgram, x: Floats, near: Mask, run: Run) -> Floats | None:
    """Return a point that differs from ``x`` in some variables only; None if a short search finds none."""
    free = np.flatnonzero(near)
    found = solve_mip(around(program, x, free), run, nodes=NODES)
    if not found.point.size:
        return None
    y = x.copy()
    y[free] = found.point
    return made_whole(program, y)


def _first_point(
    program: IntegerProgram, groups: Sequence[Cells], run: Run, rounded: Floats
) -> Floats | None:
    """A point that keeps the rows, near one that may not; None if neighbourhoods hold none."""
    x, size = rounded, rounded.size
    largest = float(np.abs(program.cost).max(initial=0.0)) or 1.0
    for price in PRICES:
        if keeps_rows(program, x):
            break
        elastic = _elastic(program, price * largest)
        for point in descend(elastic, groups, run, _with_slack(program, x)):
            x = point[:size]
            if keeps_rows(program, x):
                break
    return x if keeps_rows(program, x) else None


def _elastic(program: IntegerProgram, price: float) -> IntegerProgram:
    from scipy.sparse import csr_array, eye_array, hstack

    count = program.rows.shape[0]
    slack = eye_array(count, format="csr")
    return replace(
        program,
        cost=np.append(program.cost, np.full(2 * count, price)),
        lower=np.append(program.lower, np.zeros(2 * count)),
        upper=np.append(program.upper, np.full(2 * count, np.inf)),
        integer=np.append(program.integer, np.zeros(2 * count, dtype=bool)),
        rows=csr_array(hstack([program.rows, slack, -slack])),
    )


def _with_slack(program: IntegerProgram, x: Floats) -> Floats:
    """The point followed by how much each row lacks, and by how much it has too much."""
    reached = program.rows @ x
    lacks, exceeds = program.row_lower - reached, reached - program.row_upper
    return np.concatenate([x, np.maximum(lacks, 0.0), np.maximum(exceeds, 0.0)])


def _infeasible(program: IntegerProgram) -> InfeasibleError:
    return InfeasibleError(
        f"no whole numbers within their bounds satisfy {pluralize(program.rows.shape[0], 'equation')}: "
        "widen the bounds"
    )


def stopped(run: Run) -> StoppedError:
    """Return the error of a search that time ended before it found a point."""
    return StoppedError(f"stopped after {run.seconds:.0f} s before a first point was found: allow more time")
