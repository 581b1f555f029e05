"""Stop a run that writes at every single step that it takes in its folder, and look at what it leaves.

    python tests/faults/every_step.py

Steps are what the system is asked for: files opened for writing, moved, removed, folders made, exchanged. In
the first pass the process ends before step 1, 2, 3, .. as by SIGKILL; in the second every step from there on
is refused, as on a full disk, which must be told in words; the recovery of a stopped run is stopped in the
same way. With ``--stride 3`` only every third step. Prints counts as JSON, and ends with an error at the
first folder that is neither one release nor the other nor marked.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import kills

from tacita.core.errors import TacitaError
from tacita.publication.folders import recover_results
from tacita.publication.results import write_results
from tacita.storage import exchange

kills.FORMATS = ("csv", "html")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
STEPS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.chown", "os.utime", "open"}
STOPPED, REFUSED = 9, 1


def count_steps(folder: Path, at_step: Callable[[int], None]) -> None:
    """Call with the number of every step in a folder, before it is taken; for the rest of the process."""
    number = 0

    def step() -> None:
        nonlocal number
        number += 1
        at_step(number)

    def listen(event: str, arguments: tuple[object, ...]) -> None:
        if event not in STEPS or not str(arguments[0]).startswith(str(folder)):
            return
        flags = arguments[2] if event == "open" else WRITING
        if isinstance(flags, int) and flags & WRITING:
            step()

    exchanging = exchange.exchange

    def exchange_as_step(one: Path, other: Path) -> None:
        step()
        exchanging(one, other)

    exchange.exchange = exchange_as_step
    sys.addaudithook(listen)


def run_until(folder: Path, work: Callable[[], object], last: int, code: int) -> bool:
    """Do the work in a process that ends at a step, or is refused everything from there on; return whether
    it got as far.
    """
    child = os.fork()
    if child:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code not in (0, STOPPED, REFUSED):
            raise kills.WrongError(f"no error in words at step {last}")
        return code != 0
    ended = 0
    try:

        def at_step(number: int) -> None:
            nonlocal ended
            if number >= last:
                ended = code
                if code == STOPPED:
                    os._exit(STOPPED)
                raise OSError(28, "No space left on device")

        count_steps(folder, at_step)
        with suppress(TacitaError):
            work()
    except BaseException as error:
        print(f"step {last}: {type(error).__name__}: {error}", file=sys.stderr)
        ended = 99
    finally:
        os._exit(ended)


def stop_everywhere(cases: kills.Cases, label: str, counts: Counter[str], stride: int) -> None:
    """Stop, and refuse, at the steps of writing; stop the recovery where a folder is left marked."""
    if not cases.exchanging:
        exchange.exchange = kills.unable
    for code, name in ((STOPPED, "stopped"), (REFUSED, "refused")):
        number, gone_on = 1 - stride, True
        while gone_on:
            number += stride
            folder = cases.work / f"{name}-{number}"
            shutil.copytree(cases.template, folder)
            work = partial(write_results, cases.audit_new, folder, kills.FORMATS)
            gone_on = run_until(folder, work, number, code)
            found = kills.check_killed(folder, cases.old, cases.new)
            counts[f"{label}, {name}: {found}"] += gone_on
            if code == STOPPED and "marked" in found:
                stop_recovery(cases, folder, counts, label, stride)
            kills.check_recovered(folder, cases.old, cases.new, any(folder.glob(".tacita-*")))
            shutil.rmtree(folder)


def stop_recovery(cases: kills.Cases, left: Path, counts: Counter[str], label: str, stride: int) -> None:
    """Stop the recovery of a folder at every step: it can be done again."""
    number, gone_on = 1 - stride, True
    while gone_on:
        number += stride
        folder = cases.work / "recovering"
        shutil.copytree(left, folder)
        gone_on = run_until(folder, partial(recover_results, folder), number, STOPPED)
        kills.check_killed(folder, cases.old, cases.new)
        counts[f"{label}, recovery stopped"] += gone_on
        kills.check_recovered(folder, cases.old, cases.new, any(folder.glob(".tacita-*")))
        shutil.rmtree(folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stride", type=int, default=1)
    stride = parser.parse_args().stride
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        for k, (label, exchanging, foreign, first) in enumerate(
            [
                ("first results", True, False, True),
                ("exchanged", True, False, False),
                ("file by file", False, False, False),
                ("with files of the user", True, True, False),
            ]
        ):
            work = Path(name, str(k))
            work.mkdir()
            kept = exchange.exchange
            stop_everywhere(kills.Cases(work, 5, exchanging, foreign, first), label, counts, stride)
            exchange.exchange = kept
    print(json.dumps(counts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
