"""Where results go: ``DIR`` is for publication, ``DIR/internal`` for the house."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tacita.cli.console import finite, say

if TYPE_CHECKING:
    from tacita.auditing.audit import Audit


PRIMARY_TOLD = (
    "marks primary cells PS and the others CS, as its format demands: readers learn which cells a rule hits, "
    "which the audit does not assume them to know. Publish another format where that matters."
)


def write_result(audit: Audit, folder: Path, formats: Iterable[str] = ("csv",)) -> list[Path]:
    """The release in each format if it is safe, and the verdict either way.

    A workbook for publication shows all hidden cells alike; the one in ``internal`` tells primary ones apart.
    """
    folder.mkdir(parents=True, exist_ok=True)
    published = _write_release(audit, folder, tuple(formats)) if audit.safe else []
    return [*published, *write_verdict(audit, folder)]


def _write_release(audit: Audit, folder: Path, formats: tuple[str, ...]) -> list[Path]:
    from tacita.io import write_release
    from tacita.io.excel import write_excel

    written = [write_release(audit.release, folder / f"release.{e}", audit=audit) for e in formats]
    if "xlsx" in formats:
        internal = folder / "internal"
        internal.mkdir(exist_ok=True)
        written.append(write_excel(audit.release, internal / "release.xlsx", internal=True))
    if "txt" in formats:
        say(f"{folder / 'release.txt'} {PRIMARY_TOLD}", "note:", "yellow")
    return written


def write_verdict(audit: Audit, folder: Path) -> list[Path]:
    """``internal/audit.json``, and ``internal/certificate.json`` if the release is safe."""
    from tacita.atomic import write_text
    from tacita.auditing.certificate import certify, dump
    from tacita.report.record import audit_record

    internal = folder / "internal"
    internal.mkdir(parents=True, exist_ok=True)
    record = json.dumps(finite(audit_record(audit)), ensure_ascii=False, indent=1)
    written = [write_text(internal / "audit.json", record + "\n")]
    if audit.safe:
        written.append(write_text(internal / "certificate.json", dump(certify(audit))))
    return written
