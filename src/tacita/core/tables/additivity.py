"""Whether a table adds up, ``M a = b``, and what to do where it does not."""

from __future__ import annotations

import numpy as np

from tacita.core import exact
from tacita.core.errors import InputError, NotAdditiveError
from tacita.core.exact import Cells, Units
from tacita.core.tables.equations import Equations
from tacita.core.tables.structure import Structure
from tacita.core.words import pluralize

REPAIR = "Correct the values, or repair the table: have wrong totals computed anew."
MISSING_TREE = (
    "Most parts add up to far more than their totals, as if sums between were counted too: is a hierarchy "
    "missing? Give the classification of the dimension whose codes these are."
)


def refuse_unless_additive(structure: Structure, units: Units, decimals: int) -> None:
    """Raise with the five worst equations by name and amount if ``M a != b``."""
    residuals = structure.equations.residuals(units)
    wrong = np.flatnonzero(residuals)
    if wrong.size == 0:
        return
    worst = wrong[np.argsort(-np.abs(residuals[wrong]), kind="stable")[:5]]
    lines = []
    for j in worst:
        how = "exceed" if residuals[j] > 0 else "fall short of"
        amount = exact.text(abs(int(residuals[j])), decimals)
        lines.append(f"  {structure.describe_equation(j)}: the parts {how} the total by {amount}")
    nested = _double_counted(structure, units)
    more = f"\n  and {wrong.size - 5} more" if wrong.size > 5 else ""
    raise NotAdditiveError(
        f"the table does not add up in {wrong.size:,} of {pluralize(len(structure.equations), 'equation')}:\n"
        + "\n".join(lines)
        + f"{more}\n"
        + (MISSING_TREE if nested else REPAIR),
        options=["hierarchy" if nested else "repair"],
    )


def repaired(structure: Structure, units: Units, decimals: int) -> tuple[Units, tuple[str, ...]]:
    """Totals computed anew from the cells that are no total of anything, and a note per change.

    Equations are taken in an order in which each total comes after all its parts.
    """
    if _double_counted(structure, units):
        raise NotAdditiveError(f"the totals are not repaired: {MISSING_TREE}", options=["hierarchy"])
    equations, result = structure.equations, units.copy()
    for j in _bottom_up(equations):
        cells, coefficients, rhs = equations.row(j)
        total = equations.total_of(j)
        own = cells == total
        result[total] = (rhs - coefficients[~own] @ result[cells[~own]]) // int(coefficients[own][0])
    changed = np.flatnonzero(result != units)
    notes = tuple(
        f"total ({structure.name(c)}) corrected by {exact.text(int(result[c] - units[c]), decimals)}"
        for c in changed.tolist()
    )
    return result, notes


def _double_counted(structure: Structure, units: Units) -> bool:
    """True if in most equations the parts exceed the total by half of it or more."""
    equations = structure.equations
    totals = np.array([abs(int(units[equations.total_of(j)])) for j in range(len(equations))], dtype=np.int64)
    return bool(2 * np.count_nonzero(2 * equations.residuals(units) > totals) > len(equations))


def _bottom_up(equations: Equations) -> Cells:
    """Equations ordered so that no cell is used as a part before it has been computed as a total."""
    heads = np.array([equations.total_of(j) for j in range(len(equations))], dtype=np.int64)
    height = np.zeros(equations.n_cells, dtype=np.int64)
    rows, cells = equations.row_of_entry, equations.cells
    part = cells != heads[rows]
    for _ in range(len(equations) + 1):
        tallest = np.zeros(len(equations), dtype=np.int64)
        np.maximum.at(tallest, rows[part], height[cells[part]] + 1)
        raised = height.copy()
        np.maximum.at(raised, heads, tallest)
        if np.array_equal(raised, height):
            return np.argsort(height[heads], kind="stable")
        height = raised
    raise InputError("the equations go in a circle: some total is a part of itself")
