"""Short moves: they are moves, none are shorter, and no verdict depends on where they were looked for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array

import tacita as tc
from tacita.auditing import block_tasks, neighbourhoods
from tacita.auditing.audit import audit
from tacita.auditing.certificate import certify
from tacita.auditing.neighbourhoods import BlockNeighbourhoods
from tacita.auditing.short_moves import ShortMoves
from tacita.auditing.tied_columns import TiedColumns
from tacita.core.release import Release
from tacita.core.tables.table import Table
from tacita.generate import microdata
from tacita.generate import problem as generated
from tacita.solvers.highs import Ended, Session
from tacita.solvers.linear_program import LinearProgram
from tacita.testing import problems, tables
from tacita.verify import verify

CUBES = ((3, 3, 3), (3, 4, 3), (4, 4, 3))


def find_shortest(matrix: csc_array, p: int, change: int, low: np.ndarray, high: np.ndarray) -> float | None:
    """The least sum of changes of a move by ``change`` of ``p``, from a model of its own; None without one.

    A change ``z`` with ``-t <= z <= t`` costs ``t``.
    """
    rows, n = matrix.shape
    identity = np.eye(n)
    program = LinearProgram(
        np.concatenate([np.zeros(n), np.ones(n)]),
        np.concatenate([np.where(np.arange(n) == p, change, low), np.zeros(n)]).astype(float),
        np.concatenate([np.where(np.arange(n) == p, change, high), np.full(n, np.inf)]).astype(float),
        csc_array(
            np.block([[matrix.toarray(), np.zeros((rows, n))], [-identity, identity], [identity, identity]])
        ),
        np.zeros(rows + 2 * n),
        np.concatenate([np.zeros(rows), np.full(2 * n, np.inf)]),
    )
    session = Session(program, primal=False, bounded=True)
    return session.value if session.solve(tc.Run()) is Ended.OPTIMAL else None


@given(shape=st.sampled_from(CUBES), data=st.data())
def test_a_short_move_is_found_wherever_there_is_one_and_no_move_is_shorter(
    shape: tuple[int, ...], data: st.DataObject
) -> None:
    random = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    table = generated(shape, "uniform").table
    hidden = np.flatnonzero(random.random(len(table)) < data.draw(st.sampled_from([0.5, 0.8, 1.0])))
    rows = table.equations.matrix[:, hidden]
    low, high = -random.integers(0, 9, hidden.size), random.integers(0, 9, hidden.size)
    p, sign, level = (
        int(random.integers(hidden.size)),
        int(random.choice([-1, 1])),
        int(random.integers(1, 8)),
    )
    columns = csc_array(rows.astype(float))
    point = ShortMoves(rows).find(p, sign, level, low, high, tc.Run())
    within = -low[p] if sign < 0 else high[p]
    least = find_shortest(columns, p, sign * level, low, high) if level <= within else None
    assert (point is None) == (least is None)
    if point is not None:
        assert np.abs(rows @ point).max() < 1e-6
        assert (low - 1e-6 <= point).all()
        assert (point <= high + 1e-6).all()
        assert sign * point[p] == pytest.approx(level)
        assert np.abs(point).sum() == pytest.approx(least)


@given(shape=st.sampled_from(CUBES), share=st.sampled_from([0.3, 0.5, 0.8]), seed=st.integers(0, 10**6))
def test_ties_have_the_same_moves_as_their_columns(shape: tuple[int, ...], share: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    table = generated(shape, "uniform").table
    hidden = np.flatnonzero(random.random(len(table)) < share)
    rows = table.equations.matrix[:, hidden]
    tied = TiedColumns(rows)
    # Every move of ties is one of columns, and there are as many independent ones of both.
    free = [
        matrix.shape[1] - np.linalg.matrix_rank(matrix.toarray().astype(float))
        for matrix in (rows, tied.rows)
    ]
    assert free[0] == free[1]
    ties = tied.rows.toarray()
    move = random.normal(size=ties.shape[1])
    move -= np.linalg.pinv(ties) @ (ties @ move)
    assert np.abs(rows @ tied.expand(move)).max(initial=0.0) < 1e-9
    assert tied.size.sum() == hidden.size
    entries = np.diff(tied.rows.indptr)
    assert (np.abs(ties[entries == 2]).max(axis=1, initial=0) > 1).all()
    low, high = -random.integers(0, 9, hidden.size), random.integers(0, 9, hidden.size)
    up, down = tied.find_room(low, high)
    for k in range(up.size):
        for change in range(-9, 10):
            columns = tied.expand(np.where(np.arange(up.size) == k, change, 0))[tied.tie == k]
            fits = (low[tied.tie == k] <= columns).all() and (columns <= high[tied.tie == k]).all()
            assert fits == (-down[k] <= change <= up[k])


def test_two_hidden_cells_of_an_equation_are_tied() -> None:
    rows = csr_array(np.array([[1, 1, 0, 0], [0, 1, 1, -1], [0, 1, -1, 0]]))
    tied = TiedColumns(rows)
    assert tied.expand(np.array([1.0, -2.0])).tolist() == [1, -1, -1, -2]
    assert tied.tie.tolist() == [0, 0, 0, 1]
    assert tied.sign.tolist() == [1, -1, -1, 1]
    assert np.abs(tied.rows.toarray()).tolist() == [[2, 1]]


def test_neighbourhoods_grow_and_have_no_column_that_is_alone_in_an_equation() -> None:
    rows = generated((6, 6, 6), "uniform", hierarchy=(2, 1, 1)).table.equations.matrix
    around = BlockNeighbourhoods(rows, csc_array(rows)).list_around(7)
    before = np.array([7])
    for near in around:
        part = csc_array((near.coefficients, near.rows, near.starts), shape=(near.n_rows, near.columns.size))
        used = np.flatnonzero(np.diff(rows[:, near.columns].indptr))
        assert (part.toarray() == rows[:, near.columns][used].toarray()).all()
        assert (np.diff(part.tocsr().indptr) > 1).all()
        assert np.isin(before, near.columns).all()
        before = near.columns
    assert before.size == rows.shape[1]


def test_neighbourhoods_of_the_last_target_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = generated((5, 5, 5), "uniform").table.equations.matrix
    near = BlockNeighbourhoods(rows, csc_array(rows))
    first = next(near.list_around(3))
    everything = list(near.list_around(3))
    assert everything[0] is first
    monkeypatch.setattr(BlockNeighbourhoods, "_peel", None)
    assert list(near.list_around(3)) == everything


def test_nothing_is_searched_for_when_the_time_is_over() -> None:
    rows = generated((3, 3, 3), "uniform").table.equations.matrix
    run, bound = tc.Run().begin(), np.full(rows.shape[1], 9)
    run.cancel()
    assert ShortMoves(rows).find(0, 1, 3, -bound, bound, run) is None


@given(
    problem=problems(tables(CUBES)),
    share=st.sampled_from([0.4, 0.7, 1.0]),
    sizes=st.sampled_from([(), (4,), (8, 16)]),
    seed=st.integers(0, 99),
)
def test_no_verdict_depends_on_the_size_of_neighbourhoods(
    problem: tc.Problem, share: float, sizes: tuple[int, ...], seed: int
) -> None:
    hidden = np.random.default_rng(seed).random(len(problem.table)) < share
    hidden[problem.sensitive] = True
    release = Release.suppress(problem.table, hidden)
    with pytest.MonkeyPatch.context() as patch:
        # Parts of a block search for short moves first.
        patch.setattr(block_tasks, "TARGETS_PER_TASK", 1)
        patch.setattr(neighbourhoods, "SIZES", sizes)
        short = audit(problem, release)
    plain = audit(problem, release)
    assert np.array_equal(short.worst, plain.worst)
    if short.safe:
        verify(certify(short))


def tabulate_records(records: int) -> Table:
    made = microdata(records, {"region": (6, 2), "industry": (6, 2), "size": (3, 1)}, respondents=records)
    return tc.tabulate(made.records, made.hierarchies, value="value", respondent="respondent", decimals=0)


def test_insiders_of_a_sparse_table_are_judged_alike_by_parts_and_as_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = tc.Problem(tabulate_records(100), "p-percent(15)")
    hidden = np.random.default_rng(1).random(len(problem.table)) < 0.6
    hidden[problem.sensitive] = True
    release = Release.suppress(problem.table, hidden)
    as_one = audit(problem, release)
    monkeypatch.setattr(block_tasks, "TARGETS_PER_TASK", 10)
    by_parts = audit(problem, release)
    unsafe = [
        {(finding.attacker, finding.cell, finding.bits) for finding in found.findings(only_unsafe=True)}
        for found in (as_one, by_parts)
    ]
    assert unsafe[0] == unsafe[1]
    assert as_one.counts["safe"]
    assert as_one.counts["unsafe"]
