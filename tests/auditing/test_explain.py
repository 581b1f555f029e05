"""Why a cell is hidden: what it protects and what protects it, against brute force and in known cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.auditing.exact_moves import Move
from tacita.auditing.explain import MOST_INSIDERS
from tacita.auditing.explanation import Explanation
from tacita.core.exact import UNBOUNDED
from tacita.core.release import Mark
from tacita.testing.brute_force import brute_force_intervals
from tacita.testing.problems import problems, releases


def with_published(problem: tc.Problem, release: tc.Release, cell: int) -> tc.Release:
    """The release with one more value published."""
    marks, shown = release.marks.copy(), release.shown.copy()
    low, high, value = release.low.copy(), release.high.copy(), release.value.copy()
    marks[cell], shown[cell] = Mark.PUBLISHED, True
    low[cell] = high[cell] = value[cell] = problem.table.units[cell]
    return replace(release, marks=marks, low=low, high=high, value=value, shown=shown)


def find_safe(problem: tc.Problem, release: tc.Release) -> set[int]:
    """The sensitive cells that every attacker is left as uncertain of as required, by listing all tables."""
    safe = set(problem.sensitive.tolist())
    for levels in problem.requirements():
        least, most = brute_force_intervals(problem, release, levels.insider)
        for t, cell in enumerate(levels.cells.tolist()):
            value = problem.table.units[cell]
            if (
                most[cell] < value + levels.upper[t]
                or least[cell] > value - levels.lower[t]
                or most[cell] - least[cell] < levels.sliding[t]
            ):
                safe.discard(cell)
    return safe


@given(st.data())
def test_a_cell_protects_what_is_unsafe_without_it_and_nothing_else(data: st.DataObject) -> None:
    problem = data.draw(problems())
    release = data.draw(releases(problem))
    audit = tc.audit(problem, release) if data.draw(st.booleans()) else None
    before = find_safe(problem, release)
    for cell in np.flatnonzero(release.hidden).tolist():
        found = tc.explain(problem, release, cell, audit)
        published = with_published(problem, release, cell)
        after = find_safe(problem, published)
        assert not found.undecided
        assert {own.cell for own in found.protects} == before - after - {cell}
        assert set(found.replaceable) <= after & before
        assert not set(found.unsafe) & before
        for own in found.protects:
            insider = next((k for k in problem.insiders if k.name == own.attacker), None)
            least, most = brute_force_intervals(problem, published, insider)
            assert (own.low, own.high) == (least[own.cell], most[own.cell])


@given(st.data())
def test_what_is_deduced_is_what_brute_force_deduces(data: st.DataObject) -> None:
    problem = data.draw(problems())
    release = data.draw(releases(problem))
    outsiders = brute_force_intervals(problem, release)
    for cell in range(len(problem.table)):
        found = tc.explain(problem, release, cell)
        assert (found.deduced.low, found.deduced.high) == tuple(ends[cell] for ends in outsiders)
        if found.insider is None:
            assert found.asked == 0
            continue
        insider = next(k for k in problem.insiders if k.name == found.insider.attacker)
        least, most = brute_force_intervals(problem, release, insider)
        assert (found.insider.low, found.insider.high) == (least[cell], most[cell])


@given(st.data())
def test_witnesses_move_hidden_cells_only_add_up_and_pass_the_levels(data: st.DataObject) -> None:
    problem = data.draw(problems())
    release = data.draw(releases(problem))
    table, levels, safe = problem.table, problem.levels, find_safe(problem, release)
    for cell in problem.sensitive[release.hidden[problem.sensitive]].tolist():
        found = tc.explain(problem, release, cell)
        for move in (found.below, found.above):
            if move is not None:
                check_move(problem, release, move)
        below, above = (
            0 if move is None else sign * move.at(cell)
            for sign, move in ((-1, found.below), (1, found.above))
        )
        if cell in safe:
            assert below >= levels.lower[cell]
            assert above >= levels.upper[cell]
            assert below + above >= levels.sliding[cell]
        assert cell not in found.protected_by
        assert release.hidden[found.protected_by].all()
        assert found.role == "primary"
        assert table.name(cell) == found.name


def check_move(problem: tc.Problem, release: tc.Release, move: Move) -> None:
    """Refuse a move that an outsider can rule out."""
    table = problem.table
    assert move.denominator == 1, "cells are counts"
    other = table.units.copy()
    other[move.cells] += move.changes
    assert not (table.equations.matrix @ (other - table.units)).any()
    assert (other >= np.maximum(release.low, problem.outsider.lower)).all()
    assert (other <= np.minimum(release.high, problem.outsider.upper)).all()
    assert (move.changes != 0).all()
    assert release.hidden[move.cells].all()


def square() -> tuple[tc.Problem, tc.Release]:
    """A square of four hidden cells, one of them sensitive, and a fifth one that nothing needs."""
    table = tc.Table.from_array([[20, 50, 10], [8, 19, 22], [17, 32, 12]])
    names = (("2", "1"), ("2", "3"), ("3", "1"), ("3", "3"), ("2", "2"))
    release = tc.Release.suppress(table, [table.find(*codes) for codes in names])
    return tc.Problem(table, tc.Marked([table.find("2", "1")], 2, 2)), release


def test_a_secondary_cell_names_the_primary_that_would_be_known_without_it() -> None:
    problem, release = square()
    found = tc.explain(problem, release, ("3", "1"), tc.audit(problem, release))
    (own,) = found.protects
    assert (found.role, own.name, own.attacker) == ("secondary", "row=2, column=1", "outsider")
    assert (own.lower, own.upper, own.low, own.high) == (2, 2, 8, 8)
    assert own.verdict.startswith("exact disclosure")
    assert not found.redundant
    assert found.mark is Mark.SUPPRESSED


def test_a_cell_that_nothing_needs_is_redundant() -> None:
    problem, release = square()
    found = tc.explain(problem, release, {"row": "2", "column": "2"})
    assert found.redundant
    assert not found.protects
    # In column 2 nothing else is hidden, so that everyone knows it in any case.
    assert found.deduced.known


def test_what_another_proof_replaces_is_told() -> None:
    table = tc.Table.from_array(np.full((3, 3), 50))
    problem = tc.Problem(table, tc.Marked([table.find("1", "1")], 5, 5))
    release = tc.Release.suppress(table, ~table.structure.is_total)
    audit = tc.audit(problem, release)
    cell = next(c for c in audit.moves[int(audit.answers[0].up_moves[0])].cells if c != problem.sensitive[0])
    found = tc.explain(problem, release, int(cell), audit)
    assert found.redundant
    assert found.replaceable == tuple(problem.sensitive.tolist())


def test_published_and_exposed_cells_say_so() -> None:
    problem, release = square()
    shown = tc.explain(problem, release, ("1", "1"))
    assert (shown.role, shown.deduced.low, shown.deduced.high) == ("published", 20, 20)
    bare = tc.Release.suppress(problem.table, [])
    exposed = tc.explain(problem, bare, ("2", "1"))
    assert exposed.role == "exposed"
    assert not exposed.protected_by.size
    assert exposed.deduced.known


def test_an_unsafe_neighbour_is_no_cell_that_is_protected() -> None:
    problem, release = square()
    harder = tc.Problem(problem.table, tc.Marked([problem.table.find("2", "1")], 2, 100))
    found = tc.explain(harder, release, ("3", "1"))
    assert not found.protects
    assert found.unsafe == tuple(problem.sensitive.tolist())


def test_decimals_and_windows_are_in_plain_numbers() -> None:
    table = tc.Table.from_array([[2.0, 5.0], [0.8, 1.9]], decimals=1, counts=False)
    problem = tc.Problem(table, tc.Levels.on_cells(table, [table.find("2", "1")], lower=0.2, upper=0.2))
    inner = ~table.structure.is_total
    low, high = table.units - 4, np.where(table.units == 50, UNBOUNDED, table.units + 4)
    release = tc.Release.intervals(table, inner, low, high)
    found = tc.explain(problem, release, ("1", "2"))
    assert found.window == (4.6, np.inf)
    assert found.mark is Mark.INTERVAL
    assert (found.deduced.low, found.deduced.high) == (4.6, 5.4)
    (own,) = found.protects
    assert (own.lower, own.upper, own.low, own.high) == (0.2, 0.2, 0.8, 0.8)
    assert tc.explain(problem, release, ("2", "1")).levels == (0.2, 0.2, 0)


@pytest.mark.parametrize(
    ("levels", "window", "said"),
    [
        ((5, 5), (49, 90), "an outsider could tell that {} is at most 51; 55 must stay possible."),
        ((5, 5), (10, 51), "an outsider could tell that {} is at least 49; 45 must stay possible."),
        (
            (5, 5),
            (49, 51),
            "{} would be known to within 1 to an outsider: 49 to 51; 45 and 55 must stay possible.",
        ),
        (
            (0, 0, 9),
            (49, 51),
            "an outsider could tell that {} is 49 to 51; a range at least 9 wide must stay possible.",
        ),
        (
            (5, 5, 45),
            (49, 90),
            "an outsider could tell that {} is at most 51; 55 must stay possible, and a range at least 45 "
            "wide.",
        ),
    ],
)
def test_the_side_on_which_a_level_is_missed_is_named(
    levels: tuple[int, ...], window: tuple[int, int], said: str
) -> None:
    """With the second cell of the row published, the window of the third one limits the first one."""
    table = tc.Table.from_array(np.full((2, 3), 50))
    lower, upper, sliding = (*levels, 0)[:3]
    first = table.find("1", "1")
    problem = tc.Problem(table, tc.Levels.on_cells(table, [first], lower=lower, upper=upper, sliding=sliding))
    inner = ~table.structure.is_total
    low, high = np.where(inner, 0, table.units), np.where(inner, 100, table.units)
    third = table.find("1", "3")
    low[third], high[third] = window
    release = tc.Release.intervals(table, inner, low, high)
    found = tc.explain(problem, release, ("1", "2"))
    assert f"Without it {said.format(table.name(first))}" in found.text


def test_what_readers_learn_is_no_more_than_what_everyone_knows() -> None:
    table = tc.Table.from_array([[1, 50], [30, 40]])
    problem = tc.Problem(table, tc.Threshold(3))
    release = tc.UnbiasedRounding(base=5).protect(problem, tc.Run(seed=1))
    text = tc.explain(problem, release, ("1", "1")).text
    assert "readers learn that it is between 0 and" in text


def insider(problem: tc.Problem, cell: int, name: str) -> tc.Insider:
    """Someone who knows one cell up to 1."""
    value = problem.table.units[cell]
    return tc.Insider(name, np.array([cell]), np.array([value - 1]), np.array([value + 1]))


def test_insiders_are_asked_who_know_most_of_the_cell() -> None:
    problem, release = square()
    table, cell, other = problem.table, problem.table.find("3", "3"), problem.table.find("3", "1")
    known = [insider(problem, other, f"neighbour {k}") for k in range(MOST_INSIDERS)]
    low = tc.Marked([table.find("2", "1")], 1, 1)
    crowd = tc.Problem(table, low, attackers=[*known, insider(problem, cell, "owner")])
    found = tc.explain(crowd, release, cell)
    assert found.insider is not None
    assert (found.insider.low, found.insider.high) == (11, 13)
    assert found.asked == min(found.insiders, MOST_INSIDERS)
    assert "The insider who deduces most is owner (of 21 who know something near it the 20 who" in found.text


def test_without_time_nothing_is_claimed() -> None:
    problem, release = square()
    run = tc.Run()
    run.cancel()
    found = tc.explain(problem, release, ("3", "1"), run=run)
    assert isnan(found.deduced.low)
    assert isnan(found.deduced.high)
    assert not found.protects
    assert not found.redundant
    assert found.undecided == tuple(problem.sensitive.tolist())


@pytest.mark.parametrize("cell", [99, ("9", "9"), "mine"])
def test_what_is_no_cell_is_refused(cell: Any) -> None:
    problem, release = square()
    with pytest.raises(tc.InputError):
        tc.explain(problem, release, cell)


def test_an_audit_of_another_release_is_refused() -> None:
    problem, release = square()
    audit = tc.audit(problem, tc.Release.suppress(problem.table, release.hidden))
    with pytest.raises(tc.ReleaseError, match="audit is of another"):
        tc.explain(problem, release, ("3", "1"), audit)


@given(st.data())
def test_derivations_are_true_sums_of_what_readers_know(data: st.DataObject) -> None:
    """Where equations alone determine a cell, one after another, its derivation computes it from numbers that
    are published, or were derived before; elsewhere there is none.
    """
    problem = data.draw(problems())
    release = data.draw(releases(problem))
    known = Counter(problem.table.text(cell) for cell in np.flatnonzero(~release.hidden))
    for cell in np.flatnonzero(release.hidden).tolist():
        found = tc.explain(problem, release, cell)
        derived = Counter(known)
        for line in found.derivation:
            name, text = line.split(": ")
            sum_text, value = text.split(" along ")[0].split(" = ")
            numbers = Counter(part.strip("()") for part in sum_text.split() if part not in "+-")
            assert not numbers - derived
            assert sum(_read_terms(sum_text)) == pytest.approx(float(value))
            derived[value] += 1
        if found.derivation:
            assert found.deduced.known
            assert name == found.name
            assert float(value) == found.deduced.low == problem.table.values[cell]


def _read_terms(text: str) -> Iterator[float]:
    sign = 1.0
    for part in text.split():
        if part in "+-":
            sign = 1.0 if part == "+" else -1.0
        else:
            yield sign * float(part.strip("()"))


def test_a_cell_alone_in_its_row_is_derived_and_so_is_what_follows_from_it() -> None:
    table = tc.Table.from_array([[20, 50, 10], [8, 19, 22], [17, 32, 12]])
    problem = tc.Problem(table, tc.Threshold(9))
    release = tc.Release.suppress(table, [table.find("2", "1"), table.find("3", "1"), table.find("3", "2")])
    found = tc.explain(problem, release, ("3", "1"))
    assert found.derivation == (
        "row=2, column=1: 49 - 19 - 22 = 8 along column",
        "row=3, column=1: 45 - 20 - 8 = 17 along row",
    )
    assert "An outsider deduces: exactly 17.\n    row=2, column=1: 49 - 19" in found.text
    assert str(found) == found.text


def test_of_two_sums_that_give_a_cell_the_shorter_is_shown() -> None:
    table = tc.Table.from_array([[20, 50, 10], [8, 19, 22]])
    problem = tc.Problem(table, tc.Threshold(9))
    found = tc.explain(problem, tc.Release.suppress(table, problem.sensitive), ("2", "1"))
    assert found.derivation == ("row=2, column=1: 28 - 20 = 8 along row",)


@pytest.mark.parametrize(
    ("row", "derived"),
    [
        ([2, -5, 3], "row=1, column=1: 0 - (-5) - 3 = 2 along column"),
        ([2, *range(1, 14)], "row=1, column=1: 93 - 91 = 2 along column"),
    ],
)
def test_negative_numbers_stand_in_brackets_and_many_are_added_up(row: list[int], derived: str) -> None:
    table = tc.Table.from_array([row, [7] * len(row)])
    anyone = tc.Outsider.of(table, lower=float("-inf"))
    problem = tc.Problem(table, tc.Marked([("1", "1")], lower=1, upper=1), anyone)
    release = tc.Release.suppress(table, [table.find("1", "1"), table.find("Total", "1")])
    assert tc.explain(problem, release, ("1", "1")).derivation == (derived,)


def test_what_bounds_alone_pin_has_no_derivation() -> None:
    """Four cells of a square are zero, since a row is; no single equation tells."""
    table = tc.Table.from_array([[0, 0, 5], [3, 4, 6]])
    problem = tc.Problem(table, tc.Zeros())
    hidden = [table.find(row, column) for row in "12" for column in "12"]
    found = tc.explain(problem, tc.Release.suppress(table, hidden), ("1", "1"))
    assert found.deduced.known
    assert found.derivation == ()


def test_several_releases_are_explained_as_one() -> None:
    problem, release = square()
    table = problem.table
    wider = tc.Release.suppress(table, release.hidden | (np.arange(len(table)) == table.find("1", "1")))
    one, both = (tc.explain(problem, given, ("3", "1")) for given in (release, [wider, release]))
    assert summarize(one) == summarize(both)


def summarize(found: Explanation) -> tuple[object, ...]:
    return found.role, found.deduced, found.protects
