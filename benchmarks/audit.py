"""Audit against a bare solver: the same bounds by cold linear programs, by a bare hot HiGHS loop, and by
Tacita, in one run.

    python benchmarks/audit.py [--sparse] [--million]

Cold: a new HiGHS instance per bound on the hidden columns (a sample, scaled up). Hot: one HiGHS instance,
the objective changes. All times are CPU seconds on one core. The third case is a table of 100,489 cells of
which each is told within a radius, as rounding does, with 3,000 of them sensitive; there the hot loop is a
sample, too. ``--sparse`` adds two tables from microdata in their first protected releases, which take minutes
to find: one against all of its respondents, where the bare loop is about the outsider alone, and one against
an outsider. ``--million`` adds a table of a million cells with 1 % hidden and prints the peak memory.
"""

from __future__ import annotations

import argparse
import resource
import time

import highspy
import numpy as np
from scipy.sparse import csc_array

from tacita.auditing.audit import audit
from tacita.auditing.deduce import deduce
from tacita.core.hierarchy import Hierarchy
from tacita.core.levels import Levels
from tacita.core.release import Mark, Release
from tacita.core.run import Event, Run
from tacita.core.tables.build import build_table
from tacita.core.tables.dimension import Dimension
from tacita.core.tables.table import Table
from tacita.generate import microdata
from tacita.methods.suppression.suppression import Suppression
from tacita.problem.problem import Problem
from tacita.rules import PPercent
from tacita.tabulation.tabulate import tabulate

COLD_SAMPLE = 40


def square(rows: int, hidden: int, seed: int) -> tuple[Table, np.ndarray]:
    """A ``rows x rows`` table of magnitudes with about ``hidden`` inner cells hidden, two or more in every
    touched equation.
    """
    random = np.random.default_rng(seed)
    table = Table.from_array(
        np.rint(np.exp(random.normal(4, 1.2, (rows, rows)))).astype(int) + 1, counts=False
    )
    return table, complete(table, random, hidden)


def hierarchical(seed: int) -> tuple[Table, np.ndarray]:
    """Two dimensions, three levels deep each: about 8,000 cells, about 1,000 of them hidden."""
    random = np.random.default_rng(seed)
    dimensions = [
        Dimension(name, (tree(*shape),)) for name, shape in (("region", (4, 5, 5)), ("industry", (3, 4, 4)))
    ]
    leaves = [np.flatnonzero(d.is_leaf) for d in dimensions]
    codes = np.array([(a, b) for a in leaves[0] for b in leaves[1]], dtype=np.int32)
    values = np.rint(np.exp(random.normal(4, 1.2, codes.shape[0]))).astype(np.int64) + 1
    table = build_table(dimensions, codes, values, 0, compute_totals=True)
    return table, complete(table, random, 1073)


def tree(*branching: int) -> Hierarchy:
    def grow(prefix: str, levels: tuple[int, ...]) -> dict:
        return {f"{prefix}{i}": grow(f"{prefix}{i}.", levels[1:]) for i in range(levels[0])} if levels else {}

    return Hierarchy.from_dict(grow("", branching))


