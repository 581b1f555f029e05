"""Where a case comes from: files, pasted text, nothing but zeros, chance, or the literature.

Readers belong to :mod:`tacita.formats`; here the right one is called. Its errors are raised as they are, and
no case is made.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from tacita import generate
from tacita.app.work.open_case import Case, decide_as_stated, open_case
from tacita.app.work.paths import expand_path, hide_folders
from tacita.core.errors import FormatError, InputError
from tacita.core.exact import MOST_DECIMALS
from tacita.core.tables.read_options import ReadOptions
from tacita.core.tables.table import Table
from tacita.core.words import pluralize
from tacita.examples import EXAMPLES, example
from tacita.formats.captions import tell_footnotes
from tacita.formats.columns import has_columns, list_column_endings, read_columns
from tacita.formats.headings import COLUMNS, ROWS
from tacita.formats.pasted import read_pasted
from tacita.formats.petrenko import FILES as THESIS
from tacita.formats.petrenko import read_thesis
from tacita.formats.workbook import WORKBOOKS
from tacita.publication.same_layout.input_sheet import ENDINGS, InputSheet
from tacita.specification.read_case import read_case
from tacita.specification.specification import PROJECT, Specification, find_project

MOST_CELLS = 1_000_000
"""Cells of a table that is made here; larger ones are made in Python and opened by their path."""
MOST_NOTES = 10


NO_OPTIONS = ReadOptions()


def list_endings() -> tuple[str, ...]:
    """Return the endings of files that the app can open."""
    return (*list_column_endings(), ".jj", ".txt", ".dat", ".toml", ".hrc")


def open_case_at(path: str | os.PathLike[str], reading: ReadOptions = NO_OPTIONS) -> Case:
    """Return the case that the app opens from one file or folder on this machine.

    A project is called like its file, or like its folder where the file has the name that all have.
    """
    path = expand_path(path)
    if (project := find_project(path)) is not None and project.is_file():
        folder = project.absolute().parent.name
        name = folder if project.name == PROJECT and folder else project.stem
        return _open_project(project, reading, name)
    return _read_table(path, reading)


def open_case_of_files(paths: Sequence[Path], reading: ReadOptions = NO_OPTIONS) -> Case:
    """Return the case that the app opens from files uploaded together, in a folder of their own.

    That is a project with its data, the three files of the thesis program, or one table with the
    classifications of its dimensions, each in a file that is called like its dimension: ``region.csv``, or
    ``turnover-region.csv`` beside ``turnover.csv``.
    """
    if not paths:
        raise InputError("no file was chosen", remedy="choose at least one")
    with hide_folders(paths[0].parent):
        return _open_files_in(paths[0].parent, paths, reading)


def open_case_of_text(text: str, reading: ReadOptions = NO_OPTIONS) -> Case:
    """Return the case that the app opens from a block pasted from a spreadsheet."""
    return open_case(read_pasted(text, reading), "pasted")


def make_empty_case(
    dimensions: Mapping[str, Sequence[str]], *, counts: bool = True, decimals: int = 0
) -> Case:
    """Return the case of a new table to be typed in the app: all cells are zero, totals are computed."""
    shape = [len(codes) for codes in dimensions.values()]
    if not shape or min(shape) < 1:
        raise InputError("a new table needs at least one dimension, and one code in each")
    _refuse_many_cells(shape)
    if not 0 <= decimals <= MOST_DECIMALS:
        raise InputError(pluralize(decimals, "decimal"), remedy=f"give a number from 0 to {MOST_DECIMALS}")
    table = Table.from_array(
        np.zeros(shape, dtype=np.int64),
        names=list(dimensions),
        codes=list(dimensions.values()),
        decimals=0 if counts else decimals,
        counts=counts,
    )
    return open_case(replace(table, notes=()), "new table")


def parse_dimensions(text: str) -> dict[str, list[str]]:
    """Return codes by dimension typed in the app: ``region: North, South``, ``month: 12`` for 1 to 12."""
    found: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        name, sign, listed = (part.strip() for part in line.partition(":"))
        codes = [code.strip() for code in listed.split(",") if code.strip()]
        if not sign or not name or not codes:
            raise InputError(
                f"line {number}: '{line.strip()}' should be a name, a colon, and codes: region: North, South"
            )
        if name in found:
            raise InputError(
                f"there are two dimensions '{name}'", place=f"line {number}", remedy="rename one of them"
            )
        if len(codes) == 1 and codes[0].isdecimal():
            _refuse_many_cells([int(codes[0])])
            codes = [str(code) for code in range(1, int(codes[0]) + 1)]
        found[name] = codes
    return found


def generate_case(
    shape: Sequence[int], family: str, *, sensitive: float | int | None, seed: int = 0, **options: Any
) -> Case:
    """Return the app's case of a random table; options are those of :func:`tacita.generate.problem`."""
    _refuse_many_cells(shape)
    if seed < 0:
        raise InputError(f"seed {seed}", remedy="give an integer, 0 or more")
    made = generate.problem(shape, family, sensitive=sensitive, seed=seed, **options)
    return open_case(made, f"{family} {' × '.join(map(str, shape))}")


