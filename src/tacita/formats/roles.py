"""Find the role of each column of a file by its name.

A column that the user names always wins. Columns that no name gives away are the dimensions, if they hold
codes; a single column of numbers among them is the value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pyarrow as pa

from tacita.core.errors import FormatError, SeveralValuesError
from tacita.core.tables.columns import Columns, is_text
from tacita.core.tables.number_texts import are_numbers
from tacita.formats.formatted_numbers import find_marks_and_formatted, refuse_formatted
from tacita.formats.mistyped_numbers import find_mistyped

NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "value": ("value", "val", "response"),
        "count": ("freq", "frequency", "count", "n", "n_obs", "nb_obs", "nobs", "respondents"),
        "holding_count": ("holdings", "holding_count", "n_holdings"),
        "status": ("status",),
        "cost": ("cost",),
        "lower_bound": ("lb", "lower", "lower_bound"),
        "upper_bound": ("ub", "upper", "upper_bound"),
        "lower_level": ("lpl", "lower_level"),
        "upper_level": ("upl", "upper_level"),
        "sliding_level": ("spl", "sliding_level"),
        "structural": ("structural", "structural_zero"),
        "identity": ("cell", "cell_id", "id"),
    }
)
NUMERIC = ("cost", "lower_bound", "upper_bound", "lower_level", "upper_level", "sliding_level")
MOST_CHOICES = 5
"""Columns that could hold the values, of which an error proposes each; of more the user names one."""
_LARGEST = re.compile(r"(?:max|top|largest)_?(\d*)\Z")


@dataclass(frozen=True)
class Roles:
    """The columns of a file by what they are for; ``named[role]`` is a column."""

    dimensions: tuple[str, ...]
    named: Mapping[str, str]
    largest: tuple[str, ...]

    def get(self, role: str) -> str | None:
        return self.named.get(role)


def guess_role(name: str) -> str | None:
    """Return the role that a file's column has by its name (value, count, status, ...); None if unclear."""
    role = next((role for role, words in NAMES.items() if name.lower() in words), None)
    return role or ("largest" if _LARGEST.match(name.lower()) else None)


def find_roles(
    source: Columns,
    path: object,
    by: Sequence[str] | None,
    given: Mapping[str, str | None],
    largest: Sequence[str] | None,
) -> Roles:
    """Return the columns of a file by their roles: dimensions, value, counts, largest contributions, levels.

    Parameters
    ----------
    by
        The dimensions, if the user named them; other columns without a part are then left aside.
    given
        Columns that the user named, by role.
    """
    named = {role: column for role, column in given.items() if column is not None}
    free = [name for name in source.names if name not in (*named.values(), *(by or ()), *(largest or ()))]
    for role, words in NAMES.items():
        match = next((name for word in words for name in free if name.lower() == word), None)
        if role not in named and match is not None:
            named[role] = match
            free.remove(match)
    if largest is None:
        ranked = {name: _LARGEST.match(name.lower()) for name in free}
        found = sorted((int(m[1] or 1), name) for name, m in ranked.items() if m is not None)
        largest = [name for _, name in found]
        others = [name for name in free if name not in largest]
        if len(largest) == 1 and "count" not in named and not largest[0][-1].isdigit():
            largest = _check_largest(source, largest[0], _find_value(source, others, by, named), by)
        free = [name for name in free if name not in largest]
    named.pop("identity", None)
    dimensions = list(by) if by is not None else _find_dimensions(source, path, free, named)
    if "value" not in named:
        numbers = [name for name in free if name not in dimensions and holds_numbers(source, name)]
        if len(numbers) == 1:
            named["value"] = numbers[0]
        elif numbers or "count" not in named:
            which = f"which column holds the values: {' or '.join(numbers or source.names)}?"
            remedy = "Name the column of values"
            if not numbers:
                raise FormatError(which, place=path, remedy=remedy, options=["value"])
            remedy += "; or tabulate the rows, if they are records about single respondents"
            options = [f"value={name}" for name in numbers] if len(numbers) <= MOST_CHOICES else ["value"]
            identity = _find_identity(source, dimensions)
            if identity:
                which = f"'{identity}' differs in all rows, as in records about respondents. If not: {which}"
            raise SeveralValuesError(
                which, tuple(dimensions), identity, place=path, remedy=remedy, options=options
            )
    return Roles(tuple(dimensions), MappingProxyType(named), tuple(largest))


