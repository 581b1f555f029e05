"""The contributors that a rule is about: respondents or holdings, by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

import numpy as np

from tacita.core.errors import RuleError
from tacita.core.exact import Mask
from tacita.core.tables.contributions import Contributions
from tacita.core.tables.table import Table

By = Literal["respondent", "holding"]
RESPONDENT: Final = "respondent"
HOLDING: Final = "holding"


def check_by(rule: str, by: str) -> None:
    """Refuse anything but the two kinds of contributors."""
    if by not in (RESPONDENT, HOLDING):
        raise RuleError(
            f"contributors are told apart by {RESPONDENT} or by {HOLDING}, not by '{by}'", place=rule
        )


def require_contributions(table: Table, by: str, rule: str) -> Contributions:
    """Return the largest contributions by respondent or by holding; refuse a table that has none."""
    found = table.contributions if by == RESPONDENT else table.holdings
    if found is None:
        raise RuleError(
            f"{rule} needs the largest contributions per cell by {by}, and the table has none",
            remedy=f"tabulate records with a column of {by}s, or name the columns of the largest "
            "contributions",
        )
    return found


def to_name_set(names: Iterable[object]) -> frozenset[str]:
    """Return names of contributors as a set; a single text is one name."""
    return frozenset([names]) if isinstance(names, str) else frozenset(map(str, names))


def find_slots(contributions: Contributions, names: frozenset[str]) -> Mask:
    """Return a mask of the stored contributions that were made by one of ``names``."""
    if not names or not len(contributions.names):
        return np.zeros(contributions.who.shape, dtype=bool)
    chosen = np.fromiter((str(name) in names for name in contributions.names), bool, len(contributions.names))
    return np.asarray((contributions.who >= 0) & chosen[contributions.who])
