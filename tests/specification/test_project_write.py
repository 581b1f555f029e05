"""Runs that are kept: project.toml, the files it names, and the script, repeat what was done."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import tacita as tc
from tacita.cli import main
from tacita.core.errors import InputError
from tacita.core.tables.linked import link
from tacita.examples import example
from tacita.formats.hierarchy import write_hierarchy
from tacita.formats.table_write import write_table
from tacita.methods import make_method
from tacita.rules import Given, Rule
from tacita.specification import project_rules, project_write
from tacita.specification.differences import find_differences
from tacita.specification.project import load_project
from tacita.specification.project_write import write_project
from tacita.specification.script import write_script
from tacita.specification.sections import Attackers, Cost, Output, Rules, SensitiveCell

SOURCE = Path(tc.__file__).parents[1]


def repeat(folder: Path) -> str:
    """What the script prints, run from elsewhere."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, str(folder / "repeat.py")],
        env=environment,
        cwd=folder.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize(
    ("name", "method", "options"),
    [
        ("nchs", "suppression", {"margins": "no"}),
        ("salazar", "rounding", {"base": 20, "power": "2"}),
        ("thesis-3x4", "adjustment", {"norm": "l1", "totals": "fixed", "capacity": "60%"}),
        ("nchs", "unbiased-rounding", {"base": 50}),
    ],
)
def test_script_and_command_line_give_the_same_release(
    tmp_path: Path, name: str, method: str, options: dict
) -> None:
    problem = example(name)
    run = {"method": method, "options": options, "seed": 11}
    release = make_method(method, options).protect(problem, tc.Run(seed=11))
    original = tc.write_release(release, tmp_path / "original.csv", audit=tc.audit(problem, release))
    kept = tmp_path / "kept"
    write_project(problem, kept, **run)
    write_script(kept, **run)
    assert "release.csv" in repeat(kept)
    assert (kept / "out" / "publication" / "release.csv").read_text() == original.read_text()
    (kept / "out" / "publication" / "release.csv").unlink()
    assert main(["protect", str(kept / "project.toml")]) == 0
    assert (kept / "out" / "publication" / "release.csv").read_text() == original.read_text()


def test_options_that_no_text_can_say(tmp_path: Path) -> None:
    problem = example("salazar")
    parts = {"parts": [(np.ones(16, dtype=bool), tc.Suppression())]}
    with pytest.raises(InputError, match=r"option 'parts': a .* cannot be written as text"):
        write_script(tmp_path, method="mixture", options=parts)
    with pytest.raises(InputError, match=r"protect\.options\.parts.*cannot be written"):
        write_project(problem, tmp_path, method="mixture", options=parts)
    assert list(tmp_path.iterdir()) == []


def microdata_project(folder: Path) -> Path:
    folder.mkdir()
    made = tc.generate.microdata(400, {"industry": (6, 2), "region": (4, 1)}, respondents=150, seed=4)
    pq.write_table(made.records, folder / "records.parquet")
    for name, tree in made.hierarchies.items():
        write_hierarchy(tree, folder / f"{name}.csv")
    (folder / "project.toml").write_text(
        '[table]\nmicrodata = "records.parquet"\nby = { industry = "i", region = "r" }\nvalue = "value"\n'
        'respondent = "respondent"\n[hierarchies]\ni = "industry.csv"\nr = { file = "region.csv" }\n'
        '[rules]\nrule = "p-percent(10)"\n[attackers]\nkinds = ["respondents"]\n'
    )
    return folder / "project.toml"


def test_microdata_are_referred_to(tmp_path: Path) -> None:
    path = microdata_project(tmp_path / "original")
    problem = load_project(path).problem()
    assert problem.insiders
    written = write_project(
        problem, tmp_path / "kept", method="suppression", specification=load_project(path)
    )
    assert [p.name for p in written.paths] == ["project.toml"]
    assert written.notes == ()
    project = load_project(tmp_path / "kept" / "project.toml")
    assert project.attackers.kinds == ("respondents",)
    assert find_differences(problem, project.problem()) == []


def test_other_words_for_the_same_microdata(tmp_path: Path) -> None:
    path = microdata_project(tmp_path / "original")
    table = load_project(path).data()
    rule = tc.parse_rule("dominance(1, 80)")
    problem = tc.Problem(table, rule, attackers=tc.Outsider.within(table, 0.9, 2), cost="unit", must_hide=[3])
    said = load_project(path).replace(
        rules=Rules("dominance(1, 80)"), attackers=Attackers(within=(0.9, 2)), cost=Cost("unit")
    )
    written = write_project(problem, tmp_path / "kept", method="suppression", specification=said)
    assert [p.name for p in written.paths] == ["project.toml"]
    assert find_differences(problem, load_project(written.paths[0]).problem()) == []


