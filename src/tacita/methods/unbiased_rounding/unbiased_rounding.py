"""Unbiased controlled rounding: a random draw among the roundings that add up, unbiased in every cell.

    v_i = floor_i or floor_i + B,    M v = b,    E v_i = a_i

``floor_i`` is the largest multiple of the base ``B`` that is not above ``a_i``; a multiple stays. So cell
``i`` goes up with probability ``(a_i - floor_i) / B``, and the draw correlates cells so that totals agree.
It is made by alternating cycles (Cox 1987) on tables that are networks: one dimension (Fellegi 1975), two,
and two with one hierarchy.

Beyond networks it does not exist in general. The 2 x 2 x 2 table with inner cells ``[[0, 0], [0, 1]]`` and
``[[0, 1], [1, 0]]`` has to base 2 no rounding that adds up with every cell next to its value, hence no draw
of one. With ``partial`` the draw is unbiased and additive everywhere, with neighbours in a part that is a
network: every other total is a sum of ``k`` rounded cells, known beforehand, and lies within ``k B`` of its
value.

Readers know the truth to be less than ``B`` away from each rounded cell, also from multiples, as they do not
know which these are. So the window is one step less than ``B`` on either side, ``k`` times that for a sum of
``k``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np

from tacita.core import exact
from tacita.core.errors import InfeasibleError, InputError
from tacita.core.exact import UNBOUNDED, Mask, Units
from tacita.core.heartbeat import with_heartbeat
from tacita.core.outcome import Outcome, Status
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.core.tables.table import Table
from tacita.core.words import pluralize
from tacita.methods.measuring import measure_shown_changes
from tacita.methods.method import option
from tacita.methods.options.per_cell import find_largest_level, find_round_number
from tacita.methods.protection.missed_levels import find_missed
from tacita.methods.rounding.bases import ReaderKnowledge, choose_bases, refuse_small_bases
from tacita.methods.rounding.rounding_task import ASSUMED, CLOSED
from tacita.methods.unbiased_rounding.alternating_cycles import MOST, Coins, draw_rounded_up, make_coins
from tacita.methods.unbiased_rounding.two_trees import TwoTrees, complete_totals
from tacita.problem.problem import AttackerLevels, Problem, start_run
from tacita.solvers.network import Network

NOT_ADDITIVE = "not additive: for comparison only"


@dataclass(frozen=True)
class UnbiasedRounding:
    """Round every cell to a neighbour at random, right on average, so that the table still adds up."""

    name: ClassVar[str] = "unbiased-rounding"
    does: ClassVar[str] = (
        "Rounds every cell at random to one of the two multiples of a base beside it, so that the "
        "table adds up and every cell is right on average."
    )
    choose: ClassVar[str] = (
        "Choose it when published numbers will be added up or averaged over many tables. Needs one or "
        "two dimensions, at most one of them with a hierarchy; keep the seed secret. Not when this one "
        "table should come as near to the truth as it can."
    )

    base: float | str | None = option(
        None,
        "numbers are rounded to multiples of the base: a number such as 5, or a column with the same "
        "base for all cells; empty: the smallest of 2, 5, 10, ... that protects the table however the "
        "draw ends",
        main=True,
    )
    additive: bool = option(
        True, "totals are sums of their parts; no: each cell is rounded on its own, for comparison only"
    )
    partial: bool = option(
        False,
        "in tables where not all cells can be rounded at random and still add up: round a part of the "
        "cells, and the other totals are their sums; no: refuse such tables",
    )
    strict: bool = option(
        True,
        "readers know that the true number is less than one base away; no: they may think it exactly one"
        " base away too, as in the literature",
    )
    protected: bool = option(True, "refuse a draw that misses a protection level; no: only round", main=True)

    def loss(self, problem: Problem, release: Release) -> float:
        """Return the loss of an unbiased rounding, ``sum |v - a|`` over all cells."""
        return float(np.abs(measure_shown_changes(problem, release)).sum() / 10.0**problem.table.decimals)

    @with_heartbeat("preparing")
    def protect(self, problem: Problem, run: Run | None = None) -> Release:
        """Return an unbiased rounding drawn with the seed of the run; its loss is ``sum |v - a|``.

        Raises
        ------
        InfeasibleError
            There is no such draw, or the one that was drawn misses a protection level. It is not repeated: a
            draw that is chosen by its result is not unbiased.
        """
        run = start_run(problem, run)
        table = problem.table
        base = self._base(problem)
        residue = table.units % base
        network, trees = self._choose_network(table, base)
        n_parts = np.ones(len(table), dtype=np.int64) if trees is None else trees.n_parts
        radius = _choose_radius(problem, base, residue, n_parts, self.strict)
        coins = make_coins(run.seed)
        floor = table.units - residue
        if network is not None:
            value = floor + base * draw_rounded_up(network, residue, base, coins, run)
        elif trees is not None:
            above = draw_rounded_up(trees.network, residue[trees.cell], base, coins, run)
            floor[trees.cell] = floor[trees.cell] + base * above
            value, _ = complete_totals(table.equations, ~table.structure.is_total, floor)
        else:
            value = floor + base * _draw_independently(residue, base, coins)
        if self.protected and len(problem.sensitive):
            self._check_levels(problem, base, value, radius, network, run)
        one = 10.0**table.decimals
        return Release.rounded(
            table,
            value,
            radius,
            primary=problem.levels.sensitive,
            made_by={"method": self.name, "options": asdict(self), "seed": run.seed},
            outcome=Outcome(
                Status.FEASIBLE,
                float(np.abs(value - table.units).astype(np.float64).sum()) / one,
                float(np.minimum(residue, base - residue).astype(np.float64).sum()) / one,
                run.seconds,
                (*self._remarks(n_parts), *run.seed_remarks),
            ),
            notice="" if self.additive else NOT_ADDITIVE,
            assumption="" if self.strict else ASSUMED,
        )

    def _base(self, problem: Problem) -> int:
        rounded = ~problem.must_publish
        readers = ReaderKnowledge(strict=self.strict)
        base = choose_bases(problem, self.base, rounded, readers)
        if self.base is None:
            least = max(int(base.max(initial=1)), 2 * problem.table.unit)
            base = np.full(base.size, _find_sure_base(problem, least, self.strict) or least)
        one = int(base[rounded].max(initial=1))
        if (wrong := np.flatnonzero(rounded & (base != one))).size:
            raise InputError(
                f"option 'base' differs between cells, see ({problem.table.name(int(wrong[0]))}): one base "
                "is needed for a draw that adds up",
                remedy="Give a number, or use the method 'rounding'.",
            )
        if self.protected:
            refuse_small_bases(problem, base, rounded, readers)
        return one

    def _choose_network(self, table: Table, base: int) -> tuple[Network | None, TwoTrees | None]:
        """Return the network of the unbiased draw: the table, or a part of it; none if not additive."""
        if not self.additive:
            return None, None
        if (wrong := np.flatnonzero(table.equations.rhs % base)).size:
            raise InfeasibleError(
                f"{table.structure.describe_equation(int(wrong[0]))}, with a constant that is no multiple of "
                f"{exact.to_text(base, table.decimals)}: rounded numbers cannot add up to it",
                remedy="Use another base.",
            )
        network = Network.of(table.equations.matrix)
        if network is not None:
            return network, None
        if not self.partial:
            raise InfeasibleError(
                "the table is no network (more than two dimensions, or more than one hierarchy): in general "
                "no draw adds up, is right on average and puts every cell next to its value",
                remedy="Switch partial on, and some totals become sums of rounded cells, several bases from "
                "their values; or use the method 'rounding'.",
                options=["partial=yes"],
            )
        trees = TwoTrees.of(table.structure)
        if trees is None:
            raise InfeasibleError(
                "the table has totals that are no sums of its inner cells, or are in several ways, as in "
                "linked tables: rounding a part of it does not round the rest",
                remedy="Round the tables one by one, or use the method 'rounding'.",
            )
        return None, trees

    def _check_levels(
        self, problem: Problem, base: int, value: Units, radius: Units, network: Network | None, run: Run
    ) -> None:
        moved = np.where(radius > 0, value - problem.table.units, 0)
        missing = find_missed(problem, radius + moved, radius - moved, run, network)
        if len(missing):
            table, sure = problem.table, _find_sure_base(problem, base + 1, self.strict)
            room = ""
            if sure is not None:
                room = f" ({exact.to_text(sure, table.decimals)} has room whichever way cells go)"
            raise InfeasibleError(
                "this draw leaves less uncertainty than the levels ask for, against "
                f"{problem.attackers[int(missing.attacker[0]) + 1]}",
                place=table.structure.names(np.unique(missing.cell)),
                remedy=f"Use a larger base{room}, switch protected off, or use another method. (To draw "
                "until it fits would not be unbiased.)",
                options=["protected=no"],
            )

    def _remarks(self, n_parts: Units) -> tuple[str, ...]:
        remarks = [] if self.strict else [CLOSED]
        remarks += [] if self.additive else [NOT_ADDITIVE]
        if (farther := n_parts[n_parts > 1]).size:
            remarks.append(
                f"sums of rounded cells, up to {int(farther.max()):,} bases from their values: "
                f"{pluralize(farther.size, 'total')}; all others lie next to theirs"
            )
        return tuple(remarks)


def _choose_radius(problem: Problem, base: int, residue: Units, n_parts: Units, strict: bool) -> Units:
    """Return the radius that an unbiased rounding announces per cell, in units, not depending on values."""
    table = problem.table
    if (wrong := np.flatnonzero(problem.must_publish & ((residue > 0) | (n_parts > 1)))).size:
        raise InfeasibleError(
            "must be published, but rounding changes it",
            place=table.structure.names(wrong),
            remedy="choose a base that it is a multiple of, or take it off the list",
        )
    if (wrong := np.flatnonzero(np.abs(table.units) + 2.0 * base * n_parts >= UNBOUNDED)).size:
        raise InputError(
            "value and radius are too large to be counted exactly",
            place=table.structure.names(wrong),
            remedy="use a larger unit, such as thousands, or a smaller base",
        )
    # Rounding to a single step changes nothing, which everyone knows.
    exactly = problem.must_publish | (base == table.unit)
    if (wrong := np.flatnonzero(problem.must_hide & exactly)).size:
        raise InfeasibleError(
            "must be hidden, but a base of one step leaves it as it is",
            place=table.structure.names(wrong),
            remedy="use a larger base",
        )
    return np.where(exactly, 0, n_parts * (base - table.unit * strict))


def _draw_independently(residue: Units, base: int, coins: Coins) -> Mask:
    """Return which cells an unbiased rounding takes up, each alone with probability ``residue / base``."""
    coin = coins(residue.size)
    while (again := np.flatnonzero(coin >= MOST // base * base)).size:
        coin[again] = coins(again.size)
    return np.asarray(coin % base < residue)


def _find_sure_base(problem: Problem, least: int, strict: bool) -> int | None:
    """Return the first round base of an unbiased rounding from ``least`` on with ``a - floor >= LPL``,
    ``floor + B - a >= UPL`` (each a step more where windows are strict) in every sensitive cell: its window
    contains its levels whether it goes up or down. None if even a base beyond all values does not.
    """
    table, needs = problem.table, list(problem.requirements())
    most = max(least, int(np.abs(table.units).max(initial=0)) + find_largest_level(problem))
    steps = find_round_number(-(-least // table.unit))
    less = table.unit * strict
    while not all(_has_room(table.units[need.cells], need, steps * table.unit, less) for need in needs):
        if steps * table.unit > most:
            return None
        steps = find_round_number(steps + 1)
    return steps * table.unit


def _has_room(units: Units, need: AttackerLevels, base: int, less: int) -> bool:
    above = units % base
    below = np.where(above == 0, base, above) - less
    wide = 2 * (base - less) >= need.sliding
    return bool(((below >= need.lower) & (base - above - less >= need.upper) & wide).all())
