"""Where the table of a written project comes from: microdata copied beside it, or a file of cells, which does
not tell as much of contributors.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from tacita.core.tables.table import Table
from tacita.problem.problem import Problem
from tacita.rules.grammar import write_rule
from tacita.specification.project_rules import find_written_rules, select_equivalent
from tacita.specification.specification import Specification
from tacita.tabulation.address import is_address


def copy_passing_files(
    specification: Specification, passing: Path, free: Callable[[str], str]
) -> Specification:
    """Return the specification with the files that it names in a ``passing`` folder copied to its own, under
    names that are ``free``.
    """
    copies: dict[str, str] = {}

    def copy(path: str) -> str:
        file = Path(path)
        if is_address(path) or not file.resolve().is_relative_to(passing.resolve()):
            return path
        if path not in copies:
            stem, point, ending = file.name.partition(".")
            copies[path] = f"{free(stem)}{point}{ending}"
            shutil.copyfile(file, specification.folder / copies[path])
        return copies[path]

    return specification.map_files(copy)


def strip_table(table: Table) -> tuple[Table, list[str]]:
    """Return the table as a project can write it, without who contributed, and a note on that."""
    notes = []
    contributions = table.contributions
    if contributions is not None and not np.array_equal(contributions.sums, table.units):
        contributions = None
    others = (table.population, table.holdings, table.shadow)
    if contributions is not table.contributions or any(other is not None for other in others):
        notes.append(
            "the table is written without some of what is known of its contributors: "
            "other rules on them need the microdata again"
        )
    return replace(table, contributions=contributions, holdings=None, population=None, shadow=None), notes


def find_lost_rules(problem: Problem) -> tuple[str, ...]:
    """Return the rules of a problem, as they are written, that its project cannot have on a file of cells, as
    they ask for more of contributors.
    """
    rules, (table, _) = find_written_rules(problem), strip_table(problem.table)
    kept = select_equivalent(rules, problem.table, table)
    return tuple(write_rule(rule) for rule in rules if rule not in kept)
