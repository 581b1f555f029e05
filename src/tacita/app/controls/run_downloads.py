"""What a run publishes as a download: the same checks and the same files on every page that offers it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from nicegui import ui

from tacita.app.controls import notices
from tacita.app.controls.downloads import make_download_path, offer_download
from tacita.app.work.exports import Export, export_run, export_sheet, name_files, zip_files
from tacita.app.work.job import Job
from tacita.app.work.open_case import Case
from tacita.app.work.workspace import Workspace
from tacita.core.errors import InputError
from tacita.core.words import pluralize
from tacita.publication.folders import INTERNAL, PUBLICATION


async def export_shown(
    workspace: Workspace,
    job: Job,
    case: Case | None,
    folder: Path,
    formats: Sequence[str],
    reason: str | None = None,
    *,
    repeatable: bool = True,
) -> Export:
    """Write the files of a run, if the session's case is still the one whose verdict the page shows.

    Parameters
    ----------
    case
        The session's case when the page was built.

    Raises
    ------
    InputError
        The case has been changed since.
    UnsafeError
        As :func:`tacita.app.work.exports.export_run`.
    """
    _require_shown(workspace, case)
    return await asyncio.to_thread(
        export_run, job, folder, formats, reason, passing=workspace.folder, repeatable=repeatable
    )


def _require_shown(workspace: Workspace, case: Case | None) -> None:
    """Refuse an export if the session's case is no longer the one whose verdict the page shows."""
    if workspace.case is not case:
        raise InputError(
            "the table or its rules were changed in another window, and the verdict shown here may no "
            "longer be about them",
            remedy="reload this page and look at it again",
            options=["reload"],
        )


async def download_run(
    workspace: Workspace,
    job: Job,
    case: Case | None,
    formats: Sequence[str],
    reason: str | None = None,
    *,
    which: str = PUBLICATION,
) -> None:
    """Have the browser download one of the two folders of an export: its file if it is one, else an archive.

    Raises
    ------
    InputError, UnsafeError
        As :func:`export_shown`.
    """
    ready = make_download_path(workspace.folder)
    name = _name_download(workspace, job)
    with make_scratch_folder(workspace) as folder:
        parcel = await export_shown(
            workspace, job, case, Path(folder), formats, reason, repeatable=which == INTERNAL
        )
        files = parcel.publication if which == PUBLICATION else parcel.internal
        job.exported |= which == PUBLICATION
        alone = len(files) == 1
        name += f"-{which}{files[0].suffix if alone else '.zip'}"
        if alone:
            files[0].replace(ready)
        else:
            await asyncio.to_thread(zip_files, files, ready, which)
    offer_download(ready, name)
    told = name if alone else f"{name}: {pluralize(len(files), 'file')}"
    notices.tell("\n".join([told, *parcel.notes]), "done")


async def download_workbook(workspace: Workspace, job: Job, case: Case) -> None:
    """Have the browser download the workbook for publication of a safe run: the sheet that its table was read
    from, or else one of its own.

    Raises
    ------
    InputError
        As :func:`export_shown`.
    """
    _require_shown(workspace, case)
    ready = make_download_path(workspace.folder)
    with make_scratch_folder(workspace) as folder:
        parcel = await asyncio.to_thread(export_sheet, job, Path(folder))
        (workbook,) = parcel.publication
        workbook.replace(ready)
        job.exported = True
    name = f"{_name_download(workspace, job)}-{PUBLICATION}.xlsx"
    offer_download(ready, name)
    notices.tell("\n".join([name, *parcel.notes]), "done")


def _name_download(workspace: Workspace, job: Job) -> str:
    """Return the beginning of the names of files that the user downloads of a run."""
    return f"{name_files(job.case, workspace.tables)}-run-{job.number}"


def make_scratch_folder(workspace: Workspace) -> TemporaryDirectory[str]:
    """Return a temporary folder of the session for exported files that are looked at or packed."""
    return TemporaryDirectory(dir=workspace.folder, prefix="export-")


@contextmanager
def show_busy(button: ui.button) -> Iterator[None]:
    """Show a button of the page as busy while something is written, and let it take no click meanwhile."""
    button.props(add="loading")
    try:
        yield
    finally:
        button.props(remove="loading")
