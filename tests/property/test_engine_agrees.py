"""The engine and the first model lose the same, or both find that nothing protects.

Every method is stated here anew from its definition (variables, windows, own rows, loss), so that neither
side leans on the code of the methods: with the `ci` profile 50 problems each, 250 in all. Then the methods'
own models follow with random options, 25 problems each. A point of the engine is also held against the
definition itself, by attackers' programs that share no code with either side.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, vstack

from tacita.core.errors import InfeasibleError
from tacita.core.outcome import Status
from tacita.core.run import Run
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.requirements import (
    ALWAYS,
    DOWN,
    OUTSIDER,
    SLIDING,
    UP,
    Requirements,
    find_room,
    list_all_requirements,
)
from tacita.engine.model import NO_SWITCH, Affine, Model
from tacita.engine.search import explicit_program
from tacita.engine.search import solve_model as engine
from tacita.engine.search.explicit_model import is_exact, solve_explicit_model
from tacita.engine.search.solve_model import solve_model
from tacita.methods.intervals.intervals import Intervals
from tacita.methods.mixture.mixture import Mixture
from tacita.methods.perturbation import Perturbation
from tacita.methods.rounding.rounding import Rounding
from tacita.problem.problem import Problem
from tacita.solvers.linear_program import Solution
from tacita.testing import hard_problems

WIDEST = 60.0
"""No interval is wider to one side than this: more than twice every level of a hard problem."""


def no_rows(variables: int) -> tuple[csr_array, np.ndarray, np.ndarray]:
    return csr_array((0, variables)), np.zeros(0), np.zeros(0)


def widths(problem: Problem) -> np.ndarray:
    """How far an interval may reach below and above each cell: never beyond what everyone knows."""
    up, down = find_room(problem, OUTSIDER)
    return np.where(np.tile(problem.must_publish, 2), 0.0, np.minimum(np.concatenate([down, up]), WIDEST))


def suppression(problem: Problem, random: Random) -> Model:
    """``x_i = 1`` hides; perhaps at most so many, perhaps a level for one cell if it is hidden."""
    n = len(problem.table)
    forced = problem.levels.sensitive | problem.must_hide
    requirements = list_all_requirements(problem)
    if random.random() < 0.3:
        cell = random.choice(np.flatnonzero(~problem.levels.sensitive).tolist())
        one = [np.array([v]) for v in (OUTSIDER, cell, SLIDING, random.randint(1, 4), cell)]
        requirements = Requirements.join(
            [requirements, Requirements(one[0], one[1], one[2].astype(np.int8), one[3], one[4])]
        )
    most = random.choice([n, n, int(forced.sum()) + 4])
    return Model(
        problem=problem,
        cost=problem.cost,
        lower=forced.astype(float),
        upper=(~problem.must_publish).astype(float),
        integer=np.ones(n, dtype=bool),
        rows=csr_array(np.ones((1, n))),
        row_lower=np.array([-np.inf]),
        row_upper=np.array([float(most)]),
        above=Affine.zero(n, n),
        below=Affine.zero(n, n),
        switch=np.arange(n),
        requirements=requirements,
    )


def intervals(problem: Problem, random: Random) -> Model:
    """``z-_i, z+_i``: the interval reaches that far below and above; each side has a weight of its own."""
    n = len(problem.table)
    rows, row_lower, row_upper = no_rows(2 * n)
    weight = np.concatenate([problem.cost * random.choice([1, 2]), problem.cost]) + 0.5
    return Model(
        problem=problem,
        cost=weight,
        lower=np.zeros(2 * n),
        upper=widths(problem),
        integer=np.zeros(2 * n, dtype=bool),
        rows=rows,
        row_lower=row_lower,
        row_upper=row_upper,
        above=Affine(np.zeros(n), csr_array(hstack([csr_array((n, n)), eye_array(n)]))),
        below=Affine(np.zeros(n), csr_array(hstack([eye_array(n), csr_array((n, n))]))),
        switch=np.full(n, NO_SWITCH),
        requirements=list_all_requirements(problem),
    )


def just_enough(problem: Problem) -> int:
    """The least radius ``r`` with ``2 r >= LPL + UPL`` and ``2 r >= SPL`` for every sensitive cell: with less
    nothing protects, with much more every choice of the variables does.
    """
    levels = problem.levels
    return int(-(-np.maximum(levels.upper + levels.lower, levels.sliding).max() // 2))


def perturbation(problem: Problem, random: Random) -> Model:
    """``v = a + z+ - z-`` adds up; published with a radius per cell that reaches the truth from anywhere."""
    n = len(problem.table)
    least = just_enough(problem)
    radius = np.array([float(least + random.choice([0, 0, 1, 3])) for _ in range(n)])
    matrix = csr_array(problem.table.equations.matrix.astype(float))
    moved = csr_array(hstack([-eye_array(n), eye_array(n)]))
    return Model(
        problem=problem,
        cost=np.tile(problem.cost + 0.5, 2),
        lower=np.zeros(2 * n),
        upper=np.tile(radius, 2),
        integer=np.zeros(2 * n, dtype=bool),
        rows=csr_array(matrix @ moved),
        row_lower=np.zeros(matrix.shape[0]),
        row_upper=np.zeros(matrix.shape[0]),
        above=Affine(radius, moved),
        below=Affine(radius, csr_array(-moved)),
        switch=np.full(n, NO_SWITCH),
        requirements=list_all_requirements(problem),
    )


def rounding(problem: Problem, random: Random) -> Model:
    """``v_i = floor_i + r_i x_i`` adds up, ``r_i`` the base or, perhaps, 0 at its multiples.

    Up and down have any cost: where the nearest value is the cheapest, requirements hardly change the
    optimum. Cells that must be published are rounded like the others, else hardly any problem has a solution.
    """
    n, values = len(problem.table), problem.table.units
    base = max(2, just_enough(problem) + random.choice([1, 2, 4, 6]))
    step = np.where((values % base == 0) & random.choice([True, False, False]), 0, base)
    floor = values // base * base
    matrix = csr_array(problem.table.equations.matrix.astype(float))
    return Model(
        problem=problem,
        cost=np.array([float(random.randint(-10, 10)) for _ in range(n)]),
        constant=float(10 * n),
        lower=np.zeros(n),
        upper=np.ones(n),
        integer=np.ones(n, dtype=bool),
        rows=csr_array(matrix.multiply(step)),
        row_lower=-(matrix @ floor),
        row_upper=-(matrix @ floor),
        above=Affine((floor - values + step).astype(float), csr_array(eye_array(n).multiply(step))),
        below=Affine((values - floor + step).astype(float), csr_array(-eye_array(n).multiply(step))),
        switch=np.full(n, NO_SWITCH),
        requirements=list_all_requirements(problem),
    )


def mixture(problem: Problem, random: Random) -> Model:
    """Each cell is published, an interval, or hidden at a cost of its own: ``z <= width (1 - x)``."""
    n = len(problem.table)
    part = intervals(problem, random)
    width = widths(problem)
    link = hstack([eye_array(2 * n), vstack([csr_array(np.diag(side)) for side in np.split(width, 2)])])
    may_hide = np.array([random.random() < 0.3 for _ in range(n)]) & ~problem.must_publish
    return Model(
        problem=problem,
        cost=np.concatenate([part.cost, 6.0 * (problem.cost + 0.5)]),
        lower=np.zeros(3 * n),
        upper=np.concatenate([width, may_hide.astype(float)]),
        integer=np.repeat([False, False, True], n),
        rows=csr_array(link),
        row_lower=np.full(2 * n, -np.inf),
        row_upper=width,
        above=Affine(np.zeros(n), csr_array(hstack([part.above.matrix, csr_array((n, n))]))),
        below=Affine(np.zeros(n), csr_array(hstack([part.below.matrix, csr_array((n, n))]))),
        switch=np.arange(2 * n, 3 * n),
        requirements=list_all_requirements(problem),
    )


def stated_by_intervals(problem: Problem, random: Random) -> Model:
    weights = ["cost", "unit", "inverse"]
    return Intervals(
        weight_up=random.choice(weights),
        weight_down=random.choice(weights),
        minimum_width=random.choice([0.0, 0.0, 3.0]),
        at_most=random.choice([None, None, 8]),
        margins=random.choice([True, True, False]),
        ends=random.choice(["drawn", "exact"]),
    ).model(problem, Run(seed=random.randrange(1, 2**31)))


def stated_by_perturbation(problem: Problem, random: Random) -> Model:
    radius = float(2 * just_enough(problem) + random.choice([0, 1, 4]))
    sensitive, at_most = random.choice(["away", "free"]), random.choice([None, None, 8])
    return Perturbation(radius=radius, sensitive=sensitive, at_most=at_most).model(problem)


def stated_by_rounding(problem: Problem, random: Random) -> Model:
    base = float(max(2, just_enough(problem) + random.choice([1, 2, 4, 6])))
    return Rounding(base=base, power=random.choice([1.0, 2.0])).model(problem)


def stated_by_mixture(problem: Problem, random: Random) -> Model:
    told = random.choice(["intervals", "intervals(ends=exact)"])
    parts = [f"rest: suppression or {told}", f"totals: {told}, rest: suppression"]
    return Mixture(random.choice(parts)).model(problem, Run(seed=random.randrange(1, 2**31)))


def misses(model: Model, x: np.ndarray) -> list[str]:
    """What a point fails of the model's definition: bounds, whole variables, own rows, requirements."""
    found = []
    if (x < model.lower - 1e-6).any() or (x > model.upper + 1e-6).any():
        found.append("bounds")
    if np.abs(x - np.rint(x))[model.integer].max(initial=0.0) > 1e-6:
        found.append("whole variables")
    lhs = model.rows @ x
    if (lhs < model.row_lower - 1e-5).any() or (lhs > model.row_upper + 1e-5).any():
        found.append("own rows")
    conditional = model.requirements[model.requirements.switch != ALWAYS]
    requirements = Requirements.join([list_all_requirements(model.problem), conditional])
    for k in range(len(requirements)):
        asked = requirements.level[k] * (
            1.0 if requirements.switch[k] == ALWAYS else x[requirements.switch[k]]
        )
        ways = (UP, DOWN) if requirements.sign[k] == SLIDING else (int(requirements.sign[k]),)
        reached = sum(
            furthest(model, x, int(requirements.attacker[k]), int(requirements.cell[k]), w) for w in ways
        )
        if reached < asked - 1e-5 * max(1.0, asked):
            found.append(f"requirement {k}: {reached:g} of {asked:g}")
    return found


