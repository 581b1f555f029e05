"""Better points of a large integer program, found by varying a part of its variables at a time.

Let ``x`` be a point of ``min c x : l <= A x <= u``. With all variables outside a set ``F`` as they are, what
is left is the *neighbourhood*

    min  sum_F c_j y_j    s.t.  l - sum_not_F A_j x_j <= sum_F A_j y_j <= u - sum_not_F A_j x_j,

searched for at most ``NODES`` nodes. ``F`` is drawn from given groups of variables: ``m`` at random that
share no variable. In a table with the cells of one code as a group, these are parallel planes of a cube, and
that is strong: a few planes are nearly a network, so their relaxation is nearly whole, and thousands of
variables take hundredths of a second. With more dimensions the groups are no planes but their intersections
are: where a variable is in ``d > 3`` groups, ``m`` groups of each of ``d - 2`` kinds are drawn, and ``F`` is
what lies in all kinds. ``m`` grows each time that ``PATIENCE`` neighbourhoods in a row held nothing better.
Variables that are in no group (slacks, say) move along with all that share a row with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.solvers.highs import solve_mip
from tacita.solvers.linear_program import IntegerProgram

NODES = 20
"""Of each neighbourhood's search; most need one."""
PATIENCE = 12
FEWEST = 2
"""One plane alone can hardly move."""
GROWTH = 4
"""The number of groups grows by one in so many, at least by one."""
LARGEST_SHARE = 0.5
"""Of the open variables in a neighbourhood; beyond it the program itself is the better question."""
MISSED = 1e-6
"""How far a point may miss a row."""
LEAST_GAIN = 1e-9
"""Share of the loss below which a gain is arithmetic."""


def descend(program: IntegerProgram, groups: Sequence[Cells], run: Run, start: Floats) -> Iterator[Floats]:
    """Ever better points from ``start`` on, until growing neighbourhoods hold no better one or time is over.

    The points depend on the program, the groups, the start and the seed alone, unless the run is cut short.
    """
    if not groups:
        return
    neighbourhoods, draw = _Neighbourhoods(program, groups), np.random.default_rng(run.search)
    x, count, idle = start, FEWEST, 0
    while not run.over:
        free = neighbourhoods.drawn(count, draw)
        better = neighbourhoods.best(x, free, run)
        if better is not None:
            x, idle = better, 0
            yield x
            continue
        idle += 1
        if idle >= PATIENCE:
            if neighbourhoods.share(free) >= LARGEST_SHARE or count >= len(groups):
                return
            count, idle = count + max(1, count // GROWTH), 0


def keeps_rows(program: IntegerProgram, x: Floats) -> bool:
    """Whether a point keeps every row and bound."""
    reached = program.rows @ x
    rows = (reached >= program.row_lower - MISSED) & (reached <= program.row_upper + MISSED)
    return bool(rows.all() and (x >= program.lower).all() and (x <= program.upper).all())


def made_whole(program: IntegerProgram, x: Floats) -> Floats:
    """The point with its whole variables rounded, inside the bounds."""
    return np.clip(np.where(program.integer, np.rint(x), x), program.lower, program.upper)


def around(program: IntegerProgram, x: Floats, free: Cells) -> IntegerProgram:
    """The neighbourhood of ``x`` in which the free variables vary."""
    from scipy.sparse import csr_array

    part = csr_array(program.rows[:, free])
    touched = np.flatnonzero(np.diff(part.indptr))
    part = part[touched]
    others = (program.rows @ x)[touched] - part @ x[free]
    return IntegerProgram(
        program.cost[free],
        program.lower[free],
        program.upper[free],
        part,
        program.row_lower[touched] - others,
        program.row_upper[touched] - others,
        program.integer[free],
    )


class _Neighbourhoods:
    def __init__(self, program: IntegerProgram, groups: Sequence[Cells]) -> None:
        from scipy.sparse import csr_array, diags_array

        self.program, self.columns = program, program.rows.tocsc()
        self.open: Mask = program.upper > program.lower
        pointers = np.cumsum([0, *(group.size for group in groups)])
        self.members = csr_array(
            (np.ones(pointers[-1]), np.concatenate(groups), pointers),
            shape=(len(groups), program.cost.size),
        )
        self.apart = np.asarray((self.members @ self.members.T).toarray() == 0)
        """Which groups share no variable."""
        memberships = np.bincount(self.members.indices, minlength=program.cost.size)
        self.kinds = max(1, int(memberships.max()) - 2)
        self.alone = csr_array(program.rows @ diags_array(np.where(memberships > 0, 0.0, 1.0)))
        """The rows with those variables only that are in no group."""
        self.alone.eliminate_zeros()

    def drawn(self, count: int, draw: np.random.Generator) -> Cells:
        """The open variables of a random neighbourhood of so many groups of each kind."""
        free, allowed = self.open.copy(), np.ones(self.apart.shape[0], dtype=bool)
        for _ in range(self.kinds):
            if not allowed.any():
                break
            chosen = self._disjoint(count, draw.permutation(np.flatnonzero(allowed)))
            inside = np.zeros(free.size, dtype=bool)
            inside[self.members[chosen].indices] = True
            free &= inside
            allowed &= ~self.apart[chosen].any(axis=0)
            allowed[chosen] = False
        grouped = np.flatnonzero(free)
        touched = np.unique(self.columns[:, grouped].indices)
        free[self.alone[touched].indices] = True
        return np.flatnonzero(free & self.open)

    def _disjoint(self, count: int, order: Cells) -> list[int]:
        """So many groups that share no variable, or as many as there are."""
        chosen: list[int] = []
        for g in order.tolist():
            if len(chosen) < count and self.apart[g, chosen].all():
                chosen.append(g)
        return chosen

    def share(self, free: Cells) -> float:
        """Of all open variables."""
        return free.size / max(1, int(self.open.sum()))

    def best(self, x: Floats, free: Cells, run: Run) -> Floats | None:
        """The best point found with all other variables as in ``x``; None if nothing better was found."""
        if not free.size:
            return None
        found = solve_mip(around(self.program, x, free), run, start=x[free], nodes=NODES)
        if not found.point.size:
            return None
        y = x.copy()
        y[free] = found.point
        y = made_whole(self.program, y)
        loss, before = float(self.program.cost @ y), float(self.program.cost @ x)
        improves = loss < before - LEAST_GAIN * max(1.0, abs(before))
        return y if improves and keeps_rows(self.program, y) else None