def test_microdata_that_do_not_give_the_problem_any_more(tmp_path: Path) -> None:
    path = microdata_project(tmp_path / "original")
    problem = load_project(path).problem()
    changed = tc.Problem(
        problem.table,
        problem.levels,
        attackers=["outsider", problem.outsider, *problem.insiders],
        cost="log",
    )
    written = write_project(
        changed, tmp_path / "kept", method="suppression", specification=load_project(path)
    )
    assert {p.name for p in written.paths} == {
        "project.toml",
        "table.parquet",
        "industry.csv",
        "attackers.parquet",
    }
    assert "does not give this problem" in written.notes[0]
    assert "other costs" in written.notes[0]
    again = load_project(tmp_path / "kept" / "project.toml").problem()
    assert find_differences(changed, again) == []
    assert again.insiders


def test_linked_tables_and_insiders_by_number(tmp_path: Path) -> None:
    one, two = (tc.Table.from_array([[5, 6], [7, 8]], names=("a", other)) for other in ("b", "c"))
    table = link({"by b": one, "by c": two})
    insider = tc.Insider.knowing("someone", table, {4: (5, 100)})
    problem = tc.Problem(table, tc.Marked([2], lower=1, upper=1), attackers=insider, must_hide=[5])
    written = write_project(problem, tmp_path, method="suppression")
    assert {p.name for p in written.paths} == {"table.jj", "attackers.parquet", "project.toml"}
    assert "go by number" in written.notes[0]
    again = load_project(tmp_path / "project.toml").problem()
    assert find_differences(problem, again, named=False) == []
    assert again.must_hide.tolist() == problem.must_hide.tolist()


def test_what_a_file_cannot_hold_is_told(tmp_path: Path) -> None:
    table = example("salazar").table
    columns = {"word": np.array(["w"] * 16, dtype=object), "weight": np.arange(16)}
    problem = tc.Problem(replace(table, columns=columns), tc.Marked([6], lower=1, upper=1))
    written = write_project(problem, tmp_path, method="adjustment", options={"weight": "weight"})
    assert written.notes == ("columns that the file of cells cannot hold are left out: word",)
    assert load_project(tmp_path / "project.toml").problem().table.columns["weight"].tolist() == list(
        range(16)
    )


def test_a_project_that_would_repeat_something_else_is_not_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forgetful(table: tc.Table, path: Path, problem: tc.Problem, unsaid: np.ndarray) -> Path:
        return write_table(table, path, tc.Problem(table, problem.levels, cost="unit"))

    (tmp_path / "project.toml").write_text("as it was")
    monkeypatch.setattr(project_write, "write_table", forgetful)
    with pytest.raises(InputError, match="read back, the project has other costs"):
        write_project(example("salazar"), tmp_path, method="suppression")
    assert [path.name for path in tmp_path.iterdir()] == ["project.toml"]
    assert (tmp_path / "project.toml").read_text() == "as it was"


def test_what_a_file_states_holds_beside_a_rule(tmp_path: Path) -> None:
    problem = tc.Problem(
        example("nchs").table,
        tc.Marked([20], lower=1, upper=1),
        attackers=tc.Outsider.within(example("nchs").table, 1, 9),
        cost="unit",
        must_publish=[0],
    )
    write_table(problem.table, tmp_path / "cells.csv", problem)
    (tmp_path / "project.toml").write_text('[table]\nfile = "cells.csv"\n[rules]\nrule = "threshold(5)"\n')
    again = load_project(tmp_path / "project.toml").problem()
    assert set(again.sensitive) == {20, *example("nchs").sensitive.tolist()}
    assert np.array_equal(again.outsider.upper, problem.outsider.upper)
    assert np.array_equal(again.cost, problem.cost)
    assert np.flatnonzero(again.must_publish).tolist() == [0]


def test_a_dimension_called_like_a_column_that_cannot_be_renamed(tmp_path: Path) -> None:
    table = tc.Table.from_array([[5, 6], [7, 8]], names=("cost", "b"))
    with pytest.raises(InputError, match="a dimension is called 'cost', as is another column: rename it"):
        write_project(tc.Problem(table, tc.Threshold(6)), tmp_path, method="suppression")


