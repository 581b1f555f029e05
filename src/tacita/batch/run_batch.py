"""Carry out the commands of a batch, one after the other.

Tables are written at the end: what one of them publishes may tell of cells that another hides, so those with
the same response are audited together first. What fails is said by file and line, and the rest is done all
the same.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tacita.auditing.audit import audit
from tacita.batch.files import find_output, list_folders, list_inputs
from tacita.batch.methods import TranslatedMethod, translate_method
from tacita.batch.outputs import write_outputs
from tacita.batch.results import BatchResult, OutputRequest, ProtectedTables
from tacita.batch.tables import BatchTable, pose_problem
from tacita.core.errors import FormatError, TacitaError, describe_write_failure
from tacita.core.run import Run
from tacita.formats.argus.batch import (
    Apriori,
    Batch,
    Clear,
    Command,
    GoInteractive,
    Logbook,
    OpenMetadata,
    OpenMicrodata,
    OpenTableData,
    OtherCommand,
    Protector,
    ReadMicrodata,
    ReadTable,
    Recode,
    SafetyRule,
    Silent,
    Solver,
    SpecifyTable,
    Suppress,
    VersionInfo,
    WriteTable,
)
from tacita.formats.argus.batch_file import read_batch
from tacita.methods import make_method
from tacita.problem.problem import Problem
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


class BatchExecution:
    """A batch at work: its tables so far, their releases, and what is to be said."""

    def __init__(self, batch: Batch, folders: tuple[Path, ...], run: Run, time_limit: float | None) -> None:
        self.batch, self.folders, self.run, self.time_limit = batch, folders, run, time_limit
        self.data: OpenMicrodata | OpenTableData | None = None
        self.metadata: OpenMetadata | None = None
        self.specified: SpecifyTable | None = None
        self.tables: list[BatchTable] = []
        self.unread = 0
        self.following: Command | None = None
        self.changes: list[tuple[Recode | Apriori, BatchTable]] = []
        self.problems: dict[tuple[BatchTable, ...], Problem] = {}
        self.protected: dict[int, ProtectedTables] = {}
        self.releases: dict[tuple[tuple[BatchTable, ...], Protector], ProtectedTables] = {}
        self.outputs: list[OutputRequest] = []
        self.inputs = {path.resolve() for path in (batch.path, *list_inputs(batch, folders))}
        self.log: Path | None = None
        self.result = BatchResult(remarks=batch.notes)

    def carry_out(self) -> BatchResult:
        """Carry out all commands of the batch; return what was written and what is to be said."""
        for command, following in zip_longest(self.batch.commands, self.batch.commands[1:]):
            self.following = following
            try:
                self._carry_out(command)
            except TacitaError as error:
                self._fail(command, error)
            except OSError as error:
                self._fail(command, describe_write_failure(Path(error.filename or "a file"), error))
        if self.outputs:
            self._add_all(write_outputs(self.outputs, self._find_output, self._make_audit_run()))
        if not self.result.written and not self.result.errors and not self.result.refused:
            self._add(remarks=[f"{self.batch.path}: it writes no table"])
        if self.log is not None:
            self._write_log(self.log)
        return self.result

    def _carry_out(self, command: Command) -> None:
        match command:
            case OpenMicrodata() | OpenTableData():
                self.data = command
            case OpenMetadata():
                self.metadata = command
            case SpecifyTable():
                self.specified = command
            case SafetyRule():
                self._add_table(command)
            case ReadMicrodata() | ReadTable():
                self._read_tables(command)
            case Recode() | Apriori():
                self._change_table(command)
            case Suppress():
                self._protect(command)
            case WriteTable():
                problem = self._pose((command.table,))
                table, done = self.tables[command.table - 1], self.protected.get(command.table)
                self.outputs.append(OutputRequest(command, table, problem, done))
            case Clear():
                self.tables, self.unread = [], 0
                self.protected.clear()
                self.problems.clear()
            case Logbook():
                self.log = self._find_output(command.file)
            case VersionInfo():
                self._write_version(command)
            case Silent():
                pass
            case _:
                self._remark(command, _explain_other(command))

    # -------------------------------------------------------------- tables

    def _add_table(self, command: SafetyRule) -> None:
        assert self.data is not None
        assert self.metadata is not None
        assert self.specified is not None
        table = BatchTable(
            number=len(self.tables) + 1,
            folders=self.folders,
            data=self.data.file,
            metadata=self.metadata.file,
            records=isinstance(self.data, OpenMicrodata),
            specified=self.specified,
            rule=command,
        )
        self.tables.append(table)

    def _read_tables(self, command: ReadMicrodata | ReadTable) -> None:
        """Read the tables of the batch that were specified since the last time."""
        for at in range(self.unread, len(self.tables)):
            if isinstance(command, ReadTable):
                self.tables[at] = replace(self.tables[at], read=command)
            table = self.tables[at]
            try:
                self._remark(table.specified, *table.remarks)
                problem = self._pose((table.number,))
            except TacitaError as error:
                self._fail(table.specified, error)
                continue
            self._remark(table.specified, *problem.table.notes)
            self._add(warnings=[f"{table.specified.place}: {text}" for text in problem.warnings])
        self.unread = len(self.tables)

    def _change_table(self, command: Recode | Apriori) -> None:
        """Add a recoding or decisions on cells to a table of the batch, and read it anew after the last of
        several in a row.
        """
        number = command.table
        table = self.tables[number - 1]
        changed = (
            replace(table, recodes=(*table.recodes, command))
            if isinstance(command, Recode)
            else replace(table, decisions=(*table.decisions, command))
        )
        # Where the change fails the table stays as it would be with it: wrong, and not written.
        self.tables[number - 1] = changed
        if self.protected.pop(number, None) is not None:
            self._remark(command, f"table {number} was protected before this: protect it again")
        if isinstance(self.following, Recode | Apriori) and self.following.table == number:
            self.changes.append((command, changed))
            return
        changes, self.changes = self.changes, []
        try:
            self._pose((number,))
        except TacitaError:
            self._name_faults(changes)
            raise

    def _name_faults(self, changes: Iterable[tuple[Recode | Apriori, BatchTable]]) -> None:
        """Report those of several changes in a row after which a table cannot be read."""
        for command, table in changes:
            try:
                pose_problem((table,))
            except TacitaError as error:
                self._fail(command, error)

    def _pose(self, numbers: tuple[int, ...]) -> Problem:
        """Return the problem of tables by number; posed once for the same commands."""
        tables = tuple(self.tables[number - 1] for number in numbers)
        if tables not in self.problems:
            self.problems[tables] = pose_problem(tables)
        return self.problems[tables]

    # -------------------------------------------------------------- methods

    def _protect(self, command: Suppress) -> None:
        """Protect one table of the batch, or all together, and audit the release."""
        translated = translate_method(command.method)
        self._remark(command, *translated.remarks)
        number = command.method.table
        numbers = (number,) if number else tuple(table.number for table in self.tables)
        # What an earlier method made is not what is asked for now, whatever comes.
        for each in numbers:
            if self.protected.pop(each, None) is not None:
                self._remark(command, f"table {each} was protected before: this takes the place of it")
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

    # -------------------------------------------------------------- what is said

    def _remark(self, command: Command, *texts: str) -> None:
        self._add(remarks=[f"{command.place}: {text}" for text in texts])

    def _fail(self, command: Command, error: TacitaError) -> None:
        self._add(errors=[str(error.with_place(command.place))])

    def _add(self, **more: Iterable[Any]) -> None:
        """Add to what the batch came to, each text once."""
        known = {name: getattr(self.result, name) for name in more}
        self.result = replace(
            self.result,
            **{
                name: (*known[name], *(each for each in texts if each not in known[name]))
                for name, texts in more.items()
            },
        )

    def _add_all(self, other: BatchResult) -> None:
        self._add(**{name: getattr(other, name) for name in vars(other)})


def _explain_other(command: Command) -> str:
    """Return why a command of a batch that is not about tables changes nothing here."""
    match command:
        case Solver():
            return f"{command.keyword} {command.name}: Tacita chooses among the solvers that it brings itself"
        case GoInteractive():
            return f"{command.keyword}: there is nobody to go on with; open the project in tacita app"
        case OtherCommand():
            return f"{command.keyword} is for tau-ARGUS's own use and is not carried out"
    return f"{command.keyword} is not carried out"


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
