"""Windows that contain a witness of every requirement, for models whose variables can only widen windows.

The cheapest move of a requirement is a linear program over a neighbourhood of its cell, in which what
windows contain already is free:

    min  sum_i  w+_i p_i + w-_i q_i    s.t.  M (f + p - g - q) = 0,   s (f + p - g - q)_target = L,
         0 <= f <= have+,  0 <= g <= have-,   0 <= p, 0 <= q,   no cell beyond what the attacker believes.

    build     from the smallest level to the largest: each requirement takes its cheapest move, and windows
              are widened by what it needs beyond them
    improve   each requirement's witness is given up and found anew, at the windows of all others

The union of the witnesses' windows protects at any time.
"""

from __future__ import annotations

import numpy as np

from tacita.core.errors import SolverError, StoppedError
from tacita.core.exact import Floats, Mask
from tacita.core.run import Run
from tacita.engine.attack.cuts import Cutter
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.requirements import Requirements
from tacita.engine.attack.routing import CARRIED, RoutedMove, list_shares
from tacita.engine.attack.separation import Separation
from tacita.engine.construction.growing_windows import NO_VARIABLE, GrowingWindows
from tacita.engine.construction.neighbourhood import NARROW, Neighbourhoods
from tacita.engine.construction.neighbourhood_kernels import SmallProgram
from tacita.engine.model import Model
from tacita.engine.search.incumbent import ReleaseSearch
from tacita.solvers.highs import SmallPrograms
from tacita.solvers.network import Network

NEAR = 600
"""Cells in the first neighbourhood of a requirement; the next ones are each four times as large."""
FAINT = 1e-6
"""Cost of what windows contain already, in parts of the most expensive unit: enough to keep moves short."""
ROUNDS = 20
"""Times that requirements which come up with a point, such as those of insiders, are met as well."""
WORTHWHILE = 1e-3
"""Share of its loss that a pass over all requirements must save for another one to follow."""
REPORT_EVERY = 50
"""Requirements between two reports of progress."""


