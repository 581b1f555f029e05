"""Options with one number per cell: weights, bases, radii, bounds.

An option is a number for all cells or the name of a column of the table. Numbers that will be announced to
readers must not be computed from the values they protect: the defaults here are one round number for the
whole table.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacita.core import exact
from tacita.core.errors import InputError, did_you_mean
from tacita.core.exact import Floats, Units
from tacita.core.words import pluralize
from tacita.problem.problem import Problem

WEIGHTS = ("cost", "unit", "inverse", "root")


def read_weights(problem: Problem, given: str, option: str) -> Floats:
    """Return a method's loss per unit of value and cell: the problem's ``cost``, ``unit`` (1 each),
    ``inverse`` (1 / |value|) or ``root`` (the root of that), both 1 where the value is 0, or a column.
    """
    if given == "cost":
        return problem.cost
    if given == "unit":
        return np.ones(len(problem.table))
    if given in ("inverse", "root"):
        size = np.abs(problem.table.values)
        size = np.where(size == 0, 1.0, size)
        return np.asarray(1.0 / (size if given == "inverse" else np.sqrt(size)))
    found = _to_numbers(get_column(problem, given, option, WEIGHTS), given, option)
    _refuse_unless_positive(problem, found, option)
    return found


def read_amounts(problem: Problem, given: float | str, option: str) -> Units:
    """Return a method's option in units per cell, not negative, from a number for all or a column."""
    number = _as_number(given)
    found = (
        np.full(len(problem.table), number) if number is not None else get_column(problem, str(given), option)
    )
    _refuse_unless_positive(problem, _to_numbers(found, str(given), option), option)
    return to_table_units(problem, found, option)


def read_column(problem: Problem, name: str, option: str) -> Units:
    """Return a method's option in units per cell, from a column of values."""
    return to_table_units(problem, get_column(problem, name, option), option)


def to_table_units(problem: Problem, found: NDArray[np.generic], option: str) -> Units:
    """Return values of a method's option in units of the table; raise where they are finer than these."""
    table = problem.table
    units = exact.to_units(found, table.decimals, option)
    error = np.abs(units - found.astype(np.float64) * 10.0**table.decimals)
    if (wrong := np.flatnonzero((error > 1e-6) | (units % table.unit != 0))).size:
        step = "integers" if table.integer else f"numbers of {pluralize(table.decimals, 'decimal')}"
        raise InputError(
            f"option '{option}' must give {step}, as the table has",
            remedy=f"see ({table.name(int(wrong[0]))})",
        )
    return units


def find_largest_level(problem: Problem) -> int:
    """Return the largest protection level of any attacker, in units, to scale a method; at least a step."""
    levels, own = problem.levels, problem.insiders.levels
    each = (int(level.max(initial=0)) for level in (levels.lower, levels.upper, levels.sliding, own))
    return max(problem.table.unit, *each)


def choose_scale(problem: Problem, largest: int, most: int) -> int:
    """Return the smallest power of ten of a step in which ``largest`` units are at most ``most``, to scale
    a method's model: values of 1e11 are then as easy for a solver as small ones.
    """
    scale = problem.table.unit
    while largest > most * scale:
        scale *= 10
    return scale


def find_round_number(least: int) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, ... from ``least`` on, as a method's base or radius."""
    power = 1
    while True:
        for digit in (1, 2, 5):
            if digit * power >= least:
                return digit * power
        power *= 10


def _as_number(given: float | str) -> float | None:
    try:
        return float(given)
    except ValueError:
        return None


def get_column(problem: Problem, name: str, option: str, also: tuple[str, ...] = ()) -> NDArray[np.generic]:
    """Return the table's column that a method's option names; ``also`` are other words it understands."""
    columns = problem.table.columns
    if name not in columns:
        known = [*also, *columns]
        raise InputError(
            f"option '{option}': the table has no column '{name}'{did_you_mean(name, known)}",
            remedy=f"use {'a number' if not also else 'one of ' + ', '.join(also)}, or name a column of the "
            "table",
        )
    return np.asarray(columns[name])


def _to_numbers(found: NDArray[np.generic], name: str, option: str) -> Floats:
    try:
        return found.astype(np.float64)
    except ValueError:
        raise InputError(
            f"option '{option}': column '{name}' holds text", remedy="name a column of numbers"
        ) from None


def _refuse_unless_positive(problem: Problem, found: Floats, option: str) -> None:
    if (wrong := np.flatnonzero(~np.isfinite(found) | (found < 0))).size:
        raise InputError(
            f"option '{option}' is negative or not a number for ({problem.table.name(int(wrong[0]))})",
            remedy="give numbers that are zero or more",
        )
