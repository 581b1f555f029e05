"""Tables as notebooks show them: a small table in HTML, all texts escaped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape

from tacita.core.exact import Mask
from tacita.core.tables.layout import lay_out
from tacita.core.tables.structure import Structure
from tacita.core.words import pluralize

MOST_ROWS, MOST_COLUMNS = 30, 12
"""What is shown of a larger table: its first rows and columns."""


def show_table(head: Sequence[str], rows: Iterable[Sequence[str]], title: str, below: str = "") -> str:
    """Return plain texts as an HTML table for notebooks, with a title above it and a remark below."""
    lines = [_line("th", head), *(_line("td", row) for row in rows)]
    remark = f"<p>{escape(below)}</p>" if below else ""
    return f"<div><p>{escape(title)}</p><table>{''.join(lines)}</table>{remark}</div>"


def show_cells(
    structure: Structure, text: Callable[[int], str], title: str, marked: Mask | None = None
) -> str:
    """Return the first rows and columns of a table's cells as HTML for notebooks.

    Dimensions beyond the second stand at their totals. ``text`` says what a cell shows; ``marked`` cells have
    a star.
    """

    def entry(cell: int) -> str:
        return "" if cell < 0 else text(cell) + (" *" if marked is not None and marked[cell] else "")

    shown = lay_out(structure)
    down, across = min(len(shown.rows), MOST_ROWS), min(len(shown.columns), MOST_COLUMNS)
    along = [d for d in (shown.row_dimension, shown.column_dimension) if d is not None]
    named = " \\ ".join(structure.dimensions[d].name for d in along)
    rows = (
        [line.code, *map(entry, shown.cells[r, :across].tolist())] for r, line in enumerate(shown.rows[:down])
    )
    below = [f"{structure.dimensions[d].name} = {code}" for d, code in shown.fixed.items()]
    if (down, across) != (len(shown.rows), len(shown.columns)):
        rows_of_all, columns_of_all = (
            pluralize(len(shown.rows), "row"),
            pluralize(len(shown.columns), "column"),
        )
        below.append(f"{down} of {rows_of_all}, {across} of {columns_of_all}")
    head = [named or "cell", *(line.code for line in shown.columns[:across])]
    return show_table(head, rows, title, "; ".join(below))


def _line(tag: str, texts: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(text)}</{tag}>' for text in texts)}</tr>"