class WindowConstruction:
    """Windows over a presolved table, the witnesses that they contain, and which of them need how much.

    ``needed`` holds the units above (row 0) and below (row 1) each cell that some witness needs.
    """

    def __init__(self, growing: GrowingWindows, separation: Separation, search: ReleaseSearch) -> None:
        self.growing, self.separation, self.search = growing, separation, search
        self.presolved = presolved = growing.presolved
        table = presolved.model.problem.table
        self.needed, self._least = growing.least.copy(), growing.least.copy()
        self.suppressed = growing.always_suppressed.copy()
        self.witnesses: dict[int, list[RoutedMove]] = {}
        self._users: dict[tuple[int, int], dict[int, float]] = {}
        integer = table.integer and Network.of(table.equations.matrix.tocsc()) is None
        self._unit = float(table.unit) if integer else 0.0
        self._typical = float(np.median(self.requirements.level)) if len(self.requirements) else 1.0
        self._price = np.minimum(growing.cost.min(axis=0) * self._typical, growing.switch_cost)
        self._price[self.suppressed] = 0.0
        finite = self._price[np.isfinite(self._price)]
        self._near = Neighbourhoods(presolved, float(np.median(finite)) if finite.size else 1.0)
        self._programs = SmallPrograms()

    @property
    def requirements(self) -> Requirements:
        """The requirements that windows must meet: those that separation lists now."""
        return self.separation.requirements

    def contain(self, x: Floats) -> None:
        """Begin with the windows of a point, which stay as they are while witnesses are added."""
        windows = self.presolved.find_windows_at(x)
        self._least = np.maximum(self._least, np.stack([windows.above, windows.below]))
        self.needed = np.maximum(self.needed, self._least)
        self.suppressed |= windows.share > 0.5
        self._price[(self.needed > 0).any(axis=0)] = 0.0

    def construct(self) -> bool:
        """Offer a first protected point to the search; return whether there is one.

        Raises
        ------
        StoppedError
            The time was over before there was one.
        """
        search, done = self.search, self._meet_all("first release")
        self.search.report_progress("first release", 1, 1)
        return done and search.best is not None

    def improve(self, until: float) -> None:
        """Offer better points to the search until passes save little, or so many seconds have passed."""
        run = self.search.run
        while not run.over and run.seconds < until:
            before = self.search.loss
            try:
                self._pass_once(until)
                met = self._meet_all("improving")
            except (StoppedError, SolverError):
                return
            if not met or before - self.search.loss <= WORTHWHILE * abs(before):
                return

    def meet(self, numbers: list[int], phase: str = "first release") -> bool:
        """Widen windows for some requirements, from the smallest level on; return whether all can be met."""
        order = sorted(numbers, key=lambda k: int(self.requirements.level[k]))
        for done, k in enumerate(order):
            self._report(phase, done, len(order))
            found = self._find_cheapest(k)
            if found is None:
                return False
            self._keep(k, found)
        return True

    def _meet_all(self, phase: str) -> bool:
        """Meet all requirements that count, also those that come up with the point, and offer it."""
        for _ in range(ROUNDS):
            x = self.growing.find_point(self.needed, self.search.run)
            if x is None:
                return False
            waiting = self._list_waiting(x)
            if not waiting:
                known = len(self.requirements)
                if self.separation.holds_against_insiders(x):
                    self.search.offer(x)
                    return True
                waiting = list(range(known, len(self.requirements)))
            if not waiting or not self.meet(waiting, phase):
                return False
        return False

    def _list_waiting(self, x: Floats) -> list[int]:
        """Return the requirements that count at a point and have no witness yet."""
        counts = self.requirements.find_required_shares(x) > 0.5
        counts &= self.presolved.position[self.requirements.cell] >= 0
        return [k for k in np.flatnonzero(counts).tolist() if k not in self.witnesses]

    def _pass_once(self, until: float) -> None:
        """Give up the witness of each requirement and find it anew, the largest levels first."""
        run = self.search.run
        order = sorted(self.witnesses, key=lambda k: -int(self.requirements.level[k]))
        for done, k in enumerate(order):
            if run.over or run.seconds > until:
                return
            self._report("improving", done, len(order))
            old = self._drop(k)
            before = self._price_moves(old)
            new = self._find_cheapest(k)
            self._keep(k, old if new is None or self._price_moves(new) > before else new)

    def _find_cheapest(self, k: int) -> list[RoutedMove] | None:
        """Return the cheapest moves found that meet a requirement, or None; neighbourhoods grow meanwhile."""
        size, last = NEAR, len(self.presolved)
        while True:
            ways = [self._route_way(k, way, size) for way in list_shares(int(self.requirements.sign[k]))]
            found = [moves for moves in ways if moves is not None]
            if found:
                return min(found, key=self._price_moves)
            if size >= last:
                return None
            size = min(4 * size, last)

    def _route_way(self, k: int, way: list[tuple[int, float]], size: int) -> list[RoutedMove] | None:
        """Return moves of so many levels each in some directions, in units, or None."""
        moves = []
        for direction, length in way:
            move = self._route(k, direction, length, size)
            if move is None:
                return None
            moves.append(move)
        return moves

    def _route(self, k: int, direction: int, length: float, size: int) -> RoutedMove | None:
        """Return the cheapest move of a requirement's cell by ``length`` levels over a neighbourhood."""
        requirements, near = self.requirements, self._near
        target, level = int(self.presolved.position[requirements.cell[k]]), float(requirements.level[k])
        found = near.gather_cheap(target, self._price, size, 1.0)
        program = near.state(requirements, k, direction, length, self._price, found)
        if program is None:
            return None
        have, more, cost = self._find_tiers(program, level)
        lower = program.lower
        if (lower > have + more + CARRIED).any():
            return None
        first = np.minimum(lower, have)
        bounds = np.concatenate([first, lower - first]), np.concatenate([have, more])
        bounds = bounds[0], np.maximum(*bounds)
        faint = FAINT * max(float(cost.max(initial=0.0)), FAINT)
        costs = np.concatenate([np.full(cost.size, faint), cost + faint])
        point = self._solve(program, costs, bounds, level)
        if point is None:
            return None
        n = program.cells.size
        both = point[: 2 * n] + point[2 * n :]
        change = both[:n] - both[n:]
        used = np.abs(change) > CARRIED
        return RoutedMove(program.cells[used], change[used] * level)

    def _solve(
        self, program: SmallProgram, costs: Floats, bounds: tuple[Floats, Floats], level: float
    ) -> Floats | None:
        """Return the cheapest point of the program with two tiers, in integers where moves must be."""
        # The columns of the second tier are those of the first.
        starts = np.concatenate([program.starts, program.starts[1:] + program.starts[-1]])
        columns = starts.astype(np.int32), np.tile(program.row, 2), np.tile(program.entry, 2)
        point = self._programs.solve(costs, bounds, columns, program.rows.size)
        if point is None or not self._unit:
            return point
        steps = level / self._unit
        if np.abs(point * steps - np.rint(point * steps)).max(initial=0.0) <= CARRIED:
            return point
        lower = np.ceil(bounds[0] * steps - CARRIED)
        within = lower, np.maximum(lower, np.floor(bounds[1] * steps + CARRIED))
        # What is an integer stays so, but for columns that share a row with one that is not.
        near = _find_near_fractions(program, point * steps)
        given = np.clip(np.rint(point * steps), *within)
        nearby = np.where(near, within[0], given), np.where(near, within[1], given)
        for bound in (nearby, within):
            found = self._programs.solve(costs / steps, bound, columns, program.rows.size, integer=True)
            if found is not None:
                return np.rint(found) / steps
        return None

    def _find_tiers(self, program: SmallProgram, level: float) -> tuple[Floats, Floats, Floats]:
        """Return, in levels, what windows contain of each column's move, what they could contain beyond, and
        the cost of a level of that.
        """
        growing, cells = self.growing, program.cells
        room, suppressed = program.upper.reshape(2, -1), self.suppressed[cells]
        switch = growing.switch_cost[cells]
        most = np.where(np.isfinite(switch), np.inf, growing.most[:, cells] / level)
        upper = np.minimum(room, most)
        have = np.where(suppressed, upper, np.minimum(self.needed[:, cells] / level, upper))
        # A level costs what the end costs, or what suppression costs, spread over what it lets the cell move.
        by_end = growing.cost[:, cells] * level
        by_switch = switch / np.clip(room, NARROW, 1.0)
        cost = np.minimum(by_end, by_switch)
        more = np.where(np.isfinite(cost), upper - have, 0.0)
        return have.ravel(), more.ravel(), np.where(np.isfinite(cost), cost, 0.0).ravel()

    def _price_moves(self, moves: list[RoutedMove]) -> float:
        """Return what it costs to widen windows so that they contain some moves."""
        cells = np.unique(np.concatenate([move.cells for move in moves]))
        needed = np.zeros((2, cells.size))
        for move in moves:
            at = np.searchsorted(cells, move.cells)
            needed[:, at] = np.maximum(needed[:, at], [move.change, -move.change])
        needed[:, self.suppressed[cells]] = 0.0
        more = np.maximum(needed - self.needed[:, cells], 0.0)
        cost = self.growing.cost[:, cells]
        each = np.multiply(more, cost, out=np.zeros_like(more), where=more > 0).sum(axis=0)
        return float(np.minimum(each, self.growing.switch_cost[cells])[(more > 0).any(axis=0)].sum())

    def _keep(self, k: int, moves: list[RoutedMove]) -> None:
        """Make moves the witness of requirement ``k``, and widen windows so that they contain them."""
        self.witnesses[k] = moves
        for move in moves:
            for cell, change in zip(move.cells.tolist(), move.change.tolist(), strict=True):
                side = 0 if change > 0 else 1
                users = self._users.setdefault((side, cell), {})
                users[k] = max(users.get(k, 0.0), abs(change))
                self.needed[side, cell] = max(self.needed[side, cell], abs(change))
        cells = np.unique(np.concatenate([move.cells for move in moves]))
        self._price[cells] = 0.0
        ends = self.growing.variable[:, cells] != NO_VARIABLE
        needed = self.needed[:, cells]
        by_end = np.multiply(needed, self.growing.cost[:, cells], out=np.zeros_like(needed), where=ends)
        alone = ((needed > self._least[:, cells]) & ~ends).any(axis=0)
        self.suppressed[cells] |= alone | (by_end.sum(axis=0) > self.growing.switch_cost[cells])

    def _drop(self, k: int) -> list[RoutedMove]:
        """Forget the witness of requirement ``k``, narrow windows to what others need, and return it."""
        moves = self.witnesses.pop(k)
        for cell in np.unique(np.concatenate([move.cells for move in moves])).tolist():
            for side in (0, 1):
                users = self._users.get((side, cell), {})
                if users.pop(k, None) is not None:
                    self.needed[side, cell] = max(self._least[side, cell], *users.values(), 0.0)
            if not any(self._users.get((side, cell)) for side in (0, 1)):
                self._free(cell)
        return moves

    def _free(self, cell: int) -> None:
        """Take a cell that no witness needs as one that costs what it costs."""
        growing = self.growing
        cost = min(float(growing.cost[:, cell].min()) * self._typical, float(growing.switch_cost[cell]))
        if not (self.needed[:, cell] > 0).any() and not growing.always_suppressed[cell]:
            self.suppressed[cell], self._price[cell] = False, cost

    def _report(self, phase: str, done: int, total: int) -> None:
        """Report progress now and then; raise an error when the time is over before there is a release."""
        run: Run = self.search.run
        if done % REPORT_EVERY == 0:
            self.search.report_progress(phase, done, total)
        if run.over:
            fault = "stopped before a first protected release was found"
            raise StoppedError(fault, remedy="allow more time", options=["time_limit"])


