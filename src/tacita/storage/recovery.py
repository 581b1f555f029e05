"""What runs that were interrupted have left, undone or finished and removed by the next one."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

from tacita.core.errors import describe_write_failure
from tacita.storage.drafts import lock_dead_drafts, remove_dead_drafts
from tacita.storage.journal import SWITCH, find_draft_in_use
from tacita.storage.signals import defer_signals
from tacita.storage.switch import resolve_switch


def recover(home: Path) -> tuple[str, ...]:
    """Undo or finish the switch of files of a dead run, remove its drafts, and return notes on that.

    Runs that are still at work are left alone.

    Raises
    ------
    InputError
        What was there cannot be put back, or the journal is none.
    """
    notes = []
    with defer_signals():
        if (home / SWITCH).is_dir():
            notes += _resolve_dead(home)
    removed = remove_dead_drafts(home)
    if removed:
        notes.append(f"removed, as left by an interrupted run: {', '.join(map(str, removed))}")
    return tuple(notes)


def _resolve_dead(home: Path) -> list[str]:
    name = find_draft_in_use(home)
    with closing(lock_dead_drafts(home)) as drafts:
        gone = name is not None and not (home / name).is_dir()
        # The lock is held until the drafts are closed: nobody else resolves it meanwhile.
        if name is not None and not gone and not any(draft.name == name for draft in drafts):
            return []
        try:
            finished = resolve_switch(home)
        except OSError as error:
            raise describe_write_failure(home, error) from error
    if name is None:
        shutil.rmtree(home / SWITCH, ignore_errors=True)
        return []
    if gone and not finished:
        return [
            f"an interrupted run cannot be undone, since {home / name} is gone: check the files in {home}"
        ]
    if finished:
        return [f"an interrupted run had moved all its files to {home}: it was finished"]
    return [f"an interrupted run was undone: {home} holds what was there before it"]
