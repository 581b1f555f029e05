"""Runs side by side: a card for each, kept up to date while anything is at work."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nicegui import ui

from tacita.app import frame
from tacita.app.controls import next_step, notices
from tacita.app.controls.page_parts import as_label, make_heading, put_words
from tacita.app.controls.remedies import Remedy, draw_remedies
from tacita.app.controls.runs import describe_scope, is_of_other_table
from tacita.app.controls.waiting import open_if_awaited
from tacita.app.screens.protect.run_chart import RunChart
from tacita.app.work.job import Job, State
from tacita.app.work.workspace import SIDE_BY_SIDE, Workspace
from tacita.core.outcome import Outcome, compute_gap
from tacita.core.words import format_number, pluralize
from tacita.report.measures import format_short

EVERY = 0.3
"""Seconds between two looks at the runs."""
WATCHED = 1.0
"""Seconds from which a run gets a chart on its card while it is at work; shorter ones show their result."""

AWAITED = 5.0
"""Seconds within which a safe run opens its result by itself; whoever waits longer may be elsewhere."""


class RunCards:
    """The cards of all runs of a workspace, the newest first; those of other tables are folded away.

    Parameters
    ----------
    use_again
        Called with a run whose options are to be used again.
    find_remedies
        Gives what helps a run that failed.
    """

    def __init__(
        self,
        workspace: Workspace,
        use_again: Callable[[Job], None],
        find_remedies: Callable[[Job], Sequence[Remedy]],
    ) -> None:
        self.workspace = workspace
        self.find_remedies = find_remedies
        self._use_again = use_again
        self._cards: dict[Job, RunCard] = {}
        self._places: dict[Job, ui.element] = {}
        self._title = make_heading("Runs")
        self._present = ui.element("div").classes("runs").props("data-testid=runs")
        self._fold = ui.expansion(on_value_change=self._look).classes("panel other-runs")
        self._fold.props("dense data-testid=other-runs")
        with self._fold:
            self._others = ui.element("div").classes("runs")
        self._timer = ui.timer(EVERY, self._look, active=False)
        self._awaited: Job | None = None
        self.follow()

    def follow(self, awaited: Job | None = None) -> None:
        """Show the cards of all runs on the page, and update them until the runs are over.

        Parameters
        ----------
        awaited
            The run that the user has just started here: its result opens if it is soon safe.
        """
        self._awaited = awaited
        # Nobody watches any more who left the page while a run was prepared.
        if not self._present.is_deleted:
            self._look()

    def _look(self) -> None:
        jobs = list(self.workspace.jobs)
        # Asked before the cards are drawn: a run that ends in between is looked at once more.
        at_work = any(not job.state.over for job in jobs)
        for job in jobs:
            place = self._places.setdefault(job, self._find_place(job))
            # What is folded costs nothing until somebody wants to see it.
            if job not in self._cards and (place is self._present or self._fold.value):
                with place:
                    self._cards[job] = RunCard(job, self)
                self._cards[job].place.move(target_index=0)
        for job in self._places.keys() - set(jobs):
            del self._places[job]
            if job in self._cards:
                self._cards.pop(job).place.delete()
        for job, card in self._cards.items():
            card.update(describe_scope(job, self.workspace))
        self._title.set_visibility(bool(jobs))
        # Whoever asks may be a button of a card that is gone.
        with self._present:
            self._propose_next_step()
            self._open_result()
        folded = sum(place is self._others for place in self._places.values())
        self._fold.set_text(f"{pluralize(folded, 'run')} of other tables")
        self._fold.set_visibility(folded > 0)
        self._timer.active = at_work

    def _propose_next_step(self) -> None:
        """Propose to look at the run that the page Result shows, once it is judged; where that failed or was
        cancelled, to write the files of the safe one that the page Export proposes.
        """
        job, proposed = self.workspace.chosen, self.workspace.proposed
        if job is None or not job.state.over or job.case is not self.workspace.case:
            next_step.withdraw()
        elif not job.state.judged:
            if proposed is None or proposed.state is not State.SAFE:
                next_step.withdraw()
            else:
                next_step.propose_files(proposed.number)
        elif job.state is State.SAFE:
            next_step.propose(f"Run {job.number} is safe: look at the result", "/result")
        else:
            next_step.propose(f"Run {job.number} is {job.state.value}: see why", "/result")

    def _open_result(self) -> None:
        """Open the result of the run that is awaited, once it is safe and if that was soon."""
        job, workspace = self._awaited, self.workspace
        if job is None or not job.state.over:
            return
        self._awaited = None
        soon = job.state is State.SAFE and job.seconds <= AWAITED
        if soon and workspace.opens_result and workspace.chosen is job and job.case is workspace.case:
            open_if_awaited("run", "/result")

    def _find_place(self, job: Job) -> ui.element:
        """Return the part of the page where a run's card belongs when first seen; it stays there."""
        return (
            self._others if is_of_other_table(job, self.workspace.case) and job.state.over else self._present
        )

    def show_result(self, job: Job) -> None:
        """Lead the browser to the page Result of a run."""
        with notices.attempt():
            self.workspace.choose(job)
            frame.open_screen("result")
        self._look()

    def use_again(self, job: Job) -> None:
        """Put the options of a run into the form of the page Protect."""
        self._use_again(job)
        ui.run_javascript("window.scrollTo(0, 0)")

    def remove(self, job: Job) -> None:
        """Stop a run, forget it and remove its card from the page."""
        self.workspace.forget(job)
        self._look()


