"""Options that say one number per cell, held against the table before anything runs: a base of ``seven`` is
no number, and a column only if the table has one of that name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tacita.methods.method import options_of
from tacita.methods.options.per_cell import amounts
from tacita.methods.rounding.bases import chosen_bases
from tacita.problem.problem import Problem


def refuse_misfits(problem: Problem, method: str, values: Mapping[str, Any]) -> None:
    """Refuse, in the words of the methods, what no run on this table could use.

    Raises
    ------
    InputError
        A base that is not above zero, an amount below zero or finer than the table, or a column that the
        table does not have.
    """
    for option in options_of(method):
        said = values.get(option.name)
        if said is None or float not in option.kinds:
            continue
        if option.name == "base":
            chosen_bases(problem, said, np.ones(len(problem.table), dtype=bool))
        elif str in option.kinds and not str(said).endswith("%"):
            amounts(problem, said, option.name)
