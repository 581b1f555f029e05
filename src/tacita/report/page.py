"""Parts of pages of HTML that reports share: the frame of a page, tables of words and numbers.

A page has no script and makes no request to anyone, which it also tells the browser.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

STYLE = Path(__file__).with_name("report.css")
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Nothing but the style that stands in the page itself, whatever a code or a title may hold."""


def build_page(title: str, parts: Iterable[str]) -> str:
    """Return a report as a page of HTML: its title as heading, then its parts, of which empty ones are left
    out.
    """
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE.read_text(encoding='utf-8')}</style></head><body>\n"
        + "\n".join(filter(None, (f"<h1>{escape(title)}</h1>", *parts)))
        + "\n</body></html>\n"
    )


class Picture(str):
    """A picture as HTML, which tables of a page hold as it is."""

    __slots__ = ()


def build_word_table(headings: Sequence[str], rows: Iterable[Sequence[str | int]], numbers: int = 0) -> str:
    """Return an HTML table of a report: words left, integers and the last ``numbers`` columns right."""
    listed = list(rows)
    right = [isinstance(entry, int) for entry in listed[0]] if listed else [False] * len(headings)
    right[len(right) - numbers :] = [True] * numbers
    sides = [' class="number"' if side else "" for side in right]

    def line(tag: str, entries: Iterable[str | int]) -> str:
        cells = (f"<{tag}{side}>{_write(entry)}</{tag}>" for side, entry in zip(sides, entries, strict=True))
        return f"<tr>{''.join(cells)}</tr>"

    head = line("th", headings).replace("<th", '<th scope="col"')
    body = "".join(line("td", row) for row in listed)
    table = f'<table class="words"><thead>{head}</thead><tbody>{body}</tbody></table>'
    return f'<div class="scroll">{table}</div>'


def _write(entry: str | int) -> str:
    if isinstance(entry, int):
        return f"{entry:,}"
    return entry if isinstance(entry, Picture) else escape(entry)


def build_list(entries: Iterable[tuple[str, str]]) -> str:
    """Return names with their texts as an HTML list of a report."""
    return "<dl>" + "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in entries) + "</dl>"


def build_figure(picture: str, caption: str) -> str:
    """Return a picture of a report with its caption."""
    return f"<figure>{picture}<figcaption>{escape(caption)}</figcaption></figure>"
