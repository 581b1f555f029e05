"""How a reader computes a hidden cell exactly: the equations that determine it, one after another."""

from __future__ import annotations

import numpy as np

from tacita.auditing.region import peel_in_rounds
from tacita.core import exact
from tacita.core.exact import Mask
from tacita.core.tables.table import Table

MOST_TERMS = 12
"""Numbers that a sum lists one by one; of more it gives their sum."""


def find_derivation(table: Table, free: Mask, cell: int) -> tuple[str, ...]:
    """Return the sums by which a reader computes a cell from those that are not ``free``, its own last; none
    where no equations determine it one after another.
    """
    equation_of: dict[int, int] = {}
    sizes = np.diff(table.equations.starts)
    for rows, cells in peel_in_rounds(table.equations, free):
        shortest_first = np.argsort(sizes[rows], kind="stable")
        rows, cells = rows[shortest_first], cells[shortest_first]
        for equation, determined in zip(rows.tolist(), cells.tolist(), strict=True):
            equation_of.setdefault(determined, equation)
        if cell in equation_of:
            break
    needed, waiting = set[int](), {cell} & equation_of.keys()
    while waiting:
        needed |= waiting
        used = {other for each in waiting for other in table.equations.row(equation_of[each])[0].tolist()}
        waiting = (used & equation_of.keys()) - needed
    return tuple(_write_sum(table, each, equation_of[each]) for each in equation_of if each in needed)


def _write_sum(table: Table, cell: int, equation: int) -> str:
    """Return how an equation gives a cell: ``region=N, sex=f: 60 - 18 - 40 = 2 along sex``."""
    cells, coefficients, rhs = table.equations.row(equation)
    own = int(coefficients[cells == cell][0])
    sign = -1 if own > 0 else 1
    others = zip(cells.tolist(), coefficients.tolist(), strict=True)
    terms = [(sign * factor, int(table.units[other])) for other, factor in others if other != cell]
    if rhs:
        terms.append((-sign, rhs))
    terms = [*_join_many([t for t in terms if t[0] > 0]), *_join_many([t for t in terms if t[0] < 0])]
    text = "".join(
        f" {'+' if factor > 0 else '-'} {_write_term(table, factor, units)}" for factor, units in terms
    )
    text = text.removeprefix(" + ").strip()
    if abs(own) > 1:
        text = f"({text}) / {abs(own)}"
    value = exact.to_text(int(table.units[cell]), table.decimals)
    return f"{table.name(cell)}: {text} = {value}{table.structure.describe_direction(equation)}"


def _join_many(terms: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return terms of a sum, all added or all taken away, as a single one where there are too many."""
    if len(terms) <= MOST_TERMS:
        return terms
    return [(1 if terms[0][0] > 0 else -1, sum(abs(factor) * units for factor, units in terms))]


def _write_term(table: Table, factor: int, units: int) -> str:
    number = exact.to_text(units, table.decimals)
    number = f"({number})" if units < 0 else number
    return number if abs(factor) == 1 else f"{abs(factor)} x {number}"
