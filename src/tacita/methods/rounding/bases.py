"""Which bases can protect: ``2 w >= LPL + UPL`` and other conditions that do not depend on the rounding.

A value ``a`` between the multiples ``f`` and ``f + r`` is published as one of them with the window ``v - w ..
v + w``. As the truth is nearer than a base, ``w`` is ``r`` less one step; it is ``r`` where multiples may
move, and in the closed windows of the literature. The levels can be met only if

    v = f:      w - (a - f) >= UPL      and  w + (a - f) >= LPL,   or
    v = f + r:  w + r - (a - f) >= UPL  and  w - r + (a - f) >= LPL.

A multiple of the base stays, with a window of ``w`` on both sides, or none where it is published as exact; if
multiples may move, it can also go up or down by a base. A base of a single step changes nothing else, which
everyone knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tacita.core import exact
from tacita.core.errors import InfeasibleError, InputError
from tacita.core.exact import UNBOUNDED, Cells, Mask, Units
from tacita.methods.options.per_cell import find_round_number, get_column, read_amounts, to_table_units
from tacita.problem.problem import AttackerLevels, Problem

USUAL = 5
"""The default base in steps where nothing is sensitive."""
FREE = -UNBOUNDED
"""Marks cells without a given value."""


@dataclass(frozen=True)
class ReaderKnowledge:
    """What readers know besides the base: which multiples are exact, that multiples may have moved by a base,
    that the truth is less than a base away, and which cells are published as their nearest multiple.
    """

    exact_multiples: bool = False
    movable_multiples: bool = False
    strict: bool = False
    nearest: Mask | None = None

    def reach(self, base: Units | int, step: int, cells: Cells | None = None) -> Units:
        """Return how far, in units, rounded numbers of some cells, or all, can be from the truth."""
        wide = np.asarray(base - step * (self.strict and not self.movable_multiples))
        if self.nearest is None:
            return wide
        nearest = self.nearest if cells is None else self.nearest[cells]
        return np.where(nearest, base // 2 // step * step, wide)


ONLY_THE_BASE = ReaderKnowledge()


def choose_bases(
    problem: Problem, given: float | str | None, cells: Mask, readers: ReaderKnowledge = ONLY_THE_BASE
) -> Units:
    """Return the rounding base of every cell in units: given, a column, or a round one that can protect."""
    table = problem.table
    if given is None:
        base = np.full(len(table), _choose_round_base(problem, cells, readers))
    else:
        base = read_amounts(problem, given, "base")
        if (wrong := np.flatnonzero(cells & (base == 0))).size:
            cell = int(wrong[0])
            fault = f"option 'base' is zero for ({table.name(cell)})"
            raise InputError(fault, remedy="use more", options=["base"], cell=cell)
        base = np.where(cells, base, 1)
    return base


def refuse_small_bases(
    problem: Problem, base: Units, cells: Mask, readers: ReaderKnowledge = ONLY_THE_BASE
) -> None:
    """Raise an error if rounding a sensitive cell, down or up, gives no window that contains its levels."""
    table = problem.table
    for need in problem.requirements():
        fails = cells[need.cells] & ~can_protect(problem, need, base[need.cells], readers)
        if not (wrong := np.flatnonzero(fails)).size:
            continue
        p = int(wrong[0])
        cell = int(need.cells[p])
        width = max(int(need.lower[p] + need.upper[p]), int(need.sliding[p]))
        if base[cell] == table.unit and not readers.movable_multiples:
            why = "every number is a multiple of it, so nothing would change"
        elif readers.exact_multiples and table.units[cell] % base[cell] == 0:
            why = "its value is a multiple of the base, so it would be published as it is"
        elif 2 * (reach := int(readers.reach(base[cell], table.unit, need.cells[p]))) < width:
            alone = readers.nearest is not None and readers.nearest[cell]
            wide = "twice the base" + (" less a step either way" if reach < base[cell] else "")
            wide = "the base, as a cell in no sum shows the nearest multiple" if alone else wide
            why = f"the window is {wide}, its levels need {exact.to_text(width, table.decimals)}"
        else:
            why = (
                "from either multiple of the base beside its value, readers could tell that it is not as "
                "low, or not as high, as its levels require"
            )
        remedy, option = _find_remedy(problem, cells, readers)
        raise InfeasibleError(
            f"({table.name(cell)}) cannot be protected against {need.attacker} by rounding to "
            f"{exact.to_text(int(base[cell]), table.decimals)}: {why}",
            remedy=remedy,
            options=[option],
            cell=cell,
        )


def can_protect(
    problem: Problem, need: AttackerLevels, base: Units | int, readers: ReaderKnowledge = ONLY_THE_BASE
) -> Mask:
    """Return per cell whether rounding it to one of its neighbours gives a window with all its levels."""
    above = problem.table.units[need.cells] % base
    reach = readers.reach(base, problem.table.unit, need.cells)
    down = (reach - above >= need.upper) & (reach + above >= need.lower)
    up = (reach + base - above >= need.upper) & (reach - base + above >= need.lower)
    up &= (above > 0) | readers.movable_multiples
    down |= (
        readers.movable_multiples & (above == 0) & (reach - base >= need.upper) & (reach + base >= need.lower)
    )
    wide = (2 * reach >= need.sliding) & ((base > problem.table.unit) | readers.movable_multiples)
    if readers.exact_multiples:
        wide &= above > 0
    return np.asarray(wide & (down | up))


def _protects_all(
    problem: Problem, base: int, cells: Mask, needs: list[AttackerLevels], readers: ReaderKnowledge
) -> bool:
    return all(bool((can_protect(problem, need, base, readers) | ~cells[need.cells]).all()) for need in needs)


def _find_least_base(problem: Problem, cells: Mask, needs: list[AttackerLevels]) -> int:
    """Return half of the widest levels of a cell, in units: the least rounding base that can protect."""
    step = problem.table.unit
    width = max(
        (
            int(np.maximum(need.lower + need.upper, need.sliding)[cells[need.cells]].max(initial=0))
            for need in needs
        ),
        default=0,
    )
    return max(step, -(-width // (2 * step)) * step)


def _find_largest_base(problem: Problem, least: int) -> int:
    """Return a rounding base beyond which larger ones make no difference: 0 is nearest to all values."""
    return 2 * int(np.abs(problem.table.units).max(initial=0)) + 4 * (least + problem.table.unit)


def _find_remedy(problem: Problem, cells: Mask, readers: ReaderKnowledge) -> tuple[str, str]:
    """Return what helps where a base is too small, in words and as an option: the smallest round base that
    can work, as the smallest of all would be a number made of secret values.
    """
    needs, step = list(problem.requirements()), problem.table.unit
    least = _find_least_base(problem, cells, needs)
    most = _find_largest_base(problem, least)
    for steps in _list_round_numbers(least // step, most // step):
        if _protects_all(problem, steps * step, cells, needs, readers):
            smallest = exact.to_text(steps * step, problem.table.decimals)
            kind = "round base" if steps >= 100 else "base"
            return f"The smallest {kind} that can work is {smallest}.", f"base={smallest}"
    largest = exact.to_text(most, problem.table.decimals)
    return f"No round base below {largest} can work; use another method for it.", "base"


def _list_round_numbers(least: int, most: int) -> Iterator[int]:
    """Yield the numbers from ``least`` to ``most`` that have one or two digits before their zeros."""
    number = least
    while number <= most:
        power = 10 ** max(0, len(str(number)) - 2)
        number = -(-number // power) * power
        yield number
        number += power


def is_made_of_levels(problem: Problem, given: float | str, readers: ReaderKnowledge) -> bool:
    """Return whether a base given for all cells is no round number and a step less does not protect, so that
    readers can take it for the smallest base that protects.
    """
    everything, step = np.ones(len(problem.table), dtype=bool), problem.table.unit
    base = choose_bases(problem, given, everything)
    first = int(base[0])
    if (base != first).any() or first // step in _list_round_numbers(first // step, first // step):
        return False
    return not _protects_all(problem, first - step, everything, list(problem.requirements()), readers)


def _choose_round_base(problem: Problem, cells: Mask, readers: ReaderKnowledge) -> int:
    """Return the smallest rounding base of 1, 2, 5, 10, ... steps that can protect every sensitive cell;
    else the largest tried, for which :func:`refuse_small_bases` raises an error.
    """
    needs, step = list(problem.requirements()), problem.table.unit
    if not any(cells[need.cells].any() for need in needs):
        return USUAL * step
    least = _find_least_base(problem, cells, needs)
    steps, most = find_round_number(least // step), _find_largest_base(problem, least)
    while not _protects_all(problem, steps * step, cells, needs, readers) and steps * step <= most:
        steps = find_round_number(steps + 1)
    return steps * step


def read_given(problem: Problem, name: str, base: Units, cells: Mask) -> Units:
    """Return the rounded values that a column gives, in units, ``FREE`` where it is empty.

    Raises
    ------
    InputError
        A value is no multiple of the base next to the true value, or its cell is not rounded.
    """
    table, column = problem.table, get_column(problem, name, "given")
    empty = np.array(
        [entry is None or entry != entry or str(entry).strip() == "" for entry in column.tolist()]
    )
    filled = np.where(empty, 0, column)
    given = np.where(empty, FREE, to_table_units(problem, filled, "given"))
    floor = table.units // base * base
    may_change = cells & ~problem.must_publish
    allowed = (given == floor) | ((given == floor + base) & (table.units > floor))
    if (wrong := np.flatnonzero(~empty & may_change & ~allowed)).size:
        raise InputError(
            f"option 'given': the value for ({table.name(int(wrong[0]))}) is no multiple of its base next to "
            "the true value",
            remedy="correct it, or leave it empty",
        )
    if (wrong := np.flatnonzero(~empty & ~may_change & (given != table.units))).size:
        raise InputError(
            f"option 'given': ({table.name(int(wrong[0]))}) is not rounded", remedy="leave its value empty"
        )
    return given
