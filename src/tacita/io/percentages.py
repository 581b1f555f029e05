"""Levels in percent of the value, as :mod:`tacita.rules.percentages` defines them."""

from __future__ import annotations

from tacita.attackers import Outsider
from tacita.levels import Levels
from tacita.rules import percentages
from tacita.tables.table import Table


def amounts_in(levels: Levels, table: Table, outsider: Outsider) -> Levels:
    return percentages.amounts_in(levels, table)
