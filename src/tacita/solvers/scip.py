"""SCIP as a branch-and-cut tree: ``min c x : rows x >= rhs, l <= x <= u, x_j an integer for some j``, with
lazy rows that are only found when a point violates them.

SCIP brings nodes, branching and general cuts (Gomory, mixed-integer rounding, knapsack covers, zero-half). It
calls the owner of the lazy rows for those that the point of a relaxation violates, for those that a candidate
violates (none: it is a solution), and for a candidate near a point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tacita.core.errors import TOO_FAR_APART, SolverError
from tacita.core.exact import Cells, Floats
from tacita.core.run import Run
from tacita.solvers.linear_program import IntegerProgram
from tacita.solvers.row_pool import CutRow

PROPOSE_EVERY = 10


class LazyRows(Protocol):
    """The owner of the rows that are not listed.

    ``in_doubt`` is set when a candidate was refused because there was no answer.
    """

    in_doubt: bool

    @property
    def closed(self) -> bool:
        """Whether what was found is good enough, so that SCIP may end."""

    def find_violated(self, x: Floats, depth: int) -> Sequence[CutRow]:
        """Return rows for SCIP that a fractional point violates, as far as it pays to search."""

    def find_refuting(self, x: Floats) -> Sequence[CutRow] | None:
        """Return rows that a candidate of SCIP violates: None if a solution, empty if none cuts it off."""

    def accepts(self, x: Floats) -> bool:
        """Return whether a candidate of SCIP is a solution."""

    def propose(self, x: Floats) -> Floats | None:
        """Return a solution near a fractional point of SCIP, or None."""

    def report_progress(self, best: float, bound: float, nodes: int) -> None:
        """Take SCIP's loss of the best solution, bound and number of nodes, before each separation."""


@dataclass(frozen=True, eq=False)
class TreeResult:
    """``bound`` holds for every solution better than the cutoff; ``complete`` if the tree is exhausted and
    every candidate got an answer.
    """

    complete: bool
    bound: float
    nodes: int


def branch_and_cut(
    program: IntegerProgram,
    known: Sequence[CutRow],
    lazy: LazyRows,
    cutoff: float,
    run: Run,
    nodes: int | None = None,
) -> TreeResult:
    """Search with SCIP for solutions cheaper than ``cutoff``, given to ``lazy``; return bound and nodes."""
    return _Tree(program, lazy, cutoff, run).search(known, nodes)


