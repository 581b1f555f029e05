"""What the command line tells people who have not read the documentation, before it calls anything safe."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tacita.cli import main
from tacita.problem.problem import Problem
from tacita.specification.read_case import read_case

PROFITS = "region,size,value,n\nN,small,-3,2\nN,large,20,9\nS,small,7,9\nS,large,-40,9\n"
COUNTS = "region,size,value\nN,small,30\nN,large,20\nS,small,7\nS,large,41\n"
TAKEN_AS_COUNTS = "taken as counts; say --magnitudes"
NOTHING = "nothing is sensitive under these rules: nothing was protected or checked"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "profits.csv").write_text(PROFITS)
    (tmp_path / "counts.csv").write_text(COUNTS)
    return tmp_path


@pytest.mark.parametrize("bounds", [("--lower", "-100", "--upper", "100"), ("--lower=-inf",)])
def test_negative_cells_are_read_with_the_bounds_of_the_command_line(
    bounds: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = ("--rules", "threshold(3)", "--json")
    assert main(["assess", "profits.csv", *rules, *bounds]) == 0
    assert json.loads(capsys.readouterr().out)["sensitive"] == 1
    assert main(["assess", "profits.csv", *rules]) == 1
    said = capsys.readouterr().err
    assert "the lower bound that everyone knows, or say that there is none\n" in said
    assert "Options: --lower NUMBER, --lower=-inf\n" in said


def test_a_mistyped_number_is_named_with_the_flag_of_codes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "two.csv").write_text("men,women\n12,17\n14,l7\n9,15\n20,30\n")
    assert main(["assess", "two.csv", "--rules", "threshold(3)"]) == 1
    said = capsys.readouterr().err
    assert "two.csv, line 3, column 'women': 'l7' among numbers: is it a mistyped number?" in said
    assert "Options: --by women\n" in said
    assert main(["assess", "two.csv", "--rules", "threshold(3)", "--by", "women"]) == 0


def test_bounds_said_go_before_those_of_the_file_one_side_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("region,value,status,lb,ub\nN,-3,u,-5,9\nS,7,s,-5,9\nTotal,4,s,-5,9\n")
    problem = read_case(path, lower=-50.0)
    assert isinstance(problem, Problem)
    assert (problem.outsider.lower.tolist(), problem.outsider.upper.tolist()) == ([-50] * 3, [9] * 3)


def test_whole_numbers_taken_as_counts_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["assess", "counts.csv", "--rules", "threshold(10)"]
    assert main(command) == 0
    assert TAKEN_AS_COUNTS in capsys.readouterr().err
    for said in ("--counts", "--magnitudes"):
        main([*command, said])
        assert TAKEN_AS_COUNTS not in capsys.readouterr().err


def test_nothing_sensitive_is_not_called_safe(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = ("--rules", "threshold(3)")
    totals = "N,Total,50\nS,Total,48\nTotal,small,37\nTotal,large,61\nTotal,Total,98\n"
    (folder / "release.csv").write_text(COUNTS + totals)
    for verb in (["assess", "counts.csv"], ["protect", "counts.csv"], ["audit", "counts.csv", "release.csv"]):
        assert main([*verb, *rules]) == 0
        told = capsys.readouterr()
        assert NOTHING in told.err
        assert "✔" not in told.out
        assert main([*verb, "--rules", "threshold(10)"]) in (0, 2)
        assert NOTHING not in capsys.readouterr().err
    assert main(["protect", "counts.csv", *rules, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["audit"]["safe"] is True


def test_verify_says_what_was_proven(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for rules, told in (
        ("threshold(3)", "– no proof  nothing was sensitive, so nothing was proven, 9 cells"),
        ("threshold(10)", "✔ verified  1 pair of sensitive cell and attacker, 9 cells"),
    ):
        assert main(["protect", "counts.csv", "--rules", rules, "--out", "out"]) == 0
        capsys.readouterr()
        assert main(["verify", "counts.csv", "out", "out", "--rules", rules]) == 0
        assert capsys.readouterr().out.strip() == told


@pytest.mark.parametrize(
    ("old", "new", "options"),
    [
        ("rounded,21,39,30", "rounded,21,39,31", ()),
        ("rounded,21,39,30", "rounded,21,39,39", ()),
        ("rounded,21,39,30", "rounded,22,40,31", ()),
        ("rounded,21,39,30", "rounded,21,39,30", ("--base", "5")),
        ("rounded,21,39,30", "rounded,21,39,30", ("--base", "7")),
    ],
)
def test_verify_refuses_a_rounded_number_that_is_not_what_was_announced(
    old: str, new: str, options: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Off the middle of its window, off the certified window, or not of the base that readers are told."""
    rules = ("--rules", "threshold(10)")
    rounding = ("--method", "rounding", "--option", "base=10")
    assert main(["protect", "counts.csv", *rules, *rounding, "--out", "out"]) == 0
    (release,) = Path("out").rglob("release.csv")
    command = ["verify", "counts.csv", str(release), "out", *rules]
    assert main([*command, "--base", "10"]) == 0
    text = release.read_text()
    assert old in text
    release.write_text(text.replace(old, new))
    capsys.readouterr()
    assert main([*command, *options]) == 2
    assert "refused:" in capsys.readouterr().err


