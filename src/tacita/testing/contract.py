"""The conformance suite of methods, built in or not."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from random import Random

import numpy as np

from tacita.core.errors import InfeasibleError
from tacita.core.levels import Levels
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.core.tables.table import Table
from tacita.methods.method import Method, options_from
from tacita.problem.problem import Problem
from tacita.testing.problems import TABLE_KINDS, hard_problem

SEEDS = (3, 4)
"""Seeds of hard problems, for each kind of table: some have cells that must stay or go, some no solution."""


def check_method(method: Method, problem: Problem | None = None, run: Run | None = None) -> Release:
    """Check a method on a problem, or without one by the conformance suite, and return its last release.

    On a problem, the audit must find the release safe, and inputs must be unchanged. The suite checks this on
    small tables of several kinds with several attackers, and besides:

    - the class names itself, says what it does and when to choose it, and each of its options has a default
      and a help text;
    - methods with equal options are equal, and can be pickled;
    - the outcome has a finite loss, not below its bound; ``loss`` measures the release;
    - cells that must be published are published as they are, cells that must be hidden are not;
    - the same seed gives the same release.

    A problem that no release of the kind protects must raise ``InfeasibleError``.

    Raises
    ------
    AssertionError
        The method breaks one of these promises; the message says which.
    InfeasibleError
        The problem that was given cannot be protected by the method, or none of the suite can.
    """
    if problem is not None:
        return _check_safe(method, problem, run)
    _check_class(method)
    release = None
    for each in _list_problems():
        try:
            release = _check_release(method, each)
        except InfeasibleError:
            continue
    if release is None:
        raise InfeasibleError(f"{method.name} protects no problem of the suite", remedy="try other options")
    return release


def _check_safe(method: Method, problem: Problem, run: Run | None) -> Release:
    """Return a release of the tested method; raise unless its audit is safe and inputs are unchanged."""
    from tacita.auditing.audit import audit

    before = problem.table.units.copy()
    release = method.protect(problem, run)
    assert np.array_equal(problem.table.units, before), f"{method.name} changed its input"
    found = audit(problem, release)
    assert found.safe, f"{method.name} returned a release that its audit refuses: {found.verdict}"
    return release


def _check_class(method: Method) -> None:
    """Raise unless the tested method's class describes itself and its options, and can be pickled."""
    cls = type(method)
    for part in ("name", "does", "choose"):
        assert isinstance(getattr(cls, part, None), str), f"{cls.__name__} has no text '{part}'"
    assert cls.does.endswith("."), f"{method.name}: 'does' is no sentence"
    assert cls.choose.startswith("Choose it "), f"{method.name}: 'choose' begins with 'Choose it '"
    assert "Not " in cls.choose, f"{method.name}: 'choose' says when not to choose it"
    for option in options_from(cls):
        assert not option.required, f"{method.name}: option '{option.name}' has no default"
        assert option.help, f"{method.name}: option '{option.name}' has no metadata={{'help': ...}}"
    again = pickle.loads(pickle.dumps(method))
    assert again == method, f"{method.name}: a pickled copy differs"
    assert hash(again) == hash(method), f"{method.name}: a pickled copy has another hash"


def _check_release(method: Method, problem: Problem) -> Release:
    """Return a release of the tested method; raise unless it has all promised properties."""
    release = _check_safe(method, problem, Run(seed=2**40))
    outcome = release.outcome
    assert outcome is not None, f"{method.name}: the release has no outcome"
    assert np.isfinite([outcome.loss, outcome.bound]).all(), f"{method.name}: loss or bound is not finite"
    assert outcome.loss >= outcome.bound, f"{method.name}: the loss is below its bound"
    assert np.isfinite(method.loss(problem, release)), f"{method.name}: loss() does not measure its release"
    assert not (release.changed & problem.must_publish).any(), f"{method.name} changed what must be published"
    assert release.hidden[problem.must_hide].all(), f"{method.name} published what must be hidden"
    again = method.protect(problem, Run(seed=2**40))
    same = all(
        np.array_equal(getattr(release, part), getattr(again, part)) for part in ("marks", "low", "high")
    )
    assert same, f"{method.name} gives two releases for one seed"
    return release


def _list_problems() -> Iterator[Problem]:
    """Yield the conformance suite's problems: nothing sensitive, counts, and hard ones of every kind."""
    table = Table.from_array([[20, 50, 10, 61], [8, 19, 3, 44], [17, 32, 12, 38], [26, 4, 31, 57]])
    small = (table.units > 0) & (table.units < 5)
    yield Problem(table, Levels.none(len(table)))
    yield Problem(table, Levels.of(small, upper=5 - table.units))
    for kind in TABLE_KINDS:
        for seed in SEEDS:
            yield hard_problem(Random(seed), kind)
