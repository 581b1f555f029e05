"""Insiders from microdata: a contributor to a cell knows more about it than the outsider.

A contributor who put ``s >= 0`` into a cell of value ``a`` knows ``y >= s``; one who is alone in it knows
``y = a``. This replaces special treatment of "singletons": a sole contributor is an attacker like any other.
In a sample, alone means alone in the population: where the weights add up to more than the contributors that
were sampled, the others are unknown to them too. Every contributor that the table knows is an attacker, with

* bounds for all cells they are in (where contributions can be negative their own one is no bound, unless they
  are alone);
* levels of their own for the sensitive cells they are in, from the rule (:meth:`Rule.against`) or the
  problem's, LPL capped at ``a - s``. A cell that they share with one single other contributor keeps at least
  one step of uncertainty.

Everywhere else the problem's levels hold. Insiders who can deduce nothing that another one could not, and who
have no higher level, are dropped: of those in a single leaf cell the largest remains, and whoever has another
level than the largest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tacita.attackers.considered import KINDS, Considered
from tacita.attackers.dominated import drop_dominated
from tacita.attackers.insider_list import InsiderList, list_ranges
from tacita.core.attacker import Insider, Outsider
from tacita.core.errors import InputError, did_you_mean
from tacita.core.exact import UNBOUNDED, Cells, Mask, Units
from tacita.core.levels import Levels
from tacita.core.tables.contributions import Beyond, Contributions, Shares
from tacita.core.tables.table import Table
from tacita.rules import Inside, Rule

AT_ONCE = 20_000
"""Contributors that are processed together."""


@dataclass(frozen=True, init=False)
class Coalition:
    """Respondents, by name, who pool what they know: ``Coalition("a", "b")``; holdings with
    ``of="holdings"``.
    """

    members: tuple[str, ...]
    of: str

    def __init__(self, *members: object, of: str = "respondents") -> None:
        if not members:
            raise InputError("a coalition needs members", remedy="name at least one")
        if of not in KINDS:
            raise InputError(f"a coalition is one of {' or '.join(KINDS)}, not of '{of}'")
        object.__setattr__(self, "members", tuple(dict.fromkeys(map(str, members))))
        object.__setattr__(self, "of", of)


def make_coalitions(
    respondents: Iterable[Sequence[str]], holdings: Iterable[Sequence[str]]
) -> list[AttackerLike]:
    """Return coalitions of respondents and of holdings as attackers, given the names of their members."""
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


def find_outsider(table: Table, attackers: Sequence[AttackerLike]) -> Outsider:
    """Return the outsider among the attackers, or one with the usual bounds if none is given."""
    outsiders = [a for a in attackers if isinstance(a, Outsider)]
    if len(outsiders) > 1:
        remedy = "join them into one, which has the tighter of their bounds"
        raise InputError("two outsiders are given", remedy=remedy)
    return outsiders[0] if outsiders else Outsider.of(table)


def list_attackers(attackers: AttackerLike | Sequence[AttackerLike] | None) -> tuple[AttackerLike, ...]:
    """Return attackers as a tuple, whether one, several or none are given."""
    if attackers is None:
        return ()
    return (attackers,) if isinstance(attackers, AttackerLike) else tuple(attackers)


def list_known_kinds(table: Table) -> tuple[str, ...]:
    """Return the kinds of contributors in a table who can be attackers: respondents, holdings."""
    return tuple(word for word, by in KINDS.items() if _are_known(_contributions(table, by)))


def _list_unknown_kinds(table: Table) -> tuple[str, ...]:
    """Return the kinds of contributors that a table counts, or has amounts of, without identifying them."""
    counts = {"respondents": table.count, "holdings": table.holding_count}
    return tuple(
        word
        for word, by in KINDS.items()
        if (counts[word] is not None or _contributions(table, by) is not None)
        and not _are_known(_contributions(table, by))
    )


def find_insiders(
    table: Table, rule: Rule | None, levels: Levels, outsider: Outsider, attackers: Sequence[AttackerLike]
) -> tuple[InsiderList, Considered]:
    """Return the insiders that no other one implies, and how many attackers of each kind were considered.

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
        remedy = f"use {known}, a coalition or an insider"
        raise InputError(f"there are no attackers '{wrong[0]}'", remedy=remedy, options=["attackers"])
    kinds = words if words else list(list_known_kinds(table))
    coalitions = [a for a in attackers if isinstance(a, Coalition)]
    by_hand = list(dict.fromkeys(a for a in attackers if isinstance(a, Insider)))
    found, numbers, only = [InsiderList.of(by_hand)], dict[str, int](), 0
    for word, by in KINDS.items():
        pooled = [coalition for coalition in coalitions if coalition.of == word]
        if word not in kinds and not pooled:
            continue
        source = _Source(table, rule, levels, outsider, _require_contributions(table, by), by)
        parts = []
        if word in kinds:
            everyone = source.contributions.everyone()
            for start in range(0, everyone.size, AT_ONCE):
                chunk = everyone[start : start + AT_ONCE]
                names = [f"{by} {source.contributions.name(int(who))}" for who in chunk]
                groups = _Groups(names, chunk, np.arange(chunk.size))
                parts.append(_make_insiders(source, groups))
                if everyone.size > AT_ONCE:
                    parts[-1] = drop_dominated(parts[-1], levels)
            numbers[word] = _count_contributors(source, everyone.size)
            only = max(only, 0 if _stand_for_all(source) else source.contributions.depth)
        if pooled:
            parts.append(_make_insiders(source, _make_pools(source.contributions, pooled)))
        found.append(drop_dominated(InsiderList.join(parts), levels))
    derived = InsiderList.join(found[1:])
    if len(found) > 2:
        derived = drop_dominated(derived, levels)
    left_out = tuple(word for word in list_known_kinds(table) if word not in kinds)
    considered = Considered(
        **numbers,
        coalitions=len(coalitions),
        insiders=len(by_hand),
        left_out=left_out,
        largest=only,
        unknown=() if words or not len(levels) else _list_unknown_kinds(table),
    )
    return InsiderList.join([found[0], derived]), considered


