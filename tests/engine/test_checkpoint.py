"""Checkpoints: a run that was killed or stopped goes on from its file, and no file can make it wrong."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.core.errors import FormatError, InputError, StoppedError
from tacita.core.run import Event, Run
from tacita.engine import checkpoint as checkpoints
from tacita.engine.checkpoint import Checkpoint, find_owner, fingerprint_model
from tacita.generate import problem as generated
from tacita.problem.problem import Problem
from tacita.storage.checkpoint_file import (
    FIRST_LINE,
    CheckpointContent,
    Section,
    read_checkpoint,
    write_checkpoint,
)

METHODS: Mapping[str, Any] = {
    "suppression": tc.Suppression(),
    "intervals": tc.Intervals(),
    "intervals with a limit": tc.Intervals(at_most=20),
    "rounding": tc.Rounding(base=50),
    "perturbation": tc.Perturbation(),
    "mixture": tc.Mixture(),
}


def stop_after(events: int) -> Callable[[Path], Run]:
    """Return what makes a run that is cancelled after so many reports of progress."""

    def make(path: Path) -> Run:
        seen: list[Event] = []

        def listen(event: Event) -> None:
            seen.append(event)
            if len(seen) >= events:
                run.cancel()

        run = Run(listener=listen, checkpoint=path)
        return run

    return make


def stop(method: Any, problem: Problem, path: Path, events: int) -> tc.Release | None:
    """Return what a run has that is cancelled after so many reports, or None."""
    try:
        return method.protect(problem, stop_after(events)(path))  # type: ignore[no-any-return]
    except StoppedError:
        return None


def read_state(path: Path, problem: Problem) -> tuple[float, float]:
    """Return the loss of the best suppression pattern in a checkpoint, and its lower bound."""
    loss, bound = np.inf, -np.inf
    for section in read_checkpoint(path).sections.values():
        bound = max(bound, section.numbers.get("bound", -np.inf))
        if "point" in section.arrays:
            hidden = np.unpackbits(section.arrays["point"], count=len(problem.table)).astype(bool)
            loss = min(loss, float(problem.cost[hidden].sum()))
    return loss, bound


def cube() -> Problem:
    """A table of 2,197 cells in three dimensions: its patterns are constructed."""
    return generated((12, 12, 12), "logn", sensitive=40)


@pytest.mark.parametrize("name", METHODS)
def test_a_stopped_run_goes_on_and_finds_what_an_undisturbed_one_finds(name: str, tmp_path: Path) -> None:
    problem, method, path = small(), METHODS[name], tmp_path / "kept"
    alone = method.protect(problem, Run(seed=2**50))
    stop(method, problem, path, 3)
    again = method.protect(problem, Run(seed=2**50, checkpoint=path))
    assert again.outcome.loss == pytest.approx(alone.outcome.loss)
    assert again.outcome.bound == pytest.approx(alone.outcome.bound)
    assert tc.audit(problem, again).safe
    assert not list(tmp_path.iterdir()), "a run that ends by itself removes its checkpoint"


@examples(15)
@given(seed=st.integers(0, 10**6), stops=st.lists(st.integers(1, 9), min_size=1, max_size=3))
def test_the_optimum_does_not_depend_on_where_a_run_was_stopped(
    seed: int, stops: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    problem = generated((5, 4), "logn", sensitive=3, seed=seed)
    path = tmp_path_factory.mktemp("checkpoint") / "kept"
    method = tc.Suppression()
    last, floor = np.inf, -np.inf
    for events in stops:
        found = stop(method, problem, path, events)
        if found is not None and found.outcome is not None:
            assert found.outcome.loss <= last + 1e-6
        # A run that ended by itself has removed its file, and the next one begins anew.
        loss, bound = read_state(path, problem) if path.exists() else (np.inf, -np.inf)
        assert loss <= last + 1e-6 or not path.exists()
        assert bound >= floor - 1e-6 or not path.exists()
        last, floor = loss, bound
    again, alone = method.protect(problem, Run(checkpoint=path)), method.protect(problem)
    assert again.outcome is not None
    assert alone.outcome is not None
    assert again.outcome.status
    assert again.outcome.loss == pytest.approx(alone.outcome.loss)


CHILD = """
import os, signal, sys
import tacita as tc
from tacita.core.run import Run
from tacita.engine import checkpoint
from tacita.generate import problem
from tacita.storage import atomic

