"""Flows against the attackers' linear programs, written out from the definition and solved by another hand
(scipy): how far cells move, the dual values that prove a limit, patterns that are built and cleaned.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from tacita import generate
from tacita.core.exact import Floats, Mask
from tacita.engine.attack.flows import Flows
from tacita.engine.attack.requirements import ALWAYS, OUTSIDER, Requirements
from tacita.solvers.network import Network

SHAPES = (((4,), None), ((6,), (2,)), ((2, 3), None), ((4, 3), None), ((5, 2), (2, 1)), ((2, 6), (1, 3)))
SEEDS = st.integers(0, 2**32 - 1)


class Case:
    """A random table, what one attacker believes possible, and what is asked."""

    def __init__(self, seed: int) -> None:
        self.random = random = np.random.default_rng(seed)
        shape, hierarchy = SHAPES[random.integers(len(SHAPES))]
        table = generate.table(shape, "fs", hierarchy=hierarchy, zeros=random.choice([0.0, 0.3]), seed=seed)
        self.matrix = table.equations.matrix.toarray()
        self.n = n = self.matrix.shape[1]
        self.up = np.where(random.random(n) < 0.2, np.inf, random.integers(0, 8, n))
        self.down = np.where(random.random(n) < 0.1, np.inf, random.integers(0, 8, n))
        size = int(random.integers(1, 7))
        self.requirements = Requirements(
            np.full(size, OUTSIDER),
            random.integers(0, n, size),
            random.integers(-1, 2, size).astype(np.int8),
            random.integers(1, 10, size),
            np.full(size, ALWAYS),
        )
        network = Network.of(table.equations.matrix)
        assert network is not None
        self.flows = Flows(network, self.up, self.down, self.requirements)
        self.hidden = random.random(n) < random.choice([0.2, 0.5, 0.8])
        self.hidden[self.requirements.cell] = True

    def furthest(self, cell: int, sign: int, above: Floats, below: Floats) -> float:
        """``max sign z_p : M z = 0, -below <= z <= above``."""
        objective = np.zeros(self.n)
        objective[cell] = -sign
        bounds = np.column_stack([-below, above])
        solved = linprog(objective, A_eq=self.matrix, b_eq=np.zeros(self.matrix.shape[0]), bounds=bounds)
        if solved.status == 3:
            return float("inf")
        assert solved.status == 0
        return float(-solved.fun)

    def ways(self, requirement: int) -> list[int]:
        sign = int(self.requirements.sign[requirement])
        return [sign] if sign else [1, -1]

    def missed(self, hidden: Mask) -> list[int]:
        """Requirements that fail by definition when some cells are hidden."""
        above, below = np.where(hidden, self.up, 0.0), np.where(hidden, self.down, 0.0)
        return [
            d
            for d in range(len(self.requirements))
            if sum(self.furthest(self.requirements.cell[d], way, above, below) for way in self.ways(d))
            < self.requirements.level[d] - 1e-6
        ]


@given(SEEDS)
def test_unprotected_requirements_are_those_whose_linear_programs_fall_short(seed: int) -> None:
    case = Case(seed)
    case.hidden[case.random.integers(case.n)] = False
    assert case.flows.find_unprotected(case.hidden).tolist() == case.missed(case.hidden)


@given(SEEDS)
def test_blocked_requirements_come_with_prices_that_prove_what_was_reached(seed: int) -> None:
    case = Case(seed)
    random, n, level = case.random, case.n, case.requirements.level
    share = np.where(random.random(n) < 0.3, 1.0, random.random(n) * (random.random(n) < 0.7))
    with_windows = random.random() < 0.5
    fixed_up, fixed_down = (
        np.where(random.random(n) < 0.5, random.random(n) * 4.0, 0.0) * with_windows for _ in range(2)
    )
    given_windows = (fixed_up, fixed_down) if with_windows else ()
    blocked, looked = case.flows.find_blocked(share, *given_windows)
    assert looked == len(case.requirements)
    reached = {}
    for requirement in range(len(case.requirements)):
        most = float(level[requirement])
        above = np.minimum(fixed_up, most) + share * np.minimum(case.up, most)
        below = np.minimum(fixed_down, most) + share * np.minimum(case.down, most)
        each = [
            case.furthest(case.requirements.cell[requirement], way, above, below)
            for way in case.ways(requirement)
        ]
        if sum(each) < most * (1.0 - 1e-6):
            reached[requirement] = sum(each)
        for reason in (b for b in blocked if b.requirement == requirement):
            limit = 0.0
            for way, price in reason.duals:
                combination = -case.matrix.T @ price
                combination[case.requirements.cell[requirement]] += way
                assert combination[case.requirements.cell[requirement]] == (0.0 if price.any() else way)
                limit += np.maximum(combination, 0.0) @ above + np.maximum(-combination, 0.0) @ below
            assert [way for way, _ in reason.duals] == case.ways(requirement)
            assert np.isclose(limit, sum(each), rtol=1e-6, atol=1e-6)
            assert np.isclose(reason.reached, sum(each), rtol=1e-6, atol=1e-6)
    assert sorted({b.requirement for b in blocked}) == sorted(reached)


@given(SEEDS)
def test_two_entries_of_a_requirement_are_two_different_cuts(seed: int) -> None:
    case = Case(seed)
    blocked, _ = case.flows.find_blocked(case.hidden.astype(np.float64))
    for one, other in pairwise(blocked):
        if one.requirement == other.requirement:
            pairs = zip(one.duals, other.duals, strict=True)
            assert any((case.matrix.T @ (p - q)).any() for (_, p), (_, q) in pairs)


@given(SEEDS)
def test_a_built_pattern_is_protected_or_no_pattern_is(seed: int) -> None:
    case = Case(seed)
    hidden = np.zeros(case.n, dtype=bool)
    hidden[case.requirements.cell] = True
    cost = np.where(case.random.random(case.n) < 0.1, np.inf, case.random.integers(0, 20, case.n))
    order = case.random.permutation(len(case.requirements))
    built = case.flows.build(hidden, cost, order)
    if built is None:
        assert case.missed(hidden | np.isfinite(cost))
    else:
        assert not case.missed(built)
        assert built[hidden].all()
        assert np.isfinite(cost[built & ~hidden]).all()


@given(SEEDS)
def test_a_cleaned_pattern_is_protected_and_needs_each_of_its_cells(seed: int) -> None:
    case = Case(seed)
    removable = case.random.permutation(case.n)[: case.n // 2 + 1]
    kept = ~np.isin(np.arange(case.n), removable)
    cleaned = case.flows.clean(case.hidden, kept, case.random.random(case.n))
    if case.missed(case.hidden):
        assert np.array_equal(cleaned, case.hidden)
        return
    assert not case.missed(cleaned)
    may_go = ~kept & ~np.isin(np.arange(case.n), case.requirements.cell)
    assert not (cleaned & ~case.hidden).any()
    assert cleaned[case.hidden & ~may_go].all()
    for cell in np.flatnonzero(cleaned & may_go):
        less = cleaned.copy()
        less[cell] = False
        assert case.missed(less)
