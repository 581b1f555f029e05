"""Every method keeps its word: what it returns passes the audit, or it raises; inputs stay as they were."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

from tacita.core.errors import InfeasibleError
from tacita.core.outcome import Outcome, Status
from tacita.core.release import Release
from tacita.core.run import GUESSABLE, Run
from tacita.methods import make_method, method_names
from tacita.methods.suppression.suppression import Suppression
from tacita.problem.problem import Problem
from tacita.testing import check_method, problems, tables

NETWORKS = ((3,), (2, 2), (2, 3), (3, 3), (3, 4))


@pytest.mark.parametrize("name", method_names())
def test_every_method_passes_the_conformance_suite(name: str) -> None:
    check_method(make_method(name))


@dataclass(frozen=True)
class Sound(Suppression):
    """Suppression as it is; its children each break one promise of a method."""

    def protect(self, problem: Problem, run: Run | None = None, start: Any = None) -> Release:
        return self.spoil(super().protect(problem, run), problem)

    def spoil(self, release: Release, problem: Problem) -> Release:
        return release


class Unsafe(Sound):
    def spoil(self, release: Release, problem: Problem) -> Release:
        return Release.suppress(problem.table, problem.levels.sensitive, outcome=release.outcome)


class WithoutOutcome(Sound):
    def spoil(self, release: Release, problem: Problem) -> Release:
        return replace(release, outcome=None)


class BelowItsBound(Sound):
    def spoil(self, release: Release, problem: Problem) -> Release:
        return replace(release, outcome=Outcome(Status.FEASIBLE, 1.0, 2.0))


class HidesAll(Sound):
    def spoil(self, release: Release, problem: Problem) -> Release:
        return Release.suppress(problem.table, np.ones(len(problem.table), bool), outcome=release.outcome)


class Draws(Sound):
    def spoil(self, release: Release, problem: Problem) -> Release:
        more = release.changed | (
            ~problem.must_publish & (np.random.default_rng().random(len(release)) < 0.5)
        )
        return Release.suppress(problem.table, more, outcome=release.outcome)


class Silent(Sound):
    does = "Hides cells"


@dataclass(frozen=True)
class Unexplained(Sound):
    extra: int = 0


@dataclass(frozen=True)
class Listed(Sound):
    cells: list[int] = field(default_factory=list, metadata={"help": "cells to hide"})


@pytest.mark.parametrize(
    ("method", "promise"),
    [
        (Unsafe(), "its audit refuses"),
        (WithoutOutcome(), "the release has no outcome"),
        (BelowItsBound(), "the loss is below its bound"),
        (HidesAll(), "changed what must be published"),
        (Draws(), "two releases for one seed"),
        (Silent(), "'does' is no sentence"),
        (Unexplained(), "option 'extra' has no metadata"),
        (Listed(), "option 'cells' has no default"),
    ],
)
def test_the_suite_finds_the_promise_that_a_method_breaks(method: Sound, promise: str) -> None:
    with pytest.raises(AssertionError, match=promise):
        check_method(method)


@pytest.mark.parametrize("name", method_names())
@given(data=st.data())
@examples(30)
def test_releases_pass_the_audit(name: str, data: st.DataObject) -> None:
    problem = data.draw(problems(tables(NETWORKS)))
    method = make_method(name)
    try:
        release = check_method(method, problem)
    except InfeasibleError:
        return
    assert release.outcome is not None
    assert np.isfinite(release.outcome.loss)
    assert np.isfinite(release.outcome.bound)
    assert release.outcome.loss >= release.outcome.bound
    assert not (release.changed & problem.must_publish).any()


@pytest.mark.parametrize("name", method_names())
@given(data=st.data())
@examples(10)
def test_the_same_seed_gives_the_same_release(name: str, data: st.DataObject) -> None:
    problem = data.draw(problems(tables(NETWORKS)))
    try:
        first, second = (make_method(name).protect(problem, Run(seed=2**40)) for _ in range(2))
    except InfeasibleError:
        return
    assert np.array_equal(first.marks, second.marks)
    assert np.array_equal(first.low, second.low)


@pytest.mark.slow
@pytest.mark.parametrize("name", method_names())
@given(data=st.data())
@examples(20)
def test_only_what_draws_numbers_differs_without_a_seed(name: str, data: st.DataObject) -> None:
    """Searches follow an order of their own, so that releases in which nothing is drawn can be repeated."""
    problem = data.draw(problems(tables(NETWORKS)))
    try:
        first, second = (make_method(name).protect(problem) for _ in range(2))
    except InfeasibleError:
        return
    if "seed" in first.made_by:
        assert first.made_by["seed"] >= GUESSABLE
        again = make_method(name).protect(problem, Run(seed=first.made_by["seed"]))
        assert np.array_equal(first.low, again.low)
    else:
        assert np.array_equal(first.low, second.low)
