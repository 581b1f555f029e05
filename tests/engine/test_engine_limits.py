"""Limits of the engine: it stops soon after it is asked to, keeps the best release it has, and finds the same
on one thread or several.

Problems for stopping are too hard to finish in the time they get; each reaches another part of the engine:
flows on a network, attackers' linear programs in three dimensions and in crossed hierarchies.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.sparse import csr_array

from tacita.auditing.audit import audit
from tacita.core.errors import StoppedError
from tacita.core.outcome import Status
from tacita.core.release import Release
from tacita.core.run import Event, Run
from tacita.engine.attack.requirements import list_all_requirements
from tacita.engine.model import Affine, Model
from tacita.engine.search.solve_model import solve_model
from tacita.generate import problem as generated
from tacita.problem.problem import Problem
from tacita.solvers.linear_program import Solution

PROMPT = 2.0
"""Seconds of work that the engine may take to stop."""
MARGIN = 0.5
"""Seconds more for a busy machine."""

HARD = {
    "network": lambda: generated((55, 55), "logn", sensitive=30),
    "cube": lambda: generated((6, 6, 6), "logn", sensitive=8),
    "crossed hierarchies": lambda: generated((30, 30), "logn", sensitive=0.03, hierarchy=(3, 2)),
}
EASY = {
    "two dimensions": lambda: generated((12, 12), "logn", sensitive=8),
    "network with kernels": lambda: generated((52, 52), "fs", sensitive=0.05),
    "three dimensions": lambda: generated((4, 4, 4), "logn", sensitive=5),
    "one hierarchy": lambda: generated((12, 6), "logn", sensitive=6, hierarchy=(2, 1)),
    "crossed hierarchies": lambda: generated((12, 8), "logn", sensitive=6, hierarchy=(2, 2)),
    "sparse hierarchies": lambda: generated((16, 10), "business", hierarchy=(2, 2)),
}

hard = pytest.mark.parametrize("problem", [pytest.param(make, id=name) for name, make in HARD.items()])
easy = pytest.mark.parametrize("problem", [pytest.param(make, id=name) for name, make in EASY.items()])
Make = Callable[[], Problem]


def suppression(problem: Problem) -> Model:
    """``x_i = 1`` hides cell ``i``."""
    n = len(problem.table)
    return Model(
        problem=problem,
        cost=problem.cost,
        lower=problem.levels.sensitive.astype(float),
        upper=np.ones(n),
        integer=np.ones(n, dtype=bool),
        rows=csr_array((0, n)),
        row_lower=np.zeros(0),
        row_upper=np.zeros(0),
        above=Affine.zero(n, n),
        below=Affine.zero(n, n),
        switch=np.arange(n),
        requirements=list_all_requirements(problem),
    )


@pytest.fixture(scope="module", autouse=True)
def compiled_kernels() -> None:
    """Kernels are compiled once per machine, which takes longer than the limits of these tests."""
    solve_model(suppression(EASY["network with kernels"]()))


def check_protected(problem: Problem, solution: Solution) -> None:
    """The audit, which knows nothing of the engine, finds the pattern safe; loss and bound are in order."""
    hidden = solution.x > 0.5
    assert audit(problem, Release.suppress(problem.table, hidden)).safe
    assert solution.loss == pytest.approx(problem.cost[hidden].sum())
    assert problem.cost[problem.sensitive].sum() <= solution.bound * (1 + 1e-9)
    assert solution.bound <= solution.loss
    assert (solution.status is Status.OPTIMAL) == (solution.bound == solution.loss)


class Canceller:
    """Cancels a run from another thread once the run tells of a release, in this phase if one is given."""

    def __init__(self, phase: str | None) -> None:
        self.phase, self.at = phase, np.nan
        self.run = Run(listener=self.hear)
        self.thread = threading.Thread(target=self.cancel)

    def hear(self, event: Event) -> None:
        reached = event.incumbent is not None and self.phase in (None, event.phase)
        if reached and self.thread.ident is None:
            self.thread.start()

    def cancel(self) -> None:
        self.at = time.process_time()
        self.run.cancel()


@pytest.mark.slow
@hard
@pytest.mark.parametrize("phase", [pytest.param(None, id="first release"), "branching"])
def test_a_cancel_from_another_thread_keeps_the_release_there_is(problem: Make, phase: str | None) -> None:
    asked, canceller = problem(), Canceller(phase)
    solution = solve_model(suppression(asked), canceller.run)
    assert time.process_time() - canceller.at <= PROMPT
    check_protected(asked, solution)


@hard
@pytest.mark.parametrize("seconds", [0.0, 0.1, 0.5])
def test_a_time_limit_ends_with_a_protected_release_or_says_that_there_is_none(
    problem: Make, seconds: float
) -> None:
    asked = problem()
    model = suppression(asked)
    run = Run(time_limit=seconds)
    solution, message = stopped(model, run)
    assert run.seconds <= seconds + PROMPT + MARGIN
    if solution is None:
        assert "before a first protected release was found: allow more time" in message
    else:
        check_protected(asked, solution)


def stopped(model: Model, run: Run) -> tuple[Solution | None, str]:
    """What a run that may be over too soon gives: a solution, or why there is none."""
    try:
        return solve_model(model, run), ""
    except StoppedError as error:
        return None, str(error)


@hard
def test_a_run_that_was_cancelled_before_it_began_says_that_there_is_no_release(problem: Make) -> None:
    model = suppression(problem())
    run = Run()
    run.cancel()
    start = time.process_time()
    with pytest.raises(StoppedError, match="before a first protected release was found"):
        solve_model(model, run)
    assert time.process_time() - start <= PROMPT


def test_a_start_that_protects_is_kept_when_nothing_better_is_found_in_time() -> None:
    asked, canceller = generated((8, 8, 8), "logn", sensitive=0.02), Canceller(None)
    start = np.ones(len(asked.table))
    solution = solve_model(suppression(asked), canceller.run, start)
    assert canceller.run.cancelled
    assert solution.loss <= asked.cost.sum()
    check_protected(asked, solution)


@pytest.mark.slow
@easy
def test_one_thread_or_several_give_the_same_result(problem: Make) -> None:
    model = suppression(problem())
    alone = solve_model(model, Run(search=3))
    for workers in (2, 4):
        with ThreadPoolExecutor(workers) as executor:
            together = solve_model(model, Run(search=3, executor=executor))
        assert np.array_equal(alone.x, together.x)
        assert (alone.loss, alone.bound, alone.status) == (together.loss, together.bound, together.status)
