"""Families of random cell values, each with the figures of the public tables it imitates.

A family says how leaf cells are drawn, which share of them is empty, and which of the others are sensitive
and by how much they must stay uncertain. Draws are integers of the last decimal place, so the last bit
of a float never shows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tacita.core.errors import InputError
from tacita.core.exact import Units

LARGEST_DRAWN = 10**9
"""So that totals of millions of cells still fit into 53 bits."""
Draw = Callable[[np.random.Generator, int], Units]


@dataclass(frozen=True)
class Family:
    """How cells of a kind of table look.

    Attributes
    ----------
    draw
        Units of so many non-empty leaf cells.
    counts
        Whether cells are counts; magnitudes otherwise.
    empty
        Share of empty leaf cells.
    sensitive
        Share of the non-empty leaf cells that are sensitive; a pair ``(low, high)`` means values in that
        range.
    pattern
        Where they are by default: ``uniform`` or ``smallest``.
    protection
        Protection level in percent of the value.
    """

    draw: Draw
    counts: bool
    decimals: int = 0
    empty: float = 0.0
    sensitive: float | tuple[int, int] = 0.05
    pattern: str = "uniform"
    protection: float = 15.0


def _lognormal(mean: float, deviation: float, scale: float = 1.0, least: int = 1) -> Draw:
    def draw(random: np.random.Generator, n: int) -> Units:
        sizes = np.exp(mean + deviation * random.standard_normal(n)) * scale
        return np.floor(np.minimum(sizes, 1e11)).astype(np.int64) + least

    return draw


def _uniform(low: int, high: int) -> Draw:
    return lambda random, n: random.integers(low, high, n, endpoint=True)


def _zipf(random: np.random.Generator, n: int) -> Units:
    return np.minimum(random.zipf(1.5, n), 100_000).astype(np.int64)


FAMILIES = {
    # Plain shapes.
    "uniform": Family(_uniform(1, 999), counts=True),
    "zipf": Family(_zipf, counts=True, sensitive=(1, 2)),
    "lognormal": Family(_lognormal(6.3, 1.3, scale=100), counts=False, decimals=2),
    # The test problems of Fischetti and Salazar: values 0..499, sensitive if 1..4.
    "fs": Family(_uniform(0, 499), counts=True, sensitive=(1, 4)),
    # Integer lognormal values exp(N(4, 1.2)) + 1, sensitive cells anywhere.
    "logn": Family(_lognormal(4.0, 1.2), counts=True),
    # Turnover of enterprises by 88 activities, regions and size classes: 70 % of the finest cells empty,
    # logarithms of the totals N(7.7, 3.0), largest firm 57 % of its cell in the median, 39 % of the cells
    # sensitive by (1, 85) and threshold 3.
    "business": Family(
        _lognormal(7.7, 2.6, scale=10),
        counts=False,
        decimals=1,
        empty=0.70,
        sensitive=0.39,
        pattern="smallest",
        protection=10.0,
    ),
    # A two-way count of 183 x 61 cells: 74 % zeros, 22 % of all cells sensitive (85 % of those that are not
    # zero), their median 97, levels of 40 %.
    "census": Family(
        _lognormal(4.1, 1.2), counts=True, empty=0.74, sensitive=0.85, pattern="smallest", protection=40.0
    ),
    # Social benefits by 437 municipalities, source of income and duration: 10 % zeros, 30 % between 1 and 4,
    # median 7, mean 26, largest 2,017, deviation of the logarithms 1.44.
    "health": Family(_lognormal(1.8, 1.5), counts=True, empty=0.10, sensitive=(1, 4), protection=100.0),
}


def find_family(name: str, between: tuple[int, int] | None = None) -> Family:
    """Return the family of random values of that name, drawn from ``between`` if it is the uniform one."""
    if name not in FAMILIES:
        raise InputError(f"there is no family '{name}'", remedy=f"choose one of {', '.join(FAMILIES)}")
    if between is None:
        return FAMILIES[name]
    low, high = between
    if name != "uniform":
        raise InputError(
            f"values of '{name}' are not drawn between {low} and {high}",
            remedy="choose 'uniform', or no range",
        )
    if not 0 <= low <= high <= LARGEST_DRAWN:
        raise InputError(
            f"values between {low} and {high} cannot be drawn",
            remedy=f"give the least and the largest value, from 0 to {LARGEST_DRAWN:,}, the least first",
        )
    return replace(FAMILIES[name], draw=_uniform(low, high))
