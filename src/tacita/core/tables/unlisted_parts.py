"""Cells that a table does not list and that would make up for totals their parts fall short of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacita.core.exact import Cells, Units
from tacita.core.tables.structure import Structure

MOST_SEARCHED = 1_000
"""Equations that are searched for parts which are not listed."""
MOST_NAMED = 3


def find_unlisted_parts(structure: Structure, residuals: Units) -> list[str]:
    """Return the names of cells that are not listed and would fill the gaps of their sums; none of many.

    Each is a part of several sums, one per dimension, that miss the same amount.
    """
    if len(structure.parts) > 1:
        return []
    gaps: dict[tuple[int, ...], list[int]] = {}
    for row in np.flatnonzero(residuals < 0)[:MOST_SEARCHED].tolist():
        for codes in _list_unlisted(structure, row):
            gaps.setdefault(codes, []).append(int(residuals[row]))
    needed = min(2, len(structure.dimensions))
    filling = [codes for codes, gap in gaps.items() if len(gap) >= needed and len(set(gap)) == 1]
    if len(filling) > MOST_NAMED:
        return []
    return [
        ", ".join(f"{d.name}={d.codes[c]}" for d, c in zip(structure.dimensions, codes, strict=True))
        for codes in filling
    ]


def _list_unlisted(structure: Structure, row: int) -> Iterator[tuple[int, ...]]:
    """Yield the codes of the parts of a sum that are not listed."""
    total = structure.equations.total_of(row)
    cells: Cells = structure.equations.row(row)[0]
    own, parts = structure.codes[total], structure.codes[cells[cells != total]]
    along = np.flatnonzero((parts != own).any(axis=0))
    if along.size != 1:
        return
    (d,) = along.tolist()
    dimension = structure.dimensions[d]
    for parent in dimension.parents:
        if (parent[parts[:, d]] == own[d]).all():
            for code in np.setdiff1d(np.flatnonzero(parent == own[d]), parts[:, d]).tolist():
                yield tuple(int(code) if k == d else int(c) for k, c in enumerate(own))