def open_case_of_example(name: str) -> Case:
    """Return the case that the app opens from an example, with its sensitive cells."""
    return open_case(example(name), EXAMPLES[name].title)


def list_reading_notes(case: Case, reading: ReadOptions) -> list[str]:
    """Return sentences for the page on what was done to the user's input, and taken for granted."""
    table = case.table
    notes = [f"Warning: {text}" for text in table.warnings[:MOST_NOTES]] + list(table.notes[:MOST_NOTES])
    if len(table.notes) > MOST_NOTES:
        notes.append(f"{len(table.notes) - MOST_NOTES:,} more like these")
    if table.integer and table.count is None and reading.counts is None and not case.from_project:
        notes.append(
            "values are integers and were taken as counts; if they are amounts, say so below, under "
            "Edit table, Counts or amounts"
        )
    elif _has_negatives(table) and reading.counts is None and not case.from_project:
        notes.append("some values are negative: they were taken as amounts, not as counts")
    if table.title:
        notes.append("the title stands above the table in the release, too")
    if tell_footnotes(table.notes):
        back = "; 'Download Excel' on the page Result gives the sheet back with them" if case.sheet else ""
        notes.append(f"footnotes are left out of the release{back}")
    names = {d.name for d in table.structure.dimensions}
    if names & {ROWS, COLUMNS} and not names <= {ROWS, COLUMNS}:
        nameless = " and ".join(f"'{name}'" for name in (ROWS, COLUMNS) if name in names)
        notes.append(
            f"{nameless} stands for a name that the file does not give: name it below, under Edit table, "
            "Rename a dimension"
        )
    return notes


def _has_negatives(table: Table) -> bool:
    """Return whether nothing but negative values keeps an opened table's integers from being counts."""
    has_counts = table.count is not None or table.contributions is not None
    return not table.integer and table.decimals == 0 and not has_counts and bool((table.units < 0).any())


def _open_files_in(folder: Path, paths: Sequence[Path], reading: ReadOptions) -> Case:
    projects = [path for path in paths if path.suffix.lower() == ".toml"]
    if len(projects) == 1:
        # Its folder is the session's, whose name says nothing.
        return _open_project(projects[0], reading, projects[0].stem)
    if {path.name for path in paths} & set(THESIS[1:]):
        return open_case(read_thesis(folder), "thesis")
    trees = [path for path in paths if is_classification(path)]
    tables = [path for path in paths if path not in trees]
    if len(tables) != 1 or projects:
        names = ", ".join(path.name for path in projects or tables)
        raise InputError(
            names or "no table among the files",
            remedy="choose one table (with the classifications of its dimensions), or a project.toml with "
            "the files it names",
        )
    table = tables[0]
    if trees and not has_columns(table):
        raise InputError(
            f"{table.name} brings its own structure", place=trees[0].name, remedy="leave classifications out"
        )
    return _read_table(table, replace(reading, hierarchies=group_by_dimension(table, trees)))


def _read_table(path: Path, reading: ReadOptions) -> Case:
    """Return the case that the app opens of a table's file; of a workbook it keeps which sheet was read."""
    case = open_case(read_case(path, reading), path.stem, propose_formats(path))
    if path.suffix.lower() not in ENDINGS:
        return case
    return replace(case, sheet=InputSheet(path.absolute(), reading))


def propose_formats(table: Path) -> tuple[str, ...]:
    """Return the formats of the release that are proposed for a table's file: a workbook becomes one."""
    return ("xlsx",) if table.suffix.lower() in WORKBOOKS else ()


def group_by_dimension(table: Path, trees: Sequence[Path]) -> dict[str, list[Path]]:
    """Return the classifications that came with the user's table, by the dimension in their names."""
    named: dict[str, list[Path]] = {}
    for path in trees:
        named.setdefault(path.stem.removeprefix(f"{table.stem}-"), []).append(path)
    return named


def is_classification(path: Path) -> bool:
    """Return whether a file of the user's input holds the tree of a dimension's codes: ``.hrc``, or columns
    ``parent`` and ``child``.
    """
    if path.suffix.lower() == ".hrc":
        return True
    if path.suffix.lower() != ".csv":
        return False
    try:
        names = {name.lower() for name in read_columns(path, footnotes=False).names}
    except FormatError:
        return False
    return {"parent", "child"} <= names


def _open_project(path: Path, reading: ReadOptions, name: str) -> Case:
    """Return the case that the app opens from a project; one that does not fit its table is refused."""
    if options := list(reading.given):
        raise InputError(
            "a project says itself how its files are read", place=path, remedy=f"leave out {options[0]}"
        )
    return open_specification(Specification.load(path), name)


def open_specification(specification: Specification, name: str) -> Case:
    """Return the app's case of a specification, its files read; one that does not fit is refused."""
    source = specification.table
    tabulated = None if source is None or source.microdata is None else source.value or ""
    case = decide_as_stated(Case(name, specification.read(), specification, tabulated=tabulated))
    _ = case.problem
    return case


def _refuse_many_cells(shape: Sequence[int]) -> None:
    if prod(shape) > MOST_CELLS:
        raise InputError(
            f"{' by '.join(f'{n:,}' for n in shape)} are more than {MOST_CELLS:,} cells",
            remedy="make it smaller here, or make it elsewhere and open its file by the path",
        )
