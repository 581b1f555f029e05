"""Regions of a suppression pattern, solved anew as integer programs over cuts while the rest stands.

A region are the cells nearest to a hidden one, hidden or not. What it hides is the point of an integer
program over the cuts known so far, with the rest of the pattern as it is. Requirements whose witness that
breaks get another one, or they give a cut, and the program is solved again. It ends

    improved   when all requirements are met: the pattern costs less,
    closed     when the program's bound shows that the region cannot cost less: most regions, once cuts are
               known, in a few hundredths of a second.

The cuts hold for the whole table, so that they serve all later regions, and raise the bound of the master.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csc_array, csr_array

from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.engine.attack.attacks import BlockedRequirement
from tacita.engine.attack.cuts import Cutter, drop_known_rows
from tacita.engine.attack.requirements import SLIDING
from tacita.engine.attack.routing import Witness
from tacita.engine.construction.construct import Construction
from tacita.engine.construction.local_moves import LocalMoves
from tacita.engine.construction.near_attacks import NearAttacks
from tacita.solvers.highs import Ended, solve_mip
from tacita.solvers.linear_program import IntegerProgram
from tacita.solvers.row_pool import CutRow

SIZE = 100
"""Cells of a region. Programs over 200 cells take five times as long and gain hardly more."""
ROUNDS = 30
"""Programs of one region, after which it is left as it is."""
CUTS = 60
"""Cuts with which a program is solved again before all requirements are looked at."""
NODES = 100
"""Nodes of one program."""
NEAR = (600, 4000)
"""Hidden cells near a target over which the attacker's program is stated, until it is decided."""
WORTHWHILE = 1e-3
"""Share of a region's cost that a program may not save for the region to be closed."""


class RegionPrograms:
    """Solves regions of one construction; ``rows`` are the cuts that they share, in variables of the model.

    ``allowed`` cells may be hidden.
    """

    def __init__(
        self,
        construction: Construction,
        moves: LocalMoves,
        attacks: NearAttacks,
        cutter: Cutter,
        rows: Sequence[CutRow],
        allowed: Mask,
    ) -> None:
        self.construction, self.presolved, self.rows = construction, construction.presolved, list(rows)
        self._moves, self._attacks, self._cutter = moves, attacks, cutter
        self._free = allowed & ~construction.forced & ~construction.conditional
        self._tried = np.zeros(len(self.presolved), dtype=bool)
        self._known = set[int]()

    def improve_one(self, run: Run) -> bool | None:
        """Solve the region of the most expensive hidden cell that is in none yet; return whether it is
        improved, or None if there is no such cell.
        """
        construction = self.construction
        left = np.flatnonzero(construction.hidden & self._free & ~self._tried)
        if not left.size:
            return None
        first = int(left[np.argmax(construction.cost[left])])
        region = self._moves.neighbourhoods.list_nearest(first, self._free, SIZE)
        hidden = region[construction.hidden[region]]
        self._tried[hidden] = True
        improved = self._solve(region, run)
        if improved:
            self._tried[region] = False
        return improved

    def _solve(self, region: Cells, run: Run) -> bool:
        """Solve a region; return whether the pattern now costs less."""
        construction = self.construction
        cost, before = construction.cost[region], construction.hidden
        old = float(cost[before[region]].sum())
        users = construction.list_users(region[before[region]])
        witnesses = {k: construction.witnesses[k] for k in users}
        outside = before.copy()
        outside[region] = False
        program = _RegionProgram(cost, self.presolved.switch[region], self._read_point(outside))
        program.add(self.rows)
        for _ in range(ROUNDS):
            hidden, bound = program.solve(run)
            if run.over or hidden is None or bound >= old * (1.0 - WORTHWHILE):
                return False
            after = outside.copy()
            after[region] = hidden
            rows = self._find_cuts(users, witnesses, after, run)
            if rows is None:
                return False
            if not rows:
                construction.replace(region, after, witnesses)
                return True
            self.rows += rows
            program.add(rows)
        return False

    def _find_cuts(
        self, users: Sequence[int], witnesses: dict[int, Witness], hidden: Mask, run: Run
    ) -> list[CutRow] | None:
        """Return cuts of the requirements that a pattern fails, none if it meets all; find ``witnesses`` of
        the others. None if that cannot be decided nearby.
        """
        closed, point = np.where(hidden, 0.0, np.inf), self._read_point(hidden)
        rows: list[CutRow] = []
        for k in users:
            if hidden[witnesses[k].cells].all():
                continue
            if run.over:
                return None
            found = self._moves.confirm(k, hidden, closed) or self._attack(k, hidden, point)
            if found is None:
                return None
            if isinstance(found, CutRow):
                rows.append(found)
                if len(rows) >= CUTS:
                    break
            else:
                witnesses[k] = found
        new = drop_known_rows(rows, self._known)
        return new if new or not rows else None

    def _attack(self, k: int, hidden: Mask, point: Floats) -> Witness | CutRow | None:
        """Return a witness of requirement ``k`` over hidden cells, else a cut, or None if neither is found.

        Neither is searched for where a sliding level or moves in integers would need more than one program.
        """
        requirements = self.construction.requirements
        if requirements.sign[k] == SLIDING:
            return None
        for near in NEAR:
            found = self._attacks.attack(requirements, k, hidden, near, proves=True)
            if found is None:
                continue
            if found.move is not None:
                return None if self._moves.integer else Witness((found.move,))
            if found.limit is None:
                continue
            blocked = BlockedRequirement(k, (found.limit,))
            if (row := self._cutter.make_cut(requirements, blocked, point)) is not None:
                return row
        return None

    def _read_point(self, hidden: Mask) -> Floats:
        """Return a pattern as a point of the model."""
        point = np.zeros(self.presolved.model.size)
        point[self.presolved.switch[hidden]] = 1.0
        return point


class _RegionProgram:
    """The integer program of one region: variables ``at`` of the model, the others as in ``outside``."""

    def __init__(self, cost: Floats, at: Cells, outside: Floats) -> None:
        self._cost, self._at, self._outside = cost, at, outside
        self._parts: list[csr_array] = []
        self._rhs: list[Floats] = []

    def add(self, rows: Sequence[CutRow]) -> None:
        """Add the cuts that the rest of the pattern does not satisfy."""
        starts = np.cumsum([0, *(row.index.size for row in rows)])
        index = np.concatenate([row.index for row in rows])
        value = np.concatenate([row.value for row in rows])
        matrix = csr_array((value, index, starts), shape=(len(rows), self._outside.size))
        missing = np.array([row.rhs for row in rows]) - matrix @ self._outside
        part = csr_array(csc_array(matrix)[:, self._at])
        counts = (missing > 0.0) & (np.diff(part.indptr) > 0)
        self._parts.append(csr_array(part[np.flatnonzero(counts)]))
        self._rhs.append(missing[counts])

    def solve(self, run: Run) -> tuple[Mask | None, float]:
        """Return what the region hides in the best point, None without one, and a bound on its cost."""
        from scipy.sparse import vstack

        n, least = self._cost.size, np.concatenate(self._rhs)
        program = IntegerProgram(
            self._cost,
            np.zeros(n),
            np.ones(n),
            csr_array(vstack(self._parts)),
            least,
            np.full(least.size, np.inf),
            np.ones(n, dtype=bool),
        )
        found = solve_mip(program, run, nodes=NODES)
        hides = found.point > 0.5 if found.point.size else None
        return hides, np.inf if found.status is Ended.INFEASIBLE else found.bound