LINES = 400
"""Lines of a log that are shown."""
KEEP, STOP = "Stop and keep the best so far", "Stop: nothing is found yet"
"""The button that ends a search: where it has found something, and where it has not."""
WORDS = {
    State.WAITING: f"waiting: {SIDE_BY_SIDE} runs are at work already",
    State.SEARCHING: "searching",
    State.AUDITING: "auditing what was found",
    State.SAFE: "✔ safe",
    State.UNSAFE: "✘ not safe",
    State.UNCHECKED: f"– {State.UNCHECKED.value}",
    State.FAILED: "! failed",
}
TONES = {State.SAFE: "verdict-safe", State.UNSAFE: "verdict-unsafe", State.FAILED: "verdict-unsafe"}


class RunCard:
    """One run; ``update`` touches what changed and nothing else.

    The chart of a run that is at work for a while is there to be watched. Of one that was over before, chart
    and log are made when they are opened: a page with many runs stays light.
    """

    def __init__(self, job: Job, owner: RunCards) -> None:
        self._job = job
        self._owner = owner
        self._seen: tuple[object, ...] = ()
        self._chart: RunChart | None = None
        self._lines: ui.label | None = None
        n = job.number
        self.place = (
            ui.element("article").classes("panel run").props(f'data-testid=run-{n} aria-label="Run {n}"')
        )
        with self.place:
            with ui.element("div").classes("run-head"):
                ui.label(job.title).classes("run-title").props("role=heading aria-level=3")
                self._state = ui.label().classes("run-state").props(f"data-testid=run-{n}-state role=status")
                self._cut_short = ui.label().classes("muted small cut-short")
                self._cut_short.props(f"data-testid=run-{n}-cut-short")
            self._work = None if job.state.over else _Work(job)
            self._figures = _Figures(n)
            self._error = ui.label().classes("complaint").props(f"data-testid=run-{n}-error")
            self._remedies = ui.element("div")
            self._watching = ui.element("div")
            with ui.element("div").classes("strip"):
                if self._work is not None:
                    self._work.add_buttons()
                self._result = _button("Result", f"run-{n}-result", lambda: owner.show_result(job))
                _button("Use these options again", f"run-{n}-again", lambda: owner.use_again(job))
                _button("Remove", f"run-{n}-remove", lambda: owner.remove(job))
            self._details = ui.expansion("Chart and log").classes("run-log")
            self._details.props(f"dense data-testid=run-{n}-log").on_value_change(self._show_details)

    def update(self, what_for: str) -> None:
        """Show on the card what the run newly reported; ``what_for`` is empty for the present case."""
        job = self._job
        if job.state is not State.WAITING and not job.state.over:
            self._figures.show_seconds(job.seconds)
            if self._chart is None and job.seconds >= WATCHED:
                with self._watching:
                    self._chart = RunChart(job.number)
                self._details.set_text("Log")
        seen = (job.state, job.cancelled, job.latest, len(job.log), job.error, what_for)
        if seen == self._seen:
            return
        self._seen = seen
        self._show_state(what_for)
        if self._work is not None:
            self._work.update()
        self._result.set_visibility(job.state.judged)
        self._figures.show(job)
        self._error.set_text(job.error if job.state is State.FAILED else "")
        self._remedies.clear()
        with self._remedies:
            draw_remedies(self._owner.find_remedies(job))
        if self._chart is not None:
            self._chart.show(job.events)
        self._show_details()

    def _show_state(self, what_for: str) -> None:
        job = self._job
        if job.cancelled and job.state is State.SEARCHING:
            words = "stopping; the best so far is kept" if job.has_incumbent else "stopping"
        else:
            words = f"– {job.error}" if job.state is State.CANCELLED else WORDS[job.state]
        self._state.set_text(f"{words}, {what_for}" if what_for else words)
        earlier = what_for and job.state is State.SAFE
        tone = "verdict-earlier" if earlier else TONES.get(job.state, "")
        self._state.classes(replace=f"run-state {tone}")
        self._cut_short.set_text(as_label(job.cut_short))

    def _show_details(self) -> None:
        if not self._details.value:
            return
        if self._lines is None:
            with self._details:
                self._lines = self._make_details()
        self._lines.set_text("\n".join(self._job.log[-LINES:]))

    def _make_details(self) -> ui.label:
        n = self._job.number
        if self._chart is None:
            self._chart = RunChart(n)
            self._chart.show(self._job.events)
        with ui.element("pre").classes("log").props(f'tabindex=0 aria-label="Log of run {n}"'):
            return ui.label().classes("log-lines")


