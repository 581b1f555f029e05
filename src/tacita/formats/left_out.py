"""Name what a format cannot hold of a problem, where a case is written in it."""

from __future__ import annotations

import numpy as np

from tacita.core.attacker import Outsider
from tacita.core.tables.cell_selection import read_cells
from tacita.problem.problem import Problem
from tacita.rules import Given, Marked
from tacita.rules.rule import in_parts

HELD = {
    "csv": {"sensitive cells", "lower or sliding levels", "cells that must be published", "costs", "bounds"},
    "thesis": {"sensitive cells"},
    "nchs": set[str](),
}
HELD |= dict.fromkeys(("xlsx", "parquet", "jj"), HELD["csv"])
"""What files can hold of a problem besides its values, by their format; a project holds all of it."""


def note_left_out(problem: Problem, way: str) -> tuple[str, ...]:
    """Return what files of a format do not hold of a problem, by name and number, in a sentence; none if they
    hold everything.
    """
    table, levels, known = problem.table, problem.levels, problem.outsider
    usual = known if (table.units < 0).any() else Outsider.of(table)
    uneven = (levels.lower != np.minimum(levels.upper, table.units)) | (levels.sliding > 0)
    parts, listed = ((), ()) if problem.rule is None else in_parts(problem.rule)
    of_cells = (isinstance(p, Given) or (isinstance(p, Marked) and p.by_position) for p in parts)
    there = {
        "sensitive cells": len(levels),
        "lower or sliding levels": int(uneven.sum()),
        "exempt cells": int((problem.exempt | read_cells(table, listed, "exempt cells")).sum()),
        "cells that must be hidden": int(problem.must_hide.sum()),
        "cells that must be published": int(problem.must_publish.sum()),
        "rules": len(parts) - sum(of_cells),
        "insiders": len(problem.insiders),
        "costs": int((problem.cost != np.abs(table.values)).sum()),
        "bounds": int(((known.lower != usual.lower) | (known.upper != usual.upper)).sum()),
    }
    lost = [f"{what} ({n:,})" for what, n in there.items() if n and what not in HELD.get(way, HELD["csv"])]
    return (f"not in these files, but in a project folder: {', '.join(lost)}",) if lost else ()
