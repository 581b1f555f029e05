"""Read releases: our own files, and tables that somebody protected by hand or with another program.

Every number that is published as the value is compared with the table, and every window must hold the value:
a release that contradicts its table is refused by the name of the cell. So is a file that tells readers more
than a release can hold: further columns, or a number beside the mark of a hidden cell.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacita.core import exact
from tacita.core.errors import FormatError, InputError, ReleaseError, and_others, issue_warnings
from tacita.core.exact import Cells, Units, freeze
from tacita.core.release import Mark, Release
from tacita.core.tables.columns import Columns
from tacita.core.tables.dimension import Dimension, recognise_total_for
from tacita.core.tables.empty_cells import find_empty
from tacita.core.tables.frames import find_part, read_whole_frame
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table
from tacita.formats.cell_rows import find_cells, find_codes, list_code_columns
from tacita.formats.code_labels import name_label_columns
from tacita.formats.columns import read_columns
from tacita.formats.sdmx.release_rows import convert_release
from tacita.publication.folders import refuse_incomplete
from tacita.publication.release_rows import (
    ReleaseRows,
    apply_rounding,
    find_nothing_or_zero,
    parse_foreign_rows,
    parse_own_rows,
)
from tacita.publication.rounded_by_others import RoundingMode
from tacita.verify import LABELS, NOTICES, RELEASE

VALUE_NAMES = ("value", "published", "release", "released", "figure")
READERS_SEE = (
    "readers see titles and footnotes, which the audit does not judge: check that they say nothing of single "
    "cells"
)


class ReleaseReading(TypedDict, total=False):
    """How a release is read; :func:`read_release` says what each option means."""

    value: str | None
    base: float | None
    radius: float | None
    rounded: RoundingMode | None
    decimal: str
    delimiter: str | None
    sheet: str | None


def read_release(
    published: Any,
    table: Table,
    *,
    value: str | None = None,
    base: float | None = None,
    radius: float | None = None,
    rounded: RoundingMode | None = None,
    absent: Literal["refuse", "suppressed"] = "refuse",
    part: int | str = 0,
    decimal: str = ".",
    delimiter: str | None = None,
    sheet: str | None = None,
) -> Release:
    """Return the release of ``table`` that a published file or a frame holds, whether ours or another's.

    Three shapes are understood: our own (a column ``mark``); long, one row per cell with codes and a column
    that holds a value, a mark for hidden cells or an interval (see :mod:`tacita.formats.published_cells`);
    for 2-D tables also a crosstab. SDMX-CSV is read too. Pages are read as those of cases are: titles and
    footnotes are left out, with a note of the release each, since readers see them and the audit does not
    judge them.

    Parameters
    ----------
    published
        The path of a file; or a pandas, polars, Arrow or DuckDB frame of one of these shapes, in pandas with
        codes in columns or in the index, as ``pandas.crosstab`` and :func:`tacita.crosstab` lay them out.
    value
        The column of published values, where its name does not tell. Other columns are then taken to
        stay internal; without this option they are refused.
    base
        The numbers are rounded to multiples of ``base``. Other numbers are refused, and windows of a file of
        ours that are wider than it allows.
    radius
        The numbers are adjusted: the truth is announced to be within ``radius`` of them. Wider windows are
        refused.
    rounded
        How they were rounded: ``"nearest"``, ``"down"``, ``"up"``, ``"adjacent"`` (up or down) or
        ``"within"`` (multiples moved too); none: the first of these that agrees with all numbers, as
        :mod:`tacita.publication.rounded_by_others` states. The release carries the assumption, and verdicts
        name it.
    absent
        ``"suppressed"`` if cells that the file does not list count as hidden; they are refused by default.
    part
        Which of several linked tables the file shows, by number or name; a file of ours with a column
        ``table`` holds them all.
    decimal, delimiter, sheet
        How to read the file.
    """
    if absent not in ("refuse", "suppressed"):
        raise InputError(
            f"absent cells cannot be taken as '{absent}'", remedy="choose 'refuse' or 'suppressed'"
        )
    path: str | os.PathLike[str]
    if isinstance(published, str | os.PathLike):
        path = published
        refuse_incomplete(Path(path))
        source = read_columns(path, table, decimal=decimal, delimiter=delimiter, sheet=sheet)
    else:
        path = f"the {type(published).__name__}"
        dimensions = [table.structure.dimensions[d].name for d in find_part(table.structure, part).dimensions]
        data = read_whole_frame(published, dimensions)
        source = Columns(data, lambda row: f"{path}, row {row + 1}", decimal)
    with name_file_in_errors(path):
        source = convert_release(source, table, bare=base is not None or radius is not None)
    source = _unpivot_crosstab(source, table, part, path)
    with name_file_in_errors(path):
        cells = _find_cells(source, table, part)
        source, cells = _leave_out_empty(source, table, cells, value, path)
        reading = ReleaseReading(value=value, base=base, radius=radius, rounded=rounded)
        return build_release(path, source, table, cells, absent, reading)


def build_release(
    path: str | os.PathLike[str],
    source: Columns,
    table: Table,
    cells: Cells,
    absent: str,
    reading: ReleaseReading,
) -> Release:
    """Return the release that the rows of a published file state of ``cells``; see :func:`read_release`."""
    base, radius, notice = reading.get("base"), reading.get("radius"), ""
    if "mark" in source.names:
        source = _drop_code_labels(source, table.structure)
        _refuse_further(source, [*_list_code_columns(table.structure), *RELEASE, *LABELS])
        _refuse_varying_labels(source)
        rows, notice = parse_own_rows(source, base, radius), _read_notice(source)
    else:
        named = reading.get("value")
        column = _find_value_column(source, table, path) if named is None else named
        rows = parse_foreign_rows(source, table, cells, column, base, radius)
    rows = apply_rounding(rows, table, cells, base, reading.get("rounded"))
    return replace(_build_release(table, source, cells, rows, absent, base), notice=notice)


@contextmanager
def name_file_in_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the path of a published file to the errors that are raised on its release in the block."""
    try:
        yield
    except ReleaseError as error:
        raise error.with_place(path) from None


