"""Numbers as people write them: ``1 234,5``, ``1.234,5`` and ``1,234.5`` are one number.

Whether a point or a comma begins the decimals follows from the numbers themselves where it can: ``1,5`` and
``1.234,5`` have a decimal comma. ``1,234`` leaves it open: a thousand, or one and a bit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from tacita.core.errors import DecimalSignError, InputError
from tacita.core.exact import LARGEST, MOST_DECIMALS, Units, count_decimals
from tacita.core.words import pluralize

if TYPE_CHECKING:
    from tacita.core.tables.table import Table

OTHER_SIGN = {".": ",", ",": "."}
"""The sign that groups digits where this one begins the decimals."""
SIGNS = {".": "point", ",": "comma"}

_BLANKS = "\u00a0\u2009\u202f\u2019' "
"""What may stand between groups of three digits besides a point and a comma."""
_GROUPING = re.compile(rf"(?<=\d)[{_BLANKS}](?=\d{{3}}(?!\d))")
MINUS = "\u2212"
"""What typesetters put before negative numbers."""
_WRITTEN = re.compile(r"[+-]?(?:\d+(?:[.,]\d+)*|[.,]\d+)(?:[eE][+-]?\d+)?")
OPEN_NUMBER = rf"[+\-{MINUS}]?[1-9]\d{{0,2}}[.,]\d{{3}}"
"""A number that is in thousands, or has three decimals: ``1.204``."""
INTEGERS = {
    sign: rf"[+\-{MINUS}]?(?:\d+|[1-9]\d{{0,2}}(?:(?:\{group}\d{{3}})+|(?:[{_BLANKS}]\d{{3}})+))"
    for sign, group in OTHER_SIGN.items()
}
"""Integers by decimal sign, as people write them: patterns for Python, Arrow and DuckDB."""
NUMBERS = {
    sign: rf"(?:{integer}(?:\{sign}\d*)?|[+\-{MINUS}]?(?:\d+(?:\{sign}\d*)?|\{sign}\d+)(?:[eE][+-]?\d+)?)"
    for sign, integer in INTEGERS.items()
}
"""Numbers by decimal sign, as people write them: patterns for Python, Arrow and DuckDB."""
GROUPS = {sign: rf"[\{group}{_BLANKS}]" for sign, group in OTHER_SIGN.items()}
"""What stands between groups of digits in a number with this decimal sign."""
_PLAIN = {sign: re.compile(pattern) for sign, pattern in NUMBERS.items()}
_BESIDE = re.compile(
    r"(?<=\S)\s*\(\w\)\Z|[()\[\]~≈*†‡§¶%‰\u00b9\u00b2\u00b3\u2070\u2074-\u207f$€£¥₹]"
    r"|\b(?:EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK)\b"
)
"""Footnotes, brackets, percent and currency signs."""
_LETTERS = re.compile(r"(?<=\d)\s?[a-z]{1,2}\Z")
"""As offices mark numbers that are revised, provisional or estimated."""


def tidy(text: str) -> str:
    """Return a typed text on one line; a number with a plain minus sign and no blanks between digits."""
    if text.isascii() and text.isdecimal():
        return text  # Most are, and there may be a million.
    line = re.sub(r"\s*\n\s*", " ", text.replace("\r", "")).strip()
    number = _GROUPING.sub("", line.replace(MINUS, "-"))
    return number if is_number(number) else line


def is_number(text: str) -> bool:
    """Return whether a tidy text is written as a number, with a decimal point or a decimal comma."""
    return _WRITTEN.fullmatch(text) is not None


def has_signs_beside(text: str, letters: bool = False) -> bool:
    """Return whether a text is a number beside signs: ``(15)``, ``7*``, ``€ 5``; with letters: ``7 r``."""
    bare = _BESIDE.sub("", text)
    if letters:
        bare = _LETTERS.sub("", bare.strip())
    return not is_number(tidy(text)) and is_number(tidy(bare))


def find_decimal_sign(number: str) -> str | None:
    """Return the decimal sign in a number's text, point or comma; None where it has none or may be either."""
    mantissa = re.split("[eE]", number.lstrip("+-"))[0]
    last = max(mantissa.rfind("."), mantissa.rfind(","))
    if last < 0 or re.fullmatch(OPEN_NUMBER, number):
        return None
    sign = mantissa[last]
    # Several of one sign separate groups.
    return OTHER_SIGN[sign] if sign in mantissa[:last] else sign


