"""Controlled tabular adjustment with given directions: loss, gap, CPU seconds and memory per case, beside
what is asked and beside HiGHS or Clarabel given the same model as it is.

    python benchmarks/adjustment.py [--only CASE ...] [--limit 600] [--bare 60]

Tables of lognormal values. Sensitive cells are drawn at random among inner cells, 100 in two dimensions and
one in a thousand elsewhere; each moves by 15 % or more, up or down as drawn. Other cells may fall to 0 and
rise to three times their value. *Fixed margins* tables consist of inner cells alone; in tables with
hierarchies totals change too. Weights are 1, or 1 / value where the case says so.

Every case runs in a process of its own, so that its memory is its own. Libraries and compiled kernels are
loaded before the clock starts; the clock counts CPU seconds of all threads, from a task to its adjustment.
Every adjustment is checked: within its bounds, off balance by less than 1e-9 of its changes, and proven to a
gap of 1e-6.

The other program gets ``--bare`` seconds of wall time in the same process after that: HiGHS for ``l1`` and
``linf``, with its own choice of method, Clarabel for ``l2`` and ``huber``. 0 leaves it out.

The ten public JJ tables are adjusted with all sensitive cells up, weights 1 / value, and compared with the
losses that an independent program computed once, if ``../shared/data/jj`` is there.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array, hstack, identity, vstack

from tacita import generate
from tacita.core.errors import StoppedError
from tacita.core.run import Run
from tacita.formats.jj import read_jj
from tacita.methods.adjustment.convex.convex_program import ConvexProgram
from tacita.methods.adjustment.convex.solve_convex import solve_convex
from tacita.methods.adjustment.task import AdjustmentSolution, AdjustmentTask, Norm

T = TypeVar("T")

PUBLIC = Path(__file__).resolve().parents[2] / "shared" / "data" / "jj"
PROTECTION = 0.15
KNOWN = {
    "targus": 1084.09382,
    "table7": 59605.0765,
    "hier13x7x7d": 278.021069,
    "table8": 1.89571629,
    "table1": 370607.155,
    "hier13x13x13a": 1028.72688,
    "hier16": 1544.98212,
    "ninenew": 5907.42174,
    "osorio": 2.04221861,
    "cbs": 88515.5684,
}


@dataclass(frozen=True)
class Case:
    """``must`` is CPU seconds; None where a case is only measured."""

    norm: Norm
    shape: tuple[int, ...]
    must: float | None
    hierarchy: tuple[int, ...] | None = None
    by_value: bool = False

    def task(self) -> AdjustmentTask:
        if self.hierarchy is None:
            values = np.rint(np.exp(np.random.default_rng(1).normal(4, 1.2, self.shape))).astype(np.int64) + 1
            matrix, value, inner = lines(self.shape), values.ravel(), np.arange(values.size)
        else:
            table = generate.table(self.shape, "lognormal", hierarchy=self.hierarchy, seed=1)
            matrix, value = table.equations.matrix, table.units
            inner = np.flatnonzero(~np.asarray(table.structure.is_total))
        return directed(matrix, value, inner, self)


def lines(shape: tuple[int, ...]) -> csr_array:
    """Every line of a cube along every axis adds up to what it did."""
    cells = np.arange(int(np.prod(shape))).reshape(shape)
    rows, columns, count = [], [], 0
    for axis, length in enumerate(shape):
        along = np.moveaxis(cells, axis, -1).reshape(-1, length)
        rows.append(count + np.repeat(np.arange(along.shape[0]), length))
        columns.append(along.ravel())
        count += along.shape[0]
    entries = np.ones(cells.size * len(shape), dtype=np.int64)
    return csr_array((entries, (np.concatenate(rows), np.concatenate(columns))), shape=(count, cells.size))


def directed(matrix: csr_array, value: np.ndarray, inner: np.ndarray, case: Case) -> AdjustmentTask:
    random = np.random.default_rng(2)
    count = 100 if len(case.shape) == 2 and case.hierarchy is None else max(100, value.size // 1000)
    sensitive = random.choice(inner[value[inner] > 0], count, replace=False)
    up = random.random(count) < 0.5
    least = np.maximum(1, np.ceil(PROTECTION * value[sensitive]).astype(np.int64))
    lower, upper = -value.copy(), 2 * value
    lower[sensitive[up]] = least[up]
    upper[sensitive[~up]] = -least[~up]
    weight = 1 / np.maximum(value, 1) if case.by_value else np.ones(value.size)
    return AdjustmentTask(matrix, lower, upper, weight, 1, 1, case.norm)


CASES = {
    "l1 100x120": Case("l1", (100, 120), 0.1),
    "l2 100x120": Case("l2", (100, 120), 0.1),
    "huber 100x120": Case("huber", (100, 120), None),
    "linf 100x120": Case("linf", (100, 120), None),
    "l1 300x350": Case("l1", (300, 350), 0.3),
    "l2 300x350": Case("l2", (300, 350), 0.3),
    "l1 1000x1000": Case("l1", (1000, 1000), 2),
    "l1 1000x1000 1/a": Case("l1", (1000, 1000), 2, by_value=True),
    "l2 1000x1000": Case("l2", (1000, 1000), 2),
    "l2 1000x1000 1/a": Case("l2", (1000, 1000), 2, by_value=True),
    "l1 two trees": Case("l1", (1000, 800), 30, hierarchy=(3, 3)),
    "l1 two trees 1/a": Case("l1", (1000, 800), 30, hierarchy=(3, 3), by_value=True),
    "l2 two trees": Case("l2", (1000, 800), 3, hierarchy=(3, 3)),
    "l2 two trees 1/a": Case("l2", (1000, 800), 3, hierarchy=(3, 3), by_value=True),
    "l1 30x30x30": Case("l1", (30, 30, 30), None),
    "l1 100x100x100": Case("l1", (100, 100, 100), None),
    "l2 100x100x100": Case("l2", (100, 100, 100), 2),
    "l2 100x100x100 1/a": Case("l2", (100, 100, 100), 2, by_value=True),
}


LARGEST_COST = 1e3
"""What HiGHS is given as the largest cost."""


@dataclass(frozen=True)
class Bare:
    """Another program on the model as it is; no loss if it came to no end."""

    program: str
    loss: float | None
    seconds: float


@dataclass(frozen=True)
class Result:
    """What one case gave; no answer if the time ended first."""

    cells: int
    answer: AdjustmentSolution | None
    seconds: float
    gigabytes: float
    faults: tuple[str, ...]
    bare: Bare | None = None

    @property
    def gap(self) -> float:
        return np.inf if self.answer is None else gap_of(self.answer)


def gap_of(answer: AdjustmentSolution) -> float:
    return (answer.value - answer.bound) / (answer.value or 1.0)


def timed(function: Callable[[], T]) -> tuple[float, T | None]:
    """CPU seconds, and what came out unless the time ended before there was anything."""
    start, result = time.process_time(), None
    with contextlib.suppress(StoppedError):
        result = function()
    return time.process_time() - start, result


def measured(name: str, limit: float, bare_limit: float) -> Result:
    """One case, in this process."""
    warm_up()
    task = CASES[name].task()
    result = adjustment_of(task, limit)
    if not bare_limit:
        return result
    return Result(**{**vars(result), "bare": bare(task, bare_limit)})


def adjustment_of(task: AdjustmentTask, limit: float) -> Result:
    seconds, answer = timed(lambda: solve_convex(task, Run(time_limit=limit)))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return Result(len(task), answer, seconds, memory, () if answer is None else faults(task, answer))


def warm_up() -> None:
    """Load the solvers, and the kernels by a network that is large enough to need them."""
    for norm in ("l1", "l2", "huber", "linf"):
        solve_convex(Case(norm, (60, 60), None).task(), Run())
    solve_convex(Case("l1", (16, 16, 16), None).task(), Run())


def faults(task: AdjustmentTask, answer: AdjustmentSolution) -> tuple[str, ...]:
    """Where an adjustment is not what was asked for."""
    found = []
    outside = int(((answer.z < task.lower) | (answer.z > task.upper)).sum())
    if outside:
        found.append(f"{outside:,} outside their bounds")
    if (off := ConvexProgram.of(task).relative_residual(answer.z / task.one)) > 1e-9:
        found.append(f"off balance by {off:.1e} of the changes")
    if gap_of(answer) > 1e-6:
        found.append(f"gap {gap_of(answer):.1e}")
    return tuple(found)


def bare(task: AdjustmentTask, limit: float) -> Bare:
    """The same optimum by HiGHS or Clarabel alone."""
    linear = task.norm in ("l1", "linf")
    start = time.process_time()
    loss = by_highs(task, limit) if linear else by_clarabel(task, limit)
    return Bare("HiGHS" if linear else "Clarabel", loss, time.process_time() - start)


def by_highs(task: AdjustmentTask, limit: float) -> float | None:
    """``min sum w t`` or ``min t`` over ``M z = 0, |z| <= t``, for ``l1`` as rises and falls.

    Costs are scaled. HiGHS stops at reduced costs of 1e-7, which is much beside weights of 1 / value: on two
    trees with 67,732 cells it stops 1.4e-6 above our loss, and agrees with it to 1e-14 when costs are
    a thousand times as large.
    """
    import highspy

    n, rows = len(task), task.matrix.astype(np.float64)
    if task.norm == "l1":
        matrix = hstack([rows, -rows], format="csc")
        cost = np.tile(task.weight, 2)
        lower = np.concatenate([np.maximum(task.lower, 0), np.maximum(-task.upper, 0)]).astype(float)
        upper = np.concatenate([np.maximum(task.upper, 0), np.maximum(-task.lower, 0)]).astype(float)
        least = most = np.zeros(rows.shape[0])
    else:
        weighed, top = diags_array(task.weight), csr_array(np.ones((n, 1)))
        empty = csr_array((rows.shape[0], 1))
        caps = [hstack([weighed, -top]), hstack([-weighed, -top])]
        matrix = vstack([hstack([rows, empty]), *caps], format="csc")
        cost = np.append(np.zeros(n), 1.0)
        lower, upper = np.append(task.lower, 0.0), np.append(task.upper, np.inf)
        least = np.concatenate([np.zeros(rows.shape[0]), np.full(2 * n, -np.inf)])
        most = np.zeros(least.size)
    highs, program = highspy.Highs(), highspy.HighsLp()
    for option, setting in (("output_flag", False), ("threads", 1)):
        highs.setOptionValue(option, setting)
    program.num_row_, program.num_col_ = matrix.shape
    unit = LARGEST_COST / float(cost.max())
    program.col_cost_, program.col_lower_, program.col_upper_ = cost * unit, lower, upper
    program.row_lower_, program.row_upper_ = least, most
    program.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    program.a_matrix_.index_ = matrix.indices.astype(np.int32)
    program.a_matrix_.value_ = matrix.data
    highs.passModel(program)
    highs.setOptionValue("time_limit", limit)
    highs.run()
    done = highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return float(highs.getObjectiveValue()) / unit if done else None


def by_clarabel(task: AdjustmentTask, limit: float) -> float | None:
    """``min sum w z^2``, or the cones ``|(delta, z_i)| <= t_i``, over ``M z = 0, lower <= z <= upper``."""
    import clarabel

    n, eye = len(task), identity(len(task), format="csr")
    rows = [task.matrix.astype(np.float64), eye, -eye]
    rhs = [np.zeros(task.matrix.shape[0]), task.upper.astype(float), -task.lower.astype(float)]
    cones: list[Any] = [clarabel.ZeroConeT(rhs[0].size), clarabel.NonnegativeConeT(2 * n)]
    matrix, curve, cost = vstack(rows, format="csr"), 2.0 * task.weight, np.zeros(n)
    if task.norm == "huber":
        place = np.arange(n)
        tops = csr_array((np.full(n, -1.0), (3 * place, place)), shape=(3 * n, n))
        ends = csr_array((np.full(n, -1.0), (3 * place + 2, place)), shape=(3 * n, n))
        matrix = vstack([hstack([matrix, csr_array((matrix.shape[0], n))]), hstack([ends, tops])])
        rhs.append(np.tile([0.0, task.delta, 0.0], n))
        cones += [clarabel.SecondOrderConeT(3)] * n
        curve, cost = np.zeros(2 * n), np.append(np.zeros(n), task.weight)
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads, settings.time_limit = False, 1, limit
    quadratic = csc_array(diags_array(curve))
    solver = clarabel.DefaultSolver(quadratic, cost, csc_array(matrix), np.concatenate(rhs), cones, settings)
    solution = solver.solve()
    return task.loss(np.array(solution.x)[:n]) if str(solution.status) == "Solved" else None


def public(name: str) -> Result:
    """A JJ table, all sensitive cells up, least squares weighed by 1 / value."""
    problem = read_jj(PUBLIC / f"{name}.jj")
    table, levels = problem.table, problem.levels
    one, value = 10**table.decimals, table.units
    lower, upper = problem.outsider.lower - value, problem.outsider.upper - value
    sensitive = (levels.upper > 0) | (levels.lower > 0)
    lower = np.where(sensitive, levels.upper, lower)
    task = AdjustmentTask(table.equations.matrix, lower, upper, 1 / np.maximum(value / one, 1), one, 1, "l2")
    return adjustment_of(task, 60)


HEADER = (
    f"{'case':20} {'cells':>9} {'loss':>13} {'gap':>8} {'by':>9} {'steps':>6} "
    f"{'CPU s':>8} {'GB':>5}  {'must':14}"
)


def line(name: str, result: Result, must: str) -> str:
    answer = result.answer
    known = (
        f"{answer.value:13,.4f} {gap_of(answer):8.0e} {answer.formulation:>9} {answer.iterations:6}"
        if answer is not None
        else f"{'none yet':>13} {'-':>8} {'-':>9} {'-':>6}"
    )
    return f"{name:20} {result.cells:9,} {known} {result.seconds:8.3f} {result.gigabytes:5.2f}  {must:14}"


def judged(name: str, result: Result) -> str:
    must = CASES[name].must
    if must is None:
        return "measured"
    return f"{must:g} s {'met' if result.answer is not None and result.seconds <= must else 'MISSED'}"


def remarks(result: Result) -> list[str]:
    """What one line has no room for."""
    told = [f"WRONG: {fault}" for fault in result.faults]
    other = result.bare
    if other is not None:
        ratio = f"{other.seconds / max(result.seconds, 1e-3):.1f} x"
        if other.loss is None:
            told.append(f"{other.program}: no end after {other.seconds:.1f} s, more than {ratio}")
        else:
            told.append(f"{other.program}: {other.loss:,.4f} in {other.seconds:.2f} s, {ratio}")
        if contradicted(result):
            told.append("WRONG: the two contradict each other")
    return told


def contradicted(result: Result) -> bool:
    """Whether the losses differ by more than their tolerances."""
    if result.answer is None or result.bare is None or result.bare.loss is None:
        return False
    ours, other = result.answer.value, result.bare.loss
    return abs(ours - other) > 1e-5 * max(abs(ours), 1e-9)


def in_own_process(function: Callable[..., T], *arguments: object) -> T:
    """The result of a call in a new process: not forked, so that it starts small."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(function, *arguments).result()


