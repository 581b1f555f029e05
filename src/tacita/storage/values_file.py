"""Files of frozen values: what an object of ours holds, field by field, there as a whole or not at all.

    tacita values 1
    SHA-256 of all that follows, in hexadecimal
    {"name": ..., "cells": ...}            one line of JSON about it, to be read without the rest
    {"$": "object", "of": "tacita.core.tables.table:Table", "v": {...}}      one line of JSON
    the arrays in it, one after the other

An object is written by the fields of its class, and read by making one of them anew, with all that its class
checks. Classes are ours and hold nothing but fields: no file can name anything that is run. Objects that
several others hold are written once, and are one object again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import json
import math
import os
from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacita.core.errors import FormatError, InputError
from tacita.core.levels import Reason
from tacita.core.tables.contributions import Contributions
from tacita.storage.atomic import replace_file

FIRST_LINE = b"tacita values 1\n"
LONGEST_ABOUT = 100_000
TEXTS: dict[str, Callable[[str], Any]] = {
    "float": float,
    "decimal": Decimal,
    "fraction": Fraction,
    "path": Path,
}
"""Kinds of values that are written as texts, and how they are made of them."""


def write_values(path: Path, about: Mapping[str, Any], value: object) -> None:
    """Write a value with a few words about it to a file that only its user can read, all or nothing.

    Raises
    ------
    InputError
        Something in it is not of a kind that can be written, or the file cannot be.
    """
    writer = _Writer()
    tree = json.dumps(writer.encode(value), separators=(",", ":"))
    head = json.dumps(dict(about))
    body = b"".join([head.encode("ascii"), b"\n", tree.encode("ascii"), b"\n", *writer.blocks])
    with replace_file(path) as temporary:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(FIRST_LINE + hashlib.sha256(body).hexdigest().encode("ascii") + b"\n")
            file.write(body)


def read_about(path: Path) -> dict[str, Any]:
    """Return what a file of values says about itself; its values are not read."""
    with path.open("rb") as file:
        first, _, about = file.readline(100), file.readline(100), file.readline(LONGEST_ABOUT)
    try:
        if first != FIRST_LINE:
            raise ValueError(first)
        found: dict[str, Any] = dict(json.loads(about))
    except ValueError:
        raise _make_error(path) from None
    return found


def read_values(path: Path) -> Any:
    """Return the value in a file.

    Raises
    ------
    FormatError
        The file is incomplete, of another version, or of objects that this version does not know.
    """
    raw = path.read_bytes()
    digest, _, body = raw.removeprefix(FIRST_LINE).partition(b"\n")
    if not raw.startswith(FIRST_LINE) or hashlib.sha256(body).hexdigest().encode("ascii") != digest:
        raise _make_error(path)
    _, _, rest = body.partition(b"\n")
    tree, _, blocks = rest.partition(b"\n")
    try:
        return _Reader(blocks).decode(json.loads(tree))
    except (ValueError, TypeError, KeyError, AttributeError, ImportError, RecursionError) as error:
        raise _make_error(path, str(error)) from error


def _make_error(path: Path, why: str = "") -> FormatError:
    return FormatError(
        f"the file is incomplete, or of another version of Tacita{f' ({why})' if why else ''}",
        place=path,
        remedy="Remove it, and begin with the table itself.",
    )


class _Writer:
    """Values as JSON; arrays go to ``blocks``."""

    def __init__(self) -> None:
        self.blocks: list[bytes] = []
        # Kept with their numbers: what is gone could leave its identity to something else.
        self._known: dict[int, tuple[int, object]] = {}

    def encode(self, value: Any) -> Any:
        """Return a value as JSON can hold it."""
        if value is None or (isinstance(value, bool | int | str) and not isinstance(value, Enum)):
            return value
        if isinstance(value, np.generic):
            return self.encode(value.item())
        if isinstance(value, float):
            return value if math.isfinite(value) else {"$": "float", "v": repr(value)}
        if isinstance(value, Enum):
            return {"$": "enum", "of": _name_class(type(value)), "v": value.name}
        for kind, of in (("decimal", Decimal), ("fraction", Fraction), ("path", Path)):
            if isinstance(value, of):
                return {"$": kind, "v": str(value)}
        if isinstance(value, tuple | list):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return {"$": kind, "v": [self.encode(each) for each in value]}
        if isinstance(value, set | frozenset):
            return {"$": "set", "v": [self.encode(each) for each in value]}
        if isinstance(value, Mapping):
            return {"$": "map", "v": [[self.encode(k), self.encode(v)] for k, v in value.items()]}
        if id(value) in self._known:
            return {"$": "known", "v": self._known[id(value)][0]}
        made = self._encode_array(value) if isinstance(value, np.ndarray) else self._encode_object(value)
        self._known[id(value)] = (len(self._known), value)
        return made

    def _encode_array(self, array: NDArray[Any]) -> Any:
        if array.dtype.kind in "OU":
            return {
                "$": "texts",
                "kind": array.dtype.str,
                "shape": array.shape,
                "v": self.encode(array.tolist()),
            }
        if array.dtype.kind not in "biuf":
            raise InputError(f"arrays of {array.dtype} cannot be kept")
        plain = np.ascontiguousarray(array)
        plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
        self.blocks.append(plain.tobytes())
        return {"$": "array", "kind": plain.dtype.str, "shape": array.shape}

    def _encode_object(self, value: Any) -> Any:
        kind = type(value)
        if not dataclasses.is_dataclass(kind) or not kind.__module__.startswith("tacita."):
            raise InputError(f"{kind.__name__} cannot be kept")
        fields = {each.name: getattr(value, each.name) for each in dataclasses.fields(kind) if each.init}
        if isinstance(value, Reason):
            fields["explain"] = value.make_sentences()
        elif isinstance(value, Contributions):
            fields["query"] = value.without_source().query
            # They may be in a column that is read when somebody asks for one.
            fields["names"] = np.array(list(value.names), dtype=object) if len(value.names) else ()
        return {
            "$": "object",
            "of": _name_class(kind),
            "v": {name: self.encode(each) for name, each in fields.items()},
        }


class _Reader:
    """The values that were written, from JSON and the bytes of arrays."""

    def __init__(self, blocks: bytes) -> None:
        self._blocks, self._at = blocks, 0
        self._known: list[Any] = []

    def decode(self, given: Any) -> Any:
        """Return the value that was written as this."""
        if not isinstance(given, dict):
            return given
        kind: str = given["$"]
        value: Any = given.get("v")
        if kind in TEXTS:
            return TEXTS[kind](str(value))
        if kind == "known":
            return self._known[value]
        if kind == "enum":
            return _find_class(given["of"], Enum)[value]
        if kind == "map":
            return {self.decode(key): self.decode(each) for key, each in given["v"]}
        if kind in ("tuple", "list", "set"):
            return {"tuple": tuple, "list": list, "set": frozenset}[kind](map(self.decode, given["v"]))
        made = self._make(kind, given)
        self._known.append(made)
        return made

    def _make(self, kind: str, given: dict[str, Any]) -> Any:
        if kind == "object":
            kept = _find_class(given["of"], object)
            if not dataclasses.is_dataclass(kept):
                raise ValueError(given["of"])
            make: Any = kept
            return make(**{name: self.decode(each) for name, each in given["v"].items()})
        shape = tuple(map(int, given["shape"]))
        if kind == "texts":
            array = np.empty(shape, dtype=object)
            array.ravel()[:] = _flatten(self.decode(given["v"]), len(shape))
            array = array.astype(given["kind"])
        elif kind == "array" and np.dtype(given["kind"]).kind in "biuf":
            size = math.prod(shape)
            array = np.frombuffer(self._blocks, given["kind"], size, self._at).reshape(shape).copy()
            self._at += array.nbytes
        else:
            raise ValueError(kind)
        array.flags.writeable = False
        return array


def _flatten(listed: Any, depth: int) -> list[Any]:
    if depth <= 1:
        return listed if isinstance(listed, list) else [listed]
    return [each for part in listed for each in _flatten(part, depth - 1)]


def _name_class(kind: type) -> str:
    if not kind.__module__.startswith("tacita."):
        raise InputError(f"{kind.__name__} cannot be kept")
    return f"{kind.__module__}:{kind.__qualname__}"


def _find_class(name: str, base: type) -> Any:
    """Return a class of ours by the name that a file of values has for it."""
    module, _, own = name.partition(":")
    if not module.startswith("tacita."):
        raise ValueError(name)
    found = getattr(importlib.import_module(module), own)
    if not isinstance(found, type) or not issubclass(found, base):
        raise ValueError(name)
    return found
