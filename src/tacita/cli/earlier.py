"""Releases that readers may have kept: ``--published OLD``, and how a file says what it is by itself.

``FILE:NAME=VALUE,...`` says how to read one file, where options of the verb would speak of another one too.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacita.core.errors import InputError

if TYPE_CHECKING:
    from tacita.cli.case_options import ReleaseOptions
    from tacita.core.release import Release
    from tacita.core.tables.table import Table

NUMBERS = ("base", "radius")
WORDS = ("value", "sheet", "decimal", "rounded")
_OWN = re.compile(r"(?P<file>.+?):(?P<options>[a-z]+=[^=]+(?:,[a-z]+=[^=,]+)*)\Z")


def load_earlier(text: str, table: Table, decimal: str) -> Release:
    """An earlier release from a file, or from the release.csv of a folder of results."""
    from tacita.cli.case_options import release_file, tell_left_out
    from tacita.publication.earlier import read_earlier

    path, own = named_with_options(text)
    if not path.exists():
        raise InputError(f"{path}: no such file or folder; check the path")
    release = read_earlier(release_file(path), table, **{"decimal": decimal, **own})
    tell_left_out(path, release)
    return release


def named_with_options(text: str) -> tuple[Path, dict[str, Any]]:
    """A file, and what stands behind its name: ``old.csv:base=5``."""
    found = None if Path(text).exists() else _OWN.match(text)
    if found is None:
        return Path(text), {}
    given: dict[str, Any] = dict(part.split("=", 1) for part in found["options"].split(","))
    for name, value in given.items():
        if name not in (*NUMBERS, *WORDS):
            raise InputError(f"{text}: a release has no option '{name}'; use {', '.join((*NUMBERS, *WORDS))}")
        if name in NUMBERS:
            try:
                given[name] = float(value)
            except ValueError:
                raise InputError(f"{text}: '{value}' is no number: write {name}=5, for example") from None
    return Path(found["file"]), given


def own_options(
    path: Path, options: ReleaseOptions, decimal: str
) -> tuple[Path, ReleaseOptions, dict[str, Any]]:
    """A release, how to read it, and further options of its reader: its own word goes first."""
    file, own = named_with_options(str(path))
    chosen = replace(
        options,
        base=own.get("base", options.base if "radius" not in own else None),
        radius=own.get("radius", options.radius if "base" not in own else None),
        rounded=own.get("rounded", None if own.keys() & set(NUMBERS) else options.rounded),
        release_sheet=own.get("sheet", options.release_sheet),
    )
    return file, chosen, {"decimal": own.get("decimal", decimal), "value": own.get("value")}
