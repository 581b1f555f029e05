"""Files of values: the same objects come back, and no file makes anything but our values."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import tacita as tc
from tacita.storage.values_file import read_about, read_values, write_values


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.work"


def test_plain_values_come_back(path: Path) -> None:
    value = {
        "numbers": (1, 2.5, float("inf"), 2**70, Fraction(1, 3)),
        3: [None, True, "ä\n"],
        "set": frozenset({"a", "b"}),
        "path": Path("a/b"),
        "status": tc.Status.OPTIMAL,
    }
    write_values(path, {"name": "x"}, value)
    assert read_values(path) == value
    assert read_about(path) == {"name": "x"}
    assert os.name != "posix" or stat.S_IMODE(path.stat().st_mode) == 0o600


def test_arrays_come_back_read_only_and_shared_ones_are_one(path: Path) -> None:
    shared = np.arange(6, dtype=np.int64).reshape(2, 3)
    texts = np.array([["a", "bc"], ["", "d"]], dtype=object)
    write_values(path, {}, [shared, shared, np.array([True, False]), np.array(["x", "yz"]), texts])
    one, other, mask, words, again = read_values(path)
    assert one is other
    assert (one == shared).all()
    assert not one.flags.writeable
    assert mask.tolist() == [True, False]
    assert words.dtype == np.dtype("<U2")
    assert again.tolist() == texts.tolist()


def test_tables_come_back_with_their_structure(path: Path) -> None:
    table = tc.examples.example("nchs").table
    release = tc.Release.suppress(table, table.units < 5)
    write_values(path, {}, (table, release))
    again, published = read_values(path)
    assert again.structure.same_cells(table.structure)
    assert published.structure is again.structure
    assert (published.low == release.low).all()


@pytest.mark.parametrize("cut", [1, 100])
def test_an_incomplete_file_is_refused(path: Path, cut: int) -> None:
    write_values(path, {}, np.arange(100))
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(tc.FormatError, match="incomplete"):
        read_values(path)


@pytest.mark.parametrize(
    "tree",
    [
        {"$": "object", "of": "subprocess:Popen", "v": {"args": "true"}},
        {"$": "object", "of": "tacita.storage.values_file:read_values", "v": {"path": "x"}},
        {"$": "object", "of": "tacita.app.work.workspace:Workspace", "v": {}},
        {"$": "enum", "of": "os:O_RDONLY", "v": "x"},
        {"$": "array", "kind": "O", "shape": [1]},
    ],
)
def test_a_file_cannot_name_anything_but_values_of_ours(path: Path, tree: object) -> None:
    import hashlib

    body = b"{}\n" + json.dumps(tree).encode() + b"\n" + b"\0" * 64
    path.write_bytes(b"tacita values 1\n" + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    with pytest.raises(tc.FormatError):
        read_values(path)


@dataclass(frozen=True)
class Foreign:
    """A value of nobody's."""

    number: int = 0


@pytest.mark.parametrize("value", [Foreign(), object(), print, np.array([1 + 2j])])
def test_other_things_are_not_written(path: Path, value: object) -> None:
    with pytest.raises(tc.InputError, match="cannot be kept"):
        write_values(path, {}, value)
    assert not path.exists()
