"""Certificates: made only of safe audits, complete, and tied to one case and one release."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from tacita import verify
from tacita.auditing.audit import Audit, audit
from tacita.auditing.certificate import certify, check_certificate, dump
from tacita.core.attacker import Insider, Outsider
from tacita.core.errors import CertificateError, ReleaseError, UnsafeError
from tacita.core.hierarchy import Hierarchy
from tacita.core.levels import Levels
from tacita.core.release import Release
from tacita.core.tables.linked import link
from tacita.core.tables.table import Table
from tacita.problem.problem import Problem

TABLE = Table.from_array([[10, 20], [30, 40]])
N = len(TABLE)
INNER = np.array([TABLE.find(r, c) for r in "12" for c in "12"])


def levels(upper: int = 3, cell: int = 0) -> Levels:
    sensitive = np.zeros(N, dtype=bool)
    sensitive[INNER[cell]] = True
    return Levels.of(sensitive, upper=np.full(N, upper))


def safe(problem: Problem | None = None) -> Audit:
    problem = problem or Problem(TABLE, levels())
    return audit(problem, Release.suppress(problem.table, INNER))


def test_only_safe_audits_are_certified() -> None:
    with pytest.raises(UnsafeError, match="1 UNSAFE"):
        certify(audit(Problem(TABLE, levels()), Release.suppress(TABLE, INNER[:1])))


def test_a_certificate_survives_writing_and_reading() -> None:
    certificate = certify(safe())
    assert json.loads(dump(certificate)) == certificate
    assert verify.verify(certificate) == 1


def test_a_certificate_says_what_it_proves_and_nothing_where_nothing_was_sensitive() -> None:
    certificate = certify(safe())
    assert certificate["statement"].startswith("1 sensitive cell keeps its protection levels")
    nothing = certify(audit(Problem(TABLE, Levels.none(N)), Release.suppress(TABLE, INNER)))
    assert nothing["statement"] == verify.NOTHING == "nothing was sensitive, so nothing was proven"
    assert verify.verify(nothing) == 0
    assert verify.outcome(0, N) == f"{verify.NOTHING}, {N} cells"
    assert verify.outcome(1, 1) == "1 pair of sensitive cell and attacker, 1 cell"
    for false in (certificate["statement"], "everything is safe"):
        content = {**nothing, "statement": false}
        del content["digest"]
        with pytest.raises(verify.RefusedError, match="says what it does not prove"):
            verify.verify({**content, "digest": verify.digest(content)})


def test_certificates_of_the_first_version_are_refused_with_the_remedy() -> None:
    """They say neither how rows stand nor how cells are marked, so any of it could carry a message."""
    with pytest.raises(verify.RefusedError, match=r"version 1; .* version 2: audit the release again"):
        verify.verify({**certify(safe()), "version": 1})


def test_every_attacker_has_claims_or_needs_none() -> None:
    """One insider sees through the short way round, one attacks with a higher level, one knows the cell."""
    table = Table.from_array([[10, 20, 30], [40, 50, 60], [70, 80, 90]])
    cells = np.array([table.find(r, c) for r in "123" for c in "123"])
    sensitive = np.zeros(len(table), dtype=bool)
    sensitive[cells[0]] = True
    asked = Levels.of(sensitive, upper=np.full(len(table), 3))
    higher = [np.array([x]) for x in (0, 8, 0)]
    insiders = [
        *(Insider.knowing(f"alone in {c}", table, {int(c): (table.values[c],) * 2}) for c in cells[1:]),
        Insider.knowing("alone in the cell", table, {int(cells[0]): (10, 10)}),
        Insider("higher", cells[4:5], np.array([1]), np.array([99]), cells[:1], *higher),
    ]
    problem = Problem(table, asked, attackers=insiders)
    found = audit(problem, Release.suppress(table, cells))
    certificate = json.loads(dump(certify(found)))
    pairs = verify.verify(certificate)
    assert pairs >= 2
    check_certificate(certificate, problem, found.release)


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (Problem(TABLE, levels(4)), "rules, levels or attackers differ"),
        (Problem(TABLE, levels(3, 1)), "rules, levels or attackers differ"),
        (Problem(TABLE, levels(), attackers=Outsider.of(TABLE, upper=200)), "levels or attackers differ"),
        (
            Problem(TABLE, levels(), attackers=Insider.knowing("x", TABLE, {0: (100, 100)})),
            "attackers differ",
        ),
        (Problem(replace(TABLE, integer=False), levels()), "says that cells are counts"),
        (
            Problem(Table.from_array([[10, 20], [30, 40]], codes=[["1", "2"], ["b", "a"]]), levels()),
            "cells differ, or stand in another order",
        ),
    ],
)
def test_a_certificate_of_another_question_is_refused(other: Problem, named: str) -> None:
    certificate, release = certify(safe()), Release.suppress(TABLE, INNER)
    check_certificate(certificate, Problem(TABLE, levels()), release)
    with pytest.raises(CertificateError, match=f"not of this case: .*{named}"):
        check_certificate(certificate, other, release)


def test_a_certificate_of_other_values_is_refused() -> None:
    other = Table.from_array([[11, 19], [29, 41]])
    certificate = certify(safe(Problem(other, levels())))
    with pytest.raises(CertificateError, match="its values differ"):
        check_certificate(certificate, Problem(TABLE, levels()), Release.suppress(TABLE, INNER))


def test_a_certificate_of_another_release_is_refused() -> None:
    certificate, problem = certify(safe()), Problem(TABLE, levels())
    less = Release.intervals(TABLE, INNER, TABLE.units - 9, TABLE.units + 9)
    first = re.escape(f"not of this release: it says something else about cell ({TABLE.name(INNER.min())})")
    with pytest.raises(CertificateError, match=first):
        check_certificate(certificate, problem, less)
    del certificate["low"][-1]
    with pytest.raises(CertificateError, match=re.escape(TABLE.name(N - 1))):
        check_certificate(certificate, problem, Release.suppress(TABLE, INNER))
    certificate = certify(safe())
    renamed = Table.from_array([[10, 20], [30, 40]], names=["a", "b"])
    with pytest.raises(ReleaseError, match="other cells"):
        check_certificate(certificate, problem, Release.suppress(renamed, INNER))


def test_a_certificate_holds_for_a_release_that_says_less() -> None:
    certificate, problem = certify(safe()), Problem(TABLE, levels())
    more = np.array([*INNER, TABLE.find("Total", "1"), TABLE.find("Total", "2")])
    assert check_certificate(certificate, problem, Release.suppress(TABLE, INNER)) == 0
    assert check_certificate(certificate, problem, Release.suppress(TABLE, more)) == 2
    with pytest.raises(CertificateError, match="it says something else about cell"):
        check_certificate(certificate, problem, Release.suppress(TABLE, more[1:]))


def test_counts_with_decimals_are_certified_in_whole_steps() -> None:
    table = TABLE.with_decimals(2)
    sensitive = np.zeros(N, dtype=bool)
    sensitive[INNER[0]] = True
    found = safe(Problem(table, Levels.of(sensitive, upper=np.full(N, 250))))
    certificate = certify(found)
    assert verify.verify(certificate) == 1
    assert all(change % 100 == 0 for _, _, changes in certificate["moves"] for change in changes)


def test_cells_carry_every_name_under_which_a_file_shows_them() -> None:
    tree = Hierarchy.from_dict({"T": {"A": ["a1", "a2"], "C": ["c1"]}})
    rows = {"r": ["a1", "a2", "c1"], "value": [5, 6, 7]}
    import pandas as pd

    table = Table.from_frame(pd.DataFrame(rows), {"r": tree}, value="value")
    problem = Problem(table, Levels.none(len(table)))
    names = certify(audit(problem, Release.suppress(table, np.array([0]))))["cells"]
    assert [["C"], ["c1"]] in [sorted(cell) for cell in names]

    linked = link(
        {
            "one": Table.from_array([1, 2], names=["p"]),
            "two": Table.from_array([[1], [2]], names=["p", "q"], codes=[["1", "2"], ["x"]]),
        }
    )
    problem = Problem(linked, Levels.none(len(linked)))
    names = certify(audit(problem, Release.suppress(linked, np.array([0]))))["cells"]
    assert ["one", "1", ""] in names[linked.find("1")]
    assert ["two", "1", "x"] in names[linked.find("1")]
