"""Rounding with protection: neighbours that add up; a base that cannot work is refused before the search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.core.errors import InfeasibleError, InputError
from tacita.core.release import Mark
from tacita.methods.rounding.rounding import MADE_OF_LEVELS, Rounding
from tacita.testing import check_method, problems, tables

FIGURE_1 = [[20, 50, 10], [8, 19, 22], [17, 32, 12]]
NETWORKS, CUBES = ((3,), (2, 2), (2, 3), (3, 3)), ((2, 2, 2), (2, 2, 3))

OPTIONS = st.sampled_from(
    [
        {},
        {"base": 2},
        {"base": 3, "power": 2.0},
        {"base": 5, "weight": "inverse"},
        {"base": 4, "multiples": "exact"},
        {"base": 3, "margins": False},
    ]
)


def problem_of(values=FIGURE_1, lower=10, upper=12, columns=None, **more) -> tc.Problem:
    table = replace(tc.Table.from_array(values, counts=False), columns=columns or {})
    return tc.Problem(table, tc.Marked([table.find("2", "3")], lower=lower, upper=upper), **more)


@pytest.mark.parametrize("shapes", [NETWORKS, CUBES], ids=["networks", "cubes"])
@given(data=st.data())
@examples(30)
def test_releases_are_neighbours_that_add_up_and_pass_the_audit(shapes, data: st.DataObject) -> None:
    problem, options = data.draw(problems(tables(shapes))), data.draw(OPTIONS)
    try:
        release = check_method(Rounding(**options), problem)
    except InfeasibleError:
        return
    units = problem.table.units
    base = options.get("base") or int((release.high - release.low).max() // 2) + 1
    assert not problem.table.equations.residuals(release.value).any()
    assert not (release.value % base)[~problem.must_publish].any()
    assert (np.abs(release.value - units) < base).all()
    told = problem.must_publish | (options.get("multiples") == "exact") & (units % base == 0)
    assert ((release.marks == Mark.ROUNDED) == ~told).all()
    assert (release.high - release.low == np.where(told, 0, 2 * (base - 1))).all()
    weight = 1 / np.maximum(units, 1) if "weight" in options else np.ones(units.size)
    weight *= options.get("margins", True) | ~problem.table.structure.is_total
    distance = np.abs(release.value - units) ** options.get("power", 1.0)
    assert release.outcome.loss == pytest.approx(float(weight @ distance))


def test_without_protection_it_only_rounds() -> None:
    problem = problem_of()
    release = Rounding(base=10, protected=False).protect(problem)
    assert not tc.audit(problem, release).safe
    assert not problem.table.equations.residuals(release.value).any()


def test_bases_of_their_own_for_some_cells() -> None:
    """Inner cells to multiples of 6, totals to multiples of 12: a total of whole dozens."""
    table = tc.Table.from_array(FIGURE_1, counts=False)
    base = np.where(table.structure.is_total, 12, 6)
    release = Rounding(base="base", protected=False).protect(problem_of(columns={"base": base}))
    assert not (release.value % base).any()
    assert not table.equations.residuals(release.value).any()


def test_the_base_is_a_round_number_unless_it_is_given() -> None:
    release = check_method(Rounding(), problem_of())
    # 10 and smaller ones cannot hold 10 below and 12 above.
    assert set(release.high - release.low) == {38}
    assert "the base was chosen by the program" in release.outcome.remarks[0]


def test_decimals() -> None:
    problem = problem_of(np.array(FIGURE_1) / 10, lower=1.0, upper=1.2)
    release = check_method(Rounding(base=1.2, strict=False), problem)
    assert release.outcome.loss == pytest.approx(5.0)
    assert not (release.value % 12).any()


@pytest.mark.parametrize(
    ("base", "why"),
    [
        (10, "the window is twice the base, its levels need 22"),
        (11, "its value is a multiple of the base"),
        (13, "readers could tell that it is not as low, or not as high, as its levels require"),
    ],
)
def test_a_base_that_cannot_work_is_refused_with_one_that_can(base: int, why: str) -> None:
    with pytest.raises(InfeasibleError) as refused:
        Rounding(base=base, multiples="exact", strict=False).protect(problem_of())
    told = str(refused.value)
    assert why in told
    assert "(row=2, column=3)" in told
    assert told.endswith("The smallest base that can work is 12.")


def test_a_zero_is_a_multiple_of_every_base() -> None:
    values = np.array(FIGURE_1)
    values[1, 2] = 0
    problem = problem_of(values, lower=0, upper=5)
    with pytest.raises(InfeasibleError, match=r"row=2, column=3.*No round base below .* can work"):
        Rounding(multiples="exact").protect(problem)
    # Readers who are not told which numbers are exact take it for anything up to the base.
    check_method(Rounding(base=5, strict=False), problem)
    # Those who know that the truth is less than a base away need a larger one.
    check_method(Rounding(base=6), problem)


def test_a_cell_that_must_be_hidden_may_not_be_told_to_be_exact() -> None:
    table = tc.Table.from_array(FIGURE_1, counts=False)
    problem = problem_of(must_hide=[table.find("1", "1")])
    for protected in (True, False):
        with pytest.raises(InfeasibleError, match=r"row=1, column=1\): must be hidden"):
            Rounding(base=20, multiples="exact", protected=protected).protect(problem)
    check_method(Rounding(base=20), problem)


def test_multiples_that_may_move_protect_by_moving() -> None:
    """Window 10 .. 20 around 10 + 5 holds eight above 10; 5 .. 15 does not."""
    table = tc.Table.from_array([[10, 3], [4, 6]], counts=False)
    at = table.find("1", "1")
    problem = tc.Problem(table, tc.Marked([at], lower=0, upper=8))
    release = check_method(Rounding(base=5, multiples="move"), problem)
    assert release.value[at] == 15
    with pytest.raises(InfeasibleError, match=r"smallest base that can work is 7"):
        Rounding(base=5).protect(problem)
    with pytest.raises(InfeasibleError, match=r"nothing would change"):
        Rounding(base=1).protect(tc.Problem(table, tc.Marked([at], lower=0, upper=1)))
    check_method(Rounding(base=1, multiples="move"), tc.Problem(table, tc.Marked([at], lower=0, upper=1)))


def test_where_nothing_adds_up_levels_are_not_blamed() -> None:
    cube = tc.Table.from_array([[[0, 0], [0, 1]], [[0, 1], [1, 0]]])
    problem = tc.Problem(cube, tc.Marked([cube.find("2", "2", "Total")], lower=1, upper=1))
    with pytest.raises(InfeasibleError, match=r"adds up: this is proven.*more steps \(1\)"):
        Rounding(base=2, strict=False).protect(problem)
    for relax in ("fewest", "cheapest"):
        outcome = check_method(Rounding(base=2, steps=1, relax=relax, strict=False), problem).outcome
        assert outcome.loss == 18
        assert "1 cell lies farther from the truth, (row=2, column=2, layer=2)" in outcome.remarks[1]
    table = tc.Table.from_array([[0, 1, 1], [1, 1, 0], [0, 1, 1]])
    blocks = "row=1+2|2+3, column=1+2|2+3"
    with pytest.raises(InfeasibleError, match=r"all of these subtotals.*\(row=2\+3, column=2\+3\)"):
        Rounding(base=3, subtotals=blocks).protect(
            tc.Problem(table, tc.Marked([table.find("1", "2")], lower=1, upper=1))
        )


@pytest.mark.parametrize("option", ["objective=mean", "steps=1", "protected=no"])
def test_what_a_part_of_a_mixture_cannot_do_is_refused(option: str) -> None:
    with pytest.raises(InputError, match=rf"option '{option.partition('=')[0]}'.*mixture"):
        tc.Mixture(f"rest: rounding(base=20, {option})").protect(problem_of())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base": 0}, "option 'base' is zero for"),
        ({"base": 2.5}, "option 'base' must give numbers of 0 decimals"),
        ({"base": "bases"}, "option 'base': the table has no column 'bases'"),
        ({"power": 0.5}, "option 'power' is 0.5; a distance needs a power of 1 or more"),
    ],
)
def test_mistakes_are_named(options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Rounding(**options).protect(problem_of())


@pytest.mark.parametrize("factor", [1e-12, 1e-6, 1.0, 1e9])
def test_the_size_of_weights_does_not_matter(factor: float) -> None:
    """Solvers have absolute tolerances; what is best has not."""
    values = np.random.default_rng(3).integers(1, 400, (3, 3, 3))
    table = tc.Table.from_array(values, counts=False)
    weight = np.random.default_rng(4).uniform(1, 9, len(table))
    rule = tc.Marked([("1", "2", "3"), ("3", "3", "1")], lower=4, upper=4)
    losses = []
    for size in (1.0, factor):
        problem = tc.Problem(replace(table, columns={"w": weight * size}), rule)
        release = check_method(Rounding(base=7, weight="w"), problem)
        assert release.outcome.status is tc.Status.OPTIMAL
        losses.append(release.outcome.loss / size)
    assert losses[0] == pytest.approx(losses[1])


def test_the_remedy_is_a_round_base_and_an_exact_one_gets_a_remark() -> None:
    table = tc.Table.from_array([[9137.5, 3211.5], [4123.0, 6007.5]])
    problem = tc.Problem(table, tc.Marked([("1", "1")], lower=1673, upper=1673))
    for base in (1000, 1801.7, 2500):
        with pytest.raises(InfeasibleError, match=r"smallest round base that can work is 2200\."):
            Rounding(base=base).protect(problem)
    for base, remarks in ((1801.8, (MADE_OF_LEVELS,)), (1802.5, ()), (2200, ())):
        outcome = Rounding(base=base).protect(problem).outcome
        assert outcome is not None
        assert outcome.remarks == remarks
