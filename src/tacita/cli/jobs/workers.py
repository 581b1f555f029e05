"""Workers of a run: this process, other processes of this machine, or those of a Dask cluster.

A worker carries out one job at a time. Processes serve job after job, so that everything is imported once. A
process that dies takes one job with it, which is named, and the next job gets a new process. All of them end
when the run ends, however that does.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, Protocol
from uuid import uuid4

from tacita.cli.jobs.job import Job, JobResult, Verdict
from tacita.cli.jobs.perform import perform_job
from tacita.cli.workers import open_workers
from tacita.core.parallel_map import count_workers, find_dask_client
from tacita.core.run import Event, Run
from tacita.storage.signals import ENDING

PAUSE = 0.1
"""Seconds between two looks at the cancel of the run."""
REPORTS = 0.5
"""Seconds between two reports of progress that a process sends."""


class Worker(Protocol):
    """Carries out jobs of a run, one at a time."""

    def work(self, job: Job, run: Run) -> JobResult:
        """Return how a job ended, whatever happens; its progress goes to the listener of the run."""


class Here:
    """A worker in this process."""

    def work(self, job: Job, run: Run) -> JobResult:
        return perform_job(job, run)


class OwnProcess:
    """A worker in a process of its own, which is started with the first job."""

    def __init__(self) -> None:
        self.process: Any = None
        self.wire: Connection | None = None

    def work(self, job: Job, run: Run) -> JobResult:
        wire, cancelled = self._start(), False
        try:
            wire.send((job, run.listener is not None))
            while True:
                if run.cancelled and not cancelled:
                    wire.send(None)
                    cancelled = True
                if not wire.poll(PAUSE):
                    continue
                message = wire.recv()
                if isinstance(message, JobResult):
                    return message
                if run.listener is not None:
                    run.listener(message)
        except (EOFError, OSError):
            return self._describe_death()

    def end(self) -> None:
        """End the process, and whatever it is doing."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None

    def _start(self) -> Connection:
        if self.process is None or self.wire is None:
            context = get_context("spawn")
            self.wire, other = context.Pipe()
            self.process = context.Process(target=serve, args=(other,), daemon=True)
            self.process.start()
            other.close()
        return self.wire

    def _describe_death(self) -> JobResult:
        process, self.process = self.process, None
        process.join(10.0)
        code = process.exitcode
        how = f"by signal {-code}" if code is not None and code < 0 else f"with code {code}"
        return JobResult(
            Verdict.FAILED,
            {"fault": "The process that worked on it ended."},
            error=f"the process that worked on it ended {how}. If memory was short, take fewer --workers",
        )


def serve(wire: Connection) -> None:
    """Carry out the jobs that arrive on a wire, until it is closed; nothing arriving cancels the job."""
    from tacita.cli import WithoutPandas

    sys.meta_path.insert(0, WithoutPandas())
    # Ctrl-C, and a terminal that closes, reach all processes; the one that the user started decides.
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    jobs: queue.SimpleQueue[tuple[Job, bool]] = queue.SimpleQueue()
    turn, current = threading.Lock(), Run()

    def receive() -> None:
        nonlocal current
        while True:
            try:
                message = wire.recv()
            except (EOFError, OSError):
                os._exit(1)
            if message is None:
                current.cancel()
            else:
                current = Run()
                jobs.put(message)

    def send(message: Event | JobResult) -> None:
        with turn, suppress(OSError):
            wire.send(message)

    threading.Thread(target=receive, daemon=True).start()
    while True:
        job, watched = jobs.get()
        send(perform_job(job, _reporting(current, send) if watched else current))


def _reporting(run: Run, send: Any) -> Run:
    """Return a run that sends its progress, but not all of it."""
    last = 0.0

    def listen(event: Event) -> None:
        nonlocal last
        if (now := time.monotonic()) - last >= REPORTS:
            last = now
            send(event)

    return replace(run, listener=listen)


@dataclass(frozen=True)
class OnCluster:
    """A worker that gives its jobs to a Dask cluster, whose workers must see the same files."""

    client: Any
    stop: Any

    def work(self, job: Job, run: Run) -> JobResult:
        # Workers elsewhere have other working folders.
        there = replace(job, path=job.path.resolve())  # type: ignore[type-var]
        future: Future[JobResult] = self.client.submit(
            perform_elsewhere, there, self.stop.name, pure=False, key=f"tacita-{uuid4()}"
        )
        cancelled = False
        while not future.done():
            if run.cancelled and not cancelled:
                self.stop.set()
                cancelled = True
            time.sleep(PAUSE)
        try:
            result = future.result()
            return replace(result, record={**result.record, "table": str(job.path)})
        except (Exception, CancelledError) as error:
            return JobResult(
                Verdict.FAILED,
                {"fault": "The worker of the cluster ended."},
                error=f"no worker of the cluster could do it ({type(error).__name__}). Workers need the same "
                "version of tacita, and the same folders under the same names",
            )


def perform_elsewhere(job: Job, stop: str) -> JobResult:
    """Carry out a job on a worker of a cluster; the cluster's event of that name cancels it."""
    run = Run()
    over = threading.Event()

    def hear() -> None:
        event = _make_cluster_event(stop)
        while not over.is_set():
            with suppress(Exception):
                if event.wait(timeout=1):
                    run.cancel()
                    return

    threading.Thread(target=hear, daemon=True).start()
    try:
        return perform_job(job, run)
    finally:
        over.set()


@contextmanager
def hire_workers(number: int, dask: str | None) -> Iterator[list[Worker]]:
    """Yield so many workers, or one for each thread of the cluster at an address; they end with the block."""
    if dask is not None:
        executor = open_workers(number, dask)
        client = find_dask_client(executor)
        stop = _make_cluster_event(f"tacita-{uuid4()}", client=client)
        yield [OnCluster(client, stop) for _ in range(max(1, count_workers(executor) or 1))]
        return
    with ExitStack() as stack:
        if number == 1:
            yield [Here()]
            return
        processes = [OwnProcess() for _ in range(number)]
        for process in processes:
            stack.callback(process.end)
        yield list(processes)


def _make_cluster_event(name: str, **client: Any) -> Any:
    """Return the event of a Dask cluster that all its workers see by its name."""
    make: Any = import_module("distributed").Event
    return make(name, **client)
