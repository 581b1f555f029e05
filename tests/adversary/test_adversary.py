"""The adversary in small: the referee is independent, agrees with itself, sees known breaches, and finds
nothing in a fixed number of cases. `make fuzz` goes on from here.
"""

from __future__ import annotations

import ast
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from attack import ImpossibleError, Region
from judge import Referee, play
from knowledge import Rule, Threat
from optimum import cheaper_pattern, least_intervals, roundings
from truth import ROOT, Axis, Record, World

HERE = Path(__file__).parent
REFEREE = ("truth.py", "attack.py", "knowledge.py", "reader.py", "breaches.py", "optimum.py")
# Kinds of findings that other work still has to close; each goes from this list with that work.
STILL_OPEN = {"slow"}


@pytest.mark.parametrize("file", REFEREE)
def test_the_referee_imports_nothing_of_tacita(file: str) -> None:
    """Equations, rules, attackers and deductions are worked out without the code that they judge."""
    for node in ast.walk(ast.parse((HERE / file).read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            assert name.split(".")[0] != "tacita", f"{file}:{node.lineno} imports {name}"
            assert f"{name}.py" in REFEREE or not (HERE / f"{name}.py").exists(), f"{file} imports {name}"


@pytest.mark.parametrize("shape", [(2, 3), (2, 2, 2)])
def test_listing_and_programs_agree(shape: tuple[int, ...]) -> None:
    """The same extremes from a list of all tables and from linear and integer programs."""
    random, listed = Random(12), 0
    axes = tuple(Axis(f"axis{d}", {ROOT: tuple(str(i) for i in range(n))}) for d, n in enumerate(shape))
    for _ in range(60):
        records = [Record(tuple(map(str, codes)), random.randint(0, 5)) for codes in np.ndindex(shape)]
        world = World(axes, (tuple(range(len(shape))),), tuple(records), 0, True, False, True)
        assert not (world.equations @ world.values).any()
        room = np.array([random.choice([0, 0, 1, 2, 9]) for _ in range(len(world))])
        low, high = np.maximum(world.values - room, 0.0), world.values + room * 1.0
        zero = np.zeros(world.equations.shape[0])
        region = Region(world.equations, zero, zero, low, high, True, 1e5)
        if region.tables is None:
            continue
        listed += 1
        cells = np.arange(len(world))
        by_list = region.extremes(low, high, cells)
        by_program = region._programs.extremes(low, high, cells)
        assert np.allclose(by_list, by_program)
        assert (world.values == region.tables).all(axis=1).any()
    assert listed > 20


def test_knowledge_that_contradicts_itself_is_noticed() -> None:
    rows = np.array([[1, -1, -1]])
    region = Region(rows, np.zeros(1), np.zeros(1), np.array([9.0, 0, 0]), np.array([9.0, 4, 4]), True, 1e5)
    with pytest.raises(ImpossibleError):
        region.extremes(region.low, region.high, np.arange(3))


def test_a_firm_that_dominates_a_cell_without_levels_is_an_attacker() -> None:
    """Cell N/F = 60 + 40 needs 20 either way; four corners are hidden; N/G is 98 + 1 + 1, and whoever has
    98 knows N/F to within 2.
    """
    axes = (Axis("region", {ROOT: ("N", "S", "E")}), Axis("industry", {ROOT: ("F", "G", "M")}))
    put = {
        ("N", "F"): {"a": 60, "b": 40},
        ("N", "G"): {"c": 98, "d": 1, "e": 1},
        ("S", "F"): {"f": 40, "g": 30, "h": 30},
        ("S", "G"): {"i": 40, "k": 30, "l": 30},
    }
    records = [Record(codes, units, who, who) for codes, firms in put.items() for who, units in firms.items()]
    for codes in (("N", "M"), ("S", "M"), ("E", "F"), ("E", "G"), ("E", "M")):
        records += [Record(codes, 25, f"m{i}", f"m{i}") for i in range(4)]
    world = World(axes, ((0, 1),), tuple(records), 0, False, True, False)
    rule = Rule("marked", cells=(("N", "F"),), amounts=(20, 20, 0))
    threat = Threat(world, (rule,), np.zeros(len(world)), np.full(len(world), np.inf))
    hidden = np.array([world.cells[i] in put for i in range(len(world))])
    low = np.where(hidden, 0.0, world.values)
    high = np.where(hidden, np.inf, world.values)
    zero = np.zeros(world.equations.shape[0])
    region = Region(world.equations, zero, zero, low, high, False, 1e6)
    target = np.array([world.position["N", "F"]])
    firm = next(a for a in threat.contributors("respondent") if a.name == "respondent c")
    assert region.extremes(firm.low, firm.high, target)[1] == 102
    assert firm.levels[1, target[0]] == 20
    outsider = threat.outsider()
    assert region.extremes(outsider.low, outsider.high, target)[1] == 200


@pytest.mark.parametrize("first", range(0, 24, 4))
def test_fixed_cases(first: int) -> None:
    """No false safe, no false unsafe, no fault in cases that are the same every time."""
    _assert_nothing_found(range(first, first + 4))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100_000, 100_400, 20))
