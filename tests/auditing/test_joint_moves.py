"""One move for many targets: it is a move, it carries them to their levels, and no verdict hangs on it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.auditing import examiner, short_moves
from tacita.auditing.audit import audit
from tacita.auditing.certificate import certify
from tacita.auditing.joint_moves import find_joint_move, is_flat
from tacita.core.attacker import Insider
from tacita.core.levels import Levels
from tacita.core.release import Mark, Release
from tacita.generate import problem as generated
from tacita.testing import problems, tables
from tacita.verify import verify


def within(problem: tc.Problem, radius: int) -> Release:
    """Every cell is told within a radius of its value."""
    table = problem.table
    everything = np.ones(len(table), dtype=bool)
    return Release.mixed(
        table,
        everything,
        np.full(len(table), Mark.INTERVAL),
        table.units - np.minimum(radius, table.units),
        table.units + radius,
    )


def test_all_targets_go_as_far_as_their_levels_in_one_move() -> None:
    table = generated((20, 20), "uniform").table
    rows = table.equations.matrix
    targets = np.flatnonzero(~table.structure.is_total)[::7]
    levels = np.linspace(1, 30, targets.size).round()
    low, high = np.full(len(table), -50.0), np.full(len(table), 50.0)
    for sign in (1, -1):
        move = find_joint_move(rows, rows.tocsc(), low, high, targets, levels, sign, tc.Run())
        assert move is not None
        assert np.abs(rows @ move).max() < 1e-9
        assert (low <= move).all()
        assert (move <= high).all()
        assert sign * move[targets] == pytest.approx(levels)


def test_tables_of_two_dimensions_are_flat_and_cubes_are_not() -> None:
    for shape, depths, flat in (((6, 6), None, True), ((12, 12), (2, 2), True), ((4, 4, 4), None, False)):
        table = generated(shape, "uniform", hierarchy=depths).table
        assert is_flat(table.equations.matrix.tocsc()) is flat


def test_thousands_of_targets_take_a_few_programs() -> None:
    problem = generated((60, 60), "uniform", sensitive=1000, protection=10)
    found = audit(problem, within(problem, 200))
    assert found.safe
    assert found.programs < 20
    verify(certify(found))


@given(problem=problems(tables(((3, 3), (3, 4), (4, 4)))), radius=st.integers(0, 12))
def test_no_verdict_hangs_on_it(problem: tc.Problem, radius: int) -> None:
    release = within(problem, radius)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(examiner, "MANY", 1)
        together = audit(problem, release)
    one_by_one = audit(problem, release)
    assert np.array_equal(together.worst, one_by_one.worst)
    if together.safe:
        verify(certify(together))


def test_a_shorter_proof_takes_the_place_of_another_only_if_it_reaches_the_level(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A program that ends a hair short of a level of 1e10 units proves less than that level."""
    table = tc.Table.from_array(np.random.default_rng(1).integers(5, 9, (4, 4)) * 10**10, counts=False)
    sensitive = np.zeros(len(table), dtype=bool)
    sensitive[[table.find(code, code) for code in "123"]] = True
    inner = ~table.structure.is_total
    insiders = [
        Insider.knowing(
            f"insider {cell}",
            table,
            {cell: (float(table.units[cell]) - 4e10, float(table.units[cell]) + 4e10)},
        )
        for cell in np.flatnonzero(inner & ~sensitive)[:8].tolist()
    ]
    problem = tc.Problem(
        table, Levels.of(sensitive, upper=np.where(sensitive, 10**10, 0)), attackers=insiders
    )
    find = short_moves.ShortMoves.find

    def a_hair_short(self: short_moves.ShortMoves, *question: object, **how: object) -> np.ndarray | None:
        point = find(self, *question, **how)
        return None if point is None else point * (1 - 9e-10)

    monkeypatch.setattr(short_moves.ShortMoves, "find", a_hair_short)
    found = audit(problem, Release.suppress(table, inner))
    assert found.safe
    verify(certify(found))
