"""Rows that make a table and could as well be records: nothing in the file tells one from the other.

``n`` records that fall into ``K`` cells at random repeat none of them with probability at most
``K! / ((K - n)! K^n)``, which is reached where all cells are equally likely. Where that is next to nothing,
or every cell occurs, or a row is a total, the rows are cells.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from math import lgamma, log, prod
from pathlib import Path

import numpy as np

from tacita.app.work.handed import Handed
from tacita.app.work.open_case import Case
from tacita.app.work.records import RecordsAtHand
from tacita.core.errors import TacitaError
from tacita.core.exact import Mask
from tacita.core.tables.table import Table
from tacita.formats.roles import guess_role
from tacita.tabulation.overview import Overview

NEXT_TO_NOTHING = 0.01


@dataclass(frozen=True)
class Otherwise:
    """A case as it was opened, and the records that its rows could be as well."""

    case: Case
    records: RecordsAtHand

    @property
    def private(self) -> Path | None:
        return self.records.private


def otherwise(handed: Handed, case: Case) -> Otherwise | None:
    """What the rows of a table could be as well; None where they are cells. Most tables tell at a glance."""
    if case.from_project or not _so_few_rows(case.table):
        return None
    try:
        records = handed.records()
    except TacitaError:
        return None
    if _same_rows(case.table, records.seen):
        return Otherwise(case, records)
    if records.private is not None and records.private != handed.private:
        shutil.rmtree(records.private)
    return None


def _so_few_rows(table: Table) -> bool:
    """Whether so few of the possible cells are listed that records need not repeat one."""
    structure = table.structure
    if len(structure.dimensions) < 2 or len(structure.parts) > 1 or table.count is not None:
        return False
    inner = _inner(table)
    listed = int(inner.sum())
    possible = prod(np.unique(column).size for column in structure.codes[inner].T)
    if not 1 < listed < possible:
        return False
    apart = lgamma(possible + 1) - lgamma(possible - listed + 1) - listed * log(possible)
    return apart >= log(NEXT_TO_NOTHING)


def _same_rows(table: Table, seen: Overview) -> bool:
    """Whether each record is an inner cell, none a total, and no column speaks of cells."""
    parts = {guess_role(name) for name in seen.names}
    return (
        seen.records == int(_inner(table).sum())
        and {dimension.name for dimension in table.structure.dimensions} <= set(seen.names)
        and parts <= {None, "value", "identity"}
    )


def _inner(table: Table) -> Mask:
    """Cells that are no total in any dimension."""
    structure = table.structure
    inner = np.ones(len(table), dtype=bool)
    for d, dimension in enumerate(structure.dimensions):
        inner &= ~np.isin(structure.codes[:, d], np.concatenate(dimension.parents))
    return inner
