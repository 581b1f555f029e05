"""``project.toml``: a whole case in one file that an office can read, keep and run again.

    [table]                                  # or [tables.NAME] several times, for linked tables
    file = "turnover.csv"                    # one row per cell; or: microdata = "firms.parquet"
    by = { region = "nuts", size = "Total" } # a hierarchy of this file, the code of a total, or "" to find it
    value = "turnover"

    [hierarchies]
    nuts = "nuts.csv"                        # or { file = "nace.hrc", lead = "@", total = "Total" }

    [rules]
    rule = "p-percent(10) | frequency(3)"

    [attackers]
    kinds = ["respondents"]

    [published]
    files = ["2023.csv"]                     # releases that readers have; or { file = "2023.csv", base = 5 }

Paths are relative to the folder of the project file.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from tacita.attackers.insiders import AttackerLike, pooling
from tacita.core.attacker import Outsider
from tacita.core.errors import FormatError, InputError, did_you_mean
from tacita.core.hierarchy import DEFAULT_TOTAL, Hierarchy
from tacita.core.levels import Levels
from tacita.core.tables.linked import link
from tacita.core.tables.read_options import ReadOptions
from tacita.core.tables.table import Table
from tacita.core.tables.undeclared import Found
from tacita.formats.hierarchy import read_hierarchy
from tacita.formats.insiders import read_insiders
from tacita.formats.jj import read_jj
from tacita.formats.linked import link_problems
from tacita.formats.table_file import read_table_file
from tacita.formats.textfile import read_text
from tacita.problem.problem import Problem
from tacita.publication.earlier import read_earlier
from tacita.publication.release_write import Format
from tacita.rules import Exempt, Given, Marked, Rule, parse_rule
from tacita.rules.percentages import USUAL_PERCENT
from tacita.specification.project_cells import MarkSpec, marks_of, place_of

FOUND = "found"
"""Stands for a file of a classification that is to be found in the numbers."""
NO_RULE = Marked(())
"""A rule that no cell meets."""


class Section(BaseModel):
    """A section of the file: unknown keys are refused, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class HierarchySpec(Section):
    """A classification: a file (``.csv``, ``.hrc``), or a flat list of codes."""

    file: str | None = None
    codes: list[str] | None = None
    total: str | None = None
    lead: str = "@"

    @model_validator(mode="after")
    def _one_source(self) -> HierarchySpec:
        if (self.file is None) == (self.codes is None):
            raise ValueError("give either file or codes")
        return self


class TableSpec(Section):
    """A table: from a file with one row per cell, or tabulated from microdata."""

    file: str | None = None
    microdata: str | None = None
    by: dict[str, str | list[str]] | list[str] | None = None
    value: str | None = None
    count: str | None = None
    status: str | None = None
    respondent: str | None = None
    holding: str | None = None
    weight: str | None = None
    where: str | None = None
    largest: int | list[str] | None = None
    totals: Literal["auto", "given", "compute"] = "auto"
    decimals: int | None = Field(default=None, ge=0, le=12)
    counts: bool | None = None
    repair: bool = False
    undeclared_sums: Literal["refuse", "warn", "ignore"] = "refuse"
    columns: list[str] = Field(default_factory=list)
    decimal: Literal[".", ","] = "."
    delimiter: str | None = None
    encoding: str | None = None
    sheet: str | None = None

    @model_validator(mode="after")
    def _one_source(self) -> TableSpec:
        if (self.file is None) == (self.microdata is None):
            raise ValueError("give either file (one row per cell) or microdata (one row per record)")
        if self.microdata is not None and self.by is None:
            raise ValueError("microdata need by, the columns to tabulate by")
        if self.microdata is not None and isinstance(self.largest, list):
            raise ValueError("with microdata, largest is a number")
        if self.file is not None and isinstance(self.largest, int):
            raise ValueError("with a file of cells, largest is a list of columns")
        return self

    @property
    def options(self) -> ReadOptions:
        """How the file is read, but for what the names of hierarchies stand for."""
        names = {field.name for field in fields(ReadOptions)} & type(self).model_fields.keys()
        return ReadOptions(**{name: getattr(self, name) for name in names})


class RulesSpec(Section):
    """What makes a cell sensitive: a rule and marks by hand, except in cells that are exempt from both.

    ``waived`` are respondents who have consented to publication, ``protection`` is the percentage of the
    value that stands for the levels of cells which a file marks without any.
    """

    rule: str | None = None
    waived: list[str] = Field(default_factory=list)
    protection: float = Field(default=USUAL_PERCENT, gt=0)
    sensitive: list[MarkSpec] = Field(default_factory=list)
    exempt: list[dict[str, str]] = Field(default_factory=list)

    @property
    def says_what_is_sensitive(self) -> bool:
        """Whether files need not."""
        return self.rule is not None or bool(self.sensitive)


