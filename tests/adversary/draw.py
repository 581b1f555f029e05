"""Random cases for the adversary: a world, the same world as Tacita sees it, and methods with options.

Everything follows from one random number generator, so that a seed is a case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

import tacita as tc
from knowledge import Attacker, Rule, Threat
from tacita.core.exact import UNBOUNDED
from truth import ROOT, Axis, Codes, Integers, Record, World

DEPTH = 16
"""Largest contributions that tabulated tables keep; nobody's cells have more contributors."""

FLAT = {n: {ROOT: tuple(str(i + 1) for i in range(n))} for n in (2, 3, 4, 5)}
SMALL = {ROOT: ("A", "B"), "A": ("a1", "a2")}
LARGE = {ROOT: ("A", "B"), "A": ("a1", "a2"), "B": ("b1", "b2")}
DEEP = {ROOT: ("A", "B"), "A": ("a1", "a2"), "a1": ("x", "y")}
SHAPES: dict[str, list[tuple[dict[str, tuple[str, ...]], ...]]] = {
    "1-D": [(FLAT[3],), (FLAT[4],), (FLAT[5],)],
    "1-D tree": [(SMALL,), (LARGE,), (DEEP,)],
    "2-D": [(FLAT[2], FLAT[2]), (FLAT[2], FLAT[3]), (FLAT[2], FLAT[3]), (FLAT[3], FLAT[3])],
    "tree": [(SMALL, FLAT[2]), (SMALL, FLAT[2]), (LARGE, FLAT[2]), (SMALL, FLAT[3]), (DEEP, FLAT[2])],
    "two trees": [(SMALL, SMALL)],
    "3-D": [(FLAT[2], FLAT[2], FLAT[2]), (FLAT[2], FLAT[2], FLAT[2]), (FLAT[2], FLAT[2], FLAT[3])],
    "linked": [(FLAT[2], FLAT[2], FLAT[2]), (FLAT[2], FLAT[2], FLAT[3])],
}
KINDS = (*["2-D"] * 4, *["1-D"] * 2, "1-D tree", *["tree"] * 3, "two trees", *["3-D"] * 2, *["linked"] * 2)


@dataclass(frozen=True, eq=False)
class Case:
    """A world and its threat, and Tacita's table and problem of it; ``at`` says where Tacita has each
    cell.
    """

    kind: str
    numbers: str
    attack: str
    threat: Threat
    attackers: tuple[Attacker, ...]
    table: Any
    ask: Callable[..., Any]
    problem: Any
    at: Integers
    columns: Mapping[str, Any]

    @property
    def world(self) -> World:
        return self.threat.world

    @cached_property
    def cells(self) -> Integers:
        """For each of Tacita's cells one of ours."""
        back = np.zeros(len(self.table), dtype=np.int64)
        back[self.at] = np.arange(len(self.world))
        return back


def draw_case(random: Random) -> Case:
    """A table of some kind with rules and attackers; raises what Tacita raises if it refuses the question."""
    kind = random.choice(KINDS)
    numbers = random.choice(["counts", "counts", "amounts", "amounts", "amounts", "negative"])
    people = random.random() < (0.2 if numbers == "negative" else 0.45)
    world = _world(random, kind, numbers, people)
    table = table_of(world)
    at = positions_of(world, table)
    if not np.array_equal(table.units[at], world.values):
        raise AssertionError("Tacita's table has other values than the records")
    low, high, said = _everyone(random, world, table, at)
    threat = Threat(world, _rules(random, world, low, high), low, high)
    attack, others, given = _attackers(random, threat, table, at)
    rule = _join([_as_said(rule, world, table) for rule in threat.rules])
    table, columns = _with_columns(random, world, table, at)
    ask = partial(
        tc.Problem, table, rule, [said, *given], cost=_cost(random), **_decisions(random, threat, at)
    )
    return Case(kind, numbers, attack, threat, (threat.outsider(), *others), table, ask, ask(), at, columns)


def _with_columns(random: Random, world: World, table: Any, at: Integers) -> tuple[Any, dict[str, Any]]:
    """The table with columns that bound what may be published of each cell."""
    step = world.step * random.choice([3, 10, 30])
    room = np.array([[step * random.randint(0, 4) for _ in range(len(world))] for _ in range(2)])
    columns = {"lowest": world.values - room[0], "highest": world.values + room[1]}
    if not (world.values < 0).any():
        columns["lowest"] = np.maximum(columns["lowest"], 0)
    theirs = {}
    for name, column in columns.items():
        theirs[name] = np.zeros(len(table))
        theirs[name][at] = column / 10.0**world.decimals
    return replace(table, columns={**table.columns, **theirs}), columns


