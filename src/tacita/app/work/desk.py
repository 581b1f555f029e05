"""Changes of a specification: each is in the case at once, and undone as one step.

Typing ``12`` is one step, not two: changes that follow each other in one field replace each other until the
field is left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import fields
from typing import Any, Generic, TypeVar

from tacita.app.work.open_case import Case
from tacita.app.work.workspace import Workspace
from tacita.specification.sections import Section


class Desk:
    """The requirement of a workspace's case, changed part by part.

    Parameters
    ----------
    on_change
        Called with the case after each change.
    on_stale
        Called instead of a change where somebody else has changed the same thing, or the cells, since this
        desk last did: what is on the page would put back what was there before.
    """

    def __init__(
        self, workspace: Workspace, on_change: Callable[[Case], None], on_stale: Callable[[], None]
    ) -> None:
        self._workspace = workspace
        self._on_change = on_change
        self._on_stale = on_stale
        self._field = ""
        self._shown = workspace.require_case()

    @property
    def case(self) -> Case:
        return self._workspace.require_case()

    def specify(self, field: str, **sections: Any) -> None:
        """Change sections of the case's specification; ``field`` is what the user changes on the page."""
        self.change(field, self.case.specify(**sections))

    def change(self, field: str, case: Case) -> None:
        """Put a changed case into the workspace; changes of one ``field`` in a row are one step of undo."""
        if self.case is not self._shown:
            if not _concerns_as_shown(case, self.case, self._shown):
                self._on_stale()
                return
            # The step of undo before this one is somebody else's.
            self._field, self._shown = "", self.case
        if case.specification == self.case.specification and case.data is self.case.data:
            return
        if field == self._field:
            self._workspace.undo()
        self._workspace.change(case)
        self._field, self._shown = field, self._workspace.require_case()
        self._on_change(self.case)

    def end_step(self) -> None:
        """Make the user's next change a step of undo of its own: the field of the page was left."""
        self._field = ""


def _concerns_as_shown(new: Case, present: Case, shown: Case) -> bool:
    """Return whether a change of the present case concerns only what the page shows as it is now."""
    if shown.work != present.work or not shown.table.structure.same_cells(present.table.structure):
        return False
    if new.data is not present.data and shown.published != present.published:
        return False
    return _keeps_changes(new.specification, present.specification, shown.specification)


def _keeps_changes(new: Section, present: Section, shown: Section) -> bool:
    """Return whether every field of a specification that differs from the present one is as it was shown."""
    for each in fields(new):  # type: ignore[arg-type]
        after, now, before = (getattr(section, each.name) for section in (new, present, shown))
        if after == now:
            continue
        if isinstance(after, Section) and isinstance(now, Section) and isinstance(before, Section):
            if not _keeps_changes(after, now, before):
                return False
        elif now != before:
            return False
    return True


T = TypeVar("T")

PAUSE = 0.15
"""Seconds without a new question after which work begins."""


class LatestOnly(Generic[T]):
    """Does ``work`` with what was asked for last, once asking has paused; never two at the same time.

    While work is under way, ``overtaken`` says whether there is a newer question, so that the answer to the
    old one need not be shown.
    """

    def __init__(self, work: Callable[[T], Awaitable[None]], pause: float = PAUSE) -> None:
        self._work = work
        self._pause = pause
        self._asked: list[T] = []
        self._at = 0.0
        self._task: asyncio.Task[None] | None = None

    @property
    def overtaken(self) -> bool:
        return bool(self._asked)

    def ask(self, what: T) -> None:
        """Ask for work on behalf of a page, in place of what was asked before, in the event loop."""
        self._asked = [what]
        loop = asyncio.get_running_loop()
        self._at = loop.time()
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._answer(loop))

    async def _answer(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._asked:
            if (left := self._at + self._pause - loop.time()) > 0:
                await asyncio.sleep(left)
            else:
                await self._work(self._asked.pop())
