"""Find how far the cells of a workbook reach, before memory is taken for them.

Readers of workbooks lay out every field between the first and the last cell of a sheet. Two cells in opposite
corners, or one that is repeated a billion times, take more memory than there is, and the process
ends. Hence the archive is looked through first.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from pathlib import Path
from typing import IO, NoReturn
from xml.parsers import expat

from tacita.core.errors import FormatError
from tacita.core.words import pluralize

MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384
"""Of a sheet, by its format."""
FEW = 4_000_000
"""So many fields may be laid out however few of them hold anything."""
SPARSE = 20
"""Beyond that, one field in so many holds something."""
MOST = 100_000_000
LARGEST = 2 * 2**30
"""Bytes that the parts of an archive may have together."""
CHUNK = 2**20
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


def refuse_far_cells(path: str | os.PathLike[str]) -> None:
    """Refuse a workbook that is damaged, or whose cells lie so far apart that reading exhausts memory.

    Raises
    ------
    FormatError
        It names the part of the archive and the remedy.
    """
    with Path(path).open("rb") as file:
        if file.read(2) != b"PK":
            return  # The older binary format has at most 65,536 rows and 256 columns.
    try:
        with zipfile.ZipFile(path) as archive:
            parts = [part for part in archive.infolist() if part.filename.lower().endswith(".xml")]
            if sum(part.file_size for part in parts) > LARGEST:
                raise FormatError(
                    f"unpacked the workbook has more than {LARGEST // 2**30} GB",
                    place=path,
                    remedy="use .csv or .parquet",
                )
            for part in parts:
                with archive.open(part) as content:
                    _Extent(f"{path}, part {part.filename}").scan(content)
    except FormatError:
        raise
    except _DAMAGED as error:
        raise FormatError(
            f"the file cannot be read as a workbook ({error})", place=path, remedy="check the format"
        ) from None


class _Extent:
    """The fields from the corner to the last cell of each sheet in a part of an archive: all are laid out."""

    def __init__(self, place: str) -> None:
        self.place = place
        self._start_sheet()

    def _start_sheet(self) -> None:
        self.row = self.column = self.filled = 0
        self.repeated_rows = 0
        self.last = (0, 0)
        self.seen_letters: set[str] = set()
        self.seen_digits = ""

    def scan(self, content: IO[bytes]) -> None:
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EntityDeclHandler = self._refuse_entities
        try:
            while data := content.read(CHUNK):
                parser.Parse(data)
            parser.Parse(b"", True)
        except (expat.ExpatError, LookupError, ValueError) as error:
            raise FormatError(
                f"the part is damaged ({error})", place=self.place, remedy="save the workbook anew"
            ) from None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        kind = name.rpartition(":")[2]
        if kind == "c":
            self._cell(attributes.get("r", ""))
        elif kind == "row":
            self.row, self.column = self._number(attributes.get("r"), self.row + 1), 0
            self._refuse_outside(self.row, 1)
        elif kind in ("sheetData", "table"):
            self._start_sheet()
        elif kind == "table-row":
            self.row += self.repeated_rows
            self.column, self.repeated_rows = 0, self._repeats(attributes, "number-rows-repeated")
        elif kind in ("table-cell", "covered-table-cell"):
            times = self._repeats(attributes, "number-columns-repeated")
            if any(key.endswith((":value-type", ":formula")) for key in attributes):
                self._reach(self.row + 1, self.column + 1)
                self._reach(self.row + self.repeated_rows, self.column + times)
            self.column += times

    def _cell(self, reference: str) -> None:
        letters = reference.rstrip("0123456789")
        digits = reference[len(letters) :]
        # Most cells stand in a row and a column that are known: a million of them should take no time.
        if digits == self.seen_digits and letters in self.seen_letters:
            self.filled += 1
            return
        if reference:
            # Numbers that are too long for a reader wrap around in it.
            if not (letters.isascii() and letters.isupper() and len(letters) < 8):
                self._refuse_number(reference)
            self.column, self.row = parse_column(letters), self._number(digits, 0)
            self.seen_letters.add(letters)
            self.seen_digits = digits
        else:
            self.column += 1
        self._reach(self.row, self.column)

    def _repeats(self, attributes: dict[str, str], kind: str) -> int:
        text = next((value for key, value in attributes.items() if key.endswith(f":{kind}")), None)
        return self._number(text, 1)

    def _number(self, text: str | None, default: int) -> int:
        if text is None:
            return default
        if not (text.isascii() and text.isdecimal() and len(text) < 13):
            self._refuse_number(text)
        return int(text)

    def _refuse_number(self, text: str) -> NoReturn:
        raise FormatError(
            f"'{text[:40]}' is no place in a sheet: it is damaged",
            place=self.place,
            remedy="save the workbook anew",
        )

    def _refuse_outside(self, row: int, column: int) -> None:
        if row > MOST_ROWS or column > MOST_COLUMNS:
            raise FormatError(
                f"row {row}, column {column}, where sheets have {MOST_ROWS:,} rows and {MOST_COLUMNS:,} "
                "columns at most: it is damaged",
                place=self.place,
                remedy="save the workbook anew",
            )

    def _reach(self, row: int, column: int) -> None:
        self._refuse_outside(row, column)
        self.filled += 1
        last = (max(self.last[0], row), max(self.last[1], column))
        if last != self.last:
            self.last = last
            self._refuse_far()

    def _refuse_far(self) -> None:
        rows, columns = self.last
        fields = rows * columns
        if fields > MOST or (fields > FEW and fields > SPARSE * self.filled):
            raise FormatError(
                f"a cell in row {rows}, column {columns}, stands far from the others: "
                f"{pluralize(fields, 'field')} for {pluralize(self.filled, 'cell')}",
                place=self.place,
                remedy="Delete what stands there, or save the table alone, as .csv",
            )

    def _refuse_entities(self, *_: object) -> None:
        raise FormatError(
            "the part defines words of its own, which no workbook needs",
            place=self.place,
            remedy="save it anew",
        )


def parse_column(letters: str) -> int:
    """Return the number of a workbook's column by its letters, A being 1."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number
