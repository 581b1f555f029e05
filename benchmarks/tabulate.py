"""Tabulation against the bare query: records into a three-dimensional hierarchical cube with counts and the
two largest.

    python benchmarks/tabulate.py [--records 10000000] [--rounds 3]

Bare: DuckDB groups the same file by the same leaf codes with count, sum and the two largest, merging the
records of a respondent first where there are respondents; it makes no totals and checks nothing. Both run in
turn in this process; the best of the rounds counts, in wall and in CPU seconds (of all threads; the fairer of
the two on a busy machine). The target is twice the bare query plus one second. Respondents with records
anywhere are the worst case: four in ten must be merged in every cell above several of their records. Merging
them at the joins of their leaf cells took it from 12.3 to 7.0 CPU seconds (10 million records, two cores).
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import duckdb

from tacita.core.hierarchy import Hierarchy
from tacita.core.tables.table import Table
from tacita.generate import microdata
from tacita.tabulation.tabulate import tabulate

DIMENSIONS = {"region": (96, 3), "industry": (88, 3), "size": (9, 1)}
CODES = ", ".join(DIMENSIONS)
BARE_RECORDS = f"SELECT {CODES}, count(*), sum(value), max(value, 2) FROM '{{file}}' GROUP BY ALL"
BARE_RESPONDENTS = (
    f"SELECT {CODES}, count(*), sum(own), max(own, 2), arg_max(respondent, own, 2) FROM "
    f"(SELECT {CODES}, respondent, sum(value) AS own FROM '{{file}}' GROUP BY ALL) GROUP BY ALL"
)


def write(file: str, records: int, respondents: int, spread: float) -> None:
    """Generate the records, in a process of its own so that its memory does not count."""
    import pyarrow.parquet as pq

    made = microdata(records, DIMENSIONS, respondents=respondents, spread=spread)
    pq.write_table(made.records, file)


def classifications() -> dict[str, Hierarchy]:
    """The classifications that every file of the same seed has."""
    return dict(microdata(1, DIMENSIONS).hierarchies)


def best_of(rounds: int, *runs: Callable[[], object]) -> list[tuple[float, float]]:
    """Shortest wall and CPU seconds of each run, taken in turn."""
    best = [(float("inf"), float("inf"))] * len(runs)
    for _ in range(rounds):
        for i, run in enumerate(runs):
            wall, cpu = time.perf_counter(), time.process_time()
            run()
            best[i] = (
                min(best[i][0], time.perf_counter() - wall),
                min(best[i][1], time.process_time() - cpu),
            )
    return best


def compare(what: str, file: str, bare: str, respondent: str | None, rounds: int) -> None:
    """Print both times side by side."""
    by = classifications()
    tables: list[Table] = []

    def leaf_query() -> None:
        with duckdb.connect() as connection:
            connection.sql(bare.format(file=file)).to_arrow_table()

    def whole() -> None:
        tables[:] = [tabulate(file, by, value="value", respondent=respondent)]

    bare_times, times = best_of(rounds, leaf_query, whole)
    print(f"{what}: {len(tables[0]):,} cells")
    for unit, bare_seconds, seconds in zip(("wall", "CPU"), bare_times, times, strict=True):
        target = 2 * bare_seconds + 1
        print(
            f"  {unit:4s} bare {bare_seconds:6.2f} s   tabulate {seconds:6.2f} s   ratio "
            f"{seconds / bare_seconds:5.2f}   "
            f"target {target:6.2f} s {'met' if seconds <= target else 'MISSED'}"
        )
    print(
        "  peak memory of this process so far "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GB",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    n = options.records
    print(f"{n:,} records")
    cases = [
        ("each record a respondent", BARE_RECORDS, None, n, 0.0),
        ("respondents, 10 % of records away from home", BARE_RESPONDENTS, "respondent", n * 6 // 10, 0.1),
        ("worst case: respondents, every record anywhere", BARE_RESPONDENTS, "respondent", n * 6 // 10, 1.0),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for what, bare, respondent, respondents, spread in cases:
            file = str(Path(folder) / "records.parquet")
            # A pool passes on what goes wrong in its process, also that it was killed.
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
                process.submit(write, file, n, respondents, spread).result()
            compare(what, file, bare, respondent, options.rounds)


if __name__ == "__main__":
    main()
