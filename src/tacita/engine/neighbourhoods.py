"""Better points of a large integer program, found by varying a part of its variables at a time.

Let ``x`` be a point of ``min c x : l <= A x <= u`` and ``G_1, G_2, ..`` groups of its variables. For ``m``
groups that share no variable, with ``F`` their union, the *neighbourhood* of ``x`` is the program

    min  sum_F c_j y_j    s.t.  l - sum_not_F A_j x_j <= sum_F A_j y_j <= u - sum_not_F A_j x_j,

searched for at most ``NODES`` nodes. The groups are drawn at random, and ``m`` grows by one each time that
``PATIENCE`` neighbourhoods in a row held nothing better.

In a table with the cells of one code as a group (a plane of a cube) this is strong: a few parallel planes are
nearly a network, so their relaxation is nearly whole, and thousands of variables take hundredths of a second.
Variables that are in no group (slacks, say) move along with every group that shares a row with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tacita.exact import Cells, Floats, Mask
from tacita.run import Run
from tacita.solvers.highs_mip import solve_mip
from tacita.solvers.program import Program

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NODES = 20
"""Of each neighbourhood's search; most need one."""
PATIENCE = 12
FEWEST = 2
"""One plane alone can hardly move."""
LARGEST_SHARE = 0.5
"""Of the open variables in a neighbourhood; beyond it the program itself is the better question."""
MISSED = 1e-6
"""How far a point may miss a row."""
LEAST_GAIN = 1e-9
"""Share of the loss below which a gain is arithmetic."""


def descend(program: Program, groups: Sequence[Cells], run: Run, start: Floats) -> Iterator[Floats]:
    """Ever better points from ``start`` on, until growing neighbourhoods hold no better one or time is over.

    The points depend on the program, the groups, the start and the seed alone, unless the run is cut short.
    """
    if not groups:
        return
    neighbourhoods, draw = _Neighbourhoods(program, groups), np.random.default_rng(run.seed)
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
            if neighbourhoods.share(free) >= LARGEST_SHARE:
                return
            count, idle = count + 1, 0


def keeps_rows(program: Program, x: Floats) -> bool:
    """Whether a point keeps every row and bound."""
    reached = program.rows @ x
    rows = (reached >= program.row_lower - MISSED) & (reached <= program.row_upper + MISSED)
    return bool(rows.all() and (x >= program.lower).all() and (x <= program.upper).all())


def made_whole(program: Program, x: Floats) -> Floats:
    """The point with its whole variables rounded, inside the bounds."""
    return np.clip(np.where(program.whole, np.rint(x), x), program.lower, program.upper)


class _Neighbourhoods:
    def __init__(self, program: Program, groups: Sequence[Cells]) -> None:
        from scipy.sparse import csr_array

        self.program, self.columns = program, program.rows.tocsc()
        self.open: Mask = program.upper > program.lower
        sizes = [group.size for group in groups]
        pointers, size = np.cumsum([0, *sizes]), program.cost.size
        members = csr_array(
            (np.ones(pointers[-1]), np.concatenate(groups), pointers), shape=(len(groups), size)
        )
        self.apart = np.asarray((members @ members.T).toarray() == 0)
        """Which groups share no variable."""
        self.members = members + self._companions(members)

    def _companions(self, members: csr_array) -> csr_array:
        """Variables in no group, with each group that shares a row with them."""
        from scipy.sparse import csr_array, diags_array

        grouped = np.zeros(self.program.cost.size, dtype=bool)
        grouped[members.indices] = True
        touches = abs(self.program.rows)
        alone = touches @ diags_array(np.where(grouped, 0.0, 1.0))
        alone.eliminate_zeros()
        movable = members @ diags_array(self.open.astype(np.float64))
        return csr_array((movable @ touches.T) @ alone)

    def drawn(self, count: int, draw: np.random.Generator) -> Cells:
        """The open variables of so many groups, or of as many as share no variable."""
        order = draw.permutation(self.apart.shape[0])
        chosen = [int(order[0])]
        for g in order[1:].tolist():
            if len(chosen) == count:
                break
            if self.apart[g, chosen].all():
                chosen.append(g)
        free = np.zeros(self.open.size, dtype=bool)
        for g in chosen:
            of_group = slice(self.members.indptr[g], self.members.indptr[g + 1])
            free[self.members.indices[of_group]] = True
        return np.flatnonzero(free & self.open)

    def share(self, free: Cells) -> float:
        """Of all open variables."""
        return free.size / max(1, int(self.open.sum()))

    def best(self, x: Floats, free: Cells, run: Run) -> Floats | None:
        """The best point found with all other variables as in ``x``; None if nothing better was found."""
        found = solve_mip(self._around(x, free), run, start=x[free], nodes=NODES)
        if not found.point.size:
            return None
        y = x.copy()
        y[free] = found.point
        y = made_whole(self.program, y)
        loss, before = float(self.program.cost @ y), float(self.program.cost @ x)
        improves = loss < before - LEAST_GAIN * max(1.0, abs(before))
        return y if improves and keeps_rows(self.program, y) else None

    def _around(self, x: Floats, free: Cells) -> Program:
        from scipy.sparse import csr_array

        p, part = self.program, csr_array(self.columns[:, free])
        touched = np.flatnonzero(np.diff(part.indptr))
        part = part[touched]
        others = (p.rows @ x)[touched] - part @ x[free]
        return Program(
            p.cost[free],
            p.lower[free],
            p.upper[free],
            p.whole[free],
            part,
            p.row_lower[touched] - others,
            p.row_upper[touched] - others,
        )
