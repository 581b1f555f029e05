"""Fields of data files without a header, of fixed width or with a separator, and the numbers in them."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacita.core.errors import FormatError, and_others
from tacita.core.exact import Floats, Mask
from tacita.core.words import pluralize
from tacita.formats.argus.metadata import Metadata, Variable
from tacita.formats.argus.tokens import note_encoding
from tacita.formats.textfile import read_text

NUMBER = r"^[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d{1,3})?$"
END_OF_FILE = "\x1a"
"""The sign with which old programs end a text file."""


@dataclass(frozen=True, eq=False)
class Fields:
    """Columns of text by variable, without trailing blanks; ``lines`` are the numbers of the rows' lines."""

    path: str
    columns: dict[str, pa.ChunkedArray]
    lines: Sequence[int]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.lines)

    def place(self, row: int) -> str:
        """Return where a row of the data stands: file and line, for messages."""
        return f"{self.path}, line {self.lines[row]}"

    def list_codes(self, name: str) -> list[str]:
        """Return the different codes of a column, by first appearance."""
        codes: list[str] = self.columns[name].unique().to_pylist()
        return codes

    def map_codes(self, name: str, find: Callable[[str], str | None]) -> pa.ChunkedArray:
        """Return a column with each code replaced by another; refuse codes for which ``find`` gives none."""
        column = self.columns[name]
        codes = self.list_codes(name)
        found = {code: find(code) for code in codes}
        if strange := [code for code in codes if found[code] is None]:
            rows = pc.equal(column, strange[0]).to_numpy(zero_copy_only=False)
            what = (
                f"code '{strange[0]}' of '{name}' is not in its classification"
                if strange[0]
                else (f"no code of '{name}'")
            )
            raise FormatError(
                f"{what}{and_others(len(strange), 'code')}",
                place=self.place(int(np.flatnonzero(rows)[0])),
                remedy="Correct it, add it to the hierarchy, or name it as a missing code in the metadata.",
            )
        return pc.take(
            pa.array([found[code] for code in codes], pa.string()), pc.index_in(column, pa.array(codes))
        )

    def numbers(self, name: str) -> tuple[Floats, Mask, int]:
        """Return a column as floats, a mask of those that are missing, and how many decimals they have.

        Empty fields and ``-`` are missing. The decimal sign is a point or a comma.
        """
        written = pc.utf8_trim_whitespace(self.columns[name])
        missing = pc.or_(pc.equal(written, ""), pc.equal(written, "-")).to_numpy(zero_copy_only=False)
        right = pc.match_substring_regex(written, NUMBER).to_numpy(zero_copy_only=False)
        if (wrong := np.flatnonzero(~right & ~missing)).size:
            raise FormatError(
                f"'{written[int(wrong[0])]}' in '{name}' is not a number{and_others(wrong.size, 'line')}",
                place=self.place(int(wrong[0])),
                remedy="Correct it; check the columns in the metadata.",
            )
        plain = pc.if_else(pa.array(missing), "0", pc.replace_substring(written, ",", "."))
        decimals = pc.utf8_length(pc.replace_substring_regex(plain, r"^[^.]*\.?|[eE].*$", ""))
        return plain.cast(pa.float64()).to_numpy(), missing, int(pc.max(decimals).as_py() or 0)

    def filter(self, keep: Mask) -> Fields:
        """Return the rows of the data that a mask keeps."""
        chosen = pa.array(keep)
        columns = {name: column.filter(chosen) for name, column in self.columns.items()}
        return replace(self, columns=columns, lines=np.asarray(self.lines)[keep].tolist())


def read_fields(path: str | os.PathLike[str], metadata: Metadata) -> Fields:
    """Return the fields of a data file that metadata describe, a column of text per variable.

    A first line that holds the names of the variables is left out with a note.
    """
    if metadata.spss:
        raise FormatError(
            "records in a file of SPSS are not read",
            place=path,
            remedy="Export them as text, and give the metadata places or a separator.",
        )
    text, encoding = read_text(path)
    text = text.rstrip(END_OF_FILE)
    notes = note_encoding(path, encoding)
    found = _cut(path, text, metadata) if metadata.separator is None else _split(path, text, metadata)
    if not len(found):
        raise FormatError("the file holds no data", place=path, remedy="Check the file.")
    return replace(found, notes=(*notes, *found.notes))


