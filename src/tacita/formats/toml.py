"""Write TOML: sections of keys with text, numbers, truth values, lists and inline tables."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tacita.core.errors import InputError

WIDTH = 100
"""Longer lists get a line per entry."""
_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


def format_toml(sections: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the text of a TOML file, one ``[section]`` per entry; empty ones and None are left out."""
    blocks = []
    for name, content in sections.items():
        lines = [
            f"{_format_key(key)} = {_format_value(value, f'{name}.{key}', wide=True)}"
            for key, value in content.items()
            if value is not None
        ]
        if lines:
            blocks.append("\n".join([f"[{'.'.join(map(_format_key, name.split('.', 1)))}]", *lines]) + "\n")
    return "\n".join(blocks)


def _format_key(key: str) -> str:
    return key if _BARE.match(key) else _format_text(key)


def _format_text(text: str) -> str:
    # JSON escapes what TOML asks to be escaped, but for the sign "delete".
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _format_value(value: Any, place: str, wide: bool = False) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _format_text(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        entries = (
            f"{_format_key(k)} = {_format_value(v, f'{place}.{k}')}"
            for k, v in value.items()
            if v is not None
        )
        return "{ " + ", ".join(entries) + " }"
    if isinstance(value, Sequence):
        listed = [_format_value(entry, place) for entry in value]
        short = f"[{', '.join(listed)}]"
        # An inline table has to stay on one line, and with it the lists inside.
        return (
            short if not wide or len(short) <= WIDTH else "[\n" + "".join(f"    {e},\n" for e in listed) + "]"
        )
    raise InputError(
        f"a {type(value).__name__} cannot be written into a project file",
        place=place,
        remedy="say it in words or numbers",
    )
