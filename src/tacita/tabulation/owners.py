"""Who stands behind each cell, when records name their respondent or holding: an *owner*.

An owner's records in a leaf cell are merged first: that is an *entry*. Owners with one entry go through the
roll-up of the largest contributions. Owners with several are merged in each cell where entries of theirs come
together: they count once there, with the sum. Those with entries of both signs, whose sum may be smaller than
its parts, are kept out of the roll-up and merged in all their cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacita.errors import InputError
from tacita.exact import Cells, Units
from tacita.hierarchy.files import code_texts
from tacita.tables.contributions import Contributions
from tacita.tables.rollup import Rollup, key_stride
from tacita.tabulation.largest import Largest
from tacita.tabulation.leaves import Cube, Leaves, column_of, copies_of, plain, ragged
from tacita.tabulation.numbers import WHOLE, Numbers
from tacita.tabulation.shares import Entries, LeafShares, merge
from tacita.tabulation.source import Records, quoted, told_as_input_error

# So many that sorting them stays within the caches.
ENTRIES_AT_ONCE = 100_000
_ROOM = 2**62


@dataclass(frozen=True, eq=False)
class Standing:
    """Per cell: how many contributors, the sum of their weights in millionths, and the largest of them."""

    count: Units
    weight: Units
    contributions: Contributions


@dataclass(frozen=True, eq=False)
class Owners:
    """Owners with the sums over their entries per leaf cell; the entries themselves stay in DuckDB.

    ``several`` owners have more than one entry, ``mixed`` of them entries of both signs; the latter are in
    ``leaves.value`` but in no other column of ``leaves``.
    """

    numbering: _Numbering
    leaves: Leaves
    several: int
    mixed: int


def group_owners(
    records: Records, cube: Cube, numbers: Numbers, column: str, depth: int, counted: str | None
) -> Owners:
    """Merge the records of each owner per leaf cell.

    ``counted`` is the column of respondents where they, not records, are counted: once each per leaf cell.
    """
    numbering = _number_owners(records, column)
    _create_entries(records, cube, numbers, numbering, counted)
    sums = (
        "min(least(own, weighted)) < 0 AND max(greatest(own, weighted)) > 0" if numbers.negative else "false"
    )
    records.do(
        f"CREATE OR REPLACE TEMP TABLE several AS SELECT id, {sums} AS mixed FROM entries GROUP BY id "
        "HAVING count(*) > 1"
    )
    several, mixed = records.row("SELECT count(*), count(*) FILTER (mixed) FROM several")
    if counted == column and several:
        raise InputError(
            f"{records.place}: {several:,} of the respondents in column '{column}' occur in more than one "
            "cell, so numbers of "
            "them do not add up to totals. Count records (leave it out), count them through a value column "
            "of ones, or "
            "tabulate by codes of which each respondent has one."
        )
    return Owners(numbering, _leaf_sums(records, numbers, depth, bool(mixed)), several, mixed)


def owners_above(records: Records, cube: Cube, rollup: Rollup, owners: Owners) -> Standing:
    """Owners in every cell, from their entries at the leaves. (Every record has one, so the leaf cells are
    those of the records.)
    """
    leaves = owners.leaves
    count, absolute, weight = (
        rollup.add(column) for column in (leaves.count, leaves.absolute, leaves.weight)
    )
    lists = leaves.largest.rolled_up(rollup, repeated=owners.several > 0)
    for mixed in (False, True):
        if not (owners.mixed if mixed else owners.several - owners.mixed):
            continue
        for entries in _entries(records, mixed):
            found = merge(cube.dimensions, entries.who, entries.keys, shared_only=not mixed)
            cells = np.searchsorted(rollup.keys, found.keys)
            heaviest = found.most(entries.weight)
            # The roll-up has counted owners once per entry, unless they are mixed.
            np.add.at(count, cells, 1 if mixed else 1 - found.sizes)
            np.add.at(weight, cells, heaviest - (0 if mixed else found.add(entries.weight)))
            if mixed:
                np.add.at(absolute, cells, np.abs(found.add(entries.weighted)))
            copies = np.clip(np.rint(heaviest / 1e6).astype(np.int64), 1, lists.depth)
            lists = lists.with_entries(cells, found.who, np.abs(found.add(entries.own)), copies)
    contributions = _contributions(records, cube, rollup, owners.numbering, lists.with_copies(), absolute)
    return Standing(count, weight, contributions)


@dataclass(frozen=True)
class _Numbering:
    """How owners are numbered, from 0 to ``many`` - 1: ``id`` is SQL over the records.

    Owners that are whole numbers count from ``first``; others are numbered in the table ``owners``, in order.
    """

    column: str
    id: str
    many: int
    first: int | None


def _number_owners(records: Records, column: str) -> _Numbering:
    name, whole = quoted(column), records.types[column] in WHOLE
    missing, low, high = records.row(
        f"SELECT count(*) - count({name}), {f'min({name}), max({name})' if whole else '0, 0'} FROM records"
    )
    if missing:
        raise InputError(
            f"{records.place}: column '{column}' is empty in {missing:,} records. Fill it (who stands "
            "alone can be given a "
            f'name of his own), or leave them out with where="{quoted(column)} IS NOT NULL".'
        )
    if whole and int(high) - int(low) < _ROOM:
        return _Numbering(
            column, f"(CAST({name} AS BIGINT) - ({int(low)}))", int(high) - int(low) + 1, int(low)
        )
    records.do(
        "CREATE OR REPLACE TEMP TABLE owners AS SELECT _owner, row_number() OVER (ORDER BY _owner) - 1 AS "
        "_id "
        f"FROM (SELECT DISTINCT {name} AS _owner FROM records)"
    )
    return _Numbering(column, "owners._id", records.row("SELECT count(*) FROM owners")[0], None)


def _create_entries(
    records: Records, cube: Cube, numbers: Numbers, numbering: _Numbering, counted: str | None
) -> None:
    import pyarrow as pa

    joins, terms = "", []
    for d, (dimension, (raw, position)) in enumerate(zip(cube.dimensions, cube.raw, strict=True)):
        records.connection.register(
            f"codes{d}", pa.table({"_raw": raw, "_position": position.astype(np.int64)})
        )
        joins += f" JOIN codes{d} ON codes{d}._raw = records.{quoted(dimension.name)}"
        terms.append(f"codes{d}._position * {key_stride(cube.dimensions, d)}")
    if numbering.first is None:
        joins += f" JOIN owners ON owners._owner = records.{quoted(numbering.column)}"
    columns = {"own": numbers.own}
    if numbers.weight is not None:
        columns |= {"weighted": numbers.weighted, "weight": numbers.weight}
    listed = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
    person = f", {quoted(counted)} AS person" if counted else ""
    each = f"SELECT {' + '.join(terms)} AS key, {numbering.id} AS id, {listed}{person} FROM records{joins}"
    if counted:
        largest = ", ".join(f"max({name}) AS {name}" for name in columns)
        each = f"SELECT key, id, {largest} FROM ({each}) GROUP BY key, id, person"
    sums = ", ".join(f"{'max' if name == 'weight' else 'sum'}({name})::BIGINT AS {name}" for name in columns)
    # Grouping by one number takes two thirds of the time of grouping by two.
    cells = math.prod(len(dimension.codes) for dimension in cube.dimensions)
    if numbering.many * cells < _ROOM:
        each = f"SELECT id * {cells} + key AS pair, * EXCLUDE (id, key) FROM ({each})"
        pair, key, owner = "pair", f"pair % {cells}", f"pair // {cells}"
    else:
        pair, key, owner = "key, id", "key", "id"
    records.do(f"CREATE OR REPLACE TEMP TABLE summed AS SELECT {pair}, {sums} FROM ({each}) GROUP BY {pair}")
    # Without weights the two further columns need no room.
    weights = "weighted, weight" if numbers.weight is not None else "own AS weighted, 0::BIGINT AS weight"
    records.do(
        f"CREATE OR REPLACE TEMP VIEW entries AS SELECT {key} AS key, {owner} AS id, own, {weights} FROM "
        "summed"
    )


def _leaf_sums(records: Records, numbers: Numbers, depth: int, mixed: bool) -> Leaves:
    """Sums and largest entries per leaf cell."""
    copies = copies_of("weight" if numbers.weight else None, depth)
    base = depth + 1
    # Size, owner and copies in one integer that is ordered by size, then by owner; it fits into 127 bits.
    packed = f"(abs(own)::HUGEINT * {_ROOM} + ({_ROOM - 1} - id)) * {base} + {copies}"
    source, regular = "entries", ""
    if mixed:
        source = "entries LEFT JOIN (SELECT id, true AS apart FROM several WHERE mixed) USING (id)"
        regular = " FILTER (apart IS NULL)"
    answer = records.ask(
        "SELECT key, count, value, coalesce(absolute, 0) AS absolute, coalesce(weight, 0) AS weight, "
        f"list_transform(packed, lambda p: CAST(p // {base} // {_ROOM} AS BIGINT)) AS sizes, "
        f"list_transform(packed, lambda p: CAST({_ROOM - 1} - p // {base} % {_ROOM} AS BIGINT)) AS who, "
        f"list_transform(packed, lambda p: CAST(p % {base} AS BIGINT)) AS copies "
        f"FROM (SELECT key, count(*){regular} AS count, sum(weighted)::BIGINT AS value, "
        f"(sum(abs(weighted)){regular})::BIGINT AS absolute, (sum(weight){regular})::BIGINT AS weight, "
        f"coalesce(max({packed}, {depth}){regular}, []) AS packed FROM {source} GROUP BY key) ORDER BY key"
    )
    lists = Largest(
        ragged(answer.column("sizes"), depth, missing=-1),
        ragged(answer.column("who"), depth, missing=-1),
        ragged(answer.column("copies"), depth, missing=0),
    )
    return Leaves(
        keys=column_of(answer, "key"),
        count=column_of(answer, "count"),
        value=column_of(answer, "value"),
        absolute=column_of(answer, "absolute"),
        weight=column_of(answer, "weight"),
        largest=lists,
    )


def _entries(records: Records, mixed: bool) -> Iterator[Entries]:
    """Entries of owners with several, so many owners at once as memory likes."""
    with told_as_input_error(records.place):
        reader = records.connection.sql(
            "SELECT id, key, own, weighted, weight FROM entries WHERE id IN "
            f"(SELECT id FROM several WHERE mixed = {mixed}) ORDER BY id, key"
        ).to_arrow_reader(ENTRIES_AT_ONCE)
        waiting: Entries | None = None
        for batch in reader:
            columns = [plain(column) for column in batch.columns]
            if waiting is not None:
                before = (waiting.who, waiting.keys, waiting.own, waiting.weighted, waiting.weight)
                columns = [np.concatenate(pair) for pair in zip(before, columns, strict=True)]
            entries = Entries(*columns)
            if entries.who.size < ENTRIES_AT_ONCE:
                waiting = entries
                continue
            # The last owner may go on in the next batch.
            cut = int(np.searchsorted(entries.who, entries.who[-1]))
            if cut:
                yield entries.part(slice(0, cut))
            waiting = entries.part(slice(cut, None))
        if waiting is not None:
            yield waiting


def _contributions(
    records: Records, cube: Cube, rollup: Rollup, owners: _Numbering, lists: Largest, absolute: Units
) -> Contributions:
    """The lists with owners numbered by their place among those that occur in them."""
    import pyarrow as pa

    ids = np.unique(lists.who[lists.who >= 0])
    records.connection.register("wanted", pa.table({"id": ids}))
    entries = records.ask(
        "SELECT id, key, own FROM entries WHERE id IN (SELECT id FROM wanted) ORDER BY id, key"
    )
    shares = LeafShares(
        dimensions=cube.dimensions,
        cell_keys=rollup.keys,
        who=np.searchsorted(ids, column_of(entries, "id")),
        keys=column_of(entries, "key"),
        own=column_of(entries, "own"),
    )
    return Contributions(
        values=np.maximum(lists.sizes, 0),
        who=np.where(lists.who >= 0, np.searchsorted(ids, lists.who), -1),
        sums=absolute,
        names=_names(records, owners, ids),
        ask=shares,
    )


def _names(records: Records, owners: _Numbering, ids: Cells) -> tuple[str, ...]:
    if owners.first is not None:
        return tuple(map(str, (ids + owners.first).tolist()))
    answer: Any = records.ask("SELECT _owner FROM owners WHERE _id IN (SELECT id FROM wanted) ORDER BY _id")
    return tuple(code_texts(answer.column("_owner").to_pylist(), lambda _: f"column '{owners.column}'"))
