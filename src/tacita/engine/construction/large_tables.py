"""The engine on large tables: a protected pattern soon, a bound, and better patterns while there is time."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from tacita.core.errors import SolverError, StoppedError
from tacita.core.exact import Floats
from tacita.engine.attack.insider_screening import OutsiderWitness
from tacita.engine.attack.requirements import OUTSIDER, Requirements
from tacita.engine.attack.routing import RoutedMove, Witness
from tacita.engine.attack.separation import Separation
from tacita.engine.attack.unlisted_insiders import Room, WitnessSearch
from tacita.engine.checkpoint import PatternInWork
from tacita.engine.construction.construct import Construction
from tacita.engine.construction.dual_ascent import DualAscent
from tacita.engine.construction.local_moves import CHEAP_FIRST, NEAR_FIRST, LocalMoves
from tacita.engine.construction.neighbourhood import Neighbourhoods
from tacita.engine.search.incumbent import ReleaseSearch
from tacita.solvers.network import Network
from tacita.solvers.row_pool import CutRow

WORTHWHILE = 1e-3
"""Share of its loss that a pass over all hidden cells must save for another one to follow."""
HIDDEN = (150, 400, 1000)
"""Hidden cells near a target among which an insider's move is searched, until it is found."""


class LargeTable:
    """Suppression patterns of one search, constructed and improved within neighbourhoods."""

    def __init__(self, separation: Separation, search: ReleaseSearch) -> None:
        self.separation, self.search = separation, search
        presolved, model = separation.presolved, search.model
        switch, table = presolved.switch, model.problem.table
        self._cost = np.where(search.upper[switch] > 0, model.cost[switch], np.inf)
        self._forced = model.lower[switch] > 0
        self._neighbourhoods = Neighbourhoods(presolved)
        self._integer = table.integer and Network.of(table.equations.matrix.tocsc()) is None
        self._insiders = separation.insiders
        self._ascent: DualAscent | None = None
        self._constant = constant = model.loss(model.lower) - float(self._cost[self._forced].sum())
        tries = NEAR_FIRST if self._insiders else CHEAP_FIRST
        moves = LocalMoves(self._neighbourhoods, separation.requirements, self._integer, tries)
        run = search.run.translated(lambda loss: loss + constant)
        self._construction = Construction(moves, self._cost, self._forced, run)
        if search.kept is not None:
            self._construction.keep = self._keep

    def construct(self, start: Floats | None = None) -> bool:
        """Offer a first protected pattern to the search, from a start if given; return whether there is one.

        Raises
        ------
        StoppedError
            The time was over before there was one.
        """
        if not self._resume() and start is not None:
            self._begin_with(start)
        if not self._complete():
            return False
        self._construction.publish_unused()
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
            self._offer()
            while not run.over and run.seconds < until and not search.closed:
                saved = self._construction.improve(until, search.bound - self._constant)
                if not self._complete() or not self._offer() or saved < worthwhile * search.loss:
                    break

    def bound(self, until: float) -> list[CutRow]:
        """Raise the bound of the search by dual ascent and fix variables; return valid rows for the root.

        An ascent that time ended goes on when it is called again.
        """
        search, switch = self.search, self.separation.presolved.switch
        if self._ascent is None:
            requirements = self.separation.requirements
            self._ascent = DualAscent(self._neighbourhoods, requirements, self._cost, self._forced)
        ascent = self._ascent
        with suppress(StoppedError, SolverError):
            ascent.ascend(search.run, until)
        value = search.model.constant + ascent.bound
        search.raise_bound(value)
        if search.kept is not None and ascent.complete:
            search.kept.mark_ascended()
        reduced = np.zeros(search.model.size)
        reduced[switch] = np.where(np.isfinite(ascent.left), ascent.left, 0.0)
        search.fix_by_reduced_cost(value, reduced)
        return ascent.rows

    def _complete(self) -> bool:
        """Meet all requirements, also those of insiders who turn out to see through the pattern."""
        while True:
            if not self._construction.build():
                return False
            unproven = self._insiders.find_unproven(self._construction.requirements, self._search_for)
            if unproven is None:
                return True
            self.separation.list_more(unproven)
            self._construction.extend(self.separation.requirements)

    def _begin_with(self, point: Floats) -> None:
        """Hide what a point of the model hides, as far as that is allowed."""
        hidden = point[self.separation.presolved.switch] > 0.5
        self._construction.begin_with(hidden & np.isfinite(self._cost))

    def _resume(self) -> bool:
        """Begin with what the search remembers from a checkpoint, if there is a pattern; return whether."""
        known = None if self.search.kept is None else self.search.kept.remembered
        if known is None or (known.point is None and known.pattern is None):
            return False
        model, switch = self.search.model, self.separation.presolved.switch
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
        switch, construction = self.separation.presolved.switch, self._construction
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
        x[self.separation.presolved.switch[self._construction.hidden]] = 1.0
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