checkpoint.EVERY, checkpoint.SHARE = 0.02, 1e9
path, where, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
fsync, left = os.fsync, [count]

def die_at_the_last(*given):
    left[0] -= 1
    if left[0] <= 0:
        os.kill(os.getpid(), signal.SIGKILL)

def sync(descriptor):
    if where == "writing":
        die_at_the_last()
    fsync(descriptor)

atomic.os.fsync = sync
listener = die_at_the_last if where == "searching" else None
cube = problem((12, 12, 12), "logn", sensitive=40)
tc.Suppression().protect(cube, Run(listener=listener, checkpoint=path))
"""


def kill(path: Path, where: str, count: int) -> None:
    """Run a child that kills itself with SIGKILL while it writes or searches for the n-th time."""
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), where, str(count)], check=False, timeout=300
    )
    assert child.returncode == -signal.SIGKILL


def search_until(phase: str, path: Path) -> tuple[tc.Release, list[str]]:
    """Return the release of the cube at the first report of a phase with a release, and all phases."""
    phases: list[str] = []

    def listen(event: Event) -> None:
        # A slow machine hears a phase again and again.
        if phases[-1:] != [event.phase]:
            phases.append(event.phase)
        if event.phase == phase and event.incumbent is not None:
            run.cancel()

    run = Run(listener=listen, checkpoint=path)
    return tc.Suppression().protect(cube(), run), phases


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_run_goes_on_from_its_last_checkpoint(tmp_path: Path) -> None:
    problem, path = cube(), tmp_path / "kept"
    kill(path, "writing", 4)
    loss, bound = read_state(path, problem)
    assert len(list(tmp_path.iterdir())) == 2, "the draft that was being written is still there"
    release, phases = search_until("first release", path)
    assert phases[:3] == ["preparing", "construction", "resuming"]
    assert release.outcome is not None
    assert release.outcome.loss <= loss
    assert release.outcome.bound >= bound
    assert set(tmp_path.iterdir()) <= {path}, "what was half written is gone"
    assert tc.audit(problem, release).safe


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("seed", range(3))
def test_a_run_that_is_killed_again_and_again_never_loses_ground(seed: int, tmp_path: Path) -> None:
    draw, problem, path = random.Random(seed), cube(), tmp_path / "kept"
    last, floor = np.inf, -np.inf
    for _ in range(6):
        kill(path, draw.choice(["writing", "searching"]), draw.randint(1, 12))
        if path.exists():
            loss, bound = read_state(path, problem)
            assert loss <= last
            assert bound >= floor
            last, floor = loss, bound
    release, _ = search_until("improving", path)
    assert release.outcome is not None
    assert release.outcome.loss <= last
    assert release.outcome.bound >= floor
    assert set(tmp_path.iterdir()) <= {path}
    assert tc.audit(problem, release).safe


def small() -> Problem:
    """A table of 42 cells in two dimensions."""
    return generated((6, 5), "logn", sensitive=5)


def leave(method: Any, path: Path) -> None:
    """Leave the checkpoint, with a release in it, of a stopped run on the small table."""
    for events in range(3, 30):
        if stop(method, small(), path, events) is not None and path.exists():
            return
    raise AssertionError("nothing was kept")


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The checkpoint that a stopped suppression of the small table leaves."""
    path = tmp_path_factory.mktemp("left") / "kept"
    leave(tc.Suppression(), path)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path, left: bytes) -> Path:
    """A copy of that checkpoint, as the only file of its folder."""
    (tmp_path / "kept").write_bytes(left)
    return tmp_path / "kept"


