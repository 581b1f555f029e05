"""Which cells are sensitive, who attacks them, and what each attacker knows: from records alone.

Part of the referee: nothing of Tacita is imported here. The formulas are those of `docs/rules.md`, evaluated
with fractions from the contributions themselves; the attackers are all contributors, none left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from truth import Codes, Integers, World

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

LOWER, UPPER, SLIDING = range(3)


@dataclass(frozen=True)
class Rule:
    """One rule: ``numbers`` are its arguments in the order of the documents.

    A mark lists ``cells`` with ``amounts`` (lower, upper, sliding), or with ``protection`` in percent.
    """

    kind: str
    numbers: tuple[float, ...] = ()
    by: str = "respondent"
    protection: tuple[float, float] | None = None
    cells: tuple[Codes, ...] = ()
    amounts: tuple[float, float, float] | None = None

    @property
    def measure(self) -> tuple[list[Fraction], Fraction]:
        """Weights of the largest contributions, and of the total, for rules of concentration."""
        first, *rest = (Fraction(str(number)) for number in self.numbers)
        if self.kind == "dominance":
            return [Fraction(1)] * int(first), rest[0] / 100
        if self.kind == "p-percent":
            return [1 + first / 100, *[Fraction(1)] * int(rest[0])], Fraction(1)
        return [1 + first / rest[0], Fraction(1)], Fraction(1)

    @property
    def concentrates(self) -> bool:
        return self.kind in ("dominance", "p-percent", "pq")


@dataclass(frozen=True, eq=False)
class Attacker:
    """Bounds per cell and levels (lower, upper, sliding) per cell, in units; cells without levels are no
    targets.
    """

    name: str
    kind: str
    low: Floats
    high: Floats
    levels: Integers

    @property
    def targets(self) -> Integers:
        return np.flatnonzero(self.levels.any(axis=0))


@dataclass(frozen=True, eq=False)
class Threat:
    """A world with what is sensitive in it and what everyone knows: ``low <= y <= high``, in units."""

    world: World
    rules: tuple[Rule, ...]
    low: Floats
    high: Floats
    shares: Mapping[str, Mapping[str, Integers]] = field(init=False)
    presence: Mapping[str, Mapping[str, Mask]] = field(init=False)

    def __post_init__(self) -> None:
        kinds = ("respondent", "holding") if self.world.known_people else ()
        object.__setattr__(self, "shares", {by: self.world.shares(by) for by in kinds})
        object.__setattr__(self, "presence", {by: self.world.presence(by) for by in kinds})
        object.__setattr__(self, "_levels", self._outsiders_levels())

    @property
    def levels(self) -> Integers:
        """Lower, upper and sliding level of each cell against everyone; all zero where not sensitive."""
        found: Integers = self._levels  # type: ignore[attr-defined]
        return found

    @property
    def sensitive(self) -> Mask:
        return np.asarray(self.levels.any(axis=0))

    def outsider(self) -> Attacker:
        return Attacker("outsider", "outsider", self.low, self.high, self.levels)

    def contributors(self, by: str) -> list[Attacker]:
        """Everyone in the records, one by one."""
        return [self.group([name], by, by) for name in self.shares[by]]

    def group(self, members: Sequence[str], by: str, kind: str) -> Attacker:
        """Contributors who pool what they know."""
        world, value = self.world, self.world.values
        shares, presence = self.shares[by], self.presence[by]
        own = sum((np.abs(shares[name]) for name in members), np.zeros(len(world), dtype=np.int64))
        people = sum((presence[name] for name in members), np.zeros(len(world), dtype=np.int64))
        everyone = sum(presence.values(), np.zeros(len(world), dtype=np.int64))
        absolute = sum((np.abs(put) for put in shares.values()), np.zeros(len(world), dtype=np.int64))
        alone = (people > 0) & (people == everyone)
        low = np.where((people > 0) & (absolute == value), np.maximum(self.low, own), self.low)
        low, high = np.where(alone, value, low), np.where(alone, value, self.high)
        levels = self.levels.copy()
        levels[:, alone] = 0
        for cell in np.flatnonzero((people > 0) & ~alone & self.sensitive):
            needed = np.zeros(3, dtype=np.int64)
            for rule in self.rules:
                needed = np.maximum(needed, self._inside(rule, int(cell), set(members), by, int(own[cell])))
            below, above = value[cell] - low[cell], high[cell] - value[cell]
            needed = np.minimum(needed, [below, above, below + above]).astype(np.int64)
            if not needed.any() and everyone[cell] - people[cell] == 1:
                needed[SLIDING] = min(world.step, below + above)
            levels[:, cell] = needed
        return Attacker(f"{kind} {'+'.join(members)}", kind, low, high, levels)

    def _outsiders_levels(self) -> Integers:
        total = np.zeros((3, len(self.world)), dtype=np.int64)
        for rule in self.rules:
            for cell in range(len(self.world)):
                total[:, cell] = np.maximum(total[:, cell], self._against_everyone(rule, cell))
        return total

    def _against_everyone(self, rule: Rule, cell: int) -> tuple[int, int, int]:
        """Lower, upper and sliding level of a cell by one rule."""
        amounts = self._asked(rule, cell, None)
        if amounts is None:
            return 0, 0, 0
        lower, upper, sliding = amounts
        if rule.protection is not None:
            lower = int(min(lower, self.world.values[cell] - self.low[cell]))
            upper = int(min(upper, self.high[cell] - self.world.values[cell]))
        return lower, upper, sliding or (0 if lower or upper else self.world.step)

    def _asked(self, rule: Rule, cell: int, whatever: None) -> tuple[int, int, int] | None:
        """The levels that a rule asks for in a cell, or None where it is not sensitive by that rule."""
        world, value = self.world, int(self.world.values[cell])
        step = world.step
        if rule.kind == "marked":
            if world.cells[cell] not in rule.cells:
                return None
            if rule.amounts is not None:
                lower, upper, sliding = (
                    _up(Fraction(str(a)) * 10**world.decimals, step) for a in rule.amounts
                )
                return lower, upper, sliding
            upper = 0
        elif rule.kind in ("threshold", "frequency"):
            (n,) = rule.numbers
            as_counts = world.counts and (rule.kind == "threshold" or not world.known_people)
            count = value // 10**world.decimals if as_counts else self._people(cell, rule.by)
            if not 0 < count < n:
                return None
            upper = step
            if rule.kind == "threshold" and world.counts:
                upper = max(ceil(n) * 10**world.decimals - value, step)
        else:
            weights, c = rule.measure
            sizes = sorted((abs(int(put[cell])) for put in self.shares[rule.by].values()), reverse=True)
            total = sum(sizes)
            excess = sum(w * x for w, x in zip(weights, sizes, strict=False)) - c * total
            if excess <= 0:
                return None
            upper = _up(excess / c, step)
        if rule.protection is not None:
            lower, upper = (_up(Fraction(str(p)) / 100 * abs(value), step) for p in rule.protection)
            return lower, upper, 0
        return (upper if (world.values < 0).any() else min(upper, value)), upper, 0

    def _people(self, cell: int, by: str) -> int:
        return sum(bool(there[cell]) for there in self.presence[by].values())

    def _inside(self, rule: Rule, cell: int, members: set[str], by: str, own: int) -> Sequence[int]:
        """The levels against someone who put ``own`` into a cell."""
        asked = self._asked(rule, cell, None)
        if asked is None:
            return 0, 0, 0
        if not rule.concentrates or rule.by != by:
            lower, upper, sliding = asked
            return lower, upper, sliding or (0 if lower or upper else self.world.step)
        weights, c = rule.measure
        others = sorted(
            (abs(int(put[cell])) for name, put in self.shares[by].items() if name not in members),
            reverse=True,
        )
        total = own + sum(others)
        his = max(c, weights[1]) if len(weights) > 1 else c
        partners = sum(w * x for w, x in zip(weights[2:], others[1:], strict=False))
        target = others[0] if others else 0
        excess = weights[0] * target + his * own + partners - c * total
        if excess <= 0 or target <= 0:
            return 0, 0, 0
        if rule.protection is not None:
            return asked
        level = _up(excess / c, self.world.step)
        return level, level, 0


def _up(amount: Fraction, step: int) -> int:
    """An amount rounded up to a multiple of the step."""
    return ceil(amount / step) * step


def narrowed(attacker: Attacker, low: Floats, high: Floats) -> Attacker:
    """The attacker after having read what is published: windows ``low .. high``."""
    return replace(attacker, low=np.maximum(attacker.low, low), high=np.minimum(attacker.high, high))
