"""Which tables are networks, and what flows on them say when asked plainly."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array

from tacita import generate
from tacita.core.errors import StoppedError
from tacita.core.run import Run
from tacita.core.tables.table import Table
from tacita.engine.attack.flows import Flows
from tacita.engine.attack.requirements import OUTSIDER, Requirements, find_room, list_outsider_requirements
from tacita.problem.problem import Problem
from tacita.solvers.network import Network


def incidence(network: Network) -> np.ndarray:
    """Nodes by cells: +1 where a cell leaves, -1 where it enters."""
    cells = np.arange(network.tail.size)
    matrix = np.zeros((network.n_nodes, cells.size), dtype=int)
    np.add.at(matrix, (network.tail, cells), 1)
    np.add.at(matrix, (network.head, cells), -1)
    return matrix


@pytest.mark.parametrize(
    ("shape", "hierarchy", "zeros"),
    [
        ((7,), None, 0.0),
        ((9,), (3,), 0.0),
        ((4, 5), None, 0.0),
        ((5, 4), None, 0.6),
        ((9, 4), (2, 1), 0.0),
        ((4, 20), (1, 4), 0.0),
        ((30, 4), (4, 1), 0.7),
    ],
)
def test_flat_tables_and_one_hierarchy_are_networks(shape, hierarchy, zeros) -> None:
    matrix = generate.table(shape, "uniform", hierarchy=hierarchy, zeros=zeros).equations.matrix
    network = Network.of(matrix.tocsc())
    assert network is not None
    kept, dense = network.row_sign != 0, matrix.toarray()
    assert np.array_equal(incidence(network)[:-1], dense * network.row_sign[:, None])
    assert np.linalg.matrix_rank(dense[kept]) == np.linalg.matrix_rank(dense)


@pytest.mark.parametrize(("shape", "hierarchy"), [((8, 8), (2, 2)), ((3, 3, 3), None), ((2, 2, 2, 2), None)])
def test_two_hierarchies_and_three_dimensions_are_not(shape, hierarchy) -> None:
    assert Network.of(generate.table(shape, "uniform", hierarchy=hierarchy).equations.matrix.tocsc()) is None


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 2, -1]],
        [[1, 1, 0], [1, 0, 1], [0, 1, 1]],
        [[1, 1, -1, 0], [1, 0, 0, -1], [1, 1, 1, 1]],
    ],
    ids=["coefficient", "odd cycle of equal signs", "three entries"],
)
def test_other_systems_are_not(rows) -> None:
    assert Network.of(csc_array(np.array(rows))) is None


def test_signs_are_found_whatever_signs_the_equations_came_with() -> None:
    matrix = generate.table((5, 6), "uniform").equations.matrix.toarray()
    turned = matrix * np.random.default_rng(3).choice([-1, 1], matrix.shape[0])[:, None]
    network = Network.of(csc_array(turned))
    assert network is not None
    assert np.array_equal(incidence(network)[:-1], turned * network.row_sign[:, None])


def test_a_cell_in_no_equation_moves_alone() -> None:
    network = Network.of(csc_array(np.array([[1, -1, 0]])))
    assert network is not None
    asked = requirements([(2, 1, 4), (2, -1, 2), (2, 0, 5)])
    flows = Flows(network, np.full(3, 3.0), np.full(3, 2.0), asked)
    assert flows.find_unprotected(np.array([False, False, True])).tolist() == [0]
    (reason,) = flows.find_blocked(np.array([0.0, 0.0, 1.0]))[0]
    assert (reason.requirement, reason.reached) == (0, 3.0)
    assert not reason.duals[0][1].any()


def requirements(lines: list[tuple[int, int, int]]) -> Requirements:
    cell, sign, level = np.array(lines).T
    return Requirements(
        np.full(cell.size, OUTSIDER),
        cell,
        sign.astype(np.int8),
        level,
        np.full(cell.size, -1, dtype=np.int64),
    )


def flows_of(problem: Problem, run: Run | None = None) -> Flows:
    network = Network.of(problem.table.equations.matrix)
    assert network is not None
    return Flows(network, *find_room(problem, OUTSIDER), list_outsider_requirements(problem), run)


def test_large_units_are_compared_exactly() -> None:
    large = 2**53 - 1
    network = Network.of(csc_array(np.array([[1, 1, -1]])))
    assert network is not None
    reach = np.array([np.inf, float(large - 1), 0.0])
    flows = Flows(network, reach, reach, requirements([(0, 1, large - 1), (0, 1, large)]))
    assert flows.find_unprotected(np.ones(3, dtype=bool)).tolist() == [1]


def test_a_flow_of_very_many_paths_is_found() -> None:
    """Cell 0 can only be balanced by 300 cells that move by one unit each."""
    network = Network.of(csc_array(np.ones((1, 301), dtype=int)))
    assert network is not None
    reach = np.array([np.inf, *[1.0] * 300])
    only = np.arange(301) == 0
    order, cost = np.array([0]), np.ones(301)
    built = Flows(network, reach, reach, requirements([(0, 1, 299)])).build(only, cost, order)
    assert built is not None
    assert built.sum() == 300
    assert Flows(network, reach, reach, requirements([(0, 1, 301)])).build(only, cost, order) is None


def test_cheap_cells_are_preferred_to_dear_ones() -> None:
    """Two rows and two columns of totals: the rectangle through the cheap column costs less."""
    problem = generate.problem((2, 3), "fs", sensitive=1, seed=5)
    flows, hidden = flows_of(problem), problem.levels.sensitive.copy()
    network, order = flows.network, np.arange(len(flows.requirements))
    wide = Flows(network, np.full(hidden.size, np.inf), np.full(hidden.size, np.inf), flows.requirements)
    cost = np.full(hidden.size, 100.0)
    target = int(np.flatnonzero(hidden)[0])
    row, column = network.tail[target], network.head[target]
    ends = np.column_stack([network.tail, network.head])
    other = next(
        c for c in range(hidden.size) if not (ends[c] == row).any() and not (ends[c] == column).any()
    )
    corners = [
        c
        for c in range(hidden.size)
        if c != target
        and (np.isin(ends[c], [row, column]).sum() == 1)
        and (np.isin(ends[c], ends[other]).sum() == 1)
    ]
    cost[[other, *corners]] = 1.0
    built = wide.build(hidden, cost, order)
    assert built is not None
    assert np.flatnonzero(built).tolist() == sorted([target, other, *corners])


def test_checks_stop_after_so_many_failures() -> None:
    problem = generate.problem((12, 12), "fs", sensitive=10, seed=2)
    flows = flows_of(problem)
    share = problem.levels.sensitive.astype(np.float64)
    everything, checked = flows.find_blocked(share)
    assert checked == len(flows.requirements)
    failed = list(dict.fromkeys(b.requirement for b in everything))
    for most in (1, 3, len(failed)):
        some, checked = flows.find_blocked(share, most=most)
        assert list(dict.fromkeys(b.requirement for b in some)) == failed[:most]
        assert failed[most - 1] < checked <= len(flows.requirements)


def test_when_time_is_over_nothing_is_called_protected() -> None:
    problem = generate.problem((6, 6), "fs", sensitive=3, seed=1)
    hidden = problem.levels.sensitive.copy()
    every = np.ones(hidden.size, dtype=bool)
    over = Run()
    flows = flows_of(problem, over)
    over.cancel()
    with pytest.raises(StoppedError, match="allow more time"):
        flows.find_unprotected(hidden)
    with pytest.raises(StoppedError, match="allow more time"):
        flows.build(hidden, problem.cost, np.arange(len(flows.requirements)))
    assert flows.find_blocked(hidden.astype(np.float64)) == ([], 0)
    assert flows.clean(every, hidden, problem.cost).all()


def test_same_question_same_answer_and_inputs_stay() -> None:
    problem = generate.problem((15, 15), "logn", sensitive=12, seed=4)
    hidden, order = problem.levels.sensitive.copy(), np.arange(2 * 12)
    before = hidden.copy()
    built = [flows_of(problem).build(hidden, problem.cost, order) for _ in range(2)]
    assert built[0] is not None
    assert np.array_equal(built[0], built[1])
    kept = built[0].copy()
    cleaned = [flows_of(problem).clean(built[0], hidden, problem.cost) for _ in range(2)]
    assert np.array_equal(*cleaned)
    assert np.array_equal(hidden, before)
    assert np.array_equal(built[0], kept)


def test_detection_needs_no_compiler() -> None:
    code = (
        "import sys; from tacita import generate; from tacita.solvers.network import Network; "
        "import tacita.engine.attack.flows; "
        "assert Network.of(generate.table((9, 4), 'fs', hierarchy=(2, 1)).equations.matrix); "
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@given(data=st.data())
@examples(150)
def test_rows_that_are_left_out_follow_from_those_that_are_kept(data: st.DataObject) -> None:
    """Whatever cells are fixed, so that their columns are gone: no move gets freer."""
    shape = data.draw(st.sampled_from([(2, 2, 2), (2, 3, 2), (2, 2), (3, 4), (2, 2, 2, 2)]))
    matrix = Table.from_array(np.ones(shape, dtype=int)).equations.matrix
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=matrix.shape[1], max_size=matrix.shape[1])))
    kept |= data.draw(st.booleans()) & ~Table.from_array(np.ones(shape, dtype=int)).structure.is_total
    part = csc_array(matrix[:, np.flatnonzero(kept)])
    network = Network.of(part)
    if network is None or not part.size:
        return
    dense = part.toarray()
    nodes = np.flatnonzero(network.row_sign)
    assert nodes.size
    assert np.linalg.matrix_rank(dense[nodes]) == np.linalg.matrix_rank(dense)


def test_the_inner_cells_of_a_cube_are_no_network() -> None:
    table = Table.from_array(np.ones((2, 2, 2), dtype=int))
    inner = table.equations.matrix[:, np.flatnonzero(~table.structure.is_total)]
    assert Network.of(csc_array(inner)) is None
