"""Links of a classification, read from dictionaries, code lengths, frames and files.

Each reader turns its source into `Links` and remembers where every link was written, so that whatever is
wrong with the tree can be told by file and line.

`.hrc` grammar: one code per line, depth-first; the depth is the number of lead strings at the start of the
line and rises by at most one; the total is implied. Blanks after the lead strings belong to the code,
trailing blanks do not.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from tacita.atomic import write_text
from tacita.errors import HierarchyError, did_you_mean
from tacita.hierarchy.links import Links, position_place, row_place
from tacita.textfile import read_text
from tacita.words import so_many

HRC_LINE_LIMIT = 199


def code_texts(values: Iterable[object], place: Callable[[int], str]) -> list[str]:
    """Text of each code: 43, 43.0 and "43" are all "43". Missing values and blanks are the empty text."""
    if isinstance(values, str):
        raise HierarchyError(f"A list of codes is needed, not the text {values!r}. Make it a list of one.")
    texts = []
    for position, value in enumerate(values):
        text = _code_text(value)
        if text is None:
            raise HierarchyError(
                f"{place(position)}: {value!r} is not a code. Codes are text or finite numbers."
            )
        texts.append(text)
    return texts


def _code_text(value: object) -> str | None:
    if isinstance(value, str):
        return "" if value.isspace() else str(value)
    if value is None:
        return ""
    if isinstance(value, np.generic):
        return _code_text(value.item())
    if isinstance(value, int | date):
        # pandas' missing date is a date that differs from itself.
        return str(value) if value == value else ""
    if isinstance(value, float | Decimal):
        if math.isnan(value):
            return ""
        if math.isfinite(value):
            return str(int(value)) if value == int(value) else str(value)
    return None


def nested_links(tree: Mapping[Any, Any], total: str, labels: Mapping[str, str]) -> Links:
    """Links of nested dictionaries; the place of a link is the path of codes that leads to it."""
    parents: list[str] = []
    children: list[str] = []
    above: list[int] = []

    def place(link: int) -> str:
        path = [children[link]]
        while (link := above[link]) >= 0:
            path.append(children[link])
        return "at " + " > ".join(reversed(path))

    seen: set[str] = set()
    waiting: list[tuple[str, int, Any]] = [(total, -1, tree)]
    while waiting:
        parent, parent_link, branch = waiting.pop()
        if branch is None:
            continue
        if not isinstance(branch, Mapping | list | tuple):
            raise HierarchyError(
                f"Under {parent!r} stands {branch!r:.60}, which is neither a dictionary nor a list of codes. "
                "Write a single code as a list of one, and nothing for no codes."
            )
        texts = code_texts(branch, partial(_branch_place, parent))
        inner = branch.values() if isinstance(branch, Mapping) else [None] * len(texts)
        for code, below in zip(texts, inner, strict=True):
            # A repeated code is an error further on; not descending ends a dictionary that holds itself.
            if code not in seen:
                waiting.append((code, len(children), below))
                seen.add(code)
            parents.append(parent)
            children.append(code)
            above.append(parent_link)
    return Links(parents, children, place, labels)


def _branch_place(parent: str, position: int) -> str:
    return f"code {position + 1} under {parent!r}"


def frame_columns(frame: Any, names: Sequence[str]) -> list[list[str]]:
    """Columns of a pandas, polars, arrow or duckdb frame as text."""
    import narwhals as nw

    try:
        wrapped = nw.from_native(frame)
    except TypeError:
        raise HierarchyError(
            f"A pandas, polars, arrow or duckdb frame is needed, not {type(frame).__name__}. "
            "Nested dictionaries go to Hierarchy.from_dict, lists of codes to Hierarchy.flat."
        ) from None
    present = wrapped.collect_schema().names()
    for name in names:
        if name not in present:
            raise HierarchyError(
                f"The frame has no column {name!r}{did_you_mean(name, present)}, only {', '.join(present)}."
            )
    selected = wrapped.select(list(dict.fromkeys(names)))
    collected = selected.collect() if isinstance(selected, nw.LazyFrame) else selected
    columns = []
    for name in names:
        series = collected[name]
        missing = series.is_null().to_list()
        values = series.to_list()
        columns.append(
            code_texts(
                (None if gone else value for gone, value in zip(missing, values, strict=True)), row_place
            )
        )
    return columns


def label_mapping(codes: Sequence[str], labels: Sequence[str]) -> dict[str, str]:
    """Labels that are not empty, by code."""
    return {code: label for code, label in zip(codes, labels, strict=True) if label}


def column_links(
    columns: Sequence[Sequence[str]],
    labels: Sequence[str] | None,
    total: str,
    place: Callable[[int], str],
) -> Links:
    """Links from one column per level, coarse to fine; each row is a path from the total to a code.

    A code repeated in the next column is the same code carried down. Empty cells at the end close the path.
    """
    parents: list[str] = []
    children: list[str] = []
    rows: list[int] = []
    parent_of: dict[str, str] = {}
    ends: dict[tuple[str, str], int] = {}
    carried: dict[str, int] = {}
    ending: list[str] = []
    for row, cells in enumerate(zip(*columns, strict=True)):
        path = [cell for cell in cells if cell]
        if not path:
            raise HierarchyError(f"{place(row)}: the row holds no code. Remove it or fill it in.")
        if not all(cells[: len(path)]):
            raise HierarchyError(
                f"{place(row)}: an empty cell stands before {path[-1]!r}. "
                "Repeat the coarser code in it to carry that code down."
            )
        above, end = "", total
        for code in path:
            if code == end:
                continue
            if parent_of.get(code) != end:
                parents.append(end)
                children.append(code)
                rows.append(row)
                parent_of.setdefault(code, end)
            above, end = end, code
        if (above, end) in ends:
            raise HierarchyError(
                f"Code {end!r} is repeated under {above!r}: {place(ends[above, end])} and {place(row)}. "
                "Keep one of them."
            )
        ends[above, end] = row
        ending.append(end)
        if len(path) > 1 and path[-1] == path[-2]:
            carried[end] = row
    for child, parent in parent_of.items():
        if parent in carried:
            raise HierarchyError(
                f"Code {parent!r} is carried down to the last level at {place(carried[parent])}, "
                f"yet {child!r} stands under it. Give the carried code a name of its own."
            )
    return Links(
        parents, children, lambda link: place(rows[link]), label_mapping(ending, labels or [""] * len(ending))
    )


def prefix_links(codes: Sequence[str], lengths: Sequence[int], total: str) -> Links:
    """Links between codes and their prefixes, where each level adds the given number of characters."""
    cuts = list(accumulate(lengths))
    while len(cuts) > 1 and cuts[-1] == cuts[-2]:
        cuts.pop()
    if not cuts or any(high <= low for low, high in pairwise([0, *cuts])):
        said = ", ".join(map(str, lengths)) or "nothing"
        raise HierarchyError(f"Lengths of levels are {said}: each level must add at least one character.")
    for position, code in enumerate(codes):
        if len(code) not in cuts:
            raise HierarchyError(
                f"{position_place(position)}: code {code!r} has {so_many(len(code), 'character')}, but "
                "levels end at "
                f"{', '.join(map(str, cuts))}. Correct the code or the lengths of levels."
            )
    columns = [[code[:cut] if len(code) >= cut else "" for code in codes] for cut in cuts]
    return column_links(columns, None, total, position_place)


def read_hrc(path: str | os.PathLike[str], lead: str, total: str, encoding: str | None) -> Links:
    """Links of a `.hrc` file; the grammar stands at the top of this module."""
    require_lead(lead)
    parents: list[str] = []
    children: list[str] = []
    lines: list[int] = []
    path_to_previous = [total]
    for number, raw in enumerate(read_text(path, encoding)[0].split("\n"), start=1):
        line = raw.rstrip()
        if not line:
            continue
        place = f"{path}, line {number}"
        if len(line) > HRC_LINE_LIMIT:
            raise HierarchyError(
                f"{place}: {len(line)} characters, but a .hrc line holds at most {HRC_LINE_LIMIT}. "
                "Shorten the code."
            )
        depth = 0
        while line.startswith(lead, depth * len(lead)):
            depth += 1
        code = line[depth * len(lead) :]
        if not code or code.isspace():
            raise HierarchyError(
                f"{place}: no code follows the lead string {lead!r}. Add it or remove the line."
            )
        if depth >= len(path_to_previous):
            raise HierarchyError(
                f"{place}: code {code!r} has {so_many(depth, 'lead string')}, but "
                f"{len(path_to_previous) - 1} at most "
                "can stand here: one more than before the last code. Give its parent a line of its own."
            )
        del path_to_previous[depth + 1 :]
        parents.append(path_to_previous[depth])
        children.append(code)
        lines.append(number)
        path_to_previous.append(code)
    if not children:
        raise HierarchyError(f"{path}: the file holds no code. Write one code per line.")
    return Links(parents, children, lambda link: f"{path}, line {lines[link]}")


def require_lead(lead: str) -> None:
    """Refuse a lead string that could not mark a depth."""
    if not lead or "\n" in lead or "\r" in lead:
        raise HierarchyError(f"The lead string {lead!r} cannot mark a depth. Use a short text such as '@'.")


def write_hrc(path: str | os.PathLike[str], codes: Sequence[str], depths: Sequence[int], lead: str) -> None:
    """Write codes below the total, in depth-first order, as a UTF-8 `.hrc` file that reads back the same."""
    require_lead(lead)
    lines = []
    for code, depth in zip(codes, depths, strict=True):
        line = lead * (depth - 1) + code
        if code.startswith(lead):
            reason = f"it starts with the lead string {lead!r}; choose another"
        elif code != code.rstrip():
            reason = "its trailing blanks would be lost; rename it"
        elif len(line) > HRC_LINE_LIMIT:
            reason = f"its line would pass {HRC_LINE_LIMIT} characters; shorten it or the lead string"
        else:
            lines.append(line)
            continue
        raise HierarchyError(f"{path}: code {code!r} cannot be written to a .hrc file: {reason}.")
    write_text(path, "".join(f"{line}\n" for line in lines))


@dataclass(frozen=True)
class CodeFile:
    """A CSV file with a header: trimmed cells by column, and the line on which each row starts."""

    path: str
    columns: Mapping[str, Sequence[str]]
    lines: Sequence[int]

    def place(self, row: int) -> str:
        """Where a row stands."""
        return f"{self.path}, line {self.lines[row]}"

    def find(self, name: str) -> str | None:
        """The column of that name, whatever its case."""
        return next((column for column in self.columns if column.casefold() == name.casefold()), None)

    def column(self, name: str) -> Sequence[str]:
        """Cells of the column of that name; refuses an unknown one."""
        found = self.find(name)
        if found is None:
            present = list(self.columns)
            raise HierarchyError(
                f"{self.path}: no column {name!r}{did_you_mean(name, present)}, only {', '.join(present)}."
            )
        return self.columns[found]


def read_csv(path: str | os.PathLike[str], delimiter: str | None, encoding: str | None) -> CodeFile:
    """Read a CSV file as text; without `delimiter`, the commonest of ``, ; tab |`` in its header."""
    text, _ = read_text(path, encoding)
    opening = next((line for line in text.split("\n") if line.strip()), "")
    separator = delimiter or max(",;\t|", key=opening.count)
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True, strict=True)
    except (TypeError, ValueError):
        raise HierarchyError(
            f"{path}: the delimiter {separator!r} must be one character, such as ';'."
        ) from None
    start = 1
    try:
        for record in reader:
            cells = [cell.strip() for cell in record]
            if any(cells):
                rows.append(cells)
                lines.append(start)
            start = reader.line_num + 1
    except csv.Error as error:
        raise HierarchyError(f"{path}, line {start}: {error}. Check the quotes.") from None
    if not rows:
        raise HierarchyError(f"{path}: the file is empty. It needs a header line and one line per code.")
    header, body = rows[0], rows[1:]
    if not all(header) or len({name.casefold() for name in header}) < len(header):
        raise HierarchyError(
            f"{path}, line {lines[0]}: the header '{separator.join(header)}' has empty or repeated names. "
            "Rename them."
        )
    if not body:
        raise HierarchyError(
            f"{path}: no code follows the header '{separator.join(header)}'. Write one line per code."
        )
    for cells, line in zip(body, lines[1:], strict=True):
        if len(cells) != len(header):
            raise HierarchyError(
                f"{path}, line {line}: {so_many(len(cells), 'cell')}, but the header names "
                f"{so_many(len(header), 'column')}. "
                f"Put quotes around cells that hold {separator!r}, or name the delimiter."
            )
    columns = zip(*body, strict=True)
    return CodeFile(str(path), dict(zip(header, columns, strict=True)), lines[1:])
