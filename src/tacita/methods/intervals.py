"""Interval publication (partial suppression): a cell may be published as an interval around its value.

    min  sum_i w+_i z+_i + w-_i z-_i (+ w_i x_i)
    s.t. cell i is published as [a_i - z-_i, a_i + z+_i],  0 <= z- <= a - lower,  0 <= z+ <= upper - a,
         every sensitive cell keeps its levels against every attacker who sees the intervals

where ``lower`` and ``upper`` are what everyone knows: no interval is wider. Binary ``x_i`` (``z_i > 0`` only
if ``x_i = 1``) are there where intervals are counted, ``sum x_i <= q``, or must not be too narrow: then the
outsider must find a width of at least ``minimum_width x_i``, a sliding level that holds where ``x_i = 1``.

Ends are whole steps of the table. Where the largest level is at most ``COARSE`` steps they are whole in the
model; else the model is a linear program, its ends are rounded outward, and what this costs is less than one
part in ``COARSE``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import ClassVar

import numpy as np

from tacita.engine.demands import OUTSIDER, SLIDING, Demands, room
from tacita.engine.model import NO_SWITCH, Model
from tacita.exact import Cells, Floats, Mask
from tacita.methods.draft import Draft
from tacita.methods.per_cell import amounts, largest_level, weights
from tacita.methods.settle import settle
from tacita.problem import Problem
from tacita.release import Release
from tacita.run import Run

COARSE = 100
FARTHEST = 16
"""Beyond networks, where 1 is enough, no end lies farther from the value than so many times the largest
level. A move that meets a level needs no more: it is a sum of circuits of ``M``, whose entries differ by a
factor of 1 in networks and of some 4 in small tables of three dimensions.
"""


@dataclass(frozen=True)
class Intervals:
    """Publish some cells as intervals, as narrow as the levels allow."""

    name: ClassVar[str] = "intervals"

    weight_up: str = field(
        default="cost",
        metadata={"help": "loss per unit above the value: cost (of the problem), unit, inverse, or a column"},
    )
    weight_down: str = field(default="cost", metadata={"help": "loss per unit below the value: likewise"})
    weight_interval: str | None = field(
        default=None, metadata={"help": "loss per cell that is published as an interval: likewise, or none"}
    )
    minimum_width: float = field(
        default=0.0, metadata={"help": "width that every published interval has at least"}
    )
    at_most: int | None = field(default=None, metadata={"help": "limit on the number of intervals"})
    margins: bool = field(default=True, metadata={"help": "totals that are not sensitive may be intervals"})

    def model(self, problem: Problem) -> Model:
        """Variables, windows, constraints and loss."""
        draft = Draft(problem)
        self.state(draft, np.ones(len(problem.table), dtype=bool))
        return draft.finish().model

    def protect(self, problem: Problem, run: Run | None = None) -> Release:
        """Intervals that protect every sensitive cell against every attacker of the problem."""
        draft = Draft(problem)
        self.state(draft, np.ones(len(problem.table), dtype=bool))
        return settle(
            draft.finish(), {"method": self.name, "options": asdict(self)}, run, self._remedy(problem)
        )

    def _remedy(self, problem: Problem) -> str:
        ways = []
        if self.at_most is not None:
            ways.append(f"allow more than {self.at_most:,} intervals")
        if self.minimum_width:
            ways.append("allow narrower ones")
        if not self.margins:
            ways.append("allow totals to be intervals")
        if (count := int(problem.must_publish.sum())) > 0:
            ways.append(f"free some of the {count:,} cells that must be published")
        return "; ".join([*ways, "lower the levels"]).capitalize() + "."

    def state(self, draft: Draft, cells: Mask) -> None:
        """The method for some cells; those that a switch can hide may be suppressed instead."""
        problem = draft.problem
        table, scale = problem.table, draft.scale
        up, down = room(problem, OUTSIDER)
        needed = problem.levels.sensitive | problem.must_hide
        allowed = cells & ~problem.must_publish & (needed | ~table.structure.is_total | self.margins)
        at = np.flatnonzero(allowed & (up + down > 0))
        width = int(amounts(problem, self.minimum_width, "minimum_width")[0])
        largest = largest_level(problem)
        whole = largest <= COARSE * table.unit
        farthest = (1 if draft.network else FARTHEST) * max(largest, width)
        most = [np.minimum(side[at], farthest) / scale for side in (up, down)]
        always = draft.switch[at] == NO_SWITCH
        least = [
            np.where(always, level[at], 0) / scale for level in (problem.levels.upper, problem.levels.lower)
        ]
        worth = scale / 10.0**table.decimals
        ends = [
            draft.variables(at.size, weights(problem, said, name)[at] * worth, high, low, whole=whole)
            for said, name, high, low in (
                (self.weight_up, "weight_up", most[0], least[0]),
                (self.weight_down, "weight_down", most[1], least[1]),
            )
        ]
        draft.stretch(at, ends[0], ends[1])
        # A cell is an interval or suppressed: both at once would open it beyond what the outsider knows.
        either = np.flatnonzero(~always)
        for end, high in zip(ends, most, strict=True):
            switches, room_of_end = draft.switch[at[either]], high[either]
            draft.require([(end[either], 1.0), (switches, room_of_end)], upper=room_of_end)
        counted = np.ones(at.size, dtype=bool)
        if self.at_most is None and self.weight_interval is None and not width:
            counted = problem.must_hide[at]
        if counted.any():
            picked = np.flatnonzero(counted)
            self._count(draft, at[picked], [e[picked] for e in ends], [m[picked] for m in most], width)

    def _count(self, draft: Draft, at: Cells, ends: list[Cells], most: list[Floats], width: int) -> None:
        """Binary variables that say which cells are intervals, and what follows from them."""
        problem = draft.problem
        cost = (
            0.0
            if self.weight_interval is None
            else weights(problem, self.weight_interval, "weight_interval")[at]
        )
        is_interval = draft.variables(at.size, cost)
        for end, high in zip(ends, most, strict=True):
            draft.require([(end, 1.0), (is_interval, -high)], upper=0.0)
        asked = np.where(problem.must_hide[at], max(width, problem.table.unit), width)
        draft.require([(ends[0], 1.0), (ends[1], 1.0), (is_interval, -asked / draft.scale)], lower=0.0)
        wide = np.flatnonzero(asked)
        draft.demand(
            Demands(
                np.full(wide.size, OUTSIDER),
                at[wide],
                np.full(wide.size, SLIDING, dtype=np.int8),
                asked[wide],
                is_interval[wide],
            )
        )
        hide = problem.must_hide[at]
        free, either = (
            np.flatnonzero(hide & (draft.switch[at] == NO_SWITCH)),
            np.flatnonzero(hide & (draft.switch[at] != NO_SWITCH)),
        )
        draft.require([(is_interval[free], 1.0)], lower=1.0)
        draft.require([(is_interval[either], 1.0), (draft.switch[at[either]], 1.0)], lower=1.0)
        if self.at_most is not None:
            draft.limit(is_interval, self.at_most)
