"""Dimensions that are levels of one classification, found in the codes of the records."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacita.core.exact import Cells
from tacita.tabulation.leaves import Cube

RECORDS_PER_CODE = 5
"""With fewer, codes may occur with a single code of another dimension by chance."""


def warn_of_nested(cube: Cube, leaves: Cells) -> Iterator[str]:
    """Yield a warning for each dimension whose codes determine those of others, given keys of leaf cells."""
    codes = cube.codes(leaves).T
    names = [dimension.name for dimension in cube.dimensions]
    sizes = [np.unique(column).size for column in codes]

    def determines(fine: int, coarse: int) -> bool:
        if not sizes[fine] > sizes[coarse] > 1 or cube.records < RECORDS_PER_CODE * sizes[fine]:
            return False
        only = np.zeros(codes[fine].max() + 1, dtype=codes.dtype)
        only[codes[fine]] = codes[coarse]
        return bool((only[codes[fine]] == codes[coarse]).all())

    levels = sorted(range(len(names)), key=lambda d: -sizes[d])
    nested = set[int]()
    for fine in levels:
        chain = [fine]
        for coarse in levels:
            if coarse not in nested and determines(chain[-1], coarse):
                chain.append(coarse)
        if fine not in nested and len(chain) > 1:
            nested.update(chain)
            above = " and one ".join(names[d] for d in chain[1:])
            path = ", ".join(names[d] for d in reversed(chain))
            yield (
                f"every {names[fine]} has one {above}, so these are nested, not crossed: give {names[fine]} "
                f"a classification with the levels {path} (Hierarchy.from_columns), and leave the others out"
            )
