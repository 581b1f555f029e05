"""A batch of tau-ARGUS as a job of ``tacita run``: all its tables, one command after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacita.cli.jobs.job import Job, JobOptions, JobResult, Verdict
from tacita.cli.jobs.shared_cells import Subject
from tacita.core.outcome import read_gap
from tacita.core.run import Run

if TYPE_CHECKING:
    from tacita.batch.results import BatchResult
    from tacita.formats.argus.batch import Batch


@dataclass(frozen=True)
class BatchJob:
    """A batch whose tables are read, protected, audited and written."""

    path: Path
    batch: Batch
    options: JobOptions

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where its files are looked for."""
        from tacita.batch.files import list_folders

        return list_folders(self.path, self.options.data)

    @property
    def reads(self) -> tuple[Path, ...]:
        from tacita.batch.files import list_inputs

        return (self.path, *list_inputs(self.batch, self.folders))

    @property
    def writes(self) -> tuple[Path, ...]:
        from tacita.batch.files import list_outputs

        return list_outputs(self.batch)

    @property
    def reads_only_files(self) -> bool:
        return True

    @property
    def subjects(self) -> tuple[Subject, ...]:
        from tacita.batch.files import list_tables

        return tuple(
            Subject(str(data.resolve()), "" if table.response is None else table.response.casefold())
            for data, table in list_tables(self.batch, self.folders)
        )

    @property
    def specification(self) -> None:
        return None

    def carry_out(self, run: Run) -> JobResult:
        from tacita.batch.run_batch import run_batch

        limited = replace(run, gap=read_gap(self.options.gap or 0.0))
        done = run_batch(
            self.path, limited, data_folder=self.options.data, time_limit=self.options.time_limit
        )
        wrong = (*done.refused, *done.errors)
        verdict = Verdict.UNSAFE if done.refused else Verdict.FAILED if done.errors else Verdict.SAFE
        return JobResult(
            verdict,
            _build_record(done),
            done.written,
            wrong[0] if wrong else None,
            (*wrong[1:], *done.warnings),
            remarks=done.remarks,
            stopped=run.cancelled,
        )


def _build_record(done: BatchResult) -> dict[str, Any]:
    """Return what the log records of a batch: its tables together, and each of them."""
    sums = {name: sum(table[name] for table in done.tables) for name in ("cells", "sensitive", "changed")}
    fault = None
    if done.refused:
        fault = "A table is not proven safe, and was not written."
    elif done.errors:
        fault = "A command of the batch failed."
    return {
        "method": ", ".join(dict.fromkeys(table["method"] for table in done.tables)),
        **sums,
        "fault": fault,
        "batch": [dict(table) for table in done.tables],
        "remarks": list(done.remarks),
        "refused": list(done.refused),
        "errors": list(done.errors),
    }


def read_jobs(path: Path, options: JobOptions) -> list[Job]:
    """Return the one job of a batch file."""
    from tacita.formats.argus.batch_file import read_batch

    return [BatchJob(path, read_batch(path), options)]
