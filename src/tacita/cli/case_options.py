"""The case a verb works on: a file, and what the command line says about it.

Whatever the command line says wins over what the file says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tacita.cli.console import say
from tacita.core.errors import InputError
from tacita.core.tables.read_options import ReadOptions, UndeclaredSums

if TYPE_CHECKING:
    from tacita.core.levels import Levels
    from tacita.core.release import Release
    from tacita.core.tables.table import Table
    from tacita.problem.problem import Problem
    from tacita.rules import Rule

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
class TableOptions:
    """How to read a table: flags that set fields of :class:`ReadOptions`."""

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


@dataclass(frozen=True)
class RequirementOptions:
    """What is sensitive, who attacks, and what it costs to hide a cell."""

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


def load_case(
    path: Path, options: TableOptions, requirement: RequirementOptions | None = None
) -> Problem | Table:
    """What a file holds: a problem if it, or the rules required, say what is sensitive; else a table."""
    from tacita.specification.read_case import read_case

    required = requirement or RequirementOptions()
    said = {"rule": required.rules, "lower": required.lower, "upper": required.upper}
    return read_case(path, options.read, **{name: value for name, value in said.items() if value is not None})


def load_problem(path: Path, table: TableOptions, requirement: RequirementOptions) -> Problem:
    """The question that a file and the command line ask together; notes on the way go to stderr."""
    from tacita.cli.earlier import with_published
    from tacita.formats.columns import has_columns
    from tacita.problem.problem import Problem

    earlier, requirement = requirement.published, replace(requirement, published=[])
    _refuse_unknown_contributors(path, requirement)
    if has_columns(path):
        # A table file has costs and bounds besides the rule, which only its reader knows how to join.
        loaded = load_case(path, table, requirement)
        requirement = replace(requirement, rules=None, lower=None, upper=None)
        _tell_counts(loaded.table if isinstance(loaded, Problem) else loaded, table)
    else:
        loaded = load_case(path, table)
    tell_notes(loaded.table if isinstance(loaded, Problem) else loaded)
    if isinstance(loaded, Problem) and requirement == RequirementOptions():
        problem = loaded
    else:
        problem = _restated(loaded, requirement, path)
    problem = with_published(problem, earlier, table.decimal)
    tell_warnings(problem.warnings[len(problem.table.warnings) :])
    if problem.exempt.any():
        from tacita.auditing.audit import exempt_in_words

        say(f"{exempt_in_words(problem)}: declared not sensitive, and not checked", "note:", "yellow")
    if not len(problem.levels):
        say(NOTHING_SENSITIVE, "warning:", "bold yellow")
    return problem


def _refuse_unknown_contributors(path: Path, requirement: RequirementOptions) -> None:
    from tacita.attackers.considered import KINDS
    from tacita.specification.specification import project_file

    words = [word.strip() for word in (requirement.attackers or "").split(",")]
    if project_file(path) is None and (inside := [word for word in words if word in KINDS]):
        raise InputError(
            f"{path}: --attackers {inside[0]} needs to know who they are, but a table file does not carry "
            "who stands behind the cells: use a project.toml with microdata (see docs/how-to.md)"
        )


def _tell_counts(table: Table, options: TableOptions) -> None:
    """Attackers are stopped by what they do not know: that cells are whole is theirs only if it is true."""
    if table.whole and options.counts is None and table.count is None:
        say(
            "values are whole numbers and were taken as counts; say --magnitudes if they are amounts",
            "note:",
            "yellow",
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


def _restated(loaded: Problem | Table, requirement: RequirementOptions, path: Path) -> Problem:
    """The problem with rules, attackers and costs of the command line."""
    from tacita.core.attacker import Outsider
    from tacita.problem.problem import Problem
    from tacita.rules import parse_rule

    rule = parse_rule(requirement.rules) if requirement.rules else None
    attackers: list[Any] = [word.strip() for word in (requirement.attackers or "").split(",") if word.strip()]
    bounds = (requirement.lower, requirement.upper)
    if isinstance(loaded, Problem):
        attackers.append(Outsider.as_said(loaded.table, loaded.outsider_beforehand, *bounds))
        if requirement.attackers is None:
            attackers.extend(loaded.given_attackers)
        return Problem(
            loaded.table,
            _joined(rule, loaded),
            attackers,
            requirement.cost or loaded.cost,
            loaded.must_publish.nonzero()[0],
            loaded.must_hide.nonzero()[0],
            loaded.already_published,
        )
    if rule is None:
        raise InputError(
            f"{path} does not say which cells are sensitive: give rules, such as --rules 'threshold(3)', "
            "or a column 'status' with u for sensitive cells"
        )
    return Problem(
        loaded, rule, [*attackers, Outsider.as_said(loaded, None, *bounds)], requirement.cost or "value"
    )


def _joined(rule: Rule | None, loaded: Problem) -> Rule | Levels:
    """Rules of the command line instead of the project's; what a file or the project says of single cells
    holds besides.
    """
    from tacita.rules import Exempt, Given, Marked
    from tacita.rules.rule import in_parts

    if rule is None:
        return loaded.rule or loaded.levels
    if loaded.rule is None:
        return rule | Given(loaded.levels)
    parts, exempt = in_parts(loaded.rule)
    kept = (p for p in parts if isinstance(p, Given) or (isinstance(p, Marked) and p.by_position))
    joined = reduce(or_, kept, rule)
    return Exempt(joined, exempt) if exempt else joined


def load_release(path: Path, problem: Problem, options: ReleaseOptions, decimal: str) -> Release:
    """A release of this problem's table from a file, or from the release.csv of a folder of results.

    Every error names the file, since the case is a file too.
    """
    from tacita.cli.earlier import own_options
    from tacita.formats.workbook import other_sheets_told
    from tacita.publication.release_read import read_release

    path, options, more = own_options(path, options, decimal)
    if not path.exists():
        raise InputError(f"{path}: no such file or folder; check the path")
    try:
        with other_sheets_told(path, options.release_sheet):
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
        told = error.reworded(str(error).replace("the sheet:", "the sheet of the release:"))
        told.options = tuple("release_sheet" if name == "sheet" else name for name in error.options)
        raise told if str(told).startswith(str(path)) else told.at(path) from error
    tell_left_out(path, release)
    return release


def tell_left_out(path: Path, release: Release) -> None:
    """What was left out of the file of a release, on stderr."""
    for note in release.notes:
        say(f"{path}: {note}", "note:", "yellow")


def release_file(path: Path) -> Path:
    """The file that holds a release: itself, or release.csv in a folder or its ``publication``."""
    from tacita.publication.folders import release_in

    return release_in(path) if path.is_dir() else path


def pairs(given: Iterable[str], option: str) -> dict[str, str]:
    """``NAME=VALUE`` texts as a mapping."""
    return dict(pair(text, f"{option} NAME=VALUE") for text in given)


def pair(text: str, usage: str) -> tuple[str, str]:
    """``NAME=VALUE`` as two texts."""
    name, sign, value = text.partition("=")
    if not sign or not name or not value:
        raise InputError(f"'{text}' should be written as {usage}")
    return name.strip(), value.strip()
