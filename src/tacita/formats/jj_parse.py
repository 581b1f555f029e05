"""The grammar of JJ files, read fast, and slowly again where something is wrong to say in which line.

Records normally stand one per line, which whole-block parsers read at once. From the first block on that
they cannot read, a walker takes tokens wherever the line breaks fall and knows the line of each.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from tacita.core.errors import FormatError
from tacita.core.exact import Cells, Floats
from tacita.core.words import pluralize
from tacita.formats.textfile import read_text

BLOCK = 10_000
LARGEST_COEFFICIENT = 10**15 - 1
FIELDS = ("index", "value", "cost", "status", "lb", "ub", "LPL", "UPL", "SPL")
_RECORD = np.dtype([(name, "U8" if name == "status" else "f8") for name in FIELDS])
_STATUS = frozenset("suzpmxw")
_PARENTHESES = str.maketrans({"(": " ", ")": " "})
_PUNCTUATION = str.maketrans({":": " ", "(": " ", ")": " "})


@dataclass(frozen=True, eq=False)
class JJFile:
    """The numbers of a JJ file: a record of :data:`FIELDS` per cell, and equations by positions of cells."""

    records: NDArray[np.void]
    starts: Cells
    cells: Cells
    coefficients: Cells
    rhs: Floats

    def column(self, name: str) -> Floats:
        """Return one field (value, cost, lb, ...) of every cell in a JJ file, as an array."""
        return np.ascontiguousarray(self.records[name])


def parse_jj(path: str | os.PathLike[str]) -> JJFile:
    """Return the cells and equations of a JJ file as arrays; errors name the first faulty line."""
    text, _ = read_text(path)
    if not text.strip():
        raise FormatError(
            "the file is empty", place=path, remedy="a JJ file starts with 0 and the number of cells"
        )
    lines = text.splitlines()
    records = _read_records_fast(lines)
    rows = _read_equations_fast(lines, records.size)
    if rows is None:
        records, rows = _Walker(path, lines, records).read()
    elif not _are_plausible(records, rows):
        records, rows = _Walker(path, lines, records[:0]).read()
    rhs, starts, listed, coefficients = rows
    index = records["index"].astype(np.int64)
    cells = listed.astype(np.int64)
    if not np.array_equal(index, np.arange(index.size)):
        order = np.argsort(index, kind="stable")
        cells = order[np.searchsorted(index[order], cells)]
    return JJFile(records, starts, cells, coefficients.astype(np.int64), rhs)


Rows = tuple[Floats, Cells, Floats, Floats]


def _read_records_fast(lines: Sequence[str]) -> NDArray[np.void]:
    """Return the cell records of a JJ file, one per line, up to the first block with anything else."""
    blocks = [np.empty(0, dtype=_RECORD)]
    n = _parse_count(lines[1]) if len(lines) > 2 and lines[0].strip() == "0" else 0
    # A file that announces more cells than it has lines is read to where it ends by the walker.
    if n + 2 <= len(lines):
        for start in range(2, n + 2, BLOCK):
            block = lines[start : min(start + BLOCK, n + 2)]
            try:
                read = np.loadtxt(block, dtype=_RECORD, comments=None, ndmin=1)
            except ValueError:
                break
            if read.size < len(block):
                break
            blocks.append(read)
    return np.concatenate(blocks)


def _read_equations_fast(lines: Sequence[str], n: int) -> Rows | None:
    """Return the equations of a JJ file after its ``n`` cells, or None if they are not one per line or not as
    long as announced.
    """
    at = n + 2
    if n == 0 or n != _parse_count(lines[1]) or len(lines) <= at:
        return None
    m = _parse_count(lines[at])
    block = "\n".join(lines[at + 1 :]).rstrip()
    buffer = np.frombuffer(block.encode("utf-8", errors="replace"), dtype=np.uint8)
    ends = np.append(np.flatnonzero(buffer == ord("\n")), buffer.size)
    if m == 0 or ends.size != m:
        return None
    colons, opened, closed = (
        np.diff(np.searchsorted(np.flatnonzero(buffer == ord(sign)), ends), prepend=0) for sign in ":()"
    )
    try:
        numbers = np.fromstring(block.translate(_PUNCTUATION), sep=" ")
    except ValueError:
        return None
    starts = np.concatenate([[0], np.cumsum(opened)]).astype(np.int64)
    heads = 2 * (np.arange(m) + starts[:-1])
    if (colons != 1).any() or (opened != closed).any() or numbers.size != 2 * (m + starts[-1]):
        return None
    if (numbers[heads + 1] != opened).any():
        return None
    body = np.ones(numbers.size, dtype=bool)
    body[heads] = False
    body[heads + 1] = False
    pairs = numbers[body].reshape(-1, 2)
    return numbers[heads], starts, pairs[:, 0].copy(), pairs[:, 1].copy()


def _are_plausible(records: NDArray[np.void], rows: Rows) -> bool:
    """Return whether every number of a JJ file can be what it stands for; if not, the walker says which."""
    rhs, starts, listed, coefficients = rows
    index = records["index"]
    distinct = np.unique(index)
    return bool(
        distinct.size == index.size
        and _are_integers(index)
        and _are_integers(coefficients)
        and (coefficients != 0).all()
        and (np.abs(coefficients) <= LARGEST_COEFFICIENT).all()
        and np.isin(listed, distinct).all()
        and np.isfinite(rhs).all()
        and all(np.isfinite(records[name]).all() for name in ("value", "cost", "LPL", "UPL", "SPL"))
        and not any(np.isnan(records[name]).any() for name in ("lb", "ub"))
        and np.isin(np.char.lower(records["status"]), sorted(_STATUS)).all()
        and (np.diff(starts) > 0).all()
    )


def _are_integers(values: Floats) -> bool:
    return bool(np.isfinite(values).all() and (values == np.rint(values)).all())


def _parse_count(text: str) -> int:
    """Return the integer in a line of a JJ file, 0 if none; beyond 18 digits all are too large alike."""
    digits = text.strip()
    return int(digits[:19]) if digits.isascii() and digits.isdecimal() else 0


class _Walker:
    """Takes tokens wherever the line breaks fall; every complaint names the line."""

    def __init__(self, path: str | os.PathLike[str], lines: Sequence[str], done: NDArray[np.void]) -> None:
        self.path, self.lines, self.done = path, lines, done
        self.line, self.tokens, self.at = 0, [""], 1
        # True as long as every record had a line of its own: then an odd line is a fault, not a line break.
        self.one_per_line = bool(done.size)
        self.line_of = {index: r + 3 for r, index in enumerate(done["index"].tolist())}

    def read(self) -> tuple[NDArray[np.void], Rows]:
        if (first := self.take("the leading 0")) != "0":
            self.fail(f"a JJ file starts with 0, not '{first}'")
        n = self.integer("the number of cells")
        if n < 1:
            self.fail("the number of cells should be at least 1")
        if self.done.size:
            self.line, self.at = 2 + self.done.size, len(self.tokens)
        rest = [self.record() for _ in range(n - self.done.size)]
        records = np.concatenate([self.done, np.array(rest, dtype=_RECORD)])
        m = self.integer("the number of equations")
        if m < 0:
            self.fail("the number of equations should not be negative")
        rhs: list[float] = []
        starts = [0]
        cells: list[float] = []
        coefficients: list[float] = []
        for _ in range(m):
            rhs.append(self.equation(cells, coefficients))
            starts.append(len(cells))
        if self.advance():
            self.fail(
                f"'{self.tokens[self.at]}' after the last of {pluralize(m, 'equation')}: correct the number "
                "of equations"
            )
        ends = np.array(starts, dtype=np.int64)
        return records, (np.array(rhs), ends, np.array(cells), np.array(coefficients))

    def record(self) -> tuple[float | str, ...]:
        self.advance()
        starts_line, fields_here = self.at == 0, len(self.tokens)
        if self.one_per_line and starts_line and fields_here != len(FIELDS) == len(self.peek()):
            self.fail(
                f"{pluralize(fields_here, 'field')} where {len(FIELDS)} should stand: {' '.join(FIELDS)}"
            )
        self.one_per_line = starts_line and fields_here == len(FIELDS)
        index = self.integer("the index of a cell")
        if index in self.line_of:
            self.fail(f"cell {index} is given again; it stands in line {self.line_of[index]} too")
        self.line_of[index] = self.line
        fields: list[float | str] = [index]
        for name in FIELDS[1:]:
            if name != "status":
                fields.append(self.number(name, "of cell", index))
                continue
            letter = self.take("a status")
            if letter.lower() not in _STATUS:
                self.fail(f"status of cell {index} is '{letter}': it should be s, u, z or m")
            fields.append(letter)
        return tuple(fields)

    def equation(self, cells: list[float], coefficients: list[float]) -> float:
        self.advance()
        if self.at == 0 and self.tokens[2:3] == [":"] and self.peek()[2:3] in ([], [":"]):
            announced, found = self.tokens[1], (len(self.tokens) - 3) / 2
            if announced.isdecimal() and _parse_count(announced) != found:
                self.fail(
                    f"the equation announces {pluralize(_parse_count(announced), 'cell')}, but there are "
                    f"{found:g}: correct one of them"
                )
        rhs, started = self.number("the right-hand side"), self.line
        k = self.integer("the number of cells in an equation")
        if k < 1:
            self.fail("an equation should have at least one cell")
        if (colon := self.take("':'")) != ":":
            self.fail(
                f"':' should follow the number of cells in an equation, not '{colon}'; or the equation "
                "before has more cells than it announces"
            )
        for _ in range(k):
            cell, coefficient = self.take("a cell of an equation"), self.take("a coefficient")
            if ":" in (cell, coefficient):
                self.line = started
                self.fail(
                    f"the equation announces {pluralize(k, 'cell')}, but fewer follow: correct the number or "
                    "the cells"
                )
            index = self.parse(cell, "a cell of an equation")
            if index not in self.line_of:
                self.fail(f"cell {index:g} is in an equation but not in the list of cells")
            factor = self.parse(coefficient, "a coefficient")
            if factor == 0 or factor != int(factor) or abs(factor) > LARGEST_COEFFICIENT:
                self.fail(
                    f"the coefficient of cell {index:g} is {coefficient}: it should be an integer, not 0, of "
                    "at most 15 digits"
                )
            cells.append(index)
            coefficients.append(factor)
        return rhs

    def advance(self) -> bool:
        """Go on to the next line of a JJ file if this one is used up; return whether a token is left."""
        while self.at == len(self.tokens):
            if self.line == len(self.lines):
                return False
            self.tokens = self.split(self.lines[self.line])
            self.line, self.at = self.line + 1, 0
        return True

    def peek(self) -> list[str]:
        """Return the tokens of the next line of a JJ file without going on to it."""
        return self.split(self.lines[self.line]) if self.line < len(self.lines) else []

    @staticmethod
    def split(line: str) -> list[str]:
        return line.replace(":", " : ").translate(_PARENTHESES).split()

    def take(self, what: str) -> str:
        if not self.advance():
            self.fail(
                f"the file ends where {what} should stand: it is cut off, or announces too many records"
            )
        self.at += 1
        return self.tokens[self.at - 1]

    def number(self, *what: object) -> float:
        return self.parse(self.take(str(what[0])), *what)

    def parse(self, token: str, *what: object) -> float:
        try:
            value = float(token)
        except ValueError:
            value = float("nan")
        if value != value or (abs(value) == float("inf") and what[0] not in ("lb", "ub")):
            comma = "; write decimals with a point" if "," in token else ""
            self.fail(f"{' '.join(map(str, what))} should be a number, not '{token}'{comma}")
        return value

    def integer(self, what: str) -> int:
        value = self.number(what)
        if value != int(value):
            self.fail(f"{what} should be an integer, not {value:g}")
        return int(value)

    def fail(self, what: str) -> NoReturn:
        raise FormatError(what, place=f"{self.path}, line {self.line}")
