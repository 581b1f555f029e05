"""The reason why no suppression pattern protects a table, and the smallest change that would allow one.

Hiding more never harms a requirement, so with ``H`` the cells that may be hidden, a requirement can be met if
and only if it is met when all of ``H`` is hidden: without a limit on their number, every conflict involves a
single requirement. For a requirement ``(p, s, L)`` of attacker ``k`` that fails then, the cells that would
have to be allowed to be hidden are a smallest set ``R`` of the *frozen* ones, those not in ``H``,

    min  sum_i r_i    s.t.  M z = 0,   s z_p >= L,   -down_ik <= z_i <= up_ik,
                            -down_ik r_i <= z_i <= up_ik r_i  for i not in H,    r binary,

and the largest level that can be met is ``max s z_p`` with ``r = 0``. A sliding requirement has two moves.

Conditional levels (``L x_i``) remove cells from ``H``: a cell that fails its own level when all of ``H`` is
hidden fails it in every smaller pattern too, so it is removed, until none fails. What is left is the largest
pattern.

If every requirement can be met, a limit on the number of cells is the reason, and the smallest number that
works is the optimum of the model with cost 1 for each cell and no limit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacita.core import exact
from tacita.core.errors import InfeasibleError, StoppedError, and_others
from tacita.core.exact import Cells, Mask
from tacita.core.run import Run
from tacita.core.words import pluralize
from tacita.engine.attack.attacks import Attacks, find_support
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.requirements import (
    OUTSIDER,
    SIGN_NAMES,
    Requirements,
    find_room,
    list_directions,
    list_outsider_requirements,
)
from tacita.engine.attack.unlisted_insiders import UnlistedInsiders
from tacita.engine.model import Model
from tacita.engine.search.proposals import make_patterns
from tacita.engine.search.solve_model import solve_model
from tacita.problem.problem import Problem
from tacita.solvers.highs import Ended, solve_mip
from tacita.solvers.linear_program import IntegerProgram

LONGEST = 16.0
"""Largest change of a cell in a move, in parts of the level; circuits of tables stay far below."""
PATIENCE = 10.0
"""Seconds to search for a smallest set before a minimal one is named."""
NOISE = 1e-6


def explain_infeasibility(model: Model, run: Run) -> InfeasibleError:
    """Return an error that names what keeps every suppression pattern from protecting the table, and the
    remedy.

    Every cell has its own switch, and there is no other window.
    """
    try:
        conflict = _find_conflict(model, run)
        if conflict is not None:
            return conflict
        if model.row_upper.size:
            return _explain_limit(model, run)
    except StoppedError:
        pass
    return InfeasibleError(
        "no suppression pattern protects the table",
        remedy="lower the levels, or allow more cells to be hidden",
    )


def _find_conflict(model: Model, run: Run) -> InfeasibleError | None:
    """Return an error about the first requirement that the largest pattern fails, or None."""
    requirements = Requirements.join(
        [list_outsider_requirements(model.problem), model.requirements[model.requirements.conditional]]
    )
    largest, failed = _find_largest_pattern(model, requirements, run)
    missed = requirements[failed] if failed.size else _find_failing(model, largest, requirements, run)
    if missed is None:
        return None
    error = _Conflict(model, largest, missed[:1], run).to_error()
    fault = f"{error.fault}{and_others(np.unique(missed.cell).size, 'cell')}"
    return InfeasibleError(fault, place=error.place, remedy=error.remedy, options=error.options)


def _find_failing(model: Model, hidden: Mask, requirements: Requirements, run: Run) -> Requirements | None:
    """Return insiders' requirements that fail in a pattern that meets the given ones, or None."""
    presolved = PresolvedTable.of(model)
    x = np.zeros(model.size)
    x[model.switch] = hidden
    windows = presolved.find_windows_at(x)
    shares = requirements.find_required_shares(x)
    attacks = Attacks(find_support(presolved, windows), windows, requirements, shares)
    return UnlistedInsiders(presolved, requirements, run).find_failing(attacks)


