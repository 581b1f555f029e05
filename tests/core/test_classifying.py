"""Tables with another classification of a dimension."""

from __future__ import annotations

import numpy as np
import pytest

from tacita.core.errors import HierarchyError, InputError
from tacita.core.hierarchy import Hierarchy
from tacita.core.hierarchy.editing import grouped, moved, renamed, ungrouped
from tacita.core.tables.classifying import classify
from tacita.core.tables.table import Table

CODES = ["N1", "N2", "S1", "North"]


def make_table(north: tuple[int, int] = (4, 6)) -> Table:
    return Table.from_array(
        np.array([[1, 2], [3, 4], [5, 6], north]), names=["region", "size"], codes=[CODES, ["a", "b"]]
    )


def tree_of(table: Table) -> Hierarchy:
    return table.structure.dimensions[0].trees[0]


def test_a_new_group_is_the_sum_of_its_codes_and_goes_again() -> None:
    table = make_table()
    made = classify(table, "region", grouped(tree_of(table), ["N1", "S1"], "odd")).table
    assert [int(made.units[made.find("odd", code)]) for code in ("a", "b", "Total")] == [6, 8, 14]
    back = classify(made, "region", ungrouped(tree_of(made), "odd"))
    assert len(back.table) == len(table)
    assert int((back.places < 0).sum()) == 3


def test_a_code_becomes_a_total_where_it_is_the_sum() -> None:
    table = make_table()
    made = classify(table, "region", moved(tree_of(table), ["N1", "N2"], "North")).table
    assert int(made.units[made.find("Total", "Total")]) == 21
    wrong = make_table((9, 6))
    with pytest.raises(InputError, match=r"region=North, size=a.* is 9, but .* add up to 4"):
        classify(wrong, "region", moved(tree_of(wrong), ["N1", "N2"], "North"))


def test_cells_of_a_renamed_group_stay_where_they_are() -> None:
    table = make_table()
    made = classify(table, "region", grouped(tree_of(table), ["N1", "S1"], "odd")).table
    again = classify(made, "region", renamed(tree_of(made), "odd", "uneven"))
    assert again.places.tolist() == list(range(len(made)))
    # As many cells, yet others: a group is replaced by one of other codes.
    other = grouped(ungrouped(tree_of(made), "odd"), ["N1", "N2"], "first")
    swapped = classify(made, "region", other)
    assert len(swapped.table) == len(made)
    assert swapped.places[made.find("odd", "a")] == -1
    assert swapped.places[made.find("S1", "a")] == swapped.table.find("S1", "a")


def test_a_code_without_a_place_is_refused() -> None:
    with pytest.raises(HierarchyError, match="'S1' of 'region' has no place in the classification"):
        classify(make_table(), "region", Hierarchy.flat(["N1", "N2", "North"]))