class AttackersSpec(Section):
    """Who attacks: kinds, coalitions by name, insiders in a file, and what everyone knows of each cell.

    Without ``kinds`` all contributors whom the table knows; ``["outsider"]`` leaves them out.
    """

    kinds: list[Literal["outsider", "respondents", "holdings"]] = Field(default_factory=list)
    coalitions: list[list[str]] = Field(default_factory=list)
    holding_coalitions: list[list[str]] = Field(default_factory=list)
    file: str | None = None
    lower: float | None = None
    upper: float | None = None
    within: tuple[float, float] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> AttackersSpec:
        if self.within is not None and (self.lower is not None or self.upper is not None):
            raise ValueError("give either within or lower and upper")
        if any(bound != bound for bound in (self.lower, self.upper, *(self.within or ()))):
            raise ValueError("nan is no bound: give a number, or inf where nothing is known")
        return self


class EarlierSpec(Section):
    """A release that was published earlier, and how to read it."""

    file: str
    value: str | None = None
    base: float | None = Field(default=None, gt=0)
    radius: float | None = Field(default=None, ge=0)
    rounded: Literal["nearest", "down", "up", "adjacent", "within"] | None = None
    decimal: Literal[".", ","] = "."
    sheet: str | None = None


class PublishedSpec(Section):
    """Releases of this table, or of tables that share cells with it, that readers may have."""

    files: list[str | EarlierSpec] = Field(default_factory=list)

    @property
    def releases(self) -> list[EarlierSpec]:
        """All of them, with how to read them."""
        return [EarlierSpec(file=one) if isinstance(one, str) else one for one in self.files]


class CostSpec(Section):
    """What hiding a cell costs: ``value``, ``unit``, ``log``, ``count`` or a column."""

    by: str | None = None


class ProtectSpec(Section):
    """The method and its effort; cells by their codes that must stay or must go."""

    method: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    time_limit: float | None = Field(default=None, gt=0)
    seed: int | None = Field(default=None, ge=0)
    must_publish: list[dict[str, str]] = Field(default_factory=list)
    must_hide: list[dict[str, str]] = Field(default_factory=list)


class OutputSpec(Section):
    """Where results go and in which formats."""

    folder: str = "out"
    formats: list[Format] = ["csv"]


