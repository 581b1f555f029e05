"""Cuts and bridges hold for what they must hold for.

Tables are small enough to list every protected pattern, by attackers' programs written out from the
definition. A cut must be kept by each of them, whatever prices it was made from, and broken by the point it
was made for; a bridge must be kept by each pattern that needs all of its cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, cached_property
from itertools import product
from random import Random

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from tacita import Levels, Outsider, Problem, Table
from tacita.core.errors import InfeasibleError, StoppedError
from tacita.core.run import Run
from tacita.engine.attack import separation
from tacita.engine.attack.attacks import Attacks, BlockedRequirement, find_support
from tacita.engine.attack.cuts import Bridge, Cutter, drop_known_rows
from tacita.engine.attack.flows import FlowAttacks
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.requirements import ALWAYS, DOWN, OUTSIDER, SLIDING, UP, Requirements, find_room
from tacita.engine.attack.support import Blocking
from tacita.engine.construction.near_attacks import NearAttacks
from tacita.engine.construction.neighbourhood import Neighbourhoods
from tacita.engine.model import NO_SWITCH, Affine, Model
from tacita.methods.suppression.suppression import Suppression
from tacita.solvers.network import Network
from tacita.solvers.row_pool import CutRow
from tacita.testing import hard_problem

FEWEST, MOST = 4, 8
"""Cells that may be hidden or not: so few that all patterns can be listed."""
KINDS = ("flat", "cube", "tree", "two trees")
POINTS = 12
SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))]
"""Seeds whose patterns are all listed; most take seconds each."""


def furthest(model: Model, x: np.ndarray, attacker: int, cell: int, way: int) -> float:
    """``max way z_p : M z = 0`` inside the windows of ``x`` and what the attacker knows."""
    highest, lowest = model.find_attacker_windows(x, *find_room(model.problem, attacker))
    objective = np.zeros(len(model.problem.table))
    objective[cell] = -way
    matrix = model.problem.table.equations.matrix.astype(float)
    bounds = np.column_stack([-lowest, highest])
    answer = linprog(objective, A_eq=matrix, b_eq=np.zeros(matrix.shape[0]), bounds=bounds)
    return -float(answer.fun) if answer.status == 0 else np.inf


def meets(model: Model, x: np.ndarray, k: int) -> bool:
    """Whether requirement ``k`` holds in full, its switch apart."""
    requirements = model.requirements
    sign, level = int(requirements.sign[k]), float(requirements.level[k])
    ways = (UP, DOWN) if sign == SLIDING else (sign,)
    each = [furthest(model, x, int(requirements.attacker[k]), int(requirements.cell[k]), way) for way in ways]
    return sum(each) >= level - 1e-6 * level


def counts(model: Model, x: np.ndarray, k: int) -> bool:
    switch = int(model.requirements.switch[k])
    return switch == ALWAYS or x[switch] > 0.5


@cache
def patterns_of(seed: int, conditional: bool) -> Patterns:
    return Patterns(some_model(seed, conditional))


class Patterns:
    """Every protected pattern of a suppression model, found with few programs: what hides more protects
    more.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        free = np.flatnonzero(model.upper > model.lower)
        every = np.tile(model.lower, (2**free.size, 1))
        every[:, free] = list(product([0.0, 1.0], repeat=free.size))
        holds = np.ones(len(every), dtype=bool)
        for k in range(len(model.requirements)):
            asked = np.array([counts(model, x, k) for x in every])
            holds &= self._meeting(every, k) | ~asked
        self.protected = every[holds]

    def _meeting(self, every: np.ndarray, k: int) -> np.ndarray:
        met, known = np.zeros(len(every), dtype=bool), np.zeros(len(every), dtype=bool)
        for j in np.random.default_rng(k).permutation(len(every)):
            if not known[j]:
                holds = meets(self.model, every[j], k)
                alike = (every >= every[j] if holds else every <= every[j]).all(axis=1)
                met[alike], known[alike] = holds, True
        return met

    @cached_property
    def needed(self) -> np.ndarray:
        """Protected patterns of which no cell can be published."""
        known = {x.tobytes() for x in self.protected}
        return np.array([x for x in self.protected if not any(y.tobytes() in known for y in self._less(x))])

    def _less(self, x: np.ndarray) -> Iterator[np.ndarray]:
        for cell in np.flatnonzero(x > self.model.lower):
            less = x.copy()
            less[cell] = 0.0
            yield less


