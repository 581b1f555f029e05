"""Runs that are ended while they write: what they leave, and what the next run makes of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import tacita as tc
from tacita.cli import main
from tacita.cli.effort import Effort, carry_out
from tacita.core.errors import FormatError, InputError
from tacita.core.run import Run
from tacita.examples import example
from tacita.formats.jj import write_jj
from tacita.publication.folders import find_certificate, find_release
from tacita.publication.release_read import read_release
from tacita.publication.results import write_results
from tacita.storage import drafts, exchange, switch
from tacita.storage.drafts import make_draft
from tacita.storage.recovery import recover
from tacita.storage.switch import MARKER

HERE = Path(__file__).parent
LEAST_STEPS = 20
"""Steps that writing two formats takes at least, before anything is new."""
REASON = "for the training course only"
forking = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="needs processes that share what they have loaded"
)


def script(name: str, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(HERE / name), *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def audits() -> tuple[tc.Audit, tc.Audit]:
    problem = example("nchs")
    first = tc.audit(problem, tc.Suppression().protect(problem))
    return first, tc.audit(problem, tc.Release.suppress(problem.table, range(len(problem.table))))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@forking
def test_a_killed_run_leaves_one_release_or_a_mark_and_the_next_one_tidies_up() -> None:
    found = script("kills.py", "--count", "16", "--sides", "5")
    assert found["kills"] == 16
    assert found["hit"].get("ended before", 0) < 16


@forking
@pytest.mark.slow
def test_five_hundred_kills_of_small_and_large_results() -> None:
    found = script("kills.py", "--count", "500")
    assert found["kills"] == 500
    assert found["hit"].get("ended before", 0) < 250


@forking
@pytest.mark.parametrize("stride", [pytest.param(1, marks=pytest.mark.slow), 7])
def test_no_single_step_leaves_files_of_two_releases_unmarked(stride: int) -> None:
    found = script("every_step.py", "--stride", str(stride))
    for label in ("first results", "exchanged", "file by file", "with files of the user"):
        assert found[f"{label}, stopped: old"] >= LEAST_STEPS // stride
        assert found[f"{label}, refused: old"] >= LEAST_STEPS // stride
        assert stride > 1 or found[f"{label}, stopped: internal marked"] > 0
        # On systems that exchange folders a publication is of one release at any moment.
        assert (found.get(f"{label}, stopped: publication marked", 0) > 0) == (
            label in ("file by file", "with files of the user")
        )


def test_drafts_lie_outside_what_is_published(
    tmp_path: Path, audits: tuple[tc.Audit, tc.Audit], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is opened, made or moved inside publication while a release is written is a result by name."""
    seen: set[str] = set()
    published = tmp_path / "publication"
    published.mkdir()

    def listen(event: str, arguments: tuple[object, ...]) -> None:
        if event in ("open", "os.rename", "os.mkdir"):
            paths = [Path(name) for name in arguments[:2] if isinstance(name, str | Path)]
            seen.update(str(path.relative_to(published)) for path in paths if path.is_relative_to(published))

    sys.addaudithook(listen)
    monkeypatch.setattr(exchange, "exchange", unable)
    write_results(audits[0], tmp_path, ("csv", "html"))
    tc.write_release(audits[0].release, published / "release.txt", audit=audits[0])
    assert seen - {"."} == {MARKER, "release.csv", "release.html", "release.txt"}
    assert {path.name for path in tmp_path.iterdir()} == {"publication", "internal"}


