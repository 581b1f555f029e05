"""Export: files for publication, files for the house, and the table itself."""

from __future__ import annotations

from pathlib import Path

from nicegui import ui

from tacita.app.screens import publish_panel, save_panel
from tacita.app.workspace import Workspace

STYLES = tuple(Path(__file__).with_name(name) for name in ("result.css", "export.css"))


def build(workspace: Workspace) -> None:
    """Fill the page: a run to be published, and the case to be saved, with or without any run."""
    for style in STYLES:
        ui.add_css(style)
    publish_panel.build(workspace)
    save_panel.build(workspace)
