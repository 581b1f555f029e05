"""Batches become projects: these give the same release, and what they cannot say is said by line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from argus_files import EVERY_COMMAND, RECORDS, TABLE, write_files

import tacita as tc
from tacita.cli import main

ONE = RECORDS + '<SPECIFYTABLE> "region""SIZE"|"Turnover"{}\n<SAFETYRULE> {}\n<READMICRODATA>\n{}'
WRITTEN = '<SUPPRESS> {}\n<WRITETABLE> (1,1,,"out/shops.csv")\n<WRITETABLE> (1,5,,"out/shops.tab")\n'
CELLS = TABLE + '<SPECIFYTABLE> "Region""Size"|"Turnover"{}\n<SAFETYRULE> {}\n<READTABLE>{}\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_files(tmp_path)


def convert(text: str, target: str = "projects/project.toml") -> int:
    Path("batch.arb").write_text(text)
    return main(["convert", "batch.arb", target])


@pytest.mark.parametrize(
    "text",
    [
        ONE.format("", "NK(1,60)|FREQ(3,30)", WRITTEN.format("MOD(1,5,1,1,1)")),
        ONE.format("|| -2", "P(15,1)|FREQ(3,30)|WGT(1)", WRITTEN.format("OPT(1,5)")),
        ONE.format("|| -1", "P(15,3)|NK(3,60)|NK(1,50)|NK(2,90)", WRITTEN.format("OPT(1)")),
        ONE.format("|||0", "FREQ(4,30)", WRITTEN.format("NET(1)")),
        ONE.format('|"Wages"', "NK(1,60)|FREQ(0,0)|FREQ(3,20)", WRITTEN.format("GH(1,75)")),
        ONE.format("", "FREQ(3,30)|REQ(10,10,0,20)", '<RECODE> 1, "Region", 1\n' + WRITTEN.format("OPT(1)")),
        ONE.format(
            "",
            "NK(1,60)|FREQ(3,30)",
            '<RECODE> 1, "Region", "regions.grc"\n<RECODE> 1, "Size", "sizes.grc"\n'
            + WRITTEN.format("OPT(1)"),
        ),
        ONE.format(
            "",
            "NK(1,60)|FREQ(3,30)|MAN(30)",
            '<APRIORI> "decisions.hst", 1, ";"\n' + WRITTEN.format("OPT(1)"),
        ),
        ONE.format("", "FREQ(3,30)", WRITTEN.format("RND(1,50)").replace(",5,,", ",1,,")),
        CELLS.format("", "", "") + WRITTEN.format("OPT(1)"),
        CELLS.format("|| -1", "FREQ(8,20)|MAN(10)", " 1") + WRITTEN.format("OPT(1)"),
        CELLS.format('||"Max1"', "P(20)", "") + WRITTEN.format("OPT(1)"),
    ],
)
def test_the_project_of_a_batch_gives_the_same_release(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert convert(text) == 0, capsys.readouterr().err
    assert "not carried over" not in capsys.readouterr().err
    assert main(["run", "batch.arb"]) == 0, capsys.readouterr().err
    assert main(["run", "projects/project.toml"]) == 0, capsys.readouterr().err
    ours = Path("projects/shops")
    crosstab = next((ours / "publication").glob("*crosstab*.csv"))
    if (theirs := Path("out/internal/shops.tab")).exists():
        assert sorted(_read(theirs)) == sorted(_read(ours / "internal/release.tab"))
    assert _find_cells(Path("out/publication/shops.csv")) == _find_cells(crosstab)


def _read(path: Path) -> list[str]:
    return path.read_text().splitlines()


def _find_cells(path: Path) -> dict[tuple[str, str], str]:
    """Return the cells of a crosstab by their codes: their order may differ."""
    (_, *columns), *rows = [line.split(",") for line in _read(path) if line]
    return {(row[0], column): text for row in rows for column, text in zip(columns, row[1:], strict=True)}


def test_linked_tables_become_one_project(capsys: pytest.CaptureFixture[str]) -> None:
    linked = ONE.format("", "NK(1,60)|FREQ(3,30)", "").replace(
        "<READMICRODATA>\n",
        '<SPECIFYTABLE> "Region"|"Turnover"\n<SAFETYRULE> {}\n<READMICRODATA>\n'
        '<SUPPRESS> MOD(0)\n<WRITETABLE> (1,1,,"out/a.csv")\n<WRITETABLE> (2,1,,"out/b.csv")\n',
    )
    assert convert(linked.format("NK(1,60)|FREQ(3,30)")) == 0
    assert list(tc.Specification.load("projects/project.toml").tables) == ["table-1", "table-2"]
    assert main(["run", "batch.arb", "--log", "batch.jsonl"]) == 0
    assert main(["run", "projects/project.toml"]) == 0
    changed = [
        json.loads(_read(Path(log))[-1])["changed"]
        for log in ("batch.jsonl", "projects/run.jsonl", "run.jsonl")
        if Path(log).exists()
    ]
    assert len(changed) == 2
    assert changed[0] == changed[1] > 0
    capsys.readouterr()
    assert convert(linked.format("FREQ(15,30)"), "other") == 1
    assert "batch.arb, line 6: linked tables of a project have one rule" in capsys.readouterr().err
    assert not Path("other").exists()


def test_every_command_is_carried_over_or_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert convert(EVERY_COMMAND) == 1
    assert "name a folder for them" in capsys.readouterr().err
    assert convert(EVERY_COMMAND, "projects") == 0, capsys.readouterr().err
    said = capsys.readouterr().err
    assert {path.name for path in Path("projects").iterdir()} == {
        *("gh.toml", "mod.toml", "opt.toml", "rounded.toml", "adjusted.toml")
    }
    for text in (
        "line 3: not carried over: tacita doctor",
        "line 4: not carried over: tacita run --log FILE",
        "line 7: the cost variable 'Wages' is not carried over",
        "MIS(1) is not applied",
        "line 19: nothing that this protects is written",
        "line 21: QU+, AR+: not carried over",
        "line 29: not carried over: the cell key method",
    ):
        assert text in said, said
    rounded = tc.Specification.load("projects/rounded.toml")
    assert (rounded.protect.method, rounded.protect.options) == (
        "rounding",
        {"base": 5, "steps": 0, "weight": "unit"},
    )
    # The commands of the batch that make other tables of the same records are judged together here, too.
    assert main(["run", "projects/*.toml"]) == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('<RECODE> 1, "Region", 1\n<RECODE> 1, "Region", "regions.grc"\n', "is recoded twice"),
        ('<APRIORI> "decisions.hst", 1, ";"\n' * 2, "one file of decisions"),
        ('<APRIORI> "other.hst", 1, ":"\n', "does not find the separator ':'"),
    ],
)
def test_what_a_project_cannot_say_is_refused_by_line(
    more: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("other.hst").write_text("N:b:S\nN:a:C:5\n")
    assert convert(ONE.format("", "NK(1,60)|FREQ(3,30)", more + WRITTEN.format("OPT(1)"))) == 1
    shown = capsys.readouterr().err
    assert said in shown
    assert "batch.arb, line " in shown
    assert not Path("projects").exists()


def test_what_is_no_project_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    plain = ONE.format("", "FREQ(3,30)", "")
    assert convert(plain) == 1
    assert "writes no protected table" in capsys.readouterr().err
    assert convert(plain + '<WRITETABLE> (1,1,,"out/a.csv")\n') == 1
    assert "line 6: not carried over: no method has protected the table" in capsys.readouterr().err
    assert convert(plain + WRITTEN.format("OPT(1)"), "cells.csv") == 1
    assert "not files of the ending '.csv'" in capsys.readouterr().err
    assert main(["convert", "batch.arb", "a.toml", "--rules", "frequency(3)"]) == 1
    assert "leave out all options" in capsys.readouterr().err
