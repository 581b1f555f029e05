"""A classification as a tree in the page, of which codes are selected, folded, dragged and moved by keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nicegui import ui
from nicegui.events import GenericEventArguments

from tacita.core.hierarchy import Hierarchy

MOST_UNFOLDED = 300
"""Codes of a tree that is shown unfolded at first."""


class CodeTree(ui.element, component="code_tree.js"):
    """The tree as an element of a page.

    Parameters
    ----------
    on_move
        Gets the codes that were dragged, and the code that they were dropped on.
    on_act
        Gets what a key stands for: ``indent`` and ``outdent`` (Alt+Shift with arrows), ``rename`` (F2),
        ``ungroup`` (Delete), ``undo`` and ``redo``.
    """

    def __init__(
        self,
        name: str,
        tree: Hierarchy,
        on_move: Callable[[Sequence[str], str], object],
        on_act: Callable[[str], object],
    ) -> None:
        super().__init__()
        self.selection: tuple[str, ...] = ()
        """The codes that are selected, as the browser says."""
        self._props.update(name=name, unfolded=99 if len(tree) <= MOST_UNFOLDED else 1)
        self.show(tree)
        self.on("choose", self._choose)
        self.on("move", lambda event: on_move(list(map(str, event.args["codes"])), str(event.args["under"])))
        self.on("act", lambda event: on_act(str(event.args)))

    def show(self, tree: Hierarchy, selection: Sequence[str] = ()) -> None:
        """Show a tree in the page, with these codes selected."""
        self.selection = tuple(code for code in selection if code in tree)
        self._props["nodes"] = [
            {
                "code": code,
                "label": tree.labels.get(code, ""),
                "depth": int(depth),
                "parts": len(tree.children(code)),
            }
            for code, depth in zip(tree.codes, tree.depth, strict=True)
        ]
        self._props["selected"] = list(self.selection)
        self.update()

    def _choose(self, event: GenericEventArguments) -> None:
        # Not among the properties: they would come back to a browser that has selected others by then.
        self.selection = tuple(map(str, event.args))
