"""Large tables of numbers that add up, rounded or perturbed: a release soon, better ones while there is time.

A start that satisfies the model's own rows is repaired: each requirement that it fails gives a row that every
protected point satisfies, and the variables near violated rows vary in a small integer program, all others
stay. Afterwards random groups of variables (the cells of one code) vary in the same way, at less loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from tacita.core.errors import SolverError, StoppedError
from tacita.core.exact import Cells, Floats, Mask
from tacita.engine.attack.presolved import WindowsAtPoint
from tacita.engine.attack.requirements import Requirements
from tacita.engine.attack.routing import RoutedMove
from tacita.engine.attack.separation import Separation
from tacita.engine.construction.near_witnesses import NearWitnesses
from tacita.engine.model import Model
from tacita.engine.search.incumbent import ReleaseSearch
from tacita.engine.search.root import Root
from tacita.solvers.integer_pieces import group_by_code
from tacita.solvers.neighbourhoods import descend, vary
from tacita.solvers.row_pool import CutRow

MOST_REPAIRS = 200
"""Times that a start is repaired before the search goes on without it."""
ROUGH = 1e-9
"""Error by which a point may violate a row."""
FIRST_ROUNDS = 3
"""Rounds of cuts after the first release, for a bound."""


class NumberSearch:
    """The search for protected numbers: the model's own rows, and rows that failed requirements gave."""

    def __init__(self, separation: Separation, search: ReleaseSearch) -> None:
        self.separation, self.search = separation, search
        self.program = search.model
        self._near = NearWitnesses(separation.presolved)
        separation.find_near = self._find_near

    def protect(self, start: Floats) -> bool:
        """Repair a start that satisfies the model's own rows, and offer it to the search; return whether it
        protects then.
        """
        x = start
        for number in range(MOST_REPAIRS):
            self.search.report_progress("first release", number)
            rows = self.separation.find_refuting_cuts(x)
            if rows is None:
                return self.search.offer(x)
            self._add(rows)
            repaired = self._repair(x) if rows else None
            if repaired is None:
                return False
            x = repaired
        return False

    def bound(self) -> None:
        """Raise the bound of the search by a few rounds of cuts."""
        Root(self.search, self.separation).tighten(None, patient=True, rounds=FIRST_ROUNDS)

    def improve(self) -> None:
        """Offer better points, until neighbourhoods hold none or the time is over."""
        search, groups = self.search, _group_variables(self.search.model)
        if not groups or search.closed:
            return
        with suppress(StoppedError, SolverError):
            while search.best is not None and self._descend(groups, search.best):
                search.report_progress("improving")

    def _descend(self, groups: Sequence[Cells], start: Floats) -> bool:
        """Offer better and better points until one fails requirements; return whether that gave new rows."""
        search = self.search
        for x in descend(self.program, groups, search.run, start, self._report_improving):
            rows = self.separation.find_refuting_cuts(x)
            if rows is not None:
                self._add(rows)
                return bool(rows) and not search.run.over
            search.offer(x)
            if search.closed:
                break
        return False

    def _report_improving(self) -> None:
        self.search.report_progress("improving")

    def _find_near(self, requirements: Requirements, k: int, windows: WindowsAtPoint) -> RoutedMove | None:
        """Return a move nearby that meets a requirement which is not sliding, or None."""
        moves = self._near.find(requirements, k, windows)
        return None if moves is None else moves[0]

    def _add(self, rows: Sequence[CutRow]) -> None:
        """Add rows to the program that every protected point satisfies."""
        from scipy.sparse import csr_array, vstack

        if not rows:
            return
        pointers = np.cumsum([0, *(row.index.size for row in rows)])
        new = csr_array(
            (
                np.concatenate([row.value for row in rows]),
                np.concatenate([row.index for row in rows]),
                pointers,
            ),
            shape=(len(rows), self.program.size),
        )
        self.program = replace(
            self.program,
            rows=csr_array(vstack([self.program.rows, new])),
            row_lower=np.concatenate([self.program.row_lower, [row.rhs for row in rows]]),
            row_upper=np.concatenate([self.program.row_upper, np.full(len(rows), np.inf)]),
        )

    def _repair(self, x: Floats) -> Floats | None:
        """Return a point like ``x`` that satisfies all rows, in which variables near violated ones vary."""
        program, run = self.program, self.search.run
        reached = program.rows @ x
        wrong = (reached < program.row_lower - ROUGH) | (reached > program.row_upper + ROUGH)
        touches = abs(program.rows)
        near = np.asarray(touches.T @ wrong.astype(np.float64) > 0)
        unfixed = program.upper > program.lower
        while not run.over:
            found = vary(program, x, np.flatnonzero(near & unfixed), run)
            if found is not None:
                return found
            wider: Mask = np.asarray(touches.T @ (touches @ near.astype(np.float64) > 0) > 0)
            if wider.sum() == near.sum():
                return None
            near = wider
        return None


def _group_variables(model: Model) -> list[Cells]:
    """Return groups of the variables that move numbers: those of cells with a code in common."""
    columns = model.above.matrix.tocsc()
    alone = np.diff(columns.indptr) == 1
    cell = np.full(model.size, -1)
    cell[alone] = columns.indices[columns.indptr[:-1][alone]]
    moves = np.flatnonzero(cell >= 0)
    return [moves[group] for group in group_by_code(model.problem.table.structure, cell[moves])]
