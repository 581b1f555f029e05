"""One pattern of hidden cells for several variables of the same cells, such as turnover and employees.

Readers of both tables see the same gaps. Each variable has its own levels and attackers, and each release
protects its own problem. The pattern grows until it serves all of them: a suppression of the first variable
is imposed on the second, whose pattern is imposed on the third, and so on, until none adds a cell. So it is
not proven to be the least for all variables together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacita.core.errors import InputError
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.methods.suppression.suppression import Suppression
from tacita.problem.problem import Problem, start_run


def suppress_alike(
    problems: Sequence[Problem], method: Suppression | None = None, run: Run | None = None
) -> tuple[Release, ...]:
    """Return a release of each variable, in which the same cells are hidden; each protects its problem.

    What a reader concludes from both variables together, such as turnover per head, is not considered.

    Parameters
    ----------
    problems
        Problems on tables with the same cells in the same order, as one tabulation of each variable gives.
    method
        Options of the suppression.
    run
        Time limit and progress, for all of it.

    Raises
    ------
    InputError
        The tables have different cells, or no pattern protects a variable.
    """
    if not problems:
        raise InputError("no variable is given", remedy="give a problem for each")
    first = problems[0].table.structure
    if not all(problem.table.structure.same_cells(first) for problem in problems):
        raise InputError(
            "the tables list different cells", remedy="tabulate all variables from the same records and codes"
        )
    run, method = start_run(problems[0], run), method or Suppression()
    hidden = np.zeros(len(first), dtype=bool)
    releases: list[Release | None] = [None] * len(problems)
    while True:
        for k, problem in enumerate(problems):
            known = releases[k]
            if known is None or not np.array_equal(known.hidden, hidden):
                releases[k] = found = method.protect(problem.with_hidden(hidden), run)
                hidden = hidden | found.hidden
        done = [each for each in releases if each is not None and np.array_equal(each.hidden, hidden)]
        if len(done) == len(problems):
            return tuple(done)
