"""The summary of a run as one page of HTML: what is safe, what is not, and who decided what.

No value of a cell and no sum of values is on it. It names rules and reasons, so it is internal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from tacita import __version__
from tacita.core.words import pluralize
from tacita.report.page import build_page, build_word_table

Record = Mapping[str, Any]
HEADINGS = (
    "table",
    "verdict",
    "cells",
    "sensitive",
    "not published",
    "gap",
    "method",
    "attackers",
    "seconds",
)


def build_run_page(records: Sequence[Record], title: str, together: Sequence[Record] = ()) -> str:
    """Return the HTML page on a run by the records of its log: verdicts first, then every table.

    ``together`` are the records of tables that were judged together.
    """
    wrong = [record for record in records if record["verdict"] != "safe"]
    parts = [
        _build_verdict(records, together),
        _build_section("To look at", ("table", "verdict", "why"), [_explain(each) for each in wrong]),
        _build_section("Judged together", ("tables", "verdict"), [_name_together(e) for e in together]),
        *(f"<p>{escape(e['error'])}.</p>" for e in together if e["verdict"] == "not safe"),
        _build_section("Tables", HEADINGS, [_describe(each) for each in records]),
        _build_section("Rules", ("table", "rule", "sensitive cells"), list(_list_rules(records))),
        _build_section(
            "Decided by hand", ("table", "decision", "number", "reason", "by"), list(_list_decisions(records))
        ),
        _build_section(
            "Warnings",
            ("table", "warning"),
            [(r["table"], w) for r in records for w in r.get("warnings", ())],
        ),
        f'<p class="faint">tacita {__version__}. Internal: this page names rules and reasons. No value of a '
        "cell is on it; the log has losses, which are sums of such values.</p>",
    ]
    return build_page(title, parts)


def _build_verdict(records: Sequence[Record], together: Sequence[Record]) -> str:
    kinds = list(dict.fromkeys(record["verdict"] for record in records))
    counts = ", ".join(f"{sum(r['verdict'] == kind for r in records):,} {kind}" for kind in kinds)
    for kind, words in (("not safe", "not safe together"), ("failed", "not judged together")):
        groups = sum(each["verdict"] == kind for each in together)
        counts += f"; {pluralize(groups, 'group')} {words}" if groups else ""
    safe = all(each["verdict"] == "safe" for each in (*records, *together))
    tone, sign = ("safe", "✓") if safe else ("unsafe", "✗")
    return f'<p class="verdict"><span class="{tone}">{sign} {escape(counts)}.</span></p>'


def _build_section(heading: str, columns: tuple[str, ...], rows: Sequence[tuple[str | int, ...]]) -> str:
    return f"<h2>{escape(heading)}</h2>{build_word_table(columns, rows)}" if rows else ""


def _explain(record: Record) -> tuple[str, ...]:
    """Return the row of a table that is not safe; errors quote files, so only their kind is told."""
    audit = record.get("audit")
    if audit is not None:
        why = f"{audit['unsafe']:,} of {pluralize(audit['checked'], 'sensitive cell')} not proven safe"
    else:
        why = f"{record.get('fault') or 'It was not begun.'} The log says more."
    return record["table"], record["verdict"], why


def _name_together(record: Record) -> tuple[str, ...]:
    """Return the row of tables that were judged together; errors quote files, so the log has them alone."""
    words = {"failed": "judged alone, not together: the log says why", "safe": "safe together"}
    verdict: str = record["verdict"]
    return record["table"], words.get(verdict, verdict)


def _describe(record: Record) -> tuple[str, ...]:
    gap, status = record.get("gap"), record.get("status") or ""
    return (
        record["table"],
        record["verdict"] + (", stopped" if record.get("stopped") else ""),
        *(_write_number(record.get(name)) for name in ("cells", "sensitive", "changed")),
        status if gap is None else f"{gap:.2%} ({status})",
        record.get("method") or "",
        record.get("attackers") or "",
        _write_number(record.get("seconds")),
    )


def _write_number(number: float | None) -> str:
    return "" if number is None else f"{number:,}"


def _list_rules(records: Sequence[Record]) -> Iterator[tuple[str | int, ...]]:
    for record in records:
        for rule, cells in (record.get("rules") or {}).items():
            yield record["table"], rule, cells


def _list_decisions(records: Sequence[Record]) -> Iterator[tuple[str | int, ...]]:
    for record in records:
        for decision in record.get("decisions") or ():
            words = (decision.get("reason") or "none is given", decision.get("by") or "")
            yield record["table"], decision["decision"], decision["number"], *words
