"""The engine: master and separation, for any model.

    1. a first incumbent, if someone proposes one
    2. root: relaxation, cuts, reduced-cost fixing                         (root.py, HiGHS)
    3. tree: what is left of the variables, with cuts at the nodes          (tree.py, SCIP)
       and, if it takes long, local search around the incumbent            (neighbourhood.py)

It ends with an optimum, or with the best release and the best bound when the time is over.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from tacita.core.errors import InfeasibleError, StoppedError
from tacita.core.exact import Cells, Floats
from tacita.core.run import Run
from tacita.engine.attack.cuts import Cutter
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.separation import Separation
from tacita.engine.model import Model
from tacita.engine.search.incumbent import ReleaseSearch
from tacita.engine.search.neighbourhood import Neighbourhood
from tacita.engine.search.proposals import Proposals
from tacita.engine.search.root import Root
from tacita.engine.search.sifting import MANY, sift
from tacita.engine.search.tree import branch
from tacita.solvers.linear_program import Solution


def solve(model: Model, run: Run | None = None, start: Floats | None = None) -> Solution:
    """The best release of a model, with a bound on all of them.

    Parameters
    ----------
    start
        A point to begin with; it is used if it protects.

    Raises
    ------
    InfeasibleError
        No point of the model meets all requirements.
    StoppedError
        The time was over before one was found.
    """
    model = model.settled()
    search = ReleaseSearch(model, run or Run())
    presolved = PresolvedTable.of(model)
    _settle_motionless(presolved, search)
    separation = _separation(presolved, search)
    with suppress(StoppedError):
        if start is not None and separation.protects(start):
            search.offer(start)
    patterns = _is_suppression(presolved)
    if patterns and int((search.upper > search.lower).sum()) > MANY:
        sift(separation, search)
        presolved = PresolvedTable.of(replace(model, upper=search.upper))
        if search.closed or _unmeetable(presolved, search).size:
            # What is left cannot protect, so nothing is better than the incumbent.
            search.raise_bound(search.loss)
            return search.solution()
        separation = _separation(presolved, search)
    propose = Proposals(separation, search) if patterns else None
    root = Root(search, separation)
    whole = bool(model.integer.any())
    root.close(propose, patient=not whole)
    if not whole:
        return _finish_linear(search, separation, root)
    if not search.closed and not search.run.over:
        improve = None if propose is None else Neighbourhood(search, propose)
        branch(search, separation, root, propose, improve)
    return search.solution()


def _separation(presolved: PresolvedTable, search: ReleaseSearch) -> Separation:
    cutter = Cutter(presolved, search.lower, search.upper)
    return Separation(presolved, search.model.requirements, cutter, search.run)


def _is_suppression(presolved: PresolvedTable) -> bool:
    """Every cell has its own binary switch and no other window: patterns are what the model is about."""
    switches = presolved.switch[presolved.switch >= 0]
    return presolved.only_switches and switches.size == len(presolved) == np.unique(switches).size


def _finish_linear(search: ReleaseSearch, separation: Separation, root: Root) -> Solution:
    """Without whole variables the root is all there is: its last point is the optimum if it protects."""
    if not search.model.size:
        # Nothing to decide: what is published protects or it does not.
        if not separation.protects(root.point):
            raise InfeasibleError("no release of this kind protects the table")
        search.offer(root.point)
        search.raise_bound(search.loss)
    elif not search.run.over and root.point.size and separation.protects(root.point):
        search.offer(root.point)
    return search.solution()


def _unmeetable(presolved: PresolvedTable, search: ReleaseSearch) -> Cells:
    """Requirements that count in any case, on cells that can never move."""
    outside, switch = (
        presolved.requirements_outside(search.model.requirements),
        search.model.requirements.switch,
    )
    counts = switch[outside] < 0
    # A model may have no variables at all.
    counts[~counts] = search.lower[switch[outside][~counts]] > 0
    return outside[counts]


def _settle_motionless(presolved: PresolvedTable, search: ReleaseSearch) -> None:
    """A cell that can never move fails its requirement: such a requirement must not count, or there is no
    release.
    """
    model = presolved.model
    if (wrong := _unmeetable(presolved, search)).size:
        cell = int(model.requirements.cell[wrong[0]])
        raise InfeasibleError(
            f"({model.problem.table.name(cell)}) cannot be made uncertain: whatever is published, its value "
            "follows from cells that cannot change. Allow some of the cells around it to be hidden or "
            "changed."
        )
    search.upper[model.requirements.switch[presolved.requirements_outside(model.requirements)]] = 0.0