class _Tree:
    """A program in SCIP, and what its plug-ins do when SCIP calls them."""

    def __init__(self, program: IntegerProgram, lazy: LazyRows, cutoff: float, run: Run) -> None:
        from pyscipopt import SCIP_PARAMSETTING, Model

        self.program, self.lazy, self.run, self.cutoff = program, lazy, run, cutoff
        self.free: Cells = np.flatnonzero(program.upper > program.lower)
        self.fixed_part = np.where(program.upper > program.lower, 0.0, program.lower)
        self.scip: Any = Model()
        self.scip.hideOutput()
        # The owner of the lazy rows proposes solutions; each guess of SCIP would have to be checked.
        self.scip.setHeuristics(SCIP_PARAMSETTING.OFF)
        self.variables = [self._add_variable(int(j)) for j in self.free]
        self.place = {int(j): v for j, v in zip(self.free, self.variables, strict=True)}
        self.doubtful = False
        """Whether a candidate may have been refused for no reason."""
        self.error: BaseException | None = None
        """What a call to the lazy rows raised."""

    def _add_variable(self, j: int) -> Any:
        """Return a new variable of SCIP for variable ``j`` of the program."""
        p = self.program
        kind = ("B" if p.lower[j] == 0 and p.upper[j] == 1 else "I") if p.integer[j] else "C"
        upper = None if np.isinf(p.upper[j]) else float(p.upper[j])
        return self.scip.addVar(vtype=kind, lb=float(p.lower[j]), ub=upper, obj=float(p.cost[j]))

    def search(self, known: Sequence[CutRow], nodes: int | None) -> TreeResult:
        """Search SCIP's tree with some known rows; return its bound, and whether it is complete."""
        from pyscipopt import SCIP_HEURTIMING

        scip, constant = self.scip, float(self.program.cost @ self.fixed_part)
        if not self._add_constraints(known):
            return TreeResult(False, -np.inf, 0)
        if self._has_integer_losses():
            scip.setObjIntegral()
        for name, value in self._list_settings():
            scip.setParam(name, value)
        if nodes is not None:
            scip.setParam("limits/nodes", nodes)
        if np.isfinite(self.cutoff):
            scip.setObjlimit(float(self.cutoff - constant))
        handler, heuristic = _make_plugins()
        scip.includeConshdlr(
            handler(self),
            "lazy",
            "rows that are found when they are violated",
            sepapriority=1_000_000,
            enfopriority=-1,
            chckpriority=-1,
            sepafreq=1,
            needscons=False,
        )
        scip.includeHeur(
            heuristic(self),
            "propose",
            "a solution near the relaxation",
            "Y",
            priority=100_000,
            freq=PROPOSE_EVERY,
            timingmask=SCIP_HEURTIMING.AFTERLPNODE,
        )
        # Other threads go on meanwhile; each call of a plug-in takes the interpreter for as long as it lasts.
        try:
            scip.optimizeNogil()
        except Exception as error:
            # pyscipopt has no exception of its own. What a plug-in raised is the cause, if one did.
            if self.error is None:
                fault = f"SCIP gave up the search for the best release ({error})"
                raise SolverError(fault, remedy=TOO_FAR_APART) from None
        if self.error is not None:
            raise self.error
        status = scip.getStatus()
        complete = status in ("optimal", "infeasible") and not self.doubtful
        bound = self.cutoff if complete else scip.getDualbound() + constant
        if self.doubtful:
            # A node may have been pruned for no reason, so SCIP's bound is not valid.
            bound = -np.inf
        visited = int(scip.getNTotalNodes())
        scip.freeProb()
        return TreeResult(complete, float(bound), visited)

    def _has_integer_losses(self) -> bool:
        """Return whether every solution in SCIP has an integer loss, apart from what is fixed."""
        costs = self.program.cost[self.free]
        return bool((costs == np.rint(costs)).all() and self.program.integer[self.free][costs != 0].all())

    def _list_settings(self) -> list[tuple[str, Any]]:
        """Return the parameters of SCIP that differ from its defaults, as names and values."""
        limit = self.run.remaining
        return [
            ("limits/time", float(min(limit, 1e20))),
            # Ctrl-C is for whoever runs us: they know what to keep, and may have more to end than a search.
            ("misc/catchctrlc", False),
            # Lazy rows make fixings by duality arguments wrong.
            ("misc/allowstrongdualreds", False),
            ("misc/allowweakdualreds", False),
            # Rows that SCIP has not seen need not share the symmetry of those it has.
            ("misc/usesymmetry", 0),
            # Few variables and known rows: presolving and restarts cost more than they bring.
            ("presolving/maxrounds", 0),
            ("presolving/maxrestarts", 0),
            ("randomization/randomseedshift", int(self.run.search % 2**31)),
        ]

    def _add_constraints(self, known: Sequence[CutRow]) -> bool:
        """Add the program's rows and known ones to SCIP, which can be slow; return False if time ends."""
        p = self.program
        for j, low, high in zip(range(p.rows.shape[0]), p.row_lower, p.row_upper, strict=True):
            if self.run.over:
                return False
            span = slice(p.rows.indptr[j], p.rows.indptr[j + 1])
            self._add_constraint(p.rows.indices[span].astype(np.int64), p.rows.data[span], low, high)
        for row in known:
            if self.run.over:
                return False
            self._add_constraint(row.index, row.value, row.rhs, np.inf, removable=True)
        return True

    def _add_constraint(
        self, index: Cells, value: Floats, low: float, high: float, removable: bool = False
    ) -> None:
        """Add a row of the program to SCIP, without its fixed variables."""
        from pyscipopt import quicksum

        given = float(value @ self.fixed_part[index])
        terms = [
            (float(a), self.place[int(j)]) for j, a in zip(index, value, strict=True) if int(j) in self.place
        ]
        if not terms:
            return
        expression = quicksum(a * v for a, v in terms)
        if np.isfinite(low) and np.isfinite(high) and low == high:
            self.scip.addCons(expression == float(low - given))
            return
        if np.isfinite(low):
            self.scip.addCons(expression >= float(low - given), removable=removable)
        if np.isfinite(high):
            self.scip.addCons(expression <= float(high - given), removable=removable)

    # ------------------------------------------------------------ called by SCIP

    def answer(self, call: Callable[[], Any], if_failed: Any) -> dict[str, Any]:
        """Return the result of a call in SCIP's form; keep an exception until the search has ended, since
        SCIP would lose it.
        """
        try:
            return {"result": call()}
        except BaseException as error:
            self.error = error
            self.scip.interruptSolve()
            return {"result": if_failed}

    def read_point(self, solution: Any = None) -> Floats:
        """Return all variables' values in a solution of SCIP, or in its present relaxation."""
        x = self.fixed_part.copy()
        value = self.scip.getSolVal
        x[self.free] = [value(solution, v) for v in self.variables]
        return np.clip(x, self.program.lower, self.program.upper)

    def read_candidate(self, solution: Any = None) -> Floats:
        """Return all variables' values in a solution of SCIP, integer variables rounded to integers."""
        x = self.read_point(solution)
        return np.where(self.program.integer, np.rint(x), x)

    def add_cuts(self, rows: Sequence[CutRow]) -> int:
        """Add rows to SCIP's relaxation and to its pool; return how many."""
        scip = self.scip
        for row in rows:
            given = float(row.value @ self.fixed_part[row.index])
            cut = scip.createEmptyRowUnspec(
                "lazy", lhs=row.rhs - given, rhs=None, local=False, modifiable=False, removable=True
            )
            scip.cacheRowExtensions(cut)
            for j, a in zip(row.index.tolist(), row.value.tolist(), strict=True):
                if j in self.place:
                    scip.addVarToRow(cut, self.place[j], a)
            scip.flushRowExtensions(cut)
            scip.addCut(cut, forcecut=True)
            scip.addPoolCut(cut)
            scip.releaseRow(cut)
        return len(rows)

    def note_doubt(self) -> None:
        """Interrupt SCIP's search, as doubtful, if the candidate just refused may be a solution."""
        if self.stop_if_over() or self.lazy.in_doubt:
            self.doubtful = True
            self.scip.interruptSolve()

    def can_branch(self) -> bool:
        """Return whether an integer variable is free at this node of SCIP's tree.

        Where none is, SCIP prunes the node of a candidate that was refused without a row, and with it what
        other values of continuous variables might have allowed: the search is then doubtful.
        """
        if any(
            self.program.integer[j] and v.getUbLocal() - v.getLbLocal() > 0.5
            for j, v in zip(self.free, self.variables, strict=True)
        ):
            return True
        self.doubtful |= not self.program.integer[self.free].all()
        return False

    def stop_if_over(self) -> bool:
        """Interrupt SCIP's search if the run is over or enough was found; return whether that is so."""
        if self.run.over or self.lazy.closed:
            self.scip.interruptSolve()
            return True
        return False

    def report_progress(self) -> None:
        """Report SCIP's loss, bound and number of nodes to the owner of the lazy rows."""
        constant = float(self.program.cost @ self.fixed_part)
        best, bound = (value + constant for value in (self.scip.getPrimalbound(), self.scip.getDualbound()))
        self.lazy.report_progress(float(best), float(bound), int(self.scip.getNTotalNodes()))


