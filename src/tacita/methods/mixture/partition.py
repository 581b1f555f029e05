"""The parts of a mixture: cells and their methods.

A part names cells and a method; of several parts that name a cell the first counts:

    totals: rounding(base=5), region=North: suppression, rest: suppression or intervals(minimum_width=10)

| written | cells |
|---|---|
| ``totals``, ``inner`` | sums of others; all that are not |
| ``sensitive`` | cells with protection levels |
| ``NAME=CODE`` | cells with this code in a dimension, or this entry in a column of the table |
| ``NAME=CODE/CODE`` | cells with one of these codes or entries |
| ``NAME`` | cells for which this column is true (not zero, not empty) |
| ``rest`` | all that no part before it names |
| ``A & B`` | cells that both name, as a block: ``row=6/7 & column=1/2/3`` |

A method has its options in brackets; with ``suppression or intervals`` each cell is published, an interval,
or suppressed, whichever loses least. Cells that no part names are published as they are. Names with a comma,
a colon or brackets in them are put in quotes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import and_
from typing import Any

import numpy as np

from tacita.core.errors import InputError, did_you_mean
from tacita.core.exact import Mask
from tacita.core.words import pluralize
from tacita.methods.intervals.intervals import Intervals
from tacita.methods.method import make_method, options_of
from tacita.methods.options.phrases import split_text, unquote_word
from tacita.methods.perturbation import Perturbation
from tacita.methods.rounding.rounding import Rounding
from tacita.methods.suppression.suppression import Suppression
from tacita.problem.problem import Problem

Where = str | Mask
PartMethod = Suppression | Intervals | Rounding | Perturbation
PartMethods = tuple[PartMethod, ...]
Parts = str | Mapping[str, Any] | Sequence[tuple[Where, Any]]

GROUPS = ("totals", "inner", "sensitive", "rest")
ALTERNATIVES = {Suppression, Intervals}
KINDS = {Suppression, Intervals, Rounding, Perturbation}


def parse_parts(text: Parts) -> tuple[tuple[Where, PartMethods], ...]:
    """Return the parts of a mixture as pairs of cells and methods, from text, a mapping or pairs."""
    if isinstance(text, str):
        pairs: list[tuple[Where, Any]] = [_parse_part(part) for part in split_text(text, ",")]
    else:
        pairs = list(text.items() if isinstance(text, Mapping) else text)
    if not pairs:
        raise InputError("a mixture needs at least one part", remedy="such as 'rest: suppression'")
    return tuple((where, _parse_methods(how)) for where, how in pairs)


def assign_cells(
    problem: Problem, parts: Sequence[tuple[Where, PartMethods]]
) -> Iterator[tuple[Mask, PartMethods]]:
    """Yield the cells and methods of each part of a mixture; a cell is in the first part that names it."""
    free = np.ones(len(problem.table), dtype=bool)
    for where, methods in parts:
        cells = free & _select(problem, where, free)
        free &= ~cells
        yield cells, methods


def names_sensitive(parts: Sequence[tuple[Where, PartMethods]]) -> bool:
    """Return whether some part of a mixture depends on which cells are sensitive."""
    return any(
        isinstance(where, str) and "sensitive" in (word.strip() for word in split_text(where, "&"))
        for where, _ in parts
    )


def are_same(some: Sequence[tuple[Where, PartMethods]], others: Sequence[tuple[Where, PartMethods]]) -> bool:
    """Return whether two mixtures' parts name the same cells and the same methods, in the same order."""
    return [methods for _, methods in some] == [methods for _, methods in others] and all(
        np.array_equal(one, other) for (one, _), (other, _) in zip(some, others, strict=True)
    )


def describe_parts(parts: Sequence[tuple[Where, PartMethods]]) -> list[dict[str, Any]]:
    """Return the parts of a mixture as plain data, for the record of a release."""
    return [
        {
            "cells": where
            if isinstance(where, str)
            else pluralize(int(np.count_nonzero(where)), "listed cell"),
            "methods": [
                {
                    "method": method.name,
                    "options": {o.name: getattr(method, o.name) for o in options_of(method.name)},
                }
                for method in methods
            ],
        }
        for where, methods in parts
    ]


def _parse_part(part: str) -> tuple[Where, Any]:
    halves = split_text(part, ":")
    if len(halves) != 2:
        raise InputError(
            f"'{part}' is no part of a mixture",
            remedy="write cells, a colon and a method, such as 'totals: rounding'",
        )
    return halves[0], halves[1]


def _parse_methods(how: Any) -> PartMethods:
    if isinstance(how, str):
        methods = tuple(_parse_method(text) for text in split_text(how, " or "))
    else:
        methods = tuple(how) if isinstance(how, tuple | list) else (how,)
    kinds = {type(method) for method in methods}
    if len(kinds) < len(methods) or not kinds <= KINDS or (len(kinds) > 1 and kinds != ALTERNATIVES):
        names = " or ".join(getattr(method, "name", type(method).__name__) for method in methods)
        raise InputError(
            f"'{names}' cannot be part of a mixture",
            remedy="use suppression, intervals, rounding or perturbation, or 'suppression or intervals'",
        )
    # Suppression first: intervals depend on whether a cell has a switch.
    return tuple(sorted(methods, key=lambda method: not isinstance(method, Suppression)))


def _parse_method(text: str) -> Any:
    name, bracket, rest = text.partition("(")
    if not bracket:
        return make_method(name.strip())
    if not rest.rstrip().endswith(")"):
        raise InputError(f"'{text}': the bracket is not closed", remedy="write method(option=value, ...)")
    options = {}
    for given in split_text(rest.rstrip()[:-1], ","):
        key, equals, value = given.partition("=")
        if not equals:
            raise InputError(f"'{given}' in '{text}' is no option", remedy="write option=value")
        options[key.strip()] = unquote_word(value)
    return make_method(name.strip(), options)


def _select(problem: Problem, where: Where, free: Mask) -> Mask:
    table = problem.table
    if not isinstance(where, str):
        if np.shape(where) != (len(table),):
            raise InputError(
                f"a part of a mixture lists {pluralize(np.size(where), 'cell')} of {len(table):,}",
                remedy="give one truth value each",
            )
        return np.asarray(where, dtype=bool)
    if len(both := split_text(where, "&")) > 1:
        return reduce(and_, (_select(problem, one, free) for one in both))
    if where == "rest":
        return free
    if where in ("totals", "inner"):
        return np.asarray(table.structure.is_total == (where == "totals"))
    if where == "sensitive":
        return problem.levels.sensitive
    name, equals, text = where.partition("=")
    name, codes = unquote_word(name), [unquote_word(code) for code in split_text(text, "/")]
    for d, dimension in enumerate(table.structure.dimensions):
        if equals and dimension.name == name:
            wanted = dimension.representative[[dimension.index(code) for code in codes]]
            return np.isin(table.structure.codes[:, d], wanted)
    if name not in table.columns:
        known = [*GROUPS, *(d.name for d in table.structure.dimensions), *table.columns]
        raise InputError(
            f"'{where}' names no cells{did_you_mean(name, known)}",
            remedy=f"use one of {', '.join(GROUPS)}, a dimension as NAME=CODE, or a column of the table",
        )
    column = np.asarray(table.columns[name])
    return np.isin(column.astype(str), codes) if equals else np.array([bool(entry) for entry in column])
