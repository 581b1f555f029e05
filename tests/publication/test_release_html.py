"""Pages for publication: what is hidden is not in them, and nothing in them runs or asks other hosts."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import tacita as tc
from tacita.core.errors import InputError
from tacita.core.tables.linked import link
from tacita.formats.jj import write_jj
from tacita.publication import release_html

CODES = (("a<b>", "b&c", "<script>alert(1)</script>"), ('"q"', "'s'"))
VALUES = [[7001, 7002], [7003, 7004], [7005, 7006]]


class Page(HTMLParser):
    """Tags, and the text of each cell of each table."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: list[list[list[str]]] = []
        self.words: list[str] = []
        self._in_cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("th", "td"):
            self.tables[-1][-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag not in ("th", "td")

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if self._in_cell:
            self.tables[-1][-1][-1] += data


def page(release: tc.Release, folder: Path, reason: str = "a mere test here") -> Page:
    path = tc.write_release(release, folder / "release.html", unaudited=reason)
    return Page(path.read_text(encoding="utf-8"))


def table(values: object = VALUES, **more: object) -> tc.Table:
    return tc.Table.from_array(values, **more)


def test_hidden_cells_are_nowhere_and_all_alike(tmp_path: Path) -> None:
    given = table(codes=CODES, names=("one", "two"))
    cells = np.array([given.find(CODES[0][0], CODES[1][0]), given.find(CODES[0][1], CODES[1][0])])
    primary = np.zeros(len(given), dtype=bool)
    primary[cells[0]] = True
    release = tc.Release.suppress(given, cells, primary=primary)
    text = tc.write_release(release, tmp_path / "r.html", unaudited="a mere test").read_text()
    assert "7001" not in text
    assert "7003" not in text
    other = tc.Release.suppress(given, cells, primary=~primary)
    assert tc.write_release(other, tmp_path / "s.html", unaudited="a mere test").read_text() == text
    grid = Page(text).tables[0]
    assert grid == [
        ["one \\ two", '"q"', "'s'", "Total"],
        ["a<b>", "x", "7002", "14003"],
        ["b&c", "x", "7004", "14007"],
        ["<script>alert(1)</script>", "7005", "7006", "14011"],
        ["Total", "21009", "21012", "42021"],
    ]


def test_nothing_runs_and_nothing_is_fetched(tmp_path: Path) -> None:
    given = table(codes=CODES, names=("<img src=x onerror=y>", "two"))
    release = tc.Release.suppress(given, np.array([5]))
    shown = page(release, tmp_path, reason="</p><script src='http://x.example/'></script> is why")
    head, text = {"html", "head", "meta", "title", "style"}, {"body", "h1", "p", "dl", "dt", "dd", "div"}
    table_tags = {"table", "thead", "tbody", "tr", "th", "td"}
    assert {tag for tag, _ in shown.tags} <= head | text | table_tags
    named = {name for _, attributes in shown.tags for name in attributes}
    assert not {name for name in named if name in ("src", "href", "action") or name.startswith("on")}
    policies = [a["content"] for tag, a in shown.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]
    assert not re.search(r"url\(|@import", (Path(release_html.__file__).with_name("release.css")).read_text())
    assert any("is why" in word for word in shown.words)


def test_the_notice_is_told_and_a_safe_release_has_no_warning(tmp_path: Path) -> None:
    problem = tc.Problem(table([[20, 30], [40, 5]]), tc.Threshold(6))
    release = tc.Suppression().protect(problem)
    audit = tc.audit(problem, release)
    assert audit.safe
    noted = tc.Release.suppress(problem.table, release.changed, notice=tc.verify.NOTICES[1])
    path = tc.write_release(noted, tmp_path / "r.html", audit=tc.audit(problem, noted))
    words = Page(path.read_text()).words
    assert tc.verify.NOTICES[1] in words
    assert not any("Not proven safe" in word for word in words)


def test_numbers_that_are_not_exact_say_so(tmp_path: Path) -> None:
    given = table([[10, 20], [30, 40]])
    one = tc.Release.rounded(given, given.units + 1, 5)
    shown = page(one, tmp_path)
    assert shown.tables[0][1][1:] == ["≈11", "≈21", "≈31"]
    assert "rounded or adjusted: the true value is at most 5 away" in shown.words
    radius = np.where(given.structure.is_total, 0, np.where(given.units > 20, 7, 3))
    shown = page(tc.Release.rounded(given, given.units, radius), tmp_path)
    assert shown.tables[0][1][1:] == ["≈10 ±3", "≈20 ±3", "30"]
    low, high = given.units - 2, given.units + 5
    shown = page(tc.Release.intervals(given, ~given.structure.is_total, low, high), tmp_path)
    assert shown.tables[0][1][1:] == ["[8...15]", "[18...25]", "30"]


def test_one_crosstab_per_combination_of_further_codes(tmp_path: Path) -> None:
    given = table(np.arange(1, 25).reshape(4, 2, 3), names=("a", "b", "c"))
    shown = page(tc.Release.suppress(given, np.array([3])), tmp_path)
    assert len(shown.tables) == 3
    assert [word for word in shown.words if word.startswith("b = ")] == ["b = 1", "b = 2", "b = Total"]
    assert [grid[0] for grid in shown.tables] == [["a \\ c", "1", "2", "3", "Total"]] * 3
    cells = sum(text != "" for grid in shown.tables for row in grid[1:] for text in row[1:])
    assert cells == len(given) == 5 * 3 * 4


def test_a_sparse_table_is_a_list_of_its_cells(tmp_path: Path) -> None:
    given = tc.generate.table((30, 20, 10), "fs", zeros=0.97, seed=1)
    release = tc.Release.suppress(given, np.array([4, 5]))
    (grid,) = page(release, tmp_path).tables
    assert grid[0] == ["region", "industry", "size", "value"]
    assert len(grid) == len(given) + 1
    assert sum(row[-1] == "x" for row in grid) == 2


def test_one_dimension_systems_without_any_and_linked_tables(tmp_path: Path) -> None:
    (grid,) = page(tc.Release.suppress(table([5, 6, 7]), np.array([1])), tmp_path).tables
    assert [row[0] for row in grid] == ["row", "1", "2", "3", "Total"]
    problem = tc.Problem(table([[5, 6], [7, 8]]), tc.Threshold(6))
    again = tc.read_case(write_jj(problem, tmp_path / "case.jj"))
    (grid,) = page(tc.Release.suppress(again.table, again.sensitive), tmp_path).tables
    assert grid[0] == ["cell", "value"]
    assert len(grid) == 10
    one, two = (tc.Table.from_array([[5, 6], [7, 8]], names=("a", other)) for other in ("b", "c"))
    joined = link({"by b": one, "by c": two})
    shown = page(tc.Release.suppress(joined, np.array([1])), tmp_path)
    assert [word for word in shown.words if word in ("by b", "by c")] == ["by b", "by c"]
    assert [grid[0][0] for grid in shown.tables] == ["a \\ b", "a \\ c"]


def test_labels_and_blanks(tmp_path: Path) -> None:
    tree = tc.Hierarchy.flat(["N", "S"], labels={"N": "north & more"})
    frame = {"region": ["N", "S", "S", "Total", "Total", "N", "S", "Total"]}
    frame |= {"kind": ["a", "a", "b", "a", "b", "Total", "Total", "Total"], "value": [1, 2, 3, 3, 3, 1, 5, 6]}
    given = tc.Table.from_frame(pa.table(frame), {"region": tree, "kind": None}, value="value")
    shown = page(tc.Release.suppress(given, np.array([0])), tmp_path)
    assert shown.tables[0][1] == ["N north & more", "x", "", "1"]
    assert "Blank: nothing was counted there." in shown.words


def test_too_many_cells_for_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_html, "MOST_CELLS", 5)
    with pytest.raises(InputError, match=r"at most 5 cells well, and here are 12: write \.csv"):
        page(tc.Release.suppress(table(), np.array([1])), tmp_path)
