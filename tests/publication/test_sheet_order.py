"""A workbook of the same layout is refused where the order of its rows tells of hidden values."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

import tacita as tc
from tacita.core.errors import ReleaseError
from tacita.core.tables.read_options import ReadOptions
from tacita.publication.results import write_results
from tacita.publication.same_layout.input_sheet import InputSheet

ROWS = [
    ("Trade", 900, 500),
    ("Building", 700, 410),
    ("Arts", 650, 430),
    ("Farming", 600, 100),
    ("Mining", 520, 300),
    ("Energy", 2, 40),
]


def write_book(path: Path, rows: list[tuple[str, int, int]]) -> Path:
    book = openpyxl.Workbook()
    for row in [("industry", "men", "women"), *rows]:
        book.active.append(row)
    book.save(path)
    return path


def publish(book: Path, cells: list[tuple[str, str]], **read: str) -> list[str]:
    """Return the codes of the published workbook, in the order of its rows."""
    options = ReadOptions(**read)
    problem = tc.read_case(book, options, rule="threshold(3)")
    audit = tc.audit(problem, tc.Release.suppress(problem.table, cells))
    out = book.with_name("published.xlsx")
    write_results(audit, out, like=InputSheet(book, options))
    sheet = openpyxl.load_workbook(out).worksheets[0]
    codes = [str(row[0]) for row in sheet.iter_rows(values_only=True)]
    return [code for code in codes if code in {name for name, *_ in ROWS}]


MEN = [("Energy", "men"), ("Energy", "women"), ("Farming", "men"), ("Farming", "women")]


def test_a_sheet_sorted_by_a_column_with_hidden_cells_is_refused(tmp_path: Path) -> None:
    book = write_book(tmp_path / "case.xlsx", ROWS)
    with pytest.raises(ReleaseError, match=r"'industry' are sorted by the values of column=men") as refused:
        publish(book, MEN)
    assert refused.value.options == ("layout=new", "order=input")
    assert not (tmp_path / "published.xlsx").exists()


def test_the_order_is_kept_on_request(tmp_path: Path) -> None:
    book = write_book(tmp_path / "case.xlsx", ROWS)
    with pytest.warns(tc.TacitaWarning, match="keep this order"):
        assert publish(book, MEN, order="input") == [name for name, *_ in ROWS]


def test_a_sheet_sorted_by_code_is_copied(tmp_path: Path) -> None:
    book = write_book(tmp_path / "case.xlsx", sorted(ROWS))
    assert publish(book, MEN) == sorted(name for name, *_ in ROWS)


def test_an_order_by_numbers_that_are_all_published_tells_nothing(tmp_path: Path) -> None:
    rows = [(name, men, women) for name, men, women in ROWS if name != "Energy"]
    book = write_book(tmp_path / "case.xlsx", [*rows, ("Energy", 480, 40)])
    cells = [("Arts", "women"), ("Arts", "Total"), ("Trade", "women"), ("Trade", "Total")]
    assert publish(book, cells) == [name for name, *_ in ROWS]
