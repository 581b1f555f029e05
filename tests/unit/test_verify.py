"""The verifier trusts nothing: damaged, forged and misattributed certificates, and files that say more."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacita import verify
from tacita.attackers import Insider
from tacita.auditing.audit import Audit, audit
from tacita.auditing.certificate import certify, dump
from tacita.levels import Levels
from tacita.problem import Problem
from tacita.release import Release
from tacita.tables.table import Table

TABLE = Table.from_array([[10, 20], [30, 40]], codes=[["=a", "b"], ["c", "d"]])
CELLS = np.array([TABLE.find(r, c) for r in ("=a", "b") for c in "cd"])
P, Q = int(CELLS[0]), int(CELLS[3])


def found() -> Audit:
    """Cell 10 hidden in its square; an insider bounds cell 40 by 31 and 49 and attacks too."""
    sensitive = np.zeros(len(TABLE), dtype=bool)
    sensitive[P] = True
    insider = Insider.knowing("firm", TABLE, {Q: (31, 49)})
    problem = Problem(TABLE, Levels.of(sensitive, np.full(len(TABLE), 3)), attackers=insider)
    return audit(problem, Release.suppress(TABLE, CELLS))


CERTIFICATE: dict[str, Any] = json.loads(dump(certify(found())))


def sealed(certificate: dict[str, Any]) -> dict[str, Any]:
    """With a digest that fits: only arithmetic can find what is wrong."""
    content = {name: value for name, value in certificate.items() if name != "digest"}
    return {**content, "digest": verify.digest(content)}


def forged(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    certificate = copy.deepcopy(CERTIFICATE)
    place = certificate
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return sealed(certificate)


def test_the_honest_certificate_holds() -> None:
    assert verify.verify(CERTIFICATE) == 2
    assert sealed(CERTIFICATE) == CERTIFICATE


def test_any_field_left_out_is_noticed() -> None:
    for name in CERTIFICATE:
        if name not in ("digest", "statement"):
            less = sealed({key: value for key, value in CERTIFICATE.items() if key != name})
            with pytest.raises(verify.RefusedError, match=f"truncated: no {name}"):
                verify.verify(less)


def test_a_changed_file_is_corrupted() -> None:
    changed = {**CERTIFICATE, "values": [v + 1 for v in CERTIFICATE["values"]]}
    with pytest.raises(verify.RefusedError, match="digest"):
        verify.verify(changed)


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("version",), 2, "version"),
        (("whole",), 0, "steps"),
        (("whole",), None, "steps"),
        (("decimals",), 10**9, "steps"),
        (("decimals",), -1, "position"),
        (("decimals",), True, "position"),
        (("values", P), 11, "equation"),
        (("values", P), 10.0, "not an integer"),
        (("values", P), True, "not an integer"),
        (("values", P), "10", "not an integer"),
        (("values",), CERTIFICATE["values"][:-1], "differ in number"),
        (("cells", P), CERTIFICATE["cells"][Q], "same name"),
        (("low", P), float("nan"), "not an integer"),
        (("low", P), -1e300, "not an integer"),
        (("low", P), False, "not an integer"),
        (("low", P), 8, "leaves what the attacker thinks possible"),
        (("low", P), 11, "not true"),
        (("high", P), 12, "leaves what the attacker thinks possible"),
        (("high",), CERTIFICATE["high"][:-1], "malformed"),
        (("equations", 0, 0), 1, "equation 1"),
        (("equations", 0, 1, 0), 99, "malformed"),
        (("equations", 0, 1, 0), -1, "position"),
        (("equations", 0, 2, 0), -1.0, "not an integer"),
        (("moves", 0, 0), 0, "malformed"),
        (("moves", 0, 0), 2, "whole numbers"),
        (("moves", 0, 1, 0), -1, "malformed"),
        (("moves", 0, 1, 0), 10**6, "malformed"),
        (("moves", 0, 2, 0), 10**30, "breaks an equation"),
        (("moves", 0, 2, 0), float("nan"), "not an integer"),
        (("attackers",), [], "do not correspond"),
        (("attackers", 0, "lower", P), float("nan"), "not an integer"),
        (("attackers", 0, "lower", P), 9, "thinks possible"),
        (("attackers", 0, "upper", Q), 39, "not true"),
        (("attackers", 0, "targets", 0), -len(TABLE) + P, "position"),
        (("attackers", 0, "targets", 0), Q, "no proof"),
        (("attackers", 0, "levels", 0, 0), 999, "downward move falls short"),
        (("attackers", 0, "levels", 1, 0), 999, "upward move falls short"),
        (("attackers", 0, "levels", 2, 0), 999, "narrower than the sliding"),
        (("attackers", 0, "levels", 1, 0), -5, "position"),
        (("attackers", 0, "levels", 1, 0), 3.0, "position"),
        (("attackers", 1, "cells", 0), -1, "position"),
        (("attackers", 1, "lower", 0), float("nan"), "not an integer"),
        (("attackers", 1, "lower", 0), 39, "thinks possible"),
        (("attackers", 1, "upper", 0), 39, "not true"),
        (("claims",), [[], []], "no proof"),
        (("claims",), [CERTIFICATE["claims"][0]], "do not correspond"),
        (("claims", 0, 0, 1), -1, "upward move falls short"),
        (("claims", 0, 0, 2), -1, "downward move falls short"),
        (("claims", 0, 0, 1), -2, "position"),
        (("claims", 0, 0, 1), 10**6, "malformed"),
        (("claims", 0, 0, 1), True, "position"),
    ],
)
def test_forged_with_a_digest_that_fits(path: tuple[Any, ...], value: Any, reason: str) -> None:
    with pytest.raises(verify.RefusedError, match=reason):
        verify.verify(forged(path, value))


def test_lists_that_name_a_cell_twice_are_refused() -> None:
    """The second entry would hide the first, with its higher level or tighter bound."""
    twice = copy.deepcopy(CERTIFICATE)
    outsider, firm = twice["attackers"]
    outsider["targets"].append(P)
    for level in outsider["levels"]:
        level.append(1)
    with pytest.raises(verify.RefusedError, match="twice"):
        verify.verify(sealed(twice))
    twice = copy.deepcopy(CERTIFICATE)
    firm = twice["attackers"][1]
    firm["cells"], firm["lower"], firm["upper"] = [Q, Q], [40, 0], [40, None]
    with pytest.raises(verify.RefusedError, match="twice"):
        verify.verify(sealed(twice))


def test_counts_that_are_fractions_are_refused() -> None:
    certificate = copy.deepcopy(CERTIFICATE)
    certificate["decimals"] = 1
    certificate["values"] = [v + (5 if i in (0, 1, 3, P) else 0) for i, v in enumerate(certificate["values"])]
    with pytest.raises(verify.RefusedError, match="whole number"):
        verify.verify(sealed(certificate))


@pytest.mark.parametrize(
    "text", ["", "[1]", "{}", '{"format": "other"}', "[" * 10**5, '{"format": NaN', "\xff"]
)
def test_what_is_no_certificate_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "certificate.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(verify.RefusedError):
        verify.load(str(path))
    assert verify.main([str(path)]) == 2


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    text = dump(CERTIFICATE)
    path = tmp_path / "certificate.json"
    for length in range(0, len(text), 37):
        path.write_text(text[:length])
        assert verify.main([str(path)]) == 2


# ---------------------------------------------------------------------- beside a release


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    certificate, release = tmp_path / "certificate.json", tmp_path / "release.csv"
    certificate.write_text(dump(CERTIFICATE))
    safe = found()
    safe.release.write(release, audit=safe)
    return certificate, release


def test_the_file_that_was_written_is_the_one_certified(files: tuple[Path, Path]) -> None:
    certificate, release = files
    assert "'=a" in release.read_text()
    assert verify.main([str(certificate), str(release)]) == 0


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("'=a,c,suppressed,,,", "'=a,c,suppressed,,,10", "something else"),
        ("'=a,c,suppressed,,,", "'=a,c,suppressed,5,15,", "something else"),
        ("'=a,c,suppressed,,,", "'=a,c,interval,5,15,", "something else"),
        ("'=a,c,suppressed,,,", "'=a,c,interval,,,10", "something else"),
        ("'=a,c,suppressed,,,", "'=a,c,published,10,10,10", "something else"),
        ("'=a,c,suppressed,,,", "'=a,c,secret,,,", "something else"),
        ("'=a,c,suppressed,,,", "'=a,c,interval,five,,", "something else"),
        ("'=a,c,suppressed,,,", "'=a,c,interval,1/0,,", "something else"),
        ("'=a,c,suppressed,,,", "'=a,c,suppressed,,,\n'=a,c,published,10,10,10", "something else"),
        ("'=a,c,suppressed,,,", "'=a,c,published,10,10,10\n'=a,c,suppressed,,,", "something else"),
        ("'=a,c,suppressed,,,\n", "", "has no cell"),
        ("'=a,c,suppressed,,,", "'=a,e,suppressed,,,", "no cell of the certificate"),
        ("'=a,c,suppressed,,,", "'=a,c,suppressed,,,,10", "no cell of the certificate"),
        ("Total,Total,published,100,100,100", "Total,Total,published,100,100,101", "something else"),
        ("Total,Total,published,100,100,100", "Total,Total,published,100,100,", "something else"),
        ("mark,low,high,value", "mark,low,high,value,truth", "columns"),
        ("mark,low,high,value", "mark,low,high,value,value", "columns"),
        ("mark,low,high,value", "mark,high,low,value", "columns"),
        ("mark,", "status,", "columns"),
    ],
)
def test_a_file_that_says_more_or_other_is_refused(
    files: tuple[Path, Path], old: str, new: str, reason: str
) -> None:
    text = files[1].read_text()
    assert old in text
    files[1].write_text(text.replace(old, new, 1))
    with pytest.raises(verify.RefusedError, match=reason):
        verify.check_release(CERTIFICATE, str(files[1]))


def test_a_notice_is_of_the_whole_release(files: tuple[Path, Path]) -> None:
    """Words that change from row to row can tell each cell's value."""
    header, *rows = files[1].read_text().splitlines()
    told = [f"{header},notice", *(f"{row},as usual" for row in rows)]
    files[1].write_text("\n".join(told) + "\n")
    verify.check_release(CERTIFICATE, str(files[1]))
    told[3] = told[3].replace("as usual", "10")
    files[1].write_text("\n".join(told) + "\n")
    with pytest.raises(verify.RefusedError, match="line 4 of the release has another notice"):
        verify.check_release(CERTIFICATE, str(files[1]))


