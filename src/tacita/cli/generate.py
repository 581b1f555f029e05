"""``tacita generate``: tables and microdata to try things out with; the same seed gives the same data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacita.cli.console import make_console, print_json, print_written
from tacita.cli.verb import DONE, Output, make_verb
from tacita.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacita.core.tables.structure import Structure
    from tacita.examples import Example
    from tacita.problem.problem import Problem

generate = typer.Typer(
    help="Make tables or microdata to try things out with: random and seeded, or from the literature.",
    no_args_is_help=True,
)

Seed = Annotated[int, typer.Option(help="The same seed gives the same data.")]


def run_table_command(
    output: Output,
    to: Annotated[Path, typer.Option("--out", metavar="FILE", help=".csv, .parquet, .xlsx or .jj")],
    shape: Annotated[str, typer.Option(help="Finest codes per dimension, one to five.")] = "20,20",
    family: Annotated[
        str | None,
        typer.Option(
            help="What values look like: uniform, lognormal, zipf, fs, business, census, ... Default: fs, or "
            "uniform with --between."
        ),
    ] = None,
    between: Annotated[
        str | None,
        typer.Option(
            metavar="LOW,HIGH", help="Least and largest value of the finest cells, for the family uniform."
        ),
    ] = None,
    hierarchy: Annotated[
        str | None, typer.Option(metavar="LEVELS", help="Levels of codes per dimension, such as 2,1.")
    ] = None,
    zeros: Annotated[float | None, typer.Option(min=0, max=1, help="Share of empty cells.")] = None,
    sensitive: Annotated[
        float | None, typer.Option(help="Mark cells as sensitive: a share below 1, or a number of cells.")
    ] = None,
    seed: Seed = 0,
) -> int:
    """Make a random table with its totals; with --sensitive, and as .jj, also with status, levels and costs.

    Classifications that are not flat go beside it, one CSV file per dimension.
    """
    from tacita import generate as make
    from tacita.formats.table_write import write_table

    looks = family or ("fs" if between is None else "uniform")
    options: dict[str, Any] = {
        "between": _parse_range(between) if between else None,
        "zeros": zeros,
        "hierarchy": _parse_numbers(hierarchy) if hierarchy else None,
        "seed": seed,
    }
    problem = None
    if sensitive is not None or to.suffix.lower() == ".jj":
        wanted = int(sensitive) if sensitive is not None and sensitive >= 1 else sensitive
        problem = make.problem(_parse_numbers(shape), looks, sensitive=wanted, **options)
    if problem is not None:
        return _print_written(output, _write_problem(problem, to), _count_cells(problem))
    made = make.table(_parse_numbers(shape), looks, **options)
    return _print_written(
        output, [write_table(made, to), *_write_trees(made.structure, to)], {"cells": len(made)}
    )


def run_example_command(
    output: Output,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Which; all are listed without.")] = None,
    to: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help=".csv, .parquet, .xlsx or .jj")
    ] = None,
) -> int:
    """Write a table from the literature with sensitive cells, levels and bounds; without NAME: a list of
    them.
    """
    from tacita.examples import EXAMPLES
    from tacita.examples import example as make

    if name is None:
        return _list_examples(output, EXAMPLES)
    problem = make(name)
    if to is None:
        raise InputError("where to?", remedy=f"Name a file: tacita generate example {name} --out {name}.csv")
    return _print_written(output, _write_problem(problem, to), _count_cells(problem))


def run_microdata_command(
    output: Output,
    to: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for records and classifications.")],
    records: Annotated[int, typer.Option(min=1, help="Number of records.")] = 10_000,
    respondents: Annotated[
        int | None, typer.Option(min=1, help="Number of respondents. Default: each record is one.")
    ] = None,
    holdings: Annotated[bool, typer.Option("--holdings", help="Add groups of respondents.")] = False,
    weights: Annotated[bool, typer.Option("--weights", help="Add sampling weights.")] = False,
    ending: Annotated[str, typer.Option("--format", help="parquet or csv")] = "parquet",
    seed: Seed = 0,
) -> int:
    """Make random records of enterprises by region, industry and size, with the classifications of their
    codes.
    """
    from tacita.formats.hierarchy import write_hierarchy
    from tacita.generate import microdata as make

    made = make(records, respondents=respondents, holdings=holdings, weights=weights, seed=seed)
    to.mkdir(parents=True, exist_ok=True)
    written = [write_records(made.records, to / f"records.{ending}")]
    written += [write_hierarchy(tree, to / f"{name}.csv") for name, tree in made.hierarchies.items()]
    return _print_written(output, written, {"records": records, "columns": made.records.column_names})


def write_records(records: Any, path: Path) -> Path:
    """Write records for ``tacita generate`` as Parquet or CSV, all or nothing; return the path."""
    import pyarrow.csv
    import pyarrow.parquet

    from tacita.storage.atomic import replace_file

    writers = {".parquet": pyarrow.parquet.write_table, ".csv": pyarrow.csv.write_csv}
    if path.suffix not in writers:
        raise InputError("records are written as parquet or csv", place=path, remedy="choose one of them")
    with replace_file(path) as temporary:
        writers[path.suffix](records, temporary)
    return path


def _write_problem(problem: Problem, to: Path) -> list[Path]:
    from tacita.formats.jj import write_jj
    from tacita.formats.table_write import write_table

    if to.suffix.lower() == ".jj":
        return [write_jj(problem, to)]
    return [write_table(problem.table, to, problem), *_write_trees(problem.table.structure, to)]


def _count_cells(problem: Problem) -> dict[str, Any]:
    return {"cells": len(problem.table), "sensitive": len(problem.levels)}


def _list_examples(output: Output, examples: Mapping[str, Example]) -> int:
    if output.json:
        print_json({name: {"title": e.title, "about": e.about} for name, e in examples.items()})
        return DONE
    for name, each in examples.items():
        make_console().print(f"[bold]{name}[/]  {each.title}. {each.about}", soft_wrap=True)
    return DONE


def _write_trees(structure: Structure, beside: Path) -> list[Path]:
    from tacita.formats.hierarchy import write_hierarchy

    return [
        write_hierarchy(tree, beside.with_name(f"{beside.stem}-{dimension.name}.csv"))
        for dimension in structure.dimensions
        for tree in dimension.trees
        if tree.depth.max() > 1
    ]


def _parse_numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        raise InputError(f"'{text}' should be integers separated by commas, such as 20,20") from None


def _parse_range(text: str) -> tuple[int, int]:
    ends = _parse_numbers(text)
    if len(ends) != 2:
        raise InputError(f"--between {text}", remedy="give the least and the largest value, such as 1,999")
    return ends[0], ends[1]


def _print_written(output: Output, written: list[Path], figures: dict[str, Any]) -> int:
    for path in written:
        print_written(path)
    if output.json:
        print_json({"written": [str(path) for path in written], **figures})
    else:
        make_console().print(", ".join(f"{name}: {figure}" for name, figure in figures.items()))
    return DONE


generate.command("table")(make_verb(run_table_command))
generate.command("microdata")(make_verb(run_microdata_command))
generate.command("example")(make_verb(run_example_command))
