"""Runs are never silent for long: the last report is repeated while a single step takes its time."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

import tacita as tc
from tacita.core import heartbeat
from tacita.core.heartbeat import with_heartbeat
from tacita.core.run import Event, Run
from tacita.examples import example

METHODS: dict[str, Any] = {
    "suppression": tc.Suppression(),
    "intervals": tc.Intervals(),
    "rounding": tc.Rounding(base=500),
    "perturbation": tc.Perturbation(),
    "mixture": tc.Mixture(),
    "adjustment": tc.Adjustment(),
    "unbiased-rounding": tc.UnbiasedRounding(base=6),
    "random-rounding": tc.RandomRounding(base=500),
}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "SILENCE", 0.02)


@with_heartbeat("counting")
def count(steps: int, run: Run | None = None) -> str:
    """Report once, then wait until the report has been repeated so many times."""
    assert run is not None
    run.report("waiting", 3, 7, incumbent=5.0)
    wait_for(steps, run)
    return "done"


def wait_for(steps: int, run: Run) -> None:
    """Wait until the listener has heard so many events, ten seconds at most."""
    end = time.monotonic() + 10
    while len(run.listener.heard) < steps and time.monotonic() < end:  # type: ignore[union-attr]
        time.sleep(0.005)


class Ear:
    """A listener that remembers what it heard, and may fail."""

    def __init__(self, fails_from: int = 10**9) -> None:
        self.heard: list[Event] = []
        self.fails_from = fails_from

    def __call__(self, event: Event) -> None:
        self.heard.append(event)
        if len(self.heard) >= self.fails_from:
            raise RuntimeError("deaf")


@pytest.mark.usefixtures("impatient")
def test_the_last_report_is_repeated_with_the_time_that_passed() -> None:
    ear = Ear()
    assert count(5, run=Run(listener=ear)) == "done"
    first, *others = ear.heard
    assert first.phase == "counting"
    assert {(e.phase, e.done, e.total, e.incumbent) for e in others} == {("waiting", 3, 7, 5.0)}
    seconds = [event.seconds for event in ear.heard]
    assert seconds == sorted(seconds)
    assert seconds[-1] >= 3 * heartbeat.SILENCE
    known = len(ear.heard)
    time.sleep(0.1)
    assert len(ear.heard) == known, "nothing is reported after the end"


@pytest.mark.usefixtures("impatient")
def test_one_thread_beats_however_deep_blocks_are_nested_and_none_where_nobody_listens() -> None:
    ear, before = Ear(), threading.active_count()
    run = Run(listener=ear)
    with run.heartbeat("outer"), run.translated(lambda loss: 2 * loss).heartbeat("inner"):
        assert threading.active_count() == before + 1
        run.translated(lambda loss: 2 * loss).report("searching", incumbent=4.0)
        wait_for(5, run)
    assert ear.heard[-1].phase == "searching"
    assert ear.heard[-1].incumbent == 8.0
    assert threading.active_count() == before
    with Run().heartbeat("alone"):
        assert threading.active_count() == before


@pytest.mark.usefixtures("impatient")
def test_a_listener_that_fails_does_not_end_the_work_between_two_reports() -> None:
    ear = Ear(fails_from=3)
    run = Run(listener=ear)
    with run.heartbeat("searching"):
        wait_for(3, run)
        time.sleep(0.1)
    assert len(ear.heard) == 3


def test_work_in_preparation_reports_no_losses() -> None:
    ear = Ear()
    Run(listener=ear).preparing().report("trying", 1, 2, incumbent=3.0, bound=1.0)
    assert ear.heard[0] == Event("trying", 1, 2, seconds=ear.heard[0].seconds)
    assert Run().preparing().listener is None


@pytest.mark.parametrize("name", METHODS)
def test_every_method_reports_from_its_beginning(name: str) -> None:
    ear, problem = Ear(), example("nchs")
    # One draw in four of unbiased rounding leaves a cell without its level, and is refused.
    release = METHODS[name].protect(problem, Run(listener=ear, seed=1))
    assert ear.heard[0].phase == "preparing"
    assert ear.heard[0].seconds < 5
    tc.audit(problem, release, Run(listener=ear))
    assert "audit" in {event.phase for event in ear.heard}


def test_every_method_that_is_listed_is_looked_at_here() -> None:
    from tacita.methods.method import METHODS as LISTED

    assert set(METHODS) == set(LISTED)
