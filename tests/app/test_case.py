"""A case of the app: what the user says of a table, whatever is done to the table."""

from __future__ import annotations

import numpy as np
import pytest

import tacita as tc
from tacita.app.work.open_case import Case, Decision, DecisionKind, open_case
from tacita.core.errors import InputError
from tacita.core.tables.editing import as_counts, with_code, with_values, without_code
from tacita.examples import example
from tacita.specification.sections import Attackers

GRID = [[20, 50, 10], [8, 19, 22], [17, 32, 12]]
CODES = [("I", "II", "III"), ("A", "B", "C")]


def case() -> Case:
    return open_case(
        tc.Table.from_array(GRID, names=("activity", "region"), codes=CODES, counts=False), "firms"
    )


def stating(name: str) -> Case:
    """An example as a file would have it: with levels, and no rule or mark."""
    problem = example(name)
    return open_case(tc.Problem(problem.table, problem.levels), name)


def test_without_rules_nothing_is_sensitive() -> None:
    assert len(case().problem.levels) == 0


def test_marks_by_hand_have_their_own_levels_or_a_fifth_of_the_value() -> None:
    table = case().table
    cell, other = table.find("II", "C"), table.find("I", "A")
    marked = case().decide([cell], Decision(DecisionKind.SENSITIVE, lower=10, upper=12))
    levels = marked.decide([other], Decision(DecisionKind.SENSITIVE)).problem.levels
    assert (levels.lower[cell], levels.upper[cell]) == (10, 12)
    assert (levels.lower[other], levels.upper[other]) == (4, 4)
    assert levels.sensitive.sum() == 2


def test_a_decision_replaces_the_one_before() -> None:
    cell = case().table.find("II", "C")
    twice = (
        case().decide([cell], Decision(DecisionKind.SENSITIVE)).decide([cell], Decision(DecisionKind.PUBLISH))
    )
    assert not twice.problem.levels.sensitive.any()
    assert np.flatnonzero(twice.problem.must_publish).tolist() == [cell]
    assert not twice.decide([cell], None).problem.must_publish.any()


def test_a_cell_can_be_exempt_from_rules_and_from_what_a_file_says() -> None:
    stated = open_case(example("nchs"), "nchs")
    cell = int(stated.problem.sensitive[0])
    assert cell not in stated.decide([cell], Decision(DecisionKind.SAFE)).problem.sensitive


def test_a_file_s_problem_is_asked_again_unchanged() -> None:
    for name in ("nchs", "salazar", "thesis-3x4", "tiwari-2"):
        problem = example(name)
        again = open_case(problem, name).problem
        assert np.array_equal(again.levels.lower, problem.levels.lower)
        assert np.array_equal(again.levels.upper, problem.levels.upper)
        assert np.array_equal(again.levels.sliding, problem.levels.sliding)
        assert np.array_equal(again.outsider.lower, problem.outsider.lower)
        assert np.array_equal(again.outsider.upper, problem.outsider.upper)
        assert np.array_equal(again.cost, problem.cost)


def test_a_cell_that_is_sensitive_and_must_be_hidden_stays_both() -> None:
    table = case().table
    cell = table.find("II", "C")
    again = open_case(tc.Problem(table, tc.Marked([cell]), must_hide=[cell]), "firms").problem
    assert again.sensitive.tolist() == [cell]
    assert again.levels.upper[cell] == 5
    assert np.flatnonzero(again.must_hide).tolist() == [cell]


def test_costs_that_are_values_follow_a_changed_value() -> None:
    opened = open_case(example("salazar"), "salazar")
    cell = int(np.flatnonzero(~opened.table.structure.is_total)[0])
    changed = opened.with_table(with_values(opened.table, np.array([cell]), np.array([500])))
    assert changed.problem.cost[cell] == 500


def test_what_is_said_of_a_cell_follows_it_when_a_row_is_added_and_removed() -> None:
    cell = case().table.find("II", "C")
    marked = case().decide([cell], Decision(DecisionKind.SENSITIVE, lower=10, upper=12))
    grown = marked.with_table(with_code(marked.table, "activity", "new", before="I"))
    there = grown.table.find("II", "C")
    assert grown.problem.sensitive.tolist() == [there]
    shrunk = grown.with_table(without_code(grown.table, "activity", "new"))
    assert shrunk.problem.sensitive.tolist() == [cell]
    gone = shrunk.with_table(without_code(shrunk.table, "activity", "II"))
    assert not len(gone.problem.levels)


