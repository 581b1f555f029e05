"""Write outputs of tau-ARGUS's kinds that hold true values: they are internal, whatever a release hides.

| kind | a line holds |
|---|---|
| pivot, code-value with status | codes, value, status |
| SBS | codes (with ``levels`` each followed by its level), value, frequency, flag; no empty cells |
| intermediate | codes; value; frequency; cost; largest contributions; status S, U, P, M or E; LPL; UPL |
| JJ | see :mod:`tacita.formats.jj`; status m for secondary cells |

Statuses and flags are explained in :mod:`tacita.formats.argus.cell_statuses`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import numpy as np

from tacita.core.errors import InputError
from tacita.core.exact import Cells
from tacita.core.release import Mark, Release
from tacita.core.tables.frames import find_part, list_rows
from tacita.formats.argus.cell_statuses import LETTERS, find_flags, find_statuses
from tacita.formats.argus.delimited import OutputOptions, write_lines
from tacita.formats.jj import write_jj
from tacita.formats.number_texts import format_numbers
from tacita.problem.problem import Problem

InternalKind = Literal["pivot", "code-value", "sbs", "intermediate", "jj"]


def write_internal_output(
    problem: Problem,
    release: Release,
    path: str | os.PathLike[str],
    kind: InternalKind,
    options: OutputOptions | None = None,
    part: int | str = 0,
) -> Path:
    """Write a problem and a suppression of it as tau-ARGUS does, with true values; return the path.

    Parameters
    ----------
    path
        Outside what is published.
    part
        Which of several linked tables. JJ files hold all of them.

    Raises
    ------
    InputError
        The release changes numbers, which has no status here; or the file would lie in what is published.
    """
    options = options or OutputOptions()
    if not np.isin(release.marks, (Mark.PUBLISHED, Mark.SUPPRESSED)).all():
        raise InputError(
            f"a file of the kind '{kind}' tells hidden cells from others; this release changes numbers",
            remedy="write a crosstab, a pivot or a code-value file without status",
        )
    if kind == "jj":
        return write_jj(problem, path, outsider_only=True, hidden=release.hidden)
    if kind == "sbs":
        return _write_sbs(problem, release, path, options, part)
    if kind == "intermediate":
        return _write_intermediate(problem, release, path, options, part)
    names, codes, cells = list_rows(problem.table.structure, part)
    status = find_statuses(problem, release.hidden)[cells]
    columns = [
        *(column.to_pylist() for column in codes),
        _list_values(problem, cells, options),
        list(map(str, status.tolist())),
    ]
    header = [*names, problem.table.value_name, "status"] if kind == "pivot" else None
    return write_lines(path, columns, options, codes=len(names), header=header)


def _write_sbs(
    problem: Problem, release: Release, path: str | os.PathLike[str], options: OutputOptions, part: int | str
) -> Path:
    names, codes, cells = list_rows(problem.table.structure, part)
    flags = find_flags(problem, release.hidden)[cells]
    full = np.flatnonzero(flags != "-")
    columns: list[list[str]] = []
    for k, column in enumerate(codes):
        texts = column.to_pylist()
        columns.append([texts[row] for row in full])
        if options.levels:
            depth = _find_depths(problem, part, k)
            columns.append([str(depth[texts[row]]) for row in full])
    cells = cells[full]
    columns += [
        _list_values(problem, cells, options),
        _list_frequencies(problem, cells),
        flags[full].tolist(),
    ]
    return write_lines(path, columns, options, codes=len(names) * (1 + options.levels))


def _write_intermediate(
    problem: Problem, release: Release, path: str | os.PathLike[str], options: OutputOptions, part: int | str
) -> Path:
    table, levels = problem.table, problem.levels
    names, codes, cells = list_rows(table.structure, part)
    status = find_statuses(problem, release.hidden)[cells]
    top = None if options.short or table.contributions is None else table.contributions.values[cells]
    numbers: list[list[str]] = [format_numbers(table.units[cells], table.decimals)]
    if table.count is not None:
        numbers.append(_list_frequencies(problem, cells))
    numbers.append([f"{cost:.15g}" for cost in problem.cost[cells].tolist()])
    numbers += [] if top is None else [format_numbers(column, table.decimals) for column in top.T]
    distances = [format_numbers(level[cells], table.decimals) for level in (levels.lower, levels.upper)]
    columns = [
        *(column.to_pylist() for column in codes),
        *([options.write_number(text) for text in column] for column in numbers),
        [LETTERS[each] for each in status.tolist()],
        *([options.write_number(text) for text in column] for column in distances),
    ]
    return write_lines(path, columns, options, codes=len(names), separator=";")


def _list_values(problem: Problem, cells: Cells, options: OutputOptions) -> list[str]:
    table = problem.table
    return [options.write_number(text) for text in format_numbers(table.units[cells], table.decimals)]


def _list_frequencies(problem: Problem, cells: Cells) -> list[str]:
    """Return the contributors per cell as text; a table of counts is its own frequency, of another 1 each."""
    table = problem.table
    if table.count is not None:
        return list(map(str, table.count[cells].tolist()))
    if table.integer:
        return list(map(str, (table.units[cells] // table.unit).tolist()))
    return ["1"] * cells.size


def _find_depths(problem: Problem, part: int | str, column: int) -> dict[str, int]:
    """Return the level of each code of a column of a problem's table, in the first tree that has it."""
    structure = problem.table.structure
    if structure.labels:
        return dict.fromkeys(structure.labels, 0)
    dimension = structure.dimensions[find_part(structure, part).dimensions[column]]
    depths: dict[str, int] = {}
    for tree in dimension.trees:
        for code, depth in zip(tree.codes, tree.depth.tolist(), strict=True):
            depths.setdefault(code, depth)
    return depths
