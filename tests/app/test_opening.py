"""Cases from files, projects, text, zeros and chance."""

from __future__ import annotations

from math import inf
from pathlib import Path

import numpy as np
import pytest

from tacita import generate
from tacita.app.work.exports import save_case
from tacita.app.work.open_case import Case, DecisionKind, open_case
from tacita.app.work.opening import (
    NO_OPTIONS,
    generate_case,
    list_reading_notes,
    make_empty_case,
    open_case_at,
    open_case_of_example,
    open_case_of_files,
    open_case_of_text,
    parse_dimensions,
)
from tacita.core.errors import BoundsError, InputError
from tacita.core.tables.editing import with_values
from tacita.core.tables.read_options import ReadOptions
from tacita.examples import example, example_names
from tacita.formats.hierarchy import write_hierarchy
from tacita.formats.petrenko import write_thesis
from tacita.formats.table_write import write_table
from tacita.generate import FAMILIES
from tacita.problem.problem import Problem
from tacita.rules import Marked
from tacita.specification.project import load_project
from tacita.specification.sections import Attackers, Protection

CELLS = "region,size,value\nN,s,12\nN,l,20\nS,s,30\nS,l,40\n"
MARKED = "region,size,value,status,cost\nN,s,12,u,1\nN,l,20,s,2\nS,s,30,z,3\nS,l,40,s,4\n"


def write(folder: Path, **files: str) -> list[Path]:
    """Files by name, ``a_csv`` being ``a.csv``."""
    paths = [folder / name.replace("_", ".") for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def sensitive(case: Case) -> list[str]:
    return [case.table.name(int(cell)) for cell in case.problem.sensitive]


def test_a_table_file_is_called_like_its_file(tmp_path: Path) -> None:
    case = open_case_at(write(tmp_path, turnover_csv=CELLS)[0])
    assert case.name == "turnover"
    assert not len(case.data.levels)
    assert case.table.values[case.table.find("N", "Total")] == 32


def test_what_a_file_states_is_kept(tmp_path: Path) -> None:
    case = open_case_at(write(tmp_path, marked_csv=MARKED)[0])
    assert sensitive(case) == ["region=N, size=s"]
    assert [case.table.name(cell) for cell in case.list_decided(DecisionKind.PUBLISH)] == ["region=S, size=s"]
    assert case.problem.cost[case.table.find("S", "l")] == 4


PROJECT = """
[table]
file = "t.csv"
[rules]
rule = '{rule}'
waived = ["Smith"]
[attackers]
kinds = ["outsider"]
within = [1.0, 2.0]
[cost]
by = "unit"
[protect]
must_publish = [{{ region = "S", size = "l" }}]
must_hide = [{{ region = "S", size = "s" }}]
"""


def test_a_project_comes_in_parts_that_ask_the_same(tmp_path: Path) -> None:
    path, _ = write(tmp_path, project_toml=PROJECT.format(rule="threshold(25)"), t_csv=CELLS)
    case, asked = open_case_at(path), load_project(path).problem()
    assert case.rules == ("threshold(25)",)
    assert case.attackers == Attackers(("outsider",), within=(1.0, 2.0))
    assert case.specification == load_project(path)
    assert (case.specification.folder, case.name) == (tmp_path, tmp_path.name)
    assert same_question(case, asked)


def test_rules_are_split_where_they_are_joined(tmp_path: Path) -> None:
    text = PROJECT.format(rule='threshold(25)|marked([("N", "a|b")], upper=3, lower=3)')
    path, _ = write(
        tmp_path,
        project_toml=text.replace('"l" }', '"m" }'),
        t_csv=CELLS.replace(",l,", ",a|b,") + "S,m,50\n",
    )
    case = open_case_at(path)
    assert case.list_decided(DecisionKind.SENSITIVE) == []
    assert same_question(case, load_project(path).problem())
    assert case.rules == (
        "threshold(25)",
        'marked([("N", "a|b")], upper=3, lower=3)',
    )


@pytest.mark.parametrize("rule", ['rule = "threshold(15)"', ""])
def test_a_project_keeps_what_its_file_states(tmp_path: Path, rule: str) -> None:
    text = f'[table]\nfile = "t.csv"\n[rules]\n{rule}\nprotection = 30\n'
    path, _ = write(tmp_path, project_toml=text, t_csv=MARKED)
    case, asked = open_case_at(path), load_project(path).problem()
    assert len(case.data.levels) == 1
    assert same_question(case, asked)


def test_a_project_with_a_rule_keeps_the_bounds_and_costs_of_its_file(tmp_path: Path) -> None:
    cells = "region,value,lb,ub,cost\nN,12,6,24,1\nS,30,15,60,3\nTotal,42,30,60,7\n"
    project = '[table]\nfile = "t.csv"\n[rules]\nrule = "threshold(15)"\n'
    path, _ = write(tmp_path, project_toml=project, t_csv=cells)
    case = open_case_at(path)
    assert same_question(case, load_project(path).problem())
    assert case.problem.outsider.upper[case.table.find("N")] == 24
    assert case.problem.cost[case.table.find()] == 7


def test_a_project_that_names_a_method_begins_with_it(tmp_path: Path) -> None:
    project = '[table]\nfile = "t.csv"\n[protect]\nmethod = "rounding"\noptions = { base = 5 }\n'
    path, _ = write(tmp_path, project_toml=project, t_csv=CELLS)
    assert open_case_at(path).specification.protect == Protection("rounding", {"base": 5})


def test_a_project_is_opened_by_its_folder(tmp_path: Path) -> None:
    text = PROJECT.format(rule="threshold(25)")
    path, _ = write(tmp_path, project_toml=text, t_csv=CELLS)
    case = open_case_at(tmp_path)
    assert (case.rules, case.specification.folder) == (("threshold(25)",), tmp_path)
    assert same_question(case, load_project(path).problem())
    path.unlink()
    with pytest.raises(InputError, match=r"a folder should hold a project.toml, or A.txt, PSC.txt, VSC.txt"):
        open_case_at(tmp_path)


def test_a_project_is_called_like_its_folder_unless_its_file_has_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder := tmp_path / "visits 2025").mkdir()
    path, named, data = write(
        folder, project_toml=(text := '[table]\nfile = "t.csv"\n'), p_toml=text, t_csv=CELLS
    )
    monkeypatch.chdir(folder)
    assert [open_case_at(way).name for way in (path, folder, "project.toml", ".")] == ["visits 2025"] * 4
    assert open_case_at(named).name == "p"
    # Where files that were handed over are put meanwhile says nothing.
    assert open_case_of_files([path, data]).name == "project"


