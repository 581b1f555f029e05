"""Recent work: kept by itself, private, offered again whole, never mixed between sessions."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from firms import MICRODATA, RECORDS

import tacita as tc
from tacita.app.screens.start.recent_panel import describe_offer
from tacita.app.work import recent as module
from tacita.app.work.job import Job, State
from tacita.app.work.open_case import Case, Decision, DecisionKind, open_case
from tacita.app.work.opening import open_case_at, open_case_of_files
from tacita.app.work.recent import Keeper, Offer, RecentWork, restore
from tacita.app.work.workspace import Workspace
from tacita.core.errors import InputError
from tacita.examples import example
from tacita.specification.differences import find_differences

RULES = 'rule = "p-percent(60) | p-percent(50, by=holding)"\n'


@pytest.fixture
def recent(tmp_path: Path) -> RecentWork:
    return RecentWork(tmp_path / "state")


@pytest.fixture
def sessions(recent: RecentWork) -> Iterator[list[Workspace]]:
    made: list[Workspace] = []
    yield made
    for workspace in made:
        workspace.close()


def begin(sessions: list[Workspace], recent: RecentWork, case: Case | None) -> Workspace:
    workspace = Workspace(recent)
    sessions.append(workspace)
    if case is not None:
        workspace.change(case)
    return workspace


def nchs() -> Case:
    return open_case(example("nchs"), "NCHS")


def wait_for(job: Job) -> None:
    for _ in range(600):
        if job.state.over:
            return
        time.sleep(0.05)
    pytest.fail("a run hangs")


def test_what_a_session_does_is_offered_to_the_next(recent: RecentWork, sessions: list[Workspace]) -> None:
    workspace = begin(sessions, recent, nchs())
    keeper = Keeper(recent, lambda: sessions)
    keeper.look()
    assert workspace.keeps_recent
    case = workspace.require_case().decide([3], Decision(DecisionKind.HIDE)).specify(cost={"by": "unit"})
    workspace.change(case.with_rules(["threshold(7)", "half typed("]))
    keeper.look(at_once=True)
    (offer,) = recent.list_offers()
    assert (offer.name, offer.cells, offer.in_use) == ("NCHS", 66, True)
    keeper.close()
    (offer,) = recent.list_offers()
    assert not offer.in_use
    other = begin(sessions, recent, None)
    notes = restore(other, recent.read(offer.key), in_use=offer.in_use)
    assert "Steps of undo were not kept" in notes[0]
    again = other.require_case()
    assert again.specification == workspace.require_case().specification
    assert again.rules == ("threshold(7)", "half typed(")
    assert again.decisions == case.decisions
    # It goes on as the same work, not as a second one.
    other.change(again.with_rules(["threshold(8)"]))
    second = Keeper(recent, lambda: [other])
    second.look()
    assert [offer.key for offer in recent.list_offers()] == [offer.key]
    assert recent.read(offer.key).case.rules == ("threshold(8)",)
    second.close()


def test_files_are_private(recent: RecentWork, sessions: list[Workspace]) -> None:
    begin(sessions, recent, nchs())
    Keeper(recent, lambda: sessions).close()
    if os.name == "posix":
        assert stat.S_IMODE(recent.folder.stat().st_mode) == 0o700
        for path in recent.folder.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_a_folder_that_others_can_read_is_closed(recent: RecentWork, sessions: list[Workspace]) -> None:
    recent.folder.mkdir(parents=True)
    recent.folder.chmod(0o755)
    begin(sessions, recent, nchs())
    Keeper(recent, lambda: sessions).close()
    assert os.name != "posix" or stat.S_IMODE(recent.folder.stat().st_mode) == 0o700
    assert len(recent.list_offers()) == 1


def test_finished_runs_come_back_and_are_audited_anew(recent: RecentWork, sessions: list[Workspace]) -> None:
    workspace = begin(sessions, recent, nchs())
    runs = [
        workspace.start("suppression", {}),
        workspace.start("unbiased-rounding", {"base": 3, "protected": False}),
    ]
    for run in runs:
        wait_for(run)
    keeper = Keeper(recent, lambda: sessions)
    keeper.close()
    (offer,) = recent.list_offers()
    assert offer.runs == 2
    other = begin(sessions, recent, None)
    restore(other, recent.read(offer.key), in_use=False)
    for job, before in zip(other.jobs, runs, strict=True):
        wait_for(job)
        assert (job.state, job.title, job.used_seed) == (before.state, before.title, before.used_seed)
        assert job.request == before.request
        assert job.case is other.case
        assert job.release is not None
        assert before.release is not None
        assert (job.release.value == before.release.value).all()
        assert (job.release.low == before.release.low).all()
        assert job.release.outcome == before.release.outcome


def test_runs_keep_their_numbers_beside_those_of_other_tables(
    recent: RecentWork, sessions: list[Workspace]
) -> None:
    workspace = begin(sessions, recent, nchs())
    first, second = (workspace.start("suppression", {}) for _ in range(2))
    for run in (first, second):
        wait_for(run)
    second.exported = True
    workspace.forget(first)
    Keeper(recent, lambda: sessions).close()
    other = begin(sessions, recent, open_case(example("salazar"), "salazar"))
    wait_for(other.start("suppression", {}))
    restore(other, recent.read(workspace.require_case().work), in_use=False)
    assert [(job.number, job.exported) for job in other.jobs] == [(1, False), (2, True)]


def test_files_of_another_table_do_not_keep_this_one_from_being_kept(
    recent: RecentWork, sessions: list[Workspace]
) -> None:
    workspace = begin(sessions, recent, None)
    folder = workspace.folder / "opened"
    folder.mkdir()
    (folder / "records.csv").write_text(RECORDS)
    (folder / "decided.csv").write_text("region,size\nN,a\n")
    (folder / "project.toml").write_text(f'{MICRODATA}{RULES}[decisions]\nsensitive = "decided.csv"\n')
    workspace.change(open_case_at(folder))
    wait_for(workspace.start("suppression", {}))
    with pytest.raises(InputError, match="decided in a file that was handed over"):
        module.describe_work(workspace, workspace.require_case())
    workspace.change(nchs())
    assert module.describe_work(workspace, workspace.require_case()).runs == ()


def test_a_verdict_is_not_taken_from_a_file(recent: RecentWork, sessions: list[Workspace]) -> None:
    """Whoever writes another release into the file gets the verdict on that one."""
    workspace = begin(sessions, recent, nchs())
    job = workspace.start("suppression", {})
    wait_for(job)
    assert job.state is State.SAFE
    work = module.describe_work(workspace, workspace.require_case())
    table = work.case.table
    shown = tc.Release.suppress(table, np.zeros(len(table), dtype=bool))
    from dataclasses import replace

    recent.write(replace(work, runs=(replace(work.runs[0], release=shown),)))
    other = begin(sessions, recent, None)
    restore(other, recent.read(work.case.work), in_use=False)
    wait_for(other.jobs[0])
    assert other.jobs[0].state is State.UNSAFE


@pytest.mark.parametrize("handed_over", [True, False])
def test_who_contributed_is_kept(
    recent: RecentWork, sessions: list[Workspace], tmp_path: Path, handed_over: bool
) -> None:
    """The attackers and rules of a table of records are the same, also where its files are gone."""
    workspace = begin(sessions, recent, None)
    folder = workspace.folder / "opened" if handed_over else tmp_path / "files"
    folder.mkdir()
    (folder / "records.csv").write_text(RECORDS)
    (folder / "project.toml").write_text(MICRODATA + RULES)
    files = [folder / "records.csv", folder / "project.toml"]
    case = open_case_of_files(files) if handed_over else open_case_at(folder)
    workspace.change(case)
    Keeper(recent, lambda: sessions).close()
    for file in files:
        file.unlink()
    kept = recent.read(case.work).case
    assert find_differences(case.problem, kept.problem) == []
    assert kept.problem.considered == case.problem.considered
    assert "respondents" in kept.problem.considered.text
    other = kept.with_rules(["p-percent(70)", "request([F8])"])
    assert find_differences(case.with_rules(other.rules).problem, other.problem) == []
    assert kept.from_project is not handed_over
    # The title of the release and the name of its files are made of these.
    assert (kept.description, kept.tabulated) == (case.description, "turnover")


def test_sessions_and_tables_have_works_of_their_own(recent: RecentWork, sessions: list[Workspace]) -> None:
    one, other = begin(sessions, recent, nchs()), begin(sessions, recent, nchs())
    keeper = Keeper(recent, lambda: sessions)
    one.change(one.require_case().with_rules(["threshold(7)"]))
    other.change(other.require_case().with_rules(["threshold(9)"]))
    keeper.look()
    other.change(open_case(example("salazar"), "NCHS"))
    keeper.look(at_once=True)
    kept = {offer.key: recent.read(offer.key).case for offer in recent.list_offers()}
    assert sorted((case.rules, len(case.table)) for case in kept.values()) == [
        ((), 16),
        (("threshold(7)",), 66),
        (("threshold(9)",), 66),
    ]
    # Back by undo is back in the same work.
    other.undo()
    keeper.look(at_once=True)
    assert len(recent.list_offers()) == 3
    keeper.close()


def test_what_another_session_works_on_is_copied(recent: RecentWork, sessions: list[Workspace]) -> None:
    one = begin(sessions, recent, nchs())
    keeper = Keeper(recent, lambda: sessions)
    keeper.look()
    (offer,) = recent.list_offers()
    assert offer.in_use
    other = begin(sessions, recent, None)
    restore(other, recent.read(offer.key), in_use=offer.in_use)
    other.change(other.require_case().with_rules(["threshold(99)"]))
    keeper.look(at_once=True)
    assert other.keeps_recent
    assert recent.read(one.require_case().work).case.rules == one.require_case().rules
    assert recent.read(other.require_case().work).case.rules == ("threshold(99)",)
    keeper.close()


def test_nothing_is_kept_once_the_user_says_no(recent: RecentWork, sessions: list[Workspace]) -> None:
    earlier = nchs()
    recent.write(module.Work(earlier))
    workspace = begin(sessions, recent, nchs())
    keeper = Keeper(recent, lambda: sessions)
    keeper.look()
    assert len(recent.list_offers()) == 2
    recent.enable(False)
    assert not RecentWork(recent.folder.parent).enabled
    keeper.look(at_once=True)
    # What is open goes; what was kept before goes when the user removes it.
    assert [offer.key for offer in recent.list_offers()] == [earlier.work]
    workspace.change(workspace.require_case().with_rules(["threshold(9)"]))
    keeper.look(at_once=True)
    assert len(recent.list_offers()) == 1
    assert not workspace.keeps_recent
    recent.remove_all()
    assert [path.name for path in recent.folder.iterdir()] == ["settings.json"]
    keeper.close()


def test_what_is_cleared_is_not_offered(recent: RecentWork, sessions: list[Workspace]) -> None:
    workspace = begin(sessions, recent, nchs())
    keeper = Keeper(recent, lambda: sessions)
    keeper.look()
    workspace.clear()
    keeper.look(at_once=True)
    assert recent.list_offers() == []
    keeper.close()


def test_the_oldest_go(recent: RecentWork, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KEPT", 3)
    cases = [nchs() for _ in range(5)]
    for case in cases:
        recent.write(module.Work(case))
    assert [offer.key for offer in recent.list_offers()] == [case.work for case in cases[:1:-1]]


def test_what_cannot_be_kept_is_said(
    recent: RecentWork, sessions: list[Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_CELLS", 60)
    workspace = begin(sessions, recent, nchs())
    keeper = Keeper(recent, lambda: sessions)
    keeper.look()
    assert "more than 60 cells" in workspace.not_kept
    assert not workspace.keeps_recent
    assert recent.list_offers() == []
    keeper.close()


def test_damaged_files_are_not_offered_and_do_no_harm(recent: RecentWork) -> None:
    recent.write(module.Work(nchs()))
    (recent.folder / "aaaa.work").write_bytes(b"\0" * 50)
    (recent.folder / "bbbb.work").write_bytes(b"tacita values 1\n0\n{}\n")
    (offer,) = recent.list_offers()
    path = recent.folder / f"{offer.key}.work"
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(tc.FormatError):
        recent.read(offer.key)
    with pytest.raises(tc.InputError):
        recent.read("../settings")
    recent.remove_all()
    assert list(recent.folder.glob("*.work")) == []


def test_offers_are_told_in_words() -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    offer = Offer("a", "sales", now - timedelta(hours=5), 1200, ("region", "size"), 2, True)
    assert describe_offer(offer, now) == (
        "region by size · 1,200 cells · 2 runs · 5 hours ago · open in another session: a copy is opened"
    )
