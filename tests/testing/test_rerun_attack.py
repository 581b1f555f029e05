"""A reader who re-runs the program: what is left of cells, and what secret factors on costs mean."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import tacita as tc
from tacita.core.errors import InputError
from tacita.testing import rerun_attack

TWO_BY_THREE = [[3, 6, 7], [8, 2, 9]]


def problem_of(values=TWO_BY_THREE, threshold: int = 5) -> tc.Problem:
    return tc.Problem(tc.Table.from_array(np.array(values)), tc.Threshold(threshold))


def test_a_level_that_the_audit_calls_kept_is_lost_to_a_reader_who_re_runs_the_program() -> None:
    problem = problem_of()
    release = tc.Suppression().protect(problem)
    assert tc.audit(problem, release).safe
    found = rerun_attack(tc.Suppression(), problem)
    assert found.release.marks.tolist() == release.marks.tolist()
    assert 1 <= found.left < found.fitting
    assert found.lost.any()
    truth = problem.table.units[found.cells]
    assert (found.low <= truth).all()
    assert (truth <= found.high).all()


def test_the_tables_that_fit_are_all_tables_that_fit() -> None:
    """Counted by hand: the inner cells of a row of three, two of them hidden."""
    problem = tc.Problem(tc.Table.from_array([1, 2, 9]), tc.Threshold(3))
    found = rerun_attack(tc.Suppression(), problem)
    hidden = (found.release.marks > 0)[1:]
    total, inner = 12, [1, 2, 9]
    shown = [{value} if not gone else range(total + 1) for value, gone in zip(inner, hidden, strict=True)]
    least = total if found.release.marks[0] == 0 else None
    fitting = [values for values in product(*shown) if least is None or sum(values) == least]
    assert found.fitting == len(fitting)


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [
        tc.Rounding(base=10),
        tc.Intervals(),
        tc.Intervals(ends="exact"),
        tc.UnbiasedRounding(base=10),
        tc.Perturbation(),
        tc.Adjustment(),
        tc.Mixture(),
    ],
    ids=lambda method: method.name,
)
def test_every_method_can_be_attacked(method) -> None:
    problem = tc.Problem(tc.Table.from_array([2, 6]), tc.Threshold(3))
    found = rerun_attack(method, problem, run=tc.Run(seed=5), seeds=(1, 2))
    assert 1 <= found.left <= found.fitting
    assert (found.low <= found.high).all()


def test_levels_without_a_rule_need_the_question() -> None:
    table = tc.Table.from_array([2, 6])
    marked = np.array([False, True, False])
    problem = tc.Problem(table, tc.Levels.of(marked, upper=np.ones(3, dtype=np.int64)))
    with pytest.raises(InputError, match="give the function"):
        rerun_attack(tc.Suppression(), problem)

    def ask(other: tc.Table) -> tc.Problem:
        return tc.Problem(other, tc.Levels.of(marked, upper=np.ones(3, dtype=np.int64)))

    # The pattern does not depend on values: only tables without room for the levels drop out.
    found = rerun_attack(tc.Suppression(), problem, ask)
    assert found.left == found.fitting - 2
    assert not found.lost.any()
    with pytest.raises(InputError, match="more than 3 tables fit"):
        rerun_attack(tc.Suppression(), problem, ask, most=3)


def test_amounts_cannot_be_listed() -> None:
    table = tc.Table.from_array([2.5, 6.0])
    with pytest.raises(InputError, match="only tables of counts"):
        rerun_attack(tc.Suppression(), tc.Problem(table, tc.Marked([1], lower=1, upper=1)))


def test_secret_factors_on_costs_change_the_pattern_and_the_loss_is_in_true_costs() -> None:
    values = np.random.default_rng(4).integers(10, 14, (5, 5))
    values[2, 2] = 2
    problem = problem_of(values, 3)
    optimum = tc.Suppression().protect(problem)
    patterns = set()
    for seed in range(8):
        release = tc.Suppression(cost_noise=1.0).protect(problem, tc.Run(seed=seed))
        patterns.add(release.marks.tobytes())
        outcome = release.outcome
        assert tc.audit(problem, release).safe
        assert outcome.loss == problem.cost[release.changed].sum() >= optimum.outcome.loss
        assert outcome.bound <= optimum.outcome.loss
        assert (outcome.status is tc.Status.OPTIMAL) == (outcome.loss == outcome.bound)
        assert (
            "it is the least in costs multiplied by secret random factors of 0.5 to 1" in outcome.remarks[-1]
        )
        assert release.made_by["seed"] == seed
    assert len(patterns) > 1
    same = [tc.Suppression(cost_noise=1.0).protect(problem, tc.Run(seed=3)).marks.tobytes() for _ in "ab"]
    assert same[0] == same[1]


def test_noise_is_a_share() -> None:
    with pytest.raises(InputError, match="option 'cost_noise' is -1"):
        tc.Suppression(cost_noise=-1)
