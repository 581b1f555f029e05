"""What scripts rely on: the JSON of protect, audit and verify, the files they write, the exit codes."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest

from tacita.cli import main
from tacita.cli.audit import find_cell
from tacita.cli.protect import note_missed_gap
from tacita.core.errors import InfeasibleError, InputError, StoppedError
from tacita.core.outcome import Outcome, Status
from tacita.core.release import Release
from tacita.core.tables.table import Table
from tacita.methods import method as registry

# The 4 x 4 table of Salazar, Figure 2, totals last; the cell of value 22 is sensitive.
GRID = np.array([[20, 50, 10, 80], [8, 19, 22, 49], [17, 32, 12, 61], [45, 101, 44, 190]])
SENSITIVE = 6
CORNERS = (4, 6, 8, 10)


def write_jj(path: Path, grid: np.ndarray = GRID, lower: int = 3, upper: int = 3) -> Path:
    values = grid.ravel()
    lines = ["0", str(values.size)]
    for cell, value in enumerate(values):
        levels = f"{lower} {upper} 0" if cell == SENSITIVE else "0 0 0"
        lines.append(
            f"{cell} {value} {value} {'u' if cell == SENSITIVE else 's'} 0 1000000000000000 {levels}"
        )
    index = np.arange(16).reshape(4, 4)
    families = [*index, *index.T]
    lines.append(str(len(families)))
    for family in families:
        members = " ".join(f"{cell} ({1 if k < 3 else -1})" for k, cell in enumerate(family))
        lines.append(f"0 4 : {members}")
    path.write_text("\n".join(lines) + "\n")
    return path


def write_release(path: Path, hidden: tuple[int, ...], grid: np.ndarray = GRID) -> Path:
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["cell", "mark", "low", "high", "value"])
        for cell, value in enumerate(grid.ravel()):
            rows.writerow(
                [cell, "suppressed", "", "", ""] if cell in hidden else [cell, "published", *[value] * 3]
            )
    return path


@pytest.fixture
def case(tmp_path: Path) -> Path:
    return write_jj(tmp_path / "case.jj")


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, Any]]:
    """Exit code and the one JSON object on stdout."""
    code = main([*map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_protect_prints_the_object_and_writes_the_folders(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    code, said = answer(
        capsys, "protect", case, "--method", "suppression", "--option", "margins=yes", "--out", out
    )
    assert code == 0
    assert list(said) == [
        *("method", "options", "search", "status", "loss", "bound", "gap", "seconds", "remarks"),
        *("warnings", "cells", "sensitive", "changed", "changed_value", "audit"),
    ]
    assert (said["method"], said["options"]["margins"]) == ("suppression", True)
    assert said["status"] in ("optimal", "feasible")
    assert (said["cells"], said["sensitive"]) == (16, 1)
    assert said["audit"] == {
        "safe": True,
        "checked": 1,
        "proven": 1,
        "unsafe": 0,
        "exact": 0,
        "exempt": 0,
        "against": "an outsider",
    }
    rows = list(csv.DictReader((out / "publication" / "release.csv").open()))
    hidden = [int(row["cell"]) for row in rows if row["mark"] == "suppressed"]
    assert SENSITIVE in hidden
    assert said["changed"] == len(hidden)
    assert said["changed_value"] == said["loss"] == GRID.ravel()[hidden].sum()
    assert said["bound"] <= said["loss"]
    assert all(row["low"] == row["high"] == row["value"] == "" for row in rows if int(row["cell"]) in hidden)
    assert sorted(path.name for path in out.iterdir()) == ["internal", "publication"]
    assert [path.name for path in (out / "publication").iterdir()] == ["release.csv"]
    assert sorted(path.name for path in (out / "internal").iterdir()) == ["audit.json", "certificate.json"]


def test_audit_of_a_safe_release_and_its_intervals(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = write_release(tmp_path / "mine.csv", CORNERS)
    code, said = answer(capsys, "audit", case, release, "--intervals")
    assert code == 0
    intervals = said.pop("intervals")
    assert [said.pop(key) for key in ("cells", "warnings", "notes", "assumptions")] == [[], [], [], []]
    assert said == {
        "safe": True,
        "checked": 1,
        "proven": 1,
        "unsafe": 0,
        "exact": 0,
        "exempt": 0,
        "against": "an outsider",
    }
    # Salazar, Figure 2: the attacker finds [5, 30].
    assert {"cell": SENSITIVE, "low": 5, "high": 30} in intervals
    assert [entry["cell"] for entry in intervals] == list(CORNERS)


def test_audit_explains_a_cell_and_keeps_values_to_itself(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = write_release(tmp_path / "mine.csv", CORNERS)
    other = next(cell for cell in CORNERS if cell != SENSITIVE)
    code, said = answer(capsys, "audit", case, release, "--explain", other, "--explain", SENSITIVE)
    assert code == 0
    secondary, primary = said["explanations"]
    assert (secondary["cell"], secondary["role"], primary["role"]) == (other, "secondary", "primary")
    assert [own["cell"] for own in secondary["protects"]] == [SENSITIVE]
    assert primary["protected_by"] == [cell for cell in CORNERS if cell != SENSITIVE]
    assert primary["deduced"] == {"low": 5, "high": 30}
    assert not {"value", "lower", "upper", "sliding", "insider"} & {*secondary, *primary}
    assert "low" not in secondary["protects"][0]
    assert main(["audit", str(case), str(release), "--explain", str(other)]) == 0
    kept = capsys.readouterr().out
    assert "Without it" in kept
    assert str(GRID.ravel()[SENSITIVE]) not in kept
    assert main(["audit", str(case), str(release), "--explain", str(other), "--show-values"]) == 0
    assert "would be known exactly" in capsys.readouterr().out
    assert main(["audit", str(case), str(release), "--explain", "99"]) == 1


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("1,2", 'write --explain "row=1,column=2"'),
        ("1", 'write --explain "row=CODE,column=CODE"'),
        ("row=1,column=9", "'column' has no code '9'.*its codes are 'Total', '1', '2'"),
    ],
)
def test_a_cell_to_be_explained_is_written_with_its_dimensions(asked: str, words: str) -> None:
    table = Table.from_array(GRID[:2, :2])
    with pytest.raises(InputError, match=words):
        find_cell(table, asked)
    assert table.structure.name(find_cell(table, "row=1,column=2")) == "row=1, column=2"


def test_audit_of_an_unsafe_release_exits_2_and_certifies_nothing(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = write_release(tmp_path / "mine.csv", (SENSITIVE, 7))
    code, said = answer(capsys, "audit", case, release, "--out", tmp_path / "out")
    assert code == 2
    cells = said.pop("cells")
    assert [said.pop(key) for key in ("warnings", "notes", "assumptions")] == [[], [], []]
    assert [(c["cell"], c["attacker"]) for c in cells] == [(SENSITIVE, "outsider")]
    assert set(cells[0]) == {"cell", "attacker", "verdict"}
    assert "exact disclosure" in cells[0]["verdict"]
    assert said == {
        "safe": False,
        "checked": 1,
        "proven": 0,
        "unsafe": 1,
        "exact": 1,
        "exempt": 0,
        "against": "an outsider",
    }
    assert [p.name for p in (tmp_path / "out" / "internal").iterdir()] == ["audit.json"]
    record = json.loads((tmp_path / "out" / "internal" / "audit.json").read_text())
    assert record["findings"][0]["cell"] == SENSITIVE
    assert "exact disclosure" in record["findings"][0]["verdict"]


def test_human_audit_names_cells_and_shows_values_only_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = GRID * 1009
    case = write_jj(tmp_path / "case.jj", grid)
    release = write_release(tmp_path / "mine.csv", (SENSITIVE,), grid)
    assert main(["audit", str(case), str(release)]) == 2
    discreet = capsys.readouterr()
    assert "cell 6" in discreet.out
    assert "NOT SAFE" in discreet.out
    assert str(22 * 1009) not in discreet.out + discreet.err
    assert main(["audit", str(case), str(release), "--show-values"]) == 2
    assert str(22 * 1009) in capsys.readouterr().out


def test_verify_refuses_a_release_that_is_spelt_otherwise(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows in another order or twice, other line ends and spellings of numbers can carry a message."""
    out = tmp_path / "out"
    assert answer(capsys, "protect", case, "--out", out)[0] == 0
    release = out / "publication" / "release.csv"
    text = release.read_bytes().decode()
    header, *rows = text.splitlines(keepends=True)
    for other in (
        header + "".join(rows[::-1]),
        header + rows[0] + "".join(rows),
        text.replace("\n", "\r\n"),
        "\ufeff" + text,
        text.replace(",190", ",190.0"),
        text.replace(",", ";"),
    ):
        release.write_bytes(other.encode())
        code, said = answer(capsys, "verify", case, out, out)
        assert (code, said["verified"]) == (2, False)
        assert f"{release}, line" in said["reason"]
    release.write_bytes(text.encode())
    assert answer(capsys, "verify", case, out, out)[0] == 0


