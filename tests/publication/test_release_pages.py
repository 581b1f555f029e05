"""Releases are read from pages as cases are: footnotes, titles, words for totals and marks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tacita as tc
from tacita.core.errors import InputError, TacitaWarning
from tacita.publication.release_read import read_release
from tacita.specification.read_case import read_case

CASE = "region,A,B,All\nN,20,50,70\nE,8,2,10\nS,17,32,49\nAll,45,84,129\n"
HIDDEN = "region,A,B,{total}\nN,{x},{x},70\nE,{x},{x},10\nS,17,32,49\n{total},45,84,129\n"
FOOTNOTES = "\nSource: own survey\n1) provisional figures\n"


@pytest.fixture
def table(tmp_path: Path) -> tc.Table:
    path = tmp_path / "case.csv"
    path.write_text(CASE)
    table = read_case(path)
    assert isinstance(table, tc.Table)
    return table


def written(folder: Path, text: str) -> Path:
    path = folder / "release.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize("total", ["All", "Total", "Sum", "Insgesamt"])
@pytest.mark.parametrize("mark", ["x", "suppressed", "Suppressed", "confidential", ""])
def test_words_for_totals_and_marks_are_those_of_cases(
    tmp_path: Path, table: tc.Table, total: str, mark: str
) -> None:
    release = read_release(written(tmp_path, HIDDEN.format(total=total, x=mark)), table)
    corners = [table.find(row, column) for row in "NE" for column in "AB"]
    assert sorted(np.flatnonzero(release.changed).tolist()) == sorted(corners)
    assert release.notes == ()


def test_long_releases_take_words_for_totals_too(tmp_path: Path, table: tc.Table) -> None:
    rows = [
        f"{r},{c},{'' if r in 'NE' and c in 'AB' else table.units[table.find(r, c)]}"
        for r in ("N", "E", "S", "All")
        for c in ("A", "B", "All")
    ]
    text = "region,column,value\n" + "\n".join(rows).replace("All", "Sum") + "\n"
    assert read_release(written(tmp_path, text), table).changed.sum() == 4


def test_a_word_that_is_no_total_is_not_guessed(tmp_path: Path, table: tc.Table) -> None:
    for strange in ("Everything", "Total,Sum"):
        with pytest.raises(InputError):
            read_release(written(tmp_path, HIDDEN.format(total=strange, x="x")), table)


def test_footnotes_and_titles_are_left_out_and_reported(tmp_path: Path, table: tc.Table) -> None:
    text = "Table 1. Patients\n" + HIDDEN.format(total="All", x="x") + FOOTNOTES
    with pytest.warns(TacitaWarning, match="taken for footnotes: 'Source: own survey'"):
        release = read_release(written(tmp_path, text), table)
    assert release.changed.sum() == 4
    assert any("taken for a title: 'Table 1. Patients'" in note for note in release.notes)
    assert any("readers see titles and footnotes" in note for note in release.notes)


def test_a_last_row_that_is_all_hidden_is_no_footnote(tmp_path: Path, table: tc.Table) -> None:
    text = "region,A,B,All\nAll,45,84,129\nN,20,50,70\nS,,,\nE,,,\n"
    release = read_release(written(tmp_path, text), table)
    assert release.changed.sum() == 6
    with pytest.raises(InputError, match="does not list"):
        read_release(written(tmp_path, text.replace("E,,,", "Note,,,")), table)


def test_a_number_beside_a_footnote_is_never_left_out(tmp_path: Path, table: tc.Table) -> None:
    text = HIDDEN.format(total="All", x="x") + "1) N/A is 20,,,20\n"
    with pytest.raises(InputError):
        read_release(written(tmp_path, text), table)


def test_the_command_reports_what_was_left_out(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from tacita.cli import main

    case = written(tmp_path, CASE).rename(tmp_path / "case.csv")
    release = written(tmp_path, HIDDEN.format(total="Total", x="suppressed") + FOOTNOTES)
    main(["audit", str(case), str(release), "--rules", "threshold(3)", "--json"])
    told = capfd.readouterr()
    answer = json.loads(told.out)
    assert answer["checked"] == 1
    assert any("'1) provisional figures'" in note for note in answer["notes"])
    assert "were taken for footnotes" in told.err
