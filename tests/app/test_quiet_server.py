"""The terminal of the app tells its address and nothing of how busy the machine is."""

from __future__ import annotations

import subprocess
import sys

import pytest

BUSY = """
import time
from nicegui import binding
from tacita.app.serving.doors import Doors
from tacita.app.serving.server import create
from tacita.app.work.workspace import Workspace

class Slow:
    @property
    def value(self):
        time.sleep(0.05)
        return 1

class Shown:
    value = 0

create(Doors(Workspace()), 1, lambda: None)
shown, slow = Shown(), Slow()
binding.bind_from(shown, "value", slow, "value")
binding._refresh_step()
assert shown.value == 1
"""


@pytest.mark.slow
def test_a_busy_machine_is_no_news_for_the_terminal() -> None:
    done = subprocess.run([sys.executable, "-c", BUSY], capture_output=True, text=True, check=True)
    assert done.stdout == done.stderr == ""
