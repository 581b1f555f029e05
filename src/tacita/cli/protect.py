"""``tacita protect``: a method proposes a release, the audit decides whether it is written."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from tacita.cli.case_options import CaseFlags, parse_pairs, pose_problem
from tacita.cli.console import (
    make_console,
    print_error,
    print_json,
    print_message,
    print_notes,
    print_warnings,
)
from tacita.cli.effort import Effort, SearchEffort, carry_out
from tacita.cli.flags import add_flags
from tacita.cli.resuming import choose_checkpoint, describe_stop, make_folder
from tacita.cli.verb import DONE, ERROR, UNSAFE, Output
from tacita.core.errors import InfeasibleError, InputError, TacitaError
from tacita.core.outcome import Status

if TYPE_CHECKING:
    from tacita.auditing.audit import Audit
    from tacita.core.release import Release
    from tacita.methods import Method
    from tacita.problem.problem import Problem
    from tacita.publication.results import Written
    from tacita.specification.specification import Specification

DEFAULT_METHOD = "suppression"


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
            metavar="DIR",
            help="Write DIR/publication/release.csv if it is safe, and internal files to DIR/internal.",
        ),
    ] = None,
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
    from tacita.auditing.audit import refuse_breached
    from tacita.methods import make_method
    from tacita.publication.folders import recover_results
    from tacita.publication.results import Written, find_earlier_results, refuse_blocked, write_results

    if help_options:
        return _list_options(method or DEFAULT_METHOD, output)
    if case is None:
        raise InputError("which case? Name its file: tacita protect CASE --method NAME --out DIR")
    specification = specify_protection(
        flags.specify(case), method, parse_pairs(option or (), "--option"), effort
    )
    wanted, folder = specification.protect, to or _find_folder(case, specification)
    effort = replace(effort, time_limit=wanted.time_limit, seed=wanted.seed)
    if folder is not None:
        refuse_blocked(folder)
        _refuse_inputs(folder, [case, *specification.files, *([start] if start is not None else [])])
        print_notes(*recover_results(folder))
    chosen = make_method(wanted.method or "", wanted.options)
    problem = pose_problem(case, flags, specification)
    begin = {} if start is None else _load_start(chosen, start, problem, flags.decimal)
    kept = choose_checkpoint(checkpoint, folder, chosen, problem)
    answer: dict[str, Any] = {
        "method": wanted.method,
        "options": _list_values(chosen),
        **_make_empty_answer(problem),
    }
    try:
        carry_out(lambda run: refuse_breached(problem, run), effort)
        with make_folder(kept, folder):
            release, stopped = carry_out(
                lambda run: (chosen.protect(problem, replace(run, checkpoint=kept), **begin), run.late),
                effort,
                time_limit=wanted.time_limit,
                gap=wanted.gap,
            )
        if stopped:
            print_notes(describe_stop(release, kept))
    except TacitaError as error:
        answer["status"] = (Status.INFEASIBLE if isinstance(error, InfeasibleError) else Status.FAILED).value
        print_error(str(error))
        # A run that makes nothing removes nothing, but what is there is not its own.
        if folder is not None and (there := find_earlier_results(folder)):
            print_notes(f"of an earlier run, not of this one: {', '.join(map(str, there))}")
        if output.json:
            print_json({**answer, "error": str(error)})
        return ERROR
    found = run_audit(problem, release, effort)
    answer.update(_build_result(problem, release, found))
    formats = tuple(dict.fromkeys(("csv", *specification.output.formats)))
    written = write_results(found, folder, formats) if folder is not None else Written(())
    answer["warnings"] = [*answer["warnings"], *written.warnings]
    if not output.json:
        _print_result(problem, release, found, answer)
    print_written_files(written)
    if folder is not None and not found.safe:
        print_message("the release is not proven safe: it was not written", "refused:", "bold red")
    if output.json:
        print_json(answer)
    return DONE if found.safe else UNSAFE


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


def _find_folder(case: Path, specification: Specification) -> Path | None:
    """Return the folder of results that a project names, in place of ``--out``; None for other cases."""
    from tacita.specification.specification import OUT, find_project

    if find_project(case) is None:
        return None
    return specification.folder / (specification.output.folder or OUT)


def print_written_files(written: Written) -> None:
    """Print on stderr notes on written files, and the files by folder: to be published, or internal."""
    from tacita.publication.folders import INTERNAL, PUBLICATION

    print_notes(*written.notes)
    print_warnings(*(add_flags(text, ["published"], ["published"]) for text in written.warnings))
    for name, sign, style in ((PUBLICATION, "to publish:", "green"), (INTERNAL, "internal:", "yellow")):
        if files := [path for path in written.paths if path.parent.name == name]:
            names = ", ".join(path.name for path in files)
            print_message(f"{files[0].parent} ({names})", sign, style)


def run_audit(problem: Problem, release: Release, effort: Effort) -> Audit:
    """Return the audit of a command's release, without a time limit: one cut short proves nothing."""
    from tacita.auditing.audit import audit

    return carry_out(lambda run: audit(problem, release, run), effort)


def _refuse_inputs(folder: Path, read: Sequence[Path]) -> None:
    """Refuse an ``--out`` in which results would take the place of a file that the command reads."""
    from tacita.publication.results import RESULTS

    results = {(folder / name).resolve() for name in RESULTS}
    if mixed := next((path for path in read if path.resolve() in results), None):
        raise InputError(
            f"it is called like a result of {folder}, which would take its place",
            place=mixed,
            remedy="write to another folder with --out",
        )


def _load_start(method: Method, start: Path, problem: Problem, decimal: str) -> dict[str, Any]:
    """Return the pattern of the release that ``--start`` names, as an argument of the method."""
    if "start" not in inspect.signature(method.protect).parameters:
        raise InputError(
            f"method '{method.name}' takes no pattern to start from",
            place="--start",
            remedy="leave it out, or use suppression",
        )
    from tacita.cli.release_options import load_pattern

    return {"start": load_pattern(start, problem, decimal)}


def _list_values(method: Method) -> dict[str, Any]:
    from tacita.methods import options_of

    return {option.name: getattr(method, option.name) for option in options_of(method.name)}


def _make_empty_answer(problem: Problem) -> dict[str, Any]:
    """Return the JSON answer of ``tacita protect`` before there is a release: what is not known is null."""
    return {
        **dict.fromkeys(("search", "status", "loss", "bound", "gap", "seconds")),
        "remarks": [],
        "warnings": list(problem.warnings),
        "cells": len(problem.table),
        "sensitive": len(problem.levels),
        **dict.fromkeys(("changed", "changed_value", "audit")),
    }


def _build_result(problem: Problem, release: Release, found: Audit) -> dict[str, Any]:
    from tacita.report.record import build_audit_object, compute_release_figures

    outcome = release.outcome
    return {
        "search": (outcome.search or None) if outcome else None,
        "status": (outcome.status if outcome else Status.FEASIBLE).value,
        "loss": outcome.loss if outcome else float(problem.cost[release.changed].sum()),
        "bound": outcome.bound if outcome else None,
        "gap": outcome.gap if outcome else None,
        "seconds": round(outcome.seconds, 3) if outcome else None,
        "remarks": list(outcome.remarks) if outcome else [],
        **compute_release_figures(problem, release),
        "audit": build_audit_object(found),
    }


def _print_result(problem: Problem, release: Release, found: Audit, answer: dict[str, Any]) -> None:
    from tacita.report.terminal import (
        build_crosstab_table,
        build_figures_table,
        build_findings_table,
        build_legend,
        build_verdict_line,
    )

    console = make_console()
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
