"""Columns of text as numbers, a million at a time, written as :mod:`tacita.core.numerals` says."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacita.core.errors import InputError, and_others
from tacita.core.numerals import (
    GROUPS,
    INTEGERS,
    MINUS,
    NUMBERS,
    OPEN_NUMBER,
    OTHER_SIGN,
    SIGNS,
    refuse_open_number,
    to_plain_number,
)

POINT = "."


def are_numbers(texts: pa.ChunkedArray, sign: str, integer: bool = False) -> bool:
    """Return whether texts are nothing but numbers with a decimal sign, or gaps; or all are integers."""
    pattern = INTEGERS[sign] if integer else f"(?:{NUMBERS[sign]}|nan)?"
    trimmed = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    return bool(pc.all(_match(trimmed, pattern)).as_py())


def show_point(texts: pa.ChunkedArray) -> bool:
    """Return whether texts are nothing but numbers and gaps, and one surely has a decimal point."""
    if not pc.any(pc.match_substring(texts, POINT)).as_py() or not are_numbers(texts, POINT):
        return False
    pointed = texts.filter(pc.fill_null(pc.match_substring(texts, POINT), False))
    return not pc.all(_match(pc.utf8_trim_whitespace(pointed), OPEN_NUMBER)).as_py()


def parse_texts(
    texts: pa.ChunkedArray, decimal: str | None, name_place: Callable[[int], str]
) -> pa.ChunkedArray:
    """Return texts as float64, null where there is none; what is no number is refused by its row's place.

    Without a decimal sign it is the point, and a number that may as well be in thousands is refused.
    """
    sign = decimal or POINT
    written = pc.utf8_trim_whitespace(texts.cast(pa.string()))
    nothing = pc.is_in(pc.utf8_lower(written), value_set=pa.array(["", "nan", "na", "null"]))
    written = pc.if_else(nothing, pa.scalar(None, pa.string()), written)
    wrong = _find_rows(pc.invert(_match(written, NUMBERS[sign])))
    if wrong.size:
        row = int(wrong[0])
        _refuse_text(str(written[row]), decimal, f"{name_place(row)}{and_others(wrong.size, 'row')}")
    if decimal is None and (unclear := _find_rows(_match(written, OPEN_NUMBER))).size:
        row = int(unclear[0])
        refuse_open_number(str(written[row]), name_place(row))
    plain = pc.replace_substring_regex(written, GROUPS[sign], "")
    for typed, in_python in ((sign, POINT), (MINUS, "-")):
        plain = pc.replace_substring(plain, typed, in_python)
    return plain.cast(pa.float64())


def _refuse_text(written: str, decimal: str | None, place: str) -> NoReturn:
    """Refuse a text in a column of numbers; the other decimal sign is proposed where none was chosen."""
    sign = decimal or POINT
    other = SIGNS[OTHER_SIGN[sign]]
    if to_plain_number(written, OTHER_SIGN[sign]) is None:
        raise InputError(
            f"'{written}' is not a number",
            place=place,
            remedy="correct it, or leave it empty if it is missing",
        )
    if decimal is not None:
        fault = f"'{written}' is not a number with a decimal {SIGNS[sign]}"
        raise InputError(fault, place=place, remedy="write all numbers alike")
    raise InputError(
        f"'{written}' is not a number; it looks like a decimal {other}",
        place=place,
        remedy=f"name the {other} as the decimal sign, or write a {SIGNS[sign]}",
        options=["decimal"],
    )


def _match(texts: pa.ChunkedArray, pattern: str) -> pa.ChunkedArray:
    """Return where texts are as a pattern says, null where there is none."""
    return pc.match_substring_regex(texts, f"^(?:{pattern})$")


def _find_rows(mask: pa.ChunkedArray) -> NDArray[np.int64]:
    """Return the rows where a mask is true."""
    return np.flatnonzero(mask.fill_null(False).to_numpy(zero_copy_only=False))
