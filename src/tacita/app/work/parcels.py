"""Files that leave the app: what a run publishes, what the house keeps of it, and the case itself.

    folder/publication/*  for publication: written if the run is safe, or a reason stands in for that
    folder/internal/*     for the house: audit, certificate, coloured workbook, project.toml, repeat.py, table

The two never share an archive, and stay apart where both archives are unpacked.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from tacita.app.work.case import Attackers, Case, Wish
from tacita.app.work.job import Job
from tacita.atomic import replacing
from tacita.attackers import Outsider
from tacita.errors import InputError, TacitaError, UnsafeError
from tacita.io import (
    Origin,
    Written,
    write_jj,
    write_nchs,
    write_project,
    write_results,
    write_script,
    write_table,
    write_thesis,
)
from tacita.io.drafts import draft_in, moved
from tacita.io.folders import INTERNAL, PUBLICATION, refuse_published
from tacita.io.petrenko import FILES as THESIS
from tacita.io.project import AttackersSpec, load_project
from tacita.levels import Levels
from tacita.problem import Problem

USUAL = Wish()
"""How a case is protected that names no method."""
LONGEST_NAME = 50
"""Letters of a name; files allow 255 bytes, and a letter has up to four."""
FOLDERS = ("project", "thesis")
"""Ways to save a case that take several files."""
HELD = {
    "csv": {"sensitive cells", "lower or sliding levels", "cells that must be published", "costs", "bounds"},
    "thesis": {"sensitive cells"},
    "nchs": set[str](),
}
HELD |= dict.fromkeys(("xlsx", "parquet", "jj"), HELD["csv"])
"""What files can hold of a case besides its values; a project holds all of it."""


@dataclass(frozen=True)
class Parcel:
    """What was written: files for publication, files for the house, and what to know of them."""

    publication: tuple[Path, ...]
    house: tuple[Path, ...]
    notes: tuple[str, ...]


def pack(
    job: Job,
    folder: Path,
    formats: Sequence[str],
    reason: str | None = None,
    *,
    passing: Path,
    repeatable: bool = True,
) -> Parcel:
    """Write all files of a run, or none; for publication none where it is neither safe nor given a reason.

    Files of an earlier release go: see :func:`tacita.io.write_results`.

    Parameters
    ----------
    passing
        A folder that goes with the session: a project does not refer to files in it.
    repeatable
        Whether to write the project and the script that repeat the run, which takes a while where the table
        is large.

    Raises
    ------
    UnsafeError
        The run has no audit, or the reason is not one.
    InputError
        What stays in the house would lie inside what is published.
    """
    refuse_published(folder)
    if job.audit is None:
        raise UnsafeError(f"run {job.number} has no audit: there is nothing to write. Run it again.")
    with draft_in(folder / INTERNAL) as draft:
        again = _repeat(job, draft, formats, passing) if repeatable else Written(())
        results = write_results(job.audit, folder, formats, reason)
        paths = (*results.paths, *moved(again.paths, folder / INTERNAL))
    return Parcel(
        tuple(path for path in paths if path.parent == folder / PUBLICATION),
        tuple(path for path in paths if path.parent != folder / PUBLICATION),
        (*results.notes, *again.notes),
    )


def _repeat(job: Job, folder: Path, formats: Sequence[str], passing: Path) -> Written:
    about = {**job.asked, "formats": list(formats)}
    project = write_project(job.problem, folder, origin=_origin(job.case, passing), **about)
    return Written((*project.paths, write_script(folder, **about)), project.notes)


def zipped(paths: Sequence[Path], target: Path, folder: str = "") -> Path:
    """Files in one archive, by their names, in a folder of it if one is named."""
    with replacing(target) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            archive.write(path, PurePosixPath(folder, path.name))
    return target


def save(case: Case, target: Path, way: str, *, passing: Path, wish: Wish | None = None) -> Written:
    """Write a case with its true values: ``project`` and ``thesis`` into a folder, other ways to a file.

    ``wish`` is what a project is to say of method and effort, instead of what the case wishes.

    Where rules or attackers do not fit the table, the table is written without them, and a note says so, as
    it does of what the files cannot hold.

    Raises
    ------
    InputError
        The way does not suit the table, or there is no such way.
    """
    problem, notes = _problem(case)
    folder = target if way in FOLDERS else target.parent
    folder.mkdir(parents=True, exist_ok=True)
    if way == "project":
        wish = wish or case.wish or USUAL
        written = write_project(
            problem,
            target,
            method=wish.method,
            options=wish.options,
            seed=wish.seed,
            time_limit=wish.time_limit,
            formats=wish.formats,
            output=wish.folder,
            origin=_origin(case, passing),
        )
        return Written(written.paths, (*notes, *written.notes))
    notes += _left_out(case, problem, HELD.get(way, set()))
    if way == "thesis":
        write_thesis(problem, target)
        return Written(tuple(target / name for name in THESIS), notes)
    if way == "jj":
        write_jj(problem, target, outsider_only=True)
        beside = (target, target.with_suffix(".frq"))
        return Written(tuple(path for path in beside if path.is_file()), notes)
    if way == "nchs":
        return Written((write_nchs(case.table, target),), notes)
    if way in ("csv", "xlsx", "parquet"):
        return Written((write_table(case.table, target, problem),), notes)
    raise InputError(f"a case cannot be saved as '{way}'")


def plain_name(text: str) -> str:
    """A text as the name of a file, short enough to be lengthened."""
    return re.sub(r"[^\w.-]+", "-", text)[:LONGEST_NAME].strip("-.") or "table"


def _problem(case: Case) -> tuple[Problem, tuple[str, ...]]:
    try:
        return case.problem, ()
    except TacitaError as error:
        bare = Problem(case.table, Levels.none(len(case.table)))
        return bare, (f"written without rules and attackers, which do not fit the table: {error}",)


def _left_out(case: Case, problem: Problem, held: Collection[str]) -> tuple[str, ...]:
    """What the case has and the files do not hold, by name and number."""
    table, levels, known = problem.table, problem.levels, problem.outsider
    usual = known if (table.units < 0).any() else Outsider.of(table)
    uneven = (levels.lower != np.minimum(levels.upper, table.units)) | (levels.sliding > 0)
    there = {
        "sensitive cells": len(levels),
        "lower or sliding levels": int(uneven.sum()),
        "cells that must be hidden": int(problem.must_hide.sum()),
        "cells that must be published": int(problem.must_publish.sum()),
        "rules": len(case.rules),
        "insiders": len(problem.insiders),
        "costs": int((problem.cost != np.abs(table.values)).sum()),
        "bounds": int(((known.lower != usual.lower) | (known.upper != usual.upper)).sum()),
    }
    lost = [f"{what} ({n:,})" for what, n in there.items() if n and what not in held]
    return (f"not in these files, but in a project folder: {', '.join(lost)}",) if lost else ()


def _origin(case: Case, passing: Path) -> Origin:
    """In what words the case is put; the core reads them back and compares."""
    stays = case.origin is not None and not _passes(case.origin, passing)
    return Origin(
        case.origin if stays else None,
        rule=" | ".join(case.rules),
        waived=case.waived,
        attackers=_spec(case.attackers),
        cost=case.cost,
    )


def _passes(project: Path, passing: Path) -> bool:
    """Whether a project goes with the session, and with it files that it names."""
    if not project.is_relative_to(passing):
        return False
    return any(file.resolve().is_relative_to(passing.resolve()) for file in load_project(project).files)


def _spec(attackers: Attackers) -> AttackersSpec:
    return AttackersSpec.model_validate(
        {
            "kinds": list(attackers.kinds),
            "coalitions": [list(members) for members in attackers.coalitions],
            "lower": attackers.lower,
            "upper": attackers.upper,
            "within": attackers.within,
        }
    )
