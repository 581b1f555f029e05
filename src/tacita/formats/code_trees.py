"""Classifications in ``.hrc`` and CSV files, as links between codes.

Every link is kept with the line where it stands, so that a fault of the tree is reported by file and line.

``.hrc`` grammar: one code per line, depth-first; the depth is the number of lead strings at the start of the
line and rises by at most one; the total is implied. Blanks after the lead strings belong to the code,
trailing blanks do not.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tacita.core.errors import HierarchyError, did_you_mean
from tacita.core.hierarchy.links import Links
from tacita.core.words import pluralize
from tacita.formats.textfile import read_text
from tacita.storage.atomic import write_text

HRC_LINE_LIMIT = 199
USUAL_LEAD = "@"


def read_hrc(path: str | os.PathLike[str], lead: str | None, total: str, encoding: str | None) -> Links:
    """Return the links from codes to parents in a classification's `.hrc` file; see the grammar above.

    Without a lead string it is ``@``, or the blanks by which codes are indented; see :func:`find_lead`.
    """
    written = read_text(path, encoding)[0].split("\n")
    lead = find_lead(written) if lead is None else lead
    require_lead(lead)
    parents: list[str] = []
    children: list[str] = []
    lines: list[int] = []
    path_to_previous = [total]
    for number, raw in enumerate(written, start=1):
        line = raw.rstrip()
        if not line:
            continue
        place = f"{path}, line {number}"
        if len(line) > HRC_LINE_LIMIT:
            raise HierarchyError(
                f"{len(line)} characters, but a .hrc line holds at most {HRC_LINE_LIMIT}",
                place=place,
                remedy="Shorten the code.",
            )
        depth = 0
        while line.startswith(lead, depth * len(lead)):
            depth += 1
        code = line[depth * len(lead) :]
        if not code or code.isspace():
            raise HierarchyError(
                f"no code follows the lead string {lead!r}", place=place, remedy="Add it or remove the line."
            )
        if depth >= len(path_to_previous):
            raise HierarchyError(
                f"code {code!r} has {pluralize(depth, 'lead string')}, but {len(path_to_previous) - 1} at "
                "most can stand here: one more than before the last code",
                place=place,
                remedy="Give its parent a line of its own.",
            )
        del path_to_previous[depth + 1 :]
        parents.append(path_to_previous[depth])
        children.append(code)
        lines.append(number)
        path_to_previous.append(code)
    if not children:
        raise HierarchyError("the file holds no code", place=path, remedy="Write one code per line.")
    return Links(parents, children, lambda link: f"{path}, line {lines[link]}")


def find_lead(lines: Sequence[str]) -> str:
    """Return the lead string of a `.hrc` file: the blanks of one level if its codes are indented, else ``@``.

    Codes are indented if no line begins with ``@``, the first has no blank before it, and the others have
    multiples of some number of equal blanks, one more than the line before at most. A list of codes that are
    padded on the left to one width is none of that, unless longer codes come before shorter ones.
    """
    codes = [line.rstrip() for line in lines if line.strip()]
    indents = [line[: len(line) - len(line.lstrip(" \t"))] for line in codes]
    blanks = set("".join(indents))
    if not codes or indents[0] or len(blanks) != 1 or any(line.startswith(USUAL_LEAD) for line in codes):
        return USUAL_LEAD
    unit = min(len(indent) for indent in indents if indent)
    depths = [len(indent) / unit for indent in indents]
    steps = [after - before for before, after in pairwise(depths)]
    is_indented = all(depth.is_integer() for depth in depths) and max(steps) <= 1
    return unit * blanks.pop() if is_indented else USUAL_LEAD


def require_lead(lead: str) -> None:
    """Refuse a lead string that cannot mark the depth of a code in a `.hrc` file."""
    if not lead or "\n" in lead or "\r" in lead:
        raise HierarchyError(
            f"The lead string {lead!r} cannot mark a depth", remedy="Use a short text such as '@'."
        )


def write_hrc(path: str | os.PathLike[str], codes: Sequence[str], depths: Sequence[int], lead: str) -> None:
    """Write a classification's codes below the total, in depth-first order, as a `.hrc` file in UTF-8."""
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
        raise HierarchyError(f"code {code!r} cannot be written to a .hrc file: {reason}.", place=path)
    write_text(path, "".join(f"{line}\n" for line in lines))


@dataclass(frozen=True)
class CodeFile:
    """A CSV file with a header: trimmed cells by column, and the line on which each row starts."""

    path: str
    columns: Mapping[str, Sequence[str]]
    lines: Sequence[int]

    def place(self, row: int) -> str:
        """Return where a row of a classification's CSV file stands: its path and line, for messages."""
        return f"{self.path}, line {self.lines[row]}"

    def find_column(self, name: str) -> str | None:
        """Return how a classification's CSV file writes this column name, whatever its case; or None."""
        return next((column for column in self.columns if column.casefold() == name.casefold()), None)

    def column(self, name: str) -> Sequence[str]:
        """Return the texts in a column of a classification's CSV file; refuse a column that it lacks."""
        found = self.find_column(name)
        if found is None:
            present = list(self.columns)
            raise HierarchyError(
                f"no column {name!r}{did_you_mean(name, present)}, only {', '.join(present)}.",
                place=self.path,
            )
        return self.columns[found]


def read_code_file(path: str | os.PathLike[str], delimiter: str | None, encoding: str | None) -> CodeFile:
    """Return a classification's CSV file as columns of text, split at `delimiter` or the likeliest sign."""
    text, _ = read_text(path, encoding)
    opening = next((line for line in text.split("\n") if line.strip()), "")
    separator = delimiter or max(",;\t|", key=opening.count)
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True, strict=True)
    except (TypeError, ValueError):
        raise HierarchyError(
            f"the delimiter {separator!r} must be one character, such as ';'.", place=path
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
        raise HierarchyError(str(error), place=f"{path}, line {start}", remedy="Check the quotes.") from None
    if not rows:
        raise HierarchyError("the file is empty. It needs a header line and one line per code.", place=path)
    header, body = rows[0], rows[1:]
    if not all(header) or len({name.casefold() for name in header}) < len(header):
        raise HierarchyError(
            f"the header '{separator.join(header)}' has empty or repeated names",
            place=f"{path}, line {lines[0]}",
            remedy="Rename them.",
        )
    if not body:
        raise HierarchyError(
            f"no code follows the header '{separator.join(header)}'",
            place=path,
            remedy="Write one line per code.",
        )
    for cells, line in zip(body, lines[1:], strict=True):
        if len(cells) != len(header):
            raise HierarchyError(
                f"{pluralize(len(cells), 'cell')}, but the header names {pluralize(len(header), 'column')}",
                place=f"{path}, line {line}",
                remedy=f"Put quotes around cells that hold {separator!r}, or name the delimiter.",
            )
    columns = zip(*body, strict=True)
    return CodeFile(str(path), dict(zip(header, columns, strict=True)), lines[1:])
