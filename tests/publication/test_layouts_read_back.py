"""A workbook that came back in its own layout is read as the release that was written into it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_workbook import SHEET, make_workbook
from openpyxl import Workbook, load_workbook

import tacita as tc
from tacita.cli import main
from tacita.formats.presentation import Presentation
from tacita.publication.same_layout.input_sheet import InputSheet
from tacita.publication.same_layout.write_workbook import write_same_layout

CODES = {
    "region": ("North", "East", "South"),
    "industry": ("mining", "trade"),
    "sex": ("Men", "Women"),
    "size": ("small", "large", "unknown size"),
}


def with_totals(dimensions: list[str], totals: str) -> list[tuple[str, ...]]:
    """All combinations of codes, nested; with no totals, the total of all, or that of each outer code too."""
    outer, inner = CODES[dimensions[0]], [CODES[name] for name in dimensions[1:]]
    found: list[tuple[str, ...]] = []
    for code in outer:
        found += [(code, *codes) for codes in product(*inner)]
        if totals == "each" and inner:
            found.append((code, *["Total"] * len(inner)))
    return found if totals == "none" else [*found, ("Total",) * len(dimensions)]


@dataclass(frozen=True)
class Layout:
    """Lines of a sheet with a crosstab, what is merged in it, from 0, and the codes of its cells."""

    lines: list[list[Any]]
    merged: list[tuple[int, int, int, int]]
    cells: list[tuple[str, ...]]


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    """Crosstabs in a sheet, nested on either side, as offices lay them out."""
    names = draw(st.permutations(list(CODES)))
    side, top = draw(st.sampled_from([(1, 2), (2, 2), (1, 3), (1, 1)]))
    # Totals on both sides, or on neither.
    which = draw(st.sampled_from([("none", "none"), *product(("all", "each"), repeat=2)]))
    down, across = with_totals(names[:side], which[0]), with_totals(names[side : side + top], which[1])
    leaves = {
        codes: draw(st.integers(0, 500)) for codes in product(*(CODES[name] for name in names[: side + top]))
    }

    def add_up(codes: tuple[str, ...]) -> int:
        return sum(
            value
            for leaf, value in leaves.items()
            if all(own in ("Total", code) for own, code in zip(codes, leaf, strict=True))
        )

    merges, fills = draw(st.booleans()), draw(st.booleans())
    corner = draw(st.sampled_from(["first", "last"])) if merges else "last"
    lines: list[list[Any]] = []
    merged = []
    for k in range(top):
        line: list[Any] = [""] * side
        if k == (0 if corner == "first" else top - 1):
            line = list(names[:side])
        before: tuple[str, ...] | None = None
        for codes in across:
            again = before is not None and codes[: k + 1] == before[: k + 1] and k < top - 1
            inner = codes[k] == "Total" and k > 0 and (top == 2 or codes[k - 1] == "Total")
            line.append("" if again or inner else codes[k])
            before = codes
        lines.append(line)
    if merges:
        merged += [(0, c, top - 1, c) for c in range(side) if top > 1 and corner == "first"]
        for k in range(top - 1):
            starts = [c for c in range(side, side + len(across)) if lines[k][c]]
            for first, after in zip(starts, [*starts[1:], side + len(across)], strict=True):
                inner = [c for c in range(first, after) if across[c - side][k] != "Total"]
                if len(inner) > 1:
                    merged.append((k, first, k, inner[-1]))
    before = None
    for codes in down:
        heads = []
        for k, code in enumerate(codes):
            again = before is not None and codes[: k + 1] == before[: k + 1] and k < side - 1 and not fills
            heads.append("" if again or (code == "Total" and k > 0 and fills) else code)
        lines.append([*heads, *(add_up((*codes, *each)) for each in across)])
        before = codes
    above = draw(st.sampled_from([[], [["A title"]], [["A title"], ["EUR"], []]]))
    below = draw(st.sampled_from([[], [[], ["A footnote."]]]))
    aside = draw(st.integers(0, 1))
    lines = [[*[""] * aside, *line] for line in (*above, *lines, *below)]
    n = len(above)
    places = [(a + n, b + aside, c + n, d + aside) for a, b, c, d in merged]
    return Layout(lines, places, [(*codes, *each) for codes in down for each in across])


def make_sheet(path: Path, layout: Layout) -> Path:
    book = Workbook()
    for r, line in enumerate(layout.lines, start=1):
        for c, value in enumerate(line, start=1):
            if value != "":
                book.active.cell(r, c, value)
    for a, b, c, d in layout.merged:
        book.active.merge_cells(start_row=a + 1, start_column=b + 1, end_row=c + 1, end_column=d + 1)
    book.save(path)
    return path


@given(layouts(), st.data())
def test_any_layout_is_read_back(tmp_path_factory: Any, layout: Layout, data: st.DataObject) -> None:
    path = make_sheet(tmp_path_factory.mktemp("layouts") / "report.xlsx", layout)
    table = tc.read_case(path, counts=True)
    assert isinstance(table, tc.Table)
    # Some rows or columns may be hidden throughout.
    dimension = data.draw(st.integers(0, len(table.structure.dimensions) - 1), label="dimension")
    code = data.draw(st.integers(0, len(table.structure.dimensions[dimension].codes) - 1), label="code")
    chosen = data.draw(st.sets(st.integers(0, len(table) - 1)), label="hidden")
    mask = np.isin(np.arange(len(table)), list(chosen))
    if data.draw(st.booleans(), label="throughout"):
        mask |= np.asarray(table.structure.codes[:, dimension] == code)
    if data.draw(st.booleans(), label="intervals"):
        release = tc.Release.intervals(table, mask, table.units - 3, table.units + 5)
    else:
        release = tc.Release.suppress(table, mask)
    target = path.with_name("safe.xlsx")
    mark = data.draw(st.sampled_from(["x", "*", "c", ":", "suppressed"]), label="mark")
    write_same_layout(release, target, InputSheet(path), {}, Presentation(mark), truth=table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = tc.read_release(target, table, absent="suppressed")
    fields = [table.structure.find(*codes) for codes in layout.cells]
    for name in ("marks", "low", "high", "value"):
        assert (getattr(read, name)[fields] == getattr(release, name)[fields]).all()
    # Of what has no field in the sheet the workbook says nothing.
    assert (np.delete(read.marks, fields) == tc.Mark.SUPPRESSED).all()


def test_a_workbook_that_came_back_is_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    make_workbook(Path("report.xlsx"))
    case = ["report.xlsx", "--counts", "--rules", "frequency(400000)"]
    assert main(["protect", *case, "--out", "safe.xlsx"]) == 0
    verify = ["verify", case[0], "safe.xlsx", "safe.internal", *case[1:]]
    capsys.readouterr()
    assert main(verify) == 0
    told = capsys.readouterr()
    assert "✔ verified" in told.out
    # The totals by size have no fields in the sheet.
    assert "says nothing of" in told.err
    book = load_workbook("safe.xlsx")
    sheet = book[SHEET]
    field = next(c for row in sheet["B6:E9"] for c in row if c.value == "x")
    field.value = load_workbook("report.xlsx")[SHEET][field.coordinate].value
    book.save("safe.xlsx")
    assert main(verify) == 2
    assert "it says something else about cell" in capsys.readouterr().err
