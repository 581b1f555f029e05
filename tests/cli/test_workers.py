"""Workers of commands: processes that end with the command, and Dask schedulers by their address."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tacita.cli import main, workers
from tacita.cli.effort import Effort, carry_out
from tacita.core.run import Run


@pytest.fixture
def _closed() -> Iterator[None]:
    yield
    workers.close_workers()


@pytest.fixture
def case(tmp_path: Path) -> str:
    path = tmp_path / "nchs.csv"
    assert main(["generate", "example", "nchs", "--out", str(path)]) == 0
    return str(path)


def find_process(item: int, run: Run) -> int:
    return os.getpid()


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until_ended(processes: set[int]) -> None:
    end = time.monotonic() + 20.0
    while any(map(is_alive, processes)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(is_alive, processes))


@pytest.mark.usefixtures("_closed")
def test_processes_serve_all_that_a_command_does_and_end_with_it() -> None:
    effort = Effort(workers=2)
    found = [set(carry_out(lambda run: list(run.map(find_process, range(8))), effort)) for _ in range(2)]
    processes = found[0] | found[1]
    assert os.getpid() not in processes
    assert len(processes) <= 2
    workers.close_workers()
    wait_until_ended(processes)


def test_processes_end_when_the_command_is_killed() -> None:
    script = (
        "import os, signal\n"
        "from tacita.cli.workers import open_workers\n"
        "if __name__ == '__main__':\n"
        "    print(open_workers(2, None).submit(os.getpid).result(), flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=False)
    assert killed.returncode == -signal.SIGKILL
    wait_until_ended({int(killed.stdout)})


@pytest.mark.usefixtures("_closed")
def test_what_cannot_leave_the_process_is_shared_by_threads() -> None:
    here = carry_out(
        lambda run: list(run.map(lambda _, run: os.getpid(), range(4), local=True)), Effort(workers=2)
    )
    assert set(here) == {os.getpid()}


def test_a_dask_scheduler_that_does_not_answer_is_named(
    case: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: pip install 'tacita[dask]'")
    monkeypatch.setattr(workers, "ANSWER", 0.2)
    assert main(["protect", case, "--dask", "tcp://127.0.0.1:9"]) == 1
    assert "--dask tcp://127.0.0.1:9: no Dask scheduler answers there" in capsys.readouterr().err


def test_without_dask_one_sentence_says_how_to_get_it(
    case: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(["protect", case, "--dask", "tcp://127.0.0.1:9"]) == 1
    assert "install it with pip install 'tacita[dask]'" in capsys.readouterr().err


def test_workers_and_dask_exclude_each_other(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["protect", case, "--dask", "tcp://127.0.0.1:9", "--workers", "2"]) == 1
    assert "--workers and --dask exclude each other" in capsys.readouterr().err
