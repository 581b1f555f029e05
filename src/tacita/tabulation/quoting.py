"""Names and texts in quotes, as SQL on microdata takes them."""

from __future__ import annotations


def quote_name(name: str) -> str:
    """Return a column name of the microdata in quotes, as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """Return a text in quotes, as SQL on the microdata takes it."""
    return "'" + text.replace("'", "''") + "'"
