"""Whether a table adds up, ``M a = b``, and how totals follow their parts.

The *total* of an equation is the cell whose coefficient is the only one of its sign: ``-total + sum of parts
= 0``. With a change ``d`` of some cells that are no total, the totals above them change so that ``M (a + d) =
b`` again. A change climbs from the parts to the total of each of their equations, and on to the equations in
which that total is a part. Only the equations on the way are looked at.
"""

from __future__ import annotations

import numpy as np

from tacita.core import exact
from tacita.core.errors import InputError, NotAdditiveError
from tacita.core.exact import Cells, Mask, Units
from tacita.core.tables.equations import Equations
from tacita.core.tables.structure import Structure
from tacita.core.tables.unlisted_parts import find_unlisted_parts
from tacita.core.words import pluralize

MOST_SHOWN = 5
REPAIR = "Correct the values, or repair the table: have wrong totals computed anew."
MISSING_TREE = (
    "Most parts add up to far more than their totals, as if sums between were counted too: is a hierarchy "
    "missing? Give the classification of the dimension whose codes these are."
)
CIRCLE = "the equations go in a circle: some total is a part of itself"


def refuse_unless_additive(structure: Structure, units: Units, decimals: int) -> None:
    """Raise a NotAdditiveError with the worst five of a table's equations, by amount, if ``M a != b``."""
    residuals = structure.equations.residuals(units)
    wrong = np.flatnonzero(residuals)
    if wrong.size == 0:
        return
    worst = wrong[np.argsort(-np.abs(residuals[wrong]), kind="stable")[:MOST_SHOWN]]
    lines = []
    for j in worst:
        how = "exceed" if residuals[j] > 0 else "fall short of"
        amount = exact.to_text(abs(int(residuals[j])), decimals)
        lines.append(f"  {structure.describe_equation(j)}: the parts {how} the total by {amount}\n")
    if wrong.size > MOST_SHOWN:
        lines.append(f"  and {wrong.size - MOST_SHOWN} more\n")
    nested = _is_double_counted(structure, units)
    unlisted = [] if nested else find_unlisted_parts(structure, residuals)
    lines += [f"  ({name}) is not listed: is a row missing?\n" for name in unlisted]
    equations = pluralize(len(structure.equations), "equation")
    raise NotAdditiveError(
        f"the table does not add up in {wrong.size:,} of {equations}:\n{''.join(lines)}",
        remedy=MISSING_TREE if nested else f"List what is missing. {REPAIR}" if unlisted else REPAIR,
        options=["hierarchy" if nested else "repair"],
    )


def repair_totals(structure: Structure, units: Units, decimals: int) -> tuple[Units, tuple[str, ...]]:
    """Return the table's values in units, with all totals computed anew, and a note on each change.

    Equations are taken in an order in which each total comes after all its parts.
    """
    if _is_double_counted(structure, units):
        raise NotAdditiveError("the totals are not repaired", remedy=MISSING_TREE, options=["hierarchy"])
    equations, result = structure.equations, units.copy()
    for j in _order_bottom_up(equations):
        cells, coefficients, rhs = equations.row(j)
        total = equations.total_of(j)
        own = cells == total
        result[total] = (rhs - coefficients[~own] @ result[cells[~own]]) // int(coefficients[own][0])
    changed = np.flatnonzero(result != units)
    notes = tuple(
        f"total ({structure.name(c)}) corrected by {exact.to_text(int(result[c] - units[c]), decimals)}"
        for c in changed.tolist()
    )
    return result, notes


def _is_double_counted(structure: Structure, units: Units) -> bool:
    """Return whether in most equations of a table the parts exceed the total by more than half of it."""
    equations = structure.equations
    totals = np.array([abs(int(units[equations.total_of(j)])) for j in range(len(equations))], dtype=np.int64)
    return bool(2 * np.count_nonzero(2 * equations.residuals(units) > totals) > len(equations))


def _order_bottom_up(equations: Equations) -> Cells:
    """Return the table's equations in an order in which each total comes before sums that it is a part of."""
    totals = np.array([equations.total_of(j) for j in range(len(equations))], dtype=np.int64)
    height = np.zeros(equations.n_cells, dtype=np.int64)
    rows, cells = equations.row_of_entry, equations.cells
    part = cells != totals[rows]
    for _ in range(len(equations) + 1):
        tallest = np.zeros(len(equations), dtype=np.int64)
        np.maximum.at(tallest, rows[part], height[cells[part]] + 1)
        raised = height.copy()
        np.maximum.at(raised, totals, tallest)
        if np.array_equal(raised, height):
            return np.argsort(height[totals], kind="stable")
        height = raised
    raise InputError(CIRCLE)


