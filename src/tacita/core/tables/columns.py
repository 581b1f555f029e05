"""From columns of codes and numbers, one row per cell, to a :class:`Table`.

Frames and files both come down to Arrow columns; here they are read the same way, a million rows at a time,
and every error names the row (by ``place``), the column and the remedy.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacita.core import exact
from tacita.core.errors import (
    FormatError,
    HierarchyError,
    InputError,
    and_others,
    did_you_mean,
    issue_warnings,
)
from tacita.core.exact import LARGEST, Mask, Units
from tacita.core.hierarchy import Hierarchy
from tacita.core.hierarchy.given import GivenTrees, build_trees
from tacita.core.tables.build import build_table, to_representatives
from tacita.core.tables.code_order import find_order, list_by_code, sort_codes
from tacita.core.tables.contributions import Contributions, Shadow
from tacita.core.tables.dimension import TOTAL_CODES, Codes, Dimension, find_blanks_in_codes, recognise_total
from tacita.core.tables.number_texts import parse_texts
from tacita.core.tables.read_options import ReadOptions, Totals
from tacita.core.tables.table import Table
from tacita.core.tables.undeclared_sums import (
    Found,
    classify,
    refuse_disguised_totals,
    refuse_undeclared_sums,
)
from tacita.core.words import pluralize

MOST_COLUMNS = 20_000
"""Columns of a file; more than that are something else."""

Spec: TypeAlias = "GivenTrees | str | Found | None"


def refuse_wide(place: object, columns: int) -> None:
    """Refuse a file with more columns than any table of cells has."""
    if columns > MOST_COLUMNS:
        raise FormatError(
            f"{pluralize(columns, 'column')}, where {MOST_COLUMNS:,} are read at most",
            place=place,
            remedy="give one row per cell, or check the line ends and the separator",
        )


def is_text(kind: pa.DataType) -> bool:
    """Return whether an Arrow column of this type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


