"""Where results go: publication files only for what is safe or has a reason; the rest for the house."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tacita as tc
from tacita.errors import InputError, UnsafeError
from tacita.examples import example
from tacita.io import write_results


@pytest.fixture(scope="module")
def safe() -> tc.Audit:
    problem = example("nchs")
    return tc.audit(problem, tc.Suppression().protect(problem))


@pytest.fixture(scope="module")
def unsafe() -> tc.Audit:
    problem = example("nchs")
    return tc.audit(problem, tc.Release.suppress(problem.table, problem.sensitive))


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_safe_release_in_every_format(safe: tc.Audit, tmp_path: Path) -> None:
    formats = ("csv", "parquet", "xlsx", "txt", "html")
    folder = tmp_path / "new" / "out"
    written = write_results(safe, folder, formats)
    house = {"internal/release.xlsx", "internal/audit.json", "internal/certificate.json"}
    assert files(folder) == {f"release.{ending}" for ending in formats} | house
    assert set(written.paths) == {folder / name for name in files(folder)}
    assert len(written.notes) == 1
    assert "PS" in written.notes[0]
    assert "unaudited" not in (folder / "release.csv").read_text()


def test_what_is_not_safe_is_not_published(unsafe: tc.Audit, tmp_path: Path) -> None:
    written = write_results(unsafe, tmp_path, ("csv", "xlsx"))
    assert files(tmp_path) == {"internal/audit.json"}
    assert written.paths == (tmp_path / "internal" / "audit.json",)
    assert json.loads(written.paths[0].read_text())["safe"] is False


def test_a_reason_stands_in_every_file(unsafe: tc.Audit, tmp_path: Path) -> None:
    reason = "for  the training\ncourse only"
    write_results(unsafe, tmp_path, ("csv", "html", "txt"), reason=reason)
    assert files(tmp_path) == {"release.csv", "release.html", "release.txt", "internal/audit.json"}
    for name in ("release.csv", "release.html", "release.txt"):
        assert "for the training course only" in (tmp_path / name).read_text(), name


@pytest.mark.parametrize("reason", ["", "  ", "because", "x y"])
def test_a_reason_is_a_few_words(unsafe: tc.Audit, tmp_path: Path, reason: str) -> None:
    with pytest.raises(UnsafeError, match="in a few words why"):
        write_results(unsafe, tmp_path / "out", reason=reason)
    assert not (tmp_path / "out").exists()


def test_a_safe_release_carries_no_reason(safe: tc.Audit, tmp_path: Path) -> None:
    write_results(safe, tmp_path, reason="no reason is needed here")
    assert "reason" not in (tmp_path / "release.csv").read_text()


def test_unknown_formats_are_refused_before_anything_is_written(safe: tc.Audit, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'pdf': choose among csv, .*html"):
        write_results(safe, tmp_path / "out", ("csv", "pdf"))
    assert not (tmp_path / "out").exists()


def test_numbers_that_json_does_not_know(tmp_path: Path) -> None:
    problem = example("salazar")
    release = tc.Release.suppress(problem.table, np.arange(16), made_by={"method": "hand", "limit": np.inf})
    written = write_results(tc.audit(problem, release), tmp_path)
    record = json.loads((tmp_path / "internal" / "audit.json").read_text(), parse_constant=pytest.fail)
    assert record["made_by"]["limit"] is None
    assert written.paths[0] == tmp_path / "release.csv"