def complete(table: Table, random: np.random.Generator, hidden: int) -> np.ndarray:
    """A plausible pattern: random cells, then further cheap ones until no equation has a single hidden
    cell.
    """
    mask = np.zeros(len(table), dtype=bool)
    inner = np.flatnonzero(~table.structure.is_total)
    equations = table.equations
    batch = max(1, hidden // 8)
    while mask.sum() < hidden:
        mask[random.choice(inner, min(batch, hidden - int(mask.sum())), replace=False)] = True
        for _ in range(60):
            per_row = np.bincount(
                equations.row_of_entry, weights=mask[equations.cells], minlength=len(equations)
            )
            lonely = np.flatnonzero(per_row == 1)
            if lonely.size == 0:
                break
            for j in lonely:
                cells = equations.row(j)[0]
                if mask[cells].sum() == 1:
                    rest = cells[~mask[cells]]
                    cheap = rest[np.argsort(table.units[rest])[: max(2, rest.size // 4)]]
                    mask[random.choice(cheap)] = True
        batch = max(hidden // 100, 1, batch // 2)
    return mask


def bare(table: Table, hidden: np.ndarray) -> tuple[csc_array, np.ndarray]:
    matrix = csc_array(table.equations.matrix[:, hidden].astype(float))
    used = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[0]))
    return csc_array(matrix[used]), table.values[hidden]


def solver(matrix: csc_array, values: np.ndarray) -> highspy.Highs:
    highs = highspy.Highs()
    for option, value in (
        ("output_flag", False),
        ("presolve", "off"),
        ("simplex_strategy", 4),
        ("threads", 1),
    ):
        highs.setOptionValue(option, value)
    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = matrix.shape
    program.col_cost_ = np.zeros(matrix.shape[1])
    program.col_lower_, program.col_upper_ = np.zeros(matrix.shape[1]), np.full(matrix.shape[1], np.inf)
    program.row_lower_ = program.row_upper_ = matrix @ values
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = (
        matrix.indptr.astype(np.int32),
        matrix.indices.astype(np.int32),
    )
    program.a_matrix_.value_ = matrix.data
    highs.passModel(program)
    return highs


def hot_loop(matrix: csc_array, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    highs, ends = solver(matrix, values), np.zeros((2, matrix.shape[1]))
    for column in range(matrix.shape[1]):
        for row, sign in enumerate((1.0, -1.0)):
            highs.changeColCost(column, sign)
            highs.run()
            unbounded = highs.getModelStatus() != highspy.HighsModelStatus.kOptimal
            ends[row, column] = np.inf if unbounded else sign * highs.getObjectiveValue()
            highs.changeColCost(column, 0.0)
    return ends[0], ends[1]


def cold_sample(matrix: csc_array, values: np.ndarray, random: np.random.Generator) -> float:
    start = time.process_time()
    for column in random.choice(matrix.shape[1], COLD_SAMPLE // 2, replace=False):
        for sign in (1.0, -1.0):
            highs = solver(matrix, values)
            highs.changeColCost(int(column), sign)
            highs.run()
    return (time.process_time() - start) / COLD_SAMPLE


def timed(function, *arguments):
    start = time.process_time()
    result = function(*arguments)
    return time.process_time() - start, result


def compare(name: str, table: Table, mask: np.ndarray) -> None:
    random = np.random.default_rng(0)
    hidden = np.flatnonzero(mask)
    sensitive = np.zeros(len(table), dtype=bool)
    sensitive[random.choice(hidden, hidden.size // 2, replace=False)] = True
    level = np.maximum(1, table.units * 15 // 100)
    problem, release = (
        Problem(table, Levels.of(sensitive, lower=level, upper=level)),
        Release.suppress(table, mask),
    )
    matrix, values = bare(table, hidden)
    bounds = 2 * hidden.size
    cold = cold_sample(matrix, values, random) * bounds
    hot, (low, high) = timed(hot_loop, matrix, values)
    full, deduced = timed(deduce, problem, release)
    check, verdict = timed(audit, problem, release)
    agree = np.allclose(deduced.low, low, rtol=1e-6, atol=1e-6) and np.allclose(
        deduced.high, high, rtol=1e-6, atol=1e-6
    )
    print(
        f"{name}: {len(table):,} cells, {hidden.size:,} hidden, {bounds:,} bounds; "
        f"same intervals as the bare loop: {agree}"
    )
    print(f"  {'cold LP per bound (sampled)':34} {cold:8.3f} s  {cold / full:6.1f} x")
    print(f"  {'bare hot HiGHS loop':34} {hot:8.3f} s  {hot / full:6.2f} x")
    print(
        f"  {'tacita deduce (every interval)':34} {full:8.3f} s   1.00 x   "
        f"needed: cold >= 10 x, hot >= {1 / 1.3:.2f} x"
    )
    print(
        f"  {'tacita audit (half of them secret)':34} {check:8.3f} s           "
        f"{verdict.verdict}; {verdict.programs} programs"
    )


def all_within_a_radius() -> None:
    """Nothing is published as it is, so that the whole table is one piece."""
    random = np.random.default_rng(4)
    table = Table.from_array(random.integers(1, 1000, (316, 316)))
    everything, radius = np.ones(len(table), dtype=bool), 500
    low, high = table.units - np.minimum(radius, table.units), table.units + radius
    release = Release.mixed(table, everything, np.full(len(table), Mark.INTERVAL), low, high)
    inner = np.flatnonzero(~table.structure.is_total)
    sensitive = np.zeros(len(table), dtype=bool)
    sensitive[random.choice(inner, 3000, replace=False)] = True
    level = np.maximum(1, table.units * 15 // 100)
    problem = Problem(table, Levels.of(sensitive, upper=level, lower=np.minimum(level, table.units)))
    highs = solver(csc_array(table.equations.matrix.astype(float)), table.values)
    columns = np.arange(len(table), dtype=np.int32)
    highs.changeColsBounds(columns.size, columns, low.astype(float), high.astype(float))
    highs.run()
    asked = random.choice(problem.sensitive, 2 * COLD_SAMPLE, replace=False).tolist()
    seconds = []
    for column in asked:
        for sign in (1.0, -1.0):
            seconds.append(timed(ask, highs, column, sign)[0])
    # The median: the first few programs, far from hot yet, would be counted thousands of times.
    hot = float(np.median(seconds)) * 2 * problem.sensitive.size
    check, verdict = timed(audit, problem, release)
    print(f"all within a radius: {len(table):,} cells, {problem.sensitive.size:,} sensitive")
    print(f"  {'bare hot HiGHS loop (sampled)':34} {hot:8.3f} s  {hot / check:6.1f} x")
    print(f"  {'tacita audit':34} {check:8.3f} s           {verdict.verdict}; {verdict.programs} programs")


def from_records(records: int, shape: dict[str, tuple[int, int]], attackers: str | None) -> None:
    """A table where most cells have one respondent or two, in the first release that protects it."""
    made = microdata(records, shape, respondents=records)
    table = tabulate(made.records, dict(made.hierarchies), "value", respondent="respondent", decimals=0)
    problem = Problem(table, PPercent(15), **({} if attackers is None else {"attackers": attackers}))

    def stop_at_the_first(event: Event) -> None:
        if event.incumbent is not None and np.isfinite(event.incumbent):
            run.cancel()

    run = Run(listener=stop_at_the_first)
    release = Suppression(search="construction").protect(problem, run)
    hidden = np.flatnonzero(release.hidden)
    highs = solver(*bare(table, hidden))
    highs.run()
    random = np.random.default_rng(0)
    asked = np.searchsorted(hidden, random.choice(problem.sensitive, 2 * COLD_SAMPLE, replace=False))
    seconds = [timed(ask, highs, column, sign)[0] for column in asked.tolist() for sign in (1.0, -1.0)]
    hot = float(np.median(seconds)) * 2 * problem.sensitive.size
    check, verdict = timed(audit, problem, release)
    print(f"from records: {len(table):,} cells, {hidden.size:,} hidden, {problem.considered.text}")
    print(f"  {'bare hot HiGHS loop (sampled)':34} {hot:8.3f} s  {hot / check:6.1f} x")
    print(f"  {'tacita audit':34} {check:8.3f} s           {verdict.verdict}; {verdict.programs} programs")


def ask(highs: highspy.Highs, column: int, sign: float) -> None:
    highs.changeColCost(column, sign)
    highs.run()
    highs.changeColCost(column, 0.0)


def million() -> None:
    start = time.perf_counter()
    table, mask = square(1000, 10_000, 3)
    built = time.perf_counter() - start
    sensitive = np.zeros(len(table), dtype=bool)
    sensitive[np.flatnonzero(mask)[::5]] = True
    level = np.maximum(1, table.units * 15 // 100)
    problem = Problem(table, Levels.of(sensitive, lower=level, upper=level))
    seconds, found = timed(audit, problem, Release.suppress(table, mask))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"million: {len(table):,} cells, {int(mask.sum()):,} hidden, built in {built:.1f} s, "
        f"audited in {seconds:.1f} s: {found.verdict}"
    )
    print(f"  peak memory {peak:.2f} GB   needed: under 4 GB")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sparse", action="store_true")
    options.add_argument("--million", action="store_true")
    chosen = options.parse_args()
    compare("100x100", *square(100, 510, 1))
    compare("hierarchical", *hierarchical(2))
    all_within_a_radius()
    if chosen.sparse:
        from_records(1_200, {"region": (24, 3), "industry": (36, 3), "size": (3, 1)}, None)
        from_records(72_000, {"region": (54, 3), "industry": (76, 3), "size": (3, 1)}, "outsider")
    if chosen.million:
        million()
