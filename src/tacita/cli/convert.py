"""``tacita convert``: the same case in another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacita.cli.case_options import CaseFlags, pose_problem, print_table_notes
from tacita.cli.console import print_error, print_json, print_notes, print_written
from tacita.cli.verb import DONE, ERROR, Output
from tacita.core.errors import InputError
from tacita.core.words import pluralize

if TYPE_CHECKING:
    from tacita.core.tables.table import Table
    from tacita.problem.problem import Problem


def run_convert_command(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="IN",
            help="JJ file, table (CSV, Parquet, Excel, τ-ARGUS), NCHS text, thesis folder, project.toml, "
            "batch of τ-ARGUS (.arb).",
        ),
    ],
    target: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help=".jj, .csv, .parquet, .xlsx, .tab (τ-ARGUS, with its metadata), .txt (NCHS), or a folder "
            "for the thesis's files; of a batch .toml, or a folder for several projects.",
        ),
    ],
    output: Output,
    flags: CaseFlags,
    outsider_only: Annotated[
        bool, typer.Option("--outsider-only", help="Leave insiders out where the format knows one attacker.")
    ] = False,
) -> int:
    """Write a case in another format. The result holds true values: it is internal."""
    from tacita.problem.problem import Problem
    from tacita.specification.left_out import note_left_out
    from tacita.storage.internal import refuse_published

    refuse_published(target)
    if source.suffix.lower() == ".arb":
        if outsider_only or flags != CaseFlags():
            raise InputError(
                "a batch says itself how its tables are read and protected",
                place=source,
                remedy="leave out all options, and change the projects that it becomes",
            )
        return _write_projects(source, target, output)
    specification = flags.specify(source)
    if flags.has_requirement:
        loaded: Problem | Table = pose_problem(source, flags, specification)
    else:
        loaded = specification.case()
        print_table_notes(loaded.table if isinstance(loaded, Problem) else loaded)
    table = loaded.table if isinstance(loaded, Problem) else loaded
    ending = _choose_format(target)
    _write(loaded, target, ending, outsider_only)
    if isinstance(loaded, Problem):
        print_notes(*note_left_out(loaded, specification.rules, ending))
    if table.structure.labels and target.suffix.lower() != ".jj":
        print_notes(f"{target} lists the cells; the equations between them have no place in it")
    print_written(target, "it holds true values")
    if output.json:
        sensitive = len(loaded.levels) if isinstance(loaded, Problem) else None
        print_json(
            {
                "written": str(target),
                "cells": len(table),
                "equations": len(table.equations),
                "sensitive": sensitive,
            }
        )
    return DONE


def _write_projects(source: Path, target: Path, output: Output) -> int:
    """Write the projects that a batch states: into a file, or into a folder if there may be several."""
    from tacita.batch.convert import convert_batch
    from tacita.specification.project import save_project

    if (suffix := target.suffix.lower()) not in ("", ".toml"):
        raise InputError(
            f"a batch becomes projects, not files of the ending '{suffix}'",
            place=target,
            remedy="name a file that ends in .toml, or a folder",
        )
    folder = target.parent if suffix else target
    found = convert_batch(source, folder)
    print_notes(*found.remarks)
    for error in found.errors:
        print_error(error)
    if suffix and len(found.projects) > 1:
        raise InputError(
            f"the batch becomes {pluralize(len(found.projects), 'project')}: {', '.join(found.projects)}",
            place=target,
            remedy="name a folder for them",
        )
    written = [
        save_project(project, folder, f"From {source.name}", name=target.name if suffix else f"{name}.toml")
        for name, project in found.projects.items()
    ]
    if not written and not found.errors:
        raise InputError("the batch writes no protected table", place=source, remedy="see the notes")
    for path in written:
        print_written(path)
    if output.json:
        print_json({"written": list(map(str, written)), "remarks": found.remarks, "errors": found.errors})
    return ERROR if found.errors else DONE


def _choose_format(target: Path) -> str:
    """Return the format that ``tacita convert`` is to write, by the ending of the path."""
    suffix = target.suffix.lower()
    return {"": "thesis", ".txt": "nchs", ".dat": "nchs"}.get(suffix, suffix.removeprefix("."))


def _write(loaded: Problem | Table, target: Path, ending: str, outsider_only: bool) -> None:
    from tacita.core.levels import Levels
    from tacita.formats.jj import write_jj
    from tacita.formats.nchs import write_nchs
    from tacita.formats.petrenko import write_thesis
    from tacita.formats.table_write import write_table
    from tacita.problem.problem import Problem

    problem = loaded if isinstance(loaded, Problem) else None
    table = loaded.table if isinstance(loaded, Problem) else loaded
    if ending == "jj":
        write_jj(problem or Problem(table, Levels.none(len(table))), target, outsider_only=outsider_only)
    elif ending == "thesis":
        target.mkdir(parents=True, exist_ok=True)
        write_thesis(problem or Problem(table, Levels.none(len(table))), target)
    elif ending == "nchs":
        write_nchs(table, target)
    else:
        write_table(table, target, problem)
