"""The table of renamed names in the change log: what it says to write instead is there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import tacita as tc
from tacita.core.tables.contributions import Contributions

CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"
CLASSES = {"Contributions": Contributions}


def rows() -> list[tuple[str, str]]:
    text = CHANGELOG.read_text(encoding="utf-8")
    table = text[text.index("### Renamed") : text.index("### Security")]
    cells = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| `")]
    return [(old.strip(), new.strip()) for old, new in cells]


def find(name: str) -> object:
    """Return what a dotted name stands for; AttributeError or ImportError if there is nothing."""
    first, *others = name.split(".")
    if first not in ("tc", "tacita"):
        found: object = CLASSES.get(first) or getattr(tc, first)
    else:
        found, first = tc, "tacita"
    for other in others:
        first = f"{first}.{other}"
        found = getattr(found, other) if hasattr(found, other) else importlib.import_module(first)
    return found


@pytest.mark.parametrize(("old", "new"), rows())
def test_new_names_are_there_and_old_ones_are_not(old: str, new: str) -> None:
    for name in re.findall(r"`([A-Za-z_][\w.]*\.\w+)", new):
        find(name)
    for name in re.findall(r"`([A-Za-z_][\w.]*\.\w+)`", old):
        with pytest.raises((AttributeError, ImportError)):
            find(name)
