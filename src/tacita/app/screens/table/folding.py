"""How deep rows and columns are unfolded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from nicegui import ui

from tacita.app.sheet import Sheet
from tacita.core.tables.layout import Layout, Line


def folding(where: Layout, sheet: Callable[[], Sheet]) -> None:
    """A select per axis with levels between total and leaves; nothing for a flat one."""
    _levels("rows", where.rows, sheet)
    _levels("columns", where.columns, sheet)


def _levels(axis: Literal["rows", "columns"], lines: Sequence[Line], sheet: Callable[[], Sheet]) -> None:
    deepest = max((line.depth for line in lines), default=0)
    if deepest < 2:
        return

    def fold(depth: int) -> None:
        if depth >= deepest:
            sheet().unfold(axis)
        else:
            sheet().fold(axis, depth)

    options = {depth: _name(depth, deepest) for depth in range(deepest, -1, -1)}
    select = ui.select(
        options,
        label=f"{axis[:-1].capitalize()} levels",
        value=deepest,
        on_change=lambda event: fold(int(event.value)),
    )
    select.props(f"dense outlined options-dense data-testid=levels-{axis}").classes("choice")


def _name(depth: int, deepest: int) -> str:
    if depth == deepest:
        return "all"
    return "total only" if depth == 0 else f"{depth} below the total"
