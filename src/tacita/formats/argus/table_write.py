"""Write a table as τ-ARGUS reads it: cells without a header, metadata, hierarchies and code lists beside it.

The files hold true values: they are internal. What they cannot hold of a problem (sliding levels, bounds,
insiders, exempt cells, rules) is left out; see :mod:`tacita.specification.left_out`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from tacita.core.errors import FormatError
from tacita.core.exact import Cells
from tacita.core.hierarchy import Hierarchy
from tacita.core.tables.dimension import Dimension
from tacita.core.tables.frames import list_rows
from tacita.core.tables.table import Table
from tacita.formats.argus.code_trees import LEAD, write_labels
from tacita.formats.argus.delimited import OutputOptions, write_lines
from tacita.formats.argus.metadata import Metadata, Role, Variable
from tacita.formats.argus.metadata_file import parse_metadata, write_metadata
from tacita.formats.marks import list_status_letters
from tacita.formats.number_texts import format_numbers
from tacita.problem.problem import Problem

LEADS = (LEAD, "#", "%", "~", "@@", "##", "%%", "~~")
"""Lead strings of hierarchy files, of which the first is taken that no code begins with."""
STATUS = {"s": "S", "u": "U", "z": "P", "w": "M"}


def write_argus_table(case: Problem | Table, path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write a table, with a problem its status, costs and levels, as a ``.tab`` file; return all paths.

    Beside it stand its metadata (``.rda``), a ``.hrc`` file for each hierarchy and a ``.cdl`` file for each
    dimension with labels.

    Raises
    ------
    FormatError
        Tables are linked, a dimension has several hierarchies, codes cannot be written, or metadata of other
        data have the name.
    """
    target = Path(path)
    table = case.table if isinstance(case, Problem) else case
    if len(table.structure.parts) > 1 or table.structure.labels:
        raise FormatError(
            "linked tables and cells without codes do not fit into a file of τ-ARGUS",
            place=target,
            remedy="Write .jj, or each table alone.",
        )
    _refuse_metadata_of_others(target)
    _, codes, cells = list_rows(table.structure)
    variables, beside = [], []
    for dimension in table.structure.dimensions:
        variable, files = _write_dimension(dimension, target)
        variables.append(variable)
        beside += files
    columns = [column.to_pylist() for column in codes]
    for variable, texts in _list_numbers(case, cells, {v.name for v in variables}):
        variables.append(variable)
        columns.append(texts)
    write_lines(target, columns, OutputOptions(), codes=len(codes), separator=";")
    metadata = write_metadata(Metadata(tuple(variables), "table", ";"), target.with_suffix(".rda"))
    return target, metadata, *beside


def _refuse_metadata_of_others(target: Path) -> None:
    """Refuse to replace a ``.rda`` file that describes records, or anything else but the table itself."""
    beside = target.with_suffix(".rda")
    if not beside.exists():
        return
    try:
        own = target.exists() and parse_metadata(beside).kind == "table"
    except FormatError:
        own = False
    if not own:
        raise FormatError(
            "it is there already, and describes other data than the table that is to be written",
            place=beside,
            remedy="Choose another name for the table.",
        )


def _write_dimension(dimension: Dimension, target: Path) -> tuple[Variable, list[Path]]:
    """Return the variable of a table's dimension, after writing its hierarchy and its labels."""
    if len(dimension.trees) > 1:
        raise FormatError(
            f"'{dimension.name}' has several hierarchies, and metadata of τ-ARGUS hold one",
            place=target,
            remedy="Write one table per hierarchy.",
        )
    (tree,) = dimension.trees
    plain = re.sub(r"[^\w-]+", "_", dimension.name)
    beside = f"{target.stem}-{plain}"
    files, lead, hierarchy, codelist = [], None, None, None
    if not dimension.is_flat:
        hierarchy, lead = target.with_name(f"{beside}.hrc"), _choose_lead(tree, target)
        tree.write_hrc(hierarchy, lead)
        files.append(hierarchy)
    if tree.labels:
        codelist = write_labels(tree.labels, target.with_name(f"{beside}.cdl"))
        files.append(codelist)
    return Variable(
        dimension.name,
        recodable=True,
        total=tree.total,
        codelist=None if codelist is None else codelist.name,
        hierarchical=hierarchy is not None,
        hierarchy=None if hierarchy is None else hierarchy.name,
        lead=lead,
    ), files


def _choose_lead(tree: Hierarchy, target: Path) -> str:
    lead = next((each for each in LEADS if not any(code.startswith(each) for code in tree.codes)), None)
    if lead is None:
        raise FormatError(
            f"codes begin with each of the lead strings {', '.join(LEADS)}",
            place=target,
            remedy="Rename one.",
        )
    return lead


def _list_numbers(
    case: Problem | Table, cells: Cells, taken: set[str]
) -> Iterable[tuple[Variable, list[str]]]:
    """Yield the variables of a table besides its codes, each with its texts."""
    table, problem = (case.table, case) if isinstance(case, Problem) else (case, None)

    def name(wanted: str) -> str:
        while wanted in taken:
            wanted += "_"
        taken.add(wanted)
        return wanted

    def column(
        wanted: str, role: Role, texts: list[str], numeric: bool = False
    ) -> tuple[Variable, list[str]]:
        return Variable(name(wanted), role=role, numeric=numeric), texts

    empty = np.zeros(len(table), dtype=bool) if table.structural is None else table.structural
    values = format_numbers(table.units[cells], table.decimals)
    if table.integer and table.count is None:
        yield column("Freq", "frequency", values)
    else:
        yield Variable(name(table.value_name), numeric=True, decimals=table.decimals), values
        if table.count is not None:
            counts = np.where(empty, 0, np.where((table.count == 0) & ~empty, 1, table.count))
            yield column("Freq", "frequency", list(map(str, counts[cells].tolist())))
    if problem is not None:
        usual = problem.cost == np.abs(table.values)
        costs = ["" if usual[cell] else f"{problem.cost[cell]:.15g}" for cell in cells.tolist()]
        yield column("Cost", "cost", costs, numeric=True)
    if table.contributions is not None:
        for rank, largest in enumerate(table.contributions.values[cells].T, start=1):
            yield column(f"Top{rank}", "largest", format_numbers(largest, table.decimals))
    letters = np.array(["s"] * len(table)) if problem is None else list_status_letters(problem)
    if problem is not None or empty.any():
        texts = ["E" if empty[cell] else STATUS[letters[cell]] for cell in cells.tolist()]
        yield column("Status", "status", texts)
    if problem is not None:
        safe = ~problem.levels.sensitive[cells]
        both: tuple[tuple[str, Role], ...] = (("Lpl", "lower_level"), ("Upl", "upper_level"))
        for (wanted, role), level in zip(both, (problem.levels.lower, problem.levels.upper), strict=True):
            yield column(wanted, role, format_numbers(level[cells], table.decimals, safe), numeric=True)
