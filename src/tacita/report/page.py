"""Pages of HTML that reports are made of: no script, no outside request."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path

STYLE = Path(__file__).with_name("report.css")


def build_page(title: str, parts: Iterable[str]) -> str:
    """Return a page of HTML in the style of reports, below its title; parts that are empty are left out."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE.read_text(encoding='utf-8')}</style></head><body>\n"
        + "\n".join(filter(None, (f"<h1>{escape(title)}</h1>", *parts)))
        + "\n</body></html>\n"
    )


def build_word_table(headings: tuple[str, ...], rows: Iterable[tuple[str | int, ...]]) -> str:
    """Return an HTML table of the report: words aligned left, numbers aligned right, with headings."""
    listed = list(rows)
    aligned = [' class="number"' if isinstance(entry, int) else "" for entry in listed[0]] if listed else []
    aligned += [""] * (len(headings) - len(aligned))

    def line(tag: str, entries: Iterable[str | int]) -> str:
        texts = (f"{entry:,}" if isinstance(entry, int) else escape(entry) for entry in entries)
        cells = (f"<{tag}{side}>{text}</{tag}>" for side, text in zip(aligned, texts, strict=True))
        return f"<tr>{''.join(cells)}</tr>"

    head, body = line("th", headings), "".join(line("td", row) for row in listed)
    table = f'<table class="words"><thead>{head}</thead><tbody>{body}</tbody></table>'
    return f'<div class="scroll">{table}</div>'