class Project(Section):
    """A project file, checked; :meth:`problem` reads its data."""

    table: TableSpec | None = None
    tables: dict[str, TableSpec] = Field(default_factory=dict)
    hierarchies: dict[str, str | HierarchySpec] = Field(default_factory=dict)
    rules: RulesSpec = Field(default_factory=RulesSpec)
    attackers: AttackersSpec = Field(default_factory=AttackersSpec)
    published: PublishedSpec = Field(default_factory=PublishedSpec)
    cost: CostSpec = Field(default_factory=CostSpec)
    protect: ProtectSpec = Field(default_factory=ProtectSpec)
    output: OutputSpec = Field(default_factory=OutputSpec)
    _folder: Path = PrivateAttr(default=Path())

    @model_validator(mode="after")
    def _some_table(self) -> Project:
        if (self.table is None) == (not self.tables):
            raise ValueError("give either [table] or, for linked tables, [tables.NAME] several times")
        return self

    @property
    def folder(self) -> Path:
        """Where the project file stands."""
        return self._folder

    @property
    def files(self) -> list[Path]:
        """Every file that it names."""
        tables = [self.table] if self.table is not None else list(self.tables.values())
        named = [name for table in tables for name in (table.file, table.microdata)]
        named += [spec if isinstance(spec, str) else spec.file for spec in self.hierarchies.values()]
        named = [name for name in named if name != FOUND or (self._folder / FOUND).exists()]
        named += [self.attackers.file, *(release.file for release in self.published.releases)]
        return [self._folder / name for name in named if name is not None]

    def problem(self) -> Problem:
        """Read the data and put the question; files that state their own levels may do without a rule.

        What a file states of its cells (levels, bounds, costs, cells to be published) holds unless this
        project says otherwise; a rule can only add to the levels. What the files of linked tables state holds
        together; see :mod:`tacita.formats.linked`.
        """
        hierarchies = self._read_hierarchies()
        read = self._linked(hierarchies) if self.table is None else self._read(self.table, None, hierarchies)
        table, stated = (read.table, read) if isinstance(read, Problem) else (read, None)
        rule = self._rule(table, stated)
        own_cost = "value" if stated is None else stated.cost
        stays = [] if stated is None else _published(stated, rule)
        return Problem(
            table,
            rule,
            attackers=self._attackers(table, stated),
            cost=self.cost.by or own_cost,
            must_publish=[*stays, *_places(table, self.protect.must_publish, "[protect] must_publish")],
            must_hide=_places(table, self.protect.must_hide, "[protect] must_hide"),
            already_published=[
                read_earlier(self._folder / said.file, table, **said.model_dump(exclude={"file"}))
                for said in self.published.releases
            ],
        )

    def data(self) -> Table:
        """The table, or all linked tables as one."""
        hierarchies = self._read_hierarchies()
        if self.table is not None:
            read = self._read(self.table, None, hierarchies)
            return read.table if isinstance(read, Problem) else read
        named = {name: self._read(spec, name, hierarchies) for name, spec in self.tables.items()}
        return link({name: t.table if isinstance(t, Problem) else t for name, t in named.items()})

    def _linked(self, hierarchies: Mapping[str, Hierarchy | Found]) -> Problem | Table:
        """All linked tables with what their files state, which microdata do not."""
        said = self.attackers
        named = {
            name: self._read(spec, name, hierarchies, stating=True) for name, spec in self.tables.items()
        }
        tables = {name: part for name, part in named.items() if isinstance(part, Table)}
        if len(tables) == len(named):
            return link(tables)
        # Shares of the values go before all other bounds.
        return link_problems(named, -np.inf if said.within is not None else said.lower, said.upper)

    def _rule(self, table: Table, stated: Problem | None) -> Rule | Levels:
        """Everything that makes a cell sensitive; levels, where that is only what a file states."""
        said, marked = self.rules, len(stated.levels) if stated is not None else 0
        rules: list[Rule] = []
        if said.rule is not None:
            rules.append(parse_rule(said.rule).waived_by(said.waived))
        # A file of one table that marks no cell says so; of linked tables each one may leave it to others.
        if stated is not None and (marked or (self.table is not None and not said.says_what_is_sensitive)):
            rules.append(Given(stated.levels))
        marks = marks_of(table, said.sensitive)
        rules += marks
        if not rules:
            what = "linked tables" if self.table is None else self.table.file or self.table.microdata
            raise InputError(
                f"{what}: nothing says which cells are sensitive: "
                "add rule = \"...\" to [rules], or a column 'status' to the file"
            )
        exempt = _places(table, said.exempt, "[rules] exempt")
        if both := sorted({*exempt} & {cell for mark in marks for cell in mark.levels(table).cells.tolist()}):
            raise InputError(
                f"[rules]: {table.structure.names(np.array(both))}: sensitive and exempt; take it off one of "
                "the two lists"
            )
        if exempt:
            return Exempt(reduce(or_, rules), exempt)
        # What a file alone states is levels, and no rule.
        alone = rules[0] if len(rules) == 1 else None
        return alone.given if isinstance(alone, Given) else reduce(or_, rules)

    def _attackers(self, table: Table, stated: Problem | None) -> list[AttackerLike]:
        said = self.attackers
        attackers: list[AttackerLike] = list(said.kinds)
        attackers.extend(pooling(said.coalitions, said.holding_coalitions))
        if said.file is not None:
            attackers.extend(read_insiders(self._folder / said.file, table))
        known = None if stated is None else stated.outsider_beforehand
        return [*attackers, Outsider.as_said(table, known, said.lower, said.upper, said.within)]

    def _read_hierarchies(self) -> dict[str, Hierarchy | Found]:
        return {name: self._hierarchy(spec) for name, spec in self.hierarchies.items()}

    def _hierarchy(self, given: str | HierarchySpec) -> Hierarchy | Found:
        if given == FOUND and not (self._folder / FOUND).exists():
            return Found()
        spec = HierarchySpec(file=given) if isinstance(given, str) else given
        if spec.file is None:
            return Hierarchy.flat(spec.codes or [], total=spec.total or DEFAULT_TOTAL)
        return read_hierarchy(self._folder / spec.file, spec.total, spec.lead)

    def _read(
        self,
        spec: TableSpec,
        name: str | None,
        hierarchies: Mapping[str, Hierarchy | Found],
        stating: bool = False,
    ) -> Problem | Table:
        """A table; with ``stating``, or a rule, what its file states of the cells as well."""
        by = _dimensions(spec.by, hierarchies)
        if spec.microdata is not None:
            from tacita.formats.records import tabulate_file

            return tabulate_file(
                self._folder / spec.microdata,
                by or [],
                sheet=spec.sheet,
                value=spec.value,
                respondent=spec.respondent,
                holding=spec.holding,
                weight=spec.weight,
                largest=spec.largest if isinstance(spec.largest, int) else 2,
                decimals=spec.decimals,
                where=spec.where,
                counts=spec.counts,
                name=name or "table",
                decimal=spec.decimal,
            )
        path = self._folder / str(spec.file)
        if path.suffix.lower() == ".jj":
            return read_jj(path, decimals=spec.decimals, counts=spec.counts)
        return read_table_file(
            path,
            replace(
                spec.options,
                by=by,
                found=[key for key, tree in hierarchies.items() if by is None and isinstance(tree, Found)],
                name=name,
            ),
            # Bounds and costs of the file hold also where only the project's rule makes it a problem.
            rule=NO_RULE if stating or self.rules.says_what_is_sensitive else None,
            # What the project says of costs is worked out later, on all cells, instead of the file's.
            cost=None if self.cost.by is None else "unit",
            protection=self.rules.protection,
            lower=self.attackers.lower,
            upper=self.attackers.upper,
        )


