"""Signals that end a process: SIGTERM counts as Ctrl-C, and neither cuts a short step in two."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)
)
"""What asks a process to end, as far as the platform knows it."""


@contextmanager
def defer_signals() -> Iterator[None]:
    """Hold back signals to end while the block moves files; threads other than the main one get none."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught: list[int] = []
    before: dict[int, Any] = {}
    try:
        for number in ENDING:
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, lambda number, _: caught.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in dict.fromkeys(caught):
            signal.raise_signal(number)


@contextmanager
def raise_on_signals() -> Iterator[None]:
    """Let SIGTERM, and a terminal that closes, raise KeyboardInterrupt in the block, unless they are handled
    or ignored already.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: dict[int, Any] = {}
    try:
        for number in ENDING:
            if signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, signal.default_int_handler)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
