"""Kill runs while they write, and look at what they leave.

    python tests/faults/kills.py --count 500 --seed 1

Each case is a folder with the results of one release, in which a child process writes those of another; it is
ended by SIGKILL, SIGTERM or SIGINT at a random moment, a third of the time within the switch. Prints counts
as JSON, and ends with an error at the first folder that is neither one release nor the other nor marked.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import json
import os
import random
import select
import shutil
import signal
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

import tacita as tc
from tacita.publication.folders import recover_results
from tacita.publication.results import write_results
from tacita.storage import exchange, switch
from tacita.storage.signals import raise_on_signals
from tacita.storage.switch import MARKER

PATIENCE = 120
"""Seconds for a run to write its results, on a machine that has more to do."""
FORMATS = ("csv", "xlsx", "html", "parquet")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
FOREIGN = {"publication/mine.txt": "a file of the user\n", "internal/notes.txt": "another one\n"}

State = dict[str, str]


def audits(side: int) -> tuple[tc.Audit, tc.Audit]:
    """Two safe releases of one table of about ``side`` times ``side`` cells."""
    values = np.random.default_rng(side).integers(10, 1000, (side, side))
    table = tc.Table.from_array(values)
    sensitive = np.zeros(len(table), dtype=bool)
    sensitive[[table.find(1, 1), table.find(2, 2)]] = True
    problem = tc.Problem(table, tc.Levels.of(sensitive, upper=np.where(sensitive, 3, 0)))
    found = []
    for other in (3, 4):
        hidden = np.zeros(len(table), dtype=bool)
        hidden[[table.find(i, j) for i in (1, 2, other) for j in (1, 2, other)]] = True
        found.append(tc.audit(problem, tc.Release.suppress(table, hidden)))
    assert all(audit.safe for audit in found)
    return found[0], found[1]


def content(path: Path) -> str:
    """A digest of a file, but for the time at which a workbook was made."""
    if path.suffix != ".xlsx":
        return hashlib.sha256(path.read_bytes()).hexdigest()
    with zipfile.ZipFile(path) as book:
        parts = [name for name in sorted(book.namelist()) if name != "docProps/core.xml"]
        return hashlib.sha256(b"".join(name.encode() + book.read(name) for name in parts)).hexdigest()


def state(folder: Path) -> State:
    """The files in the folders of results, with their contents."""
    places = (folder / "publication", folder / "internal")
    return {
        f"{place.name}/{path.name}": content(path) if path.is_file() else "folder"
        for place in places
        if place.is_dir()
        for path in sorted(place.iterdir())
    }


def part(found: State, place: str) -> State:
    return {name: digest for name, digest in found.items() if name.startswith(f"{place}/")}


class WrongError(AssertionError):
    """A folder is not as it should be."""


def check_killed(folder: Path, old: State, new: State) -> str:
    """What a killed run left: ``old``, ``new`` or ``marked``; an error if it is nothing of these."""
    if strange := [path.name for path in folder.iterdir() if not _known(path)]:
        raise WrongError(f"{folder}: {strange}")
    readable = {
        f"publication/{path.name}" for path in (folder / "publication").glob("*") if path.name != MARKER
    }
    if further := readable - old.keys() - new.keys():
        raise WrongError(f"{folder}: in the publication: {further}")
    for name, text in FOREIGN.items():
        if name in old and (folder / name).read_text() != text:
            raise WrongError(f"{folder}: {name} of the user is lost")
    if (folder / "publication" / MARKER).exists():
        return "publication marked"
    found = state(folder)
    published = part(found, "publication")
    if published not in (part(old, "publication"), part(new, "publication")):
        raise WrongError(f"{folder}: a publication of two releases: {sorted(published)}")
    if (folder / "internal" / MARKER).exists():
        return "internal marked"
    if found not in (old, new):
        raise WrongError(f"{folder}: the verdict is of another release: {sorted(found)}")
    return "old" if found == old else "new"


def _known(path: Path) -> bool:
    return path.name in ("publication", "internal") or path.name.startswith(".tacita-")


def check_recovered(folder: Path, old: State, new: State, left: bool) -> None:
    """The next run tidies up, and says so; all is then of one release."""
    notes = recover_results(folder)
    if left and not notes:
        raise WrongError(f"{folder}: nothing is said of what was left")
    if (found := state(folder)) not in (old, new):
        raise WrongError(f"{folder}: not of one release after recovery: {sorted(found)}")
    if hidden := [path.name for path in folder.iterdir() if path.name.startswith(".")]:
        raise WrongError(f"{folder}: left after recovery: {hidden}")


def fork(work: Callable[[], object], ready: int) -> int:
    """The process that does the work as the command line does it: SIGTERM counts as Ctrl-C."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        faulthandler.dump_traceback_later(PATIENCE - 5)
        begin = switch._begin_switch

        def told(home: Path, prepared: Path) -> bool:
            os.write(ready, b"s")
            return begin(home, prepared)

        switch._begin_switch = told
        os.write(ready, b"b")
        with raise_on_signals():
            work()
        code = 0
    except KeyboardInterrupt:
        pass
    finally:
        os._exit(code)


