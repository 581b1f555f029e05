"""Local search around an incumbent: its offers are protected and never dearer, and follow from the seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tacita.auditing.audit import audit
from tacita.core.release import Release
from tacita.core.run import Event, Run
from tacita.engine.attack.cuts import Cutter
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.separation import Separation
from tacita.engine.model import Model
from tacita.engine.search.incumbent import ReleaseSearch
from tacita.engine.search.local_search import LocalSearch
from tacita.engine.search.proposals import Proposals
from tacita.generate import problem as generated
from tacita.methods.suppression.suppression import Suppression
from tacita.problem.problem import Problem

TABLES = {
    "cube": lambda: generated((4, 4, 4), "logn", sensitive=4, seed=2),
    "crossed hierarchies": lambda: generated((12, 8), "logn", sensitive=6, hierarchy=(2, 2), seed=2),
    "network with kernels": lambda: generated((52, 52), "logn", sensitive=20, seed=2),
}
tables = pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in TABLES.items()])
Make = Callable[[], Problem]


def around_everything(problem: Problem, run: Run) -> tuple[ReleaseSearch, LocalSearch, Model]:
    """A search whose incumbent hides all that may be hidden, and the attempts around it."""
    model = Suppression().model(problem).with_fixed_costs_in_constant()
    presolved, search = PresolvedTable.of(model), ReleaseSearch(model, run)
    separation = Separation(presolved, model.requirements, Cutter(presolved, search.lower, search.upper), run)
    assert separation.protects(model.upper)
    search.offer(model.upper)
    return search, LocalSearch(search, Proposals(separation, search)), model


@tables
def test_what_it_finds_is_protected_and_cheaper(make: Make) -> None:
    problem = make()
    search, improve, model = around_everything(problem, Run())
    improve(model.lower, patience=3)
    assert search.best is not None
    assert search.loss == pytest.approx(model.loss(search.best))
    assert search.loss < model.loss(model.upper)
    assert audit(problem, Release.suppress(problem.table, search.best > 0.5)).safe


@tables
def test_one_call_after_the_other_never_loses_more(make: Make) -> None:
    search, improve, model = around_everything(make(), Run(search=5))
    losses = [search.loss]
    for _ in range(3):
        improve(model.lower, patience=2)
        losses.append(search.loss)
    assert losses == sorted(losses, reverse=True)


@tables
def test_the_same_seed_finds_the_same(make: Make) -> None:
    found = []
    for _ in range(2):
        search, improve, model = around_everything(make(), Run(search=7))
        improve(model.lower, patience=3)
        found.append(search.best)
    np.testing.assert_array_equal(*found)


def test_nothing_is_tried_without_patience_or_time_or_incumbent() -> None:
    heard: list[Event] = []
    run = Run(listener=heard.append)
    search, improve, model = around_everything(TABLES["cube"](), run)
    improve(model.lower, patience=0)
    search.best = None
    improve(model.lower, patience=3)
    search.best = model.upper
    run.cancel()
    improve(model.lower, patience=3)
    assert not heard


def test_attempts_in_vain_end_it() -> None:
    heard: list[Event] = []
    search, improve, model = around_everything(TABLES["cube"](), Run(listener=heard.append))
    improve(model.lower, patience=30)
    best, told = search.loss, len(heard)
    search.loss = model.loss(model.lower)  # cheaper than any pattern that protects
    improve(model.lower, patience=4)
    assert search.loss < best
    assert [event.done for event in heard[told:]] == [0, 1, 2, 3]
