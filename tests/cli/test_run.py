"""Many tables in one command: what is safe, what is not, what fails, and how all of it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tacita.cli import main

CELLS = "region,sex,value\n" + "".join(
    f"{region},{sex},{value}\n"
    for region, row in {
        "North": (20, 50, 10, 80),
        "South": (8, 19, 22, 49),
        "West": (17, 32, 12, 61),
        "Total": (45, 101, 44, 190),
    }.items()
    for sex, value in zip(("a", "b", "c", "Total"), row, strict=True)
)
PROJECT = """
[table]
file = "../cells.csv"

[rules]
sensitive = [{ region = "South", sex = "c", lpl = 3, upl = 3 }]

[output]
folder = "NAME"
"""
UNSAFE = '\n[protect]\nmethod = "rounding"\noptions = { base = 2, protected = false }\n'


def write_project(folder: Path, name: str, more: str = "") -> Path:
    (folder / "tables").mkdir(exist_ok=True)
    (folder / "cells.csv").write_text(CELLS)
    path = folder / "tables" / f"{name}.toml"
    path.write_text(PROJECT.replace("NAME", name) + more)
    return path


def read_counts(text: str) -> dict[str, int]:
    found = json.loads(text)
    return {word: found[word] for word in ("safe", "not safe", "failed")}


def test_several_projects_are_protected_like_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b", "alone"):
        write_project(tmp_path, name)
    assert main(["protect", str(tmp_path / "tables" / "alone.toml"), "--json"]) == 0
    alone = json.loads(capsys.readouterr().out)
    code = main(["run", str(tmp_path / "tables" / "?.toml"), str(tmp_path / "tables" / "a.toml"), "--json"])
    shown = capsys.readouterr()
    assert code == 0
    assert read_counts(shown.out) == {"safe": 2, "not safe": 0, "failed": 0}
    for table, name in zip(json.loads(shown.out)["tables"], ("a", "b"), strict=True):
        assert table["loss"] == alone["loss"]
        release = tmp_path / "tables" / name / "publication" / "release.csv"
        other = tmp_path / "tables" / "alone" / "publication" / "release.csv"
        assert release.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(
    ("kinds", "code"), [("good broken", 1), ("good unsafe", 2), ("broken unsafe good", 2)]
)
def test_what_is_broken_or_not_safe_is_named_and_the_others_are_done(
    kinds: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = {"good": "", "broken": "\n[cost]\nby = 3\n", "unsafe": UNSAFE}
    paths = [str(write_project(tmp_path, kind, more[kind])) for kind in kinds.split()]
    assert main(["run", *paths, "--json"]) == code
    shown = capsys.readouterr()
    verdicts = {Path(each["name"]).stem: each["verdict"] for each in json.loads(shown.out)["tables"]}
    expected = {"good": "safe", "broken": "failed", "unsafe": "not safe"}
    assert verdicts == {kind: expected[kind] for kind in kinds.split()}
    assert all(path in shown.err for path in paths)
    assert (tmp_path / "tables" / "good" / "publication" / "release.csv").is_file()
    assert not (tmp_path / "tables" / "unsafe" / "publication" / "release.csv").exists()


def test_a_pattern_that_fits_nothing_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(tmp_path / "*.toml")]) == 1
    assert "no file fits this pattern" in capsys.readouterr().err


def test_files_of_other_kinds_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_project(tmp_path, "good")
    assert main(["run", str(tmp_path / "cells.csv"), str(tmp_path / "tables" / "good.toml")]) == 1
    shown = capsys.readouterr()
    assert "neither a project" in shown.err
    assert "1 safe, 1 failed" in shown.out
