"""A million cells: built with all totals, rules applied, written. The target is 60 seconds on two cores.

    python benchmarks/million.py [--cells 1000000]

Microdata are tabulated, so that the rules have counts and largest contributions; the release hides the
sensitive cells and is written as CSV and as Parquet. (It is not protected: no method runs here.)
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tacita.core.release import Release
from tacita.generate import microdata
from tacita.problem.problem import Problem
from tacita.publication.release_write import write_release
from tacita.rules import PPercent, Threshold
from tacita.tabulation.tabulate import tabulate

DIMENSIONS = {"region": (400, 4), "industry": (300, 4), "size": (9, 1)}


@contextmanager
def timed(what: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    print(f"  {what:32s} {time.perf_counter() - start:6.2f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", type=int, default=1_000_000, help="at least so many cells")
    cells = parser.parse_args().cells
    records = 4 * cells
    made = microdata(records, DIMENSIONS, respondents=records * 8 // 10)
    start = time.perf_counter()
    with timed("records to table"):
        table = tabulate(made.records, made.hierarchies, "value", "respondent")
    with timed("rules and problem"):
        problem = Problem(table, PPercent(10) | Threshold(3))
    with timed("release"):
        release = Release.suppress(table, problem.sensitive, problem.levels.sensitive)
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("csv", "parquet"):
            with timed(f"written as {suffix}"):
                write_release(release, Path(folder) / f"release.{suffix}", unaudited="for a benchmark only")
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    verdict = "met" if seconds <= 60 and len(table) >= cells else "MISSED"
    print(
        f"{records:,} records, {len(table):,} cells, {len(table.equations):,} equations, "
        f"{len(problem.levels):,} sensitive: {seconds:.1f} s, peak {peak:.1f} GB; target 60 s {verdict}"
    )


if __name__ == "__main__":
    main()