def test_negative_values_are_told_with_the_page_that_says_what_everyone_knows(tmp_path: Path) -> None:
    case = open_case_at(write(tmp_path, t_csv=CELLS.replace("N,s,12", "N,s,-12"))[0])
    assert "some values are negative: they were taken as amounts, not as counts" in list_reading_notes(
        case, NO_OPTIONS
    )
    assert not any("negative" in note for note in list_reading_notes(case, ReadOptions(counts=False)))
    told = (
        r"\(region=N, size=s\) is negative, so nobody .*: give the lower bound that everyone knows, or say "
        r"that there is none. Bounds are on the page Rules under 'Everyone knows'"
    )
    with pytest.raises(BoundsError, match=told):
        _ = case.problem
    said = case.specify(attackers={"lower": -inf})
    assert len(said.problem.sensitive) == 0
    # The same words where a file states that cells are not negative, and one is typed that is.
    marked = open_case_at(write(tmp_path, m_csv=MARKED)[0])
    table = with_values(marked.table, np.array([marked.table.find("N", "s")]), np.array([-12]))
    with pytest.raises(BoundsError, match=told):
        _ = marked.with_table(table).problem
    assert marked.with_table(table).specify(attackers={"lower": -inf}).problem


def test_what_export_saves_as_a_project_folder_opens_again(tmp_path: Path) -> None:
    case = open_case_of_example("salazar")
    save_case(case, tmp_path / "saved", "project", passing=tmp_path / "passing")
    assert same_question(open_case_at(tmp_path / "saved"), case.problem)


