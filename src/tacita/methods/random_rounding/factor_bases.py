"""Candidate bases of the sensitive cells: factors of their sum, so that the sum need not change.

The window of a cell that is published as ``v`` is ``v - b .. v + b``. It contains the levels only if
``2 b >= LPL + UPL`` and ``2 b >= SPL``, and if for one of the multiples next to the value

    b + (v - a) >= UPL,    b - (v - a) >= LPL.

Factors of the sum come first, in ascending order, then other small numbers, then 1, 2, 5, 10, ... steps. A
base of which a sensitive cell is a multiple is not a candidate: the cell would not change.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacita.methods.options.per_cell import find_round_number
from tacita.methods.rounding.bases import can_protect
from tacita.problem.problem import Problem

SPREAD = 4
"""Largest factor, as a multiple of the smallest base that could protect."""
MOST_TRIED = 1_000_000
"""Most numbers that are tested as factors."""
FACTORS = 12
"""Most factors that are candidates, and most other numbers."""


def find_likely_bases(problem: Problem) -> Iterator[int]:
    """Yield bases of a random rounding, in units, whose windows can contain the levels of every sensitive
    cell, in the order to try them.
    """
    table, needs = problem.table, list(problem.requirements())
    step, values = table.unit, table.units[problem.sensitive]
    width = max(int(np.maximum(need.lower + need.upper, need.sliding).max(initial=0)) for need in needs)
    least = max(2, -(-width // (2 * step)))
    tried = [*_find_factors(abs(int(values.sum())) // step, least), *range(least, least + FACTORS)]
    # For bases beyond the largest value with its levels every value lies next to 0.
    most = int(np.abs(values).max(initial=0)) // step + 2 * least
    number = find_round_number(least)
    while number <= find_round_number(most):
        tried.append(number)
        number = find_round_number(number + 1)
    for base in dict.fromkeys(n * step for n in tried):
        stays = (values % base == 0) & (values != 0)
        if not stays.any() and all(can_protect(problem, need, base).all() for need in needs):
            yield base


def _find_factors(number: int, least: int) -> list[int]:
    """Return a number's first factors from ``least`` on, as bases of a random rounding; none for zero."""
    tried = np.arange(least, min(SPREAD * least, least + MOST_TRIED) + 1)
    found: list[int] = tried[number % tried == 0][:FACTORS].tolist()
    return found if number else []
