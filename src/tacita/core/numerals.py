"""Numbers as people write them: ``1 234,5``, ``1.234,5`` and ``1,234.5`` are one number.

Which of point and comma begins the decimals is told by the numbers themselves where they can: ``1,5`` and
``1.234,5`` tell a comma. ``1,234`` tells nothing, being a thousand or one and a bit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

OTHER = {".": ",", ",": "."}
"""The sign that groups digits where this one begins the decimals."""

# What may stand between groups of three digits besides a point and a comma.
_GROUPING = re.compile(r"(?<=\d)[\u00a0\u2009\u202f\u2019' ](?=\d{3}(?!\d))")
_WRITTEN = re.compile(r"[+-]?(?:\d+(?:[.,]\d+)*|[.,]\d+)(?:[eE][+-]?\d+)?")
_PLAIN = {
    sign: re.compile(
        rf"[+-]?(?:\d+|\d{{1,3}}(?:\{group}\d{{3}})+|(?=\{sign}\d))(?:\{sign}\d*)?(?:[eE][+-]?\d+)?"
    )
    for sign, group in OTHER.items()
}
_BESIDE = re.compile(
    r"(?<=\S)\s*\(\w\)\Z|[()\[\]~≈*†‡§¶%‰\u00b9\u00b2\u00b3\u2070\u2074-\u207f$€£¥₹]"
    r"|\b(?:EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK)\b"
)
"""Footnotes, brackets, percent and currency signs."""
_LETTERS = re.compile(r"(?<=\d)\s?[a-z]{1,2}\Z")
"""As offices mark numbers that are revised, provisional or estimated."""


def tidy(text: str) -> str:
    """A text on one line; a number with a plain minus sign and without blanks between groups of digits."""
    if text.isascii() and text.isdecimal():
        return text  # Most are, and there may be a million.
    line = re.sub(r"\s*\n\s*", " ", text.replace("\r", "")).strip()
    number = _GROUPING.sub("", line.replace("\u2212", "-"))
    return number if is_number(number) else line


def is_number(text: str) -> bool:
    """Whether a tidy text is a number, with one sign of the decimals or the other."""
    return _WRITTEN.fullmatch(text) is not None


def has_signs_beside(text: str, letters: bool = False) -> bool:
    """Whether a text is a number with signs beside it: ``(15)``, ``7*``, ``€ 5``; with letters: ``7 r``."""
    bare = _BESIDE.sub("", text)
    if letters:
        bare = _LETTERS.sub("", bare.strip())
    return not is_number(tidy(text)) and is_number(tidy(bare))


def told_by(number: str) -> str | None:
    """The sign of the decimals that a number tells; None where it has none, or may have either."""
    mantissa = re.split("[eE]", number.lstrip("+-"))[0]
    last = max(mantissa.rfind("."), mantissa.rfind(","))
    if last < 0:
        return None
    sign, before, after = mantissa[last], mantissa[:last], mantissa[last + 1 :]
    if sign in before:
        return OTHER[sign]  # Several of one sign separate groups.
    thousands = len(after) == 3 and OTHER[sign] not in before and 1 <= len(before) <= 3 and before[0] != "0"
    return None if thousands else sign


def signs_told(numbers: Sequence[str]) -> dict[str, int]:
    """Each sign of the decimals that some number tells, and the position of the first that does."""
    told = [(sign, k) for k, number in enumerate(numbers) if (sign := told_by(number)) is not None]
    return dict(reversed(told))


def plain(number: str, sign: str) -> str | None:
    """A number as Python writes it; None where the text is none with this sign of the decimals."""
    if number.isascii() and number.isdecimal():
        return number
    if _PLAIN[sign].fullmatch(number) is None:
        return None
    return number.replace(OTHER[sign], "").replace(sign, ".")
