"""The three text files of Petrenko's thesis program: a 2-D table and its sensitive cells.

``A.txt`` holds the inner cells, one line per row, separated by commas. ``PSC.txt`` holds the positions of
the sensitive cells, counted from 1 row by row, and ``VSC.txt`` the upper protection level of each.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import numpy as np

from tacita.core import exact
from tacita.core.errors import FormatError, InputError, MissingFileError
from tacita.core.exact import Cells, Floats
from tacita.core.levels import Levels, Reason
from tacita.core.tables.table import Table
from tacita.core.words import pluralize
from tacita.formats.nchs import build_cell_grid, list_inner_lines
from tacita.formats.textfile import read_text
from tacita.problem.problem import Problem
from tacita.storage.atomic import write_text

FILES = ("A.txt", "PSC.txt", "VSC.txt")
LowerLevels = Literal["symmetric", "none"]


def read_thesis(folder: str | os.PathLike[str], *, lower: LowerLevels = "symmetric") -> Problem:
    """Return the problem that the three text files of the thesis program state; attackers know that cells are
    not negative.

    Parameters
    ----------
    lower
        ``"symmetric"``: the lower level is the upper one, at most the value. ``"none"``: no lower level, as
        in the thesis's examples, where only the upper safe value is asked for.
    """
    grid_file, position_file, level_file = (Path(folder) / name for name in FILES)
    rows = _read_numbers(grid_file)
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        odd = next(k for k, row in enumerate(rows) if len(row) != len(rows[0]))
        raise FormatError(
            f"{pluralize(len(rows[odd]), 'number')}, line 1 has {len(rows[0])}",
            place=f"{grid_file}, line {odd + 1}",
            remedy="correct it",
        )
    grid = np.array(rows)
    positions = np.array([p for row in _read_numbers(position_file) for p in row])
    levels = np.array([v for row in _read_numbers(level_file) for v in row])
    if positions.size != levels.size:
        raise FormatError(
            f"{pluralize(levels.size, 'level')} for {pluralize(positions.size, 'position')} in "
            f"{position_file.name}",
            place=level_file,
        )
    _refuse_positions(position_file, positions, grid.size)
    table = Table.from_array(grid)
    table = table.with_decimals(max(table.decimals, exact.find_decimals(levels)))
    inner = build_cell_grid(table.structure)[:-1, :-1].ravel()
    if inner.size != grid.size:
        raise FormatError("a table should have two rows and two columns at least", place=grid_file)
    cells: Cells = inner[positions.astype(np.int64) - 1]
    sensitive = np.zeros(len(table), dtype=bool)
    sensitive[cells] = True
    upper = np.zeros(len(table), dtype=np.int64)
    upper[cells] = exact.to_units(levels, table.decimals)
    below = np.minimum(upper, table.units) if lower == "symmetric" else np.zeros_like(upper)
    reason = Reason("listed in PSC.txt", np.sort(cells), lambda cell: "chosen by hand")
    return Problem(table, Levels.of(sensitive, lower=below, upper=upper, reasons=(reason,), least=table.unit))


def write_thesis(problem: Problem, folder: str | os.PathLike[str]) -> Path:
    """Write a problem as A.txt, PSC.txt and VSC.txt of the thesis program: true values, hence internal."""
    table = problem.table
    inner = build_cell_grid(table.structure)[:-1, :-1]
    outside = np.setdiff1d(problem.sensitive, inner.ravel())
    if outside.size:
        raise InputError(f"these files cannot mark totals as sensitive: {table.structure.names(outside)}")
    position = {cell: k + 1 for k, cell in enumerate(inner.ravel().tolist())}
    cells = sorted(problem.sensitive.tolist(), key=position.__getitem__)
    levels = exact.to_texts(problem.levels.upper[cells], table.decimals)
    positions = [str(position[cell]) for cell in cells]
    contents = ("\n".join(list_inner_lines(table, ",")), ",".join(positions), ",".join(levels))
    for name, content in zip(FILES, contents, strict=True):
        write_text(Path(folder) / name, f"{content}\n")
    return Path(folder)


def _read_numbers(path: Path) -> list[list[float]]:
    if not path.exists():
        raise MissingFileError(
            f"there is no such file; the folder should hold {', '.join(FILES)}", place=path
        )
    rows = []
    for number, line in enumerate(read_text(path)[0].splitlines(), start=1):
        if not line.strip():
            continue
        try:
            rows.append([float(token) for token in line.replace(",", " ").split()])
        except ValueError:
            raise FormatError(
                "something is not a number",
                place=f"{path}, line {number}",
                remedy="separate numbers by commas",
            ) from None
        if not np.isfinite(rows[-1]).all():
            raise FormatError(
                "a number is missing or infinite", place=f"{path}, line {number}", remedy="give one"
            )
    if not rows:
        raise FormatError(
            "the file is empty", place=path, remedy="it should hold numbers separated by commas"
        )
    return rows


def _refuse_positions(path: Path, positions: Floats, n: int) -> None:
    wrong = (positions < 1) | (positions > n) | (positions != np.rint(positions))
    if wrong.any():
        raise FormatError(
            f"position {positions[wrong][0]:g}: positions are integers from 1 to {n}", place=path
        )
    if np.unique(positions).size != positions.size:
        raise FormatError("a position is listed twice", place=path, remedy="list each sensitive cell once")
