"""Read a crosstab as a case: codes down the first column and along the header, numbers inside.

It is recognised by its shape: no column has a name that gives its part away, the codes of the first column
all differ, and every other column holds numbers; there are two or more of both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacita.core.errors import FormatError, InputError
from tacita.core.exact import Mask
from tacita.core.numerals import has_signs_beside, is_number, tidy
from tacita.core.tables.columns import Columns, is_text
from tacita.formats.formatted_numbers import find_marks_and_formatted, refuse_formatted
from tacita.formats.headings import COLUMNS, ROWS
from tacita.formats.roles import guess_role, holds_numbers

NO_NUMBER = frozenset(["n/a", "na", "#n/a", "n.a.", "n.a", "nil", "none", "null", "missing", "unknown"])
"""Words, in small letters, for a number that is not there."""


def unpivot_crosstab(
    source: Columns, path: object, by: Sequence[str] | None, given: Mapping[str, str | None]
) -> Columns:
    """Return the columns of a file that holds a crosstab as one row per cell, and of any other file
    unchanged.

    Parameters
    ----------
    by
        The dimensions, if the user named them; those of a crosstab are its first column and ``column``.
    given
        Columns that the user named, by role.
    """
    if given.get("value") is not None and by is None:
        _refuse_row_totals(source, path, str(given["value"]))
    if any(name is not None for name in given.values()) or not _has_shape(source, by):
        return source
    if not _holds_numbers(source):
        _refuse_words(source)
        return source
    _refuse_hidden(source)
    first, *others = source.names
    down, across = _name_dimensions(source)
    n, width = source.data.num_rows, len(others)
    numbers, missing = zip(*(source.numbers(name) for name in others), strict=True)
    data = pa.table(
        {
            down: source.column(first).take(pa.array(np.repeat(np.arange(n), width))),
            across: pa.array(others * n),
            "value": pa.array(np.column_stack(numbers).ravel(), mask=np.column_stack(missing).ravel()),
        }
    )
    note = f"read as a crosstab: rows are '{down}', columns are '{across}'"
    return Columns(
        data,
        lambda row: f"{source.place(row // width)}, column '{others[row % width]}'",
        source.decimal,
        (*source.notes, note),
        frozenset([down] if first in source.trimmed else []),
        lambda row, name: source.find_field(row // width, first if name == down else others[row % width]),
        title=source.title,
    )


def _name_dimensions(source: Columns) -> tuple[str, str]:
    down = source.names[0] or ROWS
    return down, COLUMNS if down != COLUMNS else f"{COLUMNS} 2"


def _has_shape(source: Columns, by: Sequence[str] | None) -> bool:
    first, *others = source.names
    if min(len(others), source.data.num_rows) < 2:
        return False
    parts = {guess_role(name) for name in source.names} - {None}
    if holds_numbers(source, first) or (parts and not (parts == {"count"} and _has_row_total(source))):
        return False
    if by is not None and set(by) != set(_name_dimensions(source)):
        return False
    return bool(pc.count_distinct(source.column(first), mode="all").as_py() == source.data.num_rows)


def _holds_numbers(source: Columns) -> bool:
    """Return whether all columns of a file but the first hold numbers, or marks in place of some."""
    hidden = [_find_hidden(source, name) for name in source.names[1:]]
    return all(h is not None for h in hidden) and not all(h is None or h.all() for h in hidden)


def _find_hidden(source: Columns, name: str) -> Mask | None:
    """Return a mask of a file's column: marks and formatted numbers; None if some entry is a word."""
    if holds_numbers(source, name):
        return np.zeros(source.data.num_rows, dtype=bool)
    found = find_marks_and_formatted(source, name)
    return None if found is None else found[0] | found[1]


def _refuse_hidden(source: Columns) -> None:
    """Refuse the file of a crosstab with marks of suppressed cells, or with signs beside its numbers."""
    first, *others = source.names
    down, across = _name_dimensions(source)
    otherwise = "if this is no crosstab, name the column of values"
    for name in others:
        hidden = _find_hidden(source, name)
        if hidden is None or not hidden.any():
            continue
        row = int(np.flatnonzero(hidden)[0])
        cell = f"cell ({down}={source.column(first)[row]}, {across}={name})"
        found = find_marks_and_formatted(source, name)
        if found is not None and found[1][row]:
            refuse_formatted(source, name, row, cell, otherwise)
        raise FormatError(
            f"{cell} is '{source.column(name)[row]}'",
            place=source.place(row),
            remedy=f"a case needs the true values; {otherwise}",
            options=["value"],
        )


def _refuse_words(source: Columns) -> None:
    """Refuse the file of a crosstab with a word among columns that otherwise hold mostly numbers.

    With one column of nothing but numbers those with words may be codes, unless a word says that there is no
    number.
    """
    first, *others = source.names
    down, across = _name_dimensions(source)
    words = {name: _find_words(source, name) for name in others if not holds_numbers(source, name)}
    if any(2 * int(among.sum()) > source.data.num_rows for among in words.values()):
        return
    for name, among in words.items():
        for row in np.flatnonzero(among).tolist():
            word = str(source.column(name)[row])
            if len(words) != len(others) - 1 or word.strip().casefold() in NO_NUMBER:
                raise FormatError(
                    f"cell ({down}={source.column(first)[row]}, {across}={name}) is '{word}', which is no "
                    "number",
                    place=source.place(row),
                    remedy="write the number, or leave the field empty where totals tell it; if this is no "
                    "crosstab, name the column of values",
                    options=["value"],
                )


def _find_words(source: Columns, name: str) -> Mask:
    """Return a mask of a file's column, True for entries that are neither blank nor any kind of number."""
    column = source.column(name)
    if not is_text(column.type):
        return np.ones(len(column), dtype=bool)
    encoded = pa.chunked_array(column.fill_null("")).combine_chunks().dictionary_encode()
    texts = [tidy(text) for text in encoded.dictionary.to_pylist()]
    strange = [bool(text) and not is_number(text) and not has_signs_beside(text, True) for text in texts]
    return np.asarray(np.array(strange, dtype=bool)[encoded.indices.to_numpy()])


def _has_row_total(source: Columns) -> bool:
    """Return whether one column of a file is the sum of all others, as in a crosstab with row totals. Then
    even ``N`` is a code, not a number of respondents.
    """
    return any(_find_parts(source, name) for name in source.names)


def _refuse_row_totals(source: Columns, path: object, value: str) -> None:
    """Refuse a file's column of values if other columns add up to it in every row, as in a crosstab."""
    if parts := _find_parts(source, value):
        raise InputError(
            f"{', '.join(parts)} add up to '{value}' in every row: this looks like a crosstab",
            place=path,
            remedy="name no column of values, or name the columns of codes too",
            options=["value", "by"],
        )


def _find_parts(source: Columns, total: str) -> list[str]:
    """Return the names of a file's columns that add up to column ``total`` in every row; else none."""
    parts = [name for name in source.names if name != total and guess_role(name) in (None, "count")]
    parts = [name for name in parts if holds_numbers(source, name)]
    if len(parts) < 2 or total not in source.names or not holds_numbers(source, total):
        return []
    whole = source.numbers(total)[0].astype(np.float64)
    added = np.sum([source.numbers(name)[0] for name in parts], axis=0, dtype=np.float64)
    return parts if whole.any() and np.allclose(added, whole, rtol=1e-9, atol=1e-9) else []
