"""The part of a table that is a network: which totals are in it, and what the others are made of."""

from __future__ import annotations

import random

import numpy as np
import pytest

import tacita as tc
from tacita.core.tables.equations import Equations
from tacita.core.tables.structure import Structure
from tacita.methods.unbiased_rounding.two_trees import TwoTrees, complete_totals
from tacita.testing import hard_table


def test_three_dimensions_lose_as_few_totals_as_can_be() -> None:
    """Over k, the longest: 6 totals of i and j, 2 of i; each is a sum over the four codes of k."""
    table = tc.Table.from_array(np.ones((2, 3, 4), dtype=int), names=["i", "j", "k"])
    pieces = TwoTrees.of(table.structure).n_parts
    over = {tuple(code == "Total" for code in table.structure.key(c)) for c in np.flatnonzero(pieces > 1)}
    assert over == {(False, False, True), (False, True, True)}
    assert sorted(pieces[pieces > 1].tolist()) == [4] * 8


@pytest.mark.parametrize("kind", ["flat", "tree", "cube", "two trees"])
@pytest.mark.parametrize("seed", range(4))
def test_every_arc_and_every_piece_adds_up(kind: str, seed: int) -> None:
    """Values of the table flow through the network without loss; inner cells give back all others."""
    table = hard_table(random.Random(seed), kind)
    trees = TwoTrees.of(table.structure)
    flow = table.units[trees.cell]
    left = np.bincount(trees.network.tail, flow, trees.network.n_nodes)
    came = np.bincount(trees.network.head, flow, trees.network.n_nodes)
    assert np.array_equal(left[:-1], came[:-1])
    assert set(trees.cell.tolist()) == set(np.flatnonzero(trees.n_parts == 1).tolist())
    value, known = complete_totals(table.equations, ~table.structure.is_total, table.units)
    assert known.all()
    assert np.array_equal(value, table.units)


def test_networks_are_kept_whole() -> None:
    for kind in ("flat", "tree"):
        trees = TwoTrees.of(hard_table(random.Random(1), kind).structure)
        assert (trees.n_parts == 1).all()


def test_two_hierarchies_lose_only_subtotals_of_both() -> None:
    table = hard_table(random.Random(0), "two trees")
    trees, structure = TwoTrees.of(table.structure), table.structure
    between = np.ones(len(table), dtype=bool)
    for d, dimension in enumerate(structure.dimensions):
        root = dimension.index(dimension.total)
        between &= ~dimension.is_leaf[structure.codes[:, d]] & (structure.codes[:, d] != root)
    assert np.array_equal(trees.n_parts > 1, between)
    assert between.any()


def test_linked_tables_have_no_such_part() -> None:
    assert TwoTrees.of(hard_table(random.Random(0), "linked").structure) is None


def test_systems_without_dimensions() -> None:
    """Cells 0-3 in three groupings: 4 = 0 + 1, 5 = 2 + 3; 6 = 0 + 2, 7 = 1 + 3; 8 = 0 + 3, 9 = 1 + 2."""
    sums = {4: (0, 1), 5: (2, 3), 6: (0, 2), 7: (1, 3), 8: (0, 3), 9: (1, 2)}
    rows = [((total, *parts), (-1, 1, 1), 0) for total, parts in sums.items()]
    structure = Structure(
        (), np.zeros((10, 0), np.int32), Equations.from_rows(rows, 10), labels=tuple("abcdefghij")
    )
    pieces = TwoTrees.of(structure).n_parts
    assert (pieces[:4] == 1).all()
    assert sorted(pieces[4:].tolist()) == [1, 1, 1, 1, 2, 2]


def test_of_several_sums_the_one_of_fewest_pieces_counts() -> None:
    equations = Equations.from_rows([((0, 1, 2, 3), (-1, 1, 1, 1), 0), ((0, 4, 5), (-1, 1, 1), 0)], 6)
    known = np.arange(6) > 0
    value, told = complete_totals(equations, known, known.astype(np.int64))
    assert told.all()
    assert value.tolist() == [2, 1, 1, 1, 1, 1]
