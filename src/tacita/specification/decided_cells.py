"""Cells that files of ``[decisions]`` list: one row per cell, by its codes, with who decided it and why.

    region,size,reason,by
    North,small,published last year,A. Meyer

A dimension without a column, or without a code in a row, is at its total. Sensitive cells may have columns
``lpl``, ``upl``, ``spl`` and ``protection``. Of a release, which has a column ``mark``, those cells count
that it publishes where cells are to be published or exempt, and those that it does not publish where they are
to be hidden or sensitive. Of a file with a column ``status``, such as ``tacita assess --out`` writes, those
count whose letter says so: ``u`` (sensitive), ``u``, ``m`` and ``x`` (to be hidden), ``z`` and ``p`` (to be
published). Rows on cells that the table does not have are left out with a warning, since codes come and go
between periods; of cells to be hidden or sensitive, what looks like a misspelt code is refused. A column that
is no dimension and nothing of the above is refused: it may be one by another name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.errors import FormatError, InputError, did_you_mean
from tacita.core.exact import Cells, Mask
from tacita.core.release import Mark
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table
from tacita.core.words import pluralize
from tacita.formats.cell_rows import find_cells, list_code_columns
from tacita.formats.code_labels import name_label_columns
from tacita.formats.columns import read_columns
from tacita.formats.marks import LETTERS as STATUS_LETTERS
from tacita.formats.roles import guess_role
from tacita.publication.folders import find_release
from tacita.rules import Rule
from tacita.specification.project_cells import LEVELS, build_marks_at
from tacita.specification.sections import SensitiveCell
from tacita.verify import LABELS, RELEASE

if TYPE_CHECKING:
    from tacita.core.tables.columns import Columns
    from tacita.specification.specification import Specification

CELLS = ("must_publish", "must_hide", "sensitive", "exempt")
"""Decisions on cells, which files can list."""
WORDS = ("reason", "by", "table")
"""Columns of a file of decisions beside codes, levels and what releases have."""
LETTERS = {"must_publish": "zp", "must_hide": "umxw", "sensitive": "u"}
"""The letters of a column ``status`` that mean a decision; none means that a cell is exempt."""
PUBLISHED = ("must_publish", "exempt")
"""Those for which a release lists the cells that it publishes."""
LEAST_LETTERS = 4
"""Letters of a code that may be a misspelt word; codes such as 2013 and A12 come and go."""


@dataclass(frozen=True)
class DecidedCells:
    """The cells of one file of decisions, in its order.

    ``reasons`` counts cells by reason and by who gave it, as the rows state them; ``marks`` are the rules of
    sensitive ones.
    """

    cells: list[int] = field(default_factory=list)
    marks: list[Rule] = field(default_factory=list)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    warnings: tuple[str, ...] = ()


def read_decided(specification: Specification, table: Table, name: str) -> DecidedCells:
    """Return the cells of a table that the file of a decision lists; none where it has no file.

    Raises
    ------
    InputError
        The file cannot be read, or has no column of a dimension, or one that may be another.
    """
    decision = specification.decisions.find(name)
    if decision.file is None:
        return DecidedCells()
    path = specification.folder / decision.file
    source = read_columns(find_release(path) if path.is_dir() else path, table)
    try:
        rows = _find_rows(source, table)
        levels = _read_levels(source) if name == "sensitive" else {}
        meant = _find_meant(source, table.structure, name)
    except InputError as error:
        raise error.with_place(path) from None
    there = np.flatnonzero(meant & (rows >= 0))
    cells: list[int] = rows[there].tolist()
    lost = np.flatnonzero(meant & (rows < 0))
    if name not in PUBLISHED:
        _refuse_misspelt(source, table.structure, lost)
    entries = [SensitiveCell({}, **{key: column[row] for key, column in levels.items()}) for row in there]
    return DecidedCells(
        cells,
        build_marks_at(table, entries, cells) if name == "sensitive" else [],
        Counter(
            zip(
                _read_words(source, "reason", decision.reason, there),
                _read_words(source, "by", decision.by, there),
                strict=True,
            )
        ),
        tuple(_warn(source, table, name, meant, lost)),
    )


def _find_rows(source: Columns, table: Table) -> Cells:
    """Return the cell that each row of a file of decisions is about; -1 if the table has no such cell."""
    structure = table.structure
    if structure.labels:
        return find_cells(source, structure)
    names = list_code_columns(structure)
    given = [d for d, name in enumerate(names) if name in source.names]
    if not given:
        raise FormatError(
            f"it has none of the columns {', '.join(names)}, which cells go by",
            remedy="name columns like the dimensions of the table",
        )
    _refuse_strange_columns(source, structure)
    for dimension in (structure.dimensions[d] for d in given):
        source = _fill_with_total(source, dimension.name, dimension.total)
    return find_cells(source, structure, given)


def _refuse_strange_columns(source: Columns, structure: Structure) -> None:
    """Refuse columns of a file of decisions that may be dimensions by another name: its rows would be about
    totals of these.
    """
    names = list_code_columns(structure)
    known = {*names, *WORDS, *RELEASE, *LABELS, *LEVELS, *name_label_columns(structure.dimensions).values()}
    for name in source.names:
        if name not in known and guess_role(name) is None:
            raise FormatError(
                f"column '{name}'{did_you_mean(name, names)} is none of the dimensions {', '.join(names)}",
                remedy="name it like the dimension whose codes it holds, or take it out",
            )


def _refuse_misspelt(source: Columns, structure: Structure, lost: Cells) -> None:
    """Refuse rows of a file of decisions that no cell has where a word is nearly a code of its dimension: the
    cell that was meant would be published.
    """
    for dimension in structure.dimensions:
        if dimension.name not in source.names:
            continue
        texts, codes = source.texts(dimension.name), set(dimension.codes)
        for row in lost.tolist():
            code = texts[row].as_py()
            is_word = sum(letter.isalpha() for letter in code) >= LEAST_LETTERS
            if code not in codes and is_word and (meant := did_you_mean(code, codes)):
                raise InputError(
                    f"no code '{code}' of '{dimension.name}'{meant}",
                    place=source.place(row),
                    remedy="correct it, or take out the row",
                )


def _warn(source: Columns, table: Table, name: str, meant: Mask, lost: Cells) -> Iterator[str]:
    """Yield the warnings of a file of decisions: rows that no cell has, or none that means the decision."""
    if lost.size:
        yield _describe_lost(source, table, lost)
    if meant.size and not meant.any():
        letters = f"; of a column 'status', {' and '.join(LETTERS[name])} mean it" if name in LETTERS else ""
        yield f"{source.place(0)}: no row of this file means {name}, so it decides nothing{letters}"


def _describe_lost(source: Columns, table: Table, lost: Cells) -> str:
    """Return the warning of rows of a file of decisions that no cell of the table has, with the first."""
    names = [name for name in list_code_columns(table.structure) if name in source.names]
    codes = ", ".join(f"{name}={source.texts(name)[int(lost[0])].as_py()}" for name in names)
    each = "it is" if lost.size == 1 else "the first is"
    what = f"{pluralize(lost.size, 'row')} on cells that the table does not have, left out"
    return f"{source.place(int(lost[0]))}: {what}; {each} ({codes})"


def _fill_with_total(source: Columns, name: str, total: str) -> Columns:
    import pyarrow.compute as pc

    blank = pc.equal(source.texts(name), "")
    if not pc.any(blank).as_py():
        return source
    filled = pc.if_else(blank, total, source.texts(name))
    return replace(source, data=source.data.set_column(source.names.index(name), name, filled))


def _find_meant(source: Columns, structure: Structure, decision: str) -> Mask:
    """Return the rows that a decision is about: all of them; of a release those that it publishes or not; of
    a file with a status those whose letter means it.
    """
    if "mark" in source.names:
        words = [word.lower() == Mark.PUBLISHED.word for word in _list_texts(source, "mark")]
        return np.array([shown == (decision in PUBLISHED) for shown in words], dtype=bool)
    codes = list_code_columns(structure)
    status = [name for name in source.names if guess_role(name) == "status" and name not in codes]
    if not status:
        return np.ones(source.data.num_rows, dtype=bool)
    letters = np.char.lower(np.char.strip(np.array(_list_texts(source, status[0]), dtype=np.str_)))
    if decision not in LETTERS:
        raise FormatError(
            f"column '{status[0]}' has no letter for cells that are exempt",
            remedy="list these cells alone, without the column",
        )
    if strange := sorted({*letters.tolist()} - STATUS_LETTERS):
        row = int(np.flatnonzero(letters == strange[0])[0])
        raise FormatError(
            f"status '{strange[0]}' is unknown",
            place=source.place(row),
            remedy=f"use one of {', '.join(sorted(filter(None, STATUS_LETTERS)))}, or take the column out",
        )
    return np.isin(letters, list(LETTERS[decision]))


def _read_levels(source: Columns) -> dict[str, list[float | None]]:
    """Return the protection levels that a file of sensitive cells states, by their fields."""
    return {
        field_name: [
            _read_number(source, key, row, text) for row, text in enumerate(_list_texts(source, key))
        ]
        for key, field_name in LEVELS.items()
        if key in source.names
    }


def _read_number(source: Columns, key: str, row: int, text: str) -> float | None:
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        raise FormatError(
            f"column '{key}' holds no number", place=source.place(row), remedy="give a number, or nothing"
        ) from None


def _list_texts(source: Columns, name: str) -> list[str]:
    texts: list[str] = source.texts(name).to_pylist()
    return texts


def _read_words(source: Columns, name: str, usual: str | None, rows: Cells) -> list[str]:
    """Return what some rows state in a column of words, or else what holds for all of them."""
    if name not in source.names:
        return [usual or ""] * rows.size
    words = _list_texts(source, name)
    return [words[row] or usual or "" for row in rows.tolist()]