def test_verify_accepts_its_own_and_refuses_all_others(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    main(["protect", str(case), "--out", str(out)])
    certificate = out / "internal" / "certificate.json"
    capsys.readouterr()
    assert answer(capsys, "verify", case, out, certificate) == (
        0,
        {"verified": True, "pairs": 1, "cells": 16},
    )
    for folder in (out, out / "internal", out / "publication"):
        assert answer(capsys, "verify", case, out, folder)[0] == 0
        assert answer(capsys, "verify", case, out / "publication", folder)[0] == 0
    code, said = answer(capsys, "verify", case, out, tmp_path)
    assert code == 1
    assert "holds no certificate.json" in said["error"]
    other_levels = write_jj(tmp_path / "levels.jj", upper=4)
    other_release = write_release(tmp_path / "other.csv", (*CORNERS, 0, 3, 12, 15))
    text = certificate.read_text()
    truncated, forged = tmp_path / "truncated.json", tmp_path / "forged.json"
    truncated.write_text(text[: len(text) // 2])
    forged.write_text(
        text.replace('"upper"', '"upper" ').replace("[22,", "[21,").replace('"digest":"', '"digest":"0')
    )
    for arguments in (
        (other_levels, out, certificate),
        (case, other_release, certificate),
        (case, out, truncated),
        (case, out, forged),
    ):
        code, said = answer(capsys, "verify", *arguments)
        assert (code, said["verified"]) == (2, False)
        assert said["reason"]


def test_rounded_release_made_elsewhere(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rounded = tmp_path / "rounded.csv"
    grid = np.array([[20, 50, 10, 80], [10, 20, 20, 50], [15, 30, 15, 60], [45, 100, 45, 190]])
    rows = "\n".join(f"{cell},{value}" for cell, value in enumerate(grid.ravel()))
    rounded.write_text(f"cell,value\n{rows}\n")
    # Every number is the nearest multiple, so that is assumed unless it is said otherwise: 20 means 18 to 22.
    assert answer(capsys, "audit", case, rounded, "--base", "5")[0] == 2
    code, said = answer(capsys, "audit", case, rounded, "--base", "5", "--rounded", "within", "--intervals")
    assert (code, said["checked"]) == (0, 1)
    low, high = next((i["low"], i["high"]) for i in said["intervals"] if i["cell"] == SENSITIVE)
    assert 15 <= low <= 22 - 3
    assert 22 + 3 <= high <= 25
    assert main(["audit", str(case), str(rounded)]) == 1
    assert "--base" in capsys.readouterr().err


@dataclass(frozen=True)
class Careless:
    """Hides what is sensitive and nothing else."""

    name: ClassVar[str] = "careless"

    def protect(self, problem: Any, run: Any = None) -> Release:
        outcome = Outcome(Status.OPTIMAL, 22.0, 22.0)
        return Release.suppress(problem.table, problem.levels.sensitive, outcome=outcome)


@dataclass(frozen=True)
class Hopeless:
    """Never finds anything."""

    name: ClassVar[str] = "hopeless"

    def protect(self, problem: Any, run: Any = None) -> Release:
        raise InfeasibleError("no pattern protects (cell 6): widen the attacker's bounds")


@dataclass(frozen=True)
class Late:
    """Is over its time before it has anything."""

    name: ClassVar[str] = "late"

    def protect(self, problem: Any, run: Any = None) -> Release:
        raise StoppedError("the time ended before a first pattern was built")


@pytest.fixture
def methods(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("methods_of_this_test")
    for kind in (Careless, Hopeless, Late):
        setattr(module, kind.__name__, kind)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    known = {kind.name: f"{module.__name__}:{kind.__name__}" for kind in (Careless, Hopeless, Late)}
    monkeypatch.setattr(registry, "METHODS", {**registry.METHODS, **known})


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("5%", ["a gap of 5.00% was asked for, and the search ended at 20.00%"]),
        (0.2, []),
        ("30%", []),
        (None, []),
    ],
)
def test_a_gap_that_was_missed_is_told(asked: float | str | None, told: list[str]) -> None:
    table = Table.from_array(GRID[:2, :2])
    outcome = Outcome(Status.FEASIBLE, 100.0, 80.0)
    assert note_missed_gap(Release.suppress(table, [], outcome=outcome), asked) == told


@pytest.mark.usefixtures("methods")
def test_a_release_that_fails_its_audit_is_not_written(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = answer(capsys, "protect", case, "--method", "careless", "--out", tmp_path / "out")
    assert code == 2
    assert said["audit"] == {
        "safe": False,
        "checked": 1,
        "proven": 0,
        "unsafe": 1,
        "exact": 1,
        "exempt": 0,
        "against": "an outsider",
    }
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["internal"]
    assert [p.name for p in (tmp_path / "out" / "internal").iterdir()] == ["audit.json"]


@pytest.mark.usefixtures("methods")
@pytest.mark.parametrize(("method", "status"), [("hopeless", "infeasible"), ("late", "failed")])
def test_no_release_is_an_answer_with_nulls_and_exit_1(
    method: str, status: str, case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = answer(capsys, "protect", case, "--method", method, "--out", tmp_path / "out")
    assert (code, said["status"], said["cells"], said["sensitive"]) == (1, status, 16, 1)
    assert {said[key] for key in ("loss", "bound", "gap", "seconds", "changed", "changed_value")} == {None}
    assert said["audit"] is None
    assert not (tmp_path / "out").exists()


def test_no_published_file_holds_a_hidden_value(tmp_path: Path) -> None:
    grid = GRID * 1_000_003
    case = write_jj(tmp_path / "case.jj", grid)
    out = tmp_path / "out"
    assert main(["protect", str(case), "--out", str(out)]) == 0
    rows = list(csv.DictReader((out / "publication" / "release.csv").open()))
    hidden = {str(grid.ravel()[int(row["cell"])]) for row in rows if row["mark"] != "published"}
    written = {field for row in rows for name, field in row.items() if name != "cell"}
    assert hidden
    assert not hidden & written


@pytest.mark.parametrize("name", ["publication/release.csv", "publication/release.html"])
def test_what_is_read_is_never_taken_for_an_earlier_result(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "r,c,value\nN,a,20\nN,b,50\nS,a,8\nS,b,9\n"
    Path("publication").mkdir()
    Path(name).write_text(text)
    Path("project.toml").write_text(
        f'[table]\nfile = "{name}"\n[rules]\nrule = "threshold(9)"\n[output]\nfolder = "."\n'
    )
    rules = ["--rules", "threshold(9)"]
    for command in (["protect", name, "--out", ".", *rules], ["protect", "project.toml"]):
        assert main(command) == 1
        assert "would take its place" in capsys.readouterr().err
    assert Path(name).read_text() == text
    assert {path.name for path in tmp_path.iterdir()} == {"publication", "project.toml"}


def test_nothing_for_the_house_is_written_inside_a_publication(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "publication"
    release = write_release(tmp_path / "mine.csv", CORNERS)
    for command in (
        ["protect", case, "--out", out],
        ["audit", case, release, "--out", out],
        ["demo", "--out", out],
        ["protect", case, "--out", out / "2024"],
        ["report", case, release, "--out", out / "report.html"],
        ["assess", case, "--out", out / "cells.csv"],
        ["convert", case, out / "case.jj"],
        ["convert", case, out / "thesis"],
        ["tabulate", release, "--by", "cell", "--out", out / "table.csv"],
    ):
        assert main([str(word) for word in command]) == 1
        assert "would lie inside a folder called 'publication'" in " ".join(capsys.readouterr().err.split())
    assert not out.exists()


@pytest.mark.parametrize("name", ["out", "out/publication", "out/internal/audit.json/kept"])
def test_a_folder_that_cannot_take_results_is_refused_before_any_work(
    name: str, case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("mine")
    monkeypatch.setattr(
        "tacita.methods.suppression.suppression.Suppression.protect",
        lambda *_, **__: pytest.fail("worked in vain"),
    )
    monkeypatch.setattr("tacita.auditing.audit.audit", lambda *_, **__: pytest.fail("worked in vain"))
    assert main(["protect", str(case), "--out", str(tmp_path / "out")]) == 1
    release = write_release(tmp_path / "mine.csv", CORNERS)
    assert main(["audit", str(case), str(release), "--out", str(tmp_path / "out")]) == 1
    assert (tmp_path / name).read_text() == "mine"


def test_a_run_that_fails_tells_of_earlier_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text("r,c,value\nN,a,20\nN,b,50\nS,a,8\nS,b,9\n")
    project, rules = tmp_path / "project.toml", '[table]\nfile = "t.csv"\n[rules]\nrule = "threshold(9)"\n'
    command = ["protect", str(project), "--out", str(tmp_path / "out")]
    project.write_text(rules)
    assert main(command) == 0
    capsys.readouterr()
    project.write_text(f'{rules}[protect]\nmust_publish = [{{ r = "S" }}, {{ r = "S", c = "b" }}]\n')
    assert main(command) == 1
    told = capsys.readouterr().err
    for name in ("publication/release.csv", "internal/certificate.json"):
        assert f"{tmp_path / 'out' / name}" in told
        assert (tmp_path / "out" / name).exists()
    assert "of an earlier run, not of this one" in told


def test_results_of_an_earlier_version_are_told_and_not_mistaken(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Then the release was in the folder itself, and the certificate in ``internal`` inside it."""
    out = tmp_path / "out"
    assert main(["protect", str(case), "--out", str(out)]) == 0
    (out / "publication" / "release.csv").rename(out / "release.csv")
    (out / "publication").rmdir()
    capsys.readouterr()
    assert answer(capsys, "verify", case, out, out)[0] == 0
    before = (out / "release.csv").read_text()
    assert main(["protect", str(case), "--out", str(out)]) == 0
    told = capsys.readouterr().err
    assert f"not of this release: {out / 'release.csv'}" in told
    assert (out / "release.csv").read_text() == before
    code, said = answer(capsys, "verify", case, out, out)
    assert code == 1
    assert "holds two releases" in said["error"]
    assert answer(capsys, "verify", case, out / "publication", out)[0] == 0


def test_a_table_called_like_a_release_can_stay_beside_the_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "r,c,value\nN,a,20\nN,b,50\nS,a,8\nS,b,9\n"
    Path("release.csv").write_text(text)
    assert main(["protect", "release.csv", "--rules", "threshold(9)", "--out", "."]) == 0
    assert Path("release.csv").read_text() == text
    assert Path("publication/release.csv").exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("out/publication/release.csv", "[hierarchies]\nr = {file}\n"),
        ("out/publication/release.xlsx", "[attackers]\nfile = {file}\n"),
        ("out/internal/release-internal.xlsx", "[table]\nfile = {file}\n"),
    ],
)
def test_no_file_of_a_project_is_taken_for_an_earlier_result(
    name: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = '[table]\nfile = "t.csv"\n' if "[table]" not in words else ""
    (tmp_path / "t.csv").write_text("r,value\nN,20\nS,8\n")
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text("mine")
    (tmp_path / "project.toml").write_text(text + words.format(file=json.dumps(name)))
    assert main(["protect", str(tmp_path / "project.toml"), "--out", str(tmp_path / "out")]) == 1
    assert "it is called like a result of" in " ".join(capsys.readouterr().err.split())
    assert (tmp_path / name).read_text() == "mine"


def test_an_audit_takes_the_certificate_of_another_release_away(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    good = write_release(tmp_path / "good.csv", CORNERS)
    assert main(["audit", str(case), str(good), "--out", str(out)]) == 0
    assert (out / "internal" / "certificate.json").exists()
    bad = write_release(tmp_path / "bad.csv", (SENSITIVE,))
    assert main(["audit", str(case), str(bad), "--out", str(out)]) == 2
    assert [path.name for path in (out / "internal").iterdir()] == ["audit.json"]
    assert "certificate.json" in capsys.readouterr().err