class UntrueError(ReleaseError):
    """A release says something of a cell that is not true of the table."""


def is_own_release(path: str | os.PathLike[str]) -> bool:
    """Return whether a published file is a ``release.csv`` of ours, which has a column ``mark``."""
    return os.fspath(path).lower().endswith(".csv") and "mark" in read_columns(path).names


def _unpivot_crosstab(
    source: Columns, table: Table, part: int | str, path: str | os.PathLike[str]
) -> Columns:
    """Return the crosstab in a published file as columns of one row per cell; other files as they are."""
    structure = table.structure
    if structure.labels or "mark" in source.names or len(find_part(structure, part).dimensions) != 2:
        return source
    rows, across = (structure.dimensions[d] for d in find_part(structure, part).dimensions)
    if rows.name in source.names and across.name in source.names:
        return source
    first, *others = source.names
    # The first field may name the dimension that goes down; without a name it is the first of the table.
    for down, right in (
        ((across, rows), (rows, across)) if first == across.name else ((rows, across), (across, rows))
    ):
        known = {*right.position, recognise_total_for(others, right)}
        if others and all(name in known for name in others) and first not in known:
            return unpivot(source, down, right)
    raise FormatError(
        f"neither columns '{rows.name}' and '{across.name}' nor a crosstab of them: the first line should "
        "name these columns, or hold the codes of one of the two after the first field",
        place=path,
    )


def unpivot(source: Columns, down: Dimension, right: Dimension) -> Columns:
    """Return the crosstab in a published file as columns of one row per cell."""
    first, *others = source.names
    n = source.data.num_rows
    texts = {name: source.texts(name).combine_chunks() for name in source.names}
    data = pa.table(
        {
            down.name: pa.concat_arrays([texts[first]] * len(others)),
            right.name: pa.array(np.repeat(np.array(others, dtype=object), n)),
            "value": pa.concat_arrays([texts[name] for name in others]),
        }
    )
    return Columns(
        data,
        lambda row: f"{source.place(row % n)}, column '{others[row // n]}'",
        source.decimal,
        source.notes,
    )


def _find_cells(source: Columns, table: Table, part: int | str) -> Cells:
    """Return the position of the cell that each row of a published file is about, -1 if it is not listed."""
    structure = table.structure
    found = np.full(source.data.num_rows, -1, dtype=np.int64)
    for own, rows in _split_by_table(source, structure, part):
        picked = select_rows(source, rows)
        _refuse_other_codes(picked, structure, own)
        found[rows] = find_cells(picked, structure, find_part(structure, own).dimensions)
    return found


