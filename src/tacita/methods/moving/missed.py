"""The requirements that given windows leave unmet: for methods that choose without looking at levels.

On a large network they are asked by flows, elsewhere by linear programs.
"""

from __future__ import annotations

import numpy as np

from tacita.core.compiled import LARGE
from tacita.core.exact import Floats, Mask, Units
from tacita.core.run import Run
from tacita.engine.attack.insider_screening import InsiderScreening, OutsiderWitness
from tacita.engine.attack.requirements import OUTSIDER, Requirements, outsider_requirements, room
from tacita.engine.model import NO_SWITCH, Affine, Model
from tacita.methods.moving.moves import FAR, Moves, asked_of, unmet
from tacita.problem.problem import Problem
from tacita.solvers.network import Network


def missed(
    problem: Problem, above: Units, below: Units, run: Run, network: Network | None = None
) -> Requirements:
    """Requirements of any attacker that fail when cell ``i`` lies between ``a_i - below_i`` and ``a_i +
    above_i``.

    ``network`` is that of the table, if it is at hand. What was not looked at when the time ended is not
    among them: the audit will find it.
    """
    if len(problem.table) >= LARGE and network is None:
        network = Network.of(problem.table.equations.matrix)
    if len(problem.table) < LARGE or network is None:
        model = _fixed(problem, above.astype(np.float64), below.astype(np.float64))
        return unmet(model, np.zeros(0), problem.table.unit, run)
    return _by_flows(problem, above, below, network, run)


def _by_flows(problem: Problem, above: Units, below: Units, network: Network, run: Run) -> Requirements:
    """The same on a network. Someone who knew all that insiders know is asked first: what holds against them
    holds against everyone.
    """
    from tacita.engine.attack.flows import Flows

    published, step = np.zeros(above.size), problem.table.unit

    def failing(requirements: Requirements, up: Floats, down: Floats) -> Mask:
        # Counts move by whole steps, and on a network within whole windows.
        most_up, most_down = np.minimum(up, above) // step * step, np.minimum(down, below) // step * step
        flows = Flows(network, up, down, requirements, run)
        found, _ = flows.find_blocked(published, most_up, most_down, most=len(requirements))
        failed = np.zeros(len(requirements), dtype=bool)
        failed[[blocked.requirement for blocked in found]] = True
        return failed

    everyone = outsider_requirements(problem)
    failed = failing(everyone, *room(problem, OUTSIDER))
    missing = [everyone[failed]]
    screening = InsiderScreening(problem, np.arange(len(problem.insiders)))
    if not screening:
        return missing[0]
    together = screening.joint_room(None)
    common, own = everyone[~failed], screening.own
    common, own = common[failing(common, *together)], own[failing(own, *together)]
    limit = FAR * float(max(common.level.max(initial=1), own.level.max(initial=1)))

    def moves_within(up: Floats, down: Floats) -> Moves:
        most_up, most_down = (
            np.minimum(np.minimum(side, known), limit) for side, known in ((above, up), (below, down))
        )
        return Moves(problem.table, most_up, most_down, step)

    def convince(k: int, up: Floats, down: Floats) -> OutsiderWitness | None:
        asked = int(common.cell[k]), int(common.sign[k]), int(common.level[k])
        return moves_within(up, down).shown(k, *asked, run)[1]

    shown = asked_of(moves_within(*room(problem, OUTSIDER)), common, run)[1] if len(common) else []
    left = Requirements.join([screening.screen_common(common, shown, convince)[0], own])
    for attacker in np.unique(left.attacker).tolist():
        if run.over:
            break
        theirs = left[left.attacker == attacker]
        missing.append(theirs[failing(theirs, *room(problem, attacker))])
    return Requirements.join(missing)


def _fixed(problem: Problem, above: Floats, below: Floats) -> Model:
    """A model without variables."""
    from scipy.sparse import csr_array

    nothing, n = np.zeros(0), len(problem.table)
    return Model(
        cost=nothing,
        lower=nothing,
        upper=nothing,
        rows=csr_array((0, 0)),
        row_lower=nothing,
        row_upper=nothing,
        integer=np.zeros(0, dtype=bool),
        problem=problem,
        above=Affine(above, csr_array((n, 0))),
        below=Affine(below, csr_array((n, 0))),
        switch=np.full(n, NO_SWITCH),
        requirements=outsider_requirements(problem),
    )
