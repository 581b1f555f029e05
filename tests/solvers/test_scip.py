"""SCIP and whoever knows the rows that are not listed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.sparse import csr_array

from tacita.core.exact import Floats
from tacita.core.run import Run
from tacita.solvers.linear_program import IntegerProgram
from tacita.solvers.row_pool import CutRow
from tacita.solvers.scip import branch_and_cut

ODD = 7
"""Variables of which any two must have one chosen: the cheapest choice is all but one."""


def program() -> IntegerProgram:
    return IntegerProgram(
        np.ones(ODD),
        np.zeros(ODD),
        np.ones(ODD),
        csr_array((0, ODD)),
        np.zeros(0),
        np.zeros(0),
        np.ones(ODD, dtype=bool),
    )


class Pairs:
    """One of any two variables is 1."""

    def __init__(self, proposal: Floats | None = None) -> None:
        self.in_doubt, self.closed, self.best, self.proposal = False, False, np.inf, proposal

    def rows(self, x: Floats) -> list[CutRow]:
        pairs = ((i, j) for j in range(ODD) for i in range(j) if x[i] + x[j] < 1 - 1e-6)
        return [CutRow(np.array(pair), np.ones(2), 1.0) for pair in pairs]

    def find_violated(self, x: Floats, depth: int) -> Sequence[CutRow]:
        return self.rows(x)[:2]

    def find_refuting(self, x: Floats) -> Sequence[CutRow] | None:
        found = self.rows(x)
        if not found:
            self.best = min(self.best, float(x.sum()))
        return found or None

    def accepts(self, x: Floats) -> bool:
        return self.find_refuting(x) is None

    def propose(self, x: Floats) -> Floats | None:
        return self.proposal

    def report_progress(self, best: float, bound: float, nodes: int) -> None:
        assert bound <= best or best > 1e19


def test_hidden_rows_are_found_and_the_optimum_proven() -> None:
    hidden = Pairs()
    ended = branch_and_cut(program(), [], hidden, np.inf, Run())
    assert ended.complete
    assert hidden.best == ODD - 1


QUESTIONS = ["find_violated", "find_refuting", "accepts", "propose", "report_progress"]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_what_goes_wrong_in_a_question_reaches_whoever_asked(
    question: str, kind: type[BaseException]
) -> None:
    def fail(*arguments: object) -> None:
        raise kind("of our own")

    # SCIP asks whether a candidate is accepted where someone proposes one.
    hidden = Pairs(np.ones(ODD) if question == "accepts" else None)
    setattr(hidden, question, fail)
    with pytest.raises(kind, match="of our own"):
        branch_and_cut(program(), [], hidden, np.inf, Run())


def test_a_run_that_is_over_proves_nothing() -> None:
    run, hidden = Run(), Pairs()
    run.cancel()
    ended = branch_and_cut(program(), [], hidden, np.inf, run)
    assert not ended.complete
    assert ended.bound <= ODD - 1
