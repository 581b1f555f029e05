"""Which cells that a table does not list are empty by its own equations.

A cell that is not listed takes no part in any equation. Where the sum that it would be a part of is an
equation of the table, that says that it is zero, and every attacker knows it. Where its total is listed and
none of the parts is, there is no such equation: the table says nothing of the cell.
"""

from __future__ import annotations

import numpy as np

from tacita.core.exact import Cells, Mask
from tacita.core.tables.dimension import Codes
from tacita.core.tables.rollup import roll_up
from tacita.core.tables.structure import Structure, make_keys


def find_empty(structure: Structure, codes: Codes) -> Mask:
    """Return a mask of the cells, given by representative codes, that the table's equations leave out.

    Each such cell, or one above it, is missing in an equation of the table that it would be a part of, and
    no listed cell is below it. Cells of linked tables, and of tables without dimensions, are not judged.
    """
    if structure.labels or len(structure.parts) != 1 or not len(codes):
        return np.zeros(len(codes), dtype=bool)
    dimensions = structure.dimensions
    above = roll_up(dimensions, codes)
    filled = np.isin(above.keys, roll_up(dimensions, structure.codes).keys)
    left_out, unbound = np.zeros((2, above.keys.size), dtype=bool)
    for d, dimension in enumerate(dimensions):
        for parent in dimension.parents:
            has_parts = np.zeros(len(structure) + 1, dtype=bool)
            has_parts[_find_totals(structure, structure.codes, d, parent)] = True
            total = _find_totals(structure, above.codes, d, parent)
            left_out |= (total >= 0) & has_parts[total]
            unbound |= (total >= 0) & ~has_parts[total]
    own = above.find(make_keys(dimensions, codes))
    empty = left_out & ~filled & ~unbound
    for step in reversed(above.steps):
        below = np.zeros(int(step.source.max()) + 1, dtype=bool)
        below[step.source[empty[step.target]]] = True
        empty = below
    return np.asarray(empty & ~filled[own] & ~unbound[own])


def _find_totals(structure: Structure, codes: Codes, d: int, parent: Codes) -> Cells:
    """Return the nearest listed cell above each cell along one tree of a dimension, -1 if there is none."""
    found = np.full(len(codes), -1, dtype=np.int64)
    climbing, wanted = np.arange(len(codes)), codes.copy()
    while climbing.size:
        wanted[:, d] = parent[wanted[:, d]]
        higher = wanted[:, d] >= 0
        climbing, wanted = climbing[higher], wanted[higher]
        found[climbing] = structure.locate(wanted)
        unlisted = found[climbing] < 0
        climbing, wanted = climbing[unlisted], wanted[unlisted]
    return found
