"""``tacita app`` in a process of its own, used as a user uses it: by its terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

ANNOUNCED = "Tacita is at "
SLOW_LINE = Path(__file__).with_name("slow_line.py")
TACITA = (str(SLOW_LINE),) if os.environ.get("TACITA_TEST_LAG") else ("-m", "tacita")


@dataclass(frozen=True)
class RunningServer:
    """A server at work in ``folder``; its temporary files are in ``temporary``, its stderr in ``words``."""

    process: subprocess.Popen[str]
    folder: Path
    temporary: Path
    words: Path
    first_address: str

    @classmethod
    def start(
        cls,
        arguments: Sequence[str],
        *,
        folder: Path,
        temporary: Path,
        words: Path,
        program: Sequence[str] = TACITA,
        state: Path | None = None,
    ) -> Self:
        """Run ``tacita app`` with these words, and wait until it tells its address; recent work is kept in
        ``state``.
        """
        # NiceGUI behaves differently where it believes to be tested.
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        with words.open("w") as errors:
            process = subprocess.Popen(
                [sys.executable, *program, "app", "--no-browser", *arguments],
                cwd=folder,
                env={**kept, "TMPDIR": str(temporary), "XDG_STATE_HOME": str(state or words.parent)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                preexec_fn=_as_from_a_terminal if os.name == "posix" else None,
            )
        return cls(process, folder, temporary, words, _announced(process, words))

    @property
    def port(self) -> int:
        port = urlsplit(self.first_address).port
        assert port is not None
        return port

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def new_address(self) -> str:
        """What somebody gets who presses Enter in the terminal."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return _announced(self.process, self.words)

    def stop(self, how: signal.Signals = signal.SIGINT) -> int:
        """Ctrl-C, or another signal; the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        return self.process.returncode


def _as_from_a_terminal() -> None:
    """Restore what a runner in the background ignores, and the server would ignore with it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def _announced(process: subprocess.Popen[str], words: Path) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith(ANNOUNCED), f"{line!r} instead of an address; stderr: {words.read_text()}"
    return line.removeprefix(ANNOUNCED).strip()
