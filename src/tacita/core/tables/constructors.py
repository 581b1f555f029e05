"""Tables from arrays, with totals or without, and from listed equations between cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tacita.core import exact
from tacita.core.errors import InputError, did_you_mean, issue_warnings
from tacita.core.hierarchy import Hierarchy
from tacita.core.tables.build import build_table
from tacita.core.tables.dimension import Dimension
from tacita.core.tables.equations import Equations
from tacita.core.tables.read_options import ReadOptions
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table
from tacita.core.tables.undeclared_sums import refuse_undeclared_sums
from tacita.core.words import pluralize

AXES = ("row", "column", "layer", "sheet", "book")
FORMS = (
    "write (total, [parts]), {cell: coefficient} for a sum that is zero, or ({cell: coefficient}, constant)"
)


def table_from_array(
    values: ArrayLike, names: Sequence[str] | None, codes: Sequence[Sequence[str]] | None, read: ReadOptions
) -> Table:
    """Return the Table of an array; see :meth:`Table.from_array`.

    Totals stand in the last position of each axis unless ``read.totals`` is ``"compute"``.
    """
    array = _read_array(values)
    if array.ndim == 0 or array.size == 0:
        raise InputError("the array is empty: a table needs at least one cell")
    totals = read.totals != "compute"
    inner = [n - 1 if totals else n for n in array.shape]
    if min(inner) < 1:
        raise InputError("where totals are given, each axis needs at least one position besides its total")
    if names is None:
        names = [AXES[k] if k < len(AXES) else f"axis{k + 1}" for k in range(array.ndim)]
    if len(names) != array.ndim:
        raise InputError(f"{pluralize(len(names), 'name')} for {pluralize(array.ndim, 'axis', 'axes')}")
    if codes is None:
        codes = [[str(i + 1) for i in range(n)] for n in inner]
    for name, axis, n in zip(names, codes, inner, strict=True):
        if len(axis) != n:
            raise InputError(
                f"axis '{name}' has {pluralize(n, 'position')} besides the total, but "
                f"{pluralize(len(axis), 'code')}"
            )
    dimensions = [
        Dimension(name, (Hierarchy.flat(list(axis)),)) for name, axis in zip(names, codes, strict=True)
    ]
    missing = np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, dtype=bool)
    known = array[~missing]
    decimals = exact.find_decimals(known) if read.decimals is None else read.decimals
    integer = bool(decimals == 0 and known.min(initial=0) >= 0) if read.counts is None else read.counts
    units = np.zeros(array.shape, dtype=np.int64)
    units[~missing] = exact.to_units(known, decimals)
    positions = np.indices(array.shape).reshape(array.ndim, -1).T
    # Hierarchy.flat puts the total first; arrays put it last.
    shown = np.where(positions == np.array(inner), 0, positions + 1).astype(np.int32)
    warnings = refuse_undeclared_sums(
        dimensions,
        shown,
        units.ravel(),
        missing.ravel(),
        names,
        read.undeclared_sums,
        decimals=decimals,
    )
    issue_warnings(warnings)
    return build_table(
        dimensions,
        shown,
        units.ravel(),
        decimals,
        compute_totals=not totals,
        repair=read.repair,
        missing=missing.ravel(),
        integer=integer,
        warnings=warnings,
    )


def _read_array(values: ArrayLike) -> np.ndarray[tuple[int, ...], np.dtype[np.float64 | np.int64]]:
    """Return a user's values as a rectangular array of numbers, NaN where one is missing."""
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
            f"row {odd + 1} has {pluralize(lengths[odd], 'number')} where row 1 has {lengths[0]}",
            remedy="make them equally long",
        )
    numbers = [exact.parse_number(v) for v in np.asarray(array, dtype=object).ravel()]
    return np.array([np.nan if n is None else float(n) for n in numbers]).reshape(array.shape)


