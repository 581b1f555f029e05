"""The audit against an attacker who tries every whole-number table: it must agree, and never call safe what
he can break.
"""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from budget import examples
from hypothesis import assume, given
from hypothesis import strategies as st

from tacita import verify
from tacita.auditing.audit import audit
from tacita.auditing.certificate import certify, check_certificate
from tacita.auditing.deduce import deduce, expose
from tacita.core.release import Release
from tacita.testing import brute_force_intervals, brute_force_safe, problems, releases


@given(st.data())
@examples(300)
def test_audit_agrees_with_brute_force(data: st.DataObject) -> None:
    problem = data.draw(problems())
    release = data.draw(releases(problem))
    found = audit(problem, release)
    verdicts = np.concatenate([found.verdicts(need) == 0 for need in problem.requirements()])
    assert np.array_equal(verdicts, brute_force_safe(problem, release))


@given(st.data())
@examples(200)
def test_audit_agrees_with_brute_force_on_many_insiders(data: st.DataObject) -> None:
    """More insiders than are asked one by one: the outsider's proofs are shortened before they are asked."""
    problem = data.draw(problems(insiders=9))
    release = data.draw(releases(problem))
    found = audit(problem, release)
    verdicts = np.concatenate([found.verdicts(need) == 0 for need in problem.requirements()])
    assert np.array_equal(verdicts, brute_force_safe(problem, release))
    if found.safe:
        assert verify.verify(json.loads(json.dumps(certify(found)))) >= problem.sensitive.size


@given(st.data())
def test_deduced_intervals_are_the_brute_force_ones(data: st.DataObject) -> None:
    problem = data.draw(problems())
    release = data.draw(releases(problem))
    for need in problem.requirements():
        least, most = brute_force_intervals(problem, release, need.insider)
        deduced = deduce(problem, release, need.insider)
        assert np.array_equal(deduced.low, least[deduced.cells])
        assert np.array_equal(deduced.high, most[deduced.cells])


@given(st.data())
def test_exposed_without_the_truth_is_what_the_outsider_deduces(data: st.DataObject) -> None:
    problem = data.draw(problems(insiders=0))
    release = data.draw(releases(problem))
    anyone = expose(release, problem.outsider.lower, problem.outsider.upper, integer=True)
    outsider = deduce(problem, release)
    assert np.array_equal(anyone.cells, outsider.cells)
    assert np.array_equal(anyone.low, outsider.low)
    assert np.array_equal(anyone.high, outsider.high)


@given(st.data())
def test_certificates_of_safe_audits_verify_and_mutated_ones_do_not(data: st.DataObject) -> None:
    problem = data.draw(problems())
    found = audit(problem, Release.suppress(problem.table, np.ones(len(problem.table), dtype=bool)))
    assume(found.safe)
    release = found.release
    certificate = json.loads(json.dumps(certify(found)))
    check_certificate(certificate, problem, release)
    assert verify.verify(certificate) >= problem.sensitive.size
    forged = _forge(data, certificate)
    forged["digest"] = verify.digest({name: value for name, value in forged.items() if name != "digest"})
    with pytest.raises(verify.RefusedError):
        verify.verify(forged)


def _forge(data: st.DataObject, certificate: dict) -> dict:
    """A change that makes the proof false, with a digest that fits: only arithmetic can find it."""
    forged = copy.deepcopy(certificate)
    attacker = data.draw(st.sampled_from([a for a in forged["attackers"] if a["targets"]]))
    position = data.draw(st.integers(0, len(attacker["targets"]) - 1))
    cell = attacker["targets"][position]
    kind = data.draw(st.sampled_from(["level", "drop claims", "move", "window", "value"]))
    if kind == "move" and forged["moves"]:
        move = data.draw(st.sampled_from(forged["moves"]))
        move[2][data.draw(st.integers(0, len(move[2]) - 1))] += 1
    elif kind == "drop claims":
        forged["claims"] = [[] for _ in forged["claims"]]
    elif kind == "window":
        forged["low"][cell] = forged["high"][cell] = forged["shown"][cell] = forged["values"][cell]
        forged["marks"][cell] = "published"
        attacker["levels"][1][position] += 1
    elif kind == "value":
        forged["values"][cell] += 1
    else:
        attacker["levels"][1][position] += 10**6
    return forged
