"""Progress that is never silent for long: the last report is repeated while a single step takes its time.

Loops report how far they are. A step in between, such as a program that a solver works on, cannot: a thread
repeats what was reported last, with the time that has passed since. So whatever begins reports its phase.
"""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

SILENCE = 1.0
"""Seconds after which the last report is repeated."""
OFTEN = 0.5
"""Seconds after which a loop that asks should report again."""

Work = TypeVar("Work", bound=Callable[..., Any])


class Reporting(Protocol):
    """A run, as far as this file knows it."""

    @property
    def listener(self) -> object: ...

    def heartbeat(self, phase: str) -> Any: ...


class Pulse:
    """When a run reported last, and how to report the same again."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self._repeat: Callable[[float], None] | None = None
        self._beating = threading.Lock()

    @property
    def silent(self) -> bool:
        """Whether the last report is so long ago that a loop should report again."""
        return time.monotonic() - self._last > OFTEN

    def note(self, repeat: Callable[[float], None]) -> None:
        """Take what repeats a report that is being made, given the seconds that have passed since."""
        self._last, self._repeat = time.monotonic(), repeat

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Repeat the last report whenever the block is silent for long; once, if blocks are nested."""
        if not self._beating.acquire(blocking=False):
            yield
            return
        ended = threading.Event()
        thread = threading.Thread(target=self._beat, args=(ended,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            self._beating.release()

    def _beat(self, ended: threading.Event) -> None:
        repeated = 0.0
        while not ended.wait(max(0.05, max(self._last, repeated) + SILENCE - time.monotonic())):
            now, repeat = time.monotonic(), self._repeat
            if repeat is not None and now - max(self._last, repeated) >= SILENCE:
                try:
                    repeat(now - self._last)
                except Exception:
                    # The work finds out that a listener fails when it reports; here nobody could catch that.
                    return
                repeated = now


def with_heartbeat(phase: str) -> Callable[[Work], Work]:
    """Return a decorator for functions with an argument ``run``: the run reports the phase at once, and is
    never silent for long until the function returns.
    """

    def decorate(work: Work) -> Work:
        position = list(inspect.signature(work).parameters).index("run")

        @wraps(work)
        def work_with_heartbeat(*given: Any, **named: Any) -> Any:
            run: Reporting | None = named.get("run", given[position] if len(given) > position else None)
            if getattr(run, "listener", None) is None or run is None:
                return work(*given, **named)
            with run.heartbeat(phase):
                return work(*given, **named)

        return cast(Work, work_with_heartbeat)

    return decorate
