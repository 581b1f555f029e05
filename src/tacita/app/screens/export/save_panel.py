"""The case itself, saved or downloaded with its true values: Save and Save As of the table."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from nicegui import ui

from tacita.app.controls import notices
from tacita.app.controls.nothing import no_table
from tacita.app.screens.export.places import PlaceField, busy
from tacita.app.work.case import Case
from tacita.app.work.parcels import FOLDERS, plain_name, save, zipped
from tacita.app.work.workspace import Workspace

WAYS = {
    "project": "Project folder: table, marks, attackers, project.toml",
    "xlsx": "Excel, one row per cell with levels and costs",
    "csv": "CSV, one row per cell with levels and costs",
    "parquet": "Parquet, one row per cell with levels and costs",
    "jj": "JJ file: cells and equations, any structure",
    "thesis": "Thesis program: A.txt, PSC.txt, VSC.txt (two dimensions)",
    "nchs": "NCHS text: inner cells only (two dimensions)",
}
ENDINGS = {"nchs": "txt"}


def build(workspace: Workspace) -> None:
    """The panel; it needs a table, but no run."""
    with ui.element("section").classes("panel").props('aria-label="Save the table" data-testid=save'):
        ui.label("Save the table").classes("panel-title").props("role=heading aria-level=2")
        case = workspace.case
        if case is None:
            no_table()
            return
        ui.label("With true values, rules and marks, for the house. No run is needed.").classes("muted")
        Saving(workspace, case)


class Saving:
    """A format, a place, and a download."""

    def __init__(self, workspace: Workspace, case: Case) -> None:
        self._workspace, self._case = workspace, case
        with ui.element("div").classes("strip"):
            self._way = ui.select(WAYS, value="project", label="As", on_change=lambda: self._other_way())
            self._way.props("outlined dense options-dense data-testid=save-as").classes("save-as")
            self._archive = ui.button("Download", icon="lock", on_click=self._download, color=None).props(
                "no-caps outline data-testid=save-download"
            )
        self._row = ui.element("div").classes("strip")
        self._other_way()

    def _name(self) -> str:
        way, name = str(self._way.value), plain_name(self._case.name)
        return name if way in FOLDERS else f"{name}.{ENDINGS.get(way, way)}"

    def _other_way(self) -> None:
        """The place depends on the way: a folder or a file, with its ending."""
        self._row.clear()
        with self._row:
            is_file = self._way.value not in FOLDERS
            self._place = PlaceField(
                Path.cwd() / self._name(), lambda: self._refresh(), "save-place", file=is_file
            )
            self._button = ui.button("Save", on_click=self._save).props("no-caps data-testid=save-button")
        self._refresh()

    def _refresh(self) -> None:
        self._button.set_enabled(self._place.ready)

    async def _save(self) -> None:
        with notices.attempt(), busy(self._button):
            paths, notes = await self._write(self._place.path)
            notices.tell("Saved: " + ", ".join(map(str, paths)) + "".join(f"\n{n}" for n in notes), "done")
        self._place.check()

    async def _download(self) -> None:
        with notices.attempt(), busy(self._archive):
            folder = Path(tempfile.mkdtemp(dir=self._workspace.folder, prefix="save-"))
            target = folder / self._name()
            paths, notes = await self._write(target)
            if self._way.value in FOLDERS:
                target = await asyncio.to_thread(zipped, paths, folder / f"{self._name()}.zip")
            ui.download.file(target, target.name)
            notices.tell(f"{target.name} (true values)" + "".join(f"\n{n}" for n in notes), "done")

    async def _write(self, target: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
        way, case, passing = str(self._way.value), self._case, self._workspace.folder
        written = await asyncio.to_thread(save, case, target, way, passing=passing)
        return written.paths, written.notes
