"""The requirements that given windows miss: for methods that choose windows without regard to levels.

Large networks are checked by flows, other tables by linear programs.
"""

from __future__ import annotations

import numpy as np

from tacita.core.compiled import LARGE
from tacita.core.exact import Floats, Mask, Units
from tacita.core.run import Run
from tacita.engine.attack.insider_screening import InsiderScreening, OutsiderWitness
from tacita.engine.attack.requirements import OUTSIDER, Requirements, find_room, list_outsider_requirements
from tacita.engine.model import NO_SWITCH, Affine, Model
from tacita.methods.protection.attacker_moves import FAR, AttackerMoves, check_requirements, find_unmet
from tacita.problem.problem import Problem
from tacita.solvers.network import Network


def find_missed(
    problem: Problem, above: Units, below: Units, run: Run, network: Network | None = None
) -> Requirements:
    """Return the requirements of any attacker that a method's windows ``a - below .. a + above`` miss.

    ``network`` is that of the table, if it is known. What was not checked when the time ended is not among
    them: the audit will find it.
    """
    if len(problem.table) >= LARGE and network is None:
        network = Network.of(problem.table.equations.matrix)
    if len(problem.table) < LARGE or network is None:
        model = _build_fixed_model(problem, above.astype(np.float64), below.astype(np.float64))
        return find_unmet(model, np.zeros(0), problem.table.unit, run)
    return _find_missed_by_flows(problem, above, below, network, run)


def _find_missed_by_flows(
    problem: Problem, above: Units, below: Units, network: Network, run: Run
) -> Requirements:
    """Return the requirements that a method's windows miss, by flows. First an attacker who knows all that
    insiders know together: requirements that hold against them hold against every insider.
    """
    from tacita.engine.attack.flows import Flows

    published, step = np.zeros(above.size), problem.table.unit

    def find_failing(requirements: Requirements, up: Floats, down: Floats) -> Mask:
        # Moves of counts are integer, and on a network so are their bounds.
        most_up, most_down = np.minimum(up, above) // step * step, np.minimum(down, below) // step * step
        flows = Flows(network, up, down, requirements, run)
        found, _ = flows.find_blocked(published, most_up, most_down, most=len(requirements))
        failed = np.zeros(len(requirements), dtype=bool)
        failed[[blocked.requirement for blocked in found]] = True
        return failed

    everyone = list_outsider_requirements(problem)
    failed = find_failing(everyone, *find_room(problem, OUTSIDER))
    missing = [everyone[failed]]
    screening = InsiderScreening(problem, np.arange(len(problem.insiders)))
    if not screening:
        return missing[0]
    together = screening.find_joint_room(None)
    common, own = everyone[~failed], screening.own
    common, own = common[find_failing(common, *together)], own[find_failing(own, *together)]
    limit = FAR * float(max(common.level.max(initial=1), own.level.max(initial=1)))

    def moves_within(up: Floats, down: Floats) -> AttackerMoves:
        most_up, most_down = (
            np.minimum(np.minimum(side, known), limit) for side, known in ((above, up), (below, down))
        )
        return AttackerMoves(problem.table, most_up, most_down, step)

    def convince(k: int, up: Floats, down: Floats) -> OutsiderWitness | None:
        asked = int(common.cell[k]), int(common.sign[k]), int(common.level[k])
        return moves_within(up, down).find_witness(k, *asked, run)[1]

    witnesses = (
        check_requirements(moves_within(*find_room(problem, OUTSIDER)), common, run)[1] if len(common) else []
    )
    left = Requirements.join([screening.screen_common(common, witnesses, convince)[0], own])
    for attacker in np.unique(left.attacker).tolist():
        if run.over:
            break
        theirs = left[left.attacker == attacker]
        missing.append(theirs[find_failing(theirs, *find_room(problem, attacker))])
    return Requirements.join(missing)


def _build_fixed_model(problem: Problem, above: Floats, below: Floats) -> Model:
    """Return an engine's model of windows that a method has fixed, without variables."""
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
        requirements=list_outsider_requirements(problem),
    )
