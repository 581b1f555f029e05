"""What a sheet shows of a case, and which cells look different after a change."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacita.app.screens.result.side_by_side import count_kinds
from tacita.app.sheet import Entry, Flag
from tacita.app.sheet.content import LOOKS
from tacita.app.work.entries import enter
from tacita.app.work.open_case import Case, Decision, DecisionKind, open_case
from tacita.app.work.view import Arrangement, Sensitivity, View, find_block, view_case, view_release
from tacita.core.exact import UNBOUNDED
from tacita.core.release import Mark, Release
from tacita.core.tables.editing import renamed_dimension, with_code
from tacita.core.tables.table import Table
from tacita.examples import example
from tacita.generate import table as random_table
from tacita.methods import make_method
from tacita.problem.quality import compare
from tacita.report.picture import KINDS


def small() -> Table:
    """Two regions by two sexes with all totals, amounts."""
    names, codes = ("region", "sex"), (("N", "S"), ("f", "m"))
    return Table.from_array([[5, 10], [20, 40]], names=names, codes=codes, counts=False)


def seen(case: Case, arrangement: Arrangement | None = None) -> View:
    where = (arrangement or Arrangement()).lay_out(case.table.structure)
    judged = Sensitivity.find(case)
    return view_case(case, judged.levels, where, judged.exempt)


def texts(view: View) -> list[list[str]]:
    return [list(row) for row in view.to_content().texts]


def test_numbers_stand_where_their_codes_cross() -> None:
    view = seen(open_case(small(), "case"))
    assert [line.code for line in view.layout.rows] == ["N", "S", "Total"]
    assert texts(view) == [["5", "10", "15"], ["20", "40", "60"], ["25", "50", "75"]]
    assert view.to_content().row_title == "region"
    assert view.to_content().column_title == "sex"


def test_flags_say_what_is_sensitive_decided_and_a_sum() -> None:
    table = small()
    case = open_case(table, "case")
    for codes, kind in (
        (("N", "f"), DecisionKind.SENSITIVE),
        (("S", "f"), DecisionKind.PUBLISH),
        (("S", "m"), DecisionKind.HIDE),
    ):
        case = case.decide([table.find(*codes)], Decision(kind))
    view = seen(case)
    assert view.flags.tolist() == [
        [Flag.SENSITIVE, 0, Flag.TOTAL],
        [Flag.PUBLISH, Flag.HIDE, Flag.TOTAL],
        [Flag.TOTAL, Flag.TOTAL, Flag.TOTAL],
    ]


def test_a_cell_is_exempt_where_something_would_make_it_sensitive() -> None:
    """By a rule; not where nothing hits it, though it is declared safe all the same."""
    table = Table.from_array([[5, 10], [20, 40]])
    hit, other = table.find("1", "1"), table.find("2", "2")
    case = (
        open_case(table, "case")
        .with_rules(["threshold(6)"])
        .decide([hit, other], Decision(DecisionKind.SAFE))
    )
    judged = Sensitivity.find(case)
    assert np.flatnonzero(judged.exempt).tolist() == [hit]
    assert np.array_equal(judged.exempt, case.problem.exempt)
    assert seen(case).flags[:2, :2].tolist() == [[Flag.EXEMPT, 0], [0, 0]]
    published = case.decide([hit], Decision(DecisionKind.PUBLISH, exempt=True))
    assert seen(published).flags[0, 0] == Flag.EXEMPT | Flag.PUBLISH


def test_what_the_file_marked_is_exempt_before_rules_are_asked() -> None:
    case = open_case(example("thesis-10x15"), "thesis")
    marked = int(case.problem.sensitive[0])
    case = case.decide([marked], Decision(DecisionKind.SAFE))
    for judged in (Sensitivity.guess(case), Sensitivity.find(case)):
        assert np.flatnonzero(judged.exempt).tolist() == [marked]
        assert marked not in judged.levels.cells


def test_exempt_cells_are_seen_also_where_the_case_is_refused() -> None:
    case = open_case(example("nchs"), "nchs")
    spared, against = Sensitivity.find(case).levels.cells.tolist()[:2]
    case = case.decide([spared], Decision(DecisionKind.SAFE)).decide(
        [against], Decision(DecisionKind.PUBLISH)
    )
    judged = Sensitivity.find(case)
    assert judged.problem is None
    assert np.flatnonzero(judged.exempt).tolist() == [spared]


def test_flags_of_a_content_fit_into_two_bytes() -> None:
    """As they are sent."""
    assert sum(Flag) == 2 ** len({*Flag}) - 1 <= 0xFFFF
    assert {look.flag for look in LOOKS} == {*Flag}


def test_empty_cells_are_blank_and_only_leaves_can_be_filled() -> None:
    table = random_table((3, 3), "uniform", zeros=0.5, hierarchy=(1, 1), seed=3)
    view = seen(open_case(table, "case"))
    empty = view.layout.cells < 0
    assert empty.any()
    assert ((view.flags & Flag.EMPTY > 0) == empty).all()
    shown = np.array(texts(view))
    assert (shown[empty] == "").all()
    assert (shown[~empty] != "").all()
    leaf = np.array([[r.leaf and c.leaf for c in view.layout.columns] for r in view.layout.rows])
    assert ((view.flags & Flag.TOTAL > 0) == ~leaf).all()


def test_a_slice_at_a_total_consists_of_sums() -> None:
    table = random_table((2, 2, 2), "uniform", zeros=0.0)
    names = [dimension.name for dimension in table.structure.dimensions]
    at_total = seen(open_case(table, "case"))
    assert (at_total.flags & Flag.TOTAL > 0).all()
    at_leaf = seen(
        open_case(table, "case"),
        Arrangement(fixed={names[2]: table.structure.dimensions[2].trees[0].leaves[0]}),
    )
    assert not (at_leaf.flags[:2, :2] & Flag.TOTAL).any()


def test_an_arrangement_survives_what_is_gone() -> None:
    table = random_table((2, 3, 2), "uniform", zeros=0.0)
    first, second, third = (dimension.name for dimension in table.structure.dimensions)
    chosen = Arrangement(rows=third, columns=first, fixed={second: "no such code"}, part="no such part")
    where = chosen.lay_out(table.structure)
    assert (where.row_dimension, where.column_dimension, where.fixed[1]) == (2, 0, "Total")
    renamed = chosen.lay_out(renamed_dimension(table, third, "other").structure)
    assert (renamed.row_dimension, renamed.column_dimension) == (1, 0)


def test_a_dimension_that_runs_along_the_table_is_not_held_too() -> None:
    table = small()
    where = Arrangement(fixed={"sex": "f"}).lay_out(table.structure)
    assert where.fixed == {}


@given(st.integers(0, 3), st.integers(0, 4), st.sampled_from(["0", "7", "12.5", "1000.25", "-3"]))
def test_changes_turn_the_old_content_into_the_new_one(row: int, column: int, typed: str) -> None:
    table = Table.from_array(np.arange(20).reshape(4, 5), counts=False)
    case = open_case(table, "case").decide([3, 4], Decision(DecisionKind.SENSITIVE))
    where = Arrangement().lay_out(table.structure)
    levels = Sensitivity.guess(case).levels
    before = view_case(case, levels, where)
    after = view_case(case.with_table(enter(table, where, [Entry(row, column, typed)])), levels, where)
    changes = after.find_changes(before)
    assert changes is not None
    old, new = texts(before), texts(after)
    assert len(changes) == sum(old[r][c] != new[r][c] for r in range(5) for c in range(6))
    for change in changes:
        old[change.row][change.column] = change.text
    assert old == new


def test_changes_of_flags_are_changes() -> None:
    case = open_case(small(), "case")
    before = seen(case)
    marked = seen(case.decide([int(before.layout.cells[0, 1])], Decision(DecisionKind.HIDE)))
    changes = marked.find_changes(before)
    assert changes is not None
    assert [(c.row, c.column, c.text, c.flags) for c in changes] == [(0, 1, "10", Flag.HIDE)]


def test_other_lines_are_shown_anew() -> None:
    table = small()
    for other in (with_code(table, "region", "W"), renamed_dimension(table, "region", "place")):
        assert seen(open_case(other, "case")).find_changes(seen(open_case(table, "case"))) is None


def test_a_release_shows_nothing_that_it_hides() -> None:
    table = small()
    hidden, between = table.find("N", "f"), table.find("S", "m")
    n = len(table)
    marks = np.full(n, Mark.PUBLISHED, dtype=np.uint8)
    marks[[hidden, between]] = Mark.SUPPRESSED, Mark.INTERVAL
    low, high = np.full(n, -UNBOUNDED), np.full(n, UNBOUNDED)
    low[between], high[between] = 30, UNBOUNDED
    changed = marks != Mark.PUBLISHED
    release = Release.mixed(table, changed, marks, low, high)
    sensitive = np.zeros(n, dtype=bool)
    sensitive[[hidden, table.find("S", "f")]] = True
    view = view_release(table, release, sensitive, Arrangement().lay_out(table.structure))
    assert texts(view)[:2] == [["", "10", "15"], ["20", "30…∞", "60"]]
    assert view.flags[:2, :2].tolist() == [[Flag.SENSITIVE, 0], [Flag.EXPOSED, Flag.OTHER]]


@pytest.mark.parametrize(("method", "options"), [("perturbation", {}), ("rounding", {"base": 10})])
def test_a_true_number_that_is_told_with_a_radius_does_not_stand_out(
    method: str, options: dict[str, int]
) -> None:
    """What is red is what is counted as not shown as it is, by every method."""
    problem = example("nchs")
    release = make_method(method, options).protect(problem)
    true = release.value == problem.table.units
    assert (true & release.hidden & ~problem.levels.sensitive).any()
    view = view_release(
        problem.table, release, problem.levels.sensitive, Arrangement().lay_out(problem.table.structure)
    )
    cells = view.layout.cells
    assert ((view.flags & Flag.OTHER > 0) == (~true & ~problem.levels.sensitive)[cells]).all()
    assert ((view.flags & Flag.SENSITIVE > 0) == problem.levels.sensitive[cells]).all()
    lost = compare(problem, [release])[0]
    assert dict(zip(KINDS, count_kinds(release, problem), strict=True)) == {
        "published": len(release) - lost.others - len(problem.levels),
        "sensitive": len(problem.levels),
        "other": lost.others,
        "exposed": 0,
        "rounded": 0,
    }


def test_a_block_has_each_listed_cell_once() -> None:
    table = small()
    where = Arrangement().lay_out(table.structure)
    assert find_block(where, [0, 1], [1]).tolist() == sorted([table.find("N", "m"), table.find("S", "m")])
    sparse = random_table((3, 3), "uniform", zeros=0.5, seed=3)
    where = Arrangement().lay_out(sparse.structure)
    everything = find_block(where, range(len(where.rows)), range(len(where.columns)))
    assert everything.tolist() == list(range(len(sparse)))


def test_a_contradiction_is_told_and_what_is_known_is_shown() -> None:
    table = small()
    case = (
        open_case(table, "case")
        .with_rules(["request(['nobody'])"])
        .decide([0], Decision(DecisionKind.SENSITIVE))
    )
    judged = Sensitivity.find(case)
    assert judged.problem is None
    assert judged.trouble
    assert judged.levels.cells.tolist() == [0]


def test_a_mark_against_a_rule_is_told_and_the_rule_still_shows() -> None:
    case = open_case(example("nchs"), "nchs")
    sensitive = Sensitivity.find(case).levels.cells.tolist()
    judged = Sensitivity.find(case.decide(sensitive[:1], Decision(DecisionKind.PUBLISH)))
    assert "must be published" in str(judged.trouble)
    assert judged.levels.cells.tolist() == sensitive


@pytest.mark.parametrize("name", ["tiwari-1", "thesis-10x15", "salazar"])
def test_without_rules_marks_alone_say_the_same_as_the_problem(name: str) -> None:
    case = open_case(example(name), name)
    assert Sensitivity.guess(case).levels.cells.tolist() == case.problem.sensitive.tolist()
