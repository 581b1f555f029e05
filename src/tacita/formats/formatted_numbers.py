"""Recognise formatted numbers: ``1,234``, ``7*``, ``(15)``, ``12 %``, ``€ 5``.

A column with one of them is no column of numbers. Taken for codes, it would make another table.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np
import pyarrow as pa

from tacita.core.errors import DecimalSignError, FormatError
from tacita.core.exact import Mask
from tacita.core.numerals import OTHER_SIGN, has_signs_beside, tidy, to_plain_number
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
    parsed = parse_published(texts, source.decimal)
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
    if (
        to_plain_number(tidy(text), OTHER_SIGN[source.decimal]) is not None
        and OTHER_SIGN[source.decimal] in text
    ):
        raise DecimalSignError(
            f"{what} is '{text}'",
            place=source.place(row),
            remedy="choose the decimal sign, or write the number without signs between its digits; "
            f"{otherwise}",
            options=["value", "decimal"],
        )
    raise FormatError(
        f"{what} is '{text}'",
        place=source.place(row),
        remedy=f"write the number alone, without signs beside it or between its digits; {otherwise}",
        options=["value"],
    )


def _is_grouped(text: str) -> bool:
    return any(to_plain_number(tidy(text), sign) is not None for sign in OTHER_SIGN)
