"""Attackers from microdata: who contributes to a cell knows more about it than an outsider.

A contributor who put ``s >= 0`` into a cell of value ``a`` knows ``y >= s``; one who is alone in it knows
``y = a``. This replaces special treatment of "singletons": a sole contributor is an attacker like any other.
In a sample, alone means alone in the population: where the weights add up to more than the contributors that
were sampled, the others are unknown to him too. Each attacker carries

* bounds for all cells he is in (where contributions can be negative his own one is no bound, unless he is
  alone);
* levels of his own for the sensitive cells he is in, from the rule (:meth:`Rule.against`) or the problem's,
  LPL capped at ``a - s``. A cell that he shares with one single other contributor keeps at least one step of
  uncertainty.

Everywhere else he faces the problem's levels. Attackers who can deduce nothing that another one could not,
and who need no higher level, are dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacita.attackers import Insider, Outsider
from tacita.attackers.dominated import without_dominated
from tacita.errors import InputError, did_you_mean
from tacita.exact import UNBOUNDED, Cells, Mask, Units
from tacita.levels import Levels
from tacita.rules import Inside, Rule
from tacita.tables.contributions import Contributions, Shares
from tacita.tables.table import Table

KINDS = {"respondents": "respondent", "holdings": "holding"}


@dataclass(frozen=True, init=False)
class Coalition:
    """Respondents, by name, who pool what they know: ``Coalition("a", "b")``."""

    members: tuple[str, ...]

    def __init__(self, *members: object) -> None:
        if not members:
            raise InputError("a coalition needs members: name at least one")
        object.__setattr__(self, "members", tuple(dict.fromkeys(map(str, members))))


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


def outsider_among(table: Table, attackers: AttackerLike | Sequence[AttackerLike]) -> Outsider:
    """The one outsider, who is always there: with the usual bounds if none is given."""
    outsiders = [a for a in _listed(attackers) if isinstance(a, Outsider)]
    if len(outsiders) > 1:
        raise InputError("two outsiders are given: join them into one, which has the tighter of their bounds")
    return outsiders[0] if outsiders else Outsider.of(table)


def insiders_among(
    table: Table,
    rule: Rule | None,
    levels: Levels,
    outsider: Outsider,
    attackers: AttackerLike | Sequence[AttackerLike],
) -> tuple[Insider, ...]:
    """All insiders.

    Parameters
    ----------
    attackers
        ``"outsider"`` (always there; give an :class:`Outsider` for other bounds than the usual),
        ``"respondents"`` or ``"holdings"`` (everyone who is alone in some cell or among the largest of a
        sensitive one), :class:`Coalition` s, :class:`Insider` s made by hand (always kept), or a list of
        these.
    """
    listed = _listed(attackers)
    words = [a for a in listed if isinstance(a, str) and a != "outsider"]
    if wrong := [word for word in words if word not in KINDS]:
        known = ", ".join(["outsider", *KINDS])
        raise InputError(f"there are no attackers '{wrong[0]}': use {known}, a coalition or an insider")
    coalitions = [a for a in listed if isinstance(a, Coalition)]
    derived: list[Insider] = []
    for word, by in KINDS.items():
        if word in words or (by == "respondent" and coalitions):
            contributions = _identified(table, by)
            pooled = coalitions if by == "respondent" else []
            groups = _groups(table, contributions, by, levels, word in words, pooled)
            derived += _insiders(table, rule, levels, outsider, contributions, by, groups)
    by_hand = [a for a in listed if isinstance(a, Insider)]
    return (*by_hand, *without_dominated(derived, levels))


def _listed(attackers: AttackerLike | Sequence[AttackerLike]) -> list[AttackerLike]:
    return [attackers] if isinstance(attackers, AttackerLike) else list(attackers)


def _identified(table: Table, by: str) -> Contributions:
    contributions = table.contributions if by == "respondent" else table.holdings
    if contributions is None or ((contributions.who < 0).all() and len(table)):
        raise InputError(
            f"attackers who are {by}s need to be known: the table does not say who stands behind its cells; "
            f"tabulate records with a column of {by}s, or attack as an outsider only"
        )
    return contributions


def _groups(
    table: Table,
    contributions: Contributions,
    by: str,
    levels: Levels,
    everyone: bool,
    coalitions: Sequence[Coalition],
) -> _Groups:
    """Each contributor who is alone in a cell or among the largest of a sensitive one; then coalitions."""
    single = np.zeros(0, dtype=np.int64)
    if everyone:
        count = _count(table, by)
        alone = contributions.values[:, 0] == contributions.sums if count is None else count == 1
        alone = alone & _fully_sampled(table)
        candidates = np.concatenate([contributions.who[alone, 0], contributions.who[levels.cells].ravel()])
        single = np.unique(candidates[candidates >= 0])
    names = [f"{by} {contributions.name(int(who))}" for who in single]
    who, group = [single], [np.arange(single.size)]
    position = {str(name): i for i, name in enumerate(contributions.names)} if coalitions else {}
    for coalition in coalitions:
        members = [_position(name, position) for name in coalition.members]
        who.append(np.array(members, dtype=np.int64))
        group.append(np.full(len(members), len(names)))
        names.append(f"coalition of {', '.join(coalition.members)}")
    return _Groups(names, np.concatenate(who), np.concatenate(group))


def _position(name: str, position: dict[str, int]) -> int:
    if name not in position:
        raise InputError(
            f"coalition member '{name}'{did_you_mean(name, position)} is not among the largest contributors "
            "of any cell: correct the name, or tabulate with more of the largest contributions"
        )
    return position[name]


def _count(table: Table, by: str) -> Units | None:
    return table.count if by == "respondent" else table.holding_count


def _fully_sampled(table: Table) -> Mask:
    """Cells whose population (the sum of the weights) rounds to no more than the respondents sampled."""
    if table.population is None or table.count is None:
        return np.ones(len(table), dtype=bool)
    return np.asarray(np.rint(table.population) <= table.count)


def _insiders(
    table: Table,
    rule: Rule | None,
    levels: Levels,
    outsider: Outsider,
    contributions: Contributions,
    by: str,
    groups: _Groups,
) -> list[Insider]:
    found = _presence(contributions.of(np.unique(groups.who)), groups, len(table))
    cells, count = found.cells, _count(table, by)
    value, sums = table.units[cells], contributions.sums[cells]
    alone = found.known == sums if count is None else found.people == count[cells]
    alone &= _fully_sampled(table)[cells]
    # Absolute contributions sum up to the value exactly where none is negative. A weight below one puts in
    # less than he has: he is taken to know the most that is true.
    at_least = np.where(sums == value, np.minimum(found.known, value), -UNBOUNDED)
    lower = np.maximum(np.where(alone, value, at_least), outsider.lower[cells])
    upper = np.minimum(np.where(alone, value, UNBOUNDED), outsider.upper[cells])
    tighter = np.flatnonzero((lower > outsider.lower[cells]) | (upper < outsider.upper[cells]))

    shared = np.flatnonzero(levels.sensitive[cells] & ~alone)
    mine = _members_at(contributions.who[cells[shared]], found.group[shared], groups)
    inside = Inside(cells[shared], found.known[shared], mine, by)
    room = value[shared] - np.maximum(lower[shared], -UNBOUNDED // 2), upper[shared] - value[shared]
    one_other = _one_other(contributions, count, inside, found.people[shared])
    common = np.array([levels.lower, levels.upper, levels.sliding])[:, inside.cells]
    own = np.array(rule.against(table, inside)) if rule is not None else common.copy()
    own = np.minimum(own, np.array([room[0], room[1], room[0] + room[1]]))
    exposed = one_other & ~own.any(axis=0)
    own[2, exposed] = np.minimum(table.unit, room[0] + room[1])[exposed]
    differing = (own != common).any(axis=0)
    special, own = shared[differing], own[:, differing]

    edges = np.arange(len(groups.names) + 1)
    bound_at = np.searchsorted(found.group[tighter], edges)
    level_at = np.searchsorted(found.group[special], edges)
    result = []
    for g, name in enumerate(groups.names):
        at = tighter[bound_at[g] : bound_at[g + 1]]
        span = slice(level_at[g], level_at[g + 1])
        levels_here = {f"target_{word}": own[r, span] for r, word in enumerate(("lower", "upper", "sliding"))}
        result.append(
            Insider(
                name, cells[at], lower[at], upper[at], cells[special[span]], also_others=True, **levels_here
            )
        )
    return result


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