@pytest.mark.parametrize(
    ("shown", "fits"),
    [
        *(("10", True), ("10.0", True), ("5", False), ("11", False), ("10.5", False)),
        *(("15", False), ("16", False), ("98765", False), ("", False)),
    ],
)
def test_a_rounded_value_is_the_middle_of_its_window(tmp_path: Path, shown: str, fits: bool) -> None:
    """``[v - r, v + r]`` is of no number but ``v``: another one is not what was certified."""
    sensitive = np.zeros(len(TABLE), dtype=bool)
    sensitive[P] = True
    problem = Problem(TABLE, Levels.of(sensitive, np.full(len(TABLE), 3)))
    safe = audit(problem, Release.rounded(TABLE, TABLE.units, 5))
    path = safe.release.write(tmp_path / "release.csv", audit=safe)
    text = path.read_text()
    assert "'=a,c,rounded,5,15,10" in text
    path.write_text(text.replace("'=a,c,rounded,5,15,10", f"'=a,c,rounded,5,15,{shown}"))
    certificate = certify(safe)
    if fits:
        verify.check_release(certificate, str(path))
    else:
        with pytest.raises(verify.RefusedError, match=r"something else about cell \(=a, c\)"):
            verify.check_release(certificate, str(path))


def test_files_that_cannot_be_read_are_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    for path in (tmp_path / "absent.csv", empty):
        assert verify.main([str(files[0]), str(path)]) == 2


def test_it_runs_alone_as_a_script(files: tuple[Path, Path]) -> None:
    """Copied elsewhere, without this package or anything else on the path."""
    script = files[0].parent / "check.py"
    script.write_bytes(Path(verify.__file__).read_bytes())

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", "-S", str(script), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=script.parent)

    fine = run(*files)
    assert (fine.returncode, fine.stdout) == (
        0,
        "verified: 2 pairs of sensitive cell and attacker, 9 cells\n",
    )
    files[1].write_text(files[1].read_text().replace("suppressed,,,", "suppressed,,,7", 1))
    wrong = run(*files)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("refused: the release says something else")
    assert run().returncode == 1
