"""``tacita assess``: which cells are sensitive, by which rule, against whom?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacita.cli.case_options import Case, CaseFlags, pose_problem
from tacita.cli.console import make_console, print_json, print_notes, print_written
from tacita.cli.verb import DONE, Output
from tacita.core.errors import InputError
from tacita.core.words import pluralize

if TYPE_CHECKING:
    from tacita.problem.problem import Problem


def run_assess_command(
    case: Case,
    output: Output,
    flags: CaseFlags,
    show_values: Annotated[bool, typer.Option("--show-values", help="Show true values and levels.")] = False,
    detail: Annotated[
        bool,
        typer.Option(
            "--detail",
            help="List how many cells stay hidden at each level of detail, by a suppression that is searched "
            "for quickly.",
        ),
    ] = False,
    detail_seconds: Annotated[
        float, typer.Option(min=0.0, help="Seconds for the suppression at each level of detail.")
    ] = 2.0,
    to: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE.csv", help="Write every cell with value, status and levels: internal."
        ),
    ] = None,
) -> int:
    """Find the sensitive cells of a table: which rules hit them, which levels they need, who might attack."""
    from tacita.auditing.audit import refuse_breached

    problem = pose_problem(case, flags)
    refuse_breached(problem)
    if detail:
        return _compare_detail(case, flags, problem, output, detail_seconds)
    if to is not None:
        from tacita.formats.table_write import write_table

        write_table(problem.table, to, problem)
        print_written(to, "it holds true values")
        cells, parts = len(problem.levels), problem.table.structure.parts
        rows = sum(int(problem.levels.sensitive[part.cells].sum()) for part in parts)
        if rows > cells:
            print_notes(
                f"{pluralize(cells, 'sensitive cell')} in {pluralize(rows, 'row')} with status u: a code and "
                "its only child are one cell with a row each, and so is a cell that linked tables share"
            )
    if output.json:
        print_json(_build_answer(problem, show_values))
        return DONE
    from tacita.report.terminal import build_levels_table, build_rules_table

    console = make_console()
    console.print(build_rules_table(problem))
    if len(problem.levels):
        console.print(build_levels_table(problem, show_values))
    known = problem.considered.text
    console.print(
        f"Sensitive: {len(problem.levels):,} of {pluralize(len(problem.table), 'cell')}; attackers: {known}."
    )
    return DONE


def _compare_detail(case: Path, flags: CaseFlags, problem: Problem, output: Output, seconds: float) -> int:
    """Print how many cells of a case stay hidden at each level of detail."""
    from tacita.core.tables.read_options import ReadOptions
    from tacita.pipelines.compare_detail import compare_levels, describe_row, list_levels

    specification = flags.specify(case)
    if specification.table is None:
        raise InputError(
            "several tables are linked",
            place=case,
            remedy="compare the detail of each in its own project",
        )
    fixed = specification.table.levels

    def pose(levels: Mapping[str, int]) -> Problem:
        return specification.reading(ReadOptions(levels={**fixed, **levels})).problem()

    found = compare_levels(list_levels(problem.table, fixed), pose, seconds)
    if output.json:
        print_json({"detail": found.to_arrow().to_pylist()})
        return DONE
    from tacita.report.terminal import build_detail_table

    make_console().print(build_detail_table(found.heads, [describe_row(row) for row in found]))
    return DONE


def _build_answer(problem: Problem, show_values: bool) -> dict[str, Any]:
    from tacita.report.record import build_cell_key, find_rules_by_cell, list_exempt_cells

    table, levels, rules = problem.table, problem.levels, find_rules_by_cell(problem)
    listed = []
    for cell in problem.sensitive.tolist():
        entry: dict[str, Any] = {"cell": build_cell_key(table.structure, cell), "rules": rules[cell]}
        if show_values:
            unit = 10**table.decimals
            entry["value"] = float(table.values[cell])
            for name, level in (
                ("lower", levels.lower),
                ("upper", levels.upper),
                ("sliding", levels.sliding),
            ):
                entry[name] = int(level[cell]) / unit
        listed.append(entry)
    return {
        "cells": len(table),
        "equations": len(table.equations),
        "sensitive": len(levels),
        "rules": [{"rule": reason.rule, "cells": int(reason.cells.size)} for reason in levels.reasons],
        "attackers": list(problem.attackers),
        "against": problem.considered.text,
        "already_published": len(problem.already_published),
        "notes": [*table.notes, *problem.published_notes],
        "warnings": list(problem.warnings),
        "sensitive_cells": listed,
        "exempt_cells": list_exempt_cells(problem),
    }
