"""``tacita protect``: a method proposes a release, the audit decides whether it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer
from typer.core import TyperCommand

from tacita.cli.case_options import CaseFlags, parse_pairs
from tacita.cli.console import (
    describe_files,
    make_console,
    print_error,
    print_json,
    print_message,
    print_notes,
    print_warnings,
)
from tacita.cli.effort import Effort, SearchEffort, carry_out
from tacita.cli.flags import add_flags
from tacita.cli.protected_case import find_place, protect_case
from tacita.cli.verb import DONE, ERROR, UNSAFE, Output
from tacita.core.errors import InputError
from tacita.core.outcome import read_gap

if TYPE_CHECKING:
    from tacita.auditing.audit import Audit
    from tacita.core.release import Release
    from tacita.core.run import Run
    from tacita.problem.problem import Problem
    from tacita.publication.results import Written
    from tacita.specification.specification import Specification

DEFAULT_METHOD = "suppression"
T = TypeVar("T")


@dataclass(frozen=True)
class SdmxFlags:
    """The flags of ``--format sdmx``."""

    dataflow: Annotated[
        str | None,
        typer.Option(metavar="AGENCY:ID(VERSION)", help="Dataflow of SDMX-CSV. Default: that of CASE."),
    ] = None
    attributes: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="Attributes of an SDMX-CSV case to keep, in rows of cells that are published as they are.",
        ),
    ] = None
    tell_primary: Annotated[
        bool,
        typer.Option(
            "--tell-primary",
            help="CONF_STATUS of SDMX-CSV tells primary cells from others; readers learn it.",
        ),
    ] = False


class ProtectCommand(TyperCommand):
    """Lists the methods at the end of its help; they are looked up when help is requested."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from tacita.methods import method_names

        how = "tacita protect --method NAME --help-options"
        self.epilog = f"Methods: {', '.join(method_names())}. Options of a method: {how}"
        super().format_help(ctx, formatter)


def run_protect_command(
    output: Output,
    flags: CaseFlags,
    effort: SearchEffort,
    sdmx: SdmxFlags,
    case: Annotated[
        Path | None,
        typer.Argument(
            metavar="CASE",
            help="JJ file, table (CSV, Parquet, Excel), thesis folder, project.toml or its folder.",
        ),
    ] = None,
    method: Annotated[
        str | None, typer.Option(help=f"How to protect; listed below. Default: {DEFAULT_METHOD}.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", metavar="NAME=VALUE", help="Option of the method; repeat."),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(
            metavar="RELEASE",
            help="Begin with the pattern of a release: last period's, or another program's.",
        ),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR|FILE",
            help="Write DIR/publication/release.csv if it is safe, and internal files to DIR/internal; or, "
            "by its ending, a file such as safe.xlsx or safe.csv, with internal files in safe.internal.",
        ),
    ] = None,
    formats: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME,...",
            help="Formats of the release: csv, crosstab (CSV as the table is printed), sdmx (SDMX-CSV), "
            "xlsx, html, parquet, txt, tsv; internal, as tau-ARGUS has them: sbs, intermediate, jj. Default: "
            "csv, or that of FILE.",
        ),
    ] = None,
    mark: Annotated[
        str | None,
        typer.Option(help="Sign in place of suppressed numbers, where the table is laid out. Default: x."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title above the table, where it is laid out.")] = None,
    layout: Annotated[
        Literal["input", "new"] | None,
        typer.Option(
            help="Of FILE.xlsx made of a workbook: that of the input sheet, with marks in place, or a new "
            "one. Default: input."
        ),
    ] = None,
    keep_sheets: Annotated[
        bool, typer.Option("--keep-sheets", help="Keep further sheets that hold nothing but texts.")
    ] = False,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where a long run keeps what it knows: killed or stopped, the same command goes on from "
            "there. Internal. Default: DIR/tacita.checkpoint.",
        ),
    ] = None,
    help_options: Annotated[
        bool, typer.Option("--help-options", help="List the options of the method.")
    ] = False,
) -> int:
    """Protect a table: a method proposes a release, the audit decides. Only a safe release is written.

    The first Ctrl-C keeps the best so far. Exit code 2 if the release is not proven safe.
    """
    from tacita.publication.destination import find_destination

    if help_options:
        return _list_options(method or DEFAULT_METHOD, output)
    if case is None:
        raise InputError("which case? Name its file: tacita protect CASE --method NAME --out DIR")
    specification = specify_protection(
        flags.specify(case), method, parse_pairs(option or (), "--option"), effort
    )
    looks = {"mark": mark, "title": title, "layout": layout, "keep_sheets": keep_sheets or None}
    specification = _specify_output(specification, formats, looks, sdmx)
    done = protect_case(
        case,
        specification,
        find_place(case, specification) if to is None else find_destination(to),
        _Command(replace(effort, seed=specification.protect.seed)),
        flags=flags,
        start=start,
        checkpoint=checkpoint,
    )
    if done.error is not None:
        print_error(str(done.error))
        print_notes(*done.leftovers)
        if output.json:
            print_json({**done.answer, "error": str(done.error)})
        return ERROR
    assert done.audit is not None
    if not output.json:
        _print_result(done.audit, done.answer)
    print_notes(*note_missed_gap(done.audit.release, specification.protect.gap))
    print_written_files(done.written)
    if done.refused:
        print_message("the release is not proven safe: it was not written", "refused:", "bold red")
    if output.json:
        print_json(done.answer)
    return DONE if done.audit.safe else UNSAFE


