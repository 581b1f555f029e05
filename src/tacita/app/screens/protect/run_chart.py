"""Loss and bound of a run over time, as a chart that can also be read aloud."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nicegui import ui

from tacita.core.run import Event
from tacita.report.measures import format_short

MOST_POINTS = 240
"""Points of a line; of more every second, third, ... is left out, never the last."""
LOSS, BOUND = "#d9541e", "#2f7fc1"
GREY = "#7b8794"


class RunChart:
    """The chart of one run; there is none before there are two points to join."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._place = ui.element("div").classes("run-chart")
        self._chart: ui.echart | None = None

    def show(self, events: Sequence[Event]) -> None:
        """Draw the chart of a run on the page: its loss and bound over time, from its events."""
        if len(events) < 2:
            return
        lines = build_series(events)
        if self._chart is None:
            with self._place:
                # As SVG its text has the colours of the page, light or dark.
                self._chart = ui.echart(_options(lines), renderer="svg").props(
                    f"data-testid=run-{self._number}-chart role=img"
                )
        else:
            for own, line in zip(self._chart.options["series"], lines, strict=True):
                own["data"] = line
            self._chart.update()
        self._chart.props(f'aria-label="{_aloud(events[-1])}"')


def build_series(events: Sequence[Event]) -> tuple[list[list[float]], list[list[float]]]:
    """Return the points (seconds, loss) and the points (seconds, bound) that the chart of a run shows."""
    step = -(-len(events) // MOST_POINTS)
    chosen = [*events[:-1:step], events[-1]]
    return (
        [[round(e.seconds, 3), e.incumbent] for e in chosen if e.incumbent is not None],
        [[round(e.seconds, 3), e.bound] for e in chosen if e.bound is not None],
    )


def _options(lines: tuple[list[list[float]], list[list[float]]]) -> dict[str, Any]:
    faint = {"lineStyle": {"color": GREY, "opacity": 0.25}}
    return {
        "animation": False,
        "grid": {"left": 8, "right": 28, "top": 28, "bottom": 6, "containLabel": True},
        "legend": {"top": 0, "itemHeight": 8},
        "tooltip": {"trigger": "axis"},
        "xAxis": {"type": "value", "min": 0, "axisLabel": {"formatter": "{value} s"}, "splitLine": faint},
        "yAxis": {"type": "value", "scale": True, "splitLine": faint},
        "series": [
            _make_line("Loss", lines[0], LOSS, "solid"),
            _make_line("Bound", lines[1], BOUND, "dashed"),
        ],
    }


def _make_line(name: str, points: list[list[float]], colour: str, dash: str) -> dict[str, Any]:
    """Return a line of a run's chart as options, in steps: a loss holds until a better one is found."""
    return {
        "name": name,
        "type": "line",
        "step": "end",
        "data": points,
        "symbolSize": 4,
        "color": colour,
        "lineStyle": {"type": dash, "width": 2},
    }


def _aloud(event: Event) -> str:
    loss = "none yet" if event.incumbent is None else format_short(event.incumbent)
    bound = "none yet" if event.bound is None else format_short(event.bound)
    return f"Loss {loss} and bound {bound} after {event.seconds:.1f} seconds"
