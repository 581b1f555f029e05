"""How names become labels: fields, columns and figures begin with a capital letter, everywhere.

What can be chosen or typed keeps its spelling, since project files and the command line have the same.
"""

from __future__ import annotations

LONGEST_SYMBOL = 2


def as_label(name: str) -> str:
    """``at_or_below`` becomes ``At or below``; symbols, such as ``p`` and ``l1``, stay as they are."""
    words = name.replace("_", " ")
    return words if len(words) <= LONGEST_SYMBOL else words[0].upper() + words[1:]