@dataclass(frozen=True, eq=False)
class _Source:
    """What insiders of one kind are derived from."""

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


def _require_contributions(table: Table, by: str) -> Contributions:
    """Return the contributions of a kind of insiders; refuse a table that does not identify them."""
    contributions = _contributions(table, by)
    if contributions is None or (len(table) and not _are_known(contributions)):
        raise InputError(
            f"attackers who are {by}s need to be known: the table does not say who stands behind its cells",
            remedy=f"tabulate records with a column of {by}s, or attack as an outsider only",
        )
    return contributions


def _count_contributors(source: _Source, known: int) -> int:
    """Return how many contributors are insiders: those who are known, or the largest cell's count if more."""
    if source.contributions.beyond is Beyond.SMALLER and source.count is not None:
        return max(known, int(source.count.max(initial=0)))
    return known


def _stand_for_all(source: _Source) -> bool:
    """Return whether the insiders who are known imply everyone else who contributes.

    Someone with ``s`` in a single leaf cell is implied by the larger ones there whom they do not attack,
    except where a lower level is capped at ``a - s``: the smaller ``s``, the higher such a level. It is the
    same where all others have as much as the smallest who is known, as in counts of records.
    """
    contributions, table, levels = source.contributions, source.table, source.levels
    if contributions.beyond is not Beyond.SMALLER or contributions.depth < 2 or source.count is None:
        return contributions.beyond is Beyond.NOBODY
    cells = levels.cells[source.count[levels.cells] > contributions.depth]
    smallest = contributions.values[cells, -1]
    implied = levels.lower[cells] <= table.units[cells] - smallest
    if table.population is None:
        others = source.count[cells] - contributions.depth
        rest = contributions.sums[cells] - contributions.values[cells].sum(axis=1)
        implied |= rest == others * smallest
    return bool(implied.all())


def _make_pools(contributions: Contributions, coalitions: Sequence[Coalition]) -> _Groups:
    """Return coalitions of insiders as groups of contributors."""
    position = {str(name): i for i, name in enumerate(contributions.names)}
    members = [[_find_member(name, position) for name in coalition.members] for coalition in coalitions]
    return _Groups(
        [f"coalition of {', '.join(coalition.members)}" for coalition in coalitions],
        np.array([who for group in members for who in group], dtype=np.int64),
        np.repeat(np.arange(len(members)), [len(group) for group in members]),
    )


