"""Releases that are given as data frames are read as the same releases in files are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tacita as tc

ROWS = [(ward, sex, year) for ward in "ABC" for sex in "fm" for year in ("2023", "2024") for _ in range(4)]
STAYS = pd.DataFrame([("A", "f", "2023"), *ROWS], columns=["ward", "sex", "year"])


def protected(by: list[str]) -> tuple[tc.Problem, tc.Release]:
    problem = tc.Problem(tc.tabulate(STAYS, by), tc.Marked([("A", *(["f", "2023"][: len(by) - 1]))], 1, 1))
    return problem, tc.Suppression().protect(problem)


@pytest.mark.parametrize("kind", ["to_pandas", "to_polars", "to_arrow"])
def test_the_frame_of_a_release_is_the_release(kind: str) -> None:
    problem, release = protected(["ward", "sex", "year"])
    found = tc.read_release(getattr(release, kind)(), problem.table)
    assert np.array_equal(found.marks, release.marks)
    assert np.array_equal(found.value[found.shown], release.value[release.shown])


@pytest.mark.parametrize(
    ("kind", "index", "columns", "mark"),
    [
        (pd.DataFrame, "ward", "sex", None),
        (pd.DataFrame, "ward", "sex", "x"),
        (pd.DataFrame, ["ward", "year"], "sex", None),
        (pd.DataFrame, "ward", ["sex", "year"], "x"),
        (pd.DataFrame, "ward", (), None),
        (pl.DataFrame, "ward", "sex", None),
        (pl.DataFrame, "ward", (), "x"),
    ],
)
def test_crosstabs_are_read_as_they_are_shown(kind: Any, index: Any, columns: Any, mark: str | None) -> None:
    safe = tc.crosstab(kind(STAYS), index, columns, rule="threshold(6)", mark=mark)
    problem = safe.audit.problem
    found = tc.read_release(safe.frame, problem.table)
    assert np.array_equal(found.hidden, safe.release.hidden)
    assert tc.audit(problem, found).verdict == safe.audit.verdict


def test_a_frame_blanked_by_hand_is_judged_as_its_file(tmp_path: Path) -> None:
    table = tc.tabulate(STAYS, ["ward", "sex"])
    problem = tc.Problem(table, "threshold(9)")
    raw = pd.crosstab(STAYS.ward, STAYS.sex, margins=True)
    for blanked in (raw.astype(object).where(raw > 8, "x"), raw.where(raw > 8)):
        blanked.to_csv(tmp_path / "hand.csv")
        verdicts = [
            tc.audit(problem, tc.read_release(each, table)) for each in (blanked, tmp_path / "hand.csv")
        ]
        assert verdicts[0].verdict == verdicts[1].verdict
        assert "UNSAFE" in verdicts[0].verdict


def test_errors_name_the_frame_and_its_row() -> None:
    table = tc.tabulate(STAYS, ["ward"])
    wrong = pd.DataFrame({"ward": ["A", "B", "C", "Total"], "value": [17, 16, 99, 49]})
    with pytest.raises(tc.ReleaseError, match=r"the DataFrame.*ward=C"):
        tc.read_release(wrong, table)
    with pytest.raises(tc.InputError, match="int is no data frame"):
        tc.read_release(7, table)