class _Work:
    """What a run at work has besides: a bar, and buttons to stop it."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._bar = ui.linear_progress(0, show_value=False)
        self._bar.props(f'aria-label="Progress of run {job.number}"')

    def add_buttons(self) -> None:
        """Show the buttons of a run's card that stop the run, before those that every card has."""
        job, n = self._job, self._job.number
        self._cancel = _button(STOP, f"run-{n}-cancel", job.cancel)
        self._stop = _button("Stop the audit, unproven is not safe", f"run-{n}-stop", job.stop_audit)

    def update(self) -> None:
        """Show on the run's card how far it is, and the button for what can be stopped now."""
        job, event = self._job, self._job.latest
        self._bar.set_visibility(not job.state.over)
        if event is None or event.total <= 0:
            self._bar.props("indeterminate")
        else:
            self._bar.props(remove="indeterminate").set_value(min(1.0, event.done / event.total))
        stop = KEEP if job.has_incumbent else STOP
        self._cancel.set_text("Do not start" if job.state is State.WAITING else stop)
        self._cancel.set_visibility(job.state in (State.WAITING, State.SEARCHING))
        self._cancel.set_enabled(not job.cancelled)
        self._stop.set_visibility(job.state is State.AUDITING)


class _Figures:
    """Phase, loss, bound, gap and time of a run, in one line of named numbers."""

    NAMES = ("phase", "loss", "bound", "gap", "time")

    def __init__(self, number: int) -> None:
        self._shown = {}
        with ui.element("dl").classes("figures"):
            for name in self.NAMES:
                with ui.element("div"):
                    put_words("dt", as_label(name))
                    with ui.element("dd"):
                        self._shown[name] = ui.label("–").props(f"data-testid=run-{number}-{name}")

    def show_seconds(self, seconds: float) -> None:
        """Show on the run's card how many seconds the run has been at work."""
        self._shown["time"].set_text(f"{seconds:,.1f} s")

    def show(self, job: Job) -> None:
        """Show phase, loss, bound and gap of a run on its card, as known so far or in the end."""
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
        for name, figure in (("loss", loss), ("bound", bound)):
            self._shown[name].set_text("–" if figure is None else format_short(figure))
            self._shown[name].props["title"] = "" if figure is None else format_number(figure)
        gap = None if loss is None or bound is None else compute_gap(loss, bound)
        self._shown["gap"].set_text("–" if gap is None else f"{gap:.2%}")


def _ending(job: Job, outcome: Outcome) -> str:
    return outcome.status.value if job.state.over or job.latest is None else job.latest.phase


def _button(text: str, name: str, action: Callable[[], None]) -> ui.button:
    return ui.button(text, on_click=lambda: action()).props(f"outline dense no-caps data-testid={name}")
