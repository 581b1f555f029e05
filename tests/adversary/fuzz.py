"""Long runs of the adversary on several processes: `make fuzz MINUTES=60`.

Seeds are new each time and printed. Each is one case, to be played again with `judge.py --seed`. Exit code 1
if anything was found besides slow runs; all findings go to a file, too.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import secrets
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from time import monotonic

from judge import FAULT, Finding, Report, play

CHUNK = 10
"""Cases per task."""
EVERY = 60.0
"""Seconds between two tables."""
COLUMNS = (
    "tried",
    "refused",
    "releases",
    "safe",
    "unsafe",
    "certificates",
    "optima",
    "false safe",
    "false unsafe",
)


def play_all(seeds: range) -> Report:
    """The records of several cases as one."""
    report = Report()
    for seed in seeds:
        report.add(play(seed))
    return report


def fuzz(first: int, minutes: float, releases: int, processes: int, file: Path) -> Report:
    """Play cases from a first seed on until the time is over or so many releases are judged."""
    total, started, shown = Report(), monotonic(), monotonic()
    chunks = iter(range(first, first + 2**40, CHUNK))

    def over() -> bool:
        enough = releases and judged(total.counts) >= releases
        return bool(enough) or monotonic() - started > 60 * minutes

    while not over():
        running: dict[Future[Report], range] = {}
        # A fresh context: a solver that takes its process down must not take this one.
        with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
            try:
                while running or not over():
                    while len(running) < 2 * processes and not over():
                        start = next(chunks)
                        running[pool.submit(play_all, range(start, start + CHUNK))] = range(
                            start, start + CHUNK
                        )
                    done, _ = wait(running, timeout=5, return_when=FIRST_COMPLETED)
                    for future in done:
                        report = future.result()
                        del running[future]
                        total.add(report)
                        _note(report.findings, file)
                    if monotonic() - shown > EVERY:
                        shown = monotonic()
                        print(*lines(total, monotonic() - started), sep="\n", flush=True)
            except BrokenProcessPool:
                lost = [
                    Finding(FAULT, seeds[0], f"seeds {seeds[0]} to {seeds[-1]}", "a process died")
                    for seeds in running.values()
                ]
                total.findings += lost
                _note(lost, file)
    return total


def judged(counts: Counter[tuple[str, str]]) -> int:
    """How many releases were judged."""
    return sum(number for (_, column), number in counts.items() if column == "releases")


def lines(report: Report, seconds: float) -> Iterator[str]:
    """What was tried and found, as a table."""
    counts: Counter[tuple[str, str]] = Counter()
    for (row, column), number in report.counts.items():
        counts[row, column.split(":")[0]] += number
    rows = sorted({row for row, column in counts if column == "releases"})
    yield f"\n{'':24}" + "".join(f"{column:>14}" for column in COLUMNS)
    for row in rows:
        yield f"{row:24}" + "".join(f"{counts[row, column]:14,}" for column in COLUMNS)
    yield f"{'all':24}" + "".join(f"{sum(counts[row, c] for row in rows):14,}" for c in COLUMNS)
    for group in ("table", "numbers", "attackers"):
        kinds = [
            f"{row.removeprefix(group).strip()} {n:,}"
            for (row, _), n in sorted(counts.items())
            if row.startswith(f"{group} ")
        ]
        yield f"cases by {group}: {', '.join(kinds)}"
    yield (
        f"{counts['cases', 'tried']:,} cases, {judged(report.counts):,} releases, "
        f"{counts['pairs', 'refereed']:,} pairs of cell and attacker refereed, "
        f"{counts['levels', 'evaluated']:,} levels evaluated, {seconds / 60:.1f} minutes"
    )
    found = Counter(finding.what for finding in report.findings)
    yield "found: " + (", ".join(f"{number} {what}" for what, number in sorted(found.items())) or "nothing")


def _note(findings: list[Finding], file: Path) -> None:
    if findings:
        with file.open("a", encoding="utf-8") as out:
            out.writelines(f"{finding}\n" for finding in findings)
        for finding in findings:
            print(finding, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument(
        "--releases", type=int, default=0, help="stop after so many; 0: when the time is over"
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=None, help="first seed; a new one by default")
    parser.add_argument("--findings", type=Path, default=Path("build/adversary-findings.txt"))
    asked = parser.parse_args()
    first = secrets.randbelow(2**40) * 1000 if asked.seed is None else asked.seed
    asked.findings.parent.mkdir(parents=True, exist_ok=True)
    asked.findings.write_text("", encoding="utf-8")
    print(f"first seed {first}; findings go to {asked.findings}", flush=True)
    # One thread per process: the programs are tiny, and more threads only get in each other's way.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    start = monotonic()
    total = fuzz(first, asked.minutes, asked.releases, asked.processes, asked.findings)
    print(*lines(total, monotonic() - start), sep="\n")
    return 1 if any(finding.what != "slow" for finding in total.findings) else 0


if __name__ == "__main__":
    sys.exit(main())
