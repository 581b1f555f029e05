"""``tacita compare``: verdicts and numbers of releases from files and by methods, side by side."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import inf, nan
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest

import tacita as tc
from tacita.cli import main
from tacita.core.errors import StoppedError
from tacita.core.words import describe_method
from tacita.formats.table_write import write_table
from tacita.methods import method as registry
from tacita.report.measures import FURTHER, MEASURES, find_best

# Totals last. The first cell is sensitive and must stay uncertain by 50 either way.
GRID = np.array(
    [[4007, 3011, 1009, 8027], [2017, 5021, 1013, 8051], [1019, 1021, 1031, 3071], [7043, 9053, 3053, 19149]]
)
CORNERS = ((0, 0), (0, 1), (1, 0), (1, 1))
KEYS = [
    *("name", "file", "method", "options", "error", "remarks", "audit", "status", "levels", "loss"),
    *("bound", "gap"),
    *("risk", "median", "exact", "changed", "percent", "others", "silent", "value_percent", "relative"),
    *(
        "l1",
        "l2",
        "largest",
        "seconds",
        "relative_median",
        "relative_largest",
        "rank",
        "hellinger",
        "chi_square",
    ),
    *("mean_change", "variance_change", "correlation_change", "slope_change"),
]
Ask = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    table = tc.Table.from_array(GRID[:-1, :-1])
    problem = tc.Problem(table, tc.Marked([("1", "1")], lower=50, upper=50))
    return write_table(table, Path("case.csv"), problem).name


def crosstab(name: str, shown: np.ndarray, hidden: tuple[tuple[int, int], ...] = ()) -> str:
    """A release as somebody else would write it."""
    codes = ["1", "2", "3", "Total"]
    lines = [",".join(["row", *codes])]
    for i, code in enumerate(codes):
        lines.append(",".join([code, *("x" if (i, j) in hidden else str(shown[i, j]) for j in range(4))]))
    Path(name).write_text("\n".join(lines) + "\n")
    return name


@pytest.fixture
def ask(case: str, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Exit code and the one JSON object on stdout."""

    def asked(*arguments: object) -> tuple[int, dict[str, Any]]:
        code = main(["compare", case, *map(str, arguments), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return asked


def methods(*names: str) -> list[str]:
    return [word for name in names for word in ("--method", name)]


def test_numbers_of_a_hidden_rectangle(ask: Ask) -> None:
    """Alternating moves reach from -min(4007, 5021) to +min(3011, 2017): 6024 wide, and 100 is asked for."""
    code, said = ask(crosstab("corners.csv", GRID, CORNERS))
    assert (code, said["cells"], said["sensitive"], said["safe"]) == (0, 16, 1, True)
    (row,) = said["releases"]
    assert (row["name"], row["file"], row["method"], row["error"]) == ("corners.csv",) * 2 + (None, None)
    assert row["audit"]["safe"] is True
    assert row["risk"] == row["median"] == pytest.approx(100 / 6024)
    assert (row["exact"], row["changed"], row["percent"], row["others"], row["silent"]) == (0, 4, 25, 3, 4)
    assert (row["l1"], row["l2"], row["largest"]) == (0, 0, 0)
    # They are a method's own.
    assert (row["loss"], row["bound"], row["gap"], row["status"]) == (None,) * 4


def test_numbers_of_a_rounded_table(ask: Ask) -> None:
    shown = np.round(GRID / 100).astype(int) * 100
    code, said = ask(crosstab("rounded.csv", shown), "--base", 100)
    (row,) = said["releases"]
    distance = np.abs(shown - GRID)
    assert row["l1"] == distance.sum()
    assert row["l2"] == pytest.approx(np.sqrt((distance**2).sum()))
    assert row["largest"] == distance.max()
    assert (row["changed"], row["silent"]) == ((distance > 0).sum(), 0)
    assert code == (0 if row["audit"]["safe"] else 2)


def test_all_rows_have_all_keys_and_one_that_is_not_safe_decides(ask: Ask) -> None:
    releases = (crosstab("corners.csv", GRID, CORNERS), crosstab("alone.csv", GRID, ((0, 0),)))
    code, said = ask(*releases, *methods("suppression", "rounding:base=1"))
    assert code == 2
    assert list(said) == ["cells", "sensitive", "safe", "releases"]
    assert said["safe"] is False
    rows = said["releases"]
    assert [list(row) for row in rows] == [KEYS] * 4
    assert [row["name"] for row in rows] == [*releases, "suppression", "rounding (base 1)"]
    assert [row["audit"] and row["audit"]["safe"] for row in rows] == [True, False, True, None]
    assert (rows[1]["exact"], rows[1]["risk"]) == (1, None)
    assert (rows[2]["status"], rows[2]["loss"], rows[2]["bound"]) == (
        "optimal",
        rows[2]["bound"],
        rows[2]["loss"],
    )
    assert (rows[3]["method"], rows[3]["options"], rows[3]["status"]) == (
        "rounding",
        {"base": 1},
        "infeasible",
    )
    assert "nothing would change" in rows[3]["error"]


def test_a_method_without_a_release_is_an_answer_unless_there_is_nothing_else(ask: Ask) -> None:
    assert ask(*methods("rounding:base=1", "suppression"))[0] == 0
    code, said = ask(*methods("rounding:base=1"))
    assert (code, said["safe"]) == (1, False)


def test_unprotected_rounding_is_audited_too(ask: Ask) -> None:
    code, said = ask(*methods("rounding:base=5,protected=no"))
    assert code == 2
    assert said["releases"][0]["name"] == "rounding (base 5, protected off)"


@dataclass(frozen=True)
class Late:
    """Finds nothing in time."""

    name: ClassVar[str] = "late"
    does: ClassVar[str] = "nothing"
    choose: ClassVar[str] = "never"

    def protect(self, problem: tc.Problem, run: tc.Run | None = None) -> tc.Release:
        raise StoppedError(
            f"nothing was found within {run and run.time_limit} seconds, seed {run and run.seed}"
        )


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("late_method")
    module.__dict__["Late"] = Late
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(registry, "METHODS", {**registry.METHODS, "late": "late_method:Late"})


@pytest.mark.usefixtures("late")
def test_a_method_that_fails_is_an_error_and_the_others_are_kept(ask: Ask) -> None:
    code, said = ask(*methods("late", "suppression"), "--time-limit", 9)
    assert code == 1
    assert said["safe"] is True
    assert (said["releases"][0]["status"], said["releases"][1]["status"]) == ("failed", "optimal")
    assert "within 9.0 seconds" in said["releases"][0]["error"]
    assert ask(crosstab("alone.csv", GRID, ((0, 0),)), *methods("late"))[0] == 2


@pytest.mark.usefixtures("late")
def test_a_project_says_what_the_command_line_does_not(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("project.toml").write_text(
        f'[table]\nfile = "{case}"\n[protect]\nmethod = "rounding"\noptions = {{ base = 200 }}\n'
        "time_limit = 7\nseed = 3\n"
    )
    main(["compare", "project.toml", *methods("rounding", "rounding:base=500", "late"), "--json"])
    rows = json.loads(capsys.readouterr().out)["releases"]
    assert [row["name"] for row in rows] == ["rounding (base 200)", "rounding (base 500)", "late"]
    assert "within 7.0 seconds, seed 3" in rows[2]["error"]


def test_values_with_commas_are_quoted(ask: Ask) -> None:
    _, said = ask(*methods("adjustment:keep='mean, variance=50',norm=l1"))
    assert said["releases"][0]["options"] == {"keep": "mean, variance=50", "norm": "l1"}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "nothing to compare"),
        (methods("rounding:base"), "'base' should be written as"),
        (methods("rounding:bse=5"), "did you mean 'base'"),
        (methods("adjustment:keep='mean"), "a quote is not closed"),
        (methods(":base=5"), "the name of a method is missing"),
        ([*methods("suppression"), "--columns", "loss,rsk"], "did you mean 'risk'"),
        ([*methods("suppression"), "--columns", "loss", "--all"], "contradict"),
        (["nowhere.csv", *methods("suppression")], "nowhere.csv"),
    ],
)
def test_mistakes_are_told_in_one_message(
    arguments: list[str], named: str, case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", case, *arguments]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "error: " in said.err
    assert named in said.err


def test_a_release_of_another_table_is_refused(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = crosstab("wrong.csv", GRID + np.eye(4, dtype=int))
    assert main(["compare", case, wrong, *methods("suppression")]) == 1
    assert "wrong.csv" in capsys.readouterr().err


@pytest.mark.parametrize("width", [60, 100, 250])
def test_every_column_is_shown_whatever_the_width(
    width: int, case: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    arguments = (case, crosstab("corners.csv", GRID, CORNERS), *methods("rounding:base=1"), "--all")
    assert main(["compare", *arguments]) == 0
    shown = capsys.readouterr().out
    heads = [word for line in shown.splitlines() if line.startswith("┃") for word in line.split("┃")]
    told = [head.strip() for head in heads if head.strip() not in ("", "release")]
    assert told == ["verdict", *(measure.head for measure in (*MEASURES, *FURTHER))]
    assert max(map(len, shown.splitlines())) <= width
    assert "…" not in shown
    assert "! no release" in shown
    assert "nothing would change" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("chosen", "heads"),
    [
        ([], ["loss", "status", "cells lost", "value lost", "error"]),
        (["--columns", "l1, chi2,risk,l1"], ["l1", "chi2", "risk"]),
    ],
)
def test_columns_are_few_unless_others_are_chosen(
    chosen: list[str],
    heads: list[str],
    case: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["compare", case, crosstab("corners.csv", GRID, CORNERS), *chosen]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("┃")]
    assert [head.strip() for head in line.split("┃")[1:-1]] == ["release", "verdict", *heads]


def test_value_lost_and_errors_of_shown_numbers(ask: Ask) -> None:
    (hidden,) = ask(crosstab("corners.csv", GRID, CORNERS))[1]["releases"]
    lost = sum(int(GRID[place]) for place in CORNERS)
    assert hidden["value_percent"] == pytest.approx(100 * lost / GRID.sum())
    assert (hidden["relative"], hidden["relative_largest"], hidden["rank"]) == (0, 0, pytest.approx(1))
    assert (hidden["mean_change"], hidden["slope_change"]) == (0, pytest.approx(0))
    shown = np.round(GRID / 1000).astype(int) * 1000
    (near,) = ask(crosstab("rounded.csv", shown), "--base", 1000)[1]["releases"]
    errors = 100 * np.abs(shown - GRID) / GRID
    assert near["value_percent"] == 0
    assert near["relative"] == pytest.approx(errors.mean())
    assert near["relative_median"] == pytest.approx(np.median(errors))
    assert near["relative_largest"] == pytest.approx(errors.max())
    inner, before = shown[:-1, :-1].ravel(), GRID[:-1, :-1].ravel()
    assert near["mean_change"] == pytest.approx(100 * (inner.mean() / before.mean() - 1))
    assert near["variance_change"] == pytest.approx(100 * (inner.var() / before.var() - 1))
    assert near["correlation_change"] == pytest.approx(100 * (np.corrcoef(inner, before)[0, 1] - 1))
    assert near["chi_square"] == pytest.approx(((inner - before) ** 2 / before).sum())


def test_only_what_was_found_safe_is_called_the_best(
    case: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second hides less than the first: the best if it is safe, not where it is not, or nobody asked."""
    monkeypatch.setenv("COLUMNS", "250")
    releases = (crosstab("corners.csv", GRID, CORNERS), crosstab("alone.csv", GRID, ((0, 0),)))
    unmarked = Path("unmarked.csv")
    write_table(tc.Table.from_array(GRID[:-1, :-1]), unmarked)

    def starred(*arguments: str) -> list[bool]:
        main(["compare", *arguments, *releases])
        shown = capsys.readouterr().out
        return ["★" in line for line in shown.splitlines() if line.startswith("│")]

    assert starred(case) == [False, False]
    assert starred(str(unmarked), "--rules", "threshold(1)") == [False, False]
    assert starred(str(unmarked), "--rules", "threshold(1010)") == [False, False]
    # Among several that are safe there is a best one in some columns.
    wide = crosstab("wide.csv", GRID, (*CORNERS, (2, 0), (2, 1)))
    assert starred(case, wide)[1:] == [True, False]


def test_text_shows_no_hidden_value(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    releases = (crosstab("corners.csv", GRID, CORNERS), crosstab("alone.csv", GRID, ((0, 0),)))
    main(["compare", case, *releases, *methods("suppression", "intervals", "rounding:base=100")])
    said = capsys.readouterr()
    text = (said.out + said.err).replace(",", "")
    assert not [value for value in GRID.ravel().tolist() if str(value) in text]


def test_the_least_wins_among_equals_of_its_kind() -> None:
    by_key = {measure.key: measure for measure in MEASURES}
    silent = {"l1": 0.0, "changed": 4, "silent": 4, "loss": 1.0}
    near = {"l1": 3.0, "changed": 9, "silent": 0, "loss": 2.0}
    far = {"l1": 5.0, "changed": 9, "silent": 0, "loss": nan}
    rows = {"silent": silent, "near": near, "far": far}
    assert find_best(by_key["changed"], rows) == {"silent"}
    # What shows no number is at no distance, and wins nothing by that.
    assert find_best(by_key["l1"], rows) == {"near"}
    # Losses of different methods are not measured alike.
    assert find_best(by_key["loss"], rows) == set()
    assert find_best(by_key["changed"], {"near": near, "far": far}) == set()


def test_measures_as_they_are_written() -> None:
    by_key = {measure.key: measure for measure in MEASURES}
    assert [by_key["risk"].format(value, None) for value in (0.12345, 12345.6, inf, nan)] == [
        *("0.123", "12,346", "∞", "–")
    ]
    assert [by_key["percent"].format(value, None) for value in (6.25, nan)] == ["6.2", "–"]
    half = tc.Outcome(tc.Status.FEASIBLE, 10.0, 5.0)
    assert by_key["gap"].format(half.gap, half) == "gap 50.0%"
    assert by_key["gap"].format(0.0, tc.Outcome(tc.Status.OPTIMAL, 10.0, 10.0)) == "optimal"


def test_a_method_is_called_by_what_was_chosen() -> None:
    assert describe_method("rounding", {}) == "rounding"
    assert describe_method("rounding", {"base": 5.0, "strict": True}) == "rounding (base 5, strict on)"
    chosen = {"at_most": 4, "margins": False, "conditional": None}
    assert describe_method("suppression", chosen) == "suppression (at most 4, margins off, conditional none)"


def test_a_page_has_the_releases_side_by_side(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    releases = (crosstab("corners.csv", GRID, CORNERS), crosstab("alone.csv", GRID, ((0, 0),)))
    assert main(["compare", case, *releases, *methods("rounding:base=100"), "--out", "page.html"]) == 2
    assert "page.html (internal" in capsys.readouterr().err
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.count("<section>") == 3
    assert all(name in page for name in (*releases, "rounding (base 100)"))
    assert main(["compare", case, *releases, "--out", "page.csv"]) == 1
    assert "ends in .html" in capsys.readouterr().err


def test_losses_by_level_are_shown_on_request_and_always_in_json(
    case: str, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    release = crosstab("corners.csv", GRID, CORNERS)
    rows = ask(release)[1]["releases"][0]["levels"]
    assert [(row["dimension"], row["level"], row["cells"], row["lost"]) for row in rows] == [
        *(("row", 0, 4, 0), ("row", 1, 12, 4), ("column", 0, 4, 0), ("column", 1, 12, 4))
    ]
    main(["compare", case, release])
    assert "row, level 1" not in capsys.readouterr().out
    main(["compare", case, release, "--by-level"])
    assert "row, level 1" in capsys.readouterr().out