def widen_windows(model: Model, x: Floats, requirements: Requirements, run: Run) -> Floats | None:
    """Return a point of the engine's model whose windows contain those of ``x`` and moves, in integers for
    counts, that meet some requirements; None where windows do not only grow, or none are wide enough.
    """
    presolved = PresolvedTable.of(model)
    growing = GrowingWindows.of(presolved)
    if growing is None:
        return None
    search = ReleaseSearch(model, run)
    separation = Separation(presolved, requirements, Cutter(presolved, search.lower, search.upper), run)
    construction = WindowConstruction(growing, separation, search)
    construction.contain(x)
    if not construction.meet(list(range(len(requirements))), "integer moves"):
        return None
    return growing.find_point(construction.needed, run)


def _find_near_fractions(program: SmallProgram, point: Floats) -> Mask:
    """Return a mask of the columns, in two tiers, that share a row with one that is not an integer."""
    columns = program.starts.size - 1
    distance = np.abs(point - np.rint(point)).reshape(2, columns).max(axis=0)
    fraction = np.asarray(distance > CARRIED)
    of_entry = np.repeat(np.arange(columns), np.diff(program.starts))
    rows = np.zeros(program.rows.size, dtype=bool)
    rows[program.row[fraction[of_entry]]] = True
    near = np.zeros(columns, dtype=bool)
    near[of_entry[rows[program.row]]] = True
    return np.tile(near, 2)
