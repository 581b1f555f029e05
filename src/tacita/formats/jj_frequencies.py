"""The sidecar of a JJ file, ``name.frq``: how many respondents and holdings stand behind each cell.

    freq holdingfreq        nCells times, in the order of the cells in ``name.jj``

A column that is zero throughout says nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tacita.core.errors import FormatError
from tacita.core.exact import Units
from tacita.core.tables.table import Table
from tacita.core.words import pluralize
from tacita.formats.textfile import read_text
from tacita.storage.atomic import replace_file

COLUMNS = ("freq", "holdingfreq")


def make_frequency_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of the ``.frq`` file beside a JJ file, which holds its counts of respondents."""
    return Path(path).with_suffix(".frq")


def read_frequencies(path: str | os.PathLike[str], cells: int) -> tuple[Units | None, Units | None]:
    """Return the counts of respondents and of holdings per cell from the file beside a JJ file of so many
    cells; None where it is missing or all zero.
    """
    file = make_frequency_path(path)
    if not file.exists():
        return None, None
    lines = read_text(file)[0].splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    numbers = _parse_numbers(file, lines)
    if len(numbers) != cells:
        raise FormatError(
            f"{pluralize(len(numbers), 'line')} for {pluralize(cells, 'cell')} of {Path(path).name}",
            place=file,
            remedy="give one line per cell, or remove the file if it belongs to another table",
        )
    count, holding_count = (column if column.any() else None for column in np.ascontiguousarray(numbers.T))
    return count, holding_count


@contextmanager
def write_frequencies(table: Table, path: str | os.PathLike[str]) -> Iterator[None]:
    """Write the ``.frq`` file of counts beside a JJ file; it is there when the block ends well. One of an
    earlier table goes if this one has no counts.
    """
    file = make_frequency_path(path)
    if table.count is None and table.holding_count is None:
        yield
        file.unlink(missing_ok=True)
        return
    nothing = np.zeros(len(table), dtype=np.int64)
    columns = (nothing if c is None else c for c in (table.count, table.holding_count))
    rows = zip(*(column.tolist() for column in columns), strict=True)
    with replace_file(file) as temporary:
        temporary.write_text("".join(f"{a} {b}\n" for a, b in rows), encoding="ascii", newline="\n")
        yield


def _parse_numbers(file: Path, lines: Sequence[str]) -> Units:
    """Return the counts in a ``.frq`` file, one row per line; refuse the first wrong line by number."""
    rows = [line.split() for line in lines]
    try:
        numbers = np.array(rows, dtype=np.int64).reshape(-1, len(COLUMNS))
    except (ValueError, OverflowError):
        numbers = None
    if numbers is not None and len(numbers) == len(rows) and (numbers >= 0).all():
        return numbers
    for number, row in enumerate(rows, start=1):
        if len(row) != len(COLUMNS):
            raise FormatError(
                f"{pluralize(len(row), 'field')} where {len(COLUMNS)} should stand: {' '.join(COLUMNS)}",
                place=f"{file}, line {number}",
            )
        for name, text in zip(COLUMNS, row, strict=True):
            if not (text.isascii() and text.isdecimal() and len(text) < 19):
                raise FormatError(
                    f"{name} is '{text}': it should be an integer, zero or more",
                    place=f"{file}, line {number}",
                )
    return np.array([[int(text) for text in row] for row in rows], dtype=np.int64)
