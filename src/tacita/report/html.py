"""A report as one page of HTML: no script, no outside request, nothing that the release hides.

It names the sensitive cells, so it is internal; the values it shows are those of the release.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import numpy as np

from tacita import __version__
from tacita.auditing.audit import Audit
from tacita.core.exact import Mask
from tacita.core.release import Release
from tacita.problem.problem import Problem
from tacita.report.page import build_page, build_word_table
from tacita.report.picture import KINDS, MEANINGS, SIGNS, build_crosstab, classify_cells, format_shown
from tacita.report.verdicts import explain_verdicts, find_tone

MOST_SQUARES = 4000


def build_report_page(
    problem: Problem, release: Release, audit: Audit, title: str, story: Iterable[str] = ()
) -> str:
    """Return the HTML page of a report: verdict, figures, the table, rules, attackers, and what is not safe.

    Parameters
    ----------
    story
        Sentences on how the result came about, in order.
    """
    sensitive = problem.levels.sensitive
    parts = [
        _build_verdict_section(audit),
        "".join(f"<p>{escape(sentence)}</p>" for sentence in story),
        "<h2>Figures</h2>",
        _build_figures_list(problem, release),
        "<h2>Cells by what became of them</h2>",
        _draw_kinds_bar(release, sensitive),
        "<h2>The table as published</h2>",
        _build_table_section(release, sensitive),
        "<h2>Sensitive cells by rule</h2>",
        build_word_table(("rule", "cells"), _count_by_rule(problem)),
        _build_unsafe_section(audit),
        f'<p class="faint">tacita {__version__}. Internal: this page names the sensitive cells.</p>',
    ]
    return build_page(title, parts)


def _build_verdict_section(audit: Audit) -> str:
    tone = find_tone(audit)
    word = f'<span class="{tone.kind}">{tone.sign} {tone.word.capitalize()}.</span>'
    return f'<p class="verdict">{word} {escape(audit.verdict)}.</p>'


def _count_by_rule(problem: Problem) -> list[tuple[str, int]]:
    """Return the report's rows on rules: how many cells each makes sensitive, and how many are exempt."""
    exempt = int(problem.exempt.sum())
    counts = [(reason.rule, reason.cells.size) for reason in problem.levels.reasons]
    return [*counts, ("exempt by hand, and not checked", exempt)] if exempt else counts


def _build_figures_list(problem: Problem, release: Release) -> str:
    figures = {
        "cells": f"{len(problem.table):,}",
        "sensitive": f"{len(problem.levels):,}",
        "not published as they are": f"{int(release.changed.sum()):,}",
        "attackers": problem.considered.text,
        "method": str(release.made_by.get("method", "read from a file")),
    }
    if release.outcome is not None:
        outcome = release.outcome
        figures["information lost"] = f"{outcome.loss:,.6g} ({outcome.status.value})"
        if outcome.search:
            figures["search"] = outcome.search
        figures["lower bound"] = f"{outcome.bound:,.6g} (gap {outcome.gap:.1%})"
        if outcome.remarks:
            figures["remarks"] = "; ".join(outcome.remarks)
    return "<dl>" + "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in figures.items()) + "</dl>"


def _draw_kinds_bar(release: Release, sensitive: Mask) -> str:
    """Return an SVG bar for the HTML report: how many cells are of each kind, with a legend in words."""
    counts = np.bincount(classify_cells(release, sensitive), minlength=len(KINDS)).tolist()
    width, x = 720.0, 0.0
    pieces: list[str] = []
    legend: list[str] = []
    for name, count in zip(KINDS, counts, strict=True):
        if not count:
            continue
        share = width * count / len(release)
        pieces.append(f'<rect x="{x:.1f}" y="0" width="{share:.1f}" height="24" class="fill-{name}"/>')
        y = 44 + 20 * len(legend)
        legend.append(
            f'<rect x="0" y="{y - 11}" width="13" height="13" class="fill-{name}"/>'
            f'<text x="20" y="{y}">{SIGNS[name]} {MEANINGS[name]}: {count:,}</text>'
        )
        x += share
    height = 40 + 20 * len(legend)
    return (
        f'<svg viewBox="0 0 720 {height}" width="100%" style="max-width:720px" role="img" '
        f'aria-label="cells by kind">{"".join(pieces + legend)}</svg>'
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


def _build_unsafe_section(audit: Audit, most: int = 200) -> str:
    if audit.safe:
        return ""
    findings = list(audit.findings(only_unsafe=True))
    rows = [(f.name, f.attacker, f.verdict) for f in findings[:most]]
    more = f"<p>and {len(findings) - most:,} more</p>" if len(findings) > most else ""
    key = f'<p class="faint">{escape(explain_verdicts(findings))}</p>'
    return "<h2>Not safe</h2>" + build_word_table(("cell", "attacker", "verdict"), rows) + more + key