def find_decimal_signs(numbers: Sequence[str]) -> dict[str, int]:
    """Return each decimal sign that some number's text has for certain, with the first position of one."""
    found = [(sign, k) for k, number in enumerate(numbers) if (sign := find_decimal_sign(number)) is not None]
    return dict(reversed(found))


def to_plain_number(number: str, sign: str) -> str | None:
    """Return a number's text as Python writes it, or None where it is no number with this decimal sign."""
    if number.isascii() and number.isdecimal():
        return number
    if _PLAIN[sign].fullmatch(number) is None:
        return None
    return re.sub(GROUPS[sign], "", number).replace(sign, ".").replace(MINUS, "-")


def refuse_open_number(number: str, place: object) -> NoReturn:
    """Refuse a number's text that is in thousands, or has three decimals, where nothing tells which."""
    raise DecimalSignError(
        f"'{number}' may be in thousands or have three decimals",
        place=place,
        remedy="choose the decimal sign",
        options=["decimal"],
    )


def parse_entry(table: Table, text: str) -> tuple[int, int]:
    """Return a number typed into a table as ``(units, decimals)``: decimals of the table, or more if needed.

    A table takes finer values after ``table.with_decimals(decimals)``.
    """
    units, decimals = parse_entries(table, [text])
    return int(units[0]), decimals


def parse_entries(table: Table, texts: Sequence[str]) -> tuple[Units, int]:
    """Return many numbers typed into a table as units of the same decimals: see :func:`parse_entry`.

    The decimal sign that one of them has for certain goes for all. Where none has, ``1,234`` and ``1.234``
    are in thousands if the table holds counts; else they are refused, unless the table has such decimals
    itself, after a point.
    """
    tidied = [tidy(text) for text in texts]
    sign = _choose_decimal_sign(table, tidied)
    numbers = []
    for text, short in zip(texts, tidied, strict=True):
        written = to_plain_number(short, sign)
        if written is None:
            raise InputError(
                f"'{text}' is not a number",
                remedy="write digits, with a point or a comma before decimals, such as 1234.5",
            )
        numbers.append(Decimal(written))
    places = [count_decimals(number) for number in numbers]
    decimals = max([table.decimals, *places])
    for number, needed, text in zip(numbers, places, texts, strict=True):
        if needed > MOST_DECIMALS:
            raise InputError(f"'{text}' has more than {MOST_DECIMALS} decimals", remedy="round it")
        if table.integer and needed:
            raise InputError(
                f"'{text}' is no integer, and the cells of this table are counts",
                remedy="write an integer, or say that the values are amounts",
                options=["counts=no"],
            )
        if abs(number) * 10**decimals > LARGEST:
            raise InputError(
                f"'{text}' does not fit into 53 bits with {pluralize(decimals, 'decimal')}",
                remedy="use fewer of them or a larger unit, such as thousands",
            )
    return np.array([int(number * 10**decimals) for number in numbers], dtype=np.int64), decimals


def _choose_decimal_sign(table: Table, texts: Sequence[str]) -> str:
    """Return the decimal sign, point or comma, of numbers that are typed into a table together."""
    numbers = [text for text in texts if is_number(text) and ("," in text or "." in text)]
    found = find_decimal_signs(numbers)
    if len(found) == 2:
        point, comma = numbers[found["."]], numbers[found[","]]
        raise DecimalSignError(
            f"'{point}' has a decimal point, '{comma}' a decimal comma", remedy="write all numbers alike"
        )
    if found or not numbers:
        return next(iter(found), ".")
    first = numbers[0]
    written = "." if "." in first else ","
    if table.integer:
        return OTHER_SIGN[written]
    if written == "." and table.decimals >= 3:
        return "."
    integer, decimals = first.split(written)
    raise DecimalSignError(
        f"'{first}' may be in thousands or have three decimals",
        remedy=f"write {integer}{decimals}, or {integer}.{decimals}0",
    )
