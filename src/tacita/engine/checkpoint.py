"""Checkpoints: what the searches of a run know, kept in a file from which a run that was killed goes on.

A run has any number of searches: one per component of a table, one per round that adds integer moves. The
*fingerprint* of its model tells what belongs to which: a digest of table, requirements, attackers, costs,
bounds and constraints. Of each search the file holds

    the best release,  the lower bound,  and, for large tables, the pattern in work with its witnesses.

What is read back is checked as if a stranger had written it. A release counts after the engine has confirmed
that it protects, a witness after the attacker's program over its cells has. A lower bound cannot be confirmed
without finding it again: it is trusted where the fingerprint fits. A forged one makes a gap too small and
nothing unsafe.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacita.core.errors import InputError
from tacita.core.exact import Cells, Floats
from tacita.core.run import LOG, Run
from tacita.engine.model import Model
from tacita.problem.problem import Problem
from tacita.storage.checkpoint_file import (
    OPTIONS,
    REMEDY,
    CheckpointContent,
    Section,
    read_checkpoint,
    write_checkpoint,
)
from tacita.storage.internal import find_draft_home, refuse_published
from tacita.storage.recovery import recover

EVERY = 5.0
"""Seconds between two writes at least; a run that is over sooner writes none."""
SHARE = 0.01
"""Share of the time that writing may take: after a long write the next one waits longer."""


@dataclass(frozen=True, eq=False)
class PatternInWork:
    """A pattern that a construction works on: the variables at 1, and per requirement its witness."""

    hidden: Cells
    witnesses: Mapping[int, Cells]


@dataclass(frozen=True, eq=False)
class Remembered:
    """What a checkpoint has of one search; nothing in it is confirmed."""

    point: Floats | None
    bound: float
    pattern: PatternInWork | None
    ascended: bool


class Checkpoint(os.PathLike[str]):
    """The open checkpoint of one run."""

    def __init__(self, path: Path, content: CheckpointContent) -> None:
        self.path, self.owner, self.seed = path, content.owner, content.seed
        self._sections = dict(content.sections)
        self._searches: list[KeptSearch] = []
        self._lock = threading.RLock()
        self._next = time.monotonic() + EVERY
        self._warned = False

    @classmethod
    def open(cls, path: str | os.PathLike[str], owner: Mapping[str, str], seed: int) -> Checkpoint:
        """Return the checkpoint of a file, which need not exist yet, for its owner (see :func:`find_owner`).

        What a run that was killed left half written beside it is removed.

        Raises
        ------
        InputError
            The file belongs to another problem or other options, is none or corrupted, or would be published.
        """
        place = Path(path)
        refuse_published(place)
        if not place.parent.is_dir():
            raise InputError(
                f"the folder {place.parent} does not exist",
                place=place,
                remedy="make it first, or name another file",
                options=OPTIONS,
            )
        for note in recover(find_draft_home(place.parent)):
            LOG.info(note)
        if not place.exists():
            return cls(place, CheckpointContent(owner, seed, {}))
        content = read_owned(place, owner)
        LOG.info("go on from checkpoint %s", place)
        return cls(place, content)

    def __fspath__(self) -> str:
        return str(self.path)

    @property
    def due(self) -> bool:
        """Whether the checkpoint should be written again."""
        return time.monotonic() >= self._next

    def follow(self, search: KeptSearch) -> None:
        """Take a search that begins into the checkpoint."""
        with self._lock:
            self._searches.append(search)

    def release(self, search: KeptSearch) -> None:
        """Keep the last state of a search that has ended."""
        with self._lock:
            self._searches.remove(search)
            self._add(search)

    def find(self, fingerprint: str) -> Section | None:
        """Return what the file had of the search with this fingerprint, or None."""
        return self._sections.get(fingerprint)

    @property
    def empty(self) -> bool:
        """Whether no search has anything to keep yet."""
        return not self._sections

    def write(self) -> None:
        """Write the checkpoint, if there is anything in it; a failure is a warning, once."""
        with self._lock:
            began = time.monotonic()
            for search in self._searches:
                self._add(search)
            try:
                if self._sections:
                    write_checkpoint(self.path, CheckpointContent(self.owner, self.seed, self._sections))
            except (InputError, OSError) as error:
                if not self._warned:
                    LOG.warning("the checkpoint was not written: %s", error)
                self._warned = True
            ended = time.monotonic()
            self._next = ended + max(EVERY, (ended - began) / SHARE)

    def remove(self) -> None:
        """Remove the file of a run that has ended."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    def _add(self, search: KeptSearch) -> None:
        section = search.make_section()
        if section is not None:
            self._sections[search.fingerprint] = section


