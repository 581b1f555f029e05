"""Integer programs beyond networks: ``min c x : l <= A x <= u``, ``x`` integer, thousands of variables.

1. The linear relaxation gives a bound. Where its optimum is integer, it is the solution.
2. A program of a few variables goes to branch-and-bound.
3. Otherwise the relaxation is rounded and repaired: fractional variables and those that share rows with them
   vary, all others stay. If these are many, or no point is found, the rounded point violates rows by some
   ``s``, and the *elastic* program

       min  c x + p (s+ + s-)    s.t.  l <= A x + s+ - s- <= u,    s+, s- >= 0,

   of which that is a point, is improved neighbourhood by neighbourhood until ``s = 0``: a first point near
   the relaxation. The penalty ``p`` is raised as long as that does not suffice.
4. The first point is improved in the same way, and branch-and-bound from the best point follows.
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
from tacita.solvers.neighbourhoods import NODES, descend, is_feasible, round_to_integers, vary

FEW = 1200
"""Variables that are not fixed, up to which branch-and-bound alone mostly needs a second or two."""
LOCAL = 0.5
"""Largest share of the variables that a repair varies."""
PENALTIES = (2.0, 20.0, 200.0)
"""Costs of a violated row, in parts of the largest cost."""
NOISE = 1e-9
"""Relative error of losses."""
CAUTION = 1e-5
"""Error of a bound that is rounded up to the next integer loss."""


def solve_integer_program(program: IntegerProgram, groups: Sequence[Cells], run: Run) -> Solution:
    """Return the cheapest point of an integer program, proven, or the best found with a bound when time is
    over or it is within the run's gap.

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
        raise _infeasible_error(program)
    if relaxed.status is not Ended.OPTIMAL:
        raise make_no_point_error(run)
    search = _IntegerSearch(program, run, relaxed.bound)
    rounded = round_to_integers(program, relaxed.point)
    if np.abs(rounded - relaxed.point).max(initial=0.0) <= CAUTION and search.offer(rounded):
        search.close()
    elif np.count_nonzero(program.upper > program.lower) > FEW:
        search.explore(groups, rounded, np.abs(rounded - relaxed.point) > CAUTION)
    if not search.closed:
        search.branch()
    return search.make_solution()


class _IntegerSearch:
    """The best point so far and the lower bound."""

    def __init__(self, program: IntegerProgram, run: Run, bound: float) -> None:
        self.program, self.run = program, run
        self.best: Floats | None = None
        self.loss, self.bound = np.inf, -np.inf
        counts = program.cost != 0
        costs = program.cost[counts]
        self.integer_losses = bool(program.integer[counts].all() and (costs == np.rint(costs)).all())
        self.raise_bound(bound)

    def offer(self, x: Floats) -> bool:
        """Make a point the integer program's best if feasible and cheaper; return whether it became so."""
        loss = float(self.program.cost @ x)
        if loss >= self.loss or not is_feasible(self.program, x):
            return False
        self.best, self.loss = x, loss
        return True

    def raise_bound(self, bound: float) -> None:
        """Take a valid lower bound of the integer program, rounded up to an integer loss, if better."""
        if self.integer_losses and np.isfinite(bound):
            bound = np.ceil(bound - CAUTION - NOISE * abs(bound))
        self.bound = max(self.bound, float(bound))

    def close(self) -> None:
        """Take the best point of the integer program as proven optimal."""
        self.bound = self.loss

    @property
    def closed(self) -> bool:
        """Whether the best point of the integer program is proven good enough, by the run's gap too."""
        return self.proven or self.run.accepts(self.loss, self.bound)

    @property
    def proven(self) -> bool:
        """Whether the bound proves the best point of the integer program optimal."""
        return self.best is not None and self.loss - self.bound <= NOISE * max(1.0, abs(self.loss))

    def explore(self, groups: Sequence[Cells], rounded: Floats, broken: Mask) -> None:
        """Search near a rounded point, which may violate the rows of its ``broken`` integer variables."""
        repaired = _repair(self.program, self.run, rounded, broken)
        if repaired is not None and self.offer(repaired):
            # All other variables are as in the relaxation: so near the bound only branching can improve.
            return
        start = _find_first_point(self.program, groups, self.run, rounded)
        if start is None or not self.offer(start):
            return
        self._report("neighbourhoods", self.loss, self.bound)
        for x in descend(self.program, groups, self.run, start):
            self.offer(x)
            self._report("neighbourhoods", self.loss, self.bound)
            if self.closed:
                return

    def branch(self) -> None:
        """Search the complete integer program by branch-and-bound, from the best point on."""
        found = solve_mip(
            self.program,
            self.run,
            start=self.best,
            tell=lambda best, bound: self._report("branching", best, bound),
            enough=lambda best, bound: self.run.accepts(best, max(bound, self.bound)),
        )
        if found.status is Ended.INFEASIBLE:
            raise _infeasible_error(self.program)
        if found.point.size:
            self.offer(round_to_integers(self.program, found.point))
        if found.status is Ended.OPTIMAL and self.best is not None:
            self.close()
        self.raise_bound(found.bound)

    def make_solution(self) -> Solution:
        """Return the best point of the integer program with the bound; raise if there is none."""
        if self.best is None:
            raise make_no_point_error(self.run)
        status = Status.OPTIMAL if self.proven else Status.FEASIBLE
        return Solution(self.best, self.loss, min(self.bound, self.loss), status)

    def _report(self, phase: str, best: float | None, bound: float) -> None:
        """Report a phase of the integer program's search, with loss and bound, to the run's listener."""
        known = {"bound": max(bound, self.bound)}
        if best is not None:
            known["incumbent"] = best
        self.run.report(phase, 0, 0, **known)


