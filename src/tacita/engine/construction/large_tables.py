"""The engine on large tables: a protected pattern soon, a bound, and better patterns while there is time."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from tacita.core.errors import SolverError, StoppedError
from tacita.core.exact import Floats, Mask
from tacita.engine.attack.insider_screening import OutsiderWitness
from tacita.engine.attack.requirements import OUTSIDER, Requirements
from tacita.engine.attack.routing import RoutedMove, Witness
from tacita.engine.attack.separation import Separation
from tacita.engine.attack.unlisted_insiders import Room, WitnessSearch
from tacita.engine.checkpoint import PatternInWork
from tacita.engine.construction.construct import Construction
from tacita.engine.construction.dual_ascent import DualAscent
from tacita.engine.construction.local_moves import CHEAP_FIRST, NEAR_FIRST, LocalMoves
from tacita.engine.construction.near_attacks import NearAttacks
from tacita.engine.construction.neighbourhood import Neighbourhoods
from tacita.engine.construction.region_programs import RegionPrograms
from tacita.engine.search.incumbent import ReleaseSearch
from tacita.solvers.network import Network
from tacita.solvers.row_pool import CutRow

WORTHWHILE = 1e-3
"""Share of its loss that a pass over all hidden cells must save for another one to follow."""
BRIEF = 4.0
"""Work of a brief ascent, in parts of that of the first pattern."""
HALF = 0.5
"""Share of a cell that a point of the relaxation must hide for a pattern near it to hide it at once."""
GUIDING = 1.001
"""A cell that a point of the relaxation hides by ``share`` costs ``GUIDING - share`` times its cost."""
PROMISING = 1.05
"""Loss of a pattern near the relaxation's point, in parts of the incumbent's, up to which it is improved."""
SHARE_OF_PROPOSAL = 0.05
"""Share of the time that is left for improving it."""
IN_VAIN = 0.05
"""Share of the time that is left within which regions must save something for others to follow."""
HIDDEN = (150, 400, 1000)
"""Hidden cells near a target among which an insider's move is searched, until it is found."""