def interrupted(folder: Path, audit: tc.Audit, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """A run that has vanished after so many moves of a switch that goes file by file."""
    move, moved, remove = switch._move_file, 0, drafts._remove

    def vanish(source: Path, target: Path) -> None:
        nonlocal moved
        if moved == after:
            raise SystemExit
        moved += 1
        move(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(exchange, "exchange", unable)
        patched.setattr(switch, "_move_file", vanish)
        patched.setattr(switch, "resolve_switch", lambda home: True)
        patched.setattr(drafts, "_remove", lambda draft: None if draft.parent == folder else remove(draft))
        write_results(audit, folder, ("csv", "html"))


def unable(*_: Path) -> None:
    raise OSError(38, "not on this system")


@pytest.mark.parametrize("after", [0, 1, 3])
def test_doctor_undoes_what_a_dead_run_began(
    tmp_path: Path,
    audits: tuple[tc.Audit, tc.Audit],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    after: int,
) -> None:
    write_results(audits[0], tmp_path, ("csv",))
    before = contents(tmp_path)
    interrupted(tmp_path, audits[1], monkeypatch, after)
    assert (tmp_path / "publication" / MARKER).exists() == (after == 3)
    assert (tmp_path / "internal" / MARKER).exists()
    with pytest.raises(InputError, match=r"marked by INCOMPLETE.txt.*tacita doctor"):
        find_certificate(tmp_path)
    if after == 3:
        with pytest.raises(InputError, match="was interrupted while it replaced the files"):
            find_release(tmp_path)
        with pytest.raises(InputError, match="was interrupted while it replaced the files"):
            read_release(tmp_path / "publication" / "release.html", audits[0].problem.table)
    main(["doctor", str(tmp_path), "--json"])
    seen = [check["seen"] for check in json.loads(capsys.readouterr().out)["checks"]]
    assert f"an interrupted run was undone: {tmp_path} holds what was there before it" in seen
    assert contents(tmp_path) == before
    main(["doctor", str(tmp_path), "--json"])
    assert "nothing left by an interrupted run" in capsys.readouterr().out


def test_the_next_run_says_what_it_removes(
    tmp_path: Path,
    audits: tuple[tc.Audit, tc.Audit],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_results(audits[0], tmp_path, ("csv",))
    interrupted(tmp_path, audits[1], monkeypatch, 1)
    # What versions before this one left inside.
    (tmp_path / "publication" / ".draft-abcd1234").mkdir()
    (tmp_path / "publication" / ".release.csv.0a1b2c3d.old").write_text("of another release")
    written = write_results(audits[1], tmp_path, ("csv",))
    assert "was undone" in written.notes[0]
    assert "removed, as left by an interrupted run" in written.notes[1]
    assert ".release.csv.0a1b2c3d.old" in written.notes[2]
    assert {path.name for path in tmp_path.rglob("*")} == {
        *("publication", "internal", "release.csv", "audit.json", "certificate.json"),
        "earlier-release.csv",
    }
    case = tmp_path / "case.jj"
    write_jj(example("nchs"), case)
    interrupted(tmp_path, audits[0], monkeypatch, 1)
    capsys.readouterr()
    assert main(["protect", str(case), "--out", str(tmp_path)]) == 0
    assert "note: an interrupted run was undone" in capsys.readouterr().err
    assert not list(tmp_path.glob(".tacita-*"))


def test_drafts_of_a_run_that_is_at_work_stay(tmp_path: Path) -> None:
    with make_draft(tmp_path) as draft:
        assert recover(tmp_path) == ()
        assert draft.is_dir()
    dead = tmp_path / ".tacita-0123456789abcdef"
    dead.mkdir()
    (dead / "new").mkdir()
    mine = tmp_path / ".tacita-settings"
    mine.mkdir()
    assert recover(tmp_path) == (f"removed, as left by an interrupted run: {dead}",)
    assert [path.name for path in tmp_path.iterdir()] == [mine.name]


def test_a_switch_waits_for_another_one_and_tells(
    tmp_path: Path, audits: tuple[tc.Audit, tc.Audit], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(switch, "PATIENCE", 0.3)
    with make_draft(tmp_path) as draft:
        begun = tmp_path / ".tacita-switch"
        begun.mkdir()
        journal = {"draft": draft.name, "places": [], "whole": None, "fingerprint": ""}
        (begun / "begun.json").write_text(json.dumps(journal))
        with pytest.raises(InputError, match="another run is writing there: wait"):
            write_results(audits[0], tmp_path)
        assert not (tmp_path / "publication").exists()
    write_results(audits[0], tmp_path)


@pytest.mark.parametrize("name", ["../../outside.txt", "/etc/passwd", ".."])
def test_a_journal_does_not_lead_out_of_its_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / ".tacita-0123456789abcdef").mkdir()
    (tmp_path / ".tacita-switch").mkdir()
    place = {"folder": ".", "coming": [name], "leaving": [], "made": False}
    journal = {"draft": ".tacita-0123456789abcdef", "places": [place], "whole": None, "fingerprint": ""}
    (tmp_path / ".tacita-switch" / "begun.json").write_text(json.dumps(journal))
    with pytest.raises(FormatError, match="no journal of an interrupted run"):
        recover(tmp_path)


def test_publication_on_another_device_is_copied_under_a_mark(
    tmp_path: Path, audits: tuple[tc.Audit, tc.Audit], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link to another disk: files cannot be renamed into it."""
    site = tmp_path / "site"
    site.mkdir()
    out = tmp_path / "out"
    out.mkdir()
    (out / "publication").symlink_to(site)
    replace = os.replace

    def across(source: Path, target: Path) -> None:
        if (Path(source).parent.resolve() == site) != (Path(target).parent.resolve() == site):
            raise OSError(18, "Invalid cross-device link")
        replace(source, target)

    monkeypatch.setattr(switch.os, "replace", across)
    write_results(audits[0], out, ("csv", "html"))
    write_results(audits[1], out, ("csv",))
    assert [path.name for path in site.iterdir()] == ["release.csv"]
    assert {path.name for path in out.iterdir()} == {"publication", "internal"}
    assert (out / "publication").is_symlink()


def test_a_folder_keeps_its_mode_when_it_is_exchanged(
    tmp_path: Path, audits: tuple[tc.Audit, tc.Audit]
) -> None:
    write_results(audits[0], tmp_path)
    (tmp_path / "publication").chmod(0o2775)
    write_results(audits[1], tmp_path)
    assert (tmp_path / "publication").stat().st_mode & 0o7777 == 0o2775


@pytest.mark.skipif(sys.platform == "win32", reason="SIGTERM ends a process there without asking it")
def test_sigterm_keeps_the_best_so_far(capsys: pytest.CaptureFixture[str]) -> None:
    stop = threading.Event()

    def work(run: Run) -> str:
        run.report("searching", incumbent=1.0)
        while not run.over and not stop.wait(0.01):
            pass
        return "best so far"

    before = signal.getsignal(signal.SIGTERM)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()
    threading.Timer(20, stop.set).start()
    assert carry_out(work, Effort()) == "best so far"
    assert "stopping with the best so far" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.skipif(sys.platform == "win32", reason="SIGTERM ends a process there without asking it")
def test_sigterm_while_files_are_written_ends_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = tmp_path / "case.jj"
    write_jj(example("nchs"), case)

    def terminated(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("tacita.publication.results.write_verdict_files", terminated)
    assert main(["protect", str(case), "--out", str(tmp_path / "out")]) == 1
    assert "stopped: nothing more was written" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["case.jj"]
