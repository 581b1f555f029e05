"""Every method keeps its word: what it returns passes the audit, or it raises; inputs stay as they were."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacita.core.errors import InfeasibleError
from tacita.core.run import GUESSABLE, Run
from tacita.methods import make_method, method_names, options_of
from tacita.methods.method import method_class
from tacita.testing import check_method, problems, tables

NETWORKS = ((3,), (2, 2), (2, 3), (3, 3), (3, 4))


@pytest.mark.parametrize("name", method_names())
def test_a_method_says_what_it_does_and_when_to_choose_it(name: str) -> None:
    cls = method_class(name)
    assert cls.does.endswith(".")
    assert cls.choose.startswith("Choose it ")
    assert "Not " in cls.choose
    for option in options_of(name):
        assert option.help, f"{name}: {option.name}"
        assert not option.required, f"{name}: {option.name}"


@pytest.mark.parametrize("name", method_names())
def test_methods_with_the_same_options_are_the_same(name: str) -> None:
    assert make_method(name) == make_method(name)
    assert hash(make_method(name)) == hash(make_method(name))


@pytest.mark.parametrize("name", method_names())
@given(data=st.data())
def test_releases_pass_the_audit(name: str, data: st.DataObject) -> None:
    problem = data.draw(problems(tables(NETWORKS)))
    method = make_method(name)
    try:
        release = check_method(method, problem)
    except InfeasibleError:
        return
    assert release.outcome is not None
    assert np.isfinite(release.outcome.loss)
    assert np.isfinite(release.outcome.bound)
    assert release.outcome.loss >= release.outcome.bound
    assert not (release.changed & problem.must_publish).any()


@pytest.mark.parametrize("name", method_names())
@given(data=st.data())
def test_the_same_seed_gives_the_same_release(name: str, data: st.DataObject) -> None:
    problem = data.draw(problems(tables(NETWORKS)))
    try:
        first, second = (make_method(name).protect(problem, Run(seed=2**40)) for _ in range(2))
    except InfeasibleError:
        return
    assert np.array_equal(first.marks, second.marks)
    assert np.array_equal(first.low, second.low)


@pytest.mark.parametrize("name", method_names())
@given(data=st.data())
def test_only_what_draws_numbers_differs_without_a_seed(name: str, data: st.DataObject) -> None:
    """Searches follow an order of their own, so that releases in which nothing is drawn can be repeated."""
    problem = data.draw(problems(tables(NETWORKS)))
    try:
        first, second = (make_method(name).protect(problem) for _ in range(2))
    except InfeasibleError:
        return
    if "seed" in first.made_by:
        assert first.made_by["seed"] >= GUESSABLE
        again = make_method(name).protect(problem, Run(seed=first.made_by["seed"]))
        assert np.array_equal(first.low, again.low)
    else:
        assert np.array_equal(first.low, second.low)
