"""Earlier releases in a project file: read, kept when the project is saved, considered when it is run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tacita as tc
from tacita.app.work.exports import save_case
from tacita.app.work.opening import open_case_at
from tacita.cli import main
from tacita.core.errors import FormatError, ReleaseError
from tacita.core.tables.editing import with_values
from tacita.specification.project import load_project
from tacita.specification.project_write import write_project

CELLS = """region,industry,value
N,A,20
N,B,50
N,C,10
S,A,8
S,B,19
S,C,22
W,A,17
W,B,32
W,C,12
"""
HIDDEN = {("S", "A"), ("S", "C"), ("W", "A"), ("W", "C")}
PROJECT = """
[table]
file = "cells.csv"

[rules]
sensitive = [{ region = "S", industry = "C", lpl = 3, upl = 3 }]

[published]
files = [%s]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project whose table was published once, with four cells hidden, and once rounded."""
    (tmp_path / "cells.csv").write_text(CELLS)
    rows = [line.split(",") for line in CELLS.split()[1:]]
    hidden = ["x" if (r, i) in HIDDEN else v for r, i, v in rows]
    rounded = [str(10 * round(int(v) / 10)) for _, _, v in rows]
    for name, column in (("old", hidden), ("rounded", rounded)):
        lines = [f"{r},{i},{said}" for (r, i, _), said in zip(rows, column, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["region,industry,value", *lines]) + "\n")
    return tmp_path


def put(folder: Path, files: str) -> Path:
    (folder / "project.toml").write_text(PROJECT % files)
    return folder / "project.toml"


def same(one: tc.Problem, other: tc.Problem) -> bool:
    """Whether everyone knows the same, with the earlier releases and without them."""
    pairs = [(getattr(p, who) for p in (one, other)) for who in ("outsider", "outsider_beforehand")]
    return len(one.already_published) == len(other.already_published) and all(
        np.array_equal(a.lower, b.lower) and np.array_equal(a.upper, b.upper) for a, b in pairs
    )


def test_a_project_names_earlier_releases(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = load_project(put(folder, '"old.csv", { file = "rounded.csv", radius = 10 }'))
    assert folder / "old.csv" in project.files
    problem = project.problem()
    table = problem.table
    assert [release.made_by["file"] for release in problem.already_published] == ["old.csv", "rounded.csv"]
    assert problem.outsider.lower[table.find("N", "B")] == 50
    assert problem.outsider.upper[table.find("W", "A")] == 30
    # Totals are not in the files: of them nothing is known.
    assert problem.outsider.lower[table.find("N")] == 0
    assert main(["protect", str(folder), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["audit"]["safe"]
    assert main(["audit", str(folder), str(folder / "out"), "--json"]) == 0
    record = json.loads((folder / "out" / "internal" / "audit.json").read_text())
    assert [entry["file"] for entry in record["already_published"]] == ["old.csv", "rounded.csv"]


def test_faults_are_named(folder: Path) -> None:
    misspelt = _written(folder / "misspelt.toml", PROJECT.replace("files", "file") % '"old.csv"')
    with pytest.raises(FormatError, match=r"line 9: published.file: this key is unknown.*files"):
        load_project(misspelt)
    with pytest.raises(ReleaseError, match=r"rounded.csv: published values differ .*region=S.*revised"):
        load_project(put(folder, '"rounded.csv"')).problem()


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_saved_project_keeps_earlier_releases(folder: Path) -> None:
    path = put(folder, '"old.csv", { file = "rounded.csv", radius = 10 }')
    problem = load_project(path).problem()
    written = write_project(problem, folder / "kept", method="suppression", specification=load_project(path))
    assert {"old.csv", "rounded.csv"} <= {file.name for file in written.paths}
    assert same(load_project(folder / "kept" / "project.toml").problem(), problem)


def test_a_project_on_microdata_keeps_earlier_releases(folder: Path) -> None:
    text = PROJECT.replace(
        'file = "cells.csv"', 'microdata = "cells.csv"\nby = ["region", "industry"]\nvalue = "value"'
    )
    path = _written(folder / "project.toml", text % '"old.csv"')
    problem = load_project(path).problem()
    write_project(problem, folder / "kept", method="suppression", specification=load_project(path))
    again = load_project(folder / "kept" / "project.toml")
    assert again.table is not None
    assert again.table.microdata is not None
    assert same(again.problem(), problem)


def test_linked_tables_keep_earlier_releases(folder: Path) -> None:
    industry = load_project(put(folder, "")).problem().table
    size = tc.Table.from_array([[30, 50], [9, 40], [21, 40]], names=["region", "size"])
    trees = [replace(size.structure.dimensions[0], trees=industry.structure.dimensions[0].trees)]
    structure = replace(size.structure, dimensions=(*trees, size.structure.dimensions[1]))
    size = replace(size, structure=structure)
    linked = tc.link({"industry": industry, "size": size})
    old = tc.Release.suppress(size, np.array([size.find(r, s) for r in "SW" for s in "12"]))
    rule = tc.Marked([linked.find("S", "C")], lower=3, upper=3)
    problem = tc.Problem(linked, rule, attackers="outsider", already_published=old)
    write_project(problem, folder / "kept", method="suppression")
    assert same(load_project(folder / "kept" / "project.toml").problem(), problem)


def test_the_app_opens_and_saves_earlier_releases(folder: Path) -> None:
    path = put(folder, '"old.csv", { file = "rounded.csv", radius = 10 }')
    case = open_case_at(path)
    assert len(case.published) == 2
    assert same(case.problem, load_project(path).problem())
    save_case(case, folder / "kept", "project", passing=folder / "session")
    assert same(open_case_at(folder / "kept").problem, case.problem)
    # A value that was changed makes the release untrue: it is left out of what is saved, with a note.
    changed = case.with_table(with_values(case.table, np.array([case.table.find("N", "A")]), np.array([21])))
    with pytest.raises(ReleaseError, match="revised"):
        _ = changed.problem
    written = save_case(changed, folder / "changed", "project", passing=folder / "session")
    assert "releases that are already published" in written.notes[0]
    assert open_case_at(folder / "changed").published == ()
