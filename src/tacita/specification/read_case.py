"""A case from a path: a project, or a file of cells in any format."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from typing import Any

from tacita.core.errors import InputError
from tacita.core.tables.read_options import ReadOptions
from tacita.core.tables.table import Table
from tacita.formats.case_file import read_case_file
from tacita.formats.table_file import AS_USUAL
from tacita.problem.problem import Problem
from tacita.specification.specification import Specification, project_file

READ = tuple(field.name for field in fields(ReadOptions))


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
    if (project := project_file(path)) is None:
        return read_case_file(path, read, **options)
    if strange := [*read.given, *options]:
        raise InputError(f"{project}: a project has no option '{strange[0]}': write it into the project")
    return Specification.load(project).problem()
