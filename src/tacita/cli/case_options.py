"""The case a verb works on: a file, and what the command line says about it.

Whatever the command line says wins over what the file says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tacita.cli.console import say
from tacita.core.errors import InputError
from tacita.core.tables.read_options import ReadOptions, UndeclaredSums

if TYPE_CHECKING:
    from tacita.core.release import Release
    from tacita.core.tables.table import Table
    from tacita.problem.problem import Problem
    from tacita.specification.specification import Specification

Case = Annotated[
    Path,
    typer.Argument(
        metavar="CASE",
        help="JJ file, table (CSV, Parquet, Excel), thesis folder, project.toml or its folder.",
    ),
]
ReleaseFile = Annotated[
    Path, typer.Argument(metavar="RELEASE", help="The release, or the folder that its results went to.")
]
TABLE = "The table"
REQUIREMENT = "What is sensitive, and who attacks"
NOTHING_SENSITIVE = "nothing is sensitive under these rules: nothing was protected or checked"


def _flag(name: str, *flags: str, text: str | None = None, metavar: str | None = None) -> Any:
    """Return the option that sets a field of ReadOptions, with the help of the field."""
    words = text or ReadOptions.__dataclass_fields__[name].metadata["help"]
    return typer.Option(*flags, help=words, metavar=metavar, rich_help_panel=TABLE)


@dataclass(frozen=True)
class CaseFlags:
    """What the command line says of a case: how its table is read, what is sensitive, who attacks."""

    by: Annotated[
        list[str],
        _flag(
            "by",
            metavar="NAME",
            text="A column of codes; repeat. Other columns without a part are then left aside.",
        ),
    ] = field(default_factory=list)
    hierarchy: Annotated[
        list[str],
        _flag(
            "hierarchies",
            metavar="NAME=FILE",
            text="Classification of a dimension: CSV (parent, child) or .hrc; NAME=found: the one that sums "
            "among its codes make. Repeat for more.",
        ),
    ] = field(default_factory=list)
    total: Annotated[list[str], _flag("total", metavar="NAME=CODE")] = field(default_factory=list)
    value: Annotated[str | None, _flag("value")] = None
    count: Annotated[str | None, _flag("count")] = None
    counts: Annotated[bool | None, _flag("counts", "--counts/--magnitudes")] = None
    repair: Annotated[bool, _flag("repair", "--repair")] = False
    undeclared_sums: Annotated[UndeclaredSums, _flag("undeclared_sums")] = "refuse"
    decimal: Annotated[str, _flag("decimal")] = "."
    sheet: Annotated[str | None, _flag("sheet", metavar="NAME")] = None

    rules: Annotated[
        str | None,
        typer.Option(help="Such as 'p-percent(10) | threshold(3)'.", rich_help_panel=REQUIREMENT),
    ] = None
    attackers: Annotated[
        str | None,
        typer.Option(
            help="outsider, respondents, holdings; several with commas. By default all contributors whom the "
            "microdata name; outsider leaves them out.",
            rich_help_panel=REQUIREMENT,
        ),
    ] = None
    lower: Annotated[
        float | None,
        typer.Option(help="What everyone knows cells not to be below.", rich_help_panel=REQUIREMENT),
    ] = None
    upper: Annotated[
        float | None,
        typer.Option(help="What everyone knows cells not to be above.", rich_help_panel=REQUIREMENT),
    ] = None
    cost: Annotated[
        str | None,
        typer.Option(
            help="value, unit, log, percent, count, distance, or a column.", rich_help_panel=REQUIREMENT
        ),
    ] = None
    published: Annotated[
        list[str],
        typer.Option(
            metavar="OLD",
            help="A release that readers may have, of this table or one that shares cells with it; repeat. "
            "OLD:base=5 or OLD:radius=2 if its numbers are rounded or adjusted.",
            rich_help_panel=REQUIREMENT,
        ),
    ] = field(default_factory=list)

    @property
    def require(self) -> bool:
        """Whether something is said of what is sensitive, who attacks, or what hiding costs."""
        said = (self.rules, self.attackers, self.lower, self.upper, self.cost)
        return bool(self.published) or any(each is not None for each in said)

    @property
    def read(self) -> ReadOptions:
        """What the flags say."""
        trees: dict[str, list[Path]] = {}
        found = []
        for text in self.hierarchy:
            name, file = pair(text, "--hierarchy NAME=FILE")
            if file == "found" and not Path(file).exists():
                found.append(name)
            else:
                trees.setdefault(name, []).append(Path(file))
        plain = ("value", "count", "counts", "repair", "undeclared_sums", "sheet")
        return ReadOptions(
            self.by or None,
            trees,
            pairs(self.total, "--total") or None,
            found,
            decimal=None if self.decimal == "." else self.decimal,
            **{name: getattr(self, name) for name in plain},
        )

    def specify(self, path: Path) -> Specification:
        """Return the specification of a case, changed by what the flags say.

        Rules of the command line take the place of a project's, and of the consents to them; what a file or
        a project says of single cells holds besides. Attackers that are named take the place of others.
        """
        from tacita.cli.earlier import named_with_options
        from tacita.specification.specification import Earlier, Specification, project_file

        said = Specification.of(path, self.read)
        changes: dict[str, dict[str, Any]] = {"rules": {}, "attackers": {}, "cost": {}, "published": {}}
        if self.rules:
            changes["rules"] = {"rule": self.rules, "waived": ()}
        if self.attackers is not None:
            kinds = [word.strip() for word in self.attackers.split(",") if word.strip()]
            if project_file(path) is None:
                _refuse_contributors(path, kinds)
            nobody: dict[str, Any] = {"coalitions": (), "holding_coalitions": (), "file": None}
            changes["attackers"] = {"kinds": kinds, **nobody}
        changes["attackers"] |= {
            side: bound for side in ("lower", "upper") if (bound := getattr(self, side)) is not None
        }
        if self.cost:
            changes["cost"] = {"by": self.cost}
        named = [named_with_options(text) for text in self.published]
        if missing := next((file for file, _ in named if not file.exists()), None):
            raise InputError(f"{missing}: no such file or folder; check the path")
        earlier = [
            Earlier(said.name(release_file(file)), **{"decimal": self.decimal, **own}) for file, own in named
        ]
        changes["published"] = {"files": (*said.published.files, *earlier)}
        return said.replace(**changes)


@dataclass(frozen=True)
class ReleaseOptions:
    """How to read a release that was made elsewhere."""

    base: Annotated[float | None, typer.Option(help="The release is rounded to multiples of this base.")] = (
        None
    )
    radius: Annotated[
        float | None, typer.Option(help="The release is adjusted; the truth is announced to be this near.")
    ] = None
    rounded: Annotated[
        Literal["nearest", "down", "up", "adjacent", "within"] | None,
        typer.Option(
            help="With --base: how numbers were rounded. Default: the first of these that all numbers agree "
            "with; the verdict names it."
        ),
    ] = None
    absent: Annotated[
        Literal["refuse", "suppressed"],
        typer.Option(help="Cells that the release does not list: 'refuse' it, or they are 'suppressed'."),
    ] = "refuse"
    release_sheet: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Sheet of a release that is a workbook, as --sheet is the case's."),
    ] = None


def pose_problem(path: Path, flags: CaseFlags) -> Problem:
    """Return the question that a file and the flags ask together; notes on the way go to stderr."""
    from tacita.formats.columns import has_columns
    from tacita.problem.problem import Problem
    from tacita.specification.specification import project_file

    said = flags.specify(path)
    found = said.case()
    table = found.table if isinstance(found, Problem) else found
    taken = table.whole and flags.counts is None and table.count is None
    if taken and project_file(path) is None and has_columns(path):
        # That cells are integers stops attackers, and may be counted on only if everyone knows it.
        say(
            "values are whole numbers and were taken as counts; say --magnitudes if they are amounts",
            "note:",
            "yellow",
        )
    tell_notes(table)
    problem = found if isinstance(found, Problem) else said.problem(found)
    for old, release in zip(said.published.releases, problem.already_published, strict=True):
        tell_left_out(Path(old.file), release)
    for note in problem.published_notes:
        say(note, "note:", "yellow")
    tell_warnings(problem.warnings[len(problem.table.warnings) :])
    if problem.exempt.any():
        from tacita.auditing.audit import exempt_in_words

        say(f"{exempt_in_words(problem)}: declared not sensitive, and not checked", "note:", "yellow")
    if not len(problem.levels):
        say(NOTHING_SENSITIVE, "warning:", "bold yellow")
    return problem


def _refuse_contributors(path: Path, kinds: Sequence[str]) -> None:
    from tacita.attackers.considered import KINDS

    if inside := [kind for kind in kinds if kind in KINDS]:
        raise InputError(
            f"{path}: --attackers {inside[0]} needs to know who they are, but a table file does not carry "
            "who stands behind the cells: use a project.toml with microdata (see docs/how-to.md)"
        )


def tell_notes(table: Table, most: int = 10) -> None:
    """What was done to the input, on stderr."""
    tell_warnings(table.warnings)
    for note in table.notes[:most]:
        say(note, "note:", "yellow")
    if len(table.notes) > most:
        say(f"{len(table.notes) - most:,} more like these", "note:", "yellow")


def tell_warnings(warnings: Sequence[str], most: int = 10) -> None:
    """What may not be meant as it stands, on stderr."""
    for text in warnings[:most]:
        say(text, "warning:", "bold yellow")
    if len(warnings) > most:
        say(f"{len(warnings) - most:,} more like these", "warning:", "bold yellow")


def load_release(path: Path, problem: Problem, options: ReleaseOptions, decimal: str) -> Release:
    """A release of this problem's table from a file, or from the release.csv of a folder of results.

    Every error names the file, since the case is a file too.
    """
    from tacita.cli.earlier import own_options
    from tacita.formats.workbook import name_other_sheets
    from tacita.publication.release_read import read_release

    path, options, more = own_options(path, options, decimal)
    if not path.exists():
        raise InputError(f"{path}: no such file or folder; check the path")
    try:
        with name_other_sheets(path, options.release_sheet):
            release = read_release(
                release_file(path),
                problem.table,
                base=options.base,
                radius=options.radius,
                rounded=options.rounded,
                absent=options.absent,
                sheet=options.release_sheet,
                **more,
            )
    except InputError as error:
        told = error.map_parts(lambda text: text.replace("the sheet:", "the sheet of the release:"))
        told.options = tuple("release_sheet" if name == "sheet" else name for name in error.options)
        raise told if str(told).startswith(str(path)) else told.with_place(path) from error
    tell_left_out(path, release)
    return release


def tell_left_out(path: Path, release: Release) -> None:
    """What was left out of the file of a release, on stderr."""
    for note in release.notes:
        say(f"{path}: {note}", "note:", "yellow")


def release_file(path: Path) -> Path:
    """The file that holds a release: itself, or release.csv in a folder or its ``publication``."""
    from tacita.publication.folders import find_release

    return find_release(path) if path.is_dir() else path


def pairs(given: Iterable[str], option: str) -> dict[str, str]:
    """``NAME=VALUE`` texts as a mapping."""
    return dict(pair(text, f"{option} NAME=VALUE") for text in given)


def pair(text: str, usage: str) -> tuple[str, str]:
    """``NAME=VALUE`` as two texts."""
    name, sign, value = text.partition("=")
    if not sign or not name or not value:
        raise InputError(f"'{text}' should be written as {usage}")
    return name.strip(), value.strip()
