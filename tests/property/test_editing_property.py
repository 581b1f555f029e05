"""Edited tables against tables that are built anew from the same leaf values."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacita.core.hierarchy import Hierarchy
from tacita.core.tables.build import build_table
from tacita.core.tables.dimension import Dimension
from tacita.core.tables.editing import track_cells, with_cells, with_code, without_code
from tacita.core.tables.table import Table

TREES = (
    (Hierarchy.flat(["p", "q", "r"]),),
    (Hierarchy.flat(["p"]),),
    (Hierarchy.from_dict({"A": ["p", "q"], "B": ["r"]}),),
    (Hierarchy.from_dict({"A": {"C": ["p"], "D": ["q", "s"]}, "B": ["r"]}),),
    (Hierarchy.from_dict({"A": ["p", "q"], "B": ["r"]}), Hierarchy.from_dict({"X": ["p", "r"], "Y": ["q"]})),
)

Leaves = dict[tuple[str, ...], int]


def built(dimensions: tuple[Dimension, ...], leaves: Leaves) -> Table:
    """The table of these leaf values with all its totals."""
    codes = [[d.position[code] for d, code in zip(dimensions, key, strict=True)] for key in leaves]
    units = np.array(list(leaves.values()), dtype=np.int64)
    return build_table(dimensions, np.array(codes, dtype=np.int32), units, 0, compute_totals=True)


@st.composite
def cases(draw: st.DrawFn) -> tuple[tuple[Dimension, ...], list[tuple[str, ...]], Leaves]:
    """Dimensions, all their leaf cells, and values of some of these."""
    trees = draw(st.lists(st.sampled_from(TREES), min_size=1, max_size=3))
    dimensions = tuple(Dimension(f"d{k}", tree) for k, tree in enumerate(trees))
    keys: list[tuple[str, ...]] = [()]
    for tree in trees:
        keys = [(*key, leaf) for key in keys for leaf in tree[0].leaves]
    some = draw(st.lists(st.sampled_from(keys), min_size=1, max_size=8, unique=True))
    return dimensions, keys, {key: draw(st.integers(-5, 20)) for key in some}


def contents(table: Table) -> dict[tuple[str, ...], int]:
    return {table.structure.key(i): int(table.units[i]) for i in range(len(table))}


def unmoved(old: Table, new: Table) -> bool:
    """Cells that are still there come first, in their old order."""
    at = track_cells(old.structure, new.structure, np.arange(len(old)))
    kept = np.array(list(dict.fromkeys(at[at >= 0].tolist())))
    return np.array_equal(kept, np.arange(kept.size))


@given(cases(), st.data())
def test_an_edited_table_is_the_table_of_the_edited_leaves(
    case: tuple[tuple[Dimension, ...], list[tuple[str, ...]], Leaves], data: st.DataObject
) -> None:
    dimensions, keys, leaves = case
    table = built(dimensions, leaves)
    before = table.units.copy()
    entries = data.draw(st.dictionaries(st.sampled_from(keys), st.integers(-5, 20), max_size=4))
    edited = with_cells(table, entries)
    assert contents(edited) == contents(built(dimensions, leaves | entries))
    assert unmoved(table, edited)
    assert np.array_equal(table.units, before)


@given(cases(), st.data())
def test_a_code_that_comes_and_goes_leaves_the_table_as_it_was(
    case: tuple[tuple[Dimension, ...], list[tuple[str, ...]], Leaves], data: st.DataObject
) -> None:
    dimensions, _, leaves = case
    dimensions = tuple(Dimension(d.name, d.trees[:1]) for d in dimensions)
    table = built(dimensions, leaves)
    chosen = data.draw(st.sampled_from(dimensions))
    parent = data.draw(st.sampled_from(chosen.codes))
    grown = with_code(table, chosen.name, "new", parent)
    k = dimensions.index(chosen)
    if chosen.trees[0].children(parent):
        others = {(*key[:k], "new", *key[k + 1 :]): 0 for key in leaves}
        assert contents(grown) == contents(built(grown.structure.dimensions, leaves | others))
    else:
        renamed = {
            tuple("new" if d == k and c == parent else c for d, c in enumerate(key)): v
            for key, v in leaves.items()
        }
        assert contents(grown) == contents(built(grown.structure.dimensions, renamed))
    assert unmoved(table, grown)
    assert contents(without_code(grown, chosen.name, "new")) == contents(table)


@given(cases(), st.data())
def test_a_table_without_a_code_is_the_table_of_the_other_leaves(
    case: tuple[tuple[Dimension, ...], list[tuple[str, ...]], Leaves], data: st.DataObject
) -> None:
    dimensions, _, leaves = case
    dimensions = tuple(Dimension(d.name, d.trees[:1]) for d in dimensions)
    k = data.draw(st.integers(0, len(dimensions) - 1))
    tree = dimensions[k].trees[0]
    code = data.draw(st.sampled_from(tree.leaves))
    parent = tree.parent(code)
    if len(tree) == 2 or parent is None:
        return
    if len(tree.children(parent)) == 1:
        rest = {
            (*key[:k], parent if key[k] == code else key[k], *key[k + 1 :]): v for key, v in leaves.items()
        }
    else:
        rest = {key: v for key, v in leaves.items() if key[k] != code}
    if not rest:
        return
    table = built(dimensions, leaves)
    less = without_code(table, dimensions[k].name, code)
    assert contents(less) == contents(built(less.structure.dimensions, rest))
    assert unmoved(table, less)