def furthest(model: Model, x: np.ndarray, attacker: int, cell: int, way: int) -> float:
    """How far an attacker who sees the windows of ``x`` can think a cell moved."""
    up, down = find_room(model.problem, attacker)
    highest, lowest = model.find_attacker_windows(x, up, down)
    cost = np.zeros(up.size)
    cost[cell] = -way
    matrix = model.problem.table.equations.matrix.astype(float)
    answer = linprog(
        cost, A_eq=matrix, b_eq=np.zeros(matrix.shape[0]), bounds=np.column_stack([-lowest, highest])
    )
    return -float(answer.fun) if answer.status == 0 else np.inf


def least_loss(solver: Callable[[Model], Solution], model: Model) -> float:
    """The proven least loss, infinite where nothing protects."""
    try:
        found = solver(model)
    except InfeasibleError:
        return np.inf
    assert found.status is Status.OPTIMAL
    assert found.loss == pytest.approx(model.loss(found.x), rel=1e-6, abs=1e-6)
    assert not misses(model, found.x), solver.__name__
    return found.loss


@pytest.mark.parametrize("method", [suppression, intervals, perturbation, rounding, mixture])
@given(problem=hard_problems(), random=st.randoms(use_true_random=False))
@examples(15)
def test_engine_and_first_model_lose_the_same(
    method: Callable[[Problem, Random], Model], problem: Problem, random: Random
) -> None:
    model = method(problem, random)
    expected = least_loss(solve_explicit_model, model)
    assert least_loss(solve_model, model) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(problem=hard_problems(), random=st.randoms(use_true_random=False))
