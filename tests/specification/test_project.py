"""project.toml: one file, checked key by key."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacita.core.errors import FormatError, InputError
from tacita.problem.problem import Problem
from tacita.rules import FromColumns, Marked
from tacita.rules.protection import USUAL_PERCENT
from tacita.specification.project import load_project
from tacita.specification.read_case import read_case
from tacita.specification.sections import Rules

PROJECT = """[table]
file = "cells.csv"
by = { region = "nuts", size = "" }
value = "turnover"
count = "n"

[hierarchies]
nuts = { codes = ["N", "S"] }

[rules]
rule = "frequency(3)"

[cost]
by = "unit"

[protect]
method = "suppression"
must_publish = [{ region = "N" }]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    cells = "region,size,turnover,n\nN,a,10,1\nN,b,20,5\nS,a,30,6\nS,b,40,7\n"
    (tmp_path / "cells.csv").write_text(cells)
    (tmp_path / "project.toml").write_text(PROJECT)
    return tmp_path


def test_a_project_is_a_problem(folder: Path) -> None:
    problem = read_case(folder / "project.toml")
    assert isinstance(problem, Problem)
    table = problem.table
    assert problem.sensitive.tolist() == [table.find("N", "a")]
    assert problem.cost.tolist() == [1.0] * 9
    assert problem.must_publish[table.find("N", "Total")]
    assert load_project(folder / "project.toml").protect.method == "suppression"


def test_microdata_and_linked_tables(folder: Path) -> None:
    records = "region,size,kind,turnover\n" + "".join(
        f"{r},{s},{k},{v}\n"
        for v, (r, s, k) in enumerate([("N", "a", "x"), ("S", "b", "y"), ("N", "b", "x")], 1)
    )
    (folder / "firms.csv").write_text(records)
    text = """[tables.by_size]
microdata = "firms.csv"
by = ["region", "size"]
value = "turnover"
[tables.by_kind]
microdata = "firms.csv"
by = ["region", "kind"]
value = "turnover"
[rules]
rule = "frequency(2)"
"""
    (folder / "project.toml").write_text(text)
    problem = load_project(folder / "project.toml").problem()
    assert [part.name for part in problem.table.structure.parts] == ["by_size", "by_kind"]
    assert problem.table.values[problem.table.find(region="N")] == 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("value =", "vlaue =", r"line 4: table\.vlaue: this key is unknown \(did you mean 'value'\?\)$"),
        ('"turnover"', "7", r"line 4: table\.value: Input should be a valid string"),
        ("[rules]", "[rulez]", r"line 10: rulez: this key is unknown \(did you mean 'rules'\?\)"),
        ("[table]", "[table", r"this is not TOML: .*line 1"),
        ('file = "cells.csv"\n', "", r"line 1: table: give either file"),
        ("[table]\nfile", "[t]\nfile", r"line 1: t: this key is unknown"),
    ],
)
def test_faults_are_told_by_line_and_key(folder: Path, old: str, new: str, message: str) -> None:
    assert old in PROJECT
    (folder / "project.toml").write_text(PROJECT.replace(old, new))
    with pytest.raises(FormatError, match=message):
        load_project(folder / "project.toml")


def test_what_is_missing_is_asked_for(folder: Path) -> None:
    (folder / "project.toml").write_text(PROJECT.replace('rule = "frequency(3)"', ""))
    with pytest.raises(InputError, match="nothing says which cells are sensitive"):
        read_case(folder / "project.toml")
    (folder / "project.toml").write_text(PROJECT.replace('"nuts"', '["nuts", "travel"]'))
    with pytest.raises(InputError, match="there is no hierarchy 'travel'"):
        read_case(folder / "project.toml")
    with pytest.raises(FormatError, match="check the path"):
        load_project(folder / "other.toml")


def test_a_file_in_place_of_the_name_of_a_hierarchy_is_explained(tmp_path: Path) -> None:
    (tmp_path / "records.csv").write_text("nace,value\nA,1\n")
    (tmp_path / "project.toml").write_text(
        '[table]\nmicrodata = "records.csv"\nby = { nace = "nace.hrc" }\nvalue = "value"\n'
        '[rules]\nrule = "threshold(3)"\n'
    )
    with pytest.raises(
        InputError, match=r'by\.nace.*write nace = "nace\.hrc" under \[hierarchies\] if that is a file, and'
    ):
        read_case(tmp_path / "project.toml")


@pytest.mark.parametrize("said", ["lower = nan", "upper = nan", "within = [nan, 1.0]"])
def test_a_bound_that_is_no_number_is_refused(tmp_path: Path, said: str) -> None:
    """It would compare as false with everything, and so be no bound without saying so."""
    path = tmp_path / "project.toml"
    path.write_text(f'[table]\nfile = "t.csv"\n[attackers]\n{said}\n', encoding="utf-8")
    with pytest.raises(FormatError, match="nan is no bound"):
        load_project(path)


def test_one_percentage_stands_for_levels_that_nobody_says(tmp_path: Path) -> None:
    """Whoever leaves levels out, in a file, a project or a rule, leaves out the same ones."""
    (tmp_path / "t.csv").write_text("region,value,status\nN,100,u\nS,100,\n")
    (tmp_path / "p.toml").write_text(
        '[table]\nfile = "t.csv"\n[rules]\nsensitive = [{ region = "S" }]\n', encoding="utf-8"
    )
    assert Rules().protection == Marked(()).protection == FromColumns().protection == USUAL_PERCENT
    problem = load_project(tmp_path / "p.toml").problem()
    cells = [problem.table.find("N"), problem.table.find("S")]
    assert problem.levels.lower[cells].tolist() == problem.levels.upper[cells].tolist() == [USUAL_PERCENT] * 2
