"""Rows of sensitive cells say what the audit and the intervals say, each for its worst attacker."""

from __future__ import annotations

from math import inf

import numpy as np

import tacita as tc
from tacita.auditing.block_tasks import BELOW_UPPER, EXACT
from tacita.report.interval_picture import covers_levels
from tacita.report.sensitive_cells import SensitiveCells


def two_by_three() -> tc.Table:
    return tc.Table.from_array(np.array([[20, 50, 10], [8, 19, 22]]))


def rows(problem: tc.Problem, release: tc.Release) -> SensitiveCells:
    hidden = np.flatnonzero(release.hidden & problem.levels.sensitive)
    full = tc.deduce(problem, release)
    wanted = np.isin(full.cells, hidden)
    few = tc.Deduction(full.structure, full.cells[wanted], full.low[wanted], full.high[wanted])
    return SensitiveCells(tc.audit(problem, release), few)


def block(table: tc.Table, height: int, width: int) -> np.ndarray:
    """The first inner cells, by their values: all are different."""
    inner = np.array([[20, 50, 10], [8, 19, 22]])[:height, :width].ravel()
    return np.flatnonzero(np.isin(table.values, inner) & ~table.structure.is_total)


def cell_of(table: tc.Table, value: int) -> int:
    return int(np.flatnonzero((table.values == value) & ~table.structure.is_total)[0])


def test_a_safe_cell_has_the_outsiders_interval() -> None:
    table = two_by_three()
    cell = cell_of(table, 20)
    problem = tc.Problem(table, tc.Marked([cell], 3, 5))
    release = tc.Release.suppress(table, block(table, 2, 2))
    listed = rows(problem, release)
    row = listed.build_row(cell)
    # 20 and 50 in the first line, 8 and 19 in the second: alternating changes of -8 and more up to 19.
    assert (row.low, row.high) == (1, 28)
    assert (row.lower, row.upper, row.value) == (3, 5, 20)
    assert row.known == (0, inf)
    assert row.verdict == "safe"
    assert not listed.unsafe.any()
    assert "1 to 28" in row.picture


def test_a_published_cell_is_known_exactly() -> None:
    table = two_by_three()
    cell = cell_of(table, 20)
    listed = rows(tc.Problem(table, tc.Marked([cell], 3, 5)), tc.Release.suppress(table, np.array([], int)))
    row = listed.build_row(cell)
    assert (row.low, row.high) == (20, 20)
    assert row.bits & EXACT
    assert listed.unsafe.tolist() == [True]


def test_the_worst_attacker_is_the_one_shown() -> None:
    table = two_by_three()
    cell, other = cell_of(table, 20), cell_of(table, 50)
    insider = tc.Insider.knowing("neighbour", table, {other: (48, 60)})
    problem = tc.Problem(table, tc.Marked([cell], 3, 5), attackers=["outsider", insider])
    row = rows(problem, tc.Release.suppress(table, block(table, 2, 2))).build_row(cell)
    assert row.attacker == "neighbour"
    assert row.bits & BELOW_UPPER
    # He knows that 50 loses at most 2, so that 20 gains at most 2.
    assert row.high == 22
    assert not covers_levels(row.low, row.high, row.value, row.lower, row.upper, row.sliding)
