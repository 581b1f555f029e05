"""How soon a cancel is heard, and how long other threads of the same process wait meanwhile.

    python benchmarks/cancel.py [WORK ...] [--table TABLE ...] [--after 2] [--audit]

Every method with its default options (adjustment in every norm), the audit and the deduction of all intervals
(both of a release that tells every cell to within 20), on three tables with a few percent of sensitive cells.
Each runs in a thread of a process of its own, is cancelled after ``--after`` seconds and then waited for.
*Heard* is the time from the cancel to the end, *stall* the longest that another thread, which sleeps 5 ms at
a time, overslept: what a web server in the same process would feel. Kernels are compiled and libraries loaded
before the clock starts.

``--audit`` audits what is kept, without a limit. The machine should be idle.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from tacita import generate
from tacita.auditing.audit import Audit, audit
from tacita.auditing.deduce import Deduction, deduce
from tacita.core.errors import TacitaError
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.methods import make_method, method_names
from tacita.problem.problem import Problem

TABLES = {
    "flat": ((150, 150), (1, 1)),
    "trees": ((82, 82), (3, 3)),
    "cube": ((14, 14, 10), (2, 2, 1)),
}
"""Leaf codes and levels per dimension."""
WORK = (
    *method_names(),
    "adjustment norm=l2",
    "adjustment norm=huber",
    "adjustment norm=linf",
    "audit",
    "deduce",
)
SENSITIVE = 0.03
RADIUS = 20
WANTED = 2.0
"""Seconds within which a cancel should be heard."""
NAP = 0.005


@dataclass(frozen=True)
class Heard:
    """What one piece of work did; ``after`` is None where it had ended before the cancel."""

    cells: int
    seconds: float
    after: float | None
    stall: float
    result: str
    audited: str

    def __str__(self) -> str:
        heard = "-" if self.after is None else f"{self.after:.2f}"
        told = f"{self.cells:8,} {self.seconds:8.2f} {heard:>8} {self.stall:8.2f}  {self.result}"
        return f"{told}; {self.audited}" if self.audited else told


def table_problem(table: str) -> Problem:
    """A table of the test problems' family; all leaf cells are equally likely to be sensitive."""
    shape, hierarchy = TABLES[table]
    return generate.problem(shape, "fs", sensitive=SENSITIVE, pattern="uniform", hierarchy=hierarchy, seed=1)


def work(name: str, problem: Problem) -> Callable[[Run], Release | Audit | Deduction]:
    """What is to be done, given a run."""
    method, *options = name.split()
    if method in method_names():
        made = make_method(method, dict(option.split("=") for option in options))
        return lambda run: made.protect(problem, run)
    # A window around every cell: as hard as it gets.
    table = problem.table
    release = Release.rounded(table, table.units, np.full(len(table), RADIUS * table.unit))
    if name == "audit":
        return lambda run: audit(problem, release, run)
    return lambda run: deduce(problem, release, run=run)


def warm_up(name: str) -> None:
    """Load and compile what the work needs, on small tables that are large enough for kernels."""
    for shape, limit in (((52, 52), 60.0), ((12, 12, 18), 3.0)):
        small = generate.problem(shape, "fs", sensitive=10)
        with contextlib.suppress(TacitaError):
            work(name, small)(Run(time_limit=limit))


def in_words(ended: Release | Audit | Deduction | TacitaError) -> str:
    if isinstance(ended, TacitaError):
        return f"{type(ended).__name__}: {str(ended)[:70]}"
    if isinstance(ended, Audit):
        return ended.verdict
    if isinstance(ended, Deduction):
        return f"{np.isnan(ended.low).sum():,} of {len(ended):,} intervals not known"
    outcome = ended.outcome
    assert outcome is not None
    return f"{outcome.status.value}, loss {outcome.loss:,.0f}, bound {outcome.bound:,.0f}"


def measured(name: str, table: str, after: float, audited: bool) -> Heard:
    """One piece of work in a thread of this process, cancelled after some seconds."""
    warm_up(name)
    problem, run = table_problem(table), Run()
    task = work(name, problem)
    ended: list[Release | Audit | Deduction | TacitaError] = []

    def carry_out() -> None:
        try:
            ended.append(task(run))
        except TacitaError as error:
            ended.append(error)

    thread = threading.Thread(target=carry_out)
    started = looked = time.perf_counter()
    thread.start()
    stall, cancelled = 0.0, None
    while thread.is_alive():
        time.sleep(NAP)
        now = time.perf_counter()
        stall, looked = max(stall, now - looked - NAP), now
        if cancelled is None and now - started >= after and thread.is_alive():
            cancelled = now
            run.cancel()
    now = time.perf_counter()
    verdict = ""
    if audited and isinstance(ended[0], Release):
        verdict = audit(problem, ended[0]).verdict
    waited = None if cancelled is None else now - cancelled
    return Heard(len(problem.table), now - started, waited, stall, in_words(ended[0]), verdict)


def in_own_process(name: str, table: str, after: float, audited: bool) -> Heard:
    """Not forked, so that no thread or library is inherited half-way."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(measured, name, table, after, audited).result()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("work", nargs="*", help=f"default: {', '.join(WORK)}")
    parser.add_argument("--table", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--after", type=float, default=2.0, help="seconds until the cancel")
    parser.add_argument("--audit", action="store_true", help="audit every release that is kept")
    options = parser.parse_args()
    print(f"{'work':22} {'table':6} {'cells':>8} {'all s':>8} {'heard s':>8} {'stall s':>8}  result")
    late = 0
    for name in options.work or WORK:
        for table in options.table:
            heard = in_own_process(name, table, options.after, options.audit)
            late += heard.after is not None and heard.after > WANTED
            print(f"{name:22} {table:6} {heard}", flush=True)
    print(f"{late} heard later than after {WANTED:g} s")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
