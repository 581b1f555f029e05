"""The ways in which suppression searches: all of them protect, and they agree on the least cost.

What was found by other means is kept, whatever the time: a start that protects is a release.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from budget import examples
from hypothesis import given

from tacita import generate
from tacita.auditing.audit import audit
from tacita.core.errors import InfeasibleError, InputError, StoppedError
from tacita.core.outcome import Status
from tacita.core.release import Release
from tacita.core.run import Event, Run
from tacita.engine.search import solve_model as engine
from tacita.methods.suppression.suppression import Search, Suppression
from tacita.problem.problem import Problem
from tacita.testing import hard_problems

RUNGS: tuple[Search, ...] = ("auto", "explicit", "exact", "construction")
every_rung = pytest.mark.parametrize("rung", RUNGS)


def protect(problem: Problem, rung: Search, run: Run | None = None, start: object = None) -> Release | None:
    """Return the audited release of a rung, or None where there is none."""
    try:
        release = Suppression(search=rung).protect(problem, run, start)  # type: ignore[arg-type]
    except InfeasibleError:
        return None
    assert audit(problem, release).safe
    assert release.outcome is not None
    assert release.outcome.loss == pytest.approx(problem.cost[release.hidden].sum())
    return release


@examples(10)
@given(problem=hard_problems())
def test_all_rungs_agree_on_the_least_cost(problem: Problem) -> None:
    found = {rung: protect(problem, rung) for rung in RUNGS}
    assert len({release is None for release in found.values()}) == 1
    outcomes = {rung: release.outcome for rung, release in found.items() if release is not None}
    if not outcomes:
        return
    best = outcomes["exact"]
    assert best is not None
    for rung, outcome in outcomes.items():
        assert outcome is not None
        if rung == "construction":
            assert outcome.loss >= best.loss * (1 - 1e-9)
            assert outcome.bound <= best.loss * (1 + 1e-9)
        else:
            assert outcome.status is Status.OPTIMAL
            assert outcome.loss == pytest.approx(best.loss)


def cancelled() -> Run:
    run = Run()
    run.cancel()
    return run


@examples(4)
@every_rung
@pytest.mark.parametrize("over", [lambda: Run(time_limit=0.0), cancelled], ids=["no time", "cancelled"])
@given(problem=hard_problems())
def test_a_start_that_protects_is_accepted_without_any_time(
    rung: Search, over: Callable[[], Run], problem: Problem
) -> None:
    first = protect(problem, "exact")
    if first is None or first.outcome is None:
        return
    again = protect(problem, rung, over(), first)
    assert again is not None
    assert again.outcome is not None
    assert again.outcome.loss <= first.outcome.loss
    assert again.outcome.bound <= first.outcome.loss
    assert np.isfinite(again.outcome.bound)


@pytest.mark.parametrize("rung", ["auto", "explicit", "exact"])
def test_a_start_that_does_not_protect_is_no_release(rung: Search) -> None:
    problem = generate.problem((4, 4, 3), "logn", sensitive=4)
    stopped = r"stopped after \d+\.\d\d s before a first protected release.*Construction finds one sooner"
    with pytest.raises(StoppedError, match=stopped) as raised:
        Suppression(search=rung).protect(problem, cancelled(), problem.sensitive.tolist()[:1])
    assert raised.value.options == ("time_limit", "search=construction")


@pytest.mark.parametrize("limit", [0.0, None])
def test_a_start_that_protects_a_large_table_is_accepted(
    limit: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "LARGE", 10)
    monkeypatch.setattr(engine, "TOO_LARGE", 20)
    problem = generate.problem((4, 4, 3), "logn", sensitive=4)
    everything = Release.suppress(problem.table, np.ones(len(problem.table), dtype=bool))
    found = protect(problem, "auto", Run(time_limit=limit), everything)
    assert found is not None
    assert found.outcome is not None
    assert found.outcome.search == "construction"
    assert found.outcome.loss <= problem.cost.sum()


@pytest.mark.parametrize(
    ("rung", "shape", "search"),
    [
        ("auto", (4, 4), "exact engine"),
        ("exact", (4, 4), "exact engine"),
        ("explicit", (4, 4), "explicit model"),
        # Where moves of attackers may be longer than the explicit model allows, the engine has the proof.
        ("explicit", (3, 3, 2), "explicit model, then exact engine"),
        ("construction", (4, 4), "construction"),
        ("network", (4, 4), "network heuristic"),
    ],
)
def test_what_searched_is_told(rung: Search, shape: tuple[int, ...], search: str) -> None:
    problem, events = generate.problem(shape, "logn", sensitive=3), list[Event]()
    found = protect(problem, rung, Run(listener=events.append))
    assert found is not None
    assert found.outcome is not None
    assert found.outcome.search == search
    assert found.made_by["search"] == search
    phases = [event.phase for event in events]
    assert rung == "network" or [phase for phase in dict.fromkeys(phases) if phase in search] == search.split(
        ", then "
    )


def test_a_construction_comes_before_the_engine_in_large_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "LARGE", 10)
    problem = generate.problem((4, 4, 3), "logn", sensitive=4)
    found = [protect(problem, rung) for rung in ("auto", "exact")]
    searches = [release.outcome.search for release in found if release is not None and release.outcome]
    assert searches == ["construction, then exact engine", "exact engine"]


def test_a_relaxation_without_tree_follows_in_very_large_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "LARGE", 10)
    monkeypatch.setattr(engine, "MOST_IN_TREE", 20)
    monkeypatch.setattr(engine, "FIRST_ROUNDS", 0)
    problem = generate.problem((4, 4, 3), "logn", sensitive=4)
    found = protect(problem, "auto")
    assert found is not None
    assert found.outcome is not None
    assert found.outcome.search == "construction, then relaxation"
    assert audit(problem, found).safe


def test_an_explicit_model_of_a_large_table_is_refused_with_a_remedy() -> None:
    problem = generate.problem((40, 40), "logn", sensitive=200)
    with pytest.raises(InputError, match="use search = auto") as caught:
        Suppression(search="explicit").protect(problem)
    assert caught.value.options == ("search=auto",)


def test_the_word_of_version_0_1_0_is_understood() -> None:
    assert Suppression(search="optimal") == Suppression()  # type: ignore[arg-type]
