"""Salazar (2002), the 4x4 table of Figure 1: least losses of suppression, proven and audited."""

from __future__ import annotations

import numpy as np
import pytest

import tacita as tc
from tacita.core.errors import InfeasibleError
from tacita.examples import example
from tacita.testing import check_method
from tacita.verify import verify

TABLE = example("salazar").table
OPTIMUM = {("II", "B"), ("II", "C"), ("III", "B"), ("III", "C")}
SOLE = tc.Insider.knowing("sole respondent", TABLE, {TABLE.find("II", "A"): (8, 8)})
RESPONDENT = tc.Insider(
    "respondent",
    np.array([TABLE.find("III", "C")]),
    np.array([10]),
    np.array([10**6]),
    np.array([TABLE.find("II", "C")]),
    np.array([2]),
    np.array([4]),
    np.array([0]),
)


def figure_1(lower: int = 10, upper: int = 12, sliding: int = 0, cost="value", insiders=()) -> tc.Problem:
    rule = tc.Marked([("II", "C")], lower=lower, upper=upper, sliding=sliding)
    return tc.Problem(TABLE, rule, attackers=["outsider", *insiders], cost=cost)


def least(problem: tc.Problem, **options) -> tc.Release:
    """The release, proven optimal; its certificate holds."""
    release = check_method(tc.Suppression(**options), problem)
    assert release.outcome.status
    assert release.outcome.bound == release.outcome.loss
    assert release.outcome.loss == pytest.approx(problem.cost[release.changed].sum())
    assert verify(tc.certify(tc.audit(problem, release))) >= 1
    return release


@pytest.mark.parametrize("options", [{}, {"margins": False}, {"at_most": 4}, {"at_most": 16}])
def test_by_value_85_is_the_only_optimum(options: dict) -> None:
    release = least(figure_1(), **options)
    assert release.outcome.loss == 85
    assert {TABLE.structure.key(cell) for cell in np.flatnonzero(release.changed)} == OPTIMUM


@pytest.mark.parametrize(
    ("cost", "loss"),
    [
        ("unit", 4),
        (np.log(TABLE.values), 11.986124),
        ("log", 12.192683),
        ("percent", 100 * 85 / 190),
    ],
    ids=["unit", "log a", "log(1 + a)", "percent"],
)
def test_other_weights(cost, loss: float) -> None:
    assert least(figure_1(cost=cost)).outcome.loss == pytest.approx(loss, abs=1e-6)


def test_four_cells_without_margins_are_unique() -> None:
    release = least(figure_1(cost="unit"), margins=False)
    assert {TABLE.structure.key(cell) for cell in np.flatnonzero(release.changed)} == OPTIMUM


@pytest.mark.parametrize("at_most", [0, 1, 3])
def test_less_than_four_cells_cannot_protect(at_most: int) -> None:
    with pytest.raises(InfeasibleError, match=rf"at most {at_most} cells? .* it takes 4.* Allow at most 4"):
        tc.Suppression(at_most=at_most).protect(figure_1())


@pytest.mark.parametrize(
    ("levels", "insiders", "loss"),
    [
        ((10, 8, 0), (), 59),
        ((17, 8, 25), (), 59),
        ((10, 8, 0), (SOLE,), 85),
        ((10, 12, 0), (RESPONDENT,), 123),
    ],
    ids=["10, 8", "17, 8, sliding 25", "sole respondent", "respondent with his own levels"],
)
def test_levels_and_attackers(levels: tuple[int, int, int], insiders: tuple, loss: float) -> None:
    assert least(figure_1(*levels, insiders=insiders)).outcome.loss == loss
