"""Results do not depend on the workers: one thread, several, or processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import tacita as tc
from tacita.auditing import block_tasks
from tacita.auditing.audit import Audit
from tacita.engine.attack import separation


@pytest.fixture(scope="module")
def pools() -> Iterator[dict[str, Executor]]:
    spawn = multiprocessing.get_context("spawn")
    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(2, mp_context=spawn) as processes:
        yield {"threads": threads, "processes": processes}


@pytest.fixture
def _small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Audits and searches of small tables are shared like those of large ones."""
    monkeypatch.setattr(block_tasks, "TARGETS_PER_TASK", 2)
    monkeypatch.setattr(separation, "FEW", 2)


def make_problem() -> tc.Problem:
    """Three dimensions, with two insiders, one of whom has levels of their own."""
    table = tc.generate.problem((3, 3, 2), "logn", seed=3).table
    inner = np.flatnonzero(~table.structure.is_total)
    sensitive = np.zeros(len(table), dtype=bool)
    sensitive[inner[::5]] = True
    level = np.maximum(1, table.units // 15)
    levels = tc.Levels.of(sensitive, lower=level, upper=level)
    known = {cell: (table.values[cell] * 0.8, table.values[cell] * 1.2) for cell in inner[1::7].tolist()}
    rivals = [
        tc.Insider.knowing("a rival", table, known),
        tc.Insider.knowing("another", table, known, inner[::10].tolist(), 1, 1),
    ]
    return tc.Problem(table, levels, attackers=rivals)


def list_findings(found: Audit) -> list[tuple[object, ...]]:
    return [(one.cell, one.attacker, one.bits, one.below, one.above) for one in found.findings()]


@pytest.mark.usefixtures("_small_tasks")
def test_workers_change_neither_releases_nor_bounds_nor_audits(pools: dict[str, Executor]) -> None:
    problem, method, alone = make_problem(), tc.Suppression(), tc.Run(seed=2**40)
    release = method.protect(problem, alone)
    found, intervals = tc.audit(problem, release, alone), tc.deduce(problem, release, run=alone)
    assert found.safe
    assert release.outcome is not None
    for pool in pools.values():
        together = tc.Run(seed=2**40, executor=pool)
        other = method.protect(problem, together)
        assert other.to_arrow().equals(release.to_arrow())
        assert other.outcome is not None
        assert (other.outcome.loss, other.outcome.bound) == (release.outcome.loss, release.outcome.bound)
        again = tc.audit(problem, release, together)
        assert list_findings(again) == list_findings(found)
        assert tc.certify(again) == tc.certify(found)
        assert tc.deduce(problem, release, run=together).to_arrow().equals(intervals.to_arrow())


def test_methods_are_compared_side_by_side(pools: dict[str, Executor]) -> None:
    problem = make_problem()
    methods = [tc.Suppression(), tc.Rounding(base=5, protected=False), tc.UnbiasedRounding(base=3)]
    alone = tc.compare(problem, methods, tc.Run(60, seed=2**40))
    for pool in pools.values():
        assert repr(tc.compare(problem, methods, tc.Run(60, seed=2**40, executor=pool))) == repr(alone)


def test_an_audit_in_tasks_of_few_targets_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = make_problem()
    release = tc.Release.suppress(problem.table, np.arange(len(problem.table)) % 2 == 0)
    whole = tc.audit(problem, tc.Suppression().protect(problem)), tc.audit(problem, release)
    monkeypatch.setattr(block_tasks, "TARGETS_PER_TASK", 1)
    for found in whole:
        again = tc.audit(problem, found.release)
        for levels in problem.requirements():
            assert again.verdicts(levels).tolist() == found.verdicts(levels).tolist()
        assert not found.safe or tc.verify.verify(tc.certify(again))
