"""A job protects, audits and deduces; it is stopped without losing what it found, and fails in words."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from tacita.app.controls.runs import describe_solution
from tacita.app.work.job import MOST_EVENTS, Job, State
from tacita.app.work.open_case import open_case
from tacita.core.errors import InputError, SolverError, StoppedError
from tacita.core.outcome import Outcome, Status
from tacita.core.release import Release
from tacita.core.run import Event, Run
from tacita.examples import example
from tacita.generate import problem as generated
from tacita.methods import make_method
from tacita.problem.problem import Problem

LONG = 20.0
"""Seconds after which a job that does not stop has failed the test."""


def job(method: str = "suppression", *, name: str = "nchs", **options: Any) -> Job:
    return Job(1, open_case(example(name), name), method, options)


def in_background(started: Job) -> threading.Thread:
    thread = threading.Thread(target=started.carry_out, daemon=True)
    thread.start()
    return thread


def wait_for(said: Any) -> None:
    end = time.monotonic() + LONG
    while not said():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_what_a_job_finds() -> None:
    done = job()
    assert done.state is State.WAITING
    assert done.seconds == 0
    done.carry_out()
    assert done.state is State.SAFE
    assert done.release is not None
    assert done.release.outcome is not None
    assert done.audit is not None
    assert done.audit.safe
    assert done.events[-1].incumbent == done.events[-1].bound == done.release.outcome.loss == 1270
    assert done.intervals is not None
    assert len(done.intervals) == 3
    assert done.lost is not None
    assert done.lost.name == "1 · suppression"
    assert done.seconds == done.seconds > 0
    assert any("3 sensitive cells: 3 safe" in line for line in done.log)


def test_titles_tell_what_was_chosen() -> None:
    assert job("rounding", base=5, margins=False).title == "1 · rounding (base 5, margins off)"


def test_what_protects_nothing_is_not_safe() -> None:
    done = job("rounding", name="tiwari-4", base=5, protected=False)
    done.carry_out()
    assert done.state is State.UNSAFE
    assert done.audit is not None
    assert not done.audit.safe


def test_a_refusal_is_kept_in_the_words_of_the_method() -> None:
    done = job("rounding", name="salazar", base=10)
    done.carry_out()
    assert done.state is State.FAILED
    assert "(activity=II, region=C)" in done.error
    assert "smallest base that can work is 18" in done.error
    assert done.log[-1].endswith(done.error)


def test_options_are_checked_before_anything_runs() -> None:
    with pytest.raises(InputError, match="power"):
        job("rounding", power=0.5)


@dataclass(frozen=True)
class Slow:
    """A search that ends when it is told to, and then has the best so far."""

    name: ClassVar[str] = "slow"

    def protect(self, problem: Problem, run: Run | None = None) -> Release:
        assert run is not None
        run.report("searching long", incumbent=9.0, bound=1.0)
        wait_for(lambda: run.over)
        found = make_method("suppression").protect(problem)
        assert found.outcome is not None
        return replace(found, outcome=Outcome(Status.FEASIBLE, found.outcome.loss, 1.0))


def slow_job() -> Job:
    made = job()
    made.method = Slow()
    return made


def test_a_cancel_ends_the_search_and_keeps_and_audits_the_best() -> None:
    searching = slow_job()
    thread = in_background(searching)
    wait_for(lambda: searching.latest is not None)
    assert searching.has_incumbent
    assert searching.state is State.SEARCHING
    before = searching.seconds
    wait_for(lambda: searching.seconds > before)
    searching.cancel()
    thread.join(LONG)
    assert searching.cancelled
    assert searching.state is State.SAFE
    assert searching.cut_short == "cancelled; the best so far is kept"


def test_a_search_whose_time_ends_says_so_and_one_that_ends_by_itself_says_nothing() -> None:
    limited = Job(1, open_case(example("nchs"), "nchs"), "suppression", {}, time_limit=0.01)
    limited.method = Slow()
    limited.carry_out()
    assert limited.state is State.SAFE
    assert limited.cut_short == "the time limit ended the search; the best so far is kept"
    done = job()
    done.carry_out()
    done.cancel()
    assert done.cut_short == ""


def test_a_search_that_the_gap_ends_was_not_cut_short_and_says_what_is_proven() -> None:
    cube = open_case(generated((6, 6, 6), "logn", sensitive=8), "cube")
    near = Job(1, cube, "suppression", {}, gap=0.3)
    near.carry_out()
    assert near.state is State.SAFE
    assert near.cut_short == ""
    outcome = near.release and near.release.outcome
    assert outcome is not None
    assert near.latest is not None
    assert outcome.status is Status.WITHIN_GAP
    assert describe_solution(outcome) == f"within the gap asked for; optimality gap {outcome.gap:.2%}"
    assert any("within the gap asked for" in line for line in near.log)


def test_what_is_cancelled_while_it_waits_is_over_at_once_and_never_starts() -> None:
    waiting = slow_job()
    waiting.cancel()
    assert waiting.state is State.CANCELLED
    assert waiting.state.over
    assert not waiting.state.judged
    waiting.carry_out()
    assert waiting.state is State.CANCELLED
    assert waiting.error == "cancelled before it began"
    assert waiting.latest is None
    assert waiting.seconds == 0


@dataclass(frozen=True)
class Fruitless:
    """A search that finds nothing until it is stopped."""

    name: ClassVar[str] = "fruitless"

    def protect(self, problem: Problem, run: Run | None = None) -> Release:
        assert run is not None
        run.report("searching in vain")
        wait_for(lambda: run.over)
        raise StoppedError("stopped after 0 s before anything: allow more time")


def test_a_cancelled_search_without_a_find_is_cancelled_and_did_not_fail() -> None:
    searching = job()
    searching.method = Fruitless()
    thread = in_background(searching)
    wait_for(lambda: searching.latest is not None)
    assert not searching.has_incumbent
    searching.cancel()
    thread.join(LONG)
    assert searching.state is State.CANCELLED
    assert searching.error == "cancelled before anything was found"


def test_a_search_whose_time_ends_without_a_find_has_failed() -> None:
    searching = Job(1, open_case(example("nchs"), "nchs"), "suppression", {}, time_limit=0.01)
    searching.method = Fruitless()
    searching.carry_out()
    assert searching.state is State.FAILED
    assert "allow more time" in searching.error


def test_an_abandoned_job_proves_nothing() -> None:
    left = slow_job()
    thread = in_background(left)
    wait_for(lambda: left.latest is not None)
    left.abandon()
    thread.join(LONG)
    assert left.state is State.UNSAFE


def test_a_stopped_audit_is_not_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    from tacita.app.work import job as module

    real = module.audit

    def stopped(problem: Problem, release: Release, run: Run) -> Any:
        auditing.stop_audit()
        return real(problem, release, run)

    monkeypatch.setattr(module, "audit", stopped)
    auditing = job()
    auditing.carry_out()
    assert auditing.state is State.UNSAFE
    assert auditing.audit is not None
    assert not auditing.audit.safe


class Unlucky(Job):
    """Whoever watches it cancels at the very moment in which the audit gets its run."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if isinstance(value, Run) and self.release is not None:
            self.cancel()


