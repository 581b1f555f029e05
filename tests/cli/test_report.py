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
        "written": ["page.html", "page-public.html"],
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


def test_the_page_for_readers_depends_on_the_release_alone(tmp_path: Path) -> None:
    """Three other true values behind the same release give the same bytes, wherever they are written."""
    other = "region,kind,value\nN,a,1\nN,b,5004\nS,a,4020\nS,b,3036\n"
    Path("other.csv").write_text(other)
    Path("publication").mkdir()
    assert main(["report", "case.csv", "safe.csv", *RULES, "--out", "page.html"]) == 0
    arguments = ("safe.csv", "--rules", "threshold(2)", "--out", "publication/page.html", "--public")
    assert main(["report", "other.csv", *arguments]) == 0
    pages = [Path(name).read_bytes() for name in ("page-public.html", "publication/page.html")]
    assert pages[0] == pages[1]
    assert b"4 of 9 cells without a number" in pages[0]
    assert [path.name for path in Path("publication").iterdir()] == ["page.html"]


def test_there_is_no_page_for_readers_of_an_unsafe_release(capsys: pytest.CaptureFixture[str]) -> None:
    for extra in ([], ["--public"]):
        assert main(["report", "case.csv", "alone.csv", *RULES, "--out", "page.html", *extra]) == 2
        assert "no page for readers: the release is not proven safe" in capsys.readouterr().err
    assert [path.name for path in Path().glob("*.html")] == ["page.html"]


@pytest.mark.parametrize(
    ("release", "options"),
    [
        ("region,a,b,Total\nN,0,5000,5000\nS,4000,3000,7000\nTotal,4000,8000,12000\n", ["--base", "1000"]),
        (SAFE.replace("x", "-"), []),
        (
            "region,kind,value\nTotal,Total,12061\nN,Total,5005\nS,Total,7056\nTotal,a,4021\nTotal,b,8040\n",
            ["--absent", "suppressed"],
        ),
    ],
)
def test_what_only_the_true_values_told_is_not_told_to_readers(
    release: str, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("made.csv").write_text(release)
    arguments = ["report", "case.csv", "made.csv", *RULES, *options, "--out", "page.html"]
    assert main(arguments) == 0
    assert "no page for readers: " in capsys.readouterr().err
    assert main([*arguments, "--public"]) == 1
    assert "found out with the true values" in capsys.readouterr().err
    assert not Path("page-public.html").exists()
