"""The sections of a specification: frozen values, each a section of ``project.toml``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import isfinite, isnan
from pathlib import Path
from typing import Any, ClassVar, Literal

from tacita.attackers.considered import KINDS
from tacita.core.errors import InputError, SpecificationError, did_you_mean
from tacita.core.outcome import read_gap
from tacita.core.tables.read_options import ReadOptions
from tacita.formats.presentation import USUAL_MARK, check_mark
from tacita.formats.sdmx.release_write import SdmxOptions
from tacita.publication.destination import INTERNAL_FORMATS, find_destination
from tacita.publication.release_write import FORMATS
from tacita.publication.rounded_by_others import RoundingMode
from tacita.rules.protection import USUAL_PERCENT
from tacita.tabulation.address import check_addresses

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
    respondent
        The column of the microdata that says who contributes.
    holding
        The column of the microdata that says which group a respondent belongs to.
    weight
        The column of the microdata with sampling weights.
    request, consent
        Columns of the microdata that say who asked for protection, and who has consented to be recognised; or
        ``{ column = ["1", "2"] }`` with the values that mean yes. See :func:`tacita.tabulate`.
    where
        A condition in SQL on the records.
    """

    file: str | None = None
    microdata: str | None = None
    respondent: str | None = None
    holding: str | None = None
    weight: str | None = None
    request: str | Mapping[str, tuple[str | int, ...]] | None = None
    consent: str | Mapping[str, tuple[str | int, ...]] | None = None
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
        if self.microdata is None and (self.request or self.consent):
            raise SpecificationError(
                "flags are columns of records, and a file of cells has none",
                place="request" if self.request else "consent",
                remedy="name microdata instead of a file",
            )
        if self.microdata is not None and (self.only or self.structure):
            raise SpecificationError(
                "rows of cells are chosen and structured, not records",
                place="only" if self.only else "structure",
                remedy="use where and hierarchies for microdata",
            )
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

    Attributes
    ----------
    cell
        Its codes by dimension; one that is left out is at its total.
    lower, upper, sliding
        Protection levels as amounts.
    protection
        Levels in percent of the value: one number, or the lower and the upper one.
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
    sensitive
        Cells that are sensitive by hand.
    exempt
        Cells by their codes that are not sensitive, whatever rules, files and marks say.
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

    Attributes
    ----------
    kinds
        ``outsider``, ``respondents``, ``holdings``.
    coalitions, holding_coalitions
        Respondents, and holdings, who share what they know: a list of names for each coalition.
    file
        Insiders one by one: a row for each attacker and cell.
    lower, upper, within
        What everyone knows of every cell: bounds, or shares of its value below and above it.
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
    """A release that was published earlier, and how to read it.

    Attributes
    ----------
    file
        The file of the release.
    value
        Its column of numbers.
    base, radius, rounded
        What its numbers are multiples of; how far from the truth they may be; how they were rounded.
    decimal, sheet
        The decimal sign of its numbers; the sheet of a workbook.
    """

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
    """Releases of this table, or of tables that share cells with it, that readers may have.

    Attributes
    ----------
    files
        Names of files, or files with how to read them.
    """

    files: tuple[str | Earlier, ...] = ()

    @property
    def releases(self) -> list[Earlier]:
        """The earlier releases that the specification names, each with how to read its file."""
        return [Earlier(one) if isinstance(one, str) else one for one in self.files]


@dataclass(frozen=True)
class Cost(Section):
    """What hiding a cell costs.

    Attributes
    ----------
    by
        ``value``, ``unit``, ``log``, ``percent``, ``count``, ``distance``, or a column.
    """

    by: str | None = None


@dataclass(frozen=True)
class Decision(Section):
    """Something that was decided by hand.

    Attributes
    ----------
    file
        The file of cells that it was decided of.
    reason, by
        Why, and by whom.
    """

    file: str | None = None
    reason: str | None = None
    by: str | None = None