def split_line(line: str, metadata: Metadata) -> list[str] | None:
    """Return the fields of one line of data as metadata describe them; None if it does not have them."""
    if metadata.separator is not None:
        try:
            fields = next(csv.reader([line], delimiter=metadata.separator, skipinitialspace=True), [])
        except (csv.Error, TypeError):
            return None
        wanted = len(metadata.variables)
        return fields[:wanted] if len(fields) == wanted or fields[wanted:] == [""] else None
    places = [(v.start - 1, v.length) for v in metadata.variables if v.start and v.length]
    if metadata.spss or max(start for start, _ in places) >= len(line):
        return None
    return [line[start : start + length] for start, length in places]


def _cut(path: str | os.PathLike[str], text: str, metadata: Metadata) -> Fields:
    """Return the fields of records of fixed format."""
    rows = text.split("\n")
    lines = [number for number, row in enumerate(rows, start=1) if row.strip()]
    whole = pa.chunked_array([pa.array([row for row in rows if row.strip()], pa.string())])
    ends = _find_ends(whole)
    columns = {}
    for variable in metadata.variables:
        if variable.start is None or variable.length is None:
            raise FormatError(
                f"'{variable.name}' has no place in the record",
                place=metadata.path,
                remedy="Give START LENGTH.",
            )
        start, end = variable.start - 1, variable.start - 1 + variable.length
        columns[variable.name] = pc.utf8_rtrim_whitespace(pc.utf8_slice_codeunits(whole, start, end))
        if (cut := _find_cut(variable, columns[variable.name], start, ends)).size:
            row = int(cut[0])
            raise FormatError(
                f"the line ends at column {ends.columns[row]}, and '{variable.name}' is in columns "
                f"{variable.start} to {end}{and_others(cut.size, 'line')}",
                place=f"{path}, line {lines[row]}",
                remedy=f"Correct its place in {metadata.path}, or fill the line up, with blanks if the field "
                "is shorter.",
            )
    return Fields(os.fspath(path), columns, lines)


@dataclass(frozen=True, eq=False)
class _Ends:
    """The column in which each line ends; and whether blanks at the ends may have been taken off by an
    editor, which is so if no line ends with one.
    """

    columns: NDArray[np.int64]
    trimmed: bool


def _find_ends(lines: pa.ChunkedArray) -> _Ends:
    columns = pc.utf8_length(lines).to_numpy().astype(np.int64)
    kept = pc.utf8_length(pc.utf8_rtrim_whitespace(lines)).to_numpy()
    return _Ends(columns, bool(np.array_equal(columns, kept)))


def _find_cut(variable: Variable, column: pa.ChunkedArray, start: int, ends: _Ends) -> NDArray[np.int64]:
    """Return the rows of fixed format that end before a field does, though not because blanks were trimmed.

    Trimmed blanks explain an empty field, and a code whose rest is blank. They do not explain a part of a
    number, of digits per level or of a code that is padded on the left; nor that no line has the whole field:
    then its place is wrong.
    """
    short = ends.columns < start + (variable.length or 0)
    if ends.trimmed and not short.all():
        padded = pc.any(pc.starts_with(column, " ")).as_py()
        complete = variable.numeric or variable.weight or variable.levels or padded
        short &= bool(complete) & (ends.columns > start)
    return np.flatnonzero(short)


def _split(path: str | os.PathLike[str], text: str, metadata: Metadata) -> Fields:
    """Return the fields of records or cells with a separator, each perhaps in quotes."""
    names = [variable.name for variable in metadata.variables]
    separator = metadata.separator or ";"
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=separator != " ")
    rows: list[list[str]] = []
    lines: list[int] = []
    notes: tuple[str, ...] = ()
    before = 0
    try:
        for row in reader:
            number, before = before + 1, reader.line_num
            if not any(field.strip() for field in row):
                continue
            if len(row) == len(names) + 1 and not row[-1].strip():
                row = row[:-1]  # A separator also ends the line.
            if len(row) != len(names):
                raise FormatError(
                    f"{pluralize(len(row), 'field')}, not {len(names)} as in the metadata",
                    place=f"{path}, line {number}",
                    remedy=f"Check the separator '{separator}', and put quotes around codes that hold it.",
                )
            if not rows and [field.strip().casefold() for field in row] == [n.casefold() for n in names]:
                notes = ("line 1 holds the names of the variables and was left out",)
                continue
            rows.append(row)
            lines.append(number)
    except csv.Error as error:
        place = f"{path}, line {reader.line_num}"
        raise FormatError(str(error), place=place, remedy="Check the quotes.") from None
    except TypeError:
        raise FormatError(
            f"the separator '{separator}' cannot separate fields",
            place=metadata.path,
            remedy="Choose another.",
        ) from None
    columns = {
        name: pa.chunked_array([pa.array([row[k].rstrip() for row in rows], pa.string())])
        for k, name in enumerate(names)
    }
    return Fields(os.fspath(path), columns, lines, notes)
