"""Releases that the command line names: how each is read, and the pattern that a search begins with.

``FILE:NAME=VALUE,...`` says how one file is read, where options of the verb would hold for others too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tacita.cli.console import print_notes
from tacita.core.errors import InputError, MissingFileError

if TYPE_CHECKING:
    from tacita.core.exact import Mask
    from tacita.core.release import Release
    from tacita.core.tables.table import Table
    from tacita.problem.problem import Problem

ReleaseFile = Annotated[
    Path, typer.Argument(metavar="RELEASE", help="The release, or the folder that its results went to.")
]
NUMBERS = ("base", "radius")
WORDS = ("value", "sheet", "decimal", "rounded")
_OPTIONS = re.compile(r"(?P<file>.+?):(?P<options>[a-z]+=[^=]+(?:,[a-z]+=[^=,]+)*)\Z")


@dataclass(frozen=True)
class ReleaseOptions:
    """How to read a release that was made elsewhere."""

    base: Annotated[float | None, typer.Option(help="The release is rounded to multiples of this base.")] = (
        None
    )
    radius: Annotated[
        float | None, typer.Option(help="The release is adjusted; the truth is announced to be this near.")
    ] = None
    rounded: Annotated[
        Literal["nearest", "down", "up", "adjacent", "within"] | None,
        typer.Option(
            help="With --base: how numbers were rounded. Default: the first of these that all numbers agree "
            "with; the verdict names it."
        ),
    ] = None
    absent: Annotated[
        Literal["refuse", "suppressed"],
        typer.Option(help="Cells that the release does not list: 'refuse' it, or they are 'suppressed'."),
    ] = "refuse"
    release_sheet: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Sheet of a release that is a workbook, as --sheet is the case's."),
    ] = None


def load_release(path: Path, problem: Problem, options: ReleaseOptions, decimal: str) -> Release:
    """Return the release of this problem's table that a command names, by its file or folder of results.

    Every error names the file, since the case is a file too.
    """
    from tacita.formats.workbook import name_other_sheets
    from tacita.publication.release_read import read_release

    path, own = split_options(str(path))
    refuse_missing(path)
    if own.keys() & {*NUMBERS}:
        options = replace(options, base=None, radius=None, rounded=None)
    read: dict[str, Any] = {name: getattr(options, name) for name in (*NUMBERS, "rounded", "absent")}
    read |= {"decimal": decimal, "sheet": options.release_sheet, **own}
    try:
        with name_other_sheets(path, read["sheet"]):
            release = read_release(find_release_file(path), problem.table, **read)
    except InputError as error:
        named = error.map_parts(lambda text: text.replace("the sheet:", "the sheet of the release:"))
        named.options = tuple("release_sheet" if name == "sheet" else name for name in error.options)
        raise named.with_place(path) from error
    print_release_notes(path, release)
    return release


def load_earlier(text: str, table: Table, decimal: str) -> Release:
    """Return an earlier release that a command-line flag names, by its file or folder of results."""
    from tacita.publication.earlier import read_earlier

    path, own = split_options(text)
    refuse_missing(path)
    release = read_earlier(find_release_file(path), table, **{"decimal": decimal, **own})
    print_release_notes(path, release)
    return release


def load_pattern(path: Path, problem: Problem, decimal: str) -> Mask:
    """Return the mask of the table's cells that the release of ``--start`` does not publish.

    A release of ours may be last period's: its numbers are not looked at, cells that the table does not have
    are left out, and cells that it does not list count as published. Other files must be of this very table.
    """
    import numpy as np

    from tacita.core.release import Mark
    from tacita.formats.cell_rows import find_cells
    from tacita.formats.columns import read_columns
    from tacita.formats.sdmx.release_rows import convert_release

    refuse_missing(path)
    structure = problem.table.structure
    source = convert_release(
        read_columns(find_release_file(path), problem.table, decimal=decimal), problem.table
    )
    if "mark" not in source.names or len(structure.parts) > 1:
        return load_release(path, problem, ReleaseOptions(), decimal).changed
    try:
        cells = find_cells(source, structure)
    except InputError as error:
        raise error.with_place(path) from None
    if (cells < 0).all():
        raise InputError(
            "none of its cells is in the table", place=path, remedy="check that it is a release of this kind"
        )
    codes, words = source.codes("mark")
    published = [k for k, word in enumerate(words) if word.lower() == Mark.PUBLISHED.word]
    hidden = np.zeros(len(structure), dtype=bool)
    hidden[cells[(cells >= 0) & ~np.isin(codes, published)]] = True
    return hidden


def split_options(text: str) -> tuple[Path, dict[str, Any]]:
    """Return the path and the options that a command-line text such as ``old.csv:base=5`` names."""
    found = None if Path(text).exists() else _OPTIONS.match(text)
    if found is None:
        return Path(text), {}
    given: dict[str, Any] = dict(part.split("=", 1) for part in found["options"].split(","))
    for name, value in given.items():
        if name not in (*NUMBERS, *WORDS):
            known = ", ".join((*NUMBERS, *WORDS))
            raise InputError(f"a release has no option '{name}'", place=text, remedy=f"use {known}")
        if name in NUMBERS:
            try:
                given[name] = float(value)
            except ValueError:
                raise InputError(
                    f"'{value}' is no number", place=text, remedy=f"write {name}=5, for example"
                ) from None
    return Path(found["file"]), given


def refuse_missing(path: Path) -> None:
    """Refuse a path on the command line where there is no file or folder."""
    if not path.exists():
        raise MissingFileError("no such file or folder; check the path", place=path)


def find_release_file(path: Path) -> Path:
    """Return the file of a release that a command names: itself, or release.csv in or below a folder."""
    from tacita.publication.folders import find_release

    return find_release(path) if path.is_dir() else path


def print_release_notes(path: Path, release: Release) -> None:
    """Print on stderr what was left out of the file of a release when a command read it."""
    print_notes(*(f"{path}: {note}" for note in release.notes))
