"""Random rounding: what it promises holds on every table, and draws are right on average exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.core.errors import InfeasibleError
from tacita.methods.random_rounding.roundings import draw_rounding, draw_roundings
from tacita.testing import brute_force_safe, check_method, hard_problems, problems, tables

SHAPES = ((3,), (2, 3), (3, 3), (2, 2, 2))


def promised(problem: tc.Problem, release: tc.Release, below: float, above: float) -> None:
    """Totals kept, bounds kept, whole numbers, the announced radius true."""
    table, change = problem.table, release.value - problem.table.units
    rounded = problem.levels.sensitive & ~table.structure.is_total
    assert not table.equations.residuals(release.value).any()
    assert not change[table.structure.is_total | problem.must_publish].any()
    others = ~rounded
    assert (-change[others] <= below * np.abs(table.units[others]) + 1e-9).all()
    assert (change[others] <= above * np.abs(table.units[others]) + 1e-9).all()
    assert not (change % table.unit).any()
    assert (release.low <= table.units).all()
    assert (release.high >= table.units).all()


@given(problem=problems(tables(SHAPES, largest=12)), margins=st.sampled_from(["exact", "announced"]))
def test_promises_on_small_tables(problem: tc.Problem, margins: str) -> None:
    method = tc.RandomRounding(margins=margins, candidates=16)
    try:
        release = check_method(method, problem)
    except InfeasibleError:
        return
    promised(problem, release, 0.5, 1.0)
    if margins == "exact":
        assert brute_force_safe(problem, release).all()


@given(problem=hard_problems(), base=st.sampled_from([None, 4, 7, 12]))
def test_promises_on_hierarchies_cubes_and_linked_tables(problem: tc.Problem, base: float | None) -> None:
    method = tc.RandomRounding(base=base, below=0.8, above=1.5, candidates=16)
    try:
        release = check_method(method, problem)
    except InfeasibleError:
        return
    promised(problem, release, 0.8, 1.5)
    assert release.outcome is not None
    assert release.outcome.bound <= release.outcome.loss


@given(problem=hard_problems(), base=st.sampled_from([4, 7, 12]))
def test_promises_without_levels(problem: tc.Problem, base: float) -> None:
    try:
        release = tc.RandomRounding(base=base, protected=False).protect(problem)
    except InfeasibleError:
        return
    promised(problem, release, 0.5, 1.0)
    rounded = problem.levels.sensitive & ~problem.table.structure.is_total
    assert not (release.value[rounded] % base).any()


@st.composite
def roomy_problems(draw_from) -> tc.Problem:
    """Tables with room to adjust, one or two sensitive inner cells so that no sum consists of them alone, and
    insiders who know one cell better.
    """
    shape = draw_from(st.sampled_from([(5,), (3, 4), (4, 4), (3, 3, 3)]))
    values = np.random.default_rng(draw_from(st.integers(0, 999))).integers(15, 80, shape)
    table = tc.Table.from_array(values)
    inner = np.flatnonzero(~table.structure.is_total)
    cells = draw_from(st.lists(st.sampled_from(inner.tolist()), min_size=1, max_size=2, unique=True))
    sensitive = np.zeros(len(table), dtype=bool)
    sensitive[cells] = True
    level = draw_from(st.integers(1, 4))
    known = draw_from(st.lists(st.sampled_from(inner.tolist()), max_size=2, unique=True))
    insiders = [
        tc.Insider.knowing(f"insider {c}", table, {c: (table.units[c] - 5, table.units[c] + 6)})
        for c in known
    ]
    levels = tc.Levels.of(sensitive, upper=np.full(len(table), level))
    return tc.Problem(table, levels, ["outsider", *insiders])


@given(problem=roomy_problems(), candidates=st.sampled_from([2, 64]))
def test_tables_with_room_are_protected(problem: tc.Problem, candidates: int) -> None:
    """A base is found for all of them, be the roundings drawn or listed."""
    release = check_method(tc.RandomRounding(candidates=candidates), problem)
    promised(problem, release, 0.5, 1.0)
    assert (release.value != problem.table.units)[problem.levels.sensitive].all()


@st.composite
def residues(draw_from):
    base = draw_from(st.integers(2, 12))
    return base, np.array(draw_from(st.lists(st.integers(0, base - 1), min_size=1, max_size=6)))


@given(question=residues(), order=st.randoms(use_true_random=False))
def test_draws_are_right_on_average_exactly(question, order) -> None:
    """Over all points of the line, in any order of the cells, cell by cell; the sum stays next to its own."""
    base, residue = question
    shuffle = order.sample(range(residue.size), residue.size)
    went_up = np.zeros(residue.size, dtype=np.int64)
    for point in range(base):
        coins = iter([np.array(shuffle), np.array([point])])
        up = draw_rounding(residue, base, lambda count, coins=coins: next(coins))
        went_up += up
        assert abs(base * int(up.sum()) - int(residue.sum())) < base
    assert [Fraction(int(n), base) for n in went_up] == [Fraction(int(r), base) for r in residue]


@given(question=residues(), seed=st.integers(0, 99))
def test_drawn_roundings_differ_and_multiples_stay(question, seed: int) -> None:
    from tacita.methods.unbiased_rounding.alternating_cycles import make_coins

    base, residue = question
    found = draw_roundings(residue, base, 5, make_coins(seed))
    assert 1 <= len(found) <= 5
    assert len({row.tobytes() for row in found}) == len(found)
    assert not found[:, residue == 0].any()
