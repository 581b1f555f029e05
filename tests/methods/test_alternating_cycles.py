"""Alternating cycles: neighbours that add up and are right on average, shown outcome by outcome.

The kernel is asked for both steps of every cycle, so that all its outcomes can be listed with their exact
probabilities: a coin of 0 goes up, a coin equal to the step down goes down.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import tacita as tc
from tacita.core.compiled import compile_once
from tacita.core.errors import InputError, StoppedError
from tacita.examples import example
from tacita.methods.unbiased_rounding.alternating_cycles import (
    MOST,
    draw_rounded_up,
    follow_cycles,
    make_coins,
    start_walk,
)
from tacita.methods.unbiased_rounding.two_trees import TwoTrees
from tacita.solvers.network import Network
from tacita.testing import hard_table

NCHS = example("nchs").table
IMPOSSIBLE = [[[0, 0], [0, 1]], [[0, 1], [1, 0]]]


def hierarchical(seed: int, kind: str = "tree") -> tc.Table:
    return hard_table(random.Random(seed), kind)


def outcomes(network: Network, residue: np.ndarray, base: int) -> Iterator[tuple[Fraction, np.ndarray]]:
    """Every outcome of the kernel: its probability and the arcs that end above."""
    waiting = [np.zeros(0, dtype=np.int64)]
    while waiting:
        told = waiting.pop()
        walk = start_walk(network, residue, base, compile_it=False)
        coins = np.concatenate([told, np.zeros(residue.size + 1 - told.size, dtype=np.int64)])
        rises, falls = np.zeros_like(coins), np.zeros_like(coins)
        used, finished = follow_cycles(walk, base, coins, rises, falls)
        assert finished
        chance = Fraction(1)
        for coin, rise, fall in zip(coins[:used].tolist(), rises.tolist(), falls.tolist(), strict=False):
            chance *= Fraction(fall if coin < fall else rise, rise + fall)
        yield chance, walk.residue == base
        waiting += [np.append(coins[:k], falls[k]) for k in range(told.size, used)]


SMALL = {
    "one dimension": (tc.Table.from_array([1, 3, 4, 6, 7]), 5),
    "one dimension, base 3": (tc.Table.from_array([1, 1, 2, 5, 2, 1, 7]), 3),
    "2x2": (tc.Table.from_array([[1, 7], [3, 4]]), 5),
    "2x3": (tc.Table.from_array([[1, 7, 8], [3, 4, 9]]), 10),
    "3x3": (tc.Table.from_array([[1, 7, 8], [3, 4, 9], [6, 2, 11]]), 5),
    "3x3, negative": (tc.Table.from_array([[-1, 7, -8], [3, -4, 9], [6, 2, -11]]), 4),
    "3x3, decimals": (tc.Table.from_array([[0.1, 0.7, 1.8], [2.3, 0.4, 0.9], [1.6, 2.2, 1.1]]), 5),
    "one hierarchy": (hierarchical(1), 5),
    "one hierarchy, base 7": (hierarchical(4), 7),
}


@pytest.mark.parametrize("name", SMALL)
def test_every_outcome_adds_up_and_the_mean_is_the_value(name: str) -> None:
    table, base = SMALL[name]
    residue = table.units % base
    network = Network.of(table.equations.matrix)
    certain, mean = Fraction(0), np.array([Fraction(0)] * len(table))
    number = 0
    for chance, up in outcomes(network, residue, base):
        value = table.units - residue + base * up
        assert not table.equations.residuals(value).any()
        assert not (up & (residue == 0)).any()
        certain, mean, number = certain + chance, mean + chance * value, number + 1
    assert certain == 1
    assert mean.tolist() == table.units.tolist()
    assert number > 1


@pytest.mark.parametrize(
    "table", [tc.Table.from_array(IMPOSSIBLE), hierarchical(3, "cube"), hierarchical(5, "two trees")]
)
def test_beyond_networks_every_outcome_of_the_two_trees_is_unbiased(table: tc.Table) -> None:
    base = 2
    trees = TwoTrees.of(table.structure)
    floor, residue = table.units // base * base, table.units % base
    certain, mean = Fraction(0), np.array([Fraction(0)] * len(table))
    for chance, up in outcomes(trees.network, residue[trees.cell], base):
        value = np.full(len(table), -1)
        for cell, rounded in zip(trees.cell, floor[trees.cell] + base * up, strict=True):
            # A total in both trees has two arcs that agree.
            assert value[cell] in (-1, rounded)
            value[cell] = rounded
        assert ((value >= 0) == (trees.n_parts == 1)).all()
        assert not [
            cells
            for cells, coefficients, _ in table.equations
            if (value[cells] >= 0).all() and coefficients @ value[cells]
        ]
        certain, mean = certain + chance, mean + chance * value
    assert certain == 1
    at = np.flatnonzero(trees.n_parts == 1)
    assert mean[at].tolist() == table.units[at].tolist()


def test_coins_that_would_favour_an_outcome_are_passed_over() -> None:
    table = tc.Table.from_array([1, 1])
    network, residue = Network.of(table.equations.matrix), table.units % 3
    nothing = np.empty(0, np.int64)
    drawn = []
    for coins in ([0, 0, 0, 0, 0], [MOST, 0, MOST, 0, 0]):
        walk = start_walk(network, residue, 3, compile_it=False)
        used, finished = follow_cycles(walk, 3, np.array(coins), nothing, nothing)
        assert finished
        drawn.append((used, walk.residue.tolist()))
    assert drawn[0] == (2, drawn[1][1])
    assert drawn[1][0] == 4


SIMULATED = {
    "Table I of the NCHS paper": (NCHS, 5),
    "one dimension": (tc.Table.from_array([1, 4, 2, 11, 7, 7, 8, 3]), 10),
    "one hierarchy": (hierarchical(2), 7),
}
DRAWS = 100_000


@pytest.mark.slow
@pytest.mark.parametrize("name", SIMULATED)
def test_means_of_a_hundred_thousand_draws(name: str) -> None:
    """The frequency of going up, per cell, against its binomial standard deviation."""
    table, base = SIMULATED[name]
    residue = table.units % base
    walk = start_walk(Network.of(table.equations.matrix), residue, base, compile_it=True)
    often = _simulator()(walk, base, make_coins(2024)(DRAWS * len(table)), DRAWS)
    chance = residue / base
    deviation = np.sqrt(DRAWS * chance * (1 - chance))
    still = residue == 0
    assert not often[still].any()
    z = (often - DRAWS * chance)[~still] / deviation[~still]
    assert np.abs(z).max() < 4


@cache
def _simulator():
    from numba import njit

    follow = compile_once(follow_cycles)

    @njit
    def simulate(walk, base, coins, draws):
        residue, entry, stop = walk.residue.copy(), walk.entry.copy(), walk.stop.copy()
        often, nothing, at = np.zeros(residue.size, np.int64), np.empty(0, np.int64), 0
        for _ in range(draws):
            walk.residue[:], walk.entry[:], walk.stop[:] = residue, entry, stop
            walk.place[:] = -1
            walk.counters[:] = 0
            used, _ = follow(walk, base, coins[at : at + residue.size], nothing, nothing)
            at += used
            often += walk.residue == base
        return often

    return simulate


def test_residues_that_do_not_balance_are_refused() -> None:
    network = Network.of(tc.Table.from_array([1, 3]).equations.matrix)
    with pytest.raises(InputError, match="does not balance"):
        draw_rounded_up(network, np.array([1, 1, 3]), 5, make_coins(0), tc.Run())


@pytest.mark.parametrize("chunk", [1, 7])
def test_a_draw_goes_on_where_it_stopped(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = NCHS
    network, residue = Network.of(table.equations.matrix), table.units % 5
    at_once = draw_rounded_up(network, residue, 5, make_coins(3), tc.Run())
    monkeypatch.setattr("tacita.methods.unbiased_rounding.alternating_cycles.CHUNK", chunk)
    assert np.array_equal(draw_rounded_up(network, residue, 5, make_coins(3), tc.Run()), at_once)


def test_a_cancel_is_heard_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    table, run, thrown = NCHS, tc.Run(), make_coins(0)

    def coins(count: int) -> np.ndarray:
        run.cancel()
        return thrown(count)

    monkeypatch.setattr("tacita.methods.unbiased_rounding.alternating_cycles.CHUNK", 5)
    with pytest.raises(StoppedError, match="biased"):
        draw_rounded_up(Network.of(table.equations.matrix), table.units % 5, 5, coins, run)


def test_cells_in_no_equation_are_rounded_on_their_own() -> None:
    """Loops at the ground: cycles of one arc."""
    lonely = Network(np.zeros(3, np.int32), np.zeros(3, np.int32), np.zeros(0, np.int8), 1)
    chances = [Fraction(0)] * 3
    for chance, up in outcomes(lonely, np.array([1, 0, 3]), 4):
        chances = [total + chance * int(there) for total, there in zip(chances, up, strict=True)]
    assert chances == [Fraction(1, 4), 0, Fraction(3, 4)]


def test_coins_are_the_same_for_ever() -> None:
    assert make_coins(0)(2).tolist() == [5874934615388537135, 2488343231644625808]
    assert (make_coins(1)(1000) >= 0).all()
