"""Which cell each row of a file speaks of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacita.core.exact import Cells
from tacita.core.tables.columns import Columns
from tacita.core.tables.dimension import Codes, recognise_total_for
from tacita.core.tables.structure import Structure


def list_code_columns(structure: Structure) -> list[str]:
    """Return the columns of a file that identify a cell: one per dimension, or ``cell`` for labels."""
    return [dimension.name for dimension in structure.dimensions] or ["cell"]


def find_cells(source: Columns, structure: Structure, dimensions: Sequence[int] | None = None) -> Cells:
    """Return the position of the cell that each row of a file is about; -1 if the table has no such cell.

    The usual names of totals (``All``, ``Sum``) stand for the total of a dimension, whatever its code is.

    Parameters
    ----------
    dimensions
        Those whose codes the rows give, all by default; the others are at their totals.
    """
    if structure.labels:
        rows, distinct = source.codes("cell")
        position = {label: k for k, label in enumerate(structure.labels)}
        return np.array([position.get(label, -1) for label in distinct], dtype=np.int64)[rows]
    codes = find_codes(source, structure, dimensions)
    cells = np.full(codes.shape[0], -1, dtype=np.int64)
    listed = (codes >= 0).all(axis=1)
    cells[listed] = structure.locate(codes[listed])
    return cells


def find_codes(source: Columns, structure: Structure, dimensions: Sequence[int] | None = None) -> Codes:
    """Return the representative codes of the cell that each row of a file is about; -1 for unknown codes.

    Parameters are those of :func:`find_cells`.
    """
    codes = np.empty((source.data.num_rows, len(structure.dimensions)), dtype=np.int32)
    for d, dimension in enumerate(structure.dimensions):
        known, stands_for = dimension.position, dimension.representative
        if dimensions is not None and d not in dimensions:
            codes[:, d] = stands_for[known[dimension.total]]
            continue
        rows, distinct = source.codes(dimension.name)
        if (total := recognise_total_for(distinct, dimension)) is not None:
            known = {**known, total: known[dimension.total]}
        found = [int(stands_for[known[code]]) if code in known else -1 for code in distinct]
        codes[:, d] = np.array(found, dtype=np.int32)[rows]
    return codes
