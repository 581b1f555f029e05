"""The leaf cells: one query that groups the records by their codes, and the codes put into their
classifications.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacita.core.errors import HierarchyError, InputError, did_you_mean
from tacita.core.exact import Cells, Units
from tacita.core.hierarchy import Hierarchy
from tacita.core.hierarchy.given import GivenTrees, build_trees
from tacita.core.hierarchy.links import make_sort_key, to_code_texts
from tacita.core.hierarchy.recoding import Detail
from tacita.core.tables.dimension import Codes, Dimension
from tacita.core.tables.rollup import Step, find_runs
from tacita.core.tables.structure import make_keys
from tacita.core.words import pluralize
from tacita.tabulation.entries import decode_keys
from tacita.tabulation.largest import Largest
from tacita.tabulation.numbers import Numbers, copies_sql
from tacita.tabulation.quoting import quote_name
from tacita.tabulation.records import Records

Trees = GivenTrees | str | None


@dataclass(frozen=True, eq=False)
class Cube:
    """The dimensions that span a table, and how the data write their codes.

    ``raw`` holds, per dimension, codes as they stand in the data and their positions in the dimension.
    """

    dimensions: tuple[Dimension, ...]
    raw: tuple[tuple[Any, Codes], ...]
    records: int

    def count(self, records: Records) -> int:
        """Return the number of records in the microdata all whose codes are in the table."""
        import pyarrow as pa

        joins = ""
        for d, (dimension, (raw, _)) in enumerate(zip(self.dimensions, self.raw, strict=True)):
            records.connection.register(f"shown{d}", pa.table({"_raw": raw}))
            joins += f" SEMI JOIN shown{d} ON shown{d}._raw = records.{quote_name(dimension.name)}"
        found = int(records.fetch_row(f"SELECT {records.count_sql()} FROM records{joins}")[0])
        if not found:
            raise InputError(
                "the recoding leaves out all records",
                place=records.place,
                remedy="Keep a code.",
                options=["recode"],
            )
        return found

    def codes(self, keys: Cells) -> Codes:
        """Return the codes, per dimension, of tabulated cells given by their keys."""
        return np.column_stack([decode_keys(self.dimensions, d, keys) for d in range(len(self.dimensions))])


@dataclass(frozen=True, eq=False)
class Leaves:
    """Leaf cells in ascending order of their keys, with sums over their contributors.

    ``value`` sums what they add to the cell, ``absolute`` the same without signs, ``weight`` their weights in
    millionths.
    """

    keys: Cells
    count: Units
    value: Units
    absolute: Units
    weight: Units
    largest: Largest


@dataclass(frozen=True, eq=False)
class ListedRecords:
    """Records among the largest of a leaf cell: record ``r`` is in the cell with key ``keys[r]``."""

    keys: Cells
    own: Units


def read_cube(records: Records, by: Mapping[str, Trees], detail: Detail) -> Cube:
    """Return the dimensions of the table, from the codes that occur in the microdata."""
    encoded = []
    total = 0
    for name, trees in by.items():
        answer = records.fetch(
            f"SELECT {quote_name(name)} AS code, {records.count_sql()} AS count FROM records GROUP BY ALL"
        )
        count = to_integers(answer, "count")
        _refuse_empty(records, answer)
        encoded.append(_encode(records, name, trees, detail, answer.column("code"), count))
        total = int(count.sum())
    # Refuses cubes whose cells cannot be numbered, before any of them is.
    make_keys([e.dimension for e in encoded], np.zeros((0, len(encoded)), dtype=np.int32))
    cube = Cube(tuple(e.dimension for e in encoded), tuple((e.raw, e.position) for e in encoded), total)
    return replace(cube, records=cube.count(records)) if any(e.lacks for e in encoded) else cube


def read_leaves(
    records: Records, by: Mapping[str, Trees], detail: Detail, numbers: Numbers, largest: int
) -> tuple[Cube, Leaves, ListedRecords]:
    """Return dimensions, leaf cells and their largest records, where each record is its own contributor."""
    columns = ", ".join(quote_name(column) for column in by)
    weight = f"sum({numbers.weights})" if numbers.weights else "0"
    # Of the records of a database those that are among the largest travel alone.
    alone = f" FILTER ({records.grouped} = 1)" if records.grouped else ""
    answer = records.fetch(
        f"SELECT {columns}, {records.count_sql()} AS _count, "
        f"CAST(sum({numbers.weighted}) AS BIGINT) AS _value, "
        f"CAST(sum({numbers.absolute}) AS BIGINT) AS _absolute, CAST({weight} AS BIGINT) AS _weight, "
        f"max({_packed_sql(numbers, largest)}, {largest}){alone} AS _largest FROM records GROUP BY ALL "
        f"ORDER BY {columns}"
    )
    _refuse_empty(records, answer)
    count = to_integers(answer, "_count")
    encoded = [
        _encode(records, name, trees, detail, answer.column(name), count) for name, trees in by.items()
    ]
    dimensions = tuple(e.dimension for e in encoded)
    if any(e.lacks for e in encoded):
        stays = np.logical_and.reduce([e.rows >= 0 for e in encoded])
        answer, count = answer.filter(stays), count[stays]
        encoded = [replace(e, rows=e.rows[stays]) for e in encoded]
        _refuse_empty(records, answer)
    keys = make_keys(dimensions, np.column_stack([e.rows for e in encoded]))
    # In order, so that of equal records the same are listed first, whatever the order of the answer.
    order = np.argsort(keys, kind="stable")
    answer, keys = answer.take(order), keys[order]
    # Codes that are written differently may be one code: 1 and 1.0, or a node and its only child.
    starts = find_runs(keys)
    step = Step(
        np.arange(keys.size), np.repeat(np.arange(starts.size), np.diff(starts, append=keys.size)), starts
    )
    lists, listed = _unpack(answer.column("_largest"), largest, keys)
    leaves = Leaves(
        keys=keys[starts],
        count=step.add(to_integers(answer, "_count")),
        value=step.add(to_integers(answer, "_value")),
        absolute=step.add(to_integers(answer, "_absolute")),
        weight=step.add(to_integers(answer, "_weight")),
        largest=lists.merged(step, repeated=False),
    )
    return Cube(dimensions, tuple((e.raw, e.position) for e in encoded), int(count.sum())), leaves, listed


def _refuse_empty(records: Records, answer: Any) -> None:
    if answer.num_rows == 0:
        raise InputError(
            "there are no records (that fulfil the condition) to tabulate",
            place=records.place,
            options=["where"],
        )


def to_integers(answer: Any, name: str) -> NDArray[np.int64]:
    """Return a column of a query's answer on the microdata as integers; it has no nulls."""
    return to_numpy(answer.column(name).combine_chunks())