@examples(8)
def test_rounds_of_cuts_lose_what_the_engines_explicit_program_loses(
    problem: Problem, random: Random
) -> None:
    model = intervals(problem, random)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explicit_program, "LARGEST", 0)
        expected = least_loss(solve_model, model)
    assert least_loss(solve_model, model) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def state_if_possible(
    method: Callable[[Problem, Random], Model], problem: Problem, random: Random
) -> Model | None:
    """Return the model of a method, or None if the problem is refused while it is stated."""
    try:
        return method(problem, random)
    except InfeasibleError:
        return None


@pytest.mark.slow
@pytest.mark.parametrize(
    "method", [stated_by_intervals, stated_by_perturbation, stated_by_rounding, stated_by_mixture]
)
@given(problem=hard_problems(), random=st.randoms(use_true_random=False))
@examples(12)
def test_engine_and_first_model_agree_on_the_methods_own_models(
    method: Callable[[Problem, Random], Model], problem: Problem, random: Random
) -> None:
    model = state_if_possible(method, problem, random)
    if model is None:
        return
    expected, found = least_loss(solve_explicit_model, model), least_loss(solve_model, model)
    if is_exact(PresolvedTable.of(model)):
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)
    else:
        # The explicit model bounds the length of moves, and may miss a release that needs longer ones.
        assert found <= expected * (1 + 1e-6) + 1e-6


@pytest.mark.parametrize(
    "method",
    [
        intervals,
        mixture,
        pytest.param(stated_by_intervals, marks=pytest.mark.slow),
        pytest.param(stated_by_mixture, marks=pytest.mark.slow),
    ],
)
@given(problem=hard_problems(), random=st.randoms(use_true_random=False))
@examples(8)
def test_large_tables_way_with_growing_windows_agrees_with_the_explicit_model(
    method: Callable[[Problem, Random], Model], problem: Problem, random: Random
) -> None:
    model = state_if_possible(method, problem, random)
    if model is None:
        return
    expected = least_loss(solve_explicit_model, model)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "LARGE", 0)
        patch.setattr(explicit_program, "LARGEST", 0)
        try:
            found = engine.solve_model(model)
        except InfeasibleError:
            assert expected == np.inf
            return
    assert not misses(model, found.x)
    rough = 1e-6 * max(1.0, abs(expected))
    assert found.bound - rough <= expected <= found.loss + rough
    if not model.integer.any():
        assert found.loss == pytest.approx(expected, rel=1e-5, abs=1e-5)
