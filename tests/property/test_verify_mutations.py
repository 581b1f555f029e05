"""Nothing about a certified release can be written in another way, and nothing breaks the verifier."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita import verify
from tacita.auditing.certificate import certify, dump
from tacita.core import exact
from tacita.core.tables.linked import link
from tacita.formats.csv import write_rows

RECORDS = {
    "region": ["N", "N", "N", "N", "S", "S", "S", "S", "S"],
    "industry": ["F", "-G", "M", "M", "F", "-G", "M", "M", "M"],
    "firm": ["a", "b", "c", "d", "e", "a", "c", "d", "f"],
    "turnover": [50.5, 30, 60, 40.25, 45, 35, 70, 20, 30],
}
COUNTS = tc.Table.from_array(
    [[20, 3, 10], [8, 19, 22], [17, 32, 2]],
    names=["a,b", 'say "x"'],
    codes=[["=1+1", "'", "é;b"], list("xyz")],
)
AMOUNTS = tc.Table.from_array(np.array([[-20, 50.5, 10], [8.25, 19, -22], [17, 32, 12]]))


def counted() -> tc.Problem:
    return tc.Problem(COUNTS, tc.Threshold(4))


def amounts() -> tc.Problem:
    cell = AMOUNTS.find("2", "2")
    return tc.Problem(
        AMOUNTS, tc.Marked([cell], lower=3, upper=3), attackers=tc.Outsider.of(AMOUNTS, lower=-1000)
    )


def firms() -> tc.Problem:
    table = tc.tabulate(RECORDS, ["region", "industry"], "turnover", respondent="firm")
    return tc.Problem(table, tc.MinimumFrequency(2), attackers="respondents")


def linked() -> tc.Problem:
    one = tc.Table.from_array([[5, 20], [30, 40]], names=["p", "q"])
    table = link({"one": one, "two": tc.Table.from_array([25, 70], names=["p"])})
    return tc.Problem(table, tc.Threshold(6))


CASES: dict[str, tuple[Callable[[], tc.Problem], Any]] = {
    "suppression": (counted, tc.Suppression()),
    "respondents": (firms, tc.Suppression()),
    "linked": (linked, tc.Suppression()),
    "intervals": (amounts, tc.Intervals()),
    "intervals of counts": (counted, tc.Intervals()),
    "rounding": (counted, tc.Rounding(base=10)),
    "rounding finer": (amounts, tc.Rounding(base=12.5)),
    "unbiased": (counted, tc.UnbiasedRounding(base=10, additive=False)),
    "perturbation": (amounts, tc.Perturbation()),
    "adjustment": (amounts, tc.Adjustment()),
    "mixture": (counted, tc.Mixture()),
}


@cache
def pair(name: str) -> tuple[dict[str, Any], bytes]:
    """A certificate as it is read back, and the bytes of the release that it is of."""
    import tempfile

    make, method = CASES[name]
    problem = make()
    release = method.protect(problem, tc.Run(seed=5))
    audit = tc.audit(problem, release)
    assert audit.safe, audit.verdict
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        path.write_text(dump(certify(audit)))
        return verify.load(str(path)), release.write(Path(folder) / "release.csv", audit=audit).read_bytes()


def refused(certificate: dict[str, Any], content: bytes, path: Path) -> bool:
    path.write_bytes(content)
    try:
        verify.check_release(certificate, str(path))
    except verify.RefusedError:
        return True
    return False


@pytest.mark.parametrize("name", CASES)
def test_what_we_write_is_verified_and_nothing_else_is(name: str, tmp_path: Path) -> None:
    """Each byte dropped, doubled or changed, and each pair of rows swapped."""
    certificate, content = pair(name)
    path = tmp_path / "release.csv"
    assert verify.verify(certificate) >= 1
    assert not refused(certificate, content, path)
    for k in range(len(content)):
        byte = content[k : k + 1]
        other = (b"", byte * 2, b"0" if byte != b"0" else b"1", b"\xff")[k % 4]
        assert refused(certificate, content[:k] + other + content[k + 1 :], path), (k, other)
    lines = content.splitlines(keepends=True)
    for i in range(1, len(lines) - 1):
        swapped = [*lines[:i], lines[i + 1], lines[i], *lines[i + 2 :]]
        assert refused(certificate, b"".join(swapped), path), i


@given(st.sampled_from(sorted(CASES)), st.data())
def test_no_other_bytes_pass(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    certificate, content = pair(name)
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(len(content), start + 20)))
    changed = content[:start] + data.draw(st.binary(max_size=20)) + content[end:]
    path = tmp_path_factory.getbasetemp() / "mutated.csv"
    assert refused(certificate, changed, path) == (changed != content)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to every value inside a document."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inside in items:
        yield from places(inside, (*path, key))


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 200),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.sampled_from([[], {}, [[]], [0], "published", "interval", 10**18, 10**19, -(10**25)]),
)


@given(st.sampled_from(sorted(CASES)), st.data())
def test_a_changed_certificate_is_corrupted_or_breaks_nothing(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    """A change without a new digest is always found. With one, the file is refused or proves what it then
    says; never a traceback.
    """
    certificate, content = pair(name)
    way = data.draw(st.sampled_from(sorted(places(certificate), key=repr)))
    changed = json.loads(json.dumps(certificate))
    at = changed
    for step in way[:-1]:
        at = at[step]
    new = data.draw(VALUES)
    same = type(at[way[-1]]) is type(new) and at[way[-1]] == new
    at[way[-1]] = new
    if not same and way != ("format",):
        with pytest.raises(verify.RefusedError):
            verify.verify(changed)
    changed["digest"] = verify.digest({key: value for key, value in changed.items() if key != "digest"})
    path = tmp_path_factory.getbasetemp() / "mutated.json"
    path.write_text(json.dumps(changed))
    release = tmp_path_factory.getbasetemp() / "certified.csv"
    release.write_bytes(content)
    assert verify.main([str(path), str(release)]) in (0, 2)


@given(st.sampled_from(sorted(CASES)), st.data())
def test_damaged_certificate_files_are_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    text = dump(pair(name)[0]).encode()
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start, len(text)))
    changed = text[:start] + data.draw(st.binary(max_size=10)) + text[end:]
    path = tmp_path_factory.getbasetemp() / "damaged.json"
    path.write_bytes(changed)
    try:
        same = json.loads(changed) == json.loads(text)
    except (ValueError, RecursionError):
        same = False
    assert verify.main([str(path)]) == (0 if same else 2)


@given(st.integers(-(2**53), 2**53), st.integers(0, exact.MOST_DECIMALS))
def test_the_verifier_writes_numbers_as_releases_do(units: int, decimals: int) -> None:
    assert verify.number(units, decimals) == exact.to_text(units, decimals)


# Codes and names of dimensions have no line breaks.
TEXTS = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=5)


@given(st.lists(st.lists(TEXTS, min_size=2, max_size=2), min_size=1, max_size=3))
def test_the_verifier_writes_lines_as_releases_do(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "rows.csv"
    write_rows(path, rows[0], list(zip(*rows[1:], strict=True)) or [[], []])
    assert path.read_bytes().decode() == "".join(map(verify._csv_line, rows))