def test_what_a_file_stated_follows_its_cells_too() -> None:
    opened = stating("salazar")
    dimension = opened.table.structure.dimensions[0].name
    grown = opened.with_table(with_code(opened.table, dimension, "new"))
    old, new = opened.problem, grown.problem
    assert [new.table.name(c) for c in new.sensitive] == [old.table.name(c) for c in old.sensitive]
    assert new.levels.upper[new.sensitive].tolist() == old.levels.upper[old.sensitive].tolist()
    assert new.levels.explain(int(new.sensitive[0])) == old.levels.explain(int(old.sensitive[0]))


def test_levels_of_a_file_are_counted_in_new_decimals() -> None:
    opened = stating("salazar")
    finer = opened.with_table(opened.table.with_decimals(1)).problem
    cell = int(finer.sensitive[0])
    assert (finer.levels.lower[cell], finer.levels.upper[cell]) == (100, 120)
    assert finer.outsider.upper.max() == opened.problem.outsider.upper.max()


def two_rows() -> Case:
    """Without row II, row I is all there is, and the same as the total."""
    return case().with_table(without_code(case().table, "activity", "III"))


@pytest.mark.parametrize("last", [0, 1])
def test_different_marks_are_not_lost_where_two_cells_become_one(last: int) -> None:
    cells = [two_rows().table.find("I", "A"), two_rows().table.find("Total", "A")]
    said = [Decision(DecisionKind.SENSITIVE), Decision(DecisionKind.PUBLISH)]
    marked = two_rows()
    for k in (1 - last, last):
        marked = marked.decide([cells[k]], said[k])
    with pytest.raises(InputError, match="clear the mark"):
        marked.with_table(without_code(marked.table, "activity", "II"))
    alone = marked.decide([cells[1]], None)
    left = alone.with_table(without_code(alone.table, "activity", "II"))
    assert left.problem.sensitive.tolist() == [left.table.find("I", "A")]


def test_a_safe_total_does_not_make_its_last_part_safe() -> None:
    counts = two_rows().with_table(as_counts(two_rows().table, True))
    ruled = counts.with_rules(["threshold(21)"])
    total, part = ruled.table.find("Total", "A"), ruled.table.find("I", "A")
    assert part in ruled.problem.sensitive
    exempt = ruled.decide([total], Decision(DecisionKind.SAFE))
    left = exempt.with_table(without_code(exempt.table, "activity", "II"))
    assert left.table.find("I", "A") in left.problem.sensitive


def test_levels_of_a_file_hold_for_the_cell_that_two_become() -> None:
    table = two_rows().table
    here = np.arange(len(table)) == table.find("I", "A")
    levels = tc.Levels.of(here, upper=np.where(here, 7, 0))
    opened = open_case(tc.Problem(table, levels), "x")
    left = opened.with_table(without_code(table, "activity", "II"))
    assert left.problem.levels.upper[left.table.find("I", "A")] == 7


def test_a_new_cell_costs_what_it_holds_also_later() -> None:
    opened = open_case(example("nchs"), "nchs")
    costly = tc.Problem(opened.table, opened.problem.levels, cost=np.full(len(opened.table), 3.0))
    opened = open_case(costly, "nchs")
    name = opened.table.structure.dimensions[0].name
    grown = opened.with_table(with_code(opened.table, name, "new"))
    new = int(np.flatnonzero(grown.table.units == 0)[-1])
    assert "new" in grown.table.name(new)
    typed = grown.with_table(with_values(grown.table, np.array([new]), np.array([500])))
    assert typed.problem.cost[new] == 500
    assert typed.problem.cost[0] == 3


def test_attackers_who_know_single_cells_are_not_lost_in_silence() -> None:
    problem = example("salazar")
    cell = problem.table.find("II", "A")
    insider = tc.Insider.knowing("firm", problem.table, {cell: (8, 8)})
    opened = open_case(tc.Problem(problem.table, problem.levels, [insider]), "salazar")
    assert opened.problem.attackers == ("outsider", "firm")
    dimension = problem.table.structure.dimensions[0].name
    with pytest.raises(InputError, match="firm"):
        opened.with_table(with_code(opened.table, dimension, "new"))


def test_what_everyone_knows_can_be_said_in_two_ways() -> None:
    cell = case().table.find("I", "A")
    bounded = case().specify(attackers=Attackers(lower=-5, upper=500)).problem
    assert (bounded.outsider.lower[cell], bounded.outsider.upper[cell]) == (-5, 500)
    near = case().specify(attackers=Attackers(within=(0.5, 1.0))).problem
    assert (near.outsider.lower[cell], near.outsider.upper[cell]) == (10, 40)