def _places(table: Table, cells: Sequence[Mapping[str, str]], where: str) -> list[int]:
    return [place_of(table, cell, where) for cell in cells]


def _published(stated: Problem, rule: Rule | Levels) -> list[int]:
    """Cells that the file wants to be published, as far as no rule makes them sensitive."""
    levels = rule if isinstance(rule, Levels) else rule.levels(stated.table)
    cells: list[int] = np.flatnonzero(stated.must_publish & ~levels.sensitive).tolist()
    return cells


def load_project(path: str | os.PathLike[str]) -> Project:
    """Read and check a project file; :class:`FormatError` names the line and the key of every fault."""
    text, _ = read_text(path, "utf-8")
    try:
        content = tomllib.loads(text)
    except RecursionError:
        raise FormatError(f"{path}: lists or tables are nested too deeply for a project file") from None
    except ValueError as error:
        raise FormatError(f"{path}: this is not TOML: {error}") from None
    try:
        project = Project.model_validate(content)
    except ValidationError as error:
        faults = [_fault(text, fault["loc"], fault["msg"], fault["type"]) for fault in error.errors()]
        raise FormatError(f"{path}: " + f"\n{path}: ".join(dict.fromkeys(faults))) from None
    project._folder = Path(path).resolve().parent
    return project


def _dimensions(
    by: Mapping[str, str | list[str]] | Sequence[str] | None, hierarchies: Mapping[str, Hierarchy | Found]
) -> dict[str, Any] | None:
    """Names of hierarchies become hierarchies; other words are the code of a total."""
    if by is None:
        return None
    if not isinstance(by, Mapping):
        return {name: hierarchies.get(name) for name in by}
    specs: dict[str, Any] = {}
    for column, spec in by.items():
        if isinstance(spec, list):
            unknown = [name for name in spec if name not in hierarchies]
            if unknown:
                known = ", ".join(hierarchies)
                raise InputError(
                    f"by.{column}: there is no hierarchy '{unknown[0]}'; [hierarchies] has {known}"
                )
            specs[column] = [hierarchies[name] for name in spec]
        else:
            specs[column] = hierarchies.get(spec, spec or None)
    return specs


def _fault(text: str, loc: tuple[int | str, ...], message: str, kind: str) -> str:
    keys = [str(key) for key in loc if not str(key).endswith("Spec") and "[" not in str(key)]
    line = _line_of(text, keys)
    place = f"line {line}: " if line else ""
    what = message.removeprefix("Value error, ")
    if kind == "extra_forbidden":
        known = _known_keys(keys[:-1])
        what = f"this key is unknown{did_you_mean(keys[-1], known)}; known are {', '.join(known)}"
    return f"{place}{'.'.join(keys) or 'the file'}: {what}"


def _known_keys(section: Sequence[str]) -> list[str]:
    model: Any = Project
    for key in section[:1]:
        models = {"table": TableSpec, "tables": TableSpec, "hierarchies": HierarchySpec, "rules": RulesSpec}
        models |= {
            "attackers": AttackersSpec,
            "published": PublishedSpec,
            "cost": CostSpec,
            "protect": ProtectSpec,
            "output": OutputSpec,
        }
        model = models.get(key, Project)
    return list(model.model_fields)


def _line_of(text: str, keys: Sequence[str]) -> int | None:
    """The line of a key, or else of the nearest section above it."""
    section: list[str] = []
    best: tuple[int, int | None] = (0, None)
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[+([^\]]+)\]", line)
        if header is not None:
            section = [part.strip().strip("\"'") for part in header[1].split(".")]
        key = re.match(r"\s*([\w\-\"']+)\s*=", line)
        here = section if key is None else [*section, key[1].strip("\"'")]
        depth = len(here) if header is not None or key is not None else 0
        if depth > best[0] and list(keys[:depth]) == here:
            best = (depth, number)
    return best[1]
