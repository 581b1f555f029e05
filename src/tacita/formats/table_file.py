"""Read tables from CSV, Parquet and Excel files; with a column ``status``, or a rule, problems."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
import pyarrow as pa

from tacita.attackers.insiders import AttackerLike
from tacita.core.errors import InputError, RecordsError, did_you_mean
from tacita.core.tables.coarsening import coarsen
from tacita.core.tables.columns import Columns, Spec, is_text, table_from_columns
from tacita.core.tables.number_texts import show_point
from tacita.core.tables.read_options import ReadOptions
from tacita.core.tables.table import Table
from tacita.core.tables.undeclared_sums import Found
from tacita.formats.argus.described_files import find_metadata
from tacita.formats.argus.missing_header import name_missing_header
from tacita.formats.columns import read_columns
from tacita.formats.crosstab import unpivot_crosstab
from tacita.formats.hierarchy import read_hierarchy
from tacita.formats.marks import Marks, build_costs, build_outsider, build_problem
from tacita.formats.recodings import read_recodings
from tacita.formats.roles import NUMERIC, Roles, find_roles
from tacita.formats.sdmx.header import find_version
from tacita.formats.sdmx.table import choose_rows, read_sdmx
from tacita.formats.workbook import name_other_sheets
from tacita.problem.problem import Problem
from tacita.rules import Given, Rule, parse_rule
from tacita.rules.protection import USUAL_PERCENT

AS_USUAL = ReadOptions()
NAMED = ("value", "count", "status", "structural", "holding_count", "shadow")
"""Roles of columns that options name."""
FEWEST_RECORDS = 20
"""Shorter lists are tables often enough."""


class FileSpecification(TypedDict, total=False):
    """What is specified of the cells of a file, besides a rule; see :func:`read_table_file`."""

    attackers: AttackerLike | Sequence[AttackerLike] | None
    cost: str | None
    upper: float | None
    protection: float


def read_table_file(
    path: str | os.PathLike[str],
    read: ReadOptions = AS_USUAL,
    *,
    rule: Rule | str | None = None,
    lower: float | None = None,
    **specified: Unpack[FileSpecification],
) -> Problem | Table:
    """Return the table of a CSV, Parquet or Excel file, or the problem if it has a status or there is a rule.

    It has one row per cell, or is a crosstab (see :mod:`tacita.formats.crosstab`). Columns are recognised by
    name (``value``, ``freq``, ``status``, ``cost``, ``lb``, ``ub``, ``lpl``, ``upl``, ``spl``, ``max1`` ..;
    see :mod:`tacita.formats.roles`); the others hold codes. A file without a header that metadata of τ-ARGUS
    describe is read by these, see :func:`~tacita.formats.argus.table_data.read_table_data`.

    Parameters
    ----------
    rule, attackers, cost
        What makes the table a problem. A rule adds to the cells that the status marks. The attacker is
        the outsider with the bounds of the file, the cost the column ``cost``, or else the value.
    lower, upper
        What everyone knows of all cells, instead of the bounds of the file.
    protection
        Levels of cells with status ``u``, in percent of the value, where the file has no levels.
    """
    metadata, notes = find_metadata(path, read.metadata)
    if metadata is not None:
        from tacita.formats.argus.table_data import read_table_data

        described = replace(metadata, notes=(*notes, *metadata.notes))
        return read_table_data(path, described, read, rule=rule, lower=lower, **specified)
    named = read.by is not None or read.value is not None or read.count is not None
    with name_other_sheets(path, read.sheet), name_missing_header(path, named=named):
        source = read_columns(
            path,
            decimal=read.decimal,
            delimiter=read.delimiter,
            encoding=read.encoding,
            sheet=read.sheet,
        )
        source = replace(source, notes=(*notes, *source.notes))
        return build_case(path, source, read, rule, lower, specified)


def build_case(
    path: str | os.PathLike[str],
    source: Columns,
    read: ReadOptions,
    rule: Rule | str | None,
    lower: float | None,
    specified: FileSpecification,
) -> Problem | Table:
    """Return the table in a file's columns, or the problem they state; see :func:`read_table_file`."""
    if find_version(source.names) is not None:
        source, read = read_sdmx(path, source, read)
    else:
        source = _choose_rows(path, source, read)
    if isinstance(read.largest, int):
        raise InputError(f"largest {read.largest}: of a file of cells, name the columns", place=path)
    given = {role: getattr(read, role) for role in NAMED}
    source = _find_decimal_sign(source, {*(read.dimensions or ()), *read.hierarchies})
    source = unpivot_crosstab(source, path, read.dimensions, given)
    roles = find_roles(source, path, read.dimensions, given, read.largest)
    if read.by is None and not (read.hierarchies or read.total):
        _refuse_records(source, path, roles)
    carried = [roles.named[role] for role in ("status", *NUMERIC) if role in roles.named]
    source = _convert_numbers(source, [c for c in (*carried, *read.columns) if c != roles.get("status")])
    named: dict[str, Any] = {role: roles.get(role) for role in NAMED}
    found = replace(
        read,
        **named,
        by=_build_dimensions(path, read, source, roles.dimensions),
        largest=roles.largest,
        columns=tuple(dict.fromkeys([*carried, *read.columns])),
        name=read.name or Path(path).stem,
    )
    try:
        table = coarsen(table_from_columns(source, found), read.levels, read_recodings(read.recode))
        return build_table_problem(table, roles, rule, lower, specified)
    except InputError as error:
        raise error.with_place(path) from None