def some_model(seed: int, conditional: bool) -> Model:
    """A suppression model with few free cells, which protect when all of them are hidden."""
    random = Random(2 * seed + conditional)
    while True:
        problem = hard_problem(random, KINDS[seed % len(KINDS)])
        free = sum((box(problem.table, cell, random) for cell in problem.levels.cells), start=np.array(False))
        published = np.flatnonzero(~free & ~problem.levels.sensitive & ~problem.must_hide)
        who = [problem.outsider, *problem.insiders]
        problem = Problem(problem.table, problem.levels, who, problem.cost, published, [])
        try:
            model = Suppression(conditional=40.0 if conditional else None).model(problem)
        except InfeasibleError:
            continue
        movable = not PresolvedTable.of(model).find_requirements_outside(model.requirements).size
        if movable and FEWEST <= (model.upper > model.lower).sum() <= MOST:
            listed = range(len(model.requirements))
            if all(meets(model, model.upper, k) for k in listed if model.requirements.switch[k] == ALWAYS):
                return model


def box(table: Table, cell: int, random: Random) -> np.ndarray:
    """Cells at the crossings of the codes of one cell and two others per dimension (or one, if it has more
    than two dimensions).
    """
    inside = np.ones(len(table), dtype=bool)
    dimensions = table.structure.dimensions
    for d, dimension in enumerate(dimensions):
        codes = random.sample(range(len(dimension.codes)), 2 if len(dimensions) < 3 else 1)
        inside &= np.isin(table.structure.codes[:, d], [*codes, table.structure.codes[cell, d]])
    return inside


def some_points(model: Model, random: np.random.Generator) -> Iterator[np.ndarray]:
    """Points that are whole in part: as relaxations have them."""
    for _ in range(POINTS):
        share = np.where(random.random(model.size) < 0.5, random.random(model.size), random.integers(0, 2))
        yield model.lower + share * (model.upper - model.lower)


def blocked_by_programs(presolved: PresolvedTable, model: Model, x: np.ndarray) -> list[BlockedRequirement]:
    reach = presolved.find_windows_at(x)
    attacks = Attacks(
        find_support(presolved, reach), reach, model.requirements, model.requirements.find_required_shares(x)
    )
    return attacks.find_blocked(
        range(len(model.requirements)), Run(), 1.0 if presolved.only_switches else 1e4
    )


def blocked_by_flows(presolved: PresolvedTable, model: Model, x: np.ndarray) -> list[BlockedRequirement]:
    network = Network.of(presolved.matrix)
    always = np.flatnonzero(model.requirements.switch == ALWAYS)
    if network is None or not always.size:
        return []
    return FlowAttacks(presolved, network).find_blocked(
        model.requirements, always, presolved.find_windows_at(x), Run()
    )


def blocked_near(presolved: PresolvedTable, model: Model, x: np.ndarray) -> list[BlockedRequirement]:
    """What few cells near a target give: a cut may not cut the point off, and must still hold."""
    windows, requirements = presolved.find_windows_at(x), model.requirements
    shares = requirements.find_required_shares(x)
    attacks = Attacks(find_support(presolved, windows), windows, requirements, shares)
    near = NearAttacks(Neighbourhoods(presolved))
    at = presolved.position[requirements.cell]
    movable = (at >= 0) & attacks.support.movable[at] & (requirements.sign != SLIDING)
    each = (
        (k, near.attack_at(attacks, k, size, proves))
        for k in np.flatnonzero(movable).tolist()
        for size, proves in ((2, False), (9, True))
    )
    return [
        BlockedRequirement(k, (found.limit,))
        for k, found in each
        if found is not None and found.limit is not None
    ]


