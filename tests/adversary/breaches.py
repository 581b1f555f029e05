"""Which cells of a release somebody knows better than its levels allow.

Part of the referee: nothing of Tacita is imported here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from attack import NEARLY, Region
from knowledge import LOWER, SLIDING, UPPER, Attacker, Threat
from reader import Told
from truth import Codes


@dataclass(frozen=True)
class Breach:
    """A cell and an attacker: the interval that they deduce, and the level that it misses."""

    attacker: Attacker
    cell: int
    codes: Codes
    value: int
    low: float
    high: float
    misses: str

    def __str__(self) -> str:
        return (
            f"{self.attacker.name} finds cell {self.codes} of value {self.value} in "
            f"[{self.low:g}, {self.high:g}], which misses {self.misses}"
        )

    @property
    def pair(self) -> tuple[str, int]:
        return self.attacker.name, self.cell


def region_of(threat: Threat, known: Told) -> Region:
    """All tables that fit a release and what everyone knows."""
    world, rows = threat.world, threat.world.equations
    low, high = np.maximum(known.low, threat.low), np.minimum(known.high, threat.high)
    finite = [np.abs(bound[np.isfinite(bound)]).max(initial=0.0) for bound in (low, high)]
    size = float(np.abs(world.values).sum() + threat.levels.max(initial=0) + max(finite))
    least = most = np.zeros(rows.shape[0])
    if known.sums:
        sums = np.zeros((len(known.sums), len(world)), dtype=np.int64)
        for row, (cells, _, _) in zip(sums, known.sums, strict=True):
            row[list(cells)] = 1
        rows = np.vstack([rows, sums])
        least = np.concatenate([least, [low for _, low, _ in known.sums]])
        most = np.concatenate([most, [high for _, _, high in known.sums]])
    return Region(rows, least, most, low, high, world.counts, 1000.0 * size + 10_000.0)


def breaches_of(threat: Threat, attackers: Sequence[Attacker], known: Told) -> Iterator[Breach]:
    """Every pair of attacker and cell that somebody who knows ``known`` sees through; the outsider first."""
    region, everyone = region_of(threat, known), attackers[0]
    answered: dict[bytes, tuple[dict[int, float], dict[int, float]]] = {}
    targets = np.flatnonzero(np.any([a.levels.any(axis=0) for a in attackers], axis=0))
    for attacker in attackers:
        low, high = np.maximum(region.low, attacker.low), np.minimum(region.high, attacker.high)
        same = (low == region.low).all() and (high == region.high).all()
        if attacker is not everyone and same and (attacker.levels <= everyone.levels).all():
            continue
        key = low.tobytes() + high.tobytes()
        if key not in answered:
            least, most = region.extremes(low, high, targets)
            answered[key] = tuple(dict(zip(targets.tolist(), ends, strict=True)) for ends in (least, most))
        yield from _missed(threat, attacker, *answered[key])


def protects(threat: Threat, attackers: Sequence[Attacker], known: Told) -> bool:
    return next(breaches_of(threat, attackers, known), None) is None


def _missed(
    threat: Threat, attacker: Attacker, least: dict[int, float], most: dict[int, float]
) -> Iterator[Breach]:
    world = threat.world
    for cell in attacker.targets.tolist():
        value, levels = int(world.values[cell]), attacker.levels[:, cell]
        down, up = value - least[cell], most[cell] - value
        for missed, what in (
            (up < levels[UPPER] - NEARLY, f"UPL {levels[UPPER]}"),
            (down < levels[LOWER] - NEARLY, f"LPL {levels[LOWER]}"),
            (up + down < levels[SLIDING] - NEARLY, f"SPL {levels[SLIDING]}"),
        ):
            if missed:
                yield Breach(attacker, cell, world.cells[cell], value, least[cell], most[cell], what)
                break
