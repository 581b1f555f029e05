"""How far a run is, on stderr: a line for each table that is done, and bars for those that workers are at."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from tacita.cli.console import NOTE, WARNING, describe_files
from tacita.cli.effort import make_progress
from tacita.cli.jobs.job import Job, JobResult, Verdict
from tacita.core.run import Event
from tacita.core.words import pluralize
from tacita.report.measures import describe_progress

if TYPE_CHECKING:
    from rich.progress import TaskID

    from tacita.cli.jobs.joint_audit import JointVerdict

STYLES = {
    Verdict.SAFE: "green",
    Verdict.UNSAFE: "bold red",
    Verdict.FAILED: "bold red",
    Verdict.SKIPPED: "yellow",
}


class Display:
    """Lines and bars of a run; plain lines where stderr is no terminal."""

    def __init__(self, jobs: int) -> None:
        self.jobs, self.done, self.progress = jobs, 0, make_progress()
        self.console = self.progress.console
        self.live = self.console.is_terminal
        self.all = self.progress.add_task("tables", total=jobs, known="")
        self.bars: dict[str, TaskID] = {}
        self._turn = Lock()

    def __enter__(self) -> Self:
        self.progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.progress.stop()

    def begin(self, job: Job) -> None:
        """Show that a worker begins with a job."""
        if self.live:
            self.bars[str(job.path)] = self.progress.add_task(str(job.path), total=None, known="")

    def report(self, job: Job, event: Event) -> None:
        """Show how far the worker of a job is."""
        if (bar := self.bars.get(str(job.path))) is not None:
            self.progress.update(
                bar,
                completed=event.done,
                total=event.total or None,
                known=f"{event.phase} {describe_progress(event)}",
            )

    def end(self, job: Job, result: JobResult, *, earlier: bool) -> None:
        """Show how a job ended, in a line of its own."""
        if (bar := self.bars.pop(str(job.path), None)) is not None:
            self.progress.remove_task(bar)
        self.show(str(job.path), result, earlier=earlier)

    def show(self, name: str, result: JobResult, *, earlier: bool = False) -> None:
        """Print how a job ended, and what its user may not have meant."""
        with self._turn:
            self.done += 1
            self.progress.update(self.all, completed=self.done)
            place = f"[{self.done:>{len(str(self.jobs))}}/{self.jobs}] {name}: "
            said = describe_result(result, earlier=earlier)
            self._print(place, (result.verdict.value, STYLES[result.verdict]), said)
            if result.public:
                self._print(("to publish: ", "green"), describe_files(result.public))
            for remark in () if earlier else result.remarks:
                self._print((f"{NOTE} ", "yellow"), remark)
            for warning in result.warnings:
                self._print((f"{WARNING} ", "bold yellow"), f"{name}: {warning}")

    def show_together(self, found: JointVerdict) -> None:
        """Print what several tables tell together, unless they could not be judged: then a warning."""
        names = ", ".join(map(str, found.paths))
        if found.verdict is Verdict.FAILED:
            self._print((f"{WARNING} ", "bold yellow"), f"{names}: {found.text}")
        else:
            self._print(
                f"together {names}: ", (found.verdict.value, STYLES[found.verdict]), f": {found.text}"
            )

    def _print(self, *parts: str | tuple[str, str]) -> None:
        """Print a line above the bars, which another console would write over."""
        from rich.text import Text

        self.console.print(Text.assemble(*parts), soft_wrap=True)


def describe_result(result: JobResult, *, earlier: bool) -> str:
    """Return what a line says of a job after its verdict; a hidden value is not in it."""
    if result.error is not None:
        return f": {result.error}"
    record: Mapping[str, Any] = result.record
    parts = []
    if record.get("changed") is not None:
        parts.append(f"{record['changed']:,} of {pluralize(record['cells'], 'cell')} hidden or changed")
    if record.get("gap") is not None:
        parts.append(f"gap {record['gap']:.2%}")
    if result.stopped:
        parts.append("stopped, the best so far")
    parts.append("done before" if earlier else f"{record.get('seconds', 0.0):.1f} s")
    return ", " + ", ".join(parts)
