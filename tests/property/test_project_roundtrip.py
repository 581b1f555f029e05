"""A project that was written states the same problem, whatever table, levels, bounds and attackers are."""

from __future__ import annotations

import tempfile
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.core.exact import UNBOUNDED
from tacita.formats.toml import format_toml
from tacita.specification.project import load_project
from tacita.specification.project_write import write_project

NAMES = ("region", "status", "value", "count", "marital status", "ä.b", "hierarchies")


@st.composite
def problems(draw: st.DrawFn) -> tc.Problem:
    """Tables of one to three dimensions, flat or not, with empty and negative cells and structural zeros."""
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    depths = [draw(st.integers(1, 2)) if n > 2 else 1 for n in shape]
    seed = draw(st.integers(0, 10**6))
    family = draw(st.sampled_from(["fs", "lognormal", "uniform"]))
    made = tc.generate.table(
        shape, family, zeros=draw(st.sampled_from([0, 0.3])), hierarchy=depths, seed=seed
    )
    names = draw(st.permutations(NAMES))[: len(shape)]
    dimensions = tuple(
        replace(dimension, name=name)
        for dimension, name in zip(made.structure.dimensions, names, strict=True)
    )
    random = np.random.default_rng(seed)
    negative = not made.integer and draw(st.booleans())
    structural = made.units == 0 if draw(st.booleans()) else None
    columns = {"weight": random.random(len(made)), "lots, of": np.arange(len(made))}
    table = replace(
        made,
        structure=replace(made.structure, dimensions=dimensions),
        units=-made.units if negative else made.units,
        count=np.abs(made.units) if draw(st.booleans()) else None,
        structural=structural,
        columns=columns if draw(st.booleans()) else {},
    )
    n, unit = len(table), table.unit
    possible = np.ones(n, dtype=bool) if structural is None else ~structural
    sensitive = (random.random(n) < 0.3) & possible
    levels = [unit * random.integers(0, 9, n) for _ in range(3)]
    kept = tc.Levels.of(sensitive, upper=levels[1], lower=levels[0], sliding=levels[2], least=unit)
    lower = table.units - kept.lower - kept.sliding - unit * random.integers(0, 9, n)
    upper = table.units + kept.upper + kept.sliding + unit * random.integers(0, 9, n)
    free = random.random(n) < 0.5
    bounds = draw(st.sampled_from(["both", "none", "some"]))
    if bounds != "both":
        none = free if bounds == "some" else np.ones(n, dtype=bool)
        lower, upper = np.where(none, -UNBOUNDED, lower), np.where(none, UNBOUNDED, upper)
    stays = ~kept.sensitive & (random.random(n) < 0.2)
    goes = ~stays & (random.random(n) < 0.2)
    return tc.Problem(
        table,
        kept,
        attackers=[tc.Outsider(lower, upper), *draw(insiders(table, kept))],
        cost=draw(st.sampled_from(["value", "unit", "log"])),
        must_publish=np.flatnonzero(stays).tolist(),
        must_hide=np.flatnonzero(goes).tolist(),
        already_published=[
            published(table, kept, k, np.random.default_rng(seed + k))
            for k in range(draw(st.sampled_from([0, 0, 1, 2])))
        ],
    )


def published(table: tc.Table, levels: tc.Levels, number: int, random: np.random.Generator) -> tc.Release:
    """A release with windows that leave the levels room: some one-sided, some without ends, some exact."""
    n, room = len(table), levels.lower + levels.upper + levels.sliding
    low = table.units - room - table.unit * random.integers(0, 9, n)
    high = table.units + room + table.unit * random.integers(0, 9, n)
    low, high = (
        np.where(random.random(n) < 0.3, end, own) for end, own in ((-UNBOUNDED, low), (UNBOUNDED, high))
    )
    silent = (low == -UNBOUNDED) & (high == UNBOUNDED)
    marks = np.where(silent, tc.Mark.SUPPRESSED, tc.Mark.INTERVAL).astype(np.uint8)
    changed = levels.sensitive | (random.random(n) < 0.5)
    about = {"file": f"release {number}.csv"} if number else {}
    return tc.Release.mixed(table, changed, marks, low, high, made_by=about)


@st.composite
def insiders(draw: st.DrawFn, table: tc.Table, levels: tc.Levels) -> list[tc.Insider]:
    """Attackers who know something of one cell, perhaps with levels of their own for a sensitive one."""
    made = []
    for number in range(draw(st.integers(0, 2))):
        cell = draw(st.sampled_from([c for c in range(len(table)) if not levels.sensitive[c]] or [None]))
        if cell is None:
            continue
        own = {}
        targets = levels.cells[: draw(st.integers(0, 1))]
        if targets.size:
            some = np.minimum(levels.upper[targets], table.unit)
            own = {
                "targets": targets,
                "target_lower": 0 * some,
                "target_upper": some,
                "target_sliding": 0 * some,
            }
            own["also_others"] = draw(st.booleans())
        at = table.units[[cell]]
        made.append(tc.Insider(f"attacker, {number}", np.array([cell]), at, at, **own))
    return made


@given(problem=problems())
def test_projects(problem: tc.Problem) -> None:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "kept"
        written = write_project(
            problem, target, method="rounding", options={"base": 7, "power": 2.5, "weight": "cost"}, seed=5
        )
        assert sorted(target.iterdir()) == sorted(written.paths)
        project = load_project(target / "project.toml")
        again = project.problem()
    assert project.protect.options == {"base": 7, "power": 2.5, "weight": "cost"}
    assert (project.protect.method, project.protect.seed) == ("rounding", 5)
    for name in ("units", "decimals", "integer"):
        assert np.array_equal(getattr(again.table, name), getattr(problem.table, name)), name
    assert again.table.structure.same_cells(problem.table.structure)
    assert (again.table.count is None) == (problem.table.count is None)
    for name, column in problem.table.columns.items():
        assert np.array_equal(again.table.columns[name], column), name
    for name in ("sensitive", "lower", "upper", "sliding"):
        assert np.array_equal(getattr(again.levels, name), getattr(problem.levels, name)), name
    for name in ("lower", "upper"):
        assert np.array_equal(getattr(again.outsider, name), getattr(problem.outsider, name)), name
        before, after = problem.outsider_beforehand, again.outsider_beforehand
        if len(again.already_published) == len(problem.already_published):
            assert np.array_equal(getattr(after, name), getattr(before, name)), name
        else:
            # A column of the release would be called like a dimension.
            assert not again.already_published
            assert "value" in [dimension.name for dimension in problem.table.structure.dimensions]
    for name in ("cost", "must_publish", "must_hide"):
        assert np.array_equal(getattr(again, name), getattr(problem, name)), name
    for one, other in zip(problem.requirements(), again.requirements(), strict=True):
        for name in ("attacker", "cells", "lower", "upper", "sliding"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
        every = np.arange(len(problem.table))
        assert np.array_equal(problem.bounds_at(one.insider, every), again.bounds_at(other.insider, every))


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS = st.one_of(TEXT, st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.booleans())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=9) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=9,
)


@given(st.dictionaries(TEXT.filter(lambda name: "." not in name), st.dictionaries(TEXT, VALUES, min_size=1)))
def test_toml(content: dict) -> None:
    assert tomllib.loads(format_toml(content)) == content
