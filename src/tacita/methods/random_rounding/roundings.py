"""Roundings of the sensitive cells to a base: all of them, or unbiased draws.

A cell ``a`` between the multiples ``f`` and ``f + b`` goes to one of them; a multiple stays. The sum of the
sensitive cells goes to a multiple next to it as well, and stays where it is one already. Draws are Fellegi's:
the residues ``rho = a - f`` are put end to end on a line, in random order, and an integer ``u`` is drawn from
0 to ``b - 1``. The cells with one of ``u, u + b, u + 2 b, ..`` in their part of the line go up. A part is
shorter than ``b`` and contains ``rho`` of ``b`` possible points, so for every cell

    P(up) = rho / b,    E x = a,

while the number of cells that go up is always ``sum rho / b``, rounded down or up.
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
"""Most draws per wanted rounding, as some are drawn twice."""


def enumerate_roundings(residue: Units, base: int, most: int) -> Roundings | None:
    """Return every random rounding whose sum is next to that of the values; None if more than ``most``."""
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


def draw_roundings(
    residue: Units, base: int, wanted: int, coins: Coins, must: tuple[Mask, Mask] | None = None
) -> Roundings:
    """Return up to ``wanted`` different random roundings in the order of the draws, unbiased in the cells
    that are not among those which ``must`` go down, or up.
    """
    down, up = must or (np.zeros(residue.size, dtype=bool),) * 2
    drawn = np.where(down | up, 0, residue)
    found: dict[bytes, Mask] = {}
    for _ in range(THROWS * wanted):
        rounding = draw_rounding(drawn, base, coins) | (up & (residue > 0))
        found.setdefault(rounding.tobytes(), rounding)
        if len(found) == wanted:
            break
    return np.array(list(found.values()))


def draw_rounding(residue: Units, base: int, coins: Coins) -> Mask:
    """Return which cells a random rounding takes up: ``rho / b`` is the chance, the number near its mean."""
    order = np.argsort(coins(residue.size), kind="stable")
    # Random numbers beyond the last multiple of the base would favour small points.
    while (coin := int(coins(1)[0])) >= MOST // base * base:
        continue
    end = np.cumsum(residue[order])
    start = end - residue[order]
    point = coin % base
    up = np.zeros(residue.size, dtype=bool)
    # Points u, u + b, .. below x are (x - u + b - 1) // b in number.
    up[order] = (end - point + base - 1) // base > (start - point + base - 1) // base
    return up
