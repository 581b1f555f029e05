"""Runs side by side: a card for each, kept up to date while anything is at work."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from tacita.app import frame
from tacita.app.controls import notices
from tacita.app.controls.labels import as_label
from tacita.app.controls.runs import EARLIER
from tacita.app.screens.protect.run_chart import RunChart
from tacita.app.work.job import Job, State
from tacita.app.work.workspace import SIDE_BY_SIDE, Workspace
from tacita.outcome import Outcome, gap_between

EVERY = 0.3
"""Seconds between two looks at the runs."""
LINES = 400
"""Lines of a log that are shown."""
KEEP = "Cancel, keep the best so far"
WORDS = {
    State.WAITING: f"waiting: {SIDE_BY_SIDE} runs are at work already",
    State.SEARCHING: "searching",
    State.AUDITING: "auditing what was found",
    State.SAFE: "✔ safe",
    State.UNSAFE: "✘ not safe",
    State.UNCHECKED: f"– {State.UNCHECKED.value}",
    State.FAILED: "! failed",
    State.CANCELLED: "– cancelled",
}


class RunCards:
    """The cards of all runs of a workspace, the newest first.

    Parameters
    ----------
    use_again
        Called with a run whose options are to be used again.
    """

    def __init__(self, workspace: Workspace, use_again: Callable[[Job], None]) -> None:
        self.workspace = workspace
        self._use_again = use_again
        self._cards: dict[Job, _Card] = {}
        self._title = ui.label("Runs").classes("panel-title").props("role=heading aria-level=2")
        self._place = ui.element("div").classes("runs").props("data-testid=runs")
        self._timer = ui.timer(EVERY, self._look, active=False)
        self.follow()

    def follow(self) -> None:
        """Show all runs, and look again until they are over."""
        self._look()
        self._timer.active = any(not job.state.over for job in self.workspace.jobs)

    def _look(self) -> None:
        for job in self.workspace.jobs:
            if job not in self._cards:
                with self._place:
                    self._cards[job] = _Card(job, self)
                self._cards[job].place.move(target_index=0)
        for job, card in list(self._cards.items()):
            if job in self.workspace.jobs:
                card.update()
            else:
                self._cards.pop(job).place.delete()
        self._title.set_visibility(bool(self._cards))
        if self._timer.active:
            self._timer.active = any(not job.state.over for job in self.workspace.jobs)

    def show_result(self, job: Job) -> None:
        """Lead to what came out of a run."""
        with notices.attempt():
            self.workspace.choose(job)
            frame.go("result")
        self._look()

    def use_again(self, job: Job) -> None:
        """Put the options of a run into the form."""
        self._use_again(job)
        ui.run_javascript("window.scrollTo(0, 0)")

    def remove(self, job: Job) -> None:
        """Stop a run and forget it."""
        self.workspace.forget(job)
        self._look()


class _Card:
    """One run; ``update`` touches what changed and nothing else."""

    def __init__(self, job: Job, owner: RunCards) -> None:
        self._job = job
        self._owner = owner
        self._seen: tuple[object, ...] = ()
        n = job.number
        self.place = (
            ui.element("article").classes("panel run").props(f'data-testid=run-{n} aria-label="Run {n}"')
        )
        with self.place:
            with ui.element("div").classes("run-head"):
                ui.label(job.title).classes("run-title").props("role=heading aria-level=3")
                self._state = ui.label().classes("run-state").props(f"data-testid=run-{n}-state role=status")
            self._bar = ui.linear_progress(0, show_value=False).props(f'aria-label="Progress of run {n}"')
            self._figures = _Figures(n)
            self._error = ui.label().classes("complaint").props(f"data-testid=run-{n}-error")
            self._chart = RunChart(n)
            with ui.element("div").classes("strip"):
                self._cancel = _button(KEEP, f"run-{n}-cancel", job.cancel)
                self._stop = _button("Stop the audit, unproven is not safe", f"run-{n}-stop", job.stop_audit)
                self._result = _button("Result", f"run-{n}-result", lambda: owner.show_result(job))
                _button("Use these options again", f"run-{n}-again", lambda: owner.use_again(job))
                _button("Remove", f"run-{n}-remove", lambda: owner.remove(job))
            with (
                ui.expansion("Log").props(f"dense data-testid=run-{n}-log").classes("run-log") as self._opened
            ):
                self._log = ui.element("pre").classes("log").props(f'tabindex=0 aria-label="Log of run {n}"')
                with self._log:
                    self._lines = ui.label().classes("log-lines")
            self._opened.on_value_change(self._show_log)

    def update(self) -> None:
        """What the run has told since the last look."""
        job = self._job
        if job.state is not State.WAITING and not job.state.over:
            self._figures.show_seconds(job.seconds)
        earlier = job.case is not self._owner.workspace.case
        seen = (job.state, job.cancelled, job.latest, len(job.log), job.error, earlier)
        if seen == self._seen:
            return
        self._seen = seen
        self._show_state(earlier)
        self._figures.show(job)
        self._error.set_text(job.error)
        self._chart.show(job.events)
        self._show_log()

    def _show_state(self, earlier: bool) -> None:
        job = self._job
        stopping = job.cancelled and job.state is State.SEARCHING
        words = "stopping; the best so far is kept" if stopping else WORDS[job.state]
        self._state.set_text(f"{words}, {EARLIER}" if earlier else words)
        tone = {State.SAFE: "verdict-safe", State.UNSAFE: "verdict-unsafe", State.FAILED: "verdict-unsafe"}
        self._state.classes(replace=f"run-state {tone.get(job.state, '')}")
        self._bar.set_visibility(not job.state.over)
        event = job.latest
        if event is None or event.total <= 0:
            self._bar.props("indeterminate")
        else:
            self._bar.props(remove="indeterminate").set_value(min(1.0, event.done / event.total))
        self._cancel.set_visibility(job.state in (State.WAITING, State.SEARCHING))
        self._cancel.set_text("Do not start" if job.state is State.WAITING else KEEP)
        self._cancel.set_enabled(not job.cancelled)
        self._stop.set_visibility(job.state is State.AUDITING)
        self._result.set_visibility(job.state.judged)

    def _show_log(self) -> None:
        if self._opened.value:
            self._lines.set_text("\n".join(self._job.log[-LINES:]))


class _Figures:
    """Phase, loss, bound, gap and time of a run, in one line of named numbers."""

    NAMES = ("phase", "loss", "bound", "gap", "time")

    def __init__(self, number: int) -> None:
        self._shown = {}
        with ui.element("dl").classes("figures"):
            for name in self.NAMES:
                with ui.element("div"):
                    with ui.element("dt"):
                        ui.label(as_label(name))
                    with ui.element("dd"):
                        self._shown[name] = ui.label("–").props(f"data-testid=run-{number}-{name}")

    def show_seconds(self, seconds: float) -> None:
        """How long the run is at work."""
        self._shown["time"].set_text(f"{seconds:,.1f} s")

    def show(self, job: Job) -> None:
        """What is known so far, or in the end."""
        outcome = job.release.outcome if job.release is not None else None
        if outcome is not None:
            self._tell(outcome.loss, outcome.bound)
            self._shown["phase"].set_text(_ending(job, outcome))
        elif job.latest is not None:
            last = job.events[-1] if job.events else job.latest
            self._tell(last.incumbent, last.bound)
            self._shown["phase"].set_text(job.latest.phase)
        if job.state.over:
            self.show_seconds(job.seconds)

    def _tell(self, loss: float | None, bound: float | None) -> None:
        self._shown["loss"].set_text("–" if loss is None else f"{loss:,.10g}")
        self._shown["bound"].set_text("–" if bound is None else f"{bound:,.10g}")
        gap = None if loss is None or bound is None else gap_between(loss, bound)
        self._shown["gap"].set_text("–" if gap is None else f"{gap:.2%}")


def _ending(job: Job, outcome: Outcome) -> str:
    return outcome.status.value if job.state.over or job.latest is None else job.latest.phase


def _button(text: str, name: str, action: Callable[[], None]) -> ui.button:
    return ui.button(text, on_click=lambda: action()).props(f"outline dense no-caps data-testid={name}")
