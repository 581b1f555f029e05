"""Text that a spreadsheet would run as a formula gets a leading apostrophe; readers take it off again.

A plain number is never a formula, so ``-5`` stays as it is.
"""

from __future__ import annotations

import re

from tacita.verify import escape

__all__ = ["escape", "escape_all", "unescape"]

_ESCAPED = r"^'('*[=+\-@\t\r])"


def unescape(text: str) -> str:
    """Return a field of a CSV file without the apostrophe that keeps it from being a formula."""
    return re.sub(_ESCAPED, r"\1", text)


def escape_all(texts: list[str]) -> list[str]:
    """Return the fields of a CSV file, with an apostrophe before any that would run as a formula."""
    known = {text: escape(text) for text in set(texts)}
    return [known[text] for text in texts]
