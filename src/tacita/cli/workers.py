"""Workers of a command: processes of this machine, or those of a Dask cluster.

They are opened when work begins, serve everything that the command does, and end with it.
"""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from importlib import import_module
from typing import Any

from tacita.core.errors import InputError, MissingPackageError
from tacita.core.run import InThisThread

ANSWER = 10.0
"""Seconds in which a scheduler must answer."""

_opened: dict[tuple[int, str | None], Executor] = {}
_closing = ExitStack()


def open_workers(workers: int, dask: str | None) -> Executor:
    """Return the executor of a command: of so many processes, or of the Dask scheduler at an address."""
    if dask is not None and workers > 1:
        raise InputError("--workers and --dask exclude each other", remedy="use one of them")
    if (workers, dask) not in _opened:
        _opened[workers, dask] = (
            _connect(dask) if dask is not None else _start(workers) if workers > 1 else InThisThread()
        )
    return _opened[workers, dask]


def close_workers() -> None:
    """End the workers of a command, and whatever they are still doing."""
    _opened.clear()
    _closing.close()


class Processes(ProcessPoolExecutor):
    """Processes, which start when they are first needed, and threads for what cannot leave this process.

    Processes share everything that is computed, threads only what solvers do.
    """

    def __init__(self, workers: int) -> None:
        from multiprocessing import get_context

        super().__init__(workers, mp_context=get_context("spawn"), initializer=_follow_parent)
        self.threads = ThreadPoolExecutor(workers)

    def end(self) -> None:
        """End the processes: after a cancel they may be in the middle of something long."""
        processes = list((self._processes or {}).values())
        self.shutdown(wait=False, cancel_futures=True)
        self.threads.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()


def _start(workers: int) -> Processes:
    pool = Processes(workers)
    _closing.callback(pool.end)
    return pool


def _follow_parent() -> None:
    """Leave Ctrl-C to the process that started this one, and end when that ends, however it does."""
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None

    def follow() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def _connect(address: str) -> Executor:
    """Return the executor of a Dask cluster, by the address of its scheduler."""
    try:
        make_client: Any = import_module("distributed").Client
    except ImportError:
        remedy = "install it with pip install 'tacita[dask]'"
        raise MissingPackageError("--dask needs Dask, which is not installed", remedy=remedy) from None
    try:
        client = make_client(address, timeout=ANSWER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(
            "no Dask scheduler answers there",
            place=f"--dask {address}",
            remedy="start one with 'dask scheduler', and give the address that it prints, such as "
            "tcp://10.0.0.5:8786",
        ) from error
    _closing.callback(client.close)
    executor: Executor = client.get_executor()
    return executor
