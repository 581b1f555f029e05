"""Workbooks as other people make them, for tests that read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import xlsxwriter


def workbook(
    path: Path, sheets: Mapping[str, Sequence[Sequence[object]]], hidden: Sequence[str] = (), chart: str = ""
) -> Path:
    with xlsxwriter.Workbook(str(path)) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for r, row in enumerate(rows):
                sheet.write_row(r, 0, row)
            if name in hidden:
                sheet.hide()
        if chart:
            drawn = book.add_chart({"type": "bar"})
            drawn.add_series({"values": f"='{next(iter(sheets))}'!$A$1:$A$2"})
            book.add_chartsheet(chart).set_chart(drawn)
    return path
