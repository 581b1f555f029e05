"""Read a case from a path: a project, or a file of cells in any format."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Unpack, overload

from tacita.core.errors import InputError
from tacita.core.tables.read_options import Order, ReadOptions, Totals, UndeclaredSums
from tacita.core.tables.table import Table
from tacita.formats.case_file import read_case_file
from tacita.formats.petrenko import LowerLevels
from tacita.formats.table_file import AS_USUAL, FileSpecification
from tacita.problem.problem import Problem
from tacita.rules import Rule
from tacita.specification.specification import Specification, find_project


class CaseKeywords(FileSpecification, total=False):
    """Keywords of :func:`read_case`: the fields of :class:`ReadOptions`, and what is specified of cells."""

    by: Any
    hierarchies: Mapping[str, Any]
    total: Mapping[str, str] | str | None
    levels: Mapping[str, int]
    recode: Mapping[str, Any]
    found: Sequence[str]
    value: str | None
    count: str | None
    holding_count: str | None
    status: str | None
    structural: str | None
    largest: int | Sequence[str] | None
    shadow: str | None
    columns: Sequence[str]
    totals: Totals
    only: Mapping[str, str]
    structure: Any
    decimals: int | None
    counts: bool | None
    repair: bool
    undeclared_sums: UndeclaredSums
    order: Order
    name: str | None
    decimal: str | None
    delimiter: str | None
    encoding: str | None
    sheet: str | None
    metadata: str | None
    apriori: str | None
    lower: float | LowerLevels | None


@overload
def read_case(
    path: str | os.PathLike[str],
    read: ReadOptions = ...,
    *,
    rule: Rule | str,
    **options: Unpack[CaseKeywords],
) -> Problem: ...


@overload
def read_case(
    path: str | os.PathLike[str],
    read: ReadOptions = ...,
    *,
    rule: None = None,
    **options: Unpack[CaseKeywords],
) -> Problem | Table: ...


def read_case(
    path: str | os.PathLike[str],
    read: ReadOptions = AS_USUAL,
    *,
    rule: Rule | str | None = None,
    **options: Unpack[CaseKeywords],
) -> Problem | Table:
    """Return the problem of a project or file of cells, or its table where nothing says what is sensitive.

    A project takes no options: it specifies all of this itself.

    Parameters
    ----------
    read
        How to read a table. A JJ file and NCHS text take ``decimals`` and ``counts`` only, the folder of the
        thesis program none of them.
    rule
        What makes cells of a CSV, Parquet or Excel file sensitive, besides those that it marks.
    options
        Fields of ``read`` one by one. Of such a file also ``attackers``, ``cost``, ``lower``, ``upper`` and
        ``protection``; see :func:`~tacita.formats.table_file.read_table_file`. Of the folder of the thesis
        program ``lower``; see :func:`~tacita.formats.petrenko.read_thesis`.

    Raises
    ------
    InputError
        The file cannot be read, or its kind does not have an option.
    """
    given: dict[str, Any] = {**options}
    read = replace(read, **{each.name: given.pop(each.name) for each in fields(read) if each.name in given})
    given |= {} if rule is None else {"rule": rule}
    if (project := find_project(path)) is None:
        return read_case_file(path, read, **given)
    if strange := [*read.given, *given]:
        raise InputError(
            f"a project has no option '{strange[0]}'", place=project, remedy="write it into the project"
        )
    return Specification.load(project).problem()
