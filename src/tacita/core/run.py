"""The effort that a computation may take, and how it reports progress.

A :class:`Run` carries the time limit, the gap that is enough, the seed, the executor for independent
components, a listener for progress, and the switch with which another thread cancels. It holds no results.

Progress is also logged, under the name ``tacita``: beginnings and verdicts at INFO, progress at DEBUG.
Records name phases, counts and gaps, never values of cells or sums of them.
"""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from tacita.core.errors import issue_warnings
from tacita.core.heartbeat import Pulse
from tacita.core.outcome import Status, compute_gap, read_gap
from tacita.core.parallel_map import ParallelMap, find_threads, map_in_turn

LOG = logging.getLogger("tacita")
LOG.addHandler(logging.NullHandler())

T = TypeVar("T")
R = TypeVar("R")

GUESSABLE = 2**32
"""Seeds below this can be tried one by one; those drawn from the system lie far above."""
GRACE = 10.0
"""Seconds at most for what must still be done with what was found when the time ended."""


AVERAGES = (
    "drawn at random anew: several draws of one table average out, and a few of them give values away. "
    "Publish one draw only; to repeat it give its seed"
)
SECRET = "leave it out and a secret one is drawn"
LONG = 20.0
"""Seconds after which a search that has neither a time limit nor a listener says how to end it."""


class DrawnSeed(int):
    """A seed that nobody gave: a run that goes on from a checkpoint takes the seed of the one before."""


def draw_seed() -> int:
    """Return a random seed that nobody can guess, for a run; it fits into 63 bits, as project files need."""
    return DrawnSeed(2**62 + secrets.randbits(62))


@dataclass(frozen=True)
class Event:
    """One report of progress: what is being done, how far it is, and what is known so far."""

    phase: str
    done: int = 0
    total: int = 0
    incumbent: float | None = None
    bound: float | None = None
    seconds: float = 0.0


class LimitAdvice:
    """A listener for runs that have none and no time limit: one warning tells how to end a long search."""

    def __init__(self) -> None:
        self._warns_at = time.monotonic() + LONG

    def __call__(self, event: Event) -> None:
        if event.incumbent is not None and time.monotonic() >= self._warns_at:
            self._warns_at = float("inf")
            text = (
                f"the search has found a release and goes on for a better one, after {LONG:.0f} seconds, as "
                "no time limit is given. With run=tc.Run(time_limit=60) it would end after a minute with the "
                "best so far; an interrupt (Ctrl-C) ends it without a release"
            )
            issue_warnings([text])


