"""Roundings of the sensitive cells to a base: all of them, or draws that are right on average.

A cell ``a`` between the multiples ``f`` and ``f + b`` goes to one of them; a multiple stays. The sum of the
sensitive cells goes to a multiple next to it as well, and stays where it is one already. Draws are Fellegi's:
put the residues ``rho = a - f`` end to end on a line, in random order, and throw a point ``u``, whole and
from 0 to ``b - 1``. The cells with one of ``u, u + b, u + 2 b, ..`` in their part of the line go up. A part
is shorter than ``b`` and ``rho`` of ``b`` points meet it, so cell by cell

    P(up) = rho / b,    E x = a,

while the number that goes up is always ``sum rho / b``, rounded down or up.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from tacita.core.exact import Mask, Units
from tacita.methods.unbiased_rounding.alternating_cycles import MOST, Coins

Roundings = NDArray[np.bool_]
"""A row per rounding, a column per cell: True where the cell goes up."""
THROWS = 4
"""Draws per rounding that is wanted, as some come twice."""


def all_roundings(residue: Units, base: int, most: int) -> Roundings | None:
    """Every rounding whose sum is next to the sum of the values; None if there are more than ``most``."""
    open_cells = np.flatnonzero(residue)
    least = int(residue.sum()) // base
    counts = [least] if int(residue.sum()) % base == 0 else [least, least + 1]
    if sum(comb(open_cells.size, count) for count in counts) > most:
        return None
    chosen = [ups for count in counts for ups in combinations(open_cells.tolist(), count)]
    up = np.zeros((len(chosen), residue.size), dtype=bool)
    for row, ups in enumerate(chosen):
        up[row, list(ups)] = True
    return up


def drawn_roundings(
    residue: Units, base: int, wanted: int, coins: Coins, must: tuple[Mask, Mask] | None = None
) -> Roundings:
    """Up to ``wanted`` different roundings in the order they were drawn, each right on average in the cells
    that are not among those which ``must`` go down, or up.
    """
    down, up = must or (np.zeros(residue.size, dtype=bool),) * 2
    drawn = np.where(down | up, 0, residue)
    found: dict[bytes, Mask] = {}
    for _ in range(THROWS * wanted):
        rounding = draw(drawn, base, coins) | (up & (residue > 0))
        found.setdefault(rounding.tobytes(), rounding)
        if len(found) == wanted:
            break
    return np.array(list(found.values()))


def draw(residue: Units, base: int, coins: Coins) -> Mask:
    """Which cells go up: each with probability ``rho / b``, their number next to its mean."""
    order = np.argsort(coins(residue.size), kind="stable")
    # Coins beyond the last multiple of the base would favour small points.
    while (coin := int(coins(1)[0])) >= MOST // base * base:
        continue
    end = np.cumsum(residue[order])
    start = end - residue[order]
    point = coin % base
    up = np.zeros(residue.size, dtype=bool)
    # Points u, u + b, .. below x are (x - u + b - 1) // b in number.
    up[order] = (end - point + base - 1) // base > (start - point + base - 1) // base
    return up
