"""Where a requirement is worked on: each change is in the case at once, and undone as one step.

Typing ``12`` is one step, not two: changes that follow each other in one field replace each other until the
field is left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tacita.app.work.open_case import Case
from tacita.app.work.workspace import Workspace


class Desk:
    """The requirement of a workspace's case, changed part by part.

    Parameters
    ----------
    on_change
        Called with the case after each change.
    on_stale
        Called instead of a change where somebody else has changed the case since this desk last did: what is
        on the page would put back what was there before.
    """

    def __init__(
        self, workspace: Workspace, on_change: Callable[[Case], None], on_stale: Callable[[], None]
    ) -> None:
        self._workspace = workspace
        self._on_change = on_change
        self._on_stale = on_stale
        self._field = ""
        self._shown = workspace.current()

    @property
    def case(self) -> Case:
        return self._workspace.current()

    def specify(self, field: str, **sections: Any) -> None:
        """Change sections of the specification; ``field`` is what the user is changing."""
        self.change(field, self.case.specify(**sections))

    def change(self, field: str, case: Case) -> None:
        """Go on with a case that was made of the one on the desk."""
        if self._workspace.case is not self._shown:
            self._on_stale()
            return
        if case.specification == self.case.specification and case.data is self.case.data:
            return
        if field == self._field:
            self._workspace.undo()
        self._workspace.change(case)
        self._field, self._shown = field, self._workspace.current()
        self._on_change(self.case)

    def settle(self) -> None:
        """The field was left: the next change is a step of its own."""
        self._field = ""
