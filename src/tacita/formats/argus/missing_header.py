"""Files whose first line holds data, and that no metadata describe: they are refused with what they lack."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tacita.core.errors import FormatError, InputError
from tacita.formats.argus.described_files import OPENING, WITH_READER
from tacita.formats.argus.fields import NUMBER

SEPARATORS = (";", "\t", "|", ",", None)
"""Signs between fields, of which the first that occurs in line 1 counts; None stands for blanks."""
MOST_ROWS = 1000
"""So many lines are compared with the first."""
YEAR = re.compile(r"[12]\d{3}")


@contextmanager
def name_missing_header(
    path: str | os.PathLike[str], *, named: bool = False, numbers_alone: bool = True
) -> Iterator[None]:
    """Refuse a text file whose first line holds data: before it is read, or when reading it fails.

    A crosstab may have numbers for codes in its first line, so that only a line that cannot be a header is
    refused beforehand, and nothing is if columns are ``named``. Without ``numbers_alone`` only a first line
    with other texts, too, counts: formats of numbers alone say themselves what is wrong.
    """
    certain, likely = _judge_first_line(Path(path), numbers_alone)
    if certain and not named:
        raise _describe(path)
    try:
        yield
    except InputError:
        if certain or likely:
            raise _describe(path) from None
        raise


def _describe(path: str | os.PathLike[str]) -> FormatError:
    return FormatError(
        "the line holds data and no names of columns",
        place=f"{path}, line 1",
        remedy="Name the metadata of τ-ARGUS (.rda) that describe the file, or write names of columns into a "
        "first line",
        options=["metadata"],
    )


def _judge_first_line(path: Path, numbers_alone: bool) -> tuple[bool, bool]:
    """Return whether the first line of a file certainly holds data, and whether it probably does."""
    if path.suffix.lower() not in WITH_READER:
        return False, False
    try:
        with path.open("rb") as file:
            opening = file.read(OPENING).decode("utf-8", "replace").removeprefix("\ufeff")
    except OSError:
        # Whoever reads it says what is wrong.
        return False, False
    first, *rows = _split(opening.splitlines()[: MOST_ROWS + 1]) or [[]]
    number = [bool(re.match(NUMBER, text)) for text in first]
    if not rows or not any(number) or (all(number) and not numbers_alone):
        return False, False
    columns = list(zip(*rows, strict=True))
    numeric = [all(map(_is_number, column)) for column in columns]
    numbers = [text for text, each in zip(first, numeric, strict=True) if each]
    if not numbers or not all(re.match(NUMBER, text) for text in numbers):
        return False, False
    again = any(
        text and not each and text in column
        for text, column, each in zip(first, columns, numeric, strict=True)
    )
    years = all(map(YEAR.fullmatch, numbers))
    return (again or len(numbers) == 1) and not years, not (years or _could_be_codes(numbers))


def _split(lines: Sequence[str]) -> list[list[str]]:
    """Return the fields of the first line and of those that have as many; none if it has a single one."""
    lines = [line for line in lines if line.strip()]
    for sign in SEPARATORS:
        split = [[field.strip().strip('"') for field in line.split(sign)] for line in lines]
        if split and len(split[0]) > 1:
            return [fields for fields in split if len(fields) == len(split[0])]
    return []


def _is_number(text: str) -> bool:
    return bool(re.match(NUMBER, text)) or text in ("", "-")


def _could_be_codes(numbers: Sequence[str]) -> bool:
    """Return whether the numbers of a first line may be codes of a crosstab: ascending integers."""
    if not all(text.isdecimal() for text in numbers):
        return False
    values = [int(text) for text in numbers]
    return values == sorted({*values})
