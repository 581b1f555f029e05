"""Where results go: ``DIR`` is for publication, ``DIR/internal`` for the house."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tacita.cli.console import finite

if TYPE_CHECKING:
    from tacita.auditing.audit import Audit


def write_result(audit: Audit, folder: Path, formats: Iterable[str] = ("csv",)) -> list[Path]:
    """The release in each format if it is safe, and the verdict either way."""
    from tacita.io import write_release

    folder.mkdir(parents=True, exist_ok=True)
    safe = audit.safe
    published = [
        write_release(audit.release, folder / f"release.{ending}", audit=audit) for ending in formats if safe
    ]
    return [*published, *write_verdict(audit, folder)]


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
