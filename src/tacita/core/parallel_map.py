"""A map over the workers of any executor: in this thread, in threads, in processes, on a cluster.

Items are independent, so that their results depend neither on the number of workers nor on where they work.

Threads call the function as it is. Everywhere else a task is plain bytes: some items and the effort that is
left (no executor, no listener, no switch to cancel). The function, with the arguments that a
:func:`functools.partial` holds for all items, goes to a worker once: workers keep the last few functions by a
digest, and a worker that lacks one says so and gets it with the same items. Thus a worker that joins late, or
replaces one that ended, needs no preparation.

Items travel in chunks of about ``CHUNK_SECONDS``, and few chunks are on their way at a time.
"""

from __future__ import annotations

import os
import pickle
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tacita import __version__
from tacita.core.errors import WorkersError

if TYPE_CHECKING:
    from tacita.core.run import Run

T = TypeVar("T")
R = TypeVar("R")

CHUNK_SECONDS = 0.25
"""Seconds of work that one task should hold, so that sending it costs little and progress is seen."""
PAUSE = 0.1
"""Seconds between two looks at the run while nothing arrives, so that a cancel is heard."""
ARRIVAL = 1.0
"""Seconds after the time limit in which results may still arrive, as workers elsewhere stop at it too."""
DESERTED = 60.0
"""Seconds without any worker after which the work is given up; a cluster may start new ones until then."""
SMALL = 2**15
"""Bytes of a function that is sent with every task, rather than once per worker."""
SAME_VERSION = "Install the same version of tacita, and all else that the work needs, for every worker."
FUNCTIONS_KEPT = 3
"""Functions that a worker keeps with their arguments, which may be as large as a table."""


@dataclass(frozen=True)
class Results:
    """Results of the first items of a chunk, the error that the next one raised, and how long they took."""

    results: list[Any]
    error: Exception | None
    seconds: float


def map_in_turn(function: Callable[[T, Run], R], items: Sequence[T], run: Run, phase: str) -> Iterator[R]:
    """Yield the function's results, computed one after the other in this thread as they are asked for."""
    for done, item in enumerate(items, start=1):
        result = function(item, run)
        if phase:
            run.report(phase, done, len(items))
        yield result


