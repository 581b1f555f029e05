"""Numbers, and numbers of things, in words."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf


def pluralize(number: int, thing: str, things: str = "") -> str:
    """Return ``1 cell``, ``0 cells`` or ``1,234 cells``; ``things`` is a plural that is not regular."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def list_names(names: Sequence[str], most: int = 5) -> str:
    """Return ``'a', 'b' and 3 more``: the first names in quotes, and in words how many follow."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(f"'{name}'" for name in names[:most]) + more


def format_number(value: float) -> str:
    """Return a number as text for reports, thousands separated; a sign if it is infinite or missing."""
    if value != value:
        return "–"
    if value in (inf, -inf):
        return "∞" if value > 0 else "−∞"
    return f"{value:,.10g}"
