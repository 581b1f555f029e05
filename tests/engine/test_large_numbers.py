"""Methods on large tables: the way that is taken there, on tables small enough to compare."""

from __future__ import annotations

import numpy as np
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita import generate
from tacita.core.run import Run
from tacita.engine.search import numbers
from tacita.engine.search import solve_model as engine
from tacita.methods.modelling import first_numbers, solve_release
from tacita.solvers.leaf_search import find_numbers_that_add_up

METHODS = [tc.Rounding(base=5), tc.Rounding(base=5, power=2.0), tc.Perturbation(), tc.Intervals(ends="exact")]


def make_problem(seed: int, sensitive: int) -> tc.Problem:
    """Return a cube of counts with levels that rounding to 5 has room for."""
    shape = (3, 3, 3) if seed % 2 else (4, 3, 2)
    hierarchy = (1, 1, 1) if seed % 3 else (2, 1, 1)
    return generate.problem(
        shape,
        "health",
        sensitive=sensitive,
        pattern="smallest",
        protection=100.0,
        hierarchy=hierarchy,
        seed=seed,
    )


@pytest.mark.parametrize(
    "method", METHODS, ids=lambda method: f"{method.name} {getattr(method, 'power', '')}"
)
@given(seed=st.integers(0, 10_000), sensitive=st.integers(1, 4))
@examples(6)
def test_way_of_large_tables_is_safe_and_its_bound_holds(
    method: tc.Method, seed: int, sensitive: int
) -> None:
    problem, secret = make_problem(seed, sensitive), 2**62 + seed
    try:
        best = method.protect(problem, Run(seed=secret))
    except tc.InfeasibleError:
        return
    with pytest.MonkeyPatch.context() as patch:
        for module in (engine, first_numbers, solve_release):
            patch.setattr(module, "LARGE", 0)
        release = method.protect(problem, Run(seed=secret))
    assert tc.audit(problem, release).safe
    assert best.made_by["search"]
    assert best.outcome is not None
    assert release.outcome is not None
    assert bool(best.outcome.status)
    rough = 1e-6 * max(1.0, best.outcome.loss)
    assert release.outcome.bound - rough <= best.outcome.loss <= release.outcome.loss + rough


@given(
    shape=st.sampled_from([(3, 3, 3), (5, 4, 3), (4, 2, 2, 2)]),
    levels=st.integers(1, 2),
    base=st.integers(2, 9),
    seed=st.integers(0, 1000),
)
@examples(10)
def test_numbers_that_are_found_add_up_within_their_bounds(
    shape: tuple[int, ...], levels: int, base: int, seed: int
) -> None:
    table = generate.table(shape, "health", hierarchy=(levels,) + (1,) * (len(shape) - 1), seed=seed)
    matrix, near = table.equations.matrix.tocsr(), table.units / base
    low, high = np.floor(near).astype(np.int64) - 1, np.ceil(near).astype(np.int64) + 1
    found = find_numbers_that_add_up(matrix, low, high, near, table.structure.codes, Run(), parts=50)
    assert found is not None
    assert not (matrix @ found).any()
    assert (found >= low).all()
    assert (found <= high).all()


def test_cycles_of_totals_and_other_coefficients_are_refused() -> None:
    table = generate.table((3, 3, 3), "health")
    twice = table.equations.matrix.tocsr() * 2
    low, high = table.units - 5, table.units + 5
    near = table.units.astype(float)
    assert find_numbers_that_add_up(twice, low, high, near, table.structure.codes, Run(), parts=5) is None


def test_a_stopped_search_keeps_its_first_release(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = make_problem(1, 3)
    for module in (engine, first_numbers, solve_release):
        monkeypatch.setattr(module, "LARGE", 0)
    monkeypatch.setattr(numbers.NumberSearch, "bound", lambda self: None)
    run: Run

    def hear(event: tc.Event) -> None:
        if event.incumbent is not None:
            run.cancel()

    run = Run(listener=hear)
    release = tc.Perturbation().protect(problem, run)
    assert tc.audit(problem, release).safe
