"""What a run publishes: formats, a reason where one is needed, a folder or two archives, and a preview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nicegui import ui

from tacita.app.controls import notices
from tacita.app.controls.page_parts import make_panel, make_scroll_region, put_words
from tacita.app.controls.remedies import Remedy, lead_to
from tacita.app.controls.run_downloads import (
    download_run,
    export_shown,
    make_scratch_folder,
    show_busy,
)
from tacita.app.controls.runs import (
    choose_run,
    describe_run,
    find_tone,
    propose_protecting_again,
)
from tacita.app.controls.sharing_notice import warn_before_export
from tacita.app.screens.export.file_list import TELLING, FileList, list_internal_files, sort_files
from tacita.app.screens.export.place_field import PlaceField
from tacita.app.work.exports import Export, name_files
from tacita.app.work.job import Job
from tacita.app.work.workspace import Workspace
from tacita.core.errors import TacitaError
from tacita.core.words import pluralize
from tacita.formats.workbook import preview_workbook
from tacita.publication.folders import INTERNAL, PUBLICATION
from tacita.publication.release_write import is_reason
from tacita.publication.results import PRIMARY_NOTE

USUAL_FORMATS = ("xlsx", "csv")
TEXT = (".csv", ".txt", ".html", ".json", ".toml", ".py")
FIRST_LINES, LONGEST_LINE, FIRST_COLUMNS = 12, 160, 10


def build(workspace: Workspace) -> None:
    """Show the panel of the page Export that publishes a run; what it offers depends on the verdict."""
    with make_panel("Publish a run", test_id="publish"):
        job = choose_run(workspace, workspace.proposed)
        if job is None:
            return
        if (newest := workspace.chosen) is not None and newest is not job:
            ui.label(
                "Proposed is the newest run of the present table and rules that is safe. "
                f"The run shown last: {newest.title} · {describe_run(newest, workspace)}."
            ).classes("muted").props("data-testid=proposed")
        if job.audit is None:
            ui.label(f"This run has nothing to export: {job.error}").props("data-testid=nothing-to-export")
            return
        Publishing(workspace, job)


@dataclass(frozen=True)
class ExportRequest:
    """What the user asked for."""

    formats: tuple[str, ...]
    reason: str | None

    @property
    def proper_reason(self) -> str | None:
        """The user's reason to write an unsafe release, if it is one."""
        return self.reason if self.reason and is_reason(self.reason) else None


