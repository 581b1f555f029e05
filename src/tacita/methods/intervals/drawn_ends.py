"""How far the interval of a sensitive cell must reach so that its ends do not tell the value.

The least interval of a cell, ``[a - LPL, a + UPL]``, tells the value to whoever knows the levels: it is the
middle where the two are equal, and under the rule "fewer than ``n``" the interval ``[1, 5]`` means 3. So

* counts below a threshold ``n`` get what their rule has room for, ``[0, n]``, whichever count it is;
* other cells get a width that follows from their levels, ``W = 2 (LPL + UPL)`` (or what a sliding level asks
  beyond the sum of the two besides), at a place drawn by the secret seed of the run: every place that leaves
  room for both levels is as likely as any other.

The other intervals are there so that these can be. Most of them open to one side only, so that one of their
ends is the value. So each of their ends goes out further, by an amount drawn between nothing and the reach of
the interval, and comes back to what is possible within all others.

Of a cell that readers know to be sensitive with these levels they then know ``LPL + UPL`` steps and one more
that are equally likely. Whatever ends everyone knows the cell cannot have are cut off, which tells less.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from tacita.core.arithmetic import to_fraction
from tacita.core.exact import Floats, Mask, Units
from tacita.methods.options.distances import Draws
from tacita.problem.problem import Problem
from tacita.rules import Threshold
from tacita.rules.rule import in_parts
from tacita.rules.selection import RESPONDENT

Ends = Literal["drawn", "exact"]
ENDS_HELP = (
    "ends of the intervals of sensitive cells: drawn (beyond their levels, for counts by the threshold, else "
    "by secret random amounts), or exact (their levels, as in the literature)"
)
STREAM = 3
"""Ends have a stream of their own beside whatever else is drawn with the same seed."""
DRAWN = (
    "intervals are wider than levels ask, by secret random amounts or as the threshold has room: the bound "
    "is on losses with the ends of sensitive cells that were chosen"
)
EXACT = (
    "intervals of sensitive cells end exactly at their levels: whoever knows the rule can tell the value "
    "from them (option 'ends')"
)
ASSUMED = "assuming that readers know the intervals and nothing of how their ends were chosen"


def reaches(problem: Problem, draws: Draws) -> tuple[Units, Units]:
    """Return how far above and below its value the interval of every sensitive cell reaches at least, within
    what everyone knows; zero elsewhere.
    """
    table, levels, known = problem.table, problem.levels, problem.outsider
    at, step = problem.sensitive, table.unit
    lower, upper = levels.lower[at], levels.upper[at]
    spare = np.maximum(levels.sliding[at] - lower - upper, 0)
    room = (lower + upper + spare) // step
    below = np.random.default_rng([draws.seed, STREAM]).integers(0, room + 1)
    share = np.floor(draws.share * room).astype(np.int64)
    below = np.minimum(below, share) * step
    above = share * step - below
    up, down = np.zeros(len(table), dtype=np.int64), np.zeros(len(table), dtype=np.int64)
    up[at], down[at] = upper + above, lower + below
    for threshold, cells in _thresholds(problem):
        value = table.units[cells]
        least = 0 if table.units.min() >= 0 else min(0, 2 * step - threshold)
        up[cells] = np.maximum(threshold - value, levels.upper[cells])
        down[cells] = np.maximum(value - least, levels.lower[cells])
    up = np.minimum(up, known.upper - table.units)
    down = np.minimum(down, table.units - known.lower)
    return np.where(levels.sensitive, up, 0), np.where(levels.sensitive, down, 0)


def further(draws: Draws, cells: int) -> Floats:
    """Return the share of its reach by which each end above and below, of every cell, goes out further."""
    return np.random.default_rng([draws.seed, STREAM, 1]).random((2, cells)) * draws.share


def _thresholds(problem: Problem) -> list[tuple[int, Mask]]:
    """Return the value that the counts below each threshold must be able to reach, and these cells."""
    table, rule = problem.table, problem.rule
    if rule is None or not table.whole:
        return []
    found = []
    for part in in_parts(rule)[0]:
        if not isinstance(part, Threshold) or part.weighted or part.by != RESPONDENT or part.protection:
            continue
        reached = math.ceil(to_fraction(part.n)) * 10**table.decimals + table.unit * part.at_or_below
        hit = part.levels(table).sensitive & problem.levels.sensitive
        # Where another rule asks for more, the interval must not be that of the threshold.
        found.append((reached, hit & (table.units + problem.levels.upper <= reached)))
    return found
