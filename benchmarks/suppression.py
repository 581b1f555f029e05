"""Cell suppression, proven: loss, bound, CPU seconds and memory per case, beside what is asked and what other
programs reached.

    python benchmarks/suppression.py [CASE ...] [--limit 600] [--bare 30] [--audit] [--data ../shared]

Every case runs in a process of its own, so that its memory is its own. Libraries and compiled kernels are
loaded before the clock starts; the clock counts CPU seconds of all threads. *Must* and *stretch* are CPU
seconds to a proven optimum, or a gap within ten minutes; a target that ``--limit`` leaves no time for is
neither met nor missed.

The times of τ-ARGUS's exact engine are quoted, not measured here: they were taken on the same files, on
another day of a busy machine; with an asterisk, on another table of the same size. So only large factors
count. What is measured in the same run is HiGHS: small cases are also given to it as one integer program (the
first model) for ``--bare`` seconds; 0 leaves that out.

``--audit`` audits each release, certifies it and verifies the certificate. Public tables come from the folder
``--data``; cases whose file is not there are named and left out.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tacita import generate
from tacita.core.errors import StoppedError
from tacita.core.outcome import Outcome, Status
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.engine.attack.requirements import list_all_requirements
from tacita.engine.search.explicit_model import solve_explicit_model
from tacita.methods.suppression.suppression import Suppression
from tacita.problem.problem import Problem
from tacita.specification.read_case import read_case

T = TypeVar("T")

SMALL = 25_000
"""Columns of a first model that HiGHS is asked to solve: requirements times cells."""
MOST_MEMORY = 2.0
"""Gigabytes that no case may exceed."""


@dataclass(frozen=True)
class Target:
    """A gap of at most ``gap`` within ``seconds`` of CPU time; a gap of 0 means proven optimal."""

    seconds: float
    gap: float = 0.0

    def __str__(self) -> str:
        return f"{self.seconds:g} s" if not self.gap else f"gap {self.gap:.0%}"

    def judged(self, outcome: Outcome | None, seconds: float, limit: float) -> str:
        reached = outcome is not None and (outcome.gap < self.gap if self.gap else bool(outcome.status))
        if reached and (seconds <= self.seconds or (self.gap and limit <= self.seconds)):
            return f"{self} met"
        cut_short = not reached and limit < self.seconds
        return f"{self} {'cut short' if cut_short else 'MISSED'}"


@dataclass(frozen=True)
class Generated:
    """A random table; all cells are equally likely to be sensitive unless ``pattern`` says ``smallest``, as
    in the test problems of the literature, where values of 1 to 4 are.
    """

    shape: tuple[int, ...]
    family: str
    sensitive: float | int
    pattern: str = "uniform"

    def problem(self, data: Path) -> Problem:
        return generate.problem(
            self.shape, self.family, sensitive=self.sensitive, pattern=self.pattern, seed=1
        )


@dataclass(frozen=True)
class File:
    """A table in JJ format, with its own costs, levels and bounds."""

    path: str

    def problem(self, data: Path) -> Problem:
        return read_case(data / self.path)


@dataclass(frozen=True)
class Case:
    """``optimum`` is known from programs that share nothing with this one; ``others`` is τ-ARGUS's time, on
    the same table unless ``alike``.
    """

    source: Generated | File
    must: Target
    stretch: Target | None = None
    optimum: float | None = None
    others: float | None = None
    alike: bool = False


TEN_MINUTES = 600.0

CASES = {
    "t2d_20": Case(File("cases/t2d_20/case.jj"), Target(1), Target(0.3), 3_608, 0.2),
    "h2d_600": Case(File("cases/h2d_600/case.jj"), Target(2), Target(0.6), 300_857, 0.6),
    "targus": Case(File("data/jj/targus.jj"), Target(1), Target(0.3), 2_045_233, 0.01),
    "table8": Case(File("data/jj/table8.jj"), Target(1), Target(0.3), 262, 0.1),
    "osorio": Case(File("data/jj/osorio.jj"), Target(1), Target(0.3), 55, 0.2),
    "cbs": Case(File("data/jj/cbs.jj"), Target(3), Target(1), 186_743, 0.7),
    "table1": Case(File("data/jj/table1.jj"), Target(5), Target(2), 186_522_556, 2),
    "100x100 fs 5 %": Case(Generated((100, 100), "fs", 0.05), Target(3), Target(1.5)),
    "50x50 logn 125": Case(Generated((50, 50), "logn", 125), Target(64), others=64, alike=True),
    "200x200 logn 2 %": Case(Generated((200, 200), "logn", 0.02), Target(60), Target(20)),
    "500x500 fs 500": Case(Generated((500, 500), "fs", 500, "smallest"), Target(60), Target(30)),
    "500x500 fs 500 anywhere": Case(Generated((500, 500), "fs", 500), Target(60), Target(30)),
    "table7": Case(File("data/jj/table7.jj"), Target(60), Target(20), 3_930_565, 81),
    "hier13x7x7d": Case(File("data/jj/hier13x7x7d.jj"), Target(TEN_MINUTES, 0.08), Target(TEN_MINUTES)),
    "hier13x13x13a": Case(
        File("data/jj/hier13x13x13a.jj"), Target(TEN_MINUTES, 0.15), Target(TEN_MINUTES, 0.02)
    ),
    "10x10x10 logn 2 %": Case(
        Generated((10, 10, 10), "logn", 0.02), Target(TEN_MINUTES, 0.15), Target(TEN_MINUTES, 0.02)
    ),
}


@dataclass(frozen=True)
class Bare:
    """HiGHS on the first model; no outcome if it found no release."""

    outcome: Outcome | None
    seconds: float


@dataclass(frozen=True)
class Result:
    """What one case gave; no outcome if the time ended before a first release."""

    cells: int
    primaries: int
    outcome: Outcome | None
    seconds: float
    gigabytes: float
    bare: Bare | None
    audited: str


@dataclass(frozen=True)
class Effort:
    """What the command line asks for."""

    limit: float
    bare: float
    audit: bool
    data: Path


def timed(function: Callable[[], T]) -> tuple[float, T | None]:
    """CPU seconds, and what came out unless the time ended before there was anything."""
    start, result = time.process_time(), None
    with contextlib.suppress(StoppedError):
        result = function()
    return time.process_time() - start, result


def measured(name: str, effort: Effort) -> Result:
    """One case, in this process."""
    problem = CASES[name].source.problem(effort.data)
    warm_up()
    seconds, release = timed(lambda: Suppression().protect(problem, Run(time_limit=effort.limit)))
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    small = len(list_all_requirements(problem)) * len(problem.table) <= SMALL
    return Result(
        len(problem.table),
        len(problem.levels),
        release.outcome if release is not None else None,
        seconds,
        gigabytes,
        bare(problem, effort.bare) if small and effort.bare else None,
        audited(problem, release) if effort.audit and release is not None else "",
    )


def warm_up() -> None:
    """Load the solvers, and the kernels by a network that is large enough to need them."""
    import pyscipopt  # noqa: F401

    Suppression().protect(generate.problem((52, 52), "fs", sensitive=0.05))


def bare(problem: Problem, limit: float) -> Bare:
    """The same optimum by HiGHS alone."""

    model = Suppression().model(problem)
    seconds, found = timed(lambda: solve_explicit_model(model, Run(time_limit=limit)))
    return Bare(found and Outcome(found.status, found.loss, found.bound), seconds)


def audited(problem: Problem, release: Release) -> str:
    """The verdict, and whether a certificate of it holds on its own."""
    from tacita.auditing.audit import audit
    from tacita.auditing.certificate import certify, dump
    from tacita.verify import verify

    start = time.process_time()
    found = audit(problem, release)
    if not found.safe:
        return f"NOT SAFE: {found.verdict}"
    checked = verify(json.loads(dump(certify(found))))
    return f"safe, certificate verified ({checked:,} checks), {time.process_time() - start:.2f} s"


HEADER = (
    f"{'case':18} {'cells':>8} {'primary':>8} {'loss':>14} {'bound':>14} {'gap':>8} {'status':>9} "
    f"{'CPU s':>8} {'GB':>5}  {'must':18} {'stretch':18} τ-ARGUS"
)


def line(name: str, result: Result, limit: float) -> str:
    case, outcome = CASES[name], result.outcome
    known = (
        f"{outcome.loss:14,.0f} {outcome.bound:14,.0f} {outcome.gap:8.2%} {outcome.status.value:>9}"
        if outcome is not None
        else f"{'-':>14} {'-':>14} {'-':>8} {'none yet':>9}"
    )
    must, stretch = (
        target.judged(outcome, result.seconds, limit) if target is not None else "-"
        for target in (case.must, case.stretch)
    )
    return (
        f"{name:18} {result.cells:8,} {result.primaries:8,} {known} {result.seconds:8.2f} "
        f"{result.gigabytes:5.2f}  {must:18} {stretch:18} "
        f"{'-' if case.others is None else f'{case.others:g} s'}{'*' if case.alike else ''}"
    )


def remarks(name: str, result: Result) -> list[str]:
    """What one line has no room for."""
    told = []
    if contradicted(name, result):
        told.append(f"WRONG: the optimum is {CASES[name].optimum:,.0f}")
    if result.gigabytes > MOST_MEMORY:
        told.append(f"MISSED: more than {MOST_MEMORY:g} GB")
    if result.bare is not None:
        told.append(compared(result, result.bare))
    if result.audited:
        told.append(f"audit: {result.audited}")
    return told


def contradicted(name: str, result: Result) -> bool:
    """Whether loss and bound leave the known optimum outside."""
    outcome, optimum = result.outcome, CASES[name].optimum
    if outcome is None or optimum is None:
        return False
    noise = 1e-6 * optimum
    return outcome.loss < optimum - noise or outcome.bound > optimum + noise


def compared(result: Result, other: Bare) -> str:
    outcome, ratio = other.outcome, other.seconds / max(result.seconds, 1e-3)
    if outcome is None:
        return f"HiGHS on the first model: no release after {other.seconds:.1f} s, more than {ratio:.0f} x"
    more = "" if outcome.status is Status.OPTIMAL else "more than "
    return (
        f"HiGHS on the first model: loss {outcome.loss:,.0f}, bound {outcome.bound:,.0f}, "
        f"{outcome.status.value}, {other.seconds:.2f} s, {more}{ratio:.1f} x"
    )


def in_own_process(function: Callable[..., T], *arguments: object) -> T:
    """The result of a call in a new process: not forked, so that it starts small."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(function, *arguments).result()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("case", nargs="*", help=f"default: all of {', '.join(CASES)}".replace("%", "%%"))
    parser.add_argument("--limit", type=float, default=TEN_MINUTES, help="wall seconds per case")
    parser.add_argument("--bare", type=float, default=30.0, help="wall seconds for HiGHS on the first model")
    parser.add_argument("--audit", action="store_true", help="audit, certify and verify every release")
    parser.add_argument("--data", type=Path, default=Path("../shared"), help="folder of the public tables")
    options = parser.parse_args()
    if unknown := [name for name in options.case if name not in CASES]:
        parser.error(f"no case {', '.join(unknown)}: choose from {', '.join(CASES)}")
    effort = Effort(options.limit, options.bare, options.audit, options.data)
    wrong = met = asked = 0
    in_own_process(warm_up)  # compiles what is not compiled yet, which takes memory that no case should show
    print(HEADER)
    for name in options.case or CASES:
        source = CASES[name].source
        if isinstance(source, File) and not (effort.data / source.path).is_file():
            print(f"{name:18} left out: {effort.data / source.path} is not there")
            continue
        result = in_own_process(measured, name, effort)
        print("\n  ".join([line(name, result, effort.limit), *remarks(name, result)]), flush=True)
        asked += 1
        met += "met" in CASES[name].must.judged(result.outcome, result.seconds, effort.limit)
        wrong += contradicted(name, result) or "NOT SAFE" in result.audited
    print(f"{met} of {asked} as fast as they must be; {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
