"""Put a cleaned chart into a sheet of a new workbook, where it stood before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacita.publication.same_layout.charts import Chart
from tacita.publication.same_layout.package import Element

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

EMU_PER_ROW = 190_500
"""Height of a usual row, in the unit of drawings."""
FARTHEST = 1_048_575


def add_chart(sheet: Worksheet, chart: Chart) -> None:
    """Add a chart to a sheet of the new workbook."""
    from openpyxl.chart._chart import ChartBase

    class CopiedChart(ChartBase):  # type: ignore[misc]
        """A chart whose XML is given."""

        tagname = "chart"

        def _write(self) -> Element:
            return chart.content

    copied = CopiedChart()
    copied.anchor = _build_anchor(chart.anchor)
    sheet._charts.append(copied)


def find_chart_rows(sheet: Worksheet, column: int) -> list[range]:
    """Return the rows that each chart of a sheet covers in a column, both counted from 1."""
    found = []
    for chart in sheet._charts:
        anchor = chart.anchor
        if not hasattr(anchor, "_from") or anchor._from.col >= column:
            continue
        if hasattr(anchor, "to") and anchor.to.col < column - 1:
            continue
        first = anchor._from.row
        last = anchor.to.row if hasattr(anchor, "to") else first + anchor.ext.height // EMU_PER_ROW
        found.append(range(first + 1, last + 2))
    return found


def _build_anchor(element: Element) -> Any:
    """Return where a chart stands: between two cells, at one cell, or at a place of the sheet."""
    from openpyxl.drawing.spreadsheet_drawing import AbsoluteAnchor, OneCellAnchor, TwoCellAnchor

    kind = element.tag.rpartition("}")[2]
    parts = {child.tag.rpartition("}")[2]: child for child in element}
    if kind == "twoCellAnchor" and {"from", "to"} <= parts.keys():
        how = element.get("editAs")
        return TwoCellAnchor(
            editAs=how if how in ("oneCell", "absolute") else None,
            _from=_build_marker(parts["from"]),
            to=_build_marker(parts["to"]),
        )
    if kind == "oneCellAnchor" and {"from", "ext"} <= parts.keys():
        return OneCellAnchor(_from=_build_marker(parts["from"]), ext=_build_size(parts["ext"]))
    return AbsoluteAnchor(ext=_build_size(parts["ext"]) if "ext" in parts else None)


def _build_marker(element: Element) -> Any:
    from openpyxl.drawing.spreadsheet_drawing import AnchorMarker

    numbers = {child.tag.rpartition("}")[2]: _read_number(child.text) for child in element}
    return AnchorMarker(**{name: numbers.get(name, 0) for name in ("col", "colOff", "row", "rowOff")})


def _build_size(element: Element) -> Any:
    from openpyxl.drawing.xdr import XDRPositiveSize2D

    return XDRPositiveSize2D(_read_number(element.get("cx")), _read_number(element.get("cy")))


def _read_number(text: str | None) -> int:
    digits = (text or "").strip()
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else 0
