"""Files are there as a whole or not at all; text is never a formula."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacita.errors import InputError
from tacita.io.atomic import replacing, write_text
from tacita.io.escape import escape, unescape


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "release.csv"
    write_text(target, "old")

    def interrupted() -> None:
        with replacing(target) as temporary:
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


@pytest.mark.parametrize("text", ["=1+1", "+x", "-x", "@cmd", "\tx", "'=1", "''=1", "-"])
def test_what_a_spreadsheet_would_run_is_escaped_and_comes_back(text: str) -> None:
    assert escape(text).startswith("'")
    assert unescape(escape(text)) == text


@pytest.mark.parametrize("text", ["-5", "+3.5", "North", "'quoted'", "", "x=1"])
def test_plain_text_and_numbers_stay_as_they_are(text: str) -> None:
    assert escape(text) == text
    assert unescape(text) == text