def _decisions(random: Random, threat: Threat, at: Integers) -> dict[str, Any]:
    """Now and then cells that must be published, or hidden."""
    if random.random() < 0.85:
        return {}
    free = random.sample(np.flatnonzero(~threat.sensitive).tolist(), min(3, int((~threat.sensitive).sum())))
    kept = random.randint(0, len(free))
    return {
        "must_publish": [int(at[cell]) for cell in free[:kept]],
        "must_hide": [int(at[cell]) for cell in free[kept:]],
    }


def _world(random: Random, kind: str, numbers: str, people: bool) -> World:
    axes = tuple(Axis(f"axis{k}", tree) for k, tree in enumerate(random.choice(SHAPES[kind])))
    everything = tuple(range(len(axes)))
    faces: tuple[tuple[int, ...], ...] = (everything,)
    if kind == "linked":
        left_out = random.sample(range(3), random.choice([2, 2, 3]))
        faces = tuple(tuple(d for d in everything if d != gone) for gone in left_out)
    leaves = list(_leaves(axes))
    counts, decimals = numbers == "counts", 0 if numbers == "counts" else random.choice([0, 0, 1, 2])
    if not people:
        largest = random.choice([4, 8, 20] if counts else [20, 99, 400])
        least = -largest if numbers == "negative" else 0
        values = [random.randint(least, largest) if random.random() < 0.85 else 0 for _ in leaves]
        records = [Record(codes, value) for codes, value in zip(leaves, values, strict=True)]
        return World(axes, faces, tuple(records), decimals, counts, False, True)
    return World(
        axes,
        faces,
        tuple(_people(random, leaves, counts, numbers == "negative")),
        decimals,
        counts,
        True,
        False,
    )


def positions_of(world: World, table: Any) -> Integers:
    names = [axis.name for axis in world.axes]
    return np.array([table.find(**dict(zip(names, codes, strict=True))) for codes in world.cells])


def _leaves(axes: Sequence[Axis]) -> list[Codes]:
    found: list[Codes] = [()]
    for axis in axes:
        found = [(*codes, leaf) for codes in found for leaf in axis.leaves]
    return found


def _people(random: Random, leaves: Sequence[Codes], counts: bool, negative: bool) -> list[Record]:
    """Records: people of their own in tables of counts, firms with holdings in tables of amounts."""
    if counts:
        sizes = [random.choice([0, 1, 1, 2, 3, 4]) for _ in leaves]
        where = [codes for codes, size in zip(leaves, sizes, strict=True) for _ in range(size)] or [leaves[0]]
        return [Record(codes, 1, f"p{i}", f"h{random.randrange(4)}") for i, codes in enumerate(where)]
    firms = [f"f{i}" for i in range(random.randint(3, 8))]
    holding = {firm: f"h{random.randrange(random.randint(2, 5))}" for firm in firms}
    records = []
    for codes in leaves:
        for firm in random.sample(firms, random.choice([0, 1, 1, 2, 2, 3, 3])):
            size = random.choice([random.randint(1, 9), random.randint(10, 60), random.randint(50, 200)])
            sign = random.choice([1, 1, -1]) if negative else 1
            records.append(Record(codes, sign * size if random.random() < 0.95 else 0, firm, holding[firm]))
    return records or [Record(leaves[0], 7, firms[0], holding[firms[0]])]


def table_of(world: World) -> Any:
    """The world as Tacita reads it: from microdata, or from a frame of its inner cells; faces are linked."""
    trees = {axis.name: _tree(axis) for axis in world.axes}
    columns: dict[str, Any] = {
        axis.name: [record.codes[d] for record in world.records] for d, axis in enumerate(world.axes)
    }
    if not world.counts or not world.known_people:
        columns["value"] = [record.units / 10**world.decimals for record in world.records]
    if world.known_people:
        columns["who"] = [record.respondent for record in world.records]
        columns["holding"] = [record.holding for record in world.records]
    tables = []
    for face in world.faces:
        names = {world.axes[d].name: trees[world.axes[d].name] for d in face}
        if world.known_people:
            value = None if world.counts else "value"
            people = {"respondent": "who", "holding": "holding", "largest": DEPTH}
            decimals = None if world.counts else world.decimals
            table = tc.tabulate(pa.table(columns), names, value, decimals=decimals, **people)
        else:
            frame = _rolled_up(world, face) if len(face) < len(world.axes) else columns
            table = tc.Table.from_frame(
                pa.table(frame),
                names,
                value="value",
                totals="compute",
                counts=world.counts,
                decimals=world.decimals,
            )
        tables.append(table)
    if len(tables) == 1:
        return tables[0]
    from tacita.core.tables.linked import link

    return link({f"face{k}": table for k, table in enumerate(tables)})


