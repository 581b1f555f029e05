"""Heat maps, deviations by level and the page of a comparison: counted and drawn as the release says."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from math import nan

import numpy as np
import pyarrow as pa
import pytest

from tacita.auditing.audit import audit
from tacita.auditing.deduce import deduce
from tacita.core.release import Release
from tacita.core.tables.table import Table
from tacita.problem.problem import Problem
from tacita.report.comparison_page import build_comparison_page
from tacita.report.deviation_picture import draw_deviations, find_level_deviations
from tacita.report.hidden_picture import draw_hidden, find_hidden_maps
from tacita.report.html import build_interval_section, build_report_page, choose_interval_cells
from tacita.report.measures import FURTHER, MEASURES
from tacita.report.page import Picture, build_word_table
from tacita.report.terminal import ComparisonRow
from tacita.rules import Marked

VALUES = [[20111, 50222, 10333], [8444, 19555, 22666], [17777, 32888, 12999]]
SQUARE = (("2", "1"), ("2", "3"), ("3", "1"), ("3", "3"))


def cube() -> Table:
    codes = [(a, b, c) for a in "xyz" for b in "pq" for c in "mn"]
    columns = dict(zip(("first", "second", "third"), zip(*codes, strict=True), strict=True))
    rows = pa.table({**{k: list(v) for k, v in columns.items()}, "value": range(10, 10 + len(codes))})
    return Table.from_frame(rows, ["first", "second", "third"], value="value")


def test_maps_of_every_pair_count_all_cells() -> None:
    table = cube()
    hidden = np.random.default_rng(1).random(len(table)) < 0.4
    release = Release.suppress(table, hidden)
    maps = list(find_hidden_maps(release))
    assert len(maps) == 3
    for shown in maps:
        assert (shown.cells.sum(), shown.hidden.sum()) == (len(table), hidden.sum())
        for r, row in enumerate(shown.rows):
            for c, column in enumerate(shown.columns):
                here = [
                    i
                    for i in range(len(table))
                    if {shown.row_name: row.code, shown.column_name: column.code}.items()
                    <= dict(zip(("first", "second", "third"), table.structure.key(i), strict=True)).items()
                ]
                assert (shown.cells[r, c], shown.hidden[r, c]) == (len(here), hidden[here].sum())


def test_pictures_are_well_formed_and_say_in_words_what_they_show() -> None:
    rows = pa.table({"a & b": ["<x>", "y"], "value": [10, 20]})
    table = Table.from_frame(rows, ["a & b"], value="value")
    drawn = draw_hidden(Release.suppress(table, [table.find("<x>"), table.find("y")]))
    tree = ElementTree.fromstring(drawn)
    titles = [element.text for element in tree.iter("title")]
    assert titles == ["a & b=<x>: no number", "a & b=y: no number"]
    (picture,) = tree.iter("svg")
    assert picture.get("role") == "img"
    assert "2 of 3 cells without a number" in str(picture.get("aria-label"))
    assert draw_hidden(Release.suppress(table, [])) == "<p>Every cell shows a number.</p>"


def test_deviations_by_level_are_those_of_the_shown_numbers() -> None:
    table = Table.from_array([10, 20, 0])
    shown = np.array([{10: 15, 20: 10, 0: 5, 30: 30}[value] for value in table.units.tolist()])
    release = Release.rounded(table, shown, 10)
    total, inner = find_level_deviations(table, release)
    assert (total.cells, total.smallest, total.largest) == (1, 0, 0)
    assert (inner.cells, inner.smallest, inner.median, inner.largest) == (2, -50, 0, 50)
    (picture,) = ElementTree.fromstring(f"<p>{draw_deviations(table, release)}</p>")
    assert "-50% to +50%" in str(picture.get("aria-label"))
    assert (
        draw_deviations(table, Release.suppress(table, [0])) == "<p>Every number shown is the true one.</p>"
    )


@pytest.fixture
def problem() -> Problem:
    return Problem(Table.from_array(VALUES), Marked([("2", "3")], lower=300, upper=300))


def test_intervals_show_room_and_no_hidden_value(problem: Problem) -> None:
    release = Release.suppress(problem.table, [problem.table.find(*codes) for codes in SQUARE])
    found = audit(problem, release)
    cells = choose_interval_cells(found)
    assert cells == problem.sensitive.tolist()
    intervals = deduce(problem, release, cells=cells)
    section = build_interval_section(found, intervals)
    low, high = intervals.of(cells[0])
    assert f"{(22666 - low) / 300:.3g} × required" in section
    assert f"{(high - 22666) / 300:.3g} × required" in section
    page = build_report_page(problem, release, found, "t", intervals=intervals)
    for row, column in SQUARE:
        assert str(VALUES[int(row) - 1][int(column) - 1]) not in page.replace("\u202f", "").replace(",", "")


def test_cells_that_are_not_safe_come_first(problem: Problem) -> None:
    two = Problem(problem.table, Marked([("1", "1"), ("2", "3")], lower=300, upper=300))
    alone = [two.table.find(*codes) for codes in (*SQUARE, ("1", "1"))]
    found = audit(two, Release.suppress(two.table, alone))
    assert choose_interval_cells(found) == [two.table.find("1", "1"), two.table.find("2", "3")]


def test_page_of_a_comparison_has_all_measures_and_a_card_for_each_release(problem: Problem) -> None:
    found = audit(problem, Release.suppress(problem.table, [problem.table.find(*c) for c in SQUARE]))
    numbers = {measure.key: 1.0 for measure in (*MEASURES, *FURTHER)}
    none = dict.fromkeys(numbers, nan)
    rows = [ComparisonRow("by <hand>", numbers, found), ComparisonRow("late", none, error="no <time>")]
    page = build_comparison_page(rows, "Compared")
    assert page.count("<section>") == 2
    assert all(f"<th scope='row'>{m.head}</th>" in page for m in (*MEASURES, *FURTHER))
    assert "by &lt;hand&gt;" in page
    assert "no release: no &lt;time&gt;" in page
    assert "default-src 'none'" in page


def test_only_pictures_stand_in_tables_as_they_are() -> None:
    table = build_word_table(("code", "picture"), [("<svg onload=alert(1)>", Picture("<svg></svg>"))])
    assert "<td>&lt;svg onload=alert(1)&gt;</td><td><svg></svg></td>" in table
