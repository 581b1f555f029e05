"""Witnesses of large tables: neighbourhoods are completed as defined, and adapted witnesses are witnesses."""

from __future__ import annotations

import numpy as np
import pytest

import tacita as tc
from tacita import generate
from tacita.core.exact import Cells
from tacita.engine.attack.requirements import SLIDING
from tacita.engine.construction import construct
from tacita.engine.construction.local_moves import LocalMoves
from tacita.engine.construction.neighbourhood import Neighbourhoods
from tacita.engine.search import solve_model


class BuiltError(Exception):
    """Ends a search when its construction is complete."""


def build(problem: tc.Problem, monkeypatch: pytest.MonkeyPatch) -> construct.Construction:
    """The construction of a small table that is taken for a large one, with a witness of each requirement."""
    built = list[construct.Construction]()
    real = construct.Construction.build

    def stop(self: construct.Construction) -> bool:
        assert real(self)
        built.append(self)
        raise BuiltError

    with monkeypatch.context() as patch:
        patch.setattr(solve_model, "LARGE", 0)
        patch.setattr(solve_model, "TOO_LARGE", 0)
        patch.setattr(construct.Construction, "build", stop)
        with pytest.raises(BuiltError):
            tc.Suppression().protect(problem)
    return built[0]


def take(near: Neighbourhoods, found: int) -> Cells:
    """The gathered cells; the list is empty afterwards."""
    cells = near._scratch.cells[:found].copy()
    near._scratch.position[cells] = -1
    return cells


@pytest.mark.parametrize("seed", range(3))
def test_a_neighbourhood_is_completed_by_what_its_equations_share(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = generate.problem((6, 5, 4), "logn", sensitive=9, hierarchy=(2, 1, 1), seed=seed)
    construction = build(problem, monkeypatch)
    presolved, cost = construction.presolved, construction.cost.copy()
    cost[::7] = np.inf
    near = Neighbourhoods(presolved)
    for target in range(0, len(presolved), 5):
        gathered = take(near, near.gather_cheap(target, cost, 12, 0.1))
        found = near.complete(cost, near.gather_cheap(target, cost, 12, 0.1))
        completed = take(near, found)
        touched = presolved.incidence[:, gathered].sum(axis=1) > 0
        shared, equations = presolved.incidence.T @ touched, presolved.incidence.sum(axis=0)
        joined = (shared >= np.maximum(2, equations - 1)) & np.isfinite(cost)
        assert completed[: gathered.size].tolist() == gathered.tolist()
        assert sorted(completed) == np.union1d(gathered, np.flatnonzero(joined)).tolist()


@pytest.mark.parametrize("kind", ["magnitudes", "counts"])
def test_witnesses_are_moves_of_hidden_cells_that_reach_the_level(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapted = list[int]()
    real = LocalMoves.adapt

    def count(self: LocalMoves, k: int, witness: construct.Witness) -> construct.Witness | None:
        found = real(self, k, witness)
        adapted.extend([k] if found is not None else [])
        return found

    monkeypatch.setattr(LocalMoves, "adapt", count)
    problem = generate.problem((6, 5, 5), "logn", sensitive=0.3, kind=kind, hierarchy=(2, 1, 1), seed=1)
    construction = build(problem, monkeypatch)
    presolved, requirements = construction.presolved, construction.requirements
    up, down = presolved.find_room(-1)
    assert len(construction.witnesses) == len(requirements)
    assert len(adapted) > len(requirements) / 10, "few are adapted: the table shows little"
    for k, witness in construction.witnesses.items():
        level, reached = float(requirements.level[k]), 0.0
        for move in witness.moves:
            change = np.zeros(len(presolved))
            change[move.cells] = move.change * level
            assert construction.hidden[move.cells].all()
            assert np.abs(presolved.matrix @ change).max() <= 1e-5 * level
            assert (change <= up * (1 + 1e-6) + 1e-6 * level).all()
            assert (-change <= down * (1 + 1e-6) + 1e-6 * level).all()
            if kind == "counts":
                assert np.abs(change - np.rint(change)).max() < 1e-5
            own = change[construction.at[k]]
            reached += abs(own) if requirements.sign[k] == SLIDING else own * requirements.sign[k]
        assert reached >= level * (1 - 1e-6)
