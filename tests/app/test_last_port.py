"""The port of the last server, which the next one takes if it is free."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from tacita.app.serving.last_port import read_last_port, remember_port
from tacita.app.serving.server import LOOPBACK, _bind_as_before


def test_the_last_port_is_kept_in_a_private_folder(tmp_path: Path) -> None:
    assert read_last_port(tmp_path) == 0
    remember_port(50_123, tmp_path)
    assert read_last_port(tmp_path) == 50_123
    if os.name == "posix":
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


@pytest.mark.parametrize("text", ["", "80", "70000", "many", "\N{SNOWMAN}"])
def test_what_is_no_port_of_ours_is_left(tmp_path: Path, text: str) -> None:
    (tmp_path / "port").write_text(text, encoding="utf-8")
    assert read_last_port(tmp_path) == 0


def test_a_server_takes_the_last_port_unless_another_program_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with socket.socket() as other:
        other.bind((LOOPBACK, 0))
        last = other.getsockname()[1]
        remember_port(last)
        other.listen()
        with _bind_as_before(0) as listener:
            assert listener.getsockname()[1] != last
    with _bind_as_before(0) as listener:
        assert listener.getsockname()[1] == last
