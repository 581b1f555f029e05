"""The case that a verb works on: a file, and the flags of the command line, which go before it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacita.cli.console import print_notes, print_warnings
from tacita.cli.release_options import find_release_file, print_release_notes, refuse_missing, split_options
from tacita.core.errors import InputError
from tacita.core.tables.read_options import Order, ReadOptions, UndeclaredSums

if TYPE_CHECKING:
    from tacita.core.hierarchy import Digits
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
TABLE = "The table"
REQUIREMENT = "What is sensitive, and who attacks"
FLAGS = ("request", "consent")
MOST_NOTES = 10
"""Of many notes on a table so many are printed."""
NOTHING_SENSITIVE = "nothing is sensitive under these rules: nothing was protected or checked"


def make_flag(name: str, *flags: str, text: str | None = None, metavar: str | None = None) -> Any:
    """Return the command-line flag that sets a field of ReadOptions, with the help of the field."""
    words = text or ReadOptions.__dataclass_fields__[name].metadata["help"]
    return typer.Option(*flags, help=words, metavar=metavar, rich_help_panel=TABLE)


def _make_list_flag(which: str) -> Any:
    """Return the command-line flag that names a file of cells on which something was decided by hand."""
    return typer.Option(
        metavar="FILE",
        help=f"A file of cells {which}: a column of codes per dimension, one row per cell; or a release.",
        rich_help_panel=REQUIREMENT,
    )


@dataclass(frozen=True)
class CaseFlags:
    """The flags that specify a case: how its table is read, what is sensitive, who attacks."""

    by: Annotated[
        list[str],
        make_flag(
            "by",
            metavar="NAME",
            text="A column of codes; repeat. Other columns without a part are then left aside.",
        ),
    ] = field(default_factory=list)
    hierarchy: Annotated[
        list[str],
        make_flag(
            "hierarchies",
            metavar="NAME=FILE",
            text="Classification of a dimension: CSV (parent, child) or .hrc; NAME=2-1-1: the one that its "
            "codes make, such as 01, 011, 0111, or 10, 10.1, 10.11 (points are not counted); NAME=found: "
            "the one that sums among its codes make. Repeat for more.",
        ),
    ] = field(default_factory=list)
    total: Annotated[list[str], make_flag("total", metavar="NAME=CODE")] = field(default_factory=list)
    value: Annotated[str | None, make_flag("value")] = None
    count: Annotated[str | None, make_flag("count")] = None
    counts: Annotated[bool | None, make_flag("counts", "--counts/--magnitudes")] = None
    only: Annotated[
        list[str],
        make_flag(
            "only", metavar="NAME=CODE", text="Read only rows with this code in a column; repeat for more."
        ),
    ] = field(default_factory=list)
    structure: Annotated[Path | None, make_flag("structure", metavar="FILE")] = None
    repair: Annotated[bool, make_flag("repair", "--repair")] = False
    undeclared_sums: Annotated[UndeclaredSums, make_flag("undeclared_sums")] = "refuse"
    order: Annotated[Order, make_flag("order")] = "safe"
    levels: Annotated[
        list[str],
        make_flag(
            "levels",
            metavar="NAME=NUMBER",
            text="How many levels of a classification are shown below its total; repeat.",
        ),
    ] = field(default_factory=list)
    recode: Annotated[
        list[str],
        make_flag(
            "recode",
            metavar="NAME=FILE",
            text="What codes of a dimension become: CSV (code, new) or .grc; repeat.",
        ),
    ] = field(default_factory=list)
    shadow: Annotated[str | None, make_flag("shadow", metavar="COLUMN")] = None
    decimal: Annotated[str | None, make_flag("decimal")] = None
    sheet: Annotated[str | None, make_flag("sheet", metavar="NAME")] = None
    metadata: Annotated[str | None, make_flag("metadata", metavar="FILE")] = None
    apriori: Annotated[str | None, make_flag("apriori", metavar="FILE")] = None
    request: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN[=VALUE,VALUE]",
            help="Column of the records that says who asked for protection, and the values that mean yes.",
            rich_help_panel=TABLE,
        ),
    ] = None
    consent: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN[=VALUE,VALUE]",
            help="Column of the records that says who has consented to be recognised.",
            rich_help_panel=TABLE,
        ),
    ] = None

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

    must_publish: Annotated[Path | None, _make_list_flag("that must be published as they are")] = None
    must_hide: Annotated[Path | None, _make_list_flag("that must not be published")] = None
    sensitive: Annotated[Path | None, _make_list_flag("that are sensitive, whatever the rules say")] = None
    exempt: Annotated[Path | None, _make_list_flag("that are not sensitive, whatever the rules say")] = None

    @property
    def has_requirement(self) -> bool:
        """Whether a command-line flag says what is sensitive, who attacks, or what hiding costs."""
        given = (self.rules, self.attackers, self.lower, self.upper, self.cost)
        return bool(self.published or self._files) or any(each is not None for each in given)

    @property
    def release_sign(self) -> str:
        """The decimal sign of numbers in release files, unless another is given with a file."""
        return self.decimal or "."

    @property
    def _files(self) -> dict[str, Path]:
        """The files of cells that were decided by hand, by the name of the decision."""
        given = {name: getattr(self, name) for name in ("must_publish", "must_hide", "sensitive", "exempt")}
        return {name: file for name, file in given.items() if file is not None}

    @property
    def read_options(self) -> ReadOptions:
        """The options for reading the table that the command-line flags give."""
        trees: dict[str, list[Path | Digits]] = {}
        found = []
        for text in self.hierarchy:
            name, file = parse_pair(text, "--hierarchy NAME=FILE")
            if file == "found" and not Path(file).exists():
                found.append(name)
            else:
                trees.setdefault(name, []).append(find_tree(file))
        plain = (
            "value",
            "count",
            "counts",
            "repair",
            "undeclared_sums",
            "order",
            "sheet",
            "shadow",
            "metadata",
            "apriori",
        )
        for text in self.by:
            _refuse_digits(text)
        return ReadOptions(
            self.by or None,
            trees,
            parse_pairs(self.total, "--total") or None,
            only=parse_pairs(self.only, "--only"),
            structure=self.structure,
            found=found,
            levels=parse_levels(self.levels),
            recode=parse_pairs(self.recode, "--recode"),
            decimal=self.decimal,
            **{name: getattr(self, name) for name in plain},
        )

    def specify(self, path: Path) -> Specification:
        """Return the specification of a case, changed by the flags of the command line.

        Rules of the command line take the place of a project's, and of the consents to them; what a file or
        a project specifies of single cells holds besides. Attackers that are named take the place of others.
        """
        from tacita.specification.sections import Earlier
        from tacita.specification.specification import Specification, find_project

        specification = Specification.of(path, self.read_options)
        changes: dict[str, dict[str, Any]] = {}
        if columns := {name: _read_flag(given) for name in FLAGS if (given := getattr(self, name))}:
            if specification.table is None:
                raise InputError(
                    "there are several tables",
                    place=f"--{next(iter(columns))}",
                    remedy="say in the project which column of each says so",
                )
            changes["table"] = columns
        if self.rules:
            changes["rules"] = {"rule": self.rules, "waived": ()}
        bounds = {side: bound for side in ("lower", "upper") if (bound := getattr(self, side)) is not None}
        changes["attackers"] = dict(bounds)
        if self.attackers is not None:
            kinds = [word.strip() for word in self.attackers.split(",") if word.strip()]
            if find_project(path) is None:
                _refuse_contributors(path, kinds)
            changes["attackers"] |= {"kinds": kinds, "coalitions": (), "holding_coalitions": (), "file": None}
        if self.cost:
            changes["cost"] = {"by": self.cost}
        earlier = list(specification.published.files)
        for file, own in map(split_options, self.published):
            refuse_missing(file)
            name = specification.name(find_release_file(file))
            earlier.append(Earlier(name, **{"decimal": self.release_sign, **own}))
        for name, file in self._files.items():
            _refuse_cell_as_file(name, file)
            refuse_missing(file)
        decided = {
            name: replace(specification.decisions.find(name), file=specification.name(file))
            for name, file in self._files.items()
        }
        return specification.replace(**changes, published={"files": earlier}, decisions=decided)


def _refuse_digits(text: str) -> None:
    """Refuse ``--by nace=2-1-1,region`` on the command line, which names columns alone, one at a time."""
    from tacita.core.hierarchy import Digits

    parts = [part.strip().partition("=") for part in text.split(",")]
    if any(sign and isinstance(find_tree(tree), Digits) for _, sign, tree in parts):
        flags = (f"--by {name}" + f" --hierarchy {name}={tree}" * bool(tree) for name, _, tree in parts)
        raise InputError(f"'{text}' is no column", place="--by", remedy=f"Write {' '.join(flags)}.")


def _refuse_cell_as_file(decision: str, file: Path) -> None:
    """Refuse ``nace=10.12,region=DE9`` on the command line, where a file of cells is to be named."""
    pairs = [pair.partition("=") for pair in str(file).split(",")]
    if all(name and code for name, _, code in pairs) and not file.exists():
        names, codes = (",".join(pair[k] for pair in pairs) for k in (0, 2))
        raise InputError(
            f"'{file}' is a cell, and the option takes a file of cells",
            place=f"--{decision.replace('_', '-')}",
            remedy=f"Write a file such as cells.csv with the lines {names} and {codes}, and name it.",
        )


def _read_flag(text: str) -> str | dict[str, list[str]]:
    """Return a column of flags in the microdata, with the values that mean yes, from a command-line text."""
    column, sign, values = text.partition("=")
    return {column: [value.strip() for value in values.split(",")]} if sign else column


def pose_problem(path: Path, flags: CaseFlags, specification: Specification | None = None) -> Problem:
    """Return the problem that a file and the command-line flags pose together; notes go to stderr.

    The ``specification`` is what the flags make of the case, if the caller has it already.
    """
    from tacita.formats.columns import has_columns
    from tacita.problem.problem import Problem
    from tacita.specification.specification import find_project

    specification = specification or flags.specify(path)
    found = specification.case()
    table = found.table if isinstance(found, Problem) else found
    recognised = table.integer and flags.counts is None and table.count is None
    if recognised and find_project(path) is None and has_columns(path):
        # That cells are integers stops attackers, and may be counted on only if everyone knows it.
        print_notes("values are integers and were taken as counts; say --magnitudes if they are amounts")
    print_table_notes(table)
    problem = found if isinstance(found, Problem) else specification.problem(found)
    for old, release in zip(specification.published.releases, problem.already_published, strict=True):
        print_release_notes(Path(old.file), release)
    print_notes(*problem.published_notes)
    print_first_warnings(problem.warnings[len(problem.table.warnings) :])
    if problem.exempt.any():
        from tacita.auditing.audit import describe_exempt

        print_notes(f"{describe_exempt(problem)}: declared not sensitive, and not checked")
    if not len(problem.levels):
        print_warnings(NOTHING_SENSITIVE)
    return problem


def _refuse_contributors(path: Path, kinds: Iterable[str]) -> None:
    from tacita.attackers.considered import KINDS

    if inside := [kind for kind in kinds if kind in KINDS]:
        raise InputError(
            f"--attackers {inside[0]} needs to know who they are, but a table file does not carry who stands "
            "behind the cells",
            place=path,
            remedy="use a project.toml with microdata (how-to, 'Defend against insiders and holdings')",
        )


def print_table_notes(table: Table) -> None:
    """Print on stderr the warnings of a table, and what was done to it when it was read."""
    print_first_warnings(table.warnings)
    print_notes(*table.notes[:MOST_NOTES])
    if len(table.notes) > MOST_NOTES:
        print_notes(f"{len(table.notes) - MOST_NOTES:,} more like these")


def print_first_warnings(warnings: tuple[str, ...]) -> None:
    """Print the first warnings on stderr, and the number of those that follow."""
    print_warnings(*warnings[:MOST_NOTES])
    if len(warnings) > MOST_NOTES:
        print_warnings(f"{len(warnings) - MOST_NOTES:,} more like these")


def find_tree(given: str) -> Path | Digits:
    """Return the file of a classification that a command-line text names, or its digits."""
    from tacita.core.hierarchy import Digits

    path = Path(given)
    return path if path.exists() else Digits.read(given) or path


def parse_pairs(given: Iterable[str], option: str) -> dict[str, str]:
    """Return the ``NAME=VALUE`` texts of a command-line flag as a mapping."""
    return dict(parse_pair(text, f"{option} NAME=VALUE") for text in given)


def parse_levels(given: Iterable[str]) -> dict[str, int]:
    """Return the ``NAME=NUMBER`` texts of the flag ``--levels`` as a mapping."""
    found = parse_pairs(given, "--levels")
    for name, text in found.items():
        if not (text.isascii() and text.isdecimal()):
            raise InputError(f"'{name}={text}' should be written as --levels NAME=NUMBER")
    return {name: int(text) for name, text in found.items()}


def parse_pair(text: str, usage: str) -> tuple[str, str]:
    """Return name and value of a command-line text ``NAME=VALUE``."""
    name, sign, value = text.partition("=")
    if not sign or not name or not value:
        raise InputError(f"'{text}' should be written as {usage}")
    return name.strip(), value.strip()
