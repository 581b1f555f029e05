"""Protect one case, from its files to the files of its release: for ``tacita protect`` and ``tacita run``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tacita.cli.case_options import CaseFlags, pose_problem
from tacita.cli.console import print_notes
from tacita.cli.resuming import choose_checkpoint, describe_stop, make_folder
from tacita.core.errors import InfeasibleError, InputError, TacitaError
from tacita.core.outcome import Status
from tacita.core.words import pluralize

if TYPE_CHECKING:
    from tacita.auditing.audit import Audit
    from tacita.core.release import Release
    from tacita.core.run import Run
    from tacita.methods import Method
    from tacita.problem.problem import Problem
    from tacita.publication.destination import Destination
    from tacita.publication.results import Written
    from tacita.publication.same_layout.input_sheet import InputSheet
    from tacita.specification.specification import Specification

T = TypeVar("T")


class Carrier(Protocol):
    """Carries out work that takes time: with its limits, its progress, and whoever stops it."""

    def search(self, work: Callable[[Run], T], time_limit: float | None, gap: float | str | None) -> T:
        """Return the result of a search, which keeps the best so far when it is stopped."""

    def check(self, work: Callable[[Run], T]) -> T:
        """Return the result of a check, without a time limit: one that is cut short proves nothing."""


@dataclass(frozen=True)
class ProtectedCase:
    """What protecting a case came to: the audit of its release with the files, or the error in its way.

    Attributes
    ----------
    answer
        What is known, as the JSON object of ``tacita protect``.
    stopped
        Whether time or patience ended the search, so that the release is the best so far.
    refused
        Whether the release was not written to its folder, as it is not proven safe.
    leftovers
        Notes on results of an earlier run that are still there beside an error.
    """

    answer: dict[str, Any]
    problem: Problem
    audit: Audit | None
    written: Written
    error: TacitaError | None = None
    stopped: bool = False
    refused: bool = False
    leftovers: tuple[str, ...] = ()


def protect_case(
    case: Path,
    specification: Specification,
    place: Destination | None,
    carrier: Carrier,
    *,
    flags: CaseFlags | None = None,
    start: Path | None = None,
    checkpoint: Path | None = None,
) -> ProtectedCase:
    """Protect, audit and write a case; notes and warnings on the way are printed.

    Parameters
    ----------
    specification
        What is specified of the case, flags and method included.
    place
        Where results go, if anywhere.
    start, checkpoint
        As the options of ``tacita protect``; a project may name the first itself.

    Raises
    ------
    TacitaError
        The problem cannot be posed. What goes wrong later is in the result.
    """
    from tacita.auditing.audit import audit, refuse_breached
    from tacita.methods import make_method
    from tacita.publication.folders import recover_results
    from tacita.publication.results import Written, refuse_blocked, write_results

    wanted, flags = specification.protect, flags or CaseFlags()
    if start is None and wanted.start is not None:
        start = specification.folder / wanted.start
    formats = list_formats(place, specification)
    folder = None if place is None else place.checkpoint_folder
    if place is not None:
        refuse_blocked(place, formats)
        inputs = [case, *specification.files, *([start] if start is not None else [])]
        _refuse_inputs(place, formats, inputs)
        print_notes(*recover_results(place))
    method = make_method(wanted.method or "", wanted.options)
    problem = pose_problem(case, flags, specification)
    begin = {} if start is None else _load_start(method, start, problem, flags.release_sign)
    kept = choose_checkpoint(checkpoint, folder, method, problem)
    answer: dict[str, Any] = {
        "method": wanted.method,
        "options": _list_values(method),
        **_make_empty_answer(problem),
    }
    try:
        carrier.check(lambda run: refuse_breached(problem, run))
        with make_folder(kept, folder):
            release, stopped = carrier.search(
                lambda run: (method.protect(problem, replace(run, checkpoint=kept), **begin), run.late),
                wanted.time_limit,
                wanted.gap,
            )
        if stopped:
            print_notes(describe_stop(release, kept))
    except TacitaError as error:
        answer["status"] = (Status.INFEASIBLE if isinstance(error, InfeasibleError) else Status.FAILED).value
        # A run that makes nothing removes nothing, but what is there is not its own.
        there = [] if place is None else place.find_earlier()
        left = (f"of an earlier run, not of this one: {', '.join(map(str, there))}",) if there else ()
        return ProtectedCase(answer, problem, None, Written(()), error, leftovers=left)
    found = carrier.check(lambda run: audit(problem, release, run))
    answer.update(_build_result(problem, release, found))
    if begin:
        hidden = int(begin["start"].sum())
        still = int((begin["start"] & release.changed).sum())
        answer["start"] = {"hidden": hidden, "still_hidden": still}
        print_notes(f"of {pluralize(hidden, 'cell')} hidden in {start}, {still:,} stay hidden")
    written = Written(())
    if place is not None:
        output = specification.output
        written = write_results(
            found,
            place,
            formats,
            mark=output.mark,
            title=output.title,
            sdmx=specification.describe_sdmx() if "sdmx" in formats else None,
            like=find_input_sheet(specification, place),
            keep_sheets=output.keep_sheets,
        )
    answer["warnings"] = [*answer["warnings"], *written.warnings]
    refused = place is not None and not found.safe
    return ProtectedCase(answer, problem, found, written, stopped=stopped, refused=refused)


def find_place(case: Path, specification: Specification) -> Destination | None:
    """Return where results go that a project names, in place of ``--out``; None for other cases."""
    from tacita.publication.destination import Destination, find_destination
    from tacita.specification.specification import OUT, find_project

    if find_project(case) is None:
        return None
    output = specification.output
    if output.file is not None:
        return find_destination(specification.folder / output.file)
    return Destination(specification.folder / (output.folder or OUT))


def list_formats(place: Destination | None, specification: Specification) -> tuple[str, ...]:
    """Return the formats that a command writes: those specified, and in a folder always ``csv``."""
    always = ("csv",) if place is None or place.file is None else ()
    return tuple(dict.fromkeys((*always, *specification.output.formats)))


def find_input_sheet(specification: Specification, place: Destination) -> InputSheet | None:
    """Return the sheet whose layout a named workbook has; None where there is none, or a new one is wanted.

    A note says why the layout of an input workbook cannot be kept.
    """
    from tacita.core.tables.read_options import ReadOptions
    from tacita.formats.workbook import is_workbook
    from tacita.publication.same_layout.input_sheet import ENDINGS, InputSheet

    if place.file is None or not place.file.lower().endswith(".xlsx") or specification.output.layout == "new":
        return None
    source = specification.table
    if source is None or source.file is None:
        return None
    path = specification.folder / source.file
    if path.suffix.lower() in ENDINGS:
        read = {each.name: getattr(source, each.name) for each in fields(ReadOptions)}
        return InputSheet(path, ReadOptions(**read))
    if is_workbook(path):
        print_notes(f"the layout of {path} is not kept: save it as .xlsx for that")
    return None


def _refuse_inputs(place: Destination, formats: Sequence[str], read: Sequence[Path]) -> None:
    """Refuse an ``--out`` at which results would take the place of a file that the command reads."""
    named = place.name_results(formats).items()
    results = {(at, name) for folder, names in named for at in [folder.resolve()] for name in names}
    inputs = {path: path.resolve() for path in read}
    if mixed := next((path for path, at in inputs.items() if (at.parent, at.name) in results), None):
        where = place.home if place.file is None else place.home / place.file
        raise InputError(
            f"it is called like a result of {where}, which would take its place",
            place=mixed,
            remedy="write elsewhere with --out",
        )


def _load_start(method: Method, start: Path, problem: Problem, decimal: str) -> dict[str, Any]:
    """Return the pattern of the release that a command or project names, as an argument of the method."""
    if "start" not in inspect.signature(method.protect).parameters:
        raise InputError(
            f"method '{method.name}' takes no pattern to start from",
            place="start",
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


def _round_noise(value: float) -> float:
    """Return a sum of floats without the noise of its last digit: 459674.0 for 459673.99999999994."""
    return value if isinf(value) or value == int(value) else float(f"{value:.15g}")


def _build_result(problem: Problem, release: Release, found: Audit) -> dict[str, Any]:
    from tacita.report.record import build_audit_object, compute_release_figures

    outcome = release.outcome
    return {
        "search": (outcome.search or None) if outcome else None,
        "status": (outcome.status if outcome else Status.FEASIBLE).value,
        "loss": _round_noise(outcome.loss if outcome else float(problem.cost[release.changed].sum())),
        "bound": _round_noise(outcome.bound) if outcome else None,
        "gap": outcome.gap if outcome else None,
        "seconds": round(outcome.seconds, 3) if outcome else None,
        "remarks": list(outcome.remarks) if outcome else [],
        **compute_release_figures(problem, release),
        "audit": build_audit_object(found),
    }
