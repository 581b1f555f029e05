"""A brute-force attacker, who enumerates every integer table in their region.

This shares no code with the audit, so that tests can compare the two; it is meant for a few hidden cells.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacita.core.attacker import Insider
from tacita.core.exact import UNBOUNDED, Mask, Units
from tacita.core.release import Release
from tacita.problem.problem import Problem

Rows = list[tuple[list[int], list[int], int]]
"""Equations as cells, coefficients and right-hand sides."""


def brute_force_intervals(
    problem: Problem, release: Release, insider: Insider | None = None
) -> tuple[Units, Units]:
    """Return the smallest and largest value of every cell over all integer tables that the attacker thinks
    possible, by brute force.
    """
    low, high = problem.bounds_at(insider, np.arange(len(problem.table)))
    low, high = np.maximum(low, release.low), np.minimum(high, release.high)
    equations = [(c.tolist(), m.tolist(), rhs) for c, m, rhs in problem.table.equations]
    least, most = np.full(low.size, UNBOUNDED), np.full(low.size, -UNBOUNDED)
    known = {int(c): int(low[c]) for c in np.flatnonzero(low == high)}
    for table in list_tables(equations, low.tolist(), high.tolist(), known):
        values = np.array([table[c] for c in range(low.size)])
        least, most = np.minimum(least, values), np.maximum(most, values)
    return least, most


def list_tables(
    equations: Rows, low: list[int], high: list[int], known: dict[int, int]
) -> Iterator[dict[int, int]]:
    """Yield every integer table that completes a test's known cells: follow what is forced, try the rest."""
    known = dict(known)
    while True:
        forced = False
        for cells, coefficients, rhs in equations:
            unknown = [(c, m) for c, m in zip(cells, coefficients, strict=True) if c not in known]
            rest = rhs - sum(m * known[c] for c, m in zip(cells, coefficients, strict=True) if c in known)
            if not unknown and rest:
                return
            if len(unknown) == 1:
                cell, coefficient = unknown[0]
                if rest % coefficient or not low[cell] <= rest // coefficient <= high[cell]:
                    return
                known[cell] = rest // coefficient
                forced = True
        if not forced:
            break
    open_cell = next((c for c in range(len(low)) if c not in known), None)
    if open_cell is None:
        yield known
        return
    for value in range(low[open_cell], high[open_cell] + 1):
        yield from list_tables(equations, low, high, {**known, open_cell: value})


def brute_force_safe(problem: Problem, release: Release) -> Mask:
    """Return, attacker by attacker and target by target, whether brute force over integer tables leaves the
    cell as uncertain as its levels require.
    """
    verdicts = []
    for levels in problem.requirements():
        least, most = brute_force_intervals(problem, release, levels.insider)
        value = problem.table.units[levels.cells]
        verdicts.append(
            (most[levels.cells] >= value + levels.upper)
            & (least[levels.cells] <= value - levels.lower)
            & (most[levels.cells] - least[levels.cells] >= levels.sliding)
        )
    return np.concatenate(verdicts)
