"""Unbiased rounding as a method: what it announces, refuses, and promises at the extremes."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tacita as tc
from tacita.core.errors import InfeasibleError, InputError, StoppedError
from tacita.core.exact import LARGEST
from tacita.core.release import Mark
from tacita.core.tables.equations import Equations
from tacita.core.tables.structure import Structure
from tacita.examples import example
from tacita.methods.protection import missed_levels
from tacita.methods.unbiased_rounding.two_trees import TwoTrees
from tacita.methods.unbiased_rounding.unbiased_rounding import UnbiasedRounding
from tacita.testing import check_method, hard_table

NCHS = example("nchs").table
IMPOSSIBLE = [[[0, 0], [0, 1]], [[0, 1], [1, 0]]]


def free(table: tc.Table, **more) -> tc.Problem:
    return tc.Problem(table, tc.Levels.none(len(table)), tc.Outsider.of(table, lower=-np.inf), **more)


def hierarchical(seed: int, kind: str = "tree") -> tc.Table:
    return hard_table(random.Random(seed), kind)


# ---------------------------------------------------------------------- the method


def test_the_release_announces_the_base_for_all_cells() -> None:
    problem = free(NCHS)
    release = UnbiasedRounding(base=5).protect(problem, tc.Run(seed=2**40))
    units, moved = problem.table.units, np.abs(release.value - problem.table.units)
    assert (release.marks == Mark.ROUNDED).all()
    assert (release.high - release.value == 4).all()
    assert (release.value - release.low == 4).all()
    assert (moved[units % 5 == 0] == 0).all()
    assert release.outcome.loss == moved.sum()
    assert release.outcome.bound == np.minimum(units % 5, 5 - units % 5).sum()
    assert release.outcome.status is tc.Status.FEASIBLE
    assert release.outcome.remarks == ()
    assert release.notice == ""
    assert release.made_by == {
        "method": "unbiased-rounding",
        "options": {"base": 5, "additive": True, "partial": False, "strict": True, "protected": True},
        "seed": 2**40,
    }


def test_seeds_of_the_method_are_unbiased_too() -> None:
    problem = free(tc.Table.from_array([[1, 2], [3, 2]]))
    method, draws = UnbiasedRounding(base=5), 1000
    mean = sum(method.protect(problem, tc.Run(seed=seed)).value for seed in range(draws)) / draws
    chance = problem.table.units % 5 / 5
    deviation = 5 * np.sqrt(chance * (1 - chance) / draws)
    assert (np.abs(mean - problem.table.units) <= 4 * deviation).all()


def test_without_a_seed_nobody_can_guess_the_draw() -> None:
    one, other = (UnbiasedRounding(base=5).protect(free(NCHS)) for _ in range(2))
    assert not np.array_equal(one.value, other.value)
    guessed = UnbiasedRounding(base=5).protect(free(NCHS), tc.Run(seed=0))
    assert "readers can try all of these" in guessed.outcome.remarks[0]


def test_seeds_differ() -> None:
    problem = free(NCHS)
    one, other = (UnbiasedRounding(base=5).protect(problem, tc.Run(seed=seed)).value for seed in (1, 2))
    assert (one != other).any()


def test_beyond_networks_it_is_refused_and_the_message_names_what_can_be_had() -> None:
    problem = free(tc.Table.from_array(IMPOSSIBLE))
    with pytest.raises(InfeasibleError, match=r"no network .* Switch partial on"):
        UnbiasedRounding(base=2).protect(problem)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["cube", "two trees"])
def test_partial_is_additive_with_a_known_distance(kind: str, seed: int) -> None:
    table = hierarchical(seed, kind)
    release = UnbiasedRounding(base=10, partial=True).protect(free(table), tc.Run(seed=seed))
    pieces = (release.high - release.value) // 9
    assert not table.equations.residuals(release.value).any()
    assert (np.abs(release.value - table.units) <= 9 * pieces).all()
    # Two hierarchies: only subtotals of both are sums; three dimensions: those over one of them.
    assert 0 < (pieces > 1).sum() < table.structure.is_total.sum() / 2
    assert (
        f"up to {pieces.max()} bases from their values: {(pieces > 1).sum()} total"
        in release.outcome.remarks[0]
    )


def test_partial_changes_nothing_where_the_table_is_a_network() -> None:
    problem = free(hierarchical(0))
    run = tc.Run(seed=2**40)
    one, other = (
        UnbiasedRounding(base=5, partial=partial).protect(problem, run) for partial in (True, False)
    )
    assert np.array_equal(one.value, other.value)
    assert one.outcome.remarks == ()


def test_linked_tables_are_refused() -> None:
    with pytest.raises(InfeasibleError, match="linked tables"):
        UnbiasedRounding(base=5, partial=True).protect(free(hierarchical(0, "linked")))


def test_every_cell_on_its_own_is_labelled() -> None:
    table = NCHS
    release = UnbiasedRounding(base=5, additive=False).protect(free(table))
    assert table.equations.residuals(release.value).any()
    assert (np.abs(release.value - table.units) < 5).all()
    assert not (release.value % 5).any()
    assert release.outcome.remarks == ("not additive: for comparison only",)
    assert release.notice == "not additive: for comparison only"
    assert release.made_by["options"]["additive"] is False


@pytest.mark.slow
def test_every_cell_on_its_own_goes_up_with_the_chance_of_its_residue() -> None:
    values = np.tile(np.arange(5), 4000)
    table = tc.Table.from_array(values)
    release = UnbiasedRounding(base=5, additive=False).protect(free(table))
    inner = ~table.structure.is_total
    often = np.bincount(table.units[inner], release.value[inner] > 0)
    chance = np.arange(5) / 5
    assert often[0] == 0
    assert (np.abs(often - 4000 * chance) <= 4 * np.sqrt(4000 * chance * (1 - chance))).all()


# ---------------------------------------------------------------------- levels


def test_a_draw_that_misses_a_level_is_refused_not_repeated() -> None:
    table = tc.Table.from_array([[20, 50, 10], [8, 19, 22], [17, 32, 12]], counts=False)
    problem = tc.Problem(table, tc.Marked([table.find("2", "3")], lower=2, upper=15))
    ends = set()
    for seed in range(20):
        run = tc.Run(seed=seed)
        shown = UnbiasedRounding(base=10, protected=False, strict=False).protect(problem, run)
        safe = tc.audit(problem, shown).safe
        ends.add(safe)
        if safe:
            kept = UnbiasedRounding(base=10, strict=False).protect(problem, run)
            assert np.array_equal(kept.value, shown.value)
        else:
            with pytest.raises(
                InfeasibleError, match=r"row=2, column=3\): this draw .* larger base \(20 has room"
            ):
                UnbiasedRounding(base=10, strict=False).protect(problem, run)
    assert ends == {True, False}


def test_flows_and_linear_programs_miss_the_same_requirements(monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    for seed in range(40):
        source = random.Random(seed)
        table = hard_table(source, source.choice(["flat", "tree"]))
        cells = source.sample(range(len(table)), 3)
        rooms = np.array([4 if c in cells else source.randint(0, 6) for c in range(len(table))])
        problem = tc.Problem(
            table,
            tc.Marked(cells, lower=0, upper=source.randint(1, 4)),
            tc.Outsider.of(table, lower=0, upper=table.values + rooms),
        )
        window = np.array([source.randint(1, 9) for _ in range(len(table))])
        answers = []
        for large in (0, 10**9):
            monkeypatch.setattr(missed_levels, "LARGE", large)
            requirements = missed_levels.find_missed(problem, window, window[::-1].copy(), tc.Run())
            answers.append(sorted(zip(requirements.cell.tolist(), requirements.sign.tolist(), strict=True)))
        assert answers[0] == answers[1]
        found.add(len(answers[0]) > 0)
    assert found == {True, False}


def test_small_bases_are_refused_by_name() -> None:
    table = NCHS
    problem = tc.Problem(table, tc.Marked([table.find("1", "1")], lower=0, upper=20))
    with pytest.raises(InfeasibleError, match=r"row=1, column=1\) cannot be protected .* smallest base"):
        UnbiasedRounding(base=5).protect(problem)


@pytest.mark.parametrize(
    ("value", "lower", "upper", "base"),
    [(22, 0, 15, 20), (22, 5, 0, 50), (20, 9, 9, 10), (20, 0, 0, 5), (22, 5, 3, 50)],
)
def test_the_default_base_by_levels(value: int, lower: int, upper: int, base: int) -> None:
    """The first of 2, 5, 10, ... at least half the levels, that leaves room on both sides of the value."""
    table = tc.Table.from_array([[value, 60], [60, 60]], counts=False)
    marked = tc.Marked([table.find("1", "1")], lower=lower, upper=upper) if lower + upper else None
    problem = tc.Problem(table, marked or tc.Levels.none(len(table)))
    release = check_method(UnbiasedRounding(), problem)
    assert set((release.high - release.low).tolist()) == {2 * (base - 1)}


def test_the_default_base_is_never_a_single_step() -> None:
    table = tc.Table.from_array([[1, 2], [3, 4]])
    problem = tc.Problem(table, tc.Marked([table.find("1", "1")], lower=0, upper=1))
    assert (check_method(UnbiasedRounding(), problem).high - table.units > 1).any()


@pytest.mark.parametrize("seed", range(10))
def test_the_default_base_has_room_whichever_way_cells_go(seed: int) -> None:
    """Levels 5 below and 15 above 22 and 12: to base 10 half of the draws fail, to base 50 none."""
    table = tc.Table.from_array([[20, 50, 10], [8, 19, 22], [17, 32, 12]], counts=False)
    problem = tc.Problem(table, tc.Marked([table.find("2", "3"), table.find("3", "3")], lower=5, upper=15))
    release = check_method(UnbiasedRounding(), problem, tc.Run(seed=seed))
    assert set((release.high - release.low).tolist()) == {98}


# ---------------------------------------------------------------------- cells that stay


def test_cells_that_must_be_published_stay_or_are_refused() -> None:
    table = tc.Table.from_array([[5, 7], [3, 4]])
    five, seven = table.find("1", "1"), table.find("1", "2")
    release = UnbiasedRounding(base=5).protect(free(table, must_publish=[five]))
    assert release.marks[five] == Mark.PUBLISHED
    assert release.value[five] == 5
    with pytest.raises(InfeasibleError, match=r"row=1, column=2\): must be published"):
        UnbiasedRounding(base=5).protect(free(table, must_publish=[seven]))


def test_totals_that_are_sums_cannot_be_promised() -> None:
    table = tc.Table.from_array(np.full((2, 2, 2), 2))
    trees = TwoTrees.of(table.structure)
    cell = int(np.flatnonzero(trees.n_parts > 1)[0])
    with pytest.raises(InfeasibleError, match="must be published"):
        UnbiasedRounding(base=2, partial=True).protect(free(table, must_publish=[cell]))


def test_constants_of_equations_must_be_multiples() -> None:
    """Two cells that add up to 4: to base 5 no two multiples do."""
    equations = Equations.from_rows([((0, 1), (1, 1), 4)], 2)
    structure = Structure((), np.zeros((2, 0), dtype=np.int32), equations, labels=("a", "b"))
    problem = free(tc.Table(structure, np.array([1, 3])))
    with pytest.raises(InfeasibleError, match="no multiple of 5"):
        UnbiasedRounding(base=5).protect(problem)
    assert UnbiasedRounding(base=2).protect(problem).value.sum() == 4


# ---------------------------------------------------------------------- extremes


@pytest.mark.parametrize(
    ("values", "base"),
    [
        (np.array([[LARGEST // 8, 7], [LARGEST // 8 - 3, 1]]), 5),
        (np.array([[LARGEST // 8, 7], [LARGEST // 8 - 3, 1]]), LARGEST // 4),
        (np.array([[-13, 7], [-3, -1]]), 5),
        (np.zeros((3, 3), dtype=int), 5),
        (np.array([[0.25, 1.5], [3.75, 0.1]]), 0.5),
        (np.array([[0.25, 1.5], [3.75, 0.1]]), 0.15),
        (np.array([[1, 2], [3, 4]]), 1000),
        (np.array([[1, 2], [3, 4]]), 2),
        (np.array([[7]]), 5),
    ],
    ids=[
        "huge",
        "huge base",
        "negative",
        "zeros",
        "decimals",
        "odd base",
        "large base",
        "base 2",
        "one cell",
    ],
)
@pytest.mark.parametrize("additive", [True, False])
def test_extremes(values: np.ndarray, base: float, additive: bool) -> None:
    table = tc.Table.from_array(values)
    step = round(base * 10**table.decimals)
    release = UnbiasedRounding(base=base, additive=additive).protect(free(table), tc.Run(seed=5))
    assert not (release.value % step).any()
    assert (np.abs(release.value - table.units) < step).all()
    assert not additive or not table.equations.residuals(release.value).any()


def test_a_base_of_one_step_hides_nothing_and_does_not_pretend_to() -> None:
    table = tc.Table.from_array([[1, 2], [3, 4]])
    release = UnbiasedRounding(base=1).protect(free(table))
    assert not release.hidden.any()
    with pytest.raises(InfeasibleError, match="must be hidden"):
        UnbiasedRounding(base=1).protect(free(table, must_hide=[0]))
    problem = tc.Problem(table, tc.Marked([table.find("1", "1")], lower=1, upper=1))
    with pytest.raises(InfeasibleError, match=r"row=1, column=1\)"):
        UnbiasedRounding(base=1).protect(problem)


@pytest.mark.parametrize(
    ("base", "why"),
    [
        (0, "'base' is zero"),
        (-5, "negative"),
        (2.5, "integers"),
        ("nothing", "no column 'nothing'"),
        (2**62, "large|53 bits"),
    ],
)
def test_bases_that_are_refused(base: float | str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        UnbiasedRounding(base=base).protect(free(tc.Table.from_array([[1, 2], [3, 4]])))


def test_a_column_of_bases_says_the_same_for_all_cells() -> None:
    table = tc.Table.from_array([[1, 2], [3, 4]])
    same = replace(table, columns={"b": np.full(9, 5)})
    assert not (UnbiasedRounding(base="b").protect(free(same)).value % 5).any()
    differing = replace(table, columns={"b": np.where(table.structure.is_total, 10, 5)})
    with pytest.raises(InputError, match="differs between cells"):
        UnbiasedRounding(base="b").protect(free(differing))


def test_half_a_draw_is_not_returned() -> None:
    run = tc.Run()
    run.cancel()
    with pytest.raises(StoppedError, match="biased"):
        UnbiasedRounding(base=5).protect(free(NCHS), run)


def test_a_small_table_does_not_load_the_compiler() -> None:
    program = (
        "import sys, numpy as np, tacita as tc\n"
        "table = tc.Table.from_array(np.arange(400).reshape(20, 20))\n"
        "tc.UnbiasedRounding(base=5, protected=False).protect(tc.Problem(table, tc.Threshold(3)))\n"
        "sys.exit('numba' in sys.modules)\n"
    )
    source = str(Path(tc.__file__).parents[1])
    ran = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": source}, check=False
    )
    assert ran.returncode == 0
