"""Frames in and out: pandas, polars, Arrow and DuckDB, all by way of Arrow.

Tables, releases and audits are :class:`Framed`. Of the frames that users give, long ones have a column per
dimension. In a pandas frame codes may stand in the index as well, and a series with such an index is a frame
of one column. Wide frames have the codes of one dimension as names of columns; in a pandas frame the names of
the column levels say of which, elsewhere the option ``across``.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacita.core import exact
from tacita.core.errors import InputError, MissingPackageError, did_you_mean
from tacita.core.exact import UNBOUNDED, Cells, Mask, Units
from tacita.core.tables.structure import Part, Structure
from tacita.core.words import list_names

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

VALUE = "value"
"""What the values of a wide frame or of a series without a name are called."""


class Framed(ABC):
    """Base of values that have rows; :meth:`to_arrow` of each says what the columns are."""

    @abstractmethod
    def to_arrow(self, *args: Any, **chosen: Any) -> pa.Table:
        """Return the rows of a table, release or audit as an Arrow table."""

    def to_pandas(self, *args: Any, **chosen: Any) -> pd.DataFrame:
        """Return the rows of a table, release or audit as a pandas frame; parameters as :meth:`to_arrow`."""
        _import_package("pandas")
        frame: pd.DataFrame = self.to_arrow(*args, **chosen).to_pandas()
        return frame

    def to_polars(self, *args: Any, **chosen: Any) -> pl.DataFrame:
        """Return the rows of a table, release or audit as a polars frame; parameters as :meth:`to_arrow`."""
        frame: pl.DataFrame = _import_package("polars").from_arrow(self.to_arrow(*args, **chosen))
        return frame


def _import_package(package: str) -> Any:
    """Return an optional package such as pandas, imported; refuse one that is not installed."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise MissingPackageError(
            f"{package} is not installed", remedy=f"run 'pip install {package}', or use to_arrow() instead"
        ) from None


def make_arrow_table(codes: Mapping[str, Any], columns: Mapping[str, Any]) -> pa.Table:
    """Return columns of codes, and further columns of their cells, as one Arrow table.

    Raises
    ------
    InputError
        A dimension has the name of another column.
    """
    import pyarrow as pa

    if taken := sorted(codes.keys() & columns.keys()):
        raise InputError(
            f"a dimension is called '{taken[0]}', as another column is", remedy="rename the dimension"
        )
    return pa.table({**codes, **columns})


def codes_to_arrow(structure: Structure, cells: Cells) -> dict[str, pa.Array]:
    """Return a table's cells as Arrow columns of codes, by dimension; or of labels, named ``cell``."""
    import pyarrow as pa

    if structure.labels:
        return {"cell": pa.array([structure.labels[cell] for cell in cells.tolist()], pa.string())}
    return {
        d.name: _decode_codes(d.codes, structure.codes[cells, k]) for k, d in enumerate(structure.dimensions)
    }


def _decode_codes(names: tuple[str, ...], positions: Any) -> pa.Array:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(positions), pa.array(names)).cast(pa.string())


def list_rows(structure: Structure, part: int | str = 0) -> tuple[list[str], list[pa.Array], Cells]:
    """Return the names of a listed table's code columns, the codes of each row, and the cell it shows."""
    import pyarrow as pa

    if structure.labels:
        return ["cell"], [pa.array(structure.labels)], np.arange(len(structure))
    shown = find_part(structure, part)
    dimensions = [structure.dimensions[d] for d in shown.dimensions]
    codes = [_decode_codes(d.codes, shown.codes[:, k]) for k, d in enumerate(dimensions)]
    return [d.name for d in dimensions], codes, shown.cells


def find_part(structure: Structure, part: int | str) -> Part:
    """Return how one of the linked tables in a structure is listed, by its number or its name; all cells in
    order if it has no parts.
    """
    if not structure.parts:
        everything = tuple(range(len(structure.dimensions)))
        return Part("table", everything, structure.codes, np.arange(len(structure)))
    names = [each.name for each in structure.parts]
    number = names.index(part) if part in names else part
    if isinstance(number, str) or not 0 <= number < len(names):
        raise InputError(
            f"there is no part {part!r}{did_you_mean(part, names)}",
            remedy=f"choose 0 to {len(names) - 1}, or by name: {list_names(names)}",
        )
    return structure.parts[number]


def numbers_to_arrow(units: Units, decimals: int, blank: Mask | None = None) -> pa.Array:
    """Return units as an Arrow array of integers or floats, null where unbounded or ``blank``."""
    import pyarrow as pa

    silent = np.abs(units) >= UNBOUNDED
    if blank is not None:
        silent |= blank
    kept = np.where(silent, 0, units)
    return pa.array(kept if decimals == 0 else exact.to_floats(kept, decimals), mask=silent)


