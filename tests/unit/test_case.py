"""A case of the app: what the user says of a table, whatever is done to the table."""

from __future__ import annotations

import numpy as np
import pytest

import tacita as tc
from tacita.app.work.case import Attackers, Case, Decision, Kind
from tacita.errors import InputError
from tacita.examples import example
from tacita.tables.editing import with_code, with_values, without_code

GRID = [[20, 50, 10], [8, 19, 22], [17, 32, 12]]
CODES = [("I", "II", "III"), ("A", "B", "C")]


def case() -> Case:
    return Case("firms", tc.Table.from_array(GRID, names=("activity", "region"), codes=CODES, counts=False))


def test_without_rules_nothing_is_sensitive() -> None:
    assert len(case().problem.levels) == 0


def test_marks_by_hand_have_their_own_levels_or_a_fifth_of_the_value() -> None:
    table = case().table
    cell, other = table.find("II", "C"), table.find("I", "A")
    marked = case().decide([cell], Decision(Kind.SENSITIVE, lower=10, upper=12))
    levels = marked.decide([other], Decision(Kind.SENSITIVE)).problem.levels
    assert (levels.lower[cell], levels.upper[cell]) == (10, 12)
    assert (levels.lower[other], levels.upper[other]) == (4, 4)
    assert levels.sensitive.sum() == 2


def test_a_decision_replaces_the_one_before() -> None:
    cell = case().table.find("II", "C")
    twice = case().decide([cell], Decision(Kind.SENSITIVE)).decide([cell], Decision(Kind.PUBLISH))
    assert not twice.problem.levels.sensitive.any()
    assert np.flatnonzero(twice.problem.must_publish).tolist() == [cell]
    assert not twice.decide([cell], None).problem.must_publish.any()


def test_a_cell_can_be_exempt_from_rules_and_from_what_a_file_says() -> None:
    stated = Case.of(example("nchs"), "nchs")
    cell = int(stated.problem.sensitive[0])
    assert cell not in stated.decide([cell], Decision(Kind.SAFE)).problem.sensitive


def test_a_file_s_problem_is_asked_again_unchanged() -> None:
    for name in ("nchs", "salazar", "thesis-3x4", "tiwari-2"):
        problem = example(name)
        again = Case.of(problem, name).problem
        assert np.array_equal(again.levels.lower, problem.levels.lower)
        assert np.array_equal(again.levels.upper, problem.levels.upper)
        assert np.array_equal(again.levels.sliding, problem.levels.sliding)
        assert np.array_equal(again.outsider.lower, problem.outsider.lower)
        assert np.array_equal(again.outsider.upper, problem.outsider.upper)
        assert np.array_equal(again.cost, problem.cost)


def test_costs_that_are_values_follow_a_changed_value() -> None:
    opened = Case.of(example("salazar"), "salazar")
    cell = int(np.flatnonzero(~opened.table.structure.is_total)[0])
    changed = opened.with_table(with_values(opened.table, np.array([cell]), np.array([500])))
    assert changed.problem.cost[cell] == 500


def test_what_is_said_of_a_cell_follows_it_when_a_row_is_added_and_removed() -> None:
    cell = case().table.find("II", "C")
    marked = case().decide([cell], Decision(Kind.SENSITIVE, lower=10, upper=12))
    grown = marked.with_table(with_code(marked.table, "activity", "new", before="I"))
    there = grown.table.find("II", "C")
    assert grown.problem.sensitive.tolist() == [there]
    shrunk = grown.with_table(without_code(grown.table, "activity", "new"))
    assert shrunk.problem.sensitive.tolist() == [cell]
    gone = shrunk.with_table(without_code(shrunk.table, "activity", "II"))
    assert not len(gone.problem.levels)


def test_what_a_file_stated_follows_its_cells_too() -> None:
    problem = example("salazar")
    opened = Case.of(problem, "salazar")
    dimension = opened.table.structure.dimensions[0].name
    grown = opened.with_table(with_code(opened.table, dimension, "new"))
    old, new = opened.problem, grown.problem
    assert [new.table.name(c) for c in new.sensitive] == [old.table.name(c) for c in old.sensitive]
    assert new.levels.upper[new.sensitive].tolist() == old.levels.upper[old.sensitive].tolist()
    assert new.levels.explain(int(new.sensitive[0])) == old.levels.explain(int(old.sensitive[0]))


def test_levels_of_a_file_are_counted_in_new_decimals() -> None:
    opened = Case.of(example("salazar"), "salazar")
    finer = opened.with_table(opened.table.with_decimals(1)).problem
    cell = int(finer.sensitive[0])
    assert (finer.levels.lower[cell], finer.levels.upper[cell]) == (100, 120)
    assert finer.outsider.upper.max() == opened.problem.outsider.upper.max()


def test_attackers_who_know_single_cells_are_not_lost_in_silence() -> None:
    problem = example("salazar")
    cell = problem.table.find("II", "A")
    insider = tc.Insider.knowing("firm", problem.table, {cell: (8, 8)})
    opened = Case.of(tc.Problem(problem.table, problem.levels, [insider]), "salazar")
    assert opened.problem.attackers == ("outsider", "firm")
    dimension = problem.table.structure.dimensions[0].name
    with pytest.raises(InputError, match="firm"):
        opened.with_table(with_code(opened.table, dimension, "new"))


def test_what_everyone_knows_can_be_said_in_two_ways() -> None:
    from dataclasses import replace

    cell = case().table.find("I", "A")
    bounded = replace(case(), attackers=Attackers(lower=-5, upper=500)).problem
    assert (bounded.outsider.lower[cell], bounded.outsider.upper[cell]) == (-5, 500)
    near = replace(case(), attackers=Attackers(within=(0.5, 1.0))).problem
    assert (near.outsider.lower[cell], near.outsider.upper[cell]) == (10, 40)
