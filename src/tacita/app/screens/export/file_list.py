"""The list of files of an export: a line for each, those for publication first, internal ones apart."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from nicegui import ui

from tacita.app.controls.page_parts import put_words
from tacita.app.work.exports import names_files_in
from tacita.app.work.job import Job, State
from tacita.publication.destination import TRANSMISSION, WORKBOOK
from tacita.publication.folders import CERTIFICATE, INTERNAL, PUBLICATION
from tacita.publication.release_write import ENDINGS, Format
from tacita.specification.project_source import find_lost_rules
from tacita.specification.specification import PROJECT
from tacita.verify import NOTHING

HEADS = ("File", "What it is", "For whom")


@dataclass(frozen=True)
class ExportFile:
    """A line of the list: a file, what it is in a few words, and what it tells that not everyone may know.

    ``format`` is the format of a file for publication, or the one that an internal file is written with.
    """

    name: str
    about: str
    tells: str = ""
    format: str = ""


ABOUT: dict[Format, str] = {
    "xlsx": "the protected table in Excel: a crosstab, and one row per cell",
    "csv": "CSV with one row per cell: codes, mark, low, high, value",
    "crosstab": "CSV as the table is printed: rows by columns, hidden cells marked",
    "sdmx": "SDMX-CSV with one row per cell: hidden cells have no OBS_VALUE",
    "parquet": "Parquet: the rows of release.csv with their types",
    "html": "a page to read: title, legend and table; no script",
    "txt": "tab-separated rows of a table with two dimensions; PS is primary, CS secondary",
    "tsv": "the same, with the ending .tsv",
}
"""Formats for publication, the usual one first."""
TELLING = {"txt", "tsv"}
"""Formats that tell which cells are primary, of tables with two dimensions."""
PUBLICATION_FILES = tuple(
    ExportFile(
        f"release{ENDINGS[name]}", about, "tells which cells are primary" if name in TELLING else "", name
    )
    for name, about in ABOUT.items()
)
TABLE, RECORDS = "table.parquet", "the records of the table"
INTERNAL_FILES = (
    ExportFile(
        WORKBOOK, "the release in colours, primary and secondary cells apart", "primary cells", "xlsx"
    ),
    ExportFile(TRANSMISSION, "SDMX-CSV for receivers who may have true values", "true values", "sdmx"),
    ExportFile("audit.json", "the verdict on every sensitive cell", "sensitive cells"),
    ExportFile(CERTIFICATE, "the proof that the release is safe", "true values"),
    ExportFile(PROJECT, "repeats the run: tacita protect project.toml", "rules and seed"),
    ExportFile("repeat.py", "repeats the run from Python", "options and seed"),
    ExportFile(RECORDS, "a copy, with classifications, by the names of their files", "records"),
    ExportFile(TABLE, "the table with its levels, bounds and costs", "true values"),
    ExportFile(
        "further files", "classifications, insiders, earlier releases that project.toml names", "true values"
    ),
)


class FileList:
    """The files of an export in two groups; those for publication are ticked, internal ones follow.

    Parameters
    ----------
    chosen
        The formats that are ticked at first.
    closed
        Formats that do not suit the table.
    internal
        The internal files of the run.
    on_change
        Called when a tick was set or removed.
    """

    def __init__(
        self,
        chosen: Collection[str],
        closed: Collection[str],
        internal: Iterable[ExportFile],
        on_change: Callable[[], None],
    ) -> None:
        self._boxes: dict[str, ui.checkbox] = {}
        self._following: dict[str, ui.element] = {}
        with ui.element("table").classes("files").props("data-testid=files"):
            with ui.element("thead"), ui.element("tr"):
                for head in HEADS:
                    put_words("th", head, props="scope=col")
            with ui.element("tbody").props("data-testid=publication-files"):
                _put_group(f"For publication, in {PUBLICATION}/")
                for file in PUBLICATION_FILES:
                    self._put_choice(file, file.format in chosen, file.format not in closed, on_change)
            with ui.element("tbody").classes("internal-files").props("data-testid=internal-files"):
                _put_group(f"Internal, never to be published, in {INTERNAL}/")
                for file in internal:
                    self._put_internal(file)
        self.show_following()

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats for publication that are ticked and suit the table."""
        return tuple(name for name, box in self._boxes.items() if box.value and box.enabled)

    def show_following(self) -> None:
        """Show of the internal files that go with a format those whose format is ticked."""
        for name, line in self._following.items():
            line.set_visibility(name in self.formats)

    def _put_choice(
        self, file: ExportFile, ticked: bool, enabled: bool, on_change: Callable[[], None]
    ) -> None:
        with ui.element("tr"):
            with ui.element("td"):
                box = ui.checkbox(file.name, value=ticked, on_change=on_change)
            about = put_words("td", file.about)
            if file.tells:
                put_words("td", f"! {file.tells}", "to-keep")
            else:
                put_words("td", "for publication", "to-publish")
        box.props(f"dense data-testid=format-{file.format} aria-describedby={about.html_id}")
        box.set_enabled(enabled)
        self._boxes[file.format] = box

    def _put_internal(self, file: ExportFile) -> None:
        with ui.element("tr") as line:
            put_words("td", file.name, "file-name")
            put_words("td", file.about)
            put_words("td", f"internal: {file.tells}", "to-keep")
        if file.format:
            self._following[file.format] = line


def list_internal_files(job: Job, passing: Path) -> list[ExportFile]:
    """Return the internal files that the page Export can write of a run, as far as is known before.

    Records in a ``passing`` folder, that of the session, are copied.
    """
    structure = job.problem.table.structure
    has_codes = bool(structure.dimensions) and len(structure.parts) <= 1
    other = {TABLE: {} if has_codes else {"name": "table.jj"}, PROJECT: _describe_project(job)}
    if job.state is State.UNCHECKED:
        other[CERTIFICATE] = {"about": f"says that {NOTHING}"}
    left_out = set() if job.audit is not None and job.audit.safe else {CERTIFICATE}
    if job.case.keeps_records:
        left_out.add(TABLE)
    if not (job.case.keeps_records and names_files_in(job.case.specification, passing)):
        left_out.add(RECORDS)
    listed = (file for file in INTERNAL_FILES if file.name not in left_out)
    return [replace(file, **other.get(file.name, {})) for file in listed]


def _describe_project(job: Job) -> dict[str, str]:
    """Return what the list says of the project of a run that cannot have all rules; nothing of others."""
    lost = () if job.case.keeps_records else find_lost_rules(job.problem)
    if not lost:
        return {}
    return {
        "about": f"repeats the run, but without {' | '.join(lost)}: the records of the table are no longer "
        f"here, so what {'it hits' if len(lost) == 1 else 'they hit'} is marked in {TABLE}",
    }


def sort_files(paths: Iterable[Path]) -> list[Path]:
    """Return the files of an export in the order of the page's list, others last in each folder."""
    names = [file.name for file in (*PUBLICATION_FILES, *INTERNAL_FILES)]

    def rank(path: Path) -> tuple[bool, int]:
        return path.parent.name == INTERNAL, names.index(path.name) if path.name in names else len(names)

    return sorted(paths, key=rank)


def _put_group(title: str) -> None:
    with ui.element("tr"):
        put_words("th", title, "file-group", f"scope=rowgroup colspan={len(HEADS)}")
