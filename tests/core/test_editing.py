"""Tables that are typed: values, empty cells and codes change, totals follow, and nothing else moves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tacita.core.errors import DecimalSignError, HierarchyError, InputError
from tacita.core.exact import LARGEST
from tacita.core.hierarchy import Hierarchy
from tacita.core.numerals import parse_entries, parse_entry
from tacita.core.tables.contributions import Contributions
from tacita.core.tables.editing import (
    as_counts,
    renamed_code,
    renamed_dimension,
    track_cells,
    with_cells,
    with_code,
    with_values,
    without_code,
    without_contributors,
)
from tacita.core.tables.equations import Equations
from tacita.core.tables.linked import link
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table

TREE = Hierarchy.from_dict({"A": ["a1", "a2"], "B": ["b1", "b2"]})


def matrix(values: list, **options: object) -> Table:
    return Table.from_array(values, names=["row", "column"][: np.ndim(values)], **options)


def long(rows: dict[tuple[str, ...], float], by: dict[str, object], **options: object) -> Table:
    """A table from codes and values."""
    frame = pd.DataFrame([(*codes, value) for codes, value in rows.items()], columns=[*by, "value"])
    return Table.from_frame(frame, by, value="value", **options)


def system(rows: list[tuple[list[int], list[int], int]], units: list[int]) -> Table:
    """A table without dimensions, as a JJ file gives it."""
    n = len(units)
    equations = Equations.from_rows(rows, n)
    labels = tuple(map(str, range(n)))
    return Table(Structure((), np.empty((n, 0), np.int32), equations, labels=labels), np.array(units))


def value(table: Table, *codes: str) -> int:
    return int(table.units[table.find(*codes)])


def change(table: Table, *entries: tuple[tuple[str, ...], int]) -> Table:
    cells = np.array([table.find(*codes) for codes, _ in entries])
    return with_values(table, cells, np.array([units for _, units in entries]))


# ---------------------------------------------------------------------- values


def test_totals_follow_a_cell() -> None:
    table = matrix([[1, 2], [3, 4]])
    edited = change(table, (("1", "2"), 12))
    got = {c: value(edited, *c) for c in (("1", "2"), ("1", "Total"), ("Total", "2"), ("Total", "Total"))}
    assert got == {("1", "2"): 12, ("1", "Total"): 13, ("Total", "2"): 16, ("Total", "Total"): 20}
    assert value(edited, "2", "1") == 3
    assert value(table, "1", "2") == 2
    assert edited.structure is table.structure


def test_every_tree_of_a_dimension_follows() -> None:
    other = Hierarchy.from_dict({"X": ["a1", "b1"], "Y": ["a2", "b2"]})
    table = long({("a1",): 1, ("a2",): 2, ("b1",): 3, ("b2",): 4}, {"g": (TREE, other)})
    edited = change(table, (("a1",), 11), (("b2",), 0))
    assert [value(edited, c) for c in ("A", "B", "X", "Y", "Total")] == [13, 3, 14, 2, 16]


def test_linked_tables_follow_together() -> None:
    left = Table.from_array([[1, 2], [3, 4]], names=["row", "column"])
    right = Table.from_array([[1, 2], [3, 4]], names=["row", "layer"])
    table = link({"left": left, "right": right})
    cells = [table.find(row="1", column="1"), table.find(row="1", layer="2")]
    edited = with_values(table, np.array(cells), np.array([6, 7]))
    assert int(edited.units[edited.find(row="1")]) == 8
    with pytest.raises(InputError, match=r"row=1, column=Total, layer=Total.*by as much at the same time"):
        with_values(table, np.array(cells[:1]), np.array([6]))


def test_totals_are_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"\(row=1, column=Total\) is a sum: change its parts"):
        change(matrix([[1, 2], [3, 4]]), (("1", "Total"), 9))


def test_systems_without_dimensions_follow_whatever_their_signs() -> None:
    table = system([([0, 1, 2], [-1, 1, 1], 0), ([3, 0, 4], [2, -2, -2], 0)], [5, 2, 3, 6, 1])
    edited = with_values(table, np.array([1]), np.array([4]))
    assert edited.units.tolist() == [7, 4, 3, 8, 1]
    assert with_cells(table, {("1",): 4}).units.tolist() == edited.units.tolist()
    for total in (0, 3):
        with pytest.raises(InputError, match=f"cell {total}.* is a sum"):
            with_values(table, np.array([total]), np.array([9]))


def test_equations_without_a_total_need_cells_that_make_up_for_each_other() -> None:
    table = system([([0, 1, 2, 3], [1, 1, -1, -1], 0)], [1, 4, 2, 3])
    with pytest.raises(InputError, match=r"cell 0.*cell 3.*by as much at the same time"):
        with_values(table, np.array([0]), np.array([2]))
    assert with_values(table, np.array([0, 3]), np.array([2, 4])).units.tolist() == [2, 4, 2, 4]


def test_a_coefficient_that_does_not_divide_the_change_is_refused() -> None:
    table = system([([0, 1, 2], [-2, 1, 1], 0)], [3, 2, 4])
    assert with_values(table, np.array([1]), np.array([4])).units.tolist() == [4, 4, 4]
    with pytest.raises(InputError, match="no change of totals makes up"):
        with_values(table, np.array([1]), np.array([3]))


def test_a_circle_of_totals_is_refused() -> None:
    table = system([([0, 1, 2], [-1, 1, 1], 0), ([1, 0, 3], [-1, 1, 1], 0)], [1, 1, 0, 0])
    with pytest.raises(InputError, match="circle"):
        with_values(table, np.array([2]), np.array([1]))


def test_structural_zeros_stay_zero() -> None:
    frame = pd.DataFrame({"g": ["a", "b", "c"], "v": [1, 2, 0], "s": [False, False, True]})
    table = Table.from_frame(frame, ["g"], value="v", structural="s")
    with pytest.raises(InputError, match=r"\(g=c\) can only be zero"):
        change(table, (("c",), 1))
    assert value(change(table, (("c",), 0), (("a",), 5)), "Total") == 7


def test_a_structural_zero_that_is_its_total_s_last_part_stays_one() -> None:
    frame = pd.DataFrame({"g": ["a", "b"], "h": ["x", "x"], "v": [0, 4], "s": [True, False]})
    table = Table.from_frame(frame, ["g", "h"], value="v", structural="s")
    left = without_code(table, "g", "b")
    assert left.structural is not None
    assert left.structural.tolist() == [True] * len(left)


def test_what_stands_behind_values_is_not_left_behind() -> None:
    frame = pd.DataFrame({"g": ["a", "b"], "v": [10, 20], "n": [3, 4]})
    table = Table.from_frame(frame, ["g"], value="v", count="n")
    for edit in (
        lambda: change(table, (("a",), 1)),
        lambda: with_cells(table, {("a",): 1}),
        lambda: with_code(table, "g", "c"),
        lambda: without_code(table, "g", "a"),
    ):
        with pytest.raises(InputError, match=r"comes from records.*without_contributors"):
            edit()
    alone = without_contributors(table)
    assert alone.count is None
    assert value(change(alone, (("a",), 1)), "Total") == 21


def test_contributions_are_forgotten_on_request_only() -> None:
    table = matrix([1, 2])
    zeros = np.zeros((3, 1), dtype=np.int64)
    known = Table(table.structure, table.units, contributions=Contributions(zeros, zeros, zeros[:, 0]))
    with pytest.raises(InputError, match="comes from records"):
        with_values(known, np.array([1]), np.array([1]))
    assert without_contributors(known).contributions is None
    assert known.contributions is not None


def test_counts_that_are_their_own_count_go_on_being_so() -> None:
    frame = pd.DataFrame({"g": ["a", "b"], "n": [3, 4]})
    table = Table.from_frame(frame, ["g"], count="n")
    edited = change(table, (("a",), 9))
    assert edited.count is not None
    assert np.array_equal(edited.count, edited.units)
    grown = with_code(edited, "g", "c")
    assert grown.count is not None
    assert np.array_equal(grown.count, grown.units)


def test_values_too_large_are_refused_by_the_table() -> None:
    with pytest.raises(InputError, match="53 bits"):
        change(matrix([[1, 2], [3, 4]]), (("1", "1"), LARGEST))


# ---------------------------------------------------------------------- empty cells


def test_an_empty_cell_is_listed_once_it_has_a_value() -> None:
    table = long({("a1", "x"): 1, ("b1", "x"): 2, ("b1", "y"): 3}, {"g": TREE, "k": None})
    edited = with_cells(table, {("a2", "y"): 5, ("a1", "x"): 4})
    got = [value(edited, *c) for c in (("a2", "y"), ("A", "y"), ("A", "Total"), ("Total", "y"), ("Total",))]
    assert got == [5, 5, 9, 8, 14]
    at = track_cells(table.structure, edited.structure, np.arange(len(table)))
    assert at.tolist() == list(range(len(table)))
    assert edited.structure.key(int(at[0])) == table.structure.key(0)


def test_listed_cells_alone_leave_the_structure_as_it_is() -> None:
    table = matrix([[1, 2], [3, 4]])
    assert with_cells(table, {("1", "1"): 5}).structure is table.structure
    assert with_cells(table, {}) is table


def test_further_columns_go_along_and_new_cells_have_none() -> None:
    frame = pd.DataFrame({"g": ["a1", "b1", "b2"], "v": [1, 2, 3], "w": [7, 8, 9]})
    tree = Hierarchy.from_dict({"A": ["a1", "a2"], "B": ["b1", "b2"]})
    given = pd.concat([frame, pd.DataFrame({"g": ["A", "B", "Total"], "v": [1, 5, 6], "w": [1, 2, 3]})])
    table = Table.from_frame(given, {"g": tree}, value="v", columns=["w"], totals="given")
    edited = with_cells(table, {("a2",): 5})
    weight = edited.columns["w"]
    assert weight[edited.find("b2")] == 9
    assert np.isnan(weight[edited.find("a2")])


def test_cells_that_cannot_be_filled_are_refused() -> None:
    table = long({("b1",): 1, ("b2",): 2}, {"g": TREE})
    with pytest.raises(InputError, match=r"\(g=A\) is a sum"):
        with_cells(table, {("A",): 3})
    with pytest.raises(HierarchyError, match="'b9'"):
        with_cells(table, {("b9",): 3})
    with pytest.raises(InputError, match="one code for each of g"):
        with_cells(table, {("a1", "x"): 3})


def test_a_cell_listed_without_parts_does_not_become_a_sum() -> None:
    table = long({("A",): 5, ("b1",): 1, ("b2",): 2, ("B",): 3, ("Total",): 8}, {"g": TREE}, totals="given")
    with pytest.raises(InputError, match=r"\(g=A\) is listed without parts"):
        with_cells(table, {("a1",): 3})
    with pytest.raises(InputError, match=r"\(g=A\) is listed without parts"):
        with_code(table, "g", "a3", parent="A")
    assert value(with_code(table, "g", "b3", parent="B"), "Total") == 8


def test_tables_that_leave_out_totals_get_no_new_cells() -> None:
    table = long({("a1",): 1, ("b1",): 2, ("b2",): 3, ("B",): 5}, {"g": TREE}, totals="given")
    with pytest.raises(InputError, match=r"leaves out totals such as \(g=Total\)"):
        with_cells(table, {("a2",): 1})
    assert value(change(table, (("b1",), 7)), "B") == 10


def test_linked_tables_and_systems_get_no_new_cells_or_codes() -> None:
    table = link({"left": matrix([1, 2]), "right": Table.from_array([1, 2], names=["layer"])})
    with pytest.raises(InputError, match="'left', 'right' are linked"):
        with_code(table, "row", "3")
    with pytest.raises(InputError, match=r"no dimension 'row'.*a JJ file"):
        with_code(system([([0, 1], [-1, 1], 0)], [2, 2]), "row", "3")


# ---------------------------------------------------------------------- typed numbers


@pytest.mark.parametrize(
    ("text", "units", "decimals"),
    [
        ("3", 30, 1),
        (" 2.5 ", 25, 1),
        ("2.50", 25, 1),
        ("-0.125", -125, 3),
        ("\u22127", -70, 1),
        ("1\u202f234.5", 12345, 1),
        ("12 345 678", 123456780, 1),
        ("1,5", 15, 1),
        ("1.234,5", 12345, 1),
        ("1,234.5", 12345, 1),
        ("1.234.567", 12345670, 1),
        ("1.2340", 1234, 3),
        ("1e3", 10000, 1),
    ],
)
def test_typed_numbers_bring_the_decimals_they_need(text: str, units: int, decimals: int) -> None:
    table = matrix([1.5, 2.0])
    assert parse_entry(table, text) == (units, decimals)


def test_a_finer_number_fits_a_finer_table() -> None:
    table = matrix([1, 2], counts=False)
    units, decimals = parse_entry(table, "2.5")
    edited = with_cells(table.with_decimals(decimals), {("1",): units})
    assert edited.values[edited.find("Total")] == 4.5


def test_a_block_of_numbers_shares_its_decimals() -> None:
    units, decimals = parse_entries(matrix([1, 2], counts=False), ["1", "2.25", "0.5"])
    assert (units.tolist(), decimals) == ([100, 225, 50], 2)


@pytest.mark.parametrize("text", ["", "two", "7*", "1 2", "12 34", "nan", "inf", "1.2.3", "=1+1"])
def test_what_is_no_number_is_refused_with_the_remedy(text: str) -> None:
    with pytest.raises(InputError, match="is not a number: write digits"):
        parse_entry(matrix([1, 2]), text)


@pytest.mark.parametrize("text", ["1,234", "1.234", "1 234", "1'234"])
def test_thousands_of_counts_are_taken_however_they_are_grouped(text: str) -> None:
    assert parse_entry(matrix([1, 2]), text) == (1234, 0)


def test_thousands_or_decimals_of_amounts_are_asked() -> None:
    for text in ("1,234", "1.234"):
        with pytest.raises(
            DecimalSignError, match=r"thousands or have three decimals: write 1234, or 1.2340"
        ):
            parse_entry(matrix([1.5, 2]), text)
    # As the table itself shows its values.
    assert parse_entry(matrix([1.125, 2]), "1.234") == (1234, 3)
    units, decimals = parse_entries(matrix([1.5, 2]), ["1,234", "2,5"])
    assert (units.tolist(), decimals) == ([1234, 2500], 3)
    with pytest.raises(DecimalSignError, match=r"'2.5' has a decimal point, '1,5' a decimal comma"):
        parse_entries(matrix([1.5, 2]), ["1,5", "2.5"])


def test_counts_refuse_fractions_and_numbers_have_limits() -> None:
    with pytest.raises(InputError, match=r"'2.5' is no integer.*amounts"):
        parse_entry(matrix([1, 2]), "2.5")
    assert parse_entry(matrix([1, 2]), "2.0") == (2, 0)
    with pytest.raises(InputError, match="more than 12 decimals"):
        parse_entry(matrix([1, 2], counts=False), "0.1234567890123")
    with pytest.raises(InputError, match="53 bits"):
        parse_entry(matrix([1, 2]), "1e30")


def test_counts_or_amounts() -> None:
    table = matrix([1, 2])
    assert table.integer
    amounts = as_counts(table, False)
    assert not amounts.integer
    with pytest.raises(InputError, match="no integers"):
        as_counts(matrix([1.5, 2]), True)


# ---------------------------------------------------------------------- codes


def test_a_new_code_has_zeros_and_old_cells_stay_where_they_are() -> None:
    table = matrix([[1, 2], [3, 4]])
    grown = with_code(table, "row", "new", before="2")
    assert grown.structure.dimensions[0].codes == ("Total", "1", "new", "2")
    assert [value(grown, "new", column) for column in ("1", "2", "Total")] == [0, 0, 0]
    assert len(grown) == 12
    assert [grown.structure.key(i) for i in range(9)] == [table.structure.key(i) for i in range(9)]
    assert np.array_equal(grown.units[:9], table.units)
    assert value(change(grown, (("new", "1"), 5)), "Total") == 15


def test_codes_go_under_any_parent() -> None:
    table = long({("a1",): 1, ("a2",): 2, ("b1",): 3, ("b2",): 4}, {"g": TREE})
    last = with_code(table, "g", "a3", parent="A").structure.dimensions[0]
    assert last.codes == ("Total", "A", "a1", "a2", "a3", "B", "b1", "b2")
    assert last.trees[0].parent("a3") == "A"
    first = with_code(table, "g", "a0", before="a1")
    assert first.structure.dimensions[0].codes == ("Total", "A", "a0", "a1", "a2", "B", "b1", "b2")
    assert with_code(table, "g", "C").structure.dimensions[0].trees[0].parent("C") == "Total"


def test_the_first_code_under_a_leaf_is_that_leaf() -> None:
    table = matrix([5, 6])
    grown = with_code(table, "row", "part", parent="1")
    assert (value(grown, "part"), len(grown)) == (5, 3)
    two = with_code(grown, "row", "rest", parent="1")
    assert [value(two, code) for code in ("part", "rest", "1", "Total")] == [5, 0, 5, 11]


def test_a_code_that_gets_company_keeps_what_was_said_of_it() -> None:
    """A single row is the total; with a second row its cells are those of the first row."""
    table = matrix([[1, 2]])
    assert len(table) == 3
    grown = with_code(table, "row", "2")
    at = track_cells(table.structure, grown.structure, np.array([table.find("1", "2")]))
    assert at.tolist() == [grown.find("1", "2")]
    assert grown.find("1", "2") != grown.find("Total", "2")
    back = without_code(grown, "row", "2")
    assert len(back) == 3
    assert np.array_equal(np.sort(back.units), np.sort(table.units))


def test_a_dropped_code_leaves_the_totals() -> None:
    table = matrix([[1, 2], [3, 4], [5, 6]])
    less = without_code(table, "row", "2")
    assert [value(less, *c) for c in (("1", "1"), ("Total", "2"), ("Total", "Total"))] == [1, 8, 14]
    at = track_cells(table.structure, less.structure, np.arange(len(table)))
    for cell, there in enumerate(at.tolist()):
        key = table.structure.key(cell)
        assert (there < 0) == (key[0] == "2")
        assert there < 0 or less.structure.key(there) == key


def test_an_only_child_is_dropped_by_name() -> None:
    tree = Hierarchy.from_dict({"A": ["a1"], "B": ["b1", "b2"]})
    table = long({("a1",): 1, ("b1",): 3, ("b2",): 4}, {"g": tree})
    less = without_code(table, "g", "a1")
    assert [value(less, code) for code in ("A", "Total")] == [1, 8]
    at = track_cells(table.structure, less.structure, np.array([table.find("a1")]))
    assert at.tolist() == [less.find("A")]


def test_codes_that_must_stay_are_refused() -> None:
    table = long({("a1",): 1, ("a2",): 2, ("b1",): 3, ("b2",): 4}, {"g": TREE})
    with pytest.raises(InputError, match="'A' is the sum of 'a1', 'a2': drop these first"):
        without_code(table, "g", "A")
    with pytest.raises(InputError, match="'Total' is the total"):
        without_code(table, "g", "Total")
    with pytest.raises(InputError, match="'1' is the last code"):
        without_code(matrix([5]), "row", "1")
    with pytest.raises(HierarchyError, match="'a9'"):
        without_code(table, "g", "a9")
    sparse = long({("a1",): 1}, {"g": TREE})
    with pytest.raises(InputError, match="none would be left"):
        without_code(sparse, "g", "a1")


def test_new_codes_that_cannot_be_placed_are_refused() -> None:
    table = long({("a1",): 1, ("a2",): 2, ("b1",): 3, ("b2",): 4}, {"g": TREE})
    with pytest.raises(HierarchyError, match="'g' has a code 'a1' already"):
        with_code(table, "g", "a1")
    with pytest.raises(InputError, match="cannot stand before 'b1', which is not under 'A'"):
        with_code(table, "g", "x", parent="A", before="b1")
    with pytest.raises(InputError, match="cannot stand before 'Total'"):
        with_code(table, "g", "x", before="Total")
    with pytest.raises(HierarchyError, match="not a code"):
        with_code(table, "g", " ")
    with pytest.raises(InputError, match=r"no dimension 'h'.*; its dimensions: g"):
        with_code(table, "h", "x")


def test_several_trees_are_refused_by_name() -> None:
    other = Hierarchy.from_dict({"X": ["a1", "b1"], "Y": ["a2", "b2"]}, total="All")
    table = long({("a1",): 1, ("a2",): 2, ("b1",): 3, ("b2",): 4}, {"g": (TREE, other)})
    for edit in (lambda: with_code(table, "g", "c"), lambda: without_code(table, "g", "a1")):
        with pytest.raises(InputError, match="'g' has 2 trees \\('Total', 'All'\\)"):
            edit()
    renamed = renamed_code(table, "g", "a1", "one")
    assert value(change(renamed, (("one",), 11)), "X") == 14


def test_renaming_moves_nothing() -> None:
    tree = Hierarchy.flat(["a", "b"], labels={"a": "first"})
    table = long({("a", "x"): 1, ("b", "x"): 2, ("b", "y"): 3}, {"g": tree, "k": None})
    renamed = renamed_dimension(renamed_code(table, "g", "a", "alpha"), "g", "group")
    assert np.array_equal(renamed.units, table.units)
    assert renamed.structure.codes is table.structure.codes
    assert renamed.equations is table.equations
    assert renamed.find("alpha", "x") == table.find("a", "x")
    assert renamed.structure.dimensions[0].trees[0].labels == {"alpha": "first"}
    assert table.structure.dimensions[0].name == "g"


def test_names_are_unique() -> None:
    table = long({("a", "x"): 1, ("b", "x"): 2, ("b", "y"): 3}, {"g": None, "k": None})
    with pytest.raises(HierarchyError, match="has a code 'b' already"):
        renamed_code(table, "g", "a", "b")
    with pytest.raises(HierarchyError, match="'c'"):
        renamed_code(table, "g", "c", "d")
    for taken in ("k", "value", " "):
        with pytest.raises(InputError, match="dimension 'g' cannot be called"):
            renamed_dimension(table, "g", taken)
    assert renamed_code(table, "g", "a", "a") is table
    assert renamed_dimension(table, "g", "g") is table


# ---------------------------------------------------------------------- where cells are


def test_cells_are_found_by_codes_whatever_the_order_of_dimensions() -> None:
    one = long({("a", "x"): 1, ("b", "y"): 3}, {"g": None, "k": None})
    two = long({("y", "b"): 3, ("x", "b"): 2}, {"k": None, "g": None})
    cells = np.array([one.find("a", "x"), one.find("b", "y"), one.find()])
    assert track_cells(one.structure, two.structure, cells).tolist() == [-1, two.find("y", "b"), two.find()]
    assert track_cells(one.structure, matrix([1, 2]).structure, cells).tolist() == [-1, -1, -1]


def test_labels_are_found_by_name() -> None:
    one, two = system([([0, 1], [-1, 1], 0)], [2, 2]), system([([0, 1, 2], [-1, 1, 1], 0)], [3, 1, 2])
    assert track_cells(two.structure, one.structure, np.array([2, 0])).tolist() == [-1, 0]
    assert track_cells(one.structure, matrix([1, 2]).structure, np.array([1])).tolist() == [-1]
