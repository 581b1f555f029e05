"""Write a table with its true values, as :func:`tacita.specification.read_case.read_case` reads it: internal.

One row per cell: the codes, ``value``, ``count``, ``top1`` .. (largest contributions), ``structural``, the
table's further columns of numbers; with a problem also ``status``, ``cost``, ``lb``, ``ub``, ``lpl``,
``upl``, ``spl``, empty where these are a percentage of the value. As ``.tab`` it is written for τ-ARGUS, see
:mod:`tacita.formats.argus.table_write`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacita.core import exact
from tacita.core.errors import InputError
from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask, Units
from tacita.core.plugins import list_usable_plugins
from tacita.core.tables.frames import list_rows, numbers_to_arrow
from tacita.formats.columns import find_format_plugins
from tacita.formats.csv import write_rows
from tacita.formats.escape import escape, escape_all
from tacita.formats.excel import create_workbook
from tacita.formats.extent import MOST_ROWS
from tacita.formats.marks import NO_BOUND, list_status_letters
from tacita.formats.number_texts import format_numbers
from tacita.formats.roles import guess_role
from tacita.storage.atomic import replace_file

if TYPE_CHECKING:
    from tacita.core.tables.table import Table
    from tacita.problem.problem import Problem

FORMATS = (".csv", ".parquet", ".xlsx")
LEVELS = ("lpl", "upl", "spl")


def write_table(
    table: Table,
    path: str | os.PathLike[str],
    problem: Problem | None = None,
    left_empty: Mask | None = None,
) -> Path:
    """Write a table with its true values, one row per cell; the ending of ``path`` chooses the file format.

    Parameters
    ----------
    left_empty
        Cells whose levels are left empty: a percentage of the value, which is given where the file is read.

    Raises
    ------
    InputError
        The ending is of none of the formats, or several tables are linked: a file holds the rows of one.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".tab":
        from tacita.formats.argus.table_write import write_argus_table

        return write_argus_table(table if problem is None else problem, path)[0]
    if (linked := len(table.structure.parts)) > 1:
        raise InputError(
            f"{linked} linked tables do not fit into one file of cells",
            place=path,
            remedy="write .jj, or each one alone",
        )
    names, codes, cells = list_rows(table.structure)
    roles = name_role_columns(table)
    words = {name: column.to_pylist() for name, column in zip(names, codes, strict=True)}
    if problem is not None:
        words[roles["status"]] = list_status_letters(problem)[cells].tolist()
    if table.structural is not None:
        words["structural"] = np.where(table.structural[cells], "yes", "no").tolist()
    numbers = list(_list_exact_columns(table, problem, cells, roles))
    floats = dict(_list_float_columns(table, problem, cells))
    floats |= {name: table.columns[name][cells].astype(np.float64) for name in list_further_columns(table)}
    taken = [*words, *(name for name, _, _ in numbers), *floats]
    if repeated := next((name for name in names if taken.count(name) > 1), None):
        raise InputError(
            f"a dimension is called '{repeated}', as is another column", place=path, remedy="rename it"
        )
    blank = {} if left_empty is None else dict.fromkeys(LEVELS, left_empty[cells])
    if suffix == ".csv":
        columns = {escape(name): escape_all(column) for name, column in words.items()}
        columns |= {name: format_numbers(units, d, blank.get(name)) for name, units, d in numbers}
        columns |= {escape(name): _format_floats(column) for name, column in floats.items()}
        return write_rows(path, list(columns), list(columns.values()))
    arrays = {name: numbers_to_arrow(units, d, blank.get(name)) for name, units, d in numbers}
    if suffix == ".parquet":
        from pyarrow.parquet import write_table as write_parquet

        return _write_arrow(path, {**words, **arrays, **floats}, write_parquet)
    if suffix == ".xlsx":
        plain = {name: column.to_pylist() for name, column in arrays.items()}
        # A sheet has no way to write what is no number.
        finite = {n: [v if np.isfinite(v) else None for v in c.tolist()] for n, c in floats.items()}
        return _write_excel(path, {**words, **plain, **finite})
    foreign = {
        name: each.write
        for name, each in list_usable_plugins(find_format_plugins()).items()
        if hasattr(each, "write")
    }
    if suffix[1:] in foreign:
        return _write_arrow(path, {**words, **arrays, **floats}, foreign[suffix[1:]])
    known = ", ".join((*FORMATS, ".tab", *(f".{name}" for name in foreign)))
    raise InputError(f"a table is written as {known}", place=path, remedy="choose one of these endings")


