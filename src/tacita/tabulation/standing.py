"""Who stands behind each cell: how many owners, their weights, and the largest of them.

Every entry of an owner goes through the roll-up, so in a cell above several of his entries he is counted once
too often for each but one, and listed with the largest of them instead of their sum. That is set right in one
pass over the entries in the order of their owners: for few entries at their joins (:mod:`.joins`), for many,
and for mixed owners, who were kept out of the roll-up, in each of their cells (:func:`.merge`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from tacita.core.exact import Cells, Mask, Units
from tacita.core.hierarchy.link_sources import code_texts
from tacita.core.tables.contributions import Beyond, Contributions
from tacita.core.tables.rollup import Rollup, each_ancestor, key_stride, roll_up, run_starts
from tacita.tabulation.complaints import told_as_input_error
from tacita.tabulation.joins import joins, joins_exist
from tacita.tabulation.largest import Largest
from tacita.tabulation.leaves import Cube, column_of, plain
from tacita.tabulation.owners import Numbering, Owners
from tacita.tabulation.shares import Entries, LeafShares, codes_in, merge
from tacita.tabulation.source import Records, stream_rows

# So many that working on them stays within the caches.
ENTRIES_AT_ONCE = 200_000
# Four entries have 11 subsets of two or more, five have 26: then it is faster to go through the cells.
FEW = 4
# Entries that are kept, so that every owner is known; of more only those who are among the largest somewhere.
MOST_KNOWN = 5_000_000


@dataclass(frozen=True, eq=False)
class Standing:
    """Per cell: how many contributors, the sum of their weights in millionths, and the largest of them."""

    count: Units
    weight: Units
    contributions: Contributions


def owners_above(records: Records, cube: Cube, rollup: Rollup, owners: Owners) -> Standing:
    """Owners in every cell, from their entries at the leaves. (Every record has one, so the leaf cells are
    those of the records.)
    """
    leaves = owners.leaves
    sums = _Sums(*(rollup.add(column) for column in (leaves.count, leaves.weight, leaves.absolute)))
    at_joins = _Sums(*np.zeros((3, rollup.keys.size), dtype=np.int64))
    lists = leaves.largest.rolled_up(rollup, repeated=True)
    few = FEW if joins_exist(cube.dimensions) else 1
    for entries in _entries(records, owners.weighted):
        starts = run_starts(entries.who)
        sizes = np.diff(starts, append=entries.who.size)
        mixed = _mixed(entries, starts) if owners.negative else np.zeros(starts.size, dtype=bool)
        below: list[_Entering] = []
        for many in range(2, few + 1):
            rows = starts[(sizes == many) & ~mixed][:, None] + np.arange(many)
            below += _at_joins(cube, rollup, entries, rows, at_joins, lists)
        entering = [_Entering.all_of(below).above(cube, rollup, lists)] if below else []
        for apart, chosen in ((False, (sizes > few) & (sizes > 1) & ~mixed), (True, mixed)):
            if chosen.any():
                part = entries.part(np.repeat(chosen, sizes))
                entering.append(_in_cells(cube, rollup, part, apart, sums))
        if entering:
            lists = _Entering.all_of(entering).into(lists)
    _roll_up_into(cube, rollup, at_joins, sums)
    contributions = _contributions(
        records, cube, rollup, owners.numbering, lists.with_copies(), sums.absolute
    )
    return Standing(sums.count, sums.weight, contributions)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums per cell, still growing."""

    count: Units
    weight: Units
    absolute: Units


def _entries(records: Records, weighted: bool) -> Iterator[Entries]:
    """All entries by owner, so many owners at once as memory likes."""
    weights = ", weighted, weight" if weighted else ""
    with told_as_input_error(records.place):
        query = f"SELECT id, key, own{weights} FROM entries ORDER BY id, key"
        reader = stream_rows(records.connection.sql(query), ENTRIES_AT_ONCE)
        waiting: list[Units] = []
        for batch in reader:
            columns = [plain(column) for column in batch.columns]
            if waiting:
                columns = [np.concatenate(pair) for pair in zip(waiting, columns, strict=True)]
            who = columns[0]
            # The last owner may go on in the next batch.
            cut = int(np.searchsorted(who, who[-1])) if who.size >= ENTRIES_AT_ONCE else 0
            if cut:
                yield _as_entries([column[:cut] for column in columns])
            waiting = [column[cut:] for column in columns]
        if waiting:
            yield _as_entries(waiting)


def _as_entries(columns: list[Units]) -> Entries:
    """Entries of columns of which the last two, about weights, may be missing."""
    who, keys, own, *weights = columns
    weighted, weight = weights or (own, np.zeros_like(own))
    return Entries(who, keys, own, weighted, weight)


def _mixed(entries: Entries, starts: Cells) -> Mask:
    """Owners with entries of both signs."""
    low = np.minimum.reduceat(np.minimum(entries.own, entries.weighted), starts)
    high = np.maximum.reduceat(np.maximum(entries.own, entries.weighted), starts)
    return np.asarray((low < 0) & (high > 0))


