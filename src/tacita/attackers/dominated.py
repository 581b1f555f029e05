"""Attackers that need no attention of their own.

Attacker ``A`` is implied by ``B`` if ``B`` knows at least as much, ``lower_A <= lower_B`` and
``upper_B <= upper_A`` in every cell, and every level asked against ``A`` is at most the one asked against
``B``. Then ``B``'s region lies inside ``A``'s, so whatever protects against ``B`` protects against ``A``. The
outsider implies whoever knows nothing more and needs no higher level.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacita.attackers import Insider
from tacita.exact import Cells, Units
from tacita.levels import Levels


def without_dominated(insiders: Sequence[Insider], levels: Levels) -> list[Insider]:
    """Insiders (``also_others``) that neither the outsider nor another one implies; of equals the first."""
    candidates = [insider for insider in insiders if not _implied_by_outsider(insider, levels)]
    if not candidates:
        return []
    sizes = np.array([insider.cells.size for insider in candidates])
    owner = np.repeat(np.arange(len(candidates)), sizes)
    cells = np.concatenate([insider.cells for insider in candidates])
    order = np.argsort(cells, kind="stable")
    sorted_cells, sorted_owner = cells[order], owner[order]
    kept = []
    for a, insider in enumerate(candidates):
        first = np.searchsorted(sorted_cells, insider.cells, "left")
        last = np.searchsorted(sorted_cells, insider.cells, "right")
        if insider.cells.size:
            # Whoever implies him knows all his cells, so also the one that fewest know.
            rarest = int(np.argmin(last - first))
            rivals = sorted_owner[first[rarest] : last[rarest]]
        else:
            rivals = np.arange(len(candidates))
        rivals = rivals[(sizes[rivals] >= sizes[a]) & (rivals != a)]
        if not any(_yields(candidates, a, int(b), levels) for b in rivals):
            kept.append(insider)
    return kept


def _yields(insiders: Sequence[Insider], a: int, b: int, levels: Levels) -> bool:
    """``b`` implies ``a``, and not the other way round unless ``b`` comes first."""
    if not _implied(insiders[a], insiders[b], levels):
        return False
    return b < a or not _implied(insiders[b], insiders[a], levels)


def _implied_by_outsider(insider: Insider, levels: Levels) -> bool:
    own, own_levels = insider.own_targets()
    return insider.cells.size == 0 and bool((own_levels <= _everyones(own, levels)).all())


def _implied(weak: Insider, strong: Insider, levels: Levels) -> bool:
    at = np.searchsorted(strong.cells, weak.cells)
    if weak.cells.size > strong.cells.size or (at == strong.cells.size).any():
        return False
    within = (strong.lower[at] >= weak.lower) & (strong.upper[at] <= weak.upper)
    if not ((strong.cells[at] == weak.cells) & within).all():
        return False
    special = np.concatenate(
        [weak.own_targets()[0], strong.own_targets()[0], strong.cells[strong.knows_exactly()]]
    )
    return bool((_needed(weak, special, levels) <= _needed(strong, special, levels)).all())


def _everyones(cells: Cells, levels: Levels) -> Units:
    return np.array([levels.lower[cells], levels.upper[cells], levels.sliding[cells]])


def _needed(insider: Insider, cells: Cells, levels: Levels) -> Units:
    """LPL, UPL and SPL that hold against an insider in some cells."""
    needed = _everyones(cells, levels)
    own, own_levels = insider.own_targets()
    for known, value in ((own, own_levels), (insider.cells[insider.knows_exactly()], None)):
        if known.size:
            at = np.minimum(np.searchsorted(known, cells), known.size - 1)
            here = known[at] == cells
            needed[:, here] = 0 if value is None else value[:, at[here]]
    return needed
