"""The explicit model (Salazar's first): one integer program with a witness for every requirement.

    min  constant + cost x    s.t.  row_lower <= rows x <= row_upper,  lower <= x <= upper,  some x_j integer,
         and for every requirement (k, p, L) a move z with
              M z = 0,   z_p >= L,
              z_i <= U_i(x) + up_ik x_switch(i),     z_i <= up_ik + up_ik x_switch(i),
             -z_i <= D_i(x) + down_ik x_switch(i),  -z_i <= down_ik + down_ik x_switch(i),

``-z_p >= L`` where the requirement is downwards, ``L x_switch`` for ``L`` where it has a switch. A sliding
requirement has two moves, and the first less the second reaches ``L`` at ``p``. One program holds it all, so
its size is the number of requirements times that of the table: plain, for tiny tables. It is also the oracle
that the engine is tested against.

Moves are in parts of their level, ``z / L``, and none need be longer than ``LONGEST``, which stands
for infinite room. For a move is a sum of circuits of ``M`` (moves of smallest support) whose signs agree with
its own. Those that leave ``p`` alone can be dropped and the rest scaled until ``z_p = L``: this shrinks every
entry, so the windows, which contain the truth, still hold it. Then ``|z_i| / L`` is at most the largest ratio
of two entries of a circuit: exactly 1 in a network, where circuits have entries -1, 0, 1. A local search for
circuits with a large ratio met at most 2 in 2x2x2 tables, two crossed hierarchies and linked tables, 3 in
3x3x2 and 4 in 3x3x3 ones. Were ``LONGEST`` ever too small, the model would forbid too much: its optimum is
a proven one only where :func:`is_exact` says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.errors import InfeasibleError, InputError, StoppedError
from tacita.core.exact import Floats
from tacita.core.outcome import Status
from tacita.core.run import Run
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.requirements import (
    ALWAYS,
    Requirements,
    find_room,
    list_all_requirements,
    list_directions,
)
from tacita.engine.model import NO_SWITCH, Affine, Model
from tacita.solvers.highs import Ended, solve_mip
from tacita.solvers.linear_program import IntegerProgram, Solution
from tacita.solvers.network import Network

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LONGEST = 16.0
"""Largest change of a cell in any move, in parts of the level."""
MOST = 200_000
"""Changes of cells in all moves up to which the model is stated at all."""


def is_exact(presolved: PresolvedTable) -> bool:
    """Return whether the explicit model is proven to forbid nothing: on a network, or if no attacker has
    more room than the longest moves need.
    """
    if Network.of(presolved.model.problem.table.equations.matrix.tocsc()) is not None:
        return True
    requirements = _list_requirements(presolved.model)
    for attacker in np.unique(requirements.attacker):
        level = float(requirements.level[requirements.attacker == attacker].min())
        if max(side.max(initial=0.0) for side in presolved.find_room(int(attacker))) > LONGEST * level:
            return False
    return True


def solve_explicit_model(model: Model, run: Run | None = None) -> Solution:
    """Return the least loss by one integer program with every attacker's moves.

    Raises
    ------
    InputError
        The program would be far too large.
    InfeasibleError
        No values of the variables meet every requirement.
    StoppedError
        The time ended before any were found.
    """
    run = run or Run()
    _refuse_large(model)
    found = solve_mip(
        _make_program(model),
        run,
        tell=lambda best, bound: _report(model, run, best, bound),
        enough=lambda best, bound: run.accepts(best + model.constant, bound + model.constant),
        presolve="off",
    )
    if found.status is Ended.INFEASIBLE:
        published = int(model.problem.must_publish.sum())
        remedy = f"lower the levels, free cells that must be published ({published:,}), or relax the method"
        raise InfeasibleError("no choice of the method's variables protects the table", remedy=remedy)
    if not found.point.size:
        fault = f"stopped after {run.seconds:.0f} s before a first solution"
        raise StoppedError(fault, remedy="allow more time", options=["time_limit"])
    x = found.point[: model.size]
    x = np.where(model.integer, np.rint(x), x)
    status = Status.OPTIMAL if found.status is Ended.OPTIMAL else Status.FEASIBLE
    loss = model.loss(x)
    return Solution(x, loss, min(loss, model.constant + found.bound), status)


def _refuse_large(model: Model) -> None:
    requirements = _list_requirements(model)
    moves = sum(len(list_directions(int(sign))) for sign in requirements.sign)
    if (size := moves * len(model.problem.table)) > MOST:
        raise InputError(
            f"the explicit model has a move for each of {len(requirements):,} requirements, {size:,} changes "
            f"of cells in all, more than {MOST:,}",
            remedy="use search = auto",
            options=("search=auto",),
        )


def _report(model: Model, run: Run, best: float | None, bound: float) -> None:
    known = {"bound": bound + model.constant} if np.isfinite(bound) else {}
    if best is not None:
        known["incumbent"] = best + model.constant
    run.report("explicit model", 0, 0, **known)


def _make_program(model: Model) -> IntegerProgram:
    """Return the explicit model's integer program: the model's own rows and the witnesses."""
    from scipy.sparse import block_array, block_diag, csr_array, vstack

    cells, witnesses = len(model.problem.table), _make_witnesses(model)
    if not witnesses:
        return model
    moved = cells * sum(w.moves for w in witnesses)
    rows = block_array(
        [
            [csr_array(model.rows), csr_array((model.rows.shape[0], moved))],
            [vstack([w.on_variables for w in witnesses]), block_diag([w.on_moves for w in witnesses])],
        ]
    )
    return IntegerProgram(
        np.concatenate([model.cost, np.zeros(moved)]),
        np.concatenate([model.lower, np.full(moved, -LONGEST)]),
        np.concatenate([model.upper, np.full(moved, LONGEST)]),
        csr_array(rows),
        np.concatenate([model.row_lower, *(w.row_lower for w in witnesses)]),
        np.concatenate([model.row_upper, *(w.row_upper for w in witnesses)]),
        np.concatenate([model.integer, np.zeros(moved, dtype=bool)]),
    )


@dataclass(frozen=True, eq=False)
class _Witness:
    """Rows ``row_lower <= on_variables x + on_moves z <= row_upper`` of one requirement's ``moves`` moves."""

    moves: int
    on_variables: csr_array
    on_moves: csr_array
    row_lower: Floats
    row_upper: Floats


