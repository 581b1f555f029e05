"""Random rounding with quadratic programming: bases, attackers, bounds, refusals, cancel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tacita as tc
from tacita.core.errors import InfeasibleError, InputError, StoppedError
from tacita.core.run import Event
from tacita.methods.random_rounding.factor_bases import find_likely_bases
from tacita.methods.random_rounding.roundings import draw_rounding, draw_roundings, enumerate_roundings
from tacita.methods.unbiased_rounding.alternating_cycles import make_coins
from tacita.testing import check_method

TABLE = [[20, 31, 17], [44, 23, 38], [29, 35, 51]]


def problem_of(values, cells, upper=4, lower=4, **more) -> tc.Problem:
    table = tc.Table.from_array(values)
    return tc.Problem(table, tc.Marked(cells, upper=upper, lower=lower), **more)


def test_only_sensitive_cells_are_rounded_and_totals_stay() -> None:
    problem = problem_of(TABLE, [("1", "2"), ("3", "1")])
    release = check_method(tc.RandomRounding(base=8), problem)
    units, total = problem.table.units, problem.table.structure.is_total
    assert (release.value[problem.sensitive] % 8 == 0).all()
    assert np.array_equal(release.value[total], units[total])
    assert (release.marks[total] == tc.Mark.PUBLISHED).all()
    assert (release.marks[~total] == tc.Mark.ADJUSTED).all()
    assert ((release.high - release.low)[~total] == 16).all()
    assert release.outcome is not None
    inner = ~total
    chi_square = (((release.value - units) ** 2)[inner] / units[inner]).sum()
    assert release.outcome.loss == pytest.approx(chi_square)


def test_announced_margins_have_the_radius_too() -> None:
    problem = problem_of(TABLE, [("1", "2")])
    release = check_method(tc.RandomRounding(base=8, margins="announced"), problem)
    assert ((release.high - release.low) == 16).all()
    total = problem.table.structure.is_total
    assert np.array_equal(release.value[total], problem.table.units[total])


@pytest.mark.parametrize("shape", [(6,), (3, 4), (3, 3, 3), (2, 2, 2, 3)])
def test_any_dimension(shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(5).integers(20, 90, shape)
    sensitive = [tuple(str(1 + k % n) for n in shape) for k in (0, 1)]
    problem = problem_of(values.tolist(), sensitive)
    release = check_method(tc.RandomRounding(base=9, readers="radius"), problem)
    assert release.outcome is not None
    assert release.outcome.status is tc.Status.OPTIMAL
    assert not problem.table.equations.residuals(release.value).any()


def test_decimals_are_adjusted_in_their_last_place() -> None:
    table = tc.Table.from_array(np.array(TABLE) + 0.25, counts=False)
    problem = tc.Problem(table, tc.Marked([("1", "2")], upper=2, lower=2))
    release = check_method(tc.RandomRounding(base=4), problem)
    assert release.value[problem.sensitive].tolist() == [3200]
    assert (np.abs(release.value - table.units)[~problem.levels.sensitive] % 100 != 0).any()


def test_the_base_is_a_factor_of_the_sum_that_moves_every_sensitive_cell() -> None:
    problem = problem_of(TABLE, [("1", "2"), ("3", "1")])
    tried = list(find_likely_bases(problem))
    # The sum is 60. To 4 neither 28 nor 32 leaves 31 its levels.
    assert tried[:5] == [5, 6, 10, 12, 15]
    assert all(31 % base and 29 % base for base in tried)
    release = check_method(tc.RandomRounding(), problem)
    radius = int(release.high[problem.sensitive[0]] - release.low[problem.sensitive[0]]) // 2
    assert 60 % radius == 0
    assert release.value[problem.sensitive].sum() == 60


def test_without_a_factor_of_the_sum_other_numbers_are_tried() -> None:
    """193 is prime, and the first round numbers leave some cell as it is."""
    values = [[68, 47, 65, 34], [16, 32, 77, 79], [60, 29, 47, 17]]
    problem = problem_of(values, [("1", "1"), ("1", "3"), ("3", "1")], upper=1, lower=1)
    release = check_method(tc.RandomRounding(), problem)
    assert (release.value != problem.table.units)[problem.sensitive].all()


def test_multiples_stay_and_the_house_is_told() -> None:
    problem = problem_of(TABLE, [("1", "1")])
    release = tc.RandomRounding(base=10).protect(problem)
    assert np.array_equal(release.value, problem.table.units)
    assert release.outcome is not None
    assert "sensitive cells that are multiples of the base and stay as they are: 1" in release.outcome.remarks


def test_nothing_sensitive_changes_nothing() -> None:
    table = tc.Table.from_array(TABLE)
    release = tc.RandomRounding().protect(tc.Problem(table, tc.Levels.none(len(table))))
    assert np.array_equal(release.value, table.units)


def test_an_insider_who_knows_a_neighbour_is_kept_out() -> None:
    """In a table of 2 x 2 with exact totals, who knows one inner cell knows all of them."""
    values = [[20, 31], [44, 23]]
    alone = problem_of(values, [("1", "2")])
    check_method(tc.RandomRounding(base=8), alone)
    neighbour = alone.table.find("1", "1")
    insider = tc.Insider.knowing("the firm next door", alone.table, {neighbour: (20, 20)})
    with pytest.raises(InfeasibleError, match=r"row=1, column=2.*against the firm next door"):
        tc.RandomRounding(base=8).protect(problem_of(values, [("1", "2")], attackers=["outsider", insider]))


def test_inequalities_of_every_attacker_count() -> None:
    """An insider sure that the cell is at most 33 leaves room above only if it is not rounded down."""
    problem = problem_of(TABLE, [("1", "2")], upper=2, lower=2)
    cell = problem.table.find("1", "2")
    insider = tc.Insider.knowing("insider", problem.table, {cell: (29, 33)})
    both = problem_of(TABLE, [("1", "2")], upper=2, lower=2, attackers=["outsider", insider])
    release = check_method(tc.RandomRounding(base=8), both)
    assert release.low[cell] <= 29
    assert release.high[cell] >= 33


def test_cells_that_must_be_published_stay() -> None:
    table = tc.Table.from_array(TABLE)
    kept = table.find("2", "2")
    problem = tc.Problem(table, tc.Marked([("1", "2")], upper=4), must_publish=[kept])
    release = check_method(tc.RandomRounding(base=8), problem)
    assert release.marks[kept] == tc.Mark.PUBLISHED


def test_sensitive_totals_are_refused() -> None:
    problem = problem_of(TABLE, [("1", "Total")])
    for margins in ("exact", "announced"):
        with pytest.raises(InfeasibleError, match=r"row=1, column=Total.*keeps all totals"):
            tc.RandomRounding(base=8, margins=margins).protect(problem)


def test_totals_that_must_be_hidden_are_refused() -> None:
    table = tc.Table.from_array(TABLE)
    hidden = [table.find("1", "Total")]
    problem = tc.Problem(table, tc.Marked([("1", "2")], upper=4), must_hide=hidden)
    with pytest.raises(InfeasibleError, match="must be hidden"):
        tc.RandomRounding(base=8).protect(problem)


def test_bounds_too_tight_are_named_with_the_remedy() -> None:
    problem = problem_of(TABLE, [("1", "2")])
    with pytest.raises(InfeasibleError, match=r"row=1, column=2.*within their bounds.*wider bounds"):
        tc.RandomRounding(base=8, below=0.0, above=0.0).protect(problem)


def test_a_sum_of_sensitive_cells_alone_is_refused_with_the_number_of_bases() -> None:
    """The first row adds up to 206 = 2 * 103: to no base that moves its cells."""
    values = [[70, 56, 48, 32], [35, 17, 19, 16], [26, 67, 57, 74]]
    problem = problem_of(values, [("1", str(k)) for k in (1, 2, 3, 4)], upper=1, lower=1)
    with pytest.raises(InfeasibleError, match=r"row=1, column=1.*None of \d+ bases does better"):
        tc.RandomRounding().protect(problem)


def test_small_bases_are_refused() -> None:
    with pytest.raises(InfeasibleError, match=r"row=1, column=2.*smallest base that can work"):
        tc.RandomRounding(base=3).protect(problem_of(TABLE, [("1", "2")]))


@pytest.mark.parametrize(
    "options", [{"below": 1.5}, {"below": -0.1}, {"above": -1}, {"above": float("inf")}, {"candidates": 0}]
)
def test_options_are_checked(options: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        tc.RandomRounding(**options)


def test_many_sensitive_cells_are_drawn_and_a_small_seed_is_no_secret() -> None:
    values = np.random.default_rng(1).integers(30, 90, (6, 6))
    cells = [(str(r), str(c)) for r in range(1, 5) for c in range(1, 5)]
    problem = problem_of(values.tolist(), cells, upper=2, lower=2)
    method = tc.RandomRounding(base=7, candidates=20)
    one, *others = (method.protect(problem, tc.Run(seed=2**40 + s)) for s in range(5))
    assert one.outcome is not None
    assert one.outcome.status is tc.Status.FEASIBLE
    assert one.outcome.bound <= one.outcome.loss
    assert not any("seed" in remark for remark in one.outcome.remarks)
    assert any(not np.array_equal(one.value, other.value) for other in others)
    guessed = replace(method, protected=False).protect(problem, tc.Run(seed=0))
    assert guessed.outcome is not None
    assert any("the seed is below" in remark for remark in guessed.outcome.remarks)


def test_all_roundings_keep_the_sum_next_to_it() -> None:
    """Residues 3, 3, 4, 0 to 5: they add up to two bases, so two of three cells go up."""
    found = enumerate_roundings(np.array([3, 3, 4, 0]), 5, 10)
    assert found is not None
    assert sorted(map(tuple, found.tolist())) == [
        (False, True, True, False),
        (True, False, True, False),
        (True, True, False, False),
    ]
    found = enumerate_roundings(np.array([3, 3]), 5, 10)
    assert found is not None
    assert sorted(found.sum(axis=1).tolist()) == [1, 1, 2]
    assert enumerate_roundings(np.array([3, 3, 4, 0]), 5, 2) is None


def test_a_single_draw_is_right_on_average() -> None:
    problem = problem_of(TABLE, [("1", "2"), ("2", "3"), ("3", "1")])
    method = tc.RandomRounding(base=8, candidates=1, below=1.0, above=2.0, protected=False)
    draws = np.array([method.protect(problem, tc.Run(seed=s)).value for s in range(400)])
    true = problem.table.units[problem.sensitive]
    spread = np.sqrt((true % 8) * (8 - true % 8) / 400)
    assert (np.abs(draws[:, problem.sensitive].mean(axis=0) - true) < 4 * spread).all()


def test_cells_that_can_go_one_way_only_go_there_in_every_draw() -> None:
    residue = np.array([3, 3, 4, 0, 2])
    down, up = np.array([True, False, False, False, False]), np.array([False, True, False, True, False])
    found = draw_roundings(residue, 5, 4, make_coins(1), (down, up))
    assert not found[:, 0].any()
    assert found[:, 1].all()
    assert not found[:, 3].any(), "a multiple stays"
    assert len(found) > 1


def test_a_point_is_thrown_again_where_it_would_favour_small_ones() -> None:
    """Coins beyond the last whole number of bases are not used."""
    coins = iter([np.array([5, 1]), np.array([2**63 - 2]), np.array([7])])
    up = draw_rounding(np.array([3, 4]), 6, lambda count: next(coins))
    # Order: the second cell first, on 0 .. 3, then the first on 4 .. 6; the point 7 % 6 = 1 meets the second.
    assert up.tolist() == [False, True]


def test_a_cancel_before_anything_was_found_is_an_error() -> None:
    run = tc.Run()
    run.cancel()
    with pytest.raises(StoppedError, match="allow more time"):
        tc.RandomRounding(base=8).protect(problem_of(TABLE, [("1", "2")]), run)


def test_a_cancel_keeps_the_best_so_far() -> None:
    values = [[20, 10, 20, 10, 20], [10, 10, 20, 5, 15], [40, 10, 10, 20, 10], [5, 5, 15, 10, 5]]
    problem = problem_of(values, [("1", "1"), ("2", "3"), ("3", "4"), ("4", "4")])
    told = []

    def listen(event: Event) -> None:
        told.append(event)
        if len(told) == 3:
            run.cancel()

    run = tc.Run(listener=listen)
    method = tc.RandomRounding(base=14, protected=False)
    release = method.protect(problem, run)
    assert len(told) == 3
    assert not problem.table.equations.residuals(release.value).any()
    assert release.outcome is not None
    assert release.outcome.status is tc.Status.FEASIBLE
    full = method.protect(problem)
    assert full.outcome is not None
    assert release.outcome.bound <= full.outcome.loss <= release.outcome.loss


def informed(problem: tc.Problem, release: tc.Release, base: int, below=0.5, above=1.0) -> tc.Problem:
    """The same question to readers of the documents: totals are true, other numbers than multiples of the
    base were adjusted, and those that are may have been rounded by less than it.
    """
    table, shown = problem.table, release.value
    multiple, total = shown % base == 0, table.structure.is_total
    low = np.maximum(np.ceil(shown / (1 + above)), shown - base)
    high = np.minimum(np.floor(shown / (1 - below)), shown + base)
    low = np.where(multiple, np.minimum(low, np.maximum(shown - base + 1, np.minimum(shown, 1))), low)
    high = np.where(multiple, np.maximum(high, shown + base - 1), high)
    low, high = np.where(total, table.units, low), np.where(total, table.units, high)
    known = problem.outsider
    sees = tc.Outsider(
        np.maximum(known.lower, low.astype(np.int64)), np.minimum(known.upper, high.astype(np.int64))
    )
    return tc.Problem(table, problem.levels, sees)


@given(data=st.data())
def test_readers_of_the_documents_come_no_nearer_than_levels(data: st.DataObject) -> None:
    size = data.draw(st.sampled_from([(2, 3), (3, 3), (3, 4)]))
    values = data.draw(arrays(np.int64, size, elements=st.integers(0, 60)))
    possible = [(str(r), str(c)) for r in (1, 2) for c in (1, 2, 3)]
    cells = data.draw(st.lists(st.sampled_from(possible), min_size=1, max_size=3, unique=True))
    level, base = data.draw(st.integers(1, 4)), data.draw(st.integers(4, 14))
    margins = data.draw(st.sampled_from(["exact", "announced"]))
    try:
        problem = problem_of(values.tolist(), cells, upper=level, lower=0)
        release = check_method(tc.RandomRounding(base=base, margins=margins), problem)
    except (InfeasibleError, InputError):
        return
    assert not release.assumption
    assert tc.audit(informed(problem, release, base), release).safe


def test_the_literature_is_open_to_readers_of_the_documents_and_says_so() -> None:
    """The sum is 23, and the neighbour is shown as 7: it was 2 or more, so that the cell is at most 21."""
    problem = problem_of([[21, 2], [44, 23]], [("1", "1")], upper=3, lower=3)
    method = tc.RandomRounding(base=8, above=3.0, below=1.0, margins="announced", readers="radius")
    release = method.protect(problem)
    assert tc.audit(problem, release).verdict.endswith("nothing of how cells were moved")
    assert any("option 'readers'" in remark for remark in release.outcome.remarks)
    with pytest.raises(InfeasibleError, match=r"row=1, column=1"):
        replace(method, readers="method").protect(problem)
