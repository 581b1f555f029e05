"""A gap that is asked for ends a search as soon as it is proven, and what is reported stays true.

The loss is within the gap of the smallest there is, the bound is not above that, the release is safe, and the
status says which of the two ended the search: the gap, or the proof.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

from tacita import generate
from tacita.auditing.audit import audit
from tacita.core.errors import InfeasibleError
from tacita.core.outcome import Outcome, Status, read_gap
from tacita.core.run import Event, Run
from tacita.engine.search import solve_model as engine
from tacita.methods.adjustment.adjustment import Adjustment
from tacita.methods.intervals.intervals import Intervals
from tacita.methods.method import Method
from tacita.methods.mixture.mixture import Mixture
from tacita.methods.perturbation import Perturbation
from tacita.methods.random_rounding.random_rounding import RandomRounding
from tacita.methods.rounding.rounding import Rounding
from tacita.methods.suppression.suppression import Suppression
from tacita.problem.problem import Problem
from tacita.testing import hard_problems

SEED = 7
METHODS: dict[str, Method] = {
    "suppression": Suppression(),
    "few hidden cells": Suppression(at_most=12),
    "intervals": Intervals(ends="exact"),
    "mixture": Mixture(),
    "rounding": Rounding(base=10),
    "rounding that need not protect": Rounding(base=7, protected=False),
    "perturbation": Perturbation(radius=12.0),
    "random rounding": RandomRounding(base=10, protected=False, candidates=20),
    **{f"adjustment, {norm}": Adjustment(norm=norm, directions="optimal") for norm in ("l1", "l2", "linf")},
    "adjustment by blocks": Adjustment(directions="block"),
}


def protect(method: Method, problem: Problem, gap: float) -> Outcome | None:
    """Return the outcome of an audited release, or None where there is none."""
    run = Run(seed=SEED, gap=gap)
    try:
        release = method.protect(problem, run)
    except InfeasibleError:
        return None
    if getattr(method, "protected", True):
        assert audit(problem, release).safe
    assert release.outcome is not None
    return release.outcome


@pytest.mark.parametrize("name", METHODS)
@examples(5)
@given(problem=hard_problems(), gap=st.sampled_from([0.02, 0.1, 0.3, 0.9]))
def test_a_loss_is_within_the_gap_of_the_smallest(name: str, problem: Problem, gap: float) -> None:
    best, near = protect(METHODS[name], problem, 0.0), protect(METHODS[name], problem, gap)
    assert (best is None) == (near is None)
    if best is None or near is None:
        return
    noise = 1e-6 * max(1.0, abs(best.loss))
    assert near.bound <= best.loss + noise
    assert near.bound <= near.loss
    if best.status:
        assert near.loss >= best.loss - noise
    assert near.status is not Status.FEASIBLE or near.gap > gap
    assert (near.status is Status.WITHIN_GAP) <= (near.gap <= gap)
    if near.status is Status.OPTIMAL and best.status:
        assert near.loss == pytest.approx(best.loss, abs=noise)


@pytest.mark.parametrize(("gap", "phase"), [(0.2, "bounding"), (0.05, "integer master")])
def test_a_gap_saves_the_proof(gap: float, phase: str) -> None:
    problem = generate.problem((4, 4, 4), "logn", sensitive=8)
    seen: list[Event] = []
    best = protect(Suppression(), problem, 0.0)
    near = Suppression().protect(problem, Run(gap=gap, listener=seen.append))
    assert best is not None
    assert near.outcome is not None
    assert best.status is Status.OPTIMAL
    assert near.outcome.status is Status.WITHIN_GAP
    assert not near.outcome.status
    assert 0 < near.outcome.gap <= gap
    assert near.outcome.bound <= best.loss <= near.outcome.loss
    assert seen[-1].phase == phase
    assert audit(problem, near).safe


@pytest.mark.parametrize("gap", [0.0, 0.5, 0.999])
def test_a_large_table_ends_at_the_gap_too(gap: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "LARGE", 10)
    monkeypatch.setattr(engine, "TOO_LARGE", 20)
    problem = generate.problem((4, 4, 3), "logn", sensitive=4)
    found = protect(Suppression(), problem, gap)
    best = protect(replace(Suppression()), problem, 0.0)
    assert found is not None
    assert best is not None
    assert found.bound <= best.loss
    if gap:
        # Where the construction does not reach it, the relaxation follows.
        assert found.gap <= gap
        assert found.status in (Status.WITHIN_GAP, Status.OPTIMAL)
    else:
        assert found.status in (Status.FEASIBLE, Status.OPTIMAL)


def test_a_goal_that_comes_before_distance_goes_on_to_its_proof() -> None:
    problem = generate.problem((4, 4, 3), "logn", sensitive=3)
    by_mean = Rounding(base=5, objective="mean", protected=False)
    assert protect(by_mean, problem, 0.5) is not None
    assert protect(by_mean, problem, 0.5).status is Status.OPTIMAL  # type: ignore[union-attr]


def test_losses_in_other_units_are_judged_in_those_of_the_user() -> None:
    run = Run(gap=0.1).translated(lambda loss: loss + 100).translated(lambda loss: 10 * loss)
    assert run.accepts(2.0, 1.0)
    assert not run.accepts(3.0, 1.0)
    assert not run.accepts(np.inf, 1.0)
    assert run.judge(False, 2.0, 1.0) is Status.WITHIN_GAP
    assert run.judge(True, 2.0, 2.0) is Status.OPTIMAL
    assert Run().judge(False, 2.0, 2.0) is Status.FEASIBLE


@pytest.mark.parametrize(("given", "share"), [(0.05, 0.05), ("5%", 0.05), (" 0.5 %", 0.005), (0, 0.0)])
def test_a_gap_is_a_share_or_a_percentage(given: float | str, share: float) -> None:
    assert read_gap(given) == pytest.approx(share)


@pytest.mark.parametrize("given", [1, -0.1, "5", "nan", "inf", "", "%", "a bit"])
def test_other_gaps_are_refused_with_a_remedy(given: float | str) -> None:
    with pytest.raises(ValueError, match=r"write 0\.05 or 5%"):
        read_gap(given)
