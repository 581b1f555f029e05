"""What the user specified: one frozen value, from the source of the table to the files of the release.

``project.toml`` is its written form, section by section; see :mod:`tacita.specification.project`. Paths are
relative to :attr:`Specification.folder`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from tacita.attackers.considered import KINDS
from tacita.core.errors import SpecificationError, did_you_mean
from tacita.core.outcome import read_gap
from tacita.core.tables.read_options import ReadOptions
from tacita.formats.case_file import refuse_options
from tacita.publication.release_write import FORMATS
from tacita.publication.rounded_by_others import RoundingMode
from tacita.rules.protection import USUAL_PERCENT
from tacita.tabulation.address import check_addresses, is_address, locate

if TYPE_CHECKING:
    from tacita.core.tables.table import Table
    from tacita.problem.problem import Problem
    from tacita.specification.statement import Statement

FOUND = "found"
"""Stands for a file of a classification that is to be found in the numbers."""
PROJECT = "project.toml"
"""What a project is called in a folder that stands for it."""
ONE_SOURCE = "give either [table] or, for linked tables, [tables.NAME] several times"
OUT = "out"
"""The folder of results unless the output names one."""

Cell = Mapping[str, str]
"""A cell by its codes; a dimension that is left out is at its total."""


class Section:
    """A section of the project file, in which unknown keys are refused."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"extra": "forbid"}

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            # Options are the method's own, which may tell lists from tuples.
            if name != "options":
                object.__setattr__(self, name, _freeze(value))


def _freeze(value: Any) -> Any:
    """Return a value in a specification with tuples for lists, also inside mappings and lists."""
    if isinstance(value, Mapping):
        return {name: _freeze(each) for name, each in value.items()}
    return tuple(map(_freeze, value)) if isinstance(value, list | tuple) else value


def _refuse_other(word: str, known: Sequence[str], what: str) -> None:
    if word not in known:
        hint = did_you_mean(word, known)
        raise SpecificationError(
            f"'{word}'{hint} is none of {', '.join(known)}", place=what, remedy="choose one of them"
        )


@dataclass(frozen=True)
class Classification(Section):
    """A classification: a file (``.csv``, ``.hrc``), or a flat list of codes."""

    file: str | None = None
    codes: tuple[str, ...] | None = None
    total: str | None = None
    lead: str = "@"

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.file is None) == (self.codes is None):
            raise SpecificationError("give either file or codes")


@dataclass(frozen=True)
class Source(Section, ReadOptions):
    """Where a table comes from, and how it is read: a file of cells, or microdata that are tabulated.

    Attributes
    ----------
    file
        A table with one row per cell, a crosstab, a JJ file, NCHS text or a folder of the thesis program.
    microdata
        Records to tabulate: a file, or their address in a database, which holds no password.
    by, hierarchies
        As for :class:`~tacita.ReadOptions`; a name of :attr:`Specification.hierarchies` stands for that
        classification.
    respondent, holding, weight
        Columns of the microdata.
    where
        A condition in SQL on the records.
    """

    file: str | None = None
    microdata: str | None = None
    respondent: str | None = None
    holding: str | None = None
    weight: str | None = None
    where: str | None = None

    def __post_init__(self) -> None:
        Section.__post_init__(self)
        ReadOptions.__post_init__(self)
        named = self.by.values() if isinstance(self.by, Mapping) else self.by or ()
        for name in (*named, *self.hierarchies.values()):
            if not all(isinstance(each, str) for each in (name if isinstance(name, tuple) else (name,))):
                raise SpecificationError(
                    "give names of columns, or per column names of hierarchies or the code of its total",
                    place="by",
                )
        if (self.file is None) == (self.microdata is None):
            raise SpecificationError("give either file (one row per cell) or microdata (one row per record)")
        if self.microdata is not None and self.by is None:
            raise SpecificationError("microdata need by, the columns to tabulate by")
        if self.microdata is not None and isinstance(self.largest, tuple):
            raise SpecificationError("with microdata, largest is a number")
        check_addresses(self.file, self.microdata)
        if self.file is not None and isinstance(self.largest, int):
            raise SpecificationError("with a file of cells, largest is a list of columns")

    @property
    def path(self) -> str:
        """The path of the file of cells or of microdata that the specification names, or their address."""
        return self.file or self.microdata or ""