def _find_identity(source: Columns, dimensions: Sequence[str]) -> str:
    """Return the column of codes, among several, that differ in all rows of the input; empty if none does."""
    rows = source.data.num_rows
    alike = (name for name in dimensions if len(source.codes(name)[1]) == rows)
    return next(alike, "") if rows > 1 and len(dimensions) > 1 else ""


def _find_value(
    source: Columns, free: Sequence[str], by: Sequence[str] | None, named: Mapping[str, str]
) -> str | None:
    """Return the column of values, by its name or as the only one of numbers; None if it is unclear."""
    numbers = [name for name in free if name not in (by or ()) and holds_numbers(source, name)]
    return named.get("value") or (numbers[0] if len(numbers) == 1 else None)


def _check_largest(source: Columns, name: str, value: str | None, by: Sequence[str] | None) -> list[str]:
    """Return the only column of largest contributions, such as ``Max``, or none if it is something else: the
    maximum of a statistic, or a code. No contribution is larger than its cell, unless another is negative.
    """
    if value is None or not (holds_numbers(source, name) and holds_numbers(source, value)):
        return []
    over = np.flatnonzero(source.numbers(name)[0] > source.numbers(value)[0])
    if not over.size:
        return [name]
    if by is None:
        raise FormatError(
            f"'{name}' is larger than '{value}' here, so it holds no contributions to the cells",
            place=source.place(int(over[0])),
            remedy="Name the columns of codes; columns without a part are then left aside. Or rename it to "
            "max1, if it is the largest contribution",
            options=["by"],
        )
    return []


def _find_dimensions(
    source: Columns, path: object, free: Sequence[str], named: Mapping[str, str]
) -> list[str]:
    dimensions = []
    for name in free:
        if not holds_numbers(source, name):
            if "value" not in named:
                _refuse_formatted(source, name)
            dimensions.append(name)
        elif "value" in named:
            if not holds_numbers(source, name, integer=True):
                raise FormatError(
                    f"column '{name}' holds numbers, but which?",
                    place=path,
                    remedy="Name the columns of codes; columns without a part are then left aside",
                    options=["by"],
                )
            dimensions.append(name)
    if "value" not in named:
        _refuse_mistyped(source, dimensions, has_values=len(dimensions) < len(free))
    if not dimensions:
        raise FormatError(
            f"none of {', '.join(source.names)} looks like codes",
            place=path,
            remedy="name the columns of codes",
            options=["by"],
        )
    return dimensions


def _refuse_formatted(source: Columns, name: str) -> None:
    """Refuse a file's column of numbers, some formatted (``7*``), as codes: it may hold the values."""
    found = find_marks_and_formatted(source, name)
    if found is not None and found[1].any():
        row = int(np.flatnonzero(found[1])[0])
        refuse_formatted(
            source, name, row, f"column '{name}'", "if these are codes, name the column of values"
        )


def _refuse_mistyped(source: Columns, dimensions: Sequence[str], has_values: bool) -> None:
    """Refuse a file's column of numbers, one of them mistyped (``l7``), as codes: it may hold the values."""
    for name in dimensions:
        row = find_mistyped(source, name)
        if row is not None:
            raise FormatError(
                f"'{source.column(name)[row]}' among numbers: is it a mistyped number?",
                place=f"{source.place(row)}, column '{name}'",
                remedy=f"Correct it; or name the columns of codes, if '{name}' is one of them",
                options=[f"by={dimension}" for dimension in dimensions] if has_values else ["by"],
            )


def holds_numbers(source: Columns, name: str, integer: bool = False) -> bool:
    """Return whether a column of a file holds nothing but numbers, or nothing but integers if ``integer``."""
    column = source.column(name)
    if is_text(column.type):
        return are_numbers(column, source.sign, integer)
    if pa.types.is_integer(column.type):
        return True
    if pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        numbers, missing = source.numbers(name)
        return not integer or bool(not missing.any() and (numbers == np.rint(numbers)).all())
    return False