def read_frame(
    frame: Any, by: Sequence[str], value: str | None, others: Sequence[str], across: str | None = None
) -> tuple[pa.Table, str | None]:
    """Return the needed columns of a user's data frame, one row per cell, and the name of the value column.

    Parameters
    ----------
    by, value, others
        The columns of codes, of values, and what else is wanted.
    across
        The dimension whose codes are names of columns.
    """
    import narwhals as nw

    if nw.dependencies.is_pandas_like_series(frame):
        name = (value or VALUE) if frame.name is None else str(frame.name)
        frame, value = frame.to_frame(name), value if value is not None or others else name
    levels = _find_column_levels(frame, by) if nw.dependencies.is_pandas_like_dataframe(frame) else []
    if across is not None or levels:
        if others:
            raise InputError(
                f"a frame with codes as names of columns holds values alone, not '{others[0]}' too",
                remedy="give one row per cell",
            )
        value = VALUE if value is None else value
    if len(levels) > 1:
        frame = frame.melt(ignore_index=False, value_name=value)
    elif levels:
        across = levels[0]
    if nw.dependencies.is_pandas_like_dataframe(frame):
        wanted = {*by, value, *others}
        inside = [name for name in frame.index.names if name in wanted and name not in frame.columns]
        frame = frame.reset_index(level=inside) if inside else frame
    given = _wrap(frame)
    if across is not None:
        given = _melt(given, [name for name in by if name != across], across, str(value))
    single = [] if value is None else [value]
    return _to_arrow(given, list(dict.fromkeys([*by, *single, *others]))), value


def read_whole_frame(frame: Any, by: Sequence[str]) -> pa.Table:
    """Return all columns of a user's data frame; in pandas those of the index too, the index first, and where
    dimensions ``by`` go across the columns and are not two in all, one row per cell.
    """
    import narwhals as nw

    if nw.dependencies.is_pandas_like_series(frame):
        frame = frame.to_frame(VALUE if frame.name is None else str(frame.name))
    if nw.dependencies.is_pandas_like_dataframe(frame):
        if _find_column_levels(frame, by) and len(by) != 2:
            frame = frame.melt(ignore_index=False, value_name=VALUE)
        # A copy, since columns of categories take no further names.
        frame = frame.set_axis([str(name) for name in frame.columns], axis="columns")
        if any(name is not None for name in frame.index.names) or frame.index.dtype.kind not in "iu":
            frame = frame.reset_index()
    given = _wrap(frame)
    return _to_arrow(given, given.collect_schema().names())


def _wrap(frame: Any) -> Any:
    import narwhals as nw

    try:
        return nw.from_native(frame)
    except TypeError:
        raise InputError(
            f"a {type(frame).__name__} is no data frame", remedy="give one of pandas, polars, Arrow or DuckDB"
        ) from None


def _find_column_levels(frame: Any, by: Sequence[str]) -> list[str]:
    """Return the dimensions that name the levels of a pandas frame's columns; all of them, or none."""
    names = list(frame.columns.names)
    found = [name for name in names if name is not None and name in by and name not in frame.columns]
    if found and len(found) < len(names):
        raise InputError(
            f"the columns of the frame have levels {names}, of which {found} are dimensions",
            remedy="name them all as dimensions, or drop the other levels (droplevel in pandas)",
        )
    return found


def _melt(given: Any, index: list[str], across: str, value: str) -> Any:
    """Return a wide data frame made long, with one row per cell."""
    _refuse_absent(index, given.collect_schema().names())
    return given.unpivot(index=index, variable_name=across, value_name=value)


def _to_arrow(given: Any, wanted: list[str]) -> pa.Table:
    import narwhals as nw
    import pyarrow as pa

    _refuse_absent(wanted, given.collect_schema().names())
    chosen = given.select(wanted)
    eager = chosen.collect("pyarrow") if isinstance(chosen, nw.LazyFrame) else chosen
    columns = {}
    for name in eager.columns:
        column = eager.get_column(name)
        # In polars the order of categories that are no Enum depends on what was read before.
        if column.dtype == nw.Categorical and eager.implementation.is_polars():
            column = column.cast(nw.String)
        try:
            columns[name] = column.to_arrow()
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # a pandas column of mixed kinds
            kept = column.to_list()
            columns[name] = pa.array([None if v is None or v != v else str(v) for v in kept], pa.string())
    return pa.table(columns)


def _refuse_absent(wanted: Sequence[str], names: Sequence[str]) -> None:
    if absent := [name for name in wanted if name not in names]:
        raise InputError(
            f"there is no column '{absent[0]}'; there are {', '.join(map(repr, names))}",
            remedy="Codes in the index of a pandas frame need its level to have this name "
            "(frame.rename_axis), codes as names of columns the option 'across'.",
        )
