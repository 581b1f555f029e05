"""Many insiders as columns of numbers, of which single ones become :class:`Insider` objects on demand.

Insider ``k`` knows ``lower[r] <= y <= upper[r]`` of ``cells[r]`` for the rows ``r`` from ``starts[k]`` to
``starts[k + 1] - 1``, and has levels of their own, ``levels[:, t]`` (LPL, UPL, SPL), for ``targets[t]`` with
``t`` from ``target_starts[k]`` to ``target_starts[k + 1] - 1``. Both lists ascend by cell within each
insider. ``others[k]`` says whether they attack every other sensitive cell too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from tacita.core.attacker import Insider
from tacita.core.exact import Cells, Mask, Units

NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class InsiderList(Sequence[Insider]):
    """Insiders in order, as columns that the docstring of this file explains."""

    names: Sequence[str]
    starts: Cells
    cells: Cells
    lower: Units
    upper: Units
    target_starts: Cells
    targets: Cells
    levels: Units
    others: Mask
    _made: dict[int, Insider] = field(default_factory=dict)

    @classmethod
    def of(cls, insiders: Iterable[Insider]) -> InsiderList:
        """Return a list of insiders as columns, from objects, which stay the same objects."""
        every = list(insiders)
        own = [insider.own_targets() for insider in every]
        return cls(
            [insider.name for insider in every],
            _find_edges([insider.cells.size for insider in every]),
            np.concatenate([NONE, *(insider.cells for insider in every)]),
            np.concatenate([NONE, *(insider.lower for insider in every)]),
            np.concatenate([NONE, *(insider.upper for insider in every)]),
            _find_edges([cells.size for cells, _ in own]),
            np.concatenate([NONE, *(cells for cells, _ in own)]),
            np.concatenate([np.zeros((3, 0), dtype=np.int64), *(levels for _, levels in own)], axis=1),
            np.array([insider.targets is None or insider.also_others for insider in every], dtype=bool),
            dict(enumerate(every)),
        )

    @classmethod
    def join(cls, parts: Iterable[InsiderList]) -> InsiderList:
        """Return the insiders of several lists as one list, in their order."""
        lists = [cls.of(()), *parts]
        made: dict[int, Insider] = {}
        before = 0
        for part in lists:
            made |= {before + k: insider for k, insider in part._made.items()}
            before += len(part)

        def join_columns(name: str) -> NDArray[Any]:
            return np.concatenate([getattr(part, name) for part in lists], axis=-1)

        columns = ("cells", "lower", "upper", "targets", "levels", "others")
        return cls(
            names=[name for part in lists for name in part.names],
            starts=_find_edges(np.concatenate([np.diff(part.starts) for part in lists])),
            target_starts=_find_edges(np.concatenate([np.diff(part.target_starts) for part in lists])),
            **{name: join_columns(name) for name in columns},
            _made=made,
        )

    def take(self, which: Cells) -> InsiderList:
        """Return some of the insiders as a list, in this order."""
        rows, sizes = find_rows(self.starts, which)
        targets, target_sizes = find_rows(self.target_starts, which)
        place = {int(k): i for i, k in enumerate(which)} if self._made else {}
        return InsiderList(
            [self.names[k] for k in which.tolist()],
            _find_edges(sizes),
            self.cells[rows],
            self.lower[rows],
            self.upper[rows],
            _find_edges(target_sizes),
            self.targets[targets],
            self.levels[:, targets],
            self.others[which],
            {place[k]: insider for k, insider in self._made.items() if k in place},
        )

    def __len__(self) -> int:
        return len(self.others)

    @overload
    def __getitem__(self, k: int) -> Insider: ...

    @overload
    def __getitem__(self, k: slice) -> list[Insider]: ...

    def __getitem__(self, k: int | slice) -> Insider | list[Insider]:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        k = range(len(self))[k]
        if k not in self._made:
            at, own = (slice(*edges[k : k + 2].tolist()) for edges in (self.starts, self.target_starts))
            lower, upper, sliding = self.levels[:, own]
            levels, others = (self.targets[own], lower, upper, sliding), bool(self.others[k])
            bounds = self.cells[at], self.lower[at], self.upper[at]
            self._made[k] = Insider(self.names[k], *bounds, *levels, others)
        return self._made[k]

    def __iter__(self) -> Iterator[Insider]:
        return (self[k] for k in range(len(self)))

    @cached_property
    def owner(self) -> Cells:
        """The position of the insider who knows each row of ``cells``."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def target_owner(self) -> Cells:
        """The position of the insider who attacks each row of ``targets``."""
        return np.repeat(np.arange(len(self)), np.diff(self.target_starts))

    @cached_property
    def _span(self) -> int:
        return 1 + int(max(self.cells.max(initial=0), self.targets.max(initial=0)))

    @cached_property
    def _keys(self) -> Cells:
        return self.owner * self._span + self.cells

    @cached_property
    def _spared(self) -> Cells:
        known = np.flatnonzero(self.lower == self.upper)
        own = self.target_owner * self._span + self.targets
        return np.unique(np.concatenate([own, self._keys[known]]))

    @property
    def spared(self) -> tuple[Cells, Cells]:
        """The pairs of insider and cell where the problem's levels do not hold; see :meth:`is_spared`."""
        return self._spared // self._span, self._spared % self._span

    def find(self, who: Cells, cells: Cells) -> Cells:
        """Return the row of the bounds that insider ``who[i]`` knows for ``cells[i]``, or -1 if none."""
        there = (who >= 0) & (cells < self._span)
        return np.where(there, find_sorted(self._keys, who * self._span + cells), -1)

    def is_spared(self, who: Cells, cells: Cells) -> Mask:
        """Return a mask of pairs of insider and cell where the problem's levels do not hold: the insider has
        levels of their own there, or knows the value.
        """
        there = cells < self._span
        return np.asarray(there & (find_sorted(self._spared, who * self._span + cells) >= 0))


def find_rows(starts: Cells, which: Cells) -> tuple[Cells, Cells]:
    """Return the rows (of bounds or targets) of some insiders, one after the other, and how many each has."""
    sizes = starts[which + 1] - starts[which]
    return list_ranges(starts[which], sizes), sizes


def list_ranges(first: Cells, sizes: Cells) -> Cells:
    """Return the integers of ranges (rows of insiders), one after the other, from their first and size."""
    return np.asarray(np.arange(sizes.sum()) + np.repeat(first - (np.cumsum(sizes) - sizes), sizes))


def find_sorted(keys: Cells, wanted: Cells) -> Cells:
    """Return the position of each wanted key of insider and cell in an ascending list, -1 if it has none."""
    if not keys.size:
        return np.full(wanted.size, -1, dtype=np.int64)
    at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    return np.where(keys[at] == wanted, at, -1)


def _find_edges(sizes: Cells | list[int]) -> Cells:
    """Return where the rows of each insider begin and those of the last end, from their numbers."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
