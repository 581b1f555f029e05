"""``tacita tabulate``: from records to a table with counts and largest contributions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacita.cli.case_options import find_tree, make_flag, parse_levels, parse_pairs, print_table_notes
from tacita.cli.console import make_console, print_json, print_notes, print_written
from tacita.cli.effort import Effort, carry_out
from tacita.cli.verb import DONE, Output
from tacita.core.errors import InputError
from tacita.core.words import pluralize

if TYPE_CHECKING:
    from tacita.core.hierarchy import Digits, Hierarchy


def run_tabulate_command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="Records: CSV, Parquet (also 'folder/*.parquet'), Excel, text with metadata of τ-ARGUS, "
            "file.duckdb::table, 'postgres://user@host/database?table=schema.name', project.toml.",
        ),
    ],
    output: Output,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=FILE]",
            help="Column of codes, with its classification if there is one: CSV, .hrc, or NAME=2-1-1 for "
            "codes such as 01, 011, 0111, or 10, 10.1, 10.11 (points are not counted).",
        ),
    ] = None,
    value: Annotated[str | None, typer.Option(help="Column of values; without it the table counts.")] = None,
    respondent: Annotated[str | None, typer.Option(help="Column that says who made a record.")] = None,
    holding: Annotated[str | None, typer.Option(help="Column that says to which group they belong.")] = None,
    weight: Annotated[str | None, typer.Option(help="Column of sampling weights.")] = None,
    largest: Annotated[int, typer.Option(min=1, help="How many of the largest contributions to keep.")] = 2,
    decimals: Annotated[
        int | None,
        typer.Option(min=0, help="Decimals that count; each record is rounded to them before summing."),
    ] = None,
    where: Annotated[str | None, typer.Option(metavar="SQL", help="Condition on the records to use.")] = None,
    levels: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER", help="How many levels of a classification the table has below its total."
        ),
    ] = None,
    recode: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FILE", help="What codes become: CSV (code, new) or .grc; repeat."),
    ] = None,
    decimal: Annotated[str | None, make_flag("decimal")] = None,
    sheet: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Sheet of a workbook. Default: the first that holds anything."),
    ] = None,
    metadata: Annotated[str | None, make_flag("metadata", metavar="FILE")] = None,
    to: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="Write the table: .csv, .parquet, .xlsx or .tab. Internal."
        ),
    ] = None,
) -> int:
    """Tabulate records: totals over all classifications, respondents counted, largest contributions kept."""
    from tacita.attackers.insiders import list_known_kinds
    from tacita.formats.recodings import read_recodings
    from tacita.formats.records import tabulate_file
    from tacita.specification.specification import find_project
    from tacita.storage.internal import refuse_published

    if to is not None:
        refuse_published(to)
    if (file := find_project(source)) is not None:
        from tacita.specification.project import load_project

        table = load_project(file).data()
    else:
        if not by:
            raise InputError("by which columns?", remedy="Name each: --by region=regions.csv --by size")
        trees = _read_trees(by)
        table = carry_out(
            lambda run: tabulate_file(
                source,
                trees,
                sheet=sheet,
                metadata=metadata,
                value=value,
                respondent=respondent,
                holding=holding,
                weight=weight,
                largest=largest,
                decimals=decimals,
                where=where,
                levels=parse_levels(levels or ()),
                recode=read_recodings(parse_pairs(recode or (), "--recode")),
                decimal=decimal,
                run=run,
            ),
            Effort(),
        )
    print_table_notes(table)
    if to is not None:
        from tacita.formats.table_write import write_table

        write_table(table, to)
        print_written(to, "it holds true values")
        if kinds := list_known_kinds(table):
            print_notes(
                f"the file does not say which {' and '.join(kinds)} stand behind its cells. To have them as "
                "attackers, protect a project.toml that names the records as microdata"
            )
    if output.json:
        dimensions = {d.name: len(d.codes) for d in table.structure.dimensions}
        print_json(
            {
                "cells": len(table),
                "equations": len(table.equations),
                "decimals": table.decimals,
                "counts": table.integer,
                "dimensions": dimensions,
                "notes": list(table.notes),
            }
        )
    else:
        make_console().print(
            f"{pluralize(len(table), 'cell')}, {pluralize(len(table.equations), 'equation')}"
        )
    return DONE


def _read_trees(by: list[str]) -> dict[str, list[Hierarchy | Digits] | None]:
    from tacita.formats.hierarchy import read_hierarchy

    trees: dict[str, list[Hierarchy | Digits] | None] = {}
    for text in by:
        name, _, file = text.partition("=")
        if "," in file and not Path(file).exists():
            parts = " ".join(f"--by {part.strip()}" for part in text.split(","))
            raise InputError(f"'{text}' names several columns", place="--by", remedy=f"Write {parts}.")
        if file:
            tree = find_tree(file)
            trees[name] = [
                *(trees.get(name) or ()),
                read_hierarchy(tree) if isinstance(tree, Path) else tree,
            ]
        else:
            trees.setdefault(name, None)
    return trees
