"""Gonzalez and Cox (2005), Table VI: adjustment of counts of which those below 5 become 0 or 5."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from tacita.core.run import Run
from tacita.examples.printed import NCHS
from tacita.methods.adjustment.convex.solve_convex import solve_convex
from tacita.methods.adjustment.directions.choose_directions import How, choose_directions
from tacita.methods.adjustment.task import AdjustmentTask, DirectionChoice

TABLE_1 = np.array(NCHS)
THRESHOLD = 5


def table_6() -> AdjustmentTask:
    """Totals stay as they are; a sensitive count goes to 0 or to the threshold and nowhere else."""
    rows, columns = TABLE_1.shape
    value, cell = TABLE_1.ravel().astype(np.int64), np.arange(TABLE_1.size)
    at = np.append(cell // columns, rows + cell % columns), np.tile(cell, 2)
    matrix = csr_array((np.ones(2 * value.size, np.int64), at))
    cells = np.flatnonzero(value < THRESHOLD)
    rise, fall = THRESHOLD - value[cells], value[cells]
    return AdjustmentTask(
        matrix,
        -value,
        value,
        np.ones(value.size),
        1,
        1,
        choice=DirectionChoice(cells, rise, rise, fall, fall),
    )


def test_all_down() -> None:
    task = table_6()
    up = choose_directions(task, "fixed", Run(), np.zeros(3, dtype=bool)).up
    assert solve_convex(task.directed(up), Run()).value == 16


def test_over_directions() -> None:
    task = table_6()
    found = choose_directions(task, "optimal", Run())
    assert solve_convex(task.directed(found.up), Run()).value == found.bound == 10
    assert found.optimal


@pytest.mark.parametrize("how", ["greedy", "block"])
def test_searches_find_them_too(how: How) -> None:
    task = table_6()
    found = choose_directions(task, how, Run())
    assert solve_convex(task.directed(found.up), Run()).value == 10
    assert found.bound <= 10
