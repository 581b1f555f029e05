"""Numbers, numbers of things and options, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import inf
from typing import Any


def pluralize(number: int, thing: str, things: str = "") -> str:
    """Return ``1 cell``, ``0 cells`` or ``1,234 cells``; ``things`` is a plural that is not regular."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def list_names(names: Sequence[str], most: int = 5) -> str:
    """Return ``'a', 'b' and 3 more``: the first names in quotes, and in words how many follow."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(f"'{name}'" for name in names[:most]) + more


def format_number(value: float | Decimal) -> str:
    """Return a number as text, with commas between thousands; a sign if it is infinite or missing.

    A decimal is written exactly, a float with twelve digits, or with all before its point if these are more.
    """
    if value != value:
        return "–"
    if value in (inf, -inf):
        return "∞" if value > 0 else "−∞"
    if isinstance(value, Decimal):
        return f"{value:,f}"
    if abs(value) >= 1e15:
        return f"{value:,.0f}"
    return f"{value:,.{12 if round(abs(value)) < 10**12 else 16}g}"


def describe_method(name: str, options: Mapping[str, Any]) -> str:
    """Return a method's title in reports, with chosen options: ``suppression (at most 4, margins off)``."""
    chosen = ", ".join(
        f"{option.replace('_', ' ')} {_format_option(value)}" for option, value in options.items()
    )
    return f"{name} ({chosen})" if chosen else name


def _format_option(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None:
        return "none"
    if isinstance(value, tuple | list):
        return ", ".join(map(_format_option, value))
    return format_number(value) if isinstance(value, int | float) else str(value)