def read_owned(path: Path, owner: Mapping[str, str]) -> CheckpointContent:
    """Return the content of a checkpoint file that belongs to this problem, method and options.

    Raises
    ------
    InputError
        It belongs to others, is no checkpoint, or cannot be read.
    """
    try:
        content = read_checkpoint(path)
    except OSError as error:
        fault = f"the checkpoint cannot be read: {error.strerror}"
        raise InputError(fault, place=path, remedy=REMEDY, options=OPTIONS) from None
    if content.owner != owner:
        same = content.owner.get("problem") == owner["problem"]
        of = "of this problem, but with another method or other options" if same else "of another problem"
        raise InputError(f"the checkpoint is {of}", place=path, remedy=REMEDY, options=OPTIONS)
    return content


class KeptSearch:
    """The state of one search, for the checkpoint of its run."""

    def __init__(self, checkpoint: Checkpoint, model: Model) -> None:
        self._checkpoint, self._model = checkpoint, model
        self._point: Floats | None = None
        self._bound = -np.inf
        self._pattern: PatternInWork | None = None
        self._ascended = False
        self.remembered = None if checkpoint.empty else self._recall()
        checkpoint.follow(self)

    @cached_property
    def fingerprint(self) -> str:
        """The digest of all that the search depends on."""
        return fingerprint_model(self._model)

    @property
    def due(self) -> bool:
        """Whether the checkpoint of the search should be written again."""
        return self._checkpoint.due

    def keep_point(self, point: Floats) -> None:
        """Take the best release of the search, unless the one that the checkpoint had is better."""
        if self._point is None or self._model.loss(point) < self._model.loss(self._point):
            self._point = point
        self.write_if_due()

    def keep_bound(self, bound: float) -> None:
        """Take a lower bound of the search."""
        self._bound = max(self._bound, bound)
        self.write_if_due()

    def keep_pattern(self, pattern: PatternInWork) -> None:
        """Take the pattern that a construction works on."""
        self._pattern = pattern
        self.write_if_due()

    def mark_ascended(self) -> None:
        """Keep that the dual ascent of the search has ended by itself."""
        self._ascended = True

    def forget_unconfirmed(self, best: Floats | None) -> None:
        """Keep the best release of the search only, after the one that it remembered has been tried."""
        self._point = best

    def write_if_due(self) -> None:
        """Write the checkpoint of the search if the last time is long enough ago."""
        if self._checkpoint.due:
            self._checkpoint.write()

    def end(self) -> None:
        """Let the checkpoint keep the last state of the search."""
        self._checkpoint.release(self)

    def make_section(self) -> Section | None:
        """Return what the checkpoint keeps of the search; None if it knows nothing yet."""
        pattern = self._pattern
        if self._point is None and pattern is None and self._bound == -np.inf:
            return None
        arrays: dict[str, NDArray[Any]] = {}
        if self._point is not None:
            binary = bool(np.isin(self._point, (0.0, 1.0)).all())
            arrays["point"] = np.packbits(self._point > 0.5) if binary else self._point
        if pattern is not None:
            cells = list(pattern.witnesses.values())
            arrays["hidden"] = pattern.hidden
            arrays["requirement"] = np.fromiter(pattern.witnesses, np.int32, len(cells))
            arrays["length"] = np.fromiter((each.size for each in cells), np.int32, len(cells))
            arrays["witness"] = np.concatenate([*cells, np.zeros(0, np.int64)]).astype(np.int32)
        numbers = {"ascended": float(self._ascended)}
        if np.isfinite(self._bound):
            numbers["bound"] = float(self._bound)
        return Section(numbers, arrays)

    def _recall(self) -> Remembered | None:
        """Return what the file has of this search, as far as it can be meant for it; None without any."""
        section = self._checkpoint.find(self.fingerprint)
        if section is None:
            return None
        bound = section.numbers.get("bound", -np.inf)
        bound = bound if np.isfinite(bound) else -np.inf
        # A run that is killed before it knows more leaves the checkpoint as good as it was.
        self._bound, self._ascended = bound, section.numbers.get("ascended") == 1.0
        self._point = self._read_point(section.arrays.get("point"))
        self._pattern = self._read_pattern(section.arrays)
        return Remembered(self._point, bound, self._pattern, self._ascended)

    def _read_point(self, kept: NDArray[Any] | None) -> Floats | None:
        size = self._model.size
        if kept is None:
            return None
        if kept.dtype == np.uint8 and kept.size == (size + 7) // 8:
            return np.unpackbits(kept, count=size).astype(np.float64)
        if kept.dtype == np.float64 and kept.size == size and bool(np.isfinite(kept).all()):
            return kept.copy()
        return None

    def _read_pattern(self, arrays: Mapping[str, NDArray[Any]]) -> PatternInWork | None:
        names = ("hidden", "requirement", "length", "witness")
        if any(name not in arrays or arrays[name].dtype.kind != "i" for name in names):
            return None
        hidden, requirement, length, witness = (arrays[name].astype(np.int64) for name in names)
        size, known = self._model.size, len(self._model.requirements)
        fits = (
            length.size == requirement.size
            and bool((length >= 0).all())
            and int(length.sum()) == witness.size
            and all(not each.size or 0 <= each.min() <= each.max() < size for each in (hidden, witness))
        )
        if not fits:
            return None
        parts = np.split(witness, np.cumsum(length)[:-1]) if length.size else []
        pairs = zip(requirement.tolist(), parts, strict=True)
        return PatternInWork(hidden, {k: np.unique(cells) for k, cells in pairs if 0 <= k < known})


