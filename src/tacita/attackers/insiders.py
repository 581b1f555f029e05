"""Attackers from microdata: who contributes to a cell knows more about it than an outsider.

A contributor who put ``s >= 0`` into a cell of value ``a`` knows ``y >= s``; one who is alone in it knows
``y = a``. This replaces special treatment of "singletons": a sole contributor is an attacker like any other.
In a sample, alone means alone in the population: where the weights add up to more than the contributors that
were sampled, the others are unknown to them too. Every contributor that the table knows is an attacker, with

* bounds for all cells they are in (where contributions can be negative their own one is no bound, unless they
  are alone);
* levels of their own for the sensitive cells they are in, from the rule (:meth:`Rule.against`) or the
  problem's, LPL capped at ``a - s``. A cell that they share with one single other contributor keeps at least
  one step of uncertainty.

Everywhere else they face the problem's levels. Attackers who can deduce nothing that another one could not,
and who need no higher level, are dropped: of those in a single leaf cell the largest remains, and whoever
needs another level than the largest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tacita.attackers.considered import KINDS, Considered
from tacita.attackers.dominated import without_dominated
from tacita.attackers.insider_list import InsiderList
from tacita.core.attacker import Insider, Outsider
from tacita.core.errors import InputError, did_you_mean
from tacita.core.exact import UNBOUNDED, Cells, Mask, Units
from tacita.core.levels import Levels
from tacita.core.tables.contributions import Beyond, Contributions, Shares
from tacita.core.tables.table import Table
from tacita.rules import Inside, Rule

AT_ONCE = 20_000
"""Contributors whose cells are worked on together."""


@dataclass(frozen=True, init=False)
class Coalition:
    """Respondents, by name, who pool what they know: ``Coalition("a", "b")``; holdings with
    ``of="holdings"``.
    """

    members: tuple[str, ...]
    of: str

    def __init__(self, *members: object, of: str = "respondents") -> None:
        if not members:
            raise InputError("a coalition needs members: name at least one")
        if of not in KINDS:
            raise InputError(f"a coalition is one of {' or '.join(KINDS)}, not of '{of}'")
        object.__setattr__(self, "members", tuple(dict.fromkeys(map(str, members))))
        object.__setattr__(self, "of", of)


def pooling(
    respondents: Iterable[Sequence[str]], holdings: Iterable[Sequence[str]] = ()
) -> list[AttackerLike]:
    """Coalitions of respondents and of holdings by the names of their members."""
    return [
        Coalition(*members, of=kind)
        for kind, groups in zip(KINDS, (respondents, holdings), strict=True)
        for members in groups
    ]


AttackerLike = str | Outsider | Insider | Coalition


@dataclass(frozen=True, eq=False)
class _Groups:
    """Attackers as groups of contributors: ``who[r]`` is in ``group[r]``, called ``names[group[r]]``."""

    names: list[str]
    who: Cells
    group: Cells


@dataclass(frozen=True, eq=False)
class _Presence:
    """One row per group and cell it is in, in this order: what it put in, and by how many of its members."""

    group: Cells
    cells: Cells
    known: Units
    people: Cells


def outsider_among(table: Table, attackers: Sequence[AttackerLike]) -> Outsider:
    """The one outsider, who is always there: with the usual bounds if none is given."""
    outsiders = [a for a in attackers if isinstance(a, Outsider)]
    if len(outsiders) > 1:
        raise InputError("two outsiders are given: join them into one, which has the tighter of their bounds")
    return outsiders[0] if outsiders else Outsider.of(table)


def listed(attackers: AttackerLike | Sequence[AttackerLike] | None) -> tuple[AttackerLike, ...]:
    """Attackers as a list, whether one, several or none are given."""
    if attackers is None:
        return ()
    return (attackers,) if isinstance(attackers, AttackerLike) else tuple(attackers)


def kinds_known(table: Table) -> tuple[str, ...]:
    """The kinds of contributors that a table can tell apart: respondents, holdings."""
    return tuple(word for word, by in KINDS.items() if _are_known(_contributions(table, by)))


def insiders_among(
    table: Table,
    rule: Rule | None,
    levels: Levels,
    outsider: Outsider,
    attackers: Sequence[AttackerLike],
) -> tuple[InsiderList, Considered]:
    """All insiders that have to be looked at, and whom they stand for.

    Parameters
    ----------
    attackers
        ``"respondents"`` or ``"holdings"`` (everyone who contributes), ``"outsider"`` (nobody who
        contributes, unless a kind is named too), :class:`Coalition` s, :class:`Insider` s made by hand
        (always kept). Without any of these three words all kinds that the table knows are meant.
    """
    words = [a for a in attackers if isinstance(a, str)]
    if wrong := [word for word in words if word not in ("outsider", *KINDS)]:
        known = ", ".join(["outsider", *KINDS])
        raise InputError(f"there are no attackers '{wrong[0]}': use {known}, a coalition or an insider")
    kinds = words if words else list(kinds_known(table))
    coalitions = [a for a in attackers if isinstance(a, Coalition)]
    by_hand = list(dict.fromkeys(a for a in attackers if isinstance(a, Insider)))
    found, numbers, only = [InsiderList.of(by_hand)], dict[str, int](), 0
    for word, by in KINDS.items():
        pooled = [coalition for coalition in coalitions if coalition.of == word]
        if word not in kinds and not pooled:
            continue
        source = _Source(table, rule, levels, outsider, _identified(table, by), by)
        parts = []
        if word in kinds:
            everyone = source.contributions.everyone()
            for start in range(0, everyone.size, AT_ONCE):
                chunk = everyone[start : start + AT_ONCE]
                names = [f"{by} {source.contributions.name(int(who))}" for who in chunk]
                groups = _Groups(names, chunk, np.arange(chunk.size))
                parts.append(_insiders(source, groups))
                if everyone.size > AT_ONCE:
                    parts[-1] = without_dominated(parts[-1], levels)
            numbers[word] = _how_many(source, everyone.size)
            only = max(only, 0 if _stand_for_all(source) else source.contributions.depth)
        if pooled:
            parts.append(_insiders(source, _pools(source.contributions, pooled)))
        found.append(without_dominated(InsiderList.join(parts), levels))
    derived = InsiderList.join(found[1:])
    if len(found) > 2:
        derived = without_dominated(derived, levels)
    left_out = tuple(word for word in kinds_known(table) if word not in kinds)
    considered = Considered(
        numbers.get("respondents", 0),
        numbers.get("holdings", 0),
        len(coalitions),
        len(by_hand),
        left_out,
        only,
    )
    return InsiderList.join([found[0], derived]), considered


@dataclass(frozen=True, eq=False)
class _Source:
    """What attackers of one kind are derived from."""

    table: Table
    rule: Rule | None
    levels: Levels
    outsider: Outsider
    contributions: Contributions
    by: str

    @property
    def count(self) -> Units | None:
        return self.table.count if self.by == "respondent" else self.table.holding_count


def _contributions(table: Table, by: str) -> Contributions | None:
    return table.contributions if by == "respondent" else table.holdings


def _are_known(contributions: Contributions | None) -> bool:
    return contributions is not None and bool((contributions.who >= 0).any())


def _identified(table: Table, by: str) -> Contributions:
    contributions = _contributions(table, by)
    if contributions is None or (len(table) and not _are_known(contributions)):
        raise InputError(
            f"attackers who are {by}s need to be known: the table does not say who stands behind its cells; "
            f"tabulate records with a column of {by}s, or attack as an outsider only"
        )
    return contributions


def _how_many(source: _Source, known: int) -> int:
    """How many contributors there are; at least those who are known."""
    if source.contributions.beyond is Beyond.SMALLER and source.count is not None:
        return max(known, int(source.count.max(initial=0)))
    return known


def _stand_for_all(source: _Source) -> bool:
    """Whether those who are known imply everyone else.

    Someone with ``s`` in a single leaf cell is implied by the larger ones there whom they do not attack,
    except where a lower level is capped at ``a - s``: the smaller ``s``, the higher such a level.
    """
    contributions, table, levels = source.contributions, source.table, source.levels
    if contributions.beyond is not Beyond.SMALLER or contributions.depth < 2 or source.count is None:
        return contributions.beyond is Beyond.NOBODY
    cells = levels.cells[source.count[levels.cells] > contributions.depth]
    return bool((levels.lower[cells] <= table.units[cells] - contributions.values[cells, -1]).all())


def _pools(contributions: Contributions, coalitions: Sequence[Coalition]) -> _Groups:
    position = {str(name): i for i, name in enumerate(contributions.names)}
    members = [[_position(name, position) for name in coalition.members] for coalition in coalitions]
    return _Groups(
        [f"coalition of {', '.join(coalition.members)}" for coalition in coalitions],
        np.array([who for group in members for who in group], dtype=np.int64),
        np.repeat(np.arange(len(members)), [len(group) for group in members]),
    )


def _position(name: str, position: dict[str, int]) -> int:
    if name not in position:
        raise InputError(
            f"coalition member '{name}'{did_you_mean(name, position)} is not among the contributors that "
            "the table knows: correct the name, or tabulate with more of the largest contributions"
        )
    return position[name]


def _fully_sampled(table: Table) -> Mask:
    """Cells whose population (the sum of the weights) rounds to no more than the respondents sampled."""
    if table.population is None or table.count is None:
        return np.ones(len(table), dtype=bool)
    return np.asarray(np.rint(table.population) <= table.count)


def _insiders(source: _Source, groups: _Groups) -> InsiderList:
    """What each group knows, and the levels that hold against it alone."""
    table, levels, contributions, count = source.table, source.levels, source.contributions, source.count
    everyone = source.outsider
    found = _presence(contributions.of(np.unique(groups.who)), groups, len(table))
    cells = found.cells
    value, sums = table.units[cells], contributions.sums[cells]
    alone = found.known == sums if count is None else found.people == count[cells]
    alone &= _fully_sampled(table)[cells]
    # Absolute contributions sum up to the value exactly where none is negative. A weight below one puts in
    # less than they have: they are taken to know the most that is true.
    at_least = np.where(sums == value, np.minimum(found.known, value), -UNBOUNDED)
    lower = np.maximum(np.where(alone, value, at_least), everyone.lower[cells])
    upper = np.minimum(np.where(alone, value, UNBOUNDED), everyone.upper[cells])
    tighter = np.flatnonzero((lower > everyone.lower[cells]) | (upper < everyone.upper[cells]))

    shared = np.flatnonzero(levels.sensitive[cells] & ~alone)
    mine = _members_at(contributions.who[cells[shared]], found.group[shared], groups)
    inside = Inside(cells[shared], found.known[shared], mine, source.by)
    room = value[shared] - np.maximum(lower[shared], -UNBOUNDED // 2), upper[shared] - value[shared]
    one_other = _one_other(contributions, count, inside, found.people[shared])
    common = np.array([levels.lower, levels.upper, levels.sliding])[:, inside.cells]
    own = np.array(source.rule.against(table, inside)) if source.rule is not None else common.copy()
    own = np.minimum(own, np.array([room[0], room[1], room[0] + room[1]]))
    exposed = one_other & ~own.any(axis=0)
    own[2, exposed] = np.minimum(table.unit, room[0] + room[1])[exposed]
    differing = (own != common).any(axis=0)
    special, own = shared[differing], own[:, differing]

    edges = np.arange(len(groups.names) + 1)
    return InsiderList(
        groups.names,
        np.searchsorted(found.group[tighter], edges),
        cells[tighter],
        lower[tighter],
        upper[tighter],
        np.searchsorted(found.group[special], edges),
        cells[special],
        own,
        np.ones(len(groups.names), dtype=bool),
    )


def _presence(shares: Shares, groups: _Groups, n_cells: int) -> _Presence:
    """Shares of single contributors brought together by group and cell."""
    key, row = np.unique(shares.who * n_cells + shares.cells, return_inverse=True)
    who, cells = key // n_cells, key % n_cells
    amount = np.zeros(key.size, dtype=np.int64)
    np.add.at(amount, row, shares.units)
    order = np.argsort(groups.who, kind="stable")
    sorted_who = groups.who[order]
    first, last = np.searchsorted(sorted_who, who, "left"), np.searchsorted(sorted_who, who, "right")
    times = last - first
    share = np.repeat(np.arange(key.size), times)
    within = np.arange(share.size) - np.repeat(np.cumsum(times) - times, times)
    group = groups.group[order[np.repeat(first, times) + within]]
    both, at, people = np.unique(group * n_cells + cells[share], return_inverse=True, return_counts=True)
    known = np.zeros(both.size, dtype=np.int64)
    np.add.at(known, at, np.abs(amount[share]))
    return _Presence(both // n_cells, both % n_cells, known, people)


def _members_at(who: Cells, group: Cells, groups: _Groups) -> Mask:
    """True where ``who[r, j]`` is a member of ``group[r]``."""
    size = int(max(who.max(initial=0), groups.who.max(initial=0))) + 1
    pairs = groups.group * size + groups.who
    return np.isin(group[:, None] * size + who, pairs) & (who >= 0)


def _one_other(contributions: Contributions, count: Units | None, inside: Inside, people: Cells) -> Mask:
    """Cells where all but one contributor belong to the attacker: he has only to subtract."""
    if count is not None:
        return np.asarray(count[inside.cells] - people == 1)
    largest_other = np.where(inside.mine, 0, contributions.values[inside.cells]).max(axis=1, initial=0)
    return np.asarray(inside.known + largest_other == contributions.sums[inside.cells])
