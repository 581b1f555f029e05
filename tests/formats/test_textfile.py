"""Text files: encodings are found, and what cannot be read is told by file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacita.core.errors import FormatError
from tacita.formats.textfile import read_text
from tacita.specification.project import load_project
from tacita.specification.read_case import read_case


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ("Süd\r\nOst\r".encode(), "utf-8"),
        ("Süd\nOst\n".encode("utf-8-sig"), "utf-8"),
        ("Süd\nOst\n".encode("cp1252"), "cp1252"),
        ("Süd\r\nOst\n".encode("utf-16"), "utf-16"),
    ],
)
def test_encodings_are_found_and_line_ends_are_plain(tmp_path: Path, data: bytes, found: str) -> None:
    path = tmp_path / "codes.txt"
    path.write_bytes(data)
    assert read_text(path) == ("Süd\nOst\n", found)


def test_bytes_of_no_known_encoding_are_refused_by_line(tmp_path: Path) -> None:
    # cp1252 has no character 0x81: reading it as a replacement could make two codes one.
    path = tmp_path / "table.csv"
    path.write_bytes(b"r,value\na\x81,1\n")
    with pytest.raises(FormatError, match=r"table\.csv, line 2: the bytes are not utf-8 or cp1252"):
        read_case(path)


@pytest.mark.parametrize("name", ["A.txt", "project.toml"])
def test_every_reader_tells_a_wrong_encoding_as_an_error_of_the_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"1\n# S\xfcd \x81\n")
    with pytest.raises(FormatError, match=r"line 2: the bytes are not utf-8"):
        load_project(path) if name.endswith(".toml") else read_case(tmp_path)
