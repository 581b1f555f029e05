"""Controls for how a table stands: which dimensions as rows and columns, and where the others are held."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from weakref import WeakKeyDictionary

from nicegui import ui

from tacita.app.work.view import Arrangement
from tacita.app.work.workspace import Workspace
from tacita.core.tables.dimension import Dimension
from tacita.core.tables.structure import Structure

AFTER, BEFORE = "after their parts", "before their parts"
_CHOSEN: WeakKeyDictionary[Workspace, Arrangement] = WeakKeyDictionary()


def get_arrangement(workspace: Workspace) -> Arrangement:
    """Return how pages of the session arrange the table in rows, columns and slices, as chosen last."""
    return _CHOSEN.get(workspace, Arrangement())


class ArrangementSelects:
    """A row of selects; nothing at all where there is no choice.

    Parameters
    ----------
    on_change
        Called after a choice, which is then to be had from :func:`get_arrangement`.
    """

    def __init__(self, workspace: Workspace, structure: Structure, on_change: Callable[[], None]) -> None:
        self._workspace = workspace
        self._on_change = on_change
        self._place = (
            ui.element("div").classes("strip arranging").props('role=group aria-label="Arrangement"')
        )
        self.show(structure)

    def show(self, structure: Structure) -> None:
        """Show selects for the rows, columns, slices and linked tables that a structure offers."""
        self._structure = structure
        self._place.clear()
        chosen = get_arrangement(self._workspace)
        linked = {part.name: part for part in structure.parts} if len(structure.parts) > 1 else {}
        part = linked.get(chosen.part or "", next(iter(linked.values()), None))
        axes = range(len(structure.dimensions)) if part is None else part.dimensions
        dimensions = {structure.dimensions[d].name: structure.dimensions[d] for d in axes}
        self._place.set_visibility(bool(dimensions))
        where = chosen.lay_out(structure)
        shown = [
            structure.dimensions[d].name
            for d in (where.row_dimension, where.column_dimension)
            if d is not None
        ]
        with self._place:
            if part is not None:
                self._show_select(
                    "Table",
                    list(linked),
                    part.name,
                    lambda name: self.take(Arrangement(part=name, total_last=chosen.total_last)),
                )
            if len(dimensions) > 1:
                self._show_axes(dimensions, *shown)
            held = {structure.dimensions[d].name: code for d, code in where.fixed.items()}
            for name, dimension in dimensions.items():
                if name not in shown:
                    self._show_slicer(dimension, held.get(name, dimension.total))
            if dimensions:
                self._show_order(chosen)

    def _show_axes(self, dimensions: Mapping[str, Dimension], rows: str, columns: str) -> None:
        def put(new_rows: str, new_columns: str) -> None:
            if new_rows == new_columns:
                # Choosing what stands on the other side turns the table.
                new_rows, new_columns = columns, rows
            self.take(replace(get_arrangement(self._workspace), rows=new_rows, columns=new_columns))

        self._show_select("Rows", list(dimensions), rows, lambda name: put(name, columns))
        self._show_select("Columns", list(dimensions), columns, lambda name: put(rows, name))
        turn = ui.button(icon="swap_horiz", on_click=lambda: put(columns, rows), color=None)
        turn.props('flat dense round aria-label="Swap rows and columns" data-testid=swap')
        turn.tooltip("Swap rows and columns")

    def _show_order(self, chosen: Arrangement) -> None:
        def put(order: str) -> None:
            self.take(replace(get_arrangement(self._workspace), total_last=order == AFTER))

        self._show_select("Totals", [AFTER, BEFORE], AFTER if chosen.total_last else BEFORE, put)

    def _show_slicer(self, dimension: Dimension, code: str) -> None:
        def hold(chosen_code: str) -> None:
            # The selects stay as they are: somebody may be choosing in the next one already.
            chosen = get_arrangement(self._workspace)
            fixed = {**chosen.fixed, dimension.name: chosen_code}
            _CHOSEN[self._workspace] = replace(chosen, fixed=fixed)
            self._on_change()

        named = {
            each: f"{each} {label}" if (label := dimension.label(each)) not in ("", each) else each
            for each in dimension.codes
        }
        self._show_select(dimension.name, named, code, hold, f"slicer-{dimension.name}")

    def _show_select(
        self,
        label: str,
        options: list[str] | dict[str, str],
        value: str,
        take: Callable[[str], None],
        test_id: str = "",
    ) -> None:
        select = ui.select(options, label=label, value=value, on_change=lambda event: take(str(event.value)))
        select.props("dense outlined options-dense").classes("choice")
        select.props["data-testid"] = test_id or f"arrange-{label.lower()}"

    def take(self, arrangement: Arrangement) -> None:
        """Arrange the table in this way on every page of the workspace that shows it."""
        _CHOSEN[self._workspace] = arrangement
        self.show(self._structure)
        self._on_change()


def rename_in_arrangement(workspace: Workspace, old: str, new: str) -> None:
    """Keep the session's arrangement of the table when one of its dimensions is renamed."""
    chosen = get_arrangement(workspace)
    _CHOSEN[workspace] = replace(
        chosen,
        rows=new if chosen.rows == old else chosen.rows,
        columns=new if chosen.columns == old else chosen.columns,
        fixed={new if name == old else name: code for name, code in chosen.fixed.items()},
    )