def keep_search(model: Model, run: Run) -> tuple[KeptSearch | None, Run]:
    """Return what keeps a search in the run's checkpoint, or None, and the run for what it does inside.

    Searches within this one, on parts of its model, are not kept by themselves.
    """
    checkpoint = run.checkpoint
    kept = KeptSearch(checkpoint, model) if isinstance(checkpoint, Checkpoint) else None
    return kept, run if checkpoint is None else replace(run, checkpoint=None)


def find_owner(problem: Problem, method: str, options: object) -> dict[str, str]:
    """Return the digests that tell whose a checkpoint is: of the problem, and of method and options."""
    of_problem, of_method = hashlib.sha256(), hashlib.sha256()
    _add_problem(of_problem, problem)
    of_method.update(f"{method} {options!r}".encode())
    return {"problem": of_problem.hexdigest(), "method": of_method.hexdigest()}


def fingerprint_model(model: Model) -> str:
    """Return the digest of all that the least loss of a model, and what protects in it, depend on."""
    digest = hashlib.sha256()
    _add_problem(digest, model.problem)
    windows = (model.above, model.below)
    requirements = model.requirements
    _add_arrays(
        digest,
        (
            *(model.cost, model.lower, model.upper, model.integer, model.row_lower, model.row_upper),
            *(model.rows.indptr, model.rows.indices, model.rows.data, model.switch),
            *(part for w in windows for part in (w.base, w.matrix.indptr, w.matrix.indices, w.matrix.data)),
            *(requirements.attacker, requirements.cell, requirements.sign),
            *(requirements.level, requirements.switch, np.array([model.constant])),
        ),
    )
    return digest.hexdigest()


def _add_problem(digest: Any, problem: Problem) -> None:
    table, levels, outsider, insiders = problem.table, problem.levels, problem.outsider, problem.insiders
    equations = table.equations
    digest.update(repr((table.decimals, table.integer, table.unit)).encode())
    _add_arrays(
        digest,
        (
            *(table.units, equations.starts, equations.cells, equations.coefficients, equations.rhs),
            *(levels.sensitive, levels.lower, levels.upper, levels.sliding, outsider.lower, outsider.upper),
            *(insiders.starts, insiders.cells, insiders.lower, insiders.upper, insiders.target_starts),
            *(insiders.targets, insiders.levels, insiders.others),
            *(problem.cost, problem.must_publish, problem.must_hide),
        ),
    )


def _add_arrays(digest: Any, arrays: Iterable[NDArray[Any]]) -> None:
    for array in arrays:
        kind = np.int64 if array.dtype.kind in "iu" else array.dtype
        plain = np.ascontiguousarray(array, dtype=kind)
        digest.update(f"{plain.dtype.str}{plain.shape}".encode())
        digest.update(plain.data)
