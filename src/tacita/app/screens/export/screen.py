"""Export: files for publication, internal files, and the table itself."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from nicegui import ui

from tacita.app.controls import notices
from tacita.app.controls.downloads import make_download_path, offer_download
from tacita.app.controls.page_parts import make_panel, show_no_table
from tacita.app.controls.run_downloads import show_busy
from tacita.app.screens.export import publish_panel
from tacita.app.screens.export.place_field import PlaceField
from tacita.app.work.exports import FOLDERS, name_files, save_case, zip_files
from tacita.app.work.open_case import Case
from tacita.app.work.workspace import Workspace
from tacita.core.words import describe_method


def build(workspace: Workspace) -> None:
    """Fill the page Export: a run to be published, and the case to be saved, with or without any run."""
    publish_panel.build(workspace)
    _show_saving(workspace)


WAYS = {
    "project": "Project folder: table, rules, marks, attackers, method",
    "xlsx": "Excel, one row per cell with levels and costs",
    "csv": "CSV, one row per cell with levels and costs",
    "parquet": "Parquet, one row per cell with levels and costs",
    "jj": "JJ file: cells and equations, any structure",
    "thesis": "Thesis program: A.txt, PSC.txt, VSC.txt (two dimensions)",
    "nchs": "NCHS text: inner cells only (two dimensions)",
}
ENDINGS = {"nchs": "txt"}


def _show_saving(workspace: Workspace) -> None:
    """Show the panel of the page Export that saves the case; it needs a table, but no run."""
    with make_panel("Save the table", test_id="save"):
        case = workspace.case
        if case is None:
            show_no_table()
            return
        ui.label(
            "With true values, for internal use. No run is needed. A project folder keeps rules, marks and "
            "method; a note names what other files cannot hold."
        ).classes("muted")
        Saving(workspace, case)


class Saving:
    """A format, a place, and a download."""

    def __init__(self, workspace: Workspace, case: Case) -> None:
        self._workspace, self._case = workspace, case
        with ui.element("div").classes("strip"):
            self._way = ui.select(WAYS, value="project", label="As", on_change=lambda: self._show_place())
            self._way.props("outlined dense options-dense data-testid=save-as").classes("save-as")
            self._archive = ui.button("Download", icon="lock", on_click=self._download, color=None).props(
                "no-caps outline data-testid=save-download"
            )
        self._row = ui.element("div").classes("strip")
        self._show_place()

    def _name(self) -> str:
        way, name = str(self._way.value), name_files(self._case, self._workspace.tables)
        return name if way in FOLDERS else f"{name}.{ENDINGS.get(way, way)}"

    def _show_place(self) -> None:
        """Show the path field that suits the chosen format: for a folder, or for a file with its ending."""
        self._row.clear()
        with self._row:
            is_file = self._way.value not in FOLDERS
            self._place = PlaceField(
                Path.cwd() / self._name(), lambda: self._refresh(), "save-place", file=is_file
            )
            self._button = ui.button("Save", on_click=self._save, color=None).props(
                "no-caps outline data-testid=save-button"
            )
        self._refresh()

    def _refresh(self) -> None:
        self._button.set_enabled(self._place.ready)

    async def _save(self) -> None:
        with notices.attempt(), show_busy(self._button):
            paths, notes = await self._write(self._place.path)
            notices.tell("Saved: " + ", ".join(map(str, paths)) + "".join(f"\n{n}" for n in notes), "done")
        self._place.check()

    async def _download(self) -> None:
        with notices.attempt(), show_busy(self._archive):
            name, ready = self._name(), make_download_path(self._workspace.folder)
            with TemporaryDirectory(dir=self._workspace.folder, prefix="save-") as folder:
                paths, notes = await self._write(Path(folder) / name)
                if len(paths) == 1 and self._way.value not in FOLDERS:
                    paths[0].replace(ready)
                else:
                    name = f"{name}.zip"
                    await asyncio.to_thread(zip_files, paths, ready)
            offer_download(ready, name)
            notices.tell(f"{name} (true values)" + "".join(f"\n{n}" for n in notes), "done")

    async def _write(self, target: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
        way, specification = str(self._way.value), self._workspace.specification
        case = replace(self._case, specification=specification)
        written = await asyncio.to_thread(save_case, case, target, way, passing=self._workspace.folder)
        if way != "project" or specification.protect.method is None:
            return written.paths, written.notes
        method = describe_method(specification.protect.method, specification.protect.options)
        return written.paths, (f"Method: {method}.", *written.notes)
