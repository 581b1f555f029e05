"""Pictures of a release: what is shown where, and that nothing hidden and nothing from outside is in them."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console

from tacita.auditing.audit import Audit, Finding, audit
from tacita.auditing.block_tasks import BIT_NAMES
from tacita.core.hierarchy import Hierarchy
from tacita.core.levels import Levels
from tacita.core.release import Release
from tacita.core.tables.table import Table
from tacita.methods.rounding.rounding import Rounding
from tacita.problem.problem import Problem
from tacita.report.html import build_report_page
from tacita.report.measures import MEASURES, format_short
from tacita.report.picture import KINDS, build_crosstab, classify_cells, format_shown
from tacita.report.record import build_audit_object, build_audit_record
from tacita.report.terminal import (
    ComparisonRow,
    build_comparison_table,
    build_crosstab_table,
    build_findings_table,
    build_legend,
    build_verdict_line,
)
from tacita.report.verdicts import MEANINGS, explain_verdicts
from tacita.rules import Marked

VALUES = [[20111, 50222, 10333], [8444, 19555, 22666], [17777, 32888, 12999]]
SENSITIVE = ("2", "3")
SQUARE = (("2", "1"), ("2", "3"), ("3", "1"), ("3", "3"))


@pytest.fixture
def problem() -> Problem:
    table = Table.from_array(VALUES)
    sensitive = np.zeros(len(table), dtype=bool)
    sensitive[table.find(*SENSITIVE)] = True
    return Problem(table, Levels.of(sensitive, upper=np.where(sensitive, 300, 0)))


def audited(problem: Problem, hidden: tuple[tuple[str, str], ...]) -> Audit:
    cells = np.array([problem.table.find(*codes) for codes in hidden])
    return audit(problem, Release.suppress(problem.table, cells))


def drawn(*parts: object, width: int = 100) -> str:
    console = Console(width=width, record=True, file=None, force_terminal=False)
    with console.capture() as capture:
        for part in parts:
            console.print(part)
    return capture.get()


class Page(HTMLParser):
    """Tags with their attributes, and all text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_kinds_tell_sensitive_other_and_exposed_apart(problem: Problem) -> None:
    table, sensitive = problem.table, problem.levels.sensitive
    hidden = classify_cells(audited(problem, SQUARE).release, sensitive)
    assert KINDS[hidden[table.find(*SENSITIVE)]] == "sensitive"
    assert KINDS[hidden[table.find("3", "1")]] == "other"
    assert KINDS[hidden[table.find("1", "1")]] == "published"
    assert (
        KINDS[classify_cells(audited(problem, (("1", "1"),)).release, sensitive)[table.find(*SENSITIVE)]]
        == "exposed"
    )


def test_rounded_numbers_carry_no_sign(problem: Problem) -> None:
    release = Rounding(base=1000).protect(problem)
    found = [KINDS[kind] for kind in classify_cells(release, problem.levels.sensitive)]
    assert sorted(set(found)) == ["rounded", "sensitive"]
    text = build_legend(release, problem.levels.sensitive).plain
    assert f"rounded: {found.count('rounded')}" in text
    assert "▲" not in text


def test_shown_text_of_each_kind_of_mark() -> None:
    table = Table.from_array([[12345.5, 2], [3, 4]])
    cell = table.find("1", "1")
    mask = np.arange(len(table)) == cell
    assert format_shown(Release.suppress(table, mask), cell) == ""
    assert format_shown(Release.suppress(table, ~mask), cell) == "12\u202f345.5"
    below_zero = Table.from_array([-0.5, -1234.5])
    assert [format_shown(Release.suppress(below_zero, []), below_zero.find(c)) for c in "12"] == [
        "-0.5",
        "-1\u202f234.5",
    ]
    low, high = np.full(len(table), 120000), np.full(len(table), 130000)
    assert format_shown(Release.intervals(table, mask, low, high), cell) == "12\u202f000…13\u202f000"


def test_crosstab_follows_the_classification_and_leaves_empty_cells_empty() -> None:
    tree = Hierarchy.from_dict({"N": ["N1", "N2"], "S": ["S1", "S2"]})
    rows = pa.table({"region": ["N1", "N2", "S1", "S2"], "sex": ["f", "m", "f", "m"], "value": [1, 2, 3, 4]})
    table = Table.from_frame(rows, {"region": tree, "sex": None}, value="value")
    picture = build_crosstab(table.structure)
    assert picture is not None
    assert [(line.code, line.depth) for line in picture.rows] == [
        *(("Total", 0), ("N", 1), ("N1", 2), ("N2", 2)),
        *(("S", 1), ("S1", 2), ("S2", 2)),
    ]
    assert [line.code for line in picture.columns] == ["Total", "f", "m"]
    assert table.units[picture.cells[0]].tolist() == [10, 4, 6]
    assert picture.cells[2, 2] == -1


def test_crosstab_of_many_codes_keeps_whole_upper_levels() -> None:
    tree = Hierarchy.from_dict({f"G{g}": [f"G{g}.{k}" for k in range(5)] for g in range(4)})
    import pyarrow as pa

    rows = pa.table({"g": list(tree.leaves), "value": [1] * 20})
    picture = build_crosstab(Table.from_frame(rows, {"g": tree}, value="value").structure, most_rows=10)
    assert picture is not None
    assert [line.code for line in picture.rows] == ["Total", "G0", "G1", "G2", "G3"]
    assert "upper levels" in picture.about


def test_page_is_well_formed_and_self_contained(problem: Problem) -> None:
    found = audited(problem, SQUARE)
    page = Page(build_report_page(problem, found.release, found, "A <title> & more", ["How it came about."]))
    assert page.open == []
    assert "A <title> & more" in page.text
    assert "How it came about." in page.text
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "link", "img", "iframe", "object"}
    assert "svg" in names
    for _, attributes in page.tags:
        assert not {"src", "href", "onclick", "onload"} & set(attributes)


