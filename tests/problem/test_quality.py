"""What releases lost, side by side."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import tacita as tc
from tacita.core.errors import ReleaseError
from tacita.core.levels import Levels
from tacita.problem.quality import Risk, measure_risk


def problem_of(values: list, rule: tc.Rule | None = None) -> tc.Problem:
    return tc.Problem(tc.Table.from_array(values), rule or tc.Threshold(3))


def test_distances_count_totals_and_cells() -> None:
    problem = problem_of([2, 9, 14])
    shown = problem.table.units.copy()
    for code, value in (("1", 5), ("2", 5)):
        shown[problem.table.find(code)] = value
    shown[problem.table.structure.is_total] = 24
    row = tc.compare(problem, [tc.Release.rounded(problem.table, shown, 5)])[0]
    assert (row.l1, row.largest, row.changed, row.percent) == (3 + 4 + 1, 4, 3, 75)
    assert row.l2 == pytest.approx(np.sqrt(9 + 16 + 1))
    assert (row.others, row.silent, row.name) == (2, 0, "release")


def test_cells_without_a_number_are_changed_but_have_no_distance() -> None:
    problem = problem_of([2, 9, 14])
    cells = np.array([problem.table.find("1"), problem.table.find("2")])
    row = tc.compare(problem, [tc.Release.suppress(problem.table, cells)])[0]
    assert (row.l1, row.l2, row.largest, row.changed, row.silent, row.others) == (0, 0, 0, 2, 2, 1)


def test_a_finer_release_is_compared_exactly() -> None:
    problem = problem_of([2, 9, 14])
    release = tc.Release.rounded(problem.table, problem.table.units, 1).with_decimals(2)
    assert tc.compare(problem, [release])[0].l1 == 0


def test_methods_are_asked_for_their_releases() -> None:
    problem = problem_of([[1, 7, 8], [3, 4, 9]])
    found = tc.compare(problem, [tc.Rounding(base=5), tc.Suppression(), tc.Rounding(base=1)])
    assert [row.name for row in found] == ["rounding (base 5)", "suppression", "rounding (base 1)"]
    assert "nothing would change" in found[2].none
    assert np.isnan(found[2].l1)
    lines = str(found).splitlines()
    assert len(lines) == 7
    assert "no release" in lines[3]
    assert len({len(line) for line in lines[:4]}) == 1
    assert lines[4].startswith("l1, l2, largest: ")
    assert lines[5].endswith("Which are safe says tc.audit.")
    assert lines[6] == f"rounding (base 1): {found[2].none}"


def test_comparisons_report_progress_while_methods_work_elsewhere() -> None:
    events: list[tc.Event] = []
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        run = tc.Run(30, executor=pool, listener=events.append)
        tc.compare(problem_of([[1, 7, 8], [3, 4, 9]]), [tc.Rounding(base=5), tc.Suppression()], run)
    assert {event.phase for event in events} == {"comparing"}
    assert (events[-1].done, events[-1].total) == (2, 2)


def test_other_cells_are_refused() -> None:
    other = tc.Table.from_array([1, 2, 3, 4])
    with pytest.raises(ReleaseError, match="lists other cells"):
        tc.compare(problem_of([2, 9, 14]), [tc.Release.rounded(other, other.units, 5)])


def leveled(*levels: tuple[int, int, int], decimals: int = 0) -> tc.Problem:
    """Four cells and their total; the first ones sensitive with these lower, upper and sliding levels."""
    table = tc.Table.from_array([10, 20, 30, 40], counts=False, decimals=decimals)
    columns = np.zeros((3, len(table)), dtype=np.int64)
    for k, own in enumerate(levels):
        columns[:, table.find(str(k + 1))] = own
    return tc.Problem(table, Levels(columns.any(axis=0), *columns))


def intervals(problem: tc.Problem, *ends: tuple[float, float]) -> tuple:
    cells = np.array([problem.table.find(str(k + 1)) for k in range(len(ends))], dtype=np.int64)
    low, high = np.array(ends, dtype=float).reshape(-1, 2).T
    return cells, low, high


def test_risk_is_the_width_asked_for_over_the_width_left() -> None:
    problem = leveled((1, 2, 0), (1, 1, 8), (5, 5, 0))
    assert measure_risk(problem, *intervals(problem, (8, 14), (18, 22), (25, 35))) == Risk(2.0, 1.0, 0)


def test_levels_are_counted_in_plain_numbers() -> None:
    problem = leveled((100, 200, 0), decimals=2)
    assert measure_risk(problem, *intervals(problem, (8, 14))) == Risk(0.5, 0.5, 0)


def test_what_is_known_exactly_is_an_infinite_risk_and_what_is_unbounded_none() -> None:
    problem = leveled((1, 2, 0), (1, 2, 0), (1, 2, 0))
    found = measure_risk(problem, *intervals(problem, (10, 10), (0, np.inf)))
    assert (found.worst, found.median, found.exact) == (np.inf, np.inf, 2)
    assert measure_risk(problem, *intervals(problem, (0, np.inf), (-np.inf, np.inf), (0, np.inf))) == Risk(
        0, 0, 0
    )


def test_an_interval_that_is_not_settled_leaves_the_risk_open_unless_another_is_known() -> None:
    problem = leveled((1, 2, 0), (1, 2, 0))
    found = measure_risk(problem, *intervals(problem, (np.nan, 14), (8, 14)))
    assert np.isnan([found.worst, found.median]).all()
    assert found.exact == 0
    found = measure_risk(problem, *intervals(problem, (np.nan, 14), (10, 10)))
    assert (found.worst, found.exact) == (np.inf, 1)


def test_nothing_sensitive_is_no_risk() -> None:
    problem = leveled()
    assert measure_risk(problem, *intervals(problem)) == Risk(0.0, 0.0, 0)


def test_risk_of_a_deduction() -> None:
    """A hidden rectangle with sums of 6: the outsider deduces [0, 6] for each of its cells."""
    problem = problem_of([[1, 5, 9], [5, 1, 9]], tc.Threshold(2))
    cells = np.array(
        [problem.table.find(*codes) for codes in (("1", "1"), ("1", "2"), ("2", "1"), ("2", "2"))]
    )
    deduced = tc.deduce(problem, tc.Release.suppress(problem.table, cells))
    need = problem.levels.lower + problem.levels.upper
    asked = max(int(need[cells[0]]), int(problem.levels.sliding[cells[0]]))
    assert measure_risk(problem, deduced.cells, deduced.low, deduced.high) == Risk(asked / 6, asked / 6, 0)
