"""``tacita protect``: a method proposes a release, the audit decides whether it is written."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from tacita.cli.case_options import CaseFlags, pairs, pose_problem
from tacita.cli.console import out, print_json, report_error, say
from tacita.cli.effort import Effort, carry_out
from tacita.cli.flags import with_flags
from tacita.cli.verb import DONE, ERROR, UNSAFE, Output
from tacita.core.errors import InfeasibleError, InputError, TacitaError
from tacita.core.outcome import Status

if TYPE_CHECKING:
    from tacita.auditing.audit import Audit
    from tacita.core.release import Release
    from tacita.methods import Method
    from tacita.problem.problem import Problem
    from tacita.publication.results import Written

DEFAULT_METHOD = "suppression"


class ProtectCommand(TyperCommand):
    """Lists the methods there are at the end of its help; they are looked up when help is asked for."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from tacita.methods import method_names

        how = "tacita protect --method NAME --help-options"
        self.epilog = f"Methods: {', '.join(method_names())}. Options of a method: {how}"
        super().format_help(ctx, formatter)


@dataclass(frozen=True)
class Plan:
    """What to do: the command line's word, or else the project file's."""

    method: str
    options: dict[str, Any]
    effort: Effort
    folder: Path | None
    formats: tuple[str, ...] = ("csv",)


def protect(
    output: Output,
    flags: CaseFlags,
    effort: Effort,
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
            help="Write DIR/publication/release.csv if it is safe, and for the house DIR/internal.",
        ),
    ] = None,
    help_options: Annotated[
        bool, typer.Option("--help-options", help="List the options of the method.")
    ] = False,
) -> int:
    """Protect a table: a method proposes a release, the audit decides. Only a safe release is written.

    The first Ctrl-C keeps the best so far. Exit code 2 if the release is not proven safe.
    """
    from tacita.auditing.breached import refuse_breached
    from tacita.methods import make_method
    from tacita.publication.folders import recover_results
    from tacita.publication.results import Written, refuse_blocked, write_results

    if help_options:
        return _list_options(method or DEFAULT_METHOD, output)
    if case is None:
        raise InputError("which case? Name its file: tacita protect CASE --method NAME --out DIR")
    plan = planned(case, Plan(method or "", pairs(option or (), "--option"), effort, to))
    if plan.folder is not None:
        refuse_blocked(plan.folder)
        _refuse_inputs(plan.folder, [case, *flags.specify(case).files], start)
        for note in recover_results(plan.folder):
            say(note, "note:", "yellow")
    chosen = make_method(plan.method, plan.options)
    problem = pose_problem(case, flags)
    begin = {} if start is None else _beginning(chosen, start, problem, flags.decimal)
    answer: dict[str, Any] = {"method": plan.method, "options": _options(chosen), **_nothing(problem)}
    try:
        limit = plan.effort.time_limit
        carry_out(lambda run: refuse_breached(problem, run), plan.effort)
        release = carry_out(lambda run: chosen.protect(problem, run, **begin), plan.effort, time_limit=limit)
    except TacitaError as error:
        answer["status"] = (Status.INFEASIBLE if isinstance(error, InfeasibleError) else Status.FAILED).value
        report_error(str(error))
        if plan.folder is not None:
            _tell_earlier(plan.folder)
        if output.json:
            print_json({**answer, "error": str(error)})
        return ERROR
    found = audited(problem, release, plan.effort)
    answer.update(_result(problem, release, found))
    written = write_results(found, plan.folder, plan.formats) if plan.folder is not None else Written(())
    answer["warnings"] = [*answer["warnings"], *written.warnings]
    if not output.json:
        _tell(problem, release, found, answer)
    tell_written(written)
    if plan.folder is not None and not found.safe:
        say("the release is not proven safe: it was not written", "refused:", "bold red")
    if output.json:
        print_json(answer)
    return DONE if found.safe else UNSAFE


def tell_written(written: Written) -> None:
    """What to know of the files, and the files by their folder: what may go out, and what may not."""
    from tacita.publication.folders import INTERNAL, PUBLICATION

    for note in written.notes:
        say(note, "note:", "yellow")
    for warning in written.warnings:
        say(with_flags(warning, ["published"], ["published"]), "warning:", "bold yellow")
    for name, sign, style in ((PUBLICATION, "to publish:", "green"), (INTERNAL, "for the house:", "yellow")):
        if files := [path for path in written.paths if path.parent.name == name]:
            say(f"{files[0].parent} ({', '.join(path.name for path in files)})", sign, style)


