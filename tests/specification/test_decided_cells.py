"""Cells that were decided by hand in files, with their reasons, and the pattern that a search begins with."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tacita as tc
from tacita.cli import main
from tacita.core.errors import TacitaWarning
from tacita.specification.decided_cells import read_decided
from tacita.specification.sections import Decision, Decisions

VALUES = {"North": (20, 50, 10, 80), "South": (8, 19, 22, 49), "Total": (28, 69, 32, 129)}
ROWS = [
    (region, sex, value)
    for region, row in VALUES.items()
    for sex, value in zip(("a", "b", "c", "Total"), row, strict=True)
]
PROJECT = '[table]\nfile = "cells.csv"\n\n[rules]\nrule = "threshold(9)"\n'
RELEASE = "region,sex,mark,low,high,value\n" + "".join(
    f"{region},{sex},{'suppressed,,,' if region != 'Total' and sex in 'ab' else f'published,{v},{v},{v}'}\n"
    for region, sex, v in ROWS
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("cells.csv").write_text(
        "region,sex,value\n" + "".join(f"{region},{sex},{value}\n" for region, sex, value in ROWS)
    )
    return tmp_path


def load(more: str) -> tc.Specification:
    Path("project.toml").write_text(PROJECT + more)
    return tc.Specification.load("project.toml")


def names(problem: tc.Problem, mask: np.ndarray) -> list[str]:
    keys = (problem.table.structure.key(int(cell)) for cell in np.flatnonzero(mask))
    return sorted("/".join(key) for key in keys)


def test_files_decide_like_lists_of_the_project() -> None:
    Path("cells-1.csv").write_text("region,sex\nNorth,a\nNorth,b\n")
    Path("cells-2.csv").write_text("region,sex,lpl,upl\nNorth,c,2,\nSouth,b,,3\n")
    listed = '[{ region = "North", sex = "a" }, { region = "North", sex = "b" }]'
    for key, section in (("must_publish", "protect"), ("must_hide", "protect")):
        by_file = load(f'[decisions]\n{key} = "cells-1.csv"\n').problem()
        by_hand = load(f"[{section}]\n{key} = {listed}\n").problem()
        assert getattr(by_file, key).any()
        assert np.array_equal(getattr(by_file, key), getattr(by_hand, key))
    marks = '[{ region = "North", sex = "c", lpl = 2 }, { region = "South", sex = "b", upl = 3 }]'
    by_file = load('[decisions]\nsensitive = "cells-2.csv"\n').problem()
    by_hand = tc.Specification.load(
        write("hand.toml", PROJECT.replace("[rules]", f"[rules]\nsensitive = {marks}"))
    ).problem()
    for name in ("sensitive", "lower", "upper", "sliding"):
        assert np.array_equal(getattr(by_file.levels, name), getattr(by_hand.levels, name))
    Path("cells-3.csv").write_text("region,sex\nSouth,a\n")
    assert names(load("").problem(), load("").problem().levels.sensitive) == ["South/a"]
    exempt = load('[decisions]\nexempt = "cells-3.csv"\n').problem()
    assert names(exempt, exempt.exempt) == ["South/a"]
    assert not len(exempt.levels)


def write(name: str, text: str) -> str:
    Path(name).write_text(text)
    return name


def test_codes_that_are_left_out_mean_totals_and_rows_without_a_cell_are_warned_of() -> None:
    write("frozen.csv", "sex,region,reason\na,,frozen\nb,North,frozen\nb,Atlantis,frozen\n")
    specification = load('[decisions]\nmust_publish = { file = "frozen.csv", by = "A. Meyer" }\n')
    with pytest.warns(
        TacitaWarning, match=r"frozen.csv, line 4: 1 row on .* left out; it is .region=Atlantis, sex=b"
    ):
        problem = specification.problem()
    assert names(problem, problem.must_publish) == ["North/b", "Total/a"]
    assert read_decided(specification, problem.table, "must_publish").reasons == {("frozen", "A. Meyer"): 2}
    write("one.csv", "region\nSouth\n")
    problem = load('[decisions]\nmust_hide = "one.csv"\n').problem()
    assert names(problem, problem.must_hide) == ["South/Total"]


@pytest.mark.parametrize("decision", ["must_hide", "sensitive"])
def test_a_misspelt_code_of_a_cell_to_protect_is_refused(decision: str) -> None:
    write("list.csv", "region,sex\nSouht,a\n")
    specification = load(f'[decisions]\n{decision} = "list.csv"\n')
    with pytest.raises(tc.InputError, match=r"list.csv, line 2: no code 'Souht' of 'region' \(did you mean"):
        specification.problem()


def test_a_release_lists_what_it_publishes_or_hides() -> None:
    write("release.csv", RELEASE)
    stays = load('[decisions]\nmust_publish = "release.csv"\n').problem().must_publish
    goes = load('[decisions]\nmust_hide = "release.csv"\n').problem().must_hide
    assert goes.sum() == 4
    assert np.array_equal(stays, ~goes)


def test_what_is_never_published_must_be_hidden() -> None:
    write("status.csv", "region,sex,status\nNorth,a,w\nNorth,b,s\n")
    problem = load('[decisions]\nmust_hide = "status.csv"\n').problem()
    assert names(problem, problem.must_hide) == ["North/a"]


@pytest.mark.parametrize(("decision", "letters"), [("sensitive", "u"), ("must_publish", "z and p")])
def test_a_file_that_decides_nothing_is_warned_of(decision: str, letters: str) -> None:
    write("status.csv", "region,sex,status\nNorth,a,w\nNorth,b,s\n")
    specification = load(f'[decisions]\n{decision} = "status.csv"\n')
    with pytest.warns(TacitaWarning, match=f"status.csv.* no row .* means {decision}.* {letters} mean it"):
        specification.problem()


def test_faults_name_the_file() -> None:
    write("wrong.csv", "country\nX\n")
    with pytest.raises(tc.InputError, match=r"wrong.csv.*none of the columns region, sex"):
        load('[decisions]\nmust_publish = "wrong.csv"\n').problem()
    write("wrong.csv", "region,Sex\nNorth,a\n")
    with pytest.raises(
        tc.InputError, match=r"wrong.csv.*column 'Sex' .did you mean 'sex'.. is none of the dim"
    ):
        load('[decisions]\nsensitive = "wrong.csv"\n').problem()
    write("wrong.csv", "region,lpl\nNorth,many\n")
    with pytest.raises(tc.InputError, match=r"wrong.csv.*'lpl' holds no number"):
        load('[decisions]\nsensitive = "wrong.csv"\n').problem()
    with pytest.raises(tc.InputError, match="a reason is all that stands here"):
        load('[decisions]\nwaived = { file = "x.csv" }\n')
    with pytest.raises(tc.InputError, match=r"decisions.must_hid: this key is unknown"):
        load('[decisions]\nmust_hid = "x.csv"\n')


def test_a_project_keeps_decisions_and_start_when_it_is_saved_elsewhere(tmp_path: Path) -> None:
    write("frozen.csv", "region,sex\nNorth,b\n")
    write("release.csv", RELEASE)
    specification = load(
        '[decisions]\nmust_publish = "frozen.csv"\nexempt = { reason = "consent", by = "law" }\n'
        '[protect]\nstart = "release.csv"\n'
    )
    again = tc.Specification.load(specification.save(tmp_path / "other"))
    assert again.decisions == Decisions(
        must_publish=Decision(str(tmp_path / "frozen.csv")), exempt=Decision(None, "consent", "law")
    )
    assert again.protect.start == str(tmp_path / "release.csv")
    assert names(again.problem(), again.problem().must_publish) == ["North/b"]
    problem = specification.problem()
    tc.write_project(problem, tmp_path / "third", method="suppression", specification=specification)
    third = tc.Specification.load(tmp_path / "third")
    assert third.decisions == Decisions(exempt=Decision(None, "consent", "law"))
    assert third.protect.start == str(tmp_path / "release.csv")
    assert np.array_equal(third.problem().must_publish, problem.must_publish)


def test_flags_name_files_of_cells(capsys: pytest.CaptureFixture[str]) -> None:
    write("frozen.csv", "region,sex\nNorth,a\n")
    rules = ["--rules", "threshold(9)", "--json"]
    shown = []
    for more in ([], ["--must-publish", "frozen.csv"], ["--exempt", "safe.csv"], ["--sensitive", "safe.csv"]):
        write("safe.csv", "region,sex\nSouth,a\n")
        assert main(["protect", "cells.csv", *rules, *more]) == 0
        shown.append(json.loads(capsys.readouterr().out))
    assert [each["sensitive"] for each in shown] == [1, 1, 0, 1]
    assert shown[0]["loss"] < shown[1]["loss"]
    assert main(["protect", "cells.csv", *rules, "--must-hide", "none.csv"]) == 1
    assert "none.csv: no such file" in capsys.readouterr().err


def test_a_project_names_the_release_that_the_search_begins_with(capsys: pytest.CaptureFixture[str]) -> None:
    load('[protect]\nstart = "last.csv"\n')
    assert main(["protect", "project.toml", "--json"]) == 1
    assert "last.csv" in capsys.readouterr().err
    write("last.csv", RELEASE)
    assert main(["protect", "project.toml", "--json"]) == 0
    capsys.readouterr()
    load('[protect]\nstart = "last.csv"\nmethod = "rounding"\n')
    assert main(["protect", "project.toml", "--json"]) == 1
    assert "takes no pattern to start from" in capsys.readouterr().err


def test_the_log_of_a_run_says_who_decided_what(capsys: pytest.CaptureFixture[str]) -> None:
    write("frozen.csv", "region,sex,reason\nNorth,b,in print\nNorth,Total,\n")
    load(
        '[decisions]\nmust_publish = { file = "frozen.csv", reason = "frozen", by = "A. Meyer" }\n'
        'must_hide = { reason = "poor quality" }\n[protect]\nmust_hide = [{ region = "South", sex = "b" }]\n'
    )
    assert main(["run", "project.toml", "--json"]) == 0
    record = json.loads(Path("run.jsonl").read_text())
    assert record["decisions"] == [
        {
            "decision": "must_publish",
            "number": 1,
            "reason": "in print",
            "by": "A. Meyer",
            "file": "frozen.csv",
        },
        {"decision": "must_publish", "number": 1, "reason": "frozen", "by": "A. Meyer", "file": "frozen.csv"},
        {"decision": "must_hide", "number": 1, "reason": "poor quality", "by": None},
    ]
    assert "frozen.csv" in record["inputs"]
    page = Path("run.html").read_text()
    assert all(word in page for word in ("poor quality", "A. Meyer", "in print"))
