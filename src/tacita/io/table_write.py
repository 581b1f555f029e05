"""Writing a table with its true values, for the house; :func:`tacita.io.read_case` reads it back.

One row per cell: the codes, ``value``, ``count``, ``top1`` .. (largest contributions); with a problem also
``status``, ``cost``, ``lb``, ``ub``, ``lpl``, ``upl``, ``spl``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacita.atomic import replacing
from tacita.errors import InputError
from tacita.exact import UNBOUNDED, Cells, Units
from tacita.io.csv import write_rows
from tacita.io.escape import escape, escape_all
from tacita.io.excel import MOST_ROWS, WORKBOOK
from tacita.io.marks import status_letters
from tacita.io.numbers import number_texts
from tacita.tables.frames import listing, numbers_to_arrow

if TYPE_CHECKING:
    from tacita.problem import Problem
    from tacita.tables.table import Table

FORMATS = (".csv", ".parquet", ".xlsx")


def write_table(table: Table, path: Path, problem: Problem | None = None) -> Path:
    """Write every cell; the ending of ``path`` chooses the format.

    Raises
    ------
    InputError
        The ending is of none of the formats, or several tables are linked: a file holds the rows of one.
    """
    if (linked := len(table.structure.parts)) > 1:
        raise InputError(
            f"{path}: {linked} linked tables do not fit into one file of cells; write .jj, or each one alone"
        )
    names, codes, cells = listing(table.structure)
    words = {name: column.to_pylist() for name, column in zip(names, codes, strict=True)}
    if problem is not None:
        words["status"] = status_letters(problem)[cells].tolist()
    suffix = path.suffix.lower()
    if suffix == ".csv":
        texts = {escape(name): escape_all(column) for name, column in words.items()}
        texts.update({name: number_texts(units, d) for name, units, d in _numbers(table, problem, cells)})
        return write_rows(path, list(texts), list(texts.values()))
    numbers = {name: numbers_to_arrow(units, d) for name, units, d in _numbers(table, problem, cells)}
    if suffix == ".parquet":
        return _write_parquet(path, {**words, **numbers})
    if suffix == ".xlsx":
        return _write_excel(path, {**words, **{name: column.to_pylist() for name, column in numbers.items()}})
    raise InputError(f"{path}: a table is written as {', '.join(FORMATS)}; choose one of these endings")


def _numbers(table: Table, problem: Problem | None, cells: Cells) -> Iterator[tuple[str, Units, int]]:
    """Name, units and decimals of each column of numbers."""
    yield "value", table.units[cells], table.decimals
    for name, count in (("count", table.count), ("holding_count", table.holding_count)):
        if count is not None:
            yield name, count[cells], 0
    if table.contributions is not None:
        for rank in range(table.contributions.depth):
            yield f"top{rank + 1}", table.contributions.values[cells, rank], table.decimals
    if problem is not None:
        yield from _requirement(problem, cells)


def _requirement(problem: Problem, cells: Cells) -> Iterator[tuple[str, Units, int]]:
    levels, decimals = problem.levels, problem.table.decimals
    cost_decimals = 6
    yield "cost", np.rint(problem.cost[cells] * 10.0**cost_decimals).astype(np.int64), cost_decimals
    yield "lb", problem.outsider.lower[cells], decimals
    if (problem.outsider.upper < UNBOUNDED).any():
        yield "ub", problem.outsider.upper[cells], decimals
    for name, level in (("lpl", levels.lower), ("upl", levels.upper), ("spl", levels.sliding)):
        yield name, level[cells], decimals


def _write_parquet(path: Path, columns: dict[str, Any]) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with replacing(path) as temporary:
        pq.write_table(pa.table(columns), temporary)
    return path


def _write_excel(path: Path, columns: dict[str, list[Any]]) -> Path:
    import xlsxwriter

    if len(next(iter(columns.values()))) >= MOST_ROWS:
        raise InputError(
            f"{path}: a sheet holds at most {MOST_ROWS - 1:,} cells; write .csv or .parquet instead"
        )
    with (
        replacing(path) as temporary,
        xlsxwriter.Workbook(temporary, WORKBOOK) as book,
    ):
        sheet = book.add_worksheet("table")
        for k, (name, column) in enumerate(columns.items()):
            sheet.write_string(0, k, name)
            sheet.write_column(1, k, column)
    return path
