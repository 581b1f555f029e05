"""Checkpoint files: numbers and arrays that a search knows, under names, there as a whole or not at all.

    tacita checkpoint 1
    SHA-256 of all that follows, in hexadecimal
    {"owner": {"problem": ..., "method": ...}, "seed": ..., "sections": {...}}     one line of JSON
    the arrays of the sections, one after the other

The digest tells whether a file is complete, not who wrote it: whoever reads one checks what it says.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacita.core.errors import FormatError
from tacita.storage.atomic import replace_file

VERSION = 1
FIRST_LINE = f"tacita checkpoint {VERSION}\n".encode()
BEGINNING = b"tacita checkpoint "
KINDS = ("|u1", "<i4", "<i8", "<f8")
"""Types of arrays, as numpy writes them."""
MOST_SEED = 2**63
REMEDY = "Remove it, or name another file; the run then begins anew."
OPTIONS = ("checkpoint",)


@dataclass(frozen=True, eq=False)
class Section:
    """What a checkpoint holds of one search."""

    numbers: Mapping[str, float]
    arrays: Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class CheckpointContent:
    """What a checkpoint holds: whose it is, the seed of the run, and a section per search."""

    owner: Mapping[str, str]
    seed: int
    sections: Mapping[str, Section]


def write_checkpoint(path: Path, content: CheckpointContent) -> None:
    """Write a checkpoint that only its user can read, in place of the one there was."""
    blocks, listed = list[bytes](), dict[str, Any]()
    for name, section in content.sections.items():
        arrays = {}
        for key, array in section.arrays.items():
            plain = np.ascontiguousarray(array)
            plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
            arrays[key] = [plain.dtype.str, plain.size]
            blocks.append(plain.tobytes())
        numbers = {key: float(value) for key, value in section.numbers.items()}
        listed[name] = {"numbers": numbers, "arrays": arrays}
    head = {"owner": dict(content.owner), "seed": content.seed, "sections": listed}
    body = b"".join([json.dumps(head).encode("ascii"), b"\n", *blocks])
    with replace_file(path) as temporary:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(FIRST_LINE + hashlib.sha256(body).hexdigest().encode("ascii") + b"\n")
            file.write(body)


def read_checkpoint(path: Path) -> CheckpointContent:
    """Return what a checkpoint holds.

    Raises
    ------
    FormatError
        It is no checkpoint, of another version, or incomplete.
    """
    raw = path.read_bytes()
    if not raw.startswith(BEGINNING):
        raise FormatError(
            "this is no checkpoint of Tacita", place=path, remedy="Name another file.", options=OPTIONS
        )
    if not raw.startswith(FIRST_LINE):
        fault = "the checkpoint was written by another version of Tacita"
        raise FormatError(fault, place=path, remedy=REMEDY, options=OPTIONS)
    digest, _, body = raw[len(FIRST_LINE) :].partition(b"\n")
    broken = FormatError(
        "the checkpoint is corrupted or incomplete", place=path, remedy=REMEDY, options=OPTIONS
    )
    if hashlib.sha256(body).hexdigest().encode("ascii") != digest:
        raise broken
    head, _, blocks = body.partition(b"\n")
    try:
        return _read_content(json.loads(head), memoryview(blocks))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        raise broken from None


def _read_content(head: Any, blocks: memoryview) -> CheckpointContent:
    """Return the content that the head of a checkpoint describes; raise an error if it does not fit."""
    at, sections = 0, {}
    for name, listed in head["sections"].items():
        arrays = {}
        for key, (kind, size) in listed["arrays"].items():
            if kind not in KINDS or type(size) is not int or size < 0:
                raise ValueError(key)
            length = size * np.dtype(kind).itemsize
            if at + length > len(blocks):
                raise ValueError(key)
            arrays[key] = np.frombuffer(blocks[at : at + length], dtype=kind)
            at += length
        numbers = {str(key): float(value) for key, value in listed["numbers"].items()}
        sections[str(name)] = Section(numbers, arrays)
    seed = head["seed"]
    if at != len(blocks) or type(seed) is not int or not 0 <= seed < MOST_SEED:
        raise ValueError("seed")
    return CheckpointContent({str(k): str(v) for k, v in head["owner"].items()}, seed, sections)
