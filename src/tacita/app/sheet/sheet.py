"""The sheet as an element of a page: sends a content once, then changes, and hands on what the user does."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any, Literal

from fastapi import Response
from nicegui import Client, app, ui
from nicegui.events import GenericEventArguments

from tacita.app.sheet.content import (
    LOOKS,
    Change,
    Content,
    Entry,
    Selection,
    decode_entries,
    decode_selection,
    encode_content,
)
from tacita.core.errors import InputError

ROUTE = "/_nicegui/client/{client_id}/sheet/{element_id}"
"""Where the browser fetches the content of a sheet; who may, the guard knows."""
MOST_CHANGES = 2000
"""More changes at once than this are fetched with the whole content, which is then the shorter message."""

OnEdit = Callable[[tuple[Entry, ...]], Awaitable[None] | None]
OnSelect = Callable[[Selection], Awaitable[None] | None]
OnStep = Callable[[], Awaitable[None] | None]
OnSeek = Callable[[int], Awaitable[None] | None]
OnExplain = Callable[[int, int, bool], Awaitable[None] | None]


class Sheet(ui.element, component="sheet.js", esm={"tacita-sheet": "modules"}):
    """A table as a spreadsheet: native scrolling, blocks, clipboard, folding, keyboard, undo.

    The content goes to the browser by one request of its own; after that, only what changes. An entry is
    shown at once as being changed. When ``on_edit`` has returned, every cell that it did not :meth:`patch`
    shows again what it showed before: a refusal needs no further call.

    Parameters
    ----------
    content
        What to show. It is not changed by :meth:`patch`.
    editable
        Whether cells other than sums take entries.
    name
        What the sheet is called by screen readers.
    on_edit
        Gets all entries of one action (typing, paste, cut, delete) together: one step of undo.
    on_select
        Gets the selection, at most about twenty times a second.
    on_undo, on_redo
        Ctrl+Z, and Ctrl+Y or Ctrl+Shift+Z.
    on_seek
        Gets 1 where the next sensitive cell is wanted, -1 for the one before: Alt with Page Down, Page Up.
    on_explain
        Gets row and column of a cell that is clicked, or on which Enter is pressed, and whether it was Enter.
    group
        Sheets of one page with the same group scroll, select, fold and resize together.
    """

    def __init__(
        self,
        content: Content,
        *,
        editable: bool = False,
        name: str = "Table",
        on_edit: OnEdit | None = None,
        on_select: OnSelect | None = None,
        on_undo: OnStep | None = None,
        on_redo: OnStep | None = None,
        on_seek: OnSeek | None = None,
        on_explain: OnExplain | None = None,
        group: str = "",
    ) -> None:
        super().__init__()
        self._version = self._shown_since = 0
        self._unsettled: set[tuple[int, int]] = set()
        self._marked: Mapping[tuple[int, int], int] = {}
        self._selection = Selection(0, 0, (0,), (0,))
        self._set_content(content)
        self._props.update(
            source=ROUTE.format(client_id=self.client.id, element_id=self.id),
            version=self._version,
            editable=editable,
            explains=on_explain is not None,
            name=name,
            group=group,
            looks=[[int(look.flag), look.name, look.sign, look.meaning] for look in LOOKS],
        )
        self._on_edit, self._on_select = on_edit, on_select
        self.on("edit", self._handle_edit)
        self.on("select", self._handle_selection)
        for event, handler in (("undo", on_undo), ("redo", on_redo)):
            if handler is not None:
                self.on(event, handler, args=[])
        if on_seek is not None:
            self.on("seek", lambda event: on_seek(1 if event.args > 0 else -1))
        if on_explain is not None:
            self.on("explain", partial(self._handle_explain, on_explain))

    @property
    def selection(self) -> Selection:
        """The cells selected in the sheet: the first one, as long as nobody has been elsewhere."""
        return self._selection

    def show(self, content: Content) -> None:
        """Show another content in the sheet. Folds, widths and place stay where codes are the same."""
        self._set_content(content)
        self._selection = self._selection.clipped(len(content.rows), len(content.columns))
        self._fetch()
        self._shown_since = self._version

    def patch(self, changes: Iterable[Change]) -> None:
        """Show other texts and flags in some cells of the sheet."""
        changes = list(changes)
        for change in changes:
            self._texts[change.row][change.column] = change.text
            self._flags[change.row, change.column] = change.flags
            self._unsettled.discard((change.row, change.column))
        if len(changes) > MOST_CHANGES:
            self._fetch()
        elif changes:
            self.run_method("patch", [[c.row, c.column, c.text, int(c.flags)] for c in changes])

    def highlight(self, marked: Mapping[tuple[int, int], int]) -> None:
        """Add flags to some cells of a sheet that takes no entries, by row and column, until it marks others
        or shows another content.
        """
        places = {**dict.fromkeys(self._marked, 0), **marked}
        self._marked = dict(marked)
        self.patch(
            Change(row, column, self._texts[row][column], int(self._content.flags[row, column]) | flag)
            for (row, column), flag in places.items()
        )

    def fold(self, axis: Literal["rows", "columns"], depth: int) -> None:
        """Fold the sheet's lines at ``depth`` or deeper and unfold those above: 0 leaves the roots only."""
        self.run_method("fold", axis, depth)

    def unfold(self, axis: Literal["rows", "columns"]) -> None:
        """Unfold all rows or all columns of the sheet."""
        self.run_method("unfold", axis)

    def go(self, row: int, column: int) -> None:
        """Put the focus on a cell of the sheet, unfolding and scrolling as needed."""
        self.run_method("go", row, column, self._version)

    def tell(self, message: str) -> None:
        """Show a message in the line below the sheet; screen readers read it out."""
        self.run_method("tell", message)

    def _set_content(self, content: Content) -> None:
        self._content = content
        self._texts = [list(row) for row in content.texts]
        self._flags = content.flags.copy()
        self._marked = {}
        self._unsettled.clear()

    def _fetch(self) -> None:
        """Let the browser fetch the sheet's content anew: it does so when the version changes."""
        self._version += 1
        self._unsettled.clear()
        self._props["version"] = self._version
        self.update()

    async def _handle_edit(self, event: GenericEventArguments) -> None:
        message: dict[str, Any] = event.args
        if self._on_edit is None or message["version"] < self._shown_since:
            # Typed into the content before this one: its positions may mean other cells by now.
            self._fetch()
            self.tell("The table was changed at the same moment: please type it again.")
            return
        entries = decode_entries(message, self._flags)
        self._unsettled.update((entry.row, entry.column) for entry in entries)
        try:
            await _await_result(self._on_edit(entries))
        finally:
            self.patch(
                Change(row, column, self._texts[row][column], int(self._flags[row, column]))
                for row, column in sorted(self._unsettled)
            )

    async def _handle_selection(self, event: GenericEventArguments) -> None:
        message: dict[str, Any] = event.args
        try:
            self._selection = decode_selection(message, self._flags.shape)
        except InputError:
            # Sent before the browser had the present, smaller content: it selects anew with the next move.
            return
        if self._on_select is not None:
            await _await_result(self._on_select(self._selection))

    async def _handle_explain(self, on_explain: OnExplain, event: GenericEventArguments) -> None:
        message: dict[str, Any] = event.args
        row, column = int(message["row"]), int(message["column"])
        if 0 <= row < self._flags.shape[0] and 0 <= column < self._flags.shape[1]:
            await _await_result(on_explain(row, column, bool(message["isByKey"])))

    def encode(self) -> bytes:
        """Return the content of the sheet as it is now, as the JSON that the browser fetches."""
        return encode_content(self._content, self._texts, self._flags)


# One route for all sheets: FastAPI remembers every function that it ever routed to, and a function for each
# sheet would keep its table in memory after the page is gone.
@app.get(ROUTE, include_in_schema=False)
async def _send(client_id: str, element_id: int) -> Response:
    page = Client.instances.get(client_id)
    sheet = None if page is None else page.elements.get(element_id)
    if not isinstance(sheet, Sheet):
        return Response(status_code=HTTPStatus.NOT_FOUND)
    return Response(sheet.encode(), media_type="application/json")


async def _await_result(result: Awaitable[None] | None) -> None:
    if inspect.isawaitable(result):
        await result
