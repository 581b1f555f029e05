"""Unbiased rounding is held to its definition on tables of any kind, the compiled kernel to the plain one."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.core.compiled import compile_once
from tacita.core.errors import InfeasibleError
from tacita.methods.unbiased_rounding.alternating_cycles import follow_cycles, make_coins, start_walk
from tacita.solvers.network import Network
from tacita.testing import check_method, hard_problems, hard_table, problems, tables

SHAPES = ((1,), (4,), (1, 3), (2, 2), (3, 4), (5, 5))


@st.composite
def plain_tables(draw: st.DrawFn) -> tc.Table:
    """One and two dimensions, values of either sign, up to two decimals."""
    shape = draw(st.sampled_from(SHAPES))
    size = int(np.prod(shape))
    values = draw(st.lists(st.integers(-300, 300), min_size=size, max_size=size))
    decimals = draw(st.integers(0, 2))
    array = np.array(values).reshape(shape) / 10**decimals
    return tc.Table.from_array(array, decimals=decimals, counts=False)


kinds = st.sampled_from(["flat", "tree", "cube", "two trees"])
any_tables = plain_tables() | st.builds(hard_table, st.randoms(use_true_random=False), kinds)


@given(any_tables, st.integers(1, 40), st.integers(0, 2**32))
def test_draws_add_up_next_to_the_values(table: tc.Table, steps: int, seed: int) -> None:
    problem = tc.Problem(table, tc.Levels.none(len(table)), tc.Outsider.of(table, lower=-np.inf))
    method = tc.UnbiasedRounding(base=steps * table.unit / 10**table.decimals, partial=True)
    base = steps * table.unit
    release, again = (method.protect(problem, tc.Run(seed=seed)) for _ in range(2))
    assert np.array_equal(release.value, again.value)
    assert not table.equations.residuals(release.value).any()
    assert not (release.value % base).any()
    away = np.abs(release.value - table.units)
    assert (away <= release.high - release.value).all()
    next_to_it = release.high - release.value <= base
    assert (away[next_to_it] < base).all()
    assert next_to_it[~table.structure.is_total].all()
    assert (away[next_to_it & (table.units % base == 0)] == 0).all()


@given(plain_tables(), st.integers(2, 40), st.integers(0, 2**32))
def test_the_compiled_kernel_draws_what_the_plain_one_draws(table: tc.Table, base: int, seed: int) -> None:
    network, residue = Network.of(table.equations.matrix), table.units % base
    coins, states = make_coins(seed)(len(table) + 1), []
    for compile_it in (False, True):
        walk = start_walk(network, residue, base, compile_it)
        follow = compile_once(follow_cycles) if compile_it else follow_cycles
        rises, falls = np.zeros_like(coins), np.zeros_like(coins)
        # A few coins at a time: a draw goes on where it stopped.
        ends = [
            follow(walk, base, coins[k : k + 3], rises[k : k + 3], falls[k : k + 3]) for k in range(0, 6, 3)
        ]
        ends.append(follow(walk, base, coins[6:], rises[6:], falls[6:]))
        states.append([*ends, walk.residue.tolist(), rises.tolist(), falls.tolist()])
    assert states[0] == states[1]
    assert states[0][2][1]


@given(plain_tables(), st.integers(2, 40))
def test_every_cycle_keeps_the_mean(table: tc.Table, base: int) -> None:
    """The first cycle with every coin there is, all equally likely: on average the residues stay."""
    network, residue = Network.of(table.equations.matrix), table.units % base
    rises, falls, drawn = np.zeros(1, np.int64), np.zeros(1, np.int64), []
    while not drawn or len(drawn) < rises[0] + falls[0]:
        walk = start_walk(network, residue, base, compile_it=False)
        follow_cycles(walk, base, np.array([len(drawn)]), rises, falls)
        assert ((walk.residue >= 0) & (walk.residue <= base)).all()
        assert ((walk.residue % base == 0) & (residue > 0)).any() or not residue.any()
        drawn.append(walk.residue)
    assert np.array_equal(np.sum(drawn, axis=0), residue * len(drawn))


@given(problems(tables(((3,), (2, 2), (3, 3)))) | hard_problems(("flat", "tree", "cube")), st.integers(0, 99))
@examples(30)
def test_what_is_released_passes_the_audit(problem: tc.Problem, seed: int) -> None:
    with suppress(InfeasibleError):
        check_method(tc.UnbiasedRounding(partial=True), problem, tc.Run(seed=seed))
