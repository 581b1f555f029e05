"""A report for readers: what a release shows, what it hides and how near its numbers are.

It is computed from the release alone, by type: there is no parameter that could hold a true value, a rule, a
level or a verdict. Two tables with the same release have the same page, byte by byte. Primary and secondary
cells are not told apart, although the release object knows them, since its files do not say. Losses and
errors are no part of it: a sum over hidden cells, or over changes, is an equation that readers do not have.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import numpy as np

from tacita.core import exact
from tacita.core.errors import ReleaseError
from tacita.core.exact import UNBOUNDED, Mask
from tacita.core.release import Mark, Release
from tacita.problem.loss_by_level import list_levels
from tacita.report.hidden_picture import draw_hidden
from tacita.report.html import LEVELS_EXPLAINED, draw_bar
from tacita.report.page import build_list, build_page, build_word_table

KINDS = {
    Mark.PUBLISHED: ("published", "published as it is"),
    Mark.SUPPRESSED: ("hidden", "× hidden"),
    Mark.INTERVAL: ("interval", "↔ published as an interval"),
    Mark.ROUNDED: ("near", "≈ rounded"),
    Mark.ADJUSTED: ("near", "≈ adjusted"),
}
"""How the cells of each mark are filled in pictures, and what they are called."""


def build_public_page(release: Release, title: str) -> str:
    """Return the HTML page of a public report: cells by mark, what is hidden, and counts by level.

    Raises
    ------
    ReleaseError
        The release was read with the help of true values, so that it says more than its file: how numbers
        were rounded, which dashes are zeros, or which cells are there though it does not list them.
    """
    refuse_inferred(release)
    marks = [Mark(mark) for mark in np.unique(release.marks).tolist()]
    counts = [(*KINDS[mark], int((release.marks == mark).sum())) for mark in marks]
    parts = [
        f"<p>{escape(release.notice)}</p>" if release.notice else "",
        "<p>Some numbers of this table are not published as they are, so that nobody can be recognised by "
        "them. This page counts them; it is made from the published table alone.</p>"
        if release.changed.any()
        else "<p>Every number of this table is published as it is.</p>",
        build_list(_list_figures(release)),
        "<h2>Cells by how they are published</h2>",
        draw_bar(counts),
        *(["<h2>What is hidden</h2>", draw_hidden(release)] if release.structure.dimensions else []),
        "<h2>By level</h2>",
        _build_level_table(release, marks),
    ]
    return build_page(title, parts)


def refuse_inferred(release: Release) -> None:
    """Refuse a release for a public report if it was read from a file with the help of true values."""
    inferred = (
        "how its numbers were rounded" if release.assumption else "",
        "which of its dashes stand for zeros" if "dashes" in release.made_by else "",
        "which cells are hidden though it does not list them" if "absent" in release.made_by else "",
    )
    if any(inferred):
        raise ReleaseError(
            f"a report for readers would tell {' and '.join(filter(None, inferred))}, which was found out "
            "with the true values",
            remedy="make the report from a release that says it itself, such as a release.csv of tacita",
        )


def _list_figures(release: Release) -> Iterator[tuple[str, str]]:
    """Yield the figures of a public report: name, and text."""
    yield "dimensions", ", ".join(d.name for d in release.structure.dimensions) or "none"
    yield "cells", f"{len(release):,}"
    yield "show a number", _count(release.shown)
    if (~release.shown).any():
        yield "show no number", _count(~release.shown)
    near = release.shown & release.changed
    if near.any():
        yield "true value at most so far away", _find_farthest(release, near)


def _count(cells: Mask) -> str:
    return f"{int(cells.sum()):,} ({cells.mean():.1%})"


def _find_farthest(release: Release, near: Mask) -> str:
    """Return how far true values are at most from numbers that are rounded or adjusted, as text."""
    farthest = int((release.high - release.value)[near].max())
    if farthest >= UNBOUNDED:
        return "not announced"
    text = exact.to_text(farthest, release.decimals)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _build_level_table(release: Release, marks: list[Mark]) -> str:
    """Return the table of a public report: how many cells of each level are published in which way."""
    rows: list[tuple[str | int, ...]] = [
        (
            f"{dimension}, level {own}",
            int(here.sum()),
            *(int((here & (release.marks == mark)).sum()) for mark in marks),
            f"{(~release.shown)[here].mean():.1%}",
        )
        for dimension, level in list_levels(release.structure)
        for own in np.unique(level).tolist()
        for here in [level == own]
    ]
    words = [KINDS[mark][1].lstrip("×↔≈ ") for mark in marks]
    table = build_word_table(("level", "cells", *words, "without a number"), rows, numbers=1)
    return LEVELS_EXPLAINED + table
