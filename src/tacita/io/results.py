"""Where results go: a folder for publication, and ``internal`` inside it for the house.

| file | for | written |
|---|---|---|
| ``release.csv`` and other formats | publication | if the release is safe, or a reason is given |
| ``internal/release.xlsx`` | the house | with ``release.xlsx``: tells primary cells apart |
| ``internal/audit.json`` | the house | always |
| ``internal/certificate.json`` | the house | if the release is safe |
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tacita.atomic import write_text
from tacita.errors import InputError, UnsafeError
from tacita.io.release_write import FORMATS, write_release

if TYPE_CHECKING:
    from tacita.auditing.audit import Audit

FEWEST_WORDS = 3
PRIMARY_TOLD = (
    "marks primary cells PS and the others CS, as its format demands: readers learn which cells a rule hits, "
    "which the audit does not assume them to know. Publish another format where that matters."
)


@dataclass(frozen=True)
class Written:
    """The files that were written, and what their owner should know of them."""

    paths: tuple[Path, ...]
    notes: tuple[str, ...] = ()


def write_results(
    audit: Audit, folder: Path, formats: Sequence[str] = ("csv",), reason: str | None = None
) -> Written:
    """Write the release in each format, and the verdict on it.

    Parameters
    ----------
    formats
        Endings without the point: ``csv``, ``parquet``, ``xlsx``, ``txt``, ``tsv``, ``html``.
    reason
        Why a release that is not proven safe is written all the same, in a few words, which its files then
        carry. Without it nothing is written for publication. A safe release needs none, and carries none.

    Raises
    ------
    UnsafeError
        The reason is not one.
    """
    if strange := [ending for ending in formats if f".{ending}" not in FORMATS]:
        known = ", ".join(ending.removeprefix(".") for ending in FORMATS)
        raise InputError(f"no format of a release is called '{strange[0]}': choose among {known}")
    unaudited = None if audit.safe or reason is None else _in_words(reason)
    folder.mkdir(parents=True, exist_ok=True)
    published: list[Path] = []
    notes: list[str] = []
    if audit.safe or unaudited is not None:
        for ending in dict.fromkeys(formats):
            path = folder / f"release.{ending}"
            published.append(write_release(audit.release, path, audit=audit, unaudited=unaudited))
            if ending in ("txt", "tsv"):
                notes.append(f"{path} {PRIMARY_TOLD}")
        if "xlsx" in formats:
            published.append(_internal_workbook(audit, folder))
    return Written((*published, *write_verdict(audit, folder)), tuple(notes))


def write_verdict(audit: Audit, folder: Path) -> tuple[Path, ...]:
    """``internal/audit.json``, and ``internal/certificate.json`` if the release is safe."""
    from tacita.auditing.certificate import certify, dump
    from tacita.report.record import audit_record, finite

    internal = _internal(folder)
    record = json.dumps(finite(audit_record(audit)), allow_nan=False, ensure_ascii=False, indent=1)
    written = [write_text(internal / "audit.json", record + "\n")]
    if audit.safe:
        written.append(write_text(internal / "certificate.json", dump(certify(audit))))
    return tuple(written)


def _in_words(reason: str) -> str:
    words = reason.split()
    if len(words) < FEWEST_WORDS:
        raise UnsafeError(
            "a release that is not proven safe is written with a reason only: say in a few words why, and "
            "for whom it is; they will stand in every file"
        )
    return " ".join(words)


def _internal_workbook(audit: Audit, folder: Path) -> Path:
    from tacita.io.excel import write_excel

    return write_excel(audit.release, _internal(folder) / "release.xlsx", internal=True)


def _internal(folder: Path) -> Path:
    internal = folder / "internal"
    internal.mkdir(parents=True, exist_ok=True)
    return internal
