"""Read and write the files of the NCHS program: a 2-D table as lines of numbers.

Input: one line per row, columns separated by blanks, without totals. Output: one line per row, columns
separated by tabs, totals last, primary suppressions marked ``PS`` and complementary ones ``CS``. That
program wrote the mark before the hidden value; here the mark stands alone unless the file is internal.
By its definition the format says which cells are primary, which the audit assumes nobody to know.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from tacita.core import exact
from tacita.core.errors import FormatError, InputError
from tacita.core.release import Mark, Release
from tacita.core.tables.columns import Columns
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table
from tacita.core.words import pluralize
from tacita.formats.number_texts import format_numbers
from tacita.formats.published_cells import format_cells
from tacita.formats.textfile import read_text
from tacita.storage.atomic import write_text

Grid = np.ndarray[tuple[int, int], np.dtype[np.int64]]
"""Cells by row and column, -1 where one is empty."""


def read_nchs(
    path: str | os.PathLike[str], *, decimals: int | None = None, counts: bool | None = None
) -> Table:
    """Return the 2-D table of an NCHS text file: lines of numbers without totals, which are computed."""
    rows: list[list[float]] = []
    width, first = 0, 0
    for number, line in enumerate(read_text(path)[0].splitlines(), start=1):
        if not line.strip():
            continue
        if line.count(",") > 1 and len(line.split()) == 1:
            raise FormatError(
                "commas between numbers, as in A.txt of the thesis program",
                place=f"{path}, line {number}",
                remedy="open it together with PSC.txt and VSC.txt (or their folder), or write blanks "
                "between numbers",
            )
        rows.append([_parse_number(path, number, token) for token in line.split()])
        width, first = (width, first) if width else (len(rows[0]), number)
        if len(rows[-1]) != width:
            raise FormatError(
                f"{pluralize(len(rows[-1]), 'number')} where line {first} has {width}: every line should "
                "hold one row of the table, without its total",
                place=f"{path}, line {number}",
            )
    if not rows:
        raise FormatError(
            "the file is empty", place=path, remedy="it should hold one line of numbers per row of the table"
        )
    return Table.from_array(np.array(rows), decimals=decimals, counts=counts)


def write_nchs(table: Table, path: str | os.PathLike[str]) -> Path:
    """Write the inner cells of a 2-D table as an NCHS text file: true values, hence internal."""
    return write_text(path, "\n".join(list_inner_lines(table, " ")) + "\n")


def list_inner_lines(table: Table, separator: str) -> list[str]:
    """Return the inner cells of a 2-D table as the lines of a text file, one per row."""
    texts = format_numbers(table.units, table.decimals)
    return _list_grid_lines(build_cell_grid(table.structure)[:-1, :-1], texts, separator)


def write_nchs_release(
    release: Release,
    path: str | os.PathLike[str],
    labels: Mapping[str, str] | None = None,
    *,
    internal: Table | None = None,
) -> Path:
    """Write a release of a 2-D table as an NCHS text file, tab-separated and totals last;
    :func:`write_release` wants the audit.

    Parameters
    ----------
    labels
        What to say of the whole release, each in a last line.
    internal
        The table itself: hidden values are then written after their mark, as the NCHS program did, and the
        file is internal.
    """
    grid = build_cell_grid(release.structure)
    texts = format_cells(release, "PS", "CS")
    if internal is not None:
        for cell in np.flatnonzero(release.marks == Mark.SUPPRESSED).tolist():
            texts[cell] += f" {exact.to_text(int(internal.units[cell]), internal.decimals)}"
    lines = _list_grid_lines(grid, texts, "\t")
    lines += [f"# {name}: {' '.join(text.split())}" for name, text in (labels or {}).items()]
    return write_text(path, "\n".join(lines) + "\n", public=internal is None)


def read_nchs_release(path: str | os.PathLike[str], table: Table) -> Columns:
    """Return the columns (codes and what is published) of an NCHS text file with a release of ``table``."""
    structure, grid = table.structure, build_cell_grid(table.structure)
    lines = [
        line
        for line in read_text(path)[0].splitlines()
        if line.strip() and not line.startswith(("# unaudited:", "# notice:"))
    ]
    if len(lines) != grid.shape[0]:
        raise FormatError(
            f"{pluralize(len(lines), 'line')} where the table has {pluralize(grid.shape[0], 'row')}, "
            "totals included",
            place=path,
        )
    cells: list[int] = []
    entries: list[str] = []
    places: list[str] = []
    for r, line in enumerate(lines):
        fields = line.split("\t")
        if len(fields) != grid.shape[1]:
            raise FormatError(
                f"{pluralize(len(fields), 'field')} where the table has "
                f"{pluralize(grid.shape[1], 'column')}, totals included",
                place=f"{path}, line {r + 1}",
            )
        for c, field in enumerate(fields):
            if grid[r, c] >= 0:
                cells.append(int(grid[r, c]))
                entries.append(field)
                places.append(f"{path}, line {r + 1}, field {c + 1}")
    codes = [
        pa.array([dimension.codes[k] for k in structure.codes[cells, d]])
        for d, dimension in enumerate(structure.dimensions)
    ]
    names = [dimension.name for dimension in structure.dimensions]
    return Columns(pa.table([*codes, pa.array(entries)], names=[*names, "value"]), lambda row: places[row])


def build_cell_grid(structure: Structure) -> Grid:
    """Return the cells of a 2-D table by row and column of a text file, totals last; -1 if empty."""
    if len(structure.dimensions) != 2:
        raise InputError(
            f"this layout shows tables of 2 dimensions, not of {len(structure.dimensions)}", remedy="use .csv"
        )
    axes = []
    for dimension in structure.dimensions:
        own = np.unique(dimension.representative)
        total = int(dimension.representative[dimension.index(dimension.total)])
        axes.append(np.append(own[own != total], total))
    pairs = np.array([(r, c) for r in axes[0] for c in axes[1]], dtype=np.int32)
    return structure.locate(pairs).reshape(axes[0].size, axes[1].size)


def _list_grid_lines(grid: Grid, texts: Sequence[str], separator: str) -> list[str]:
    """Return the lines of an NCHS text file, one per row of the table; empty cells are zeros."""
    return [separator.join(texts[cell] if cell >= 0 else "0" for cell in row) for row in grid.tolist()]


def _parse_number(path: str | os.PathLike[str], line: int, token: str) -> float:
    try:
        number = exact.parse_number(token)
    except InputError as error:
        raise FormatError(str(error), place=f"{path}, line {line}", options=error.options) from None
    if number is None or not number.is_finite():
        raise FormatError(
            f"'{token}' is not a number", place=f"{path}, line {line}", remedy="give one, or write 0"
        )
    return float(number)
