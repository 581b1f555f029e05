"""Recent work: what earlier sessions worked on, to go on with or to remove, and whether any is kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial

from nicegui import ui

from tacita.app.controls import notices
from tacita.app.controls.page_parts import make_panel
from tacita.app.work.recent import MOST_KEPT, Offer, RecentWork
from tacita.app.work.workspace import Workspace
from tacita.core.words import pluralize

UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))

NOTHING, NOTHING_ELSE = "None is kept yet.", "Nothing is kept besides the open tables."


class RecentPanel:
    """A list of kept works with a switch; nothing where work cannot be kept at all.

    Parameters
    ----------
    go_on
        Called with a work that was chosen, and where it is kept.
    """

    def __init__(self, workspace: Workspace, go_on: Callable[[RecentWork, Offer], Awaitable[None]]) -> None:
        self._workspace, self._go_on = workspace, go_on
        if workspace.recent is None:
            return
        self._recent = workspace.recent
        with make_panel("Recent work", test_id="recent"):
            self._list = ui.element("div").classes("recent-list")
            self._show_switch()
        self._show()

    def _show(self) -> None:
        case, own = self._workspace.case, self._workspace.works
        offers = [offer for offer in self._recent.list_offers() if offer.key not in own]
        self._list.clear()
        with self._list:
            for offer in offers:
                self._show_offer(offer)
            if not offers:
                ui.label(NOTHING if case is None else NOTHING_ELSE).classes("muted").props(
                    "data-testid=recent-none"
                )
        self._remove_all.set_visibility(bool(offers))

    def _show_offer(self, offer: Offer) -> None:
        with ui.element("div").classes("recent").props(f"data-testid=recent-{offer.key}"):
            button = ui.button(offer.name, on_click=partial(self._go_on, self._recent, offer), color=None)
            button.props("flat dense no-caps align=left data-testid=recent-open")
            ui.label(describe_offer(offer)).classes("muted number recent-about")
            remove = ui.button("Remove", on_click=partial(self._remove, offer), color=None)
            remove.props("flat dense no-caps data-testid=recent-remove")
            remove.props["aria-label"] = f"Remove {offer.name} from recent work"

    def _show_switch(self) -> None:
        with ui.element("div").classes("strip"):
            switch = ui.switch("Keep recent work", value=self._recent.enabled)
            switch.props("dense data-testid=keep-recent").on_value_change(lambda e: self._keep(bool(e.value)))
            self._remove_all = ui.button("Remove all", on_click=self._clear, color=None)
            self._remove_all.props("outline dense no-caps data-testid=recent-clear")
        ui.label(
            f"The last {MOST_KEPT} tables with true values, what was specified, and releases of finished "
            f"runs, in {self._recent.folder}, which only you can read."
        ).classes("muted small")
        if self._workspace.not_kept:
            ui.label(f"What is open now is not kept: {self._workspace.not_kept}").classes("complaint").props(
                "data-testid=not-kept"
            )

    def _keep(self, keep: bool) -> None:
        with notices.attempt():
            self._recent.enable(keep)
            # The page says elsewhere too what is kept.
            ui.navigate.reload()

    def _remove(self, offer: Offer) -> None:
        with notices.attempt():
            self._recent.remove(offer.key)
        self._show()

    def _clear(self) -> None:
        with notices.attempt():
            self._recent.remove_all()
        self._show()


def describe_offer(offer: Offer, now: datetime | None = None) -> str:
    """Return words on a kept work for the page Start: its size, its runs, when it was kept, and whether it is
    open elsewhere.
    """
    names = " by ".join(offer.dimensions) or "a list of cells"
    runs = f" · {pluralize(offer.runs, 'run')}" if offer.runs else ""
    elsewhere = " · open in another session: a copy is opened" if offer.in_use else ""
    age = _describe_age((now or datetime.now(UTC)) - offer.saved)
    return f"{names} · {pluralize(offer.cells, 'cell')}{runs} · {age}{elsewhere}"


def _describe_age(age: timedelta) -> str:
    seconds = age.total_seconds()
    for length, name in UNITS:
        if seconds >= length:
            return f"{pluralize(int(seconds // length), name)} ago"
    return "just now"
