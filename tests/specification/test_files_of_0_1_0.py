"""Files that version 0.1.0 wrote are read: projects, releases and certificates.

``version_0_1_0`` was written by that version; ``expected.json`` is the problem that it made of a project.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacita as tc
from tacita.auditing.certificate import complete_certificate
from tacita.cli import main
from tacita.core.errors import CertificateError
from tacita.verify import RefusedError, digest, verify

FILES = Path(__file__).with_name("version_0_1_0")
PROJECTS = sorted(path.name for path in (FILES / "projects").iterdir())
RESULTS = sorted(path.name for path in (FILES / "results").iterdir())
CASE = (str(FILES / "patients.csv"), "--rules", "threshold(5)", "--attackers", "outsider")


@pytest.mark.parametrize("name", PROJECTS)
def test_projects_make_the_problem_that_they_made(name: str) -> None:
    folder = FILES / "projects" / name
    problem = tc.load_project(folder / "project.toml").problem()
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    levels, everyone = problem.levels, problem.outsider
    assert (problem.table.decimals, bool(problem.table.integer)) == (expected["dec"], expected["whole"])
    for found, was in (
        (problem.table.units, "values"),
        (levels.sensitive, "sens"),
        (levels.lower, "lower"),
        (levels.upper, "upper"),
        (levels.sliding, "sliding"),
        (everyone.lower, "olow"),
        (everyone.upper, "ohigh"),
        (problem.cost, "cost"),
    ):
        np.testing.assert_array_equal(found, expected[was], err_msg=was)
    # Contributors of cells that are not sensitive are attackers too, since then.
    assert set(expected["insiders"]) <= set(problem.insiders.names)


@pytest.mark.parametrize("name", RESULTS)
def test_releases_are_audited_and_their_certificates_verified(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / name
    shutil.copytree(FILES / "results" / name, folder)
    assert main(["audit", CASE[0], str(folder), *CASE[1:]]) == 0
    assert main(["verify", CASE[0], str(folder), str(folder), *CASE[1:]]) == 0
    assert "verified" in capsys.readouterr().out
    release = folder / "publication" / "release.csv"
    release.write_bytes(release.read_bytes() + b"\n")
    assert main(["verify", CASE[0], str(folder), str(folder), *CASE[1:]]) == 2


def problem_and_release() -> tuple[tc.Problem, tc.Release, dict[str, Any]]:
    cells = pd.read_csv(FILES / "patients.csv")
    problem = tc.Problem(tc.Table.from_frame(cells, ["region", "diagnosis"], value="value"), tc.Threshold(5))
    folder = FILES / "results" / "suppression"
    release = tc.read_release(folder / "publication" / "release.csv", problem.table)
    return problem, release, json.loads((folder / "internal" / "certificate.json").read_text("utf-8"))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"values": [0] * 16}, "corrupted"),
        ({"digest": None}, "corrupted"),
        ({"moves": ...}, "truncated: no moves"),
    ],
)
def test_damaged_certificates_are_refused(change: dict[str, Any], reason: str) -> None:
    problem, release, certificate = problem_and_release()
    damaged = {name: value for name, value in (certificate | change).items() if value is not ...}
    with pytest.raises(CertificateError, match=reason):
        complete_certificate(damaged, problem, release)


def test_a_certificate_of_another_release_is_refused() -> None:
    problem, _, certificate = problem_and_release()
    other = tc.Release.suppress(problem.table, np.ones(len(problem.table), dtype=bool))
    with pytest.raises(CertificateError, match="its windows differ"):
        complete_certificate(certificate, problem, other)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"statement": "all cells are safe"}, "says what it does not prove"),
        ({"attackers": 3}, "not a list|malformed"),
        ({"note": "North, C is 3"}, "a field that no certificate has"),
    ],
)
def test_forged_certificates_are_refused(change: dict[str, Any], reason: str) -> None:
    problem, release, certificate = problem_and_release()
    forged = {name: value for name, value in (certificate | change).items() if name != "digest"}
    completed = complete_certificate({**forged, "digest": digest(forged)}, problem, release)
    with pytest.raises(RefusedError, match=reason):
        verify(completed)
