"""The panel below the sheets of a result: why the chosen cell is hidden, changed or shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from nicegui import run, ui

from tacita.app.controls.remedies import bring_into_view
from tacita.app.sheet import Flag
from tacita.app.sheet.content import LOOKS
from tacita.app.work.cell_facts import LONGEST
from tacita.app.work.job import Job
from tacita.auditing.explain import explain
from tacita.auditing.explained_cell import MOST_NAMED, ExplanationPart, describe_explanation
from tacita.auditing.explanation import Explanation
from tacita.core import exact
from tacita.core.errors import TacitaError
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.core.words import format_number
from tacita.report.interval_picture import draw_interval

HINT = "Click a cell of the sheets, or press Enter on it, to see why it is hidden or shown."
WORKING = "Working out what is deduced of it, what it protects and what protects it …"
FLAGS = {"protected": Flag.PROTECTING, "protects": Flag.PROTECTED}
"""How the sheets flag the cells that a part of an explanation speaks of."""
SIGNS = {key: next(look.sign for look in LOOKS if look.flag is flag) for key, flag in FLAGS.items()}


class ExplanationPanel:
    """Explains one cell of a run at a time, in a thread; another cell, or closing, cancels it.

    Parameters
    ----------
    mark
        Called with the flag of each cell that the sheets shall mark.
    go
        Called with a cell that the sheets shall show, to have the focus.
    """

    def __init__(
        self,
        job: Job,
        release: Release,
        mark: Callable[[Mapping[int, Flag]], None],
        go: Callable[[int], None],
    ) -> None:
        self._job, self._release, self._mark, self._go = job, release, mark, go
        self._run: Run | None = None
        self._cell: int | None = None
        self._known: dict[int, Explanation] = {}
        self._hint = ui.label(HINT).classes("muted").props("data-testid=explain-hint")
        self._place = ui.element("section").classes("explanation")
        self._place.props('tabindex=-1 aria-label="The cell that is explained" data-testid=explanation')
        self._place.on("keydown.esc", self.close, args=[])
        self._place.set_visibility(False)

    async def show_empty(self, name: str, with_focus: bool) -> None:
        """Show in the panel that a place of the sheets has no cell."""
        with self._begin(None, name, with_focus):
            ui.label("Empty: nobody contributed, and everybody knows.")

    async def show(self, cell: int, with_focus: bool) -> None:
        """Explain a cell in the panel; ``with_focus``, Tab then goes on there."""
        table = self._job.problem.table
        value = format_number(exact.to_decimal(int(table.units[cell]), table.decimals))
        body = self._begin(cell, table.name(cell), with_focus, value)
        with body, ui.element("div").classes("strip").props("role=status"):
            ui.spinner()
            ui.label(WORKING).props("data-testid=explaining")
        effort = self._run = Run(LONGEST)
        found = self._known.get(cell)
        if found is None:
            try:
                found = await run.io_bound(self._explain, cell, effort)
            except TacitaError as error:
                body.clear()
                with body:
                    ui.label(str(error)).props("role=alert")
                return
            # None when the server is stopping; another run when another cell was chosen.
            if found is None or self._run is not effort or body.is_deleted:
                return
            if not effort.over:
                self._known[cell] = found
        body.clear()
        parts = describe_explanation(found, show_values=True)
        with body:
            for part in parts:
                self._show_part(part, found)
        bring_into_view("explanation")
        self._mark({other: FLAGS[part.key] for part in parts if part.key in FLAGS for other in part.cells})

    def close(self) -> None:
        """Close the panel; the focus goes back to the cell that was explained."""
        cell, self._cell = self._cell, None
        self._stop()
        self._place.set_visibility(False)
        self._hint.set_visibility(True)
        self._mark({})
        if cell is not None:
            self._go(cell)

    def _explain(self, cell: int, effort: Run) -> Explanation:
        return explain(self._job.problem, self._release, cell, self._job.audit, effort)

    def _stop(self) -> None:
        if self._run is not None:
            self._run.cancel()
            self._run = None

    def _begin(self, cell: int | None, name: str, with_focus: bool, value: str = "") -> ui.element:
        """Return the panel's empty body, below the name and true value of the cell and a button to close."""
        self._stop()
        self._cell = cell
        self._mark({})
        self._hint.set_visibility(False)
        self._place.set_visibility(True)
        self._place.clear()
        with self._place:
            with ui.element("div").classes("strip"):
                title = ui.label(f"Why: {name}").classes("panel-title")
                title.props("role=heading aria-level=2 data-testid=explained-name")
                if value:
                    ui.label(f"True value: {value}").classes("number").props("data-testid=explained-value")
                ui.space()
                ui.button("Close", on_click=self.close, color=None).props(
                    'flat dense no-caps aria-label="Close the explanation" data-testid=explanation-close'
                )
            body = ui.element("div").classes("explanation-body")
        if with_focus:
            self._place.run_method("focus")
        bring_into_view("explanation")
        return body

    def _show_part(self, part: ExplanationPart, found: Explanation) -> None:
        with ui.element("div").classes("explanation-part").props(f"data-testid=explained-{part.key}"):
            ui.label(part.title).classes("explanation-title").props("role=heading aria-level=3")
            for line in part.lines:
                ui.label(line)
            if part.cells:
                self._show_cells(part)
                if part.key in FLAGS:
                    ui.label(f"{SIGNS[part.key]} in the sheets, outlined").classes("muted small")
            if part.key == "deduced" and found.role == "primary":
                ui.html(self._draw(found), sanitize=False)

    def _show_cells(self, part: ExplanationPart) -> None:
        """Show the names of the cells that a part speaks of, which lead to them in the sheets."""
        name = self._job.problem.table.name
        with ui.element("div").classes("strip explanation-cells"):
            for cell in part.cells[:MOST_NAMED]:
                with ui.element("button").classes("leads").props("type=button") as lead:
                    ui.label(name(cell))
                lead.on("click", lambda _, cell=cell: self._go(cell), args=[])
            if (more := len(part.cells) - MOST_NAMED) > 0:
                ui.label(f"and {more:,} more").classes("muted")

    def _draw(self, found: Explanation) -> str:
        """Return the picture of what an outsider deduces of a sensitive cell, with its levels."""
        problem = self._job.problem
        lower, upper, sliding = found.levels
        bounds = np.array([problem.outsider.lower[found.cell], problem.outsider.upper[found.cell]])
        before = exact.to_floats(bounds, problem.table.decimals)
        value = float(problem.table.values[found.cell])
        known = float(before[0]), float(before[1])
        return draw_interval(found.deduced.low, found.deduced.high, value, lower, upper, known, sliding)
