"""Rounded tables of others: how they were rounded is seen, assumed and named in the verdict."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tacita as tc
from tacita.cli import main
from tacita.core.errors import InputError, ReleaseError
from tacita.core.release import Mark
from tacita.publication.rounded_by_others import find_rounding_windows

VALUES = [[3, 12, 26], [14, 1, 33]]


def case(values=VALUES) -> tc.Problem:
    table = tc.Table.from_array(np.array(values), names=["row", "column"])
    return tc.Problem(table, tc.Threshold(5))


def by_spreadsheet(units: np.ndarray, base: int) -> np.ndarray:
    """The nearest multiple, ties away from zero."""
    return (2 * np.abs(units) + base) // (2 * base) * base * np.sign(units)


def by_python(units: np.ndarray, base: int) -> np.ndarray:
    """The nearest multiple, ties to even ones."""
    return np.array([round(int(u) / base) * base for u in units])


def down(units: np.ndarray, base: int) -> np.ndarray:
    return units // base * base


def up(units: np.ndarray, base: int) -> np.ndarray:
    return -(-units // base) * base


def published(folder: Path, problem: tc.Problem, shown: np.ndarray) -> Path:
    structure, path = problem.table.structure, folder / "rounded.csv"
    rows = [",".join((*structure.key(cell), str(shown[cell]))) for cell in range(len(structure))]
    path.write_text("\n".join(["row,column,value", *rows]) + "\n")
    return path


def test_a_table_rounded_to_the_nearest_is_not_called_safe(tmp_path: Path) -> None:
    """As a spreadsheet rounds: 3 becomes 5 and 1 becomes 0, which readers take for 3 to 7 and 0 to 2."""
    problem = case()
    path = published(tmp_path, problem, by_spreadsheet(problem.table.units, 5))
    found = tc.audit(problem, tc.read_release(path, problem.table, base=5))
    assert not found.safe
    assert found.counts["unsafe"] == 2
    assert "rounded to the nearest multiple of 5, as all of them are" in found.verdict
    # Whoever says that numbers went up or down may do so, and the verdict repeats it.
    said = tc.audit(problem, tc.read_release(path, problem.table, base=5, rounded="adjacent"))
    assert "rounded up or down to a multiple of 5" in said.verdict
    assert tc.read_release(path, problem.table, base=5, rounded="adjacent").high.max() == 94


@pytest.mark.parametrize(("way", "name"), [(down, "down to"), (up, "up to")])
def test_tables_rounded_to_one_side_are_seen(way, name: str, tmp_path: Path) -> None:
    problem = case()
    path = published(tmp_path, problem, way(problem.table.units, 5))
    release = tc.read_release(path, problem.table, base=5)
    assert f"rounded {name} a multiple of 5" in tc.audit(problem, release).verdict
    assert (release.high - release.low == 4).all()
    shown = way(problem.table.units, 5)
    assert ((release.low if way is down else release.high) == shown).all()


@pytest.mark.parametrize("base", [2, 3, 4, 5, 10])
@pytest.mark.parametrize("way", [by_spreadsheet, by_python, down, up])
def test_a_window_holds_exactly_the_values_that_lead_to_its_number(way, base: int) -> None:
    truth = np.arange(1, 60)
    table = tc.Table.from_array(truth)
    units = table.units
    shown = way(units, base)
    found = find_rounding_windows(table, np.arange(len(table)), shown.astype(float), base)
    everything = np.arange(-100, 5000)
    everywhere = way(everything, base)
    for cell in range(len(table)):
        leading = everything[everywhere == shown[cell]]
        # The end where a tie would lie is left out unless the value is one: the number is in the middle.
        tie = way is by_spreadsheet and base in (4, 10) and 2 * (shown[cell] - units[cell]) != base
        assert (found.low[cell], found.high[cell]) == (
            leading.min() + (tie and shown[cell] > 0),
            leading.max(),
        )


def test_ties_that_follow_no_rule_leave_both_ends() -> None:
    table = tc.Table.from_array([5, 15, 25, 12])
    found = find_rounding_windows(table, np.arange(5), np.array([60.0, 0, 20, 30, 10]), 10)
    assert "ties either way" in found.assumption
    assert (found.high - found.low == 10).all()


def test_random_rounding_is_taken_for_what_it_is(tmp_path: Path) -> None:
    problem = case()
    shown = tc.UnbiasedRounding(base=5, protected=False).protect(problem, tc.Run(seed=2)).value
    release = tc.read_release(published(tmp_path, problem, shown), problem.table, base=5)
    assert "up or down to a multiple of 5" in tc.audit(problem, release).verdict
    assert (release.high - release.low == 8).all()
    assert (release.marks == Mark.ROUNDED).all()


def test_decimals() -> None:
    table = tc.Table.from_array(np.array([[1.2, 3.4], [2.6, 0.3]]))
    shown = np.rint(table.values)
    found = find_rounding_windows(table, np.arange(len(table)), shown, 1.0)
    assert found.how == "nearest"
    # The total of 7.5 is a tie, and so is the end of its window.
    assert np.allclose(found.low, np.where(table.values == 7.5, 7.5, shown - 0.4))
    assert np.allclose(found.high, shown + 0.4)


def test_mistakes_are_named(tmp_path: Path) -> None:
    problem = case()
    path = published(tmp_path, problem, by_spreadsheet(problem.table.units, 5))
    with pytest.raises(ReleaseError, match=r"not rounded down to a multiple of 5: see .*row=1, column=1"):
        tc.read_release(path, problem.table, base=5, rounded="down")
    with pytest.raises(InputError, match="without the base"):
        tc.read_release(path, problem.table, rounded="nearest")
    with pytest.raises(InputError, match="cannot be rounded 'sideways'"):
        tc.read_release(path, problem.table, base=5, rounded="sideways")  # type: ignore[arg-type]
    with pytest.raises(ReleaseError, match="not a multiple of the base"):
        tc.read_release(path, problem.table, base=7)


def test_the_command_line_names_the_assumption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = case()
    monkeypatch.chdir(tmp_path)
    published(tmp_path, problem, by_spreadsheet(problem.table.units, 5))
    structure = problem.table.structure
    inner = np.flatnonzero(~structure.is_total)
    rows = [",".join((*structure.key(cell), str(problem.table.units[cell]))) for cell in inner]
    Path("table.csv").write_text("\n".join(["row,column,value", *rows]) + "\n")
    command = ["audit", "table.csv", "rounded.csv", "--rules", "threshold(5)", "--base", "5"]
    assert main(command) == 2
    assert "nearest multiple of 5" in " ".join(capsys.readouterr().out.split())
    assert main([*command, "--rounded", "adjacent", "--json"]) in (0, 2)
    assert "up or down" in json.loads(capsys.readouterr().out)["assumptions"][0]
