"""Tables in CSV, Parquet and Excel files, one row per cell; with a column ``status``, or a rule, problems."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tacita.attackers.insiders import AttackerLike
from tacita.core.errors import InputError, RecordsError, did_you_mean, reword
from tacita.core.tables.columns import Columns, Spec, Totals, is_text, table_from_columns
from tacita.core.tables.table import Table
from tacita.core.tables.undeclared import Found, UndeclaredSums
from tacita.formats.columns import read_columns
from tacita.formats.crosstab import one_row_per_cell
from tacita.formats.marks import Marks, costs_from_marks, outsider_from_marks, problem_from_marks
from tacita.formats.roles import NUMERIC, Roles, find_roles
from tacita.formats.workbook import other_sheets_told
from tacita.problem.problem import Problem
from tacita.rules import Given, Rule, parse_rule
from tacita.rules.percentages import USUAL_PERCENT

FEWEST_RECORDS = 20
"""Shorter lists are tables often enough."""


def read_table_file(
    path: str | os.PathLike[str],
    *,
    by: Mapping[str, Spec] | Sequence[str] | None = None,
    value: str | None = None,
    count: str | None = None,
    status: str | None = None,
    largest: Sequence[str] | None = None,
    rule: Rule | str | None = None,
    attackers: AttackerLike | Sequence[AttackerLike] | None = None,
    cost: str | None = None,
    lower: float | None = None,
    upper: float | None = None,
    protection: float = USUAL_PERCENT,
    totals: Totals = "auto",
    decimals: int | None = None,
    counts: bool | None = None,
    repair: bool = False,
    undeclared_sums: UndeclaredSums = "refuse",
    found: Sequence[str] = (),
    columns: Sequence[str] = (),
    name: str | None = None,
    decimal: str = ".",
    delimiter: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
) -> Problem | Table:
    """A table file with one row per cell, or a crosstab (see :mod:`tacita.formats.crosstab`).

    Columns are recognised by name (``value``, ``freq``, ``status``, ``cost``, ``lb``, ``ub``, ``lpl``,
    ``upl``, ``spl``, ``max1`` ..; see :mod:`tacita.formats.roles`); the others hold codes.

    Parameters
    ----------
    by, value, count, largest, totals, decimals, counts, repair, undeclared_sums, columns, name
        As for :meth:`Table.from_frame`; sums among the codes that no classification declares are refused by
        default.
    found
        Dimensions whose classification is the one that sums among their codes make.
    status
        The column of status letters; see :mod:`tacita.formats.marks`.
    rule, attackers, cost
        What makes the table a problem. A rule adds to the cells that the status marks. The attacker is
        the outsider with the bounds of the file, the cost the column ``cost``, or else the value.
    lower, upper
        What everyone knows of all cells, instead of the bounds of the file.
    protection
        Levels of cells with status ``u``, in percent of the value, where the file has no levels.
    decimal, delimiter, encoding, sheet
        How to read the file. A workbook's sheet is the first that holds anything, if none is named.
    """
    with other_sheets_told(path, sheet):
        source = read_columns(path, decimal=decimal, delimiter=delimiter, encoding=encoding, sheet=sheet)
        given = {"value": value, "count": count, "status": status}
        source = one_row_per_cell(source, path, None if by is None else list(by), given)
        roles = find_roles(source, path, None if by is None else list(by), given, largest)
        if by is None:
            _refuse_records(source, path, roles)
        carried = [roles.named[role] for role in ("status", *NUMERIC) if role in roles.named]
        source = _with_numbers(source, [c for c in (*carried, *columns) if c != roles.get("status")])
        specs = dict(by) if isinstance(by, Mapping) else dict.fromkeys(roles.dimensions)
        specs |= _to_be_found(path, specs, found)
        try:
            table = table_from_columns(
                source,
                specs,
                value=roles.get("value"),
                count=roles.get("count"),
                totals=totals,
                decimals=decimals,
                counts=counts,
                repair=repair,
                structural=roles.get("structural"),
                largest=roles.largest,
                holding_count=roles.get("holding_count"),
                columns=tuple(dict.fromkeys([*carried, *columns])),
                name=name or Path(path).stem,
                undeclared_sums=undeclared_sums,
            )
            return _problem(table, roles, rule, attackers, cost, protection, (lower, upper))
        except InputError as error:
            if str(error).startswith(str(path)):
                raise
            raise reword(error, f"{path}: {error}") from None


def _problem(
    table: Table,
    roles: Roles,
    rule: Rule | str | None,
    attackers: AttackerLike | Sequence[AttackerLike] | None,
    cost: str | None,
    protection: float,
    bounds: tuple[float | None, float | None],
) -> Problem | Table:
    def column(role: str) -> Any:
        return table.columns[roles.named[role]] if role in roles.named else None

    status = column("status")
    if rule is None and status is None:
        return table
    letters = np.full(len(table), "") if status is None else status
    numbers = {role: column(role) for role in NUMERIC}
    if wrong := [role for role, said in numbers.items() if said is not None and said.dtype.kind not in "iuf"]:
        raise InputError(f"column '{roles.named[wrong[0]]}' holds no numbers: convert it or leave it out")
    marks = Marks(np.asarray(letters, dtype=np.str_), *numbers.values())
    if rule is None:
        problem = problem_from_marks(table, marks, protection, lower=bounds[0], upper=bounds[1])
        if attackers is None and cost is None:
            return problem
        return Problem(
            problem.table,
            problem.levels,
            attackers=problem.outsider if attackers is None else attackers,
            cost=problem.cost if cost is None else cost,
            must_publish=np.flatnonzero(problem.must_publish).tolist(),
        )
    wanted = parse_rule(rule) if isinstance(rule, str) else rule
    must_publish: list[int] = []
    if status is not None:
        # What the file marks stays sensitive; a rule can only add to it.
        marked = problem_from_marks(table, marks, protection, lower=bounds[0], upper=bounds[1])
        table, wanted = marked.table, wanted | Given(marked.levels)
        must_publish = np.flatnonzero(marked.must_publish & ~wanted.levels(table).sensitive).tolist()
    return Problem(
        table,
        wanted,
        attackers=outsider_from_marks(table, marks, *bounds) if attackers is None else attackers,
        cost=costs_from_marks(table, marks) if cost is None else cost,
        must_publish=must_publish,
    )


def _to_be_found(path: object, specs: Mapping[str, Spec], found: Sequence[str]) -> dict[str, Spec]:
    """The dimensions whose classification is to be found, each with the code of its total if it is named."""
    if strange := [name for name in found if name not in specs]:
        raise InputError(
            f"{path}: '{strange[0]}'{did_you_mean(strange[0], specs)} is none of the dimensions "
            f"{', '.join(specs)}: correct the name"
        )
    return {name: Found(total if isinstance(total := specs[name], str) else None) for name in found}


def _refuse_records(source: Columns, path: str | os.PathLike[str], roles: Roles) -> None:
    """A column of codes in which no code comes twice, beside others, names people, not classes."""
    rows = source.data.num_rows
    if len(roles.dimensions) < 2 or rows < FEWEST_RECORDS:
        return
    for name in roles.dimensions:
        if len(source.column(name).unique()) == rows:
            raise RecordsError(
                f"{path}: every row has a '{name}' of its own, as in records about single respondents: "
                f"tabulate them first, with '{name}' as the respondent column, or name the columns of codes"
            )


def _with_numbers(source: Columns, names: Sequence[str]) -> Columns:
    """The same columns where those named hold numbers instead of text, if they can."""
    data = source.data
    for name in names:
        if is_text(source.column(name).type):
            numbers, missing = source.numbers(name)
            data = data.set_column(data.column_names.index(name), name, pa.array(numbers, mask=missing))
    return replace(source, data=data)