def blocked_at_random(
    presolved: PresolvedTable, model: Model, random: np.random.Generator
) -> list[BlockedRequirement]:
    """Any prices at all: an error in them may weaken a cut, never make it wrong."""
    found = []
    for k in range(len(model.requirements)):
        sign, ways = int(model.requirements.sign[k]), []
        for way in (UP, DOWN) if sign == SLIDING else (sign,):
            prices = random.integers(-1, 2, presolved.matrix.shape[0]) * random.choice([1.0, 0.37])
            c = np.asarray(presolved.transposed @ prices)
            c[presolved.position[model.requirements.cell[k]]] += way
            cells, equations = np.flatnonzero(c), np.flatnonzero(prices)
            ways.append(Blocking(way, cells, c[cells], equations, prices[equations]))
        found.append(BlockedRequirement(k, tuple(ways)))
    return found


def assert_keeps(row: CutRow, points: np.ndarray) -> None:
    for y in points:
        assert row.compute_slack(y) >= -1e-7


@pytest.mark.slow
@pytest.mark.parametrize("conditional", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_cuts_hold_for_every_protected_pattern_and_cut_their_point_off(seed: int, conditional: bool) -> None:
    patterns = patterns_of(seed, conditional)
    model, random = patterns.model, np.random.default_rng(seed)
    presolved = PresolvedTable.of(model)
    cutter = Cutter(presolved, model.lower, model.upper)
    for x in some_points(model, random):
        exact = blocked_by_programs(presolved, model, x) + blocked_by_flows(presolved, model, x)
        others = blocked_near(presolved, model, x) + blocked_at_random(presolved, model, random)
        for blocked in exact + others:
            row = cutter.make_cut(model.requirements, blocked, x)
            if row is not None:
                assert row.compute_slack(x) < 0
                assert_keeps(row, patterns.protected)


@pytest.mark.parametrize("seed", range(6))
def test_a_blocked_requirement_gives_a_cut(seed: int) -> None:
    model = patterns_of(seed, False).model
    presolved = PresolvedTable.of(model)
    cutter = Cutter(presolved, model.lower, model.upper)
    for x in some_points(model, np.random.default_rng(seed)):
        for blocked in blocked_by_programs(presolved, model, x) + blocked_by_flows(presolved, model, x):
            assert cutter.make_cut(model.requirements, blocked, x) is not None


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_round_in_a_large_table_ends_with_few_cuts_and_none_only_where_none_fails(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Near attacks on few cells leave requirements undecided, and one cut is enough for a round."""
    monkeypatch.setattr(separation, "FEWEST", 1)
    monkeypatch.setattr(NearAttacks, "sizes", (2, 4))
    patterns = patterns_of(seed, False)
    model, presolved = patterns.model, PresolvedTable.of(patterns.model)
    cutter = Cutter(presolved, model.lower, model.upper)
    rounds = separation.Separation(presolved, model.requirements, cutter, Run())
    rounds.near = NearAttacks(Neighbourhoods(presolved))
    for x in some_points(model, np.random.default_rng(seed)):
        rounds.forget_rows()
        rows = rounds.find_cuts(x)
        assert bool(rows) >= bool(blocked_by_programs(presolved, model, x))
        for row in rows:
            assert row.compute_slack(x) < 0
            assert_keeps(row, patterns.needed if isinstance(row.origin, Bridge) else patterns.protected)


@pytest.mark.slow
def test_nested_cuts_hold_and_stand_beside_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the cells of the first cuts opened, a round finds others that its point violates as well."""
    monkeypatch.setattr(separation, "FEWEST", 1)
    found = {0: 0, 4: 0}
    for seed in range(2):
        patterns = patterns_of(seed, False)
        model, presolved = patterns.model, PresolvedTable.of(patterns.model)
        for nested, x in product(found, some_points(model, np.random.default_rng(seed))):
            monkeypatch.setattr(separation, "NESTED", nested)
            cutter = Cutter(presolved, model.lower, model.upper)
            rounds = separation.Separation(presolved, model.requirements, cutter, Run())
            rounds.near = NearAttacks(Neighbourhoods(presolved))
            rows = [row for row in rounds.find_cuts(x) if not isinstance(row.origin, Bridge)]
            found[nested] += len(rows)
            for row in rows:
                assert row.compute_slack(x) < 0
                assert_keeps(row, patterns.protected)
    assert found[4] > found[0]


def test_a_search_for_cuts_ends_with_the_run_that_it_is_within() -> None:
    patterns = patterns_of(0, False)
    model, presolved, whole = patterns.model, PresolvedTable.of(patterns.model), Run()
    cutter = Cutter(presolved, model.lower, model.upper)
    rounds = separation.Separation(presolved, model.requirements, cutter, whole)
    x = model.lower + 0.1 * (model.upper - model.lower)
    with rounds.within(whole.limited(0.0), lambda: None), pytest.raises(StoppedError):
        rounds.find_cuts(x)
    assert rounds.run is whole
    rows = rounds.find_cuts(x)
    assert rows
    for row in rows:
        assert_keeps(row, patterns.protected)


@pytest.mark.parametrize("seed", range(6))
def test_cuts_made_after_cells_were_settled_hold_for_patterns_that_keep_to_it(seed: int) -> None:
    patterns = patterns_of(seed, bool(seed % 2))
    model, random = patterns.model, np.random.default_rng(seed)
    presolved = PresolvedTable.of(model)
    free = np.flatnonzero(model.upper > model.lower)
    lower, upper = model.lower.copy(), model.upper.copy()
    upper[random.choice(free, 2, replace=False)] = 0.0
    lower[random.choice(free[upper[free] > 0], 1)] = 1.0
    protected = patterns.protected
    kept = protected[((protected >= lower) & (protected <= upper)).all(axis=1)]
    cutter = Cutter(presolved, lower, upper)
    for x in some_points(replace(model, lower=lower, upper=upper), random):
        for blocked in blocked_by_programs(presolved, model, x) + blocked_at_random(presolved, model, random):
            row = cutter.make_cut(model.requirements, blocked, x)
            if row is not None:
                assert_keeps(row, kept)


@pytest.mark.slow
@pytest.mark.parametrize("conditional", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_bridges_hold_for_every_pattern_that_needs_its_cells(seed: int, conditional: bool) -> None:
    patterns = patterns_of(seed, conditional)
    model = patterns.model
    cutter = Cutter(PresolvedTable.of(model), model.lower, model.upper)
    rows = [row for cell in np.eye(model.size) for row in cutter.find_bridges(cell)]
    for row in rows:
        assert_keeps(row, patterns.needed)
    for x in some_points(model, np.random.default_rng(seed)):
        for row in cutter.find_bridges(x):
            assert row.compute_slack(x) < 0


@pytest.mark.parametrize("seed", range(6))
def test_cuts_of_rounding_hold_for_every_choice_that_meets_the_requirement(seed: int) -> None:
    random, model = np.random.default_rng(seed), rounding(seed)
    presolved = PresolvedTable.of(model)
    cutter = Cutter(presolved, model.lower, model.upper)
    choices = random.integers(0, 2, (40, model.size)) * model.upper
    good = {
        k: choices[[meets(model, y, k) for y in choices]]
        for k in random.choice(len(model.requirements), 2, replace=False).tolist()
    }
    for x in some_points(model, random):
        for blocked in blocked_by_programs(presolved, model, x) + blocked_at_random(presolved, model, random):
            row = cutter.make_cut(model.requirements, blocked, x)
            if row is not None:
                assert row.compute_slack(x) < 0
                assert_keeps(row, good.get(blocked.requirement, ()))


def rounding(seed: int) -> Model:
    """Windows ``v - 5 .. v + 5`` with ``v = floor + 5 x``: rounding up gives above what it takes from below,
    so cuts have terms of both signs.
    """
    table = Table.from_array(np.random.default_rng(seed).integers(1, 15, (2, 3)))
    n, floor = len(table), table.units // 5 * 5
    sensitive = np.isin(np.arange(n), [0, 5])
    problem = Problem(
        table, Levels.of(sensitive, upper=6, lower=3), attackers=Outsider.of(table, lower=-np.inf)
    )
    steps = csr_array(np.diag(np.full(n, 5.0)))
    return replace(
        Suppression().model(problem),
        lower=np.zeros(n),
        upper=np.ones(n),
        above=Affine((floor + 5 - table.units).astype(float), steps),
        below=Affine((table.units - floor + 5).astype(float), -steps),
        switch=np.full(n, NO_SWITCH),
    )


def two_cells() -> tuple[Model, PresolvedTable]:
    """``y_1 + y_2 = y_T``, 10 + 10 = 20, with a requirement of 4 upwards on the first, which is hidden."""
    table = Table.from_array(np.array([10, 10]))
    sensitive = np.zeros(3, dtype=bool)
    first = int(np.flatnonzero(~table.structure.is_total)[0])
    sensitive[first] = True
    problem = Problem(table, Levels.of(sensitive, upper=4, lower=0), attackers=Outsider.of(table))
    model = Suppression().model(problem)
    return model, PresolvedTable.of(model)


def test_a_cell_alone_needs_one_of_the_others() -> None:
    """The cut of a cell hidden alone is ``x_2 + x_T >= 1``, strengthened: each of the two suffices."""
    model, presolved = two_cells()
    cutter = Cutter(presolved, model.lower, model.upper)
    (blocked,) = blocked_by_programs(presolved, model, model.lower)
    row = cutter.make_cut(model.requirements, blocked, model.lower)
    assert row is not None
    others = np.flatnonzero(model.lower == 0).tolist()
    assert sorted(row.index.tolist()) == others
    assert row.value / row.rhs == pytest.approx([1.0, 1.0])


def test_what_a_point_keeps_is_no_cut() -> None:
    model, presolved = two_cells()
    cutter = Cutter(presolved, model.lower, model.upper)
    (blocked,) = blocked_by_programs(presolved, model, model.lower)
    assert cutter.make_cut(model.requirements, blocked, np.ones(3)) is None


def test_a_row_is_new_once() -> None:
    row, same = (CutRow(np.array([0, 2]), np.array([0.5, 1.0]), 1.0) for _ in range(2))
    other = CutRow(np.array([0, 2]), np.array([0.5, 1.0]), 0.75)
    known: set[int] = set()
    assert drop_known_rows([row, same, other], known) == [row, other]
    assert drop_known_rows([same], known) == []


def test_windows_that_are_always_open_go_to_the_right() -> None:
    """``y_1 + y_2 = y_T``: the second may move by 3 anyway, so the total must bring the missing 1 of 4."""
    model, _ = two_cells()
    second = int(np.flatnonzero((model.lower == 0) & ~model.problem.table.structure.is_total)[0])
    base = np.zeros(3)
    base[second] = 3.0
    model = replace(
        model,
        above=Affine(base, csr_array((3, 3))),
        below=Affine(base, csr_array((3, 3))),
        upper=np.where(np.arange(3) == second, 0.0, 1.0),
    )
    presolved = PresolvedTable.of(model)
    cutter = Cutter(presolved, model.lower, model.upper)
    (blocked,) = blocked_by_programs(presolved, model, model.lower)
    row = cutter.make_cut(model.requirements, blocked, model.lower)
    assert row is not None
    assert model.problem.table.structure.is_total[row.index].all()
    assert row.value / row.rhs == pytest.approx([1.0])


def test_what_is_hidden_anyway_helps_a_conditional_level() -> None:
    """``y_1 + y_2 + y_3 = y_T``: the second, if hidden, must move by 10. The first is hidden anyway and gives
    6, the third gives 4: all three protect, and no cut may forbid that.
    """
    table = Table.from_array(np.array([20, 20, 20]))
    inner = np.flatnonzero(~table.structure.is_total)
    reach = np.full(len(table), 20)
    reach[inner[[0, 2]]] = 6, 4
    outsider = Outsider(table.units - reach, table.units + reach)
    levels = Levels.of(np.arange(len(table)) == inner[0], upper=1, lower=0)
    model = Suppression().model(Problem(table, levels, attackers=outsider))
    sides = np.array([UP], dtype=np.int8)
    requirements = Requirements(np.array([OUTSIDER]), inner[1:2], sides, np.array([10]), inner[1:2])
    model = replace(model, requirements=requirements)
    presolved = PresolvedTable.of(model)
    protected, failing = model.lower.copy(), model.lower.copy()
    protected[inner], failing[inner[:2]] = 1.0, 1.0
    assert meets(model, protected, 0)
    assert not meets(model, failing, 0)
    (blocked,) = blocked_by_programs(presolved, model, failing)
    row = Cutter(presolved, model.lower, model.upper).make_cut(requirements, blocked, failing)
    assert row is not None
    assert_keeps(row, protected[None])
    assert row.compute_slack(failing) < 0
