"""Text that a spreadsheet would run as a formula gets a leading apostrophe; readers take it off again.

A plain number is never a formula, so ``-5`` stays as it is.
"""

from __future__ import annotations

import re

_RISKY = re.compile(r"^'*[=+\-@\t\r]")
_PLAIN_NUMBER = re.compile(r"^[+-]?\d+([.,]\d+)?$")
_ESCAPED = r"^'('*[=+\-@\t\r])"


def escape(text: str) -> str:
    """``=1+1`` becomes ``'=1+1``; a text that already looks escaped gets one more apostrophe."""
    return f"'{text}" if _RISKY.match(text) and not _PLAIN_NUMBER.match(text) else text


def unescape(text: str) -> str:
    """What :func:`escape` was given."""
    return re.sub(_ESCAPED, r"\1", text)


def escape_all(texts: list[str]) -> list[str]:
    """Many texts; each distinct one is looked at once."""
    known = {text: escape(text) for text in set(texts)}
    return [known[text] for text in texts]
