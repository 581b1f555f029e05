"""A mixture: each cell by its own method, in one model.

    min  sum of the losses of all parts
    s.t. the constraints of all parts,
         every sensitive cell meets its levels against every attacker who sees all windows together

Cells are partitioned among methods (see ``partition``). Where suppression and intervals are offered together,
a cell has both: the ends ``z-, z+`` of an interval at ``w- z- + w+ z+`` and a switch at the problem's cost
that suppresses it. Rounded or perturbed numbers add up among each other; in equations with other cells
readers have windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tacita.core.errors import InputError
from tacita.core.exact import Mask
from tacita.core.heartbeat import with_heartbeat
from tacita.core.release import Mark, Release
from tacita.core.run import Run
from tacita.engine.attack.requirements import OUTSIDER, find_room
from tacita.engine.model import Model
from tacita.methods.method import option
from tacita.methods.mixture.partition import (
    Parts,
    are_same,
    assign_cells,
    describe_parts,
    names_sensitive,
    parse_parts,
)
from tacita.methods.modelling.model_builder import ModelBuilder, ReleaseModel
from tacita.methods.modelling.solve_release import solve_with_draws
from tacita.methods.options.distances import Draws
from tacita.methods.resumption import resumable
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
        "suppressed, or each cell hidden or published as an interval, whichever loses less."
    )
    choose: ClassVar[str] = (
        "Choose it when one method does not suit all cells. Not as a first try: run the methods alone "
        "first, since weights of different losses must be made comparable."
    )

    parts: Parts = option(
        "rest: suppression or intervals",
        "cells and methods, as in 'totals: rounding(base=5), rest: suppression or intervals'",
        main=True,
    )

    def __eq__(self, other: object) -> bool:
        """Return whether both mixtures have the same cells by the same methods, however written."""
        return isinstance(other, Mixture) and are_same(parse_parts(self.parts), parse_parts(other.parts))

    def __hash__(self) -> int:
        return hash(tuple(methods for _, methods in parse_parts(self.parts)))

    def model(self, problem: Problem, run: Run | None = None) -> Model:
        """Return the engine's model of the mixture: windows and losses of all parts, with a run's draws."""
        return self._build_model(problem, Draws((run or Run()).seed)).model

    @with_heartbeat("preparing")
    @resumable
    def protect(self, problem: Problem, run: Run | None = None) -> Release:
        """Return a release by a mixture of methods that protects all sensitive cells against attackers."""
        run = start_run(problem, run)
        options = {"parts": describe_parts(parse_parts(self.parts))}
        remedy = "Give more cells to suppression or intervals, or ease the options of the parts."
        made_by = {"method": self.name, "options": options}
        return solve_with_draws(lambda draws: self._build_model(problem, draws), made_by, run, remedy)

    def loss(self, problem: Problem, release: Release) -> float:
        """Return the loss of a mixture's release, summed over all parts, each cell by its part's method."""
        total = 0.0
        for cells, methods in assign_cells(problem, parse_parts(self.parts)):
            # Of two methods, suppression and intervals, the mark of a cell shows which applies.
            hidden = release.marks == Mark.SUPPRESSED
            for method in methods:
                own = cells if len(methods) == 1 else cells & (hidden == isinstance(method, Suppression))
                total += float(method.cell_losses(problem, release, own)[own].sum())
        return total

    def _build_model(self, problem: Problem, draws: Draws | None = None) -> ReleaseModel:
        builder = ModelBuilder(problem, draws)
        if names_sensitive(parse_parts(self.parts)) and len(problem.sensitive):
            builder.add_remark(TELLING, UNKNOWN)
        for cells, methods in assign_cells(problem, parse_parts(self.parts)):
            for method in methods:
                if isinstance(method, Suppression):
                    _add_suppression(builder, cells, method, alone=len(methods) == 1)
                else:
                    method.add_to_model(builder, cells)
        return builder.build()


def _add_suppression(builder: ModelBuilder, cells: Mask, how: Suppression, alone: bool) -> None:
    """Add suppression of some cells to a mixture's model, at the problem's cost. Where no other method is
    offered for these (``alone``) sensitive ones and those that must be hidden are suppressed in any case.
    """
    if how.has_conditional_levels:
        raise InputError(
            "conditional levels of suppression are for entire tables, not for a part of a mixture",
            remedy="leave them out",
        )
    problem = builder.problem
    up, down = find_room(problem, OUTSIDER)
    forced = problem.levels.sensitive | problem.must_hide
    allowed = ~problem.must_publish & ((up + down > 0) | problem.must_hide)
    if not how.margins:
        allowed &= forced | ~problem.table.structure.is_total
    at = np.flatnonzero(cells & allowed)
    switches = builder.add_variables(at.size, problem.cost[at], lower=forced[at] & alone)
    builder.add_switches(at, switches)
    if how.at_most is not None:
        builder.limit_sum(switches, -np.inf, how.at_most)