class Publishing:
    """Formats, reason, destination; buttons are open as soon as what they need is there."""

    def __init__(self, workspace: Workspace, job: Job) -> None:
        self._workspace, self._job, self._case = workspace, job, workspace.case
        self._safe = job.audit is not None and job.audit.safe
        ui.label(describe_run(job, workspace)).classes(find_tone(job, workspace.case))
        warn_before_export(workspace, job)
        self._list_files()
        self._why()
        self._destination()
        self._preview = ui.element("div").classes("stack").props("data-testid=preview")
        self._refresh()

    # ------------------------------------------------------------------ what is asked for

    def _list_files(self) -> None:
        two_dimensions = len(self._job.problem.table.structure.dimensions) == 2
        specified = self._job.case.specification.output.formats
        wanted = self._workspace.formats or specified or USUAL_FORMATS
        closed = () if two_dimensions else TELLING
        self._files = FileList(
            wanted, closed, list_internal_files(self._job, self._workspace.folder), self._choose_formats
        )
        self._warning = ui.label(f"! A tab-separated file {PRIMARY_NOTE}").classes("warning")
        self._warning.props("role=note data-testid=primary-told")

    def _why(self) -> None:
        self._reason: ui.textarea | None = None
        self._agreed: ui.checkbox | None = None
        if self._safe:
            if self._workspace.is_outdated(self._job):
                self._agreed = ui.checkbox(
                    "Publish it although the table or rules have changed since: it is safe for them as they "
                    "were, and was not checked for the present ones",
                    on_change=lambda: self._refresh(),
                ).props("dense data-testid=agree-outdated")
                propose_protecting_again(self._job, self._workspace)
            return
        ui.label(
            "This release is not proven safe. It is written only with a reason, which every file carries."
        ).classes("warning").props("data-testid=needs-reason")
        self._reason = ui.textarea("Why it is written all the same, and for whom").props(
            "outlined dense autogrow debounce=150 data-testid=reason"
        )
        self._reason.on_value_change(lambda: self._refresh())

    def _destination(self) -> None:
        ui.label("Where to").classes("stack-title")
        ui.label(
            f"The folder gets {PUBLICATION}/ and {INTERNAL}/ side by side. Hand on {PUBLICATION}/ alone, "
            "never the folder that holds both."
        ).classes("muted").props("data-testid=two-folders")
        folder = f"{name_files(self._job.case, self._workspace.tables)}-export"
        with ui.element("div").classes("strip"):
            self._folder = PlaceField(Path.cwd() / folder, lambda: self._refresh(), "export-folder")
            self._write = ui.button("Write to this folder", on_click=self._write_folder).props(
                "no-caps data-testid=write-folder"
            )
        with ui.element("div").classes("strip"):
            self._publication = ui.button(
                "Download for publication",
                icon="download",
                on_click=partial(self._download, PUBLICATION),
                color=None,
            ).props("no-caps outline data-testid=download-publication")
            self._archive = ui.button(
                "Download internal files", icon="lock", on_click=partial(self._download, INTERNAL), color=None
            ).props("no-caps outline data-testid=download-internal")
            self._look = ui.button(
                "Preview", icon="visibility", on_click=self._show_preview, color=None
            ).props("no-caps flat data-testid=preview-files")

        ui.label(
            "For publication: the ticked files and nothing else; one alone comes as it is, several as a zip. "
            "Internal: a zip of the files below the double line, with verdict, proof and true values."
        ).classes("muted").props("data-testid=two-downloads")

    @property
    def _request(self) -> ExportRequest:
        return ExportRequest(
            self._files.formats, self._reason.value or "" if self._reason is not None else None
        )

    def _choose_formats(self) -> None:
        self._workspace.formats = self._request.formats
        self._refresh()

    def _refresh(self) -> None:
        """Enable the export buttons that can be used now; their names tell where a release is unsafe."""
        request = self._request
        self._files.show_following()
        agreed = self._agreed is None or bool(self._agreed.value)
        allowed = agreed if self._safe else request.proper_reason is not None
        if not request.formats:
            missing = "Needs a ticked file first"
        else:
            missing = "Needs a reason first" if self._agreed is None else "Needs your agreement first"
        allowed &= bool(request.formats)
        self._warning.set_visibility(not TELLING.isdisjoint(request.formats))
        for button, safe, unsafe in (
            (self._write, "Write to this folder", "Write NOT SAFE release to this folder"),
            (self._publication, "Download for publication", "Download NOT SAFE release"),
        ):
            button.set_text((safe if self._safe else unsafe) if allowed else missing)
            button.set_enabled(allowed)
        self._look.set_text("Preview" if allowed else f"Preview: {missing[0].lower()}{missing[1:]}")
        self._look.set_enabled(allowed)
        self._write.set_enabled(self._write.enabled and self._folder.ready)

    # ------------------------------------------------------------------ doing it

    async def _export(self, folder: Path) -> Export:
        request = self._request
        return await export_shown(
            self._workspace, self._job, self._case, folder, request.formats, request.proper_reason
        )

    async def _write_folder(self) -> None:
        with notices.attempt(_find_folder_remedies), show_busy(self._write):
            folder = self._folder.path
            parcel = await self._export(folder)
            self._job.exported = True
            notices.tell(
                f"Written: {pluralize(len(parcel.publication), 'file')} for publication, "
                f"{len(parcel.internal)} internal.\nFor publication: {_name_files(parcel.publication)}"
                f"\nInternal: {_name_files(parcel.internal)}" + _list_notes(parcel.notes),
                "done",
            )
        self._folder.check()

    async def _download(self, which: str) -> None:
        """Let the browser download one of the two folders of an export."""
        request = self._request
        with notices.attempt(), show_busy(self._publication if which == PUBLICATION else self._archive):
            await download_run(
                self._workspace,
                self._job,
                self._case,
                request.formats,
                request.proper_reason,
                which=which,
            )

    async def _show_preview(self) -> None:
        with notices.attempt(), show_busy(self._look), make_scratch_folder(self._workspace) as folder:
            parcel = await self._export(Path(folder))
            self._preview.clear()
            with self._preview:
                for path in sort_files((*parcel.publication, *parcel.internal)):
                    _show_file(path, "for publication" if path in parcel.publication else "internal")


def _find_folder_remedies(error: TacitaError) -> list[Remedy]:
    """Return what helps where nothing was written and the error names no option: another folder."""
    return [] if error.options else [Remedy("Choose another folder", partial(lead_to, "export-folder"))]


def _name_files(files: Sequence[Path]) -> str:
    """Return the exported files of one folder as words for a notice: its path and their names."""
    return f"{files[0].parent} ({', '.join(path.name for path in sort_files(files))})"


def _list_notes(notes: Sequence[str]) -> str:
    return "".join(f"\n{note}" for note in notes)


def _show_file(path: Path, whose: str) -> None:
    """Show an exported file on the page by name and size, and the first lines of a text."""
    title = f"{path.parent.name}/{path.name} · {whose} · {pluralize(path.stat().st_size, 'byte')}"
    if path.suffix == ".xlsx":
        _show_workbook(path, title)
        return
    if path.suffix not in TEXT:
        ui.label(f"{title} · not a text").classes("muted")
        return
    with path.open(encoding="utf-8") as file:
        lines = [line.rstrip("\n")[:LONGEST_LINE] for _, line in zip(range(FIRST_LINES), file, strict=False)]
    with (
        ui.expansion(title).props("dense").classes("preview-file"),
        ui.element("pre").classes("preview-text"),
    ):
        ui.label("\n".join(lines))


def _show_workbook(path: Path, title: str) -> None:
    """Show the upper left corner of every sheet of an exported workbook on the page."""
    with ui.expansion(title).props("dense").classes("preview-file"):
        for name, rows in preview_workbook(path, FIRST_LINES, FIRST_COLUMNS).items():
            ui.label(name).classes("stack-title")
            with make_scroll_region(f"Sheet {name}"), ui.element("table").classes("plain preview-sheet"):
                for row in rows:
                    with ui.element("tr"):
                        for text in row:
                            put_words("td", text[:LONGEST_LINE])
