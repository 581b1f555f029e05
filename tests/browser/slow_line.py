"""``tacita`` behind a slow line: each message to or from a page waits up to ``TACITA_TEST_LAG`` seconds.

A step of a test that acts on a page before it was told what it should have waited for fails here for certain,
and on a busy machine by chance. ``make check-all`` runs the browser tests this way too. Messages of one page
keep their order; requests for pages do not wait, and overtake them.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
from typing import Any

from socketio import AsyncServer

MOST = float(os.environ["TACITA_TEST_LAG"])

receive = AsyncServer._handle_eio_message


async def receive_late(self: AsyncServer, page: str, message: Any) -> None:
    await asyncio.sleep(random.uniform(0, MOST))
    await receive(self, page, message)


# NiceGUI binds it when it is imported.
AsyncServer._handle_eio_message = receive_late

from nicegui.outbox import Outbox  # noqa: E402

from tacita.cli import main  # noqa: E402

send = Outbox._emit


async def send_late(self: Outbox, message: Any) -> None:
    await asyncio.sleep(random.uniform(0, MOST))
    await send(self, message)


Outbox._emit = send_late  # type: ignore[method-assign]
sys.exit(main())
