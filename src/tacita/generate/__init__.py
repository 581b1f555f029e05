"""Random tables, problems, classifications and microdata: seeded and calibrated. None of it is real.

Imports: core, problem.
"""

from __future__ import annotations

from tacita.generate.families import FAMILIES
from tacita.generate.records import Microdata, microdata
from tacita.generate.tables import problem, table
from tacita.generate.trees import hierarchy

__all__ = ["FAMILIES", "Microdata", "hierarchy", "microdata", "problem", "table"]
