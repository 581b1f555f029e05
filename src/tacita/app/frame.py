"""What all screens share: the way between them, the table's name, undo, help, and light or dark.

Each screen is a page with an address of its own, so that reload, the back button and bookmarks do what they
do elsewhere. What is on it comes from the session's :class:`~tacita.app.work.workspace.Workspace`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nicegui import ElementFilter, ui

from tacita.app.controls import forms, next_step, notices, remedies, waiting
from tacita.app.controls.connection import add_connection_cover
from tacita.app.controls.inlets import add_upload_bar
from tacita.app.serving.doors import get_workspace
from tacita.app.work.open_case import Case
from tacita.app.work.workspace import Workspace
from tacita.core.words import pluralize

HERE = Path(__file__).parent
STYLE = HERE / "style.css"
CASE_NAME = "case-name"


@dataclass(frozen=True)
class Screen:
    """A page: its address, its name, and one line on what it is for. Its room and help carry its ``key``."""

    key: str
    path: str
    title: str
    purpose: str

    @property
    def build(self) -> Callable[[Workspace], None]:
        """The function that fills this page of the app with its content."""
        module = importlib.import_module(f"tacita.app.screens.{self.key}.screen")
        builder: Callable[[Workspace], None] = module.build
        return builder

    @property
    def style(self) -> Path:
        """The path of the style sheet for this page of the app alone."""
        return HERE / "screens" / self.key / "screen.css"

    @property
    def help(self) -> str:
        """The help text of this page of the app, as Markdown."""
        return (HERE / "help" / f"{self.key}.md").read_text(encoding="utf-8")


SCREENS = (
    Screen("start", "/", "Start", "Open a table, paste one, or try an example"),
    Screen("table", "/table", "Table", "Look at the table, change it, mark cells"),
    Screen("rules", "/rules", "Rules", "Say what is sensitive, and who attacks"),
    Screen("protect", "/protect", "Protect", "Choose a method and run it"),
    Screen("result", "/result", "Result", "See what would be published, and whether it is safe"),
    Screen("compare", "/compare", "Compare", "Weigh runs against each other"),
    Screen("export", "/export", "Export", "Write files for publication and for internal use"),
)


def register() -> None:
    """Declare the pages of all screens of the app to NiceGUI."""
    for screen in SCREENS:
        _declare(screen)


def open_screen(key: str) -> None:
    """Lead the browser to another page of the app, by the key of its screen."""
    ui.navigate.to(next(screen.path for screen in SCREENS if screen.key == key))


def _declare(screen: Screen) -> None:
    @ui.page(screen.path, title=f"{screen.title} · Tacita", dark=None, response_timeout=60)
    def show() -> None:
        workspace = get_workspace()
        for style in (STYLE, forms.STYLE, screen.style):
            ui.add_css(style)
        ui.colors(primary="#1f5f99", secondary="#46586a", negative="#a3202a", positive="#23683b")
        dark = ui.dark_mode(value=workspace.dark)
        add_connection_cover(workspace)
        remedies.add_script()
        waiting.add_script()
        add_upload_bar()
        _add_help_dialog(screen)
        _show_header(screen, workspace, dark)
        # Inside the element "main" of NiceGUI's page.
        main = ui.element("div").classes("screen")
        ui.skip_link("Skip to the content", target=main)
        with main:
            with ui.element("div").classes("screen-head"):
                ui.label(screen.purpose).classes("screen-purpose").props("role=heading aria-level=1")
                next_step.show_place()
            notices.show_area(partial(remedies.find_common_remedies, workspace))
            ui.on_exception(notices.tell_fault)
            if workspace.notes:
                notices.tell("\n".join(workspace.notes))
                workspace.notes = []
            with notices.attempt():
                screen.build(workspace)


def _show_header(screen: Screen, workspace: Workspace, dark: ui.dark_mode) -> None:
    with ui.header().classes("top"):
        ui.label("Tacita").classes("brand")
        with ui.element("nav").classes("ways").props("aria-label=Screens"):
            for place in SCREENS:
                link = ui.link(place.title, place.path).classes("way").props(f"data-testid=nav-{place.key}")
                if place is screen:
                    link.classes("way-here").props("aria-current=page")
        ui.space()
        if workspace.case is not None:
            ui.label().classes("case-name").props("data-testid=case-name").mark(CASE_NAME)
            name_case(workspace.case)
        _show_undo(workspace)
        _show_light_switch(workspace, dark)
        ui.button("Help", icon="help_outline").props(
            "flat dense no-caps color=white data-testid=help aria-haspopup=dialog"
        ).on("click", js_handler="() => document.getElementById('help').showModal()")


def name_case(case: Case) -> None:
    """Show in the head of the page which table is open, and how many cells it has."""
    for label in ElementFilter(kind=ui.label, marker=CASE_NAME):
        label.set_text(f"{case.name} · {pluralize(len(case.table), 'cell')}")
        label.props["title"] = label.text


def _show_undo(workspace: Workspace) -> None:
    def step(move: Callable[[], None]) -> None:
        move()
        ui.navigate.reload()

    for icon, name, move, possible in (
        ("undo", "Undo", workspace.undo, "can_undo"),
        ("redo", "Redo", workspace.redo, "can_redo"),
    ):
        button = ui.button(icon=icon, on_click=partial(step, move))
        button.props(f'flat round dense color=white aria-label="{name}" data-testid={name.lower()}')
        button.tooltip(name)
        button.bind_enabled_from(workspace, possible)


def _show_light_switch(workspace: Workspace, dark: ui.dark_mode) -> None:
    def choose() -> None:
        workspace.dark = {None: True, True: False, False: None}[workspace.dark]
        dark.value = workspace.dark
        tell()

    def tell() -> None:
        name = {None: "auto", True: "dark", False: "light"}[workspace.dark]
        label.set_text(name)
        button.props(f'aria-label="Colours: {name}"')

    with ui.button(on_click=choose).props("flat dense no-caps color=white data-testid=light") as button:
        ui.label("Colours:").classes("light-name")
        label = ui.label()
    button.tooltip("Light, dark, or as the system has it")
    tell()


def _add_help_dialog(screen: Screen) -> None:
    """Add the help dialog to a page: it takes the focus, closes with Escape and gives the focus back."""
    dialog = ui.element("dialog").classes("help").props('id=help aria-label="Help"')
    with dialog:
        # First, so that the dialog opens at its top: the browser scrolls to what it gives the focus.
        close = ui.button("Close").classes("help-close").props("outline dense no-caps data-testid=help-close")
        close.on("click", js_handler="() => document.getElementById('help').close()")
        ui.markdown(screen.help).classes("help-text")
