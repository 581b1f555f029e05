"""Recent work: what sessions worked on, kept in a private folder and offered again by a later server.

    STATE/recent/0123456789abcdef.work     one for each table that was opened: the case, and finished runs
    STATE/recent/0123456789abcdef.lock     locked while a session works on it
    STATE/recent/settings.json             whether anything is kept

A project folder cannot hold all of it: rules that are typed by half, or who contributed to a table that was
edited, or whose records are gone. So cases and releases are written as the values they are
(:mod:`tacita.storage.values_file`). No verdict is written: the release of a run is audited anew.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tacita import __version__
from tacita.app.work.exports import drop_passing_files
from tacita.app.work.open_case import Case
from tacita.app.work.workspace import Workspace
from tacita.core.errors import InputError, TacitaError
from tacita.core.release import Release
from tacita.storage.atomic import write_text
from tacita.storage.locks import acquire_lock
from tacita.storage.state_folder import find_state_folder, make_private_folder
from tacita.storage.values_file import read_about, read_values, write_values

MOST_KEPT = 10
"""Works that are kept; of more the oldest go."""
MOST_CELLS = 1_000_000
"""Cells of a table that is kept."""
EVERY = 1.0
"""Seconds between two looks at what sessions do."""
SHARE = 20
"""How many times longer than a write took the next one waits."""


@dataclass(frozen=True, eq=False)
class KeptRun:
    """A finished run: what it was asked for, its secret seed, its release, and whether files for publication
    left the app; but not its verdict.
    """

    number: int
    case: Case
    request: Mapping[str, Any]
    secret: int
    release: Release
    exported: bool = False


@dataclass(frozen=True, eq=False)
class Work:
    """What is kept of one table: the case as it was last, finished runs, and the formats that were ticked."""

    case: Case
    runs: tuple[KeptRun, ...] = ()
    formats: tuple[str, ...] = ()


@dataclass(frozen=True)
class Offer:
    """A kept work as the page Start lists it; ``in_use``: a session of this or another server works on it."""

    key: str
    name: str
    saved: datetime
    cells: int
    dimensions: tuple[str, ...]
    runs: int
    in_use: bool


class RecentWork:
    """The folder of kept works; several servers of one user share it."""

    def __init__(self, state: Path | None = None) -> None:
        self.folder = (state or find_state_folder()) / "recent"

    @property
    def enabled(self) -> bool:
        """Whether the user lets work be kept: yes, unless they said no here or in the terminal."""
        try:
            return bool(json.loads((self.folder / "settings.json").read_text("utf-8"))["keep"])
        except (OSError, ValueError, KeyError, TypeError):
            return True

    def enable(self, keep: bool) -> None:
        """Remember whether work of the user's sessions is to be kept from now on."""
        make_private_folder(self.folder)
        write_text(self.folder / "settings.json", json.dumps({"keep": keep}))

    def list_offers(self) -> list[Offer]:
        """Return the kept works for the page Start, the latest first, without files that cannot be read."""
        found = []
        for path in self._list_files():
            with suppress(TacitaError, OSError, KeyError, ValueError, TypeError):
                about = read_about(path)
                found.append(
                    Offer(
                        path.stem,
                        str(about["name"]),
                        datetime.fromisoformat(about["saved"]),
                        int(about["cells"]),
                        tuple(map(str, about["dimensions"])),
                        int(about["runs"]),
                        self._is_in_use(path.stem),
                    )
                )
        return sorted(found, key=lambda offer: offer.saved, reverse=True)

    def read(self, key: str) -> Work:
        """Return a kept work; :class:`TacitaError` where it is gone or cannot be read."""
        path = self._find(key)
        if not path.is_file():
            raise InputError("this work is no longer kept", remedy="reload the page", options=["reload"])
        work = read_values(path)
        if not isinstance(work, Work):
            raise InputError("this file holds no work", place=path, remedy="remove it")
        return work

    def write(self, work: Work) -> None:
        """Keep the user's work in place of what was kept of it before, and remove the oldest of too many."""
        make_private_folder(self.folder)
        case = work.case
        about = {
            "tacita": __version__,
            "name": case.name,
            "saved": datetime.now(UTC).isoformat(),
            "cells": len(case.table),
            "dimensions": [dimension.name for dimension in case.table.structure.dimensions],
            "runs": len(work.runs),
        }
        write_values(self._find(case.work), about, work)
        for offer in self.list_offers()[MOST_KEPT:]:
            if not offer.in_use:
                self.remove(offer.key)

    def remove(self, key: str) -> None:
        """Remove a kept work of the user."""
        self._find(key).unlink(missing_ok=True)
        if not self._is_in_use(key):
            (self.folder / f"{key}.lock").unlink(missing_ok=True)

    def remove_all(self) -> None:
        """Remove all kept works of the user, also files that cannot be read."""
        for path in self._list_files():
            self.remove(path.stem)

    def lock(self, key: str) -> int | None:
        """Return the lock of a session on its work, to be closed; None where another one works on it."""
        make_private_folder(self.folder)
        return acquire_lock(self.folder / f"{key}.lock")

    def _is_in_use(self, key: str) -> bool:
        if not (self.folder / f"{key}.lock").exists():
            return False
        if (lock := self.lock(key)) is None:
            return True
        os.close(lock)
        return False

    def _find(self, key: str) -> Path:
        if not key.isalnum():
            raise InputError(f"'{key}' is no work")
        return self.folder / f"{key}.work"

    def _list_files(self) -> list[Path]:
        return sorted(self.folder.glob("*.work")) if self.folder.is_dir() else []