@dataclass(frozen=True)
class Decisions(Section):
    """Decisions by hand, each a :class:`Decision` or its file alone.

    Cells of these files are decided like those that ``[protect]`` and ``[rules]`` list, and the reasons hold
    for both. Of consents (``waived``) and of attackers who are left out only the reasons stand here.

    Attributes
    ----------
    must_publish
        Cells that must be published as they are.
    must_hide
        Cells that must be hidden.
    sensitive
        Cells that are sensitive by hand.
    exempt
        Cells that are not sensitive, whatever rules say.
    waived
        Why respondents count as having consented.
    attackers
        Why attackers are left out.
    """

    must_publish: str | Decision | None = None
    must_hide: str | Decision | None = None
    sensitive: str | Decision | None = None
    exempt: str | Decision | None = None
    waived: Decision | None = None
    attackers: Decision | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for each in fields(self):
            if isinstance(file := getattr(self, each.name), str):
                object.__setattr__(self, each.name, Decision(file))
        for name in ("waived", "attackers"):
            if self.find(name).file is not None:
                raise SpecificationError(
                    "a reason is all that stands here", place=name, remedy="leave out file"
                )

    def find(self, name: str) -> Decision:
        """Return the decision of a name, without a file or reason if none is specified."""
        return getattr(self, name) or Decision()

    @property
    def given(self) -> dict[str, Decision]:
        """The decisions that the specification states or gives reasons for, by name."""
        return {each.name: self.find(each.name) for each in fields(self) if getattr(self, each.name)}

    def map_files(self, rename: Callable[[str], str | None]) -> Decisions:
        """Return the decisions with other names of their files, or without those that get none."""
        renamed = {
            name: replace(decision, file=None if decision.file is None else rename(decision.file))
            for name, decision in self.given.items()
        }
        return Decisions(**{name: decision for name, decision in renamed.items() if decision != Decision()})


@dataclass(frozen=True)
class Protection(Section):
    """The method and its effort; cells by their codes that must stay or must go.

    Attributes
    ----------
    method, options
        The name of a method, and its options by name.
    time_limit
        Seconds after which the best release so far is taken.
    seed
        What draws follow from: a secret. Without it one is drawn.
    must_publish
        Cells that must be published as they are.
    must_hide
        Cells that must be hidden.
    gap
        The optimality gap that is enough: 0.05 or ``"5%"``.
    start
        A release whose pattern the search begins with, such as last period's.
    """

    method: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    time_limit: float | None = None
    seed: int | None = None
    must_publish: tuple[Cell, ...] = ()
    must_hide: tuple[Cell, ...] = ()
    gap: float | str | None = None
    start: str | None = None

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
    """Where results go and what they look like.

    Attributes
    ----------
    folder, file
        A folder, ``out`` by default, or a file, beside which internal files go; see
        :mod:`tacita.publication.destination`.
    formats
        Further formats, besides ``csv`` in a folder or that of the file.
    mark, title
        What stands in place of suppressed numbers, and above the table, where it is laid out.
    dataflow, attributes, tell_primary
        Of SDMX-CSV: its dataflow, attributes to keep, and whether it tells primary cells from others; see
        :mod:`tacita.formats.sdmx.release_write`.
    layout, keep_sheets
        Of a workbook that is made of a workbook: that of the ``input``, or a ``new`` one; and whether further
        sheets that hold nothing but texts are kept.
    """

    folder: str | None = None
    formats: tuple[str, ...] = ()
    file: str | None = None
    mark: str = USUAL_MARK
    title: str = ""
    dataflow: str | None = None
    attributes: tuple[str, ...] = ()
    tell_primary: bool = False
    layout: Literal["input", "new"] = "input"
    keep_sheets: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _refuse_other(self.layout, ("input", "new"), "layout")
        for name in self.formats:
            _refuse_other(name, (*FORMATS, *INTERNAL_FORMATS), "formats")
        if self.folder is not None and self.file is not None:
            raise SpecificationError("give either folder or file")
        if self.file is not None and find_destination(Path(self.file)).file is None:
            raise SpecificationError(f"'{self.file}' has no ending of a format of releases", place="file")
        try:
            check_mark(self.mark)
        except InputError as error:
            raise SpecificationError(f"mark: {error.fault}", remedy=error.remedy or "") from None
        self.describe_sdmx()

    def describe_sdmx(self, like: Path | None = None, read: ReadOptions | None = None) -> SdmxOptions:
        """Return how the specification has SDMX-CSV written: like a file that was read, if there is one."""
        try:
            return SdmxOptions(self.dataflow, self.attributes, self.tell_primary, like, read or ReadOptions())
        except InputError as error:
            raise SpecificationError(error.fault, remedy=error.remedy or "") from None