def table_from_equations(
    values: Mapping[Any, float] | ArrayLike,
    equations: Iterable[Any],
    decimals: int | None,
    counts: bool | None,
) -> Table:
    """Return a general Table, without dimensions; see :meth:`Table.from_equations`."""
    labels, numbers = _read_values(values)
    position = {label: k for k, label in enumerate(labels)}
    rows = [_read_equation(j, equation, position) for j, equation in enumerate(equations, start=1)]
    places = exact.find_decimals([*numbers, *(rhs for _, rhs in rows)]) if decimals is None else decimals
    units = exact.to_units(numbers, places)
    integer = bool(places == 0 and units.min() >= 0) if counts is None else counts
    constants = exact.to_units(np.array([rhs for _, rhs in rows], dtype=np.float64), places, "constant")
    system = Equations.from_rows(
        [
            (list(terms), list(terms.values()), int(rhs))
            for (terms, _), rhs in zip(rows, constants.tolist(), strict=True)
        ],
        len(labels),
    )
    structure = Structure((), np.empty((len(labels), 0), dtype=np.int32), system, labels=labels)
    return Table(structure, units, places, integer)


def _read_values(values: Mapping[Any, float] | ArrayLike) -> tuple[tuple[str, ...], Any]:
    """Return the labels of a general table's cells and their values; refuse what are none."""
    if isinstance(values, Mapping):
        if wrong := [label for label in values if not isinstance(label, str)]:
            raise InputError(
                f"labels of cells are text, not {wrong[0]!r}",
                remedy=f"write {str(wrong[0])!r}, or list the values",
            )
        labels, values = tuple(values), list(values.values())
    else:
        labels = tuple(map(str, range(np.size(values))))
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.zeros((0, 0))
    if numbers.ndim != 1 or numbers.size == 0 or not np.isfinite(numbers).all():
        raise InputError("the values of a general table are a number per cell, of one cell at least")
    return labels, np.asarray(values)


def _read_equation(j: int, equation: Any, position: Mapping[str, int]) -> tuple[dict[int, int], float]:
    """Return the coefficient of each cell in equation number ``j`` of a general table, and its constant."""
    place = f"equation {j}"
    terms: Any = equation
    constant: Any = 0
    if isinstance(equation, tuple | list) and len(equation) == 2:
        terms, constant = equation
    listed: list[tuple[Any, Any]]
    parts = isinstance(constant, Iterable) and not isinstance(constant, str)
    if parts and isinstance(terms, str | int | np.integer):
        listed, constant = [(terms, -1), *((part, 1) for part in constant)], 0
    else:
        listed = list(terms.items()) if isinstance(terms, Mapping) else []
    if not listed:
        raise InputError(f"{place} is none", remedy=FORMS)
    found: dict[int, int] = {}
    for cell, coefficient in listed:
        at = _find_cell(place, cell, position)
        if at in found:
            raise InputError(
                f"{place} names cell {cell!r} twice", remedy="name it once, with one coefficient"
            )
        if isinstance(coefficient, bool) or not isinstance(coefficient, int | np.integer) or not coefficient:
            raise InputError(
                f"the coefficient {coefficient!r} of cell {cell!r} is no integer besides 0",
                place=place,
                remedy="multiply the equation, or leave the cell out",
            )
        found[at] = int(coefficient)
    if isinstance(constant, bool) or not isinstance(constant, int | float | np.integer | np.floating):
        raise InputError(f"the constant {constant!r} is no number", place=place, remedy=FORMS)
    return found, float(constant)


def _find_cell(place: str, cell: Any, position: Mapping[str, int]) -> int:
    """Return the position of a cell that an equation of a general table names by label or position."""
    if isinstance(cell, str) and cell in position:
        return position[cell]
    if isinstance(cell, int | np.integer) and not isinstance(cell, bool) and 0 <= cell < len(position):
        return int(cell)
    raise InputError(
        f"there is no cell {cell!r}{did_you_mean(cell, position)} among {pluralize(len(position), 'cell')}",
        place=place,
        remedy="name one by its label or by its position from 0 on",
    )