def test_another_problem_or_other_options_are_refused_by_name(path: Path, left: bytes) -> None:
    with pytest.raises(InputError, match=r"kept: the checkpoint is of another problem\. Remove it"):
        tc.Suppression().protect(generated((6, 5), "logn", sensitive=5, seed=1), Run(checkpoint=path))
    for other in (tc.Suppression(margins=False), tc.Rounding(base=5)):
        with pytest.raises(
            InputError, match="of this problem, but with another method or other options"
        ) as wrong:
            other.protect(small(), Run(checkpoint=path))
        assert wrong.value.options == ("checkpoint",)
    assert path.read_bytes() == left


def test_a_damaged_file_is_refused_wherever_it_is_damaged(path: Path, left: bytes) -> None:
    damaged = [left[:length] for length in range(0, len(left), 13)]
    damaged += [left[:at] + bytes([left[at] ^ 8]) + left[at + 1 :] for at in range(0, len(left), 17)]
    for content in [*damaged, b"", b"{}", left + b"x"]:
        path.write_bytes(content)
        with pytest.raises(FormatError, match="kept: "):
            read_checkpoint(path)
    path.write_bytes(b"year,value\n")
    with pytest.raises(InputError, match="no checkpoint of Tacita"):
        tc.Suppression().protect(small(), Run(checkpoint=path))


NAMES = st.sampled_from(["owner", "seed", "sections", "arrays", "numbers", "a"])
LEAVES = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3)
HEADS = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4)
)


