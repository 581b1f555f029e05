"""Pictures that stand alone in a file: a table as it is published, what is deduced, how far numbers moved.

They bring their colours along and need no page around them; each has its content in words, too. Pictures with
the sensitive cells or true values in them are internal.
"""

from __future__ import annotations

from html import escape

import numpy as np

from tacita.auditing.audit import Audit
from tacita.auditing.deduce import deduce
from tacita.core.errors import InputError
from tacita.core.exact import Mask
from tacita.core.release import Mark, Release
from tacita.core.tables.table import Table
from tacita.report.deviation_picture import draw_deviations, find_widest
from tacita.report.interval_picture import HEIGHT, WIDTH
from tacita.report.picture import KINDS, MEANINGS, SIGNS, build_crosstab, classify_cells, format_shown
from tacita.report.sensitive_cells import SensitiveCells

LETTER, ROW, PAD = 7.6, 24, 10
"""The width of a letter of 13 pixels, the height of a line, and the room beside a text."""
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1b1b1f} .right{text-anchor:end} .head{font-weight:600}"
    " .sensitive{fill:#dbe8fb} .other{fill:#fbe1df} .exposed{fill:#b3261e} .rounded{fill:none}"
    " .line,.axis{stroke:#d9dce1}"
    " .whisker{stroke:#6b6f76;stroke-width:1.5} .box{fill:#dbe8fb;stroke:#1f5fbf}"
    " .median{stroke:#1f5fbf;stroke-width:2.5}"
)


def draw_table(release: Release, sensitive: Mask | None = None) -> str:
    """Return an SVG file of a release as a crosstab, other dimensions at their totals.

    Parameters
    ----------
    sensitive
        Which cells are sensitive. These are marked ■ and other changed ones ▲, and the picture is internal.
        Without it, cells that show no number are marked × alike, as readers see them.
    """
    crosstab = build_crosstab(release.structure)
    if crosstab is None:
        raise InputError("a table without dimensions has no rows to draw", remedy="give it dimensions")
    if sensitive is None:
        kinds, signs, legend = (
            np.where(release.shown, 0, 2),
            {**SIGNS, "other": "×"},
            _describe_marks(release),
        )
    else:
        kinds, signs = classify_cells(release, sensitive), SIGNS
        legend = _describe_kinds(kinds)
    texts = [
        [
            "" if cell < 0 else f"{signs[KINDS[kinds[cell]]]} {format_shown(release, cell)}".strip()
            for cell in row
        ]
        for row in crosstab.cells.tolist()
    ]
    names = ["\u2003" * line.depth + line.code for line in crosstab.rows]
    corner = " \\ ".join(filter(None, (crosstab.row_name, crosstab.column_name)))
    first = _measure([corner, *names])
    heads = [line.code for line in crosstab.columns]
    ends = first + np.cumsum([_measure([head, *own]) for head, *own in zip(heads, *texts, strict=True)])
    parts = [_write(PAD, 0, corner, "head")]
    parts += [_write(end - PAD, 0, head, "head right") for end, head in zip(ends, heads, strict=True)]
    starts = [first, *ends[:-1]]
    for r, (name, row, cells) in enumerate(zip(names, texts, crosstab.cells.tolist(), strict=True), 1):
        parts.append(f'<path class="line" d="M0 {r * ROW}H{ends[-1]:.0f}"/>')
        parts.append(_write(PAD, r, name))
        for start, end, text, cell in zip(starts, ends, row, cells, strict=True):
            if cell >= 0 and kinds[cell]:
                box = (
                    f'x="{start + 1:.0f}" y="{r * ROW + 1}" width="{end - start - 2:.0f}" height="{ROW - 2}"'
                )
                parts.append(f'<rect {box} class="{KINDS[kinds[cell]]}"/>')
            parts.append(_write(end - PAD, r, text, "right"))
    bottom = len(names) + 1
    words = [f"{name.strip()}: {', '.join(row)}" for name, row in zip(names, texts, strict=True)]
    parts += [_write(PAD, bottom + k, text) for k, text in enumerate(legend)]
    width = max(float(ends[-1]), _measure(legend))
    return _frame(width, (bottom + len(legend)) * ROW, "; ".join([*legend, *words]), parts)


def draw_audit(audit: Audit) -> str:
    """Return an internal SVG file of an audit: of each sensitive cell what its worst attacker deduces, and
    what is required.
    """
    hidden = audit.problem.sensitive[audit.release.hidden[audit.problem.sensitive]]
    listed = SensitiveCells(audit, deduce(audit.problem, audit.release, cells=hidden))
    rows = [listed.build_row(cell) for cell in listed.cells.tolist()]
    left = _measure([row.name for row in rows])
    right = _measure([row.verdict for row in rows])
    parts = []
    for r, row in enumerate(rows):
        y = r * (HEIGHT + 4)
        parts.append(f'<text x="{PAD}" y="{y + 18}">{escape(row.name)}</text>')
        parts.append(f'<g transform="translate({left:.0f} {y})">{row.picture}</g>')
        parts.append(f'<text x="{left + WIDTH + PAD:.0f}" y="{y + 18}">{escape(row.verdict)}</text>')
    legend = ("● true value · [ ] must stay possible · bar: deduced · line: known before",)
    height = len(rows) * (HEIGHT + 4)
    parts.append(f'<text x="{PAD}" y="{height + 18}">{legend[0]}</text>')
    return _frame(max(left + WIDTH + right, _measure(legend)), height + ROW + 4, audit.verdict, parts)


def draw_changes(table: Table, release: Release) -> str:
    """Return an internal SVG file of how far shown numbers are from the truth, level by level."""
    if not find_widest(table, release):
        raise InputError("every number shown is the true one, so there are no changes to draw")
    drawn = draw_deviations(table, release)
    head, _, body = drawn.partition(">")
    return f"{head.replace('<svg', _SVG)}><style>{STYLE}</style>{_GROUND}{body}\n"


_SVG = '<svg xmlns="http://www.w3.org/2000/svg"'
_GROUND = '<rect width="100%" height="100%" fill="#fff"/>'


def _frame(width: float, height: float, words: str, parts: list[str]) -> str:
    """Return an SVG file of parts on white ground, with its content in words."""
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    return (
        f'{_SVG} {size} role="img" aria-label="{escape(words)}"><style>{STYLE}</style>{_GROUND}'
        f"{''.join(parts)}</svg>\n"
    )


def _write(x: float, row: int, text: str, style: str = "") -> str:
    """Return a text on a line of a picture, counted from the top."""
    own = f' class="{style}"' if style else ""
    return f'<text x="{x:.0f}" y="{row * ROW + 17}"{own}>{escape(text)}</text>' if text else ""


def _measure(texts: list[str] | tuple[str, ...]) -> float:
    """Return the width of the longest of several texts in a picture, with room on both sides."""
    return 2 * PAD + LETTER * max(map(len, texts), default=0)


def _describe_kinds(kinds: np.ndarray) -> list[str]:
    """Return the lines below a picture that say how many cells are of each kind."""
    counts = np.bincount(kinds, minlength=len(KINDS)).tolist()
    named = zip(KINDS, counts, strict=True)
    return [f"{SIGNS[name]} {MEANINGS[name]}: {count}".strip() for name, count in named if count]


def _describe_marks(release: Release) -> list[str]:
    """Return the lines below a picture for readers that say how many cells are published in each way."""
    names, counts = np.unique([Mark(mark).word for mark in release.marks], return_counts=True)
    return [f"{name}: {count}" for name, count in zip(names.tolist(), counts.tolist(), strict=True)]
