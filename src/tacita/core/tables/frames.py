"""Tables, releases and what is found about their cells as frames: pandas, polars and Arrow, all by Arrow."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tacita.core import exact
from tacita.core.errors import InputError, MissingPackageError
from tacita.core.exact import UNBOUNDED, Cells, Mask, Units
from tacita.core.tables.structure import Part, Structure

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class Framed:
    """Base of values that have rows; what the columns are, :meth:`to_arrow` of each says."""

    def to_arrow(self, *args: Any, **chosen: Any) -> pa.Table:
        """Return the rows as an Arrow table."""
        raise NotImplementedError

    def to_pandas(self, *args: Any, **chosen: Any) -> pd.DataFrame:
        """Return the rows as a pandas frame; the parameters are those of :meth:`to_arrow`."""
        _require("pandas")
        frame: pd.DataFrame = self.to_arrow(*args, **chosen).to_pandas()
        return frame

    def to_polars(self, *args: Any, **chosen: Any) -> pl.DataFrame:
        """Return the rows as a polars frame; the parameters are those of :meth:`to_arrow`."""
        frame: pl.DataFrame = _require("polars").from_arrow(self.to_arrow(*args, **chosen))
        return frame


def _require(package: str) -> Any:
    """Return a package that need not be installed."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise MissingPackageError(
            f"{package} is not installed: run 'pip install {package}', or use to_arrow() instead"
        ) from None


def arrow_table(codes: Mapping[str, Any], columns: Mapping[str, Any]) -> pa.Table:
    """Return columns of codes, and what is said of their cells, as one Arrow table.

    Raises
    ------
    InputError
        A dimension has the name of another column.
    """
    import pyarrow as pa

    if taken := sorted(codes.keys() & columns.keys()):
        raise InputError(f"a dimension is called '{taken[0]}', as another column is: rename the dimension")
    return pa.table({**codes, **columns})


def codes_of_cells(structure: Structure, cells: Cells) -> dict[str, pa.Array]:
    """Return the codes of some cells, one column per dimension; or their labels, in a column ``cell``."""
    import pyarrow as pa

    if structure.labels:
        return {"cell": pa.array([structure.labels[cell] for cell in cells.tolist()], pa.string())}
    return {d.name: _codes(d.codes, structure.codes[cells, k]) for k, d in enumerate(structure.dimensions)}


def _codes(names: tuple[str, ...], positions: Any) -> pa.Array:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(positions), pa.array(names)).cast(pa.string())


def listing(structure: Structure, part: int = 0) -> tuple[list[str], list[pa.Array], Cells]:
    """How a table is listed: names of the code columns, codes of each row, and the cell each row shows."""
    import pyarrow as pa

    if structure.labels:
        return ["cell"], [pa.array(structure.labels)], np.arange(len(structure))
    shown = part_of(structure, part)
    dimensions = [structure.dimensions[d] for d in shown.dimensions]
    codes = [_codes(d.codes, shown.codes[:, k]) for k, d in enumerate(dimensions)]
    return [d.name for d in dimensions], codes, shown.cells


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
