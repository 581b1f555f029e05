"""``tacita`` behind a slow line: every message to a page waits up to ``TACITA_TEST_LAG`` seconds first.

A step of a test that acts on a page before it was told what it should have waited for fails here for certain,
and on a busy machine by chance. ``make check-all`` runs the browser tests this way too.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
from typing import Any

from nicegui.outbox import Outbox

from tacita.cli import main

MOST = float(os.environ["TACITA_TEST_LAG"])

send = Outbox._emit


async def send_late(self: Outbox, message: Any) -> None:
    await asyncio.sleep(random.uniform(0, MOST))
    await send(self, message)


Outbox._emit = send_late  # type: ignore[method-assign]
sys.exit(main())
