"""Frames that users give, as Arrow columns with one row per cell.

Long frames have a column per dimension. In a pandas frame codes may stand in the index as well, and a series
with such an index is a frame of one column. Wide frames have the codes of one dimension as names of columns;
in a pandas frame the names of the column levels say of which, elsewhere the option ``across``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tacita.core.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

VALUE = "value"
"""What the values of a wide frame or of a series without a name are called."""


def read_frame(
    frame: Any, by: Sequence[str], value: str | None, others: Sequence[str], across: str | None = None
) -> tuple[pa.Table, str | None]:
    """Return the columns of a frame that are needed, one row per cell, and the name of that of values.

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
    levels = _levels(frame, by) if nw.dependencies.is_pandas_like_dataframe(frame) else []
    if across is not None or levels:
        if others:
            raise InputError(
                f"a frame with codes as names of columns holds values alone, not '{others[0]}' too: give one "
                "row per cell"
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
    try:
        given = nw.from_native(frame)
    except TypeError:
        raise InputError(
            f"a {type(frame).__name__} is no data frame: give one of pandas, polars, Arrow or DuckDB"
        ) from None
    if across is not None:
        given = _melt(given, [name for name in by if name != across], across, str(value))
    single = [] if value is None else [value]
    return _to_arrow(given, list(dict.fromkeys([*by, *single, *others]))), value


def _levels(frame: Any, by: Sequence[str]) -> list[str]:
    """Return the dimensions that name the levels of a pandas frame's columns; all of them, or none."""
    names = list(frame.columns.names)
    found = [name for name in names if name is not None and name in by and name not in frame.columns]
    if found and len(found) < len(names):
        raise InputError(
            f"the columns of the frame have levels {names}, of which {found} are dimensions: name them all "
            "as dimensions, or drop the other levels (droplevel in pandas)"
        )
    return found


def _melt(given: Any, index: list[str], across: str, value: str) -> Any:
    """Return a wide frame with one row per cell."""
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
            f"there is no column '{absent[0]}'; there are {', '.join(map(repr, names))}. Codes in the index "
            "of a pandas frame need its level to have this name (frame.rename_axis), codes as names of "
            "columns the option 'across'."
        )
