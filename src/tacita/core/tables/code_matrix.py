"""The numbers of a table as a matrix: codes of one dimension by combinations of the codes of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tacita.core.exact import Cells, Mask, Units
from tacita.core.tables.dimension import Codes, Dimension
from tacita.core.tables.structure import make_keys

MOST_CODES = 20_000
"""Dimensions of more codes are not searched for what their codes have to do with each other."""


@dataclass(frozen=True, eq=False)
class CodeMatrix:
    """Numbers of a table by codes of one dimension and columns: combinations of the others' codes.

    Attributes
    ----------
    rows
        The codes that are listed, without the total.
    values
        Integers, all codes of the dimension by columns; zero where a column misses a value.
    complete
        The columns without missing values.
    independent
        Those that count as evidence: without totals of other dimensions, where there are any.
    others
        Per column the codes in the other dimensions.
    """

    dimension: Dimension
    rows: Cells
    total_is_given: bool
    values: sp.csr_matrix
    complete: Mask
    independent: Mask
    others: Codes

    @property
    def total(self) -> int:
        """The position of the dimension's total among its codes."""
        return self.dimension.index(self.dimension.total)


def lay_out(
    dimensions: Sequence[Dimension], k: int, shown: Codes, units: Units, missing: Mask
) -> CodeMatrix | None:
    """Return the numbers of a table by codes of dimension ``k``; None if its codes are parts for sure.

    They are if the given total is the sum of those right below it. Nor are there any for dimensions of a
    single code or of too many.

    Parameters
    ----------
    shown, units, missing
        Codes, value and whether it is missing, of each cell that is listed.
    """
    dimension = dimensions[k]
    total = dimension.index(dimension.total)
    used = np.unique(shown[:, k])
    rows = used[used != total].astype(np.int64)
    if not 2 <= rows.size <= MOST_CODES:
        return None
    others, first, column = find_columns(dimensions, k, shown)
    complete = np.ones(first.size, dtype=bool)
    complete[column[missing]] = False
    listed = complete[column]
    code, at, numbers = shown[listed, k], column[listed], units[listed]
    if total in used and _is_sum_of_parts(dimension, code, at, numbers, column[shown[:, k] == total]):
        return None
    shape = (len(dimension.codes), first.size)
    values = sp.csr_matrix((numbers, (code, at)), shape=shape, dtype=np.int64)
    values.eliminate_zeros()
    inner = complete & np.logical_and.reduce(
        [~_is_total(dimensions[d])[shown[first, d]] for d in others] or [np.ones(first.size, dtype=bool)]
    )
    independent = inner if inner.any() else complete
    codes = shown[first][:, others]
    return CodeMatrix(dimension, rows, bool(total in used), values, complete, independent, codes)


def find_columns(dimensions: Sequence[Dimension], k: int, shown: Codes) -> tuple[list[int], Cells, Cells]:
    """Return the dimensions other than ``k``, the first cell of each combination of their codes, and for each
    cell the number of its combination.
    """
    others = [d for d in range(len(dimensions)) if d != k]
    keys = make_keys([dimensions[d] for d in others], shown[:, others])
    _, first, column = np.unique(keys, return_index=True, return_inverse=True)
    return others, first, column.ravel().astype(np.int64)


def _is_sum_of_parts(dimension: Dimension, code: Codes, column: Cells, units: Units, given: Cells) -> bool:
    """Return whether a dimension's total is the sum of the codes right below it in all columns that have it.

    Parameters
    ----------
    code, column, units
        Of the cells in complete columns.
    given
        The columns with a total; others have none to compare.
    """
    total = dimension.index(dimension.total)
    excess = np.zeros(int(max(column.max(initial=0), given.max(initial=0))) + 1, dtype=np.int64)
    below, above = dimension.parents[0][code] == total, code == total
    np.add.at(excess, column[below], units[below])
    np.subtract.at(excess, column[above], units[above])
    return not excess[given].any()


def _is_total(dimension: Dimension) -> Mask:
    """Return a mask of the codes of a dimension that are totals of others in some classification."""
    above = np.zeros(len(dimension.codes), dtype=bool)
    for parent in dimension.parents:
        above[parent[parent >= 0]] = True
    return above
