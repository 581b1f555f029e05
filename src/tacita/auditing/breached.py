"""Whether earlier releases leave any release possible that keeps the levels.

Hiding more never tells an attacker more, so a level can be kept if and only if it is kept where every cell is
hidden that may be.
"""

from __future__ import annotations

import numpy as np

from tacita.auditing.audit import UNSAFE, audit
from tacita.core.errors import LevelsError, and_others
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.problem.problem import Problem


def refuse_breached(problem: Problem, run: Run | None = None) -> None:
    """Raise if earlier releases alone, with the sums of the table, tell more of a cell than its levels allow.

    Raises
    ------
    LevelsError
        The message names the cell, the attacker and the remedy.
    """
    if not problem.already_published:
        return
    found = audit(problem, Release.suppress(problem.table, np.ones(len(problem.table), dtype=bool)), run)
    broken = [finding for finding in found.findings(only_unsafe=True) if finding.bits & UNSAFE]
    if broken:
        first = broken[0]
        raise LevelsError(
            f"no release keeps its levels any more against {first.attacker} ({first.verdict}), as what was "
            "published earlier tells too much of it"
            f"{and_others(len({finding.cell for finding in broken}), 'cell')}",
            place=f"({first.name})",
            remedy="Exempt the cell, lower its level, or withdraw the earlier release.",
            options=["published"],
        )
