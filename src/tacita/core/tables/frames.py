"""Data frames of any kind to Arrow; tables and releases to frames: pandas, polars, Arrow, DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacita.core import exact
from tacita.core.errors import InputError
from tacita.core.exact import UNBOUNDED, Cells, Mask, Units
from tacita.core.release import Mark, Release
from tacita.core.tables.structure import Part, Structure
from tacita.core.tables.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

    from tacita.core.levels import Levels

STATUS = ("s", "u")


def release_to_frame(release: Release, like: Any = None, part: int = 0) -> Any:
    """A release as a long frame: one column per dimension, then ``mark``, ``low``, ``high``, ``value``.

    Parameters
    ----------
    like
        A frame of the wanted kind, or its name: ``"pandas"``, ``"polars"``, ``"pyarrow"``, ``"duckdb"``.
        Default: Arrow.
    part
        Which of several linked tables; rows stand in the order of the table that was given.
    """
    return from_arrow(release_to_arrow(release, part), like)


def table_to_frame(table: Table, like: Any = None, part: int = 0, levels: Levels | None = None) -> Any:
    """A table as a long frame: dimensions, value, counts, further columns; ``levels`` adds status and levels.

    It holds the true values: for the house only.
    """
    import pyarrow as pa

    names, codes, cells = listing(table.structure, part)
    columns: dict[str, Any] = dict(zip(names, codes, strict=True))
    columns[table.value_name] = numbers_to_arrow(table.units[cells], table.decimals)
    for key, count in (("count", table.count), ("holding_count", table.holding_count)):
        if count is not None and key not in columns:
            columns[key] = pa.array(count[cells])
    for key, column in table.columns.items():
        columns.setdefault(key, pa.array(column[cells]))
    if levels is not None:
        columns["status"] = pa.array(np.array(STATUS)[levels.sensitive[cells].astype(np.int64)])
        for key, level in (("lpl", levels.lower), ("upl", levels.upper), ("spl", levels.sliding)):
            columns[key] = numbers_to_arrow(level[cells], table.decimals)
    return from_arrow(pa.table(columns), like)


def release_to_arrow(release: Release, part: int = 0) -> pa.Table:
    """A release as an Arrow table; see :func:`release_to_frame`."""
    import pyarrow as pa

    names, codes, cells = listing(release.structure, part)
    columns: dict[str, Any] = dict(zip(names, codes, strict=True))
    words = np.array([mark.word for mark in Mark], dtype=object)
    columns["mark"] = pa.array(words[release.marks[cells]])
    columns["low"] = numbers_to_arrow(release.low[cells], release.decimals)
    columns["high"] = numbers_to_arrow(release.high[cells], release.decimals)
    columns["value"] = numbers_to_arrow(release.value[cells], release.decimals, ~release.shown[cells])
    return pa.table(columns)


def listing(structure: Structure, part: int = 0) -> tuple[list[str], list[pa.Array], Cells]:
    """How a table is listed: names of the code columns, codes of each row, and the cell each row shows."""
    import pyarrow as pa

    if structure.labels:
        return ["cell"], [pa.array(structure.labels)], np.arange(len(structure))
    shown = part_of(structure, part)
    codes = [
        pa.DictionaryArray.from_arrays(
            pa.array(shown.codes[:, k]), pa.array(structure.dimensions[d].codes)
        ).cast(pa.string())
        for k, d in enumerate(shown.dimensions)
    ]
    return [structure.dimensions[d].name for d in shown.dimensions], codes, shown.cells


def part_of(structure: Structure, part: int) -> Part:
    """One of the tables that a structure shows; all cells in order if it lists none."""
    if not structure.parts:
        everything = tuple(range(len(structure.dimensions)))
        return Part("table", everything, structure.codes, np.arange(len(structure)))
    if not 0 <= part < len(structure.parts):
        raise InputError(f"part {part} of {len(structure.parts)}: choose 0 to {len(structure.parts) - 1}")
    return structure.parts[part]


def numbers_to_arrow(units: Units, decimals: int, blank: Mask | None = None) -> pa.Array:
    """Units as whole numbers or floats; null where nothing is said."""
    import pyarrow as pa

    silent = np.abs(units) >= UNBOUNDED
    if blank is not None:
        silent |= blank
    kept = np.where(silent, 0, units)
    return pa.array(kept if decimals == 0 else exact.to_floats(kept, decimals), mask=silent)


def to_arrow(frame: Any, wanted: Sequence[str] | None = None) -> pa.Table:
    """Any kind of frame as an Arrow table, only the wanted columns where they exist."""
    import narwhals as nw
    import pyarrow as pa

    try:
        given = nw.from_native(frame)
    except TypeError:
        raise InputError(
            f"a {type(frame).__name__} is no data frame: give one of pandas, polars, Arrow or DuckDB"
        ) from None
    names = given.collect_schema().names()
    if wanted is not None and (absent := [name for name in wanted if name not in names]):
        raise InputError(
            f"there is no column '{absent[0]}'; there are {', '.join(map(repr, names))}. "
            "Codes in the index of a pandas frame become columns with reset_index()."
        )
    chosen = given.select(list(dict.fromkeys(wanted))) if wanted is not None else given
    eager = chosen.collect("pyarrow") if isinstance(chosen, nw.LazyFrame) else chosen
    columns = {}
    for name in eager.columns:
        try:
            columns[name] = eager.get_column(name).to_arrow()
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # a pandas column of mixed kinds
            kept = eager.get_column(name).to_list()
            columns[name] = pa.array([None if v is None or v != v else str(v) for v in kept], pa.string())
    return pa.table(columns)


def from_arrow(table: pa.Table, like: Any = None) -> Any:
    """An Arrow table as the kind of frame that ``like`` is or names."""
    if like is None:
        return table
    kind = like if isinstance(like, str) else _kind_of(like)
    if kind == "duckdb":
        import duckdb

        return duckdb.from_arrow(table)
    if kind == "pyarrow":
        return table
    if kind == "pandas":
        return table.to_pandas()
    if kind == "polars":
        import polars

        return polars.from_arrow(table)
    raise InputError(f"'{kind}' is no kind of frame: choose pandas, polars, pyarrow or duckdb")


def _kind_of(frame: Any) -> str:
    import narwhals as nw

    try:
        return str(nw.from_native(frame).implementation.value)
    except TypeError:
        raise InputError(
            f"a {type(frame).__name__} is no data frame: name a kind of frame, such as 'pandas'"
        ) from None
