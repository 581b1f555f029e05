"""Controlled rounding: loss, bound, CPU seconds and memory per case, beside what is asked and, for
minimum-distance rounding, beside HiGHS given the same model as it is.

    python benchmarks/rounding.py [--only CASE ...] [--limit 300] [--bare 60]

Tables of counts from 1 to 999, rounded to base 5, nothing sensitive. Every case runs in a process of its own,
so that its memory is its own. Libraries and compiled kernels are loaded before the clock starts; the clock
counts CPU seconds of all threads, from a table to a release. *Must* is CPU seconds, to a proven optimum for
minimum distance, or a gap within ``--limit``; a target that ``--limit`` leaves no time for is neither met nor
missed. Every release is checked: it adds up, every cell is a multiple of the base, and none is a whole base
away from its value.

HiGHS gets ``min c x : M (floor + base x) = b, x binary`` for ``--bare`` seconds of wall time, in the same
process after the release; 0 leaves that out. The times of NCHSCPUT (Gonzalez and Cox) on tables of such sizes
are quoted, not measured: they were taken on a Pentium 4, so only large factors count.
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
from typing import TypeVar

import numpy as np

from tacita import generate
from tacita.core.errors import StoppedError
from tacita.core.levels import Levels
from tacita.core.outcome import Outcome, Status
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.methods.rounding.rounding import Rounding
from tacita.methods.unbiased_rounding.unbiased_rounding import UnbiasedRounding
from tacita.problem.problem import Problem
from tacita.solvers.highs import Ended, MipResult, solve_mip
from tacita.solvers.linear_program import LinearProgram

T = TypeVar("T")

BASE = 5
NEAREST, UNBIASED = Rounding(base=BASE, protected=False), UnbiasedRounding(base=BASE)


@dataclass(frozen=True)
class Target:
    """A release within ``seconds`` of CPU time; proven optimal, or within ``gap`` of its bound."""

    seconds: float
    gap: float | None = None

    def __str__(self) -> str:
        return f"{self.seconds:g} s" if self.gap is None else f"gap {self.gap:.0%}"

    def judged(self, result: Result, limit: float, optimal: bool) -> str:
        outcome = result.outcome
        if self.gap is not None:
            reached, in_time = outcome is not None and outcome.gap <= self.gap, limit <= self.seconds
        else:
            reached, in_time = outcome is not None and (bool(outcome.status) or not optimal), False
        if reached and (in_time or result.seconds <= self.seconds):
            return f"{self} met"
        cut_short = not reached and limit < self.seconds
        return f"{self} {'cut short' if cut_short else 'MISSED'}"


@dataclass(frozen=True)
class Case:
    """``quoted`` is what NCHSCPUT took, in seconds."""

    method: Rounding | UnbiasedRounding
    shape: tuple[int, ...]
    must: Target
    hierarchy: tuple[int, ...] | None = None
    quoted: float | None = None

    def problem(self) -> Problem:
        table = generate.table(self.shape, "uniform", hierarchy=self.hierarchy, seed=1)
        return Problem(table, Levels.none(len(table)))

    @property
    def optimal(self) -> bool:
        """Whether the method looks for the least loss; a draw does not."""
        return isinstance(self.method, Rounding)


MINUTE = 60.0

CASES = {
    "nearest 1000x5": Case(NEAREST, (1000, 5), Target(0.05), quoted=100 * MINUTE),
    "nearest 100x100": Case(NEAREST, (100, 100), Target(0.05), quoted=24 * MINUTE),
    "nearest 2000x25": Case(NEAREST, (2000, 25), Target(0.2)),
    "nearest 1000x1000": Case(NEAREST, (1000, 1000), Target(4)),
    "nearest one tree": Case(NEAREST, (240, 240), Target(5), hierarchy=(2, 1)),
    "nearest two trees": Case(NEAREST, (216, 216), Target(5), hierarchy=(3, 3)),
    "nearest 10x10x10": Case(NEAREST, (10, 10, 10), Target(10)),
    "nearest 20x20x20": Case(NEAREST, (20, 20, 20), Target(5 * MINUTE, gap=0.02)),
    "unbiased 2000x25": Case(UNBIASED, (2000, 25), Target(0.05), quoted=5.75 * MINUTE),
    "unbiased 1000x1000": Case(UNBIASED, (1000, 1000), Target(0.5)),
    "unbiased 3000x3000": Case(UNBIASED, (3000, 3000), Target(5)),
}


@dataclass(frozen=True)
class Bare:
    """HiGHS on the model as it is; no outcome if it found no point."""

    outcome: Outcome | None
    seconds: float


@dataclass(frozen=True)
class Result:
    """What one case gave; no outcome if the time ended before a first release."""

    cells: int
    outcome: Outcome | None
    seconds: float
    gigabytes: float
    faults: tuple[str, ...]
    bare: Bare | None


def timed(function: Callable[[], T]) -> tuple[float, T | None]:
    """CPU seconds, and what came out unless the time ended before there was anything."""
    start, result = time.process_time(), None
    with contextlib.suppress(StoppedError):
        result = function()
    return time.process_time() - start, result


def measured(name: str, limit: float, bare_limit: float) -> Result:
    """One case, in this process."""
    case = CASES[name]
    problem = case.problem()
    warm_up()
    seconds, release = timed(lambda: case.method.protect(problem, Run(time_limit=limit)))
    return Result(
        len(problem.table),
        None if release is None else release.outcome,
        seconds,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        () if release is None else faults(problem, release),
        bare(problem, bare_limit) if bare_limit and case.optimal else None,
    )


def warm_up() -> None:
    """Load the solvers, and the kernels by networks that are large enough to need them."""
    for method, shape in ((NEAREST, (60, 60)), (NEAREST, (3, 3, 3)), (UNBIASED, (60, 60))):
        method.protect(Case(method, shape, Target(1)).problem())


def faults(problem: Problem, release: Release) -> tuple[str, ...]:
    """Where a release is not what was asked for."""
    table = problem.table
    base = BASE * 10**table.decimals
    found = {
        "does not add up": table.equations.residuals(release.value) != 0,
        "no multiple of the base": release.value % base != 0,
        "not next to the value": np.abs(release.value - table.units) >= base,
    }
    return tuple(f"{count:,} {what}" for what, wrong in found.items() if (count := int(wrong.sum())))


def bare(problem: Problem, limit: float) -> Bare:
    """The same optimum by HiGHS alone."""
    from scipy.sparse import csr_array

    table = problem.table
    base = BASE * 10**table.decimals
    above = table.units % base
    at = np.flatnonzero(above)
    cost = (base - 2.0 * above[at]) / 10**table.decimals
    rows = csr_array(table.equations.matrix[:, at].astype(np.float64))
    even = (table.equations.matrix @ above / base).astype(np.float64)
    program = LinearProgram(cost, np.zeros(at.size), np.ones(at.size), rows, even, even).in_integers()
    seconds, found = timed(lambda: solve_mip(program, Run(time_limit=limit)))
    return Bare(None if found is None else outcome_of(found, cost, float(above.sum())), seconds)


def outcome_of(found: MipResult, cost: np.ndarray, constant: float) -> Outcome | None:
    if not found.point.size:
        return None
    status = Status.OPTIMAL if found.status is Ended.OPTIMAL else Status.FEASIBLE
    return Outcome(status, float((cost * found.point).sum()) + constant, found.bound + constant)


HEADER = (
    f"{'case':18} {'cells':>9} {'loss':>11} {'bound':>13} {'gap':>7} {'status':>9} {'CPU s':>8} {'GB':>5}  "
    f"{'must':16} {'quoted':>8}"
)


def line(name: str, result: Result, limit: float) -> str:
    case, outcome = CASES[name], result.outcome
    # A draw is not meant to come near its bound.
    gap = f"{outcome.gap:.2%}" if outcome is not None and case.optimal else "-"
    known = (
        f"{outcome.loss:11,.0f} {outcome.bound:13,.1f} {gap:>7} {outcome.status.value:>9}"
        if outcome is not None
        else f"{'-':>11} {'-':>13} {'-':>7} {'none yet':>9}"
    )
    return (
        f"{name:18} {result.cells:9,} {known} {result.seconds:8.3f} {result.gigabytes:5.2f}  "
        f"{case.must.judged(result, limit, case.optimal):16} "
        f"{'-' if case.quoted is None else f'{case.quoted:,.0f} s':>8}"
    )


def remarks(result: Result) -> list[str]:
    """What one line has no room for."""
    told = [f"WRONG: {fault}" for fault in result.faults]
    if result.bare is not None:
        told.append(compared(result, result.bare))
        if contradicted(result):
            told.append("WRONG: the two contradict each other")
    return told


def contradicted(result: Result) -> bool:
    """Whether a loss lies below the other's bound."""
    if result.outcome is None or result.bare is None or result.bare.outcome is None:
        return False
    ours, other = result.outcome, result.bare.outcome
    noise = 1e-6 * max(1.0, abs(ours.loss))
    return ours.loss < other.bound - noise or other.loss < ours.bound - noise


