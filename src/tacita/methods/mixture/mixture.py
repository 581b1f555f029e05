"""A mixture: each cell by its own method, in one model.

    min  sum of the losses of all parts
    s.t. the constraints of all parts,
         every sensitive cell keeps its levels against every attacker who sees all windows together

Cells are parted among methods (see ``partition``): intervals here, rounding there. Where suppression and
intervals are offered together, a cell has both: the ends ``z-, z+`` of an interval at ``w- z- + w+ z+`` and a
switch at the problem's cost that suppresses it. A rounded or perturbed number must add up with others like
it; in an equation with cells of another kind the reader has windows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from tacita.core.errors import InputError
from tacita.core.exact import Mask
from tacita.core.release import Mark, Release
from tacita.core.run import Run
from tacita.engine.attack.requirements import OUTSIDER, room
from tacita.engine.model import Model
from tacita.methods.drafting.draft import Draft, StatedModel
from tacita.methods.drafting.settle import settle_drawn
from tacita.methods.mixture.partition import Parts, are_same, cells_of, described, names_sensitive, read_parts
from tacita.methods.options.distances import Draws
from tacita.methods.suppression.suppression import Suppression
from tacita.problem.problem import Problem, start_run

TELLING = (
    "the sensitive cells are a part of their own, so readers can tell which cells are sensitive: whoever "
    "knows the rule knows more than the windows say. Name parts by codes instead"
)

UNKNOWN = "assuming that readers cannot tell which cells are sensitive"


@dataclass(frozen=True, eq=False)
class Mixture:
    """Protect parts of a table in different ways, at the least loss of all together.

    From Python parts may be text, or pairs of cells and methods: ``{"totals": Rounding(base=5), "rest":
    (Suppression(), Intervals())}``, or a list of such pairs where cells may also be one truth value each.
    """

    name: ClassVar[str] = "mixture"
    does: ClassVar[str] = (
        "Protects parts of the table in different ways, all in one model: totals rounded and details "
        "suppressed, or each cell hidden or told as an interval, whichever loses less."
    )
    choose: ClassVar[str] = (
        "Choose it when one method does not suit all cells. Not as a first try: run the methods alone "
        "first, since weights of different losses must be made comparable."
    )

    parts: Parts = field(
        default="rest: suppression or intervals",
        metadata={
            "help": "cells and methods, as in 'totals: rounding(base=5), rest: suppression or intervals'"
        },
    )

    def __eq__(self, other: object) -> bool:
        """The same cells by the same methods, however that is said."""
        return isinstance(other, Mixture) and are_same(read_parts(self.parts), read_parts(other.parts))

    def __hash__(self) -> int:
        return hash(tuple(ways for _, ways in read_parts(self.parts)))

    def model(self, problem: Problem, run: Run | None = None) -> Model:
        """Variables, windows, constraints and loss of all parts, with what the seed of the run draws."""
        return self._stated(problem, Draws((run or Run()).seed)).model

    def protect(self, problem: Problem, run: Run | None = None) -> Release:
        """A release that protects every sensitive cell against every attacker of the problem."""
        run = start_run(problem, run)
        options = {"parts": described(read_parts(self.parts))}
        remedy = "Give more cells to suppression or intervals, or ease the options of the parts."
        made_by = {"method": self.name, "options": options}
        return settle_drawn(lambda draws: self._stated(problem, draws), made_by, run, remedy)

    def loss(self, problem: Problem, release: Release) -> float:
        """Return the sum of the losses of all parts, each cell by the method that it was given to."""
        total = 0.0
        for cells, ways in cells_of(problem, read_parts(self.parts)):
            # Of two ways, suppression and intervals, a cell went the one that its mark tells.
            hidden = release.marks == Mark.SUPPRESSED
            for way in ways:
                own = cells if len(ways) == 1 else cells & (hidden == isinstance(way, Suppression))
                total += float(way.cell_losses(problem, release, own)[own].sum())
        return total

    def _stated(self, problem: Problem, draws: Draws | None = None) -> StatedModel:
        draft = Draft(problem, draws)
        if names_sensitive(read_parts(self.parts)) and len(problem.sensitive):
            draft.remark(TELLING, UNKNOWN)
        for cells, ways in cells_of(problem, read_parts(self.parts)):
            for way in ways:
                if isinstance(way, Suppression):
                    _hide(draft, cells, way, alone=len(ways) == 1)
                else:
                    way.state(draft, cells)
        return draft.finish()


def _hide(draft: Draft, cells: Mask, how: Suppression, alone: bool) -> None:
    """Switches for some cells, at the problem's cost. Where no other method is offered for these cells
    (``alone``) sensitive ones are suppressed in any case, and so are those that must be hidden.
    """
    if how.has_conditional_levels:
        raise InputError(
            "conditional levels of suppression are for entire tables, not for a part of a mixture: "
            "leave them out"
        )
    problem = draft.problem
    up, down = room(problem, OUTSIDER)
    forced = problem.levels.sensitive | problem.must_hide
    allowed = ~problem.must_publish & ((up + down > 0) | problem.must_hide)
    if not how.margins:
        allowed &= forced | ~problem.table.structure.is_total
    at = np.flatnonzero(cells & allowed)
    switches = draft.variables(at.size, problem.cost[at], lower=forced[at] & alone)
    draft.hide(at, switches)
    if how.at_most is not None:
        draft.bracket(switches, -np.inf, how.at_most)
