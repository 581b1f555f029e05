"""Where the results of a run go: a folder, or a file with a folder of internal files beside it.

| named | for publication | internal |
|---|---|---|
| ``DIR`` | ``DIR/publication/release.csv``, ``release.xlsx``, .. | ``DIR/internal/*`` |
| ``DIR/safe.xlsx`` | ``DIR/safe.xlsx``, and ``safe.html``, .. if they are wanted | ``DIR/safe.internal/*`` |

What is internal is never inside what is published. Beside a file it has the release as ``release.csv`` too,
which is what certificates are of.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tacita.core.errors import InputError
from tacita.publication.release_write import ENDINGS, FORMATS, OTHER_CSV
from tacita.storage.internal import INTERNAL, PUBLICATION

CERTIFICATE = "certificate.json"
RECORD = "release.csv"
"""The release as certificates know it."""
WORKBOOK = "release-internal.xlsx"
TRANSMISSION = "release-internal-sdmx.csv"
VERDICT = (CERTIFICATE, "audit.json")
INTERNAL_FORMATS = {"sbs": "release-sbs.csv", "intermediate": "release.tab", "jj": "release.jj"}
"""Formats of tau-ARGUS that hold true values, with the names of their files."""
FREQUENCIES = "release.frq"
"""What lies beside a JJ file."""
PUBLISHED_FILES = "published-files.txt"
"""Names of the files that were published beside a folder of internal files, one per line."""
NO_RELEASES = frozenset([
    ".xls", ".xlsm", ".ods", ".htm", ".json", ".toml", ".pdf", ".doc", ".docx", ".odt", ".md", ".xml", ".zip",
    ".tab", ".dat", ".hrc", ".rda", ".arb",
])  # fmt: skip
"""Endings of files, which nobody means as names of folders."""


@dataclass(frozen=True)
class Destination:
    """A folder ``home``, in which published and internal files have their places.

    ``file`` is the name of the file that was asked for; without it results go to two folders.
    """

    home: Path
    file: str | None = None

    @property
    def stem(self) -> str:
        """What published files are called, before their endings."""
        return "release" if self.file is None else Path(self.file).stem

    @property
    def public(self) -> str:
        """The folder of published files in ``home``."""
        return PUBLICATION if self.file is None else "."

    @property
    def internal(self) -> str:
        """The folder of internal files in ``home``."""
        return INTERNAL if self.file is None else f"{self.stem}.{INTERNAL}"

    @property
    def record(self) -> Path:
        """The path of the published or internal file that holds the release as ``release.csv``."""
        return self.home / (self.public if self.file is None else self.internal) / RECORD

    @property
    def checkpoint_folder(self) -> Path:
        """The folder for what an interrupted run keeps, outside what is published."""
        return self.home if self.file is None else self.home / self.internal

    def plan(self, formats: Sequence[str] = ()) -> dict[str, str]:
        """Return the names of the published files by format: those that are wanted, and the named one.

        A named ``.csv`` is the crosstab or SDMX-CSV if that is wanted and no list of cells is.

        Raises
        ------
        InputError
            There is no such format.
        """
        known = (*FORMATS, *INTERNAL_FORMATS)
        if strange := [each for each in formats if each not in known]:
            raise InputError(
                f"no format of a release is called '{strange[0]}'",
                remedy=f"choose among {', '.join(known)}",
            )
        formats = [each for each in formats if each not in INTERNAL_FORMATS]
        if self.file is None:
            return {each: f"{self.stem}{ENDINGS[each]}" for each in formats or ("csv",)}
        own = Path(self.file).suffix.lower()[1:]
        if own == "csv" and "csv" not in formats:
            own = next((each for each in formats if each in OTHER_CSV), own)
        return {each: self.file if each == own else f"{self.stem}{ENDINGS[each]}" for each in (own, *formats)}

    def name_results(self, formats: Sequence[str] = ()) -> dict[Path, list[str]]:
        """Return the names that results of a run may have by folder: internal ones first, the certificate
        before all.

        Published ones beside a named file are those of these formats, and those that the run before has
        noted.
        """
        internal = [*VERDICT, WORKBOOK, TRANSMISSION, *INTERNAL_FORMATS.values(), FREQUENCIES]
        if self.file is None:
            names = [f"{self.stem}{ENDINGS[each]}" for each in FORMATS]
        else:
            internal += [RECORD, PUBLISHED_FILES]
            names = list(dict.fromkeys([*self.plan(formats).values(), *self._list_noted()]))
        return {self.home / self.internal: internal, self.home / self.public: names}

    def find_results(self, formats: Sequence[str] = ()) -> list[Path]:
        """Return the paths of results that are taken, by files or folders, in the order of their names."""
        named = self.name_results(formats).items()
        return [
            path
            for folder, names in named
            if folder.exists()
            for name in names
            if (path := folder / name).exists()
        ]

    def find_earlier(self) -> list[Path]:
        """Return the paths of an earlier release's files at this destination.

        A named file that no run has noted is somebody's own, until a release takes its place.
        """
        noted = None if self.file is None else {self.home / self.public / each for each in self._list_noted()}
        own = self.home / self.public
        return [
            path
            for path in self.find_results()
            if path.is_file() and (noted is None or path.parent != own or path in noted)
        ]

    def _list_noted(self) -> list[str]:
        """Return the names of published files that the last run noted, as far as they may be its own."""
        possible = {f"{self.stem}{ending}" for ending in ENDINGS.values()} | {self.file}
        try:
            lines = (self.home / self.internal / PUBLISHED_FILES).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return []
        return [name for name in dict.fromkeys(lines) if name in possible]


def find_destination(path: str | os.PathLike[str] | Destination) -> Destination:
    """Return where results go that are to be published at a path: a file by its ending, or else a folder.

    Raises
    ------
    InputError
        The ending is that of a file in which releases are not written.
    """
    if isinstance(path, Destination):
        return path
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix in ENDINGS.values():
        return Destination(path.parent, path.name)
    if suffix in NO_RELEASES and not path.is_dir():
        raise InputError(
            f"no release is written as '{suffix}'",
            place=path,
            remedy=f"use one of {', '.join(dict.fromkeys(_list_endings()))}, or name a folder",
        )
    return Destination(path)


def _list_endings() -> Iterable[str]:
    return (ending for ending in ENDINGS.values() if not ending.startswith("-"))
