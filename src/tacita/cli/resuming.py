"""The checkpoint of ``tacita protect``: which file, what was left in it, and the messages about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tacita.cli.console import print_notes, print_warnings
from tacita.core.errors import InputError
from tacita.core.words import format_number

if TYPE_CHECKING:
    from tacita.core.release import Release
    from tacita.methods import Method
    from tacita.problem.problem import Problem

CHECKPOINT = "tacita.checkpoint"
"""The file in the folder of results, unless the user names another."""


def choose_checkpoint(
    given: Path | None, folder: Path | None, method: Method, problem: Problem
) -> Path | None:
    """Return the checkpoint that a command keeps, or None: the given one, or one beside its results.

    A given file of another problem is refused. One beside the results is ignored with a warning, as it is
    where nobody asked for it.

    Raises
    ------
    InputError
        The method keeps none, or the command cannot go on from the given file.
    """
    from tacita.methods.resumption import find_checkpoint_fault, is_resumable

    if not is_resumable(method):
        if given is None:
            return None
        fault = f"method '{method.name}' keeps no checkpoint"
        raise InputError(fault, place="--checkpoint", remedy="leave it out, or use another method")
    path = given or (None if folder is None else folder / CHECKPOINT)
    if path is None or not path.exists():
        return path
    fault_of_file = find_checkpoint_fault(path, method, problem)
    if fault_of_file is None:
        print_notes(f"going on from {path}, which an earlier run left")
    elif given is not None:
        raise fault_of_file
    else:
        print_warnings(f"{path}: {fault_of_file.fault}; the run begins anew and replaces it")
        with suppress(OSError):
            path.unlink()
        return None if path.exists() else path
    return path


@contextmanager
def make_folder(checkpoint: Path | None, folder: Path | None) -> Iterator[None]:
    """Make the folder of results for the checkpoint in it; remove it again if it is empty after the block."""
    if checkpoint is None or folder is None or checkpoint.parent != folder or folder.is_dir():
        yield
        return
    # Whoever writes results reports what is wrong with the folder.
    with suppress(OSError):
        folder.mkdir(parents=True)
    try:
        yield
    finally:
        with suppress(OSError):
            folder.rmdir()


def describe_stop(release: Release, checkpoint: Path | None) -> str:
    """Return what a run that was stopped has kept, as a note to its user."""
    outcome = release.outcome
    kept = "stopped: the best so far is kept"
    if outcome is not None:
        kept += f", loss {format_number(outcome.loss)} with a gap of {outcome.gap:.2%}"
    if checkpoint is None or not checkpoint.exists():
        return kept
    return f"{kept}; the same command goes on from {checkpoint}"
