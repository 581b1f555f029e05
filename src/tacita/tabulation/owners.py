"""Records that name their respondent or holding, an *owner*, merged per leaf cell.

An owner's records in a leaf cell are merged first: that is an *entry*. Owners whose entries have both signs,
whose sum may be smaller than its parts, are *mixed*; they are kept out of everything that is rolled up but
the value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacita.core.errors import InputError
from tacita.core.tables.rollup import find_stride
from tacita.core.words import pluralize
from tacita.tabulation.largest import Largest
from tacita.tabulation.leaves import Cube, Leaves, to_integers, to_matrix
from tacita.tabulation.numbers import INTEGER_TYPES, Numbers, copies_sql
from tacita.tabulation.records import Records, quote_name

_LIMIT = 2**62


@dataclass(frozen=True, eq=False)
class Owners:
    """Owners with the sums over their entries per leaf cell; the entries themselves stay in DuckDB.

    Mixed owners are in ``leaves.value`` but in no other column of it; ``negative``: there may be such.
    ``weighted``: their records have weights.
    """

    numbering: Numbering
    leaves: Leaves
    negative: bool
    weighted: bool


def group_owners(
    records: Records, cube: Cube, numbers: Numbers, column: str, depth: int, counted: str | None
) -> Owners:
    """Return the respondents or holdings in the microdata, with their records merged per leaf cell.

    ``counted`` is the column of respondents where they, not records, are counted: once each per leaf cell.
    """
    numbering = _number_owners(records, column)
    _create_entries(records, cube, numbers, numbering, counted)
    if counted == column:
        _refuse_several(records, column)
    return Owners(numbering, _sum_leaves(records, numbers, depth), numbers.negative, bool(numbers.weight))


def _refuse_several(records: Records, column: str) -> None:
    several = records.fetch_row(
        "SELECT count(*) FROM (SELECT id FROM entries GROUP BY id HAVING count(*) > 1)"
    )[0]
    if several:
        raise InputError(
            f"{several:,} of the respondents in column '{column}' occur in more than one cell, so numbers of "
            "them do not add up to totals",
            place=records.place,
            remedy="Count records (leave it out, or name it as holding, so that they are attackers), count "
            "them through a value column of ones, or tabulate by codes of which each respondent has one.",
        )


@dataclass(frozen=True)
class Numbering:
    """How owners are numbered, from 0 to ``many`` - 1: ``id`` is SQL over the records.

    Owners that are integers count from ``first``; others are numbered in the table ``owners``, in order.
    """

    column: str
    id: str
    many: int
    first: int | None

    @property
    def join(self) -> str:
        """SQL that joins the numbers of owners to the records, which :attr:`id` then refers to."""
        if self.first is not None:
            return ""
        return f" JOIN owners ON owners._owner = records.{quote_name(self.column)}"


def _number_owners(records: Records, column: str) -> Numbering:
    name, integer = quote_name(column), records.types[column] in INTEGER_TYPES
    missing, low, high = records.fetch_row(
        f"SELECT {records.count_sql(f'{name} IS NULL')}, "
        f"{f'min({name}), max({name})' if integer else '0, 0'} FROM records"
    )
    if missing:
        raise InputError(
            f"column '{column}' is empty in {pluralize(missing, 'record')}"
            f"{records.describe_first(f'{name} IS NULL')}",
            place=records.place,
            remedy="Fill it (those who stand alone can be given names of their own), or leave them out with "
            f"the condition {name} IS NOT NULL as option 'where'.",
            options=["where"],
        )
    if integer and int(high) - int(low) < _LIMIT:
        return Numbering(
            column, f"(CAST({name} AS BIGINT) - ({int(low)}))", int(high) - int(low) + 1, int(low)
        )
    records.execute(
        "CREATE OR REPLACE TEMP TABLE owners AS "
        "SELECT _owner, row_number() OVER (ORDER BY _owner) - 1 AS _id "
        f"FROM (SELECT DISTINCT {name} AS _owner FROM records)"
    )
    return Numbering(column, "owners._id", records.fetch_row("SELECT count(*) FROM owners")[0], None)


def _create_entries(
    records: Records, cube: Cube, numbers: Numbers, numbering: Numbering, counted: str | None
) -> None:
    import pyarrow as pa

    joins, terms = numbering.join, []
    for d, (dimension, (raw, position)) in enumerate(zip(cube.dimensions, cube.raw, strict=True)):
        records.connection.register(
            f"codes{d}", pa.table({"_raw": raw, "_position": position.astype(np.int64)})
        )
        joins += f" JOIN codes{d} ON codes{d}._raw = records.{quote_name(dimension.name)}"
        terms.append(f"codes{d}._position * {find_stride(cube.dimensions, d)}")
    columns = {"own": numbers.own}
    if numbers.weight is not None:
        columns |= {"weighted": numbers.weighted, "weight": numbers.weight}
    listed = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
    person = f", {quote_name(counted)} AS person" if counted else ""
    each = f"SELECT {' + '.join(terms)} AS key, {numbering.id} AS id, {listed}{person} FROM records{joins}"
    if counted:
        largest = ", ".join(f"max({name}) AS {name}" for name in columns)
        each = f"SELECT key, id, {largest} FROM ({each}) GROUP BY key, id, person"
    sums = ", ".join(f"{'max' if name == 'weight' else 'sum'}({name})::BIGINT AS {name}" for name in columns)
    # Grouping by one number takes two thirds of the time of grouping by two.
    cells = math.prod(len(dimension.codes) for dimension in cube.dimensions)
    if numbering.many * cells < _LIMIT:
        each = f"SELECT id * {cells} + key AS pair, * EXCLUDE (id, key) FROM ({each})"
        pair, key, owner = "pair", f"pair % {cells}", f"pair // {cells}"
    else:
        pair, key, owner = "key, id", "key", "id"
    records.execute(
        f"CREATE OR REPLACE TEMP TABLE summed AS SELECT {pair}, {sums} FROM ({each}) GROUP BY {pair}"
    )
    # Without weights the two further columns need no room.
    weights = "weighted, weight" if numbers.weight is not None else "own AS weighted, 0::BIGINT AS weight"
    records.execute(
        "CREATE OR REPLACE TEMP VIEW entries AS "
        f"SELECT {key} AS key, {owner} AS id, own, {weights} FROM summed"
    )


def _sum_leaves(records: Records, numbers: Numbers, depth: int) -> Leaves:
    """Return the sums and the largest contributions per leaf cell, from the merged records."""
    copies = copies_sql("weight" if numbers.weight else None, depth)
    base = depth + 1
    # Size, owner and copies in one integer that is ordered by size, then by owner; it fits into 127 bits.
    packed = f"(abs(own)::HUGEINT * {_LIMIT} + ({_LIMIT - 1} - id)) * {base} + {copies}"
    source, regular = "entries", ""
    if numbers.negative:
        source = (
            "entries LEFT JOIN (SELECT id, true AS apart FROM entries GROUP BY id HAVING "
            "min(least(own, weighted)) < 0 AND max(greatest(own, weighted)) > 0) USING (id)"
        )
        regular = " FILTER (apart IS NULL)"
    answer = records.fetch(
        "SELECT key, count, value, coalesce(absolute, 0) AS absolute, coalesce(weight, 0) AS weight, "
        f"list_transform(packed, lambda p: CAST(p // {base} // {_LIMIT} AS BIGINT)) AS sizes, "
        f"list_transform(packed, lambda p: CAST({_LIMIT - 1} - p // {base} % {_LIMIT} AS BIGINT)) AS who, "
        f"list_transform(packed, lambda p: CAST(p % {base} AS BIGINT)) AS copies "
        f"FROM (SELECT key, count(*){regular} AS count, sum(weighted)::BIGINT AS value, "
        f"(sum(abs(weighted)){regular})::BIGINT AS absolute, (sum(weight){regular})::BIGINT AS weight, "
        f"coalesce(max({packed}, {depth}){regular}, []) AS packed FROM {source} GROUP BY key) ORDER BY key"
    )
    lists = Largest(
        to_matrix(answer.column("sizes"), depth, missing=-1),
        to_matrix(answer.column("who"), depth, missing=-1),
        to_matrix(answer.column("copies"), depth, missing=0),
    )
    return Leaves(
        keys=to_integers(answer, "key"),
        count=to_integers(answer, "count"),
        value=to_integers(answer, "value"),
        absolute=to_integers(answer, "absolute"),
        weight=to_integers(answer, "weight"),
        largest=lists,
    )
