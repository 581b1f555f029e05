"""The effort of a run: limits, cancels, and the patience with what must still be finished."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace

import pytest

import tacita as tc
from tacita.core.run import Run

HOUR = 3600.0


def test_without_a_limit_there_is_no_end() -> None:
    run = Run()
    assert run.remaining == float("inf")
    assert not run.over


@pytest.mark.parametrize("limit", [None, HOUR])
def test_a_cancel_ends_a_run(limit: float | None) -> None:
    run = Run(limit)
    run.cancel()
    assert run.cancelled
    assert run.over
    assert run.remaining == 0.0


@pytest.mark.parametrize("limit", [None, HOUR])
def test_what_must_be_finished_ends_so_much_later_than_a_cancel(limit: float | None) -> None:
    run = Run(limit)
    rest = run.extended(60.0)
    run.cancel()
    assert rest.cancelled
    assert not rest.over
    assert 50.0 < rest.remaining <= 60.0


def test_a_cancel_counts_from_the_first_time() -> None:
    run = Run()
    run.cancel()
    first = run.extended(60.0).remaining
    run.cancel()
    assert run.extended(60.0).remaining <= first


def test_only_patience_is_left_once_the_time_is_over() -> None:
    run = Run()
    rest = run.extended(60.0)
    assert not rest.late
    run.cancel()
    assert rest.late
    assert run.late
    assert not rest.over


def test_patience_is_not_added_up() -> None:
    run = Run()
    run.cancel()
    assert run.extended(60.0).extended(1.0).remaining <= 1.0


def test_what_must_be_finished_ends_so_much_later_than_the_limit() -> None:
    run = replace(Run(10.0), started=Run().started - 30.0)
    assert run.over
    assert 30.0 < run.extended(60.0).remaining <= 40.0
    assert run.extended(15.0).over


def test_a_cancel_after_the_limit_gives_no_more_time() -> None:
    run = replace(Run(10.0), started=Run().started - 30.0)
    run.cancel()
    assert run.extended(60.0).remaining <= 40.0


def test_time_is_counted_from_the_start_of_the_run() -> None:
    run = replace(Run(), started=Run().started - 30.0)
    assert run.extended().seconds >= 30.0


def test_workers_elsewhere_get_what_is_left() -> None:
    run = Run(HOUR, seed=3)
    run.cancel()
    sent = pickle.loads(pickle.dumps(run.extended(60.0)))
    assert sent.seed == 3
    assert 50.0 < sent.remaining <= 60.0


def test_one_run_serves_many_tables() -> None:
    seen: list[float] = []
    long_ago = Run().started - 2 * HOUR
    run = Run(HOUR, listener=lambda event: seen.append(event.seconds), started=long_ago)
    assert run.over
    problem = tc.Problem(tc.Table.from_array([[20, 50, 10], [8, 19, 22], [17, 32, 12]]), "threshold(9)")
    for _ in range(2):
        release = tc.Suppression().protect(problem, run)
        assert release.outcome is not None
        assert release.outcome.status
        assert release.outcome.seconds < HOUR
        assert tc.audit(problem, release, run).safe
        assert len(tc.deduce(problem, release, run=run))
        assert len(tc.expose(release, run=run))
    assert max(seen) < HOUR


def test_the_clock_goes_on_within_work_that_has_begun() -> None:
    run = replace(Run(HOUR).begin(), started=Run().started - 2 * HOUR)
    assert run.begin() is run
    assert run.extended(1.0).begin().over
    assert pickle.loads(pickle.dumps(run)).begin().over


def test_a_cancel_is_heard_by_work_that_has_begun() -> None:
    run = Run(HOUR)
    begun = run.begin()
    run.cancel()
    assert begun.over
    assert run.begin().over


def test_a_long_search_without_a_limit_tells_once_how_to_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacita.core.run.LONG", 0.0)
    run = Run().begin()
    run.report("first release")
    with pytest.warns(tc.TacitaWarning, match=r"run=tc\.Run\(time_limit=60\).*best so far"):
        run.report("improving", incumbent=5.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run.report("improving", incumbent=4.0)


@pytest.mark.parametrize(
    "run", [Run(HOUR), Run(listener=lambda event: None), pickle.loads(pickle.dumps(Run()))]
)
def test_who_gave_a_limit_or_listens_or_works_for_others_gets_no_advice(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacita.core.run.LONG", 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run.begin().report("improving", incumbent=5.0)


def test_a_search_without_a_limit_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacita.core.run.LONG", 0.0)
    table = tc.Table.from_array([[5, 1, 7, 3], [2, 8, 4, 6], [9, 3, 1, 2]])
    with pytest.warns(tc.TacitaWarning, match="time_limit"):
        tc.Suppression().protect(tc.Problem(table, tc.Threshold(4)))
