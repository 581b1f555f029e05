"""A cancel from another thread: heard soon, and what is kept claims no more than is known.

The table has three dimensions, two of them with subtotals, and cells that are known to be counts: no part of
it is a network, so all that networks make easy is missing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from tacita.auditing.deduce import deduce
from tacita.core.errors import InfeasibleError, StoppedError
from tacita.core.outcome import Status
from tacita.core.release import Release
from tacita.core.run import Event, Run
from tacita.generate import problem as generated
from tacita.methods.adjustment import adjustment
from tacita.methods.adjustment import radius as announced
from tacita.methods.adjustment.adjustment import UNCHECKED, Adjustment
from tacita.problem.problem import Problem

PROMPT = 4.0
"""Seconds of work after which a cancel is heard; on a busy machine they take longer, so they are counted as
work of this process. How soon it is in fact, ``benchmarks/cancel.py`` tells.
"""


@cache
def cube() -> Problem:
    return generated((14, 14, 10), "fs", sensitive=0.03, pattern="uniform", hierarchy=(2, 2, 1), seed=1)


def cancelled(work: Callable[[Run], Any], after: float) -> tuple[Any, float]:
    """What work gives that is cancelled after some seconds, and how much work it did after that."""
    run, asked = Run(), [np.inf]

    def cancel() -> None:
        asked[0] = time.process_time()
        run.cancel()

    timer = threading.Timer(after, cancel)
    timer.start()
    found = work(run)
    assert run.cancelled, "the work ended before the cancel: it proves nothing"
    return found, time.process_time() - asked[0]


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_an_adjustment_keeps_the_best_so_far(norm: str) -> None:
    problem = cube()
    table = problem.table
    release, waited = cancelled(lambda run: Adjustment(norm=norm).protect(problem, run), 1.5)
    assert waited <= PROMPT
    assert not table.equations.residuals(release.value).any()
    assert (release.value % table.unit == 0).all()
    assert ((release.low <= table.units) & (table.units <= release.high)).all()
    assert UNCHECKED in release.outcome.remarks
    assert release.outcome.status is Status.FEASIBLE
    assert release.outcome.bound <= release.outcome.loss
    assert release.outcome.seconds >= 1.5


def test_intervals_that_are_told_after_a_cancel_are_right() -> None:
    problem = cube()
    table = problem.table
    release = Release.rounded(table, table.units, np.full(len(table), 20 * table.unit))
    found, waited = cancelled(lambda run: deduce(problem, release, run=run), 1.5)
    assert waited <= PROMPT
    value = table.values[found.cells]
    assert (np.isnan(found.low) | (found.low <= value)).all()
    assert (np.isnan(found.high) | (found.high >= value)).all()


def test_directions_that_were_found_are_kept_though_none_were_found_for_the_statistics() -> None:
    problem = generated((30, 30), "fs", sensitive=60, pattern="uniform", kind="magnitudes")

    def listen(event: Event) -> None:
        if event.phase == "directions":
            run.cancel()

    run = Run(listener=listen)
    release = Adjustment(keep="mean", directions="greedy").protect(problem, run)
    assert run.cancelled
    assert not problem.table.equations.residuals(release.value).any()


def test_no_radius_is_promised_that_was_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = generated((6, 6), "fs", sensitive=4, pattern="uniform", protection=50.0)
    moved = Adjustment().protect(problem).value - problem.table.units
    radius = np.maximum(np.abs(moved), 1)
    run, look = Run(), announced.find_missed

    def look_once(*arguments: Any) -> Any:
        found = look(*arguments)
        run.cancel()
        return found

    with pytest.raises(InfeasibleError, match=r"larger radius, such as \d"):
        announced.check_levels(problem, moved, radius, run)
    monkeypatch.setattr(announced, "find_missed", look_once)
    with pytest.raises(InfeasibleError, match="larger radius, let totals"):
        announced.check_levels(problem, moved, radius, run)


def test_what_is_proven_to_be_impossible_is_said_though_there_is_no_time_for_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = generated((6, 6), "fs", sensitive=4, pattern="uniform", protection=50.0)

    def stop(*arguments: Any) -> None:
        raise StoppedError("stopped")

    monkeypatch.setattr(adjustment, "find_smallest_capacity", stop)
    with pytest.raises(InfeasibleError, match="Allow a larger capacity"):
        Adjustment(capacity=0).protect(problem)