def _tell_earlier(folder: Path) -> None:
    """A run that makes nothing removes nothing, but what is there is not of it."""
    from tacita.publication.results import find_earlier_results

    if there := find_earlier_results(folder):
        say(f"of an earlier run, not of this one: {', '.join(map(str, there))}", "note:", "yellow")


def audited(problem: Problem, release: Release, effort: Effort) -> Audit:
    """The time limit is the method's: an audit that is cut short proves nothing."""
    from tacita.auditing.audit import audit

    return carry_out(lambda run: audit(problem, release, run), effort)


def planned(case: Path, said: Plan) -> Plan:
    """What was said, completed by what a project file says."""
    from tacita.specification.specification import OUT, Specification, project_file

    if (file := project_file(case)) is None:
        return replace(said, method=said.method or DEFAULT_METHOD)
    project = Specification.load(file)
    wanted = project.protect
    same_method = said.method in ("", wanted.method)
    return Plan(
        said.method or wanted.method or DEFAULT_METHOD,
        {**(wanted.options if same_method else {}), **said.options},
        replace(
            said.effort,
            time_limit=wanted.time_limit if said.effort.time_limit is None else said.effort.time_limit,
            seed=wanted.seed if said.effort.seed is None else said.effort.seed,
        ),
        said.folder or project.folder / (project.output.folder or OUT),
        tuple(dict.fromkeys(("csv", *project.output.formats))),
    )


def _refuse_inputs(folder: Path, read: Sequence[Path], start: Path | None) -> None:
    """Results take the place of earlier ones; what is read must not be taken for such."""
    from tacita.publication.results import RESULTS

    read = [*read, *([] if start is None else [start])]
    results = {(folder / name).resolve() for name in RESULTS}
    if mixed := next((path for path in read if path.resolve() in results), None):
        raise InputError(
            f"{mixed}: it is called like a result of {folder}, which would take its place: write to another "
            "folder with --out"
        )


def _beginning(method: Method, start: Path, problem: Problem, decimal: str) -> dict[str, Any]:
    """The pattern to begin with, as the argument that methods take it by."""
    if "start" not in inspect.signature(method.protect).parameters:
        raise InputError(
            f"--start: method '{method.name}' begins with nothing; leave it out, or use suppression"
        )
    from tacita.cli.start import load_pattern

    return {"start": load_pattern(start, problem, decimal)}


def _options(method: Method) -> dict[str, Any]:
    from tacita.methods import options_of

    return {option.name: getattr(method, option.name) for option in options_of(method.name)}


def _nothing(problem: Problem) -> dict[str, Any]:
    """The answer before there is a release: what is not known is null."""
    return {
        **dict.fromkeys(("status", "loss", "bound", "gap", "seconds")),
        "remarks": [],
        "warnings": list(problem.warnings),
        "cells": len(problem.table),
        "sensitive": len(problem.levels),
        **dict.fromkeys(("changed", "changed_value", "audit")),
    }


def _result(problem: Problem, release: Release, found: Audit) -> dict[str, Any]:
    from tacita.report.record import audit_object, release_figures

    outcome = release.outcome
    return {
        "status": (outcome.status if outcome else Status.FEASIBLE).value,
        "loss": outcome.loss if outcome else float(problem.cost[release.changed].sum()),
        "bound": outcome.bound if outcome else None,
        "gap": outcome.gap if outcome else None,
        "seconds": round(outcome.seconds, 3) if outcome else None,
        "remarks": list(outcome.remarks) if outcome else [],
        **release_figures(problem, release),
        "audit": audit_object(found),
    }


def _tell(problem: Problem, release: Release, found: Audit, answer: dict[str, Any]) -> None:
    from tacita.report.terminal import crosstab_table, figures_table, findings_table, legend, verdict_line

    console = out()
    sensitive = problem.levels.sensitive
    if (
        len(problem.table) <= 400
        and (picture := crosstab_table(release, sensitive, console.width)) is not None
    ):
        console.print(picture)
    console.print(legend(release, sensitive))
    console.print(figures_table(answer))
    for remark in answer["remarks"]:
        say(remark, "note:", "yellow")
    if not found.safe:
        console.print(findings_table(problem, found.findings(only_unsafe=True), show_values=False))
    if len(problem.levels):
        console.print(verdict_line(found))


def _list_options(method: str, output: Output) -> int:
    from tacita.methods.method import method_class, options_of

    options, cls = options_of(method), method_class(method)
    if output.json:
        told = {o.name: {"default": str(o.default), "help": o.help} for o in options}
        print_json({"method": method, "does": cls.does, "choose": cls.choose, "options": told})
        return DONE
    from tacita.report.terminal import options_table

    out().print(options_table(method, options, (cls.does, cls.choose)))
    return DONE
