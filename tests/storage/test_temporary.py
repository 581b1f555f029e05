"""Temporary folders: those of dead processes go, those of living ones stay."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tacita.storage.temporary import list_temporary_folders, make_temporary_folder, remove_dead_folders

PROCESS = """
import sys
from tacita.storage.temporary import make_temporary_folder
with make_temporary_folder() as folder:
    (folder / "upload.csv").write_text("true values")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def start() -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROCESS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_only_its_user_can_read_it_and_it_goes(home: Path) -> None:
    with make_temporary_folder() as folder:
        assert folder.parent == home
        assert os.name != "posix" or stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert list_temporary_folders() == [folder]
        # It is in use, if only by this very process.
        assert remove_dead_folders() == ()
        assert folder.is_dir()
    assert not folder.exists()


def test_folders_of_killed_processes_go_and_those_of_living_ones_stay() -> None:
    (dead, left), (living, kept) = start(), start()
    dead.send_signal(signal.SIGKILL)
    dead.wait()
    assert (left / "upload.csv").exists()
    assert remove_dead_folders() == (left,)
    assert not left.exists()
    assert (kept / "upload.csv").exists()
    assert remove_dead_folders() == ()
    living.communicate("")
    assert not kept.exists()


def test_links_and_other_folders_are_left_alone(home: Path) -> None:
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine.txt").write_text("mine")
    (home / "tacita-app-0123456789abcdef").symlink_to(elsewhere)
    (home / "tacita-app-notes").mkdir()
    assert remove_dead_folders() == ()
    assert (elsewhere / "mine.txt").exists()
    assert sorted(path.name for path in elsewhere.iterdir()) == ["mine.txt"]
    assert (home / "tacita-app-notes").is_dir()
