"""What a sheet shows and what comes back from it, as plain data; nothing here knows of pages or browsers.

Positions are those of the content, counted from 0; folding a line in the browser does not move them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita.core.errors import InputError
from tacita.core.tables.layout import Line
from tacita.report.picture import SIGNS

Flags = NDArray[np.uint16]
"""Sums of :class:`Flag` per cell."""


class Flag(IntFlag):
    """What is to be seen of a cell besides its text; flags of one cell are added, in two bytes.

    ``CHANGED`` is set in the browser alone, until the server has answered. ``PROTECTING`` and ``PROTECTED``
    are set while another cell is explained, ``ONLY_HERE`` where two releases are compared.
    """

    SENSITIVE = 1
    OTHER = 2
    EXPOSED = 4
    PUBLISH = 8
    HIDE = 16
    TOTAL = 32
    EXEMPT = 64
    EMPTY = 128
    CHANGED = 256
    PROTECTING = 512
    PROTECTED = 1024
    ONLY_HERE = 2048


@dataclass(frozen=True)
class Look:
    """How a flag is shown: its name in the style sheet, its sign before the number, its meaning in words."""

    flag: Flag
    name: str
    sign: str
    meaning: str


LOOKS = (
    Look(Flag.SENSITIVE, "sensitive", SIGNS["sensitive"], "sensitive"),
    Look(Flag.OTHER, "other", SIGNS["other"], "secondary: hidden or changed"),
    Look(Flag.EXPOSED, "exposed", SIGNS["exposed"], "sensitive, yet published"),
    Look(Flag.EXEMPT, "exempt", "□", "exempt by hand"),
    Look(Flag.PUBLISH, "publish", "○", "must be published"),
    Look(Flag.HIDE, "hide", "✕", "must be hidden"),
    Look(Flag.PROTECTING, "protecting", "◆", "protects the cell that is explained"),
    Look(Flag.PROTECTED, "protected", "◇", "protected by the cell that is explained"),
    Look(Flag.ONLY_HERE, "only-here", "≠", "in this run only"),
    Look(Flag.TOTAL, "total", "", "a sum"),
    Look(Flag.CHANGED, "changed", "", "being changed"),
    Look(Flag.EMPTY, "empty", "", "empty: nobody contributed"),
)


@dataclass(frozen=True, eq=False)
class Content:
    """Rows by columns of text: ``texts[r][c]`` is what cell (r, c) shows, ``flags[r, c]`` a sum of flags."""

    rows: Sequence[Line]
    columns: Sequence[Line]
    texts: Sequence[Sequence[str]]
    flags: Flags
    row_title: str = ""
    column_title: str = ""

    def __post_init__(self) -> None:
        shape = (len(self.rows), len(self.columns))
        if self.flags.shape != shape:
            raise InputError(
                f"flags of shape {self.flags.shape} for a sheet of {shape}", remedy="give one per cell"
            )
        if len(self.texts) != shape[0] or any(len(texts) != shape[1] for texts in self.texts):
            raise InputError(f"texts do not fill a sheet of {shape}", remedy="give one per cell")
        for lines in (self.rows, self.columns):
            for position, line in enumerate(lines):
                if not -1 <= line.parent < len(lines) or line.parent == position:
                    raise InputError(
                        f"parent {line.parent} is no other line of {len(lines)}",
                        place=line.code,
                        remedy="give -1 if none",
                    )


class Change(NamedTuple):
    """What a cell shows from now on. A tuple, since there may be a hundred thousand of them."""

    row: int
    column: int
    text: str
    flags: int


class Entry(NamedTuple):
    """What a user typed or pasted into a cell, not yet looked at.

    A sum takes no entry: what was pasted over it can only agree with what its parts add up to, or not.
    """

    row: int
    column: int
    text: str
    is_sum: bool = False


@dataclass(frozen=True)
class Selection:
    """The cell in focus and the lines of its block; lines that are folded away do not belong to it."""

    row: int
    column: int
    rows: tuple[int, ...]
    columns: tuple[int, ...]

    def clipped(self, rows: int, columns: int) -> Selection:
        """Return the selection within a sheet of so many lines; the last of these if nothing is left."""
        last_row, last_column = rows - 1, columns - 1
        return Selection(
            min(self.row, last_row),
            min(self.column, last_column),
            tuple(row for row in self.rows if row <= last_row) or (last_row,),
            tuple(column for column in self.columns if column <= last_column) or (last_column,),
        )


def encode_content(content: Content, texts: Sequence[Sequence[str]], flags: Flags) -> bytes:
    """Return the content of a sheet as JSON for the browser: one string per row, flags as base 64, which is
    half the size of nested JSON.
    """
    return json.dumps(
        {
            "rows": _encode_lines(content.rows),
            "columns": _encode_lines(content.columns),
            "texts": ["\t".join(row) for row in texts],
            "flags": base64.b64encode(np.ascontiguousarray(flags, dtype="<u2").tobytes()).decode("ascii"),
            "rowTitle": content.row_title,
            "columnTitle": content.column_title,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    ).encode("utf-8")


def decode_entries(message: Mapping[str, Any], flags: Flags) -> tuple[Entry, ...]:
    """Return the entries typed or pasted into a block of the sheet, from the browser's message: runs of
    rows, runs of columns, tab-separated texts.

    A block may hold blank fields, which are no entries.
    """
    rows = _expand_runs(message["rows"], flags.shape[0])
    columns = _expand_runs(message["columns"], flags.shape[1])
    lines = [line.split("\t") for line in str(message["texts"]).split("\n")]
    if len(lines) != len(rows) or any(len(line) != len(columns) for line in lines):
        raise InputError(
            f"texts do not fill a block of {len(rows)} by {len(columns)}", remedy="paste it again"
        )
    # As lists: asking an array for each of 100,000 cells takes a second.
    sums = (flags & int(Flag.TOTAL)).tolist()
    return tuple(
        Entry(row, column, text, bool(sums[row][column]))
        for row, line in zip(rows, lines, strict=True)
        for column, text in zip(columns, line, strict=True)
        if text
    )


def decode_selection(message: Mapping[str, Any], shape: tuple[int, ...]) -> Selection:
    """Return the selection in the sheet, from the browser's message: the cell in focus, runs of lines."""
    return Selection(
        _check_position(int(message["row"]), shape[0]),
        _check_position(int(message["column"]), shape[1]),
        _expand_runs(message["rows"], shape[0]),
        _expand_runs(message["columns"], shape[1]),
    )


def _encode_lines(lines: Iterable[Line]) -> dict[str, list[str] | list[int]]:
    lines = list(lines)
    labels = [line.label for line in lines]
    return {
        "codes": [line.code for line in lines],
        # Most tables have none, and a hundred thousand empty texts would be sent for nothing.
        "labels": labels if any(labels) else [],
        "depths": [line.depth for line in lines],
        "parents": [line.parent for line in lines],
    }


def _expand_runs(runs: Iterable[Sequence[int]], size: int) -> tuple[int, ...]:
    """Return the positions of a sheet's lines from runs [first, last], both included."""
    return tuple(
        position
        for first, last in runs
        for position in range(_check_position(int(first), size), _check_position(int(last), size) + 1)
    )


def _check_position(position: int, size: int) -> int:
    if not 0 <= position < size:
        raise InputError(
            f"line {position + 1} of a sheet with {size}", remedy="reload the page", options=["reload"]
        )
    return position
