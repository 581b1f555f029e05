"""Why no suppression pattern protects a table, and the least that would have to give way.

Hiding more never harms a requirement, so with ``H`` the cells that may be hidden, a requirement can be met if
and only if it is met when all of ``H`` is hidden: every conflict without a limit is one of a single
requirement. For a requirement ``(p, s, L)`` of attacker ``k`` that fails then, the cells that would have to
be freed are a smallest set ``R`` of the frozen ones,

    min  sum_i r_i    s.t.  M z = 0,   s z_p >= L,   -down_ik <= z_i <= up_ik,
                            -down_ik r_i <= z_i <= up_ik r_i  for i not in H,    r binary,

and the most that is possible as it is, is ``max s z_p`` with ``r = 0``. A sliding requirement has two moves.

Levels that hold only for hidden cells (``L x_i``) take cells out of ``H``: a cell that fails its own level
when all of ``H`` is hidden fails it in every smaller pattern too, so it leaves, until none fails. What is
left is the largest pattern there is.

If every requirement can be met, only a limit on the number of cells is left to blame, and the smallest number
that works is the optimum of the model with cost 1 for each cell and no limit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacita.core import exact
from tacita.core.errors import InfeasibleError, StoppedError, and_others
from tacita.core.exact import Cells, Mask
from tacita.core.run import Run
from tacita.core.words import pluralize
from tacita.engine.attack.asking_insiders import Insiders
from tacita.engine.attack.attacks import Attacks, support_of
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.requirements import (
    ALWAYS,
    DOWN,
    OUTSIDER,
    SLIDING,
    UP,
    Requirements,
    outsider_requirements,
    room,
)
from tacita.engine.model import Model
from tacita.engine.search.proposals import patterns_for
from tacita.engine.search.solve import solve
from tacita.problem.problem import Problem
from tacita.solvers.highs import Ended, solve_mip
from tacita.solvers.linear_program import IntegerProgram

LONGEST = 16.0
"""Largest change of a cell in a move, in parts of the level; circuits of tables stay far below."""
PATIENCE = 10.0
"""Seconds to look for a smallest set before a set that is merely not too large is named."""
NOISE = 1e-6
WORDS = {UP: "upwards", DOWN: "downwards", SLIDING: "in all"}


def why_nothing_protects(model: Model, run: Run) -> InfeasibleError:
    """Return what stands in the way of every pattern of a suppression model, by name, and the remedy.

    Every cell has its own switch, and there is no other window.
    """
    try:
        conflict = _first_conflict(model, run)
        if conflict is not None:
            return conflict
        if model.row_upper.size:
            return InfeasibleError(_smallest_number(model, run))
    except StoppedError:
        pass
    return InfeasibleError(
        "no suppression pattern protects the table",
        remedy="lower the levels, or allow more cells to be hidden",
    )


def _first_conflict(model: Model, run: Run) -> InfeasibleError | None:
    """The first requirement that fails when all that may be hidden is hidden."""
    requirements = Requirements.join(
        [outsider_requirements(model.problem), model.requirements[model.requirements.switch != ALWAYS]]
    )
    largest, failed = _largest_pattern(model, requirements, run)
    missed = requirements[failed] if failed.size else _missed_by_insiders(model, largest, requirements, run)
    if missed is None:
        return None
    told = _Conflict(model, largest, missed[:1], run).told()
    alike = and_others(np.unique(missed.cell).size, "cell")
    return InfeasibleError(f"{told.fault}{alike}", place=told.place, remedy=told.remedy, options=told.options)


def _missed_by_insiders(
    model: Model, hidden: Mask, requirements: Requirements, run: Run
) -> Requirements | None:
    """Requirements of insiders that fail in a pattern in which those of the outsider hold."""
    presolved = PresolvedTable.of(model)
    x = np.zeros(model.size)
    x[model.switch] = hidden
    reach = presolved.reach(x)
    attacks = Attacks(support_of(presolved, reach), reach, requirements, requirements.wanted(x))
    return Insiders(presolved, requirements, run).failing(attacks)


def _largest_pattern(model: Model, requirements: Requirements, run: Run) -> tuple[Mask, Cells]:
    """The largest pattern whose conditional levels hold, and the requirements that fail in it."""
    presolved = PresolvedTable.of(model)
    outside = presolved.requirements_outside(requirements)
    inside = np.setdiff1d(np.arange(len(requirements)), outside)
    hidden, forced = np.ones(len(presolved), dtype=bool), model.lower[presolved.switch] > 0
    patterns = patterns_for(presolved, requirements[inside], run)
    while True:
        failed = patterns.unprotected(hidden)
        of_hidden = inside[failed][requirements.switch[inside[failed]] != ALWAYS]
        leaving = presolved.position[requirements.cell[of_hidden]]
        leaving = leaving[~forced[leaving]]
        if not leaving.size:
            break
        hidden[leaving] = False
    cells = model.lower[model.switch] > 0
    cells[presolved.cells[hidden]] = True
    return cells, np.sort(np.concatenate([outside, inside[failed]]))


def _smallest_number(model: Model, run: Run) -> str:
    """How many cells a limit would have to allow."""
    free = replace(
        model,
        cost=np.ones(model.size),
        constant=0.0,
        row_lower=np.full(model.row_lower.size, -np.inf),
        row_upper=np.full(model.row_upper.size, np.inf),
    )
    most = int(model.row_upper.max())
    try:
        found = solve(free, run)
    except InfeasibleError:
        return "no suppression pattern protects the table, however many cells it hides: lower the levels"
    least, enough = round(found.bound), round(found.loss)
    needed = f"it takes {enough:,}"
    if not found.status:
        needed = f"it takes at least {least:,}, and at most {enough:,}"
    few = pluralize(most, "cell")
    return f"no pattern of at most {few} protects the table: {needed}. Allow at most {enough:,}."


@dataclass(frozen=True, eq=False)
class _Conflict:
    """One requirement that the ``largest`` pattern fails."""

    model: Model
    largest: Mask
    requirement: Requirements
    run: Run

    def told(self) -> InfeasibleError:
        problem = self.model.problem
        table, cell, sign = problem.table, int(self.requirement.cell[0]), int(self.requirement.sign[0])
        level, attacker = int(self.requirement.level[0]), int(self.requirement.attacker[0])
        who = problem.outsider.name if attacker == OUTSIDER else problem.insiders[attacker].name
        wanted = exact.text(level, table.decimals)
        stated = f"({table.name(cell)}) cannot stay uncertain by {wanted} {WORDS[sign]} against {who}"
        possible = self._possible(self.largest)
        lower = f", or lower the level to {exact.text(possible, table.decimals)}" if possible else ""
        if self.requirement.switch[0] != ALWAYS:
            remedy = "take it off must_hide, or lower 'conditional'."
            return InfeasibleError(f"{stated}, though it must be hidden", remedy=remedy)
        may_hide = self.model.upper[self.model.switch] > 0
        if self._possible(may_hide) >= level:
            fault = f"{stated} through cells that stay uncertain themselves"
            return InfeasibleError(fault, remedy=f"lower 'conditional'{lower}.")
        if self._possible(np.ones(len(table), dtype=bool)) < level:
            if problem.already_published:
                return InfeasibleError(
                    f"{stated} any more, even if every cell were hidden: what was published earlier tells "
                    "too much",
                    remedy=f"Exempt the cell, withdraw the earlier release{lower}.",
                    options=["published"],
                )
            remedy = f"widen what the attacker believes{lower}."
            return InfeasibleError(f"{stated}, even if every cell were hidden", remedy=remedy)
        freed = self._smallest_release(np.flatnonzero(~may_hide), may_hide)
        names, are = table.structure.names(freed), "is" if freed.size == 1 else "are"
        return InfeasibleError(
            f"{stated} while {names} {are} published",
            remedy=f"{_remedy(problem, freed)}{lower}.",
            options=[] if problem.must_publish[freed].all() else ["margins=yes"],
        )

    def _possible(self, hidden: Mask) -> int:
        """The largest level that the requirement could ask for when these cells are hidden, in steps."""
        program = self._program(hidden, np.zeros(0, dtype=np.int64))
        cost = -program.rows[[-1]].toarray().ravel()
        free = replace(program, cost=cost, row_lower=np.append(program.row_lower[:-1], -np.inf))
        found = solve_mip(free, self.run)
        if found.status is not Ended.OPTIMAL:
            raise StoppedError("stopped while a conflict was looked for: allow more time")
        level, unit = int(self.requirement.level[0]), self.model.problem.table.unit
        reached = -float(cost @ found.point) * level
        return int(np.floor(reached / unit + NOISE)) * unit

    def _smallest_release(self, frozen: Cells, hidden: Mask) -> Cells:
        """Frozen cells, as few as can be, that would let the requirement be met; at least none of them is
        idle.
        """
        program = self._program(hidden, frozen)
        until = self.run.seconds + min(PATIENCE, self.run.remaining)
        found = solve_mip(program, replace(self.run, time_limit=until))
        chosen = frozen
        if found.point.size:
            chosen = frozen[found.point[-frozen.size :] > 0.5]
            if found.status is Ended.OPTIMAL:
                return chosen
        level = int(self.requirement.level[0])
        for cell in chosen.tolist():
            fewer = chosen[chosen != cell]
            if self._possible(hidden | np.isin(np.arange(hidden.size), fewer)) >= level:
                chosen = fewer
        return chosen

    def _program(self, hidden: Mask, frozen: Cells) -> IntegerProgram:
        """The moves of the requirement's attacker in parts of the level, then one binary per frozen cell; the
        last row asks for the level.
        """
        from scipy.sparse import csr_array, diags_array, eye_array, hstack, kron, vstack

        problem, level, sign = (
            self.model.problem,
            float(self.requirement.level[0]),
            int(self.requirement.sign[0]),
        )
        matrix = csr_array(problem.table.equations.matrix.astype(np.float64))
        ways = np.array([UP, DOWN] if sign == SLIDING else [sign], dtype=np.float64)
        each, all_ways = eye_array(ways.size), np.ones((ways.size, 1))
        up, down = (np.minimum(r / level, LONGEST) for r in room(problem, int(self.requirement.attacker[0])))
        cells, count = hidden.size, frozen.size
        picked, target = eye_array(cells).tocsr()[frozen], eye_array(cells).tocsr()[self.requirement.cell]
        balance = hstack([kron(each, matrix), csr_array((ways.size * matrix.shape[0], count))])
        limits = [
            hstack([side * kron(each, picked), kron(all_ways, diags_array(-most[frozen]))])
            for side, most in ((1.0, up), (-1.0, down))
        ]
        asked = hstack([kron(ways[None, :], target), csr_array((1, count))])
        may_move = hidden | np.isin(np.arange(cells), frozen)
        nothing, limited = np.zeros(balance.shape[0]), np.zeros(2 * ways.size * count)
        return IntegerProgram(
            np.concatenate([np.zeros(ways.size * cells), np.ones(count)]),
            np.concatenate([np.tile(np.where(may_move, -down, 0.0), ways.size), np.zeros(count)]),
            np.concatenate([np.tile(np.where(may_move, up, 0.0), ways.size), np.ones(count)]),
            csr_array(vstack([balance, *limits, asked])),
            np.concatenate([nothing, limited - np.inf, [1.0]]),
            np.concatenate([nothing, limited, [np.inf]]),
            np.repeat([False, True], [ways.size * cells, count]),
        )


def _remedy(problem: Problem, freed: Cells) -> str:
    """What allows these cells to be hidden."""
    listed = problem.must_publish[freed]
    ways = []
    if listed.any():
        ways.append(
            f"take {problem.table.structure.names(freed[listed])} off the cells that must be published"
        )
    if not listed.all():
        ways.append("switch margins on, so that totals may be hidden")
    remedy = " and ".join(ways)
    return remedy[0].upper() + remedy[1:]
