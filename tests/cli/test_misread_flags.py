"""Flags that newcomers write otherwise than they are meant, and what the error says to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacita.cli import main

CELLS = "nace,region,value\n10.1,A,5\n10.2,A,6\n10.1,B,7\n10.2,B,9\n"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (
            ["protect", "--must-publish", "nace=10.1,region=A"],
            "--must-publish: 'nace=10.1,region=A' is a cell, and the option takes a file of cells. Write a "
            "file such as cells.csv with the lines nace,region and 10.1,A, and name it.",
        ),
        (
            ["protect", "--by", "nace=2-2,region"],
            "--by: 'nace=2-2,region' is no column. Write --by nace --hierarchy nace=2-2 --by region.",
        ),
        (
            ["protect", "--by", "nace,region"],
            "'nace,region' are several columns: name each of them by itself",
        ),
        (
            ["tabulate", "--by", "nace=2-2,region"],
            "--by: 'nace=2-2,region' names several columns. Write --by nace=2-2 --by region.",
        ),
    ],
)
def test_the_error_says_what_to_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], said: str
) -> None:
    file = tmp_path / "cells.csv"
    file.write_text(CELLS)
    verb, *rest = flags
    assert main([verb, str(file), *rest]) == 1
    assert said in " ".join(capsys.readouterr().err.split())
