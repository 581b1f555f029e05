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
from tacita.app.work.exports import Export, export_run, name_files, zip_files
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
    if workspace.case is not case:
        raise InputError(
            "the table or its rules were changed in another window, and the verdict shown here may no "
            "longer be about them",
            remedy="reload this page and look at it again",
            options=["reload"],
        )
    return await asyncio.to_thread(
        export_run, job, folder, formats, reason, passing=workspace.folder, repeatable=repeatable
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
    name = f"{name_files(job.case, workspace.tables)}-run-{job.number}"
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
