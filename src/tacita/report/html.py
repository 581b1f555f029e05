"""The internal report as one page of HTML: no script, no outside request, nothing that the release hides.

It names the sensitive cells and tells what was lost of true values, so it is internal; the values of cells it
shows are those of the release. :mod:`tacita.report.public_page` is for readers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from math import isnan

import numpy as np

from tacita import __version__
from tacita.auditing.audit import Audit
from tacita.auditing.deduce import Deduction
from tacita.core.exact import Mask
from tacita.core.release import Release
from tacita.core.words import pluralize
from tacita.methods.measuring import measure_shown_statistics
from tacita.problem.loss_by_level import compare_by_level
from tacita.problem.problem import Problem
from tacita.problem.quality import compare
from tacita.report.deviation_picture import draw_deviations
from tacita.report.hidden_picture import draw_hidden
from tacita.report.measures import FURTHER, MEASURES, compute_measures, format_short
from tacita.report.page import Picture, build_list, build_page, build_word_table
from tacita.report.picture import KINDS, MEANINGS, SIGNS, build_crosstab, classify_cells, format_shown
from tacita.report.sensitive_cells import SensitiveCells
from tacita.report.verdicts import explain_verdicts, find_tone

MOST_SQUARES = 4000
MOST_INTERVALS = 60
LEVELS_EXPLAINED = '<p class="faint">Level 0 is the total; each dimension has all cells.</p>'
MEASURED = (
    "silent", "value_percent", "relative", "relative_median", "relative_largest", "rank", "hellinger",
    "chi_square", "mean_change", "variance_change", "correlation_change", "slope_change",
)  # fmt: skip
"""Measures among the figures of a report, where they are known."""


def build_report_page(
    problem: Problem,
    release: Release,
    audit: Audit,
    title: str,
    story: Iterable[str] = (),
    intervals: Deduction | None = None,
) -> str:
    """Return the HTML page of a report: verdict, figures, table, losses by level, rules, what is unsafe.

    Parameters
    ----------
    story
        Sentences on how the result came about, in order.
    intervals
        What an outsider deduces of sensitive cells (see :func:`choose_interval_cells`), which the page then
        shows as pictures.
    """
    sensitive = problem.levels.sensitive
    parts = [
        build_verdict(audit),
        "".join(f"<p>{escape(sentence)}</p>" for sentence in story),
        "<h2>Figures</h2>",
        build_list(_list_figures(problem, release)),
        "<h2>Cells by what became of them</h2>",
        _draw_kinds_bar(release, sensitive),
        "<h2>The table as published</h2>",
        _build_table_section(release, sensitive),
        *(["<h2>What is hidden</h2>", draw_hidden(release)] if release.structure.dimensions else []),
        "<h2>What is lost, by level</h2>",
        build_level_table(problem, release),
        "<h2>Deviations of shown numbers, by level</h2>",
        draw_deviations(problem.table, release),
        "<h2>Sensitive cells by rule</h2>",
        build_word_table(("rule", "cells"), _count_by_rule(problem)),
        "" if intervals is None else build_interval_section(audit, intervals),
        _build_unsafe_section(audit),
        f'<p class="faint">tacita {__version__}. Internal: this page names the sensitive cells.</p>',
    ]
    return build_page(title, parts)


def build_verdict(audit: Audit) -> str:
    """Return the verdict of an audit as a line of an HTML report, its sign and word in colour."""
    tone = find_tone(audit)
    word = f'<span class="{tone.kind}">{tone.sign} {tone.word.capitalize()}.</span>'
    return f'<p class="verdict">{word} {escape(audit.verdict)}.</p>'


def _count_by_rule(problem: Problem) -> list[tuple[str, int]]:
    """Return the report's rows on rules: how many cells each makes sensitive, and how many are exempt."""
    exempt = int(problem.exempt.sum())
    counts = [(reason.rule, reason.cells.size) for reason in problem.levels.reasons]
    return [*counts, ("exempt by hand, and not checked", exempt)] if exempt else counts