def unable(*_: Path) -> None:
    raise OSError(38, "not on this system")


class Cases:
    """Folders with the results of one release, and the results of the other that replace them."""

    def __init__(self, work: Path, side: int, exchanging: bool, foreign: bool, first: bool) -> None:
        self.exchanging = exchanging
        self.audit_old, self.audit_new = audits(side)
        self.template, self.work = work / "template", work
        self.template.mkdir()
        foreign_files = FOREIGN if foreign else {}
        for name, text in foreign_files.items():
            (self.template / name).parent.mkdir(exist_ok=True)
            (self.template / name).write_text(text)
        if not first:
            write_results(self.audit_old, self.template, FORMATS)
        self.old = state(self.template)
        shutil.copytree(self.template, work / "after")
        started = time.perf_counter()
        write_results(self.audit_new, work / "after", FORMATS)
        self.seconds = time.perf_counter() - started
        self.new = state(work / "after")
        assert self.old != self.new

    def kill(self, number: int, rng: random.Random) -> tuple[str, str, str]:
        """Kill one run; return the signal, what it hit and what it left."""
        folder = self.work / f"case-{number}"
        shutil.copytree(self.template, folder)
        how = rng.choice(SIGNALS)
        in_switch = rng.random() < 1 / 3
        reading, writing = os.pipe()
        if not self.exchanging:
            exchange.exchange, kept = unable, exchange.exchange
        child = fork(lambda: write_results(self.audit_new, folder, FORMATS), writing)
        if not self.exchanging:
            exchange.exchange = kept
        os.close(writing)
        wait_for(reading, b"s" if in_switch else b"b")
        time.sleep(rng.uniform(0, 0.004) if in_switch else rng.uniform(0, 1.1 * self.seconds))
        # A zombie until it is waited for, so this is never another process.
        os.kill(child, how)
        _, status = os.waitpid(child, 0)
        os.close(reading)
        left = [path.name for path in folder.iterdir() if path.name.startswith(".tacita-")]
        found = check_killed(folder, self.old, self.new)
        check_recovered(folder, self.old, self.new, bool(left))
        shutil.rmtree(folder)
        hit = "switch" if ".tacita-switch" in left else "drafts" if left else "ended before"
        if not left and os.waitstatus_to_exitcode(status) != 0:
            hit = "ended in order"
        return how.name, hit, found


def wait_for(reading: int, sign: bytes) -> None:
    """Until the child has written this, or has ended."""
    while select.select([reading], [], [], PATIENCE)[0]:
        if os.read(reading, 1) in (sign, b""):
            return
    raise WrongError("a run that writes hangs")


def run(count: int, seed: int, sides: tuple[int, ...]) -> Counter[tuple[str, str, str]]:
    """Kill so many runs: small and large results, with and without files of the user, first and later ones,
    on systems that exchange folders and on others.
    """
    rng = random.Random(seed)
    counts: Counter[tuple[str, str, str]] = Counter()
    variants = [(True, False, False), (False, False, False), (True, True, False), (False, False, True)]
    with tempfile.TemporaryDirectory() as name:
        plans = [(side, *variant) for side in sides for variant in variants]
        for k, plan in enumerate(plans):
            work = Path(name, str(k))
            work.mkdir()
            cases = Cases(work, *plan)
            for number in range(k, count, len(plans)):
                counts[cases.kill(number, rng)] += 1
            shutil.rmtree(work)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sides", type=int, nargs="+", default=[5, 145])
    given = parser.parse_args()
    started = time.perf_counter()
    counts = run(given.count, given.seed, tuple(given.sides))
    answer = {
        "kills": sum(counts.values()),
        "seconds": round(time.perf_counter() - started),
        "by signal": total(counts, 0),
        "hit": total(counts, 1),
        "left": total(counts, 2),
    }
    print(json.dumps(answer))
    return 0


def total(counts: Counter[tuple[str, str, str]], which: int) -> dict[str, int]:
    found: Counter[str] = Counter()
    for key, number in counts.items():
        found[key[which]] += number
    return dict(sorted(found.items()))


if __name__ == "__main__":
    sys.exit(main())
