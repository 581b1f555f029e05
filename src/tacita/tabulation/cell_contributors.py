"""The contributors of each cell: how many owners, their weights, and the largest of them.

Every entry of an owner goes through the roll-up, so in a cell above several entries of one owner they are
counted once too often for each entry but one, and listed with the largest of them instead of their sum. That
is corrected in one pass over the entries in the order of their owners: for few entries at their joins
(:func:`.join_subsets`), for many, and for mixed owners, who were kept out of the roll-up, in each of their
cells (:func:`.merge_entries`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from tacita.core.exact import Cells, Mask, Units
from tacita.core.hierarchy.links import to_code_texts
from tacita.core.tables.contributions import Beyond, Contributions
from tacita.core.tables.rollup import Rollup, find_runs, find_stride, list_ancestors, roll_up
from tacita.tabulation.entries import (
    Entries,
    LeafShares,
    decode_keys,
    have_joins,
    join_subsets,
    merge_entries,
)
from tacita.tabulation.flags import Decisions, Flags, find_decisions
from tacita.tabulation.largest import Largest
from tacita.tabulation.leaves import Cube, to_integers, to_numpy
from tacita.tabulation.owners import Numbering, Owners
from tacita.tabulation.records import RECORD_NUMBER, Records, stream_rows, translate_duckdb_errors

# So many that working on them stays within the caches.
ENTRIES_AT_ONCE = 200_000
# Four entries have 11 subsets of two or more, five have 26: then it is faster to go through the cells.
FEW = 4
# Entries that are kept, so that every owner is known; of more only those who are among the largest somewhere.
MOST_KNOWN = 5_000_000


@dataclass(frozen=True, eq=False)
class CellContributors:
    """Per cell: how many contributors, the sum of their weights in millionths, and the largest of them.

    ``contradictory`` are the names of those who asked for protection and consented to be recognised.
    """

    count: Units
    weight: Units
    contributions: Contributions
    contradictory: tuple[str, ...] = ()


def roll_up_owners(
    records: Records, cube: Cube, rollup: Rollup, owners: Owners, flags: Flags
) -> CellContributors:
    """Return the contributors of every cell, totals included, from the merged records at the leaves.

    Every record has an owner, so the leaf cells are those of the records. The microdata of all owners are
    kept, or, of too many, of the largest in some cell and of those with a flag; owners are numbered by their
    place among these.
    """
    decisions = find_decisions(records, owners.numbering, flags)
    leaves = owners.leaves
    sums = _Sums(*(rollup.add(column) for column in (leaves.count, leaves.weight, leaves.absolute)))
    at_joins = _Sums(*np.zeros((3, rollup.keys.size), dtype=np.int64))
    lists = leaves.largest.rolled_up(rollup, repeated=True)
    few = FEW if have_joins(cube.dimensions) else 1
    everyone = records.fetch_row("SELECT count(*) FROM entries")[0] <= MOST_KNOWN
    kept: list[tuple[Cells, Cells, Units]] = []
    for entries in _stream_entries(records, owners.weighted):
        if everyone:
            kept.append((entries.who, entries.keys, entries.own))
        starts = find_runs(entries.who)
        sizes = np.diff(starts, append=entries.who.size)
        mixed = _find_mixed(entries, starts) if owners.negative else np.zeros(starts.size, dtype=bool)
        below: list[_Candidates] = []
        for many in range(2, few + 1):
            rows = starts[(sizes == many) & ~mixed][:, None] + np.arange(many)
            below += _note_at_joins(cube, rollup, entries, rows, at_joins, lists)
        entering = [_Candidates.concatenate(below).rolled_up(cube, rollup, lists)] if below else []
        for apart, chosen in ((False, (sizes > few) & (sizes > 1) & ~mixed), (True, mixed)):
            if chosen.any():
                part = entries.part(np.repeat(chosen, sizes))
                entering.append(_count_in_cells(cube, rollup, part, apart, sums))
        if entering:
            lists = _Candidates.concatenate(entering).enter(lists)
    _add_rolled_up(cube, rollup, at_joins, sums)
    lists = lists.with_copies()
    if not everyone:
        kept = [_read_listed(records, lists, decisions)]
    who, keys, own = (np.concatenate(column) for column in zip(*kept, strict=True))
    starts = find_runs(who)
    ids, place = who[starts], np.repeat(np.arange(starts.size), np.diff(starts, append=who.size))
    contributions = Contributions(
        values=np.maximum(lists.sizes, 0),
        who=np.where(lists.who >= 0, np.searchsorted(ids, lists.who), -1),
        sums=sums.absolute,
        names=_name_owners(records, owners.numbering, ids, everyone),
        query=LeafShares(cube.dimensions, rollup.keys, place, keys, own),
        beyond=Beyond.NOBODY if everyone else Beyond.ANYONE,
    )
    if decisions is None:
        return CellContributors(sums.count, sums.weight, contributions)
    asked, consented = decisions.at(ids)
    contributions = replace(
        contributions,
        asked=asked if flags.request else None,
        consented=consented if flags.consent else None,
    )
    both = np.searchsorted(ids, decisions.both)
    return CellContributors(sums.count, sums.weight, contributions, tuple(map(contributions.name, both)))


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums per cell, to which more is added."""

    count: Units
    weight: Units
    absolute: Units


