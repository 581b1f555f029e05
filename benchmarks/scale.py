"""Methods on large tables: when there is a first safe release, how good it becomes, and what is proven.

    python benchmarks/scale.py [CASE ...] [--limit 600] [--data ../shared] [--no-audit]

Every case runs in a process of its own, so that its memory is its own. Libraries and compiled kernels are
loaded before the clock starts; the clock counts CPU seconds of all threads, and so does the limit: a busy
machine makes a case take longer, not worse. (Limits that solvers keep by themselves stay wall time.) *First*
is the time to the first protected release, *loss* what is hidden besides the sensitive cells (for other
methods than suppression the loss), and *gap* the share of the full loss that is not proven to be needed.
Every release is audited in full unless ``--no-audit`` is given.

Cases from microdata are tabulated here; public ones come from the folder ``--data``, and are named and left
out where their file is not there.
"""

from __future__ import annotations

import argparse
import gzip
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

import tacita as tc
from tacita import generate
from tacita.methods.method import Method

RULE = "p-percent(15)"
SUPPRESSION = tc.Suppression()


@dataclass(frozen=True)
class File:
    """A JJ file below the data folder, packed or not."""

    path: str

    def problem(self, data: Path) -> tc.Problem | None:
        """The problem of the file; None if it is not there."""
        plain, packed = data / self.path, data / f"{self.path}.gz"
        if plain.exists():
            return _stated(plain)
        if not packed.exists():
            return None
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / plain.name
            copy.write_bytes(gzip.decompress(packed.read_bytes()))
            return _stated(copy)


@dataclass(frozen=True)
class Records:
    """A table of generated microdata: as many records, by dimensions of so many codes and levels."""

    records: int
    dimensions: Mapping[str, tuple[int, int]]
    attackers: str | None = "outsider"
    rule: str = RULE

    def problem(self, data: Path) -> tc.Problem:
        """The problem against an outsider, or against everyone in the records."""
        made = generate.microdata(self.records, self.dimensions, respondents=self.records)
        table = tc.tabulate(
            made.records, made.hierarchies, value="value", respondent="respondent", decimals=0
        )
        if self.attackers is None:
            return tc.Problem(table, self.rule)
        return tc.Problem(table, self.rule, attackers=self.attackers)


@dataclass(frozen=True)
class PublicRecords:
    """A table of the microdata in a folder below the data folder, a respondent per record."""

    folder: str

    def problem(self, data: Path) -> tc.Problem | None:
        """The problem against everyone in the records; None if they are not there."""
        folder = data / self.folder
        if not (folder / "microdata.csv.gz").exists():
            return None
        records = pd.read_csv(folder / "microdata.csv.gz").reset_index(names="respondent")
        trees = {}
        for number in (1, 2, 3):
            codes = pd.read_csv(folder / f"dim{number}.csv", keep_default_na=False)
            trees[f"d{number}"] = tc.Hierarchy.from_frame(codes, child="code")
        table = tc.tabulate(records, trees, value="value", respondent="respondent", decimals=0)
        return tc.Problem(table, RULE)


@dataclass(frozen=True)
class Generated:
    """A generated table with hierarchies."""

    shape: tuple[int, ...]
    sensitive: float
    hierarchy: tuple[int, ...]
    family: str = "logn"
    protection: float | None = None
    pattern: str | None = None

    def problem(self, data: Path) -> tc.Problem:
        """The problem against an outsider."""
        return generate.problem(
            self.shape,
            self.family,
            sensitive=self.sensitive,
            hierarchy=self.hierarchy,
            protection=self.protection,
            pattern=self.pattern,
        )


@dataclass(frozen=True)
class Case:
    """Where the table comes from, the CPU seconds by which there must be a first release, and the method."""

    source: File | Records | PublicRecords | Generated
    first: float
    method: Method = SUPPRESSION