def find_cheap_point(program: IntegerProgram, run: Run) -> Floats | None:
    """Return a cheap point of an integer program, without a proof that none is cheaper, or None if there is
    proven to be none.

    Raises
    ------
    StoppedError
        Time was over, or a cancel came, before a point was found.
    """
    relaxed = solve_mip(program.relaxed(), run)
    if relaxed.status is Ended.INFEASIBLE:
        return None
    if not relaxed.point.size:
        raise make_no_point_error(run)
    rounded = round_to_integers(program, relaxed.point)
    near, size = np.abs(rounded - relaxed.point) > CAUTION, 0
    if not near.any() and is_feasible(program, rounded):
        return rounded
    while size < near.sum() <= LOCAL * rounded.size:
        size, near = int(near.sum()), _widen(program, near)
        x = vary(program, rounded, np.flatnonzero(near), run)
        if x is not None:
            return x
    found = solve_mip(program, run, nodes=NODES)
    if not found.point.size and found.status is not Ended.INFEASIBLE:
        # No point after many nodes: search the complete tree.
        found = solve_mip(program, run)
    if not found.point.size and found.status is not Ended.INFEASIBLE:
        raise make_no_point_error(run)
    return found.point if found.point.size else None


def _repair(program: IntegerProgram, run: Run, rounded: Floats, broken: Mask) -> Floats | None:
    """Return a point of the integer program like a rounded one except near its broken variables: first in
    their rows, then in the rows of those, and so on; None if none is found before most vary.
    """
    near, unfixed = broken, program.upper > program.lower
    while not run.over:
        size, near = near.sum(), _widen(program, near) & unfixed
        if near.sum() == size or near.sum() > LOCAL * unfixed.sum():
            return None
        x = vary(program, rounded, np.flatnonzero(near), run)
        if x is not None:
            return x
    return None


def _widen(program: IntegerProgram, near: Mask) -> Mask:
    """Return a mask of the integer program's variables that share a row with some of these."""
    touches = abs(program.rows)
    rows = touches @ near.astype(np.float64) > 0
    return np.asarray(touches.T @ rows.astype(np.float64) > 0)


def _find_first_point(
    program: IntegerProgram, groups: Sequence[Cells], run: Run, rounded: Floats
) -> Floats | None:
    """Return a feasible point of an integer program near a rounded one, by the elastic program, or None."""
    x, size = rounded, rounded.size
    largest = float(np.abs(program.cost).max(initial=0.0)) or 1.0
    for penalty in PENALTIES:
        if is_feasible(program, x):
            break
        elastic = _make_elastic(program, penalty * largest)
        for point in descend(elastic, groups, run, _append_slack(program, x)):
            x = point[:size]
            if is_feasible(program, x):
                break
    return x if is_feasible(program, x) else None


def _make_elastic(program: IntegerProgram, penalty: float) -> IntegerProgram:
    """Return the elastic integer program: two slacks per row, which cost ``penalty`` each."""
    from scipy.sparse import csr_array, eye_array, hstack

    count = program.rows.shape[0]
    slack = eye_array(count, format="csr")
    return replace(
        program,
        cost=np.append(program.cost, np.full(2 * count, penalty)),
        lower=np.append(program.lower, np.zeros(2 * count)),
        upper=np.append(program.upper, np.full(2 * count, np.inf)),
        integer=np.append(program.integer, np.zeros(2 * count, dtype=bool)),
        rows=csr_array(hstack([program.rows, slack, -slack])),
    )


def _append_slack(program: IntegerProgram, x: Floats) -> Floats:
    """Return the point of the elastic integer program with the slacks that ``x`` needs."""
    reached = program.rows @ x
    lacks, exceeds = program.row_lower - reached, reached - program.row_upper
    return np.concatenate([x, np.maximum(lacks, 0.0), np.maximum(exceeds, 0.0)])


def _infeasible_error(program: IntegerProgram) -> InfeasibleError:
    equations = pluralize(program.rows.shape[0], "equation")
    fault = f"no integers within their bounds satisfy {equations}"
    return InfeasibleError(fault, remedy="widen the bounds")


def make_no_point_error(run: Run) -> StoppedError:
    """Return the error of a solver whose time ended before it found a point of the integer program."""
    fault = f"stopped after {run.seconds:.0f} s before a first point was found"
    return StoppedError(fault, remedy="allow more time", options=["time_limit"])