def _rolled_up(world: World, face: Sequence[int]) -> dict[str, list[Any]]:
    sums: dict[Codes, int] = {}
    for record in world.records:
        codes = tuple(record.codes[d] for d in face)
        sums[codes] = sums.get(codes, 0) + record.units
    frame: dict[str, list[Any]] = {
        world.axes[d].name: [codes[k] for codes in sums] for k, d in enumerate(face)
    }
    frame["value"] = [units / 10**world.decimals for units in sums.values()]
    return frame


def _tree(axis: Axis) -> Any:
    def nested(code: str) -> dict[str, Any]:
        return {child: nested(child) for child in axis.children.get(code, ())}

    return tc.Hierarchy.from_dict(nested(ROOT), total=ROOT)


def _everyone(random: Random, world: World, table: Any, at: Integers) -> tuple[Any, Any, Any]:
    """What everyone knows, for the referee and as Tacita is told: usual bounds, or some around the value."""
    value = world.values
    style = random.choice(["usual", "usual", "usual", "near", "share"])
    if style == "share" and (value >= 0).all() and not (value == 0).all():
        size = np.abs(value)
        low, high = value - size // 2, value + size
    elif style == "near" or (value < 0).any():
        if (value < 0).any() and random.random() < 0.5:
            low, high = np.full(len(world), -np.inf), np.full(len(world), np.inf)
        else:
            room = random.randint(3, 12) + int(np.abs(value).max()) // random.choice([2, 8])
            low, high = value - random.randint(room // 2, room), value + room
            low = low if (value < 0).any() else np.maximum(low, 0)
    else:
        return np.zeros(len(world)), np.full(len(world), np.inf), tc.Outsider.of(table)
    lower, upper = np.full(len(table), -np.inf), np.full(len(table), np.inf)
    lower[at], upper[at] = low, high
    scale = 10.0**world.decimals
    said = tc.Outsider.of(table, lower=lower / scale, upper=upper / scale)
    return low.astype(float), high.astype(float), said


def _rules(random: Random, world: World, low: Any, high: Any) -> tuple[Rule, ...]:
    choices = ["marked", "marked"]
    if world.counts:
        choices += ["threshold", "threshold", "frequency"]
    if world.known_people and not world.counts:
        choices += ["frequency", "dominance", "p-percent", "p-percent", "pq"] * 2
    kinds = random.sample(choices, random.choice([1, 1, 1, 2]))
    return tuple(_rule(random, world, kind, low, high) for kind in kinds)


def _rule(random: Random, world: World, kind: str, low: Any, high: Any) -> Rule:
    by = "holding" if world.known_people and not world.counts and random.random() < 0.2 else "respondent"
    protection = random.choice([(10, 10), (20, 20), (15, 30)]) if random.random() < 0.15 else None
    if kind == "threshold":
        return Rule(kind, (random.randint(2, 6),), "respondent", protection)
    if kind == "frequency":
        return Rule(kind, (random.randint(2, 4),), by if not world.counts else "respondent", protection)
    if kind == "dominance":
        return Rule(kind, (random.randint(1, 2), random.choice([60, 75, 85, 92.5])), by, protection)
    if kind == "p-percent":
        return Rule(kind, (random.choice([5, 10, 12.5, 25]), random.choice([1, 1, 2])), by, protection)
    if kind == "pq":
        return Rule(kind, (random.choice([5, 10]), random.choice([20, 50, 80])), by, protection)
    some = tuple(random.sample(world.cells, min(len(world), random.choice([1, 1, 2, 3]))))
    if random.random() < 0.4:
        return Rule("marked", cells=some, protection=random.choice([(20, 20), (10, 30)]))
    # Amounts that do not fit between everyone's bounds are refused; mostly ask for less than that.
    at = [world.position[codes] for codes in some]
    below, above = (world.values - low)[at].min(), (high - world.values)[at].min()
    size = int(np.abs(world.values[at]).max()) // 2 + 2
    lower, upper = (random.randint(0, int(min(size, room))) for room in (below, above))
    sliding = random.choice([0, 0, random.randint(0, int(min(2 * size, below + above)))])
    scale = 10**world.decimals
    return Rule("marked", cells=some, amounts=(lower / scale, upper / scale, sliding / scale))


def _as_said(rule: Rule, world: World, table: Any) -> Any:
    """A rule in Tacita's words."""
    shared = {"by": rule.by, "protection": rule.protection}
    if rule.kind == "threshold":
        return tc.Threshold(*rule.numbers, **shared)
    if rule.kind == "frequency":
        return tc.MinimumFrequency(*rule.numbers, **shared)
    if rule.kind == "dominance":
        return tc.Dominance(*rule.numbers, **shared)
    if rule.kind == "p-percent":
        return tc.PPercent(rule.numbers[0], n=int(rule.numbers[1]), **shared)
    if rule.kind == "pq":
        return tc.PQ(*rule.numbers, **shared)
    order = [[axis.name for axis in world.axes].index(d.name) for d in table.structure.dimensions]
    cells = [tuple(codes[d] for d in order) for codes in rule.cells]
    if rule.amounts is None:
        return tc.Marked(cells, protection=rule.protection)
    lower, upper, sliding = rule.amounts
    return tc.Marked(cells, lower=lower, upper=upper, sliding=sliding)


def _join(rules: Sequence[Any]) -> Any:
    joined = rules[0]
    for rule in rules[1:]:
        joined = joined | rule
    return joined


def _cost(random: Random) -> str:
    return random.choice(["value", "value", "unit", "log"])


def _attackers(
    random: Random, threat: Threat, table: Any, at: Integers
) -> tuple[str, list[Attacker], list[Any]]:
    """Insiders: the kind, the referee's list, and what Tacita is told."""
    if threat.world.known_people and random.random() < 0.8:
        kind = random.choice(["respondents", "respondents", "holdings", "coalition", "contributors"])
        if kind == "contributors":
            return kind, [a for by in threat.shares for a in threat.contributors(by)], []
        if kind == "coalition":
            names = list(threat.shares["respondent"])
            members = random.sample(names, min(len(names), random.randint(2, 3)))
            pooled = ["outsider", tc.Coalition(*members)]
            return kind, [threat.group(members, "respondent", kind)], pooled
        return kind, threat.contributors(kind[:-1]), [kind]
    if random.random() < 0.35:
        return _by_hand(random, threat, table, at)
    return "outsider", [], ["outsider"]


def _by_hand(
    random: Random, threat: Threat, table: Any, at: Integers
) -> tuple[str, list[Attacker], list[Any]]:
    """One or two people who know a few cells better, and attack all that are sensitive."""
    world, levels = threat.world, threat.levels
    ours, theirs = [], []
    for k in range(random.choice([1, 2])):
        cells = np.array(sorted(random.sample(range(len(world)), min(3, len(world)))))
        low, high, needed = threat.low.copy(), threat.high.copy(), levels.copy()
        for cell in cells:
            value, exactly = world.values[cell], random.random() < 0.5
            room = np.array([0, 0] if exactly else [random.randint(0, 5), random.randint(0, 5)])
            if not exactly:
                room = np.maximum(room, levels[:2, cell])
                room[1] = max(room[1], levels[2, cell] - room[0])
            low[cell], high[cell] = max(low[cell], value - room[0]), min(high[cell], value + room[1])
            if low[cell] == high[cell]:
                needed[:, cell] = 0
        name = f"insider {k + 1}"
        ours.append(Attacker(name, "by hand", low, high, needed))
        own = np.unique(at[cells], return_index=True)
        cells = cells[own[1]]
        bounds = [in_units(b[cells]) for b in (low, high)]
        theirs.append(tc.Insider(name, at[cells], *bounds))
    return "by hand", ours, ["outsider", *theirs]


def in_units(bounds: Any) -> Integers:
    """Bounds of the referee as Tacita writes them, infinity included."""
    finite = np.isfinite(bounds)
    return np.where(finite, np.where(finite, bounds, 0), np.sign(bounds) * UNBOUNDED).astype(np.int64)
