"""One user's work: the case with its undo, the runs, and a folder for files that come and go.

Everything is in memory or in a temporary folder, and gone when the server stops. What is to stay is exported;
the last state of each table is kept as recent work (:mod:`tacita.app.work.recent`), unless the user says no.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from tacita.app.work.job import Job, State
from tacita.app.work.open_case import Case
from tacita.core.errors import InputError
from tacita.specification.specification import Specification

if TYPE_CHECKING:
    from tacita.app.work.inputs import RecordsAlternative, SheetQuestion, UserInput
    from tacita.app.work.recent import KeptRun, RecentWork
    from tacita.app.work.records import RecordsFile
    from tacita.app.work.sharing_runs import JointVerdict

MOST_STEPS = 100
"""How far undo reaches back."""
MOST_NUMBERS = 50_000_000
"""Numbers that undo may hold: where tables are large it reaches less far back."""
NUMBERS_OF_A_CELL = 25
"""Numbers by which a case says where one cell stands, which sums it is in and what the file said of it."""
SIDE_BY_SIDE = 2
"""Runs at the same time; others wait."""


class _WithFiles(Protocol):
    """Something that may have uploaded files in a folder of the session."""

    @property
    def private(self) -> Path | None: ...


T = TypeVar("T", bound=_WithFiles)


class _AtHand(Generic[T]):
    """An attribute of a workspace whose uploaded files are removed when it is replaced."""

    def __set_name__(self, owner: type[Workspace], name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, workspace: Workspace, owner: type[Workspace]) -> T | None:
        kept: T | None = vars(workspace).get(self._name)
        return kept

    def __set__(self, workspace: Workspace, value: T | None) -> None:
        before = self.__get__(workspace, Workspace)
        vars(workspace)[self._name] = value
        workspace.drop(before.private if before is not None else None)


class Workspace:
    """What one session sees; no other session sees it."""

    records: _AtHand[RecordsFile] = _AtHand()
    """Records that are to become a table, with what is chosen of them."""
    sheet_question: _AtHand[SheetQuestion] = _AtHand()
    """A workbook of which one sheet is to be chosen."""
    alternative: _AtHand[RecordsAlternative] = _AtHand()
    """What the rows of the table that was opened last could be as well."""
    refused: _AtHand[UserInput] = _AtHand()
    """What was refused as it is, and can be read in another way by a remedy on the page Start."""

    def __init__(self, recent: RecentWork | None = None) -> None:
        self.recent = recent
        # Why what is done here is not kept as recent work, if it cannot be.
        self.not_kept = ""
        self._folder = tempfile.TemporaryDirectory(prefix="tacita-")
        self._past: list[Case] = []
        self._future: list[Case] = []
        self._numbering = threading.Lock()
        self._threads = ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix="tacita-run")
        self.case: Case | None = None
        self.jobs: list[Job] = []
        # Formats of the release that were ticked for the present table; none: nothing was ticked yet.
        self.formats: tuple[str, ...] = ()
        self._chosen: Job | None = None
        self._picked = False
        self.dark: bool | None = None
        # Whether the page Protect opens the result of a safe run by itself.
        self.opens_result = True
        self.notes: list[str] = []
        # What audits of runs of several tables found, by the runs.
        self.joint_verdicts: dict[frozenset[Job], JointVerdict] = {}
        # The cell that the page Table has its focus on when it is opened next, by its number.
        self.sought: int | None = None

    @property
    def keeps_recent(self) -> bool:
        """Whether what is done in the session is kept for a later one."""
        return self.recent is not None and self.recent.enabled and not self.not_kept

    @property
    def folder(self) -> Path:
        """The session's temporary folder, in which uploads and exports are put together."""
        return Path(self._folder.name)

    def require_case(self) -> Case:
        """Return the session's case; :class:`InputError` where none is open."""
        if self.case is None:
            raise InputError(
                "there is no table yet",
                remedy="open, type or generate one on the page Start",
                options=["start"],
            )
        return self.case

    @property
    def specification(self) -> Specification:
        """The specification of the session's case, with method and formats of the last run of its table."""
        case = self.require_case()
        specification = case.specification
        for job in reversed(self.jobs):
            if job.case.work == case.work:
                specification = specification.replace(protect=job.request)
                return (
                    specification.replace(output={"formats": self.formats}) if self.formats else specification
                )
        return specification

    def open_path(self, path: str | Path) -> None:
        """Open the case of a file in the session; of a workbook of several sheets one is asked for."""
        from tacita.app.work.inputs import SheetQuestion, find_alternative, take_path
        from tacita.app.work.opening import NO_OPTIONS, list_reading_notes

        user_input = take_path(path, NO_OPTIONS)
        if (sheets := user_input.find_sheets()) is not None:
            self.sheet_question = SheetQuestion(user_input, sheets, as_records=False)
            return
        case = user_input.open_table()
        self.change(case)
        self.alternative = find_alternative(user_input, case)
        self.notes = list_reading_notes(case, NO_OPTIONS)

    def clear(self) -> None:
        """Close the session's case, stop its runs and remove its files; nothing is left to go back to."""
        for job in list(self.jobs):
            self.forget(job)
        self.case = None
        self._past, self._future, self.notes = [], [], []
        self.records = self.sheet_question = self.alternative = self.refused = None
        for left in self.folder.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()

    def drop(self, folder: Path | None) -> None:
        """Remove a folder of uploaded files, unless the session is to read something from them still: an
        exported run gets the records that its table was made from, or has the looks of its sheet.
        """
        at_hand: tuple[_WithFiles | None, ...]
        at_hand = (self.records, self.sheet_question, self.alternative, self.refused)
        cases = [case for case in (self.case, *(job.case for job in self.jobs)) if case is not None]
        named = {file.parent for case in cases for file in case.specification.files}
        named |= {case.sheet.path.parent for case in cases if case.sheet is not None}
        if folder is not None and folder not in {*named, *(kept.private for kept in at_hand if kept)}:
            shutil.rmtree(folder, ignore_errors=True)

    def change(self, case: Case) -> None:
        """Make this the session's case: another one, or the present one after something was done to it.

        Undo leads back to the one before; the runs stay, each with its table.
        """
        if self.case is not None:
            self.case.forget_problem()
            self._past = _limit_history([*self._past, self.case])
        self._future = []
        if self.case is None or self.case.work != case.work:
            self.formats = ()
        self._show_case(case)

    def _show_case(self, case: Case) -> None:
        """Make this the session's case. Of another table the newest run is shown, not the one chosen
        before.
        """
        if self.case is None or self.case.work != case.work:
            self._chosen, self._picked = None, False
        self.case = case

    @property
    def works(self) -> frozenset[str]:
        """The names of what was opened in this session, as far as undo or a run leads back to it."""
        return frozenset(case.work for case in self.tables)

    @property
    def tables(self) -> list[Case]:
        """The tables of the session, as far as undo or a run leads back to them, each as it was last."""
        found = {job.case.work: job.case for job in self.jobs} | self._find_last_states()
        return list(found.values())

    def _find_last_states(self) -> dict[str, Case]:
        """Return the last state of each table that undo, or else redo, leads to, by its name."""
        present = [] if self.case is None else [self.case]
        return {case.work: case for case in [*reversed(self._future), *self._past, *present]}

    def switch(self, work: str) -> None:
        """Open another table of the session as it was last; Undo leads back to the present one."""
        case = next((case for case in self.tables if case.work == work), None)
        if case is None:
            raise InputError("this table is no longer open", remedy="reload the page", options=["reload"])
        self.change(case)

    @property
    def can_undo(self) -> bool:
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        return bool(self._future)

    def undo(self) -> None:
        """Go back to the session's case before the last change."""
        if self.case is not None and self._past:
            self._future.append(self.case)
            self._show_case(self._past.pop())

    def redo(self) -> None:
        """Go forward again to the session's next case, after an undo."""
        if self.case is not None and self._future:
            self._past.append(self.case)
            self._show_case(self._future.pop())

    def start(
        self,
        method: str,
        options: Mapping[str, Any],
        *,
        time_limit: float | None = None,
        gap: float | None = None,
        seed: int | None = None,
    ) -> Job:
        """Return a new run on the session's case, begun in the background; options are checked at once."""
        effort: dict[str, Any] = {"time_limit": time_limit, "gap": gap, "seed": seed}
        return self._begin(lambda number: Job(number, self.require_case(), method, options, **effort))

    def resume(self, kept: KeptRun, case: Case) -> Job:
        """Return a run that an earlier session finished, with its number; its release is audited anew."""
        return self._begin(
            lambda _: Job(
                kept.number,
                case,
                **kept.request,
                secret=kept.secret,
                found=kept.release,
                exported=kept.exported,
            )
        )

    def _begin(self, make: Callable[[int], Job]) -> Job:
        # Two clicks may come in two threads: no two runs of a table have the same number.
        with self._numbering:
            job = make(1 + max((job.number for job in self.runs_of_table), default=0))
            self.jobs.append(job)
        self._chosen, self._picked = job, False
        self._threads.submit(job.carry_out)
        return job

    def count_other_draws(self, job: Job) -> int:
        """Return how many of the session's runs drew other numbers at random for this run's table; 0 if it
        drew none.
        """
        if job.used_seed is None:
            return 0
        return sum(
            other.used_seed not in (None, job.used_seed) and _have_same_values(other, job)
            for other in self.jobs
        )

    def forget(self, job: Job) -> None:
        """Stop a run of the session and drop what it found, unless another window did so before."""
        job.abandon()
        with self._numbering:
            if job in self.jobs:
                self.jobs.remove(job)
        for runs in [runs for runs in self.joint_verdicts if job in runs]:
            del self.joint_verdicts[runs]
        if self._chosen is job:
            self._chosen = None

    @property
    def runs_of_table(self) -> list[Job]:
        """The session's runs of the open table, in whatever state it was then; none where none is open."""
        return [job for job in self.jobs if self.case is not None and job.case.work == self.case.work]

    @property
    def runs_of_others(self) -> list[Job]:
        """The session's runs of tables that were opened before the present one, or after it."""
        return [job for job in self.jobs if self.case is None or job.case.work != self.case.work]

    @property
    def chosen(self) -> Job | None:
        """The run that pages show: the one chosen last while this table is open, or the newest of it."""
        return self._chosen or next(reversed(self.runs_of_table), None)

    @property
    def proposed(self) -> Job | None:
        """The run that the page Export begins with: the one that the user picked; else the newest of the
        present case that is safe, or the newest where none is.
        """
        if self._picked and self._chosen is not None:
            return self._chosen
        safe = [job for job in self.jobs if job.state is State.SAFE and job.case is self.case]
        return safe[-1] if safe else self.chosen

    def is_outdated(self, job: Job) -> bool:
        """Return whether the user has changed the table of a run, or what is specified of it, since the run.

        Of a table that is not open the last state counts that undo, or else redo, leads to.
        """
        return self._find_last_states().get(job.case.work) is not job.case

    def choose(self, job: Job) -> None:
        """Let the pages of the session show a run.

        Raises
        ------
        InputError
            Another window has removed it.
        """
        if job not in self.jobs:
            raise InputError(
                f"run {job.number} was removed in another window",
                remedy="choose another one",
                options=["reload"],
            )
        self._chosen, self._picked = job, True

    def find_job(self, key: str) -> Job | None:
        """Return a run of the session by its key; None where there is none."""
        return next((job for job in self.jobs if job.key == key), None)

    def close(self) -> None:
        """Stop all runs of the session and remove its folder."""
        for job in self.jobs:
            job.abandon()
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._folder.cleanup()


def _have_same_values(one: Job, other: Job) -> bool:
    """Return whether two runs of the session protected the same cells with the same values."""
    table, others = one.problem.table, other.problem.table
    return table.structure.same_cells(others.structure) and np.array_equal(table.units, others.units)


def _limit_history(cases: Sequence[Case]) -> list[Case]:
    """Return the latest of the session's cases, as many as undo may hold; the last one always stays."""
    kept = list(cases[-MOST_STEPS:])
    while len(kept) > 1 and _count_numbers(kept) > MOST_NUMBERS:
        del kept[0]
    return kept


def _count_numbers(cases: Sequence[Case]) -> int:
    """Return about how many numbers the cases kept for undo hold; what they share counts once."""
    tables = {id(case.table): case.table for case in cases}.values()
    structures = {id(table.structure): table.structure for table in tables}.values()
    return sum(map(len, tables)) + NUMBERS_OF_A_CELL * sum(map(len, structures))
