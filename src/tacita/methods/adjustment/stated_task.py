"""Options of adjustment, cell by cell: how far each may move, and what that costs.

An amount is said as ``20%`` (of the value), as a number, or as the name of a column.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from tacita.core.errors import InfeasibleError, InputError
from tacita.core.exact import UNBOUNDED, Floats, Mask, Units
from tacita.methods.adjustment.task import AdjustmentTask, DirectionChoice, Norm
from tacita.methods.options.distances import levels_of_all
from tacita.methods.options.per_cell import amounts, weights
from tacita.problem.problem import Problem

FAR = 16
"""No cell moves farther than so many times all forced changes together; circuits of tables stay below."""


def task_of(
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
    """The task of a problem, directions open.

    Parameters
    ----------
    capacity
        How far cells that are not sensitive may move; none: as far as everyone's knowledge allows.
    relaxed
        How far beyond its level a sensitive cell may go; none: likewise.
    to_zero
        Sensitive cells that fall go to zero, whatever their lower level.
    more
        How far beyond its level each sensitive cell goes at least, where there is room.
    radius
        What will be announced, if that is known: it leaves less room.
    """
    table = problem.table
    step, sensitive = table.unit, problem.levels.sensitive
    choice = _choice(problem, relaxed, to_zero, step)
    if more is not None:
        choice = _farther(problem, choice, more, radius, to_zero)
    forced = int(np.maximum(choice.up_least, choice.down_least).sum())
    limit = min(UNBOUNDED // 4, FAR * max(forced, step))
    room_up = np.minimum(problem.outsider.upper - table.units, limit) // step * step
    room_down = (
        np.minimum(table.units - np.maximum(problem.outsider.lower, -UNBOUNDED // 2), limit) // step * step
    )
    most = np.full(len(table), limit)
    if capacity is not None:
        most = said_amounts(problem, capacity, "capacity") // step * step
    still = problem.must_publish | (table.structure.is_total & totals_fixed)
    if (wrong := np.flatnonzero(still & sensitive)).size:
        raise InfeasibleError(
            f"{table.structure.names(wrong)}: sensitive, so it must change, but it must be published, or "
            "totals are fixed; take it off the cells that must be published, or let totals be free"
        )
    upper, lower = (
        np.where(still, 0, np.minimum(most, room_up)),
        -np.where(still, 0, np.minimum(most, room_down)),
    )
    return AdjustmentTask(
        table.equations.matrix,
        lower,
        upper,
        weights(problem, weight, "weight"),
        10**table.decimals,
        step,
        norm,
        delta,
        choice if choice.cells.size else None,
    )


def _choice(problem: Problem, relaxed: float | str | None, to_zero: bool, step: int) -> DirectionChoice:
    table, cells = problem.table, problem.sensitive
    lower, upper = levels_of_all(problem)
    up_least, down_least = (-(-np.maximum(level[cells], step) // step) * step for level in (upper, lower))
    if to_zero:
        # What is not above zero cannot fall to it.
        down_least = np.maximum(table.units[cells], 0)
    known_up = problem.outsider.upper[cells] - table.units[cells]
    known_down = table.units[cells] - np.maximum(problem.outsider.lower[cells], -UNBOUNDED // 2)
    up_most, down_most = known_up // step * step, known_down // step * step
    limit = min(UNBOUNDED // 4, FAR * max(int(np.maximum(up_least, down_least).sum()), step))
    up_most, down_most = np.minimum(up_most, limit), np.minimum(down_most, limit)
    if relaxed is not None:
        more_up, more_down = (_beyond(problem, relaxed, least) for least in (up_least, down_least))
        up_most, down_most = np.minimum(up_most, more_up), np.minimum(down_most, more_down)
    if to_zero:
        down_most = np.where(down_least > 0, np.minimum(down_most, down_least), -1)
    neither = (up_most < up_least) & (down_most < down_least)
    if (wrong := np.flatnonzero(neither)).size:
        raise InfeasibleError(
            f"{table.structure.names(cells[wrong])}: no safe value lies within what everyone knows of it; "
            "lower its levels, or use suppression"
        )
    return DirectionChoice(cells, up_least, up_most, down_least, down_most)


def _farther(
    problem: Problem, choice: DirectionChoice, more: Units, radius: Units | None, to_zero: bool
) -> DirectionChoice:
    """The choice with larger least changes, as far as the most and the radius leave room; zero is zero."""
    cells, step = choice.cells, problem.table.unit
    up_room, down_room = choice.up_most - choice.up_least, choice.down_most - choice.down_least
    if radius is not None:
        # The window must still hold the level on the other side.
        lower, upper = (level[cells] for level in levels_of_all(problem))
        up_room = np.minimum(up_room, radius[cells] - lower - choice.up_least)
        down_room = np.minimum(down_room, radius[cells] - upper - choice.down_least)
    up, down = (np.clip(room // step * step, 0, more[cells]) for room in (up_room, down_room))
    down = np.zeros_like(down) if to_zero else down
    return replace(choice, up_least=choice.up_least + up, down_least=choice.down_least + down)


def _beyond(problem: Problem, relaxed: float | str, least: Units) -> Units:
    """The least change and what may be added to it: a percentage of it, an amount, or a column."""
    share = percentage(relaxed)
    if share is not None:
        return np.asarray(least + part_of(least, share))
    return np.asarray(least + amounts(problem, relaxed, "relaxed")[problem.sensitive])


def said_amounts(problem: Problem, said: float | str, option: str) -> Units:
    """Units per cell from a percentage of the value, a number, or a column."""
    share = percentage(said)
    return amounts(problem, said, option) if share is None else part_of(np.abs(problem.table.units), share)


def percentage(said: float | str) -> Fraction | None:
    """``20%`` as 1/5, exactly; None for anything but percentages."""
    text = str(said).strip()
    if not text.endswith("%"):
        return None
    try:
        # An exponent beyond floats would make a fraction of as many digits.
        share = Fraction(text[:-1].strip()) if np.isfinite(float(text[:-1])) else Fraction(-1)
    except ValueError:
        share = Fraction(-1)
    if share < 0:
        raise InputError(f"'{said}' is no percentage of zero or more: write such as 20%")
    return share / 100


def part_of(units: Units, share: Fraction) -> Units:
    """``floor(share * units)`` without floats, for units that are not negative."""
    above, below = share.numerator, share.denominator
    if max(int(units.max(initial=0)), 1) * above < UNBOUNDED and below < UNBOUNDED:
        return np.asarray(units * above // below)
    most = UNBOUNDED // 4
    return np.array([min(unit * above // below, most) for unit in units.tolist()], dtype=np.int64)


def shares(problem: Problem, capacity: float | str | None) -> Floats:
    """What a uniform capacity is counted in: values where it is a percentage, else units."""
    if capacity is not None and percentage(capacity) is None:
        return np.full(len(problem.table), float(10**problem.table.decimals))
    return np.abs(problem.table.units).astype(np.float64)


def fixed_directions(problem: Problem, choice: DirectionChoice, said: str) -> Mask | None:
    """Directions that are given: ``up``, ``down``, or the signs of a column; None if they are not."""
    if said in ("up", "down"):
        up = np.full(choice.cells.size, said == "up")
    elif said in problem.table.columns:
        up = _signs(problem, said) > 0
    else:
        return None
    if (wrong := np.flatnonzero(np.where(up, ~choice.can_rise, ~choice.can_fall))).size:
        raise InputError(
            f"{problem.table.structure.names(choice.cells[wrong])}: no safe value lies in the direction that "
            "is given; give the other direction, or choose optimal directions"
        )
    return np.asarray(up)


def _signs(problem: Problem, column: str) -> Floats:
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
            f"column '{column}' gives ({problem.table.name(cell)}) no direction: use 1 for up, -1 for down"
        )
    return signs


def only(task: AdjustmentTask, up: Mask) -> AdjustmentTask:
    """The task in which sensitive cells can go no other way than is given."""
    choice = task.choice
    if choice is None:
        return task
    up_most = np.where(up, choice.up_most, choice.up_least - 1)
    down_most = np.where(up, choice.down_least - 1, choice.down_most)
    return replace(task, choice=replace(choice, up_most=up_most, down_most=down_most))
