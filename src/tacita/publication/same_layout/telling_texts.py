"""Find texts that tell the value of a hidden cell: in titles, footnotes, headings, page headers and charts.

A number of a text tells the value of a cell that is not published exactly if it is the value, what the number
format of its field makes of it, or the value rounded to four digits or more. Numbers that stand in texts by
chance are a hint, and tell the value only if the text names the cell as well: those with fewer than three
digits below 100, years, and numbers that the release itself shows of some cell, unless the text names that
one just as well. A value rounded to three digits, or to two before a word such as 'thousand', is a hint too.
A code belongs to the table, and is in every release: it tells the value only of a cell that it is a code of.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from enum import IntEnum
from functools import lru_cache

from tacita.publication.same_layout.number_readings import Reading, list_readings, simplify

SHORT = 100
"""Smaller numbers of one or two digits stand in texts by chance: numbers of tables, ages, percentages."""
_YEARS = range(1900, 2101)
_SHIFTS = (3, 6, 9)
"""Powers of ten by which a table counts in another unit than its texts."""
_NUMBERED = re.compile(
    r"\b(?:table|tab|tabelle|tableau|tabla|cuadro|tabel|figure|fig|abbildung|abb|chart|graph|map|note|page"
    r"|section|chapter|annex|no|nr)\.? ?\Z",
    re.IGNORECASE,
)
"""What stands before the number of a table, figure or page."""

Names = Sequence[Collection[str]]
"""What a cell may be called in a text: per dimension its code and its label, but not those of totals."""


class Telling(IntEnum):
    """Whether a text holds the value of a hidden cell: no, by chance perhaps, or yes."""

    NOTHING = 0
    PERHAPS = 1
    VALUE = 2


class HiddenValues:
    """The absolute values of the cells that a release does not publish exactly, to be looked for in texts.

    Parameters
    ----------
    values
        The true values of these cells.
    published
        The numbers that the release shows of any cell.
    shown
        What the number formats of their fields make of ``values``.
    name_cell, list_codes
        What a cell may be called in a text, and its codes.
    """

    def __init__(
        self,
        values: Mapping[int, Decimal],
        published: Mapping[int, Decimal] | None = None,
        shown: Mapping[int, Decimal] | None = None,
        name_cell: Callable[[int], Names] = lambda cell: (),
        list_codes: Callable[[int], Sequence[str]] = lambda cell: (),
    ) -> None:
        pairs = sorted((abs(value), cell) for cell, value in values.items())
        self._sorted, self._cells = [value for value, _ in pairs], [cell for _, cell in pairs]
        self._shown, self._published = _group(shown or {}), _group(published or {})
        self._name_cell, self._list_codes = name_cell, list_codes

    def judge(self, text: str, *, code: bool = False) -> Telling:
        """Return whether a text, or a code of the table, tells the value of a hidden cell."""
        found = Telling.NOTHING
        for plain in {*simplify(text)}:
            for reading in list_readings(plain):
                for cell, telling in self._match(reading):
                    if telling > found:
                        weigh = self._weigh_code if code else self._weigh
                        found = max(found, min(telling, weigh(plain, reading, cell)))
                if found == Telling.VALUE:
                    return found
        return found

    def holds(self, number: float | int | Decimal) -> bool:
        """Return whether a number is the value of a hidden cell."""
        try:
            return bool(self._find_between(abs(Decimal(str(number))), Decimal(0)))
        except InvalidOperation:
            return False

    def _match(self, reading: Reading) -> Iterator[tuple[int, Telling]]:
        """Yield the cells whose value a number in a text may be, and what it tells if not there by chance."""
        value, unit, digits = reading.value, reading.unit, reading.digits
        for cell in self._find_between(value, Decimal(0)):
            yield cell, Telling.VALUE
        for cell in self._shown.get(value, ()):
            yield cell, Telling.VALUE
        if digits >= 3 or (digits == 2 and reading.scaled):
            for cell in self._find_between(value, unit):
                yield cell, Telling.VALUE if digits > 3 else Telling.PERHAPS
        if digits > 3 and not _is_year(reading):
            for power in _SHIFTS:
                for cell in self._find_between(value.scaleb(power), unit.scaleb(power)):
                    yield cell, Telling.PERHAPS

    def _find_between(self, value: Decimal, unit: Decimal) -> list[int]:
        """Return the cells whose values are less than a unit from a number, or that number."""
        first, last = bisect_left(self._sorted, value), bisect_right(self._sorted, value)
        if unit > 0:
            first, last = bisect_right(self._sorted, value - unit), bisect_left(self._sorted, value + unit)
        return self._cells[first:last]

    def _weigh(self, plain: str, reading: Reading, cell: int) -> Telling:
        """Return what a number in a text tells of a cell whose value it is, by what else the text says."""
        short = reading.value < SHORT and reading.digits < 3 and not reading.scaled
        same = self._published.get(reading.value, ())
        if not short and not same and not _is_year(reading):
            return Telling.VALUE
        if short and _is_numbering(plain, reading):
            return Telling.PERHAPS
        named = _count_names(plain, self._name_cell(cell))
        better = named > max((_count_names(plain, self._name_cell(each)) for each in same), default=0)
        return Telling.VALUE if better else Telling.PERHAPS

    def _weigh_code(self, plain: str, reading: Reading, cell: int) -> Telling:
        """Return what a number in a code tells of a cell whose value it is."""
        start, end = reading.span
        part_of_word = plain[start - 1 : start].isalpha() or plain[end : end + 1].isalpha()
        bare = not any(sign.isalpha() for sign in plain)
        short = (reading.value < SHORT and reading.digits < 3) or _is_year(reading)
        own = any(plain.strip() in map(str.strip, simplify(each)) for each in self._list_codes(cell))
        return Telling.PERHAPS if part_of_word or bare or short or not own else Telling.VALUE


def _group(numbers: Mapping[int, Decimal]) -> dict[Decimal, list[int]]:
    found: dict[Decimal, list[int]] = defaultdict(list)
    for cell, number in numbers.items():
        found[abs(number)].append(cell)
    return dict(found)


def _is_year(reading: Reading) -> bool:
    return reading.value in _YEARS and reading.span[1] - reading.span[0] == 4


def _is_numbering(plain: str, reading: Reading) -> bool:
    """Return whether a number counts tables or footnotes: 'Table 7' or '7) Cases', not '7 cases'."""
    before, after = plain[: reading.span[0]], plain[reading.span[1] :]
    if not before.strip(" (["):
        return re.match(r"[).\]]|\Z", after) is not None
    return _NUMBERED.search(before) is not None


def _count_names(plain: str, names: Names) -> int:
    """Return how many of a cell's codes or their labels a text holds as words."""
    return sum(any(_compile(name).search(plain) is not None for name in each) for each in names)


@lru_cache(maxsize=10_000)
def _compile(name: str) -> re.Pattern[str]:
    # One or two letters are words of their own in other cases: 'a', 'no'.
    flags = re.IGNORECASE if len(name) > 2 else re.NOFLAG
    return re.compile(rf"(?<!\w){re.escape(simplify(name)[1].strip())}(?!\w)", flags)
