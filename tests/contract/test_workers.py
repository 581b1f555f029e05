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

KINDS = ("threads", "processes")


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
@pytest.mark.parametrize("kind", KINDS)
def test_workers_change_neither_releases_nor_bounds_nor_audits(pools: dict[str, Executor], kind: str) -> None:
    problem = make_problem()
    alone, together = tc.Run(seed=2**40), tc.Run(seed=2**40, executor=pools[kind])
    method = tc.Suppression()
    release, other = method.protect(problem, alone), method.protect(problem, together)
    assert other.to_arrow().equals(release.to_arrow())
    assert release.outcome is not None
    assert other.outcome is not None
    assert (other.outcome.loss, other.outcome.bound) == (release.outcome.loss, release.outcome.bound)
    found, again = tc.audit(problem, release, alone), tc.audit(problem, release, together)
    assert found.safe
    assert list_findings(again) == list_findings(found)
    assert tc.certify(again) == tc.certify(found)
    intervals = [tc.deduce(problem, release, run=run).to_arrow() for run in (alone, together)]
    assert intervals[0].equals(intervals[1])


@pytest.mark.parametrize("kind", KINDS)
def test_methods_are_compared_side_by_side(pools: dict[str, Executor], kind: str) -> None:
    problem = make_problem()
    methods = [tc.Suppression(), tc.Rounding(base=5, protected=False), tc.UnbiasedRounding(base=3)]
    alone = tc.compare(problem, methods, tc.Run(60, seed=2**40))
    together = tc.compare(problem, methods, tc.Run(60, seed=2**40, executor=pools[kind]))
    assert repr(together) == repr(alone)


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