def _find_member(name: str, position: dict[str, int]) -> int:
    """Return the position of a coalition's member among the contributors; refuse an unknown name."""
    if name not in position:
        raise InputError(
            f"coalition member '{name}'{did_you_mean(name, position)} is not among the contributors that "
            "the table knows",
            remedy="correct the name, or tabulate with more of the largest contributions",
        )
    return position[name]


def _find_fully_sampled(table: Table) -> Mask:
    """Return a mask of the cells with no more in the population than sampled: insiders can be alone there."""
    if table.population is None or table.count is None:
        return np.ones(len(table), dtype=bool)
    return np.asarray(np.rint(table.population) <= table.count)


def _make_insiders(source: _Source, groups: _Groups) -> InsiderList:
    """Return each group of contributors as an insider: its bounds, and the levels against it alone."""
    table, levels, contributions, count = source.table, source.levels, source.contributions, source.count
    everyone = source.outsider
    found = _gather_presence(contributions.shares_of(np.unique(groups.who)), groups, len(table))
    cells = found.cells
    value, sums = table.units[cells], contributions.sums[cells]
    alone = found.known == sums if count is None else found.people == count[cells]
    alone &= _find_fully_sampled(table)[cells]
    # Absolute contributions sum up to the value exactly where none is negative. With weights below one a
    # contributor can have more than the value: the value is then the bound.
    at_least = np.where(sums == value, np.minimum(found.known, value), -UNBOUNDED)
    lower = np.maximum(np.where(alone, value, at_least), everyone.lower[cells])
    upper = np.minimum(np.where(alone, value, UNBOUNDED), everyone.upper[cells])
    tighter = np.flatnonzero((lower > everyone.lower[cells]) | (upper < everyone.upper[cells]))

    shared = np.flatnonzero(levels.sensitive[cells] & ~alone)
    mine = _find_members(contributions.who[cells[shared]], found.group[shared], groups)
    inside = Inside(cells[shared], found.known[shared], mine, source.by)
    room = value[shared] - np.maximum(lower[shared], -UNBOUNDED // 2), upper[shared] - value[shared]
    one_other = _find_one_other(contributions, count, inside, found.people[shared])
    common = np.array([levels.lower, levels.upper, levels.sliding])[:, inside.cells]
    own = np.array(source.rule.levels_against(table, inside)) if source.rule is not None else common.copy()
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


def _gather_presence(shares: Shares, groups: _Groups, n_cells: int) -> _Presence:
    """Return what each group of insiders put into each of its cells, and by how many members."""
    key, row = np.unique(shares.who * n_cells + shares.cells, return_inverse=True)
    who, cells = key // n_cells, key % n_cells
    amount = np.zeros(key.size, dtype=np.int64)
    np.add.at(amount, row, shares.units)
    order = np.argsort(groups.who, kind="stable")
    sorted_who = groups.who[order]
    first, last = np.searchsorted(sorted_who, who, "left"), np.searchsorted(sorted_who, who, "right")
    times = last - first
    share = np.repeat(np.arange(key.size), times)
    group = groups.group[order[list_ranges(first, times)]]
    both, at, people = np.unique(group * n_cells + cells[share], return_inverse=True, return_counts=True)
    known = np.zeros(both.size, dtype=np.int64)
    np.add.at(known, at, np.abs(amount[share]))
    return _Presence(both // n_cells, both % n_cells, known, people)


def _find_members(who: Cells, group: Cells, groups: _Groups) -> Mask:
    """Return a mask of the contributors ``who[r, j]`` who are members of the insiders' ``group[r]``."""
    size = int(max(who.max(initial=0), groups.who.max(initial=0))) + 1
    pairs = groups.group * size + groups.who
    return np.isin(group[:, None] * size + who, pairs) & (who >= 0)


def _find_one_other(contributions: Contributions, count: Units | None, inside: Inside, people: Cells) -> Mask:
    """Return a mask of the cells where all contributors but one belong to the insider, who can subtract."""
    if count is not None:
        return np.asarray(count[inside.cells] - people == 1)
    largest_other = np.where(inside.mine, 0, contributions.values[inside.cells]).max(axis=1, initial=0)
    return np.asarray(inside.known + largest_other == contributions.sums[inside.cells])