def test_a_cancel_that_meets_the_end_of_the_search_leaves_the_audit_alone() -> None:
    auditing = Unlucky(1, open_case(example("nchs"), "nchs"), "suppression", {})
    auditing.carry_out()
    assert auditing.cancelled
    assert auditing.state is State.SAFE


@pytest.mark.parametrize("error", [SolverError("the solver gave up"), ZeroDivisionError("oh")])
def test_a_verdict_does_not_hang_on_the_pictures(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    from tacita.app.work import job as module

    def fails(*_: object, **__: object) -> Any:
        raise error

    monkeypatch.setattr(module, "deduce", fails)
    done = job()
    done.carry_out()
    assert done.state is State.SAFE
    assert done.audit is not None
    assert done.audit.safe
    assert done.intervals is not None
    assert len(done.intervals) == 3
    assert np.isnan(done.intervals.low).all()
    assert any("not worked out" in line and str(error) in line for line in done.log)


def test_a_verdict_does_not_wait_for_the_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    from tacita.app.work import job as module

    monkeypatch.setattr(module, "SECONDS_FOR_INTERVALS", 0.0)
    done = job()
    done.carry_out()
    assert done.state is State.SAFE
    assert done.intervals is not None
    assert np.isnan(done.intervals.low).all()
    assert any("3 intervals" in line and "too long" in line for line in done.log)


def test_a_real_search_stops_within_seconds() -> None:
    case = open_case(generated((8, 8, 8), "uniform", sensitive=40, seed=1), "cube")
    searching = Job(1, case, "suppression", {})
    thread = in_background(searching)
    wait_for(lambda: searching.events)
    asked = time.monotonic()
    searching.cancel()
    wait_for(lambda: searching.state is not State.SEARCHING)
    assert time.monotonic() - asked < 5
    searching.abandon()
    thread.join(LONG)


def test_a_long_story_stays_short_and_keeps_its_end() -> None:
    told = job()
    for n in range(3 * MOST_EVENTS):
        told._listen(Event("searching", incumbent=float(-n)))
    assert len(told.events) <= MOST_EVENTS
    assert told.events[-1].incumbent == 1 - 3 * MOST_EVENTS
    assert len(told.log) <= MOST_EVENTS + 1