def test_no_picture_holds_a_hidden_value(problem: Problem) -> None:
    found = audited(problem, SQUARE)
    sensitive = problem.levels.sensitive
    page = build_report_page(problem, found.release, found, "t")
    shown = drawn(build_crosstab_table(found.release, sensitive, 100), build_legend(found.release, sensitive))
    for text in (page, shown):
        digits = text.replace("\u202f", "")
        for row, column in SQUARE:
            assert str(VALUES[int(row) - 1][int(column) - 1]) not in digits
        assert str(VALUES[0][0]) in digits
        assert "■" in text
        assert "▲" in text
    record = str(build_audit_record(found))
    assert "22666" not in record


def test_unsafe_page_says_so_with_cell_and_attacker(problem: Problem) -> None:
    found = audited(problem, (SENSITIVE,))
    page = Page(build_report_page(problem, found.release, found, "t"))
    assert "Not safe" in page.text
    assert problem.table.name(problem.table.find(*SENSITIVE)) in page.text
    assert "exact disclosure" in page.text
    assert "exact disclosure: only one value is possible" in page.text
    shown = drawn(
        build_findings_table(problem, found.findings(only_unsafe=True), show_values=False),
        build_verdict_line(found),
    )
    assert "NOT SAFE" in shown
    assert "exact disclosure: only one value is possible" in shown
    assert "unproven" not in shown
    assert "22666" not in shown
    assert "22666" in drawn(build_findings_table(problem, found.findings(only_unsafe=True), show_values=True))
    assert build_audit_object(found) == {
        "safe": False,
        "checked": 1,
        "proven": 0,
        "unsafe": 1,
        "exact": 1,
        "exempt": 0,
        "against": "an outsider",
    }


def test_every_verdict_has_a_meaning() -> None:
    assert list(MEANINGS) == list(BIT_NAMES)
    every = Finding(0, "cell", "outsider", sum(BIT_NAMES), 0.0, 0.0)
    assert all(f"{word}: " in explain_verdicts([every]) for word in BIT_NAMES.values())
    assert explain_verdicts([]) == ""


def test_the_page_gives_the_verdict_once_and_aligns_headings_with_their_columns(problem: Problem) -> None:
    rule = Marked([problem.table.find(*SENSITIVE)], lower=300, upper=300)
    found = audited(Problem(problem.table, rule), SQUARE)
    page = Page(build_report_page(found.problem, found.release, found, "t"))
    assert page.text.count(found.verdict) == 1
    sides = [(tag, a.get("class")) for tag, a in page.tags if tag in ("th", "td")][-4:]
    assert sides == [("th", None), ("th", "number"), ("td", None), ("td", "number")]
    assert "blank:" not in page.text


def test_the_page_explains_blank_cells() -> None:
    rows = pa.table({"region": ["N", "S"], "sex": ["f", "m"], "value": [10, 20]})
    table = Table.from_frame(rows, ["region", "sex"], value="value")
    problem = Problem(table, Levels.none(len(table)))
    found = audit(problem, Release.suppress(table, np.array([], dtype=np.int64)))
    page = Page(build_report_page(problem, found.release, found, "t"))
    assert "blank: no such cell" in page.text


def test_narrow_terminal_gets_fewer_columns_and_is_told(problem: Problem) -> None:
    release = audited(problem, SQUARE).release
    shown = drawn(build_crosstab_table(release, problem.levels.sensitive, 40), width=40)
    assert "do not fit here" in shown
    assert "…" not in shown


def test_tables_without_dimensions_are_drawn_as_squares(problem: Problem) -> None:
    from dataclasses import replace

    table = problem.table
    bare = replace(table.structure, dimensions=(), labels=tuple(map(str, range(len(table)))), parts=())
    same = Problem(replace(table, structure=bare), problem.levels)
    found = audit(same, Release.suppress(same.table, same.sensitive))
    page = Page(build_report_page(same, found.release, found, "t"))
    squares = [a for tag, a in page.tags if tag == "rect" and a.get("width") == "8"]
    assert len(squares) == len(table)
    assert build_crosstab_table(found.release, same.levels.sensitive, 100) is None


def test_nothing_checked_is_neither_safe_nor_proven() -> None:
    """For all of none is true, and proves nothing: no sentence, line, page or row calls it so."""
    table = Table.from_array(VALUES)
    found = audit(Problem(table, Levels.none(len(table))), Release.suppress(table, np.array([], dtype=int)))
    row = ComparisonRow("as it is", {measure.key: 0.0 for measure in MEASURES}, found)
    told = {
        "sentence": found.verdict,
        "record": build_audit_record(found)["verdict"],
        "line": drawn(build_verdict_line(found)),
        "page": build_report_page(found.problem, found.release, found, "Nothing").partition("<body>")[2],
        "row": drawn(build_comparison_table([row], 100)).splitlines()[3],
    }
    assert found.safe
    for where, text in told.items():
        assert "proven" not in text, where
        assert "safe" not in text, where
        assert "✔" not in text, where
    assert told["sentence"] == "no cell is sensitive: there was nothing to check"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (8.027951865, "8.02795"),
        (1234567.0, "1,234,567"),
        (1234567.25, "1,234,567"),
        (1234.5678, "1,234.57"),
        (0.125, "0.125"),
        (0.00001234, "1.234e-05"),
        (-2.5, "-2.5"),
        (0.0, "0"),
        (float("inf"), "∞"),
        (float("nan"), "–"),
    ],
)
def test_numbers_are_shown_in_six_digits_and_whole_ones_in_full(value: float, text: str) -> None:
    assert format_short(value) == text
