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
from tacita.tabulation.quoting import quote_name, quote_text
from tacita.tabulation.records import Records

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
    records: Records,
    cube: Cube,
    numbers: Numbers,
    column: str,
    depth: int,
    counted: str | None,
    respondent: str | None = None,
) -> Owners:
    """Return the respondents or holdings in the microdata, with their records merged per leaf cell.

    Parameters
    ----------
    counted
        The column of respondents where they, not records, are counted: once each per leaf cell.
    respondent
        The column that names holdings of a single respondent, which the column of holdings does not.
    """
    numbering = _number_owners(records, column, respondent)
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

    Owners that are integers count from ``first``; others are numbered in the table ``owners``, in order, by
    what the SQL ``name`` over the records gives. ``independent`` respondents are holdings of their own.
    """

    column: str
    id: str
    many: int
    first: int | None
    name: str
    independent: int = 0

    @property
    def join(self) -> str:
        """SQL that joins the numbers of owners to the records, which :attr:`id` then refers to."""
        return f" JOIN owners ON owners._owner = {self.name}" if self.first is None else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """A note on the respondents that the microdata put into no holding, if there are any."""
        if not self.independent:
            return ()
        are = "is a holding of its own" if self.independent == 1 else "are holdings of their own"
        return (f"{pluralize(self.independent, 'respondent')} without '{self.column}' {are}",)


def _number_owners(records: Records, column: str, respondent: str | None) -> Numbering:
    """Return the numbers of respondents, or of holdings, of which those without one have a ``respondent``."""
    empty = _is_empty_sql(records, column)
    missing = records.fetch_row(f"SELECT {records.count_sql(empty)} FROM records")[0]
    if missing and respondent is None:
        raise InputError(
            f"column '{column}' is empty in {pluralize(missing, 'record')}{records.describe_first(empty)}",
            place=records.place,
            remedy="Fill it: those who stand alone can be given names of their own.",
        )
    name, integer = f"records.{quote_name(column)}", records.types[column] in INTEGER_TYPES and not missing
    if integer:
        low, high = map(int, records.fetch_row(f"SELECT min({name}), max({name}) FROM records"))
        if high - low < _LIMIT:
            return Numbering(column, f"(CAST({name} AS BIGINT) - ({low}))", high - low + 1, low, name)
    independent = 0
    if missing:
        _refuse_divided(records, column, str(respondent), empty)
        alone = f"CAST(records.{quote_name(str(respondent))} AS VARCHAR)"
        independent = records.fetch_row(f"SELECT count(DISTINCT {alone}) FROM records WHERE {empty}")[0]
        name = f"CASE WHEN {empty} THEN {_name_apart(records, alone, name, empty, str(respondent))} "
        name += f"ELSE CAST(records.{quote_name(column)} AS VARCHAR) END"
    records.execute(
        "CREATE OR REPLACE TEMP TABLE owners AS "
        "SELECT _owner, row_number() OVER (ORDER BY _owner) - 1 AS _id "
        f"FROM (SELECT DISTINCT {name} AS _owner FROM records)"
    )
    many = records.fetch_row("SELECT count(*) FROM owners")[0]
    return Numbering(column, "owners._id", many, None, name, independent)


def _is_empty_sql(records: Records, column: str) -> str:
    """Return SQL for whether a record has nothing in a column of owners."""
    name, kind = f"records.{quote_name(column)}", records.types[column]
    if kind == "VARCHAR":
        return f"({name} IS NULL OR trim({name}) = '' OR NOT regexp_matches({name}, '\\S'))"
    return f"({name} IS NULL OR isnan({name}))" if kind in ("FLOAT", "DOUBLE") else f"{name} IS NULL"


def _refuse_divided(records: Records, column: str, respondent: str, empty: str) -> None:
    """Refuse microdata in which a respondent is in a holding by some records and in none by others: nobody
    would know whether it is one contributor or two.
    """
    name = f"records.{quote_name(respondent)}"
    divided = f"{empty} AND {name} IN (SELECT {name} FROM records WHERE NOT {empty} AND {name} IS NOT NULL)"
    many = records.fetch_row(f"SELECT count(DISTINCT {name}) FROM records WHERE {divided}")[0]
    if many:
        who = f"{pluralize(many, 'respondent')} {'has' if many == 1 else 'have'}"
        raise InputError(
            f"{who} an entry in '{column}' in some records and none in others"
            f"{records.describe_first(divided)}",
            place=records.place,
            remedy=f"Fill '{column}' in all records of a respondent, or in none.",
        )


def _name_apart(records: Records, alone: str, holding: str, empty: str, respondent: str) -> str:
    """Return SQL for the name of a respondent without a holding, such as no holding has: a firm 7 is not
    in holding 7.
    """
    while records.fetch_row(
        f"SELECT count(*) FROM records WHERE {empty} AND {alone} IN "
        f"(SELECT CAST({holding} AS VARCHAR) FROM records WHERE NOT {empty})"
    )[0]:
        alone = f"{alone} || {quote_text(f' ({respondent})')}"
    return alone


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
