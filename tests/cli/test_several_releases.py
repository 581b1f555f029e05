"""Several releases on the command line: judged together, already published, replaced."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tacita.cli import main

VALUES = {"N": (20, 50, 10), "S": (8, 19, 22), "W": (17, 32, 12)}
FIRST = (("S", "A"), ("S", "C"), ("W", "A"), ("W", "C"))
SECOND = (("S", "B"), ("S", "C"), ("N", "B"), ("N", "C"))
Cell = tuple[str, str]


def cells() -> dict[Cell, int]:
    """The table with its totals."""
    found = {(r, i): v for r, line in VALUES.items() for i, v in zip("ABC", line, strict=True)}
    found |= {(r, "Total"): sum(line) for r, line in VALUES.items()}
    found |= {("Total", i): sum(found[r, i] for r in VALUES) for i in (*"ABC", "Total")}
    return found


def write_rows(path: Path, rows: dict[Cell, object], names: str = "region,industry") -> Path:
    """One row per cell, as other programs write it."""
    lines = [f"{names},value", *(",".join([*cell, str(said)]) for cell, said in rows.items())]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_release(path: Path, hidden: tuple[Cell, ...]) -> Path:
    return write_rows(path, {cell: "x" if cell in hidden else v for cell, v in cells().items()})


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """One sensitive cell, uncertain by 3 both ways."""
    lines = ["region,industry,value,status,lpl,upl"]
    for (region, industry), value in cells().items():
        marked = "u,3,3" if (region, industry) == ("S", "C") else "s,,"
        lines.append(f"{region},{industry},{value},{marked}")
    path = tmp_path / "case.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, Any], str]:
    """Exit code, the JSON object on stdout, and stderr."""
    code = main([*map(str, arguments), "--json"])
    told = capsys.readouterr()
    return code, json.loads(told.out), told.err


def test_two_safe_releases_are_unsafe_together(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = write_release(tmp_path / "first.csv", FIRST), write_release(tmp_path / "b.csv", SECOND)
    for one in (first, second):
        assert answer(capsys, "audit", case, one)[0] == 0
    code, said, _ = answer(capsys, "audit", case, first, second, "--together")
    assert (code, said["safe"], said["exact"], said["releases"]) == (2, False, 1, 2)
    code, said, _ = answer(capsys, "audit", case, second, "--published", first)
    assert (code, said["exact"], said["releases"]) == (2, 1, 2)
    assert main(["audit", str(case), str(first), str(second), "--together"]) == 2
    assert "2 releases judged together" in " ".join(capsys.readouterr().out.split())
    code, said, _ = answer(capsys, "audit", case, first, second)
    assert code == 1
    assert "--together" in said["error"]


def test_each_of_several_releases_says_how_it_is_to_be_read(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = write_release(tmp_path / "first.csv", FIRST)
    rounded = write_rows(tmp_path / "rounded.csv", {cell: 5 * round(v / 5) for cell, v in cells().items()})
    code, said, _ = answer(capsys, "audit", case, f"{rounded}:radius=3", first, "--together", "--intervals")
    assert (code, said["releases"]) == (2, 2)
    # 22 is shown as 20, so it is at most 23; that (W, C), shown as 10, is at most 13 leaves at least 21.
    assert {"cell": {"region": "S", "industry": "C"}, "low": 21, "high": 23} in said["intervals"]
    # A radius of the newest release does not widen what the exact numbers of an earlier one tell.
    second = write_release(tmp_path / "second.csv", SECOND)
    first_wide = ("audit", case, f"{first}:radius=9", second, "--together")
    assert answer(capsys, *first_wide)[1]["exact"] == 0
    for earlier in ((first, rounded, "--together"), (rounded, "--published", first)):
        code, said, _ = answer(capsys, "audit", case, *earlier, "--radius", "9", "--intervals")
        assert {"cell": {"region": "N", "industry": "C"}, "low": 10, "high": 10} in said["intervals"]
    code, said, _ = answer(capsys, "audit", case, f"{rounded}:step=2", first, "--together")
    assert code == 1
    assert "no option 'step'" in said["error"]


def test_protect_knows_what_is_published_and_its_certificate_verifies(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, out = write_release(tmp_path / "first.csv", FIRST), tmp_path / "out"
    code, said, _ = answer(capsys, "protect", case, "--published", first, "--out", out)
    assert (code, said["audit"]["safe"], said["warnings"]) == (0, True, [])
    record = json.loads((out / "internal" / "audit.json").read_text())
    assert record["already_published"] == [{"file": "first.csv", "left_out": 0}]
    assert record["verdict"].endswith("2 releases judged together")
    assert answer(capsys, "audit", case, first, out, "--together")[0] == 0
    assert answer(capsys, "verify", case, out, out, "--published", first)[0] == 0
    joint = tmp_path / "joint"
    assert answer(capsys, "audit", case, first, out, "--together", "--out", joint)[0] == 0
    assert answer(capsys, "verify", case, out, joint, "--published", first)[0] == 0
    code, said, _ = answer(capsys, "verify", case, out, out)
    assert (code, said["verified"]) == (2, False)


def test_levels_that_an_earlier_release_breaks_are_named(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = write_release(tmp_path / "alone.csv", (("S", "C"),))
    for verb in (("assess",), ("protect", "--method", "rounding", "--option", "base=5")):
        code, said, _ = answer(capsys, verb[0], case, *verb[1:], "--published", alone)
        assert code == 1
        assert "(region=S, industry=C): no release keeps its levels any more" in said["error"]
        assert "Exempt the cell, lower its level, or withdraw the earlier release" in said["error"]
    code, said, _ = answer(capsys, "assess", case, "--published", write_release(tmp_path / "all.csv", ()))
    assert code == 1
    assert "the lower protection level of 3 cannot be met against outsider any more" in said["error"]


def test_a_release_of_a_revised_table_is_refused_by_cell(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: dict[Cell, object] = {**cells(), ("S", "C"): "x", ("N", "A"): 21}
    code, said, _ = answer(capsys, "assess", case, "--published", write_rows(tmp_path / "old.csv", rows))
    assert code == 1
    assert "(region=N, industry=A)" in said["error"]
    assert "revised" in said["error"]


def test_an_earlier_table_with_other_dimensions_and_codes_counts(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Totals of regions were shown by size; the new release hides two of them."""
    pattern = (("S", "C"), ("S", "Total"), ("W", "C"), ("W", "Total"))
    release = write_release(tmp_path / "new.csv", pattern)
    assert answer(capsys, "audit", case, release)[0] == 0
    rows: dict[Cell, object] = {(r, "All"): sum(line) for r, line in VALUES.items()}
    rows |= {(r, "small"): 5 for r in VALUES} | {("E", "All"): 7}
    old = write_rows(tmp_path / "old.csv", rows, "region,size")
    code, said, told = answer(capsys, "audit", case, release, "--published", old)
    assert (code, said["exact"]) == (2, 1)
    assert "old.csv published earlier: 4 of its 7 cells are none of this table" in " ".join(told.split())
    coarse = tmp_path / "coarse.csv"
    coarse.write_text("region,value\n" + "".join(f"{r},{sum(line)}\n" for r, line in VALUES.items()))
    code, said, told = answer(capsys, "audit", case, coarse, release, "--together")
    assert (code, said["exact"]) == (2, 1)
    assert "none of this table" not in told


