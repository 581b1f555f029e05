"""Tables as rows by columns: order, depth, what is fixed, and where each cell stands."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacita.core.errors import HierarchyError, InputError
from tacita.core.hierarchy import Hierarchy
from tacita.core.tables.equations import Equations
from tacita.core.tables.layout import Layout, lay_out
from tacita.core.tables.linked import link
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table
from tacita.testing import TABLE_KINDS, hard_table

TREE = Hierarchy.from_dict({"A": ["a1", "a2"], "B": ["b1"]})


def codes(lines: tuple) -> list[str]:
    return [line.code for line in lines]


def tree_table(*trees: Hierarchy) -> Table:
    frame = pd.DataFrame({"g": ["a1", "a2", "b1"], "v": [1, 2, 3]})
    return Table.from_frame(frame, {"g": trees}, value="v")


def cube() -> Table:
    return Table.from_array(np.arange(24).reshape(2, 3, 4), names=["x", "y", "z"])


def test_rows_by_columns_show_every_cell_of_a_matrix() -> None:
    table = Table.from_array([[1, 2, 3], [4, 5, 6]])
    shown = lay_out(table.structure)
    assert (codes(shown.rows), codes(shown.columns)) == (["1", "2", "Total"], ["1", "2", "3", "Total"])
    assert table.units[shown.cells].tolist() == [[1, 2, 3, 6], [4, 5, 6, 15], [5, 7, 9, 21]]
    assert (shown.row_dimension, shown.column_dimension, shown.fixed) == (0, 1, {})


def test_a_total_comes_after_its_parts_or_before_them() -> None:
    table = tree_table(TREE)
    last = lay_out(table.structure)
    assert [(line.code, line.depth, line.parent, line.leaf) for line in last.rows] == [
        ("a1", 2, 2, True),
        ("a2", 2, 2, True),
        ("A", 1, 5, False),
        ("b1", 2, 4, True),
        ("B", 1, 5, False),
        ("Total", 0, -1, False),
    ]
    first = lay_out(table.structure, total_last=False)
    assert codes(first.rows) == ["Total", "A", "a1", "a2", "B", "b1"]
    assert [line.parent for line in first.rows] == [-1, 0, 1, 1, 0, 4]


def test_lines_have_the_labels_of_their_codes_unless_the_code_says_as_much() -> None:
    tree = Hierarchy.from_dict({"A": ["a1", "a2"], "B": ["b1"]}, labels={"A": "Farming", "a1": "a1"})
    labels = {line.code: line.label for line in lay_out(tree_table(tree).structure).rows}
    assert labels == {"a1": "", "a2": "", "A": "Farming", "b1": "", "B": "", "Total": ""}


def test_one_dimension_has_one_column() -> None:
    shown = lay_out(tree_table(TREE).structure)
    assert (codes(shown.columns), shown.column_dimension, shown.cells.shape) == (["value"], None, (6, 1))
    assert shown.codes_at(0, 0) == ("a1",)


def test_an_only_child_and_its_parent_show_the_same_cell() -> None:
    shown = lay_out(tree_table(TREE).structure)
    at = {line.code: int(cell) for line, cell in zip(shown.rows, shown.cells[:, 0], strict=True)}
    assert at["b1"] == at["B"] != at["A"]


def test_codes_of_later_trees_follow() -> None:
    travel = Hierarchy.from_dict({"X": ["a1", "b1"], "Y": ["a2"]})
    shown = lay_out(tree_table(TREE, travel).structure)
    assert codes(shown.rows) == ["a1", "a2", "A", "b1", "B", "X", "Y", "Total"]
    line = shown.rows[codes(shown.rows).index("X")]
    assert (line.depth, line.parent, line.leaf) == (1, 7, False)
    own_root = Hierarchy.from_dict({"X": ["a1", "b1"], "Y": ["a2"]}, total="All")
    shown = lay_out(tree_table(TREE, own_root).structure)
    assert codes(shown.rows) == ["a1", "a2", "A", "b1", "B", "Total", "X", "Y", "All"]
    assert [line.parent for line in shown.rows[-3:]] == [8, 8, -1]


def test_dimensions_are_chosen_and_fixed_by_name() -> None:
    table = cube()
    assert lay_out(table.structure).fixed == {2: "Total"}
    shown = lay_out(table.structure, "z", "x", {"y": "2"})
    assert (shown.row_dimension, shown.column_dimension, shown.fixed) == (2, 0, {1: "2"})
    assert shown.codes_at(3, 0) == ("1", "2", "4")
    assert int(table.units[shown.cells[3, 0]]) == 7
    assert lay_out(table.structure, columns="x").row_dimension == 1
    assert lay_out(table.structure, rows="y").column_dimension == 0


def test_empty_cells_have_a_place_and_codes() -> None:
    frame = pd.DataFrame({"g": ["a", "b"], "k": ["x", "y"], "v": [1, 2]})
    table = Table.from_frame(frame, ["g", "k"], value="v")
    shown = lay_out(table.structure)
    assert shown.cells[0, 1] == -1
    assert shown.codes_at(0, 1) == ("a", "y")


def test_systems_without_dimensions_are_listed() -> None:
    equations = Equations.from_rows([([0, 1, 2], [-1, 1, 1], 0), ([3, 0], [2, -2], 0)], 4)
    structure = Structure((), np.empty((4, 0), np.int32), equations, labels=("t", "a", "b", "u"))
    shown = lay_out(structure)
    assert codes(shown.rows) == ["t", "a", "b", "u"]
    assert [line.leaf for line in shown.rows] == [False, True, True, True]
    assert shown.cells.tolist() == [[0], [1], [2], [3]]
    assert structure.find(*shown.codes_at(2, 0)) == 2


def test_linked_tables_are_shown_one_by_one() -> None:
    left = Table.from_array([[1, 2], [3, 4]], names=["row", "column"])
    right = Table.from_array(
        [[1, 2, 0], [3, 3, 1]], names=["row", "layer"], codes=[["1", "2"], ["i", "j", "k"]]
    )
    table = link({"left": left, "right": right})
    assert codes(lay_out(table.structure).columns) == ["1", "2", "Total"]
    shown = lay_out(table.structure, part="right")
    assert codes(shown.columns) == ["i", "j", "k", "Total"]
    assert table.units[shown.cells].tolist() == [[1, 2, 0, 3], [3, 3, 1, 7], [4, 5, 1, 10]]
    assert shown.fixed == {1: "Total"}
    with pytest.raises(InputError, match=r"no table 'wright' \(did you mean 'right'\?\)"):
        lay_out(table.structure, part="wright")


def test_a_part_shows_only_its_own_codes() -> None:
    """One table has the finest codes, the other only the upper ones."""
    fine = tree_table(TREE)
    rows = pd.DataFrame(
        {
            "g": ["A", "A", "B", "B", "Total", "Total", "A", "B", "Total"],
            "k": ["x", "y", "x", "y", "x", "y", "Total", "Total", "Total"],
            "v": [1, 2, 1, 2, 2, 4, 3, 3, 6],
        }
    )
    coarse = Table.from_frame(rows, {"g": TREE, "k": None}, value="v", totals="given")
    shown = lay_out(link({"fine": fine, "coarse": coarse}).structure, part="coarse")
    assert [(line.code, line.parent, line.leaf) for line in shown.rows] == [
        ("A", 2, True),
        ("B", 2, True),
        ("Total", -1, False),
    ]


def test_what_cannot_be_shown_is_refused_by_name() -> None:
    structure = cube().structure
    with pytest.raises(InputError, match="no dimension 'w'; there are x, y, z"):
        lay_out(structure, rows="w")
    with pytest.raises(InputError, match="'x' cannot run both"):
        lay_out(structure, "x", "x")
    with pytest.raises(InputError, match="'x' runs along the table"):
        lay_out(structure, fixed={"x": "1"})
    with pytest.raises(HierarchyError, match="'9'"):
        lay_out(structure, fixed={"z": "9"})
    with pytest.raises(InputError, match="'g' is the only dimension"):
        lay_out(tree_table(TREE).structure, columns="g")


def every_layout(structure: Structure) -> list[Layout]:
    """For every choice of rows, columns, fixed codes and part."""
    found = []
    for part in structure.parts:
        names = [structure.dimensions[d].name for d in part.dimensions]
        by_name = {d.name: d for d in structure.dimensions}
        for rows, *columns in itertools.permutations(names, min(2, len(names))):
            others = [name for name in names if name != rows and name not in columns]
            for choice in itertools.product(*(by_name[name].codes for name in others)):
                fixed = dict(zip(others, choice, strict=True))
                column = columns[0] if columns else None
                found.append(lay_out(structure, rows, column, fixed, part=part.name))
    return found


@given(st.randoms(use_true_random=False), st.sampled_from(TABLE_KINDS), st.booleans())
def test_every_cell_appears_and_its_codes_find_it(random: object, kind: str, total_last: bool) -> None:
    structure = hard_table(random, kind).structure
    seen: set[int] = set()
    for shown in every_layout(structure):
        for row, column in itertools.product(range(len(shown.rows)), range(len(shown.columns))):
            cell = int(shown.cells[row, column])
            if cell >= 0:
                assert structure.find(*shown.codes_at(row, column)) == cell
        seen.update(shown.cells.ravel().tolist())
    assert seen >= set(range(len(structure)))
    lines = lay_out(structure, total_last=total_last).rows
    for at, line in enumerate(lines):
        assert line.depth == (lines[line.parent].depth + 1 if line.parent >= 0 else 0)
        assert line.parent < 0 or (line.parent > at) == total_last
