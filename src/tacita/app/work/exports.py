"""Files that leave the app: files for publication, internal files, and the case itself.

    folder/publication/*  for publication: written if the run is safe, or a reason stands in for that
    folder/internal/*     internal: audit, certificate, coloured workbook, project.toml, repeat.py, table

The two never share an archive, and stay apart where both archives are unpacked.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath

from tacita.app.work.job import Job
from tacita.app.work.open_case import Case, DecisionKind
from tacita.app.work.paths import hide_folders
from tacita.core.errors import InputError, TacitaError, UnsafeError
from tacita.core.words import pluralize
from tacita.formats.jj import write_jj
from tacita.formats.nchs import write_nchs
from tacita.formats.petrenko import FILES as THESIS
from tacita.formats.petrenko import write_thesis
from tacita.formats.table_write import write_table
from tacita.publication.destination import Destination
from tacita.publication.folders import INTERNAL
from tacita.publication.results import LAID_OUT, Written, refuse_blocked, write_results
from tacita.specification.left_out import HELD, note_left_out
from tacita.specification.project_write import write_project
from tacita.specification.script import write_script
from tacita.specification.sections import Attackers
from tacita.specification.specification import Specification
from tacita.specification.statement import Statement
from tacita.storage.atomic import replace_file
from tacita.storage.file_set import open_file_set
from tacita.storage.internal import refuse_published

LONGEST_NAME = 50
"""Letters of a name; files allow 255 bytes, and a letter has up to four."""
USUAL_METHOD = "suppression"
"""The method that is proposed where none is specified."""
FOLDERS = ("project", "thesis")
"""Ways to save a case that take several files."""


@dataclass(frozen=True)
class Export:
    """What was written: files for publication, internal files, and what to know of them."""

    publication: tuple[Path, ...]
    internal: tuple[Path, ...]
    notes: tuple[str, ...]


def export_run(
    job: Job,
    folder: Path,
    formats: Sequence[str],
    reason: str | None = None,
    *,
    passing: Path,
    repeatable: bool = True,
) -> Export:
    """Write the files of a run and return them; for publication only if it is safe or given a reason.

    All or none are written, and an earlier release goes: :func:`tacita.publication.results.write_results`.

    Parameters
    ----------
    passing
        A folder that goes with the session: a project does not refer to files in it, and gets copies.
    repeatable
        Whether to write the project and the script that repeat the run, which takes a while where the table
        is large.

    Raises
    ------
    UnsafeError
        The run has no audit, or the reason is not one.
    InputError
        The folder cannot take results; see :func:`tacita.publication.results.refuse_blocked`.
    """
    place = Destination(folder)
    refuse_blocked(place)
    if job.audit is None:
        raise UnsafeError(
            f"run {job.number} has no audit: there is nothing to write",
            remedy="Run it again.",
            options=["protect"],
        )
    with open_file_set(folder) as drafted:
        again = Written(())
        if repeatable:
            again = _write_repetition(job, drafted.make_folder(INTERNAL), formats, passing)
        look = job.case.specification.output
        results = write_results(
            job.audit,
            place,
            formats,
            reason,
            mark=look.mark,
            title=look.title or (_name_values(job.case) if LAID_OUT.intersection(formats) else ""),
            sdmx=job.case.specification.describe_sdmx() if "sdmx" in formats else None,
            with_them=again.paths,
        )
    return Export(
        results.public,
        tuple(path for path in results.paths if path not in results.public),
        (*drafted.notes, *(f"Warning: {text}" for text in results.warnings), *results.notes, *again.notes),
    )


def export_sheet(job: Job, folder: Path) -> Export:
    """Write the release of a safe run into a copy of the sheet that its table was read from, and return it; a
    workbook of its own where the sheet cannot be copied, with a note that says why.

    Raises
    ------
    InputError
        See :func:`export_run`.
    """
    sheet, audit = job.case.sheet, job.audit
    if sheet is None or audit is None or not audit.safe or not sheet.path.is_file():
        return export_run(job, folder, ["xlsx"], passing=folder, repeatable=False)
    look = job.case.specification.output
    try:
        with hide_folders(sheet.path.parent):
            written = write_results(
                audit, folder / "release.xlsx", mark=look.mark, title=look.title, like=sheet
            )
    except TacitaError as error:
        plain = export_run(job, folder, ["xlsx"], passing=folder, repeatable=False)
        return replace(plain, notes=(f"Warning: a workbook of its own, not the sheet: {error}", *plain.notes))
    warned = tuple(f"Warning: {text}" for text in written.warnings)
    return Export(written.public, (), (*warned, *written.notes))


def _name_values(case: Case) -> str:
    """Return a title that tells readers what is added up, for a table of the user's records; else none."""
    return f"{case.tabulated}: {case.dimensions}" if case.tabulated else ""