def _at_joins(
    cube: Cube, rollup: Rollup, entries: Entries, rows: Cells, at_joins: _Sums, lists: Largest
) -> Iterator[_Entering]:
    """Note what owners with the entries ``rows[i]`` change in the cells above their joins; those who may be
    among the largest there.
    """
    who = entries.who[rows[:, 0]]
    for joined in joins(cube.dimensions, entries, rows):
        cells = rollup.find(joined.keys)
        np.add.at(at_joins.count, cells, joined.sign)
        np.add.at(at_joins.weight, cells, joined.sign * joined.lightest)
        yield _Entering(cells, who, np.abs(joined.own), joined.heaviest).admitted(lists)


def _in_cells(cube: Cube, rollup: Rollup, entries: Entries, mixed: bool, sums: _Sums) -> _Entering:
    """Count owners once in each cell that they share with themselves (in all their cells if they are mixed);
    what they have there.
    """
    found = merge(cube.dimensions, entries.who, entries.keys, shared_only=not mixed)
    cells = rollup.find(found.keys)
    heaviest = found.most(entries.weight)
    np.add.at(sums.count, cells, 1 if mixed else 1 - found.sizes)
    np.add.at(sums.weight, cells, heaviest - (0 if mixed else found.add(entries.weight)))
    if mixed:
        np.add.at(sums.absolute, cells, np.abs(found.add(entries.weighted)))
    return _Entering(cells, found.who, np.abs(found.add(entries.own)), heaviest)


def _roll_up_into(cube: Cube, rollup: Rollup, at_joins: _Sums, sums: _Sums) -> None:
    """Add what was noted at joins to the cells above them."""
    noted = np.flatnonzero((at_joins.count != 0) | (at_joins.weight != 0))
    if noted.size:
        above = roll_up(cube.dimensions, rollup.codes[noted])
        cells = rollup.find(above.keys)
        sums.count[cells] += above.add(at_joins.count[noted])
        sums.weight[cells] += above.add(at_joins.weight[noted])


@dataclass(frozen=True, eq=False)
class _Entering:
    """Owner ``who[r]`` may be among the largest of cell ``cells[r]`` with ``sizes[r]``."""

    cells: Cells
    who: Cells
    sizes: Units
    heaviest: Units

    @classmethod
    def all_of(cls, parts: Sequence[_Entering]) -> _Entering:
        columns = ((part.cells, part.who, part.sizes, part.heaviest) for part in parts)
        return cls(*(np.concatenate(column) for column in zip(*columns, strict=True)))

    def admitted(self, lists: Largest) -> _Entering:
        """Those who are large enough. Who is not is too small for the cells above, too."""
        keep = np.flatnonzero(lists.admits(self.cells, self.who, self.sizes))
        return _Entering(self.cells[keep], self.who[keep], self.sizes[keep], self.heaviest[keep])

    def above(self, cube: Cube, rollup: Rollup, lists: Largest) -> _Entering:
        """The same owners in all cells above, too."""
        entering = self
        for d, dimension in enumerate(cube.dimensions):
            keys = rollup.keys[entering.cells]
            code = codes_in(cube.dimensions, d, keys)
            source, above = each_ancestor(dimension, code)
            wanted = keys[source] + (above.astype(np.int64) - code[source]) * key_stride(cube.dimensions, d)
            entering = _Entering(
                rollup.find(wanted),
                entering.who[source],
                entering.sizes[source],
                entering.heaviest[source],
            ).admitted(lists)
        return entering

    def into(self, lists: Largest) -> Largest:
        copies = np.clip(np.rint(self.heaviest / 1e6).astype(np.int64), 1, lists.depth)
        return lists.with_entries(self.cells, self.who, self.sizes, copies)


def _contributions(
    records: Records, cube: Cube, rollup: Rollup, owners: Numbering, lists: Largest, absolute: Units
) -> Contributions:
    """The lists with the entries of every owner, or of those in the lists where there are too many; owners
    are numbered by their place among these.
    """
    import pyarrow as pa

    everyone = records.row("SELECT count(*) FROM entries")[0] <= MOST_KNOWN
    if everyone:
        entries = records.ask("SELECT id, key, own FROM entries ORDER BY id, key")
        ids = np.unique(column_of(entries, "id"))
    else:
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
        names=_names(records, owners, ids, everyone),
        query=shares,
        beyond=Beyond.NOBODY if everyone else Beyond.ANYONE,
    )


def _names(records: Records, owners: Numbering, ids: Cells, everyone: bool) -> Sequence[str]:
    if owners.first is not None:
        return NumberNames(ids + owners.first)
    wanted = "" if everyone else " WHERE _id IN (SELECT id FROM wanted)"
    answer: Any = records.ask(f"SELECT _owner FROM owners{wanted} ORDER BY _id")
    return tuple(code_texts(answer.column("_owner").to_pylist(), lambda _: f"column '{owners.column}'"))


@dataclass(frozen=True, eq=False)
class NumberNames(Sequence[str]):
    """Names of owners who are called by integers; each text is made when it is asked for."""

    numbers: Cells

    def __len__(self) -> int:
        return int(self.numbers.size)

    @overload
    def __getitem__(self, who: int) -> str: ...

    @overload
    def __getitem__(self, who: slice) -> list[str]: ...

    def __getitem__(self, who: int | slice) -> str | list[str]:
        found = self.numbers[who]
        return list(map(str, found.tolist())) if isinstance(who, slice) else str(found)
