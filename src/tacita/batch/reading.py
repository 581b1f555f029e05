"""Follow the commands of a batch: which tables there are at each of them, and what is to be said.

What fails is said by file and line, and the rest is done all the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Generic, TypeVar

from tacita.batch.methods import TranslatedMethod, translate_method
from tacita.batch.results import BatchResult
from tacita.batch.tables import BatchTable, pose_problem
from tacita.core.errors import TacitaError, describe_write_failure
from tacita.formats.argus.batch import (
    Apriori,
    Batch,
    Clear,
    Command,
    GoInteractive,
    OpenMetadata,
    OpenMicrodata,
    OpenTableData,
    OtherCommand,
    ReadMicrodata,
    ReadTable,
    Recode,
    SafetyRule,
    Silent,
    Solver,
    SpecifyTable,
    Suppress,
)
from tacita.problem.problem import Problem

T = TypeVar("T")


class BatchReading(Generic[T]):
    """A batch that is followed: its tables so far, what protects each, and what is to be said.

    Attributes
    ----------
    protected
        By number of a table what its last method came to.
    """

    def __init__(self, batch: Batch, folders: tuple[Path, ...]) -> None:
        self.batch, self.folders = batch, folders
        self.data: OpenMicrodata | OpenTableData | None = None
        self.metadata: OpenMetadata | None = None
        self.specified: SpecifyTable | None = None
        self.tables: list[BatchTable] = []
        self.unread = 0
        self.following: Command | None = None
        self.changes: list[tuple[Recode | Apriori, BatchTable]] = []
        self.problems: dict[tuple[BatchTable, ...], Problem] = {}
        self.protected: dict[int, T] = {}
        self.result = BatchResult(remarks=batch.notes)

    def follow(self) -> None:
        """Carry out all commands of the batch, one after the other."""
        for command, following in zip_longest(self.batch.commands, self.batch.commands[1:]):
            self.following = following
            try:
                self.carry_out_command(command)
            except TacitaError as error:
                self._fail(command, error)
            except OSError as error:
                self._fail(command, describe_write_failure(Path(error.filename or "a file"), error))

    def carry_out_command(self, command: Command) -> None:
        """Carry out a command about tables; remark on any other."""
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
            case Clear():
                self.tables, self.unread = [], 0
                self.protected.clear()
                self.problems.clear()
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

    def _translate(self, command: Suppress) -> tuple[tuple[int, ...], TranslatedMethod]:
        """Return the numbers of the tables that a method is for, and the method in our words.

        What an earlier method made is not what is asked for now, whatever comes.
        """
        translated = translate_method(command.method)
        self._remark(command, *translated.remarks)
        number = command.method.table
        numbers = (number,) if number else tuple(table.number for table in self.tables)
        for each in numbers:
            if self.protected.pop(each, None) is not None:
                self._remark(command, f"table {each} was protected before: this takes the place of it")
        return numbers, translated

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
