"""From one sensitive cell to the next: each is met once, in the order of reading, and can then be seen."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacita.app.work.seek_cell import seek
from tacita.app.work.view import Arrangement, find_place
from tacita.core.tables.linked import link
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table
from tacita.generate import table as random_table


def walk(structure: Structure, cells: list[int], arrangement: Arrangement, step: int) -> list[int]:
    """The cells that are met when one goes on from the first place as often as there are cells."""
    met, place = [], (0, 0)
    for _ in cells:
        where = arrangement.lay_out(structure)
        found = seek(np.array(cells), step, arrangement, where, *place)
        arrangement = arrangement.shift_to(structure, found.cell)
        shown = find_place(arrangement.lay_out(structure), found.cell)
        assert shown is not None
        met.append(found.cell)
        place = shown
    return met


@given(data=st.data(), dimensions=st.integers(1, 4), step=st.sampled_from([1, -1]))
def test_all_are_met_and_each_is_in_view_then(data: st.DataObject, dimensions: int, step: int) -> None:
    shape = (3, 2, 3, 2)[:dimensions]
    structure = random_table(shape, "uniform", zeros=0.3, hierarchy=(1,) * dimensions, seed=5).structure
    names = [dimension.name for dimension in structure.dimensions]
    arrangement = Arrangement(rows=data.draw(st.sampled_from([None, *names])))
    cells = data.draw(st.lists(st.integers(0, len(structure) - 1), min_size=1, unique=True))
    assert sorted(walk(structure, cells, arrangement, step)) == sorted(cells)


def test_the_order_is_row_by_row_and_then_slice_by_slice() -> None:
    table = Table.from_array(np.ones((2, 2, 2), dtype=int), names=("a", "b", "c"))
    codes = [d.codes for d in table.structure.dimensions]
    a, b, c = ([code for code in own if code != "Total"] for own in codes)
    keys = [(a[1], b[0], c[0]), (a[0], b[1], c[1]), (a[0], b[1], c[0]), ("Total", b[0], c[0])]
    cells = [table.find(*key) for key in keys]
    held = {"c": c[0]}
    assert walk(table.structure, cells, Arrangement("a", "b", held), 1) == [cells[k] for k in (2, 0, 3, 1)]
    assert walk(table.structure, cells, Arrangement("b", "a", held), 1) == [cells[k] for k in (0, 3, 2, 1)]


def test_from_an_empty_place_one_goes_on_from_there() -> None:
    where = Arrangement().lay_out(random_table((3, 3), "uniform", zeros=0.5, seed=3).structure)
    before, after = where.cells[0, 1], where.cells[2, 2]
    assert where.cells[1, 1] < 0 <= min(before, after)
    for step, cell, number in ((1, after, 2), (-1, before, 1)):
        found = seek(np.array([after, before]), step, Arrangement(), where, 1, 1)
        assert (found.cell, found.number, found.count) == (cell, number, 2)


def test_cells_of_linked_tables_are_all_met() -> None:
    """Also those that two tables show, from whichever table one starts."""
    values = np.arange(1, 5).reshape(2, 2)
    sex = Table.from_array(values, names=("region", "sex"), codes=(("N", "S"), ("f", "m")))
    age = Table.from_array(values, names=("region", "age"), codes=(("N", "S"), ("young", "old")))
    linked = link({"sex": sex, "age": age})
    cells = list(range(len(linked)))
    for part in ("sex", "age"):
        assert sorted(walk(linked.structure, cells, Arrangement(part=part), 1)) == cells
