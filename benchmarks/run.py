"""What ``tacita run`` costs beyond the engines of its tables, and whether it goes on after a crash.

    python benchmarks/run.py [--tables 500] [--shape 6,8] [--workers 2]

Small tables of counts, protected by suppression against a threshold; one project is broken, one is not safe.
*Engines* is the CPU time of the method and of the audit on each problem alone, in a process in which
everything is loaded. *Run* is that of the whole command with all its processes, from the start of Python on.
It may take 1.3 times the engines (the method alone) and 0.02 s for each table. Then a second run is killed
when half of the tables are done, and started again.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tacita import generate
from tacita.auditing.audit import audit
from tacita.core.run import Run
from tacita.formats.table_write import write_table
from tacita.methods import make_method
from tacita.specification.specification import Specification

SHARE, EACH = 1.3, 0.02
PROJECT = '[table]\nfile = "cells.csv"\n\n[rules]\nrule = "threshold(4)"\n'
UNSAFE = '\n[protect]\nmethod = "rounding"\noptions = { base = 2, protected = false }\n'
BROKEN = "\n[protect]\ntime_limit = -1\n"


def write_tables(folder: Path, number: int, shape: tuple[int, ...]) -> None:
    """Write projects with random tables, one of them broken and one not safe."""
    for k in range(number):
        home = folder / f"{k:04}"
        home.mkdir()
        write_table(
            generate.table(shape, "uniform", between=(1, 60), kind="counts", seed=k), home / "cells.csv"
        )
        (home / "project.toml").write_text(PROJECT + {1: BROKEN, 2: UNSAFE}.get(k, ""))


def measure_engines(folder: Path) -> tuple[float, float]:
    """Return the CPU seconds of the method, and of the audit, on all problems that can be posed."""
    search = check = 0.0
    paths = sorted(folder.glob("*/project.toml"))
    for path in [paths[0], *paths]:
        if path.read_text().endswith(BROKEN):
            continue
        specification = Specification.load(path)
        wanted = specification.protect
        problem, method = specification.problem(), make_method(wanted.method or "suppression", wanted.options)
        began = time.process_time()
        release = method.protect(problem, Run())
        between = time.process_time()
        audit(problem, release)
        if path is not paths[0] or search:
            search += between - began
            check += time.process_time() - between
        else:
            # The first one loads and compiles what all use.
            search = 1e-9
    return search, check


def start(folder: Path, workers: int) -> subprocess.Popen[str]:
    """Start the command on all tables of a folder."""
    command = [sys.executable, "-m", "tacita", "run", "*/project.toml", "--workers", str(workers), "--json"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def finish(process: subprocess.Popen[str]) -> tuple[int, dict[str, int], float]:
    """Wait for the command; return its exit code, the numbers of verdicts, and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    shown, _ = process.communicate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    counts = {name: value for name, value in json.loads(shown).items() if isinstance(value, int) and value}
    return process.returncode, counts, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def count_records(folder: Path) -> Counter[str]:
    """Return how often each table was done, by the log."""
    log = folder / "run.jsonl"
    return Counter(json.loads(line)["file"] for line in log.read_text().splitlines() if line.endswith("}"))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tables", type=int, default=500)
    parser.add_argument("--shape", default="6,8")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    shape = tuple(map(int, given.shape.split(",")))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder, given.tables, shape)
        code, counts, seconds = finish(start(folder, given.workers))
        search, check = measure_engines(folder)
        allowed = SHARE * search + EACH * given.tables
        print(f"{given.tables} tables of {given.shape}, {given.workers} workers: exit code {code}, {counts}")
        print(
            f"engines {search:.2f} s and audits {check:.2f} s of CPU; run {seconds:.2f} s, "
            f"allowed {allowed:.2f} s"
        )
        print(
            "within" if seconds <= allowed else "BEYOND",
            f"({(seconds - SHARE * search) / given.tables:.4f} s each)",
        )
        (folder / "run.jsonl").unlink()
        process = start(folder, given.workers)
        while not (folder / "run.jsonl").exists() or sum(count_records(folder).values()) < given.tables // 2:
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        done = count_records(folder)
        code, counts, _ = finish(start(folder, given.workers))
        twice = sum(each > 1 for each in count_records(folder).values())
        print(f"killed after {len(done)}, started again: exit code {code}, {counts}; done twice: {twice}")


if __name__ == "__main__":
    main()
