"""Tabulation against its definition, worked out record by record on small random microdata."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

from tacita.core.hierarchy import Hierarchy
from tacita.core.tables.contributions import Contributions
from tacita.core.tables.table import Table
from tacita.tabulation import cell_contributors
from tacita.tabulation.tabulate import tabulate

REGIONS = Hierarchy.from_dict({"North": ["n1", "n2"], "South": {"s1": ["s1a", "s1b"], "s2": ["s2a"]}})
COASTS = Hierarchy.from_dict({"Coast": ["n1", "s1"], "Inland": ["n2", "s2"]})
INDUSTRIES = Hierarchy.from_dict({"A": ["a1", "a2"], "B": ["b1"]})
TREES = {"region": REGIONS, "industry": INDUSTRIES, "size": Hierarchy.flat(["1", "2"])}
TWO_TREES = {**TREES, "region": [REGIONS, COASTS]}
LEAVES = {"region": ["n1", "n2", "s1a", "s1b", "s2a"], "industry": ["a1", "a2", "b1"], "size": ["1", "2"]}
ABOVE = {
    "region": {
        "n1": {"n1", "North", "Coast", "Total"},
        "n2": {"n2", "North", "Inland", "Total"},
        "s1a": {"s1a", "s1", "South", "Coast", "Total"},
        "s1b": {"s1b", "s1", "South", "Coast", "Total"},
        "s2a": {"s2a", "s2", "South", "Inland", "Total"},
    },
    "industry": {"a1": {"a1", "A", "Total"}, "a2": {"a2", "A", "Total"}, "b1": {"b1", "B", "Total"}},
    "size": {"1": {"1", "Total"}, "2": {"2", "Total"}},
}


Trees = dict[str, Any]


@dataclass(frozen=True)
class Record:
    codes: tuple[str, ...]
    value: int
    firm: str
    group: str
    weight: float


def cells_of(record: Record, table: Table) -> Iterator[tuple[str, ...]]:
    """The cells of the table that a record belongs to."""
    known = [
        ABOVE[d.name][code] & set(d.codes)
        for d, code in zip(table.structure.dimensions, record.codes, strict=True)
    ]
    return product(*known)


@st.composite
def microdata(draw: st.DrawFn, lowest: int = 0) -> list[Record]:
    code = st.tuples(*(st.sampled_from(codes) for codes in LEAVES.values()))
    firms = draw(st.integers(1, 6))
    record = st.tuples(
        code, st.integers(lowest, 12), st.integers(1, firms), st.sampled_from([0.4, 1.0, 1.5, 3.25])
    )
    return [
        Record(codes, value, f"f{firm}", f"g{firm % 3}", weight)
        for codes, value, firm, weight in draw(st.lists(record, min_size=1, max_size=25))
    ]


def frame(records: list[Record]) -> pa.Table:
    columns: dict[str, Any] = {d: [r.codes[i] for r in records] for i, d in enumerate(ABOVE)}
    columns["value"] = [r.value for r in records]
    columns["firm"] = [r.firm for r in records]
    columns["group"] = [r.group for r in records]
    columns["weight"] = [r.weight for r in records]
    return pa.table(columns)


def listed(table: Table) -> dict[tuple[str, ...], int]:
    part = table.structure.parts[0]
    names = [[d.codes[c] for c in part.codes[:, i]] for i, d in enumerate(table.structure.dimensions)]
    return dict(zip(zip(*names, strict=True), part.cells.tolist(), strict=True))


def check_owners(
    records: list[Record], owner: str, table: Table, count: Any, contributions: Contributions, weighted: bool
) -> None:
    """Each figure about owners, from its definition."""
    own: dict[tuple[str, ...], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    grossed: dict[tuple[str, ...], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    heaviest: dict[tuple[str, ...], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    scale = 10**table.decimals
    for record in records:
        name = getattr(record, owner)
        factor = record.weight if weighted else 1.0
        for cell in cells_of(record, table):
            own[cell][name] += record.value * scale
            grossed[cell][name] += round(record.value * factor * scale)
            heaviest[cell][name] = max(heaviest[cell][name], factor)
    depth = contributions.depth
    for key, cell in listed(table).items():
        ranked = sorted(own[key].items(), key=lambda item: (-abs(item[1]), item[0]))
        expected: list[tuple[int, str]] = []
        for name, units in ranked:
            copies = max(1, round(heaviest[key][name])) if weighted else 1
            expected += [(abs(units), name)] + [(abs(units), "")] * (copies - 1)
        expected = (expected + [(0, "")] * depth)[:depth]
        who = contributions.who[cell]
        found = [
            (int(units), contributions.name(w) if w >= 0 else "")
            for units, w in zip(contributions.values[cell], who, strict=True)
        ]
        assert found == expected
        assert count[cell] == len(own[key])
        assert contributions.sums[cell] == sum(abs(units) for units in grossed[key].values())
    cells = {cell: key for key, cell in listed(table).items()}
    everyone = np.unique(contributions.who[contributions.who >= 0])
    shares = contributions.shares_of(everyone)
    found_shares = {
        (contributions.name(w), cell): units
        for w, cell, units in zip(
            shares.who.tolist(), shares.cells.tolist(), shares.units.tolist(), strict=True
        )
    }
    names = {contributions.name(w) for w in everyone}
    assert found_shares == {
        (name, cell): own[key][name] for cell, key in cells.items() for name in own[key] if name in names
    }


def check_values(records: list[Record], table: Table, weighted: bool) -> None:
    expected: dict[tuple[str, ...], int] = defaultdict(int)
    for record in records:
        for cell in cells_of(record, table):
            expected[cell] += round(record.value * (record.weight if weighted else 1) * 10**table.decimals)
    found = {key: int(table.units[cell]) for key, cell in listed(table).items()}
    assert found == expected


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell_contributors, "ENTRIES_AT_ONCE", 4)


@examples(40)
@given(microdata(), st.sampled_from([TREES, TWO_TREES]), st.integers(1, 4), st.booleans())
def test_tabulation_is_its_definition(
    records: list[Record], trees: Trees, largest: int, weighted: bool
) -> None:
    weight = "weight" if weighted else None
    table = tabulate(frame(records), trees, "value", "firm", "group", weight, largest)
    check_values(records, table, weighted)
    assert table.contributions is not None
    assert table.holdings is not None
    check_owners(records, "firm", table, table.count, table.contributions, weighted)
    check_owners(records, "group", table, table.holding_count, table.holdings, weighted)
    if weighted:
        assert table.population is not None
        for key, cell in listed(table).items():
            heaviest: dict[str, float] = defaultdict(float)
            for record in records:
                if key in set(cells_of(record, table)):
                    heaviest[record.firm] = max(heaviest[record.firm], record.weight)
            assert table.population[cell] == pytest.approx(sum(heaviest.values()), abs=1e-9)


@examples(40)
@given(microdata(lowest=-12), st.sampled_from([TREES, TWO_TREES]), st.integers(1, 3), st.booleans())
def test_negative_contributions_count_by_size(
    records: list[Record], trees: Trees, largest: int, weighted: bool
) -> None:
    table = tabulate(frame(records), trees, "value", "firm", None, "weight" if weighted else None, largest)
    check_values(records, table, weighted)
    assert table.contributions is not None
    check_owners(records, "firm", table, table.count, table.contributions, weighted)


@examples(20)
@given(microdata(lowest=-5), st.integers(1, 3))
def test_a_record_without_respondent_stands_for_itself(records: list[Record], largest: int) -> None:
    table = tabulate(frame(records), TWO_TREES, "value", largest=largest)
    check_values(records, table, weighted=False)
    assert table.contributions is not None
    assert table.count is not None
    for key, cell in listed(table).items():
        sizes = sorted((abs(r.value) for r in records if key in set(cells_of(r, table))), reverse=True)
        assert table.count[cell] == len(sizes)
        assert table.contributions.sums[cell] == sum(sizes)
        assert table.contributions.values[cell].tolist() == (sizes + [0] * largest)[:largest]
        assert (table.contributions.who[cell] >= 0).sum() == min(largest, len(sizes))
    shares = table.contributions.shares_of(np.unique(table.contributions.who[table.contributions.who >= 0]))
    sizes_in_cells = {(w, c): abs(u) for w, c, u in zip(shares.who, shares.cells, shares.units, strict=True)}
    for cell in range(len(table)):
        for rank, who in enumerate(table.contributions.who[cell]):
            if who >= 0:
                assert sizes_in_cells[who, cell] == table.contributions.values[cell, rank]


@examples(10)
@given(st.randoms(use_true_random=False), microdata())
def test_the_order_of_records_does_not_matter(random: Any, records: list[Record]) -> None:
    shuffled = list(records)
    random.shuffle(shuffled)
    one, other = (tabulate(frame(r), TREES, "value", "firm", weight="weight") for r in (records, shuffled))
    assert np.array_equal(one.units, other.units)
    assert one.contributions is not None
    assert other.contributions is not None
    assert np.array_equal(one.contributions.values, other.contributions.values)
    assert np.array_equal(one.contributions.who, other.contributions.who)
    assert one.contributions.names == other.contributions.names
