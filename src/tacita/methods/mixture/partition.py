"""Which cells get which method: the parts of a mixture.

A part is *where* and *how*, and of several parts that name a cell the first counts:

    totals: rounding(base=5), region=North: suppression, rest: suppression or intervals(minimum_width=10)

| where | cells |
|---|---|
| ``totals``, ``inner`` | sums of others; all that are not |
| ``sensitive`` | cells with protection levels |
| ``NAME=CODE`` | cells with this code in a dimension, or this entry in a column of the table |
| ``NAME=CODE/CODE`` | cells with one of these codes or entries |
| ``NAME`` | cells for which this column is true (not zero, not empty) |
| ``rest`` | all that no part before it names |
| ``A & B`` | cells that both name, as a block: ``row=6/7 & column=1/2/3`` |

How is a method with options in brackets, or ``suppression or intervals``: each cell is published, an
interval, or suppressed, whichever loses least. Cells that no part names are published as they are. Names with
a comma, a colon or brackets in them are put in quotes.
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
from tacita.methods.options.phrases import split, unquoted
from tacita.methods.perturbation import Perturbation
from tacita.methods.rounding.rounding import Rounding
from tacita.methods.suppression.suppression import Suppression
from tacita.problem.problem import Problem

Where = str | Mask
Way = Suppression | Intervals | Rounding | Perturbation
Ways = tuple[Way, ...]
Parts = str | Mapping[str, Any] | Sequence[tuple[Where, Any]]

GROUPS = ("totals", "inner", "sensitive", "rest")
ALTERNATIVES = {Suppression, Intervals}
KINDS = {Suppression, Intervals, Rounding, Perturbation}


def read_parts(said: Parts) -> tuple[tuple[Where, Ways], ...]:
    """Parts as pairs of where and how; text, mappings and lists of pairs are understood."""
    if isinstance(said, str):
        pairs: list[tuple[Where, Any]] = [_pair(part) for part in split(said, ",")]
    else:
        pairs = list(said.items() if isinstance(said, Mapping) else said)
    if not pairs:
        raise InputError("a mixture needs at least one part, such as 'rest: suppression'")
    return tuple((where, _ways(how)) for where, how in pairs)


def cells_of(problem: Problem, parts: Sequence[tuple[Where, Ways]]) -> Iterator[tuple[Mask, Ways]]:
    """The cells of each part; of several parts that name a cell the first one has it."""
    free = np.ones(len(problem.table), dtype=bool)
    for where, ways in parts:
        cells = free & _where(problem, where, free)
        free &= ~cells
        yield cells, ways


def names_sensitive(parts: Sequence[tuple[Where, Ways]]) -> bool:
    """Return whether some part is chosen by which cells are sensitive."""
    return any(
        isinstance(where, str) and "sensitive" in (word.strip() for word in split(where, "&"))
        for where, _ in parts
    )


def are_same(some: Sequence[tuple[Where, Ways]], others: Sequence[tuple[Where, Ways]]) -> bool:
    """Whether parts name the same cells and the same methods, in the same order."""
    return [ways for _, ways in some] == [ways for _, ways in others] and all(
        np.array_equal(one, other) for (one, _), (other, _) in zip(some, others, strict=True)
    )


def described(parts: Sequence[tuple[Where, Ways]]) -> list[dict[str, Any]]:
    """Parts as plain data, for the record of what made a release."""
    return [
        {
            "cells": where
            if isinstance(where, str)
            else pluralize(int(np.count_nonzero(where)), "listed cell"),
            "methods": [
                {"method": way.name, "options": {o.name: getattr(way, o.name) for o in options_of(way.name)}}
                for way in ways
            ],
        }
        for where, ways in parts
    ]


def _pair(part: str) -> tuple[Where, Any]:
    halves = split(part, ":")
    if len(halves) != 2:
        raise InputError(
            f"'{part}' is no part of a mixture: write cells, a colon and a method, such as 'totals: rounding'"
        )
    return halves[0], halves[1]


def _ways(how: Any) -> Ways:
    if isinstance(how, str):
        ways = tuple(_method(text) for text in split(how, " or "))
    else:
        ways = tuple(how) if isinstance(how, tuple | list) else (how,)
    kinds = {type(way) for way in ways}
    if len(kinds) < len(ways) or not kinds <= KINDS or (len(kinds) > 1 and kinds != ALTERNATIVES):
        names = " or ".join(getattr(way, "name", type(way).__name__) for way in ways)
        raise InputError(
            f"'{names}' cannot be part of a mixture: use suppression, intervals, rounding or "
            "perturbation, or 'suppression or intervals'"
        )
    # Suppression first: intervals look whether a cell has a switch already.
    return tuple(sorted(ways, key=lambda way: not isinstance(way, Suppression)))


def _method(text: str) -> Any:
    name, bracket, rest = text.partition("(")
    if not bracket:
        return make_method(name.strip())
    if not rest.rstrip().endswith(")"):
        raise InputError(f"'{text}': the bracket is not closed; write method(option=value, ...)")
    options = {}
    for given in split(rest.rstrip()[:-1], ","):
        key, equals, value = given.partition("=")
        if not equals:
            raise InputError(f"'{given}' in '{text}' is no option: write option=value")
        options[key.strip()] = unquoted(value)
    return make_method(name.strip(), options)


def _where(problem: Problem, where: Where, free: Mask) -> Mask:
    table = problem.table
    if not isinstance(where, str):
        if np.shape(where) != (len(table),):
            raise InputError(
                f"a part of a mixture lists {pluralize(np.size(where), 'cell')} of {len(table):,}: give one "
                "truth value each"
            )
        return np.asarray(where, dtype=bool)
    if len(both := split(where, "&")) > 1:
        return reduce(and_, (_where(problem, one, free) for one in both))
    if where == "rest":
        return free
    if where in ("totals", "inner"):
        return np.asarray(table.structure.is_total == (where == "totals"))
    if where == "sensitive":
        return problem.levels.sensitive
    name, equals, said = where.partition("=")
    name, codes = unquoted(name), [unquoted(code) for code in split(said, "/")]
    for d, dimension in enumerate(table.structure.dimensions):
        if equals and dimension.name == name:
            wanted = dimension.representative[[dimension.index(code) for code in codes]]
            return np.isin(table.structure.codes[:, d], wanted)
    if name not in table.columns:
        known = [*GROUPS, *(d.name for d in table.structure.dimensions), *table.columns]
        raise InputError(
            f"'{where}' names no cells{did_you_mean(name, known)}: use one of {', '.join(GROUPS)}, "
            "a dimension as NAME=CODE, or a column of the table"
        )
    column = np.asarray(table.columns[name])
    return np.isin(column.astype(str), codes) if equals else np.array([bool(entry) for entry in column])
