"""Find the numbers that a text may state, however they are written, and those that a number format shows.

Digits of any script count, also full-width ones and with characters between them that nobody sees. Several
groups of digits in a row may be one number or several: every reading is returned.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from itertools import pairwise

MOST_GROUPS = 8
"""Groups of digits that are read as one number."""
_APOSTROPHES = "'`\u00b4\u2018\u2019\u02bc\u2032_\u066c"
_POINTS = "·\u066b"
_DIGITS_IN_A_ROW = re.compile(r"\d+(?:(?: +|[.,'])\d+)*(?:[eE][+-]?\d{1,3}(?!\d))?")
_SCALES = {
    3: "k th thsd thousand thousands tsd tausend mille milliers mil miles mila tys тыс",
    6: "m mn mln mio mill million millions millionen millones milioni miljoen млн",
    9: "b bn bln billion billions mrd milliard milliards milliarden miliardi miljard млрд",
}
_SCALE = re.compile(r"[ -]?([^\W\d_]+)")
_POWERS = {word: power for power, words in _SCALES.items() for word in words.split()}
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
"""How workbooks write characters that XML has no room for; spreadsheet programs show the characters."""
_LITERALS = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|_.|\*.')
_WORDS = re.compile(r'"([^"]*)"|\\(.)')


@dataclass(frozen=True)
class Reading:
    """A number that a text may state: its value, and the last place that is written, as a power of ten.

    ``scaled``: a word such as 'thousand' follows. ``span`` is where it stands in the text.
    """

    value: Decimal
    place: int
    scaled: bool
    span: tuple[int, int]

    @property
    def digits(self) -> int:
        """How many significant digits the number has, without zeros before and after them."""
        return count_digits(self.value)

    @property
    def unit(self) -> Decimal:
        """The unit of the last digit that is no zero after an integer: what the number is exact to."""
        place = self.place
        if place >= 0:
            written = str(int(self.value))
            place = max(place, len(written) - len(written.rstrip("0")))
        return Decimal(1).scaleb(place)


def count_digits(value: Decimal) -> int:
    """Return how many digits a number has, without zeros before and after them.

    >>> count_digits(Decimal("1200")), count_digits(Decimal("0.0125"))
    (2, 3)
    """
    return len("".join(map(str, value.as_tuple().digits)).strip("0"))


def simplify(text: str) -> tuple[str, str]:
    """Return a text with ASCII digits, blanks and signs, without characters that nobody sees; twice: raised
    digits may mark a footnote, or belong to the number before them.
    """
    apart, together = [], []
    for sign in _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text):
        kind = unicodedata.category(sign)
        if kind in ("Cf", "Mn", "Me") or (kind == "Cc" and not sign.isspace()):
            continue
        digit = unicodedata.digit(sign, None)
        raised = kind == "No"
        plain = unicodedata.normalize("NFKC", sign)
        if digit is not None:
            plain = str(digit)
        elif sign.isspace() or kind == "Zs":
            plain = " "
        elif sign in _APOSTROPHES:
            plain = "'"
        elif sign in _POINTS:
            plain = "."
        together.append(plain)
        apart.append(" " if raised else plain)
    return "".join(apart), "".join(together)


def list_readings(text: str) -> Iterator[Reading]:
    """Yield the numbers that a simplified text may state: groups of digits alone and joined.

    >>> sorted({str(each.value) for each in list_readings("1.234,5")})
    ['1', '1.234', '1.2345', '1234', '1234.5', '12345', '234', '234.5', '5']
    """
    for found in _DIGITS_IN_A_ROW.finditer(text):
        written, _, exponent = found[0].replace("E", "e").partition("e")
        scale = _SCALE.match(text, found.end())
        power = 0 if scale is None else _POWERS.get(scale[1].casefold(), 0)
        groups = list(re.finditer(r"\d+", written))
        for i, first in enumerate(groups):
            # A run of groups is read as one number also if it is long: its digits may stand apart.
            for j in {*range(i, min(len(groups), i + MOST_GROUPS)), *([len(groups) - 1] if i == 0 else [])}:
                last = j == len(groups) - 1
                run = groups[i : j + 1]
                between = [written[a.end() : b.start()] for a, b in pairwise(run)]
                digits = [group[0] for group in run]
                for number in _join(digits, between, i == 0 and last):
                    for raised in {0, int(exponent or 0), power} if last else {0}:
                        yield Reading(
                            Decimal(number).scaleb(raised),
                            raised - len(number.partition(".")[2]),
                            last and power > 0,
                            (found.start() + first.start(), found.start() + run[-1].end()),
                        )


def _join(digits: list[str], between: list[str], complete: bool) -> Iterator[str]:
    """Yield what groups of digits mean together: an integer, or a number with decimals after some sign."""
    if not between:
        yield digits[0]
        return
    for k, sign in enumerate(between):
        # One point or comma begins decimals; a second one of its kind would group digits.
        whole, decimals = digits[: k + 1], digits[k + 1 :]
        last = k == len(between) - 1
        if sign in (".", ",") and between.count(sign) == 1 and (complete or (last and _is_grouped(whole))):
            yield f"{''.join(whole)}.{''.join(decimals)}"
    if complete or _is_grouped(digits):
        yield "".join(digits)


def _is_grouped(digits: list[str]) -> bool:
    """Return whether groups of digits are those of one number, of three digits or, as in India, of two."""
    first, *others = map(len, digits)
    return first <= 3 and (not others or (others[-1] == 3 and all(2 <= length <= 3 for length in others)))


def round_as_shown(value: Decimal, number_format: str) -> Decimal | None:
    """Return the number that a number format shows in place of a value; None if it says nothing of that.

    >>> round_as_shown(Decimal("1234.6"), "#,##0"), round_as_shown(Decimal("1234.6"), '0.0,"thousand"')
    (Decimal('1235'), Decimal('1.2'))
    """
    sections = _LITERALS.sub("", number_format).split(";")
    section = sections[1] if value < 0 and len(sections) > 1 else sections[0]
    found = re.search(r"[0#?](?:[0#?, ]*[0#?])?(,*)(?:\.([0#?]*)(,*))?", section)
    if found is None or re.search(r"General|[eE][+-]|/", section):
        return None
    decimals, scale = len(found[2] or ""), -3 * (len(found[1]) + len(found[3] or ""))
    scale += 2 * section.count("%")
    try:
        return abs(value.scaleb(scale)).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    except InvalidOperation:
        return None


def list_format_words(number_format: str) -> str:
    """Return the words that a number format prints beside numbers."""
    return " ".join(quoted or sign for quoted, sign in _WORDS.findall(number_format))
