"""Files of τ-ARGUS on the command line, in projects and in Python: metadata, decisions, labels, and back."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import tacita as tc
from tacita.cli import main
from tacita.core.errors import InputError, RecordsError

METADATA = """\
Size 1 2 99
  <RECODEABLE>
  <TOTCODE> All
Region 3 3
  <RECODEABLE>
  <CODELIST> Région.cdl
  <HIERCODELIST> "my regions.hrc"
  <HIERLEADSTRING> " "
Weight 6 3
  <NUMERIC>
  <WEIGHT>
Turnover 9 6
  <NUMERIC>
  <DECIMALS> 1
Ask 15 1
  <REQUEST> 1 2
Key 16 2
  <RECORDKEY>
"""
TREE = "N.1\n a\n é\nS\n b\n c\n"
LABELS = "N.1,Nørth\na,Ä-land\nS,South\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with records of fixed format: 12 cells of three contributors each, one with two."""
    home = tmp_path / "données 2.0"
    home.mkdir()
    (home / "data.rda").write_text(METADATA, encoding="utf-8")
    (home / "my regions.hrc").write_text(TREE, encoding="utf-8")
    (home / "Région.cdl").write_text(LABELS, encoding="utf-8")
    lines = []
    for k, (size, region) in enumerate((s, r) for s in (" 5", "10", "12") for r in "aébc"):
        for j in range(2 if k == 5 else 4):
            asked = "2" if (k, j) == (0, 0) else "0"
            lines.append(f"{size}{region:>3}1.5{20 + 7 * j + k + 0.5:6}{asked}{j:2}")
    (home / "data.asc").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.chdir(home)
    return home


