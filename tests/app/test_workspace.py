"""One session's work: undo, runs in the background, and nothing left behind."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tacita.app.controls.runs import describe_scope, name_table
from tacita.app.work.job import Job, State
from tacita.app.work.open_case import Case, open_case
from tacita.app.work.workspace import MOST_STEPS, Workspace
from tacita.core.errors import InputError
from tacita.core.tables.editing import with_code
from tacita.examples import example
from tacita.specification.statement import Statement


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    made = Workspace()
    yield made
    made.close()


def finished(job: Job) -> Job:
    limit = time.monotonic() + 60
    while not job.state.over and time.monotonic() < limit:
        time.sleep(0.01)
    assert job.state.over
    return job


def test_without_a_table_the_remedy_is_named(workspace: Workspace) -> None:
    with pytest.raises(InputError, match="Start"):
        workspace.start("suppression", {})
    assert not workspace.jobs


def test_undo_and_redo_walk_through_the_cases(workspace: Workspace) -> None:
    cases = [replace(open_case(example("salazar"), "salazar"), name=str(k)) for k in range(3)]
    for case in cases:
        workspace.change(case)
    workspace.undo()
    workspace.undo()
    assert workspace.case is cases[0]
    assert not workspace.can_undo
    workspace.undo()
    assert workspace.case is cases[0]
    workspace.redo()
    assert workspace.case is cases[1]
    workspace.change(cases[0])
    assert not workspace.can_redo


def test_undo_reaches_back_so_far(workspace: Workspace) -> None:
    case = open_case(example("salazar"), "salazar")
    for k in range(MOST_STEPS + 20):
        workspace.change(replace(case, name=str(k)))
    while workspace.can_undo:
        workspace.undo()
    assert workspace.require_case().name == str(19)


def test_undo_holds_few_large_tables_and_no_problem(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacita.app.work.workspace.MOST_NUMBERS", 3 * 26 * 16)
    opened = [open_case(example("salazar"), str(k)) for k in range(6)]
    for case in opened:
        assert case.problem is case.problem
        workspace.change(case)
    assert all("_problem" not in vars(case) for case in opened[:-1])
    while workspace.can_undo:
        workspace.undo()
    assert workspace.require_case().name == "2"
    marked = [replace(workspace.require_case(), name=f"mark {k}") for k in range(20)]
    for case in marked:
        workspace.change(case)
    while workspace.can_undo:
        workspace.undo()
    assert workspace.require_case().name == "2", "cases that share a table take no more room than one"


def test_two_clicks_at_once_are_two_runs(workspace: Workspace) -> None:
    workspace.change(open_case(example("nchs"), "nchs"))
    with ThreadPoolExecutor(8) as clicks:
        started = [clicks.submit(workspace.start, "unbiased-rounding", {"base": 5}) for _ in range(8)]
    assert sorted(click.result().number for click in started) == list(range(1, 9))


def test_a_run_is_of_the_case_it_was_started_with(workspace: Workspace) -> None:
    workspace.change(open_case(example("salazar"), "salazar"))
    before = workspace.require_case()
    job = workspace.start("suppression", {})
    workspace.change(open_case(example("nchs"), "nchs"))
    finished(job)
    assert job.case is before
    assert job.state is State.SAFE
    assert job.release is not None
    assert job.release.outcome is not None
    assert job.release.outcome.loss == 85


def test_runs_belong_to_their_table(workspace: Workspace) -> None:
    # Tables of one file have one name.
    workspace.change(open_case(example("salazar"), "firms"))
    first = finished(workspace.start("suppression", {}))
    workspace.choose(first)
    workspace.change(open_case(example("nchs"), "firms"))
    assert (workspace.chosen, workspace.proposed) == (None, None)
    assert (workspace.runs_of_table, workspace.runs_of_others) == ([], [first])
    now = workspace.require_case()
    assert describe_scope(first, workspace) == "for firms (activity by region)"
    second = finished(workspace.start("suppression", {}))
    workspace.change(now.with_rules(["threshold(9)"]))
    assert workspace.runs_of_table == [second]
    workspace.undo()
    workspace.undo()
    assert (workspace.chosen, workspace.runs_of_table, workspace.runs_of_others) == (first, [first], [second])
    workspace.redo()
    assert workspace.chosen is second


def test_a_run_is_outdated_when_its_own_table_changes(workspace: Workspace) -> None:
    workspace.change(open_case(example("salazar"), "salazar"))
    first = finished(workspace.start("suppression", {}))
    assert not workspace.is_outdated(first)
    # Another table changes nothing about the first one.
    workspace.change(open_case(example("nchs"), "nchs"))
    second = finished(workspace.start("suppression", {}))
    assert not workspace.is_outdated(first)
    workspace.change(workspace.require_case().with_rules(["threshold(9)"]))
    assert workspace.is_outdated(second)
    assert not workspace.is_outdated(first)
    workspace.undo()
    assert not workspace.is_outdated(second)
    workspace.undo()
    # The last state of the other table is the one after the change.
    assert workspace.is_outdated(second)
    assert not workspace.is_outdated(first)
    workspace.change(workspace.require_case().with_rules(["threshold(9)"]))
    assert workspace.is_outdated(first)


def test_a_table_opened_twice_is_told_apart(workspace: Workspace) -> None:
    workspace.change(open_case(example("salazar"), "salazar"))
    first = finished(workspace.start("suppression", {}))
    workspace.change(open_case(example("salazar"), "salazar"))
    assert describe_scope(first, workspace).endswith(", opened at another time")


def test_runs_are_numbered_by_table(workspace: Workspace) -> None:
    workspace.change(open_case(example("salazar"), "salazar"))
    first = finished(workspace.start("suppression", {}))
    workspace.change(open_case(example("nchs"), "nchs"))
    other = finished(workspace.start("suppression", {}))
    assert (first.number, other.number) == (1, 1)
    assert workspace.find_job(first.key) is first
    assert workspace.find_job(other.key) is other
    workspace.switch(first.case.work)
    assert finished(workspace.start("suppression", {})).number == 2


def test_a_table_of_the_session_is_opened_as_it_was_last(workspace: Workspace) -> None:
    workspace.change(open_case(example("salazar"), "salazar"))
    workspace.change(workspace.require_case().with_rules(["threshold(9)"]))
    last = workspace.require_case()
    workspace.change(open_case(example("nchs"), "nchs"))
    assert [case.name for case in workspace.tables] == ["salazar", "nchs"]
    workspace.switch(last.work)
    assert workspace.case is last
    workspace.undo()
    assert workspace.require_case().name == "nchs"
    with pytest.raises(InputError, match="no longer open"):
        workspace.switch("gone")


def test_a_stale_run_is_stale_from_any_table(workspace: Workspace) -> None:
    workspace.change(open_case(example("salazar"), "salazar"))
    job = finished(workspace.start("suppression", {}))
    workspace.change(workspace.require_case().with_rules(["threshold(9)"]))
    assert describe_scope(job, workspace) == "for an earlier table or rules"
    workspace.change(open_case(example("nchs"), "nchs"))
    assert describe_scope(job, workspace) == "for an earlier table or rules of salazar"


def test_tables_of_one_name_are_told_apart_by_dimensions_or_size(workspace: Workspace) -> None:
    def name(*others: Case) -> str:
        for case in (one, *others):
            workspace.change(case)
        found = name_table(one, workspace)
        workspace.clear()
        return found

    one = open_case(example("salazar"), "firms")
    assert name(open_case(example("nchs"), "firms")) == "firms (activity by region)"
    larger = Case("firms", Statement.of(with_code(one.table, "region", "new")))
    assert name(larger) == f"firms (activity by region), {len(one.table)} cells"
    assert (
        name(open_case(example("salazar"), "firms")) == "firms (activity by region), opened at another time"
    )


def test_runs_are_numbered_on_and_can_be_forgotten(workspace: Workspace) -> None:
    workspace.change(open_case(example("salazar"), "salazar"))
    first, second = (finished(workspace.start("suppression", {})) for _ in range(2))
    workspace.forget(second)
    assert workspace.chosen is first
    assert workspace.start("suppression", {}).number == 2
    assert workspace.find_job(first.key) is first


def test_where_nothing_is_sensitive_nothing_is_called_safe(workspace: Workspace) -> None:
    workspace.change(open_case(example("salazar").table, "bare"))
    job = finished(workspace.start("suppression", {}))
    assert job.state is State.UNCHECKED
    assert job.state.value != State.SAFE.value


def test_what_no_release_can_meet_is_told_as_the_run_s_error(workspace: Workspace) -> None:
    workspace.change(open_case(example("salazar"), "salazar"))
    job = finished(workspace.start("rounding", {"base": 10}))
    assert job.state is State.FAILED
    assert "base" in job.error


def test_nothing_is_left_when_all_is_cleared(workspace: Workspace) -> None:
    workspace.change(open_case(example("nchs"), "nchs"))
    workspace.change(open_case(example("salazar"), "salazar"))
    finished(workspace.start("suppression", {}))
    (workspace.folder / "upload.csv").write_text("secret", encoding="utf-8")
    workspace.clear()
    assert workspace.case is None
    assert workspace.jobs == []
    assert workspace.chosen is None
    assert not workspace.can_undo
    assert not workspace.can_redo
    assert not list(workspace.folder.iterdir())


def test_the_folder_goes_with_the_workspace() -> None:
    workspace = Workspace()
    folder = workspace.folder
    (folder / "upload.csv").write_text("secret", encoding="utf-8")
    workspace.close()
    assert not folder.exists()


def test_a_run_that_another_window_removed_is_not_missed(workspace: Workspace) -> None:
    workspace.change(open_case(example("salazar"), "salazar"))
    first, second = (finished(workspace.start("suppression", {})) for _ in range(2))
    workspace.forget(second)
    workspace.forget(second)
    assert workspace.jobs == [first]
    with pytest.raises(InputError, match="run 2 was removed"):
        workspace.choose(second)
    assert workspace.chosen is first
    workspace.forget(first)
    assert workspace.chosen is None


def test_the_newest_safe_run_of_the_case_is_proposed_unless_another_one_was_picked(
    workspace: Workspace,
) -> None:
    workspace.change(open_case(example("nchs"), "nchs"))
    assert workspace.proposed is None
    safe = finished(workspace.start("suppression", {}))
    unsafe = finished(workspace.start("rounding", {"base": 1, "protected": False}))
    assert (safe.state, unsafe.state) == (State.SAFE, State.UNSAFE)
    assert workspace.chosen is unsafe
    assert workspace.proposed is safe
    workspace.choose(unsafe)
    assert workspace.proposed is unsafe
    workspace.forget(unsafe)
    assert workspace.proposed is safe
    # A verdict on other rules is none on these.
    workspace.change(workspace.require_case().with_rules(["threshold(9)"]))
    newest = finished(workspace.start("rounding", {"base": 1, "protected": False}))
    assert newest.state is State.UNSAFE
    assert workspace.proposed is newest


def test_seeds_that_nobody_gave_are_drawn_and_given_ones_are_used(workspace: Workspace) -> None:
    workspace.change(open_case(example("nchs"), "nchs"))
    drawn = [Job(k, workspace.require_case(), "suppression", {}).secret for k in range(5)]
    assert len(set(drawn)) == 5
    assert 0 not in drawn
    assert Job(1, workspace.require_case(), "suppression", {}, seed=0).secret == 0