@examples(25)
@given(head=HEADS)
def test_a_forged_head_is_refused_or_read_but_never_crashes(
    head: object, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("forged") / "kept"
    body = json.dumps(head).encode() + b"\n12345678"
    path.write_bytes(FIRST_LINE + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    with pytest.raises(FormatError):
        read_checkpoint(path)


def forge(path: Path, change: Callable[[Section], Section]) -> None:
    """Write what a checkpoint says with changed sections, and a digest that fits."""
    content = read_checkpoint(path)
    sections = {name: change(section) for name, section in content.sections.items()}
    write_checkpoint(path, CheckpointContent(content.owner, content.seed, sections))


FORGERIES: Mapping[str, Callable[[Section], Section]] = {
    "everything is published": lambda s: Section(
        s.numbers, {**s.arrays, "point": np.zeros_like(s.arrays["point"])}
    ),
    "a point of another size": lambda s: Section(s.numbers, {**s.arrays, "point": np.ones(3)}),
    "a point that is no number": lambda s: Section(s.numbers, {"point": np.full(42, np.nan)}),
    "a bound above the optimum": lambda s: Section({**s.numbers, "bound": 1e12}, s.arrays),
    "a bound that is no number": lambda s: Section({**s.numbers, "bound": float("nan")}, s.arrays),
    "nothing": lambda s: Section({}, {}),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_checkpoint_changes_nothing(name: str, path: Path) -> None:
    problem = small()
    forge(path, FORGERIES[name])
    release, alone = (tc.Suppression().protect(problem, run) for run in (Run(checkpoint=path), None))
    assert release.outcome is not None
    assert alone.outcome is not None
    assert (release.outcome.loss, release.outcome.bound) == (alone.outcome.loss, alone.outcome.bound)
    assert tc.audit(problem, release).safe


def test_witnesses_are_taken_from_the_file_unless_they_are_forged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, path = cube(), tmp_path / "kept"
    release, _ = search_until("first release", path)
    (section,) = read_checkpoint(path).sections.values()
    levels, count = problem.levels, section.arrays["requirement"].size
    assert count == int((levels.upper > 0).sum() + (levels.lower > 0).sum())
    again, phases = search_until("first release", path)
    # What was confirmed is not searched for again: the first release is there with one report.
    assert phases[:4] == ["preparing", "construction", "resuming", "first release"]
    assert again.outcome is not None
    assert release.outcome is not None
    assert again.outcome.loss <= release.outcome.loss

    def hide_only_sensitive(section: Section) -> Section:
        """Return a section in which every sensitive cell is its own witness."""
        arrays = {
            "point": np.packbits(levels.sensitive),
            "hidden": problem.sensitive,
            "witness": np.resize(problem.sensitive, count).astype(np.int32),
            "length": np.ones(count, dtype=np.int32),
        }
        return Section(section.numbers, {**section.arrays, **arrays})

    with monkeypatch.context() as often:
        # A run that ends while it confirms witnesses leaves all that were there.
        often.setattr(checkpoints, "EVERY", 0.0)
        often.setattr(checkpoints, "SHARE", 1e9)
        stopped = Run(
            checkpoint=path, listener=lambda event: stopped.cancel() if event.phase == "resuming" else None
        )
        with pytest.raises(StoppedError):
            tc.Suppression().protect(problem, stopped)
    (section,) = read_checkpoint(path).sections.values()
    assert section.arrays["requirement"].size == count
    forge(path, hide_only_sensitive)
    release, _ = search_until("first release", path)
    assert tc.audit(problem, release).safe
    assert release.hidden.sum() > problem.sensitive.size


def test_a_checkpoint_is_private_and_never_lies_among_what_is_published(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    leave(tc.Suppression(), path)
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (tmp_path / "publication").mkdir()
    with pytest.raises(InputError, match="publication"):
        tc.Suppression().protect(small(), Run(checkpoint=tmp_path / "publication" / "kept"))
    with pytest.raises(InputError, match="does not exist"):
        tc.Suppression().protect(small(), Run(checkpoint=tmp_path / "nowhere" / "kept"))


def test_a_checkpoint_of_a_suppression_has_patterns_and_no_values(path: Path) -> None:
    for section in read_checkpoint(path).sections.values():
        assert all(array.dtype.kind in "iu" for array in section.arrays.values())
        assert set(section.numbers) <= {"bound", "ascended"}


def test_a_drawn_seed_is_that_of_the_run_before_and_a_given_one_is_not(tmp_path: Path) -> None:
    path, method = tmp_path / "kept", tc.Suppression(cost_noise=0.5)
    leave(method, path)
    kept, file = read_checkpoint(path).seed, path.read_bytes()
    assert method.protect(small(), Run(checkpoint=path)).made_by["seed"] == kept
    path.write_bytes(file)
    assert method.protect(small(), Run(seed=2**40, checkpoint=path)).made_by["seed"] == 2**40


def test_searches_of_one_run_are_kept_apart(tmp_path: Path) -> None:
    """Components of a table, and rounds of one method, are searches of their own in one file."""
    problems = [generated((5, 4), "logn", sensitive=3, seed=seed) for seed in (1, 2)]
    path, method = tmp_path / "kept", tc.Suppression()
    owner = find_owner(problems[0], "several", "")
    opened = Checkpoint.open(path, owner, 1)
    for problem in problems:
        method.protect(problem, Run(checkpoint=opened))
    opened.write()
    assert path.exists(), "who opened the checkpoint decides when it goes"
    content = read_checkpoint(path)
    models = [method.model(problem).with_fixed_costs_in_constant() for problem in problems]
    assert {fingerprint_model(model) for model in models} == set(content.sections)
    for problem in problems:
        events: list[Event] = []
        run = Run(checkpoint=Checkpoint.open(path, owner, 1), listener=events.append)
        assert method.protect(problem, run).outcome == replace(
            method.protect(problem).outcome,
            seconds=pytest.approx(1, abs=60),  # type: ignore[arg-type, type-var]
        )


def test_a_full_disk_is_a_warning_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoints, "write_checkpoint", full)
    monkeypatch.setattr(checkpoints, "EVERY", 0.0)
    release = tc.Suppression().protect(small(), Run(checkpoint=tmp_path / "kept"))
    assert release.outcome is not None
    assert release.outcome.status
    assert sum("checkpoint was not written" in line for line in caplog.messages) == 1


def test_a_checkpoint_does_not_travel_to_other_processes(tmp_path: Path) -> None:
    import pickle

    assert pickle.loads(pickle.dumps(Run(checkpoint=tmp_path / "kept"))).checkpoint is None
