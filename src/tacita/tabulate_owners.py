"""Who stands behind each cell, when records name their respondent or holding: an *owner*.

An owner's records in a leaf cell are merged first: that is an *entry*. Owners with one entry go through the roll-up of the
largest contributions. Owners with several are merged in each cell where entries of theirs come together: they count once
there, with the sum. Those with entries of both signs, whose sum may be smaller than its parts, are kept out of the roll-up and
merged in all their cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacita.contributions import Contributions
from tacita.errors import InputError
from tacita.exact import Cells, Units
from tacita.hierarchy_files import code_texts
from tacita.rollup import Rollup, key_stride
from tacita.tabulate_largest import Largest
from tacita.tabulate_leaves import Leaves, column_of, copies_of, plain, ragged
from tacita.tabulate_numbers import WHOLE, Numbers
from tacita.tabulate_shares import Entries, LeafShares, merge
from tacita.tabulate_source import Records, quoted, told_as_input_error

ENTRIES_AT_ONCE = 400_000
_ROOM = 2**62


@dataclass(frozen=True, eq=False)
class Standing:
    """Per cell: how many owners, the sum of their weights in millionths, and the largest of them."""

    count: Units
    weight: Units
    contributions: Contributions


def read_owners(
    records: Records, leaves: Leaves, rollup: Rollup, numbers: Numbers, column: str, depth: int, counted: str | None
) -> Standing:
    """Merge the records of each owner and find the largest in every cell.

    ``counted`` is the column of respondents where they, not records, are counted: once each per leaf cell.
    """
    owners = _identify(records, column)
    _create_entries(records, leaves, numbers, owners, counted)
    records.do(
        "CREATE OR REPLACE TEMP TABLE several AS SELECT id, min(least(own, weighted)) < 0 "
        "AND max(greatest(own, weighted)) > 0 AS mixed FROM entries GROUP BY id HAVING count(*) > 1"
    )
    several, mixed = records.row("SELECT count(*), count(*) FILTER (mixed) FROM several")
    if counted == column and several:
        raise InputError(
            f"{records.place}: {several:,} of the owners in column '{column}' occur in more than one cell, so numbers of "
            "them do not add up to totals. Count records (leave it out), count them through a value column of ones, or "
            "tabulate by codes of which each owner has one."
        )
    count, absolute, weight, lists = _leaf_lists(records, leaves, numbers, depth, bool(mixed))
    count, absolute, weight = rollup.add(count), rollup.add(absolute), rollup.add(weight)
    lists = lists.rolled_up(rollup, repeated=bool(several))
    for kind, shared_only in (("NOT mixed", True), ("mixed", False)):
        if several == mixed if shared_only else not mixed:
            continue
        for entries in _entries(records, kind):
            found = merge(leaves.dimensions, entries.who, entries.keys, shared_only)
            cells = np.searchsorted(rollup.keys, found.keys)
            heaviest = found.most(entries.weight)
            # Where the roll-up has already counted an owner once per entry, only the surplus is taken off.
            np.add.at(count, cells, 1 - (found.sizes if shared_only else 0))
            np.add.at(weight, cells, heaviest - (found.add(entries.weight) if shared_only else 0))
            if not shared_only:
                np.add.at(absolute, cells, np.abs(found.add(entries.weighted)))
            copies = np.clip(np.rint(heaviest / 1e6).astype(np.int64), 1, depth)
            lists = lists.with_entries(cells, found.who, np.abs(found.add(entries.own)), copies)
    return Standing(count, weight, _contributions(records, leaves, rollup, owners, lists.with_copies(), absolute))


@dataclass(frozen=True)
class _Owners:
    """How owners are numbered: ``id`` is SQL over the records; without a list, owner = id + ``first``."""

    column: str
    id: str
    first: int | None


def _identify(records: Records, column: str) -> _Owners:
    name, whole = quoted(column), records.types[column] in WHOLE
    missing, low, high = records.row(
        f"SELECT count(*) - count({name}), {f'min({name}), max({name})' if whole else '0, 0'} FROM records"
    )
    if missing:
        raise InputError(
            f"{records.place}: column '{column}' is empty in {missing:,} records. Fill it (who stands alone can be given a "
            f"name of his own), or leave them out with where=\"{quoted(column)} IS NOT NULL\"."
        )
    if whole and int(high) - int(low) < _ROOM:
        return _Owners(column, f"(CAST({name} AS BIGINT) - ({int(low)}))", int(low))
    records.do(
        "CREATE OR REPLACE TEMP TABLE owners AS SELECT owner, row_number() OVER (ORDER BY owner) - 1 AS id "
        f"FROM (SELECT DISTINCT {name} AS owner FROM records)"
    )
    return _Owners(column, "owners.id", None)


def _create_entries(
    records: Records, leaves: Leaves, numbers: Numbers, owners: _Owners, counted: str | None
) -> None:
    import pyarrow as pa

    joins, terms = "", []
    for d, (dimension, (raw, position)) in enumerate(zip(leaves.dimensions, leaves.raw, strict=True)):
        records.connection.register(f"codes{d}", pa.table({"raw": raw, "position": position.astype(np.int64)}))
        joins += f" JOIN codes{d} ON codes{d}.raw = records.{quoted(dimension.name)}"
        terms.append(f"codes{d}.position * {key_stride(leaves.dimensions, d)}")
    if owners.first is None:
        joins += f" JOIN owners ON owners.owner = records.{quoted(owners.column)}"
    each = (
        f"SELECT {' + '.join(terms)} AS key, {owners.id} AS id, {numbers.own} AS own, {numbers.weighted} AS weighted, "
        f"{numbers.weight or '0'} AS weight{f', {quoted(counted)} AS person' if counted else ''} FROM records{joins}"
    )
    if counted:
        each = (
            "SELECT key, id, max(own) AS own, max(weighted) AS weighted, max(weight) AS weight "
            f"FROM ({each}) GROUP BY key, id, person"
        )
    records.do(
        "CREATE OR REPLACE TEMP TABLE entries AS SELECT key, id, CAST(sum(own) AS BIGINT) AS own, "
        f"CAST(sum(weighted) AS BIGINT) AS weighted, max(weight) AS weight FROM ({each}) GROUP BY key, id"
    )


def _leaf_lists(
    records: Records, leaves: Leaves, numbers: Numbers, depth: int, mixed: bool
) -> tuple[Units, Units, Units, Largest]:
    """Owners, absolute sums, weights and largest entries per leaf cell, without owners of mixed sign."""
    copies = copies_of("weight" if numbers.weight else None, depth)
    base = depth + 1
    # Size, owner and copies in one integer that is ordered by size, then by owner; it fits into 127 bits.
    packed = f"(abs(own)::HUGEINT * {_ROOM} + ({_ROOM - 1} - id)) * {base} + {copies}"
    kept = " WHERE id NOT IN (SELECT id FROM several WHERE mixed)" if mixed else ""
    answer = records.ask(
        "SELECT key, count AS _count, absolute AS _absolute, weight AS _weight, "
        f"list_transform(packed, lambda p: CAST(p // {base} // {_ROOM} AS BIGINT)) AS sizes, "
        f"list_transform(packed, lambda p: CAST({_ROOM - 1} - p // {base} % {_ROOM} AS BIGINT)) AS who, "
        f"list_transform(packed, lambda p: CAST(p % {base} AS BIGINT)) AS copies "
        "FROM (SELECT key, count(*) AS count, CAST(sum(abs(weighted)) AS BIGINT) AS absolute, "
        f"CAST(sum(weight) AS BIGINT) AS weight, max({packed}, {depth}) AS packed FROM entries{kept} GROUP BY key)"
    )
    at = np.searchsorted(leaves.keys, column_of(answer, "key"))
    sums = []
    for name in ("_count", "_absolute", "_weight"):
        column = np.zeros(leaves.keys.size, dtype=np.int64)
        column[at] = column_of(answer, name)
        sums.append(column)
    lists = Largest.nothing(leaves.keys.size, depth)
    lists.sizes[at] = ragged(answer.column("sizes"), depth, missing=-1)
    lists.who[at] = ragged(answer.column("who"), depth, missing=-1)
    lists.copies[at] = ragged(answer.column("copies"), depth, missing=0)
    return sums[0], sums[1], sums[2], lists


def _entries(records: Records, kind: str) -> Iterator[Entries]:
    """Entries of owners with several, so many owners at once as memory likes."""
    with told_as_input_error(records.place):
        reader = records.connection.sql(
            f"SELECT id, key, own, weighted, weight FROM entries WHERE id IN (SELECT id FROM several WHERE {kind}) "
            "ORDER BY id, key"
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
    records: Records, leaves: Leaves, rollup: Rollup, owners: _Owners, lists: Largest, absolute: Units
) -> Contributions:
    """The lists with owners numbered by their place among those that occur in them."""
    import pyarrow as pa

    ids = np.unique(lists.who[lists.who >= 0])
    records.connection.register("wanted", pa.table({"id": ids}))
    entries = records.ask(
        "SELECT id, key, own FROM entries WHERE id IN (SELECT id FROM wanted) ORDER BY id, key"
    )
    shares = LeafShares(
        dimensions=leaves.dimensions,
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


def _names(records: Records, owners: _Owners, ids: Cells) -> tuple[str, ...]:
    if owners.first is not None:
        return tuple(map(str, (ids + owners.first).tolist()))
    answer: Any = records.ask("SELECT owner FROM owners WHERE id IN (SELECT id FROM wanted) ORDER BY id")
    return tuple(code_texts(answer.column("owner").to_pylist(), lambda _: f"column '{owners.column}'"))