def to_numpy(array: Any) -> NDArray[np.int64]:
    """Return an arrow array of integers without nulls, from the microdata, as a numpy array."""
    # Arrow's own to_numpy imports pandas, which takes longer than most tabulations.
    wide = array.type.bit_width // 8
    integers = np.frombuffer(
        array.buffers()[1], dtype=f"i{wide}", count=len(array), offset=array.offset * wide
    )
    return integers.astype(np.int64, copy=False)


def to_matrix(column: Any, depth: int, missing: int) -> NDArray[np.int64]:
    """Return an arrow column of lists of at most ``depth`` integers as a matrix, a row per leaf cell."""
    lists = column.combine_chunks()
    lengths = np.diff(to_numpy(lists.offsets))
    matrix = np.full((lengths.size, depth), missing, dtype=np.int64)
    rank = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    matrix[np.repeat(np.arange(lengths.size), lengths), rank] = to_numpy(lists.flatten())
    return matrix


def _packed_sql(numbers: Numbers, largest: int) -> str:
    """Return SQL for one integer with size, copies and sign of a record, which is ordered by size."""
    copies = copies_sql(numbers.weight, largest)
    return f"(abs({numbers.own}) * {largest + 1} + {copies}) * 2 + CAST({numbers.own} < 0 AS BIGINT)"