def test_records_are_tabulated_by_the_metadata_beside_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--by", "Size", "--by", "Region", "--value", "Turnover")
    assert main(["tabulate", "data.asc", *words, "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["dimensions"] == {"Size": 5, "Region": 7}
    assert found["decimals"] == 1
    for note in (
        "data.rda beside it was taken as its metadata",
        "the weights 'Weight' were not applied: name them as the weight to apply them",
        "<RECORDKEY> of 'Key': the cell key method is not applied",
    ):
        assert f"note: {note}\n" in err
    (folder / "other.rda").write_text((folder / "data.rda").read_text(encoding="utf-8").replace("Size", "S"))
    (folder / "data.rda").unlink()
    named = ("--metadata", "other.rda", "--by", "S", "--weight", "Weight")
    assert main(["tabulate", "data.asc", *named, "--json"]) == 0
    assert "beside it" not in capsys.readouterr().err


def test_a_table_goes_to_tau_argus_and_back_with_its_labels(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--by", "Size", "--by", "Region", "--value", "Turnover", "--out", "table.tab")
    assert main(["tabulate", "data.asc", *words]) == 0
    (folder / "hand.hst").write_text("// by hand\n12;c;U\n5;é;P\n", encoding="utf-8")
    case = ("table.tab", "--rules", "threshold(3)")
    out = ("--out", "out", "--json")
    assert main(["protect", *case, "--apriori", "hand.hst", *out]) == 0
    assert json.loads(capsys.readouterr().out.split("\n", 1)[1])["sensitive"] == 2
    published = (folder / "out" / "publication" / "release.csv").read_text(encoding="utf-8")
    assert "5,é,published" in published
    assert "12,c,suppressed" in published
    assert main(["assess", *case, "--apriori", "hand.hst"]) == 0
    assert main(["audit", *case, "out", "--apriori", "hand.hst"]) == 0
    assert main(["convert", *case, "again.tab", "--apriori", "hand.hst"]) == 0
    again = tc.read_case("again.tab")
    assert isinstance(again, tc.Problem)
    assert len(again.levels) == 2
    assert again.table.structure.dimensions[1].trees[0].labels["a"] == "Ä-land"


def test_metadata_of_records_are_not_replaced_by_those_of_their_table(folder: Path) -> None:
    before = (folder / "data.rda").read_bytes()
    table = tc.tabulate("data.asc", ["Size"], "Turnover", metadata="data.rda")
    for target in ("data.tab", "data.tab"):
        with pytest.raises(InputError, match=r"data\.rda: it is there already, and describes other data"):
            tc.write_table(table, folder / target)
        (folder / target).write_text("")
    assert (folder / "data.rda").read_bytes() == before


def test_projects_name_metadata_and_decisions(folder: Path) -> None:
    (folder / "hand.hst").write_text("5;a;PL;3;4\n", encoding="utf-8")
    (folder / "project.toml").write_text(
        '[table]\nmicrodata = "data.asc"\nmetadata = "data.rda"\napriori = "hand.hst"\n'
        'by = ["Size", "Region"]\nvalue = "Turnover"\n[rules]\nrule = "request(code=2) | threshold(3)"\n'
        '[protect]\nmethod = "suppression"\n'
    )
    specification = tc.load_project("project.toml")
    problem = specification.problem()
    cell = problem.table.find("5", "a")
    assert (problem.levels.lower[cell], problem.levels.upper[cell]) == (30, 40)
    assert len(problem.levels) > 1
    stated = specification.problem(specification.read())
    assert (stated.levels.lower == problem.levels.lower).all()
    assert {path.name for path in specification.files} == {"data.asc", "data.rda", "hand.hst"}
    # The same project elsewhere, and as a kept run.
    saved = specification.save(folder.parent / "elsewhere")
    assert (tc.load_project(saved).problem().levels.upper == problem.levels.upper).all()
    kept = tc.write_project(problem, folder / "kept", method="suppression", specification=specification)
    assert (tc.load_project(kept.paths[-1]).problem().levels.lower == problem.levels.lower).all()


def write_linked_project(folder: Path, **decisions: str) -> Path:
    """Write a project of two linked tables, each with its own decisions on single cells."""
    tables = {"both": '["Size", "Region"]', "regions": '["Region"]'}
    sections = []
    for name, by in tables.items():
        section = f'[tables.{name}]\nmicrodata = "data.asc"\nmetadata = "data.rda"\nby = {by}\n'
        if name in decisions:
            (folder / f"{name}.hst").write_text(decisions[name], encoding="utf-8")
            section += f'apriori = "{name}.hst"\n'
        sections.append(f'{section}value = "Turnover"\n')
    project = folder / "linked.toml"
    project.write_text("\n".join([*sections, '[rules]\nrule = "threshold(3)"\n']))
    return project


def test_linked_tables_have_decisions_of_their_own(folder: Path) -> None:
    specification = tc.load_project(write_linked_project(folder, both="5;a;U\n5;a;PL;3;4\n", regions="a;U\n"))
    problem = specification.problem()
    cell, margin = (problem.table.find(Size=size, Region="a") for size in ("5", "All"))
    assert (problem.levels.lower[cell], problem.levels.upper[cell]) == (30, 40)
    without = tc.load_project(write_linked_project(folder)).problem()
    assert not without.levels.sensitive[margin]
    assert problem.levels.sensitive[margin]
    assert without.levels.sensitive[cell] + len(problem.levels) == len(without.levels) + 2
    stated = specification.problem(specification.read())
    assert (stated.levels.upper == problem.levels.upper).all()


def test_linked_tables_whose_decisions_contradict_each_other_are_refused(folder: Path) -> None:
    project = write_linked_project(folder, both="All;a;S\n", regions="a;U\n")
    with pytest.raises(tc.FormatError, match=r"U in 'regions', S in 'both', which shows the cell too"):
        tc.load_project(project).problem()
    same = write_linked_project(folder, both="All;a;U\n", regions="a;U\n")
    assert tc.load_project(same).problem().levels.sensitive.any()
    with pytest.raises(tc.FormatError, match="2 codes"):
        tc.load_project(write_linked_project(folder, regions="5;a;U\n")).problem()


def test_python_takes_metadata_and_decisions(folder: Path) -> None:
    table = tc.tabulate("data.asc", ["size", "Region"], "Turnover", metadata="data.rda")
    assert table.structure.dimensions[0].total == "All"
    own = tc.Hierarchy.flat(["a", "b", "c", "é"], total="World")
    flat = tc.tabulate("data.asc", {"Region": own}, "Turnover", where="Size <> '5'", metadata="data.rda")
    assert flat.structure.dimensions[0].total == "World"
    assert flat.units[0] < table.units[0]
    short = tc.tabulate("data.asc", ["Region"], "Turnover", levels={"Region": 1}, metadata="data.rda")
    assert short.structure.dimensions[0].codes == ("Total", "N.1", "S")
    tc.write_table(table, folder / "table.tab")
    (folder / "hand.hst").write_text("5;a;U\n", encoding="utf-8")
    problem = tc.read_case("table.tab", metadata="table.rda", apriori="hand.hst")
    assert isinstance(problem, tc.Problem)
    assert problem.sensitive.tolist() == [problem.table.find("5", "a")]
    coarse = tc.read_case("table.tab", levels={"Region": 1})
    assert isinstance(coarse, tc.Table)
    assert coarse.structure.dimensions[1].codes == ("Total", "N.1", "S")
    with pytest.raises(
        InputError, match="the metadata say how the table is read, and 'total' is given besides"
    ):
        tc.read_case("table.tab", total="All")
    with pytest.raises(RecordsError, match="its metadata describe records about single respondents"):
        tc.read_case("data.asc")


def test_a_file_with_names_of_columns_is_read_without_the_metadata_beside_it(folder: Path) -> None:
    (folder / "case.csv").write_text("region,value\nN,5\nS,4\nTotal,9\n")
    (folder / "case.rda").write_text("region\n<TOTCODE> Total\nv\n<NUMERIC>\n")
    table = tc.read_case("case.csv")
    assert isinstance(table, tc.Table)
    assert "case.rda beside it was left aside, as line 1 is not what it describes" in table.notes
    (folder / "case.rda").write_bytes(gzip.compress(b"RDX3"))
    assert not any(".rda" in note for note in tc.read_case("case.csv").notes)  # type: ignore[union-attr]
    (folder / "case.rda").write_text("<NONSENSE>\n")
    assert "case.rda beside it was left aside (" in tc.read_case("case.csv").notes[0]  # type: ignore[union-attr]
