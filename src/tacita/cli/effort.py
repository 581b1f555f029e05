"""Work that takes time: its limits, its progress on stderr, and Ctrl-C.

The work runs in a thread of its own. This thread draws the progress and hears the first Ctrl-C, which asks
the work to end with the best it has; a second one ends the program. SIGTERM counts as Ctrl-C.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from tacita.cli.console import make_error_console, print_notes
from tacita.cli.workers import open_workers
from tacita.core.outcome import read_gap
from tacita.core.run import Event, Run, draw_seed
from tacita.report.measures import describe_progress
from tacita.storage.signals import ENDING

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")


@dataclass(frozen=True)
class Effort:
    """Options of verbs that may take long."""

    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds to spend at most. What is not proven by then counts as not safe."),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Seed of what is drawn at random, to repeat a run. A secret, kept in internal/audit.json; "
            "default: one from the system.",
        ),
    ] = None
    workers: Annotated[int, typer.Option(min=1, help="Processes for independent parts of the work.")] = 1
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="A Dask scheduler, such as tcp://10.0.0.5:8786, whose workers get independent parts of the "
            "work, true values included.",
        ),
    ] = None


@dataclass(frozen=True)
class SearchEffort(Effort):
    """Options of verbs that search for a release."""

    gap: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Stop when the loss is proven within this share of the smallest: 0.05, or 5%. Default: 0.",
        ),
    ] = None


def carry_out(
    work: Callable[[Run], T],
    effort: Effort,
    *,
    time_limit: float | None = None,
    gap: float | str | None = None,
) -> T:
    """Return the result of ``work``, run in a thread with the command's limits, progress and Ctrl-C."""
    with ExitStack() as stack:
        progress = stack.enter_context(make_progress())
        executor = open_workers(effort.workers, effort.dask)
        seed = draw_seed() if effort.seed is None else effort.seed
        listener = _Listener(progress)
        run = Run(time_limit, seed, executor, listener=listener, gap=read_gap(gap or 0.0)).begin()
        stack.enter_context(stop_on_signals(run, listener.describe_kept))
        return run_in_thread(work, run)


def run_in_thread(work: Callable[[Run], T], run: Run) -> T:
    """Return the result of ``work``, done in a thread of its own, so that this one hears Ctrl-C."""
    future: Future[T] = Future()

    def target() -> None:
        try:
            future.set_result(work(run))
        except BaseException as error:
            future.set_exception(error)

    # A daemon: a second Ctrl-C must not wait for it.
    threading.Thread(target=target, daemon=True).start()
    while not future.done():
        wait([future], timeout=0.1)
    return future.result()


@contextmanager
def stop_on_signals(run: Run, describe_kept: Callable[[], str]) -> Iterator[None]:
    """Let the first Ctrl-C in the block cancel a run, with a note on what is kept, and the second give up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in ENDING}

    def stop(*_: object) -> None:
        if run.cancelled:
            raise KeyboardInterrupt
        run.cancel()
        print_notes(f"stopping {describe_kept()}; Ctrl-C once more to give up")

    for number, handler in before.items():
        # What is ignored stays so: after nohup a terminal may close.
        if handler not in (signal.SIG_IGN, None):
            signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def make_progress() -> Progress:
    """Return the bars that show the progress of work on stderr; none where that is no terminal."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    console = make_error_console()
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("{task.fields[known]}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


class _Listener:
    """Draws the progress of a run: phase, how far, incumbent, bound, gap."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.has_incumbent = False
        self.tasks: dict[str, Any] = {}

    def describe_kept(self) -> str:
        """Return how a run that is stopped now ends."""
        return "with the best so far" if self.has_incumbent else "though there is nothing to keep yet"

    def __call__(self, event: Event) -> None:
        self.has_incumbent |= event.incumbent is not None
        if event.phase not in self.tasks:
            self.tasks[event.phase] = self.progress.add_task(event.phase, total=None, known="")
        self.progress.update(
            self.tasks[event.phase],
            completed=event.done,
            total=event.total or None,
            known=describe_progress(event),
        )