def _unpack(column: Any, largest: int, keys: Cells) -> tuple[Largest, ListedRecords]:
    packed = to_matrix(column, largest, missing=-1)
    present = packed >= 0
    size = np.where(present, packed // 2 // (largest + 1), -1)
    copies = np.where(present, packed // 2 % (largest + 1), 0)
    who = np.where(present, np.cumsum(present).reshape(present.shape) - 1, -1)
    own = np.where(packed % 2 == 1, -size, size)
    return Largest(size, who, copies), ListedRecords(np.repeat(keys, largest)[present.ravel()], own[present])


@dataclass(frozen=True, eq=False)
class _Encoded:
    """A dimension, the position of each row's code, and the raw codes with their positions.

    ``lacks``: some rows have a code that is left out, and position -1; it is not among the raw codes.
    """

    dimension: Dimension
    rows: Codes
    raw: Any
    position: Codes
    lacks: bool


def _encode(records: Records, name: str, trees: Trees, detail: Detail, column: Any, count: Units) -> _Encoded:
    import pyarrow as pa

    written = column.combine_chunks()
    if pa.types.is_dictionary(written.type):
        written = written.dictionary_decode()
    try:
        encoded = written.dictionary_encode()
    except pa.ArrowException:
        fault = f"column '{name}' holds {written.type}, no codes"
        raise InputError(fault, place=records.place, remedy="choose another column") from None
    texts = to_code_texts(encoded.dictionary.to_pylist(), lambda _: f"{records.place}, column '{name}'")
    row = to_numpy(encoded.indices.fill_null(len(texts)))
    blank = [not text for text in texts]
    missing = np.array([*blank, True])[row]
    if missing.any():
        raise HierarchyError(
            f"missing code in {pluralize(int(count[missing].sum()), 'record')} (column '{name}')"
            f"{records.describe_first_of(name, encoded.dictionary.filter(pa.array(blank, pa.bool_())))}",
            place=records.place,
            remedy="Give them a code, say 'unknown', or leave them out with the condition "
            f"{quote_name(name)} IS NOT NULL as option 'where'.",
            options=["where"],
        )
    dimension = Dimension(name, _trees(name, trees, texts))
    dimension.check()
    per_text = np.bincount(row, weights=count, minlength=len(texts)).astype(np.int64)
    _refuse_foreign(records, dimension, encoded.dictionary, texts, per_text)
    recoded = detail.find(name, dimension.trees)
    if recoded is None:
        position = dimension.representative[[dimension.position[text] for text in texts]]
        return _Encoded(dimension, position[row], encoded.dictionary, position, lacks=False)
    dimension = Dimension(name, (recoded.tree,))
    new = [recoded.codes.get(text, text) for text in texts]
    places = [-1 if code is None else dimension.representative[dimension.position[code]] for code in new]
    position = np.array(places, dtype=np.int32)
    kept = position >= 0
    return _Encoded(
        dimension, position[row], encoded.dictionary.filter(pa.array(kept)), position[kept], not kept.all()
    )


def _trees(name: str, trees: Trees, texts: Sequence[str]) -> tuple[Hierarchy, ...]:
    codes = sorted(set(texts), key=make_sort_key)
    if trees is None:
        return (Hierarchy.flat(codes),)
    return build_trees(name, trees, codes)


def _refuse_foreign(
    records: Records, dimension: Dimension, raw: Any, texts: Sequence[str], count: Units
) -> None:
    """Refuse codes in microdata that the classification does not know, and totals with own records."""

    def listed(wrong: Sequence[int]) -> str:
        codes = ", ".join(f"'{texts[i]}' ({pluralize(int(count[i]), 'record')})" for i in wrong[:5])
        more = f" and {pluralize(len(wrong) - 5, 'more code')}" if len(wrong) > 5 else ""
        first = records.describe_first_of(dimension.name, raw.take(wrong))
        return f"{codes}{more} in column '{dimension.name}'{first and f'{first},'}"

    unknown = [i for i, text in enumerate(texts) if text not in dimension.position]
    if unknown:
        hint = did_you_mean(texts[unknown[0]], dimension.codes)
        raise HierarchyError(
            f"{listed(unknown)} are not in its classification{hint}",
            place=records.place,
            remedy="Add them to the hierarchy, correct the data, or leave them out with a condition on the "
            "records.",
            options=["where"],
        )
    inner = [
        i
        for i, text in enumerate(texts)
        if not dimension.is_leaf[dimension.representative[dimension.position[text]]]
    ]
    if inner:
        raise HierarchyError(
            f"{listed(inner)} are totals of its classification",
            place=records.place,
            remedy="Code the records at the finest level, or give such a total a child of its own for what "
            "is not classified further.",
        )
