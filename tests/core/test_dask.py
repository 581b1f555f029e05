"""A Dask cluster of two worker processes on this machine: the same results, also when workers are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from argus_files import write_files

import tacita as tc
from tacita.auditing import block_tasks
from tacita.cli import main
from tacita.core import parallel_map
from tacita.core.run import Event

distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'tacita[dask]'")

PATIENCE = 60.0
"""Seconds that a busy machine may take to start a cluster."""


@dataclass(frozen=True)
class Cluster:
    """A scheduler and its workers, each a process."""

    address: str
    client: Any
    workers: list[subprocess.Popen[bytes]]

    def kill(self, worker: int) -> None:
        self.workers[worker].kill()
        self.workers[worker].wait()


@contextmanager
def start_cluster(folder: Path) -> Iterator[Cluster]:
    """Two workers without a nanny: whoever is killed stays dead."""
    file = folder / "scheduler.json"
    common = ("--scheduler-file", str(file), "--host", "127.0.0.1", "--no-dashboard")
    path = os.pathsep.join([str(Path(tc.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen([sys.executable, "-m", "dask", *arguments, *common], env=environment, **quiet)

    processes = [start("scheduler", "--port", "0")]
    try:
        workers = [start("worker", "--no-nanny", "--nthreads", "1") for _ in range(2)]
        processes += workers
        end = time.monotonic() + PATIENCE
        while not file.exists() and time.monotonic() < end:
            time.sleep(0.05)
        address = json.loads(file.read_text(encoding="utf-8"))["address"]
        with distributed.Client(address, timeout=PATIENCE, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=PATIENCE)
            yield Cluster(address, client, workers)
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()


def make_problem() -> tc.Problem:
    """A table of three dimensions, whose audit has ten tasks."""
    table = tc.generate.problem((6, 5, 4), "logn", seed=2).table
    sensitive = np.zeros(len(table), dtype=bool)
    sensitive[np.flatnonzero(~table.structure.is_total)[::6]] = True
    return tc.Problem(table, tc.Levels.of(sensitive, lower=1, upper=1))


def hide_most(problem: tc.Problem) -> tc.Release:
    return tc.Release.suppress(problem.table, ~problem.table.structure.is_total)


def list_findings(found: tc.Audit) -> list[tuple[object, ...]]:
    return [(one.cell, one.attacker, one.bits, one.below, one.above) for one in found.findings()]


def write_case(folder: Path) -> Path:
    path = folder / "nchs.csv"
    assert main(["generate", "example", "nchs", "--out", str(path)]) == 0
    return path


def test_a_cluster_gives_the_same_results_though_a_worker_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_tasks, "TARGETS_PER_TASK", 2)
    monkeypatch.setattr(parallel_map, "CHUNK_SECONDS", 0.0)
    problem = make_problem()
    release = hide_most(problem)
    alone = tc.audit(problem, release)
    with start_cluster(tmp_path) as cluster:
        executor = cluster.client.get_executor()
        found = tc.audit(problem, release, tc.Run(executor=executor))
        assert list_findings(found) == list_findings(alone)
        assert tc.certify(found) == tc.certify(alone)
        compared = [
            tc.compare(problem, [tc.Rounding(protected=False), release], tc.Run(seed=2**40, executor=e))
            for e in (executor, tc.Run().executor)
        ]
        assert repr(compared[0]) == repr(compared[1])

        case, out = write_case(tmp_path), tmp_path / "out"
        assert main(["protect", str(case), "--out", str(out), "--dask", cluster.address]) == 0
        assert main(["audit", str(case), str(out), "--dask", cluster.address]) == 0

        monkeypatch.chdir(tmp_path)
        for name in ("one", "two"):
            source = f'[table]\nfile = "{case.name}"\n[output]\nfolder = "{name}"\n'
            Path(f"{name}.toml").write_text(source, encoding="utf-8")
        assert main(["run", "one.toml", "two.toml", "--dask", cluster.address]) == 0
        records = [json.loads(line) for line in Path("run.jsonl").read_text(encoding="utf-8").splitlines()]
        # Both tables hold the same cells, so they are audited together, too.
        expected = ["one.toml", "one.toml, two.toml", "two.toml"]
        assert sorted(record["table"] for record in records) == expected
        releases = [Path(folder, "publication", "release.csv") for folder in ("out", "one", "two")]
        assert len({release.read_bytes() for release in releases}) == 1

        seen: list[Event] = []

        def kill_in_the_middle(event: Event) -> None:
            if event.done:
                seen.append(event)
            if len(seen) == 1:
                cluster.kill(0)

        found = tc.audit(problem, release, tc.Run(executor=executor, listener=kill_in_the_middle))
        assert cluster.workers[0].returncode == -signal.SIGKILL
        assert seen[0].done < seen[0].total == seen[-1].done
        assert list_findings(found) == list_findings(alone)


@pytest.mark.slow
def test_if_all_workers_end_there_is_an_error_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_tasks, "TARGETS_PER_TASK", 2)
    monkeypatch.setattr(parallel_map, "CHUNK_SECONDS", 0.0)
    monkeypatch.setattr(parallel_map, "DESERTED", 2.0)
    problem = make_problem()
    with start_cluster(tmp_path) as cluster:

        def kill_all(event: Event) -> None:
            for worker in range(2):
                if event.done:
                    cluster.kill(worker)

        run = tc.Run(executor=cluster.client.get_executor(), listener=kill_all)
        with pytest.raises(tc.WorkersError, match=r"there are none any more.*Start workers"):
            tc.audit(problem, hide_most(problem), run)
        # Within a time limit nothing is raised: what nobody computed is not proven.
        short = tc.Run(1.0, executor=cluster.client.get_executor())
        assert set(tc.audit(problem, hide_most(problem), short).worst.tolist()) == {block_tasks.UNPROVEN}


@pytest.mark.slow
def test_batches_are_carried_out_on_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        Path(name).mkdir()
        write_files(Path(name))
        Path(name, "batch.arb").write_text(
            '<OPENTABLEDATA> "table.tab"\n<OPENMETADATA> "table.rda"\n'
            '<SPECIFYTABLE> "Region""Size"|"Turnover"\n<SAFETYRULE>\n<READTABLE>\n'
            '<SUPPRESS> OPT(1)\n<WRITETABLE> (1,1,,"out/a.csv")\n'
        )
    assert main(["run", "one/batch.arb"]) == 0
    with start_cluster(tmp_path) as cluster:
        assert main(["run", "two/batch.arb", "--dask", cluster.address]) == 0
    alone, shared = (Path(name, "out", "publication", "a.csv").read_text() for name in ("one", "two"))
    assert alone == shared
