"""The verifier trusts nothing: damaged, forged and misattributed certificates, and files that say more."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacita import verify
from tacita.auditing.audit import Audit, audit
from tacita.auditing.certificate import certify, dump
from tacita.core.attacker import Insider
from tacita.core.errors import ReleaseError
from tacita.core.levels import Levels
from tacita.core.release import Release
from tacita.core.tables.table import Table
from tacita.methods.adjustment.adjustment import UNPROTECTED
from tacita.methods.unbiased_rounding.unbiased_rounding import NOT_ADDITIVE
from tacita.problem.problem import Problem

TABLE = Table.from_array([[10, 20], [30, 40]], codes=[["=a", "b"], ["c", "d"]])
CELLS = np.array([TABLE.find(r, c) for r in ("=a", "b") for c in "cd"])
P, Q = int(CELLS[0]), int(CELLS[3])


def found() -> Audit:
    """Cell 10 hidden in its square; an insider bounds cell 40 by 31 and 49 and attacks too."""
    sensitive = np.zeros(len(TABLE), dtype=bool)
    sensitive[P] = True
    insider = Insider.knowing("firm", TABLE, {Q: (31, 49)})
    problem = Problem(TABLE, Levels.of(sensitive, upper=np.full(len(TABLE), 3)), attackers=insider)
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
        if name not in ("digest", "version"):
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
        (("version",), 3, "version 3; this program checks version 2"),
        (("whole",), 0, "steps"),
        (("whole",), None, "steps"),
        (("decimals",), 10**9, "out of range"),
        (("decimals",), -1, "out of range"),
        (("decimals",), True, "not an integer"),
        (("decimals",), 1, "in which steps"),
        (("release_decimals",), 13, "out of range"),
        (("columns",), ["one"], "not a list of 1"),
        (("columns", 1), CERTIFICATE["columns"][0], "same name"),
        (("rows",), CERTIFICATE["rows"][1:], "not one for each name"),
        (("rows", 0), CERTIFICATE["rows"][1], "not one for each name"),
        (("marks", P), "interval", "does not fit"),
        (("marks", 0), "rounded", "does not fit"),
        (("marks", 0), "Published", "does not fit"),
        (("shown", P), 10, "does not fit"),
        (("shown", 0), None, "does not fit"),
        (("notice",), "North is 10", "notice"),
        (("statement",), "everything is safe", "does not prove"),
        (("further",), 1, "no certificate has: 'further'"),
        (("attackers", 0, "further"), 1, "other fields"),
        (("attackers", 1, "others"), 0, "neither true nor false"),
        (("attackers", 1, "name"), 0, "texts"),
        (("values", P), 11, "equation"),
        (("values", P), 10.0, "not an integer"),
        (("values", P), True, "not an integer"),
        (("values", P), "10", "not an integer"),
        (("values",), CERTIFICATE["values"][:-1], "the values: not a list of 9"),
        (("cells", P), CERTIFICATE["cells"][Q], "same name"),
        (("low", P), float("nan"), "not an integer"),
        (("low", P), -1e300, "not an integer"),
        (("low", P), False, "not an integer"),
        (("low", 0), 99, "does not fit"),
        (("low", P), 8, "does not fit"),
        (("high",), CERTIFICATE["high"][:-1], "not a list of 9"),
        (("equations", 0, 0), 1, "equation 1"),
        (("equations", 0, 1, 0), 99, "equation 1: 99 .* out of range"),
        (("equations", 0, 1, 0), -1, "out of range"),
        (("equations", 0, 2), [1], "equation 1: not a list of"),
        (("equations", 0), {}, "equation 1: not a list of 3"),
        (("equations", 0, 2, 0), -1.0, "not an integer"),
        (("moves", 0, 0), 0, "move 1: 0 .* out of range"),
        (("moves", 0, 0), 2, "not in integers"),
        (("moves", 0, 1, 0), -1, "out of range"),
        (("moves", 0, 1, 0), 10**6, "out of range"),
        (("moves", 0, 1, 0), CERTIFICATE["moves"][0][1][1], "named twice"),
        (("moves", 0, 2, 0), 10**15, "move 1 breaks an equation"),
        (("moves", 0, 2, 0), float("nan"), "not an integer"),
        (("attackers",), [], "the claims: not a list of 0"),
        (("attackers", 0, "lower", P), float("nan"), "not an integer"),
        (("attackers", 0, "lower", P), 9, "thinks possible"),
        (("attackers", 0, "upper", Q), 39, "not true"),
        (("attackers", 0, "targets", 0), -len(TABLE) + P, "out of range"),
        (("attackers", 0, "targets", 0), Q, "no proof"),
        (("attackers", 0, "levels", 0, 0), 999, "downward move falls short"),
        (("attackers", 0, "levels", 1, 0), 999, "upward move falls short"),
        (("attackers", 0, "levels", 2, 0), 999, "narrower than the sliding"),
        (("attackers", 0, "levels", 1, 0), -5, "out of range"),
        (("attackers", 0, "levels", 1, 0), 3.0, "not an integer"),
        (("attackers", 1, "cells", 0), -1, "out of range"),
        (("attackers", 1, "lower", 0), float("nan"), "not an integer"),
        (("attackers", 1, "lower", 0), 39, "thinks possible"),
        (("attackers", 1, "upper", 0), 39, "not true"),
        (("claims",), [[], []], "no proof"),
        (("claims",), [CERTIFICATE["claims"][0]], "the claims: not a list of 2"),
        (("claims", 0, 0, 1), -1, "upward move falls short"),
        (("claims", 0, 0, 2), -1, "downward move falls short"),
        (("claims", 0, 0, 1), -2, "out of range"),
        (("claims", 0, 0, 1), 10**6, "out of range"),
        (("claims", 0, 0, 1), True, "not an integer"),
        (("claims", 0), CERTIFICATE["claims"][0] * 2, "named twice"),
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
    certificate["decimals"] = certificate["release_decimals"] = 1
    certificate["values"] = [v + (5 if i in (0, 1, 3, P) else 0) for i, v in enumerate(certificate["values"])]
    with pytest.raises(verify.RefusedError, match="not an integer"):
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


CELL = r"line \d: the release says something else than what the certificate says of cell \(=a, c\)"
HIDDEN = "'=a,c,suppressed,,,"
HEADER = "line 1: the release says something else than the header row,column,mark,low,high,value"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        *((HIDDEN, f"'=a,c,{other}", CELL) for other in ("suppressed,,,10", "suppressed,5,15,", "secret,,,")),
        *((HIDDEN, f"'=a,c,{other}", CELL) for other in ("interval,5,15,", "interval,,,10", "interval,,,")),
        *((HIDDEN, f"'=a,c,{other}", CELL) for other in ("published,10,10,10", "interval,1/0,,")),
        *((HIDDEN, f"'=a,c,interval,{number},,", CELL) for number in ("five", "1e99999999", "9" * 10**5)),
        (HIDDEN, "'=a,c,published,10,10,10\n'=a,c,suppressed,,,", CELL),
        (HIDDEN + "\n", "", CELL),
        (HIDDEN, "'=a,e,suppressed,,,", CELL),
        (HIDDEN, "'=a,c,suppressed,,,,10", CELL),
        (HIDDEN, "'=a,c,suppressed,,,\n'=a,c,suppressed,,,", "something else"),
        (HIDDEN, f"{HIDDEN} ", "something else"),
        (HIDDEN, '"\'=a",c,suppressed,,,', CELL),
        (HIDDEN, "=a,c,suppressed,,,", CELL),
        (HIDDEN, f"\n{HIDDEN}", CELL),
        *(
            ("Total,Total,published,100,100,100", f"Total,Total,{other}", r"says of cell \(Total, Total\)")
            for other in (
                *("published,100,100,101", "published,100,100,", "published,+100,100,100"),
                *("published,100,100,100.0", "published,0100,100,100", "published,1e2,100,100"),
                *("published,\u0661\u0660\u0660,100,100", "published,,,100", "PUBLISHED,100,100,100"),
                *("rounded,100,100,100", "adjusted,100,100,100", "interval,100,100,"),
            )
        ),
        ("row,column,mark", "North is 10,column,mark", HEADER),
        ("row,column,mark", "\ufeffrow,column,mark", HEADER),
        ("mark,low,high,value", "mark,low,high,value,truth", HEADER),
        ("mark,low,high,value", "mark,low,high,value,value", HEADER),
        ("mark,low,high,value", "mark,low,high,value,unaudited", r"header .* says that it is unaudited\)"),
        ("mark,low,high,value", "mark,high,low,value", HEADER),
        ("mark,", "status,", HEADER),
        ("row,column", "column,row", HEADER),
        ("\n", "\r\n", HEADER),
        ("Total,Total", "Total\0,Total", "something else"),
    ],
)
def test_a_file_that_says_more_or_other_is_refused(
    files: tuple[Path, Path], old: str, new: str, reason: str
) -> None:
    """Whatever could be written in another way could carry a message."""
    text = files[1].read_bytes().decode()
    assert old in text
    files[1].write_bytes(text.replace(old, new, 1).encode())
    with pytest.raises(verify.RefusedError, match=reason):
        verify.check_release(CERTIFICATE, str(files[1]))


@pytest.mark.parametrize("further", ["\n", " ", "'=a,c,suppressed,,,\n", "North is 10", "\0", "\x1a"])
def test_nothing_stands_below_the_last_row(files: tuple[Path, Path], further: str) -> None:
    files[1].write_text(files[1].read_text() + further)
    with pytest.raises(verify.RefusedError, match="line 11: the certificate speaks of no further row"):
        verify.check_release(CERTIFICATE, str(files[1]))
    assert verify.main([*map(str, files)]) == 2


def test_rows_stand_in_the_order_of_the_table(files: tuple[Path, Path]) -> None:
    """24 rows in another order tell as much as a number of 24 digits."""
    header, *rows = files[1].read_text().splitlines(keepends=True)
    for other in (rows[::-1], sorted(rows, reverse=True), [*rows[1:], rows[0]]):
        files[1].write_text(header + "".join(other))
        with pytest.raises(verify.RefusedError, match="something else"):
            verify.check_release(CERTIFICATE, str(files[1]))


def test_a_notice_is_one_of_a_closed_list_and_certified(tmp_path: Path) -> None:
    plain = found()
    noted = replace(plain.release, notice=NOT_ADDITIVE)
    safe = audit(plain.problem, noted)
    path, certificate = noted.write(tmp_path / "release.csv", audit=safe), certify(safe)
    text = path.read_text()
    verify.check_release(certificate, str(path))
    with pytest.raises(verify.RefusedError, match="line 1"):
        verify.check_release(CERTIFICATE, str(path))
    for other in ("as usual", verify.NOTICES[2], NOT_ADDITIVE.upper()):
        path.write_text(text.replace(NOT_ADDITIVE, other))
        with pytest.raises(verify.RefusedError, match="line 2: the release says something else"):
            verify.check_release(certificate, str(path))
    with pytest.raises(ReleaseError, match=r"a notice that .* use one of tacita\.verify\.NOTICES"):
        replace(noted, notice="North is 10").write(path, unaudited="made for a test of notices")
    assert path.read_text() == text.replace(NOT_ADDITIVE, NOT_ADDITIVE.upper())
    assert {"", NOT_ADDITIVE, UNPROTECTED} == set(verify.NOTICES)


def test_a_release_that_says_it_is_unaudited_is_never_verified(files: tuple[Path, Path]) -> None:
    """Its reason is free text, and nobody proved the file."""
    found().release.write(files[1], unaudited="a draft for the board only")
    with pytest.raises(verify.RefusedError, match="says that it is unaudited"):
        verify.check_release(CERTIFICATE, str(files[1]))


@pytest.mark.parametrize("shown", ["5", "11", "10.5", "10.0", "15", "16", "98765", ""])
def test_a_rounded_value_is_the_middle_of_its_window(tmp_path: Path, shown: str) -> None:
    """``[v - r, v + r]`` is of no number but ``v``: another one is not what was certified."""
    sensitive = np.zeros(len(TABLE), dtype=bool)
    sensitive[P] = True
    problem = Problem(TABLE, Levels.of(sensitive, upper=np.full(len(TABLE), 3)))
    safe = audit(problem, Release.rounded(TABLE, TABLE.units, 5))
    path = safe.release.write(tmp_path / "release.csv", audit=safe)
    text = path.read_text()
    assert "'=a,c,rounded,5,15,10" in text
    certificate = certify(safe)
    verify.check_release(certificate, str(path))
    path.write_text(text.replace("'=a,c,rounded,5,15,10", f"'=a,c,rounded,5,15,{shown}"))
    with pytest.raises(verify.RefusedError, match=r"something else .* of cell \(=a, c\)"):
        verify.check_release(certificate, str(path))
    certificate["shown"][P] = 11
    with pytest.raises(verify.RefusedError, match=r"cell \(=a, c\): the mark 'rounded' does not fit"):
        verify.verify(sealed(certificate))


HOSTILE = {
    "exponent": ('"values":[', '"values":[1e99999999,', "1e99999999, which is not an integer"),
    "digits": ('"values":[', f'"values":[{"9" * 10**6},', "not an integer of a table"),
    "float": ('"values":[', '"values":[1.0,', "1.0, which is not an integer"),
    "constant": ('"values":[', '"values":[NaN,', "NaN, which is not an integer"),
    "repeated key": ('"values":[', '"values":[1],"values":[', "the key 'values' twice"),
    "repeated key inside": ('"name":', '"name":"outsider","name":', "the key 'name' twice"),
    "deep": ('"values":[', '"values":[' + "[" * 10**5, "cannot be read as a certificate"),
    "mark": ('{"format"', '\ufeff{"format"', "cannot be read as a certificate"),
    "nul": ('"values":[', '"values":[\0', "cannot be read as a certificate"),
    "surrogate": ('"name":"', '"name":"\\ud800', "digest"),
    "lines": ('"name":"', '"name":"\\n\\u001b[2J', "digest"),
    "digits of other scripts": ('"values":[', '"values":[\u0661,', "cannot be read as a certificate"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_certificates_are_refused_in_one_line(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str], what: str
) -> None:
    old, new, reason = HOSTILE[what]
    text = files[0].read_text()
    assert old in text
    files[0].write_text(text.replace(old, new, 1))
    assert verify.main([str(files[0])]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("refused: ")
    assert printed.err.count("\n") == 1
    assert reason in printed.err
    assert printed.err.rstrip("\n").isprintable()


def test_names_are_printed_on_one_line_whatever_they_hold() -> None:
    certificate = forged(("attackers", 0, "levels", 0, 0), 999)
    certificate["attackers"][0]["name"] = "out\n\x1b[2J\ud800"
    with pytest.raises(verify.RefusedError, match=r"against out\\x0a\\x1b\[2J\\xd800: the downward"):
        verify.verify(sealed(certificate))


def test_integers_that_python_does_not_print_are_refused() -> None:
    with pytest.raises(verify.RefusedError, match=r"malformed|not an integer"):
        verify.verify({**CERTIFICATE, "values": [10**5000] * len(TABLE)})


def test_what_is_larger_than_a_certificate_is_refused(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("MOST_BYTES", "MOST_LISTS", "MOST_ITEMS"):
        with monkeypatch.context() as patch:
            patch.setattr(verify, limit, 50)
            with pytest.raises(verify.RefusedError, match="larger than a certificate can be"):
                verify.load(str(files[0]))
    for limit in ("MOST_CELLS", "MOST_EQUATIONS", "MOST_MOVES"):
        with monkeypatch.context() as patch:
            patch.setattr(verify, limit, 1)
            with pytest.raises(verify.RefusedError, match="not a list of at most 1"):
                verify.verify(CERTIFICATE)
    with monkeypatch.context() as patch:
        patch.setattr(verify, "MOST_STEPS", 4)
        with pytest.raises(verify.RefusedError, match="larger than this program checks"):
            verify.verify(CERTIFICATE)


def test_pipes_and_folders_are_not_waited_for(files: tuple[Path, Path], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, tmp_path / "absent", Path("/dev/zero")):
        assert verify.main([str(path)]) == 2
        assert verify.main([str(files[0]), str(path)]) == 2


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
    assert wrong.stderr.startswith(f"refused: {files[1]}, line ")
    assert "the release says something else" in wrong.stderr
    assert run().returncode == 1


def test_the_program_says_that_it_reads_no_workbook(tmp_path: Path) -> None:
    workbook = tmp_path / "release.xlsx"
    workbook.write_bytes(b"PK")
    with pytest.raises(verify.RefusedError, match=r"only \.csv is read here: use `tacita verify`"):
        verify.check_release(CERTIFICATE, str(workbook))