def test_replacing_a_release_that_hides_other_cells_gets_a_warning(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert answer(capsys, "protect", case, "--out", out)[1]["warnings"] == []
    assert answer(capsys, "protect", case, "--out", out)[1]["warnings"] == []
    before = (out / "publication" / "release.csv").read_text()
    again = ("protect", case, "--out", out, "--cost", "unit")
    code, said, told = answer(capsys, *again, "--method", "intervals", "--option", "ends=exact")
    assert code == 0
    [warning] = said["warnings"]
    assert "replaces a release of this table that" in warning
    assert "Readers may have kept the old one" in warning
    assert "--published OLD" in told
    kept = out / "internal" / "earlier-release.csv"
    assert f"--published {kept} on the command line" in warning
    assert f'files = ["{kept.as_posix()}"] under [published]' in warning
    assert kept.read_text() == before
    assert sorted(path.name for path in (out / "publication").iterdir()) == ["release.csv"]
    # What is judged together with the new release needs no warning.
    other = tmp_path / "other"
    answer(capsys, "protect", case, "--out", other)
    copy = tmp_path / "copy.csv"
    copy.write_text((other / "publication" / "release.csv").read_text())
    said = answer(capsys, "protect", case, "--out", other, "--published", copy, "--method", "intervals")[1]
    assert said["warnings"] == []
    code, said, _ = answer(capsys, "protect", case, "--out", other, "--published", other)
    assert code == 1
    assert "it is called like a result" in said["error"]
