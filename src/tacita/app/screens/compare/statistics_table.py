"""What runs did to the statistics of the inner cells, for runs that show a number everywhere."""

from __future__ import annotations

from collections.abc import Sequence

from nicegui import ui

from tacita.app.controls.page_parts import make_scroll_region, put_words
from tacita.app.work.job import Job
from tacita.core.words import format_number
from tacita.methods.adjustment.statistics.measures import measure_changes

MEANINGS = {
    "mean": "Mean",
    "variance": "Variance",
    "correlation": "Correlation with the truth",
    "slope": "Slope on the truth",
}


def build(jobs: Sequence[Job]) -> None:
    """Show how runs changed statistics on the page Compare; nothing where every run leaves gaps."""
    shown = [job for job in jobs if job.release is not None and bool(job.release.shown.all())]
    if not shown:
        return
    with (
        ui.expansion("Statistics of the inner cells, change in percent")
        .classes("more")
        .props("dense data-testid=statistics-fold"),
        make_scroll_region("Statistics of the inner cells"),
        ui.element("table").classes("plain").props("data-testid=statistics"),
    ):
        with ui.element("thead"), ui.element("tr"):
            for head in ("Run", *MEANINGS.values()):
                put_words("th", head, props="scope=col")
        with ui.element("tbody"):
            for job in shown:
                _line(job)


def _line(job: Job) -> None:
    changed = find_changed_statistics(job)
    with ui.element("tr"):
        put_words("th", job.title, props="scope=row")
        for name in MEANINGS:
            put_words("td", _percent(changed[name]), props=f"data-testid={name}-{job.number}")


def find_changed_statistics(job: Job) -> dict[str, float]:
    """Return the change of each statistic by a run, in percent, by name, for the page Compare."""
    assert job.release is not None
    table, release = job.problem.table, job.release
    return measure_changes(table.values, release.value / 10.0**release.decimals, ~table.structure.is_total)


def _percent(change: float) -> str:
    return format_number(change) if change != change else f"{change:+.4f}"
