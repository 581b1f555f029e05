"""The verdict on a run in little room: that it is for an earlier table or rules is told once, below."""

from __future__ import annotations

from nicegui import ui

from tacita.app.controls.runs import EARLIER, in_words
from tacita.app.work.job import Job, State
from tacita.app.work.open_case import Case

DAGGER = "†"
NOTE = f"{DAGGER} {EARLIER}: the verdict is about that."


def show(job: Job, now: Case | None) -> None:
    """``✔ safe``, or ``✔ safe †`` for the eye and the whole sentence for the ear."""
    tone = "verdict-safe" if job.state is State.SAFE else "verdict-unsafe"
    with ui.element("div").classes(tone):
        ui.label(in_words(job, job.case)).classes("in-line")
        if job.case is not now:
            ui.label(f", {EARLIER}").classes("for-the-ear")
            ui.label(f"\N{NO-BREAK SPACE}{DAGGER}").classes("in-line").props("aria-hidden=true")
