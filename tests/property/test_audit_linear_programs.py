"""The audit of magnitudes against the attackers' linear programs, written out whole and solved by another
hand (scipy): no substitution, no pieces, no witnesses. Every verdict must be the same.
"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
from budget import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from tacita import verify
from tacita.auditing.audit import audit
from tacita.auditing.certificate import certify, check_certificate
from tacita.core.attacker import Insider, Outsider
from tacita.core.exact import UNBOUNDED
from tacita.core.hierarchy import Hierarchy
from tacita.core.levels import Levels
from tacita.core.release import Mark, Release
from tacita.core.tables.equations import Equations
from tacita.core.tables.linked import link
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table
from tacita.problem.problem import AttackerLevels, Problem

KINDS = ("line", "matrix", "cube", "hierarchy", "linked", "system")


def random_table(generator: np.random.Generator, kind: str) -> Table:
    """Magnitudes of any size, some of them zero; systems have coefficients, right-hand sides and negative
    cells.
    """
    largest = int(10 ** generator.integers(1, 6))
    if kind == "hierarchy":
        tree = Hierarchy.from_dict({"T": {"A": ["a1", "a2", "a3"], "B": ["b1", "b2"], "C": ["c1"]}})
        rows = [(r, s) for r in tree.leaves for s in "xyz"]
        frame = pd.DataFrame(rows, columns=["r", "s"]).assign(v=generator.integers(0, largest, len(rows)))
        frame = frame[generator.random(len(rows)) < 0.9]
        return Table.from_frame(frame, {"r": tree, "s": None}, value="v", counts=False)
    if kind == "linked":
        one = generator.integers(0, largest, (3, 3))
        other = np.array([generator.multinomial(total, [0.5, 0.5]) for total in one.sum(axis=1)])
        return link(
            [Table.from_array(v, names=["p", q], counts=False) for v, q in ((one, "q"), (other, "u"))]
        )
    if kind == "system":
        n = int(generator.integers(3, 9))
        units = generator.integers(-20, 50, n)
        rows = []
        for _ in range(int(generator.integers(1, 5))):
            cells = generator.choice(n, int(generator.integers(1, n)), replace=False)
            coefficients = generator.choice([-3, -2, -1, 1, 1, 1, 2, 3], cells.size)
            rows.append((cells.tolist(), coefficients.tolist(), int(coefficients @ units[cells])))
        equations = Equations.from_rows([*rows, rows[0]], n)
        return Table(Structure((), np.empty((n, 0), np.int32), equations, tuple(map(str, range(n)))), units)
    shape = {"line": (5,), "matrix": (3, 4), "cube": (2, 3, 3)}[kind]
    values = generator.integers(0, largest, shape) * (generator.random(shape) > 0.2)
    decimals = int(generator.integers(0, 3))
    return Table.from_array(values / 10**decimals, decimals=decimals, counts=False)


def random_bounds(generator: np.random.Generator, table: Table) -> Outsider:
    n, units = len(table), table.units
    nothing = np.full(n, UNBOUNDED)
    choices = [
        (np.minimum(units, 0), nothing),
        (-nothing, nothing),
        (units - generator.integers(0, 20, n), units + generator.integers(0, 20, n)),
        (units - np.abs(units) // 2, units + np.abs(units) // 2),
    ]
    low, high = choices[generator.integers(len(choices))]
    return Outsider(low.copy(), high.copy())


def room(table: Table, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    most = 10**6
    return (
        np.where(low <= -UNBOUNDED, most, table.units - np.maximum(low, -UNBOUNDED // 2)),
        np.where(high >= UNBOUNDED, most, np.minimum(high, UNBOUNDED // 2) - table.units),
    )


def random_problem(generator: np.random.Generator, table: Table) -> Problem | None:
    """Levels that bounds leave room for; insiders who know some cells better and attack everything that they
    do not know already.
    """
    n, outsider = len(table), random_bounds(generator, table)
    below, above = room(table, outsider.lower, outsider.upper)
    open_cells = np.flatnonzero(below + above)
    if open_cells.size == 0:
        return None
    sensitive = np.zeros(n, dtype=bool)
    sensitive[generator.choice(open_cells, min(3, open_cells.size), replace=False)] = True
    up, down, wide = (generator.integers(0, 15, n) for _ in range(3))
    levels = Levels.of(
        sensitive,
        upper=np.minimum(up, above),
        lower=np.minimum(down, below),
        sliding=np.minimum(wide * 2, below + above),
    )
    insiders = []
    for k in range(int(generator.integers(0, 3))):
        cells = np.sort(generator.choice(n, min(n, 3), replace=False))
        low, high = outsider.lower.copy(), outsider.upper.copy()
        low[cells] = np.maximum(low[cells], table.units[cells] - generator.integers(0, 5, cells.size))
        high[cells] = np.minimum(high[cells], table.units[cells] + generator.integers(0, 5, cells.size))
        less, more = room(table, low, high)
        at = levels.cells[(less + more)[levels.cells] > 0]
        own = [
            np.minimum(levels.lower, less),
            np.minimum(levels.upper, more),
            np.minimum(levels.sliding, less + more),
        ]
        others = bool(generator.integers(2))
        insiders.append(
            Insider(f"insider {k}", cells, low[cells], high[cells], at, *(o[at] for o in own), others)
        )
    return Problem(table, levels, attackers=[outsider, *insiders])


def random_release(generator: np.random.Generator, problem: Problem) -> Release:
    table = problem.table
    n = len(table)
    changed = generator.random(n) < generator.random()
    changed[problem.sensitive] = True
    marks = generator.choice([Mark.SUPPRESSED, Mark.SUPPRESSED, Mark.INTERVAL, Mark.ROUNDED], n)
    hidden, rounded = marks == Mark.SUPPRESSED, marks == Mark.ROUNDED
    below, above = generator.integers(0, 30, n), generator.integers(0, 30, n)
    # The radius of a rounded number is what is above, and its distance to the truth is no more than that.
    value = table.units + np.clip(below - 15, -above, above)
    low = np.where(hidden, -UNBOUNDED, np.where(rounded, value - above, table.units - below))
    high = np.where(hidden, UNBOUNDED, np.where(rounded, value + above, table.units + above))
    return Release.mixed(table, changed, marks, low, high, value=np.where(rounded, value, 0))


def attained(problem: Problem, release: Release, need: AttackerLevels) -> list[bool]:
    """Whether the linear programs of one attacker reach the levels of each of his targets."""
    table = problem.table
    n = len(table)
    low, high = problem.bounds_at(need.insider, np.arange(n))
    low, high = np.maximum(low, release.low), np.minimum(high, release.high)
    bounds = np.column_stack(
        [
            np.where(low <= -UNBOUNDED, -np.inf, (low - table.units).astype(float)),
            np.where(high >= UNBOUNDED, np.inf, (high - table.units).astype(float)),
        ]
    )
    matrix = table.equations.matrix.astype(float)
    reached = []
    for k, cell in enumerate(need.cells.tolist()):
        up, down = (
            np.inf if solved.status == 3 else -solved.fun
            for sign in (1, -1)
            for solved in [
                linprog(
                    -sign * (np.arange(n) == cell),
                    A_eq=matrix,
                    b_eq=np.zeros(len(table.equations)),
                    bounds=bounds,
                )
            ]
        )
        reached.append(
            up >= need.upper[k] - 1e-5
            and down >= need.lower[k] - 1e-5
            and up + down >= need.sliding[k] - 1e-5
        )
    return reached


@given(st.sampled_from(KINDS), st.integers(0, 2**32 - 1))
@examples(100)
def test_verdicts_are_those_of_the_linear_programs(kind: str, seed: int) -> None:
    generator = np.random.default_rng(seed)
    problem = random_problem(generator, random_table(generator, kind))
    if problem is None:
        return
    release = random_release(generator, problem)
    found = audit(problem, release)
    everything = []
    for need in problem.requirements():
        expected = attained(problem, release, need)
        assert (found.verdicts(need) == 0).tolist() == expected
        everything.extend(expected)
    assert found.safe == all(everything)
    if found.safe:
        certificate = json.loads(json.dumps(certify(found)))
        verify.verify(certificate)
        check_certificate(certificate, problem, release)