def test_insiders_by_hand(tmp_path: Path) -> None:
    """A file that somebody writes: what is left out is as usual, and wrong cells are told by their row."""
    problem = example("salazar")
    write_project(problem, tmp_path, method="suppression")
    with (tmp_path / "project.toml").open("a") as project:
        project.write('[attackers]\nfile = "insiders.csv"\n')
    (tmp_path / "insiders.csv").write_text("attacker,activity,region,lb,ub\nfirm,II,A,8,8\nfirm,I,A,5,\n")
    again = load_project(tmp_path / "project.toml").problem()
    assert again.attackers == ("outsider", "firm")
    table = again.table
    assert again.insiders[0].cells.tolist() == sorted([table.find("II", "A"), table.find("I", "A")])
    (need,) = list(again.requirements())[1:]
    assert need.cells.tolist() == again.sensitive.tolist()
    assert (need.lower.tolist(), need.upper.tolist()) == ([10], [12])
    (tmp_path / "insiders.csv").write_text("attacker,activity,region,lb\nfirm,II,Z,8\n")
    with pytest.raises(InputError, match="code 'Z'"):
        load_project(tmp_path / "project.toml").problem()


def codes_of(table: tc.Table, cell: int) -> dict[str, str]:
    names = (dimension.name for dimension in table.structure.dimensions)
    return dict(zip(names, table.structure.key(cell), strict=True))


def test_rules_are_written_as_rules_and_marks_as_marks(tmp_path: Path) -> None:
    table = example("nchs").table
    marks = tc.Marked([20], lower=1, upper=1) | tc.Marked([8]) | tc.Marked([9], sliding=2.5)
    problem = tc.Problem(table, tc.Threshold(5) | marks | tc.Marked([10, 12], protection=(10, 30)))
    assert write_project(problem, tmp_path, method="suppression").notes == ()
    project = load_project(tmp_path / "project.toml")
    assert project.rules.rule == "threshold(5)"
    assert project.rules.sensitive == (
        SensitiveCell(codes_of(table, 20), lower=1, upper=1),
        SensitiveCell(codes_of(table, 8)),
        SensitiveCell(codes_of(table, 9), sliding=2.5),
        SensitiveCell(codes_of(table, 10), protection=(10, 30)),
        SensitiveCell(codes_of(table, 12), protection=(10, 30)),
    )
    assert find_differences(problem, project.problem()) == []
    assert "u" not in pq.read_table(tmp_path / "table.parquet")["status"].to_pylist()


def test_exempt_cells_are_written_as_such(tmp_path: Path) -> None:
    """The rule stays, though it hits one of them; the other one it never hit."""
    plain = example("nchs")
    hit, free = plain.sensitive.tolist()[0], np.flatnonzero(~plain.levels.sensitive).tolist()[0]
    problem = tc.Problem(plain.table, tc.Exempt(tc.Threshold(5), [hit, free]), must_publish=[hit])
    assert write_project(problem, tmp_path, method="suppression").notes == ()
    project = load_project(tmp_path / "project.toml")
    assert project.rules.rule == "threshold(5)"
    assert list(project.rules.exempt) == [codes_of(plain.table, cell) for cell in sorted((hit, free))]
    again = project.problem()
    assert find_differences(problem, again) == []
    assert np.flatnonzero(again.exempt).tolist() == [hit]


def test_marks_of_a_file_stay_below_an_exemption(tmp_path: Path) -> None:
    """Whoever takes the exemption back finds the mark again."""
    table = example("salazar").table
    stated = tc.Marked([6], lower=1, upper=2).levels(table)
    problem = tc.Problem(table, tc.Exempt(Given(stated), [6]), must_publish=[6])
    assert write_project(problem, tmp_path, method="suppression").notes == ()
    project = load_project(tmp_path / "project.toml")
    assert find_differences(problem, project.problem()) == []
    assert np.flatnonzero(project.problem().exempt).tolist() == [6]
    assert pq.read_table(tmp_path / "table.parquet")["status"].to_pylist().count("u") == 1


def test_levels_in_percent_are_left_empty_in_the_table(tmp_path: Path) -> None:
    table = example("salazar").table
    percent = tc.Marked([6, 9], protection=30).levels(table)
    amounts = tc.Marked([11], lower=2, upper=3).levels(table)
    problem = tc.Problem(table, percent | amounts | tc.Marked([5], protection=(10, 50)).levels(table))
    assert write_project(problem, tmp_path, method="suppression").notes == ()
    project = load_project(tmp_path / "project.toml")
    assert project.rules.protection == 30
    assert len(project.rules.sensitive) == 1
    assert find_differences(problem, project.problem()) == []
    cells = pq.read_table(tmp_path / "table.parquet").filter(pc.field("status") == "u")
    assert sorted(cells["lpl"].to_pylist(), key=str) == [2, None, None]


