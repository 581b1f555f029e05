"""The loss of a given table in a method's own measure: what a method reports of its own release, and numbers
that are worked out by hand for releases of others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacita as tc
from tacita.cli import main
from tacita.core.errors import ReleaseError
from tacita.core.release import Release
from tacita.methods import make_method

VALUES = [[20, 50, 10, 80], [8, 19, 22, 49], [17, 32, 12, 61], [45, 101, 44, 190]]
TABLE = tc.Table.from_array(
    VALUES,
    totals=True,
    names=["activity", "region"],
    codes=[["I", "II", "III"], ["A", "B", "C"]],
    counts=False,
)
SEED = 2**40
"""With it every draw keeps its levels."""
PROBLEM = tc.Problem(TABLE, tc.Marked([("II", "C")], lower=3, upper=4))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("suppression", {}),
        ("intervals", {}),
        ("intervals", {"weight_up": "unit", "weight_interval": "unit", "weight_down": "inverse"}),
        ("rounding", {"base": 10.0}),
        ("rounding", {"base": 10.0, "power": 2.0, "weight": "inverse", "margins": False}),
        ("rounding", {"base": 10.0, "objective": "mean"}),
        ("unbiased-rounding", {"base": 10.0}),
        ("random-rounding", {"base": 10.0}),
        ("perturbation", {}),
        ("perturbation", {"weight_changed": "cost", "weight_down": "inverse"}),
        ("adjustment", {}),
        ("adjustment", {"norm": "l2", "weight": "inverse"}),
        ("mixture", {}),
        ("mixture", {"parts": "totals: rounding(base=10), rest: suppression or intervals"}),
    ],
)
def test_a_method_measures_its_own_release_as_it_reports_it(name: str, options: dict[str, Any]) -> None:
    method = make_method(name, options)
    release = method.protect(PROBLEM, tc.Run(seed=SEED))
    assert release.outcome is not None
    assert method.loss(PROBLEM, release) == pytest.approx(release.outcome.loss, rel=1e-9, abs=1e-9)


def test_a_printed_table_in_the_measures_of_several_methods() -> None:
    """Salazar's rounded table is 24 from the truth; its squares and weights are sums by hand."""
    value = np.array([20, 50, 10, 80, 10, 20, 20, 50, 20, 30, 10, 60, 50, 100, 40, 190])
    printed = Release.rounded(TABLE, value, 10)
    change = np.abs(value - TABLE.values)
    assert tc.Rounding().loss(PROBLEM, printed) == change.sum() == 24
    assert tc.Rounding(power=2).loss(PROBLEM, printed) == (change**2).sum()
    assert tc.Adjustment(norm="linf").loss(PROBLEM, printed) == change.max()
    inner = ~TABLE.structure.is_total
    assert tc.RandomRounding().loss(PROBLEM, printed) == pytest.approx(
        (change**2 / TABLE.values)[inner].sum()
    )
    assert tc.Suppression().loss(PROBLEM, printed) == TABLE.values.sum()


def test_a_number_that_is_not_shown_has_no_distance() -> None:
    hidden = Release.suppress(TABLE, [TABLE.find("II", "C")])
    with pytest.raises(ReleaseError, match="II, region=C"):
        tc.Rounding().loss(PROBLEM, hidden)
    assert tc.Suppression().loss(PROBLEM, hidden) == 22
    assert tc.Intervals().loss(PROBLEM, hidden) == np.inf


def test_compare_measures_all_releases_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = tmp_path / "case.csv"
    cells = [
        f"{r},{c},{v}" for r, row in zip("NESW", VALUES[:3], strict=False) for c, v in enumerate(row[:3])
    ]
    case.write_text("\n".join(["region,kind,value", *cells]))
    methods = ("suppression", "rounding:base=10", "adjustment")
    told = [case, "--rules", "threshold(9)", "--json"]
    for method in methods:
        told += ["--method", method]
    main(["compare", *map(str, told), "--measure", "rounding:power=2"])
    rows = json.loads(capsys.readouterr().out)["releases"]
    assert rows[0]["measured"] is None
    assert [row["measured"] for row in rows[1:]] == [pytest.approx(row["l2"] ** 2) for row in rows[1:]]
    main(["compare", *map(str, told)])
    assert all("measured" not in row for row in json.loads(capsys.readouterr().out)["releases"])


def test_a_release_of_another_table_is_refused() -> None:
    other = tc.Table.from_array([[1, 2], [3, 4]])
    with pytest.raises(ReleaseError, match="other cells"):
        tc.Suppression().loss(PROBLEM, Release.suppress(other, [0]))
