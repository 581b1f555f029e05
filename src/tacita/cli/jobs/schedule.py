"""Hand out the jobs of a plan to workers, in an order in which each comes after those that it needs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, Protocol

from tacita.cli.jobs.job import Job, JobResult, Verdict
from tacita.cli.jobs.log import RunLog
from tacita.cli.jobs.plan import Plan
from tacita.cli.jobs.workers import Worker
from tacita.core.run import Event, Run

GOOD = (Verdict.SAFE,)
"""How a job must have ended for others to read its results."""


class Watcher(Protocol):
    """Shows how far the jobs of a run are; it is called from several threads.

    What is not ``live`` wants no reports.
    """

    @property
    def live(self) -> bool: ...

    def begin(self, job: Job) -> None: ...

    def report(self, job: Job, event: Event) -> None: ...

    def end(self, job: Job, result: JobResult, *, earlier: bool) -> None: ...


class Schedule:
    """The jobs of a plan while workers are at them."""

    def __init__(self, plan: Plan, log: RunLog, watcher: Watcher, run: Run, *, again: bool) -> None:
        self.plan, self.log, self.watcher, self.run, self.again = plan, log, watcher, run, again
        self.results: dict[int, JobResult] = {}
        self._order: TopologicalSorter[int] = TopologicalSorter(plan.needs)
        self._order.prepare()
        self._ready: list[int] = []
        self._changed = threading.Condition()
        self._error: Exception | None = None

    def carry_out(self, workers: Sequence[Worker]) -> dict[int, JobResult]:
        """Return how each job ended, by its number; after a cancel of the run, of those that were begun."""
        threads = [threading.Thread(target=self._serve, args=(worker,), daemon=True) for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._error is not None:
            raise self._error
        return self.results

    def _serve(self, worker: Worker) -> None:
        try:
            while (number := self._take()) is not None:
                self._finish(number, *self._do(worker, number))
        except Exception as error:
            with self._changed:
                self._error = error
                self._changed.notify_all()

    def _take(self) -> int | None:
        """Return the next job that nothing stands in the way of, or None when there are no more."""
        with self._changed:
            while True:
                if self._error is not None or self.run.cancelled or not self._order.is_active():
                    return None
                self._ready.extend(self._order.get_ready())
                if self._ready:
                    return self._ready.pop(0)
                self._changed.wait(0.5)

    def _do(self, worker: Worker, number: int) -> tuple[JobResult, bool]:
        """Return how a job ended, and whether that was in an earlier run."""
        job = self.plan.jobs[number]
        needed = [each for each in sorted(self.plan.needs[number]) if self.results[each].verdict not in GOOD]
        if needed:
            names = ", ".join(
                f"{self.plan.jobs[each].path} ({self.results[each].verdict})" for each in needed
            )
            return JobResult(Verdict.SKIPPED, error=f"it needs the results of {names}"), False
        if not self.again and (done := self.log.find_done(job)) is not None:
            return done, True
        self.watcher.begin(job)
        listener = self._listen_to(job) if self.watcher.live else None
        result = worker.work(job, replace(self.run, listener=listener))
        self.log.append(complete_record(job.path, result), job.path)
        return result, False

    def _listen_to(self, job: Job) -> Callable[[Event], None]:
        return lambda event: self.watcher.report(job, event)

    def _finish(self, number: int, result: JobResult, earlier: bool) -> None:
        with self._changed:
            self.results[number] = result
            self._order.done(number)
            self._changed.notify_all()
        self.watcher.end(self.plan.jobs[number], result, earlier=earlier)


def complete_record(path: Path, result: JobResult) -> dict[str, Any]:
    """Return the record of a job, also of one that ended before it could make any."""
    return {"table": str(path), "verdict": result.verdict.value, **result.record, "error": result.error}
