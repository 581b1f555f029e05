"""Read and write insiders: what each knows of which cells, and the levels that hold against them there.

One row per attacker and cell: ``attacker``, the codes (or ``cell``), ``lb`` and ``ub`` (what they know;
empty: nothing), ``lpl``, ``upl`` and ``spl`` (levels against them alone; empty: none), ``also_others``
(whether they attack the other sensitive cells too, with everyone's levels). The file names true values: it is
internal.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacita.core import exact
from tacita.core.attacker import Insider, to_unit_bounds
from tacita.core.errors import FormatError, InputError, and_others
from tacita.core.exact import UNBOUNDED, Cells, Units
from tacita.core.tables.frames import numbers_to_arrow
from tacita.core.tables.structure import Structure
from tacita.formats.cell_rows import find_cells, list_code_columns
from tacita.storage.atomic import replace_file

if TYPE_CHECKING:
    from tacita.core.tables.columns import Columns
    from tacita.core.tables.table import Table
    from tacita.problem.problem import Problem

BOUNDS, LEVELS = ("lb", "ub"), ("lpl", "upl", "spl")
OWN_COLUMNS = ("attacker", *BOUNDS, *LEVELS, "also_others")


def write_insiders(problem: Problem, path: Path) -> Path:
    """Write every insider of a problem to a Parquet file, and return its path.

    Raises
    ------
    InputError
        Two attackers have the same name, or a dimension that of a column.
    """
    import pyarrow as pa
    import pyarrow.parquet

    structure, insiders = problem.table.structure, problem.insiders
    names = list_code_columns(structure)
    if taken := [name for name in names if name in OWN_COLUMNS]:
        raise InputError(
            f"a dimension is called '{taken[0]}', as is a column of attackers", place=path, remedy="rename it"
        )
    if len({insider.name for insider in insiders}) < len(insiders):
        raise InputError(
            "two attackers have the same name", place=path, remedy="give each a name of their own"
        )
    rows = [_list_rows(insider) for insider in insiders]
    cells = np.concatenate([cells for cells, _ in rows])
    decimals = problem.table.decimals
    lengths = [own.size for own, _ in rows]
    columns: dict[str, Any] = {"attacker": np.repeat([i.name for i in insiders], lengths)}
    columns |= dict(zip(names, _list_codes(structure, cells), strict=True))
    figures = np.concatenate([numbers for _, numbers in rows], axis=1)
    for name, units in zip((*BOUNDS, *LEVELS), figures, strict=True):
        columns[name] = numbers_to_arrow(units, decimals)
    columns["also_others"] = np.repeat([i.targets is None or i.also_others for i in insiders], lengths)
    with replace_file(path) as temporary:
        pyarrow.parquet.write_table(pa.table(columns), temporary)
    return path


def read_insiders(path: str | os.PathLike[str], table: Table) -> list[Insider]:
    """Return the insiders of a file (Parquet, CSV or Excel), in the order in which they first occur."""
    from tacita.formats.columns import read_columns

    source = read_columns(path, footnotes=False)
    if source.data.num_rows == 0:
        return []
    cells = _find_cells(source, table.structure)
    who, names = source.codes("attacker")
    low, high = (
        _read_numbers(source, name, end) for name, end in zip(BOUNDS, (-np.inf, np.inf), strict=True)
    )
    lower, upper = to_unit_bounds(low, high, table.decimals)
    given = [_read_numbers(source, name, np.nan) for name in LEVELS]
    others = _read_flags(source)
    targeted = ~np.all([np.isnan(level) for level in given], axis=0)
    levels = [exact.ceil_units(np.nan_to_num(level, nan=0.0), table.decimals) for level in given]
    insiders = []
    known = (lower > -UNBOUNDED) | (upper < UNBOUNDED)
    each = np.split(np.argsort(who, kind="stable"), np.cumsum(np.bincount(who))[:-1])
    for name, own in zip(names, each, strict=True):
        knows, aims = own[known[own]], own[targeted[own]]
        also = bool(others[own].any())
        insider = Insider(name, cells[knows], lower[knows], upper[knows])
        if aims.size or not also:
            lpl, upl, spl = (level[aims] for level in levels)
            insider = replace(
                insider,
                targets=cells[aims],
                target_lower=lpl,
                target_upper=upl,
                target_sliding=spl,
                also_others=also,
            )
        insiders.append(insider)
    return insiders


def _list_rows(insider: Insider) -> tuple[Cells, Units]:
    """Return one insider's rows for a file: cells they know or attack, and bounds and levels of each."""
    targets, levels = insider.own_targets()
    cells = np.union1d(insider.cells, targets)
    numbers = np.full((len(BOUNDS) + len(LEVELS), cells.size), UNBOUNDED, dtype=np.int64)
    at = np.searchsorted(cells, insider.cells)
    numbers[0, at], numbers[1, at] = insider.lower, insider.upper
    numbers[2:, np.searchsorted(cells, targets)] = levels
    return cells, numbers


def _list_codes(structure: Structure, cells: Cells) -> list[Any]:
    if structure.labels:
        return [np.array(structure.labels)[cells]]
    return [np.array(d.codes)[structure.codes[cells, k]] for k, d in enumerate(structure.dimensions)]


def _find_cells(source: Columns, structure: Structure) -> Cells:
    cells = find_cells(source, structure)
    if (wrong := np.flatnonzero(cells < 0)).size:
        row = int(wrong[0])
        coded = [source.codes(name) for name in list_code_columns(structure)]
        try:
            structure.find(*(distinct[rows[row]] for rows, distinct in coded))
        except InputError as error:
            raise FormatError(f"{error}{and_others(wrong.size, 'row')}", place=source.place(row)) from None
    return cells


def _read_numbers(source: Columns, name: str, nothing: float) -> Any:
    """Return a column of the file of insiders as floats, with ``nothing`` where it is empty or missing."""
    if name not in source.names:
        return np.full(source.data.num_rows, nothing)
    numbers, missing = source.numbers(name)
    return np.where(missing, nothing, numbers)


def _read_flags(source: Columns) -> Any:
    """Return per row of the insiders' file if other cells are attacked too; True without the column."""
    if "also_others" not in source.names:
        return np.ones(source.data.num_rows, dtype=bool)
    words: Sequence[object] = source.column("also_others").to_pylist()
    return np.array([str(word).strip().lower() in ("true", "1", "yes") for word in words])
