"""The sensitive cells of a run in a table: levels, what is deduced, a picture, the verdict."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import numpy as np
from nicegui import ui

from tacita.app.controls.page_parts import make_scroll_region
from tacita.auditing.audit import Audit
from tacita.auditing.deduce import Deduction
from tacita.core.exact import Cells
from tacita.core.words import format_number
from tacita.report.sensitive_cells import SensitiveCell, SensitiveCells
from tacita.report.verdicts import explain_verdicts

PER_PAGE = 50
WORDS = {"Picture", "Against", "Verdict"}
"""Heads of columns that hold no numbers."""
HEADS = ("Cell", "Value", "LPL", "UPL", "SPL", "Deduced", "Picture", "Against", "Verdict")
LEGEND = (
    "Bar: what the outsider deduces; of a cell that is not safe, what its worst attacker does. "
    "Brackets: value − LPL and value + UPL, the lower and upper protection level. Dot: the value. "
    "Thin line: what they knew beforehand. Arrow: it goes on, far or without end. "
    "A dashed bar does not reach its brackets, or is too narrow. "
    "Each bar has a scale of its own. A safe cell is safe against everyone. "
    "The name of a cell leads to it in the table above."
)
LEVELS = {
    "LPL": "lower protection level: so far below the value readers must think it possible",
    "UPL": "upper protection level: so far above the value readers must think it possible",
    "SPL": "sliding protection level: so wide must the range of possible values be",
}
"""What stands beside the pointer on the heads of levels."""
EVERYONE = "everyone"
"""Against whom a safe cell is safe."""
LEADS = """(event) => {
    const name = event.target.closest("button[data-cell]");
    if (name) emit(Number(name.dataset.cell));
}"""
"""One listener for all names, which come and go with their page of the list."""


def build(audit: Audit, intervals: Deduction, go: Callable[[int], None]) -> None:
    """Show the panel of the page Result on sensitive cells: a filter, pages of cells, a key to its signs.

    Parameters
    ----------
    go
        Called with the cell whose name is pressed.
    """
    listed = SensitiveCells(audit, intervals)
    wanted = [listed.cells]
    with (
        ui.element("section")
        .classes("panel")
        .props('aria-label="Sensitive cells" data-testid=sensitive-cells')
    ):
        with ui.element("div").classes("strip"):
            ui.label(f"Sensitive cells ({len(listed):,})").classes("panel-title").props(
                "role=heading aria-level=2"
            )
            ui.space()
            unsafe = int(listed.unsafe.sum())
            only = ui.checkbox(f"Only not safe ({unsafe:,})").props("dense data-testid=only-unsafe")
            search = ui.input("Find a cell").props(
                "dense outlined clearable debounce=250 data-testid=find-cell"
            )
        with make_scroll_region("Sensitive cells in numbers"):
            table = ui.html("", sanitize=False).props("data-testid=sensitive-table")
            table.on("click", lambda event: lead(event.args), js_handler=LEADS)
        pages = ui.element("div").classes("strip")
        ui.label(LEGEND).classes("muted")
        if unsafe:
            ui.label(explain_verdicts(audit.findings(only_unsafe=True))).classes("muted")

    def lead(cell: int) -> None:
        if cell in listed.cells:
            go(cell)

    def show(page: int = 1) -> None:
        few = wanted[0][(page - 1) * PER_PAGE : page * PER_PAGE].tolist()
        table.content = _write_table([listed.build_row(cell) for cell in few])

    def choose() -> None:
        cells = listed.cells[listed.unsafe] if only.value else listed.cells
        wanted[0] = _find_named(audit, cells, search.value or "")
        pages.clear()
        last = -(-wanted[0].size // PER_PAGE)
        if last > 1:
            with pages:
                ui.pagination(1, last, direction_links=True, on_change=lambda event: show(event.value)).props(
                    "max-pages=7 data-testid=sensitive-pages"
                )
                ui.label(f"{wanted[0].size:,} cells").classes("muted")
        show()

    only.on_value_change(choose)
    search.on_value_change(choose)
    choose()


def _find_named(audit: Audit, cells: Cells, text: str) -> Cells:
    """Return those of the sensitive cells whose name holds the text that is searched for on the page."""
    if not text.strip():
        return cells
    name, part = audit.problem.table.structure.name, text.strip().casefold()
    return np.array([cell for cell in cells.tolist() if part in name(cell).casefold()], dtype=np.int64)


def _write_table(rows: list[SensitiveCell]) -> str:
    if not rows:
        return '<p class="muted">No such cell.</p>'
    sliding = any(row.sliding for row in rows)
    heads = "".join(
        f'<th scope="col" class="{"words" if head in WORDS else ""}" title="{LEVELS.get(head, "")}">'
        f"{head}</th>"
        for head in HEADS
        if sliding or head != "SPL"
    )
    return (
        f'<table class="plain sensitive"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(_write_row(row, sliding) for row in rows)}</tbody></table>"
    )


def _write_row(row: SensitiveCell, sliding: bool) -> str:
    levels = (row.lower, row.upper, row.sliding)[: 3 if sliding else 2]
    numbers = "".join(f"<td>{format_number(level)}</td>" for level in (row.value, *levels))
    sign, tone = ("✔", "verdict-safe") if not row.bits else ("✘", "verdict-unsafe")
    return (
        f'<tr><th scope="row"><button type="button" class="leads" data-cell="{row.cell}">'
        f"{escape(row.name)}</button></th>{numbers}"
        f"<td>{_format_interval(row)}</td><td>{row.picture}</td>"
        f'<td class="words">{escape(row.attacker) if row.bits else EVERYONE}</td>'
        f'<td class="words {tone}">{sign} {escape(row.verdict)}</td></tr>'
    )


def _format_interval(row: SensitiveCell) -> str:
    if row.low != row.low or row.high != row.high:
        return "not worked out"
    if row.low == row.high:
        return f"exactly {format_number(row.low)}"
    return f"{format_number(row.low)} … {format_number(row.high)}"