def _write_repetition(job: Job, folder: Path, formats: Sequence[str], passing: Path) -> Written:
    about = {**job.repetition, "formats": list(formats)}
    specification = _specify_source(job.case, passing)
    project = write_project(job.problem, folder, specification=specification, passing=passing, **about)
    return Written((*project.paths, write_script(folder, **about)), project.notes)


def _specify_source(case: Case, passing: Path) -> Specification:
    """Return the specification of a case to export, without records that were removed from the session."""
    specification = case.specification
    return specification if case.keeps_records else drop_passing_files(specification, passing)


def zip_files(paths: Sequence[Path], target: Path, folder: str = "") -> Path:
    """Write files for the browser to download into one archive, in a folder if named; return its path."""
    with replace_file(target) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            archive.write(path, PurePosixPath(folder, path.name))
    return target


def save_case(case: Case, target: Path, way: str, *, passing: Path) -> Written:
    """Write the session's case with true values to a folder or file, by its ``way``; return the files.

    What does not fit the table is left out, and a note names it, as it does of what the files cannot hold.

    Raises
    ------
    InputError
        The way does not suit the table, or there is no such way, or the files would lie inside what is
        published.
    """
    refuse_published(target)
    case, notes = drop_misfits(case)
    folder = target if way in FOLDERS else target.parent
    folder.mkdir(parents=True, exist_ok=True)
    if way == "project":
        protect, output = case.specification.protect, case.specification.output
        written = write_project(
            case.problem,
            target,
            method=protect.method or USUAL_METHOD,
            options=protect.options,
            seed=protect.seed,
            time_limit=protect.time_limit,
            gap=protect.gap,
            formats=output.formats,
            output=output.folder,
            specification=_specify_source(case, passing),
            passing=passing,
        )
        return Written(written.paths, (*notes, *written.notes))
    if way not in HELD:
        raise InputError(f"a case cannot be saved as '{way}'")
    notes += note_left_out(case.problem, case.specification.rules, way)
    if way == "thesis":
        write_thesis(case.problem, target)
        return Written(tuple(target / name for name in THESIS), notes)
    if way == "jj":
        write_jj(case.problem, target, outsider_only=True)
        beside = (target, target.with_suffix(".frq"))
        return Written(tuple(path for path in beside if path.is_file()), notes)
    if way == "nchs":
        return Written((write_nchs(case.table, target),), notes)
    return Written((write_table(case.table, target, case.problem),), notes)


def name_files(case: Case, others: Iterable[Case] = ()) -> str:
    """Return what files of a case are called: after its name, and its dimensions where it is one of the
    tables that its records can make; with its number of cells where another case would be called the same.
    """
    name = make_file_name(f"{case.name} {case.dimensions}" if case.tabulated is not None else case.name)
    taken = any(name_files(other) == name for other in others if other.work != case.work)
    return (
        f"{name}-{pluralize(len(case.table), 'cell').replace(' ', '-').replace(',', '')}" if taken else name
    )


