"""Salazar (2002), the 4x4 table of Figure 1: attacker intervals and audit verdicts."""

from __future__ import annotations

import numpy as np
import pytest

import tacita as tc
from tacita.examples import example
from tacita.verify import verify

PATTERN = [("II", "A"), ("II", "C"), ("III", "A"), ("III", "C")]


@pytest.fixture
def table() -> tc.Table:
    return example("salazar").table


def problem_with(
    table: tc.Table, lower: int, upper: int, sliding: int = 0, attackers=("outsider",)
) -> tc.Problem:
    rule = tc.Marked([("II", "C")], lower=lower, upper=upper, sliding=sliding)
    return tc.Problem(table, rule, attackers=list(attackers))


def figure_2(table: tc.Table) -> tc.Release:
    return tc.Release.suppress(table, np.array([table.find(*codes) for codes in PATTERN]))


def test_figure_1_has_16_cells_and_8_equations_of_rank_7(table: tc.Table) -> None:
    assert (len(table), len(table.equations)) == (16, 8)
    assert np.linalg.matrix_rank(table.equations.matrix.toarray()) == 7


def test_figure_2_intervals(table: tc.Table) -> None:
    deduced = tc.deduce(problem_with(table, 10, 8), figure_2(table))
    intervals = {codes: deduced.of(table.find(*codes)) for codes in PATTERN}
    assert intervals == {
        ("II", "C"): (5, 30),
        ("II", "A"): (0, 25),
        ("III", "A"): (0, 25),
        ("III", "C"): (4, 29),
    }
    anyone = tc.expose(figure_2(table))
    assert [tuple(anyone.of(table.find(*codes))) for codes in PATTERN] == [
        intervals[codes] for codes in PATTERN
    ]


@pytest.mark.parametrize(
    ("levels", "verdict"),
    [
        ((10, 12, 0), "below upper"),
        ((10, 8, 0), "safe"),
        ((17, 8, 25), "safe"),
        ((17, 8, 26), "below sliding"),
        ((18, 8, 0), "below lower"),
    ],
)
def test_figure_2_verdicts(table: tc.Table, levels: tuple[int, int, int], verdict: str) -> None:
    found = tc.audit(problem_with(table, *levels), figure_2(table))
    assert [finding.verdict for finding in found.findings()] == [verdict]
    assert found.safe == (verdict == "safe")
    if found.safe:
        assert verify(tc.certify(found)) == 1


def test_the_respondent_alone_in_a_secondary_cell_breaks_figure_2(table: tc.Table) -> None:
    alone = tc.Insider.knowing("sole respondent of II, A", table, {table.find("II", "A"): (8, 8)})
    found = tc.audit(problem_with(table, 10, 8, attackers=("outsider", alone)), figure_2(table))
    assert [(f.attacker, f.verdict) for f in found.findings()] == [
        ("outsider", "safe"),
        ("sole respondent of II, A", "exact disclosure, below upper, below lower"),
    ]


def test_figure_5_intervals_protect_only_2_and_4(table: tc.Table) -> None:
    low, high = table.units.copy(), table.units.copy()
    cells = []
    for codes, (lowest, highest) in {
        ("I", "A"): (18, 24),
        ("I", "C"): (6, 12),
        ("II", "A"): (4, 10),
        ("II", "C"): (20, 26),
    }.items():
        cells.append(table.find(*codes))
        low[cells[-1]], high[cells[-1]] = lowest, highest
    release = tc.Release.intervals(table, np.array(cells), low, high)
    assert tc.audit(problem_with(table, 2, 4), release).safe
    assert not tc.audit(problem_with(table, 10, 12), release).safe
    deduced = tc.deduce(problem_with(table, 2, 4), release)
    assert np.array_equal(deduced.low, low[deduced.cells])
    assert np.array_equal(deduced.high, high[deduced.cells])


def test_figure_8_rounding_leaves_10_to_30(table: tc.Table) -> None:
    rounded = np.array([[20, 50, 10, 80], [10, 20, 20, 50], [20, 30, 10, 60], [50, 100, 40, 190]]).ravel()
    radius = np.where(table.units % 10 == 0, 0, 10)
    release = tc.Release.rounded(table, rounded, radius)
    problem = problem_with(table, 10, 8)
    assert tc.deduce(problem, release).of(table.find("II", "C")) == (10, 30)
    assert tc.audit(problem, release).safe
    assert not tc.audit(problem_with(table, 10, 12), release).safe