def _leave_out_empty(
    source: Columns, table: Table, cells: Cells, value: str | None, path: str | os.PathLike[str]
) -> tuple[Columns, Cells]:
    """Return the rows of a published file, and their cells, without those of cells that are empty.

    Every attacker of the audit knows that these are zero, so a row that says so, or nothing, tells them
    nothing new. Rows that say anything else, and those of other cells that are not listed, are refused.
    """
    listed = cells >= 0
    if listed.all():
        return source, cells
    absent = np.flatnonzero(~listed)
    rows = source.take(absent)
    empty = np.zeros(absent.size, dtype=bool)
    if "mark" not in source.names and not table.structure.labels and len(table.structure.parts) == 1:
        codes = find_codes(rows, table.structure)
        known = np.flatnonzero((codes >= 0).all(axis=1))
        empty[known] = find_empty(table.structure, codes[known])
    if (wrong := np.flatnonzero(~empty)).size:
        raise ReleaseError(
            f"the table has no such cell{and_others(wrong.size, 'row')}",
            place=rows.place(int(wrong[0])),
            remedy="check that the release belongs to this table",
        )
    column = _find_value_column(source, table, path) if value is None else value
    if (wrong := np.flatnonzero(~find_nothing_or_zero(rows, column))).size:
        raise ReleaseError(
            "the table has nothing in this cell, which is neither left blank nor 0"
            f"{and_others(wrong.size, 'row')}",
            place=rows.place(int(wrong[0])),
            remedy="check that the release belongs to this table",
        )
    return select_rows(source, np.flatnonzero(listed)), cells[listed]


def _split_by_table(source: Columns, structure: Structure, part: int | str) -> list[tuple[int | str, Cells]]:
    """Return which of several linked tables a published file shows, by number, and the rows of each."""
    parts = structure.parts
    if len(parts) < 2 or "table" not in source.names:
        return [(part, np.arange(source.data.num_rows))]
    codes, distinct = source.codes("table")
    numbers = {p.name: k for k, p in enumerate(parts)}
    strange = [name for name in distinct if name not in numbers]
    if strange:
        raise ReleaseError(f"there is no table {strange[0]!r}; there are {', '.join(map(repr, numbers))}")
    return [(numbers[name], np.flatnonzero(codes == k)) for k, name in enumerate(distinct)]


def select_rows(source: Columns, rows: Cells) -> Columns:
    """Return some rows of a published file as columns; errors name them by their places in the file."""
    return source.take(rows)


def _refuse_other_codes(source: Columns, structure: Structure, part: int | str) -> None:
    """Refuse rows of a published file with codes in dimensions that their linked table does not have."""
    own = find_part(structure, part)
    for d, dimension in enumerate(structure.dimensions):
        if d in own.dimensions or dimension.name not in source.names:
            continue
        texts = source.texts(dimension.name)
        idle = pc.is_in(texts, value_set=pa.array(["", dimension.total])).to_numpy(zero_copy_only=False)
        if not idle.all():
            raise ReleaseError(
                f"table '{own.name}' has no dimension '{dimension.name}'",
                place=source.place(int(np.flatnonzero(~idle)[0])),
                remedy="leave its column empty in this row",
            )


def _list_code_columns(structure: Structure) -> list[str]:
    """Return the names of the columns by which a published file may identify the cells it shows."""
    return [*(["table"] if len(structure.parts) > 1 else []), *list_code_columns(structure)]


def _refuse_further(source: Columns, known: Sequence[str]) -> None:
    """Refuse a published file with columns besides ``known``: readers see what the audit does not."""
    if further := [name for name in source.names if name not in known]:
        raise ReleaseError(
            f"column '{further[0]}' is none of a release, whose columns here are {', '.join(known)}: "
            "readers would see what the audit cannot",
            remedy="take it out",
        )


def _drop_code_labels(source: Columns, structure: Structure) -> Columns:
    """Return the columns of a published file without the labels of codes; refuse other words than those of
    the classification.
    """
    labelled = name_label_columns(structure.dimensions)
    for dimension in structure.dimensions:
        name = labelled.get(dimension.name, "")
        if name not in source.names or dimension.name not in source.names:
            continue
        codes, said = (source.texts(each).to_pylist() for each in (dimension.name, name))
        for row, (code, label) in enumerate(zip(codes, said, strict=True)):
            if label.strip() != dimension.label(code).strip():
                raise ReleaseError(
                    f"column '{name}' does not hold the label of '{code}', as the classification has it: "
                    "readers would see what the audit cannot",
                    place=source.place(row),
                    remedy="take the column out",
                )
        source = replace(source, data=source.data.drop_columns([name]))
    return source


def _refuse_varying_labels(source: Columns) -> None:
    """Refuse a published file whose labels differ between rows: a label is of the whole release."""
    for name in LABELS:
        if name in source.names and len(source.column(name).unique()) > 1:
            raise ReleaseError(
                f"column '{name}' differs from row to row, so it may say something of single cells",
                remedy="write the same words in every row, or take it out",
            )