def make_file_name(text: str) -> str:
    """Return a case's name as a name for the files that the app exports, short enough to be lengthened."""
    return re.sub(r"[^\w.-]+", "-", text)[:LONGEST_NAME].strip("-.") or "table"


def drop_passing_files(specification: Specification, passing: Path) -> Specification:
    """Return a specification to keep, without its source if files of it are removed with the session."""
    if names_files_in(specification, passing):
        return replace(specification, table=None, tables={}, hierarchies={})
    return specification


def names_files_in(specification: Specification, folder: Path) -> bool:
    """Return whether a specification names files in a folder."""
    return any(file.resolve().is_relative_to(folder.resolve()) for file in specification.files)


Without = Callable[[Case], Case]


def drop_misfits(case: Case) -> tuple[Case, tuple[str, ...]]:
    """Return the case to be saved without what does not fit its table, as little as possible, and a note
    that names it; the case itself where everything fits.
    """
    trouble = _find_fault(case)
    if trouble is None:
        return case, ()
    parts = list(_list_parts(case))
    gone: list[int] = []
    for k in range(len(parts)):
        gone.append(k)
        if _find_fault(_drop_parts(case, parts, gone)) is None:
            break
    # Whatever was taken before the one that was to blame comes back, if it fits.
    for k in gone[:-1]:
        others = [j for j in gone if j != k]
        if _find_fault(_drop_parts(case, parts, others)) is None:
            gone = others
    named = ", ".join(parts[k][0] for k in gone)
    return _drop_parts(case, parts, gone), (
        f"written without what does not fit the table: {named} ({trouble})",
    )


def _list_parts(case: Case) -> Iterator[tuple[str, Without]]:
    """Yield the parts that a case can be saved without: a name, and the function that drops it. Rules that
    fit the table by themselves come last, as what is at odds with them protects less.
    """
    alone = Case(case.name, Statement.of(case.table))
    unfit = [rule for rule in case.rules if _find_fault(alone.with_rules([rule])) is not None]
    for rule in unfit:
        yield f"rule {rule}", partial(_without_rule, rule)
    yield from _without_decisions(case, DecisionKind.PUBLISH)
    known, usual, cost = case.attackers, Attackers(), case.specification.cost.by
    insiders = {name: getattr(usual, name) for name in ("kinds", "coalitions", "holding_coalitions")}
    bounds = {name: getattr(usual, name) for name in ("lower", "upper", "within")}
    if any(getattr(known, name) != value for name, value in insiders.items()):
        yield "insiders", lambda c: c.specify(attackers=insiders)
    if cost is not None:
        yield f"cost {cost}", lambda c: c.specify(cost={"by": None})
    if any(getattr(known, name) != value for name, value in bounds.items()):
        yield "bounds", lambda c: c.specify(attackers=bounds)
    if case.published:
        yield "releases that are already published", lambda c: c.with_published(())
    for kind in (DecisionKind.HIDE, DecisionKind.SAFE, DecisionKind.SENSITIVE):
        yield from _without_decisions(case, kind)
    yield (
        "levels, bounds, costs and insiders of the file",
        lambda c: replace(c, data=replace(Statement.of(c.table), published=c.published)),
    )
    for rule in case.rules:
        if rule not in unfit:
            yield f"rule {rule}", partial(_without_rule, rule)


def _without_rule(rule: str, case: Case) -> Case:
    return case.with_rules(other for other in case.rules if other != rule)


def _without_decisions(case: Case, kind: DecisionKind) -> Iterator[tuple[str, Without]]:
    if cells := case.list_decided(kind):
        yield f"'{kind.value}' of {case.table.structure.names(cells)}", lambda c: c.decide(cells, None)


def _drop_parts(case: Case, parts: list[tuple[str, Without]], gone: list[int]) -> Case:
    for k in gone:
        case = parts[k][1](case)
    return case


def _find_fault(case: Case) -> str | None:
    try:
        _ = case.problem
    except TacitaError as error:
        return str(error)
    return None
