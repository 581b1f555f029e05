"""``tacita app`` as a command: what it says before, while and after it serves."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

import tacita
from tacita.app.work.recent import RecentWork
from tacita.cli import main


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "tacita", "app", "--no-browser", *words]


def test_json_is_one_object_and_the_end_is_no_error(tmp_path: Path) -> None:
    with subprocess.Popen(
        command("--json"), cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        while lines[-1] != "}\n":
            lines.append(process.stdout.readline())
            assert lines[-1], f"ended after {lines}"
        process.stdin.write("\n")
        process.stdin.flush()
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    assert json.loads("".join(lines))["address"].startswith("http://127.0.0.1:")
    assert rest == ""
    assert process.returncode == 0


def start(temporary: Path, state: Path, *words: str) -> subprocess.Popen[str]:
    """A server that has told its address."""
    process = subprocess.Popen(
        command(*words),
        cwd=temporary.parent,
        env={**os.environ, "TMPDIR": str(temporary), "XDG_STATE_HOME": str(state)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("Tacita is at ")
    return process


def end(process: subprocess.Popen[str], how: signal.Signals = signal.SIGTERM) -> str:
    process.send_signal(how)
    return process.communicate(timeout=60)[1]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="processes are killed by signals")
def test_what_a_killed_server_left_goes_and_living_ones_keep_theirs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary, state = tmp_path / "temporary", tmp_path / "state"
    temporary.mkdir()
    living = start(temporary, state)
    (own,) = temporary.iterdir()
    killed = start(temporary, state)
    (left,) = set(temporary.iterdir()) - {own}
    (left / "upload.csv").write_text("true values")
    end(killed, signal.SIGKILL)
    assert (left / "upload.csv").exists()
    following = start(temporary, state)
    assert not left.exists()
    assert own.is_dir()
    assert len(list(temporary.iterdir())) == 2
    said = end(following)
    assert "Its temporary copies of data were removed; recent work is kept" in said
    assert str(left) in said
    # What the next server did not meet, the doctor finds.
    killed = start(temporary, state)
    (left,) = set(temporary.iterdir()) - {own}
    end(killed, signal.SIGKILL)
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert main(["doctor", "--json"]) == 0
    checks = {check["name"]: check["seen"] for check in json.loads(capsys.readouterr().out)["checks"]}
    assert checks[str(left)] == "left by a killed tacita app: removed"
    assert checks[str(own)] == "of a tacita app that runs"
    assert list(temporary.iterdir()) == [own]
    assert "Removed" not in end(living)
    assert list(temporary.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="processes are killed by signals")
def test_recent_work_is_kept_unless_the_user_says_no_which_is_remembered(tmp_path: Path) -> None:
    temporary, state = tmp_path / "temporary", tmp_path / "state"
    temporary.mkdir()
    table = tmp_path / "sales.csv"
    table.write_text("region,size,value\nN,a,2\nN,b,20\nS,a,30\nS,b,3\n")
    recent = RecentWork(state / "tacita")
    for words, kept in ((["--no-recent"], 0), ([], 0), (["--recent"], 1)):
        end(start(temporary, state, str(table), *words))
        assert [offer.name for offer in recent.list_offers()] == ["sales"] * kept


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["nothing.csv"], "nothing.csv"),
        (["--port", "65536"], "--port"),
        (["--largest-upload", "0"], "--largest-upload"),
    ],
)
def test_what_cannot_be_served_is_an_error_before_any_address(
    words: Sequence[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["app", "--no-browser", *words]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert named in err


def test_without_the_web_app_the_remedy_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nicegui", None)
    assert main(["app", "--no-browser"]) == 1
    assert "install it with pip install 'tacita[app]'" in capsys.readouterr().err


def test_nothing_but_the_web_app_imports_what_only_its_extra_brings() -> None:
    source = Path(tacita.__file__).parent
    rooms = [path for path in source.rglob("*.py") if path.relative_to(source).parts[0] != "app"]
    found = [
        str(path)
        for path in rooms
        if re.search(r"^\s*(import|from) (nicegui|fastapi|starlette|uvicorn)", path.read_text("utf-8"), re.M)
    ]
    assert len(rooms) > 100
    assert not found


def test_a_run_deep_in_a_solver_does_not_hold_the_terminal() -> None:
    program = (
        "import time\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from tacita.cli.app import _leave_runs_behind\n"
        "ThreadPoolExecutor(1, thread_name_prefix='tacita-run').submit(time.sleep, 60)\n"
        "_leave_runs_behind()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], timeout=60, check=False)
    assert done.returncode == 0
