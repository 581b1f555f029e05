"""Numbers of things in words: one of them is not called by the plural."""

from __future__ import annotations


def so_many(number: int, thing: str, things: str = "") -> str:
    """``1 cell``, ``0 cells``, ``1,234 cells``; a plural that is not regular is given: ``so_many(n, "leaf",
    "leaves")``.
    """
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"
