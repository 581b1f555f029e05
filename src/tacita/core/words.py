"""Numbers of things in words."""

from __future__ import annotations


def pluralize(number: int, thing: str, things: str = "") -> str:
    """Return ``1 cell``, ``0 cells`` or ``1,234 cells``; ``things`` is a plural that is not regular."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"
