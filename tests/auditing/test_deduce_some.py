"""The interval of one cell, asked for alone."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

import tacita as tc
from tacita.auditing.region import make_blocks
from tacita.core.errors import InputError
from tacita.core.levels import Levels


def case() -> tuple[tc.Problem, tc.Release]:
    table = tc.Table.from_array([[20, 50, 10], [8, 19, 22], [17, 32, 12]])
    hidden = np.array([table.find(*codes) for codes in (("2", "1"), ("2", "3"), ("3", "1"), ("3", "3"))])
    return tc.Problem(table, tc.Threshold(9)), tc.Release.suppress(table, hidden)


def test_only_what_is_asked_for_is_told() -> None:
    problem, release = case()
    cell, other = problem.table.find("2", "3"), problem.table.find("3", "3")
    deduced = tc.deduce(problem, release, cells=np.array([cell, problem.table.find("1", "1")]))
    assert deduced.cells.tolist() == [cell]
    assert deduced.of(cell) == (5, 30)
    with pytest.raises(InputError, match=r"\(row=3, column=3\): not among the hidden cells"):
        deduced.of(other)
    assert len(tc.deduce(problem, release, cells=np.zeros(0, dtype=np.int64))) == 0


def test_a_cell_that_an_equation_gives_away_is_known() -> None:
    problem, _ = case()
    cell = problem.table.find("2", "1")
    deduced = tc.deduce(problem, tc.Release.suppress(problem.table, np.array([cell])), cells=np.array([cell]))
    assert deduced.of(cell) == (8, 8)
    assert deduced.known.all()


def test_the_rest_of_the_table_is_not_asked() -> None:
    """Of twenty blocks that do not know of each other one is worked on."""
    table = tc.Table.from_array(np.arange(1, 1601).reshape(40, 40))
    hidden = [
        table.find(str(block + i), str(block + j))
        for block in range(1, 40, 2)
        for i in (0, 1)
        for j in (0, 1)
    ]
    release = tc.Release.suppress(table, np.array(hidden))
    problem = tc.Problem(table, tc.Threshold(3))
    told: list[int] = []
    with patch.object(make_blocks, "__defaults__", (4,)):
        run = tc.Run(listener=lambda event: told.append(event.total))
        deduced = tc.deduce(problem, release, run=run, cells=np.array(hidden[:1]))
    assert told == [0, 1], "first that it begins, then that one of one is done"
    assert deduced.of(hidden[0]) == tc.deduce(problem, release).of(hidden[0])


def test_ends_are_numbers_of_the_table_and_not_a_solver_s_noise() -> None:
    table = tc.Table.from_array([[0.1, 40372.41], [12.3, 7.7]], decimals=2, counts=False)
    hidden = np.flatnonzero(~table.structure.is_total)
    problem = tc.Problem(table, Levels.none(len(table)))
    deduced = tc.deduce(problem, tc.Release.suppress(table, hidden))
    assert deduced.low.tolist() == [0, 40360.11, 0, 7.6]
    assert deduced.high.tolist() == [12.4, 40372.51, 12.4, 20]
