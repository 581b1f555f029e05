"""Docstrings in the numpydoc form as Markdown."""

from __future__ import annotations

import inspect
import re
from typing import Any

UNDERLINED = re.compile(r"^(?P<title>[A-Z]\w+)\n-+\n", re.MULTILINE)
ITEM = re.compile(r"^(?P<names>\S.*)\n(?P<text>(?:(?:[ ]{4}.*)?\n?)*)", re.MULTILINE)


def read_docstring(thing: Any) -> tuple[str, dict[str, str]]:
    """Return the docstring of a thing without its sections, and these by their titles; both may be empty."""
    text = inspect.getdoc(thing) or ""
    if inspect.isclass(thing) and (text == inspect.getdoc(object) or not thing.__doc__):
        text = ""
    first, *parts = UNDERLINED.split(text)
    return first.strip(), dict(zip(parts[::2], parts[1::2], strict=True))


def list_items(section: str) -> dict[str, str]:
    """Return the entries of a section such as Parameters: names, as they stand there, and texts."""
    return {found["names"]: inspect.cleandoc(found["text"]) for found in ITEM.finditer(section)}


def write_markdown(text: str) -> str:
    """Return a text of a docstring with its roles and literals as code; indented blocks stay as they are."""
    text = re.sub(r":\w+:`~?(?:[\w.]+\.)?([^`]+)`", r"`\1`", text)
    text = re.sub(r"``([^`]+)``", r"`\1`", text)
    return re.sub(r"::$", ":", text, flags=re.MULTILINE)


def write_docstring(thing: Any) -> str:
    """Return the docstring of a thing as Markdown: its text, then a list for each of its sections."""
    text, sections = read_docstring(thing)
    parts = [write_markdown(text)]
    for title, section in sections.items():
        items = list_items(section)
        if title in ("Parameters", "Attributes", "Raises") and items:
            lines = [
                f"- `{names}`: {' '.join(write_markdown(meaning).split())}"
                for names, meaning in items.items()
            ]
            parts += [f"**{title}**", "\n".join(lines)]
        else:
            parts += [f"**{title}**", write_markdown(section.strip())]
    return "\n\n".join(filter(None, parts))
