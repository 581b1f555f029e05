"""Gonzalez and Cox (2005), Table VI: adjustment of counts of which those below 5 become 0 or 5."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from tacita.core.run import Run
from tacita.examples.printed import NCHS
from tacita.methods.adjustment.convex.solve import adjusted
from tacita.methods.adjustment.directions.choose import How, chosen
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
    up = chosen(task, "fixed", Run(), np.zeros(3, dtype=bool)).up
    assert adjusted(task.directed(up), Run()).value == 16


def test_over_directions() -> None:
    task = table_6()
    found = chosen(task, "optimal", Run())
    assert adjusted(task.directed(found.up), Run()).value == found.bound == 10
    assert found.optimal


@pytest.mark.parametrize("how", ["greedy", "block"])
def test_searches_find_them_too(how: How) -> None:
    task = table_6()
    found = chosen(task, how, Run())
    assert adjusted(task.directed(found.up), Run()).value == 10
    assert found.bound <= 10
