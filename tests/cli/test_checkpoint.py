"""``tacita protect`` goes on from the checkpoint that an earlier run of the same command left."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import tacita as tc
from tacita.cli import main
from tacita.cli.effort import Effort, carry_out
from tacita.core.run import Event, Run
from tacita.examples import example
from tacita.formats.jj import write_jj
from tacita.generate import problem as generated


@pytest.fixture
def case(tmp_path: Path) -> Path:
    write_jj(generated((6, 5), "logn", sensitive=5), tmp_path / "case.jj")
    return tmp_path / "case.jj"


def leave(case: Path, path: Path) -> bytes:
    """Return the checkpoint of a run in Python that was stopped at its first report with a release."""
    path.parent.mkdir(exist_ok=True)

    def listen(event: Event) -> None:
        if event.incumbent is not None:
            run.cancel()

    run = Run(listener=listen, checkpoint=path)
    tc.Suppression().protect(tc.read_case(case), run)
    return path.read_bytes()


def test_the_same_command_goes_on_and_removes_what_it_used(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    for path, extra in ((out / "tacita.checkpoint", []), (tmp_path / "own", ["--checkpoint", "own"])):
        left = leave(case, path)
        arguments = [str(tmp_path / word) if word == "own" else word for word in extra]
        assert main(["protect", str(case), "--out", str(out), *arguments]) == 0
        assert f"going on from {path}" in capsys.readouterr().err.replace("\n", "")
        assert left
        assert not path.exists()
    assert {path.name for path in out.iterdir()} == {"publication", "internal"}


def test_what_is_automatic_is_ignored_with_a_warning_and_what_is_named_is_refused(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, out = tmp_path / "other.jj", tmp_path / "out"
    write_jj(example("nchs"), other)
    left = leave(case, out / "tacita.checkpoint")
    assert main(["protect", str(other), "--out", str(out)]) == 0
    assert "the checkpoint is of another problem; the run begins anew" in capsys.readouterr().err.replace(
        "\n", " "
    )
    (out / "tacita.checkpoint").write_bytes(left[:-5])
    assert main(["protect", str(case), "--out", str(out)]) == 0
    assert "corrupted or incomplete; the run begins anew" in capsys.readouterr().err.replace("\n", " ")
    named = tmp_path / "named"
    named.write_bytes(left)
    assert main(["protect", str(other), "--checkpoint", str(named)]) == 1
    refused = capsys.readouterr().err.replace("\n", " ")
    assert "of another problem. Remove it, or name another file" in refused
    assert named.read_bytes() == left
    assert main(["protect", str(case), "--method", "adjustment", "--checkpoint", str(named)]) == 1
    assert "method 'adjustment' keeps no checkpoint" in capsys.readouterr().err


def test_a_run_that_makes_nothing_leaves_no_folder(case: Path, tmp_path: Path) -> None:
    assert main(["protect", str(case), "--out", str(tmp_path / "out"), "--option", "at_most=1"]) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (lambda run: run.report("branching", incumbent=12.0), "stopping with the best so far"),
        (lambda run: run.report("bounding", bound=3.0), "stopping though there is nothing to keep yet"),
    ],
)
def test_a_stop_says_whether_there_is_anything_to_keep(
    report: Callable[[Run], None], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    import os
    import signal

    def work(run: Run) -> str:
        report(run)
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        while not run.over:
            threading.Event().wait(0.01)
        return "ended"

    assert carry_out(work, Effort()) == "ended"
    assert words in capsys.readouterr().err


def test_a_stopped_command_says_what_it_kept(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    protect = tc.Suppression.protect

    def stop_late(method: tc.Suppression, problem: tc.Problem, run: Run) -> tc.Release:
        release = protect(method, problem, run)
        run.cancel()
        return release

    stop_late.__resumable__ = True  # type: ignore[attr-defined]
    monkeypatch.setattr(tc.Suppression, "protect", stop_late)
    assert main(["protect", str(case), "--out", str(tmp_path / "out")]) == 0
    assert "stopped: the best so far is kept, loss " in capsys.readouterr().err
