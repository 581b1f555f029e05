"""Several releases together: the audit against an attacker who tries every table, and methods that know of
earlier releases.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacita import verify
from tacita.auditing.audit import audit
from tacita.auditing.certificate import certify
from tacita.core.errors import InfeasibleError, LevelsError
from tacita.core.release import Release
from tacita.methods import make_method, method_names
from tacita.problem.problem import Problem
from tacita.testing import brute_force_safe, problems, releases, tables

NETWORKS = ((3,), (2, 2), (2, 3), (3, 3))


def joined(problem: Problem, together: list[Release]) -> SimpleNamespace:
    """The windows of several releases of one table, as those of one."""
    low = np.max([release.low for release in together], axis=0)
    return SimpleNamespace(low=low, high=np.min([release.high for release in together], axis=0))


@st.composite
def earlier(draw: Callable[..., Any], problem: Problem) -> Release:
    """Any release, or one that hides the sensitive cells and many others."""
    if draw(st.booleans()):
        return draw(releases(problem))
    size = len(problem.table)
    hidden = np.array(draw(st.lists(st.sampled_from([True, True, False]), min_size=size, max_size=size)))
    return Release.suppress(problem.table, hidden | problem.levels.sensitive)


@given(st.data())
def test_a_joint_audit_agrees_with_brute_force(data: st.DataObject) -> None:
    problem = data.draw(problems())
    together = data.draw(st.lists(releases(problem), min_size=2, max_size=3))
    found = audit(problem, together)
    verdicts = np.concatenate([found.verdicts(need) == 0 for need in problem.requirements()])
    assert np.array_equal(verdicts, brute_force_safe(problem, joined(problem, together)))
    if found.safe:
        assert verify.verify(certify(found)) >= problem.sensitive.size


@given(st.data())
def test_several_releases_never_tell_less_than_one_of_them(data: st.DataObject) -> None:
    problem = data.draw(problems())
    together = data.draw(st.lists(releases(problem), min_size=2, max_size=3))
    if audit(problem, together).safe:
        assert all(audit(problem, release).safe for release in together)


@pytest.mark.parametrize("name", method_names())
@given(data=st.data())
def test_methods_protect_together_with_what_was_published(name: str, data: st.DataObject) -> None:
    problem = data.draw(problems(tables(NETWORKS)))
    old = data.draw(earlier(problem))
    attackers = [problem.outsider, *problem.insiders]
    try:
        informed = Problem(problem.table, problem.levels, attackers, already_published=old)
    except LevelsError:
        # Nothing can be safe beside a release that is not.
        assert not audit(problem, old).safe
        return
    try:
        new = make_method(name).protect(informed)
    except InfeasibleError:
        return
    assert audit(problem, [old, new]).safe
