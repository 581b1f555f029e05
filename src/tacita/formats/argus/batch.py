"""Batches of tau-ARGUS as values: one class per command, in the order of the file.

:mod:`tacita.formats.argus.batch_file` reads and writes them as ``.arb`` files. What is read is kept as it is
written, whether Tacita honours it or not; :mod:`tacita.batch` carries a batch out and says what it does not.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

from tacita.core.errors import FormatError

Number: TypeAlias = int | float
Kind: TypeAlias = Literal["table", "number", "switch"]


def parameter(kind: Kind, name: str, *, optional: bool = True) -> Any:
    """Return a field for a parameter between brackets: a number of a table, any number, or 0 or 1."""
    about = {"kind": kind, "name": name}
    return field(default=None, metadata=about) if optional else field(metadata=about)


@dataclass(frozen=True)
class Term:
    """A word with parameters in brackets, such as ``NK(3,75)``; those that are left out are None."""

    word: ClassVar[str]

    def __post_init__(self) -> None:
        given = [value is not None for value in self.parameters]
        if given != sorted(given, reverse=True):
            raise FormatError(
                f"a parameter of {self.word} is left out before one that is given",
                remedy="give all of those before it",
            )

    @property
    def parameters(self) -> list[Number | None]:
        """The numbers between the brackets of a term, in order."""
        return [getattr(self, each.name) for each in fields(self) if "kind" in each.metadata]


# ------------------------------------------------------------------ safety rules


@dataclass(frozen=True)
class PRule(Term):
    """``P(p)``, ``P(p,n)`` or ``P(p,q,n)``: as written, first, second and third number."""

    word: ClassVar[str] = "P"
    p: Number = parameter("number", "p", optional=False)
    second: Number | None = parameter("number", "n or q")
    third: Number | None = parameter("number", "n")

    @property
    def n(self) -> Number:
        """How many attack together."""
        return 1 if self.second is None else self.second if self.third is None else self.third

    @property
    def q(self) -> Number:
        """To how many percent contributions are known beforehand."""
        return 100 if self.third is None or self.second is None else self.second


@dataclass(frozen=True)
class NKRule(Term):
    """``NK(n,k)``: the n largest hold more than k percent."""

    word: ClassVar[str] = "NK"
    n: Number = parameter("number", "n", optional=False)
    k: Number = parameter("number", "k", optional=False)


@dataclass(frozen=True)
class FrequencyRule(Term):
    """``FREQ(min,range)``: fewer than ``minimum`` contributors; levels of ``range`` percent."""

    word: ClassVar[str] = "FREQ"
    minimum: Number = parameter("number", "min", optional=False)
    percent: Number = parameter("number", "range", optional=False)


@dataclass(frozen=True)
class RequestRule(Term):
    """``REQ(pct1,pct2,minfreq,range)``; with three numbers, as in the manual, ``minfreq`` is left out."""

    word: ClassVar[str] = "REQ"
    first: Number = parameter("number", "pct1", optional=False)
    second: Number = parameter("number", "pct2", optional=False)
    third: Number = parameter("number", "minfreq", optional=False)
    fourth: Number | None = parameter("number", "range")

    @property
    def minimum(self) -> Number:
        """The least number of contributors of cells that the rule looks at."""
        return 0 if self.fourth is None else self.third

    @property
    def percent(self) -> Number:
        """Levels in percent of the value."""
        return self.third if self.fourth is None else self.fourth


@dataclass(frozen=True)
class ZeroRule(Term):
    """``ZERO(range)``: zeros are sensitive, with an upper level of so much."""

    word: ClassVar[str] = "ZERO"
    amount: Number = parameter("number", "range", optional=False)


@dataclass(frozen=True)
class WeightRule(Term):
    """``WGT(0|1)``: whether weights are applied to contributions."""

    word: ClassVar[str] = "WGT"
    on: Number = parameter("switch", "0 or 1", optional=False)


@dataclass(frozen=True)
class MissingRule(Term):
    """``MIS(0|1)``: whether cells with a code for missing are safe."""

    word: ClassVar[str] = "MIS"
    on: Number = parameter("switch", "0 or 1", optional=False)


@dataclass(frozen=True)
class ManualRule(Term):
    """``MAN(pct)``: levels of cells that are unsafe by hand, in percent."""

    word: ClassVar[str] = "MAN"
    percent: Number = parameter("number", "pct", optional=False)


RULES: tuple[type[Term], ...] = (
    PRule,
    NKRule,
    FrequencyRule,
    RequestRule,
    ZeroRule,
    WeightRule,
    MissingRule,
    ManualRule,
)

# ------------------------------------------------------------------ methods


@dataclass(frozen=True)
class Protector(Term):
    """A method with the table it protects; 0 means all tables together, for those that are ``linked``."""

    linked: ClassVar[bool] = False
    table: int = parameter("table", "table", optional=False)


@dataclass(frozen=True)
class Hypercube(Protector):
    word: ClassVar[str] = "GH"
    linked: ClassVar[bool] = True
    apriori_percent: Number | None = parameter("number", "aprioriPct")
    size: Number | None = parameter("switch", "size")
    singleton: Number | None = parameter("number", "singleton")


@dataclass(frozen=True)
class Modular(Protector):
    word: ClassVar[str] = "MOD"
    linked: ClassVar[bool] = True
    minutes: Number | None = parameter("number", "minutes")
    single_single: Number | None = parameter("number", "ss")
    single_multiple: Number | None = parameter("number", "sm")
    minimum_frequency: Number | None = parameter("number", "minfreq")
    largest_cost: Number | None = parameter("number", "maxScaleCost")
    lower_margin: Number | None = parameter("number", "lowerMarg")
    upper_margin: Number | None = parameter("number", "upperMarg")


@dataclass(frozen=True)
class Optimal(Protector):
    word: ClassVar[str] = "OPT"
    minutes: Number | None = parameter("number", "minutes")


@dataclass(frozen=True)
class NetworkFlow(Protector):
    word: ClassVar[str] = "NET"


@dataclass(frozen=True)
class ControlledAdjustment(Protector):
    word: ClassVar[str] = "CTA"


@dataclass(frozen=True)
class ControlledRounding(Protector):
    word: ClassVar[str] = "RND"
    base: Number = parameter("number", "base", optional=False)
    steps: Number | None = parameter("number", "steps")
    minutes: Number | None = parameter("number", "minutes")
    partition: Number | None = parameter("switch", "partition")
    stop: Number | None = parameter("number", "stop")
    unit_cost: Number | None = parameter("switch", "unitcost")


@dataclass(frozen=True)
class CellKey(Protector):
    """``CKM(t)`` and up to three arguments after it, separated by bars."""

    word: ClassVar[str] = "CKM"
    arguments: tuple[str, ...] = ()


METHODS: tuple[type[Protector], ...] = (
    Hypercube,
    Modular,
    Optimal,
    NetworkFlow,
    ControlledAdjustment,
    ControlledRounding,
    CellKey,
)

# ------------------------------------------------------------------ commands


@dataclass(frozen=True)
class Command:
    """A command of a batch; ``place`` is its file and line, for messages."""

    keyword: ClassVar[str]
    place: str = field(default="", compare=False, kw_only=True)


@dataclass(frozen=True)
class FileCommand(Command):
    """A command that names a file."""

    file: str


class OpenMicrodata(FileCommand):
    keyword = "<OPENMICRODATA>"


class OpenTableData(FileCommand):
    keyword = "<OPENTABLEDATA>"


class OpenMetadata(FileCommand):
    keyword = "<OPENMETADATA>"


class Logbook(FileCommand):
    keyword = "<LOGBOOK>"


class VersionInfo(FileCommand):
    keyword = "<VERSIONINFO>"


@dataclass(frozen=True)
class SpecifyTable(Command):
    """Spanning variables, response (None: a table of frequencies), shadow variable, cost and its exponent.

    ``cost`` is the name of a variable, -1 for frequencies, -2 for 1 each, or -3 for distances.
    """

    keyword = "<SPECIFYTABLE>"
    spanning: tuple[str, ...]
    response: str | None = None
    shadow: str | None = None
    cost: str | int | None = None
    exponent: Number | None = None


@dataclass(frozen=True)
class SafetyRule(Command):
    """What makes cells of the last table unsafe; no rules: the status that its file gives."""

    keyword = "<SAFETYRULE>"
    rules: tuple[Term, ...] = ()


class ReadMicrodata(Command):
    keyword = "<READMICRODATA>"


@dataclass(frozen=True)
class ReadTable(Command):
    """How totals are read: 0 they must add up, 1 they are computed, 2 they need not add up."""

    keyword = "<READTABLE>"
    mode: int | None = None
    keep_status: bool | None = None


@dataclass(frozen=True)
class Recode(Command):
    """A variable of a table at fewer codes: by a file, or down to a level."""

    keyword = "<RECODE>"
    table: int
    variable: str
    by: str | int


@dataclass(frozen=True)
class Apriori(Command):
    """Decisions on single cells of a table, in a file."""

    keyword = "<APRIORI>"
    file: str
    table: int
    separator: str
    ignore_errors: int | None = None
    expand_trivial: int | None = None


@dataclass(frozen=True)
class Suppress(Command):
    keyword = "<SUPPRESS>"
    method: Protector


@dataclass(frozen=True)
class WriteTable(Command):
    """A table to a file, in one of seven kinds, with options such as ``("AS", True)`` for ``AS+``."""

    keyword = "<WRITETABLE>"
    table: int
    kind: int
    options: tuple[tuple[str, bool], ...]
    file: str


@dataclass(frozen=True)
class Solver(Command):
    keyword = "<SOLVER>"
    name: str
    licence: str | None = None


class Clear(Command):
    keyword = "<CLEAR>"


class Silent(Command):
    keyword = "<SILENT>"


class GoInteractive(Command):
    keyword = "<GOINTERACTIVE>"


@dataclass(frozen=True)
class OtherCommand(Command):
    """A command of tau-ARGUS's own use, whose arguments are kept as words: ANCO, COVER, JJ."""

    words: tuple[str, ...] = ()