def _find_largest_pattern(model: Model, requirements: Requirements, run: Run) -> tuple[Mask, Cells]:
    """Return the largest pattern whose conditional levels hold, and the requirements that fail in it."""
    presolved = PresolvedTable.of(model)
    outside = presolved.find_requirements_outside(requirements)
    inside = np.setdiff1d(np.arange(len(requirements)), outside)
    hidden, forced = np.ones(len(presolved), dtype=bool), model.lower[presolved.switch] > 0
    patterns = make_patterns(presolved, requirements[inside], run)
    while True:
        failed = patterns.find_unprotected(hidden)
        conditional = inside[failed][requirements.conditional[inside[failed]]]
        leaving = presolved.position[requirements.cell[conditional]]
        leaving = leaving[~forced[leaving]]
        if not leaving.size:
            break
        hidden[leaving] = False
    cells = model.lower[model.switch] > 0
    cells[presolved.cells[hidden]] = True
    return cells, np.sort(np.concatenate([outside, inside[failed]]))


def _explain_limit(model: Model, run: Run) -> InfeasibleError:
    """Return an error that says how many suppressed cells a limit would have to allow."""
    free = replace(
        model,
        cost=np.ones(model.size),
        constant=0.0,
        row_lower=np.full(model.row_lower.size, -np.inf),
        row_upper=np.full(model.row_upper.size, np.inf),
    )
    most = int(model.row_upper.max())
    try:
        found = solve_model(free, replace(run, checkpoint=None))
    except InfeasibleError:
        fault = "no suppression pattern protects the table, however many cells it hides"
        return InfeasibleError(fault, remedy="lower the levels")
    least, enough = round(found.bound), round(found.loss)
    needed = f"it takes {enough:,}"
    if not found.status:
        needed = f"it takes at least {least:,}, and at most {enough:,}"
    fault = f"no pattern of at most {pluralize(most, 'cell')} protects the table: {needed}"
    return InfeasibleError(fault, remedy=f"Allow at most {enough:,}.")