def _list_figures(problem: Problem, release: Release) -> Iterator[tuple[str, str]]:
    """Yield the figures of an internal report: name, and text."""
    yield "cells", f"{len(problem.table):,}"
    yield "sensitive", f"{len(problem.levels):,}"
    yield "not published as they are", f"{int(release.changed.sum()):,}"
    yield "attackers", problem.considered.text
    yield "method", str(release.made_by.get("method", "read from a file"))
    if (outcome := release.outcome) is not None:
        yield "loss", f"{format_short(outcome.loss)} ({outcome.status.value})"
        if outcome.search:
            yield "search", outcome.search
        yield "lower bound", f"{format_short(outcome.bound)} (gap {outcome.gap:.1%})"
        if outcome.remarks:
            yield "remarks", "; ".join(outcome.remarks)
    statistics = measure_shown_statistics(problem, release)
    numbers = compute_measures(problem, None, compare(problem, [release])[0], None, 0.0, statistics)
    for measure in (*MEASURES, *FURTHER):
        if measure.key in MEASURED and not isnan(numbers[measure.key]):
            yield measure.head, f"{measure.format(numbers[measure.key], None)} ({measure.meaning})"


def _draw_kinds_bar(release: Release, sensitive: Mask) -> str:
    """Return an SVG bar for the HTML report: how many cells are of each kind, with a legend in words."""
    counts = np.bincount(classify_cells(release, sensitive), minlength=len(KINDS)).tolist()
    named = [(name, f"{SIGNS[name]} {MEANINGS[name]}") for name in KINDS]
    return draw_bar([(name, text, count) for (name, text), count in zip(named, counts, strict=True)])


def draw_bar(counts: Iterable[tuple[str, str, int]]) -> str:
    """Return an SVG bar for an HTML report, divided by numbers of cells, with a legend in words.

    Parameters
    ----------
    counts
        Of each kind of cells: how it is filled, what it is called, and how many there are.
    """
    listed = [entry for entry in counts if entry[2]]
    every = sum(count for _, _, count in listed)
    width, x = 720.0, 0.0
    pieces: list[str] = []
    legend: list[str] = []
    for name, text, count in listed:
        share = width * count / every
        pieces.append(f'<rect x="{x:.1f}" y="0" width="{share:.1f}" height="24" class="fill-{name}"/>')
        y = 44 + 20 * len(legend)
        legend.append(
            f'<rect x="0" y="{y - 11}" width="13" height="13" class="fill-{name}"/>'
            f'<text x="20" y="{y}">{escape(text)}: {count:,}</text>'
        )
        x += share
    height = 40 + 20 * len(legend)
    label = escape("; ".join(f"{text.strip()}: {count:,}" for _, text, count in listed))
    return (
        f'<svg viewBox="0 0 720 {height}" width="100%" style="max-width:720px" role="img" '
        f'aria-label="Cells by kind. {label}">{"".join(pieces + legend)}</svg>'
    )


