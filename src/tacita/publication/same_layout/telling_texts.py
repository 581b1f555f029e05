"""Find texts that tell the value of a hidden cell: numbers in titles, footnotes, headings and charts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from enum import IntEnum

_BLANKS = " \u00a0\u2009\u202f\u2019'"
_NUMBER = re.compile(rf"\d(?:[\d.,{_BLANKS}]*\d)?(?:[eE][+-]?\d+)?")
_YEARS = range(1900, 2101)
SHORT = 100
"""Smaller integers stand in texts so often, as numbers of tables and notes, that they tell nothing."""


class Telling(IntEnum):
    """Whether a text holds the value of a hidden cell: no, by chance perhaps, or yes."""

    NOTHING = 0
    PERHAPS = 1
    VALUE = 2


class HiddenValues:
    """The absolute values of the hidden cells of a release, to be looked for in texts."""

    def __init__(self, values: Iterable[Decimal]) -> None:
        self._values = frozenset(abs(value) for value in values)

    def judge(self, text: str) -> Telling:
        """Return whether a text tells the value of a hidden cell.

        Integers below 100 and years are too frequent in texts to be more than a hint.
        """
        found = Telling.NOTHING
        for match in _NUMBER.finditer(text):
            for value in self._values.intersection(parse_readings(match[0])):
                whole = value == value.to_integral_value()
                frequent = whole and (value < SHORT or (value in _YEARS and len(match[0]) == 4))
                found = max(found, Telling.PERHAPS if frequent else Telling.VALUE)
        return found

    def holds(self, number: float | int | Decimal) -> bool:
        """Return whether a number is the value of a hidden cell."""
        try:
            return abs(Decimal(str(number))) in self._values
        except InvalidOperation:
            return False


def parse_readings(text: str) -> set[Decimal]:
    """Return the numbers that digits with signs between them may mean, in any notation.

    >>> sorted(parse_readings("1.234,5"))
    [Decimal('1.2345'), Decimal('1234.5'), Decimal('12345')]
    """
    plain = re.sub(f"[{_BLANKS}]", "", text)
    readings = {re.sub("[.,]", "", plain), plain.replace(",", ""), plain.replace(".", "").replace(",", ".")}
    readings.add(plain.replace(",", ".") if plain.count(",") + plain.count(".") == 1 else "")
    # Several numbers may stand side by side, as in '12 34'.
    readings.update(re.split(rf"[{_BLANKS}]+", text.replace(",", "")))
    readings.update(re.split(rf"[{_BLANKS}]+", text.replace(".", "").replace(",", ".")))
    found = set()
    for reading in readings:
        try:
            found.add(Decimal(reading))
        except InvalidOperation:
            continue
    return found
