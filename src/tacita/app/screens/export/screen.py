"""Export: files for publication, files for the house, and the table itself."""

from __future__ import annotations

from tacita.app.screens.export import publish_panel, save_panel
from tacita.app.work.workspace import Workspace


def build(workspace: Workspace) -> None:
    """Fill the page: a run to be published, and the case to be saved, with or without any run."""
    publish_panel.build(workspace)
    save_panel.build(workspace)
