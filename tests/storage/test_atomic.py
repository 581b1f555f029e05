"""Files are there as a whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacita.core.errors import InputError
from tacita.storage.atomic import replace_file, write_text


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "release.csv"
    write_text(target, "old")

    def interrupted() -> None:
        with replace_file(target) as temporary:
            temporary.write_text("half of the n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
    write_text(target, "new")
    assert target.read_text() == "new"


def test_folders_are_not_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        write_text(tmp_path, "x")
    with pytest.raises(InputError, match="does not exist"):
        write_text(tmp_path / "none" / "x.csv", "x")


def test_a_full_disk_is_told_with_the_file_and_leaves_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "release.csv"
    write_text(target, "old")

    def full() -> None:
        with replace_file(target) as temporary:
            temporary.write_text("half of the n")
            raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match=r"release\.csv: cannot be written \(No space left on device\)"):
        full()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
