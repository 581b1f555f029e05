"""The examples by name: what each is, where it is from, and what to look for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from tacita.core.errors import InputError, did_you_mean
from tacita.examples.printed import nchs, petrenko, salazar, tiwari
from tacita.generate import problem as draw_problem
from tacita.problem.problem import Problem


@dataclass(frozen=True)
class Example:
    """A problem with a ``title`` and a sentence ``about`` its source and what to look for."""

    title: str
    about: str
    make: Callable[[], Problem]


def example_names() -> tuple[str, ...]:
    """Return the names of all built-in examples, printed tables first."""
    return tuple(EXAMPLES)


def example(name: str) -> Problem:
    """Return the example problem of that name; refuse unknown names with those there are."""
    if name not in EXAMPLES:
        fault = f"there is no example '{name}'{did_you_mean(name, EXAMPLES)}"
        raise InputError(fault, remedy=f"choose one of {', '.join(EXAMPLES)}")
    return EXAMPLES[name].make()


def _draw_thesis_table(rows: int, columns: int, sensitive: int) -> Problem:
    """Return an example of random amounts, 1 to 999, with so many sensitive cells, from a fixed seed."""
    drawn = draw_problem((rows, columns), "uniform", sensitive=sensitive, seed=rows)
    return Problem(replace(drawn.table, integer=False), drawn.levels)


def _thesis_example(rows: int, columns: int, sensitive: int) -> Example:
    return Example(
        f"Thesis size, {rows} × {columns}",
        f"As large as a table that Petrenko's thesis program kept; drawn at random, {sensitive} sensitive "
        "cells: compare how long the norms of adjustment take.",
        partial(_draw_thesis_table, rows, columns, sensitive),
    )


EXAMPLES: Mapping[str, Example] = MappingProxyType(
    {
        "nchs": Example(
            "NCHS, Table I",
            "Gonzalez and Cox (2005): counts, those below 5 are sensitive; the least suppression hides 1,262 "
            "beside the three sensitive cells, where the paper's own pattern hides 2,093.",
            nchs,
        ),
        "salazar": Example(
            "Salazar, Figure 1",
            "Salazar (2002): amounts by activity and region, (II, C) needs 10 below and 12 above; the least "
            "suppression loses 85, and no rounding to base 10 protects it.",
            salazar,
        ),
        "tiwari-1": Example(
            "Tiwari, Example 1",
            "A list of ten counts with two sensitive ones, rounded to base 5, the others adjusted by least "
            "squares.",
            partial(tiwari, 1),
        ),
        "tiwari-2": Example(
            "Tiwari, Example 2",
            "A 4 × 5 table with four sensitive counts, base 14: random rounding finds the table that is "
            "printed, and it is safe.",
            partial(tiwari, 2),
        ),
        "tiwari-3": Example(
            "Tiwari, Example 3",
            "A 4 × 5 table with six sensitive counts: at the paper's base, 19, the audit finds cell (3, 3) "
            "open whatever is done.",
            partial(tiwari, 3),
        ),
        "tiwari-4": Example(
            "Tiwari, Example 4",
            "Salazar's table as counts, one sensitive: at the paper's base, 5, its upper level cannot be "
            "met; with a larger base it can.",
            partial(tiwari, 4),
        ),
        "thesis-3x4": Example(
            "Thesis, Figure 6.1",
            "Petrenko: two sensitive cells, totals fixed; adjustment by exact levels changes 20 by l1, and "
            "least squares lose 59.6571.",
            petrenko,
        ),
        "thesis-10x15": _thesis_example(10, 15, 20),
        "thesis-20x30": _thesis_example(20, 30, 50),
        "thesis-50x75": _thesis_example(50, 75, 100),
        "thesis-100x120": _thesis_example(100, 120, 100),
    }
)
