"""How much room a sheet needs on a page that shows more than one."""

from __future__ import annotations

from math import ceil

from tacita.app.sheet import Content

LINE, AROUND = 26, 72
"""Pixels of a row, and of what a sheet has above and below its rows."""
DIGIT, AROUND_NUMBER, NARROWEST = 9.5, 32, 64
"""Pixels of a digit, of what a column has beside its numbers, and of the narrowest column."""
LETTER, AROUND_HEAD, FOLD = 9, 18, 24
"""Pixels of a letter of a head, of what a head has beside its letters, and of the button that folds it."""
STEP, WIDEST_HEAD, SCROLLBAR = 14, 150, 17
"""Pixels by which the head of a row is indented, that are enough for it, and of a scrollbar with borders."""
LEAST, WIDEST = 420, 1000
"""Pixels that a sheet gets at least, and those that no page has: a wider table is scrolled in any case."""


def format_height(content: Content) -> str:
    """Return the CSS height of a sheet on the page: all rows, or less to leave room for the rest."""
    depth = 1 + max((line.depth for line in content.columns), default=0)
    return f"height: min({LINE * (len(content.rows) + depth) + AROUND}px, max(60vh, 260px))"


def estimate_width(content: Content) -> int:
    """Return the pixels that all columns of a sheet take, roughly: with less, the last one, the total,
    would be cut off, and the sheet stands above the other one instead.
    """
    codes = max(LETTER * len(line.code) + STEP * line.depth for line in content.rows)
    titles = LETTER * max(len(content.row_title), len(content.column_title))
    width = min(max(codes, titles) + AROUND_HEAD + FOLD, WIDEST_HEAD) + SCROLLBAR
    folds = {line.parent for line in content.columns}
    for column, line in enumerate(content.columns):
        head = LETTER * len(line.code) + AROUND_HEAD + FOLD * (column in folds)
        longest = max(_count_signs(row[column]) for row in content.texts)
        width += ceil(max(NARROWEST, head, DIGIT * longest + AROUND_NUMBER))
    return max(LEAST, width) if width <= WIDEST else LEAST


def _count_signs(text: str) -> int:
    """Return how many signs a sheet shows of a text: of a number with its commas between thousands."""
    integer = text.partition(".")[0].lstrip("+-−")
    return len(text) + ((len(integer) - 1) // 3 if integer.isdecimal() else 0)
