"""Large neighbourhood search for integer programs: better points by varying some variables at a time.

Let ``x`` be a point of ``min c x : l <= A x <= u``. With all variables outside a set ``F`` fixed, what is
left is the *neighbourhood*

    min  sum_F c_j y_j    s.t.  l - sum_not_F A_j x_j <= sum_F A_j y_j <= u - sum_not_F A_j x_j,

searched for at most ``NODES`` nodes. ``F`` is the union of ``m`` random groups, of those given, that share no
variable. In a table with the cells of one code as a group these are parallel planes of a cube. A few planes
are nearly a network, so their relaxation is nearly integer, and thousands of variables take hundredths of a
second. With more dimensions intersections of groups are planes: where a variable is in ``d > 3`` groups,
``m`` groups of each of ``d - 2`` kinds are drawn, and ``F`` is their intersection over kinds. ``m`` grows
each time that ``PATIENCE`` neighbourhoods in a row held nothing better. Variables in no group (such as
slacks) vary with all that share a row with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.solvers.highs import solve_mip
from tacita.solvers.linear_program import IntegerProgram

NODES = 20
"""Nodes of each neighbourhood's search; most need one."""
PATIENCE = 12
FEWEST = 2
"""Groups of the first neighbourhoods: the cells of one plane alone can hardly change."""
GROWTH = 4
"""The number of groups grows by this part of itself, at least by one."""
LARGEST_SHARE = 0.5
"""Share of the variables in a neighbourhood above which the program itself is as easy."""
MISSED = 1e-6
"""By how much a feasible point may violate a row."""
LEAST_GAIN = 1e-9
"""Gain, as a share of the loss, that is not an error of arithmetic."""


def descend(
    program: IntegerProgram,
    groups: Sequence[Cells],
    run: Run,
    start: Floats,
    tell: Callable[[], None] | None = None,
) -> Iterator[Floats]:
    """Yield better and better points of an integer program, until no neighbourhood improves or time is over.

    ``tell`` is called before each neighbourhood.
    The points depend on the program, the groups, the start and the seed alone, unless the run is cut short.
    """
    if not groups:
        return
    neighbourhoods, draw = _Neighbourhoods(program, groups), np.random.default_rng(run.search)
    x, count, idle = start, FEWEST, 0
    while not run.over:
        if tell is not None:
            tell()
        free = neighbourhoods.draw(count, draw)
        better = neighbourhoods.find_better(x, free, run)
        if better is not None:
            x, idle = better, 0
            yield x
            continue
        idle += 1
        if idle >= PATIENCE:
            if neighbourhoods.find_share(free) >= LARGEST_SHARE or count >= len(groups):
                return
            count, idle = count + max(1, count // GROWTH), 0


def is_feasible(program: IntegerProgram, x: Floats) -> bool:
    """Return whether a point satisfies every row and bound of an integer program."""
    reached = program.rows @ x
    rows = (reached >= program.row_lower - MISSED) & (reached <= program.row_upper + MISSED)
    return bool(rows.all() and (x >= program.lower).all() and (x <= program.upper).all())


def round_to_integers(program: IntegerProgram, x: Floats) -> Floats:
    """Return a point of an integer program with integer variables rounded, within the bounds."""
    return np.clip(np.where(program.integer, np.rint(x), x), program.lower, program.upper)


def _make_neighbourhood(program: IntegerProgram, x: Floats, free: Cells) -> IntegerProgram:
    """Return the integer program in the free variables alone, all others fixed as in ``x``."""
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


def vary(
    program: IntegerProgram, x: Floats, free: Cells, run: Run, start: Floats | None = None
) -> Floats | None:
    """Return a cheap point of an integer program, like ``x`` but for the free variables, or None."""
    found = solve_mip(_make_neighbourhood(program, x, free), run, start=start, nodes=NODES)
    if not found.point.size:
        return None
    y = x.copy()
    y[free] = found.point
    return round_to_integers(program, y)


class _Neighbourhoods:
    """Random neighbourhoods of one program."""

    def __init__(self, program: IntegerProgram, groups: Sequence[Cells]) -> None:
        from scipy.sparse import csr_array, diags_array

        self.program, self.columns = program, program.rows.tocsc()
        self.open: Mask = program.upper > program.lower
        pointers = np.cumsum([0, *(group.size for group in groups)])
        self.members = csr_array(
            (np.ones(pointers[-1]), np.concatenate(groups), pointers), shape=(len(groups), program.cost.size)
        )
        self.apart = np.asarray((self.members @ self.members.T).toarray() == 0)
        """Pairs of groups that share no variable."""
        memberships = np.bincount(self.members.indices, minlength=program.cost.size)
        self.kinds = max(1, int(memberships.max()) - 2)
        self.alone = csr_array(program.rows @ diags_array(np.where(memberships > 0, 0.0, 1.0)))
        """The rows, with only the variables that are in no group."""
        self.alone.eliminate_zeros()

    def draw(self, count: int, draw: np.random.Generator) -> Cells:
        """Return the free variables of a random neighbourhood, made of so many groups of each kind."""
        free, allowed = self.open.copy(), np.ones(self.apart.shape[0], dtype=bool)
        for _ in range(self.kinds):
            if not allowed.any():
                break
            chosen = self._choose_disjoint(count, draw.permutation(np.flatnonzero(allowed)))
            inside = np.zeros(free.size, dtype=bool)
            inside[self.members[chosen].indices] = True
            free &= inside
            allowed &= ~self.apart[chosen].any(axis=0)
            allowed[chosen] = False
        grouped = np.flatnonzero(free)
        touched = np.unique(self.columns[:, grouped].indices)
        free[self.alone[touched].indices] = True
        return np.flatnonzero(free & self.open)

    def _choose_disjoint(self, count: int, order: Cells) -> list[int]:
        """Return the first groups of variables that share none, at most so many."""
        chosen: list[int] = []
        for g in order.tolist():
            if len(chosen) < count and self.apart[g, chosen].all():
                chosen.append(g)
        return chosen

    def find_share(self, free: Cells) -> float:
        """Return a neighbourhood's free variables as a share of all that are not fixed."""
        return free.size / max(1, int(self.open.sum()))

    def find_better(self, x: Floats, free: Cells, run: Run) -> Floats | None:
        """Return a better point of the integer program in a neighbourhood of ``x``, or None without."""
        if not free.size:
            return None
        y = vary(self.program, x, free, run, start=x[free])
        if y is None:
            return None
        loss, before = float(self.program.cost @ y), float(self.program.cost @ x)
        improves = loss < before - LEAST_GAIN * max(1.0, abs(before))
        return y if improves and is_feasible(self.program, y) else None