def _make_plugins() -> tuple[type[Any], type[Any]]:
    """Return the two classes that SCIP calls: a constraint handler and a heuristic."""
    from pyscipopt import SCIP_RESULT, Conshdlr, Heur

    class Handler(Conshdlr):
        def __init__(self, tree: _Tree) -> None:
            self.tree = tree

        def conssepalp(self, constraints: Any, nusefulconss: int) -> dict[str, Any]:
            return self.tree.answer(self._separate, SCIP_RESULT.DIDNOTRUN)

        def consenfolp(self, constraints: Any, nusefulconss: int, solinfeasible: bool) -> dict[str, Any]:
            return self.tree.answer(self._enforce, SCIP_RESULT.INFEASIBLE)

        def consenfops(
            self, constraints: Any, nusefulconss: int, solinfeasible: bool, objinfeasible: bool
        ) -> dict[str, Any]:
            return self.tree.answer(lambda: self._check(None), SCIP_RESULT.INFEASIBLE)

        def conscheck(self, constraints: Any, solution: Any, *details: Any, **more: Any) -> dict[str, Any]:
            return self.tree.answer(lambda: self._check(solution), SCIP_RESULT.INFEASIBLE)

        def conslock(self, constraint: Any, locktype: Any, nlockspos: int, nlocksneg: int) -> None:
            both = nlockspos + nlocksneg
            for variable in self.tree.variables:
                self.tree.scip.addVarLocks(variable, both, both)

        def _separate(self) -> Any:
            """Add lazy rows that SCIP's relaxation violates; return SCIP's code for the result."""
            tree = self.tree
            tree.report_progress()
            if tree.stop_if_over():
                return SCIP_RESULT.DIDNOTRUN
            found = tree.add_cuts(tree.lazy.find_violated(tree.read_point(), tree.scip.getDepth()))
            return SCIP_RESULT.SEPARATED if found else SCIP_RESULT.DIDNOTFIND

        def _enforce(self) -> Any:
            """Add lazy rows that SCIP's rounded relaxation violates; return SCIP's code for the result."""
            tree = self.tree
            rows = tree.lazy.find_refuting(tree.read_candidate())
            if rows is None:
                return SCIP_RESULT.FEASIBLE
            tree.note_doubt()
            if tree.add_cuts(rows):
                return SCIP_RESULT.SEPARATED
            return SCIP_RESULT.INFEASIBLE if tree.can_branch() else SCIP_RESULT.CUTOFF

        def _check(self, solution: Any) -> Any:
            """Return SCIP's code for whether a solution satisfies all lazy rows."""
            tree = self.tree
            holds = tree.lazy.accepts(tree.read_candidate(solution))
            if not holds:
                tree.note_doubt()
            return SCIP_RESULT.FEASIBLE if holds else SCIP_RESULT.INFEASIBLE

    class Heuristic(Heur):
        def __init__(self, tree: _Tree) -> None:
            self.tree = tree

        def heurexec(self, heurtiming: Any, nodeinfeasible: bool) -> dict[str, Any]:
            return self.tree.answer(self._propose, SCIP_RESULT.DIDNOTRUN)

        def _propose(self) -> Any:
            """Give SCIP a proposed solution; return SCIP's code for whether it took it."""
            tree, scip = self.tree, self.tree.scip
            if tree.stop_if_over():
                return SCIP_RESULT.DIDNOTRUN
            candidate = tree.lazy.propose(tree.read_point())
            if candidate is None:
                return SCIP_RESULT.DIDNOTFIND
            values = candidate[tree.free]
            # SCIP refuses values outside bounds that it tightened meanwhile.
            for variable, value in zip(tree.variables, values, strict=True):
                if not variable.getLbGlobal() - 1e-9 <= value <= variable.getUbGlobal() + 1e-9:
                    return SCIP_RESULT.DIDNOTFIND
            solution = scip.createSol(self)
            for variable, value in zip(tree.variables, values, strict=True):
                scip.setSolVal(solution, variable, float(value))
            return SCIP_RESULT.FOUNDSOL if scip.trySol(solution) else SCIP_RESULT.DIDNOTFIND

    return Handler, Heuristic