def compared(result: Result, other: Bare) -> str:
    """What HiGHS reached, and how many times as long it took where ours is proven: else times mean little."""
    outcome = other.outcome
    proven = outcome is not None and bool(outcome.status)
    ratio = ""
    if result.outcome is not None and result.outcome.status:
        ratio = f", {'' if proven else 'more than '}{other.seconds / max(result.seconds, 1e-3):.1f} x"
    if outcome is None:
        return f"HiGHS: no release after {other.seconds:.1f} s{ratio}"
    return (
        f"HiGHS: loss {outcome.loss:,.0f}, bound {outcome.bound:,.1f}, gap {outcome.gap:.2%}, "
        f"{outcome.status.value}, {other.seconds:.2f} s{ratio}"
    )


def in_own_process(function: Callable[..., T], *arguments: object) -> T:
    """The result of a call in a new process: not forked, so that it starts small."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(function, *arguments).result()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=list(CASES), metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--limit", type=float, default=5 * MINUTE, help="wall seconds per case")
    parser.add_argument("--bare", type=float, default=MINUTE, help="wall seconds for HiGHS on the same model")
    options = parser.parse_args()
    if unknown := [name for name in options.only if name not in CASES]:
        parser.error(f"no case {', '.join(unknown)}: choose from {', '.join(CASES)}")
    wrong = met = 0
    in_own_process(warm_up)  # compiles what is not compiled yet, which takes memory that no case should show
    print(HEADER)
    for name in options.only:
        result = in_own_process(measured, name, options.limit, options.bare)
        print("\n  ".join([line(name, result, options.limit), *remarks(result)]), flush=True)
        met += "met" in CASES[name].must.judged(result, options.limit, CASES[name].optimal)
        wrong += bool(result.faults) or contradicted(result)
    print(f"{met} of {len(options.only)} as fast as they must be; {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
