"""A first table, from an array to a file that may be published: python examples/first_table.py [FOLDER]"""

from __future__ import annotations

import sys
from pathlib import Path

from tacita.auditing.audit import audit
from tacita.auditing.certificate import certify
from tacita.core.problem import Problem
from tacita.core.release import Release
from tacita.core.tables.table import Table
from tacita.methods import make_method
from tacita.rules import Threshold
from tacita.verify import verify


def main(folder: Path) -> None:
    # Patients by region and diagnosis; totals are computed. Fewer than 5 patients in a cell is sensitive.
    table = Table.from_array(
        [[20, 50, 10, 61], [8, 19, 3, 44], [17, 32, 12, 38], [26, 4, 31, 57]],
        names=("region", "diagnosis"),
        codes=(("North", "East", "South", "West"), ("A", "B", "C", "D")),
    )
    problem = Problem(table, Threshold(5))

    # Hiding the sensitive cells alone is not enough: totals give them away.
    print("sensitive cells only:", audit(problem, Release.suppress(table, problem.sensitive)).verdict)

    # A method proposes, the audit decides.
    release = make_method("suppression").protect(problem)
    found = audit(problem, release)
    print("with more cells hidden:", found.verdict)

    # The proof can be checked without a solver; only then is the release written.
    print("pairs of cell and attacker proven:", verify(certify(found)))
    print("written:", release.write(folder / "patients.csv", audit=found).name)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
