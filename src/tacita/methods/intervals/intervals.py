"""Interval publication (partial suppression): a cell may be published as an interval around its value.

    min  sum_i w+_i z+_i + w-_i z-_i (+ w_i x_i)
    s.t. cell i is published as [a_i - z-_i, a_i + z+_i],  0 <= z- <= a - lower,  0 <= z+ <= upper - a,
         every sensitive cell meets its levels against every attacker who sees the intervals

where ``lower`` and ``upper`` are known to everyone: no interval is wider. The intervals of sensitive cells
reach beyond their levels, since otherwise their ends would disclose the value (see
:mod:`tacita.methods.intervals.drawn_ends`). Binary ``x_i`` (``z_i > 0`` only if ``x_i = 1``) are added where
intervals are counted, ``sum x_i <= q``, or have a minimum width: then the outsider must find a width of at
least ``minimum_width x_i``, a sliding level that holds where ``x_i = 1``.

Ends are integer steps of the table. Where the largest level is at most ``COARSE`` steps they are integer in
the model; else the model is a linear program, its ends are rounded outward, and the cost of that is less than
one part in ``COARSE``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from tacita.core.exact import Cells, Floats, Mask, Units
from tacita.core.heartbeat import with_heartbeat
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.core.words import pluralize
from tacita.engine.attack.requirements import DOWN, OUTSIDER, SLIDING, UP, Requirements, find_room
from tacita.engine.model import NO_SWITCH, Model
from tacita.methods.intervals.drawn_ends import ASSUMED, DRAWN, ENDS_HELP, EXACT, Ends, choose_reaches
from tacita.methods.intervals.wide_start import find_wide_start
from tacita.methods.measuring import measure_window_reaches
from tacita.methods.method import check_words, option
from tacita.methods.modelling.model_builder import ModelBuilder, ReleaseModel, build_alone
from tacita.methods.modelling.solve_release import solve_with_draws
from tacita.methods.options.distances import Draws
from tacita.methods.options.per_cell import find_largest_level, read_amounts, read_weights
from tacita.methods.resumption import resumable
from tacita.problem.problem import Problem, start_run

COARSE = 100
FARTHEST = 16
"""Limit of the distance of an end from the value, as a multiple of the largest level, beyond networks, where
1 is enough. A move that meets a level needs no more: it is a sum of circuits of ``M``, whose entries differ
by a factor of 1 in networks and of some 4 in small tables of three dimensions.
"""


@dataclass(frozen=True)
class Intervals:
    """Publish some cells as intervals, as narrow as the levels allow."""

    name: ClassVar[str] = "intervals"
    does: ClassVar[str] = (
        "Publishes some cells as intervals that contain their value, as narrow as the protection "
        "levels allow; all other cells are published exactly as they are."
    )
    choose: ClassVar[str] = (
        "Choose it when readers should learn more than a gap tells them and can work with ranges. Not "
        "when the publication has room for one number per cell only."
    )

    weight_up: str = option(
        "cost",
        "loss for each unit that an interval reaches above the value: cost (the cost of the cell), unit "
        "(1), inverse (1/value), or a column",
    )
    weight_down: str = option(
        "cost", "loss for each unit that an interval reaches below the value: as for weight up"
    )
    weight_interval: str | None = option(
        None, "loss for each cell that is published as an interval: as for weight up; empty: none"
    )
    minimum_width: float = option(0.0, "the least width of an interval", main=True)
    at_most: int | None = option(None, "the most cells that may be published as intervals; empty: no limit")
    margins: bool = option(True, "whether totals that are not sensitive may be intervals", main=True)
    ends: Ends = option("drawn", ENDS_HELP)

    def __post_init__(self) -> None:
        check_words(self)

    def model(self, problem: Problem, run: Run | None = None) -> Model:
        """Return the engine's model of published intervals, with ends drawn by the run's seed."""
        return build_alone(self, problem, Draws((run or Run()).seed)).model

    @with_heartbeat("preparing")
    @resumable
    def protect(self, problem: Problem, run: Run | None = None) -> Release:
        """Return a release of intervals that protect every sensitive cell against every attacker."""
        run = start_run(problem, run)
        made_by = {"method": self.name, "options": asdict(self)}
        wide = bool(self.minimum_width) and self.at_most is None
        return solve_with_draws(
            lambda draws: build_alone(self, problem, draws),
            made_by,
            run,
            self._remedy(problem),
            (lambda draws: partial(self._find_start, draws)) if wide else None,
        )

    def loss(self, problem: Problem, release: Release) -> float:
        """Return the loss of published intervals, the weighted sum of their reaches; may be infinite."""
        return float(self.cell_losses(problem, release).sum())

    def cell_losses(self, problem: Problem, release: Release, cells: Mask | None = None) -> Floats:
        """Return the part of every cell (or of each of some ``cells``) in the loss of the intervals."""
        above, below = measure_window_reaches(problem, release)
        each = np.zeros(len(problem.table))
        for reach, given, name in (
            (above, self.weight_up, "weight_up"),
            (below, self.weight_down, "weight_down"),
        ):
            # With weight zero the loss is zero, even of unbounded windows.
            weight = read_weights(problem, given, name)
            each += np.multiply(weight, reach, out=np.zeros(each.size), where=(weight > 0) & (reach > 0))
        if self.weight_interval is not None:
            own = read_weights(problem, self.weight_interval, "weight_interval")
            each += np.where((above > 0) | (below > 0), own, 0.0)
        return each

    def _find_start(self, draws: Draws, built: ReleaseModel, run: Run) -> Floats | None:
        """Return a first point of the model of published intervals with a minimum width, or None."""
        plain = replace(self, minimum_width=0.0, weight_interval=None)
        return find_wide_start(built, build_alone(plain, built.model.problem, draws), run)

    def _remedy(self, problem: Problem) -> str:
        remedies = []
        if self.at_most is not None:
            remedies.append(f"allow more than {pluralize(self.at_most, 'interval')}")
        if self.minimum_width:
            remedies.append("allow narrower ones")
        if not self.margins:
            remedies.append("allow totals to be intervals")
        if (count := int(problem.must_publish.sum())) > 0:
            remedies.append(f"free cells that must be published ({count:,})")
        return "; ".join([*remedies, "lower the levels"]).capitalize() + "."

    def add_to_model(self, builder: ModelBuilder, cells: Mask) -> None:
        """Add published intervals of some cells to a model; those with a switch may be suppressed."""
        problem, scale = builder.problem, builder.scale
        width = int(read_amounts(problem, self.minimum_width, "minimum_width")[0])
        at = self._find_cells(problem, cells)
        largest = find_largest_level(problem)
        least = self._choose_least_reaches(builder, at)
        longest = max(largest, width, *(int(reach.max(initial=0)) for reach in least))
        farthest = (1 if builder.network else FARTHEST) * longest
        only = builder.switch[at] == NO_SWITCH
        sides = []
        for known, reach, given, name in zip(
            find_room(problem, OUTSIDER),
            least,
            (self.weight_up, self.weight_down),
            ("weight_up", "weight_down"),
            strict=True,
        ):
            most = np.minimum(known[at], farthest) / scale
            end = builder.add_variables(
                at.size,
                read_weights(problem, given, name)[at] * (scale / 10.0**problem.table.decimals),
                upper=most,
                lower=np.where(only, np.minimum(reach / scale, most), 0.0),
                integer=largest <= COARSE * problem.table.unit,
            )
            sides.append(_EndVariables(end, most))
        builder.add_intervals(at, sides[0].end, sides[1].end)
        # A cell is an interval or suppressed: both at once would exceed the outsider's bounds.
        either = np.flatnonzero(~only)
        for side, reach in zip(sides, least, strict=True):
            most, switch = side.most[either], builder.switch[at[either]]
            builder.add_rows([(side.end[either], 1.0), (switch, most)], upper=most)
            far = np.minimum(reach[either] / scale, most) if builder.drawn else np.zeros(either.size)
            needed = np.flatnonzero(far)
            builder.add_rows(
                [(side.end[either[needed]], 1.0), (switch[needed], far[needed])], lower=far[needed]
            )
        counted = np.arange(at.size)
        if self.at_most is None and self.weight_interval is None and not width:
            counted = np.flatnonzero(problem.must_hide[at])
        self._add_counts(builder, at[counted], [side.of(counted) for side in sides], width)

    def _choose_least_reaches(self, builder: ModelBuilder, at: Cells) -> tuple[Units, Units]:
        """Return how far published intervals of some cells reach at least above and below the value;
        readers must consider all of it possible.
        """
        problem, levels = builder.problem, builder.problem.levels
        exact = levels.upper[at], levels.lower[at]
        if not levels.sensitive[at].any():
            return exact
        if self.ends == "exact" or not builder.draws.share:
            builder.add_remark(EXACT, ASSUMED)
            return exact
        builder.drawn = True
        builder.add_remark(DRAWN)
        builder.extend_ends(at[~levels.sensitive[at]])
        above, below = (reach[at] for reach in choose_reaches(problem, builder.draws))
        counts = self._add_interval_variables(builder, at)
        for sign, reach in ((UP, above), (DOWN, below)):
            needed = np.flatnonzero(reach)
            attacker, signs = np.full(needed.size, OUTSIDER), np.full(needed.size, sign, dtype=np.int8)
            builder.add_requirements(Requirements(attacker, at[needed], signs, reach[needed], counts[needed]))
        return above, below

    def _add_interval_variables(self, builder: ModelBuilder, at: Cells) -> Cells:
        """Add the variables that are 1 where a cell is published as an interval, and return that of each;
        a sensitive cell that is not is suppressed.
        """
        # Unconditional requirements would count for insiders too, who need no more than their levels.
        variable = np.repeat(builder.add_variables(1, 0.0, lower=1.0, integer=False), at.size)
        either = np.flatnonzero((builder.switch[at] != NO_SWITCH) & builder.problem.levels.sensitive[at])
        variable[either] = builder.add_variables(either.size, 0.0)
        builder.add_rows([(variable[either], 1.0), (builder.switch[at[either]], 1.0)], lower=1.0, upper=1.0)
        return variable

    def _find_cells(self, problem: Problem, cells: Mask) -> Cells:
        """Return the cells that may be published as intervals: not known exactly, allowed by options."""
        up, down = find_room(problem, OUTSIDER)
        needed = problem.levels.sensitive | problem.must_hide
        allowed = needed | ~problem.table.structure.is_total | self.margins
        return np.flatnonzero(cells & allowed & ~problem.must_publish & (up + down > 0))

    def _add_counts(self, builder: ModelBuilder, at: Cells, sides: list[_EndVariables], width: int) -> None:
        """Add binary variables for cells that are published intervals, and the rows that depend on them."""
        problem, switch = builder.problem, builder.switch[at]
        weight, hide = self.weight_interval, problem.must_hide[at]
        cost = 0.0 if weight is None else read_weights(problem, weight, "weight_interval")[at]
        surely = (hide | problem.levels.sensitive[at]) & (switch == NO_SWITCH)
        is_interval = builder.add_variables(at.size, cost, lower=surely)
        for side in sides:
            builder.add_rows([(side.end, 1.0), (is_interval, -side.most)], upper=0.0)
        either = np.flatnonzero(hide & (switch != NO_SWITCH))
        builder.add_rows([(is_interval[either], 1.0), (switch[either], 1.0)], lower=1.0)
        needed = np.where(hide, max(width, problem.table.unit), width)
        builder.add_rows(
            [*((side.end, 1.0) for side in sides), (is_interval, -needed / builder.scale)], lower=0.0
        )
        wide = np.flatnonzero(needed)
        attacker, sign = np.full(wide.size, OUTSIDER), np.full(wide.size, SLIDING, dtype=np.int8)
        builder.add_requirements(Requirements(attacker, at[wide], sign, needed[wide], is_interval[wide]))
        if self.at_most is not None:
            builder.limit_sum(is_interval, -np.inf, self.at_most)


@dataclass(frozen=True, eq=False)
class _EndVariables:
    """The variables of one end of each interval, and their upper bounds."""

    end: Cells
    most: Floats

    def of(self, which: Cells) -> _EndVariables:
        return _EndVariables(self.end[which], self.most[which])
