"""Tables from arrays: ``values[i, j, ..]``, with totals in the last position of each axis or without
totals.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tacita.core import exact
from tacita.core.errors import InputError, issue_warnings
from tacita.core.hierarchy import Hierarchy
from tacita.core.tables.build import build_table
from tacita.core.tables.dimension import Dimension
from tacita.core.tables.read_options import UndeclaredSums
from tacita.core.tables.table import Table
from tacita.core.tables.undeclared import refuse_undeclared_sums
from tacita.core.words import pluralize

AXES = ("row", "column", "layer", "sheet", "book")


def table_from_array(
    values: ArrayLike,
    *,
    totals: bool = False,
    names: Sequence[str] | None = None,
    codes: Sequence[Sequence[str]] | None = None,
    decimals: int | None = None,
    counts: bool | None = None,
    repair: bool = False,
    undeclared_sums: UndeclaredSums = "warn",
) -> Table:
    """A table from an array of any number of dimensions; the parameters are those of `Table.from_array`."""
    array = _rectangular(values)
    if array.ndim == 0 or array.size == 0:
        raise InputError("the array is empty: a table needs at least one cell")
    inner = [n - 1 if totals else n for n in array.shape]
    if min(inner) < 1:
        raise InputError("where totals are given, each axis needs at least one position besides its total")
    names = (
        list(names)
        if names is not None
        else [AXES[k] if k < len(AXES) else f"axis{k + 1}" for k in range(array.ndim)]
    )
    if len(names) != array.ndim:
        raise InputError(f"{pluralize(len(names), 'name')} for {pluralize(array.ndim, 'axis', 'axes')}")
    listed = (
        [list(axis) for axis in codes]
        if codes is not None
        else [[str(i + 1) for i in range(n)] for n in inner]
    )
    for name, axis, n in zip(names, listed, inner, strict=True):
        if len(axis) != n:
            raise InputError(
                f"axis '{name}' has {pluralize(n, 'position')} besides the total, but "
                f"{pluralize(len(axis), 'code')}"
            )
    dimensions = [Dimension(name, (Hierarchy.flat(axis),)) for name, axis in zip(names, listed, strict=True)]
    missing = np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, dtype=bool)
    known = array[~missing]
    decimals = exact.decimals_needed(known) if decimals is None else decimals
    whole = bool(decimals == 0 and (known.size == 0 or known.min() >= 0)) if counts is None else counts
    units = np.zeros(array.shape, dtype=np.int64)
    units[~missing] = exact.to_units(known, decimals)
    positions = np.indices(array.shape).reshape(array.ndim, -1).T.astype(np.int32)
    # Hierarchy.flat puts the total first; arrays put it last.
    last = np.array(inner, dtype=np.int32)
    positions = np.where(positions == last, 0, positions + 1).astype(np.int32)
    warnings = refuse_undeclared_sums(
        dimensions, positions, units.ravel(), missing.ravel(), names, undeclared_sums
    )
    issue_warnings(warnings)
    return build_table(
        dimensions,
        positions,
        units.ravel(),
        decimals,
        compute_totals=not totals,
        repair=repair,
        missing=missing.ravel(),
        whole=whole,
        warnings=warnings,
    )


def _rectangular(values: ArrayLike) -> np.ndarray[tuple[int, ...], np.dtype[np.float64 | np.int64]]:
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.dtype.kind in "iub":
        return array.astype(np.int64)
    if array.dtype.kind == "f":
        return array.astype(np.float64)
    rows = list(values) if isinstance(values, Sequence) else []
    lengths = [len(row) for row in rows if isinstance(row, Sequence) and not isinstance(row, str)]
    if lengths and len(set(lengths)) > 1:
        odd = next(i for i, n in enumerate(lengths) if n != lengths[0])
        raise InputError(
            f"row {odd + 1} has {pluralize(lengths[odd], 'number')} where row 1 has {lengths[0]}: make them "
            "equally long"
        )
    numbers = [exact.parse_number(v) for v in np.asarray(array, dtype=object).ravel()]
    return np.array([np.nan if n is None else float(n) for n in numbers]).reshape(array.shape)
