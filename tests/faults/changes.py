"""What is done to files: bytes, lines, numbers, signs, encodings, nesting, archives and columns."""

from __future__ import annotations

import io
import random
import re
import zipfile
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

LONGEST = 3_000_000
"""Bytes of a mutant of a text."""
EXTREME = (
    *("0", "-1", "1e308", "1e999", "-1e309", "1e-400", "1e99999999", "nan", "inf", "-inf", "NaN", "0x1F"),
    *(
        "999999999999",
        "9" * 19,
        "9" * 400,
        "0" * 5000 + "1",
        "1" + "0" * 5000,
        "4294967296",
        "-9223372036854775808",
    ),
    *(
        "٣",
        "\uff11\uff12",
        "½",
        "²",
        "1_000",
        "1,5",
        "1.234,5",
        "--1",
        "+",
        "1e",
        ".",
        "1.0000000000000001",
        "true",
        "",
    ),
)
SIGNS = (
    '"',
    "'",
    ",",
    ";",
    "\t",
    "|",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "=",
    ":",
    "#",
    "\\",
    "\0",
    "\r",
    "\ufeff",
    "@",
)
NUMBER = re.compile(rb"\d+(?:\.\d+)?")


def flip(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def cut(data: bytes, rng: random.Random) -> bytes:
    first, last = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:first] + data[last:]


def repeat(data: bytes, rng: random.Random) -> bytes:
    first, last = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:last] + data[first:last] * rng.choice((1, 2, 50)) + data[last:]


def lines(data: bytes, rng: random.Random) -> bytes:
    """Drop, repeat or exchange lines."""
    rows = data.split(b"\n")
    one, other = rng.randrange(len(rows)), rng.randrange(len(rows))
    what = rng.choice(("drop", "repeat", "exchange", "shuffle", "many"))
    if what == "drop":
        del rows[one]
    elif what == "repeat":
        rows.insert(other, rows[one])
    elif what == "exchange":
        rows[one], rows[other] = rows[other], rows[one]
    elif what == "shuffle":
        rng.shuffle(rows)
    else:
        rows[one:one] = [rows[one]] * rng.choice((100, 5000))
    return b"\n".join(rows)


def number(data: bytes, rng: random.Random) -> bytes:
    """Replace a number, or several, by an extreme one."""
    for _ in range(rng.choice((1, 1, 3))):
        found = list(NUMBER.finditer(data[:200_000]))
        if not found:
            return data + rng.choice(EXTREME).encode()
        at = rng.choice(found)
        data = data[: at.start()] + rng.choice(EXTREME).encode() + data[at.end() :]
    return data


def sign(data: bytes, rng: random.Random) -> bytes:
    """Insert signs, one or very many of a kind."""
    at = rng.randrange(len(data) + 1)
    text = rng.choice(SIGNS) * rng.choice((1, 1, 1, 2, 1000, 200_000))
    return data[:at] + text.encode() + data[at:]


def token(data: bytes, rng: random.Random) -> bytes:
    """Put a word in the place of another."""
    words = list(re.finditer(rb"[^\s,;\t|\"=\[\]{}]+", data[:100_000]))
    if len(words) < 2:
        return flip(data, rng)
    one, other = rng.choice(words), rng.choice(words)
    return data[: one.start()] + other.group() + data[one.end() :]


def encoding(data: bytes, rng: random.Random) -> bytes:
    text = data.decode("utf-8", errors="replace")
    way = rng.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "cp1252", "utf-7", "cp037"))
    return text.encode(way, errors="replace")


def nest(data: bytes, rng: random.Random) -> bytes:
    """Nest deeply after a line end."""
    places = [0, *(at.end() for at in re.finditer(rb"\n|= ?", data[:100_000]))]
    at, depth = rng.choice(places), rng.choice((100, 3000, 100_000))
    text = rng.choice(("[", "{", "{a=", "((", '"', "a.", "[[a", "(1", "@", "<a>")) * depth
    return data[:at] + text.encode() + data[at:]


def random_bytes(data: bytes, rng: random.Random) -> bytes:
    return rng.randbytes(rng.choice((0, 1, 10, 1000)))


