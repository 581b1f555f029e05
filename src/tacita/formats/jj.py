"""JJ files: a table as cells and equations, with status, costs, bounds and levels.

    0
    nCells
    index value cost status lb ub LPL UPL SPL        nCells times
    nEquations
    rhs k : index (coefficient) index (coefficient) ...    nEquations times

``lb`` and ``ub`` are absolute bounds that everyone knows, the levels are distances from the value. An
equation says ``sum coefficient * value = rhs``. Counts of respondents and holdings lie beside it, in
``name.frq``.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from tacita.core import exact
from tacita.core.errors import InputError
from tacita.core.exact import UNBOUNDED, Mask, Units
from tacita.core.tables.equations import Equations
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table
from tacita.core.words import pluralize
from tacita.formats.jj_frequencies import read_frequencies, write_frequencies
from tacita.formats.jj_parse import JJFile, parse_jj
from tacita.formats.marks import NO_BOUND, Marks, build_problem, choose_decimals, list_status_letters
from tacita.formats.number_texts import format_numbers
from tacita.problem.problem import Problem
from tacita.storage.atomic import replace_file


def read_jj(
    path: str | os.PathLike[str], *, decimals: int | None = None, counts: bool | None = None
) -> Problem:
    """Return the problem that a JJ file states, with the counts that lie beside it.

    Parameters
    ----------
    decimals
        Decimals that count; as many as values, levels and bounds need by default.
    counts
        Whether everyone knows that cells are integers. Default: if all numbers of the file are.
    """
    file = parse_jj(path)
    count, holding_count = read_frequencies(path, file.records.size)
    value, numbers = file.column("value"), ("cost", "lb", "ub", "LPL", "UPL", "SPL")
    marks = Marks(file.records["status"], *map(file.column, numbers))
    try:
        own = max(exact.find_decimals(value), exact.find_decimals(file.rhs))
        largest = float(max(np.abs(value).max(initial=0.0), np.abs(file.rhs).max(initial=0.0)))
        needed, notes = choose_decimals(own, largest, marks) if decimals is None else (decimals, ())
        # Levels with decimals speak of amounts, also where they had to be rounded.
        integer = needed == 0 and not notes if counts is None else counts
        table = Table(
            _build_structure(file, needed),
            exact.to_units(value, needed),
            needed,
            integer=integer,
            count=count,
            holding_count=holding_count,
            notes=notes,
        )
        return build_problem(table, marks, finer=False)
    except InputError as error:
        raise error.with_place(path) from None


def write_jj(
    problem: Problem,
    path: str | os.PathLike[str],
    *,
    outsider_only: bool = False,
    hidden: Mask | None = None,
) -> Path:
    """Write a problem as a JJ file, its counts beside it: true values, hence internal.

    The format knows one attacker. A problem with insiders is refused unless ``outsider_only`` says that they
    may be left out. "No bound" is written as 1e15, which :func:`read_jj` understands. With the cells that a
    release has ``hidden`` their status is m, unless they are sensitive or must be hidden.
    """
    if problem.insiders and not outsider_only:
        raise InputError(
            f"a JJ file knows one attacker, this problem has {pluralize(len(problem.insiders), 'insider')} "
            "besides",
            remedy="write it for the outsider only to leave them out",
            options=["outsider_only"],
        )
    table, levels, outsider = problem.table, problem.levels, problem.outsider
    n, d = len(table), table.decimals
    letters = list_status_letters(problem)
    if hidden is not None:
        letters[hidden & ~levels.sensitive & ~problem.must_hide] = "m"
    labels = np.array(number_cells(table.structure))
    columns = (
        labels.tolist(),
        format_numbers(table.units, d),
        [f"{c:.15g}" for c in problem.cost.tolist()],
        letters.tolist(),
        _format_bounds(outsider.lower, d),
        _format_bounds(outsider.upper, d),
        format_numbers(levels.lower, d),
        format_numbers(levels.upper, d),
        format_numbers(levels.sliding, d),
    )
    with (
        replace_file(path) as temporary,
        write_frequencies(table, path),
        temporary.open("w", encoding="ascii", newline="\n") as out,
    ):
        out.write(f"0\n{n}\n")
        out.writelines(" ".join(row) + "\n" for row in zip(*columns, strict=True))
        out.write(f"{len(table.equations)}\n")
        entries = list(zip(labels[table.equations.cells], table.equations.coefficients, strict=True))
        starts, rhs = table.equations.starts.tolist(), format_numbers(table.equations.rhs, d)
        for j, right in enumerate(rhs):
            row = entries[starts[j] : starts[j + 1]]
            out.write(f"{right} {len(row)} : " + " ".join(f"{i} ({c})" for i, c in row) + "\n")
    return Path(path)


def _build_structure(file: JJFile, decimals: int) -> Structure:
    n = file.records.size
    equations = Equations(file.starts, file.cells, file.coefficients, exact.to_units(file.rhs, decimals), n)
    labels = tuple(map(str, file.records["index"].astype(np.int64).tolist()))
    return Structure((), np.empty((n, 0), dtype=np.int32), equations, labels=labels)


def number_cells(structure: Structure) -> list[str]:
    """Return the number by which a JJ file calls each cell, as text: its label, or its position."""
    if structure.labels and all(label.isdecimal() for label in structure.labels):
        return list(structure.labels)
    return list(map(str, range(len(structure))))


def _format_bounds(units: Units, decimals: int) -> list[str]:
    texts = format_numbers(units, decimals)
    for k in np.flatnonzero(np.abs(units) >= UNBOUNDED).tolist():
        texts[k] = f"{NO_BOUND if units[k] > 0 else -NO_BOUND:.0f}"
    return texts