@dataclass(frozen=True, eq=False)
class _Conflict:
    """One requirement that the ``largest`` pattern fails."""

    model: Model
    largest: Mask
    requirement: Requirements
    run: Run

    def to_error(self) -> InfeasibleError:
        """Return an error that names the requirement, what keeps it from being met, and the remedy."""
        problem = self.model.problem
        table, cell, sign = problem.table, int(self.requirement.cell[0]), int(self.requirement.sign[0])
        level, attacker = int(self.requirement.level[0]), int(self.requirement.attacker[0])
        who = problem.outsider.name if attacker == OUTSIDER else problem.insiders[attacker].name
        wanted = exact.to_text(level, table.decimals)
        stated = f"({table.name(cell)}) cannot stay uncertain by {wanted} {SIGN_NAMES[sign]} against {who}"
        possible = self._find_largest_level(self.largest)
        lower = f", or lower the level to {exact.to_text(possible, table.decimals)}" if possible else ""
        if self.requirement.conditional[0]:
            remedy = "take it off must_hide, or lower 'conditional'."
            fault = f"{stated}, though it must be hidden"
            return InfeasibleError(fault, remedy=remedy, options=["conditional"], cell=cell)
        may_hide = self.model.upper[self.model.switch] > 0
        if self._find_largest_level(may_hide) >= level:
            fault = f"{stated} through cells that stay uncertain themselves"
            remedy = f"lower 'conditional'{lower}."
            return InfeasibleError(fault, remedy=remedy, options=["conditional"], cell=cell)
        if self._find_largest_level(np.ones(len(table), dtype=bool)) < level:
            if problem.already_published:
                return InfeasibleError(
                    f"{stated} any more, even if every cell were hidden: what was published earlier tells "
                    "too much",
                    remedy=f"Exempt the cell, withdraw the earlier release{lower}.",
                    options=["published"],
                    cell=cell,
                )
            remedy = f"widen what the attacker believes{lower}."
            fault = f"{stated}, even if every cell were hidden"
            return InfeasibleError(fault, remedy=remedy, options=["lower"], cell=cell)
        freed = self._find_cells_to_free(np.flatnonzero(~may_hide), may_hide)
        names, are = table.structure.names(freed), "is" if freed.size == 1 else "are"
        return InfeasibleError(
            f"{stated} while {names} {are} published",
            remedy=f"{_write_remedy(problem, freed)}{lower}.",
            options=[] if problem.must_publish[freed].all() else ["margins=yes"],
            cell=cell,
        )

    def _find_largest_level(self, hidden: Mask) -> int:
        """Return the largest level of the requirement, in units, met when these cells are hidden."""
        program = self._make_program(hidden, np.zeros(0, dtype=np.int64))
        cost = -program.rows[[-1]].toarray().ravel()
        free = replace(program, cost=cost, row_lower=np.append(program.row_lower[:-1], -np.inf))
        found = solve_mip(free, self.run)
        if found.status is not Ended.OPTIMAL:
            fault = "stopped while a conflict was searched for"
            raise StoppedError(fault, remedy="allow more time", options=["time_limit"])
        level, unit = int(self.requirement.level[0]), self.model.problem.table.unit
        reached = -float(cost @ found.point) * level
        return int(np.floor(reached / unit + NOISE)) * unit

    def _find_cells_to_free(self, frozen: Cells, hidden: Mask) -> Cells:
        """Return a smallest set of frozen cells that, hidden too, meet the requirement; after ``PATIENCE``
        one of which no cell can be left out.
        """
        program = self._make_program(hidden, frozen)
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
            if self._find_largest_level(hidden | np.isin(np.arange(hidden.size), fewer)) >= level:
                chosen = fewer
        return chosen

    def _make_program(self, hidden: Mask, frozen: Cells) -> IntegerProgram:
        """Return the conflict's integer program, as in the module's docstring: moves in parts of the level,
        one per direction, then a binary per frozen cell; the last row asks for the level.
        """
        from scipy.sparse import csr_array, diags_array, eye_array, hstack, kron, vstack

        problem, level = self.model.problem, float(self.requirement.level[0])
        signs = np.array(list_directions(int(self.requirement.sign[0])), dtype=np.float64)
        matrix = csr_array(problem.table.equations.matrix.astype(np.float64))
        each, all_signs = eye_array(signs.size), np.ones((signs.size, 1))
        up, down = (
            np.minimum(r / level, LONGEST) for r in find_room(problem, int(self.requirement.attacker[0]))
        )
        cells, count = hidden.size, frozen.size
        picked, target = eye_array(cells).tocsr()[frozen], eye_array(cells).tocsr()[self.requirement.cell]
        balance = hstack([kron(each, matrix), csr_array((signs.size * matrix.shape[0], count))])
        limits = [
            hstack([side * kron(each, picked), kron(all_signs, diags_array(-most[frozen]))])
            for side, most in ((1.0, up), (-1.0, down))
        ]
        required = hstack([kron(signs[None, :], target), csr_array((1, count))])
        may_move = hidden | np.isin(np.arange(cells), frozen)
        nothing, limited = np.zeros(balance.shape[0]), np.zeros(2 * signs.size * count)
        return IntegerProgram(
            np.concatenate([np.zeros(signs.size * cells), np.ones(count)]),
            np.concatenate([np.tile(np.where(may_move, -down, 0.0), signs.size), np.zeros(count)]),
            np.concatenate([np.tile(np.where(may_move, up, 0.0), signs.size), np.ones(count)]),
            csr_array(vstack([balance, *limits, required])),
            np.concatenate([nothing, limited - np.inf, [1.0]]),
            np.concatenate([nothing, limited, [np.inf]]),
            np.repeat([False, True], [signs.size * cells, count]),
        )


def _write_remedy(problem: Problem, freed: Cells) -> str:
    """Return the remedy of a conflict in words: what to change so that these cells may be hidden."""
    listed = problem.must_publish[freed]
    changes = []
    if listed.any():
        names = problem.table.structure.names(freed[listed])
        changes.append(f"take {names} off the cells that must be published")
    if not listed.all():
        changes.append("switch margins on, so that totals may be hidden")
    remedy = " and ".join(changes)
    return remedy[0].upper() + remedy[1:]
