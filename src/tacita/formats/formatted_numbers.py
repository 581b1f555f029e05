"""Recognise formatted numbers: ``1,234``, ``7*``, ``(15)``, ``12 %``, ``€ 5``.

A column with one of them is no column of numbers. Taken for codes, it would make another table.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np
import pyarrow as pa

from tacita.core.errors import DecimalSignError, FormatError
from tacita.core.exact import Mask
from tacita.core.numerals import OTHER_SIGN, SIGNS, has_signs_beside, tidy, to_plain_number
from tacita.core.release import Mark
from tacita.core.tables.columns import Columns, is_text
from tacita.formats.published_cells import parse_published


def find_marks_and_formatted(source: Columns, name: str) -> tuple[Mask, Mask] | None:
    """Return two masks of a file's column: marks (``x``, ``[4...10]``), and formatted numbers (``1,234``).

    None if some entry is neither a number nor a mark, so that the column holds codes.
    """
    if not is_text(source.column(name).type):
        return None
    # Of a million codes few are distinct.
    encoded = pa.chunked_array(source.column(name).fill_null("")).combine_chunks().dictionary_encode()
    texts: list[str] = encoded.dictionary.to_pylist()
    parsed = parse_published(texts, source.sign)
    blank = np.array([not text.strip() for text in texts], dtype=bool)
    published = parsed.marks == Mark.PUBLISHED
    # Letters beside digits make a code, unless there are bare numbers too.
    letters = bool((published & ~parsed.unreadable).any())
    for k in np.flatnonzero(parsed.unreadable).tolist():
        if not _is_grouped(texts[k]) and not has_signs_beside(texts[k], letters):
            return None
    rows = encoded.indices.to_numpy()
    return (~published & ~blank & ~parsed.unreadable)[rows], parsed.unreadable[rows]


def refuse_formatted(source: Columns, name: str, row: int, what: str, otherwise: str) -> NoReturn:
    """Refuse a file for a formatted number (``7*``), and say how to write it; ``what`` is its place.

    ``otherwise`` says what to do if it is no number.
    """
    text = str(source.column(name)[row])
    other = OTHER_SIGN[source.sign]
    if to_plain_number(tidy(text), other) is not None and source.decimal is None:
        raise DecimalSignError(
            f"{what} is '{text}'",
            place=source.place(row),
            remedy=f"choose the decimal sign; {otherwise}",
            options=["value", f"decimal={other}"],
        )
    if to_plain_number(tidy(text), other) is not None:
        raise FormatError(
            f"{what} is '{text}', which is not a number with a decimal {SIGNS[source.sign]}",
            place=source.place(row),
            remedy=f"choose the other decimal sign, or write all numbers alike; {otherwise}",
            options=["value", f"decimal={other}"],
        )
    raise FormatError(
        f"{what} is '{text}'",
        place=source.place(row),
        remedy=f"write the number alone, without signs beside it or between its digits; {otherwise}",
        options=["value"],
    )


def _is_grouped(text: str) -> bool:
    return any(to_plain_number(tidy(text), sign) is not None for sign in OTHER_SIGN)