class InThisThread(Executor):
    """An executor that works at once where it is called: the default, and the easiest to debug."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)
        return future


class Switch:
    """A switch that is off until it is thrown, and remembers when that was."""

    def __init__(self) -> None:
        self.thrown: float | None = None

    def throw(self) -> None:
        if self.thrown is None:
            self.thrown = time.monotonic()


@dataclass(frozen=True, eq=False)
class Run:
    """The effort a computation may take; one run serves any number of them.

    Parameters
    ----------
    time_limit
        Seconds for each call that the run is given to, such as ``protect`` or ``audit``; none by default. A
        limit ends work, it never turns "unknown" into "safe". A search keeps the best release that it has.
    seed
        For every random number that readers must not know: it is a secret like the values. Drawn from the
        system unless given; whoever gives it again gets the same release.
    executor
        Any :class:`concurrent.futures.Executor`: threads, processes, a Dask client's
        ``client.get_executor()``. Default: this thread.
    listener
        Called with an :class:`Event` at least every two seconds or so: from the thread that runs or, during a
        long single step, from another one that repeats the last.
    search
        For the order in which searches try things. It is no secret, and the same by default, so that what
        draws no numbers gives the same release every time.
    gap
        Searches end when their loss is proven to be within this share of the smallest possible, such as 0.05;
        0, the default: they go on until it is proven to be the smallest.
    patience
        Seconds that work may go on after the limit or a cancel (see :meth:`extended`).
    checkpoint
        A file in which a long run of a method keeps what it knows, every few seconds. If the process is
        killed, the same call goes on from there; so does one that was stopped by the limit or a cancel. A run
        that ends by itself removes it. It is internal: it says which cells are hidden, and the seed.
    """

    time_limit: float | None = None
    seed: int = field(default_factory=draw_seed)
    executor: Executor = field(default_factory=InThisThread)
    listener: Callable[[Event], None] | None = None
    started: float = field(default_factory=time.monotonic)
    patience: float = 0.0
    search: int = 0
    gap: float = 0.0
    checkpoint: str | os.PathLike[str] | None = None
    _stop: Switch = field(default_factory=Switch)
    _begun: bool = False
    _pulse: Pulse = field(default_factory=Pulse)
    _meaning: Callable[[float], float] = float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gap", read_gap(self.gap))

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a worker elsewhere gets: time left and seeds, nothing that lives in this process."""
        left = self.remaining
        return _start_elsewhere, (None if left == float("inf") else left, self.seed, self.search, self.gap)

    @property
    def seed_remarks(self) -> tuple[str, ...]:
        """A warning that readers can guess the seed, as a tuple; empty if they cannot."""
        guessed = f"the seed is below {GUESSABLE:,}, so that readers can try all of these: {SECRET}"
        return (guessed,) if self.seed < GUESSABLE else ()

    def cancel(self) -> None:
        """Ask the computation to end; it keeps the best result it has."""
        self._stop.throw()

    @property
    def cancelled(self) -> bool:
        return self._stop.thrown is not None

    def begin(self) -> Run:
        """Return the same run with its clock started now, unless it belongs to work that has begun."""
        if self._begun:
            return self
        unlimited = self.listener is None and self.time_limit is None
        listener = LimitAdvice() if unlimited else self.listener
        return replace(self, listener=listener, started=time.monotonic(), _begun=True)

    def limited(self, seconds: float | None) -> Run:
        """Return the same run with its clock started now, and no more than so many seconds left."""
        left = min(self.remaining, float("inf") if seconds is None else seconds)
        limit = None if left == float("inf") else left
        return replace(self, time_limit=limit, started=time.monotonic(), patience=0.0, _begun=True)

    @property
    def seconds(self) -> float:
        """Seconds since the run was started."""
        return time.monotonic() - self.started

    @property
    def remaining(self) -> float:
        """Seconds left until the time limit; infinite without one, only the patience after a cancel."""
        end = float("inf") if self.time_limit is None else self.started + self.time_limit
        if self._stop.thrown is not None:
            end = min(end, self._stop.thrown)
        return max(0.0, end + self.patience - time.monotonic())

    @property
    def over(self) -> bool:
        """Whether no time is left, so that the computation should end."""
        return self.remaining <= 0.0

    @property
    def late(self) -> bool:
        """Whether the time limit or a cancel has passed, so that only patience is left, or not even that."""
        return self.extended(0.0).over

    def extended(self, patience: float = GRACE) -> Run:
        """Return the same run with ``patience`` seconds after its limit, to make a release of the best."""
        return replace(self, patience=patience)

    def report(self, phase: str, done: int = 0, total: int = 0, **known: float) -> None:
        """Report progress of the computation to the log, and to the listener if there is one."""
        known = {name: self._meaning(value) for name, value in known.items()}
        if LOG.isEnabledFor(logging.DEBUG):
            gap = compute_gap(known["incumbent"], known["bound"]) if len(known) == 2 else None
            LOG.debug(
                "%s %d/%d after %.1f s%s",
                *(phase, done, total, self.seconds, "" if gap is None else f", gap {gap:.2%}"),
            )
        if (listener := self.listener) is not None:
            event = Event(phase, done, total, seconds=self.seconds, **known)
            self._pulse.note(lambda since: listener(replace(event, seconds=event.seconds + since)))
            listener(event)

    @property
    def silent(self) -> bool:
        """Whether somebody listens, and has heard nothing for so long that a loop should report again."""
        return self.listener is not None and self._pulse.silent

    @contextmanager
    def heartbeat(self, phase: str) -> Iterator[None]:
        """Report a phase, and repeat the last report whenever the block is silent for long."""
        if self.listener is None:
            yield
            return
        with self._pulse.beating():
            self.begin().report(phase)
            yield

    def translated(self, meaning: Callable[[float], float]) -> Run:
        """Return the run for a search with other losses, which ``meaning`` translates to those of the run."""
        outer = self._meaning
        return replace(self, _meaning=lambda loss: outer(meaning(loss)))

    def preparing(self) -> Run:
        """Return the run for work whose losses are not those of its result: they are not reported."""
        listener = self.listener
        if listener is None:
            return self
        return replace(self, listener=lambda event: listener(replace(event, incumbent=None, bound=None)))

    def accepts(self, loss: float, bound: float) -> bool:
        """Return whether a loss is proven to be within the gap that is asked for; False if none is."""
        return self.gap > 0 and compute_gap(self._meaning(loss), self._meaning(bound)) <= self.gap

    def judge(self, proven: bool, loss: float, bound: float) -> Status:
        """Return the status of a loss: proven optimal, else within the gap asked for, else feasible."""
        if proven:
            return Status.OPTIMAL
        return Status.WITHIN_GAP if self.accepts(loss, bound) else Status.FEASIBLE

    def alone(self) -> Run:
        """Return the run for a part of the work: the same limits, seeds and cancel, but no workers, no
        listener and no checkpoint.
        """
        return replace(self, executor=InThisThread(), listener=None, checkpoint=None)

    def map(
        self,
        function: Callable[[T, Run], R],
        items: Iterable[T],
        *,
        phase: str = "",
        local: bool = False,
    ) -> Iterator[R]:
        """Return ``function(item, run)`` for each of some independent items, in their order, computed by the
        run's executor.

        Results do not depend on the executor or on the number of its workers, as long as the time suffices.
        An error of the function is raised in its place in the order. Results of whatever the workers have
        begun are stored while the caller is busy with earlier ones.

        Parameters
        ----------
        function
            A function of a module, or a :func:`functools.partial` of one, that takes an item and the run that
            holds for it: with this run's seeds, the time that is left, no workers and no listener.
            Where no time is left it returns at once what it has. Arguments that all items share belong into
            the partial, ``run.map(partial(improve_region, table), regions)``: whatever their size, each
            worker gets and reads them once, and keeps them for later maps with equal ones. Workers may be
            threads, so the function must not change them.
        items
            What differs: sent to one worker each, so the smaller the better. Workers end at about the same
            time if the largest come first.
        phase
            Reported with the numbers of results that have arrived, in any order, and of all items.
        local
            The function uses what is only in this process, such as a solver's session: threads share the
            items, those that an executor has as ``threads`` too; else this thread computes all of them.

        Raises
        ------
        WorkersError
            All workers have ended. One of several on a cluster may end: others repeat what it was given.

        Notes
        -----
        When the time limit passes, results may arrive for another second. What has not arrived then, or when
        the run is cancelled, is computed here without time. Threads hear a cancel; processes and machines end
        the items that they have begun, at the latest at the time limit, and nobody waits for them.
        """
        listed = list(items)
        executor = (find_threads(self.executor) or InThisThread()) if local else self.executor
        if len(listed) < 2 or isinstance(executor, InThisThread):
            return map_in_turn(function, listed, self, phase)
        return iter(ParallelMap(function, listed, replace(self, executor=executor), phase))


def _start_elsewhere(time_limit: float | None, seed: int, search: int, gap: float) -> Run:
    """Return the run that a worker process gets, with its clock started."""
    return Run(time_limit, seed, search=search, gap=gap, _begun=True)