def test_a_project_that_says_nothing_of_sensitive_cells_opens(tmp_path: Path) -> None:
    path, _ = write(tmp_path, project_toml='[table]\nfile = "t.csv"\n', t_csv=CELLS)
    case = open_case_at(path)
    assert (case.rules, len(case.data.levels), len(case.problem.levels)) == ((), 0, 0)


def same_question(case: Case, asked: Problem) -> bool:
    def parts(problem: Problem) -> list[np.ndarray]:
        levels, everyone = problem.levels, problem.outsider
        said = [levels.sensitive, levels.lower, levels.upper, levels.sliding, everyone.lower, everyone.upper]
        return [*said, problem.cost, problem.must_publish, problem.must_hide, problem.table.units]

    return all(map(np.array_equal, parts(case.problem), parts(asked)))


def test_insiders_from_records_are_derived_once(tmp_path: Path) -> None:
    records = "region,size,firm,value\n" + "".join(
        f"{region},{size},{firm},{10 + firm}\n"
        for firm, (region, size) in enumerate([("N", "s"), ("N", "l"), ("S", "s"), ("S", "l"), ("S", "l")])
    )
    text = (
        '[table]\nmicrodata = "r.csv"\nby = ["region", "size"]\nvalue = "value"\nrespondent = "firm"\n'
        '[rules]\nrule = "frequency(3)"\n[attackers]\nkinds = ["respondents"]\n'
    )
    path, _ = write(tmp_path, project_toml=text, r_csv=records)
    case, asked = open_case_at(path), load_project(path).problem()
    assert [i.name for i in case.problem.insiders] == [i.name for i in asked.insiders]
    assert asked.insiders


def test_files_together_a_project_with_its_data(tmp_path: Path) -> None:
    paths = write(tmp_path, t_csv=CELLS, project_toml='[table]\nfile = "t.csv"\n')
    assert open_case_of_files(paths).specification == load_project(paths[1])


def test_files_together_the_thesis_program(tmp_path: Path) -> None:
    write_thesis(example("thesis-3x4"), tmp_path)
    paths = [tmp_path / name for name in ("VSC.txt", "A.txt", "PSC.txt")]
    case = open_case_of_files(paths)
    assert sensitive(case) == ["row=1, column=1", "row=3, column=4"]
    with pytest.raises(InputError, match=r"^A.txt, line 1: commas .*together with PSC.txt and VSC.txt"):
        open_case_of_files(paths[1:2])
    (tmp_path / "VSC.txt").unlink()
    with pytest.raises(InputError, match=r"^VSC.txt: there is no such file"):
        open_case_of_files(paths[1:])


@pytest.mark.parametrize(
    ("ending", "tree"), [("hrc", "W\n@N\n@S\nE\n"), ("csv", "parent,child\nTotal,W\nTotal,E\nW,N\nW,S\n")]
)
def test_files_together_a_table_with_a_classification(tmp_path: Path, ending: str, tree: str) -> None:
    paths = write(tmp_path, table_csv=CELLS + "E,s,1\n", **{f"region_{ending}": tree})
    case = open_case_of_files(paths)
    assert case.name == "table"
    assert case.table.values[case.table.find("W", "Total")] == 102
    paths[1].rename(tmp_path / f"land.{ending}")
    with pytest.raises(
        InputError, match=rf"'land' is none of the dimensions region, size, so land.{ending} classifies"
    ):
        open_case_of_files([paths[0], tmp_path / f"land.{ending}"])


def test_a_classification_may_be_called_after_its_table_too(tmp_path: Path) -> None:
    made = generate.table((6, 4), hierarchy=(2, 1), seed=1)
    region = made.structure.dimensions[0]
    write_table(made, tmp_path / "three.csv")
    write_hierarchy(region.trees[0], tmp_path / f"three-{region.name}.csv")
    opened = open_case_of_files(sorted(tmp_path.iterdir())).table.structure.dimensions[0]
    assert opened.codes == region.codes
    assert opened.trees[0].depth.max() == 2


def test_files_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    paths = write(tmp_path, a_csv=CELLS, b_csv=CELLS, region_hrc="N\nS\n")
    with pytest.raises(InputError, match=r"a.csv, b.csv: choose one table"):
        open_case_of_files(paths)
    with pytest.raises(InputError, match="no table among the files"):
        open_case_of_files(paths[2:])


