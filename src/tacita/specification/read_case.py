"""A case from a file: the ending of its name says how to read it.

``.jj`` and ``project.toml``, or the folder it is in, state a whole problem. CSV, Parquet and Excel files
state a table, one row per cell; with a column ``status``, or a rule, they state a problem too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from tacita.core.errors import FormatError, InputError
from tacita.core.tables.read_options import ReadOptions
from tacita.core.tables.table import Table
from tacita.formats.columns import column_endings, has_columns
from tacita.formats.jj import read_jj
from tacita.formats.nchs import read_nchs
from tacita.formats.petrenko import FILES as THESIS
from tacita.formats.petrenko import read_thesis
from tacita.formats.table_file import AS_USUAL, read_table_file
from tacita.problem.problem import Problem
from tacita.specification.project import load_project

READ = tuple(field.name for field in fields(ReadOptions))
PROJECT = "project.toml"
"""What a project is called in a folder that stands for it."""


def project_file(path: str | os.PathLike[str]) -> Path | None:
    """The project that a path means: the file itself, or ``project.toml`` in a folder; None for others."""
    path = Path(path)
    if path.is_dir():
        return path / PROJECT if (path / PROJECT).is_file() else None
    return path if path.suffix.lower() == ".toml" else None


def read_case(path: str | os.PathLike[str], read: ReadOptions = AS_USUAL, **options: Any) -> Problem | Table:
    """Return the problem that a file states, or its table where nothing says what is sensitive.

    Parameters
    ----------
    read
        How to read a table. A JJ file and NCHS text take ``decimals`` and ``counts`` only; a project, be it
        named by its file or its folder, and the folder of the thesis program take none of them.
    options
        Fields of :class:`ReadOptions` one by one, and further options of
        :func:`~tacita.formats.table_file.read_table_file` for CSV, Parquet and Excel, or of
        :func:`~tacita.formats.petrenko.read_thesis` for the folder of the thesis program.
    """
    read = replace(read, **{name: options.pop(name) for name in READ if name in options})
    given = {**read.given, **options}
    suffix = Path(path).suffix.lower()
    if not Path(path).exists():
        raise FormatError(f"{path}: there is no such file; check the path")
    if (project := project_file(path)) is not None:
        _refuse_options(project, given, ())
        return load_project(project).problem()
    if Path(path).is_dir():
        if not any((Path(path) / name).exists() for name in THESIS):
            raise FormatError(
                f"{path}: a folder should hold a {PROJECT}, or {', '.join(THESIS)} of the thesis program: "
                "name a file, or another folder"
            )
        _refuse_options(path, given, ("lower",))
        return read_thesis(path, **options)
    if suffix == ".jj":
        _refuse_options(path, given, ("decimals", "counts"))
        return read_jj(path, decimals=read.decimals, counts=read.counts)
    if suffix in (".txt", ".dat"):
        _refuse_options(path, given, ("decimals", "counts"))
        return read_nchs(path, decimals=read.decimals, counts=read.counts)
    if has_columns(path):
        return read_table_file(path, read, **options)
    known = ", ".join([".jj", ".toml", ".txt", *column_endings()])
    raise FormatError(f"{path}: no case has the ending '{suffix}'; use one of {known}")


def _refuse_options(path: str | os.PathLike[str], options: Mapping[str, Any], known: Sequence[str]) -> None:
    strange = [name for name in options if name not in known]
    if strange:
        raise InputError(
            f"{path}: this kind of file has no option '{strange[0]}', only {', '.join(known) or 'none'}"
        )
