"""The integer master: the master over the cuts found so far, as one integer program.

The cuts of the root hold for every release, so a lower bound on the points in integers that satisfy them
bounds every loss. It is often far above the relaxation's: on a table of 1,485 cells it closes half of the
gap in the time in which the tree, which asks the attackers at its nodes, closes a tenth. The point that HiGHS
ends with hides little; where it does not protect, it gives cuts for the next program. In large tables it is
also completed to a pattern that protects, which is often better than the incumbent.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from tacita.core.errors import SolverError, StoppedError
from tacita.core.exact import Floats
from tacita.engine.attack.separation import Separation
from tacita.engine.search.incumbent import ReleaseSearch
from tacita.engine.search.proposals import Patterns
from tacita.solvers.highs import Ended, solve_mip
from tacita.solvers.linear_program import IntegerProgram
from tacita.solvers.row_pool import CutRow

LEAST = 3.0
"""Seconds that a program may take in any case."""
FAR = 1.05
"""Loss of a program's point, in parts of its bound, beyond which the program needs more time."""
TRIAL = 0.05
"""Share of the time after which programs that have no good point yet are given up."""
IN_VAIN = 6
"""Programs in a row, with good points, that close less than ``PROGRESS`` of the gap, after which no other
follows.
"""
PROGRESS = 3e-3
BETWEEN = 0.5
"""Share of the program's point in the point between it and the incumbent, near which it is completed."""


class IntegerMaster:
    """The master of one search in integers, over ``rows``, which cuts of its points join.

    ``patterns`` completes these points, if it is given: that is how incumbents come from them, and insiders'
    requirements that were not listed.
    """

    def __init__(
        self,
        search: ReleaseSearch,
        separation: Separation,
        rows: Sequence[CutRow],
        patterns: Patterns | None = None,
    ) -> None:
        self.search, self.separation, self.rows = search, separation, list(rows)
        self._patterns = patterns

    def tighten(self, seconds: float, programs: float = np.inf) -> bool:
        """Raise the bound of the search by so many programs, for so many seconds at most; return whether they
        had good points.

        It ends sooner when the search is closed, when programs close little, when a program's point gives no
        more cuts, or when the first programs end without a good one. A program may take as long as it takes
        to cut off its point; where that is bad by then, twice as long. Completions take no more than half of
        the time.
        """
        search, run = self.search, self.search.run.limited(seconds)
        in_vain, limit, longest, next_completion = 0, LEAST, max(LEAST, TRIAL * run.remaining), 0.0
        with suppress(StoppedError, SolverError), self.separation.within(run, self._tell):
            while programs > 0 and in_vain < IN_VAIN and not run.over:
                programs, gap = programs - 1, search.loss - search.bound
                point = self._solve(min(limit, run.remaining))
                if search.closed:
                    break
                if point is None:
                    limit *= 2.0
                    if limit > longest:
                        return False
                    continue
                longest, begun = np.inf, run.seconds
                if begun >= next_completion:
                    self._complete(point)
                    next_completion = 2.0 * run.seconds - begun
                begun = run.seconds
                if not self._cut_off(point):
                    break
                limit = max(limit, run.seconds - begun)
                in_vain = 0 if search.loss - search.bound < (1.0 - PROGRESS) * gap else in_vain + 1
        return True

    def bound(self, seconds: float) -> None:
        """Raise the bound of the search by one program of so many seconds at most."""
        with suppress(StoppedError, SolverError):
            self._solve(seconds)

    def _solve(self, seconds: float) -> Floats | None:
        """Raise the bound of the search by one program; return its best point, or None without a good one."""
        search = self.search
        self._tell()
        found = solve_mip(self._state(), search.run.limited(seconds), tell=self._tell)
        # The bounds of variables hold for releases better than the incumbent only.
        if found.status is Ended.INFEASIBLE:
            search.raise_bound(search.loss)
        elif np.isfinite(found.bound):
            search.raise_bound(min(found.bound + search.model.constant, search.loss))
        if not found.point.size:
            return None
        point = np.clip(np.rint(found.point), search.lower, search.upper)
        return point if search.model.loss(point) - search.model.constant <= FAR * found.bound else None

    def _tell(self, *_: float | None) -> None:
        self.search.report_progress("integer master")

    def _complete(self, point: Floats) -> None:
        """Offer the pattern that protects near a point in integers and the incumbent, if there is one."""
        search, patterns = self.search, self._patterns
        if patterns is None or search.best is None:
            return
        switch = patterns.presolved.switch
        middle = BETWEEN * point[switch] + (1.0 - BETWEEN) * search.best[switch]
        found = patterns.complete_near(point[switch] > 0.5, middle)
        if found is not None:
            search.offer(found)

    def _cut_off(self, point: Floats) -> bool:
        """Add cuts that a point in integers violates, or offer it if it protects; return whether there are
        any.
        """
        new = self.separation.find_cuts(point, enough=len(self.separation.requirements))
        if not new and self.separation.protects(point):
            self.search.offer(point)
        self.rows += new
        return bool(new)

    def _state(self) -> IntegerProgram:
        """Return the master in integers with the rows there are now."""
        from scipy.sparse import csr_array, vstack

        model, rows, search = self.search.model, self.rows, self.search
        starts = np.cumsum([0, *(row.index.size for row in rows)])
        index, value = (
            np.concatenate([row.index for row in rows]),
            np.concatenate([row.value for row in rows]),
        )
        cuts = csr_array((value, index, starts), shape=(len(rows), model.size))
        return IntegerProgram(
            model.cost,
            search.lower,
            search.upper,
            csr_array(vstack([model.rows, cuts])),
            np.concatenate([model.row_lower, [row.rhs for row in rows]]),
            np.concatenate([model.row_upper, np.full(len(rows), np.inf)]),
            model.integer,
        )