def against_known() -> int:
    """Lines for the public tables; how many differ from what is known."""
    if not PUBLIC.is_dir():
        print("public tables left out: there is no folder ../shared/data/jj")
        return 0
    wrong = 0
    for name, loss in KNOWN.items():
        result = in_own_process(public, name)
        differs = np.inf if result.answer is None else abs(result.answer.value / loss - 1)
        wrong += differs > 1e-6 or bool(result.faults)
        verdict = "as known" if differs <= 1e-6 else f"WRONG: {loss:,.4f} is known"
        print("\n  ".join([line(f"l2 {name} 1/a", result, verdict), *remarks(result)]), flush=True)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=list(CASES), metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--limit", type=float, default=600.0, help="wall seconds per case")
    parser.add_argument("--bare", type=float, default=60.0, help="wall seconds for the other program")
    options = parser.parse_args()
    if unknown := [name for name in options.only if name not in CASES]:
        parser.error(f"no case {', '.join(unknown)}: choose from {', '.join(CASES)}")
    in_own_process(warm_up)  # compiles what is not compiled yet, which takes memory that no case should show
    print(HEADER)
    wrong = missed = 0
    for name in options.only:
        result = in_own_process(measured, name, options.limit, options.bare)
        print("\n  ".join([line(name, result, judged(name, result)), *remarks(result)]), flush=True)
        missed += "MISSED" in judged(name, result)
        wrong += bool(result.faults) or contradicted(result)
    wrong += against_known()
    print(f"{missed} slower than they must be; {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