def test_a_table_file_does_not_know_its_respondents(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["protect", "counts.csv", "--rules", "threshold(10)", "--attackers"]
    assert main([*command, "outsider,respondents"]) == 1
    told = capsys.readouterr().err
    assert "does not carry who stands behind the cells" in told
    assert "project.toml" in told
    assert main([*command, "outsider"]) == 0


def test_a_tabulated_file_is_not_called_safe_against_respondents_whom_it_lost(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Firms a and h are alone in two cells of one column, so that each can subtract itself from the sum."""
    rows = ["N,F,a,90", "N,G,b,70", "N,G,c,30", "N,G,d,20", "S,F,h,80", "S,G,e,60", "S,G,f,50", "S,G,g,40"]
    Path("firms.csv").write_text("\n".join(["region,code,firm,turnover", *rows]) + "\n")
    named = ["--value", "turnover", "--respondent", "firm", "--out", "cells.csv"]
    assert main(["tabulate", "firms.csv", "--by", "region", "--by", "code", *named]) == 0
    assert "does not say which respondents stand behind its cells" in capsys.readouterr().err
    protect = ["protect", "cells.csv", "--rules", "frequency(2)", "--out", "out"]
    assert main(protect) == 0
    told = capsys.readouterr()
    assert "the table counts respondents but does not say who they are" in " ".join(told.err.split())
    assert "against an outsider, respondents left out as they are unknown" in " ".join(told.out.split())
    assert main([*protect, "--json"]) == 0
    assert "unknown" in json.loads(capsys.readouterr().out)["audit"]["against"]
    assert main([*protect, "--attackers", "outsider"]) == 0
    assert "who they are" not in capsys.readouterr().err
    Path("p.toml").write_text(
        '[table]\nmicrodata = "firms.csv"\nby = ["region", "code"]\nvalue = "turnover"\nrespondent = "firm"\n'
        '[rules]\nrule = "frequency(2)"\n'
    )
    assert main(["audit", "p.toml", "out"]) == 2


def test_records_that_are_read_as_a_table_lead_to_a_project(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [f"{k},{'NS'[k % 2]},{k + 5}" for k in range(60)]
    Path("firms.csv").write_text("\n".join(["firm,region,value", *lines]) + "\n")
    assert main(["protect", "firms.csv", "--rules", "threshold(3)"]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "name the file as microdata in a project.toml (tutorial, step 8)" in told


def test_of_what_assess_writes_only_sensitive_cells_are_taken_as_sensitive(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["assess", "counts.csv", "--rules", "threshold(10)", "--out", "all.csv"]) == 0
    capsys.readouterr()
    assert main(["protect", "counts.csv", "--sensitive", "all.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sensitive"] == 1
    listed = Path("all.csv").read_text()
    Path("published.csv").write_text(listed.replace("N,large,s,", "N,large,z,"))
    rule = ("--rules", "threshold(10)", "--json")
    assert main(["protect", "counts.csv", *rule, "--must-publish", "published.csv", "--out", "out"]) == 0
    (release,) = Path("out").rglob("release.csv")
    assert "N,large,published" in release.read_text()
    assert "S,small,suppressed" in release.read_text()
    assert main(["protect", "counts.csv", *rule, "--exempt", "all.csv"]) == 1
    assert "column 'status' has no letter for cells that are exempt" in capsys.readouterr().err
    Path("strange.csv").write_text(listed.replace("N,large,s,", "N,large,secret,"))
    assert main(["protect", "counts.csv", "--sensitive", "strange.csv"]) == 1
    assert "status 'secret' is unknown" in capsys.readouterr().err


def test_assess_counts_rows_where_a_code_and_its_only_child_are_one_cell(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("tree.csv").write_text("parent,child\nTotal,A\nTotal,B\nA,A1\nB,B1\nB,B2\n")
    Path("cells.csv").write_text("code,value\nA1,3\nB1,20\nB2,30\n")
    command = ["assess", "cells.csv", "--hierarchy", "code=tree.csv", "--rules", "threshold(5)"]
    assert main([*command, "--out", "all.csv"]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert "1 sensitive cell in 2 rows with status u" in told
