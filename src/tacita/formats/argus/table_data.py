"""Tables of τ-ARGUS: one cell per line without a header, columns as the metadata name them.

| column | read as |
|---|---|
| number, empty or ``-`` | missing |
| status, empty or ``E`` | empty: nobody contributes, and everyone knows |
| status | safe, unsafe or protected by the codes of the metadata, in any case; ``M`` secondary, not binding |
| frequency, missing beside a response | 1, with a note |
| frequency 0 beside response 0 | empty |
| cost | what hiding the cell costs: missing, its absolute value; 0, 0.0001 |
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacita.core.errors import FormatError, InputError, RecordsError, SeveralValuesError
from tacita.core.exact import Floats, Mask
from tacita.core.tables.coarsening import coarsen
from tacita.core.tables.columns import Columns, Spec, table_from_columns
from tacita.core.tables.read_options import ReadOptions
from tacita.core.tables.table import Table
from tacita.core.words import pluralize
from tacita.formats.argus.code_trees import CodeTree, build_code_tree
from tacita.formats.argus.fields import Fields, read_fields
from tacita.formats.argus.metadata import Metadata
from tacita.formats.argus.recodings import Recoding, recode_tree
from tacita.formats.recodings import read_recodings
from tacita.formats.roles import Roles
from tacita.formats.table_file import AS_USUAL, FileSpecification, build_table_problem
from tacita.problem.problem import Problem
from tacita.rules import Rule

LEAST_COST = 0.0001
"""What a cell of cost 0 costs."""
OPTIONS = (
    "by",
    "value",
    "totals",
    "decimals",
    "counts",
    "repair",
    "undeclared_sums",
    "order",
    "name",
    "columns",
    "levels",
    "recode",
    "metadata",
    "apriori",
)
"""Options of reading that a table of τ-ARGUS has; its metadata say the rest."""
STRUCTURAL = "<EMPTY>"
"""The column that is true for cells which are empty."""


def read_table_data(
    path: str | os.PathLike[str],
    metadata: Metadata,
    read: ReadOptions = AS_USUAL,
    *,
    recodings: Sequence[tuple[str, Recoding | int]] = (),
    rule: Rule | str | None = None,
    lower: float | None = None,
    **specified: Unpack[FileSpecification],
) -> Problem | Table:
    """Return the table in a file without a header; the problem if it has a status or there is a rule.

    Parameters
    ----------
    metadata
        Metadata of a table.
    read
        Of these options ``by`` chooses spanning variables, the others being at their totals; ``value`` the
        response, where there are several; ``totals="compute"`` drops rows of totals and computes them;
        ``columns`` further columns of numbers; ``repair``, ``decimals``, ``counts`` and ``name`` as usual.
    recodings
        Branches to close, by variable (see :func:`~tacita.formats.argus.recodings.recode_tree`).
    rule, lower, specified
        As for :func:`~tacita.formats.table_file.read_table_file`.

    Raises
    ------
    InputError
        A line contradicts the metadata or itself; the message names it, and what helps.
    """
    if metadata.kind != "table":
        raise RecordsError(
            "its metadata describe records about single respondents",
            place=path,
            remedy="name them as microdata in a project.toml (tutorial, step 8)",
        )
    _refuse_options(metadata, read)
    fields = read_fields(path, metadata)
    fields, trees = _classify(fields, metadata, read, recodings)
    roles = _assign_roles(metadata, read, tuple(trees))
    data, notes = _read_cells(fields, metadata, trees, roles)
    by: dict[str, Spec] = {name: tree.hierarchy for name, tree in trees.items()}
    carried = [
        roles.named[role] for role in ("status", "cost", "lower_level", "upper_level") if role in roles.named
    ]
    further = [metadata.find(name) for name in read.columns]
    carried += [variable.name for variable in (*metadata.with_role("shadow"), *further)]
    for name in (name for name in carried if name not in data):
        numbers, missing = _numbers(fields, name)
        data[name] = pa.array(numbers, mask=missing)
    source = Columns(pa.table(data), fields.place, notes=notes)
    options = replace(
        read,
        by=by,
        hierarchies={},
        total=None,
        found=(),
        value=roles.get("value"),
        count=roles.get("count"),
        status=None,
        structural=STRUCTURAL,
        largest=roles.largest or None,
        shadow=next((v.name for v in metadata.with_role("shadow")), None) if roles.largest else None,
        columns=tuple(dict.fromkeys(carried)),
        name=read.name or Path(path).stem,
    )
    try:
        table = coarsen(table_from_columns(source, options), read.levels, read_recodings(read.recode))
        return build_table_problem(table, roles, rule, lower, specified)
    except InputError as error:
        raise error.with_place(path) from None


def _refuse_options(metadata: Metadata, read: ReadOptions) -> None:
    """Refuse options of reading that the metadata of a table decide."""
    trees = isinstance(read.by, Mapping) and any(read.by.values())
    if strange := [name for name in read.given if name not in OPTIONS or (name == "by" and trees)]:
        raise InputError(
            f"the metadata say how the table is read, and '{strange[0]}' is given besides",
            place=metadata.path,
            remedy="change the metadata instead, or take the option off",
        )


def _classify(
    fields: Fields, metadata: Metadata, read: ReadOptions, recodings: Sequence[tuple[str, Recoding | int]]
) -> tuple[Fields, dict[str, CodeTree]]:
    """Return the rows of a table that are wanted, and the classification of each dimension."""
    folder = Path(fields.path).parent
    chosen = [metadata.find(name) for name in (_list_spanning(metadata) if read.by is None else read.by)]
    trees: dict[str, CodeTree] = {}
    keep = np.ones(len(fields), dtype=bool)
    for variable in metadata.spanning:
        codes = fields.list_codes(variable.name)
        tree = build_code_tree(metadata, variable, codes, folder, keep_order=True)
        column = np.array(fields.map_codes(variable.name, tree.find).to_pylist(), dtype=object)
        if variable not in chosen:
            keep &= column == tree.hierarchy.total
            continue
        for name, recoding in recodings:
            if metadata.find(name) == variable:
                if isinstance(recoding, Recoding) and recoding.groups:
                    raise FormatError(
                        "codes of a table cannot be joined: who contributes to both is not known",
                        place=recoding.path,
                        remedy="Recode the microdata, or close branches with <TREERECODE>.",
                    )
                tree = recode_tree(tree, recoding)
                keep &= np.array([code in tree.hierarchy for code in column])
        if read.totals == "compute":
            leaves = set(tree.hierarchy.leaves)
            keep &= np.array([code in leaves for code in column])
        trees[variable.name] = tree
    if strange := [variable.name for variable in chosen if variable.name not in trees]:
        raise FormatError(
            f"'{strange[0]}' holds no codes", place=metadata.path, remedy="Choose another variable."
        )
    if not keep.any():
        raise FormatError(
            "no line has the codes of totals of the variables that are left out",
            place=fields.path,
            remedy="Span the table by all variables.",
        )
    return fields.filter(keep), trees


def _list_spanning(metadata: Metadata) -> list[str]:
    """Return the names of all variables that span the table."""
    return [variable.name for variable in metadata.spanning]


def _assign_roles(metadata: Metadata, read: ReadOptions, dimensions: tuple[str, ...]) -> Roles:
    """Return what the columns of a table hold."""
    named = {"status": "status", "cost": "cost", "lower_level": "lower_level", "upper_level": "upper_level"}
    found = {
        role: variables[0].name
        for role, variables in ((role, metadata.with_role(role)) for role in named)  # type: ignore[arg-type]
        if variables
    }
    responses = [variable.name for variable in metadata.responses]
    if read.value is not None:
        found["value"] = metadata.find(read.value).name
    elif len(responses) == 1:
        found["value"] = responses[0]
    elif responses:
        raise SeveralValuesError(
            f"which column holds the values: {' or '.join(responses)}?",
            place=metadata.path,
            remedy="Name the response",
            options=["value"],
        )
    if frequencies := metadata.with_role("frequency"):
        found["count"] = frequencies[0].name
    largest = tuple(variable.name for variable in metadata.with_role("largest"))
    return Roles(dimensions, found, largest if "value" in found else ())


def _read_cells(
    fields: Fields, metadata: Metadata, trees: dict[str, CodeTree], roles: Roles
) -> tuple[dict[str, pa.Array], tuple[str, ...]]:
    """Return the columns of a table, checked line by line, and notes on what was read."""
    data: dict[str, pa.Array] = {name: fields.map_codes(name, tree.find) for name, tree in trees.items()}
    notes = [*metadata.notes, *metadata.remarks, *fields.notes, *(n for t in trees.values() for n in t.notes)]
    value, frequency = roles.get("value"), roles.get("count")
    response, without = _numbers(fields, value)
    count, uncounted = _numbers(fields, frequency)
    status = _read_status(fields, metadata)
    empty = status == "e"
    if frequency is not None and value is not None:
        _refuse(fields, without & ~uncounted & (count > 0), f"'{value}' is missing beside a frequency")
        _refuse(
            fields, (response != 0) & ~uncounted & (count == 0), f"'{value}' is not 0, and the frequency is"
        )
        empty |= (response == 0) & ~uncounted & (count == 0)
        imputed = uncounted & ~empty
        count[imputed] = 1
        if imputed.any():
            notes.append(
                f"a frequency of 1 was taken where there is none: {pluralize(int(imputed.sum()), 'cell')}"
            )
    first = response if value is not None else count
    _refuse(fields, empty & (first != 0), "the status is empty, and the cell is not")
    given = without if value is not None else uncounted
    for column, numbers, missing in (
        (value, response, given & ~empty),
        (frequency, count, uncounted & ~empty),
    ):
        if column is not None:
            data[column] = pa.array(numbers, mask=missing if column == (value or frequency) else None)
    data |= {name: pa.array(_numbers(fields, name)[0]) for name in roles.largest}
    _refuse_costs(fields, roles, data)
    for level in (roles.get("lower_level"), roles.get("upper_level")):
        if level is not None:
            numbers, missing = _numbers(fields, level)
            _refuse(fields, numbers < 0, f"'{level}' is negative: a level is a distance, so 0 or more")
            data[level] = pa.array(numbers, mask=missing)
    for variable in metadata.with_role("shadow"):
        numbers, missing = _numbers(fields, variable.name)
        data[variable.name] = pa.array(numbers, mask=missing & ~empty)
    if (letters := roles.get("status")) is not None:
        data[letters] = pa.array(np.where(empty, "e", status).tolist(), pa.string())
    data[STRUCTURAL] = pa.array(empty)
    return data, tuple(notes)


def _refuse_costs(fields: Fields, roles: Roles, data: dict[str, pa.Array]) -> None:
    """Add the costs of a table's cells to its data; refuse negative ones."""
    if (name := roles.get("cost")) is not None:
        numbers, missing = _numbers(fields, name)
        _refuse(fields, numbers < 0, f"the cost '{name}' is negative")
        data[name] = pa.array(np.where(numbers == 0, LEAST_COST, numbers), mask=missing)