def test_levels_in_percent_of_cells_that_go_by_number(tmp_path: Path) -> None:
    table = link({"b": tc.Table.from_array([[5, 6], [7, 8]], names=("a", "b"))})
    table = link({"b": table, "c": tc.Table.from_array([[5, 6], [7, 8]], names=("a", "c"))})
    levels = tc.Marked([2], protection=40).levels(table)
    problem = tc.Problem(table, tc.Exempt(tc.Threshold(6) | Given(levels) | tc.Marked([5]), [4]))
    assert len(write_project(problem, tmp_path, method="suppression").notes) == 1
    project = load_project(tmp_path / "project.toml")
    assert project.rules.exempt == ({"cell": "4"},)
    assert find_differences(problem, project.problem(), named=False) == []


def test_rules_on_linked_tables_keep_what_they_need_or_are_told(tmp_path: Path) -> None:
    """Counts stand in a file beside the cells; codes are not in these files at all."""
    one, two = (
        replace(tc.Table.from_array([[5, 6], [7, 8]], names=("a", other)), count=np.arange(9) + 1)
        for other in ("b", "c")
    )
    two = replace(two, count=np.array([1, 2, 3, 4, 12, 13, 7, 15, 16]))
    two = replace(two, count=np.where(two.structure.codes[:, 1] == 0, one.count, two.count))
    table = link({"by b": one, "by c": two})
    by_codes = tc.Marked([table.structure.key(4)], upper=2)
    problem = tc.Problem(table, tc.MinimumFrequency(5) | by_codes)
    notes = write_project(problem, tmp_path, method="suppression").notes
    assert "rules are left out" in notes[0]
    assert "marked(" in notes[0]
    assert "frequency" not in notes[0]
    project = load_project(tmp_path / "project.toml")
    assert project.rules.rule == "frequency(5)"
    assert find_differences(problem, project.problem(), named=False) == []


def test_rules_that_the_files_cannot_serve_are_left_out_and_told(tmp_path: Path) -> None:
    """Words that would be read as something else, whatever the reason."""
    problem = example("nchs")
    rule = tc.Exempt(tc.Threshold(5) | Elsewhere(problem.levels), problem.sensitive[:1].tolist())
    exempt = tc.Problem(problem.table, rule)
    assert write_project(exempt, tmp_path, method="suppression").notes == ()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(project_rules, "write_rule", lambda rule: "threshold(6)")
        (note,) = write_project(exempt, tmp_path, method="suppression").notes
    assert "rules are left out" in note
    project = load_project(tmp_path / "project.toml")
    assert project.rules.rule is None
    assert find_differences(exempt, project.problem()) == []


@dataclass(frozen=True)
class Elsewhere(Rule):
    """A rule without a written form."""

    found: tc.Levels

    @property
    def text(self) -> str:
        return "found elsewhere"

    def levels(self, table: tc.Table) -> tc.Levels:
        return self.found


def test_consents_are_written_once_for_all_rules(tmp_path: Path) -> None:
    table = replace(example("salazar").table, count=np.arange(16) + 1)
    rule = (tc.MinimumFrequency(4) | tc.Threshold(9)).with_consent(["Mill & Sons"])
    problem = tc.Problem(table, rule)
    assert write_project(problem, tmp_path, method="suppression").notes == ()
    rules = load_project(tmp_path / "project.toml").rules
    assert (rules.rule, rules.waived) == ("frequency(4) | threshold(9)", ("Mill & Sons",))


def test_what_a_release_looks_like_is_written_too(tmp_path: Path) -> None:
    problem = example("nchs")
    look = Output(mark="c", title="Patients", layout="new", keep_sheets=True)
    given = tc.Specification(output=look)
    write_project(problem, tmp_path, method="suppression", formats=("html",), specification=given)
    assert load_project(tmp_path / "project.toml").output == replace(look, formats=("html",))


def test_places_may_be_given_as_text(tmp_path: Path) -> None:
    problem = example("salazar")
    folder = str(tmp_path / "kept")
    written = tc.write_project(problem, folder, method="suppression")
    assert (tmp_path / "kept" / "project.toml") in written.paths
    assert tc.write_script(folder, method="suppression") == tmp_path / "kept" / "repeat.py"
    assert tc.write_table(problem.table, str(tmp_path / "cells.csv")) == tmp_path / "cells.csv"