def propagate_change(structure: Structure, cells: Cells, change: Units) -> Units:
    """Return the change of every cell of a table, in units, that follows from changes of non-totals.

    Raises
    ------
    InputError
        One of the cells is a total, or no change of totals alone makes up for the change.
    """
    equations = structure.equations
    moving, rows, totals = _trace_change(equations, cells)
    if (sums := np.intersect1d(cells, totals)).size:
        raise InputError(f"{structure.names(sums)} is a sum", remedy="change its parts")
    without_total, rows, totals = rows[totals < 0], rows[totals >= 0], totals[totals >= 0]
    entries, line = _find_entries(equations, rows)
    cell, coefficient = equations.cells[entries], equations.coefficients[entries]
    own = cell == totals[line]
    total_coefficient = coefficient[own]
    part = moving[cell] & ~own
    line, cell, coefficient = line[part], cell[part], coefficient[part]
    changes = np.zeros(len(structure), dtype=np.int64)
    changes[cells] = change
    known = ~moving
    known[cells] = True
    while not known[totals].all():
        # A total is known when the moving parts of all its equations are: two trees may meet in it.
        waiting = np.zeros(len(structure), dtype=bool)
        waiting[totals[line[~known[cell]]]] = True
        ready = np.flatnonzero(~known[totals] & ~waiting[totals])
        if ready.size == 0:
            raise InputError(CIRCLE)
        sums = np.zeros(rows.size, dtype=np.int64)
        np.add.at(sums, line, coefficient * changes[cell])
        changes[totals[ready]] = -sums[ready] // total_coefficient[ready]
        wrong = ready[sums[ready] + total_coefficient[ready] * changes[totals[ready]] != 0]
        if wrong.size:
            raise _unbalanced_error(structure, int(rows[wrong[0]]))
        known[totals[ready]] = True
    entries, line = _find_entries(equations, without_total)
    sums = np.zeros(without_total.size, dtype=np.int64)
    np.add.at(sums, line, equations.coefficients[entries] * changes[equations.cells[entries]])
    if (broken := without_total[sums != 0]).size:
        raise _unbalanced_error(structure, int(broken[0]))
    return changes


def find_totals(equations: Equations, rows: Cells) -> Cells:
    """Return the cell that is the total of each of these equations of a table, -1 where there is none.

    That is the cell with the only negative coefficient, else the one with the only positive coefficient.
    """
    entries, line = _find_entries(equations, rows)
    totals = np.full(rows.size, -1, dtype=np.int64)
    for sign in (1, -1):
        signed = equations.coefficients[entries] * sign > 0
        alone = np.bincount(line[signed], minlength=rows.size) == 1
        chosen = signed & alone[line]
        totals[line[chosen]] = equations.cells[entries[chosen]]
    return totals


def _trace_change(equations: Equations, cells: Cells) -> tuple[Mask, Cells, Cells]:
    """Return a mask of the cells that a change of some reaches, the equations there, and their totals."""
    moving = np.zeros(equations.n_cells, dtype=bool)
    moving[cells] = True
    fresh = moving.copy()
    seen = np.zeros(len(equations), dtype=bool)
    rows, totals = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    while fresh.any():
        found = np.unique(equations.row_of_entry[np.flatnonzero(fresh[equations.cells])])
        found = found[~seen[found]]
        seen[found] = True
        above = find_totals(equations, found)
        rows.append(found)
        totals.append(above)
        fresh = np.zeros(equations.n_cells, dtype=bool)
        fresh[above[above >= 0]] = True
        fresh &= ~moving
        moving |= fresh
    return moving, np.concatenate(rows), np.concatenate(totals)


def _find_entries(equations: Equations, rows: Cells) -> tuple[Cells, Cells]:
    """Return the positions of the entries of some of a table's equations, and which equation each is in."""
    first = equations.starts[rows]
    lengths = equations.starts[rows + 1] - first
    line = np.repeat(np.arange(rows.size), lengths)
    return np.arange(line.size) + np.repeat(first - np.cumsum(lengths) + lengths, lengths), line


def _unbalanced_error(structure: Structure, row: int) -> InputError:
    cells, _, _ = structure.equations.row(row)
    return InputError(
        f"no change of totals makes up for this one in the equation between {structure.names(cells)}",
        remedy="change another of these cells by as much at the same time",
    )
