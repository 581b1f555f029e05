"""The options of adjustment as numbers per cell: how far each may change, and what that costs.

An amount is given as ``20%`` (of the value), as a number, or as the name of a column.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from tacita.core.errors import InfeasibleError, InputError
from tacita.core.exact import UNBOUNDED, Floats, Mask, Units
from tacita.methods.adjustment.task import AdjustmentTask, DirectionChoice, Norm
from tacita.methods.options.distances import find_largest_levels
from tacita.methods.options.per_cell import read_amounts, read_weights
from tacita.problem.problem import Problem

FAR = 16
"""Limit of the change of a cell, as a multiple of all forced changes; circuits of tables need less."""


def build_task(
    problem: Problem,
    norm: Norm,
    delta: float,
    weight: str,
    capacity: float | str | None,
    relaxed: float | str | None,
    totals_fixed: bool,
    to_zero: bool,
    more: Units | None = None,
    radius: Units | None = None,
) -> AdjustmentTask:
    """Return the adjustment task of a problem, with open directions.

    Parameters
    ----------
    capacity
        How far cells that are not sensitive may change; None: as far as the outsider's bounds.
    relaxed
        How far beyond its level a sensitive cell may go; None: as far as the outsider's bounds.
    to_zero
        Whether sensitive cells that fall go to zero, whatever their lower level.
    more
        How far beyond its level each sensitive cell goes at least, where there is room.
    radius
        The radius that will be announced, if it is known: windows must contain both levels.
    """
    table = problem.table
    step, sensitive = table.unit, problem.levels.sensitive
    choice = _build_choice(problem, relaxed, to_zero, step)
    if more is not None:
        choice = _extend_least_changes(problem, choice, more, radius, to_zero)
    forced = int(np.maximum(choice.up_least, choice.down_least).sum())
    limit = min(UNBOUNDED // 4, FAR * max(forced, step))
    room_up = np.minimum(problem.outsider.upper - table.units, limit) // step * step
    room_down = (
        np.minimum(table.units - np.maximum(problem.outsider.lower, -UNBOUNDED // 2), limit) // step * step
    )
    most = np.full(len(table), limit)
    if capacity is not None:
        most = read_amounts_or_percentages(problem, capacity, "capacity") // step * step
    still = problem.must_publish | (table.structure.is_total & totals_fixed)
    if (wrong := np.flatnonzero(still & sensitive)).size:
        raise InfeasibleError(
            "sensitive, so it must change, but it must be published, or totals are fixed",
            remedy="take it off the cells that must be published, or let totals be free",
            place=table.structure.names(wrong),
            options=("totals=free",) if totals_fixed else (),
        )
    upper, lower = (
        np.where(still, 0, np.minimum(most, room_up)),
        -np.where(still, 0, np.minimum(most, room_down)),
    )
    return AdjustmentTask(
        table.equations.matrix,
        lower,
        upper,
        read_weights(problem, weight, "weight"),
        10**table.decimals,
        step,
        norm,
        delta,
        choice if choice.cells.size else None,
    )


def _build_choice(problem: Problem, relaxed: float | str | None, to_zero: bool, step: int) -> DirectionChoice:
    table, cells = problem.table, problem.sensitive
    lower, upper = find_largest_levels(problem)
    up_least, down_least = (-(-np.maximum(level[cells], step) // step) * step for level in (upper, lower))
    if to_zero:
        # Values at or below zero cannot fall to zero; their direction is closed below.
        down_least = np.maximum(table.units[cells], 0)
    known_up = problem.outsider.upper[cells] - table.units[cells]
    known_down = table.units[cells] - np.maximum(problem.outsider.lower[cells], -UNBOUNDED // 2)
    up_most, down_most = known_up // step * step, known_down // step * step
    limit = min(UNBOUNDED // 4, FAR * max(int(np.maximum(up_least, down_least).sum()), step))
    up_most, down_most = np.minimum(up_most, limit), np.minimum(down_most, limit)
    if relaxed is not None:
        more_up, more_down = (_limit_change(problem, relaxed, least) for least in (up_least, down_least))
        up_most, down_most = np.minimum(up_most, more_up), np.minimum(down_most, more_down)
    if to_zero:
        down_most = np.where(down_least > 0, np.minimum(down_most, down_least), -1)
    neither = (up_most < up_least) & (down_most < down_least)
    if (wrong := np.flatnonzero(neither)).size:
        raise InfeasibleError(
            "no safe value lies within what everyone knows of it",
            remedy="lower its levels, or use suppression",
            place=table.structure.names(cells[wrong]),
        )
    return DirectionChoice(cells, up_least, up_most, down_least, down_most)


def _extend_least_changes(
    problem: Problem, choice: DirectionChoice, more: Units, radius: Units | None, to_zero: bool
) -> DirectionChoice:
    """Return the choice of adjustment directions, least changes larger by ``more`` where there is room."""
    cells, step = choice.cells, problem.table.unit
    up_room, down_room = choice.up_most - choice.up_least, choice.down_most - choice.down_least
    if radius is not None:
        # The window must still contain the opposite level.
        lower, upper = (level[cells] for level in find_largest_levels(problem))
        up_room = np.minimum(up_room, radius[cells] - lower - choice.up_least)
        down_room = np.minimum(down_room, radius[cells] - upper - choice.down_least)
    up, down = (np.clip(room // step * step, 0, more[cells]) for room in (up_room, down_room))
    down = np.zeros_like(down) if to_zero else down
    return replace(choice, up_least=choice.up_least + up, down_least=choice.down_least + down)


def _limit_change(problem: Problem, relaxed: float | str, least: Units) -> Units:
    """Return how far sensitive cells may be adjusted: the least change plus what ``relaxed`` allows."""
    share = parse_percentage(relaxed)
    if share is not None:
        return np.asarray(least + multiply_exactly(least, share))
    return np.asarray(least + read_amounts(problem, relaxed, "relaxed")[problem.sensitive])


def read_amounts_or_percentages(problem: Problem, given: float | str, option: str) -> Units:
    """Return units per cell for an adjustment option: a percentage of the value, a number, or a column."""
    share = parse_percentage(given)
    return (
        read_amounts(problem, given, option)
        if share is None
        else multiply_exactly(np.abs(problem.table.units), share)
    )


def parse_percentage(given: float | str) -> Fraction | None:
    """Return an adjustment option such as ``20%`` as 1/5, exactly; None for anything but percentages."""
    text = str(given).strip()
    if not text.endswith("%"):
        return None
    try:
        # Fractions of huge exponents have as many digits: floats refuse them first.
        share = Fraction(text[:-1].strip()) if np.isfinite(float(text[:-1])) else Fraction(-1)
    except ValueError:
        share = Fraction(-1)
    if share < 0:
        raise InputError(f"'{given}' is no percentage of zero or more", remedy="write such as 20%")
    return share / 100


def multiply_exactly(units: Units, share: Fraction) -> Units:
    """Return ``floor(share * units)`` of each cell for an adjustment, without floats, for units >= 0."""
    above, below = share.numerator, share.denominator
    if max(int(units.max(initial=0)), 1) * above < UNBOUNDED and below < UNBOUNDED:
        return np.asarray(units * above // below)
    most = UNBOUNDED // 4
    return np.array([min(unit * above // below, most) for unit in units.tolist()], dtype=np.int64)


def find_capacity_shares(problem: Problem, capacity: float | str | None) -> Floats:
    """Return what an adjustment's capacity multiplies per cell: its value for percentages, else 1."""
    if capacity is not None and parse_percentage(capacity) is None:
        return np.full(len(problem.table), float(10**problem.table.decimals))
    return np.abs(problem.table.units).astype(np.float64)