def _build_table_section(release: Release, sensitive: Mask) -> str:
    table = build_crosstab(release.structure)
    if table is None:
        return _draw_mosaic(release, sensitive)
    kind = classify_cells(release, sensitive)
    head = "".join(f"<th scope='col'>{escape(column.code)}</th>" for column in table.columns)
    body = []
    for line, cells in zip(table.rows, table.cells, strict=True):
        indent = f' style="padding-left:{0.5 + 1.1 * line.depth:.1f}rem"'
        row = "".join(
            _build_cell(release, int(cell), KINDS[kind[cell]] if cell >= 0 else "published") for cell in cells
        )
        body.append(f"<tr><th scope='row'{indent}>{escape(line.code)}</th>{row}</tr>")
    corner = " \\ ".join(filter(None, (table.row_name, table.column_name)))
    blank = "blank: no such cell, nothing was counted there" if (table.cells < 0).any() else ""
    about = "".join(f'<p class="faint">{escape(line)}</p>' for line in (table.about, blank) if line)
    return (
        f'{about}<div class="scroll"><table><thead><tr><th>{escape(corner)}</th>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _build_cell(release: Release, cell: int, name: str) -> str:
    if cell < 0:
        return "<td></td>"
    text = " ".join(filter(None, (SIGNS[name], format_shown(release, cell))))
    style = "" if name == "published" else f' class="{name}" title="{MEANINGS[name]}"'
    return f"<td{style}>{escape(text)}</td>"


def _draw_mosaic(release: Release, sensitive: Mask) -> str:
    """Return an SVG for the HTML report, a square per cell in file order; of tables without dimensions."""
    kind = classify_cells(release, sensitive)[:MOST_SQUARES].tolist()
    across = 80
    squares = "".join(
        f'<rect x="{9 * (i % across)}" y="{9 * (i // across)}" width="8" height="8" class="fill-{KINDS[k]}"/>'
        for i, k in enumerate(kind)
    )
    cut = f'<p class="faint">the first {MOST_SQUARES:,} cells</p>' if len(release) > MOST_SQUARES else ""
    height = 9 * -(-len(kind) // across)
    frame = f'viewBox="0 0 720 {height}" width="100%" role="img" aria-label="one square per cell"'
    return f"{cut}<svg {frame}>{squares}</svg>"


def build_level_table(problem: Problem, release: Release) -> str:
    """Return a table for an internal HTML report of what a release lost at each level of each hierarchy."""
    write = {measure.key: measure.write for measure in MEASURES}
    rows = (
        (
            f"{row.dimension}, level {row.level}",
            row.cells,
            row.lost,
            row.changed,
            write["value_percent"](row.value_percent),
            write["relative"](row.relative),
        )
        for row in compare_by_level(problem, [release])
    )
    headings = ("level", "cells", "cells lost", "changed", "value lost", "error")
    return LEVELS_EXPLAINED + build_word_table(headings, rows, numbers=2)


def choose_interval_cells(audit: Audit) -> list[int]:
    """Return the sensitive cells that a report draws intervals of: hidden ones, those not safe first."""
    problem, hidden = audit.problem, audit.release.hidden
    order = sorted(zip((audit.worst == 0).tolist(), problem.sensitive.tolist(), strict=True))
    return [cell for _, cell in order if hidden[cell]][:MOST_INTERVALS]


def build_interval_section(audit: Audit, intervals: Deduction) -> str:
    """Return the section of an internal HTML report on deduced intervals, a picture for each sensitive cell.

    They are drawn as multiples of what is required, so that no hidden value is in them.
    """
    if not len(intervals):
        return ""
    listed = SensitiveCells(audit, intervals)
    rows = [listed.build_row(cell) for cell in intervals.cells.tolist()]
    table = build_word_table(
        ("cell", "verdict", "interval", "room below", "room above"),
        ((row.name, row.verdict, Picture(row.relative_picture), *row.room_texts) for row in rows),
    )
    hidden = int(audit.release.hidden[audit.problem.sensitive].sum())
    cut = f" The first {len(rows):,} of {hidden:,}." if len(rows) < hidden else ""
    about = (
        "The bar is what can be deduced of the cell, the stroke its value, the brackets how far the bar must "
        "reach at least; arrows go on beyond the picture. "
        f"{pluralize(hidden, 'sensitive cell')} hidden.{cut}"
    )
    return f'<h2>Intervals of sensitive cells</h2><p class="faint">{escape(about)}</p>{table}'


def _build_unsafe_section(audit: Audit, most: int = 200) -> str:
    if audit.safe:
        return ""
    findings = list(audit.findings(only_unsafe=True))
    rows = [(f.name, f.attacker, f.verdict) for f in findings[:most]]
    more = f"<p>and {len(findings) - most:,} more</p>" if len(findings) > most else ""
    key = f'<p class="faint">{escape(explain_verdicts(findings))}</p>'
    return "<h2>Not safe</h2>" + build_word_table(("cell", "attacker", "verdict"), rows) + more + key
