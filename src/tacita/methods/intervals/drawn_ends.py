"""How far the interval of a sensitive cell must reach so that its ends do not disclose the value.

The least interval of a cell, ``[a - LPL, a + UPL]``, discloses the value to readers who know the levels: it
is the middle where the two are equal, and under the rule "fewer than ``n``" the interval ``[1, 5]`` means 3.
So

* counts below a threshold ``n`` get the range of their rule, ``[0, n]``, whichever count it is;
* other cells get a width that depends on their levels, ``W = 2 (LPL + UPL)`` (plus what a sliding level
exceeds
  the sum of the two by), at a position drawn by the secret seed of the run: all positions that leave room for
  both levels are equally likely.

The other intervals protect these. Most of them extend to one side only, so that one of their ends is the
value. So each of their ends is moved out by a random amount between zero and the reach of the interval, and
then tightened to the values that are possible within all others.

Readers who know that a cell is sensitive, and its levels, are left with ``LPL + UPL + 1`` equally likely
steps. Ends are cut off at the bounds that everyone knows, which discloses less.
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
from tacita.rules.rule import RESPONDENT, split_rule

Ends = Literal["drawn", "exact"]
ENDS_HELP = (
    "where intervals of sensitive cells end. drawn: beyond their protection levels by a secret random "
    "amount, for counts at the threshold, so that the ends do not tell the value; exact: at the levels, as "
    "in the literature"
)
STREAM = 3
"""The stream of random numbers for ends, beside others of the same seed."""
DRAWN = (
    "intervals are wider than levels ask, by secret random amounts or as the threshold has room: the bound "
    "is on losses with the ends of sensitive cells that were chosen"
)
EXACT = (
    "intervals of sensitive cells end exactly at their levels: whoever knows the rule can tell the value "
    "from them (option 'ends')"
)
ASSUMED = "assuming that readers know the intervals and nothing of how their ends were chosen"


def choose_reaches(problem: Problem, draws: Draws) -> tuple[Units, Units]:
    """Return how far above and below its value the published interval of every sensitive cell reaches at
    least, within the outsider's bounds; zero elsewhere.
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
    for threshold, cells in _find_threshold_cells(problem):
        value = table.units[cells]
        least = 0 if table.units.min() >= 0 else min(0, 2 * step - threshold)
        up[cells] = np.maximum(threshold - value, levels.upper[cells])
        down[cells] = np.maximum(value - least, levels.lower[cells])
    up = np.minimum(up, known.upper - table.units)
    down = np.minimum(down, table.units - known.lower)
    return np.where(levels.sensitive, up, 0), np.where(levels.sensitive, down, 0)


def draw_extensions(draws: Draws, cells: int) -> Floats:
    """Return the random share of its reach by which each end of a cell's published interval moves out."""
    return np.random.default_rng([draws.seed, STREAM, 1]).random((2, cells)) * draws.share


def _find_threshold_cells(problem: Problem) -> list[tuple[int, Mask]]:
    """Return the upper end of the published intervals of counts below each threshold, and these cells."""
    table, rule = problem.table, problem.rule
    if rule is None or not table.integer:
        return []
    found = []
    for part in split_rule(rule)[0]:
        if not isinstance(part, Threshold) or part.weighted or part.by != RESPONDENT or part.protection:
            continue
        reached = math.ceil(to_fraction(part.n)) * 10**table.decimals + table.unit * part.at_or_below
        hit = part.levels(table).sensitive & problem.levels.sensitive
        # Where another rule needs more, the interval is not that of the threshold.
        found.append((reached, hit & (table.units + problem.levels.upper <= reached)))
    return found
