"""``tacita report``: a page on any release, written whatever the verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tacita.cli import main

CASE = "region,kind,value\nN,a,2\nN,b,5003\nS,a,4019\nS,b,3037\n"
SAFE = "region,a,b,Total\nN,x,x,5005\nS,x,x,7056\nTotal,4021,8040,12061\n"
ALONE = "region,a,b,Total\nN,x,5003,5005\nS,4019,3037,7056\nTotal,4021,8040,12061\n"
RULES = ("--rules", "threshold(3)")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("case.csv", CASE), ("safe.csv", SAFE), ("alone.csv", ALONE)):
        Path(name).write_text(text)


def test_a_safe_release(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "case.csv", "safe.csv", *RULES, "--out", "page.html"]) == 0
    said = capsys.readouterr()
    assert "✔ safe" in said.out
    assert "page.html" in said.err
    page = Path("page.html").read_text(encoding="utf-8")
    assert "<h1>Audit of safe.csv</h1>" in page
    assert "✔ Safe." in page
    assert "safe.csv, checked as a release of case.csv" in page
    assert "threshold 3" in page
    assert not [value for value in ("5003", "5,003", "4019", "4,019", "3037", "3,037") if value in page]


def test_a_release_that_is_not_safe_has_its_page_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "case.csv", "alone.csv", *RULES, "--out", "page.html"]) == 2
    assert "✘ NOT SAFE" in capsys.readouterr().out
    page = Path("page.html").read_text(encoding="utf-8")
    assert "✘ Not safe." in page
    assert "region=N, kind=a" in page
    assert "exact disclosure" in page


def test_json_and_a_title_that_is_only_text(capsys: pytest.CaptureFixture[str]) -> None:
    title = "First <quarter> & second"
    asked = ["report", "case.csv", "safe.csv", *RULES, "--out", "page.html", "--title", title, "--json"]
    assert main(asked) == 0
    assert json.loads(capsys.readouterr().out) == {
        "safe": True,
        "checked": 1,
        "proven": 1,
        "unsafe": 0,
        "exact": 0,
        "exempt": 0,
        "against": "an outsider",
        "written": ["page.html"],
    }
    assert "<h1>First &lt;quarter&gt; &amp; second</h1>" in Path("page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["safe.csv", "--out", "case.csv"], "ends in .html"),
        (["safe.csv", "--out", "nowhere/page.html"], "nowhere"),
        (["absent.csv", "--out", "page.html"], "absent.csv"),
        (["safe.csv"], "--out"),
    ],
)
def test_mistakes_write_nothing(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["report", "case.csv", *arguments, *RULES]) == 1
    assert named in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alone.csv", "case.csv", "safe.csv"]
    assert Path("case.csv").read_text() == CASE
