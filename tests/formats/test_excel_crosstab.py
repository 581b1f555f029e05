"""The crosstab of a workbook stands as tables are printed and as the app shows them: sums behind parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from openpyxl import load_workbook
from python_calamine import CalamineWorkbook

from tacita.core.hierarchy import Hierarchy
from tacita.core.release import Release
from tacita.core.tables.layout import lay_out
from tacita.core.tables.table import Table
from tacita.formats.excel import write_excel


def test_sums_come_after_their_parts_as_on_the_screen(tmp_path: Path) -> None:
    region = Hierarchy.from_dict({"north": ["a", "b"], "south": []}, "land")
    frame = pa.table(
        {"region": ["a", "b", "south"] * 2, "sex": ["f"] * 3 + ["m"] * 3, "value": [1, 2, 3, 4, 5, 6]}
    )
    table = Table.from_frame(frame, by={"region": region, "sex": None}, value="value")
    path = write_excel(Release.suppress(table, np.zeros(len(table), dtype=bool)), tmp_path / "release.xlsx")
    title, _, head, *rows = CalamineWorkbook.from_path(str(path)).get_sheet_by_name("crosstab").to_python()
    assert title[0] == "region by sex"
    shown = lay_out(table.structure)
    assert head == ["region", "f", "m", "Total"]
    assert [row[0] for row in rows] == ["a", "b", "north", "south", "land"]
    assert [row[0] for row in rows] == [line.code for line in shown.rows]
    sheet = load_workbook(path)["crosstab"]
    assert [int(sheet.cell(4 + r, 1).alignment.indent) for r in range(5)] == [2, 2, 1, 1, 0]
    assert [bool(sheet.cell(4 + r, 1).font.bold) for r in range(5)] == [False, False, True, False, True]
    assert [bool(sheet.cell(4, c).font.bold) for c in range(2, 5)] == [False, False, True]
    assert {sheet.cell(4, c).number_format for c in range(2, 5)} == {"#,##0"}
    assert sheet.column_dimensions["A"].width > len("region")
    assert [row[1:] for row in rows] == [[1, 4, 5], [2, 5, 7], [3, 9, 12], [3, 6, 9], [6, 15, 21]]
