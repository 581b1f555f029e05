"""Salazar (2002), the 4x4 table of Figure 1: least losses of intervals, rounding, perturbation, mixtures.

Each loss is asked for twice: of the model, solved as it stands by the first model, and of the method.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tacita as tc
from tacita.core.errors import InfeasibleError
from tacita.core.outcome import Status
from tacita.core.release import Mark
from tacita.engine.search.explicit_model import solve_explicit_model
from tacita.examples import example
from tacita.methods.intervals.intervals import Intervals
from tacita.methods.mixture.mixture import Mixture
from tacita.methods.perturbation import Perturbation
from tacita.methods.rounding.rounding import Rounding
from tacita.testing import check_method

TABLE = example("salazar").table
INVERSE = tuple(1 / TABLE.values)


def figure_1(lower: int = 10, upper: int = 12, cost="unit", **columns: np.ndarray) -> tc.Problem:
    return tc.Problem(
        replace(TABLE, columns=columns), tc.Marked([("II", "C")], lower=lower, upper=upper), cost=cost
    )


def least_loss(method, problem: tc.Problem) -> tc.Release:
    """The release of a method whose loss is that of the first model, and proven."""
    oracle = solve_explicit_model(method.model(problem))
    release = check_method(method, problem)
    assert release.outcome.loss == pytest.approx(oracle.loss)
    assert release.outcome.status is Status.OPTIMAL
    return release


@pytest.mark.parametrize(
    ("options", "levels", "cost", "loss"),
    [
        ({}, (10, 12), "unit", 88),
        ({}, (10, 12), "value", 1402),
        ({}, (10, 12), INVERSE, 2.064769),
        ({"weight_up": "inverse", "weight_down": "inverse"}, (10, 12), "value", 2.064769),
        ({"at_most": 4}, (10, 12), "value", 1870),
        ({"at_most": 6}, (10, 12), "value", 1402),
        ({}, (2, 4), "unit", 24),
        ({}, (2, 4), "value", 354),
    ],
)
def test_interval_publication(options: dict, levels: tuple[int, int], cost, loss: float) -> None:
    release = least_loss(Intervals(**options, ends="exact"), figure_1(*levels, cost=cost))
    assert release.outcome.loss == pytest.approx(loss, abs=1e-6)
    assert release.changed.sum() <= options.get("at_most", 16)


def test_three_intervals_cannot_protect() -> None:
    with pytest.raises(InfeasibleError, match="Allow more than 3 intervals"):
        Intervals(at_most=3).protect(figure_1())


@pytest.mark.parametrize(("base", "loss"), [(12, 50), (18, 98), (20, 84), (25, 102), (30, 172)])
def test_rounding_protects_at_some_bases(base: int, loss: float) -> None:
    for multiples in ("stay", "exact"):
        assert (
            least_loss(Rounding(base=base, multiples=multiples, strict=False), figure_1()).outcome.loss
            == loss
        )


@pytest.mark.parametrize("base", [5, 10, 11, 13, 14, 15, 16])
def test_rounding_cannot_protect_at_others(base: int) -> None:
    with pytest.raises(InfeasibleError, match=r"activity=II, region=C.*smallest base that can work is 12\."):
        Rounding(base=base, strict=False).protect(figure_1())


def test_figure_8() -> None:
    figure_8 = [[20, 50, 10, 80], [10, 20, 20, 50], [20, 30, 10, 60], [50, 100, 40, 190]]
    for method, problem in (
        (Rounding(base=10, multiples="exact", strict=False), figure_1(10, 8)),
        (Rounding(base=10, multiples="exact", protected=False), figure_1()),
    ):
        release = method.protect(problem)
        assert release.outcome.loss == 24
        assert release.value.tolist() == np.ravel(figure_8).tolist()
        assert ((release.marks == Mark.ROUNDED) == (TABLE.units % 10 > 0)).all()


def test_figure_11() -> None:
    target = TABLE.units.copy()
    target[6] = 26
    problem = figure_1(target=target)
    perturbed = Perturbation(radius=24, sensitive="target", readers="radius")
    release = least_loss(perturbed, problem)
    assert release.outcome.loss == 16
    assert release.value[6] == 26
    four = least_loss(replace(perturbed, at_most=4), problem)
    assert (four.value != problem.table.units).sum() == 4
    with pytest.raises(InfeasibleError, match="allow more changed cells"):
        replace(perturbed, at_most=3).protect(problem)


def test_perturbing_one_line_saves_intervals_elsewhere() -> None:
    """The column of row totals is perturbed by up to 4, hence radius 8; all other cells may be intervals."""
    line = Perturbation(radius=8, weight_up="unit", weight_down="unit", readers="radius")
    problem = figure_1()
    exact = Intervals(ends="exact")
    assert least_loss(exact, problem).outcome.loss == 88
    parted = least_loss(Mixture({"region=Total": line, "rest": exact}), problem)
    assert parted.outcome.loss == 56
    assert set(parted.marks[3::4]) == {Mark.ADJUSTED}


def test_each_cell_published_an_interval_or_suppressed() -> None:
    problem = figure_1(cost="value")
    assert least_loss(Mixture(), problem).outcome.loss == 85
    relative = Mixture("rest: suppression or intervals(weight_up=inverse, weight_down=inverse, ends=exact)")
    assert least_loss(relative, figure_1(cost="unit")).outcome.loss == pytest.approx(2.064769, abs=1e-6)