class LargeTable:
    """Suppression patterns of one search, constructed and improved within neighbourhoods.

    They are ``settled`` when the last pass of improvement saved little. The object is also a heuristic that
    returns patterns near points of the search.
    """

    def __init__(self, separation: Separation, search: ReleaseSearch) -> None:
        self.separation, self.search = separation, search
        self.presolved = presolved = separation.presolved
        model = search.model
        switch, table = presolved.switch, model.problem.table
        self._cost = np.where(search.upper[switch] > 0, model.cost[switch], np.inf)
        self._forced = model.lower[switch] > 0
        self._neighbourhoods = Neighbourhoods(presolved)
        self._integer = table.integer and Network.of(table.equations.matrix.tocsc()) is None
        self._insiders = separation.insiders
        self._attacks = NearAttacks(self._neighbourhoods)
        separation.near = self._attacks
        self._ascent: DualAscent | None = None
        self._constant = constant = model.loss(model.lower) - float(self._cost[self._forced].sum())
        tries = NEAR_FIRST if self._insiders else CHEAP_FIRST
        self._moves = LocalMoves(self._neighbourhoods, separation.requirements, self._integer, tries)
        self._run = search.run.translated(lambda loss: loss + constant)
        self._first_seconds = 0.0
        self.settled = False
        self._last = np.zeros(0)
        """The last point near which a pattern was built."""
        self._construction = Construction(self._moves, self._cost, self._forced, self._run, "first release")
        self._adopt(self._construction)

    def construct(self, start: Floats | None = None) -> bool:
        """Offer a first protected pattern to the search, from a start if given; return whether there is one.

        Raises
        ------
        StoppedError
            The time was over before there was one.
        """
        began = self.search.run.seconds
        if not self._resume() and start is not None:
            self._begin_with(start)
        if not self._complete():
            return False
        self._first_seconds = self.search.run.seconds - began
        found = self._offer()
        self.search.report_progress("first release", 1, 1)
        return found

    def improve(self, until: float) -> None:
        """Offer better patterns to the search until passes save little, or so many seconds have passed.

        Where the run asks for a gap they go on until they save nothing, or the gap is reached.
        """
        search, run = self.search, self.search.run
        worthwhile = 0.0 if run.gap else WORTHWHILE
        with suppress(StoppedError, SolverError):
            self._construction.renew()
            if not self._complete():
                return
            self._offer()
            while not run.over and run.seconds < until and not search.closed:
                saved = self._construction.improve(until, search.bound - self._constant)
                if not self._complete() or not self._offer() or saved < worthwhile * search.loss:
                    self.settled = run.seconds < until
                    break

    def improve_by_programs(self, rows: Sequence[CutRow], until: float) -> list[CutRow]:
        """Offer better patterns to the search, region by region by integer programs over cuts, until regions
        save nothing for long or so many seconds of the run have passed; return the cuts with those that were
        found.
        """
        search, run = self.search, self.search.run
        assert search.best is not None
        programs = None
        with suppress(StoppedError, SolverError):
            self._adopt(self._begin_near(self._forced, np.ones(len(self.presolved))))
            self._begin_with(search.best)
            if not self._complete():
                return list(rows)
            self._offer()
            allowed = np.isfinite(self._cost) & (search.upper[self.presolved.switch] > 0)
            cutter = self.separation.cutter
            programs = RegionPrograms(self._construction, self._moves, self._attacks, cutter, rows, allowed)
            patience, saved = IN_VAIN * run.remaining, run.seconds
            while run.seconds < min(until, saved + patience) and not run.over and not search.closed:
                search.report_progress("improving")
                improved = programs.improve_one(run.limited(until - run.seconds))
                if improved is None or (improved and not (self._complete() and self._offer())):
                    break
                saved = run.seconds if improved else saved
        return list(rows) if programs is None else programs.rows

    def __call__(self, x: Floats, thorough: bool = False) -> Floats | None:
        """Return a protected pattern near a fractional point of the search, or None without a better one.

        None, too, near the same point as before, or if less time is left than the first pattern took.
        """
        run = self.search.run
        if run.remaining < self._first_seconds or np.array_equal(x, self._last):
            return None
        self._last = x.copy()
        share = np.clip(x[self.presolved.switch], 0.0, 1.0)
        known, better = self._construction, False
        self._construction = self._begin_near((share > HALF) & np.isfinite(self._cost), GUIDING - share)
        with suppress(StoppedError, SolverError):
            if self._complete():
                self._construction.renew()
                if self._compute_loss() < PROMISING * self.search.loss:
                    self._construction.improve(run.seconds + SHARE_OF_PROPOSAL * run.remaining)
                better = self._complete() and self._compute_loss() < self.search.loss
        self._adopt(self._construction if better else known)
        self.settled &= not better
        return self._read_point() if better else None

    def complete_near(self, hidden: Mask, share: Floats, noise: Floats | float = 1.0) -> Floats | None:
        """Return a protected pattern that hides these cells and others of large ``share``, or None.

        ``noise`` multiplies the costs. Witnesses of the present pattern that these cells allow are kept.
        """
        known = self._construction
        self._construction = self._begin_near(hidden, (GUIDING - share) * noise)
        self._construction.keep_fitting(known.witnesses)
        found, better = None, False
        with suppress(StoppedError, SolverError):
            if self._complete():
                found, better = self._read_point(), self._compute_loss() <= self.search.loss
        self._adopt(self._construction if better else known)
        return found

    def _begin_near(self, hidden: Mask, factor: Floats) -> Construction:
        """Return a construction that begins with hidden cells, and with costs times a factor."""
        self._moves.requirements = self.separation.requirements
        made = Construction(self._moves, self._cost, self._forced, self._run, "another release")
        made.begin_with(hidden, factor)
        return made

    def _adopt(self, construction: Construction) -> None:
        """Make a construction the present one, whose pattern is improved and kept."""
        self._construction = construction
        construction.keep = None if self.search.kept is None else self._keep
        if len(construction.requirements) < len(self.separation.requirements):
            # Others listed insiders' requirements meanwhile.
            construction.extend(self.separation.requirements)

    def _compute_loss(self) -> float:
        """Return the loss of the present pattern."""
        return self._construction.loss + self._constant

    def bound(self, until: float, brief: bool = False) -> list[CutRow]:
        """Raise the bound of the search by dual ascent; return valid rows for a relaxation.

        An ascent that time ended goes on when it is called again. A ``brief`` one ends where it has solved
        programs over ``BRIEF`` times as many cells as the first pattern took, and is left out where there are
        insiders: a relaxation soon does better.
        """
        search = self.search
        if brief and self._insiders:
            return []
        if self._ascent is None:
            requirements = self.separation.requirements
            self._ascent = DualAscent(self._attacks, requirements, self._cost, self._forced)
        with suppress(StoppedError, SolverError):
            self._ascent.ascend(search.run, until, BRIEF * self._moves.work if brief else np.inf)
        search.raise_bound(search.model.constant + self._ascent.bound)
        if search.kept is not None and self._ascent.complete:
            search.kept.mark_ascended()
        return self._ascent.rows

    def _complete(self) -> bool:
        """Meet all requirements, also those of insiders who turn out to see through the pattern, without
        cells that none uses; return whether that is done.
        """
        while True:
            if not self._construction.build():
                return False
            # Insiders are asked about what is offered: no cell is published after that.
            self._construction.publish_unused()
            unproven = self._insiders.find_unproven(self._construction.requirements, self._search_for)
            if unproven is None:
                return True
            self.separation.list_more(unproven)
            self._construction.extend(self.separation.requirements)

    def _begin_with(self, point: Floats) -> None:
        """Hide what a point of the model hides, as far as that is allowed."""
        hidden = point[self.presolved.switch] > 0.5
        self._construction.begin_with(hidden & np.isfinite(self._cost))

    def _resume(self) -> bool:
        """Begin with what the search remembers from a checkpoint, if there is a pattern; return whether."""
        known = None if self.search.kept is None else self.search.kept.remembered
        if known is None or (known.point is None and known.pattern is None):
            return False
        model, switch = self.search.model, self.presolved.switch
        hidden, pattern = model.lower.copy(), known.pattern
        if pattern is not None:
            hidden[pattern.hidden] = 1.0
        if known.point is not None and (pattern is None or model.loss(known.point) < model.loss(hidden)):
            hidden = known.point
        self._begin_with(hidden)
        if pattern is not None:
            place = np.full(model.size, -1)
            place[switch] = np.arange(switch.size)
            moved = {k: place[cells] for k, cells in pattern.witnesses.items()}
            self._construction.take_witnesses({k: at for k, at in moved.items() if (at >= 0).all()})
        return True

    def _keep(self) -> None:
        """Keep the present pattern and its witnesses in the checkpoint, if that is due."""
        if self.search.kept is not None and self.search.kept.due:
            self.search.kept.keep_pattern(self._describe())

    def _describe(self) -> PatternInWork:
        """Return the present pattern and its witnesses in variables of the model."""
        switch, construction = self.presolved.switch, self._construction
        witnesses = {k: switch[witness.cells] for k, witness in construction.witnesses.items()}
        return PatternInWork(switch[construction.hidden], witnesses)

    def _search_for(self, requirements: Requirements) -> WitnessSearch:
        """Return a search for witnesses of some requirements over cells that the present pattern hides."""
        moves = LocalMoves(self._neighbourhoods, requirements, self._integer)
        return _HiddenSearch(moves, self._construction)

    def _offer(self) -> bool:
        if self.search.kept is not None:
            self.search.kept.keep_pattern(self._describe())
        return self.search.offer(self._read_point())

    def _read_point(self) -> Floats:
        """Return the present pattern as a point of the model."""
        x = self.search.model.lower.copy()
        x[self.presolved.switch[self._construction.hidden]] = 1.0
        return x


class _HiddenSearch(WitnessSearch):
    """Searches for witnesses of requirements over the hidden cells nearest to their targets."""

    def __init__(self, moves: LocalMoves, construction: Construction) -> None:
        super().__init__(moves.presolved, moves.requirements)
        self._moves, self._hidden = moves, construction.hidden
        self._marginal_cost = np.where(construction.hidden, 0.0, np.inf)
        listed, self._witnesses = construction.requirements, construction.witnesses
        outsider = np.flatnonzero((listed.attacker == OUTSIDER) & ~listed.conditional)
        self._numbers = outsider if (moves.requirements.attacker == OUTSIDER).any() else None

    def fits(self, witness: OutsiderWitness) -> bool:
        return all(self._hidden[self.presolved.position[cells]].all() for cells, _ in witness.moves)

    def find_known(self, k: int) -> Witness | None:
        return None if self._numbers is None else self._witnesses.get(int(self._numbers[k]))

    def find_move(self, k: int, direction: int, length: float, room: Room) -> RoutedMove | None:
        each = (
            self._moves.route(
                k, direction, length, self._marginal_cost, self._hidden, room=room, near_hidden=near
            )
            for near in HIDDEN
        )
        return next((move for move in each if move is not None), None)
