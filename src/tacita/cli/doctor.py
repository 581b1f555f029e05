"""``tacita doctor``: is everything here that is needed, and does it work?"""

from __future__ import annotations

import os
import platform
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer

from tacita import __version__
from tacita.cli.console import make_console, print_json
from tacita.cli.verb import DONE, ERROR, Output
from tacita.core.errors import InputError

NEEDED = (
    *("numpy", "scipy", "highspy", "pyscipopt", "numba", "duckdb", "narwhals", "pyarrow"),
    *("pydantic", "typer", "rich", "python-calamine", "xlsxwriter"),
)
OPTIONAL = {"nicegui": ("app", "want the web app"), "pandas": ("pandas", "use pandas frames")}
OPTIONAL["polars"] = ("polars", "use polars frames")
OPTIONAL["distributed"] = ("dask", "share work between machines")
"""Optional packages: the extra that brings them, and who needs it."""


@dataclass(frozen=True)
class Check:
    """One thing that was checked: whether it is well, what was seen, and what to do if it is not."""

    name: str
    good: bool
    seen: str
    remedy: str = ""
    needed: bool = True


def run_doctor_command(
    output: Output,
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIR",
            help="A folder of results: undo or finish what an interrupted run has left there.",
        ),
    ] = None,
) -> int:
    """Check this installation: versions, the solver on a small table, temporary files, the web app.

    With DIR, check a folder of results too.
    """
    checks = [
        _check_python(),
        *(_check_package(name, True) for name in NEEDED),
        *(_check_package(name, False) for name in OPTIONAL),
        *_check_plugins(),
    ]
    checks += [
        _attempt("solver", _try_solver),
        _attempt("temporary files", _write_temporary),
        _attempt("web app", _bind_loopback),
        *_check_servers(),
    ]
    if folder is not None:
        checks += _check_folder(folder)
    well = all(check.good for check in checks if check.needed)
    if output.json:
        listed = [_to_json(check) for check in checks]
        print_json({"tacita": __version__, "platform": platform.platform(), "well": well, "checks": listed})
    else:
        _print_checks(checks, well)
    return DONE if well else ERROR


def _to_json(check: Check) -> dict[str, Any]:
    """Return a check of ``tacita doctor`` as JSON; what is optional may be absent and all be ``well``."""
    return {
        "name": check.name,
        "good": check.good,
        "optional": not check.needed,
        "seen": check.seen,
        "remedy": check.remedy,
    }


def _check_python() -> Check:
    version = platform.python_version()
    return Check("python", sys.version_info >= (3, 11), version, "install Python 3.11 or newer")


def _check_package(name: str, needed: bool) -> Check:
    try:
        return Check(name, True, metadata.version(name), needed=needed)
    except metadata.PackageNotFoundError:
        if needed:
            return Check(name, False, "not installed", "pip install tacita")
        extra, who = OPTIONAL[name]
        return Check(name, False, "not installed", f"pip install 'tacita[{extra}]', if you {who}", False)


def _check_plugins() -> list[Check]:
    """Return the checks of ``tacita doctor`` on plug-ins of other packages, none of which is needed."""
    from tacita.formats.columns import find_format_plugins
    from tacita.methods.method import method_plugins
    from tacita.rules.grammar import find_rule_plugins

    return [
        Check(
            f"plug-in {plugin.name}",
            not plugin.fault,
            f"{plugin.group}, of {plugin.package}{plugin.fault and f': {plugin.fault}'}",
            "update or uninstall that package",
            needed=False,
        )
        for plugin in (*method_plugins(), *find_rule_plugins(), *find_format_plugins())
    ]


def _attempt(name: str, attempt: Callable[[], str]) -> Check:
    try:
        return Check(name, True, attempt())
    except Exception as error:
        return Check(name, False, f"{type(error).__name__}: {error}", "reinstall, or report this")


