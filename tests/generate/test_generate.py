from __future__ import annotations

import numpy as np
import pytest

from tacita import generate
from tacita.core.errors import InputError
from tacita.generate import FAMILIES
from tacita.tabulation.tabulate import tabulate

EXPECTED_FS = [1343, 613, 730, 491, 236, 255, 852, 377, 475]
EXPECTED_LOGNORMAL = [337493, 169022, 168471, 243806, 85343, 158463, 93687, 83679, 10008]
EXPECTED_VALUES = [327.57, 5634.57, 298.74]


def leaf_units(shape: tuple[int, ...], family: str, seed: int = 0) -> np.ndarray:
    made = generate.table(shape, family, seed=seed)
    return made.units[~made.structure.is_total]


@pytest.mark.parametrize("family", FAMILIES)
def test_same_seed_same_table(family: str) -> None:
    one, other, third = (generate.table((9, 8), family, hierarchy=(2, 1), seed=s) for s in (3, 3, 4))
    assert np.array_equal(one.units, other.units)
    assert np.array_equal(one.structure.codes, other.structure.codes)
    assert not np.array_equal(one.units, third.units)


def test_a_seed_means_these_numbers_on_any_machine() -> None:
    assert generate.table((2, 2), "fs", seed=1).units.tolist() == EXPECTED_FS
    assert generate.table((2, 2), "lognormal", seed=1).units.tolist() == EXPECTED_LOGNORMAL
    records = generate.microdata(3, respondents=2, holdings=True, weights=True, seed=1).records
    assert records.column("value").to_pylist() == EXPECTED_VALUES


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4, 5])
def test_any_number_of_dimensions(dimensions: int) -> None:
    made = generate.table((3,) * dimensions, "uniform")
    assert len(made) == 4**dimensions
    assert len(made.structure.dimensions) == dimensions


def test_hierarchies_have_the_depth_asked_for() -> None:
    made = generate.table((30, 5), hierarchy=(3, 1))
    region, industry = (d.trees[0] for d in made.structure.dimensions)
    assert (max(region.depth), len(region.leaves)) == (3, 30)
    assert (max(industry.depth), len(industry.leaves)) == (1, 5)
    tree = generate.hierarchy(3, (2, 4), seed=5)
    assert max(tree.depth) == 3
    assert all(2 <= children.size <= 4 for _, children in tree.families())


def test_empty_cells_are_not_listed() -> None:
    made = generate.table((20, 20), "uniform", zeros=0.75)
    assert (~made.structure.is_total).sum() == 100


def test_families_have_the_figures_they_are_calibrated_on() -> None:
    fs = leaf_units((100, 100), "fs")
    assert (fs.min(), fs.max()) == (0, 499)
    logarithms = np.log(leaf_units((100, 100), "logn"))
    assert abs(np.median(logarithms) - 4.0) < 0.1
    census = generate.problem((183, 61), "census", seed=2)
    leaves = ~census.table.structure.is_total
    assert abs(leaves.sum() / (183 * 61) - 0.26) < 0.01
    assert abs(len(census.levels) / (183 * 61) - 0.22) < 0.01
    health = leaf_units((437, 12), "health")
    assert abs(((health >= 1) & (health <= 4)).mean() - 0.31) < 0.08
    assert 5 <= np.median(health) <= 9
    business = np.log(leaf_units((80, 40), "business") / 10)
    assert 2.4 < business.std() < 3.0


@pytest.mark.parametrize("pattern", ["uniform", "clustered", "smallest"])
def test_sensitive_cells_are_as_many_as_asked_for(pattern: str) -> None:
    problem = generate.problem((20, 20), "logn", sensitive=25, pattern=pattern)
    assert len(problem.levels) == 25
    assert not problem.table.structure.is_total[problem.sensitive].any()
    share = generate.problem((20, 20), "logn", sensitive=0.1, pattern=pattern)
    assert len(share.levels) == 40


def test_levels_are_a_share_of_the_value_and_leave_room_below() -> None:
    problem = generate.problem((20, 20), "logn", protection=15)
    at = problem.sensitive
    value = problem.table.units[at]
    assert (problem.levels.upper[at] >= 0.15 * value).all()
    assert (problem.levels.upper[at] < 0.15 * value + 1).all()
    assert (problem.levels.lower[at] <= value).all()


def test_the_smallest_are_smallest_and_the_clustered_are_near_each_other() -> None:
    def mean_distance(pattern: str) -> float:
        problem = generate.problem((40, 40), "logn", sensitive=24, pattern=pattern)
        codes = problem.table.structure.codes[problem.sensitive].astype(int)
        gaps = np.abs(codes[:, None] - codes[None]).sum(axis=2) + np.eye(24, dtype=int) * 1000
        return float(gaps.min(axis=1).mean())

    assert mean_distance("clustered") < 0.5 * mean_distance("uniform")
    problem = generate.problem((40, 40), "logn", sensitive=24, pattern="smallest")
    inner = ~problem.table.structure.is_total
    assert problem.table.units[problem.sensitive].max() <= np.partition(problem.table.units[inner], 23)[23]


def test_fs_problems_mark_one_to_four() -> None:
    problem = generate.problem((60, 60), "fs")
    units = problem.table.units
    inner = ~problem.table.structure.is_total
    assert np.array_equal(problem.levels.sensitive, inner & (units >= 1) & (units <= 4))


def test_microdata_can_be_tabulated() -> None:
    made = generate.microdata(2_000, respondents=900, holdings=True, weights=True, seed=7)
    table = tabulate(made.records, made.hierarchies, "value", "respondent", "holding", "weight", decimals=2)
    assert table.count is not None
    assert table.holding_count is not None
    total = table.find()
    assert table.count[total] == 900
    assert table.holding_count[total] < 900
    firms = made.records.column("respondent").to_numpy()
    weights = made.records.column("weight").to_numpy()
    assert all(np.unique(weights[firms == firm]).size == 1 for firm in range(20))


def test_respondents_stay_home_unless_spread() -> None:
    def leaves_per_respondent(spread: float) -> float:
        made = generate.microdata(4_000, respondents=1_000, spread=spread)
        frame = made.records.select(["region", "industry", "size", "respondent"]).to_pandas()
        return float(frame.drop_duplicates().groupby("respondent").size().mean())

    assert leaves_per_respondent(0.0) == 1.0
    assert leaves_per_respondent(0.5) > 1.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"family": "gamma"}, "choose one of uniform"),
        ({"shape": ()}, "one to 5 dimensions"),
        ({"shape": (3, 3), "hierarchy": (1,)}, "at least 1 level per dimension"),
        ({"zeros": 1.0}, "share of zeros is 1"),
        ({"family": "lognormal", "kind": "counts"}, "has 2 decimals"),
        ({"kind": "numbers"}, "choose 'counts' or 'magnitudes'"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        generate.table(**options)


def test_wrong_marks_and_records_are_refused() -> None:
    with pytest.raises(InputError, match="4 positive leaf cells"):
        generate.problem((2, 2), "uniform", sensitive=5)
    with pytest.raises(InputError, match="choose one of uniform, clustered, smallest"):
        generate.problem((2, 2), "uniform", sensitive=1, pattern="diagonal")
    with pytest.raises(InputError, match="one record per respondent"):
        generate.microdata(5, respondents=6)
