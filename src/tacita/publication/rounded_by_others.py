"""How somebody else rounded the numbers of a release, and what a reader knows of each from that.

With the base ``b`` and the last place of the table as a step of 1, a number ``v`` tells

| rounded | the truth lies in |
|---|---|
| nearest | ``v - b/2 .. v + b/2``, less the end at which a tie goes the other way |
| down | ``v .. v + b - 1`` |
| up | ``v - b + 1 .. v`` |
| adjacent | ``v - b + 1 .. v + b - 1``: up or down to a multiple, as in controlled or random rounding |
| within | ``v - b .. v + b``: multiples may have moved too |

A reader who sees that a table is from a spreadsheet takes its numbers for the nearest multiples. So unless it
is given, the way of rounding is the first of these that all numbers agree with. Ties go away from zero, as
spreadsheets round, or to even multiples, as most programming languages do, whichever all ties of the table
agree with. Where they agree with neither, rounding up and down are tried first, and ties may go either way.

A tie away from zero lies at one end of its window only. For other values that end is left out, so that the
number is the middle of its window: this favours the attacker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from tacita.core import exact
from tacita.core.errors import InputError, ReleaseError
from tacita.core.exact import Cells, Floats, Mask, Units
from tacita.core.tables.table import Table

RoundingMode = Literal["nearest", "down", "up", "adjacent", "within"]
MODES: tuple[RoundingMode, ...] = get_args(RoundingMode)

IN_WORDS = {
    "nearest": "to the nearest multiple of",
    "down": "down to a multiple of",
    "up": "up to a multiple of",
    "adjacent": "up or down to a multiple of",
    "within": "by at most one base, to a multiple of",
}
AWAY, EVEN, EITHER = ", ties away from zero", ", ties to even multiples", ", ties either way"


@dataclass(frozen=True, eq=False)
class RoundedNumbers:
    """The way of rounding, in words that end with the base, and the windows of the numbers."""

    how: RoundingMode
    assumption: str
    low: Floats
    high: Floats


def find_rounding_windows(
    table: Table, cells: Cells, shown: Floats, base: float, how: str | None = None
) -> RoundedNumbers:
    """Return the interval of true values per cell that readers infer from published rounded numbers.

    Parameters
    ----------
    cells, shown
        The cells of the table that show a number, and the numbers.
    how
        The way of rounding; none: the first way that agrees with all numbers.

    Raises
    ------
    ReleaseError
        A number is no multiple of the base, or the numbers were not rounded in the way that was given. One
        that is more than a base from the truth is the caller's to refuse.
    """
    if how is not None and how not in MODES:
        raise InputError(f"numbers cannot be rounded '{how}'", remedy=f"choose one of {', '.join(MODES)}")
    if not 0 < base < np.inf:
        raise InputError(
            f"the base of the release is {base:g}", remedy="give a number above zero", options=["base"]
        )
    decimals = max(table.decimals, *(exact.find_decimals(x) for x in (shown, np.array([base]))))
    fine = table.with_decimals(decimals)
    value, multiple = exact.to_units(shown, decimals), int(exact.to_units(np.array([base]), decimals)[0])
    moved = value - fine.units[cells]
    if (wrong := np.flatnonzero(value % multiple)).size:
        names = table.structure.names(np.unique(cells[wrong]))
        raise ReleaseError(f"not a multiple of the base: {names}", remedy="correct the base")
    ties = _find_ties(value, moved, multiple, fine.unit)
    agrees = _compare_modes(moved, multiple)
    order: tuple[RoundingMode, ...] = MODES if ties != EITHER else ("down", "up", "nearest", "adjacent")
    agreeing = (way for way in order if way == how or (how is None and agrees[way].all()))
    found: RoundingMode = next(agreeing, "within")
    if how is not None and not agrees[found].all():
        names = table.structure.names(np.unique(cells[~agrees[found]]))
        raise ReleaseError(
            f"the numbers are not rounded {IN_WORDS[found]} {base:g}: see {names}",
            remedy="correct the base, or leave out how numbers were rounded",
        )
    below, above = _find_reach(found, value, moved, multiple, fine.unit, ties)
    size = 10.0**decimals
    found_out = "" if how is not None else ", as all of them are"
    return RoundedNumbers(
        found,
        "assuming that readers take numbers to be rounded "
        f"{IN_WORDS[found]} {base:g}{ties if found == 'nearest' else ''}{found_out}",
        (value - below) / size,
        (value + above) / size,
    )


def _compare_modes(moved: Units, base: int) -> dict[RoundingMode, Mask]:
    """Return for each way of rounding (nearest, down, ...) a mask of the published numbers that fit it."""
    return {
        "nearest": 2 * np.abs(moved) <= base,
        "down": (moved <= 0) & (moved > -base),
        "up": (moved >= 0) & (moved < base),
        "adjacent": np.abs(moved) < base,
        "within": np.abs(moved) <= base,
    }


def _find_ties(value: Units, moved: Units, base: int, step: int) -> str:
    """Return in words how a published file rounds values midway between multiples; empty if none can be."""
    if base % (2 * step):
        return ""
    tied = 2 * np.abs(moved) == base
    if (np.sign(moved) == np.sign(value))[tied].all():
        return AWAY
    return EITHER if (value // base % 2)[tied].any() else EVEN


def _find_reach(
    how: RoundingMode, value: Units, moved: Units, base: int, step: int, ties: str
) -> tuple[Units, Units]:
    """Return how far below and above each published rounded number the true value can lie, in units."""
    nothing = np.zeros_like(value)
    less = nothing + (base - 1) // step * step
    if how == "down":
        return nothing, less
    if how == "up":
        return less, nothing
    if how != "nearest":
        far = less if how == "adjacent" else nothing + base // step * step
        return far, far
    half = nothing + base // (2 * step) * step
    if ties == AWAY:
        # The number is to be the middle of its window, so the end where a tie would lie is left out unless
        # the value is one or nothing else would be left: this favours the attacker.
        entire = (2 * np.abs(moved) == base) | (half == step)
        return (
            np.where(entire & (value > 0), half, half - step),
            np.where(entire & (value < 0), half, half - step),
        )
    if ties == EVEN:
        half = np.where(value // base % 2, half - step, half)
    return half, half
