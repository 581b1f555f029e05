"""Methods that go on from a checkpoint: who owns it, and what becomes of it when the run ends.

    killed                            the file stays as it was last written; the same call goes on from there
    stopped by limit or cancel        it is written once more, and stays
    ended by itself, or infeasible    it is removed

The searches themselves keep and recall what they know (:mod:`tacita.engine.checkpoint`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

from tacita.core.errors import InfeasibleError, InputError
from tacita.core.release import Release
from tacita.core.run import DrawnSeed, Run
from tacita.engine.checkpoint import Checkpoint, find_owner, read_owned
from tacita.methods.method import Method
from tacita.problem.problem import Problem, start_run

Protect = TypeVar("Protect", bound=Callable[..., Release])
RESUMABLE = "__resumable__"


def resumable(protect: Protect) -> Protect:
    """Return a method's ``protect`` that keeps its searches in the checkpoint of its run, if it has one."""

    @wraps(protect)
    def protect_resumably(
        method: Method, problem: Problem, run: Run | None = None, *more: Any, **named: Any
    ) -> Release:
        if not isinstance(run, Run) or run.checkpoint is None or isinstance(run.checkpoint, Checkpoint):
            return protect(method, problem, run, *more, **named)
        run = start_run(problem, run)
        assert run.checkpoint is not None
        owner = find_owner(problem, method.name, method)
        checkpoint = Checkpoint.open(run.checkpoint, owner, int(run.seed))
        seed = checkpoint.seed if isinstance(run.seed, DrawnSeed) else run.seed
        try:
            release = protect(method, problem, replace(run, checkpoint=checkpoint, seed=seed), *more, **named)
        except InfeasibleError:
            checkpoint.remove()
            raise
        except BaseException:
            checkpoint.write()
            raise
        if run.late:
            checkpoint.write()
        else:
            checkpoint.remove()
        return release

    setattr(protect_resumably, RESUMABLE, True)
    return cast(Protect, protect_resumably)


def is_resumable(method: Method) -> bool:
    """Return whether runs of a method keep a checkpoint if they are given one."""
    return hasattr(method.protect, RESUMABLE)


def find_checkpoint_fault(
    path: str | os.PathLike[str], method: Method, problem: Problem
) -> InputError | None:
    """Return the error why a method cannot go on from a file for this problem; None if it can."""
    try:
        read_owned(Path(path), find_owner(problem, method.name, method))
    except InputError as error:
        return error
    return None