def line_ends(data: bytes, rng: random.Random) -> bytes:
    return data.replace(b"\n", rng.choice((b"\r", b"\r\n", b"\n\n", b"\x0b", b"\xe2\x80\xa8", b"\x85", b"")))


def letters(data: bytes, rng: random.Random) -> bytes:
    """Insert letters that look like others, go the other way, or are none."""
    at = rng.randrange(len(data) + 1)
    text = rng.choice(
        ("\u202e", "\u200b", "\u00a0", "\ud7ff", "\U0001f600", "é", "\u0301", "ß", "ﬁ", "\x1b[31m")
    )
    return data[:at] + text.encode() + data[at:]


Change = Callable[[bytes, random.Random], bytes]
TEXT: tuple[Change, ...] = (
    *(number, number, number, lines, lines, token, token, sign, sign, flip, truncate, cut, repeat),
    *(encoding, nest, random_bytes, line_ends, letters),
)
BINARY: tuple[Change, ...] = (flip, flip, flip, truncate, cut, repeat, random_bytes)


def change_text(data: bytes, rng: random.Random) -> bytes:
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(TEXT)(data, rng)[:LONGEST]
    return data


def change_bytes(data: bytes, rng: random.Random) -> bytes:
    for _ in range(rng.choice((1, 1, 2))):
        data = rng.choice(BINARY)(data, rng)
    return data


def change_archive(data: bytes, rng: random.Random) -> bytes:
    """Change the bytes of an archive, or what is in it."""
    if rng.random() < 0.3:
        return change_bytes(data, rng)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheets = [name for name in parts if "sheet" in name]
    name = rng.choice([*parts, *sheets, *sheets])
    what = rng.random()
    if what < 0.1:
        del parts[name]
    elif what < 0.3:
        far = rng.choice(
            (b"XFD1048576", b"A1048576", b"XFD1", b"ZZZZ99999999", b"A0", b"A99999999999", b"1A")
        )
        parts[name] = re.sub(rb'r="[A-Z]+\d+"', b'r="' + far + b'"', parts[name], count=rng.choice((1, 1, 0)))
    elif what < 0.35:
        parts[name] += b" " * 50_000_000
    else:
        parts[name] = change_text(parts[name], rng)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, content in parts.items():
            archive.writestr(part, content)
    return out.getvalue()


STRANGE_COLUMNS: tuple[Callable[[int], pa.Array], ...] = (
    lambda n: pa.StringArray.from_buffers(
        n, pa.py_buffer(np.arange(n + 1, dtype=np.int32).tobytes()), pa.py_buffer(b"\xff" * n)
    ),
    lambda n: pa.array([b"\xff\x00"] * n),
    lambda n: pa.array([[1, 2]] * n),
    lambda n: pa.array([{"a": 1}] * n),
    lambda n: pa.nulls(n),
    lambda n: pa.array([float("nan")] * n),
    lambda n: pa.array([float("inf")] * n),
    lambda n: pa.array([1e300] * n),
    lambda n: pa.array([2**63 - 1] * n),
    lambda n: pa.array([2**64 - 1] * n, pa.uint64()),
    lambda n: pa.array([0] * n, pa.timestamp("ns")),
    lambda n: pa.array([0] * n, pa.duration("s")),
    lambda n: pa.array([True, None] * n)[:n],
    lambda n: pa.array(["a\0b"] * n).dictionary_encode(),
    lambda n: pa.array([1] * n, pa.decimal128(38, 30)),
    lambda n: pa.array(["", None] * n)[:n],
)


def change_parquet(data: bytes, rng: random.Random) -> bytes:
    """Change the bytes, or give a column another kind."""
    if rng.random() < 0.5:
        return change_bytes(data, rng)
    table = pq.read_table(io.BytesIO(data))
    at = rng.randrange(table.num_columns)
    name = rng.choice((table.column_names[at], "", "\0", "value", table.column_names[0]))
    what = rng.random()
    if what < 0.7:
        table = table.set_column(at, name, rng.choice(STRANGE_COLUMNS)(table.num_rows))
    elif what < 0.8:
        table = table.slice(0, 0)
    elif what < 0.9:
        table = pa.concat_tables([table] * rng.choice((2, 1000)))
    else:
        table = table.append_column(name, table.column(at))
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()
