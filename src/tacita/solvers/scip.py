"""SCIP as a branch-and-cut tree: ``min c x : rows x >= rhs, l <= x <= u, x_j whole for some j``, with rows
that are only known when a point violates them.

Three questions are put to the owner of the hidden rows: which rows does this relaxation violate, which rows
does this candidate violate (none: it is a solution), and do you see a good candidate near this point? SCIP
brings nodes, branching, and its general cuts (Gomory, mixed-integer rounding, knapsack covers, zero-half).
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


class HiddenRows(Protocol):
    """Who knows the rows that are not listed.

    ``in_doubt`` is set when a candidate was refused because there was no answer.
    """

    in_doubt: bool

    def violated(self, x: Floats, depth: int) -> Sequence[CutRow]:
        """Rows that a fractional point violates, as far as it pays to look."""

    def refuted(self, x: Floats) -> Sequence[CutRow] | None:
        """Rows that a candidate violates; None if it is a solution, empty if no row says why it is not."""

    def accepted(self, x: Floats) -> bool:
        """Whether a candidate is a solution."""

    def proposed(self, x: Floats) -> Floats | None:
        """A solution near a fractional point, or None."""

    def progress(self, best: float, bound: float, nodes: int) -> None:
        """Told now and then."""


@dataclass(frozen=True, eq=False)
class TreeResult:
    """``bound`` holds for every solution better than the cutoff; ``complete`` if the tree is exhausted and no
    question was cut short.
    """

    complete: bool
    bound: float
    nodes: int


def branch_and_cut(
    program: IntegerProgram,
    known: Sequence[CutRow],
    hidden: HiddenRows,
    cutoff: float,
    run: Run,
    nodes: int | None = None,
) -> TreeResult:
    """Search for solutions cheaper than ``cutoff``; each one is shown to ``hidden`` when it is found.

    ``nodes`` is the most nodes to look at.
    """
    return _Tree(program, hidden, cutoff, run).search(known, nodes)


class _Tree:
    def __init__(self, program: IntegerProgram, hidden: HiddenRows, cutoff: float, run: Run) -> None:
        from pyscipopt import SCIP_PARAMSETTING, Model

        self.program, self.hidden, self.run, self.cutoff = program, hidden, run, cutoff
        self.free: Cells = np.flatnonzero(program.upper > program.lower)
        self.fixed_part = np.where(program.upper > program.lower, 0.0, program.lower)
        self.scip: Any = Model()
        self.scip.hideOutput()
        # Whoever owns the hidden rows also knows how to find solutions; SCIP's guesses would all need asking.
        self.scip.setHeuristics(SCIP_PARAMSETTING.OFF)
        self.variables = [self._variable(int(j)) for j in self.free]
        self.place = {int(j): v for j, v in zip(self.free, self.variables, strict=True)}
        self.doubtful = False
        """Whether a candidate may have been refused for no reason."""
        self.error: BaseException | None = None
        """What went wrong in a question."""

    def _variable(self, j: int) -> Any:
        p = self.program
        kind = ("B" if p.lower[j] == 0 and p.upper[j] == 1 else "I") if p.integer[j] else "C"
        upper = None if np.isinf(p.upper[j]) else float(p.upper[j])
        return self.scip.addVar(vtype=kind, lb=float(p.lower[j]), ub=upper, obj=float(p.cost[j]))

    def search(self, known: Sequence[CutRow], nodes: int | None) -> TreeResult:
        from pyscipopt import SCIP_HEURTIMING

        scip, p = self.scip, self.program
        constant = float(p.cost @ self.fixed_part)
        if not self._list(known):
            return TreeResult(False, -np.inf, 0)
        if self._whole_values():
            scip.setObjIntegral()
        for name, value in self._settings():
            scip.setParam(name, value)
        if nodes is not None:
            scip.setParam("limits/nodes", nodes)
        if np.isfinite(self.cutoff):
            scip.setObjlimit(float(self.cutoff - constant))
        handler, heuristic = _plugins()
        scip.includeConshdlr(
            handler(self),
            "hidden",
            "rows that are found when they are violated",
            sepapriority=1_000_000,
            enfopriority=-1,
            chckpriority=-1,
            sepafreq=1,
            needscons=False,
        )
        scip.includeHeur(
            heuristic(self),
            "proposed",
            "a solution near the relaxation",
            "Y",
            priority=100_000,
            freq=PROPOSE_EVERY,
            timingmask=SCIP_HEURTIMING.AFTERLPNODE,
        )
        # Other threads go on meanwhile; each question takes the interpreter for as long as it lasts.
        try:
            scip.optimizeNogil()
        except Exception as error:
            # pyscipopt knows no exception of its own. What a question raised is the cause, if one did.
            if self.error is None:
                raise SolverError(
                    f"SCIP gave up the search for the best release ({error}): {TOO_FAR_APART}"
                ) from None
        if self.error is not None:
            raise self.error
        status = scip.getStatus()
        complete = status in ("optimal", "infeasible") and not self.doubtful
        bound = self.cutoff if complete else scip.getDualbound() + constant
        if self.doubtful:
            # A node may be gone for no reason: what was told before stands, what SCIP believes now does not.
            bound = -np.inf
        looked = int(scip.getNTotalNodes())
        scip.freeProb()
        return TreeResult(complete, float(bound), looked)

    def _whole_values(self) -> bool:
        """Every solution has a whole value, apart from what is fixed."""
        costs = self.program.cost[self.free]
        return bool((costs == np.rint(costs)).all() and self.program.integer[self.free][costs != 0].all())

    def _settings(self) -> list[tuple[str, Any]]:
        limit = self.run.remaining
        return [
            ("limits/time", float(min(limit, 1e20))),
            # Ctrl-C is for whoever runs us: they know what to keep, and may have more to end than a search.
            ("misc/catchctrlc", False),
            # Hidden rows make fixings by duality arguments wrong.
            ("misc/allowstrongdualreds", False),
            ("misc/allowweakdualreds", False),
            # Rows that SCIP has not seen need not share the symmetry of those it has.
            ("misc/usesymmetry", 0),
            # Few variables and known rows: presolving and restarts cost more than they bring.
            ("presolving/maxrounds", 0),
            ("presolving/maxrestarts", 0),
            ("randomization/randomseedshift", int(self.run.search % 2**31)),
        ]

    def _list(self, known: Sequence[CutRow]) -> bool:
        """Make the rows that are listed, which can take seconds; False if the time ends meanwhile."""
        p = self.program
        for j, low, high in zip(range(p.rows.shape[0]), p.row_lower, p.row_upper, strict=True):
            if self.run.over:
                return False
            span = slice(p.rows.indptr[j], p.rows.indptr[j + 1])
            self._constraint(p.rows.indices[span].astype(np.int64), p.rows.data[span], low, high)
        for row in known:
            if self.run.over:
                return False
            self._constraint(row.index, row.value, row.rhs, np.inf, removable=True)
        return True

    def _constraint(
        self, index: Cells, value: Floats, low: float, high: float, removable: bool = False
    ) -> None:
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

    # ------------------------------------------------------------ called back

    def answer(self, question: Callable[[], Any], if_failed: Any) -> dict[str, Any]:
        """The answer to a question; an exception must not pass through SCIP, which would forget what it was:
        it waits until the search has ended.
        """
        try:
            return {"result": question()}
        except BaseException as error:
            self.error = error
            self.scip.interruptSolve()
            return {"result": if_failed}

    def point(self, solution: Any = None) -> Floats:
        x = self.fixed_part.copy()
        value = self.scip.getSolVal
        x[self.free] = [value(solution, v) for v in self.variables]
        return np.clip(x, self.program.lower, self.program.upper)

    def rounded(self, x: Floats) -> Floats:
        return np.where(self.program.integer, np.rint(x), x)

    def add(self, rows: Sequence[CutRow]) -> int:
        scip = self.scip
        for row in rows:
            given = float(row.value @ self.fixed_part[row.index])
            cut = scip.createEmptyRowUnspec(
                "hidden", lhs=row.rhs - given, rhs=None, local=False, modifiable=False, removable=True
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
        """A candidate was refused: was it looked at in full?"""
        if self.stop_if_over() or self.hidden.in_doubt:
            self.doubtful = True
            self.scip.interruptSolve()

    def can_branch(self) -> bool:
        """Return whether an integer variable is free at this node. Without one SCIP has nothing to do with a
        candidate that is refused without a row: the node is given up, and with it what its continuous
        variables might have allowed.
        """
        if any(
            self.program.integer[j] and v.getUbLocal() - v.getLbLocal() > 0.5
            for j, v in zip(self.free, self.variables, strict=True)
        ):
            return True
        self.doubtful |= not self.program.integer[self.free].all()
        return False

    def stop_if_over(self) -> bool:
        if self.run.over:
            self.scip.interruptSolve()
            return True
        return False

    def tell(self) -> None:
        constant = float(self.program.cost @ self.fixed_part)
        self.hidden.progress(
            float(self.scip.getPrimalbound() + constant),
            float(self.scip.getDualbound() + constant),
            int(self.scip.getNTotalNodes()),
        )


def _plugins() -> tuple[type[Any], type[Any]]:
    """The two classes that SCIP calls, made when SCIP is first loaded."""
    from pyscipopt import SCIP_RESULT, Conshdlr, Heur

    class Handler(Conshdlr):
        def __init__(self, tree: _Tree) -> None:
            self.tree = tree

        def conssepalp(self, constraints: Any, nusefulconss: int) -> dict[str, Any]:
            return self.tree.answer(self._separated, SCIP_RESULT.DIDNOTRUN)

        def consenfolp(self, constraints: Any, nusefulconss: int, solinfeasible: bool) -> dict[str, Any]:
            return self.tree.answer(self._enforced, SCIP_RESULT.INFEASIBLE)

        def consenfops(
            self, constraints: Any, nusefulconss: int, solinfeasible: bool, objinfeasible: bool
        ) -> dict[str, Any]:
            return self.tree.answer(lambda: self._checked(None), SCIP_RESULT.INFEASIBLE)

        def conscheck(self, constraints: Any, solution: Any, *details: Any, **more: Any) -> dict[str, Any]:
            return self.tree.answer(lambda: self._checked(solution), SCIP_RESULT.INFEASIBLE)

        def conslock(self, constraint: Any, locktype: Any, nlockspos: int, nlocksneg: int) -> None:
            both = nlockspos + nlocksneg
            for variable in self.tree.variables:
                self.tree.scip.addVarLocks(variable, both, both)

        def _separated(self) -> Any:
            tree = self.tree
            if tree.stop_if_over():
                return SCIP_RESULT.DIDNOTRUN
            tree.tell()
            found = tree.add(tree.hidden.violated(tree.point(), tree.scip.getDepth()))
            return SCIP_RESULT.SEPARATED if found else SCIP_RESULT.DIDNOTFIND

        def _enforced(self) -> Any:
            tree = self.tree
            rows = tree.hidden.refuted(tree.rounded(tree.point()))
            if rows is None:
                return SCIP_RESULT.FEASIBLE
            tree.note_doubt()
            if tree.add(rows):
                return SCIP_RESULT.SEPARATED
            return SCIP_RESULT.INFEASIBLE if tree.can_branch() else SCIP_RESULT.CUTOFF

        def _checked(self, solution: Any) -> Any:
            tree = self.tree
            holds = tree.hidden.accepted(tree.rounded(tree.point(solution)))
            if not holds:
                tree.note_doubt()
            return SCIP_RESULT.FEASIBLE if holds else SCIP_RESULT.INFEASIBLE

    class Heuristic(Heur):
        def __init__(self, tree: _Tree) -> None:
            self.tree = tree

        def heurexec(self, heurtiming: Any, nodeinfeasible: bool) -> dict[str, Any]:
            return self.tree.answer(self._proposed, SCIP_RESULT.DIDNOTRUN)

        def _proposed(self) -> Any:
            tree, scip = self.tree, self.tree.scip
            if tree.stop_if_over():
                return SCIP_RESULT.DIDNOTRUN
            candidate = tree.hidden.proposed(tree.point())
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
            taken = scip.trySol(solution)
            return SCIP_RESULT.FOUNDSOL if taken else SCIP_RESULT.DIDNOTFIND

    return Handler, Heuristic