def _try_solver() -> str:
    """Protect, audit and verify a 4x4 table for ``tacita doctor``; return a sentence, or raise."""
    import numpy as np

    from tacita.auditing.audit import audit
    from tacita.auditing.certificate import certify
    from tacita.core.levels import Levels
    from tacita.core.release import Release
    from tacita.core.tables.table import Table
    from tacita.methods import make_method
    from tacita.problem.problem import Problem
    from tacita.verify import verify

    started = time.perf_counter()
    table = Table.from_array(
        [[20, 50, 10, 80], [8, 19, 22, 49], [17, 32, 12, 61], [45, 101, 44, 190]], totals=True
    )
    sensitive = np.zeros(len(table), dtype=bool)
    sensitive[int(np.flatnonzero(table.units == 22)[0])] = True
    problem = Problem(table, Levels.of(sensitive, upper=np.where(sensitive, 3, 0)))
    if audit(problem, Release.suppress(table, sensitive)).counts["exact"] != 1:
        raise RuntimeError("a disclosed cell was not found")
    found = audit(problem, make_method("suppression").protect(problem))
    if not found.safe:
        raise RuntimeError("a small table could not be protected")
    verify(certify(found))
    return f"4x4 table protected, audited and verified in {time.perf_counter() - started:.2f} s"


def _write_temporary() -> str:
    with tempfile.TemporaryFile() as file:
        file.write(b"tacita")
    folder = tempfile.gettempdir()
    space = os.statvfs(folder) if hasattr(os, "statvfs") else None
    room = f", {space.f_bavail * space.f_frsize / 1e9:.1f} GB free" if space else ""
    return f"writable{room}"


def _check_folder(folder: Path) -> list[Check]:
    """Recover a folder from interrupted runs, and return the checks of ``tacita doctor`` on it."""
    from tacita.publication.destination import Destination
    from tacita.publication.folders import recover_results
    from tacita.storage.drafts import list_drafts
    from tacita.storage.switch import MARKER

    if not folder.is_dir():
        return [Check(str(folder), False, "no such folder", "name the folder that results were written to")]
    try:
        done = [Check(str(folder), True, note) for note in recover_results(Destination(folder))]
    except InputError as error:
        return [Check(str(folder), False, str(error), "check the folder")]
    at_work = [Check(str(path), True, "of a run that is at work") for path in list_drafts(folder)]
    marked = [
        Check(str(path), False, "may hold files of two releases", "write the results again, or remove them")
        for path in sorted((*folder.glob(MARKER), *folder.glob(f"*/{MARKER}")))
        if not at_work
    ]
    return [*done, *at_work, *marked] or [Check(str(folder), True, "nothing left by an interrupted run")]


def _check_servers() -> list[Check]:
    """Remove what killed servers of ``tacita app`` left, and return the checks of ``tacita doctor`` on it."""
    from tacita.storage.temporary import list_temporary_folders, remove_dead_folders

    removed = remove_dead_folders()
    return [
        *(Check(str(path), True, "left by a killed tacita app: removed") for path in removed),
        *(Check(str(path), True, "of a tacita app that runs") for path in list_temporary_folders()),
    ]


def _bind_loopback() -> str:
    """Open a local port such as ``tacita app`` needs; return a sentence for ``tacita doctor``, or raise."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()):
        return "reachable from this machine on 127.0.0.1"


def _print_checks(checks: list[Check], well: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=f"tacita {__version__} on {platform.platform()}", title_justify="left", header_style="bold"
    )
    for heading in ("", "what", "seen", "remedy"):
        table.add_column(heading, overflow="fold")
    for check in checks:
        sign = (
            Text("✔", "green") if check.good else Text("✘", "bold red") if check.needed else Text("–", "dim")
        )
        table.add_row(sign, check.name, Text(check.seen), Text("" if check.good else check.remedy))
    console = make_console()
    console.print(table)
    console.print("[bold green]✔ all is well[/]" if well else "[bold red]✘ something is missing[/]")
