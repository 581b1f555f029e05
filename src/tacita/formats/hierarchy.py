"""Read and write classifications as files.

The ending of the name chooses the format; :func:`recognise_hierarchy` goes by what the file holds.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Collection
from pathlib import Path

from tacita.core.errors import HierarchyError
from tacita.core.hierarchy import DEFAULT_TOTAL, Hierarchy
from tacita.formats.code_trees import USUAL_LEAD, find_lead
from tacita.formats.csv import write_rows
from tacita.formats.escape import escape_all
from tacita.formats.textfile import read_text

DELIMITERS = ";\t,|"


def read_hierarchy(
    path: str | os.PathLike[str], total: str | None = None, lead: str | None = None
) -> Hierarchy:
    """Return the classification of a ``.hrc`` file, with the lead string given or found, or of a CSV file."""
    if Path(path).suffix.lower() == ".hrc":
        return Hierarchy.from_hrc(path, lead=lead, total=total or DEFAULT_TOTAL)
    return Hierarchy.from_csv(path, total=total)


def recognise_hierarchy(
    path: str | os.PathLike[str], codes: Collection[str] = (), total: str = DEFAULT_TOTAL
) -> Hierarchy:
    """Return the classification in a file of any name, by what it holds.

    That is codes after lead strings (``@``) or indented; columns ``parent`` and ``child``; two columns, of
    which the one that repeats no code is the child; one column per level, coarse to fine; or a list.

    Parameters
    ----------
    codes
        The codes of the data. A first line that holds one of them is no header.
    """
    text, _ = read_text(path)
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        raise HierarchyError("the file holds no code", place=path, remedy="Write one code per line.")
    rows = _split_columns(lines)
    is_outline = any(line.startswith(USUAL_LEAD) for line in lines) or find_lead(lines) != USUAL_LEAD
    if is_outline or rows is None:
        return Hierarchy.from_hrc(path, total=total)
    if {"parent", "child"} <= {name.casefold() for name in rows[0]}:
        return Hierarchy.from_csv(path)
    known = {*codes} or {cell for row in rows[1:] for cell in row}
    body = rows if known & {*rows[0]} else rows[1:]
    if not body:
        raise HierarchyError("no code follows the header", place=path, remedy="Write one line per code.")
    columns = dict(zip(map(str, range(len(rows[0]))), map(list, zip(*body, strict=True)), strict=True))
    if len(columns) > 2:
        return Hierarchy.from_columns(_make_frame(columns), list(columns), total=total)
    first, second = columns.values()
    if _repeats(second) and not _repeats(first):
        first, second = second, first
    elif not _repeats(first) and {*codes} and not {*codes} & {*second}:
        # Codes and what they mean.
        return Hierarchy.flat(first, total, dict(zip(first, second, strict=True)))
    is_topped = "" in first or (total in first and total not in second)
    return Hierarchy.from_frame(
        _make_frame({"parent": first, "child": second}), total=None if is_topped else total
    )


def _split_columns(lines: list[str]) -> list[list[str]] | None:
    """Return the cells of a classification's lines where some sign parts each in as many, else None."""
    for sign in DELIMITERS:
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=sign)]
        if len(rows[0]) > 1 and len({len(row) for row in rows}) == 1:
            return rows
    return None


def _repeats(column: list[str]) -> bool:
    return len({*column}) < len(column)


def _make_frame(columns: dict[str, list[str]]) -> object:
    import pyarrow as pa

    return pa.table(columns)


def write_hierarchy(tree: Hierarchy, path: str | os.PathLike[str]) -> Path:
    """Write a classification as a CSV file with columns parent, child and label, and return its path."""
    columns = [escape_all(list(column)) for column in zip(*tree.rows(), strict=True)]
    return write_rows(path, ("parent", "child", "label"), columns)