def describe_work(workspace: Workspace, case: Case) -> Work:
    """Return what is to be kept of a session's case.

    Raises
    ------
    InputError
        It cannot be kept: too many cells, or decisions that stand in files which go with the session.
    """
    if len(case.table) > MOST_CELLS:
        raise InputError(
            f"tables of more than {MOST_CELLS:,} cells are not kept", remedy="export the project"
        )
    passing = workspace.folder.resolve()

    def without_passing(old: Case) -> Case:
        decided = [each.file for each in old.specification.decisions.given.values() if each.file is not None]
        if any((old.specification.folder / file).resolve().is_relative_to(passing) for file in decided):
            raise InputError(
                "cells are decided in a file that was handed over", remedy="open the project by its path"
            )
        return replace(old, specification=drop_passing_files(old.specification, passing), sheet=None)

    found = [
        (job, job.release)
        for job in list(workspace.jobs)
        if job.state.judged and job.release is not None and job.case.work == case.work
    ]
    # One object each, so that runs of the present case are runs of the present case again.
    known = {id(each): without_passing(each) for each in (case, *(job.case for job, _ in found))}
    runs = tuple(
        KeptRun(job.number, known[id(job.case)], job.request, job.secret, release, job.exported)
        for job, release in found
    )
    return Work(known[id(case)], runs, workspace.formats)


@dataclass
class _Session:
    """What the keeper knows of one workspace."""

    kept: tuple[object, ...] = ()
    not_before: float = 0.0
    locks: dict[str, int] = field(default_factory=dict)


class Keeper:
    """Keeps what sessions work on, from a thread that looks at them."""

    def __init__(self, recent: RecentWork, sessions: Callable[[], Iterable[Workspace]]) -> None:
        self._recent, self._list = recent, sessions
        self._known: dict[Workspace, _Session] = {}
        self._ended = threading.Event()
        self._looking = threading.Lock()
        self._thread = threading.Thread(target=self._go_on, name="tacita-keeper", daemon=True)

    def start(self) -> None:
        """Begin to keep what sessions do."""
        self._thread.start()

    def close(self) -> None:
        """Keep what sessions did last, and let other servers have it."""
        self._ended.set()
        self.look(at_once=True)
        for session in self._known.values():
            for lock in session.locks.values():
                os.close(lock)
        self._known.clear()

    def _go_on(self) -> None:
        while not self._ended.wait(EVERY):
            self.look()

    def look(self, *, at_once: bool = False) -> None:
        """Keep what sessions have done since the last look, unless that was a moment ago."""
        with self._looking:
            for workspace in list(self._list()):
                session = self._known.setdefault(workspace, _Session())
                if at_once or time.monotonic() >= session.not_before:
                    try:
                        self._keep(workspace, session)
                    except Exception as error:
                        workspace.not_kept = str(error)

    def _keep(self, workspace: Workspace, session: _Session) -> None:
        case = workspace.case
        if case is None or not self._recent.enabled:
            for key, lock in session.locks.items():
                os.close(lock)
                self._recent.remove(key)
            session.locks, session.kept, workspace.not_kept = {}, (), ""
            return
        judged = [(job, job.state, job.exported) for job in list(workspace.jobs) if job.state.judged]
        now = (case, workspace.formats, *judged)
        if now == session.kept:
            return
        session.kept = now
        if case.work not in session.locks:
            if (own := self._recent.lock(case.work)) is None:
                raise InputError("another session works on it", remedy="export what you do here")
            session.locks[case.work] = own
        began = time.monotonic()
        self._recent.write(describe_work(workspace, case))
        workspace.not_kept = ""
        session.not_before = time.monotonic() + max(EVERY, SHARE * (time.monotonic() - began))


def restore(workspace: Workspace, work: Work, *, in_use: bool) -> list[str]:
    """Go on with a kept work in a session, and return notes on it: finished runs are audited anew, and what
    another session works on is copied.
    """
    key = Case(work.case.name, work.case.data).work if in_use else work.case.work
    # One object each, so that runs of the present case are runs of the present case again.
    known = {id(each): replace(each, work=key) for each in (work.case, *(run.case for run in work.runs))}
    case = known[id(work.case)]
    workspace.change(case)
    workspace.formats = work.formats
    notes = [f"{case.name} is open again as it was kept. Steps of undo were not kept."]
    if in_use:
        notes.append("Another session works on it too: this one has a copy.")
    for run in work.runs:
        try:
            workspace.resume(run, known[id(run.case)])
        except TacitaError as error:
            notes.append(f"Run {run.number} could not be taken up again: {error}")
    if work.runs:
        notes.append("Verdicts were not kept: the releases of finished runs are audited anew.")
    return notes
