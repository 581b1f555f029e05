"""A workbook as offices have it: title, nested merged headings, footnotes, a chart, and much beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.formatting.rule import CellIsRule
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation

REGIONS = {
    "North": (1042319, 2209173, 5127337, 7081121),
    "East": (301139, 4190713, 5203973, 6184327),
    "South": (1303571, 2039119, 4059179, 8192917),
}
SHEET = "Table 3"
TITLE = "Table 3. Turnover by region, sex of the owner and size"


def make_workbook(path: Path, regions: Mapping[str, Sequence[int]] = REGIONS, **texts: Any) -> Path:
    """Write the workbook, with further ``texts`` by field, and return its path."""
    book = Workbook()
    sheet = book.active
    sheet.title = SHEET
    sheet["A1"], sheet["A2"] = TITLE, "EUR"
    sheet["A1"].font, sheet["A2"].font = Font(bold=True, size=14), Font(italic=True, color="FF808080")
    sheet["A4"], sheet["B4"], sheet["D4"], sheet["F4"] = "Region", "Men", "Women", "Total"
    for column, size in zip("BCDE", ("small", "large") * 2, strict=True):
        sheet[f"{column}5"] = size
    line = Side(style="thin")
    for row in sheet["A4:F5"]:
        for cell in row:
            cell.font, cell.fill = Font(bold=True, color="FFFFFF"), PatternFill("solid", start_color="4472C4")
            cell.alignment, cell.border = Alignment(horizontal="center"), Border(bottom=line)
    for place in ("A1:F1", "A4:A5", "B4:C4", "D4:E4", "F4:F5"):
        sheet.merge_cells(place)
    rows = {**regions, "Total": [sum(column) for column in zip(*regions.values(), strict=True)]}
    for r, (region, values) in enumerate(rows.items(), start=6):
        sheet.cell(r, 1, region)
        for c, value in enumerate((*values, sum(values)), start=2):
            sheet.cell(r, c, value).number_format = "#,##0"
    last = 5 + len(rows)
    for cell in sheet[last]:
        cell.font, cell.border = Font(bold=True), Border(top=line)
    sheet.cell(last + 2, 1, "1) Provisional figures.")
    sheet.cell(last + 3, 1, "Source: survey of enterprises.").font = Font(italic=True, size=8)
    sheet.column_dimensions["A"].width, sheet.column_dimensions["F"].width = 28, 15.5
    for column in "BCDE":
        sheet.column_dimensions[column].width = 13.5
    sheet.row_dimensions[1].height = 24
    sheet.freeze_panes, sheet.print_title_rows = "B6", "4:5"
    sheet.page_setup.orientation, sheet.oddFooter.center.text = "landscape", "Page &P"
    sheet.page_setup.fitToHeight, sheet.page_setup.fitToWidth = 0, 1
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    for field, text in texts.items():
        sheet[field] = text
    _add_secrets(book, [value for values in rows.values() for value in values], last)
    book.save(path)
    return path


def _add_secrets(book: Workbook, values: Sequence[int], last: int) -> None:
    """Put true values wherever a workbook has room for them."""
    sheet = book[SHEET]
    chart = BarChart()
    chart.title, chart.height, chart.width = "Turnover of men", 7, 14
    chart.add_data(Reference(sheet, min_col=2, max_col=3, min_row=5, max_row=last - 1), titles_from_data=True)
    chart.set_categories(Reference(sheet, min_col=1, min_row=6, max_row=last - 1))
    sheet.add_chart(chart, "H3")
    told = ", ".join(map(str, values))
    sheet["B6"].comment = Comment(f"of {told}", "office")
    sheet.conditional_formatting.add("B6:F9", CellIsRule("equal", [str(values[0])]))
    sheet.add_data_validation(DataValidation("list", formula1=f'"{told[:200]}"', sqref="B6"))
    book.defined_names["largest"] = DefinedName("largest", attr_text=str(max(values)))
    book.properties.title = book.properties.description = told
    work = book.create_sheet("working")
    for r, value in enumerate(values, start=1):
        work.cell(r, 1, value)
        work.cell(r, 2, f"='{SHEET}'!B6+{value}")
    copy = BarChart()
    copy.width = 10
    copy.add_data(Reference(work, min_col=1, min_row=1, max_row=4))
    sheet.add_chart(copy, "H20")