def _stream_entries(records: Records, weighted: bool) -> Iterator[Entries]:
    """Yield the merged microdata of many contributors at once, in the order of contributors."""
    weights = ", weighted, weight" if weighted else ""
    with translate_duckdb_errors(records.place):
        query = f"SELECT id, key, own{weights} FROM entries ORDER BY id, key"
        reader = stream_rows(records.connection.sql(query), ENTRIES_AT_ONCE)
        waiting: list[Units] = []
        for batch in reader:
            columns = [to_numpy(column) for column in batch.columns]
            if waiting:
                columns = [np.concatenate(pair) for pair in zip(waiting, columns, strict=True)]
            who = columns[0]
            # The last owner may go on in the next batch.
            cut = int(np.searchsorted(who, who[-1])) if who.size >= ENTRIES_AT_ONCE else 0
            if cut:
                yield _to_entries([column[:cut] for column in columns])
            waiting = [column[cut:] for column in columns]
        if waiting:
            yield _to_entries(waiting)


def _to_entries(columns: list[Units]) -> Entries:
    """Return entries of tabulated microdata from columns, of which the last two, weights, may be missing."""
    who, keys, own, *weights = columns
    weighted, weight = weights or (own, np.zeros_like(own))
    return Entries(who, keys, own, weighted, weight)


def _find_mixed(entries: Entries, starts: Cells) -> Mask:
    """Return a mask of the contributors in microdata whose entries have both signs."""
    low = np.minimum.reduceat(np.minimum(entries.own, entries.weighted), starts)
    high = np.maximum.reduceat(np.maximum(entries.own, entries.weighted), starts)
    return np.asarray((low < 0) & (high > 0))


def _note_at_joins(
    cube: Cube, rollup: Rollup, entries: Entries, rows: Cells, at_joins: _Sums, lists: Largest
) -> Iterator[_Candidates]:
    """Add to ``at_joins`` how contributors with the entries ``rows[i]`` change counts above their joins.

    Yields those who may be among the largest there.
    """
    who = entries.who[rows[:, 0]]
    for joined in join_subsets(cube.dimensions, entries, rows):
        cells = rollup.find(joined.keys)
        np.add.at(at_joins.count, cells, joined.sign)
        np.add.at(at_joins.weight, cells, joined.sign * joined.lightest)
        yield _Candidates(cells, who, np.abs(joined.own), joined.heaviest).admitted(lists)


def _count_in_cells(cube: Cube, rollup: Rollup, entries: Entries, mixed: bool, sums: _Sums) -> _Candidates:
    """Count contributors once in each cell that several of their records reach, and return their sizes there.

    Mixed owners are counted in all their cells.
    """
    found = merge_entries(cube.dimensions, entries.who, entries.keys, shared_only=not mixed)
    cells = rollup.find(found.keys)
    heaviest = found.max(entries.weight)
    np.add.at(sums.count, cells, 1 if mixed else 1 - found.sizes)
    np.add.at(sums.weight, cells, heaviest - (0 if mixed else found.add(entries.weight)))
    if mixed:
        np.add.at(sums.absolute, cells, np.abs(found.add(entries.weighted)))
    return _Candidates(cells, found.who, np.abs(found.add(entries.own)), heaviest)