HIERARCHICAL = Generated((18, 12, 12), 0.05, (2, 2, 2))
COUNTS = Generated((24, 16, 8), 0.05, (2, 2, 1), "health", 100.0, "smallest")
CASES = {
    "m5k_p": Case(File("cases/m5k_p/case.jj"), 10),
    "industry x region x size": Case(
        Records(72_000, {"region": (54, 3), "industry": (76, 3), "size": (3, 1)}), 60
    ),
    "m50k_p": Case(File("cases/m50k_p/case.jj"), 180),
    "1,800 attackers": Case(
        Records(7_000, {"region": (30, 3), "industry": (40, 3), "size": (3, 1)}, None), 40
    ),
    "m5k_p with its respondents": Case(PublicRecords("cases/m5k_p"), 40),
    "300,000 cells": Case(Generated((90, 70, 30), 0.55, (3, 3, 2)), 900),
    "1,000,000 cells": Case(Generated((1000, 800), 0.01, (3, 3)), 600),
    "hier13x13x13a": Case(File("data/jj/hier13x13x13a.jj"), 5),
    "10x10x10 2 %": Case(Generated((10, 10, 10), 0.02, (1, 1, 1)), 5),
    "rounding": Case(COUNTS, 10, tc.Rounding(base=5)),
    "intervals": Case(HIERARCHICAL, 20, tc.Intervals(ends="exact")),
    "perturbation": Case(HIERARCHICAL, 20, tc.Perturbation()),
    "mixture": Case(HIERARCHICAL, 20, tc.Mixture()),
}


@dataclass(frozen=True)
class Result:
    """What one case gave."""

    cells: int
    sensitive: int
    first: float | None
    seconds: float
    outcome: tc.Outcome | None
    primary: float
    gigabytes: float
    verdict: str


def _stated(path: Path) -> tc.Problem:
    problem = tc.read_case(path)
    assert isinstance(problem, tc.Problem)
    return problem


def measured(case: Case, limit: float, data: Path, audited: bool) -> Result | None:
    """One case, in this process; None without its file."""
    problem = case.source.problem(data)
    if problem is None:
        return None
    warm_up()
    # Runs read this clock for their limit and for the shares of it that their phases get.
    time.monotonic = time.process_time
    first: list[float] = []

    def hear(event: tc.Event) -> None:
        if event.incumbent is not None and not first:
            first.append(time.process_time() - start)

    start = time.process_time()
    method = case.method
    release = _attempt(lambda: method.protect(problem, tc.Run(time_limit=limit, listener=hear)))
    seconds = time.process_time() - start
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    verdict = "" if release is None or not audited else tc.audit(problem, release).verdict
    return Result(
        len(problem.table),
        len(problem.levels),
        first[0] if first else (seconds if release is not None else None),
        seconds,
        None if release is None else release.outcome,
        float(problem.cost[problem.levels.sensitive].sum()) if isinstance(method, tc.Suppression) else 0.0,
        gigabytes,
        verdict,
    )


def _attempt(protect: Callable[[], tc.Release]) -> tc.Release | None:
    try:
        return protect()
    except tc.StoppedError:
        return None


def warm_up() -> None:
    """Load libraries and compiled kernels, by a small table that is taken for a large one."""
    from tacita.engine.search import solve_model

    before, solve_model.LARGE = solve_model.LARGE, 0
    for method in (tc.Suppression(), tc.Intervals()):
        method.protect(generate.problem((4, 4, 4), "logn", sensitive=3))
    solve_model.LARGE = before


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("case", nargs="*", help=f"default: all of {', '.join(CASES)}".replace("%", "%%"))
    parser.add_argument("--limit", type=float, default=600.0, help="CPU seconds per case")
    parser.add_argument("--data", type=Path, default=Path("../shared"), help="folder of the public tables")
    parser.add_argument("--no-audit", action="store_true", help="leave out the audits")
    options = parser.parse_args()
    print(
        f"{'case':26s} {'cells':>9s} {'sensitive':>9s} {'first s':>8s} {'must':>5s} {'CPU s':>7s} "
        f"{'others hidden':>14s} {'gap':>6s} {'GB':>5s}  verdict"
    )
    for name in options.case or CASES:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
            work = process.submit(measured, CASES[name], options.limit, options.data, not options.no_audit)
            found = work.result()
        if found is None:
            print(f"{name:26s} left out: no file below {options.data}")
            continue
        first = "-" if found.first is None else f"{found.first:.1f}"
        outcome = found.outcome
        others = "-" if outcome is None else f"{outcome.loss - found.primary:,.0f}"
        gap = "-" if outcome is None else f"{outcome.gap:.1%}"
        print(
            f"{name:26s} {found.cells:9,d} {found.sensitive:9,d} {first:>8s} {CASES[name].first:5.0f} "
            f"{found.seconds:7.1f} {others:>14s} {gap:>6s} {found.gigabytes:5.2f}  {found.verdict}",
            flush=True,
        )


if __name__ == "__main__":
    main()
