"""Runs side by side: a card for each, kept up to date while anything is at work."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from tacita.app import frame
from tacita.app.controls import notices
from tacita.app.controls.page_parts import heading
from tacita.app.controls.runs import EARLIER
from tacita.app.screens.protect.run_card import RunCard
from tacita.app.work.job import Job
from tacita.app.work.workspace import Workspace
from tacita.core.words import pluralize

EVERY = 0.3
"""Seconds between two looks at the runs."""


class RunCards:
    """The cards of all runs of a workspace, the newest first; those of other tables are folded away.

    Parameters
    ----------
    use_again
        Called with a run whose options are to be used again.
    """

    def __init__(self, workspace: Workspace, use_again: Callable[[Job], None]) -> None:
        self.workspace = workspace
        self._use_again = use_again
        self._cards: dict[Job, RunCard] = {}
        self._places: dict[Job, ui.element] = {}
        self._title = heading("Runs")
        self._present = ui.element("div").classes("runs").props("data-testid=runs")
        self._fold = ui.expansion(on_value_change=self._look).classes("panel other-runs")
        self._fold.props("dense data-testid=other-runs")
        with self._fold:
            self._others = ui.element("div").classes("runs")
        self._timer = ui.timer(EVERY, self._look, active=False)
        self.follow()

    def follow(self) -> None:
        """Show all runs, and look again until they are over."""
        # Nobody watches any more who left the page while a run was prepared.
        if not self._present.is_deleted:
            self._look()

    def _look(self) -> None:
        jobs = list(self.workspace.jobs)
        # SheetQuestion before the cards are drawn: a run that ends in between is looked at once more.
        at_work = any(not job.state.over for job in jobs)
        for job in jobs:
            place = self._places.setdefault(job, self._place_of(job))
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
            card.update(self._what_for(job))
        self._title.set_visibility(bool(jobs))
        folded = sum(place is self._others for place in self._places.values())
        self._fold.set_text(f"{pluralize(folded, 'run')} of other tables")
        self._fold.set_visibility(folded > 0)
        self._timer.active = at_work

    def _place_of(self, job: Job) -> ui.element:
        """Return where a card belongs when it is first seen; it stays there, so that nothing jumps."""
        return self._others if self._of_another(job) and job.state.over else self._present

    def _of_another(self, job: Job) -> bool:
        """Return whether a run is of another table than the present one, also in an earlier state."""
        case = self.workspace.case
        return case is not None and job.case.name != case.name

    def _what_for(self, job: Job) -> str:
        """Return what the verdict on a run is about, unless that is the present case."""
        if self._of_another(job):
            return f"for {job.case.name}"
        return EARLIER if job.case is not self.workspace.case else ""

    def show_result(self, job: Job) -> None:
        """Lead to what came out of a run."""
        with notices.attempt():
            self.workspace.choose(job)
            frame.open_screen("result")
        self._look()

    def use_again(self, job: Job) -> None:
        """Put the options of a run into the form."""
        self._use_again(job)
        ui.run_javascript("window.scrollTo(0, 0)")

    def remove(self, job: Job) -> None:
        """Stop a run and forget it."""
        self.workspace.forget(job)
        self._look()
