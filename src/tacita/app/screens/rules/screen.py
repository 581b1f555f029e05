"""Rules: what is sensitive, who attacks, what hiding costs; and at once how many cells that concerns."""

from __future__ import annotations

from nicegui import ui

from tacita.app.controls.page_parts import make_panel, show_no_table
from tacita.app.screens.rules.attackers_panel import show_attackers
from tacita.app.screens.rules.count_panel import CountPanel
from tacita.app.screens.rules.published_panel import PublishedPanel
from tacita.app.screens.rules.rule_list import RuleList
from tacita.app.work.desk import Desk
from tacita.app.work.workspace import Workspace
from tacita.core.tables.table import Table

COSTS = {
    "value": "The value of the cell: large numbers are kept.",
    "unit": "1 for each cell: as few cells as possible.",
    "log": "log(1 + value): between the two.",
    "percent": "The value in percent of all inner cells.",
    "count": "The number of respondents in the cell.",
    "distance": "1 for sensitive cells, 2 for those in a sum with one, and so on: changes stay near.",
}
CHANGED_ELSEWHERE = (
    "The table or its rules were changed in another window. Here they are as they are now, without what you "
    "did last on this page: look at them and do it again."
)
AS_STATED = "As the file says, cell by cell."


def build(workspace: Workspace) -> None:
    """Fill the page Rules: rules, attackers, earlier releases, costs, and the count of sensitive cells."""
    if workspace.case is None:
        show_no_table()
        return
    with ui.element("div").classes("rules-page"):
        left = ui.element("div").classes("rules-left")
        with ui.element("div").classes("rules-right"):
            panel = CountPanel(workspace)

    def show_anew() -> None:
        workspace.notes = [CHANGED_ELSEWHERE]
        ui.navigate.reload()

    desk = Desk(workspace, panel.ask, show_anew)
    with left:
        RuleList(desk)
        show_attackers(desk)
        PublishedPanel(desk, workspace)
        _show_costs(desk)
    panel.ask(desk.case)


def _show_costs(desk: Desk) -> None:
    case = desk.case
    meanings = _list_cost_meanings(case.table)
    specified, stated = case.specification.cost.by, case.data.cost is not None
    if stated:
        meanings = {"": AS_STATED, **meanings}
    chosen = specified if specified in meanings else "" if stated else "value"

    def choose(word: str) -> None:
        meaning.set_text(meanings[word])
        desk.specify("cost", cost={"by": word or None})
        desk.end_step()

    with make_panel("What hiding or changing a cell costs", label="Cost"), ui.element("div").classes("strip"):
        names = {word: word or "as in the file" for word in meanings}
        select = ui.select(names, value=chosen, label="Cost", on_change=lambda e: choose(e.value))
        select.props('outlined dense options-dense data-testid=cost aria-label="Cost"').classes("short")
        meaning = ui.label(meanings[chosen]).classes("muted").props("data-testid=cost-meaning")


def _list_cost_meanings(table: Table) -> dict[str, str]:
    """Return the costs of hiding that the page Rules offers for a table, each with its meaning in words."""
    own = {name: text for name, text in COSTS.items() if name != "count" or table.count is not None}
    numbers = [name for name, column in table.columns.items() if column.dtype.kind in "iuf"]
    return own | {name: f"The column {name} of the table." for name in numbers if name not in own}
