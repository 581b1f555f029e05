"""Risk against information lost: one point per run, with a table of the same numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from nicegui import ui

from tacita.app.controls.page_parts import as_label, make_heading, make_scroll_region, put_words
from tacita.app.controls.runs import describe_run
from tacita.app.screens.compare.run_measures import format_measure, measure_run, show_verdict
from tacita.app.work.job import Job, State
from tacita.app.work.workspace import Workspace
from tacita.core.words import format_number
from tacita.report.measures import MEASURES

ACROSS = {"l1": "l1", "l2": "l2", "changed": "cells changed", "percent": "percent of cells changed"}
SYMBOLS = {State.SAFE: "circle", State.UNSAFE: "triangle", State.UNCHECKED: "diamond"}
NAMES = {State.SAFE: "safe", State.UNSAFE: "not safe", State.UNCHECKED: "nothing checked"}
NEAR_ACROSS, NEAR_UP = 0.03, 0.05
"""Parts of the axes within which labels would overprint each other."""
FAINT = {"lineStyle": {"color": "#8895a144"}}
COLOURS = {State.SAFE: "#2f7fc4", State.UNSAFE: "#cf4a52", State.UNCHECKED: "#7c8894"}


def build(jobs: Sequence[Job], workspace: Workspace) -> None:
    """Show the plot of risk against loss on the page Compare, a choice of its axis, and its numbers."""
    points = {job.number: measure_run(job) for job in jobs}
    with ui.element("div").classes("strip"):
        make_heading("Risk against information lost")
        ui.space()
        across = ui.select(ACROSS, value="percent", label="Across: information lost").props(
            "outlined dense options-dense data-testid=across"
        )
    with ui.element("div").classes("columns"):
        chart = ui.echart(_make_options(jobs, points, "percent"), renderer="svg").classes("plot")
        chart.props("role=img data-testid=plot")
        listed = make_scroll_region("Numbers of the plot")
    ui.label(
        "Risk: of the sensitive cell that is worst off, the width that its levels require over the width of "
        "what an outsider deduces. 1 is just enough, 0.1 ten times more than required, ∞ known exactly."
    ).classes("muted")

    def show() -> None:
        key = str(across.value)
        chart.options.clear()
        chart.options.update(_make_options(jobs, points, key))
        chart.update()
        described = "; ".join(f"{job.title}: {_describe_point(job, points, key, workspace)}" for job in jobs)
        chart.props["aria-label"] = f"Risk against {ACROSS[key]}. {described}"
        listed.clear()
        with listed:
            _show_table(jobs, points, key, workspace)

    across.on_value_change(show)
    show()


def label_points(drawn: Mapping[int, tuple[float, float]], near: tuple[float, float]) -> dict[int, str]:
    """Return the label of each run's point in the risk plot, by the number of the run: the numbers of all
    runs drawn at its place or ``near`` it, across and up, at the first of them, and nothing at the others.
    """
    groups: list[list[int]] = []
    for run, (x, y) in sorted(drawn.items()):
        for group in groups:
            across, up = drawn[group[0]]
            if abs(x - across) <= near[0] and abs(y - up) <= near[1]:
                group.append(run)
                break
        else:
            groups.append([run])
    found = dict.fromkeys(drawn, "")
    return found | {group[0]: ", ".join(map(str, group)) for group in groups}


def _describe_point(job: Job, points: dict[int, Any], key: str, workspace: Workspace) -> str:
    lost, risk = (format_number(points[job.number][name]) for name in (key, "risk"))
    return f"{ACROSS[key]} {lost}, risk {risk}, {describe_run(job, workspace)}"


def _show_table(jobs: Sequence[Job], points: dict[int, Any], key: str, workspace: Workspace) -> None:
    """Show the numbers of the risk plot as a table on the page, for those who do not see the plot."""
    columns = {measure.key: measure for measure in MEASURES}
    with ui.element("table").classes("plain").props("data-testid=plot-table"):
        with ui.element("thead"), ui.element("tr"):
            for head in ("Run", as_label(ACROSS[key]), "Risk"):
                put_words("th", head, props="scope=col")
            put_words("th", "Verdict", "words", "scope=col")
        with ui.element("tbody"):
            for job in jobs:
                own = points[job.number]
                texts = [format_measure(columns[name], own[name], job) for name in (key, "risk")]
                with ui.element("tr"):
                    for entry in (job.title, *texts):
                        put_words("td", entry)
                    with ui.element("td").classes("words"):
                        show_verdict(job, workspace)


def _make_options(jobs: Sequence[Job], points: dict[int, Any], key: str) -> dict[str, Any]:
    """Return the risk plot as options of the chart library: a point per run, infinite risk at the top."""
    finite = [points[job.number]["risk"] for job in jobs if isfinite(points[job.number]["risk"])]
    top = 1.25 * max([1.0, *finite])
    drawn = {
        job.number: (points[job.number][key], min(points[job.number]["risk"], top))
        for job in jobs
        if job.state in SYMBOLS and points[job.number]["risk"] == points[job.number]["risk"]
    }
    widest = max((x for x, _ in drawn.values()), default=0.0)
    names = label_points(drawn, (NEAR_ACROSS * widest, NEAR_UP * top))
    series = []
    for state, symbol in SYMBOLS.items():
        data = [
            {
                "value": list(drawn[job.number]),
                "name": names[job.number]
                if isfinite(points[job.number]["risk"]) or not names[job.number]
                else f"{names[job.number]} (∞)",
            }
            for job in jobs
            if job.state is state and job.number in drawn
        ]
        series.append(
            {
                "type": "scatter",
                "name": NAMES[state],
                "symbol": symbol,
                "symbolSize": 14,
                "itemStyle": {"color": COLOURS[state]},
                "label": {"show": True, "formatter": "{b}", "position": "top", "fontSize": 13},
                "labelLayout": {"moveOverlap": "shiftY"},
                "data": data,
            }
        )
    series[0]["markLine"] = {
        "silent": True,
        "symbol": "none",
        "lineStyle": {"color": "#74828f", "type": "dashed"},
        "label": {"formatter": "just enough", "position": "end"},
        "data": [{"yAxis": 1}],
    }
    return {
        "animation": False,
        "grid": {"left": 56, "right": 84, "top": 56, "bottom": 44},
        "legend": {"data": list(NAMES.values()), "top": 0, "itemWidth": 14, "itemHeight": 12},
        "xAxis": {
            "type": "value",
            "name": as_label(ACROSS[key]),
            "nameLocation": "middle",
            "nameGap": 28,
            "min": 0,
            # More than all cells cannot change; elsewhere the last point does not stand on the edge.
            **({"max": 100} if key == "percent" and widest > 90 else {"boundaryGap": ["0%", "8%"]}),
            "splitLine": FAINT,
        },
        "yAxis": {
            "type": "value",
            "name": "Risk",
            "min": 0,
            "max": top,
            "axisLabel": {"showMaxLabel": False},
            "splitLine": FAINT,
        },
        "series": series,
    }
