"""Releases of one table side by side as one page of HTML: all measures, and pictures of each release.

It tells of true values and names no cell that is hidden: the page is internal.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tacita import __version__
from tacita.auditing.audit import Audit
from tacita.core.words import pluralize
from tacita.report.deviation_picture import draw_deviations, find_widest
from tacita.report.hidden_picture import draw_hidden
from tacita.report.html import build_level_table, build_verdict
from tacita.report.measures import FURTHER, MEASURED, MEASURES, find_best
from tacita.report.page import build_page
from tacita.report.terminal import READING, ComparisonRow, format_entry
from tacita.report.verdicts import SAFE, find_tone


def build_comparison_page(rows: Sequence[ComparisonRow], title: str) -> str:
    """Return the HTML page that compares releases of one table: a column of measures and a card for each."""
    audits = [row.audit for row in rows if row.audit is not None]
    widest = max((find_widest(own.problem.table, own.release) for own in audits), default=0.0)
    cards = "".join(_build_card(row, widest) for row in rows)
    parts = [
        f"<p>{pluralize(len(rows), 'release')} of one table, each of them audited.</p>",
        _build_measure_table(rows),
        f'<p class="faint">{escape(READING)}</p>',
        f'<div class="cards">{cards}</div>',
        f'<p class="faint">tacita {__version__}. Internal: losses and deviations tell of true values.</p>',
    ]
    return build_page(title, parts)


def _build_measure_table(rows: Sequence[ComparisonRow]) -> str:
    """Return the HTML table of all measures, one column per release, what each means at the end."""
    safe = {k: row.numbers for k, row in enumerate(rows) if row.audit and find_tone(row.audit) is SAFE}
    head = "".join(f"<th scope='col'>{escape(row.name)}</th>" for row in rows)
    extra = [MEASURED] if any(MEASURED.key in row.numbers for row in rows) else []
    lines = []
    for measure in (*MEASURES, *FURTHER, *extra):
        winners = find_best(measure, safe)
        entries = (
            f"<td>{escape(format_entry(measure, row, k in winners))}</td>" for k, row in enumerate(rows)
        )
        meaning = f'<td class="meaning">{escape(measure.meaning)}</td>'
        lines.append(f"<tr><th scope='row'>{escape(measure.head)}</th>{''.join(entries)}{meaning}</tr>")
    verdicts = "".join(f"<td>{_build_word(row.audit)}</td>" for row in rows)
    first = f"<tr><th scope='row'>verdict</th>{verdicts}<td class='meaning'>what the audit found</td></tr>"
    return (
        f'<div class="scroll"><table class="measures"><thead><tr><th>measure</th>{head}'
        '<th class="meaning">meaning</th></tr></thead>'
        f"<tbody>{first}{''.join(lines)}</tbody></table></div>"
    )


def _build_word(audit: Audit | None) -> str:
    if audit is None:
        return "! no release"
    tone = find_tone(audit)
    return f'<span class="{tone.kind}">{tone.sign} {tone.word}</span>'


def _build_card(row: ComparisonRow, widest: float) -> str:
    """Return the part of a comparison page on one release: its verdict, its pictures, its losses by level."""
    if row.audit is None:
        return f"<section><h2>{escape(row.name)}</h2><p>! no release: {escape(row.error or '')}</p></section>"
    problem, release = row.audit.problem, row.audit.release
    pictures = [
        "<h3>What is hidden</h3>" + draw_hidden(release) if release.structure.dimensions else "",
        "<h3>Deviations of shown numbers, by level</h3>" + draw_deviations(problem.table, release, widest),
        "<h3>What is lost, by level</h3>" + build_level_table(problem, release),
    ]
    return f"<section><h2>{escape(row.name)}</h2>{build_verdict(row.audit)}{''.join(pictures)}</section>"
