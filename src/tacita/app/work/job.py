"""One run of a method on a case: in a thread of its own, watched, stopped and kept.

A job protects, audits what came out, and works out what an attacker deduces, for pictures beside the verdict.
The audit has no time limit: one that is cut short proves nothing. A cancel ends the search; the best so far
is kept and audited. Only a job that nobody wants any more is abandoned as a whole.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from typing import Any

import numpy as np

from tacita.app.work.open_case import Case
from tacita.auditing.audit import Audit, audit, refuse_breached
from tacita.auditing.deduce import Deduction, deduce
from tacita.core.errors import StoppedError, TacitaError
from tacita.core.outcome import Status
from tacita.core.release import Release
from tacita.core.run import Event, Run, draw_seed
from tacita.core.words import describe_method, pluralize
from tacita.methods import make_method
from tacita.problem.problem import Problem
from tacita.problem.quality import Lost, compare
from tacita.report.measures import describe_progress

MOST_EVENTS = 2000
"""A chart shows no more; of a longer story every second report is dropped."""
CANCELLED = "cancelled; the best so far is kept"
TIME_OVER = "the time limit ended the search; the best so far is kept"
SECONDS_FOR_INTERVALS = 10.0
"""A verdict does not wait longer for the intervals that are shown beside it."""


class State(Enum):
    """How far a job is."""

    WAITING = "waiting"
    SEARCHING = "searching"
    AUDITING = "auditing"
    SAFE = "safe"
    UNSAFE = "not safe"
    UNCHECKED = "nothing was sensitive, so nothing was checked"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def judged(self) -> bool:
        """Whether a run of the app in this state has a release, and an audit has looked at it."""
        return self in (State.SAFE, State.UNSAFE, State.UNCHECKED)

    @property
    def over(self) -> bool:
        return self.judged or self in (State.FAILED, State.CANCELLED)


class Job:
    """A method at work on a case.

    What it tells is read by the pages while the thread writes it; each attribute is replaced whole.
    ``has_incumbent`` says whether there is a best so far, which a cancel keeps. ``cut_short`` says what ended
    the search before it had proven its best, or the gap asked for; nothing where it ended by itself.
    ``failure`` is the error that ended a run, with its remedies as data, unless it is a fault of the program.

    ``found`` is the release of a run that was finished before, with its ``secret`` seed: it is not searched
    for again, and audited anew. ``exported`` says whether files of it for publication left the app.
    """

    def __init__(
        self,
        number: int,
        case: Case,
        method: str,
        options: Mapping[str, Any],
        *,
        time_limit: float | None = None,
        gap: float | None = None,
        seed: int | None = None,
        secret: int | None = None,
        found: Release | None = None,
        exported: bool = False,
    ) -> None:
        self.number = number
        self.case = case
        self.problem: Problem = case.problem
        self.method = make_method(method, options)
        self.options = dict(options)
        self.time_limit = time_limit
        self.gap = gap
        self.seed = seed
        drawn = draw_seed() if secret is None else secret
        self.secret = drawn if seed is None else seed
        self._found = found
        self.exported = exported
        self.state = State.WAITING
        self.events: list[Event] = []
        self.latest: Event | None = None
        self.has_incumbent = False
        self.log: list[str] = []
        self.release: Release | None = None
        self.audit: Audit | None = None
        self.intervals: Deduction | None = None
        self.lost: Lost | None = None
        self.error = ""
        self.failure: TacitaError | None = None
        self.cut_short = ""
        # A run of its own for each part, so that a stop never reaches the next part.
        self._search: Run | None = None
        self._check: Run | None = None
        self._cancelled = threading.Event()
        self._starting = threading.Lock()
        self._abandoned = threading.Event()
        self._started: float | None = None
        self._ended: float | None = None
        self._last_line = ""

    @property
    def key(self) -> str:
        """The run's name in the session, whichever table is open: runs of each table are numbered from 1."""
        return f"{self.case.work}-{self.number}"

    @property
    def title(self) -> str:
        """The run's title on pages, ``2 · rounding (base 5)``: number, method, options besides defaults."""
        return f"{self.number} · {describe_method(self.method.name, self.options)}"

    @property
    def request(self) -> dict[str, Any]:
        """Method, options, seed, time limit and gap of the user's run as requested, by their project keys."""
        return {
            "method": self.method.name,
            "options": self.options,
            "seed": self.seed,
            "time_limit": self.time_limit,
            "gap": self.gap,
        }

    @property
    def repetition(self) -> dict[str, Any]:
        """The request that gives the release of the user's run again, with the seed that was drawn."""
        return {**self.request, "seed": self.seed if self.used_seed is None else self.used_seed}

    @property
    def used_seed(self) -> int | None:
        """The secret seed of the user's run, if something in its release was drawn at random; else None."""
        drawn = self.release is not None and "seed" in self.release.made_by
        return self.secret if drawn else None

    @property
    def is_resumed(self) -> bool:
        """Whether an earlier session found the user's release, so that this run has only audited it."""
        return self._found is not None

    @property
    def seconds(self) -> float:
        """The seconds that the user's run has been at work."""
        if self._started is None:
            return 0.0
        return (time.monotonic() if self._ended is None else self._ended) - self._started

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Stop the search of the user's run; its best is audited. One that waits does not start at all."""
        self._cancelled.set()
        with self._starting:
            if self.state is State.WAITING:
                self._end_without(State.CANCELLED, "cancelled before it began")
        if self._search is not None:
            self._search.cancel()

    def stop_audit(self) -> None:
        """Cut the audit of the user's run short; what is not proven by then counts as not safe."""
        if self._check is not None:
            self._check.cancel()

    def abandon(self) -> None:
        """Stop whatever the run does, the audit too: no page will ask for what it found."""
        self._abandoned.set()
        self.cancel()
        self.stop_audit()

    def carry_out(self) -> None:
        """Protect, audit, deduce for the user's run, in a thread; what goes wrong is its ``error``."""
        with self._starting:
            if self.state is State.CANCELLED:
                return
            self._started = time.monotonic()
            self.state = State.SEARCHING
        try:
            if self._found is None:
                self._protect()
            else:
                self.release = self._found
                self._log_line("the release was kept, and is audited anew")
            self._judge()
        except Exception as error:
            if isinstance(error, StoppedError) and self.cancelled:
                self._end_without(State.CANCELLED, "cancelled before anything was found")
            else:
                self.failure = error if isinstance(error, TacitaError) else None
                self._end_without(State.FAILED, _describe_error(error))
        finally:
            self._ended = time.monotonic()

    def _protect(self) -> None:
        run = self._search = Run(
            self.time_limit, self.secret, listener=self._listen, gap=self.gap or 0.0
        ).begin()
        # After the run can be reached: a stop that came before it, or comes now, is not lost.
        if self._cancelled.is_set():
            run.cancel()
        cells, sensitive = len(self.problem.table), len(self.problem.levels)
        self._log_line(f"{self.method.name} on {pluralize(cells, 'cell')}, {sensitive:,} of them sensitive")
        refuse_breached(self.problem, run)
        self.release = self.method.protect(self.problem, run)
        outcome = self.release.outcome
        if outcome is None or outcome.status not in (Status.OPTIMAL, Status.WITHIN_GAP):
            self.cut_short = CANCELLED if self.cancelled else TIME_OVER if run.over else ""
        if outcome is not None:
            self._listen(Event(outcome.status.value, 1, 1, outcome.loss, outcome.bound, run.seconds))
            for remark in (*([f"search: {outcome.search}"] if outcome.search else []), *outcome.remarks):
                self._log_line(remark)

    def _judge(self) -> None:
        assert self.release is not None
        run = self._check = Run(listener=self._listen)
        if self._abandoned.is_set():
            run.cancel()
        self.state = State.AUDITING
        self.lost = replace(compare(self.problem, [self.release])[0], name=self.title)
        found = self.audit = audit(self.problem, self.release, run)
        self._log_line(found.verdict)
        self.intervals = self._deduce_intervals(self.release)
        # An audit that had nothing to look at finds nothing wrong: that is no verdict.
        passed = State.SAFE if len(self.problem.levels) else State.UNCHECKED
        self.state = passed if found.safe else State.UNSAFE

    def _deduce_intervals(self, release: Release) -> Deduction:
        """Return the outsider's intervals of the run's hidden sensitive cells, for pictures on the page."""
        run = Run(SECONDS_FOR_INTERVALS, listener=self._listen)
        before, self._check = self._check, run
        # After the run can be reached: a stop that came before it, or comes now, is not lost.
        if before is not None and before.over:
            run.cancel()
        cells = self.problem.sensitive[release.hidden[self.problem.sensitive]]
        try:
            found = deduce(self.problem, release, run=run, cells=cells)
        except Exception as error:
            self._log_line(
                f"the intervals that an outsider deduces were not worked out: {_describe_error(error)}"
            )
            unknown = np.full(cells.size, np.nan)
            return Deduction(self.problem.table.structure, cells, unknown, unknown)
        if missing := int((np.isnan(found.low) | np.isnan(found.high)).sum()):
            self._log_line(
                f"would take too long to work out: {pluralize(missing, 'interval')} that an outsider deduces"
            )
        return found

    def _end_without(self, state: State, message: str) -> None:
        """End the user's run without a release, in this state, with the reason as its ``error``."""
        self.error = message
        self._log_line(message)
        self.state = state

    def _listen(self, event: Event) -> None:
        self.latest = event
        self.has_incumbent |= event.incumbent is not None
        events = self.events if len(self.events) < MOST_EVENTS else self.events[::2]
        self.events = [*events, event] if event.incumbent is not None or event.bound is not None else events
        if (line := f"{event.phase}: {describe_progress(event)}".rstrip(": ")) != self._last_line:
            self._last_line = line
            self._log_line(line)

    def _log_line(self, what: str) -> None:
        self.log = [*self.log[-MOST_EVENTS:], f"{self.seconds:8.2f} s  {what}"]


def _describe_error(error: Exception) -> str:
    if isinstance(error, TacitaError):
        return str(error)
    return f"{type(error).__name__}: {error}. A fault of the program: please report it."
