"""What carrying out a batch came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacita.auditing.audit import Audit
from tacita.batch.tables import BatchTable
from tacita.core.release import Release
from tacita.formats.argus.batch import WriteTable
from tacita.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class ProtectedTables:
    """A release of one table of a batch, or of linked ones together, with its audit.

    ``tables`` stand in the order of the parts of the release.
    """

    tables: tuple[BatchTable, ...]
    problem: Problem
    release: Release
    audit: Audit

    def find_part(self, table: BatchTable) -> int:
        """Return which part of the release is a table of the batch."""
        return self.tables.index(table)


@dataclass(frozen=True, eq=False)
class OutputRequest:
    """A table to be written when all tables are protected: as it was when the command stood there.

    ``protected`` is None if no method had protected it by then.
    """

    command: WriteTable
    table: BatchTable
    problem: Problem
    protected: ProtectedTables | None


@dataclass(frozen=True)
class BatchResult:
    """How a batch ended.

    Attributes
    ----------
    written
        The files that were written.
    remarks
        What was done otherwise than tau-ARGUS does it, or not at all, each with file and line.
    warnings
        What may be a mistake.
    refused
        What is not proven safe and was not written, each with file and line.
    errors
        What failed, each with file and line.
    tables
        What each method came to, as values that JSON can write; no value of a cell.
    """

    written: tuple[Path, ...] = ()
    remarks: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    tables: tuple[Mapping[str, Any], ...] = field(default=())

    @property
    def safe(self) -> bool:
        """Whether everything was done, and every release is proven safe."""
        return not self.refused and not self.errors