def read_directions(problem: Problem, choice: DirectionChoice, given: str) -> Mask | None:
    """Return adjustment directions given by ``up``, ``down`` or a column of signs; None for other words."""
    if given in ("up", "down"):
        up = np.full(choice.cells.size, given == "up")
    elif given in problem.table.columns:
        up = _read_signs(problem, given) > 0
    else:
        return None
    if (wrong := np.flatnonzero(np.where(up, ~choice.can_rise, ~choice.can_fall))).size:
        raise InputError(
            "no safe value lies in the direction that is given",
            remedy="give the other direction, or choose optimal directions",
            place=problem.table.structure.names(choice.cells[wrong]),
            options=("directions=optimal",),
        )
    return np.asarray(up)


def _read_signs(problem: Problem, column: str) -> Floats:
    entries = np.asarray(problem.table.columns[column])[problem.sensitive]
    signs = np.zeros(entries.size)
    for number, entry in enumerate(entries.tolist()):
        try:
            signs[number] = float(entry)
        except (TypeError, ValueError):
            signs[number] = 0.0
    if (wrong := np.flatnonzero(~(np.abs(signs) > 0))).size:
        cell = int(problem.sensitive[wrong[0]])
        raise InputError(
            f"column '{column}' gives ({problem.table.name(cell)}) no direction",
            remedy="use 1 for up, -1 for down",
        )
    return signs


def restrict_directions(task: AdjustmentTask, up: Mask) -> AdjustmentTask:
    """Return the adjustment task in which only the given directions of sensitive cells are open."""
    choice = task.choice
    if choice is None:
        return task
    up_most = np.where(up, choice.up_most, choice.up_least - 1)
    down_most = np.where(up, choice.down_least - 1, choice.down_most)
    return replace(task, choice=replace(choice, up_most=up_most, down_most=down_most))
