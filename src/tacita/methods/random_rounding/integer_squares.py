"""Integer moves of least weighted squares: ``min sum_i w_i z_i^2 : M z = 0, lower <= z <= upper``, z integer.

A square is convex, so on integers it is a sum of *segments* of rising slope, which the cheapest choice takes
in order. Segments of one step each are exact, but there may be millions of them. So around a centre ``c``
only the first few are single steps and the others double in length. A segment from ``p`` away from the centre
to ``q`` has one of two slopes:

    secant   w (p + q)      the loss is too large within long segments: the optimum is no worse than ``c``
    tangent  w (2 p +- 1)   the loss is too small beyond the first step: the optimum is a lower bound

Both are exact at ``c`` and as far as single steps reach. Secants are solved, and the centre moved, until
there is no improvement; then tangents give the lower bound. On a network the gap is zero: a flow that no
exchange of single steps improves is a cheapest one. Elsewhere single steps reach farther each time until the
two meet. Each program is a cheapest flow, or an integer program where the open cells are no network.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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
"""Relative gap that counts as rounding error."""
ROUNDING = 1e-14
"""Relative rounding error of a sum of floats."""
SEGMENTS = {True: 200_000, False: 20_000}
"""Most single steps at first, on networks and elsewhere."""
REACH = 32
"""Most single steps on each side of a centre at first."""
FARTHER = 4
"""Factor by which single steps reach farther where bound and loss do not meet."""


@dataclass(frozen=True, eq=False)
class IntegerSquares:
    """The optimisation problem; ``weight`` is the loss of a single step.

    Attributes
    ----------
    network
        Of all cells that can move; None if they are no network.
    """

    structure: Structure
    network: Network | None
    weight: Floats
    lower: Units
    upper: Units

    def loss(self, z: Units) -> float:
        return float((self.weight * z.astype(np.float64) ** 2).sum())


@dataclass(frozen=True, eq=False)
class SquaresSolution:
    """Moves, their loss, and a lower bound on the loss of all moves."""

    z: Units
    loss: float
    bound: float

    @property
    def proven(self) -> bool:
        return self.loss - self.bound <= NOISE * self.loss


def build_network(structure: Structure, open_cells: Mask) -> Network | None:
    """Return the network of the cells that a random rounding adjusts, others fixed, which may exist where
    that of the table does not; None if there is none.
    """
    columns = structure.equations.matrix.tocsc(copy=True)
    columns.data[np.repeat(~open_cells, np.diff(columns.indptr))] = 0
    columns.eliminate_zeros()
    if (np.diff(columns.indptr) > 2).any():
        # Redundant equations are found only where their totals are in them.
        return Network.of(structure.equations.matrix)
    return Network.of(columns)


def minimise_squares(task: IntegerSquares, run: Run) -> SquaresSolution | None:
    """Return the best integer moves of a random rounding, proven if in time; None if proven infeasible.

    Raises
    ------
    StoppedError
        The time was over, or the run cancelled, before any moves were found.
    """
    search = _SquaresSearch(task, run)
    if not search.improve():
        return None
    try:
        search.finish()
    except StoppedError:
        if not run.over:
            raise
    return search.best


class _SquaresSearch:
    """The best moves so far, the centre of the segments."""

    def __init__(self, task: IntegerSquares, run: Run) -> None:
        self.task, self.run = task, run
        self.best = SquaresSolution(np.clip(0, task.lower, task.upper), np.inf, 0.0)
        open_cells = int(np.count_nonzero(task.upper > task.lower))
        most = SEGMENTS[task.network is not None] // max(1, 2 * open_cells)
        self.reach = int(np.clip(most, 1, REACH))
        self._exact = False

    def finish(self) -> None:
        """Improve moves and bound of a random rounding, by ever more single steps, until the two meet."""
        while not self.is_done():
            while self.improve() and not self.is_done():
                self.run.report("adjusting", 0, 0, incumbent=self.best.loss, bound=self.best.bound)
            self.prove()
            if self.task.network is not None or self.best.proven:
                return
            if self.run.accepts(self.best.loss, self.best.bound):
                return
            self.reach *= FARTHER

    def is_done(self) -> bool:
        """Return whether single steps reached all moves of the random rounding, or the time is over."""
        return self._exact or self.run.over

    def improve(self) -> bool:
        """Find better integer moves of a random rounding by secants; return whether there are any."""
        task, centre = self.task, self.best.z
        found = _solve_segments(
            task, centre, _build_segments(task, centre, self.reach, secant=True), self.run
        )
        if found is None:
            return False
        z, least = found
        # The gain, without the cancellation in a difference of two losses.
        change = task.weight * (z - centre).astype(np.float64) * (z + centre)
        better = self.best.loss == np.inf or bool(change.sum() < -ROUNDING * np.abs(change).sum())
        farthest = max(int((task.upper - centre).max(initial=0)), int((centre - task.lower).max(initial=0)))
        if farthest > self.reach:
            self._keep(z if better else centre, self.best.bound)
            return better
        # All segments are single steps: losses are exact, and the bound holds for all moves.
        self._keep(z if better else centre, max(self.best.bound, least))
        self._exact = True
        return better

    def prove(self) -> None:
        """Raise the lower bound on the loss of a random rounding by tangents."""
        if self.is_done():
            return
        laid = _build_segments(self.task, self.best.z, self.reach, secant=False)
        # Tangents lie below the loss: that they are within a gap says nothing of the loss.
        found = _solve_segments(self.task, self.best.z, laid, replace(self.run, gap=0.0))
        if found is not None:
            self._keep(self.best.z, max(self.best.bound, found[1]))

    def _keep(self, z: Units, bound: float) -> None:
        loss = self.task.loss(z)
        self.best = SquaresSolution(z, loss, min(loss, bound))


def _build_segments(task: IntegerSquares, centre: Units, reach: int, secant: bool) -> Pieces:
    """Return the segments of a random rounding's loss from a centre to the bounds, on either side. Their
    costs are relative to the centre, so that there is no cancellation near an optimum.
    """
    cells, signs, lengths, costs = [], [], [], []
    near, left = 0, True
    while left:
        far = near + 1 if near < reach else 2 * near - reach + 2
        left = False
        for sign, end in ((1, task.upper), (-1, task.lower)):
            room = sign * (end - centre)
            at = np.flatnonzero(room > near)
            length = np.minimum(far, room[at]) - near
            start = sign * centre[at] + near
            slope = 2.0 * start + (length if secant else 1)
            cells.append(at)
            signs.append(np.full(at.size, sign))
            lengths.append(length)
            costs.append(task.weight[at] * slope)
            left |= bool(at.size)
        near = far
    return Pieces(*(np.concatenate(parts) for parts in (cells, signs, lengths, costs)))


def _solve_segments(
    task: IntegerSquares, centre: Units, laid: Pieces, run: Run
) -> tuple[Units, float] | None:
    """Return a random rounding's cheapest moves by segments, and a lower bound; None if there are none."""
    rest, begun = -np.asarray(task.structure.equations.matrix @ centre), task.loss(centre)
    if not laid.cell.size:
        return None if rest.any() else (centre, begun)
    if task.network is None:
        found = _solve_program(task.structure, laid, rest, run.translated(lambda change: begun + change))
    else:
        flow = laid.find_cheapest_flow(task.network, rest, run)
        found = None if flow is None else (flow.amount, flow.bound)
    return None if found is None else (centre + laid.sum_changes(found[0], centre.size), begun + found[1])


def _solve_program(structure: Structure, laid: Pieces, rest: Units, run: Run) -> tuple[Units, float] | None:
    rows, even = laid.make_columns(structure.equations.matrix), rest.astype(np.float64)
    # Solvers have absolute tolerances.
    scale = float(np.median(np.abs(laid.cost)))
    upper = laid.most.astype(np.float64)
    program = LinearProgram(laid.cost / scale, np.zeros(upper.size), upper, rows, even, even).in_integers()
    run = run.translated(lambda cost: cost * scale)
    try:
        solution = solve_integer_program(program, group_by_code(structure, laid.cell), run)
    except InfeasibleError:
        return None
    return np.rint(solution.x).astype(np.int64), solution.bound * scale