def name_role_columns(table: Table) -> dict[str, str]:
    """Return how a file of cells names its columns of value, count and status: ``_`` is added if a dimension
    has the name.
    """
    taken = {dimension.name for dimension in table.structure.dimensions}
    names = {}
    for role in ("value", "count", "status"):
        names[role] = role
        while names[role] in taken:
            names[role] += "_"
    return names


def list_further_columns(table: Table) -> list[str]:
    """Return a table's own columns that a file can carry: of numbers, and not named like a role."""
    taken = {dimension.name for dimension in table.structure.dimensions} | {
        *name_role_columns(table).values()
    }
    return [
        name
        for name, column in table.columns.items()
        if column.dtype.kind in "biuf" and name not in taken and guess_role(name) is None
    ]


def _list_exact_columns(
    table: Table, problem: Problem | None, cells: Cells, roles: Mapping[str, str]
) -> Iterator[tuple[str, Units, int]]:
    """Yield name, units and decimals of each column of exact numbers in a file of cells."""
    yield roles["value"], table.units[cells], table.decimals
    for name, count in ((roles["count"], table.count), ("holding_count", table.holding_count)):
        if count is not None:
            yield name, count[cells], 0
    if table.contributions is not None:
        for rank in range(table.contributions.depth):
            yield f"top{rank + 1}", table.contributions.values[cells, rank], table.decimals
    if problem is not None:
        yield from _list_requirement_columns(problem, cells)


def _list_requirement_columns(problem: Problem, cells: Cells) -> Iterator[tuple[str, Units, int]]:
    levels, decimals = problem.levels, problem.table.decimals
    if (problem.outsider.lower > -UNBOUNDED).all():
        yield "lb", problem.outsider.lower[cells], decimals
    if (problem.outsider.upper < UNBOUNDED).any():
        yield "ub", problem.outsider.upper[cells], decimals
    for name, level in zip(LEVELS, (levels.lower, levels.upper, levels.sliding), strict=True):
        yield name, level[cells], decimals


def _list_float_columns(table: Table, problem: Problem | None, cells: Cells) -> Iterator[tuple[str, Floats]]:
    """Yield name and numbers of inexact columns in a file of cells; no lower bound is a huge number."""
    if problem is None:
        return
    yield "cost", problem.cost[cells]
    if (problem.outsider.lower <= -UNBOUNDED).any():
        lower = exact.to_floats(problem.outsider.lower[cells], table.decimals)
        yield "lb", np.maximum(lower, -NO_BOUND)


def _format_floats(column: Floats) -> list[str]:
    """Return floats as the shortest texts in a CSV file that read back as the same; empty where NaN."""
    return ["" if v != v else str(int(v)) if v == int(v) else repr(v) for v in column.tolist()]


def _write_arrow(path: Path, columns: dict[str, Any], write: Callable[[Any, Path], object]) -> Path:
    import pyarrow as pa

    with replace_file(path) as temporary:
        write(pa.table(columns), temporary)
    return path


def _write_excel(path: Path, columns: dict[str, list[Any]]) -> Path:
    if len(next(iter(columns.values()))) >= MOST_ROWS:
        raise InputError(
            f"a sheet holds at most {MOST_ROWS - 1:,} cells",
            place=path,
            remedy="write .csv or .parquet instead",
        )
    with create_workbook(path) as book:
        sheet = book.add_worksheet("table")
        for k, (name, column) in enumerate(columns.items()):
            sheet.write_string(0, k, name)
            sheet.write_column(1, k, column)
    return path