def test_complaints_about_uploads_name_the_file_and_line_but_no_folder(tmp_path: Path) -> None:
    paths = write(tmp_path, broken_csv=CELLS.replace("30", "thirty"))
    with pytest.raises(InputError) as caught:
        open_case_of_files(paths)
    assert str(caught.value).startswith("broken.csv, line 4, column 'value'")


def test_how_to_read_is_followed(tmp_path: Path) -> None:
    text = "region;size;n;turnover\nN;s;1;1,5\nN;l;2;2\nS;s;3;4\nS;l;4;5\nN;all;3;3,5\nS;all;7;9\n"
    text += "all;s;4;5,5\nall;l;6;7\nall;all;10;12,6\n"
    path = write(tmp_path, t_csv=text)[0]
    reading = ReadOptions(decimal=",", value="turnover", count="n", total="all", repair=True)
    table = open_case_at(path, reading).table
    assert table.values[table.find("all", "all")] == 12.5
    assert table.count is not None
    with pytest.raises(InputError, match="no option 'decimal'"):
        open_case_at(write(tmp_path, t_txt="1 2\n3 4\n")[0], ReadOptions(decimal=","))
    with pytest.raises(InputError, match="a project says itself"):
        open_case_at(write(tmp_path, project_toml="")[0], ReadOptions(counts=True))


def test_counts_that_were_taken_for_granted_are_told() -> None:
    text = "1 2\n3 4"
    told, untold = ReadOptions(counts=False), ReadOptions()
    footnoted = open_case_of_text("region\tx\ty\nN\t2\t3\nS\t5\t6\n\nSource: survey\n", untold)
    assert "footnotes are left out of the release" in " ".join(list_reading_notes(footnoted, untold))
    assert "taken as counts" in list_reading_notes(open_case_of_text(text, untold), untold)[-1]
    assert not any("counts" in note for note in list_reading_notes(open_case_of_text(text, told), told))
    assert not open_case_of_text(text, told).table.integer


def test_a_new_table_is_all_zeros() -> None:
    case = make_empty_case(parse_dimensions("region: North, South\nmonth: 12\n"))
    assert len(case.table) == 3 * 13
    assert not case.table.values.any()
    assert case.table.find("South", "12") >= 0
    amounts = make_empty_case({"row": ["1", "2"]}, counts=False, decimals=2).table
    assert (amounts.integer, amounts.decimals) == (False, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("region North", "line 1: 'region North' should be a name, a colon"),
        ("a: x, y\na: z", "line 2: there are two dimensions 'a'"),
        ("a: 2000000", "more than 1,000,000 cells"),
        ("", "at least one dimension"),
        ("a: x, x", "x"),
    ],
)
def test_wrong_dimensions_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_empty_case(parse_dimensions(text))


def test_what_cannot_be_made_or_found_is_refused_in_words() -> None:
    with pytest.raises(InputError, match="decimals"):
        make_empty_case({"row": ["1"]}, counts=False, decimals=500)
    with pytest.raises(InputError, match="seed"):
        generate_case((3, 3), "uniform", sensitive=1, seed=-1)
    with pytest.raises(InputError, match="no such user"):
        open_case_at("~nobody-of-this-name/table.csv")


def test_generated_values_keep_their_range() -> None:
    case = generate_case((30, 20), "uniform", sensitive=7, between=(5, 8), kind="magnitudes", seed=3)
    inner = case.table.values[~case.table.structure.is_total]
    assert (inner.min(), inner.max(), len(case.problem.levels)) == (5, 8, 7)
    assert not case.table.integer
    for between, family in (((8, 5), "uniform"), ((-1, 5), "uniform"), ((1, 5), "fs")):
        with pytest.raises(InputError, match="between"):
            generate_case((3, 3), family, sensitive=1, between=between)
    with pytest.raises(InputError, match="more than 1,000,000 cells"):
        generate_case((2000, 2000), "uniform", sensitive=1)