class ParallelMap(Generic[T, R]):
    """The items of one map on their way to the workers of an executor and back."""

    def __init__(self, function: Callable[[T, Run], R], items: Sequence[T], run: Run, phase: str) -> None:
        self.function, self.items, self.run, self.phase = function, items, run, phase
        self.executor, self.alone = run.executor, run.alone()
        self.workers = count_workers(self.executor) or os.cpu_count() or 1
        self.carrier = choose_carrier(self)
        self._flying: dict[Future[Any], range] = {}
        self._outcomes: dict[int, R | _Raised] = {}
        self._next, self._chunk, self._arrived, self._announced = 0, 1, 0, False
        self._heard = self._inhabited = time.monotonic()

    def __iter__(self) -> Iterator[R]:
        try:
            for position in range(len(self.items)):
                while position not in self._outcomes and self._goes_on:
                    self._send()
                    self._receive()
                # Without time the function returns at once what it has, which may be nothing.
                outcome = (
                    self._outcomes.pop(position)
                    if position in self._outcomes
                    else self.function(self.items[position], self.alone)
                )
                if isinstance(outcome, _Raised):
                    raise outcome.error
                yield outcome
        finally:
            for future in self._flying:
                future.cancel()

    @property
    def _goes_on(self) -> bool:
        """Whether results that are on their way are waited for."""
        if not self.run.over:
            return True
        if not self._flying:
            return False
        return self.carrier.hears_cancel or (
            not self.run.cancelled and self.run.extended(self.run.patience + ARRIVAL).remaining > 0.0
        )

    def _send(self) -> None:
        """Submit chunks of items until every worker has one, or two once the first results have arrived."""
        while (
            self._next < len(self.items)
            and len(self._flying) < self.workers * (2 if self._arrived else 1)
            and not self.run.over
        ):
            # The last chunks are small, so that workers end together.
            fair = -(-(len(self.items) - self._next) // (2 * self.workers))
            stop = self._next + min(self._chunk, fair)
            self._submit(range(self._next, stop))
            self._next = stop

    def _submit(self, chunk: range, *, with_function: bool = False) -> None:
        items = self.items[chunk.start : chunk.stop]
        try:
            future = self.carrier.submit(items, with_function=with_function)
        except Exception as error:
            raise describe_lost_workers(error) from error
        self._flying[future] = chunk

    def _receive(self) -> None:
        """Wait a moment for results, and store those that have arrived."""
        if self.phase and not self._announced:
            self._announced = True
            self.run.report(self.phase, 0, len(self.items))
        arrived = wait(self._flying, timeout=PAUSE, return_when=FIRST_COMPLETED).done
        if not arrived:
            self._refuse_desertion()
            return
        self._heard = self._inhabited = time.monotonic()
        for future in sorted(arrived, key=lambda one: self._flying[one].start):
            chunk = self._flying.pop(future)
            found = self._read(future)
            if found is None:
                self._submit(chunk, with_function=True)
                continue
            self._outcomes.update(zip(chunk, found.results, strict=False))
            if found.error is not None:
                self._outcomes[chunk[len(found.results)]] = _Raised(found.error)
            pace = CHUNK_SECONDS / max(found.seconds, 1e-6)
            self._chunk = max(1, min(2 * self._chunk, round(len(chunk) * pace)))
            self._arrived += len(chunk)
            if self.phase:
                self.run.report(self.phase, self._arrived, len(self.items))

    def _read(self, future: Future[Any]) -> Results | None:
        """Return what a task gave back, None if its worker lacks the function."""
        try:
            return self.carrier.read(future.result())
        except Exception as error:
            raise describe_lost_workers(error) from error

    def _refuse_desertion(self) -> None:
        """Raise if nothing has been heard for long since there are no workers."""
        now = time.monotonic()
        if self.run.over or now - self._heard < 1.0:
            return
        self._heard = now
        if count_workers(self.executor) != 0:
            self._inhabited = now
        elif now - self._inhabited >= DESERTED:
            raise describe_lost_workers(None)


@dataclass(frozen=True)
class _Raised:
    error: Exception


class Threads:
    """Tasks of a map for threads, which see the same objects and hear a cancel themselves."""

    hears_cancel = True

    def __init__(self, work: ParallelMap[Any, Any]) -> None:
        self.function, self.executor, self.run = work.function, work.executor, work.alone

    def submit(self, items: Sequence[Any], *, with_function: bool) -> Future[Results]:
        return self.executor.submit(compute_chunk, self.function, items, self.run)

    def read(self, found: Results) -> Results:
        return found


class Elsewhere:
    """Tasks of a map for executors that pickle what they are given: processes, clusters."""

    hears_cancel = False
    options: Mapping[str, Any] = {}

    def __init__(self, work: ParallelMap[Any, Any]) -> None:
        self.executor, self.run = work.executor, work.run
        self.function = pickle.dumps(work.function, pickle.HIGHEST_PROTOCOL)
        self.digest = blake2b(self.function, digest_size=16).digest()

    def submit(self, items: Sequence[Any], *, with_function: bool) -> Future[bytes]:
        task = pickle.dumps((items, self.run), pickle.HIGHEST_PROTOCOL)
        small = len(self.function) <= SMALL
        function = self.function if small else self.offer_function() if with_function else None
        return self.executor.submit(
            compute_elsewhere, __version__, self.digest, function, task, **self.options
        )

    def offer_function(self) -> Any:
        """Return an argument that is the pickled function when a task is computed."""
        return self.function

    def read(self, found: bytes) -> Results | None:
        read: Results | None = pickle.loads(found)
        return read


class OnDask(Elsewhere):
    """Tasks of a map for a Dask cluster, whose workers hand large functions on to each other."""

    # Equal calls are computed anew, as their time limits differ, and large arguments are not hashed.
    options: Mapping[str, Any] = {"pure": False}

    def __init__(self, work: ParallelMap[Any, Any]) -> None:
        super().__init__(work)
        self.offered: Any = None

    def offer_function(self) -> Any:
        if self.offered is None or self.offered.status != "finished":
            self.offered = find_dask_client(self.executor).scatter(self.function, broadcast=True, hash=False)
        return self.offered


def choose_carrier(work: ParallelMap[Any, Any]) -> Threads | Elsewhere:
    """Return how the tasks of a map get to the workers of its executor."""
    if isinstance(work.executor, ThreadPoolExecutor):
        return Threads(work)
    return Elsewhere(work) if find_dask_client(work.executor) is None else OnDask(work)


def compute_chunk(function: Callable[[Any, Run], Any], items: Sequence[Any], run: Run) -> Results:
    """Return the function's results for the items of one task, up to the first that raises an error."""
    begun, results = time.perf_counter(), list[Any]()
    try:
        for item in items:
            results.append(function(item, run))
    except Exception as error:
        return Results(results, error, time.perf_counter() - begun)
    return Results(results, None, time.perf_counter() - begun)


_functions: OrderedDict[bytes, Callable[[Any, Run], Any]] = OrderedDict()
_functions_lock = Lock()


def compute_elsewhere(version: str, digest: bytes, function: bytes | None, task: bytes) -> bytes:
    """Return the pickled results of a task in a worker, pickled None if the worker lacks the function.

    Raises
    ------
    WorkersError
        The task comes from another version of the package, whose results may differ.
    """
    if version != __version__:
        raise WorkersError(f"a worker has tacita {__version__}, this is {version}", remedy=SAME_VERSION)
    with _functions_lock:
        if digest not in _functions and function is not None:
            _functions[digest] = pickle.loads(function)
            while len(_functions) > FUNCTIONS_KEPT:
                _functions.popitem(last=False)
        known = _functions.get(digest)
        if known is None:
            return pickle.dumps(None)
        _functions.move_to_end(digest)
    found = compute_chunk(known, *pickle.loads(task))
    if found.error is not None:
        # Pickled errors come without their traceback.
        found.error.add_note("".join(traceback.format_exception(found.error)))
    return pickle.dumps(found, pickle.HIGHEST_PROTOCOL)


def find_threads(executor: Executor) -> ThreadPoolExecutor | None:
    """Return the threads of this process that an executor is, or has as ``threads`` besides; else None."""
    if isinstance(executor, ThreadPoolExecutor):
        return executor
    threads: ThreadPoolExecutor | None = getattr(executor, "threads", None)
    return threads


def count_workers(executor: Executor) -> int | None:
    """Return how many tasks an executor works on at a time now, or None if it does not say."""
    client = find_dask_client(executor)
    if client is None:
        # The standard library has no public name for it.
        workers = getattr(executor, "_max_workers", None)
        return None if workers is None else int(workers)
    try:
        return sum(map(int, client.nthreads().values()))
    except Exception:
        return None


def find_dask_client(executor: Executor) -> Any:
    """Return the client of a Dask executor, which has no public name for it; None of other executors."""
    return getattr(executor, "_client", None)


def describe_lost_workers(error: Exception | None) -> WorkersError:
    """Return the error of a map whose workers cannot finish it, with a remedy."""
    if isinstance(error, WorkersError):
        return error
    if isinstance(error, ImportError):
        return WorkersError(f"the workers cannot import {error.name}", remedy=SAME_VERSION)
    why = "there are none any more" if error is None else type(error).__name__
    return WorkersError(
        f"the workers ended before their work was done ({why})",
        remedy="Start workers and run it again. A script that starts processes must do so under "
        'if __name__ == "__main__":, since each process reads it, too. If memory was short, give them more '
        "of it or take fewer.",
    )
