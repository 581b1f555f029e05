"""Work that is asked for more often than it can be done: the newest question is answered, others are not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")

PAUSE = 0.15
"""Seconds without a new question after which work begins."""


class Newest(Generic[T]):
    """Does ``work`` with what was asked for last, once asking has paused; never two at the same time.

    While work is under way, ``overtaken`` says whether there is a newer question, so that the answer to the
    old one need not be shown.
    """

    def __init__(self, work: Callable[[T], Awaitable[None]], pause: float = PAUSE) -> None:
        self._work = work
        self._pause = pause
        self._asked: list[T] = []
        self._at = 0.0
        self._task: asyncio.Task[None] | None = None

    @property
    def overtaken(self) -> bool:
        return bool(self._asked)

    def ask(self, what: T) -> None:
        """To be called in the event loop."""
        self._asked = [what]
        loop = asyncio.get_running_loop()
        self._at = loop.time()
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._answer(loop))

    async def _answer(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._asked:
            if (left := self._at + self._pause - loop.time()) > 0:
                await asyncio.sleep(left)
            else:
                await self._work(self._asked.pop())
