"""Linked tables of a project: what each of their files states of its cells holds for all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacita.core.errors import InputError
from tacita.core.exact import UNBOUNDED
from tacita.problem.problem import Problem
from tacita.specification.project import load_project

SIZES = """region,size,value,status,cost,lb,ub,lpl,upl,spl
N,a,4,,,,,,,
N,b,6,,,,,,,
S,a,20,,,,,,,
S,b,30,,,,,,,
N,Total,10,,,,,,,
S,Total,50,,,,,,,
Total,a,24,,,,,,,
Total,b,36,,,,,,,
Total,Total,60,,,,,,,
"""
KINDS = """region,kind,value,status,cost,lb,ub,lpl,upl,spl
N,x,3,,,,,,,
N,y,7,,,,,,,
S,x,25,,,,,,,
S,y,25,,,,,,,
N,Total,10,,,,,,,
S,Total,50,,,,,,,
Total,x,28,,,,,,,
Total,y,32,,,,,,,
Total,Total,60,,,,,,,
"""
PROJECT = """[tables.sizes]
file = "sizes.csv"
by = ["region", "size"]
[tables.kinds]
file = "kinds.csv"
by = ["region", "kind"]
"""
NORTH = "N,Total,10,,,,,,,"


def linked(folder: Path, sizes: str = NORTH, kinds: str = NORTH, more: str = "") -> Problem:
    """The problem where the two files say these things of the shared cell North."""
    (folder / "sizes.csv").write_text(SIZES.replace(NORTH, sizes))
    (folder / "kinds.csv").write_text(KINDS.replace(NORTH, kinds))
    (folder / "project.toml").write_text(PROJECT + more)
    return load_project(folder / "project.toml").problem()


def levels_of(problem: Problem, **codes: str) -> tuple[int, int, int]:
    cell, levels = problem.table.find(**codes), problem.levels
    return int(levels.lower[cell]), int(levels.upper[cell]), int(levels.sliding[cell])


MARKED = "N,Total,10,u,,,,2,3,4"
RULES = ("", '[rules]\nrule = "threshold(4)"\n')


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("by", ["sizes", "kinds"])
def test_a_cell_that_one_file_marks_is_sensitive(tmp_path: Path, by: str, rules: str) -> None:
    problem = linked(tmp_path, **{by: MARKED}, more=rules)
    north = problem.table.find(region="N")
    expected = {north} | ({problem.table.find(region="N", kind="x")} if rules else set())
    assert set(problem.sensitive.tolist()) == expected
    assert levels_of(problem, region="N") == (2, 3, 4)
    assert problem.levels.explain(north) == ["marked in the file: status u"]


def test_of_two_levels_the_larger_holds(tmp_path: Path) -> None:
    problem = linked(tmp_path, MARKED, "N,Total,10,u,,,,1,5,4")
    assert levels_of(problem, region="N") == (2, 5, 4)
    in_percent = linked(tmp_path, "N,Total,10,u,,,,1,1,", "N,Total,10,u,,,,,,", "[rules]\nprotection = 40\n")
    assert levels_of(in_percent, region="N") == (4, 4, 0)


def test_everyone_knows_the_narrowest_bounds(tmp_path: Path) -> None:
    problem = linked(tmp_path, "N,Total,10,u,,2,30,1,1,", "N,Total,10,,,1,20,,,")
    north, south = (problem.table.find(region=code) for code in "NS")
    assert (problem.outsider.lower[north], problem.outsider.upper[north]) == (2, 20)
    assert (problem.outsider.lower[south], problem.outsider.upper[south]) == (0, UNBOUNDED)
    said = linked(tmp_path, "N,Total,10,u,,2,30,1,1,", more="[attackers]\nlower = -5\nupper = 99\n")
    assert (said.outsider.lower[north], said.outsider.upper[north]) == (-5, 99)


@pytest.mark.parametrize("by", ["sizes", "kinds"])
def test_a_cell_costs_what_a_file_states(tmp_path: Path, by: str) -> None:
    problem = linked(tmp_path, **{by: "N,Total,10,,7,,,,,"}, more='[rules]\nrule = "threshold(4)"\n')
    assert problem.cost[problem.table.find(region="N")] == 7
    assert problem.cost[problem.table.find(region="S")] == 50
    by_project = '[rules]\nrule = "threshold(4)"\n[cost]\nby = "unit"\n'
    assert set(linked(tmp_path, "N,Total,10,,7,,,,,", "N,Total,10,,8,,,,,", by_project).cost) == {1.0}


@pytest.mark.parametrize("by", ["sizes", "kinds"])
def test_a_cell_that_one_file_wants_published_must_be(tmp_path: Path, by: str) -> None:
    problem = linked(tmp_path, **{by: "N,Total,10,z,,,,,,"}, more='[rules]\nrule = "threshold(4)"\n')
    assert problem.must_publish.nonzero()[0].tolist() == [problem.table.find(region="N")]
    strict = linked(tmp_path, **{by: "N,Total,10,z,,,,,,"}, more='[rules]\nrule = "threshold(11)"\n')
    assert not strict.must_publish.any()


@pytest.mark.parametrize(
    ("sizes", "kinds", "message"),
    [
        (MARKED, "N,Total,10,z,,,,,,", r"sensitive in 'sizes', to be published as it is in 'kinds'"),
        ("N,Total,10,p,,,,,,", MARKED, r"sensitive in 'kinds', to be published as it is in 'sizes'"),
        ("N,Total,10,u,7,,,,,", "N,Total,10,u,8,,,,,", "the costs in 'sizes' and 'kinds' differ"),
    ],
)
def test_files_that_contradict_each_other_are_refused_by_cell(
    tmp_path: Path, sizes: str, kinds: str, message: str
) -> None:
    with pytest.raises(InputError, match=rf"\(region=N, size=Total, kind=Total\): {message}"):
        linked(tmp_path, sizes, kinds)


def test_without_a_rule_some_file_must_call_a_cell_sensitive(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="linked tables: nothing says which cells are sensitive: give"):
        linked(tmp_path)


def test_finer_levels_of_one_file_hold_in_the_last_place_of_all(tmp_path: Path) -> None:
    amounts = PROJECT.replace('"]\n', '"]\ncounts = false\n')
    (tmp_path / "sizes.csv").write_text(SIZES.replace(NORTH, "N,Total,10,u,,,,1,2,"))
    finer = KINDS.replace(NORTH, "N,Total,10,u,,,,0.5,2.25,").replace("N,x,3,,,,", "N,x,3,u,,1.75,9")
    (tmp_path / "kinds.csv").write_text(finer.replace("N,x,3,u,,1.75,9,,,", "N,x,3,u,,1.75,9,,1,"))
    (tmp_path / "project.toml").write_text(amounts)
    problem = load_project(tmp_path / "project.toml").problem()
    assert problem.table.decimals == 2
    assert levels_of(problem, region="N") == (100, 225, 0)
    x = problem.table.find(region="N", kind="x")
    assert (problem.outsider.lower[x], problem.outsider.upper[x]) == (175, 900)


def test_microdata_beside_a_file_state_nothing(tmp_path: Path) -> None:
    firms = [("N", "a", 4), ("N", "b", 6), ("S", "a", 20), ("S", "b", 30)]
    (tmp_path / "firms.csv").write_text(
        "region,size,value\n" + "".join(f"{r},{s},{v}\n" for r, s, v in firms)
    )
    more = '[tables.firms]\nmicrodata = "firms.csv"\nby = ["region", "size"]\nvalue = "value"\n'
    text = more + PROJECT[PROJECT.index("[tables.kinds]") :]
    (tmp_path / "kinds.csv").write_text(KINDS.replace(NORTH, MARKED))
    (tmp_path / "project.toml").write_text(text)
    problem = load_project(tmp_path / "project.toml").problem()
    assert levels_of(problem, region="N") == (2, 3, 4)
    alone = problem.table.find(region="N", size="a")
    assert (problem.outsider.lower[alone], problem.outsider.upper[alone]) == (0, UNBOUNDED)