@dataclass(frozen=True, eq=False)
class Columns:
    """Named columns; ``place(row)`` says where a row stands, ``decimal`` is the decimal sign in text: None is
    a point, but a number that may be in thousands is refused (``1.204``).

    ``notes`` are remarks on how the columns were read; they go on to the table. ``trimmed`` are columns in
    which blanks at the end of texts were taken off. Of a sheet, ``find_field(row, name)`` is where a field
    stands, its row and column counted from 1, or None if it stands nowhere. ``labels`` say what the codes of
    a column mean. ``title`` is what stands above them.
    """

    data: pa.Table
    place: Callable[[int], str] = lambda row: f"row {row + 1}"
    decimal: str | None = "."
    notes: tuple[str, ...] = ()
    trimmed: frozenset[str] = frozenset()
    find_field: Callable[[int, str], tuple[int, int] | None] = lambda row, name: None
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    title: str = ""

    @property
    def sign(self) -> str:
        """The decimal sign in text, point or comma."""
        return self.decimal or "."

    @property
    def names(self) -> list[str]:
        return list(self.data.column_names)

    def column(self, name: str) -> pa.ChunkedArray:
        if name not in self.data.column_names:
            if "," in name and all(part.strip() in self.names for part in name.split(",")):
                raise InputError(f"'{name}' are several columns", remedy="name each of them by itself")
            raise InputError(
                f"there is no column '{name}'{did_you_mean(name, self.names)}; "
                f"there are {', '.join(map(repr, self.names))}"
            )
        column = self.data.column(name)
        if pa.types.is_dictionary(column.type):
            return column.cast(column.type.value_type)
        return column

    def take(self, rows: NDArray[np.int64]) -> Columns:
        """Return some rows of the input; errors name them by their places in the file."""
        return replace(
            self,
            data=self.data.take(pa.array(rows)),
            place=lambda row: self.place(int(rows[row])),
            find_field=lambda row, name: self.find_field(int(rows[row]), name),
        )

    def texts(self, name: str) -> pa.ChunkedArray:
        """Return an input column as text, empty where nothing is given."""
        return pc.fill_null(self.cast(name, self.column(name), pa.string()), "")

    def cast(self, name: str, column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
        """Return an input column as another Arrow type; one that cannot be is refused by its name."""
        try:
            return column.cast(kind)
        except pa.ArrowException:
            raise InputError(
                f"column '{name}' holds {column.type}, neither codes nor numbers",
                remedy="convert it or leave it out",
            ) from None

    def codes(self, name: str) -> tuple[Codes, list[str]]:
        """Return each row's position among a column's distinct codes, and these in the order of categories.

        Without categories they stand in the order of their first rows.
        """
        column = self.column(name)
        if pa.types.is_floating(column.type):
            integer = pc.and_(pc.equal(column, pc.floor(column)), pc.less(pc.abs(column), float(LARGEST)))
            if pc.all(integer).as_py():
                column = column.cast(pa.int64())  # 43.0 is what is left of code 43 in a column with gaps
        encoded = self.cast(name, column, pa.string()).combine_chunks().dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        distinct = encoded.dictionary.to_pylist()
        blank = encoded.indices.is_null().to_numpy(zero_copy_only=False)
        if "" in distinct:
            blank |= encoded.indices.fill_null(-1).to_numpy() == distinct.index("")
        if blank.any():
            row = int(np.flatnonzero(blank)[0])
            raise InputError(
                f"no code in column '{name}'{and_others(int(blank.sum()), 'row')}",
                remedy="give one, such as 'Unknown', or drop the row",
                place=self.place(row),
            )
        rows = encoded.indices.to_numpy().astype(np.int32)
        order = self._category_order(name, distinct)
        return np.argsort(order).astype(np.int32)[rows], [distinct[k] for k in order]

    def _category_order(self, name: str, distinct: Sequence[str]) -> Codes:
        """Return the positions of a column's distinct codes in the order of its categories, if any."""
        column = self.data.column(name)
        if not pa.types.is_dictionary(column.type):
            return np.arange(len(distinct), dtype=np.int32)
        categories = pa.chunked_array(column).unify_dictionaries().chunk(0).dictionary.cast(pa.string())
        rank = {code: k for k, code in enumerate(categories.to_pylist())}
        return np.array(sorted(range(len(distinct)), key=lambda k: rank.get(distinct[k], k)), dtype=np.int32)

    def numbers(self, name: str) -> tuple[NDArray[Any], Mask]:
        """Return an input column as int64 or float64, zero where a number is missing, and a mask of these."""
        column = self.column(name)
        kind = column.type
        if is_text(kind):
            column = parse_texts(column, self.decimal, lambda row: f"{self.place(row)}, column '{name}'")
        elif pa.types.is_decimal(kind) or pa.types.is_floating(kind):
            column = column.cast(pa.float64())
        elif pa.types.is_null(kind):
            return np.zeros(len(column), dtype=np.int64), np.ones(len(column), dtype=bool)
        elif not pa.types.is_integer(kind):
            raise InputError(
                f"column '{name}' holds {kind}, not numbers", remedy="choose another column or convert it"
            )
        missing = column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
        values = column.fill_null(0).to_numpy(zero_copy_only=False)
        # An unsigned number beyond 63 bits is large, not negative.
        integer = values.dtype.kind == "i" or (values.dtype.kind == "u" and values.max(initial=0) <= LARGEST)
        values = values.astype(np.int64 if integer else np.float64)
        values[missing] = 0
        if values.dtype.kind == "f" and (wrong := np.flatnonzero(~np.isfinite(values))).size:
            raise InputError(
                f"column '{name}' is infinite", place=self.place(int(wrong[0])), remedy="give a number"
            )
        return values, missing


def table_from_columns(source: Columns, read: ReadOptions) -> Table:
    """Return the Table of columns with one row per cell, read by the options ``read``."""
    specs: dict[str, Spec] = dict(read.by) if isinstance(read.by, Mapping) else dict.fromkeys(read.by or ())
    value, count, totals, decimals = read.value, read.count, read.totals, read.decimals
    holding_count, structural = read.holding_count, read.structural
    largest = () if read.largest is None or isinstance(read.largest, int) else read.largest
    if not specs:
        raise InputError(
            "a table needs at least one dimension", remedy="name the columns of codes", options=["by"]
        )
    if value is None and count is None:
        raise InputError(
            "which column holds the values?",
            remedy="Name the column of values, or that of respondents per cell, of "
            f"{', '.join(source.names)}",
            options=["value", "count"],
        )
    if source.data.num_rows == 0:
        raise InputError("there are no rows: a table needs at least one cell")
    dimensions, shown = _read_dimensions(source, specs, totals)
    number, missing = source.numbers(value if value is not None else str(count))
    places = exact.find_decimals(number[~missing]) if decimals is None else decimals
    units = exact.to_units(number, places)
    order = find_order(dimensions, shown, units, missing, _list_flat(specs))
    anew = order.tells and read.order == "safe"
    if anew:
        by_code = _list_flat(specs) if order.rows else order.sorted_by
        dimensions, shown = _read_dimensions(source, specs, totals, by_code)
    if wanted := [name for name, spec in specs.items() if isinstance(spec, Found)]:
        trees = classify(dimensions, shown, units, missing, wanted)
        dimensions, shown = _read_dimensions(source, {**specs, **trees.specs}, totals)
        source = replace(source, notes=(*source.notes, *trees.notes))
    compute = _must_compute_totals(dimensions, shown, totals)
    additive = {}
    if count is not None:
        additive["count"] = _read_counts(source, count)
    integer = read.counts
    if integer is None and value is not None:
        negative = bool((number[~missing] < 0).any())
        # Where every respondent adds one, the values are counts however they are called.
        bare = np.array_equal(number, additive["count"]) if count is not None else not largest
        integer = bare and places == 0 and not negative
    if holding_count is not None:
        if compute:
            raise InputError(
                "holdings can be in several cells, so their number in totals is no sum",
                remedy="give the totals too, or tabulate the microdata",
                place=f"'{holding_count}'",
            )
        additive["holding_count"] = _read_counts(source, holding_count)
    if totals != "compute":
        flat = [dimension for dimension, spec in specs.items() if spec is None]
        refuse_disguised_totals(dimensions, shown, units, missing, flat)
    undeclared = refuse_undeclared_sums(
        dimensions,
        shown,
        units,
        missing,
        _list_flat(specs),
        read.undeclared_sums,
        decimals=places,
        parts=totals == "compute",
    )
    table = build_table(
        dimensions,
        shown,
        units,
        places,
        compute_totals=compute,
        repair=read.repair,
        missing=missing,
        additive=additive,
        name=read.name or "table",
        integer=integer is None or integer,
        value_name=value if value is not None else str(count),
    )
    if anew:
        table = list_by_code(table)
    warnings = (
        *_list_warnings(source, dimensions),
        *undeclared,
        *(() if anew else order.warnings),
        *table.warnings,
    )
    issue_warnings(warnings)
    rows = table.structure.locate(to_representatives(dimensions, shown))
    contributions, shadow = _read_contributions(source, largest, read.shadow, table, rows, compute)
    carried = {column: _read_further_column(source, column, rows, len(table)) for column in read.columns}
    return replace(
        table,
        columns=carried,
        contributions=contributions,
        shadow=shadow,
        structural=_read_flags(source, structural, rows, len(table)) if structural is not None else None,
        notes=(*source.notes, *(order.notes if anew else ()), *table.notes),
        warnings=warnings,
        title=source.title,
    )


def _list_flat(specs: Mapping[str, Spec]) -> list[str]:
    """Return the dimensions of a table whose codes come without a classification."""
    return [name for name, spec in specs.items() if spec is None or isinstance(spec, str | Found)]


def _list_warnings(source: Columns, dimensions: Sequence[Dimension]) -> tuple[str, ...]:
    """Return warnings of codes with blanks at their ends, also where the reader of the file took them off."""
    taken_off = (
        f"codes of '{dimension.name}' end with blanks, which were taken off: clean the file, unless codes "
        "with and without them are the same"
        for dimension in dimensions
        if dimension.name in source.trimmed
    )
    return (*find_blanks_in_codes(dimensions), *taken_off)


def _read_dimensions(
    source: Columns, specs: Mapping[str, Spec], totals: Totals, by_code: Collection[str] = ()
) -> tuple[list[Dimension], Codes]:
    """Return the dimensions of columns and the codes of each row; those of ``by_code`` in natural order."""
    dimensions, encoded = [], []
    for name, spec in specs.items():
        rows, listed = source.codes(name)
        distinct = sort_codes(listed) if name in by_code else listed
        if isinstance(spec, str) and spec not in distinct and totals != "compute":
            raise InputError(
                f"the total '{spec}' of '{name}'{did_you_mean(spec, distinct)} is none of its codes "
                f"{', '.join(distinct[:10])}{', ..' if len(distinct) > 10 else ''}",
                remedy="name one of them, or leave it out to have totals computed",
            )
        dimension = Dimension(name, _build_trees(name, spec, distinct, source.labels.get(name)))
        known = dimension.position
        unknown = [k for k, code in enumerate(distinct) if code not in known]
        if unknown:
            first = distinct[unknown[0]]
            place = source.place(int(np.flatnonzero(rows == listed.index(first))[0]))
            raise HierarchyError(
                f"code {first!r}{did_you_mean(first, dimension.codes)} of column '{name}' is not in "
                f"its classification{and_others(len(unknown), 'code')}",
                place=place,
                remedy="Add it to the hierarchy or correct the data.",
            )
        encoded.append(np.array([known[code] for code in listed], dtype=np.int32)[rows])
        dimensions.append(dimension)
    return dimensions, np.column_stack(encoded)


def _build_trees(
    name: str, spec: Spec, distinct: Sequence[str], labels: Mapping[str, str] | None
) -> tuple[Hierarchy, ...]:
    usual = recognise_total(distinct) or TOTAL_CODES[0]
    if spec is None or isinstance(spec, str | Found):
        named = spec.total if isinstance(spec, Found) else spec
        total = named if named is not None else usual
        return (Hierarchy.flat([code for code in distinct if code != total], total, labels),)
    return build_trees(name, spec, distinct, usual, labels)


def _must_compute_totals(dimensions: Sequence[Dimension], shown: Codes, totals: Totals) -> bool:
    """Return whether to compute a table's totals: as requested, or since no row has a total's code."""
    if totals not in ("auto", "given", "compute"):
        raise InputError(f"there are no totals '{totals}'", remedy="choose 'auto', 'given' or 'compute'")
    if totals != "auto":
        return totals == "compute"
    return not any(_has_parts(dimension)[shown[:, k]].any() for k, dimension in enumerate(dimensions))


def _has_parts(dimension: Dimension) -> Mask:
    """Return a mask of the codes of a dimension with children in some tree, also with a single one."""
    above = np.zeros(len(dimension.codes), dtype=bool)
    for tree in dimension.trees:
        own = np.array([dimension.position[code] for code in tree.codes], dtype=np.int64)
        above[own[tree.parents[tree.parents >= 0]]] = True
    return above


def _read_counts(source: Columns, name: str) -> Units:
    numbers, missing = source.numbers(name)
    for wrong, what in (
        (missing, "is missing"),
        (numbers < 0, "is negative"),
        (numbers != np.rint(numbers), "is not an integer"),
        (numbers > LARGEST, "is larger than any count can be"),
    ):
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise InputError(
                f"the count in column '{name}' {what}", place=source.place(row), remedy="correct it"
            )
    return numbers.astype(np.int64)


def _read_further_column(source: Columns, name: str, rows: NDArray[np.int64], n: int) -> NDArray[Any]:
    """Return a further input column per cell of the table: NaN, or empty text, for cells without a row."""
    kind = source.column(name).type
    if pa.types.is_boolean(kind) or is_text(kind):
        texts = source.texts(name).to_numpy(zero_copy_only=False)
        result: NDArray[Any] = np.full(n, "", dtype=object)
        result[rows] = texts
        return result
    numbers, missing = source.numbers(name)
    result = np.full(n, np.nan)
    result[rows[~missing]] = numbers[~missing]
    return result


def _read_flags(source: Columns, name: str, rows: NDArray[np.int64], n: int) -> Mask:
    column = source.column(name)
    if is_text(column.type):
        yes = pc.is_in(pc.utf8_lower(column), value_set=pa.array(["true", "1", "yes", "y"]))
    else:
        yes = source.cast(name, column, pa.bool_())
    result = np.zeros(n, dtype=bool)
    result[rows] = yes.fill_null(False).to_numpy(zero_copy_only=False)
    return result


def _read_contributions(
    source: Columns,
    names: Sequence[str],
    shadow: str | None,
    table: Table,
    rows: NDArray[np.int64],
    compute: bool,
) -> tuple[Contributions | None, Shadow | None]:
    """Return the largest contributions in columns: to the value of the table, or to a shadow variable."""
    if not names:
        if shadow is None:
            return None, None
        raise InputError(
            f"rules judge cells by the largest contributions to '{shadow}', and no columns of them are named",
            remedy="name them",
            options=["largest"],
        )
    if shadow is None:
        return _read_largest(source, names, table.units, table.decimals, rows, compute), None
    numbers, missing = source.numbers(shadow)
    if missing.any():
        place = source.place(int(np.flatnonzero(missing)[0]))
        raise InputError(f"column '{shadow}' is empty", place=place, remedy="fill it")
    decimals = exact.find_decimals(np.concatenate([numbers, *(source.numbers(name)[0] for name in names)]))
    total = np.zeros(len(table), dtype=np.int64)
    total[rows] = exact.to_units(numbers, decimals)
    return None, Shadow(shadow, decimals, _read_largest(source, names, total, decimals, rows, compute))


def _read_largest(
    source: Columns,
    names: Sequence[str],
    total: Units,
    decimals: int,
    rows: NDArray[np.int64],
    compute: bool,
) -> Contributions:
    """Return the largest contributions per cell to a variable with these totals, in units."""
    if compute:
        raise InputError(
            f"the largest contributions ({', '.join(names)}) of totals do not follow from the parts",
            remedy="give the totals too, or tabulate the microdata",
        )
    values = np.zeros((total.size, len(names)), dtype=np.int64)
    for k, name in enumerate(names):
        numbers, _ = source.numbers(name)
        values[rows, k] = exact.to_units(numbers, decimals)
    rising = np.asarray((np.diff(values, axis=1) > 0).any(axis=1))
    too_much = (values.sum(axis=1) > total) & (values >= 0).all(axis=1) & (total >= 0)
    # Rounding each contribution may exceed the rounded value by half a unit each.
    too_much &= values.sum(axis=1) - total > len(names)
    for wrong, what in ((rising, "do not descend"), (too_much, "exceed the value of the cell")):
        if wrong.any():
            row = int(np.flatnonzero(wrong[rows])[0])
            raise InputError(
                f"the largest contributions {', '.join(names)} {what}",
                place=source.place(row),
                remedy="correct them",
            )
    return Contributions(values, np.full(values.shape, -1, dtype=np.int64), np.abs(total))