def _read_notice(source: Columns) -> str:
    """Return the notice to readers in a published file; refuse words that no release of ours has."""
    notice = str(source.column("notice")[0].as_py() or "") if "notice" in source.names else ""
    if notice not in NOTICES:
        raise ReleaseError(
            "column 'notice' holds words that no release of Tacita has: readers would see what the audit "
            "cannot",
            remedy="take it out",
        )
    return notice


def _find_value_column(source: Columns, table: Table, path: str | os.PathLike[str]) -> str:
    codes = _list_code_columns(table.structure)
    left = [name for name in source.names if name not in codes]
    named = [name for name in left if name.lower() in (*VALUE_NAMES, table.value_name.lower())]
    for choice in (named, left):
        if len(choice) == 1:
            _refuse_further(source, [*codes, choice[0]])
            return choice[0]
    raise FormatError(
        f"which column holds the published values: {' or '.join(left)}?",
        place=path,
        remedy="Name the column of values",
        options=["value"],
    )


def _build_release(
    table: Table, source: Columns, cells: Cells, rows: ReleaseRows, absent: str, base: float | None
) -> Release:
    n = len(table)
    numbers = (rows.low, rows.high, rows.value, np.array([0.0 if base is None else base]))
    decimals = max(table.decimals, *(exact.find_decimals(c[np.isfinite(c)]) for c in numbers))
    row_of = np.full(n, -1, dtype=np.int64)
    row_of[cells[::-1]] = np.arange(cells.size)[::-1]
    first = row_of[cells]
    same = (
        (rows.marks == rows.marks[first])
        & (rows.low == rows.low[first])
        & (rows.high == rows.high[first])
        & ((rows.value == rows.value[first]) | np.isnan(rows.value))
    )
    if not same.all():
        r = int(np.flatnonzero(~same)[0])
        raise ReleaseError(
            f"{source.place(int(first[r]))} and {source.place(r)} say different things of "
            f"({table.name(int(cells[r]))})",
            remedy="keep one of them",
        )
    listed = row_of >= 0
    if not listed.all() and absent != "suppressed":
        raise ReleaseError(
            f"the release does not list {table.structure.names(np.flatnonzero(~listed))}",
            remedy="add the rows, or say that absent cells are suppressed (absent='suppressed' in Python)",
            options=["absent=suppressed"],
        )
    at = np.where(listed, row_of, 0)
    shown = listed & ~np.isnan(rows.value[at])
    low = exact.to_units(np.where(listed, rows.low[at], -np.inf), decimals)
    high = exact.to_units(np.where(listed, rows.high[at], np.inf), decimals)
    value = exact.to_units(np.where(shown, rows.value[at], 0.0), decimals)
    marks = np.where(listed, rows.marks[at], Mark.SUPPRESSED).astype(np.uint8)
    _refuse_contradictions(table, decimals, marks, low, high, value, base)
    primary = freeze(listed & rows.primary[at])
    made_by = {"read": "from a file", **({"dashes": "by the true values"} if rows.dashes else {})}
    made_by |= {} if listed.all() else {"absent": "taken as suppressed"}
    structure = table.with_decimals(decimals).structure
    notes = (*source.notes, *([READERS_SEE] if any("taken for" in note for note in source.notes) else []))
    issue_warnings(notes)
    return Release(
        structure,
        decimals,
        marks,
        low,
        high,
        value,
        shown,
        primary,
        made_by,
        notes=notes,
        assumption=rows.assumption,
    )


def _refuse_contradictions(
    table: Table,
    decimals: int,
    marks: NDArray[np.uint8],
    low: Units,
    high: Units,
    value: Units,
    base: float | None,
) -> None:
    truth = exact.rescale(table.units, table.decimals, decimals)
    published = marks == Mark.PUBLISHED
    names = table.structure.names
    if (wrong := np.flatnonzero(published & (value != truth))).size:
        raise UntrueError(
            f"published values differ from the table in {names(wrong)}",
            remedy="correct them, or give the base of the release or its radius if numbers are rounded or "
            "adjusted",
            options=["base", "radius"],
        )
    if (wrong := np.flatnonzero(~published & ((truth < low) | (truth > high)))).size:
        raise UntrueError(
            f"the value lies outside what is published of {names(wrong)}", remedy="correct the window"
        )
    if base is not None:
        step = max(1, round(base * 10**decimals))
        if (wrong := np.flatnonzero((marks == Mark.ROUNDED) & (value % step != 0))).size:
            raise ReleaseError(f"not a multiple of the base: {names(wrong)}", remedy="correct the base")
