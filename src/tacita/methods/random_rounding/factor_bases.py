"""Bases to round the sensitive cells to: factors of their sum, so that the sum need not change.

The window of a cell that is published as ``v`` is ``v - b .. v + b``. It holds the levels only if
``2 b >= LPL + UPL`` and ``2 b >= SPL``, and if for one of the multiples next to the value

    b + (v - a) >= UPL,    b - (v - a) >= LPL.

Factors of the sum come first, the smallest before the others, then other small numbers, then 1, 2, 5, 10, ..
steps. A base of which a sensitive cell is a multiple is not chosen: the cell would stay what it is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacita.methods.options.per_cell import round_number
from tacita.methods.rounding.bases import can_work
from tacita.problem.problem import Problem

SPREAD = 4
"""Factors up to so many times the smallest base that could work are looked for,"""
MOST_TRIED = 1_000_000
"""among so many numbers,"""
FACTORS = 12
"""and so many of them are tried, and as many other numbers."""


def likely_bases(problem: Problem) -> Iterator[int]:
    """Bases in units whose windows hold the levels of every sensitive cell, in the order to try them."""
    table, needs = problem.table, list(problem.requirements())
    step, values = table.unit, table.units[problem.sensitive]
    width = max(int(np.maximum(need.lower + need.upper, need.sliding).max(initial=0)) for need in needs)
    least = max(2, -(-width // (2 * step)))
    tried = [*_factors(abs(int(values.sum())) // step, least), *range(least, least + FACTORS)]
    # Beyond the largest value with its levels every value lies next to 0, whatever the base.
    most = int(np.abs(values).max(initial=0)) // step + 2 * least
    number = round_number(least)
    while number <= round_number(most):
        tried.append(number)
        number = round_number(number + 1)
    for base in dict.fromkeys(n * step for n in tried):
        stays = (values % base == 0) & (values != 0)
        if not stays.any() and all(can_work(problem, need, base).all() for need in needs):
            yield base


def _factors(number: int, least: int) -> list[int]:
    """The first factors from ``least`` on; none of zero, of which everything is one."""
    tried = np.arange(least, min(SPREAD * least, least + MOST_TRIED) + 1)
    found: list[int] = tried[number % tried == 0][:FACTORS].tolist()
    return found if number else []
