"""Carry out the commands of a batch, one after the other.

Tables are written at the end: what one of them publishes may tell of cells that another hides, so those with
the same response are audited together first. What fails is said by file and line, and the rest is done all
the same.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from tacita.auditing.audit import audit
from tacita.batch.files import find_output, list_folders, list_inputs
from tacita.batch.methods import TranslatedMethod
from tacita.batch.outputs import write_outputs
from tacita.batch.reading import BatchReading
from tacita.batch.results import BatchResult, OutputRequest, ProtectedTables
from tacita.batch.tables import BatchTable
from tacita.core.errors import FormatError, TacitaError
from tacita.core.run import Run
from tacita.formats.argus.batch import (
    Batch,
    Command,
    Logbook,
    Protector,
    Suppress,
    VersionInfo,
    WriteTable,
)
from tacita.formats.argus.batch_file import read_batch
from tacita.methods import make_method
from tacita.storage.atomic import write_text


def run_batch(
    path: str | os.PathLike[str],
    run: Run | None = None,
    *,
    data_folder: str | os.PathLike[str] | None = None,
    time_limit: float | None = None,
) -> BatchResult:
    """Carry out a batch of tau-ARGUS: read, protect, audit and write its tables; return how it ended.

    Parameters
    ----------
    data_folder
        Where files are looked for that are not in the folder of the batch.
    time_limit
        Seconds for each method, in place of the minutes that the batch gives.

    Raises
    ------
    FormatError
        The batch does not follow the grammar. Whatever else goes wrong is in the result.
    """
    batch = read_batch(path)
    folders = list_folders(batch.path, data_folder)
    return BatchExecution(batch, folders, run or Run(), time_limit).carry_out()


class BatchExecution(BatchReading[ProtectedTables]):
    """A batch at work: its tables so far, their releases, and what is to be said."""

    def __init__(self, batch: Batch, folders: tuple[Path, ...], run: Run, time_limit: float | None) -> None:
        super().__init__(batch, folders)
        self.run, self.time_limit = run, time_limit
        self.releases: dict[tuple[tuple[BatchTable, ...], Protector], ProtectedTables] = {}
        self.outputs: list[OutputRequest] = []
        self.inputs = {path.resolve() for path in (batch.path, *list_inputs(batch, folders))}
        self.log: Path | None = None

    def carry_out(self) -> BatchResult:
        """Carry out all commands of the batch; return what was written and what is to be said."""
        self.follow()
        if self.outputs:
            self._add_all(write_outputs(self.outputs, self._find_output, self._make_audit_run()))
        if not self.result.written and not self.result.errors and not self.result.refused:
            self._add(remarks=[f"{self.batch.path}: it writes no table"])
        if self.log is not None:
            self._write_log(self.log)
        return self.result

    def carry_out_command(self, command: Command) -> None:
        match command:
            case Suppress():
                self._protect(command)
            case WriteTable():
                problem = self._pose((command.table,))
                table, done = self.tables[command.table - 1], self.protected.get(command.table)
                self.outputs.append(OutputRequest(command, table, problem, done))
            case Logbook():
                self.log = self._find_output(command.file)
            case VersionInfo():
                self._write_version(command)
            case _:
                super().carry_out_command(command)

    # -------------------------------------------------------------- methods

    def _protect(self, command: Suppress) -> None:
        """Protect one table of the batch, or all together, and audit the release."""
        numbers, translated = self._translate(command)
        if translated.name is None:
            return
        done = self._release(numbers, command.method, translated)
        self.protected.update(dict.fromkeys(numbers, done))
        if done.release.outcome is not None:
            self._remark(command, *done.release.outcome.remarks)
        self._add(tables=[_build_record(command, translated.name, done)])
        if not done.audit.safe:
            self._add(refused=[f"{command.place}: the release is not proven safe"])

    def _release(
        self, numbers: tuple[int, ...], method: Protector, translated: TranslatedMethod
    ) -> ProtectedTables:
        """Return the audited release of tables by number; made once for the same tables and method."""
        tables = tuple(self.tables[each - 1] for each in numbers)
        if (tables, method) not in self.releases:
            assert translated.name is not None
            problem = self._pose(numbers)
            limit = translated.time_limit if self.time_limit is None else self.time_limit
            release = make_method(translated.name, translated.options).protect(
                problem, self.run.limited(limit)
            )
            found = audit(problem, release, self._make_audit_run())
            self.releases[tables, method] = ProtectedTables(tables, problem, release, found)
        return self.releases[tables, method]

    def _make_audit_run(self) -> Run:
        """Return a run for audits, without limit or cancel: one that is cut short proves nothing."""
        run = self.run
        return Run(seed=run.seed, executor=run.executor, listener=run.listener).begin()

    # -------------------------------------------------------------- files

    def _find_output(self, name: str) -> Path:
        """Return where a file that the batch names is to be written; refuse the place of an input."""
        path = find_output(self.batch, name)
        if path.resolve() in self.inputs:
            raise FormatError(
                "the batch reads this file, and would write to it",
                place=path,
                remedy="Give another name to write to.",
            )
        return path

    def _write_version(self, command: VersionInfo) -> None:
        from tacita import __version__

        path = self._find_output(command.file)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, f"Tacita {__version__}, Python {platform.python_version()}\n")
        self._add(written=[path])

    def _write_log(self, path: Path) -> None:
        """Write what the batch came to, line by line; the log is internal, though it holds no values."""
        result = self.result
        lines = [f"{self.batch.path}: {'safe' if result.safe else 'not all was done'}"]
        for word, texts in (
            ("remark", result.remarks),
            ("warning", result.warnings),
            ("not safe", result.refused),
            ("error", result.errors),
            ("written", map(str, result.written)),
        ):
            lines += [f"{word}: {text}" for text in texts]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, "\n".join(lines) + "\n")
            self._add(written=[path])
        except (TacitaError, OSError) as error:
            self._add(errors=[f"<LOGBOOK>: {error}"])


def _build_record(command: Suppress, method: str, done: ProtectedTables) -> dict[str, Any]:
    outcome, problem, release = done.release.outcome, done.problem, done.release
    return {
        "tables": [table.number for table in done.tables],
        "command": f"{command.method.word}({command.method.table})",
        "method": method,
        "status": outcome.status.value if outcome else None,
        "gap": outcome.gap if outcome else None,
        "cells": len(problem.table),
        "sensitive": len(problem.levels),
        "changed": int(release.changed.sum()),
        "safe": done.audit.safe,
    }
