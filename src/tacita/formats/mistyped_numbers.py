"""Tell mistyped numbers (``l7``, ``12O``) from codes such as ``10A`` among ``101`` and ``102``."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from tacita.core.numerals import is_number, tidy
from tacita.core.tables.columns import Columns, is_text

LOOK_ALIKES = str.maketrans("OoIl|", "00111", " ")
"""Characters that are taken for digits, on paper and on a keyboard, and the blank among digits (``1 23``)."""
_LEADING_ZERO = re.compile(r"0\d")
_STRAY_LETTERS = re.compile(r"(?=\D*\d)[\d.,]*[^\W\d_]{1,2}[\d.,]*")


def find_mistyped(source: Columns, name: str) -> int | None:
    """Return the row of a word in a file's column of numbers that may be a mistyped one; else None.

    At least half of the entries are numbers, and no word occurs twice, as codes do. Either all words look
    like numbers (``12O``), or there is a single one with a letter or two, unless in the first column, which
    mostly holds codes. Classes such as ``85+`` and codes such as ``007`` show that the column holds codes.
    """
    if not is_text(source.column(name).type):
        return None
    # Of a million codes few are distinct.
    encoded = pa.chunked_array(source.column(name).fill_null("")).combine_chunks().dictionary_encode()
    texts = [tidy(text) for text in encoded.dictionary.to_pylist()]
    rows = encoded.indices.to_numpy()
    times = np.bincount(rows, minlength=len(texts))
    words = [k for k, text in enumerate(texts) if text and not is_number(text)]
    numbers = [k for k, text in enumerate(texts) if is_number(text)]
    mostly_numbers = bool(words) and len(words) == times[words].sum() <= times[numbers].sum()
    if not mostly_numbers or any(_LEADING_ZERO.match(texts[k]) for k in numbers):
        return None
    look_alike = all(is_number(texts[k].translate(LOOK_ALIKES)) for k in words)
    single = len(words) == 1 and _STRAY_LETTERS.fullmatch(texts[words[0]]) and name != source.names[0]
    return int(np.isin(rows, words).argmax()) if look_alike or single else None
