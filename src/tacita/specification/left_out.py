"""Name what a format cannot hold of a problem, where a case is written in it."""

from __future__ import annotations

import numpy as np

from tacita.core.attacker import Outsider
from tacita.problem.problem import Problem
from tacita.specification.sections import Rules

LEVELS = ("lower levels", "sliding levels")
HELD = {
    "csv": {"sensitive cells", *LEVELS, "cells that must be published", "costs", "bounds"},
    "thesis": {"sensitive cells"},
    "nchs": set[str](),
}
HELD |= dict.fromkeys(("xlsx", "parquet", "jj"), HELD["csv"])
HELD["tab"] = HELD["csv"] - {"sliding levels", "bounds"}
"""What files can hold of a problem besides its values, by their format; a project holds all of it."""


def note_left_out(problem: Problem, rules: Rules, ending: str) -> tuple[str, ...]:
    """Return a note on what of a specified problem the files of a format cannot hold, by name and number;
    none if they hold everything.

    ``rules`` are those of its specification.
    """
    table, levels, known = problem.table, problem.levels, problem.outsider
    usual = known if (table.units < 0).any() else Outsider.of(table)
    uneven = levels.lower != np.minimum(levels.upper, table.units)
    there = {
        "sensitive cells": len(levels),
        "lower levels": int(uneven.sum()),
        "sliding levels": int((levels.sliding > 0).sum()),
        "exempt cells": len(rules.exempt),
        "cells that must be hidden": int(problem.must_hide.sum()),
        "cells that must be published": int(problem.must_publish.sum()),
        "rules": len(rules.alternatives),
        "insiders": len(problem.insiders),
        "costs": int((problem.cost != np.abs(table.values)).sum()),
        "bounds": int(((known.lower != usual.lower) | (known.upper != usual.upper)).sum()),
    }
    lost = [f"{what} ({n:,})" for what, n in there.items() if n and what not in HELD.get(ending, HELD["csv"])]
    return (f"not in these files, but in a project folder: {', '.join(lost)}",) if lost else ()
