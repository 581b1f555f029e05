"""What every method must do."""

from __future__ import annotations

import numpy as np

from tacita.core.release import Release
from tacita.core.run import Run
from tacita.methods.method import Method
from tacita.problem.problem import Problem


def check_method(method: Method, problem: Problem, run: Run | None = None) -> Release:
    """Protect a problem and hold the method to its word: the audit finds the release safe, and inputs are
    unchanged.
    """
    from tacita.auditing.audit import audit

    before = problem.table.units.copy()
    release = method.protect(problem, run)
    assert np.array_equal(problem.table.units, before), f"{method.name} changed its input"
    found = audit(problem, release)
    assert found.safe, f"{method.name} returned a release that its audit refuses: {found.verdict}"
    return release
