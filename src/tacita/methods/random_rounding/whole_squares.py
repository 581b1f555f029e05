"""The whole moves of least weighted squares: ``min sum_i w_i z_i^2 : M z = 0, lower <= z <= upper``, z whole.

A square is convex, so on whole numbers it is a sum of *segments* of rising slope, of which the cheapest
choice takes the flat ones first. Segments of one step each say it exactly, but there may be millions of them.
So around a centre ``c`` only the first few are single steps and the others are twice as long each time. A
segment from ``p`` away from the centre to ``q`` may have one of two slopes:

    secant   w (p + q)      the loss is too large within long segments: the optimum is no worse than ``c``
    tangent  w (2 p +- 1)   the loss is too small beyond the first step: the optimum is a bound for all moves

Both are exact at ``c`` and as far as single steps go. Secants are solved, and the centre moved, until nothing
improves; then tangents say what is left to be gained. On a network that is nothing: a flow that no exchange
of single steps improves is a cheapest one. Elsewhere the single steps reach farther each time until the two
meet. Each of these is a cheapest flow, or an integer program where the open cells are no network.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacita.core.errors import InfeasibleError, StoppedError
from tacita.core.exact import Floats, Mask, Units
from tacita.core.run import Run
from tacita.core.tables.structure import Structure
from tacita.solvers.integer_pieces import Pieces, group_by_code
from tacita.solvers.integer_programs import solve_integer_program
from tacita.solvers.linear_program import LinearProgram
from tacita.solvers.network import Network

NOISE = 1e-9
"""Share of a loss within which bound and loss are the same."""
ROUNDING = 1e-14
"""Share of its terms that a sum of floats may miss."""
SEGMENTS = {True: 200_000, False: 20_000}
"""So many single steps are listed at first, on networks and elsewhere."""
REACH = 32
"""Single steps on each side of a centre where there is room for them."""
FARTHER = 4
"""Factor by which single steps reach farther where a bound does not meet."""


@dataclass(frozen=True, eq=False)
class IntegerSquares:
    """Which whole moves are asked for; ``weight`` is the loss of a single step.

    Attributes
    ----------
    network
        That of all cells but some which never move; None if they are no network.
    """

    structure: Structure
    network: Network | None
    weight: Floats
    lower: Units
    upper: Units

    def loss(self, z: Units) -> float:
        return float((self.weight * z.astype(np.float64) ** 2).sum())


@dataclass(frozen=True, eq=False)
class Moved:
    """Moves, what they lose, and what no moves lose less than."""

    z: Units
    loss: float
    bound: float

    @property
    def proven(self) -> bool:
        return self.loss - self.bound <= NOISE * self.loss


def network_of(structure: Structure, open_cells: Mask) -> Network | None:
    """The network of some cells when all others stay: less is asked of it than of the whole table."""
    columns = structure.equations.matrix.tocsc(copy=True)
    columns.data[np.repeat(~open_cells, np.diff(columns.indptr))] = 0
    columns.eliminate_zeros()
    if (np.diff(columns.indptr) > 2).any():
        # Which equations follow from others can be told only where their totals are in them.
        return Network.of(structure.equations.matrix)
    return Network.of(columns)


def least_squares(asked: IntegerSquares, run: Run) -> Moved | None:
    """The best moves, proven unless the time ended first; None if there are none at all, which is proven.

    Raises
    ------
    StoppedError
        The time was over, or a cancel came, before any moves were found.
    """
    search = _SquaresSearch(asked, run)
    if not search.improve():
        return None
    try:
        search.finish()
    except StoppedError:
        if not run.over:
            raise
    return search.best


class _SquaresSearch:
    """The best moves so far, around which segments are laid."""

    def __init__(self, asked: IntegerSquares, run: Run) -> None:
        self.asked, self.run = asked, run
        self.best = Moved(np.clip(0, asked.lower, asked.upper), np.inf, 0.0)
        open_cells = int(np.count_nonzero(asked.upper > asked.lower))
        most = SEGMENTS[asked.network is not None] // max(1, 2 * open_cells)
        self.reach = int(np.clip(most, 1, REACH))
        self._exact = False

    def finish(self) -> None:
        """Improve and prove, with single steps that reach farther each time, until bound and loss meet."""
        while not self.done():
            while self.improve() and not self.done():
                self.run.report("adjusting", 0, 0, incumbent=self.best.loss, bound=self.best.bound)
            self.prove()
            if self.asked.network is not None or self.best.proven:
                return
            self.reach *= FARTHER

    def done(self) -> bool:
        """Whether all that could be better was looked at in single steps, or the time is over."""
        return self._exact or self.run.over

    def improve(self) -> bool:
        """Better moves by secants; False if there are none."""
        asked, centre = self.asked, self.best.z
        found = _cheapest(asked, centre, _segments(asked, centre, self.reach, secant=True), self.run)
        if found is None:
            return False
        z, least = found
        # What is gained, without the digits that cancel in the difference of two losses.
        change = asked.weight * (z - centre).astype(np.float64) * (z + centre)
        better = self.best.loss == np.inf or bool(change.sum() < -ROUNDING * np.abs(change).sum())
        farthest = max(int((asked.upper - centre).max(initial=0)), int((centre - asked.lower).max(initial=0)))
        if farthest > self.reach:
            self._keep(z if better else centre, self.best.bound)
            return better
        # All segments are single steps: nothing was too large, and the bound is one for all moves.
        self._keep(z if better else centre, max(self.best.bound, least))
        self._exact = True
        return better

    def prove(self) -> None:
        """The bound by tangents."""
        if self.done():
            return
        laid = _segments(self.asked, self.best.z, self.reach, secant=False)
        found = _cheapest(self.asked, self.best.z, laid, self.run)
        if found is not None:
            self._keep(self.best.z, max(self.best.bound, found[1]))

    def _keep(self, z: Units, bound: float) -> None:
        loss = self.asked.loss(z)
        self.best = Moved(z, loss, min(loss, bound))


def _segments(asked: IntegerSquares, centre: Units, reach: int, secant: bool) -> Pieces:
    """Segments from a centre to the bounds, on either side, cheap ones nearest to it. Losses are counted from
    the centre on, so that near an optimum no digits cancel.
    """
    cells, signs, lengths, costs = [], [], [], []
    near, left = 0, True
    while left:
        far = near + 1 if near < reach else 2 * near - reach + 2
        left = False
        for sign, end in ((1, asked.upper), (-1, asked.lower)):
            room = sign * (end - centre)
            at = np.flatnonzero(room > near)
            length = np.minimum(far, room[at]) - near
            start = sign * centre[at] + near
            slope = 2.0 * start + (length if secant else 1)
            cells.append(at)
            signs.append(np.full(at.size, sign))
            lengths.append(length)
            costs.append(asked.weight[at] * slope)
            left |= bool(at.size)
        near = far
    return Pieces(*(np.concatenate(parts) for parts in (cells, signs, lengths, costs)))


def _cheapest(asked: IntegerSquares, centre: Units, laid: Pieces, run: Run) -> tuple[Units, float] | None:
    """The cheapest moves by segments, and a bound on what any cost; None if there are none."""
    rest, begun = -np.asarray(asked.structure.equations.matrix @ centre), asked.loss(centre)
    if not laid.cell.size:
        return None if rest.any() else (centre, begun)
    if asked.network is None:
        found = _by_program(asked.structure, laid, rest, run)
    else:
        flow = laid.find_cheapest_flow(asked.network, rest, run)
        found = None if flow is None else (flow.amount, flow.bound)
    return None if found is None else (centre + laid.sum_changes(found[0], centre.size), begun + found[1])


def _by_program(structure: Structure, laid: Pieces, rest: Units, run: Run) -> tuple[Units, float] | None:
    rows, even = laid.columns(structure.equations.matrix), rest.astype(np.float64)
    # Solvers judge costs by absolute tolerances.
    scale = float(np.median(np.abs(laid.cost)))
    upper = laid.most.astype(np.float64)
    program = LinearProgram(laid.cost / scale, np.zeros(upper.size), upper, rows, even, even).in_integers()
    try:
        solution = solve_integer_program(program, group_by_code(structure, laid.cell), run)
    except InfeasibleError:
        return None
    return np.rint(solution.x).astype(np.int64), solution.bound * scale
