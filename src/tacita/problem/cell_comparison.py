"""Two releases of one table cell by cell: which cells only one of them hides or changes.

A cell is *changed* by a release if its number there is not the true one, or if it shows none. This reveals
which shown numbers are true: it is for internal use.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacita.core.exact import Mask
from tacita.core.release import Release
from tacita.core.tables.table import Table
from tacita.core.windows import refuse_other_cells
from tacita.problem.quality import find_changed


@dataclass(frozen=True, eq=False)
class CellComparison:
    """Masks of the cells that two releases of a table hide or change: the first only, the second only, both.

    ``hidden_first``, ``hidden_second`` and ``hidden_both`` are those that show no number.
    """

    only_first: Mask
    only_second: Mask
    both: Mask
    hidden_first: Mask
    hidden_second: Mask
    hidden_both: Mask

    @property
    def counts(self) -> dict[str, int]:
        """How many cells each mask of the comparison of two releases has, by its name."""
        return {name: int(mask.sum()) for name, mask in vars(self).items()}


def compare_cells(table: Table, first: Release, second: Release) -> CellComparison:
    """Return which cells of a table the first of two releases hides or changes, which the second, which both.

    Raises
    ------
    ReleaseError
        A release is of another table.
    """
    for release in (first, second):
        refuse_other_cells(table, release)
    masks = []
    for one, other in (
        (find_changed(table, first), find_changed(table, second)),
        (~first.shown, ~second.shown),
    ):
        masks += [np.asarray(one & ~other), np.asarray(other & ~one), np.asarray(one & other)]
    return CellComparison(*masks)
