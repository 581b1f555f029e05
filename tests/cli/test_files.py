"""Verbs that turn files into files: generate, tabulate, assess, convert."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tacita.cli import main

RECORDS = """region,size,firm,turnover
N1,small,a,100
N1,small,b,20
N1,large,c,7
N2,small,a,50
N2,large,d,400
S1,small,e,30
S1,large,e,60
S1,large,f,1
"""
REGIONS = "parent,child\n,All\nAll,N\nAll,S\nN,N1\nN,N2\nS,S1\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "records.csv").write_text(RECORDS)
    (tmp_path / "regions.csv").write_text(REGIONS)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def tabulated(capsys: pytest.CaptureFixture[str], target: str) -> dict[str, Any]:
    columns = ("--by", "region=regions.csv", "--by", "size", "--value", "turnover", "--respondent", "firm")
    return said(capsys, "tabulate", "records.csv", *columns, "--out", target)


def test_tabulate_sums_counts_and_keeps_the_largest(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = tabulated(capsys, "table.csv")
    rows = {(r["region"], r["size"]): r for r in csv.DictReader((folder / "table.csv").open())}
    total = rows["All", "Total"]
    assert (total["value"], total["count"], total["top1"], total["top2"]) == ("668", "6", "400", "150")
    assert (rows["N", "small"]["value"], rows["N", "small"]["count"]) == ("170", "2")
    # S and its only child S1 are one cell under two names.
    assert rows["S", "large"]["value"] == rows["S1", "large"]["value"] == "61"
    assert answer["cells"] == len(rows) - 3


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_a_tabulated_table_is_assessed_and_protected(
    ending: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tabulated(capsys, f"table.{ending}")
    case = (f"table.{ending}", "--hierarchy", "region=regions.csv", "--rules", "frequency(2)")
    answer = said(capsys, "assess", *case, "--out", "assessed.csv")
    # One firm alone: N1 large (c), N2 small (a), N2 large (d), S1 small (e).
    lone = {("N1", "large"), ("N2", "small"), ("N2", "large"), ("S", "small")}
    assert {(c["cell"]["region"], c["cell"]["size"]) for c in answer["sensitive_cells"]} == lone
    assert answer["rules"] == [{"rule": "minimum frequency 2", "cells": 4}]
    listed = csv.DictReader(Path("assessed.csv").read_text().splitlines())
    status = {(r["region"], r["size"]) for r in listed if r["status"] == "u"}
    assert status == lone | {("S1", "small")}
    assert said(capsys, "protect", *case, "--out", "out")["audit"]["safe"]
    assert said(capsys, "audit", *case[:1], "out", *case[1:])["proven"] == 4


def test_bounds_of_the_attacker_change_the_answer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inner = {("1", "1"): 12, ("1", "2"): 30, ("2", "1"): 10, ("2", "2"): 40}
    margins = {
        ("1", "Total"): 42,
        ("2", "Total"): 50,
        ("Total", "1"): 22,
        ("Total", "2"): 70,
        ("Total", "Total"): 92,
    }
    levels = {key: "u,1,8" if key == ("2", "1") else "s,0,0" for key in {**inner, **margins}}
    rows = [f"{a},{b},{value},{levels[a, b]}" for (a, b), value in {**inner, **margins}.items()]
    (folder / "table.csv").write_text("\n".join(["a,b,value,status,lpl,upl", *rows]) + "\n")
    rows = [*(f"{a},{b},x" for a, b in inner), *(f"{a},{b},{value}" for (a, b), value in margins.items())]
    (folder / "hidden.csv").write_text("\n".join(["a,b,value", *rows]) + "\n")
    # The cell of value 10 shares a total of 22 with one of value 12: it reaches 18 if that one may fall to 4.
    case = ("audit", "table.csv", "hidden.csv")
    assert said(capsys, *case)["safe"]
    assert said(capsys, *case, "--lower", "4")["safe"]
    assert main([*case, "--lower", "6"]) == 2
    capsys.readouterr()
    assert main([*case, "--upper", "50"]) == 1
    assert "widen the bounds" in capsys.readouterr().err


def test_generate_is_seeded_and_convert_keeps_the_case(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = ("generate", "table", "--shape", "5,4", "--sensitive", "3")
    said(capsys, *made, "--seed", "5", "--out", "one.csv")
    said(capsys, *made, "--seed", "5", "--out", "two.csv")
    said(capsys, *made, "--seed", "6", "--out", "other.csv")
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes() != Path("other.csv").read_bytes()
    for target in ("case.jj", "case.parquet", "case.xlsx", "thesis"):
        assert said(capsys, "convert", "one.csv", target)["sensitive"] == 3
    losses = {
        said(capsys, "protect", case)["loss"] for case in ("one.csv", "case.jj", "case.parquet", "case.xlsx")
    }
    assert len(losses) == 1
    assert said(capsys, "convert", "thesis", "back.jj")["cells"] == 30
    assert said(capsys, "convert", "one.csv", "grid.txt")["cells"] == 30
    assert said(capsys, "convert", "grid.txt", "again.csv")["cells"] == 30


def test_generated_microdata_with_their_classifications(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = said(capsys, "generate", "microdata", "--records", "500", "--respondents", "300", "--out", "data")
    assert {Path(path).name for path in made["written"]} == {
        "records.parquet",
        "region.csv",
        "industry.csv",
        "size.csv",
    }
    columns = ("--by", "region=data/region.csv", "--by", "size=data/size.csv", "--value", "value")
    table = said(capsys, "tabulate", "data/records.parquet", *columns, "--respondent", "respondent")
    assert set(table["dimensions"]) == {"region", "size"}


def test_a_case_without_rules_says_how_to_give_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "table.csv").write_text("a,value\n1,20\n2,30\n")
    assert main(["protect", "table.csv", "--out", "out"]) == 1
    assert "--rules" in capsys.readouterr().err
    assert not Path("out").exists()


def test_a_classification_of_no_dimension_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "table.csv").write_text("a,value\n1,20\n2,30\n")
    assert main(["assess", "table.csv", "--rules", "threshold(3)", "--hierarchy", "regon=regions.csv"]) == 1
    assert "'regon' is none of the dimensions a" in capsys.readouterr().err


def test_project_file_chooses_method_folder_and_formats(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "project.toml").write_text(
        '[table]\nmicrodata = "records.csv"\nby = { region = "regions", size = "" }\nvalue = "turnover"\n'
        'respondent = "firm"\n[hierarchies]\nregions = "regions.csv"\n[rules]\nrule = "frequency(2)"\n'
        '[protect]\nmethod = "suppression"\noptions = { at_most = 20 }\n'
        '[output]\nfolder = "results"\nformats = ["xlsx"]\n'
    )
    answer = said(capsys, "protect", "project.toml")
    assert answer["options"]["at_most"] == 20
    assert {path.name for path in Path("results").iterdir()} == {"internal", "publication"}
    assert {path.name for path in Path("results/publication").iterdir()} == {"release.csv", "release.xlsx"}
    assert Path("results/internal/release-internal.xlsx").exists()
    answer = said(capsys, "protect", "project.toml", "--option", "at_most=30", "--out", "elsewhere")
    assert answer["options"]["at_most"] == 30
    assert Path("elsewhere/publication/release.csv").exists()
    assert said(capsys, "tabulate", "project.toml", "--out", "table.csv")["cells"] == answer["cells"]
    # The folder of a project is the project.
    assert said(capsys, "protect", ".", "--option", "at_most=30", "--out", "again")["loss"] == answer["loss"]
    assert said(capsys, "tabulate", ".", "--out", "again.csv")["cells"] == answer["cells"]


def test_a_note_says_that_nchs_text_tells_which_cells_are_primary(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "cells.csv").write_text("r,c,value\n1,1,2\n1,2,30\n2,1,40\n2,2,50\n")
    project = '[table]\nfile = "cells.csv"\n[rules]\nrule = "threshold(3)"\n[output]\nfolder = "out"\n'
    (folder / "project.toml").write_text(project)
    assert main(["protect", "project.toml"]) == 0
    assert "primary" not in capsys.readouterr().err
    (folder / "project.toml").write_text(project + 'formats = ["txt"]\n')
    assert main(["protect", "project.toml"]) == 0
    assert "release.txt marks primary cells PS" in capsys.readouterr().err
    assert "PS" in Path("out/publication/release.txt").read_text()
