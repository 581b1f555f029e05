"""Pictures in files of their own: well formed, with what the release shows and nothing that it hides."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

import tacita as tc
from tacita.core.errors import InputError
from tacita.report.standalone import draw_audit, draw_changes, draw_table

VALUES = [[20111, 50222, 10333], [8444, 19555, 22666], [17777, 32888, 12999]]


def make_problem() -> tc.Problem:
    table = tc.Table.from_array(
        VALUES, names=("<region>", "a & b"), codes=(list("NES"), list("ABC")), counts=False
    )
    return tc.Problem(table, tc.Marked([("E", "C")], lower=2000, upper=2000))


def read_texts(drawn: str) -> list[str]:
    tree = ElementTree.fromstring(drawn)
    assert tree.tag == "{http://www.w3.org/2000/svg}svg"
    assert tree.get("aria-label")
    return ["".join(own.itertext()) for own in tree.iter("{http://www.w3.org/2000/svg}text")]


def test_a_table_for_readers_does_not_tell_which_cells_are_primary() -> None:
    problem = make_problem()
    release = tc.Suppression().protect(problem)
    hidden = [int(problem.table.units[cell]) for cell in release.hidden.nonzero()[0]]
    published = int(problem.table.units[problem.table.find("N", "Total")])
    internal, public = draw_table(release, problem.levels.sensitive), draw_table(release)
    for drawn in (internal, public):
        plain = drawn.replace("\u202f", "")
        assert not [value for value in hidden if str(value) in plain]
        assert plain.count(str(published)) == 2  # as text, and in words
    texts = read_texts(internal)
    assert (texts.count("■"), texts.count("▲")) == (1, 3)
    assert texts[0] == "<region> \\ a & b"
    texts = read_texts(public)
    assert (texts.count("×"), texts.count("■"), texts.count("▲")) == (4, 0, 0)
    assert 'class="sensitive"' not in public
    assert "suppressed: 4" in texts


def test_rounded_tables_show_all_numbers() -> None:
    problem = make_problem()
    release = tc.Rounding(base=5000).protect(problem)
    texts = read_texts(draw_table(release))
    shown = [f"{value:,}".replace(",", "\u202f") for value in release.value.tolist()]
    assert sorted(text for text in texts if text in shown) == sorted(shown)
    assert "×" not in texts


def test_an_audit_shows_every_sensitive_cell_with_its_verdict() -> None:
    problem = make_problem()
    alone = tc.Release.suppress(problem.table, problem.sensitive)
    texts = read_texts(draw_audit(tc.audit(problem, alone)))
    assert texts[0] == problem.table.name(problem.sensitive[0])
    assert texts[1].startswith("exact disclosure")
    safe = tc.audit(problem, tc.Suppression().protect(problem))
    assert read_texts(draw_audit(safe))[1] == "safe"


def test_changes_are_drawn_by_level_and_refused_where_there_are_none() -> None:
    problem = make_problem()
    rounded = tc.Rounding(base=5000).protect(problem)
    assert "<region>, level 1" in read_texts(draw_changes(problem.table, rounded))
    with pytest.raises(InputError, match="every number shown is the true one"):
        draw_changes(problem.table, tc.Suppression().protect(problem))
