"""General tables: cells without dimensions, and equations between them that someone lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tacita.core import exact
from tacita.core.errors import InputError, did_you_mean
from tacita.core.tables.equations import Equations
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table
from tacita.core.words import pluralize

FORMS = (
    "write (total, [parts]), {cell: coefficient} for a sum that is zero, or ({cell: coefficient}, constant)"
)


def table_from_equations(
    values: Mapping[Any, float] | ArrayLike,
    equations: Iterable[Any],
    *,
    decimals: int | None = None,
    counts: bool | None = None,
) -> Table:
    """Return a general table; the parameters are those of :meth:`Table.from_equations`."""
    labels, numbers = _read_values(values)
    position = {label: k for k, label in enumerate(labels)}
    rows = [_read_equation(j, equation, position) for j, equation in enumerate(equations, start=1)]
    places = exact.decimals_needed([*numbers, *(rhs for _, rhs in rows)]) if decimals is None else decimals
    units = exact.to_units(numbers, places)
    whole = bool(places == 0 and units.min() >= 0) if counts is None else counts
    constants = exact.to_units(np.array([rhs for _, rhs in rows], dtype=np.float64), places, "constant")
    system = Equations.from_rows(
        [
            (list(terms), list(terms.values()), int(rhs))
            for (terms, _), rhs in zip(rows, constants.tolist(), strict=True)
        ],
        len(labels),
    )
    structure = Structure((), np.empty((len(labels), 0), dtype=np.int32), system, labels=labels)
    return Table(structure, units, places, whole)


def _read_values(values: Mapping[Any, float] | ArrayLike) -> tuple[tuple[str, ...], Any]:
    """Return the labels of cells and their values; refuse what are none."""
    if isinstance(values, Mapping):
        if wrong := [label for label in values if not isinstance(label, str)]:
            raise InputError(
                f"labels of cells are text, not {wrong[0]!r}: write {str(wrong[0])!r}, or list the values"
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
    """Return the coefficients by position of equation number ``j``, and the constant that the sum is."""
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
        raise InputError(f"equation {j} is none: {FORMS}")
    found: dict[int, int] = {}
    for cell, coefficient in listed:
        at = _find(j, cell, position)
        if at in found:
            raise InputError(f"equation {j} names cell {cell!r} twice: name it once, with one coefficient")
        if isinstance(coefficient, bool) or not isinstance(coefficient, int | np.integer) or not coefficient:
            raise InputError(
                f"equation {j}: the coefficient {coefficient!r} of cell {cell!r} is no integer besides 0: "
                "multiply the equation, or leave the cell out"
            )
        found[at] = int(coefficient)
    if isinstance(constant, bool) or not isinstance(constant, int | float | np.integer | np.floating):
        raise InputError(f"equation {j}: the constant {constant!r} is no number: {FORMS}")
    return found, float(constant)


def _find(j: int, cell: Any, position: Mapping[str, int]) -> int:
    """Return the position of a cell that an equation names by label or by position."""
    if isinstance(cell, str) and cell in position:
        return position[cell]
    if isinstance(cell, int | np.integer) and not isinstance(cell, bool) and 0 <= cell < len(position):
        return int(cell)
    raise InputError(
        f"equation {j}: there is no cell {cell!r}{did_you_mean(cell, position)} among "
        f"{pluralize(len(position), 'cell')}; name one by its label or by its position from 0 on"
    )
