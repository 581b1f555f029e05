"""Directions of sensitive cells: loss, bound and CPU seconds per case, beside what is asked and beside HiGHS
given the same mixed-integer program as it is.

    python benchmarks/directions.py [--only CASE ...] [--limit 60] [--bare 60] [--data FOLDER]

Generated cases are the inner cells of a table with fixed margins, lognormal values ``a``, weight 1; sensitive
cells drawn at random move by 15 % of their value, rounded up; a cell may move from ``-a`` to ``2 a``. Cases
from files are tables in JJ format with the bounds and levels of the file and weight ``1 / max(a, 1)``; they
need a folder with these files and are left out without one. *Known* is a loss that another program proved.

Every case runs in a process of its own. Libraries and compiled kernels are loaded before the clock starts;
the clock counts CPU seconds. *Must* is CPU seconds to a proven optimum, or a gap within ``--limit`` seconds
of wall time. Every result is adjusted afresh, so that its loss is checked by other code. HiGHS gets
``--bare`` seconds of wall time; 0 leaves it out.

Rows that are only measured show where a search is needed: blocks find better directions of a cube than one
program does in the same time; without kicks ``alternating`` finds none for targus, and ``greedy`` worse ones
for table7 (22.527).
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from scipy.sparse import csr_array

from tacita.core.run import Run
from tacita.formats.jj import read_jj
from tacita.methods.adjustment.convex.solve_convex import solve_convex
from tacita.methods.adjustment.directions.balance import Balance
from tacita.methods.adjustment.directions.choose_directions import How, choose_directions
from tacita.methods.adjustment.directions.direction_program import DirectionProgram
from tacita.methods.adjustment.task import AdjustmentTask, DirectionChoice, Norm
from tacita.solvers.highs import Ended, solve_mip

T = TypeVar("T")

NOISE = 1e-6


@dataclass(frozen=True)
class Target:
    """A proven optimum within ``seconds`` of CPU time, or a gap."""

    seconds: float = np.inf
    gap: float = 0.0

    def __str__(self) -> str:
        return f"gap {self.gap:.0%}" if self.gap else f"{self.seconds:g} s"

    def judged(self, result: Result) -> str:
        if not self.gap and np.isinf(self.seconds):
            return "measured"
        reached = result.gap <= self.gap if self.gap else result.optimal and result.seconds <= self.seconds
        return f"{self} {'met' if reached else 'MISSED'}"


@dataclass(frozen=True)
class Case:
    """Either a shape and a number of sensitive cells, or the name of a file."""

    must: Target = Target()
    shape: tuple[int, ...] = ()
    sensitive: int = 0
    file: str = ""
    known: float | None = None
    how: How = "optimal"
    norm: Norm = "l1"

    def task(self, folder: Path) -> AdjustmentTask:
        task = from_file(folder / self.file) if self.file else generated(self.shape, self.sensitive)
        return replace(task, norm=self.norm)


CASES = {
    "20x20 / 20": Case(Target(1), (20, 20), 20, known=482),
    "50x50 / 50": Case(Target(2), (50, 50), 50, known=1212),
    "100x100 / 100": Case(Target(10), (100, 100), 100, known=3554),
    "100x100 / 500": Case(Target(gap=0.03), (100, 100), 500),
    "100x100 / 500 greedy": Case(Target(gap=0.03), (100, 100), 500, how="greedy"),
    "10x10x10 / 50": Case(Target(gap=0.05), (10, 10, 10), 50),
    "10x10x10 / 50 block": Case(Target(), (10, 10, 10), 50, how="block"),
    "4x4x4 / 8 l2": Case(Target(5), (4, 4, 4), 8, norm="l2"),
    "targus": Case(Target(5), file="targus.jj", known=4.393833),
    "table8": Case(Target(5), file="table8.jj", known=0.341038),
    "table7": Case(Target(10), file="table7.jj", known=20.388156),
    "osorio": Case(Target(10), file="osorio.jj", known=2.963889),
    "targus alternating": Case(file="targus.jj", known=4.393833, how="alternating"),
    "table7 greedy": Case(file="table7.jj", known=20.388156, how="greedy"),
    "hier13x7x7d": Case(Target(60), file="hier13x7x7d.jj", known=4.144267),
}


def generated(shape: tuple[int, ...], sensitive: int) -> AdjustmentTask:
    """Inner cells of a table whose margins stay."""
    draw, n = np.random.default_rng(0), int(np.prod(shape))
    position = np.array(np.unravel_index(np.arange(n), shape))
    rows, first = [], 0
    for axis in range(len(shape)):
        others = [size for k, size in enumerate(shape) if k != axis]
        rows.append(first + np.ravel_multi_index(tuple(np.delete(position, axis, axis=0)), others))
        first += int(np.prod(others))
    cells = np.tile(np.arange(n), len(shape))
    matrix = csr_array((np.ones(cells.size, np.int64), (np.concatenate(rows), cells)), (first, n))
    value = np.rint(np.exp(draw.normal(4, 1.2, n))).astype(np.int64) + 1
    chosen_cells = draw.choice(n, sensitive, replace=False)
    own = value[chosen_cells]
    least = np.maximum(1, np.ceil(0.15 * own)).astype(np.int64)
    choice = DirectionChoice(chosen_cells, least, np.maximum(2 * own, least), np.minimum(least, own), own)
    return AdjustmentTask(matrix, -value, 2 * value, np.ones(n), 1, 1, choice=choice)


def from_file(path: Path) -> AdjustmentTask:
    problem = read_jj(path)
    table, levels, outsider = problem.table, problem.levels, problem.outsider
    value, one = table.units, 10**table.decimals
    lower, upper = outsider.lower - value, outsider.upper - value
    cells = np.flatnonzero((levels.lower > 0) | (levels.upper > 0))
    choice = DirectionChoice(cells, levels.upper[cells], upper[cells], levels.lower[cells], -lower[cells])
    weight = 1.0 / np.maximum(value / one, 1.0)
    return AdjustmentTask(csr_array(table.equations.matrix), lower, upper, weight, one, 1, choice=choice)


@dataclass(frozen=True)
class Result:
    """What one case gave, and HiGHS alone (its loss is infinite if it found none)."""

    cells: int
    loss: float
    bound: float
    optimal: bool
    seconds: float
    bare: Result | None = None

    @property
    def gap(self) -> float:
        return max(0.0, self.loss - self.bound) / self.loss if np.isfinite(self.loss) else 1.0


def measured(name: str, limit: float, bare_limit: float, folder: Path) -> Result:
    """One case, in this process."""
    case = CASES[name]
    task = case.task(folder)
    warm_up()
    start = time.process_time()
    found = choose_directions(task, case.how, Run(time_limit=limit))
    seconds = time.process_time() - start
    loss = solve_convex(task.directed(found.up), Run()).value
    plain = case.how == "optimal" and case.norm == "l1"
    other = bare(task, bare_limit) if bare_limit and plain else None
    return Result(len(task), loss, found.bound, found.optimal, seconds, other)


def warm_up() -> None:
    """Load the solvers, and the kernels by a table that is large enough to need them."""
    for shape, sensitive in (((4, 4, 4), 6), ((40, 40), 120)):
        choose_directions(generated(shape, sensitive), "optimal", Run(time_limit=5))


def bare(task: AdjustmentTask, limit: float) -> Result:
    """HiGHS on the mixed-integer program without rows from patterns, without a point to begin with."""
    assert task.choice is not None
    start = time.process_time()
    model = DirectionProgram(task, task.choice, Balance.of(task, task.choice))
    found = solve_mip(model.program, Run(time_limit=limit))
    loss = model.to_loss(float(model.program.cost @ found.point)) if found.point.size else np.inf
    seconds = time.process_time() - start
    return Result(len(task), loss, model.to_loss(found.bound), found.status is Ended.OPTIMAL, seconds)


HEADER = (
    f"{'case':22} {'cells':>7} {'loss':>13} {'bound':>13} {'gap':>7} {'CPU s':>8}  {'must':14} {'known':>11}"
)


def told(label: str, result: Result) -> str:
    return (
        f"{label:22} {result.cells:7,} {result.loss:13,.6g} {result.bound:13,.6g} {result.gap:7.2%} "
        f"{result.seconds:8.2f}"
    )


def wrong(name: str, result: Result) -> bool:
    """Whether a loss lies below a bound, or a proof contradicts another."""
    known, bounds, losses = CASES[name].known, [result.bound], [result.loss]
    if result.bare is not None:
        bounds, losses = [*bounds, result.bare.bound], [*losses, result.bare.loss]
    if known is not None:
        bounds, losses = [*bounds, known], [*losses, known]
    return max(bounds) > min(losses) * (1 + NOISE)


def in_own_process(function: Callable[..., T], *arguments: object) -> T:
    """The result of a call in a new process: not forked, so that it starts small."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(function, *arguments).result()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=list(CASES), metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--limit", type=float, default=60.0, help="wall seconds per case")
    parser.add_argument("--bare", type=float, default=60.0, help="wall seconds for HiGHS on the same program")
    parser.add_argument("--data", type=Path, default=Path("../shared/data/jj"), help="folder of JJ files")
    options = parser.parse_args()
    if unknown := [name for name in options.only if name not in CASES]:
        parser.error(f"no case {', '.join(unknown)}: choose from {', '.join(CASES)}")
    faults = met = asked = 0
    in_own_process(warm_up)  # compiles what is not compiled yet
    print(HEADER)
    for name in options.only:
        case = CASES[name]
        if case.file and not (options.data / case.file).exists():
            print(f"{name:22} left out: no {options.data / case.file}")
            continue
        result = in_own_process(measured, name, options.limit, options.bare, options.data)
        verdict, known = case.must.judged(result), "-" if case.known is None else f"{case.known:,.6g}"
        print(f"{told(name, result)}  {verdict:14} {known:>11}")
        if result.bare is not None:
            print(told("  HiGHS alone", result.bare))
        if wrong(name, result):
            print("  WRONG: a loss lies below a bound")
        sys.stdout.flush()
        faults, met = faults + wrong(name, result), met + verdict.endswith("met")
        asked += verdict != "measured"
    print(f"{met} of {asked} as good as they must be; {faults} wrong")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