@dataclass(frozen=True)
class SensitiveCell(Section):
    """A cell that is sensitive by hand: its codes, and levels as amounts or in percent of the value.

    Where neither ``lower`` nor ``upper`` is given, both are ``protection`` percent, or 20.
    """

    cell: Cell
    lower: float | None = None
    upper: float | None = None
    sliding: float | None = None
    protection: float | tuple[float, float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for amount in (self.lower, self.upper, self.sliding):
            if amount is not None and not (amount >= 0 and isfinite(amount)):
                raise SpecificationError(
                    f"{amount} is no protection level", remedy="give a number, 0 or more"
                )


@dataclass(frozen=True)
class Rules(Section):
    """What makes a cell sensitive: a rule and marks by hand, except in cells that are exempt from both.

    Attributes
    ----------
    rule
        In its written form, such as ``"p-percent(10) | frequency(3)"``.
    waived
        Respondents who have consented to publication.
    protection
        The percentage of the value that stands for the levels of cells which a file marks without any.
    """

    rule: str | None = None
    waived: tuple[str, ...] = ()
    protection: float = USUAL_PERCENT
    sensitive: tuple[SensitiveCell, ...] = ()
    exempt: tuple[Cell, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        marks = (SensitiveCell(**mark) if isinstance(mark, Mapping) else mark for mark in self.sensitive)
        object.__setattr__(self, "sensitive", tuple(marks))
        if not self.protection > 0:
            raise SpecificationError(
                f"{self.protection} percent", place="protection", remedy="give a number above 0"
            )

    @property
    def alternatives(self) -> tuple[str, ...]:
        """The texts of the specified rules that ``|`` joins; one inside quotation marks joins nothing."""
        parts = re.findall(r"""(?:[^|"']|"[^"]*"|'[^']*'|["'])+""", self.rule or "")
        return tuple(part.strip() for part in parts if part.strip())

    @property
    def says_what_is_sensitive(self) -> bool:
        """Whether the specification says which cells are sensitive, so that files need not."""
        return self.rule is not None or bool(self.sensitive)


@dataclass(frozen=True)
class Attackers(Section):
    """Who attacks: kinds, coalitions by name, insiders in a file, and what everyone knows of each cell.

    No ``kinds`` means all contributors whom the table knows, ``("outsider",)`` none of them. ``within`` are
    shares of the value below and above it. Without it, a side without a bound is as the file states, or else
    usual: no cell is negative, and any may be large.
    """

    kinds: tuple[str, ...] = ()
    coalitions: tuple[tuple[str, ...], ...] = ()
    holding_coalitions: tuple[tuple[str, ...], ...] = ()
    file: str | None = None
    lower: float | None = None
    upper: float | None = None
    within: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for kind in self.kinds:
            _refuse_other(kind, ("outsider", *KINDS), "kinds")
        if self.within is not None and (self.lower is not None or self.upper is not None):
            raise SpecificationError("give either within or lower and upper")
        if any(isnan(bound) for bound in (self.lower, self.upper, *(self.within or ())) if bound is not None):
            raise SpecificationError("nan is no bound", remedy="give a number, or inf where nothing is known")


@dataclass(frozen=True)
class Earlier(Section):
    """A release that was published earlier, and how to read it."""

    file: str
    value: str | None = None
    base: float | None = None
    radius: float | None = None
    rounded: RoundingMode | None = None
    decimal: Literal[".", ","] = "."
    sheet: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.base is not None and not self.base > 0:
            raise SpecificationError(f"{self.base}", place="base", remedy="give a number above 0")
        if self.radius is not None and not self.radius >= 0:
            raise SpecificationError(f"{self.radius}", place="radius", remedy="give a number, 0 or more")


@dataclass(frozen=True)
class Published(Section):
    """Releases of this table, or of tables that share cells with it, that readers may have."""

    files: tuple[str | Earlier, ...] = ()

    @property
    def releases(self) -> list[Earlier]:
        """The earlier releases that the specification names, each with how to read its file."""
        return [Earlier(one) if isinstance(one, str) else one for one in self.files]


@dataclass(frozen=True)
class Cost(Section):
    """What hiding a cell costs: a word (``value``, ``unit``, ``log``, ``percent``, ``count``) or a column."""

    by: str | None = None


@dataclass(frozen=True)
class Protection(Section):
    """The method and its effort; cells by their codes that must stay or must go."""

    method: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    time_limit: float | None = None
    seed: int | None = None
    must_publish: tuple[Cell, ...] = ()
    must_hide: tuple[Cell, ...] = ()
    gap: float | str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.time_limit is not None and not self.time_limit > 0:
            raise SpecificationError(f"{self.time_limit}", place="time_limit", remedy="give seconds above 0")
        if self.gap is not None:
            object.__setattr__(self, "gap", read_gap(self.gap))
        if self.seed is not None and self.seed < 0:
            raise SpecificationError(f"{self.seed}", place="seed", remedy="give an integer, 0 or more")


@dataclass(frozen=True)
class Output(Section):
    """Where results go, ``out`` by default, and in which formats, ``csv`` by default."""

    folder: str | None = None
    formats: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.formats:
            _refuse_other(name, FORMATS, "formats")


@dataclass(frozen=True)
class Specification(Section):
    """What the user specified; :meth:`problem` reads the data and compiles the question.

    Attributes
    ----------
    table, tables
        Either the source of one table, or sources by name for linked tables; neither where :meth:`problem`
        is given a table.
    hierarchies
        Classifications by name: files, or ``"found"`` for the one that sums among the codes make.
    folder
        What paths are relative to.
    """

    table: Source | None = None
    tables: Mapping[str, Source] = field(default_factory=dict)
    hierarchies: Mapping[str, str | Classification] = field(default_factory=dict)
    rules: Rules = Rules()
    attackers: Attackers = Attackers()
    published: Published = Published()
    cost: Cost = Cost()
    protect: Protection = Protection()
    output: Output = Output()
    folder: Path = field(default=Path(), compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.table is not None and self.tables:
            raise SpecificationError(ONE_SOURCE)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Specification:
        """Return the specification of a project file, or of the ``project.toml`` in a folder.

        Raises
        ------
        FormatError
            A fault of the file, with its line and key.
        """
        from tacita.specification.project import load_project

        return load_project(Path(path) / PROJECT if Path(path).is_dir() else path)

    @classmethod
    def of(
        cls, path: str | os.PathLike[str], read: ReadOptions | None = None, *, rule: str | None = None
    ) -> Specification:
        """Return the specification of a case: a project, or a table in any other file or folder.

        Parameters
        ----------
        read, rule
            How the table is read, and what makes its cells sensitive, besides what the file states.
        """
        project = find_project(path)
        found = cls(Source(file=os.fspath(path))) if project is None else cls.load(project)
        found = found if read is None else found.reading(read)
        return found if rule is None else replace(found, rules=replace(found.rules, rule=rule))

    def replace(self, **changes: Any) -> Specification:
        """Return a copy of the specification with other sections; a dictionary changes fields of one."""
        for name, change in changes.items():
            section = getattr(self, name, None)
            if isinstance(change, Mapping) and isinstance(section, Section):
                changes[name] = replace(section, **change)  # type: ignore[type-var]
        return replace(self, **changes)

    def reading(self, read: ReadOptions) -> Specification:
        """Return a copy of the specification whose table is read with those options that are given."""
        given = read.given
        if not given:
            return self
        if self.table is None:
            raise SpecificationError(
                "there are several tables",
                place=next(iter(given)),
                remedy="say in the project how each of them is read",
            )
        if self.table.file is not None:
            refuse_options(self.folder / self.table.file, given)
        hierarchies, trees = dict(self.hierarchies), {}
        for dimension, listed in read.hierarchies.items():
            trees[dimension] = tuple(f"{dimension}-{k}" for k in range(1, len(listed) + 1))
            hierarchies |= {
                name: Classification(self.name(tree))
                for name, tree in zip(trees[dimension], listed, strict=True)
            }
        given = {**given, **({"hierarchies": trees} if trees else {})}
        return replace(self, table=replace(self.table, **given), hierarchies=hierarchies)

    def name(self, path: Path) -> str:
        """Return how the specification names a path that is relative to the working folder."""
        return os.fspath(path) if self.folder == Path() else os.path.abspath(path)

    def at(self, folder: Path) -> Specification:
        """Return a copy of the specification for another folder, relative paths made absolute."""
        if folder.resolve() == self.folder.resolve():
            return replace(self, folder=folder)

        def whole(path: str | None) -> str | None:
            return None if path is None else locate(self.folder.resolve(), path)

        def source(given: Source) -> Source:
            return replace(given, file=whole(given.file), microdata=whole(given.microdata))

        def tree(given: str | Classification) -> str | Classification:
            if isinstance(given, Classification):
                return replace(given, file=whole(given.file))
            return given if given == FOUND and not (self.folder / FOUND).exists() else str(whole(given))

        return replace(
            self,
            table=None if self.table is None else source(self.table),
            tables={name: source(given) for name, given in self.tables.items()},
            hierarchies={name: tree(given) for name, given in self.hierarchies.items()},
            attackers=replace(self.attackers, file=whole(self.attackers.file)),
            published=Published(
                tuple(replace(each, file=str(whole(each.file))) for each in self.published.releases)
            ),
            folder=folder,
        )

    @property
    def sources(self) -> list[Source]:
        """The sources of all tables of the specification: files of cells, or microdata."""
        return [self.table] if self.table is not None else list(self.tables.values())

    @property
    def files(self) -> list[Path]:
        """The paths of all files that the specification names."""
        found = (self.folder / FOUND).exists()
        return [self.folder / name for name in self._named() if found or name != FOUND]

    def _named(self) -> Iterator[str]:
        yield from (source.path for source in self.sources if not is_address(source.path))
        for tree in self.hierarchies.values():
            file = tree if isinstance(tree, str) else tree.file
            yield from () if file is None else (file,)
        yield from () if self.attackers.file is None else (self.attackers.file,)
        yield from (release.file for release in self.published.releases)

    def read(self) -> Statement:
        """Return the specification's table, or linked ones as one, and all that files state of its cells.

        ``problem(read())`` is the problem; where nothing says what is sensitive, one without sensitive cells.
        """
        from tacita.specification.compile import read_statement

        return read_statement(self)

    def problem(self, given: Table | Problem | Statement | None = None) -> Problem:
        """Return the problem (table, levels, attackers, costs) that data and specification state together.

        What a file states of its cells (levels, bounds, costs, cells to be published) holds unless this
        specification says otherwise; a rule can only add to the levels. What the files of linked tables state
        holds together; see :mod:`tacita.formats.linked`.

        Parameters
        ----------
        given
            A table, or what its files state, instead of what the source holds. With a statement no file is
            read: its insiders and earlier releases are all that there are.

        Raises
        ------
        InputError
            A file cannot be read, something does not fit the table, or nothing says what is sensitive.
        """
        from tacita.specification.compile import compile_problem

        return compile_problem(self, given)

    def case(self) -> Problem | Table:
        """Return the specification's problem, or its table where nothing says what is sensitive."""
        from tacita.specification.compile import compile_case

        return compile_case(self)

    def data(self) -> Table:
        """Return the table of the specification, or all its linked tables as one."""
        from tacita.specification.compile import read_data

        return read_data(self)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write ``project.toml`` into a folder, which names the same files; return its path."""
        from tacita.specification.project import save_project

        return save_project(self, Path(folder))


def find_project(path: str | os.PathLike[str]) -> Path | None:
    """Return the project that a path means: the file itself, or ``project.toml`` in a folder; else None."""
    path = Path(path)
    if path.is_dir():
        return path / PROJECT if (path / PROJECT).is_file() else None
    return path if path.suffix.lower() == ".toml" else None