def _make_witnesses(model: Model) -> list[_Witness]:
    """Return the explicit model's rows for all requirements of all attackers."""
    requirements = _list_requirements(model)
    rooms = {int(k): find_room(model.problem, int(k)) for k in np.unique(requirements.attacker)}
    return [
        _make_witness(model, rooms[int(requirements.attacker[d])], requirements, d)
        for d in range(len(requirements))
    ]


def _list_requirements(model: Model) -> Requirements:
    """Return the requirements of all attackers, and those that count only where a cell is hidden."""
    conditional = model.requirements[model.requirements.conditional]
    requirements = Requirements.join([list_all_requirements(model.problem), conditional])
    return requirements[requirements.level > 0]


def _make_witness(
    model: Model, room_of_attacker: tuple[Floats, Floats], requirements: Requirements, d: int
) -> _Witness:
    """Return the explicit model's rows for one requirement: a move that reaches the level."""
    from scipy.sparse import block_diag, csr_array, vstack

    level, cell, sign = float(requirements.level[d]), int(requirements.cell[d]), int(requirements.sign[d])
    directions = list_directions(sign)
    on_variables, on_move, row_lower, row_upper = _make_rows(model, room_of_attacker, level)
    cells = on_move.shape[1]
    columns = np.arange(len(directions)) * cells + cell
    reached = csr_array(
        (np.array(directions, dtype=float), (np.zeros(len(directions), int), columns)),
        (1, len(directions) * cells),
    )
    switch = int(requirements.switch[d])
    required = csr_array((1, model.size))
    if switch != ALWAYS:
        required = csr_array((np.array([-1.0]), (np.array([0]), np.array([switch]))), (1, model.size))
    return _Witness(
        len(directions),
        csr_array(vstack([*[on_variables] * len(directions), required])),
        csr_array(vstack([block_diag([on_move] * len(directions)), reached])),
        np.concatenate([*[row_lower] * len(directions), [1.0 if switch == ALWAYS else 0.0]]),
        np.concatenate([*[row_upper] * len(directions), [np.inf]]),
    )


def _make_rows(
    model: Model, room_of_attacker: tuple[Floats, Floats], level: float
) -> tuple[csr_array, csr_array, Floats, Floats]:
    """Return the explicit model's rows that every move satisfies, in parts of the level: the equations, the
    windows and the bounds that the attacker knows.
    """
    from scipy.sparse import csr_array, diags_array, eye_array, vstack

    equations = csr_array(model.problem.table.equations.matrix.astype(np.float64))
    count, cells = equations.shape
    switched = np.flatnonzero(model.switch != NO_SWITCH)
    opens = csr_array((np.ones(switched.size), (switched, model.switch[switched])), (cells, model.size))
    on_variables, on_move = [csr_array((count, model.size))], [equations]
    row_lower, row_upper = [np.zeros(count)], [np.zeros(count)]
    windows: tuple[Affine, Affine] = (model.above, model.below)
    for sign, known, window in zip((1.0, -1.0), room_of_attacker, windows, strict=True):
        most = np.minimum(known / level, LONGEST)
        opened = diags_array(most) @ opens
        for base, matrix in ((window.base / level, window.matrix / level + opened), (most, opened)):
            on_variables.append(csr_array(-matrix))
            on_move.append(csr_array(sign * eye_array(cells)))
            row_lower.append(np.full(cells, -np.inf))
            row_upper.append(base)
    return (
        csr_array(vstack(on_variables)),
        csr_array(vstack(on_move)),
        np.concatenate(row_lower),
        np.concatenate(row_upper),
    )