@pytest.mark.parametrize("name", example_names())
def test_examples_open(name: str) -> None:
    assert len(open_case_of_example(name).problem.levels) == len(example(name).levels) > 0


def typed(case: Case, cell: int, value: int) -> Case:
    return case.with_table(with_values(case.table, np.array([cell]), np.array([value])))


def levels_at(case: Case, cell: int) -> tuple[int, int]:
    levels = case.problem.levels
    return int(levels.lower[cell]), int(levels.upper[cell])


STATUS = "region,size,value,status\nN,s,10,u\nN,l,20,s\nS,s,30,s\nS,l,40,s\n"
BOUNDED = "region,size,value,status,ub\nN,s,10,u,1000\nN,l,20,s,\nS,s,30,s,\nS,l,40,s,\n"
RULED = '[table]\nfile = "t.csv"\n[rules]\nrule = "threshold(2)"\nprotection = 50.0\n'


@pytest.mark.parametrize(("text", "wanted"), [(STATUS, (180, 180)), (BOUNDED, (180, 100))])
def test_levels_in_percent_follow_a_typed_value(tmp_path: Path, text: str, wanted: tuple[int, int]) -> None:
    opened = open_case_at(write(tmp_path, t_csv=text)[0])
    cell = opened.table.find("N", "s")
    assert levels_at(opened, cell) == (2, 2)
    changed = typed(opened, cell, 900)
    assert levels_at(changed, cell) == wanted
    again = open_case_at(write(tmp_path, t_csv=text.replace("N,s,10", "N,s,900"))[0])
    assert levels_at(again, cell) == wanted
    assert levels_at(typed(changed, cell, 0), cell) == (0, 0)
    assert cell in typed(changed, cell, 0).problem.sensitive


def test_levels_in_percent_follow_a_value_besides_the_rule_of_a_project(tmp_path: Path) -> None:
    *_, project = write(tmp_path, t_csv=STATUS, p_toml=RULED)
    opened = open_case_at(project)
    cell = opened.table.find("N", "s")
    assert levels_at(opened, cell) == (5, 5)
    assert levels_at(typed(opened, cell, 1000), cell) == (500, 500)
    assert levels_at(typed(opened, cell, 1000).with_rules([]), cell) == (500, 500)


def test_levels_in_percent_follow_pasted_and_generated_values() -> None:
    pasted = open_case_of_text(STATUS.replace(",", "\t"))
    cell = pasted.table.find("N", "s")
    assert levels_at(typed(pasted, cell, 1000), cell) == (200, 200)
    made = generate_case([4, 5], "uniform", sensitive=3, protection=30, seed=1)
    cell = int(made.problem.sensitive[0])
    assert levels_at(typed(made, cell, 1000), cell) == (300, 300)


def test_amounts_of_a_file_stay_when_a_value_is_typed(tmp_path: Path) -> None:
    text = "region,size,value,status,lpl,upl\nN,s,10,u,3,4\nN,l,20,u,,\nS,s,30,s,,\nS,l,40,s,,\n"
    opened = open_case_at(write(tmp_path, t_csv=text)[0])
    amounts, percent = opened.table.find("N", "s"), opened.table.find("N", "l")
    changed = typed(typed(opened, amounts, 1000), percent, 1000)
    assert levels_at(changed, amounts) == (3, 4)
    assert levels_at(changed, percent) == (200, 200)


def test_a_mark_of_another_percentage_follows_its_value() -> None:
    table = example("salazar").table
    cell = table.find("II", "C")
    for hidden in ([], [cell]):
        opened = open_case(Problem(table, Marked([cell], protection=(10, 50)), must_hide=hidden), "x")
        assert levels_at(opened, cell) == (3, 11)
        assert levels_at(typed(opened, cell, 1000), cell) == (100, 500)


@pytest.mark.parametrize("seed", range(4))
def test_a_generated_problem_is_asked_as_it_was_made(seed: int) -> None:
    for family in FAMILIES:
        made = generate.problem((6, 7), family, seed=seed)
        asked = open_case(made, "x").problem.levels
        for name in ("sensitive", "lower", "upper", "sliding"):
            assert np.array_equal(getattr(asked, name), getattr(made.levels, name)), (family, name)
