"""Releases to be judged: methods with random options, and releases that no method made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from random import Random
from typing import Any

import numpy as np

import tacita as tc
from draw import Case, table_of
from tacita.core.exact import UNBOUNDED
from tacita.methods.method import method_class
from truth import World

Options = dict[str, Any]


def draw_method(random: Random, case: Case) -> tuple[str, Options]:
    """The name of a method and random options, most of them left as they are."""
    name = random.choice(OFTEN)
    known = {option.name for option in fields(method_class(name))}
    return name, {option: value for option, value in _DRAWS[name](random, case).items() if option in known}


def make(name: str, options: Mapping[str, Any]) -> Any:
    """A method from its name and options."""
    return method_class(name)(**options)


def _some(random: Random, **choices: list[Any]) -> Options:
    """About a third of the options set to one of their choices."""
    return {name: random.choice(values) for name, values in choices.items() if random.random() < 0.35}


def _weights(random: Random) -> list[str]:
    return ["cost", "unit", "inverse"]


def _suppression(random: Random, case: Case) -> Options:
    if random.random() < 0.6:
        return {}
    return _some(
        random,
        margins=[True, False],
        at_most=[4, 6, 9],
        conditional=[5.0, 20.0],
        search=["network", "network-apart"],
    )


def _intervals(random: Random, case: Case) -> Options:
    if random.random() < 0.4:
        return random.choice([{}, {"ends": "exact"}])
    return _some(
        random,
        weight_up=_weights(random),
        weight_down=_weights(random),
        weight_interval=_weights(random),
        minimum_width=[1.0, 3.0],
        at_most=[4, 6, 9],
        margins=[False],
        ends=["exact"],
    )


def _bases(case: Case) -> list[Any]:
    scale = 10.0**-case.world.decimals
    largest = max(3, int(case.threat.levels[:2].sum(axis=0).max(initial=0)))
    return [b * scale for b in (2, 3, 5, 7, 10, largest // 2 + 1, largest, largest + 3)]


def _rounding(random: Random, case: Case) -> Options:
    options = _some(
        random,
        base=_bases(case),
        objective=["mean", "distance"],
        power=[1.0, 2.0, 3.0],
        weight=_weights(random),
        margins=[False],
        multiples=["stay", "exact", "move"],
        strict=[True, False],
        steps=[1, 2],
        relax=["cheapest"],
        at_most=[3, 6, 9],
        protected=[False],
    )
    if options.get("multiples") == "move":
        options.pop("strict", None)
    axis = case.world.axes[0]
    if random.random() < 0.1 and axis.flat and len(axis.leaves) > 2:
        options["subtotals"] = f"{axis.name}={axis.leaves[0]}+{axis.leaves[1]}"
    return options


def _unbiased(random: Random, case: Case) -> Options:
    return _some(
        random, base=_bases(case), additive=[False], partial=[True], strict=[True, False], protected=[False]
    )


def _random_rounding(random: Random, case: Case) -> Options:
    return _some(
        random,
        base=_bases(case),
        below=[0.3, 1.0],
        above=[0.5, 3.0],
        candidates=[1, 8],
        margins=["announced"],
        protected=[False],
        readers=["radius"],
    )


def _perturbation(random: Random, case: Case) -> Options:
    if random.random() < 0.3:
        return {}
    return _some(
        random,
        radius=[2 * b for b in _bases(case)],
        sensitive=["away", "up", "down", "free"],
        weight_up=_weights(random),
        weight_down=_weights(random),
        weight_changed=_weights(random),
        at_most=[4, 8],
        lowest=["lowest"],
        highest=["highest"],
        distance=["exact"],
        readers=["radius"],
    )


def _adjustment(random: Random, case: Case) -> Options:
    if random.random() < 0.3:
        return {}
    options = _some(
        random,
        norm=["l1", "l1", "l2", "linf", "huber"],
        weight=["unit", "inverse", "root", "cost"],
        directions=["optimal", "greedy", "alternating", "random", "up", "down", "block"],
        capacity=["20%", "60%", 5.0],
        relaxed=["50%", 2.0],
        totals=["fixed"],
        safe=["levels", "zero"],
        keep=["mean", "mean, variance=5"],
        radius=_bases(case),
        shortfall=[True],
        protected=[False],
        distance=["exact"],
        readers=["radius"],
    )
    return options


def _mixture(random: Random, case: Case) -> Options:
    base = random.choice(_bases(case))
    parts = random.choice(
        [
            "rest: suppression or intervals",
            "totals: rounding(base={b:g}), rest: suppression",
            "totals: rounding(base={b:g}), rest: intervals",
            "totals: rounding(base={b:g}), rest: suppression or intervals",
            "totals: perturbation(radius={b:g}), rest: intervals",
            "sensitive: intervals, rest: rounding(base={b:g})",
            "inner: intervals, rest: suppression",
        ]
    )
    return {"parts": parts.format(b=base)}


_DRAWS: dict[str, Callable[[Random, Case], Options]] = {
    "suppression": _suppression,
    "intervals": _intervals,
    "rounding": _rounding,
    "unbiased-rounding": _unbiased,
    "random-rounding": _random_rounding,
    "perturbation": _perturbation,
    "adjustment": _adjustment,
    "mixture": _mixture,
}

OFTEN = ["rounding", "unbiased-rounding", "adjustment", *_DRAWS]


def draw_release(random: Random, case: Case) -> tuple[str, Any]:
    """A release that no method made: boxes of cells suppressed, told as intervals, or shown with a radius."""
    table, n = case.table, len(case.table)
    changed = np.zeros(n, dtype=bool)
    for _ in range(random.choice([1, 1, 2])):
        changed |= _box(random, case)
    for _ in range(random.choice([0, 0, 1, 2])):
        changed[random.randrange(n)] = True
    if random.random() < 0.7:
        changed |= case.problem.levels.sensitive
    kind = random.choice(["suppressed", "suppressed", "intervals", "near", "mixed"])
    if kind == "suppressed":
        return kind, tc.Release.suppress(table, changed)
    unit, size = table.unit, max(2, int(case.threat.levels.max(initial=0)) // table.unit)
    marks = np.zeros(n, dtype=np.uint8)
    low, high, value = table.units.copy(), table.units.copy(), np.zeros(n, dtype=np.int64)
    words = {
        "intervals": [tc.Mark.INTERVAL],
        "near": [tc.Mark.ROUNDED, tc.Mark.ADJUSTED],
        "mixed": list(tc.Mark),
    }
    for cell in np.flatnonzero(changed):
        mark = random.choice([m for m in words[kind] if m != tc.Mark.PUBLISHED])
        marks[cell] = mark
        if mark == tc.Mark.SUPPRESSED:
            low[cell], high[cell] = -UNBOUNDED, UNBOUNDED
        elif mark == tc.Mark.INTERVAL:
            low[cell] -= unit * random.randint(0, 2 * size)
            high[cell] += unit * random.randint(0, 2 * size)
        else:
            radius = unit * random.randint(0, 2 * size)
            value[cell] = table.units[cell] + unit * random.randint(-radius // unit, radius // unit)
            low[cell], high[cell] = value[cell] - radius, value[cell] + radius
    # A window of one value is a published one.
    return kind, tc.Release.mixed(table, changed & (low < high), marks, low, high, value=value)


def nearly_the_same(random: Random, case: Case, release: Any) -> Any:
    """A release that says a little more than another one: cells published, intervals and radii narrowed."""
    table = case.table.with_decimals(release.decimals)
    unit, truth = table.unit, table.units
    marks, low, high = release.marks.copy(), release.low.copy(), release.high.copy()
    value, shown = release.value.copy(), release.shown.copy()
    changed = np.flatnonzero(release.changed).tolist()
    for cell in random.sample(changed, min(len(changed), random.choice([1, 1, 1, 2, 3]))):
        finite = abs(low[cell]) < UNBOUNDED and abs(high[cell]) < UNBOUNDED
        if marks[cell] == tc.Mark.INTERVAL and finite and random.random() < 0.8:
            low[cell] = random.randrange(low[cell], truth[cell] + 1, unit)
            high[cell] = random.randrange(truth[cell], high[cell] + 1, unit)
        elif marks[cell] in (tc.Mark.ROUNDED, tc.Mark.ADJUSTED) and random.random() < 0.9:
            least, most = abs(int(value[cell] - truth[cell])), int(high[cell] - value[cell])
            radius = max(least, most - unit * random.randint(1, 3))
            low[cell], high[cell] = value[cell] - radius, value[cell] + radius
        else:
            low[cell] = high[cell] = truth[cell]
        if low[cell] == high[cell]:
            marks[cell], shown[cell], value[cell] = tc.Mark.PUBLISHED, True, truth[cell]
    return replace(
        release, marks=marks, low=low, high=high, value=value, shown=shown, made_by={}, outcome=None
    )


def coarser_release(random: Random, case: Case) -> tuple[Any, Any, Any]:
    """A release of the table without one dimension, by hand, and what it says of each cell of the case."""
    world = case.world
    gone = random.randrange(len(world.axes))
    coarse = replace(world, faces=(tuple(d for d in range(len(world.axes)) if d != gone),))
    table = table_of(coarse)
    at = positions_of_face(coarse, table, gone)
    changed = np.array([random.random() < 0.5 for _ in range(len(table))])
    radius = table.unit * random.randint(1, 1 + max(2, int(case.threat.levels.max(initial=0)) // table.unit))
    if random.random() < 0.5:
        release = tc.Release.suppress(table, changed)
    else:
        shift = np.array([random.randint(-radius // table.unit, radius // table.unit) for _ in changed])
        value = table.units + np.where(changed, shift * table.unit, 0)
        release = tc.Release.rounded(table, value, np.where(changed, radius, 0))
    low, high = np.full(len(world), -np.inf), np.full(len(world), np.inf)
    for cell, codes in enumerate(coarse.cells):
        mine, theirs = world.position[codes], at[cell]
        if abs(int(release.low[theirs])) < UNBOUNDED:
            low[mine], high[mine] = release.low[theirs], release.high[theirs]
    return release, low, high


def positions_of_face(world: World, table: Any, gone: int) -> Any:
    """Where a table that lacks one dimension has each cell."""
    names = [axis.name for axis in world.axes]
    return [
        table.find(
            **{name: code for d, (name, code) in enumerate(zip(names, codes, strict=True)) if d != gone}
        )
        for codes in world.cells
    ]


def _box(random: Random, case: Case) -> Any:
    """Two codes along each axis, totals included, and all cells at their crossings."""
    pairs = [random.sample(axis.codes, 2) for axis in case.world.axes]
    inside = np.zeros(len(case.table), dtype=bool)
    for cell, codes in enumerate(case.world.cells):
        if all(code in pair for code, pair in zip(codes, pairs, strict=True)):
            inside[case.at[cell]] = True
    return inside