def note_missed_gap(release: Release, gap: float | str | None) -> list[str]:
    """Return a note to the user on a search that ended before the gap that was asked for; else none."""
    outcome, asked = release.outcome, read_gap(gap or 0.0)
    if not asked or outcome is None or outcome.gap <= asked:
        return []
    return [f"a gap of {asked:.2%} was asked for, and the search ended at {outcome.gap:.2%}"]


@dataclass(frozen=True)
class _Command:
    """Carries out work of the command itself: progress on its terminal, and Ctrl-C."""

    effort: Effort

    def search(self, work: Callable[[Run], T], time_limit: float | None, gap: float | str | None) -> T:
        return carry_out(work, self.effort, time_limit=time_limit, gap=gap)

    def check(self, work: Callable[[Run], T]) -> T:
        return carry_out(work, self.effort)


def specify_protection(
    specification: Specification,
    method: str | None,
    options: Mapping[str, str],
    effort: SearchEffort | None = None,
) -> Specification:
    """Return a specification changed by command-line flags of a method; others' options are dropped."""
    known = specification.protect
    usual = known.options if method in (None, known.method) else {}
    changes = {name: getattr(effort, name, None) for name in ("time_limit", "gap", "seed")}
    given = {name: value for name, value in changes.items() if value is not None}
    chosen = method or known.method or DEFAULT_METHOD
    return specification.replace(protect={**given, "method": chosen, "options": {**usual, **options}})


def _specify_output(
    specification: Specification, formats: str | None, looks: Mapping[str, str | bool | None], sdmx: SdmxFlags
) -> Specification:
    """Return a specification changed by the command-line flags that say what a release looks like."""
    names = None if formats is None else tuple(name.strip() for name in formats.split(",") if name.strip())
    attributes = None if sdmx.attributes is None else tuple(map(str.strip, sdmx.attributes.split(",")))
    given = {
        "formats": names,
        **looks,
        "dataflow": sdmx.dataflow,
        "attributes": attributes,
        "tell_primary": sdmx.tell_primary or None,
    }
    return specification.replace(output={name: each for name, each in given.items() if each is not None})


def print_written_files(written: Written) -> None:
    """Print on stderr notes on written files, and the files by folder: to be published, or internal."""
    print_notes(*written.notes)
    print_warnings(*(add_flags(text, ["published"], ["published"]) for text in written.warnings))
    internal = tuple(path for path in written.paths if path not in written.public)
    for files, sign, style in ((written.public, "to publish:", "green"), (internal, "internal:", "yellow")):
        if files:
            print_message(describe_files(files), sign, style)


def run_audit(problem: Problem, release: Release, effort: Effort) -> Audit:
    """Return the audit of a command's release, without a time limit: one cut short proves nothing."""
    from tacita.auditing.audit import audit

    return carry_out(lambda run: audit(problem, release, run), effort)


def _print_result(found: Audit, answer: dict[str, Any]) -> None:
    from tacita.report.terminal import (
        build_crosstab_table,
        build_figures_table,
        build_findings_table,
        build_legend,
        build_verdict_line,
    )

    console, problem, release = make_console(), found.problem, found.release
    sensitive = problem.levels.sensitive
    if (
        len(problem.table) <= 400
        and (picture := build_crosstab_table(release, sensitive, console.width)) is not None
    ):
        console.print(picture)
    console.print(build_legend(release, sensitive))
    console.print(build_figures_table(answer))
    print_notes(*answer["remarks"])
    if not found.safe:
        console.print(build_findings_table(problem, found.findings(only_unsafe=True), show_values=False))
    if len(problem.levels):
        console.print(build_verdict_line(found))


def _list_options(method: str, output: Output) -> int:
    from tacita.methods.method import method_class, options_of

    options, cls = options_of(method), method_class(method)
    if output.json:
        listed = {o.name: {"default": str(o.default), "help": o.help} for o in options}
        print_json({"method": method, "does": cls.does, "choose": cls.choose, "options": listed})
        return DONE
    from tacita.report.terminal import build_options_table

    make_console().print(build_options_table(method, options, (cls.does, cls.choose)))
    return DONE