def test_more_fixed_cases(first: int) -> None:
    _assert_nothing_found(range(first, first + 20))


def _assert_nothing_found(seeds: range) -> None:
    found = [finding for seed in seeds for finding in play(seed).findings]
    serious = [str(finding) for finding in found if finding.what not in STILL_OPEN]
    assert not serious, "play again with tests/adversary/judge.py --seed\n" + "\n".join(serious)


def test_all_patterns_are_tried_for_the_cheapest() -> None:
    """Of 4 x 2 patterns the cheapest protected one, whatever is said to be the least."""
    cost = np.array([5.0, 1.0, 2.0, 4.0])
    forced, allowed = np.array([True, False, False, False]), np.ones(4, dtype=bool)

    def last_two(pattern: np.ndarray) -> bool:
        return bool(pattern[2] and pattern[3])

    better = cheaper_pattern(forced, allowed, cost, 12.5, None, last_two)
    assert better is not None
    assert cost[better].sum() < 12.5
    assert cheaper_pattern(forced, allowed, cost, 11.0, None, last_two) is None
    assert cheaper_pattern(forced, allowed, cost, 12.5, 2, last_two) is None


def test_least_intervals_of_a_sum_of_two() -> None:
    """10 = 4 + 6 with the 4 uncertain by 2 either way: 4 in its own cell and 4 in a neighbour."""
    axis = Axis("axis", {ROOT: ("1", "2")})
    world = World((axis,), ((0,),), (Record(("1",), 4), Record(("2",), 6)), 0, True, False, True)
    rule = Rule("marked", cells=(("1",),), amounts=(2, 2, 0))
    threat = Threat(world, (rule,), np.zeros(3), np.full(3, np.inf))
    assert least_intervals(world, [threat.outsider()], np.ones(3), np.ones(3)) == 8


def test_roundings_of_a_row() -> None:
    axis = Axis("axis", {ROOT: ("1", "2")})
    world = World((axis,), ((0,),), (Record(("1",), 4), Record(("2",), 6)), 0, True, False, True)
    assert sorted(map(tuple, roundings(world, 5))) == [(10, 0, 10), (10, 5, 5)]


def test_an_audit_that_calls_everything_safe_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def blind(problem: Any, release: Any) -> Any:
        return SimpleNamespace(worst=np.zeros(problem.sensitive.size, dtype=int), safe=True, verdict="safe")

    monkeypatch.setattr("tacita.audit", blind)
    monkeypatch.setattr(Referee, "_certificate", lambda self, audit, name, where: None)
    found = [finding.what for seed in (1, 2) for finding in play(seed).findings]
    assert found.count("false safe (model)") > 5


def test_an_audit_that_calls_everything_unsafe_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def suspicious(problem: Any, release: Any) -> Any:
        return SimpleNamespace(worst=np.ones(problem.sensitive.size, dtype=int), safe=False, verdict="unsafe")

    monkeypatch.setattr("tacita.audit", suspicious)
    found = [finding.what for seed in (1, 2) for finding in play(seed).findings]
    assert found.count("false unsafe") > 5
