"""Dominated attackers: those whom another one implies, so that they need not be considered.

Attacker ``A`` is implied by ``B`` if ``B`` knows at least as much, ``lower_A <= lower_B`` and
``upper_B <= upper_A`` in every cell, and every level required against ``A`` is at most the one against
``B``. Then ``B``'s region lies inside ``A``'s, so whatever protects against ``B`` protects against ``A``. The
outsider implies whoever knows nothing more and needs no higher level.

Whoever implies ``A`` knows all cells that ``A`` knows, so also the one that fewest know. For a contributor to
a single leaf cell that is this cell. The ``RIVALS`` who know most of it are compared, strongest first: some
implied attackers may be missed, which only costs time.
"""

from __future__ import annotations

import numpy as np

from tacita.attackers.insider_list import InsiderList, find_rows, find_sorted
from tacita.core.exact import Cells, Mask, Units
from tacita.core.levels import Levels

RIVALS = 8
"""How many of those who know most of a cell are compared."""


def drop_dominated(insiders: InsiderList, levels: Levels) -> InsiderList:
    """Return the insiders whom neither the outsider nor a compared insider implies; of equals the first.

    All of them attack every sensitive cell (``others``).
    """
    if not len(insiders):
        return insiders
    left = insiders.take(np.flatnonzero(~_find_implied_by_outsider(insiders, levels)))
    compare = _Comparison(left, levels)
    dropped = np.zeros(len(left), dtype=bool)
    for place in range(RIVALS):
        a, b = compare.list_rivals(place, ~dropped)
        weaker = compare.find_implied(a, b)
        a, b = a[weaker], b[weaker]
        # Of two who imply each other the first stays.
        later = np.flatnonzero(b > a)
        equal = np.zeros(a.size, dtype=bool)
        equal[later] = compare.find_implied(b[later], a[later])
        dropped[a[~equal]] = True
    return left.take(np.flatnonzero(~dropped))


def _find_implied_by_outsider(insiders: InsiderList, levels: Levels) -> Mask:
    """Return a mask of the insiders who know no more than the outsider and have no higher level."""
    higher = (insiders.levels > _find_common_levels(insiders.targets, levels)).any(axis=0)
    above = np.bincount(insiders.target_owner, weights=higher, minlength=len(insiders))
    return np.asarray((np.diff(insiders.starts) == 0) & (above == 0))


def _find_common_levels(cells: Cells, levels: Levels) -> Units:
    """Return rows LPL, UPL and SPL that hold against every attacker in some cells."""
    return np.array([levels.lower[cells], levels.upper[cells], levels.sliding[cells]])


class _Comparison:
    """Compares many pairs of insiders at once."""

    def __init__(self, insiders: InsiderList, levels: Levels) -> None:
        self.insiders, self.levels, self.n_cells = insiders, levels, levels.sensitive.size
        self._bounds = insiders.owner * self.n_cells + insiders.cells
        self._targets = insiders.target_owner * self.n_cells + insiders.targets
        cells, sizes = insiders.cells, np.diff(insiders.starts)
        # Rows by cell, in each the strongest first: who knows more of it, then who knows more cells.
        width = np.where(insiders.upper == insiders.lower, 1, 0)
        self._by_cell = np.lexsort((insiders.owner, -sizes[insiders.owner], -insiders.lower, -width, cells))
        self._cell_starts = np.concatenate(
            [[0], np.cumsum(np.bincount(cells, minlength=self.n_cells))]
        ).astype(np.int64)
        known_by = np.diff(self._cell_starts)[cells]
        rarest = np.lexsort((known_by, insiders.owner))
        self._rarest = np.full(len(insiders), -1, dtype=np.int64)
        first = insiders.starts[:-1][sizes > 0]
        self._rarest[sizes > 0] = cells[rarest[first]]

    def list_rivals(self, place: int, among: Mask) -> tuple[Cells, Cells]:
        """Return pairs of an insider and a rival, at ``place`` among those of the cell that fewest know."""
        a = np.flatnonzero(among & (self._rarest >= 0))
        at = self._cell_starts[self._rarest[a]] + place
        there = at < self._cell_starts[self._rarest[a] + 1]
        a, at = a[there], at[there]
        b = self.insiders.owner[self._by_cell[at]]
        return a[a != b], b[a != b]

    def find_implied(self, a: Cells, b: Cells) -> Mask:
        """Return a mask of the pairs where insider ``b[i]`` implies ``a[i]``, who can be left out."""
        insiders = self.insiders
        rows, sizes = find_rows(insiders.starts, a)
        at = find_sorted(self._bounds, np.repeat(b, sizes) * self.n_cells + insiders.cells[rows])
        stronger = (insiders.lower[at] >= insiders.lower[rows]) & (insiders.upper[at] <= insiders.upper[rows])
        inside = (at >= 0) & stronger
        holds = np.bincount(np.repeat(np.arange(a.size), sizes), weights=~inside, minlength=a.size) == 0
        pairs = np.flatnonzero(holds)
        for place, cells in self._list_special_cells(a[pairs], b[pairs]):
            pair = pairs[place]
            higher = (self._find_levels(a[pair], cells) > self._find_levels(b[pair], cells)).any(axis=0)
            holds[pair[higher]] = False
        return np.asarray(holds)

    def _list_special_cells(self, a: Cells, b: Cells) -> list[tuple[Cells, Cells]]:
        """Return cells where one of a pair of insiders may have other levels than everyone, with the position
        of the pair.
        """
        insiders = self.insiders
        found = []
        for who in (a, b):
            rows, sizes = find_rows(insiders.target_starts, who)
            found.append((np.repeat(np.arange(who.size), sizes), insiders.targets[rows]))
        rows, sizes = find_rows(insiders.starts, b)
        exact = insiders.lower[rows] == insiders.upper[rows]
        found.append((np.repeat(np.arange(b.size), sizes)[exact], insiders.cells[rows][exact]))
        return found

    def _find_levels(self, who: Cells, cells: Cells) -> Units:
        """Return rows LPL, UPL and SPL that hold against insiders ``who[i]`` in ``cells[i]``."""
        found = _find_common_levels(cells, self.levels)
        keys = who * self.n_cells + cells
        own = find_sorted(self._targets, keys)
        found[:, own >= 0] = self.insiders.levels[:, own[own >= 0]]
        known = find_sorted(self._bounds, keys)
        here = np.flatnonzero(known >= 0)
        exact = self.insiders.lower[known[here]] == self.insiders.upper[known[here]]
        found[:, here[exact]] = 0
        return found