def _find_decimal_sign(source: Columns, codes: Collection[str]) -> Columns:
    """Return the columns of a file with the decimal point that a number shows in one, besides columns of
    ``codes``; unchanged where none does, or the sign is named.
    """
    numbers = (source.column(name) for name in source.names if name not in codes)
    if source.decimal is None and any(is_text(column.type) and show_point(column) for column in numbers):
        return replace(source, decimal=".")
    return source


def _choose_rows(path: object, source: Columns, read: ReadOptions) -> Columns:
    """Return the rows of a file that are to be read, without the columns by which they are chosen."""
    if read.structure is not None:
        raise InputError(
            "a structure file is for SDMX-CSV, whose first column is DATAFLOW or STRUCTURE",
            place=path,
            remedy="give hierarchies instead",
            options=["structure"],
        )
    if not read.only:
        return source
    chosen = choose_rows(source, read.only, path)
    return replace(chosen, data=chosen.data.drop_columns(list(read.only)))


def build_table_problem(
    table: Table,
    roles: Roles,
    rule: Rule | str | None,
    lower: float | None,
    specified: FileSpecification,
) -> Problem | Table:
    """Return the problem of a file's table whose further columns have these roles; see `read_table_file`.

    Without a rule and a status it is the table alone.
    """
    attackers, cost, upper = specified.get("attackers"), specified.get("cost"), specified.get("upper")
    protection = specified.get("protection", USUAL_PERCENT)

    def column(role: str) -> Any:
        return table.columns[roles.named[role]] if role in roles.named else None

    status = column("status")
    if rule is None and status is None:
        return table
    letters = np.full(len(table), "") if status is None else status
    numbers = {role: column(role) for role in NUMERIC}
    if wrong := [role for role, each in numbers.items() if each is not None and each.dtype.kind not in "iuf"]:
        raise InputError(
            f"column '{roles.named[wrong[0]]}' holds no numbers", remedy="convert it or leave it out"
        )
    marks = Marks(np.asarray(letters, dtype=np.str_), *numbers.values())
    if rule is None:
        problem = build_problem(table, marks, protection, lower=lower, upper=upper)
        if attackers is None and cost is None:
            return problem
        return Problem(
            problem.table,
            problem.levels,
            attackers=problem.outsider if attackers is None else attackers,
            cost=problem.cost if cost is None else cost,
            must_publish=np.flatnonzero(problem.must_publish).tolist(),
            must_hide=np.flatnonzero(problem.must_hide).tolist(),
        )
    wanted = parse_rule(rule) if isinstance(rule, str) else rule
    must_publish: list[int] = []
    must_hide: list[int] = []
    if status is not None:
        # What the file marks stays sensitive; a rule can only add to it.
        marked = build_problem(table, marks, protection, lower=lower, upper=upper)
        table, wanted = marked.table, wanted | Given(marked.levels)
        must_publish = np.flatnonzero(marked.must_publish & ~wanted.levels(table).sensitive).tolist()
        must_hide = np.flatnonzero(marked.must_hide).tolist()
    return Problem(
        table,
        wanted,
        attackers=build_outsider(table, marks, lower, upper) if attackers is None else attackers,
        cost=build_costs(table, marks) if cost is None else cost,
        must_publish=must_publish,
        must_hide=must_hide,
    )


def _build_dimensions(
    path: object, read: ReadOptions, source: Columns, names: Sequence[str]
) -> dict[str, Spec]:
    """Return each dimension of a file with its classifications, its total's code, or None: to be found."""
    specs: dict[str, Spec] = dict(read.by) if isinstance(read.by, Mapping) else dict.fromkeys(names)
    totals = read.total if isinstance(read.total, Mapping) else {}
    for name in (*read.hierarchies, *totals, *read.found):
        if name not in specs:
            files = ", ".join(t.name for t in read.hierarchies.get(name, ()) if isinstance(t, Path))
            raise InputError(
                f"'{name}'{did_you_mean(name, specs)} is none of the dimensions "
                f"{', '.join(specs)}{f', so {files} classifies nothing' if files else ''}",
                place=path,
                remedy="correct the name",
            )
    if isinstance(read.total, str):
        totals = {name: read.total for name in names if read.total in source.codes(name)[1]}
    specs |= {name: total for name, total in totals.items() if specs[name] is None}
    for name, trees in read.hierarchies.items():
        specs[name] = [read_hierarchy(t, totals.get(name)) if isinstance(t, Path) else t for t in trees]
    return specs | {name: Found(_total(specs[name])) for name in read.found}


def _total(spec: Spec) -> str | None:
    return spec if isinstance(spec, str) else None


def _refuse_records(source: Columns, path: str | os.PathLike[str], roles: Roles) -> None:
    """Refuse a file of microdata instead of cells: in one of its columns every code occurs once."""
    rows = source.data.num_rows
    if len(roles.dimensions) < 2 or rows < FEWEST_RECORDS:
        return
    for name in roles.dimensions:
        if len(source.column(name).unique()) == rows:
            raise RecordsError(
                f"every row has a '{name}' of its own, as in records about single respondents",
                name,
                place=path,
                remedy="name the file as microdata in a project.toml (tutorial, step 8), with "
                f"'{name}' as the respondent column; or name the columns of codes",
                options=[f"by={dimension}" for dimension in roles.dimensions],
            )


def _convert_numbers(source: Columns, names: Sequence[str]) -> Columns:
    """Return the columns of a file with numbers instead of text in those named."""
    data = source.data
    for name in names:
        if is_text(source.column(name).type):
            numbers, missing = source.numbers(name)
            data = data.set_column(data.column_names.index(name), name, pa.array(numbers, mask=missing))
    return replace(source, data=data)
