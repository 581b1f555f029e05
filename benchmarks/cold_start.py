"""From a cold start: the whole command on a 20 x 20 table file, protected, audited, certified and written.

    python benchmarks/cold_start.py [--rounds 3] [--imports]

Each run is a new process of the real command. The first has nothing to lean on: no compiled kernel, and no
compiled module of any package, as after an installation that leaves compiling to the first run. The second
has compiled modules, as ``pip`` leaves them, but still no kernels. The others have both. Wall seconds count;
CPU seconds stand beside them for busy machines. ``--imports`` lists the modules that take longest to import,
with what they import themselves.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tacita.cli import main as tacita

ASKED = 2.0
"""Wall seconds that it must take, also on the first run."""
OTHERS = 0.7
"""Wall seconds that pytauargus takes for its own smallest example: quoted, not measured here."""
LISTED = 25


def cold(table: Path, folder: Path, caches: dict[str, Path], *flags: str) -> str:
    """One run of the command in a new process; what it says on stderr."""
    environment = {**os.environ, **{name: str(path) for name, path in caches.items()}}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, *flags, "-m", "tacita", "protect", str(table), "--out", str(folder), "--json"]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stderr


def timed(table: Path, folder: Path, caches: dict[str, Path]) -> tuple[float, float]:
    """Wall and CPU seconds of one run."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    cold(table, folder, caches)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def report(what: str, wall: float, cpu: float) -> None:
    verdict = "met" if wall <= ASKED else "MISSED"
    print(f"{what:44} {wall:5.2f} s wall {cpu:6.2f} s CPU   must {ASKED:g} s {verdict}")


def list_imports(table: Path, folder: Path, caches: dict[str, Path]) -> None:
    """The modules that take longest, with all that they import."""
    told = cold(table, folder, caches, "-X", "importtime").splitlines()
    rows = [line.removeprefix("import time:").split("|") for line in told if line.count("|") == 2]
    times = [(int(both), int(own), name.strip()) for own, both, name in rows if both.strip().isdigit()]
    print(f"{'with its imports':>18} {'alone':>10}")
    for both, own, name in sorted(times, reverse=True)[:LISTED]:
        print(f"{both / 1e3:15.1f} ms {own / 1e3:7.1f} ms  {name}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--imports", action="store_true", help="list the slowest imports")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        table, results = home / "table.csv", home / "results"
        tacita(["generate", "table", "--shape", "20,20", "--sensitive", "0.05", "--out", str(table)])
        modules, kernels = home / "modules", home / "kernels"
        caches = {"PYTHONPYCACHEPREFIX": modules, "NUMBA_CACHE_DIR": kernels}
        report("first run, nothing compiled", *timed(table, results, caches))
        caches["NUMBA_CACHE_DIR"] = home / "kernels afresh"
        report("first run, modules compiled, kernels not", *timed(table, results, caches))
        for round_ in range(options.rounds):
            report(f"run {round_ + 1}", *timed(table, results, caches))
        print(f"to compare: pytauargus is said to take {OTHERS:g} s for its smallest example")
        if options.imports:
            list_imports(table, results, caches)


if __name__ == "__main__":
    main()