def _numbers(fields: Fields, name: str | None) -> tuple[Floats, Mask]:
    if name is None:
        return np.zeros(len(fields)), np.ones(len(fields), dtype=bool)
    numbers, missing, _ = fields.numbers(name)
    return numbers.copy(), missing


def _read_status(fields: Fields, metadata: Metadata) -> NDArray[np.str_]:
    """Return the status of each cell as the letter s, u, p, m or e; without a column none is given."""
    columns = metadata.with_role("status")
    if not columns:
        return np.full(len(fields), "s")
    (column,) = columns
    letters = {metadata.safe: "s", metadata.unsafe: "u", metadata.protect: "p"}
    known = {"": "e", "E": "e", "M": "m"} | {sign.upper(): letter for sign, letter in letters.items()}
    written = [text.strip().upper() for text in fields.columns[column.name].to_pylist()]
    unknown = np.array([text not in known for text in written])
    _refuse(
        fields,
        unknown,
        f"the status in '{column.name}' is none of {', '.join(letters)}, M and E",
        "Correct it, or name its codes in the metadata with <SAFE>, <UNSAFE> and <PROTECT>.",
    )
    return np.array([known[text] for text in written])


def _refuse(fields: Fields, wrong: Mask, fault: str, remedy: str = "Correct the line.") -> None:
    if wrong.any():
        raise FormatError(fault, place=fields.place(int(np.flatnonzero(wrong)[0])), remedy=remedy)
