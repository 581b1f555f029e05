"""Everyone in the data as an attacker: the audit and the methods against linear programs of all contributors,
one by one. Nobody is dropped, no move is shared, and what each knows is counted anew from the records.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import tacita as tc
from tacita import verify
from tacita.core.errors import InfeasibleError
from tacita.core.exact import UNBOUNDED
from tacita.core.levels import Levels
from tacita.core.release import Release
from tacita.core.tables.table import Table
from tacita.problem.problem import Problem

Records = list[tuple[str, str, str, int]]
Shares = Mapping[str, Mapping[int, int]]


def some_records(random: Random) -> Records:
    """Firms in one cell or in several of a table of nine; every cell has somebody."""
    cells = [(row, column) for row in "NSW" for column in "FGM"]
    records = []
    for row, column in cells:
        for _ in range(random.choice([1, 2, 2, 3, 3, 4])):
            firm = random.choice("abcdefgh") if random.random() < 0.5 else f"{row}{column}{random.random()}"
            records.append((row, column, firm, random.choice([0, 1, 2, 5, 10, 20, 50, 98])))
    return records


def tabulated(records: Records) -> tuple[Table, Shares]:
    """The table, and what each firm put into each of its cells, by a count of its own."""
    names = ("region", "industry", "firm", "turnover")
    columns = {name: [record[k] for record in records] for k, name in enumerate(names)}
    table = tc.tabulate(columns, ["region", "industry"], "turnover", respondent="firm")
    shares: dict[str, dict[int, int]] = {}
    for row, column, firm, amount in records:
        own = shares.setdefault(firm, {})
        for r in (row, "Total"):
            for c in (column, "Total"):
                cell = table.find(r, c)
                own[cell] = own.get(cell, 0) + amount
    return table, shares


def some_levels(random: Random, table: Table) -> Levels:
    inner = np.flatnonzero(~table.structure.is_total & (table.units > 0))
    sensitive = np.zeros(len(table), dtype=bool)
    sensitive[random.sample(inner.tolist(), random.choice([1, 1, 2]))] = True
    level = np.where(sensitive, np.maximum(1, table.units * random.choice([5, 20, 50]) // 100), 0)
    wide = np.where(sensitive, random.choice([0, 0, 3]) * level, 0)
    return Levels.of(sensitive, lower=level, upper=level, sliding=wide)


Need = tuple[int, int, int, int]
"""A cell and the LPL, UPL and SPL that hold there."""


def attackers(
    table: Table, levels: Levels, shares: Shares
) -> Iterator[tuple[np.ndarray, np.ndarray, list[Need]]]:
    """What each attacker knows, the outsider first, and what must be kept from them."""
    zero, nothing = np.zeros(len(table), dtype=np.int64), np.full(len(table), UNBOUNDED)
    everyone = [
        (int(p), int(levels.lower[p]), int(levels.upper[p]), int(levels.sliding[p])) for p in levels.cells
    ]
    yield zero, nothing, everyone
    for own in shares.values():
        low, high = zero.copy(), nothing.copy()
        others = {cell: sum(cell in theirs for theirs in shares.values()) - 1 for cell in own}
        for cell, amount in own.items():
            low[cell] = amount if others[cell] else table.units[cell]
            high[cell] = UNBOUNDED if others[cell] else table.units[cell]
        needs = []
        for p, lower, upper, sliding in everyone:
            if p in own and not others[p]:
                continue
            lower = min(lower, int(table.units[p] - low[p]))
            if p in own and others[p] == 1 and not (lower or upper or sliding):
                sliding = 1
            needs.append((p, lower, upper, sliding))
        yield low, high, needs


def broken(table: Table, levels: Levels, shares: Shares, release: Release) -> bool:
    """Whether anybody's linear programs come closer to a sensitive cell than the levels allow."""
    matrix = table.equations.matrix.astype(float)
    for low, high, needs in attackers(table, levels, shares):
        least, most = np.maximum(low, release.low), np.minimum(high, release.high)
        bounds = np.column_stack(
            [(least - table.units).astype(float), np.where(most >= UNBOUNDED, np.inf, most - table.units)]
        )
        for p, lower, upper, sliding in needs:
            up, down = (_farthest(matrix, bounds, p, sign) for sign in (1, -1))
            if up < upper - 1e-6 or down < lower - 1e-6 or up + down < sliding - 1e-6:
                return True
    return False


def _farthest(matrix: object, bounds: np.ndarray, cell: int, sign: int) -> float:
    cost = np.zeros(len(bounds))
    cost[cell] = -sign
    solved = linprog(cost, A_eq=matrix, b_eq=np.zeros(matrix.shape[0]), bounds=bounds)  # type: ignore[attr-defined]
    return np.inf if solved.status == 3 else -solved.fun


@given(st.integers(0, 2**32 - 1))
def test_the_audit_says_what_all_contributors_can_do(seed: int) -> None:
    random = Random(seed)
    table, shares = tabulated(some_records(random))
    levels = some_levels(random, table)
    hidden = np.zeros(len(table), dtype=bool)
    for _ in range(random.choice([1, 1, 2, 3])):
        rows, columns = random.sample("NSW", 2), random.sample("FGM", 2)
        hidden[[table.find(r, c) for r in rows for c in columns]] = True
    release = Release.suppress(table, hidden | levels.sensitive)
    found = tc.audit(Problem(table, levels), release)
    assert found.safe == (not broken(table, levels, shares, release))
    if found.safe:
        verify.verify(json.loads(json.dumps(tc.certify(found))))


METHODS = {
    "suppression": tc.Suppression(),
    "intervals": tc.Intervals(),
    "rounding": tc.Rounding(base=60),
    "perturbation": tc.Perturbation(radius=60),
    "adjustment": tc.Adjustment(),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", METHODS)
def test_methods_protect_against_all_contributors(name: str, seed: int) -> None:
    random = Random(seed)
    table, shares = tabulated(some_records(random))
    levels = some_levels(random, table)
    problem = Problem(table, levels)
    try:
        release = METHODS[name].protect(problem)
    except InfeasibleError:
        return
    assert not broken(table, levels, shares, release)
    assert tc.audit(problem, release).safe


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 40))
@pytest.mark.parametrize("name", METHODS)
def test_methods_protect_against_all_contributors_of_more_tables(name: str, seed: int) -> None:
    test_methods_protect_against_all_contributors(name, seed)
