"""What a published cell says, as we, other programs and offices write it.

| written | says |
|---|---|
| ``12``, ``-3.5`` | the value |
| ``x``, ``:``, ``c``, ``*``, ``-``, ``..``, ``suppressed``, ``PS``, ``CS``, and nothing | nothing |
| ``[4...10]``, ``4-10``, ``4..10``, ``[4,10]``, ``(4;10)`` | between 4 and 10, ends included |
| ``<5``, ``<=4``, ``>100`` | below, at most, above |

A dash says nothing, or zero: where the value is zero it counts as published. A number beside a mark
(``PS 22``, as the NCHS program writes in internal files) is a number that readers see.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tacita.core.exact import Floats, Mask
from tacita.core.numerals import to_plain_number
from tacita.core.release import Mark, Release
from tacita.formats.number_texts import format_numbers

COLUMNS = ("mark", "low", "high", "value")
"""What a release of ours says of each cell, after its codes."""
_MARKS = "x (x) : c * - – . .. ... confidential suppressed (suppressed) hidden ps cs"
PRIMARY = frozenset(["ps", *(f"{mark} (primary)" for mark in _MARKS.split())])
SUPPRESSED = frozenset(["", *_MARKS.split(), *PRIMARY, *(f"{mark} (secondary)" for mark in _MARKS.split())])
DASHES = frozenset(["-", "–"])
_NUMBER = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_BETWEEN = re.compile(rf"({_NUMBER})\s*(?:\.\.\.|\.\.|…|;|-|–|—|to)\s*({_NUMBER})\Z")
_BRACKETS = re.compile(rf"[\[(]\s*({_NUMBER})\s*(?:\.\.\.|\.\.|…|;|,|-|–|—|to)\s*({_NUMBER})\s*[\])]\Z")
_ONE_SIDED = re.compile(rf"(<=|>=|≤|≥|<|>)\s*({_NUMBER})\Z")
_BESIDE = re.compile(r"(?:ps|cs)\b\s*(.+)\Z")

_Meaning = tuple[Mark, float, float, bool]


@dataclass(frozen=True, eq=False)
class PublishedTexts:
    """Per cell: mark, window, whether it is called a primary suppression, whether something stands beside its
    mark, whether it cannot be read.
    """

    marks: np.ndarray[tuple[int], np.dtype[np.uint8]]
    low: Floats
    high: Floats
    primary: Mask
    beside: Mask
    unreadable: Mask


def format_cells(release: Release, primary: str, secondary: str) -> list[str]:
    """Return the text of each cell of a release in a file: its number, its interval, or one of two words if
    it is suppressed.
    """
    texts = format_numbers(release.value, release.decimals, ~release.shown)
    low, high = format_numbers(release.low, release.decimals), format_numbers(release.high, release.decimals)
    for cell in np.flatnonzero(release.marks == Mark.INTERVAL).tolist():
        texts[cell] = f"[{low[cell]}...{high[cell]}]"
    for cell in np.flatnonzero(release.marks == Mark.SUPPRESSED).tolist():
        texts[cell] = primary if release.primary[cell] else secondary
    return texts


def parse_published(texts: list[str], decimal: str = ".", integer: bool = False) -> PublishedTexts:
    """Return what texts in a published file say of cells; with ``integer``, ``<5`` means at most 4."""
    written = [text.strip().lower() for text in texts]
    beside = [_BESIDE.match(text) for text in written]
    meanings = [
        _parse_text(text if more is None else more[1], decimal, integer)
        for text, more in zip(written, beside, strict=True)
    ]
    known = [entry if entry is not None else (Mark.SUPPRESSED, -np.inf, np.inf, False) for entry in meanings]
    return PublishedTexts(
        np.array([entry[0] for entry in known], dtype=np.uint8),
        np.array([entry[1] for entry in known], dtype=np.float64),
        np.array([entry[2] for entry in known], dtype=np.float64),
        np.array([entry[3] for entry in known], dtype=bool),
        np.array([more is not None for more in beside], dtype=bool),
        np.array([entry is None for entry in meanings], dtype=bool),
    )


def _parse_text(text: str, decimal: str, integer: bool) -> _Meaning | None:
    if text in SUPPRESSED:
        return Mark.SUPPRESSED, -np.inf, np.inf, text in PRIMARY
    if (plain := to_plain_number(text, decimal)) is not None:
        return Mark.PUBLISHED, float(plain), float(plain), False
    if decimal == ",":
        text = text.replace(",", ".")
    if (between := _BETWEEN.match(text) or _BRACKETS.match(text)) is not None:
        return Mark.INTERVAL, float(between[1]), float(between[2]), False
    if (side := _ONE_SIDED.match(text)) is not None:
        end, step = float(side[2]), 1.0 if integer and side[1] in "<>" else 0.0
        if side[1] in ("<", "<=", "≤"):
            return Mark.INTERVAL, -np.inf, end - step, False
        return Mark.INTERVAL, end + step, np.inf, False
    return None
