"""What DuckDB says about records that it cannot read, in the words of this package: place, fault, remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from tacita.core.errors import InputError
from tacita.core.words import pluralize

DECIMAL_COMMA = "name the comma as the decimal sign"


@contextmanager
def told_as_input_error(place: str) -> Iterator[None]:
    """Raise DuckDB's errors as errors of the input, with the line of a file where DuckDB knows it."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise _complaint(place, str(error)) from None
    except (RuntimeError, UnicodeError) as error:
        # Names of columns that are no text.
        raise InputError(f"{place}: the file is damaged ({error}). Save it anew.") from None


def _complaint(place: str, said: str) -> InputError:
    """Return what DuckDB says as an error of the input."""
    line = re.search(r"on Line: (\d+)", said)
    at = f"{place}, line {line[1]}" if line else place
    value = re.search(r'converting column "(.*?)"\. Could not convert string "(.*?)" to', said)
    if value:
        comma = f"; it looks like a decimal comma: {DECIMAL_COMMA}" if "," in value[2] else ""
        return InputError(
            f"'{value[2]}' in column '{value[1]}' is not a number{comma}",
            place=at,
            remedy="Correct it, or empty the field and leave the record out with the condition "
            f'"{value[1]}" IS NOT NULL.',
            options=[*(["decimal"] if comma else []), "where"],
        )
    columns = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", said)
    if columns:
        more = int(columns[2]) > int(columns[1])
        remedy = (
            "Put quotes around fields that hold the delimiter; if numbers have decimal commas, separate the "
            f"columns with ';' and {DECIMAL_COMMA}."
            if more
            else "Complete the line."
        )
        fields = pluralize(int(columns[2]), "field")
        return InputError(
            f"{fields} where the header has {columns[1]}",
            place=at,
            remedy=remedy,
            options=["decimal"] if more else [],
        )
    if "unterminated quote" in said:
        remedy = "Close it, or write a quote within a field twice."
        return InputError("a quote is opened and not closed", place=at, remedy=remedy)
    if "not utf-8" in said:
        return InputError("the text is not UTF-8", place=at, remedy="Save the file in UTF-8.")
    unknown = re.search(r'Referenced column "(.*?)" not found', said)
    if unknown:
        fault = f"the condition asks for column '{unknown[1]}', which is not there"
        return InputError(fault, place=at, remedy="Correct the name.", options=["where"])
    first = re.sub(r"^[A-Z]\w*( \w+)? Error: ", "", said.strip().split("\n")[0]).rstrip(".!")
    if said.startswith(("Parser Error", "Catalog Error")):
        fault = f"the condition is not one in SQL ({first})"
        return InputError(fault, place=at, remedy="Correct it.", options=["where"])
    remedy = "Check the file, the column names and the condition."
    return InputError(first, place=at, remedy=remedy, options=["where"])
