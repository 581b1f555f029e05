"""Write a batch as project files: what it says of each release that it writes, in our words.

A project names the files that the batch names. It is compared with the batch, cell by cell: one that would
state something else is not written. What a project cannot say is remarked by line.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tacita.batch.files import list_folders
from tacita.batch.methods import TranslatedMethod
from tacita.batch.outputs import NOT_PROTECTED
from tacita.batch.reading import BatchReading
from tacita.batch.rules import TranslatedRule, translate_rule
from tacita.batch.tables import BatchTable, choose_cost, find_shadow
from tacita.core.errors import FormatError, InputError, TacitaError
from tacita.formats.argus.apriori import parse_apriori
from tacita.formats.argus.batch import (
    KINDS,
    Apriori,
    Batch,
    Command,
    Logbook,
    Suppress,
    VersionInfo,
    WriteTable,
)
from tacita.formats.argus.batch_file import read_batch
from tacita.problem.problem import Problem
from tacita.specification.differences import find_differences
from tacita.specification.sections import Cost, Output, Protection, Rules, Source
from tacita.specification.specification import Specification

FORMATS = {"crosstab": "crosstab", "sbs": "sbs", "intermediate": "intermediate", "jj": "jj"}
"""Formats of a project by kind of output; pivot and code-value are ``csv``, which is written anyway."""


@dataclass(frozen=True)
class ConvertedBatch:
    """The projects that a batch became, by name; remarks and errors, each with file and line."""

    projects: Mapping[str, Specification]
    remarks: tuple[str, ...]
    errors: tuple[str, ...]


def convert_batch(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> ConvertedBatch:
    """Return the projects that state what a batch of tau-ARGUS states, one for each release that it writes.

    Parameters
    ----------
    folder
        Where the projects will stand: the names of files are relative to it.

    Raises
    ------
    FormatError
        The batch does not follow the grammar. Whatever else goes wrong is in the result.
    """
    batch = read_batch(path)
    return _Conversion(batch, list_folders(batch.path, None), Path(folder)).convert()


@dataclass(frozen=True, eq=False)
class _Release:
    """A method that the batch applies to tables, and the files to which it writes them."""

    command: Suppress
    method: TranslatedMethod
    tables: tuple[BatchTable, ...]
    problem: Problem
    outputs: list[WriteTable]


class _Conversion(BatchReading[_Release]):
    """A batch that is followed without protecting anything."""

    def __init__(self, batch: Batch, folders: tuple[Path, ...], folder: Path) -> None:
        super().__init__(batch, folders)
        self.folder = folder
        self.releases: list[_Release] = []

    def convert(self) -> ConvertedBatch:
        """Return the projects of all releases that the batch writes."""
        self.follow()
        projects: dict[str, Specification] = {}
        for release in self.releases:
            if not release.outputs:
                self._remark(release.command, "nothing that this protects is written: there is no project")
                continue
            try:
                name = _choose_name(release.outputs, projects)
                projects[name] = self._specify(release, name)
            except TacitaError as error:
                self._fail(release.command, error)
        return ConvertedBatch(projects, self.result.remarks, self.result.errors)

    def carry_out_command(self, command: Command) -> None:
        match command:
            case Suppress():
                self._plan_release(command)
            case WriteTable():
                self._plan_output(command)
            case Logbook():
                self._remark(command, "not carried over: tacita run --log FILE writes a log of all projects")
            case VersionInfo():
                self._remark(command, "not carried over: tacita doctor shows the version")
            case _:
                super().carry_out_command(command)

    def _plan_release(self, command: Suppress) -> None:
        numbers, method = self._translate(command)
        if method.name is None:
            return
        tables = tuple(self.tables[number - 1] for number in numbers)
        release = _Release(command, method, tables, self._pose(numbers), [])
        self.releases.append(release)
        self.protected.update(dict.fromkeys(numbers, release))

    def _plan_output(self, command: WriteTable) -> None:
        release, kind = self.protected.get(command.table), KINDS[command.kind]
        if kind == "cell-key":
            self._remark(command, "not carried over: the cell key method is not carried out")
        elif release is None:
            self._remark(command, f"not carried over: {NOT_PROTECTED}")
        else:
            release.outputs.append(command)
            lost = [f"{name}+" for name, on in command.options if on]
            if lost:
                self._remark(command, f"{', '.join(lost)}: not carried over, a project has no such options")

    # -------------------------------------------------------------- projects

    def _specify(self, release: _Release, name: str) -> Specification:
        """Return the project of a release, compared with what the batch states.

        Raises
        ------
        TacitaError
            A project cannot state it.
        """
        tables, method = release.tables, release.method
        rule = self._join_rules(tables)
        cost = self._specify_cost(tables)
        sources = {f"table-{each.number}": self._specify_source(each, rule, cost) for each in tables}
        kinds = [KINDS[output.kind] for output in release.outputs]
        found = Specification(
            table=next(iter(sources.values())) if len(sources) == 1 else None,
            tables=sources if len(sources) > 1 else {},
            rules=Rules(rule=rule.rule, protection=rule.protection),
            cost=Cost() if cost is None else cost,
            protect=Protection(
                method=method.name, options=dict(method.options), time_limit=method.time_limit
            ),
            output=Output(
                folder=name, formats=tuple(dict.fromkeys(FORMATS[kind] for kind in kinds if kind in FORMATS))
            ),
            folder=self.folder,
        )
        differences = find_differences(release.problem, found.problem())
        if cost is None:
            differences = [each for each in differences if each != "costs"]
        if differences:
            raise InputError(
                f"a project would state other {', '.join(differences)} than the batch: it is not written",
                remedy="run the batch itself, or write the project by hand",
            )
        return replace(
            found,
            table=None if found.table is None else self._shorten(found.table),
            tables={each: self._shorten(source) for each, source in found.tables.items()},
        )

    def _join_rules(self, tables: Sequence[BatchTable]) -> TranslatedRule:
        """Return the rule of tables, of which linked ones have one; it counts the most contributions."""
        rules = [translate_rule(table.rule) for table in tables]
        joined = replace(rules[0], largest=max(rule.largest for rule in rules), remarks=())
        for table, rule in zip(tables, rules, strict=True):
            if replace(rule, largest=joined.largest, remarks=()) != joined:
                raise FormatError(
                    "linked tables of a project have one rule, and these have several",
                    place=table.rule.place,
                    remedy="Give all of them the same, or run the batch itself.",
                )
        return joined

    def _specify_cost(self, tables: Sequence[BatchTable]) -> Cost | None:
        """Return what hiding a cell costs, as a project says it; None, with a remark, if it cannot."""
        specified, by = tables[0].specified, choose_cost(tables)
        if specified.exponent == 0 and by in (None, "value"):
            return Cost("log")
        if isinstance(specified.cost, str) and tables[0].records:
            self._remark(
                specified,
                f"the cost variable '{specified.cost}' is not carried over: microdata give no column of "
                "costs, so that each cell of the project costs its value",
            )
            return None
        if specified.exponent not in (None, 1):
            self._remark(specified, "lambda is not carried over: costs of a project are not raised")
            return None
        return Cost(by)

    def _specify_source(self, table: BatchTable, rule: TranslatedRule, cost: Cost | None) -> Source:
        """Return where a table comes from and how it is read, as a project says it."""
        metadata = table.read_metadata()
        levels: dict[str, int] = {}
        recode: dict[str, str] = {}
        for command in table.recodes:
            variable = metadata.find(command.variable).name
            if variable in {**levels, **recode}:
                raise FormatError(
                    f"'{variable}' is recoded twice, and a project does so once",
                    place=command.place,
                    remedy="Join the two into one.",
                )
            if isinstance(command.by, int):
                levels[variable] = command.by
            else:
                recode[variable] = str(table.find(command.by).resolve())
        response = table.specified.response
        given: dict[str, Any] = {
            "metadata": str(table.find(table.metadata).resolve()),
            "by": tuple(metadata.find(name).name for name in table.specified.spanning),
            "value": None if response is None else metadata.find(response).name,
            "levels": levels,
            "recode": recode,
            "apriori": self._find_decisions(table),
        }
        if table.records:
            weight = metadata.first("weight") if rule.weighted else None
            return Source(
                microdata=str(table.find(table.data).resolve()),
                shadow=find_shadow(table, metadata),
                weight=None if weight is None else weight.name,
                largest=rule.largest if rule.largest > 2 else None,
                **given,
            )
        computed = table.read is not None and table.read.mode == 1
        return Source(
            file=str(table.find(table.data).resolve()),
            columns=() if cost is None or not isinstance(table.specified.cost, str) else (str(cost.by),),
            totals="auto" if computed else "given",
            repair=computed,
            **given,
        )

    def _find_decisions(self, table: BatchTable) -> str | None:
        """Return the name of the file of decisions on single cells; refuse what a project cannot say."""
        for decisions in table.decisions[1:]:
            raise FormatError(
                "a project names one file of decisions, and the table has several",
                place=decisions.place,
                remedy="Join them into one file.",
            )
        for decisions in table.decisions:
            self._refuse_other_separator(table, decisions)
            return str(table.find(decisions.file).resolve())
        return None

    def _refuse_other_separator(self, table: BatchTable, decisions: Apriori) -> None:
        path = table.find(decisions.file)
        wanted = parse_apriori(path, decisions.separator, len(table.specified.spanning))
        try:
            found = parse_apriori(path)
        except FormatError:
            found = None
        if found != wanted:
            raise FormatError(
                f"a project does not find the separator '{decisions.separator}' of {path} by itself",
                place=decisions.place,
                remedy="Write ; between the fields of the file.",
            )

    def _shorten(self, source: Source) -> Source:
        """Return a source whose files are named relative to the folder of the project."""
        named: dict[str, Any] = {
            name: self._shorten_path(path)
            for name in ("file", "microdata", "metadata", "apriori")
            if (path := getattr(source, name)) is not None
        }
        recode = {variable: self._shorten_path(path) for variable, path in source.recode.items()}
        return replace(source, **named, recode=recode)

    def _shorten_path(self, path: str) -> str:
        try:
            return Path(os.path.relpath(path, self.folder.resolve())).as_posix()
        except ValueError:
            # On Windows the two may be on different drives.
            return path


def _choose_name(outputs: Sequence[WriteTable], taken: Mapping[str, object]) -> str:
    """Return the name of a project: that of the first file which the batch writes, numbered if taken."""
    stem = Path(outputs[0].file.replace("\\", "/")).stem or "table"
    others = {name.casefold() for name in taken}
    names = [stem, *(f"{stem}-{k}" for k in range(2, len(taken) + 2))]
    return next(name for name in names if name.casefold() not in others)
