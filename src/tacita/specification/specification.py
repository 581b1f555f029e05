"""What the user specified: one frozen value, from the source of the table to the files of the release.

``project.toml`` is its written form, section by section; see :mod:`tacita.specification.project`. Paths are
relative to :attr:`Specification.folder`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacita.core.errors import SpecificationError
from tacita.core.hierarchy import Digits
from tacita.core.tables.read_options import ReadOptions
from tacita.formats.case_file import refuse_options
from tacita.specification.classification import Classification
from tacita.specification.sections import (
    Attackers,
    Cost,
    Decisions,
    Output,
    Protection,
    Published,
    Rules,
    Section,
    Source,
)
from tacita.tabulation.address import is_address, locate

if TYPE_CHECKING:
    from tacita.core.hierarchy import Hierarchy
    from tacita.core.tables.table import Table
    from tacita.formats.sdmx.release_write import SdmxOptions
    from tacita.problem.problem import Problem
    from tacita.specification.statement import Statement

FOUND = "found"
"""Stands for a file of a classification that is to be found in the numbers."""
PROJECT = "project.toml"
"""What a project is called in a folder that stands for it."""
ONE_SOURCE = "give either [table] or, for linked tables, [tables.NAME] several times"
BESIDE = ("structure", "metadata", "apriori")
"""Files besides the data that a source names."""
OUT = "out"
"""The folder of results unless the output names one."""


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
    rules: Rules = field(default_factory=Rules)
    attackers: Attackers = field(default_factory=Attackers)
    decisions: Decisions = field(default_factory=Decisions)
    published: Published = field(default_factory=Published)
    cost: Cost = field(default_factory=Cost)
    protect: Protection = field(default_factory=Protection)
    output: Output = field(default_factory=Output)
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
                name: Classification(digits=tree.written)
                if isinstance(tree, Digits)
                else Classification(self.name(tree))
                for name, tree in zip(trees[dimension], listed, strict=True)
            }
        paths = {name: self.name(Path(given[name])) for name in BESIDE if name in given}
        given = {**given, **paths, **({"hierarchies": trees} if trees else {})}
        if read.recode:
            given["recode"] = {name: self.name(Path(file)) for name, file in read.recode.items()}
        return replace(self, table=replace(self.table, **given), hierarchies=hierarchies)

    def classified(self, dimension: str, tree: Hierarchy) -> Specification:
        """Return a copy of the specification whose records are tabulated with another tree of a dimension."""
        if self.table is None or self.table.by is None:
            raise SpecificationError("there is no table whose dimensions are specified", place="by")
        by = self.table.by
        if not isinstance(by, Mapping):
            by = {column: column if column in self.hierarchies else "" for column in by}
        others = {
            name
            for column, given in by.items()
            if column != dimension
            for name in ((given,) if isinstance(given, str) else given)
        }
        name = dimension
        while name in others:
            name += "-tree"
        trees = {other: given for other, given in self.hierarchies.items() if other in others}
        source = replace(self.table, by={**by, dimension: name})
        return replace(self, table=source, hierarchies={**trees, name: Classification.of(tree)})

    def name(self, path: Path) -> str:
        """Return how the specification names a path that is relative to the working folder."""
        return os.fspath(path) if self.folder == Path() else os.path.abspath(path)

    def at(self, folder: Path) -> Specification:
        """Return a copy of the specification for another folder, relative paths made absolute."""
        if folder.resolve() == self.folder.resolve():
            return replace(self, folder=folder)
        return replace(self.map_files(lambda path: locate(self.folder.resolve(), path)), folder=folder)

    def map_files(self, rename: Callable[[str], str]) -> Specification:
        """Return a copy of the specification with other names of the files that it names."""

        def whole(path: str | None) -> str | None:
            return None if path is None else rename(path)

        def source(given: Source) -> Source:
            return replace(
                given,
                file=whole(given.file),
                microdata=whole(given.microdata),
                structure=whole(given.structure),
                recode={name: str(whole(file)) for name, file in given.recode.items()},
                metadata=whole(given.metadata),
                apriori=whole(given.apriori),
            )

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
            decisions=self.decisions.map_files(whole),
            protect=replace(self.protect, start=whole(self.protect.start)),
        )

    def describe_sdmx(self) -> SdmxOptions:
        """Return how the specification has releases written as SDMX-CSV: like its table, if that is, too."""
        from tacita.formats.sdmx.release_write import is_sdmx_file

        source = self.table
        if source is None or source.file is None or not is_sdmx_file(self.folder / source.file):
            return self.output.describe_sdmx()
        read = ReadOptions(**{each.name: getattr(source, each.name) for each in fields(ReadOptions)})
        if read.structure is not None:
            read = replace(read, structure=self.folder / read.structure)
        return self.output.describe_sdmx(self.folder / source.file, read)

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
        for source in self.sources:
            yield from (file for name in BESIDE if (file := getattr(source, name)) is not None)
        yield from (file for source in self.sources for file in source.recode.values())
        for tree in self.hierarchies.values():
            file = tree if isinstance(tree, str) else tree.file
            yield from () if file is None else (file,)
        yield from () if self.attackers.file is None else (self.attackers.file,)
        yield from (release.file for release in self.published.releases)
        yield from (each.file for each in self.decisions.given.values() if each.file is not None)
        yield from () if self.protect.start is None else (self.protect.start,)

    @property
    def says_what_is_sensitive(self) -> bool:
        """Whether the specification says which cells are sensitive, so that files of cells need not."""
        return self.rules.says_what_is_sensitive or self.decisions.find("sensitive").file is not None

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
            read but those of decisions: its insiders and earlier releases are all that there are.

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
