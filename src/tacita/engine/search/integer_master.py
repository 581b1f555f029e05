"""The integer master: the master over the cuts found so far, as one integer program.

The cuts of the root hold for every release, so a lower bound on the points in integers that satisfy them
bounds every loss. It is often far above the relaxation's: on a table of 1,485 cells it closes half of the
gap in the time in which the tree, which asks the attackers at its nodes, closes a tenth. The point that HiGHS
ends with hides little; where it does not protect, it gives cuts for the next program.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from tacita.core.errors import SolverError, StoppedError
from tacita.core.exact import Floats
from tacita.engine.attack.separation import Separation
from tacita.engine.search.incumbent import ReleaseSearch
from tacita.solvers.highs import Ended, solve_mip
from tacita.solvers.linear_program import IntegerProgram
from tacita.solvers.row_pool import CutRow

PROGRAMS = 4
"""Programs that the time is divided among at first; one that is solved sooner leaves its time to others."""


class IntegerMaster:
    """The master of one search in integers, over ``rows``, which cuts of its points join."""

    def __init__(self, search: ReleaseSearch, separation: Separation, rows: Sequence[CutRow]) -> None:
        self.search, self.separation, self.rows = search, separation, list(rows)

    def tighten(self, seconds: float) -> None:
        """Raise the bound of the search, program after program, for so many seconds at most.

        It ends sooner when the search is closed, or when a program's point gives no more cuts.
        """
        search, run = self.search, self.search.run.limited(seconds)
        with suppress(StoppedError, SolverError):
            for number in range(PROGRAMS):
                search.report_progress("integer master", number, PROGRAMS)
                point = self._solve(run.remaining / (PROGRAMS - number))
                if point is None or run.over or search.closed or not self._cut_off(point):
                    return

    def _solve(self, seconds: float) -> Floats | None:
        """Solve the master in integers and raise the bound of the search; return its best point, if any."""
        search = self.search
        run = search.run.limited(seconds)
        found = solve_mip(self._state(), run, tell=lambda *_: search.report_progress("integer master"))
        # The bounds of variables hold for releases better than the incumbent only.
        if found.status is Ended.INFEASIBLE:
            search.raise_bound(search.loss)
        elif np.isfinite(found.bound):
            search.raise_bound(min(found.bound + search.model.constant, search.loss))
        return np.clip(np.rint(found.point), search.lower, search.upper) if found.point.size else None

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