class Anco(OtherCommand):
    keyword = "<ANCO>"


class Cover(OtherCommand):
    keyword = "<COVER>"


class IgnoredJJ(OtherCommand):
    keyword = "<JJ>"


COMMANDS: dict[str, type[Command]] = {
    kind.keyword: kind
    for kind in (
        *(OpenMicrodata, OpenTableData, OpenMetadata, SpecifyTable, SafetyRule, ReadMicrodata, ReadTable),
        *(Recode, Apriori, Suppress, WriteTable, Solver, Logbook, VersionInfo, Clear, Silent),
        *(GoInteractive, Anco, Cover, IgnoredJJ),
    )
}
"""The commands by keyword."""
KINDS = {1: "crosstab", 2: "pivot", 3: "code-value", 4: "sbs", 5: "intermediate", 6: "jj", 7: "cell-key"}
"""What the numbers of <WRITETABLE> stand for."""
OPTIONS = ("AR", "AS", "FL", "HI", "HL", "QU", "SE", "SO", "TR", "AO", "AD", "AC")
"""Options of <WRITETABLE>."""
COSTS = (-1, -2, -3)
SOLVERS = ("CPLEX", "XPRESS", "FREE")


@dataclass(frozen=True)
class Batch:
    """The commands of a batch in order, the file they stand in, and notes on how it was read."""

    commands: tuple[Command, ...]
    path: Path = field(default=Path(), compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
