"""Tables: equations, roll-up, and what is refused, repaired or worked out on the way in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tacita.core.errors import HierarchyError, InputError, NotAdditiveError
from tacita.core.exact import LARGEST, UNBOUNDED
from tacita.core.hierarchy import Hierarchy
from tacita.core.tables.equations import Equations
from tacita.core.tables.rollup import roll_up
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table

TREE = Hierarchy.from_dict({"T": {"A": ["a1", "a2"], "B": ["b1", "b2", "b3"]}})


def column(
    values: dict[str, float], tree: Hierarchy | tuple[Hierarchy, ...] = TREE, **options: object
) -> Table:
    """A one-dimensional table from code and value."""
    frame = pd.DataFrame({"r": list(values), "v": list(values.values())})
    return Table.from_frame(frame, {"r": tree}, value="v", **options)


# ---------------------------------------------------------------------- equations


def test_a_matrix_has_one_equation_per_line_and_total() -> None:
    table = Table.from_array([[1, 2, 3], [4, 5, 6]])
    assert (len(table), len(table.equations)) == (12, 7)
    for cells, coefficients, rhs in table.equations:
        assert sorted(coefficients.tolist()) == [-1] + [1] * (cells.size - 1)
        assert rhs == 0
    assert table.structure.is_total.sum() == 6
    assert not table.equations.residuals(table.units).any()


@pytest.mark.parametrize(
    ("shape", "cells", "equations"), [((4,), 5, 1), ((2, 3), 12, 7), ((2, 2, 2), 27, 27)]
)
def test_numbers_of_cells_and_equations(shape: tuple[int, ...], cells: int, equations: int) -> None:
    table = Table.from_array(np.ones(shape, dtype=int))
    assert (len(table), len(table.equations)) == (cells, equations)


def test_hierarchies_give_an_equation_per_family() -> None:
    table = column({"a1": 1, "a2": 2, "b1": 3, "b2": 4, "b3": 5})
    value = {code: table.units[table.find(code)] for code in ("T", "A", "B")}
    assert value == {"T": 15, "A": 3, "B": 12}
    assert len(table.equations) == 3


def test_empty_cells_take_no_part() -> None:
    table = column({"a1": 1, "b1": 3, "b2": 4})
    assert len(table) == 6
    with pytest.raises(InputError, match=r"\(r=a2\): it is empty"):
        table.find("a2")


def test_a_level_that_is_not_listed_is_left_out_by_readers_too() -> None:
    """T = a1 + a2 + B, though nobody printed A: hiding a1 alone would hide nothing."""
    table = column({"T": 15, "a1": 1, "a2": 2, "B": 12, "b1": 3, "b2": 4, "b3": 5}, totals="given")
    families = [["T", "a1", "a2", "B"], ["B", "b1", "b2", "b3"]]
    found = [cells.tolist() for cells, _, _ in table.equations]
    assert found == [[table.find(code) for code in family] for family in families]
    with pytest.raises(NotAdditiveError, match=r"\(r=Total\).*exceed the total by 1"):
        column({"T": 14, "a1": 1, "a2": 2, "b1": 3, "b2": 4, "b3": 5}, totals="given")


def test_cells_without_any_total_are_no_sum() -> None:
    table = column({"a1": 1, "a2": 2, "B": 12, "b1": 3, "b2": 4, "b3": 5}, totals="given")
    assert len(table.equations) == 1
    assert table.notes == ("2 sums have no total among the cells: they bind nothing",)


def test_a_grand_total_without_the_sums_between_is_refused() -> None:
    """Every reader adds up the inner cells; without margins there is no equation that says so."""
    rows = [("1", "1", 1), ("1", "2", 2), ("2", "1", 3), ("2", "2", 4)]
    both = {"p": Hierarchy.flat(["1", "2"]), "q": Hierarchy.flat(["1", "2"])}
    margin = [("1", "Total", 3), ("2", "Total", 7), ("Total", "Total", 10)]

    def listed(cells: list[tuple[str, str, int]]) -> Table:
        frame = pd.DataFrame(cells, columns=["p", "q", "v"])
        return Table.from_frame(frame, both, value="v", totals="given")

    assert len(listed([*rows, *margin]).equations) == 3
    assert len(listed([*rows, *margin[:2]]).equations) == 2
    with pytest.raises(InputError, match=r"\(p=Total, q=Total\) is the total of listed cells"):
        listed([*rows, margin[2]])


def test_several_trees_over_one_variable_hold_together() -> None:
    other = Hierarchy.from_dict({"T": {"coast": ["a1", "b1"], "inland": ["a2", "b2", "b3"]}})
    table = column({"a1": 1, "a2": 2, "b1": 3, "b2": 4, "b3": 5}, (TREE, other))
    found = {code: int(table.units[table.find(code)]) for code in ("T", "A", "B", "coast", "inland")}
    assert found == {"T": 15, "A": 3, "B": 12, "coast": 4, "inland": 11}
    assert len(table.equations) == 6


def test_trees_that_use_a_code_for_different_leaves_are_refused() -> None:
    other = Hierarchy.from_dict({"T": {"A": ["a1", "b1"], "rest": ["a2", "b2", "b3"]}})
    with pytest.raises(HierarchyError, match="'A' stands for different leaves"):
        column({"a1": 1, "a2": 2, "b1": 3}, (TREE, other))


def test_a_node_and_its_only_child_are_one_cell() -> None:
    tree = Hierarchy.from_dict({"T": {"A": ["a1", "a2"], "C": ["c1"]}})
    table = column({"a1": 1, "a2": 2, "c1": 3}, tree)
    assert table.find("C") == table.find("c1")
    assert len(table) == 5
    given = column({"T": 6, "A": 3, "a1": 1, "a2": 2, "C": 3, "c1": 3}, tree, totals="given")
    assert len(given) == 5
    with pytest.raises(InputError, match="the same cell"):
        column({"T": 6, "A": 3, "a1": 1, "a2": 2, "C": 3, "c1": 4}, tree, totals="given")


def test_repeated_equations_are_found_with_signs_turned_but_not_by_resemblance() -> None:
    rows = [
        ([0, 1, 2], [-1, 1, 1], 0),
        ([2, 0, 1], [-1, 1, -1], 0),
        ([0, 1, 2], [-1, 1, 1], 5),
        ([0, 1, 2], [-2, 2, 2], 0),
        ([0, 1, 2], [-1, 1, 1], 0),
    ]
    assert Equations.from_rows(rows, 3).duplicates.tolist() == [False, True, False, False, True]


def test_residuals_do_not_wrap_around() -> None:
    """2048 parts of 2**53 sum to 2**64, which 64 bits take for zero."""
    n = 2048
    equations = Equations.from_rows([([*range(n + 1)], [1] * n + [-1], 0)], n + 1)
    units = np.array([LARGEST] * n + [0])
    assert equations.residuals(units).tolist() == [UNBOUNDED]
    assert equations.residuals(np.array([1] * n + [n])).tolist() == [0]


def test_roll_up_adds_each_leaf_once_to_each_cell_above() -> None:
    generator = np.random.default_rng(5)
    values = generator.integers(0, 9, (3, 4, 2))
    table = Table.from_array(values)
    for codes, units in zip(table.structure.codes, table.units, strict=True):
        box = tuple(slice(None) if code == 0 else code - 1 for code in codes)
        assert values[box].sum() == units
    rolled = roll_up(table.structure.dimensions, np.array([[1, 1, 1], [1, 1, 1]], dtype=np.int32))
    assert rolled.add(np.array([2, 3])).tolist() == [5] * 8


# ---------------------------------------------------------------------- what does not add up


def test_wrong_totals_are_named_with_their_amount() -> None:
    with pytest.raises(NotAdditiveError) as error:
        Table.from_array([[1, 2, 3], [3, 4, 8], [4, 6, 10]], totals=True)
    message = str(error.value)
    assert "2 of 6 equations" in message
    assert (
        "(row=2, column=Total) = sum of 2 cells along column: the parts fall short of the total by 1"
        in message
    )
    assert "repair" in message


def test_repair_computes_totals_anew_and_says_so() -> None:
    table = Table.from_array([[1, 2, 3], [3, 4, 8], [4, 6, 10]], totals=True, repair=True)
    assert table.units[table.find("2")] == 7
    assert table.notes == ("total (row=2, column=Total) corrected by -1",)


def test_repair_reaches_the_top_from_the_bottom() -> None:
    given = {"T": 99, "A": 50, "a1": 1, "a2": 2, "B": 70, "b1": 3, "b2": 4, "b3": 5}
    table = column(given, totals="given", repair=True)
    assert {code: int(table.units[table.find(code)]) for code in "TAB"} == {"T": 15, "A": 3, "B": 12}


def test_a_total_too_large_to_be_exact_is_refused() -> None:
    for n in (2, 1500, 2048):
        with pytest.raises(InputError, match=r"53 bits|does not add up"):
            Table.from_array(np.full(n, LARGEST))


def test_counts_are_whole_numbers() -> None:
    with pytest.raises(InputError, match=r"no integers.*Correct them, or say that they are amounts"):
        Table.from_array([[0.5, 1.5], [2.5, 3.5]], counts=True)
    assert Table.from_array([[1.0, 2.0]]).integer
    assert not Table.from_array([[1.5, 2.0]]).integer
    assert not Table.from_array([[-1, 2]]).integer
    assert Table.from_array([[1, 2]], decimals=1, counts=True).unit == 10


# ---------------------------------------------------------------------- three kinds of nothing


def test_missing_values_are_worked_out_where_totals_tell_them() -> None:
    table = Table.from_array([[np.nan, 2, 3], [3, 4, 7], [4, np.nan, 10]], totals=True)
    assert table.units[table.find("1", "1")] == 1
    assert table.units[table.find("Total", "2")] == 6
    assert table.notes == (
        "2 missing values computed from the others: (row=1, column=1); (row=Total, column=2)",
    )


def test_missing_values_that_nothing_determines_are_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"no value for .*row=1, column=1.*do not determine"):
        Table.from_array([[np.nan, np.nan, 3], [np.nan, np.nan, 7], [4, 6, 10]], totals=True)
    with pytest.raises(InputError, match=r"no value for \(row=1, column=2\)"):
        Table.from_array([[1, np.nan], [3, 4]])


def test_a_structural_zero_must_be_zero() -> None:
    table = Table.from_array([0, 5])
    marks = np.zeros(len(table), dtype=bool)
    marks[table.find("1")] = True
    assert replace(table, structural=marks).structural is marks
    with pytest.raises(InputError, match=r"structural zeros with a value: \(row=2\)"):
        replace(table, structural=np.roll(marks, 1))


def test_negative_values_add_up_like_others() -> None:
    table = Table.from_array([[-1.5, 2.25], [0, -4]])
    assert table.values[table.find()] == -3.25
    assert table.decimals == 2


# ---------------------------------------------------------------------- finer counting, other cells


def test_a_finer_last_place_changes_no_value() -> None:
    equations = Equations.from_rows([([0, 1], [1, 1], 7)], 2)
    table = Table(Structure((), np.empty((2, 0), np.int32), equations, ("a", "b")), np.array([3, 4]))
    finer = table.with_decimals(2)
    assert finer.units.tolist() == [300, 400]
    assert finer.equations.rhs.tolist() == [700]
    assert np.array_equal(finer.values, table.values)
    with pytest.raises(InputError, match="cannot drop decimals"):
        finer.with_decimals(0)


def test_same_cells_means_names_and_order_not_values() -> None:
    structure = Table.from_array([[1, 2], [3, 4]]).structure
    assert structure.same_cells(Table.from_array([[5, 6], [7, 8]]).structure)
    assert structure.same_cells(Table.from_array([[1, 2], [3, 4]]).with_decimals(3).structure)
    assert not structure.same_cells(Table.from_array([[1, 2], [3, 4]], names=["a", "b"]).structure)
    assert not structure.same_cells(Table.from_array([[1, 2], [3, 4]], codes=["xy", "12"]).structure)
    upwards = {"T": 3, "A": 3, "a1": 1, "a2": 2}
    downwards = dict(reversed(upwards.items()))
    one, other = (column(values, totals="given").structure for values in (upwards, downwards))
    assert not one.same_cells(other)


def test_values_for_other_cells_are_refused() -> None:
    table = Table.from_array([1, 2])
    with pytest.raises(InputError, match="2 values for 3 cells"):
        replace(table, units=np.array([1, 2]))


def test_a_forgotten_hierarchy_is_named_and_not_repaired_away() -> None:
    rows = {"Total": 10, "N": 4, "n1": 1, "n2": 3, "S": 6, "s1": 2, "s2": 4}
    frame = pd.DataFrame({"r": list(rows), "v": list(rows.values())})
    for repair in (False, True):
        with pytest.raises(NotAdditiveError, match=r"is a hierarchy missing\? Give the classification"):
            Table.from_frame(frame, {"r": "Total"}, value="v", repair=repair)
    tree = Hierarchy.from_dict({"N": ["n1", "n2"], "S": ["s1", "s2"]})
    assert len(Table.from_frame(frame, {"r": tree}, value="v").equations) == 3
