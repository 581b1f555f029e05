"""What is typed or pasted into a sheet becomes a table, all of it or nothing."""

from __future__ import annotations

import pytest

from tacita.app.sheet import Entry
from tacita.app.work.entries import enter, find_wrong_sum
from tacita.app.work.view import Arrangement
from tacita.core.errors import InputError
from tacita.core.tables.table import Table
from tacita.generate import table as random_table


def amounts() -> Table:
    return Table.from_array([[5, 10], [20, 40]], names=("region", "sex"), counts=False)


def test_a_block_is_entered_and_totals_follow() -> None:
    table = amounts()
    where = Arrangement().lay_out(table.structure)
    changed = enter(table, where, [Entry(0, 0, "6"), Entry(1, 1, "41")])
    assert changed.values[changed.find()] == 77
    assert table.values[table.find()] == 75


def test_one_bad_entry_keeps_the_others_out_and_is_named() -> None:
    table = amounts()
    where = Arrangement().lay_out(table.structure)
    with pytest.raises(InputError, match=r"\(region=2, sex=1\).*'many' is not a number.*Nothing was entered"):
        enter(table, where, [Entry(0, 0, "6"), Entry(1, 0, "many")])


def test_decimals_are_taken_up_by_the_table() -> None:
    table = amounts()
    changed = enter(table, Arrangement().lay_out(table.structure), [Entry(0, 0, "5.25")])
    assert changed.decimals == 2
    assert changed.values[changed.find()] == 75.25


def test_zero_leaves_an_empty_cell_empty_and_a_number_lists_it() -> None:
    table = random_table((3, 3), "uniform", zeros=0.5, seed=3)
    where = Arrangement().lay_out(table.structure)
    row, column = next((r, c) for r in range(3) for c in range(3) if where.cells[r, c] < 0)
    assert len(enter(table, where, [Entry(row, column, "0")])) == len(table)
    filled = enter(table, where, [Entry(row, column, "9")])
    assert filled.values[filled.find(*where.codes_at(row, column))] == 9
    assert filled.values[filled.find()] == table.values[table.find()] + 9


def test_pasted_sums_that_differ_are_told() -> None:
    table = amounts()
    where = Arrangement().lay_out(table.structure)
    total = next(r for r, line in enumerate(where.rows) if not line.leaf)
    block = [Entry(0, 0, "1"), Entry(1, 0, "2"), Entry(total, 0, "11", True)]
    changed = enter(table, where, block)
    assert changed.values[changed.find("Total", "1")] == 3
    said = find_wrong_sum(changed, where, block)
    assert said is not None
    assert str(said).startswith("(region=Total, sex=1): 11 was pasted, but its parts add up to 3.")
    assert said.entry == block[2]
    agreeing = [*block[:2], Entry(total, 0, "3.0", True)]
    assert find_wrong_sum(changed, where, agreeing) is None
    assert find_wrong_sum(changed, where, [*block[:2], Entry(total, 0, "x", True)]) is None


def test_sums_are_read_as_their_parts_are() -> None:
    table = amounts()
    where = Arrangement().lay_out(table.structure)
    total = next(r for r, line in enumerate(where.rows) if not line.leaf)
    block = [Entry(0, 0, "1,5"), Entry(1, 0, "2,25"), Entry(total, 0, "3,750", True)]
    changed = enter(table, where, block)
    assert changed.decimals == 2
    assert find_wrong_sum(changed, where, block) is None
