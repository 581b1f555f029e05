"""Maps over workers: the same results in the same order, shared arguments once per worker, prompt ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

import tacita as tc
from tacita.core import parallel_map
from tacita.core.run import Event, InThisThread, Run

KINDS = ("this thread", "threads", "processes")


@pytest.fixture(scope="module")
def pools() -> Iterator[dict[str, Executor]]:
    spawn = multiprocessing.get_context("spawn")
    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(2, mp_context=spawn) as processes:
        yield {"this thread": InThisThread(), "threads": threads, "processes": processes}


class Large:
    """A shared argument that counts how often a process has read it."""

    read = 0

    def __init__(self) -> None:
        self.numbers = list(range(20_000))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        Large.read += 1


def look_up(shared: Large, item: int, run: Run) -> tuple[int, int, int]:
    return shared.numbers[item], os.getpid(), Large.read


def square(item: int, run: Run) -> int:
    if item < 0:
        raise tc.InputError("negative", place=f"item {item}")
    return item * item


def square_slowly(item: int, run: Run) -> tuple[int, int]:
    """Return a square and the process that computed it, 0 if there was no time."""
    end = time.monotonic() + 0.05 * item
    while not run.over and time.monotonic() < end:
        time.sleep(0.01)
    return 0 if run.over else item * item, os.getpid()


def square_all(items: list[int], run: Run) -> list[int]:
    return list(run.map(square, items))


def describe_run(item: int, run: Run) -> tuple[bool, bool, int, float]:
    return isinstance(run.executor, InThisThread), run.listener is None, run.seed, run.remaining


def end_worker(item: int, run: Run) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return item


@pytest.mark.parametrize("kind", KINDS)
def test_results_come_in_order_and_progress_as_they_arrive(pools: dict[str, Executor], kind: str) -> None:
    seen: list[Event] = []
    run = Run(executor=pools[kind], listener=seen.append)
    assert list(run.map(square, range(100), phase="squares")) == [i * i for i in range(100)]
    done = [event.done for event in seen]
    assert done == sorted(done)
    assert done[-1] == 100
    assert done.count(0) <= 1
    assert {(event.phase, event.total) for event in seen} == {("squares", 100)}
    assert list(run.map(square, [])) == []


@pytest.mark.parametrize("kind", KINDS)
def test_slow_items_do_not_change_the_order(pools: dict[str, Executor], kind: str) -> None:
    found = Run(executor=pools[kind]).map(square_slowly, [3, 0, 1, 0, 2])
    assert [value for value, _ in found] == [9, 0, 1, 0, 4]


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_is_raised_in_its_place(pools: dict[str, Executor], kind: str) -> None:
    found = Run(executor=pools[kind]).map(square, [1, 2, -3, -4, 5])
    assert [next(found), next(found)] == [1, 4]
    with pytest.raises(tc.InputError, match="item -3: negative") as raised:
        next(found)
    assert raised.value.place == "item -3"


@pytest.mark.parametrize("kind", KINDS)
def test_a_map_within_a_map_ends(pools: dict[str, Executor], kind: str) -> None:
    found = Run(executor=pools[kind]).map(square_all, [list(range(n)) for n in range(6)])
    assert list(found) == [[i * i for i in range(n)] for n in range(6)]


@pytest.mark.parametrize("kind", KINDS[1:])
def test_items_get_the_effort_that_is_left(pools: dict[str, Executor], kind: str) -> None:
    run = Run(3600.0, seed=2**40, executor=pools[kind], listener=lambda event: None).begin()
    for alone, silent, seed, remaining in run.map(describe_run, range(4)):
        assert alone
        assert silent
        assert seed == 2**40
        assert 3000.0 < remaining <= 3600.0


def test_each_worker_reads_a_large_shared_argument_once(pools: dict[str, Executor]) -> None:
    run = Run(executor=pools["processes"])
    for _ in range(2):
        found = list(run.map(partial(look_up, Large()), range(50)))
        assert [value for value, _, _ in found] == list(range(50))
        assert {read for _, _, read in found} == {1}
        assert os.getpid() not in {process for _, process, _ in found}


def test_workers_keep_few_shared_arguments(pools: dict[str, Executor]) -> None:
    run = Run(executor=pools["processes"])
    for extra in range(parallel_map.FUNCTIONS_KEPT + 2):
        shared = Large()
        shared.numbers[0] = -extra
        assert next(iter(run.map(partial(look_up, shared), range(4))))[0] == -extra


def test_threads_share_what_is_only_here(pools: dict[str, Executor]) -> None:
    here: dict[int, int] = {}

    def store(item: int, run: Run) -> int:
        here[item] = os.getpid()
        return item

    for kind in KINDS:
        here.clear()
        assert list(Run(executor=pools[kind]).map(store, range(5), local=True)) == list(range(5))
        assert set(here.values()) == {os.getpid()}


@pytest.mark.parametrize("kind", KINDS)
def test_results_at_the_time_limit_are_still_received(pools: dict[str, Executor], kind: str) -> None:
    found = list(Run(0.5, executor=pools[kind]).begin().map(square_slowly, [100] * 5))
    assert [value for value, _ in found] == [0] * 5
    if kind == "processes":
        assert {process for _, process in found} > {os.getpid()}


def test_a_pool_whose_worker_was_killed_says_what_helps() -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(tc.WorkersError, match=r"BrokenProcessPool.*Start workers.*__main__") as raised:
            list(Run(executor=pool).map(end_worker, range(4)))
        with pytest.raises(tc.WorkersError, match="BrokenProcessPool"):
            list(Run(executor=pool).map(square, range(4)))
    assert "memory" in raised.value.remedy


def test_a_worker_with_another_version_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_map, "__version__", "0.0.1")
    with pytest.raises(tc.WorkersError, match=rf"a worker has tacita 0.0.1, this is {tc.__version__}"):
        parallel_map.compute_elsewhere(tc.__version__, b"", None, b"")


def test_workers_that_lack_a_package_say_which() -> None:
    error = parallel_map.describe_lost_workers(ModuleNotFoundError(name="tacita"))
    assert "cannot import tacita. Install the same version" in str(error)


@pytest.mark.parametrize("kind", KINDS)
def test_after_a_cancel_the_rest_is_done_here_without_time(pools: dict[str, Executor], kind: str) -> None:
    run = Run(executor=pools[kind], listener=lambda event: run.cancel())
    begun = time.monotonic()
    found = list(run.map(square_slowly, [40] * 40, phase="squares"))
    # All of them take 80 s; the first report cancels.
    assert time.monotonic() - begun < 20.0
    assert len(found) == 40
    assert {value for value, _ in found[2:]} == {0}
    assert {process for _, process in found[2:]} == {os.getpid()}