def _add_rolled_up(cube: Cube, rollup: Rollup, at_joins: _Sums, sums: _Sums) -> None:
    """Add the corrections of counts and weights, noted at joins, to all cells above these."""
    noted = np.flatnonzero((at_joins.count != 0) | (at_joins.weight != 0))
    if noted.size:
        above = roll_up(cube.dimensions, rollup.codes[noted])
        cells = rollup.find(above.keys)
        sums.count[cells] += above.add(at_joins.count[noted])
        sums.weight[cells] += above.add(at_joins.weight[noted])


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Owner ``who[r]`` may be among the largest of cell ``cells[r]`` with ``sizes[r]``."""

    cells: Cells
    who: Cells
    sizes: Units
    heaviest: Units

    @classmethod
    def concatenate(cls, parts: Sequence[_Candidates]) -> _Candidates:
        columns = ((part.cells, part.who, part.sizes, part.heaviest) for part in parts)
        return cls(*(np.concatenate(column) for column in zip(*columns, strict=True)))

    def admitted(self, lists: Largest) -> _Candidates:
        """Return the contributors large enough for the lists of cells; others are too small above, too."""
        keep = np.flatnonzero(lists.admits(self.cells, self.who, self.sizes))
        return _Candidates(self.cells[keep], self.who[keep], self.sizes[keep], self.heaviest[keep])

    def rolled_up(self, cube: Cube, rollup: Rollup, lists: Largest) -> _Candidates:
        """Return the same contributors as candidates in all cells above, too."""
        entering = self
        for d, dimension in enumerate(cube.dimensions):
            keys = rollup.keys[entering.cells]
            code = decode_keys(cube.dimensions, d, keys)
            source, above = list_ancestors(dimension, code)
            wanted = keys[source] + (above.astype(np.int64) - code[source]) * find_stride(cube.dimensions, d)
            entering = _Candidates(
                rollup.find(wanted), entering.who[source], entering.sizes[source], entering.heaviest[source]
            ).admitted(lists)
        return entering

    def enter(self, lists: Largest) -> Largest:
        """Return the lists of the largest contributions per cell with these contributors in them."""
        copies = np.clip(np.rint(self.heaviest / 1e6).astype(np.int64), 1, lists.depth)
        return lists.with_entries(self.cells, self.who, self.sizes, copies)


def _read_listed(records: Records, lists: Largest, decisions: Decisions | None) -> tuple[Cells, Cells, Units]:
    """Return owners, keys and amounts of the contributors with a flag, or among the largest of some cell."""
    import pyarrow as pa

    flagged = () if decisions is None else decisions.ids
    ids = np.unique(np.concatenate([lists.who[lists.who >= 0], np.asarray(flagged, dtype=np.int64)]))
    records.connection.register("wanted", pa.table({"id": ids}))
    answer = records.fetch(
        "SELECT id, key, own FROM entries WHERE id IN (SELECT id FROM wanted) ORDER BY id, key"
    )
    return to_integers(answer, "id"), to_integers(answer, "key"), to_integers(answer, "own")


def _name_owners(records: Records, owners: Numbering, ids: Cells, everyone: bool) -> Sequence[str]:
    if owners.first is not None:
        return NumberNames(ids + owners.first, "record " if owners.column == RECORD_NUMBER else "")
    wanted = "" if everyone else " WHERE _id IN (SELECT id FROM wanted)"
    answer: Any = records.fetch(f"SELECT _owner FROM owners{wanted} ORDER BY _id")
    return tuple(to_code_texts(answer.column("_owner").to_pylist(), lambda _: f"column '{owners.column}'"))


class LazyNames(Sequence[str]):
    """Names of contributors that are made when they are used; subclasses make one or many."""

    @overload
    def __getitem__(self, who: int) -> str: ...

    @overload
    def __getitem__(self, who: slice) -> list[str]: ...

    def __getitem__(self, who: int | slice) -> str | list[str]:
        if isinstance(who, slice):
            return [self.make(k) for k in range(*who.indices(len(self)))]
        return self.make(who)

    @abstractmethod
    def make(self, who: int) -> str:
        """Return the name of a contributor in the microdata by position."""


@dataclass(frozen=True, eq=False)
class NumberNames(LazyNames):
    """Names of owners that are integers, or of numbered records."""

    numbers: Cells
    lead: str = ""

    def __len__(self) -> int:
        return int(self.numbers.size)

    def make(self, who: int) -> str:
        return f"{self.lead}{self.numbers[who]}"
